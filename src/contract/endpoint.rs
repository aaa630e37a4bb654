//! What is asked and answered, whichever things it is about.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use crate::cassette::{Body, Request, Response, target};
use crate::identity::{identifiers, refers};

/// A method, a path in which identifiers are left open, a status, and a media type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Endpoint {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path, with names in braces in the place of identifiers: `/v1/agents/{agent_id}`. Behind the
    /// address of its server, if that is not the first one of the cassette. Where a header field names what is
    /// asked for, that is behind a `#`, as in OpenAPI documents of AWS: `/#X-Amz-Target=DynamoDB_20120810.GetItem`.
    pub path: String,
    /// The status of the answer.
    pub status: u16,
    /// The media type of the answer without parameters; empty if there is none.
    pub media: String,
}

/// The media type of an answer without parameters, in small letters; empty if there is none.
pub(crate) fn media_type(response: &Response) -> String {
    let media = response.headers.get("content-type").unwrap_or_default();
    let media = media.trim().split([';', ' ', '\t']).next().unwrap_or_default();
    media.to_ascii_lowercase()
}

impl Endpoint {
    /// The endpoint of an exchange. `names` are values that are no identifiers by their look, such as
    /// numbers, and of which the recording shows that they are some. What the answer itself says in a
    /// field for identifiers is one, too: `/users/ann` and `"user_id": "ann"`.
    pub fn of(request: &Request, response: &Response, names: &HashSet<String>) -> Self {
        let body = match &*response.readable() {
            Body::Whole(body) => body.clone(),
            Body::Stream(_) => Bytes::new(),
        };
        let is_name = |segment: &str| {
            names.contains(segment) || names.contains(stem(segment)) || identifies(&body, segment)
        };
        Self {
            method: request.method.clone(),
            path: template(request.path_only(), is_name) + &operation(request),
            status: response.status,
            media: media_type(response),
        }
    }

    /// A name that can be a file: `POST-v1-agents-agent_id-messages-200`. Others may have the same, such as
    /// one with a slash at the end.
    pub fn slug(&self) -> String {
        let words = self.words();
        match words.char_indices().nth(LONGEST) {
            None => words,
            Some((end, _)) => format!("{}-{}", &words[..end], self.hash()),
        }
    }

    fn words(&self) -> String {
        let path = self.path.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let words = path.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
        let kind = self.media.rsplit('/').next().filter(|kind| !matches!(*kind, "" | "json"));
        let kind = kind.map_or_else(String::new, |kind| format!("-{kind}"));
        format!("{}-{words}-{}{kind}", self.method, self.status)
    }

    /// A name that can be a file, and that no other endpoint has: `POST-v1-agents-200-5c1d4e09f751`.
    pub fn unique_slug(&self) -> String {
        format!("{}-{}", self.slug(), self.hash())
    }

    fn hash(&self) -> String {
        blake3::hash(self.to_string().as_bytes()).to_hex()[..12].to_owned()
    }
}

/// The characters of a slug, of which a file may have 255 with what stands around it.
const LONGEST: usize = 120;

/// A longer extension of a file is none.
const LONGEST_EXTENSION: usize = 5;

/// A segment without the extension of a file: `ord_8Zq` of `ord_8Zq.xml`.
fn stem(segment: &str) -> &str {
    let is_extension = |it: &str| {
        it.len() <= LONGEST_EXTENSION
            && it.starts_with(|first: char| first.is_ascii_alphabetic())
            && it.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let parts = segment.rsplit_once('.').filter(|(_, extension)| is_extension(extension));
    parts.map_or(segment, |(stem, _)| stem)
}

/// Whether JSON says a text in a field for identifiers.
fn identifies(json: &[u8], text: &str) -> bool {
    let quoted = format!("\"{text}\"");
    let mut found = memchr::memmem::find_iter(json, &quoted);
    !text.is_empty()
        && found.any(|at| {
            let before = json[..at].trim_ascii_end().strip_suffix(b":").unwrap_or_default();
            let before = before.trim_ascii_end().strip_suffix(b"\"").unwrap_or_default();
            let name = before.rsplit(|byte| *byte == b'"').next().unwrap_or_default();
            std::str::from_utf8(name).is_ok_and(refers)
        })
}

/// What begins the name of an operation.
pub(super) const OPERATION: char = '#';

/// What a header field says that is asked for, as a part of the path.
fn operation(request: &Request) -> String {
    let target = request.headers.get("x-amz-target").map(str::trim);
    let target = target.filter(|it| !it.is_empty() && !it.contains(char::is_whitespace));
    target.map_or_else(String::new, |target| format!("{OPERATION}X-Amz-Target={target}"))
}

/// The name of a server has no open places.
fn template(path: &str, is_name: impl Fn(&str) -> bool) -> String {
    let (origin, path) = target::split(path);
    let mut before = "";
    let segments = path.split('/').map(|segment| {
        let named = parameter(segment, before, &is_name);
        before = segment;
        named.unwrap_or_else(|| segment.to_owned())
    });
    format!("{origin}{}", segments.collect::<Vec<_>>().join("/"))
}

/// What stands for a segment that is an identifier, or has one: `Products(1498)` of OData, and `8f3a…:cancel`.
fn parameter(segment: &str, before: &str, is_name: impl Fn(&str) -> bool) -> Option<String> {
    match segment.rsplit_once(':').filter(|(_, verb)| is_verb(verb)) {
        Some((id, verb)) => thing(id, before, is_name).map(|open| format!("{open}:{verb}")),
        None => thing(segment, before, is_name),
    }
}

fn thing(segment: &str, before: &str, is_name: impl Fn(&str) -> bool) -> Option<String> {
    if let Some((set, key)) = segment.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
        let is_quoted = key.len() > 2 && key.starts_with('\'') && key.ends_with('\'');
        let is_number = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
        let is_key =
            is_quoted || is_number || is_name(key) || identifiers(key).next() == Some(0..key.len());
        return is_key.then(|| format!("{set}({})", named_after(set)));
    }
    let found = identifiers(segment).next();
    if found.is_none() && !is_name(segment) {
        return None;
    }
    let prefix = found.map_or("", |range| segment[..range.start].trim_end_matches(['-', '_']));
    let is_word =
        !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    Some(if is_word { open(prefix) } else { named_after(before) })
}

/// Whether what stands behind a colon says what is done with a thing.
pub(super) fn is_verb(verb: &str) -> bool {
    !verb.is_empty() && verb.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// An open place behind a segment: `{agent_id}` behind `agents`, `{id}` behind another open place.
pub(super) fn named_after(before: &str) -> String {
    if before.contains('{') { open("") } else { open(&singular(before)) }
}

fn open(name: &str) -> String {
    match name {
        "" => "{id}".to_owned(),
        name => format!("{{{}_id}}", name.replace('-', "_")),
    }
}

fn singular(word: &str) -> String {
    match word {
        _ if word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ if word.ends_with('s') && !word.ends_with("ss") => word[..word.len() - 1].to_owned(),
        _ => word.to_owned(),
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.method, self.path, self.status)?;
        if self.media.is_empty() { Ok(()) } else { write!(f, " {}", self.media) }
    }
}

impl FromStr for Endpoint {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (method, path, status, media) = match words.as_slice() {
            [method, path, "->", status] => (method, path, status, ""),
            [method, path, "->", status, media] => (method, path, status, *media),
            _ => return Err(()),
        };
        Ok(Self {
            method: (*method).to_owned(),
            path: (*path).to_owned(),
            status: status.parse().map_err(drop)?,
            media: media.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::Headers;

    #[test]
    fn what_a_header_field_asks_for_is_a_part_of_the_path() {
        let target = |name: &str| {
            let request = Request {
                headers: Headers::from_iter([("x-amz-target", name.to_owned())]),
                ..Request::of("POST", "/")
            };
            Endpoint::of(&request, &Response::of(200), &HashSet::new())
        };

        let items = target("DynamoDB_20120810.GetItem");

        assert_eq!(items.to_string(), "POST /#X-Amz-Target=DynamoDB_20120810.GetItem -> 200");
        assert_eq!(items.slug(), "POST-X-Amz-Target-DynamoDB_20120810-GetItem-200");
        assert_eq!(items.to_string().parse(), Ok(items));
        assert_eq!(target(" ").path, "/");
    }

    #[test]
    fn the_line_of_an_endpoint_is_read_back_whatever_the_media_type_is() {
        let headers = Headers::from_iter([("content-type", "application/json charset=utf-8")]);
        let response = Response { headers, ..Response::of(200) };
        let request = Request::of("GET", "/a");

        let endpoint = Endpoint::of(&request, &response, &HashSet::new());

        assert_eq!(endpoint.to_string(), "GET /a -> 200 application/json");
        assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
    }

    #[test]
    fn identifiers_in_a_path_are_named_by_what_they_are() {
        for (path, expected) in [
            ("/v1/agents/", "/v1/agents/"),
            (
                "/v1/agents/agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0/messages",
                "/v1/agents/{agent_id}/messages",
            ),
            ("/v1/runs/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", "/v1/runs/{run_id}"),
            // Keys of OData, and what is done with a thing.
            ("/odata/Products(1498)/Name", "/odata/Products({Product_id})/Name"),
            ("/odata/users('x-y')", "/odata/users({user_id})"),
            ("/odata/sum(a=1,b=2)/top()", "/odata/sum(a=1,b=2)/top()"),
            ("/api/accounts(6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0)", "/api/accounts({account_id})"),
            ("/v1/jobs/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0:run", "/v1/jobs/{job_id}:run"),
            ("/v1/jobs/17:cancel", "/v1/jobs/{job_id}:cancel"),
            ("/v1/jobs:list", "/v1/jobs:list"),
            ("/v1/jobs/17:a:b", "/v1/jobs/17:a:b"),
            ("/v1/categories/17/items/18", "/v1/categories/{category_id}/items/18"),
            ("/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", "/{id}"),
            (
                "https://6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0.dev/runs/17",
                "https://6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0.dev/runs/{run_id}",
            ),
        ] {
            assert_eq!(template(path, |it| it == "17"), expected);
        }
    }

    #[test]
    fn what_an_answer_says_in_a_field_for_identifiers_is_one() {
        let check = |json: &str, expected: bool| {
            assert_eq!(identifies(json.as_bytes(), "ann"), expected, "{json}");
        };
        check(r#"{"id":"s-1","userId":"ann"}"#, true);
        check("data: {\"user_id\" : \"ann\"}\n\n", true);
        check(r#"{"greeting":"ann"}"#, false);
        check(r#"["ann"]"#, false);
        check(r#"{"user_id":"anna"}"#, false);
        check("", false);
    }

    #[test]
    fn a_name_of_a_file_is_bounded_and_its_own() {
        let of = |path: String| Endpoint { method: "GET".to_owned(), path, ..Endpoint::default() };
        let (one, other) =
            (of(format!("/{}a", "x".repeat(5000))), of(format!("/{}b", "x".repeat(5000))));

        assert!(one.unique_slug().len() <= 150, "{}", one.unique_slug());
        assert_eq!(one.slug(), one.slug());
        assert_ne!(one.slug(), other.slug());
    }
}
