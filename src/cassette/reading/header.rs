//! Which header fields count.

use std::borrow::Cow;

use super::hash::{combine, hash_of};
use crate::cassette::Headers;
use crate::config::{Rules, Treatment};

/// Fields that have a meaning in the protocol and are compared as they are: those of HTTP, of WebDAV (RFC
/// 4918), of uploads that go on later (tus), and those that name what is called, copied, or read on.
const COUNTED: [&str; 26] = [
    "content-range",
    "depth",
    "destination",
    "if-match",
    "if-none-match",
    "if-range",
    "last-event-id",
    "mcp-session-id",
    "overwrite",
    "prefer",
    "range",
    "sec-websocket-protocol",
    "soapaction",
    "tus-resumable",
    "upload-length",
    "upload-metadata",
    "upload-offset",
    "x-amz-copy-source",
    "x-amz-copy-source-range",
    "x-amz-target",
    "x-http-method-override",
    "x-ms-continuation",
    "x-ms-copy-source",
    "x-ms-documentdb-partitionkey",
    "x-ms-range",
    "x-ms-source-range",
];

/// Fields in which an SDK counts its own attempts, with the first one as 0.
const ATTEMPTS: [&str; 3] = ["x-stainless-retry-count", "x-retry-count", "retry-attempt"];

/// Header fields, their values as bytes.
pub(crate) trait HeaderFields<'h>: Iterator<Item = (&'h str, &'h [u8])> {}

impl<'h, I: Iterator<Item = (&'h str, &'h [u8])>> HeaderFields<'h> for I {}

/// The fields of a request of a cassette.
pub(crate) fn fields(headers: &Headers) -> impl HeaderFields<'_> {
    headers.iter().map(|(name, value)| (name, &**value))
}

/// A field that counts.
pub(crate) struct HeaderField<'h, 'r> {
    pub(crate) name: &'h str,
    /// What counts of its value.
    pub(crate) text: Cow<'h, str>,
    pub(crate) treatment: Option<Treatment<'r>>,
}

/// The fields of a header that count.
pub(crate) fn counted<'h, 'r>(
    fields: impl HeaderFields<'h>,
    rules: &'r Rules,
    has_body: bool,
) -> impl Iterator<Item = HeaderField<'h, 'r>> {
    let ruled = !rules.is_empty();
    fields.filter_map(move |(name, value)| {
        let treatment = if ruled { rules.of_header(name) } else { None };
        let is_extra = || {
            treatment.is_some()
                || rules.headers().iter().any(|extra| extra.eq_ignore_ascii_case(name))
        };
        let counted = Counted::of(name).or_else(|| (ruled && is_extra()).then_some(Counted::Whole));
        let counted = counted.filter(|_| treatment != Some(Treatment::Ignore))?;
        let text = counted.text(value, has_body)?;
        Some(HeaderField { name, text, treatment })
    })
}

/// Whether a field of that name counts, whatever the rules say.
pub(crate) fn counts(name: &str) -> bool {
    Counted::of(name).is_some()
}

const JSON: &str = "application/json";

/// The name as it is hashed. What comes through hyper is lowercase already.
pub(crate) fn lowercase(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// Equal for headers that are equal in what counts, if no rule leaves out a part of a field.
pub(crate) fn hash<'h>(fields: impl HeaderFields<'h>, rules: &Rules, has_body: bool) -> u64 {
    counted(fields, rules, has_body).fold(0, |sum, field| {
        sum.wrapping_add(combine(&[hash_of(&*lowercase(field.name)), hash_of(&*field.text)]))
    })
}

/// How a field counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Whole,
    Accepted,
    MediaType,
    /// Only the wish for a WebSocket, or for lines, which one may play: other offers may be ignored.
    Upgrade,
}

impl Counted {
    fn of(name: &str) -> Option<Self> {
        // Most fields are told by their length.
        match name.len() {
            6 if name.eq_ignore_ascii_case("accept") => Some(Self::Accepted),
            12 if name.eq_ignore_ascii_case("content-type") => Some(Self::MediaType),
            7 if name.eq_ignore_ascii_case("upgrade") => Some(Self::Upgrade),
            5 | 6 | 8..=17 | 22 | 23 | 28 => {
                let mut counted = COUNTED.iter();
                counted.any(|counted| counted.eq_ignore_ascii_case(name)).then_some(Self::Whole)
            }
            _ => None,
        }
    }

    /// What counts of a value, if anything does.
    fn text(self, value: &[u8], has_body: bool) -> Option<Cow<'_, str>> {
        match self {
            Self::MediaType if !has_body => None,
            Self::MediaType if value == JSON.as_bytes() => Some(JSON.into()),
            Self::MediaType => Some(media_type(&String::from_utf8_lossy(value))),
            Self::Accepted => accepted(&String::from_utf8_lossy(value)).map(Cow::Owned),
            Self::Upgrade => is_socket(value).then_some("websocket".into()),
            Self::Whole => Some(String::from_utf8_lossy(value)),
        }
    }
}

/// Whether frames of both sides follow, whatever carries them.
fn is_socket(upgrade: &[u8]) -> bool {
    ["websocket", "stdio"].iter().any(|word| offers(upgrade, word))
}

/// Whether a field `Upgrade` offers a protocol, alone or in a list.
pub(crate) fn offers(upgrade: &[u8], protocol: &str) -> bool {
    let mut offers = upgrade.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    offers.any(|offer| offer.eq_ignore_ascii_case(protocol.as_bytes()))
}

/// What is accepted beyond JSON and anything at all: an SDK and `curl` ask for the same in other
/// words, but to ask for a stream is to ask for something else.
fn accepted(text: &str) -> Option<String> {
    if matches!(text, "*/*" | "application/json") {
        return None;
    }
    let ranges = text.split(',').map(|range| essence(range).to_ascii_lowercase());
    let mut special: Vec<String> = ranges
        .filter(|range| !matches!(&**range, "" | "*/*" | "application/*" | "application/json"))
        .collect();
    special.sort_unstable();
    special.dedup();
    (!special.is_empty()).then(|| special.join(","))
}

/// The media type without its parameters. JSON is JSON, whatever it is about, unless it is a patch: how it is to be
/// applied is what its type says (RFC 5789).
fn media_type(text: &str) -> Cow<'static, str> {
    let essence = essence(text);
    if essence == JSON {
        return JSON.into();
    }
    let essence = essence.to_ascii_lowercase();
    let is_json = essence.ends_with("+json") && !essence.ends_with("patch+json");
    if is_json { JSON.into() } else { essence.into() }
}

fn essence(text: &str) -> &str {
    text.split_once(';').map_or(text, |(essence, _)| essence).trim()
}

/// Which attempt at the same call a request is, counted from 0, if the client says so.
pub(crate) fn attempt<'h>(mut fields: impl HeaderFields<'h>) -> Option<u32> {
    let (_, value) = fields.find(|(name, _)| counts_attempts(name))?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// Whether a client counts its attempts in a field.
pub(crate) fn counts_attempts(name: &str) -> bool {
    ATTEMPTS.iter().any(|attempt| attempt.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_that_has_a_meaning_counts_in_any_spelling() {
        for name in COUNTED {
            assert!(Counted::of(name) == Some(Counted::Whole), "{name}");
            assert!(Counted::of(&name.to_ascii_uppercase()) == Some(Counted::Whole), "{name}");
        }
        for name in ["user-agent", "x-ms-date", "x-amz-meta-name", "x-request-id"] {
            assert!(Counted::of(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_wish_for_a_websocket_counts_alone_and_in_a_list() {
        for (upgrade, counts) in [
            ("websocket", true),
            ("h2c, WebSocket", true),
            ("websocket,x", true),
            ("h2c", false),
            ("websocket2", false),
        ] {
            assert_eq!(is_socket(upgrade.as_bytes()), counts, "{upgrade}");
        }
    }

    #[test]
    fn what_is_accepted_counts_where_it_asks_for_something_else() {
        for (accept, counted) in [
            ("application/json", None),
            ("*/*", None),
            ("application/json, text/plain, */*", Some("text/plain")),
            ("text/event-stream; q=0.9, application/json", Some("text/event-stream")),
            ("Application/JSON,Text/Event-Stream", Some("text/event-stream")),
        ] {
            assert_eq!(accepted(accept).as_deref(), counted, "{accept}");
        }
    }
}
