//! The header fields of answers that clients go by, as an object.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use serde_json::{Map, Value};

use super::cut::JsonMessage;
use super::{Contract, Kinds};
use crate::cassette::{Headers, Request, Response};
use crate::identity;
use crate::message::{Tag, telling};

/// Fields that tell a client what to do next, or where (RFC 9110, sections 10.2, 14 and 15; RFC 8288, 8594,
/// 6265, 6266), whether a request was done before (as Stripe says it), and those that SDKs of agent servers read.
const TELLING: [&str; 24] = [
    "accept-ranges",
    "access-control-allow-credentials",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "allow",
    "content-disposition",
    "content-location",
    "content-range",
    "deprecation",
    "etag",
    "idempotent-replayed",
    LINK,
    "location",
    "mcp-session-id",
    "proxy-authenticate",
    "request-id",
    "retry-after",
    "retry-after-ms",
    SET_COOKIE,
    "sunset",
    "www-authenticate",
    "x-request-id",
    "x-should-retry",
    "x-total-count",
];

/// Whether a field is one of those that every client calls so.
pub(crate) fn is_standard(name: &str) -> bool {
    TELLING.contains(&name)
}

/// A number of so many digits is said again by chance hardly ever.
const LARGE: usize = 4;

/// They say several things of which each may come in a field of its own.
const SET_COOKIE: &str = "set-cookie";
const LINK: &str = "link";

/// Which header fields are part of what is promised.
#[derive(Debug, Default)]
pub(super) struct Promised(BTreeSet<String>);

impl Promised {
    /// These, whatever they mean.
    pub(super) fn only<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self(names.map(str::to_owned).collect())
    }

    /// Adds those by which a client goes: their name says so, or it sends back what they say (`sent`).
    pub(super) fn see(&mut self, response: &Response, sent: &HashSet<&[u8]>) {
        for (name, value) in lower(&response.headers) {
            let is_sent = || name != "content-length" && sent.contains(&**value);
            let is_telling = TELLING.contains(&&*name) || telling::is_limit(&name) || is_sent();
            if is_telling {
                self.0.insert(name);
            }
        }
    }

    /// What an answer says in them: integers as numbers, cookies by their names, links by their
    /// relations, challenges by their schemes, all else as texts.
    pub(super) fn of(&self, response: &Response) -> JsonMessage {
        let mut said: Map<String, Value> = Map::new();
        for (name, value) in lower(&response.headers).filter(|(name, _)| self.0.contains(name)) {
            let value = String::from_utf8_lossy(value);
            let parts: Vec<(String, Value)> = match &*name {
                SET_COOKIE => cookie(&value).into_iter().collect(),
                LINK => links(&value).collect(),
                "www-authenticate" | "proxy-authenticate" => challenges(&value),
                _ => Vec::new(),
            };
            if !parts.is_empty() {
                let all = said.entry(name).or_insert_with(|| Value::Object(Map::new()));
                all.as_object_mut().into_iter().for_each(|it| it.extend(parts.clone()));
                continue;
            }
            let value = match (said.remove(&name), value.parse::<u64>()) {
                (Some(before), _) => format!("{}, {value}", text(&before)).into(),
                (None, Ok(number)) if number.to_string() == value => number.into(),
                (None, _) => value.into_owned().into(),
            };
            said.insert(name, value);
        }
        JsonMessage::new(Tag::Untyped("object"), Value::from(said).to_string(), None)
    }
}

/// Where links lead, by what they are to what is answered (RFC 8288): `<https://api.example.com/items?page=2>; rel="next"`.
fn links(field: &str) -> impl Iterator<Item = (String, Value)> {
    field.split('<').skip(1).filter_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let mut parameters = parameters.split([';', ',']).map(str::trim);
        let relation = parameters.find_map(|it| it.strip_prefix("rel="))?;
        Some((relation.trim_matches('"').to_ascii_lowercase(), target.into()))
    })
}

/// What a client is asked to prove who it is with, by the scheme (RFC 9110, section 11.6.1): `Bearer realm="a"`.
fn challenges(field: &str) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Map<String, Value>)> = Vec::new();
    for part in unquoted_parts(field) {
        let (before, value) = part.split_once('=').unwrap_or((part, ""));
        let (scheme, name) = match before.trim().rsplit_once(char::is_whitespace) {
            Some((scheme, name)) => (Some(scheme.trim()), name),
            None if part.contains('=') => (None, before.trim()),
            None => (Some(before.trim()), ""),
        };
        if let Some(scheme) = scheme {
            found.push((scheme.to_ascii_lowercase(), Map::new()));
        }
        if let Some((_, said)) = found.last_mut().filter(|_| !name.is_empty()) {
            said.insert(name.to_ascii_lowercase(), value.trim().trim_matches('"').into());
        }
    }
    found.into_iter().map(|(scheme, said)| (scheme, said.into())).collect()
}

/// What stands between commas that are in no quotes.
fn unquoted_parts(field: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let parts = field.split(move |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// A cookie, and what is said of it beside its value: when it ends is another each time.
fn cookie(field: &str) -> Option<(String, Value)> {
    let mut parts = field.split(';').map(str::trim);
    let (name, _) = parts.next()?.split_once('=')?;
    let attributes = parts.filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.trim().to_ascii_lowercase();
        let is_end = matches!(&*name, "expires" | "max-age");
        let value = if is_end || value.is_empty() { true.into() } else { value.trim().into() };
        (name, value)
    });
    Some((numbered(name.trim()), Value::Object(attributes.collect())))
}

/// The name of a cookie, with `N` for each number: some are called by the port of the server.
fn numbered(name: &str) -> String {
    let mut said = String::new();
    for piece in name.split_inclusive(|c: char| c.is_ascii_digit()) {
        let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_again = letters.is_empty() && said.ends_with('N');
        said.push_str(letters);
        said.push_str(if letters.len() < piece.len() && !is_again { "N" } else { "" });
    }
    said
}

/// The fields with their names in lower case: servers spell the same name in several ways.
fn lower(headers: &Headers) -> impl Iterator<Item = (String, &Bytes)> {
    headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value))
}

/// The header fields and parameters of a request that are identifiers, or numbers that are no small ones.
pub(super) fn identifiers(request: &Request) -> impl Iterator<Item = &[u8]> {
    let fields =
        request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
    let fields = fields.map(|(_, value)| &**value);
    let parameters = request.query().into_iter().flat_map(|query| query.split('&'));
    let parameters = parameters.filter_map(|it| Some(it.split_once('=')?.1.as_bytes()));
    fields.chain(parameters).filter(|value| {
        let text = str::from_utf8(value).unwrap_or_default();
        let is_number = text.len() >= LARGE && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number || identity::identifiers(text).next() == Some(0..text.len())
    })
}

impl Contract {
    /// The header fields that it promises.
    pub(super) fn named_headers(&self) -> impl Iterator<Item = &str> {
        let Some(Kinds::One(schema)) = &self.headers else { return Vec::new().into_iter() };
        schema.field_names().collect::<Vec<_>>().into_iter()
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_known_by_its_scheme_and_what_it_asks_for() {
        let said = |field: &str| Value::Object(challenges(field).into_iter().collect()).to_string();

        let bearer = r#"Bearer realm="a, b=c", resource_metadata="https://a.example/x?y=z""#;
        let expected =
            r#"{"bearer":{"realm":"a, b=c","resource_metadata":"https://a.example/x?y=z"}}"#;
        assert_eq!(said(bearer), expected);
        let both = r#"Negotiate, Basic realm="a",Digest qop=auth , nonce="n==""#;
        let expected =
            r#"{"basic":{"realm":"a"},"digest":{"nonce":"n==","qop":"auth"},"negotiate":{}}"#;
        assert_eq!(said(both), expected);
        assert_eq!(said("  "), "{}");

        let mut response = Response::whole("text/plain", String::new());
        response.headers.set("www-authenticate", "Basic realm=\"a\"".to_owned());
        let mut promised = Promised::default();
        promised.see(&response, &HashSet::new());
        let expected = r#"{"www-authenticate":{"basic":{"realm":"a"}}}"#;
        assert_eq!(promised.of(&response).text().as_str(), expected);
    }

    #[test]
    fn a_cookie_is_known_by_its_name_and_by_what_is_said_of_it() {
        let field = "sid-127-0-0-1-4620=a; Path=/; Max-Age=9; HttpOnly; SameSite=Lax";

        let (name, said) = cookie(field).unwrap();

        assert_eq!(name, "sid-N-N-N-N-N");
        let expected = r#"{"httponly":true,"max-age":true,"path":"/","samesite":"Lax"}"#;
        assert_eq!(said, serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(cookie("no cookie"), None);
    }
}
