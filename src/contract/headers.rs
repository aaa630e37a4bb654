//! The header fields of answers that clients go by, as an object.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use serde_json::{Map, Value};

use super::cut::JsonMessage;
use super::{Contract, Kinds};
use crate::cassette::{Headers, Request, Response};
use crate::identity;
use crate::message::Tag;

/// Fields that tell a client what to do next, or where (RFC 9110, sections 10.2, 14 and 15; RFC 8288, 8594,
/// 6266), and those that SDKs of agent servers read.
const TELLING: [&str; 17] = [
    "accept-ranges",
    "allow",
    "content-disposition",
    "content-location",
    "content-range",
    "deprecation",
    "link",
    "location",
    "mcp-session-id",
    "proxy-authenticate",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "sunset",
    "www-authenticate",
    "x-request-id",
    "x-should-retry",
];

/// How names of fields begin that tell how much is left of what a client may use.
const LIMITS: [&str; 2] = ["ratelimit", "x-ratelimit-"];

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
            let is_telling = TELLING.contains(&&*name)
                || LIMITS.iter().any(|limit| name.starts_with(limit))
                || sent.contains(&**value);
            if is_telling {
                self.0.insert(name);
            }
        }
    }

    /// What an answer says in them: integers as numbers, all else as texts.
    pub(super) fn of(&self, response: &Response) -> JsonMessage {
        let mut said: Map<String, Value> = Map::new();
        for (name, value) in lower(&response.headers).filter(|(name, _)| self.0.contains(name)) {
            let value = String::from_utf8_lossy(value);
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

/// The fields with their names in lower case: servers spell the same name in several ways.
fn lower(headers: &Headers) -> impl Iterator<Item = (String, &Bytes)> {
    headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value))
}

/// The header fields of a request that are identifiers.
pub(super) fn identifiers(request: &Request) -> impl Iterator<Item = &[u8]> {
    let values = request.headers.iter().map(|(_, value)| &**value);
    values.filter(|value| {
        let text = str::from_utf8(value).unwrap_or_default();
        identity::identifiers(text).next() == Some(0..text.len())
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
