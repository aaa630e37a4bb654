//! The cassette file.
//!
//! One JSON document, laid out to be read in a pull request: a line for each header field and each
//! chunk, events as events, JSON as JSON. It gives back the very bytes: the writer reads each form
//! again and takes a plainer one where anything would be lost (`sse`, `ndjson` or `amazon`, then `text`, then
//! `base64`). Large bodies stand beside it under their hash.
//!
//! # Layout
//!
//! `document` is the file, `exchange` a request and its answer, `body` what they carry, `chunk` one
//! line of a stream, `frames` those of a WebSocket; `sse`, `ndjson` and `text` are the forms, `style` says how they stood on the
//! wire. `rules` are
//! what a person says about matching. `reader` and `writer` know JSON and nothing of cassettes.

mod body;
mod chunk;
mod document;
mod encoded;
mod exchange;
mod form;
mod frames;
mod headers;
mod ids;
mod reader;
mod rules;
mod sidecar;
mod sse;
mod style;
mod text;
mod writer;

use std::collections::BTreeMap;

use bytes::Bytes;

use self::sidecar::Fetch;
use super::{Cassette, Interactions, Larges, Response};
use crate::config::Rules;
use crate::error::Result;

/// A version of the cassette format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion(pub u64);

impl FormatVersion {
    /// The one that is written where it can say all of a cassette.
    pub const OLDEST: Self = Self(1);
    /// The newest, written where an older one cannot say it: messages in Amazon's framing, frames, several
    /// origins, and what was imported.
    pub const CURRENT: Self = Self(2);
}

/// A cassette as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// The text of the file.
    pub text: String,
    /// The bodies that live beside it, by name: the first 32 hexadecimal digits of their BLAKE3 hash.
    pub bodies: BTreeMap<String, Bytes>,
    /// Those of them that are not held in memory.
    pub larges: Larges,
}

/// Says in a few lines, for people, what an answer says; nothing for one that reads well itself. It is not read
/// again.
pub(crate) type Tracer<'a> = dyn Fn(&Response) -> Vec<String> + 'a;

/// Writes a cassette. Equal cassettes give equal texts.
pub fn encode(cassette: &Cassette) -> File {
    let (file, _) = document::write(cassette, &cassette.interactions, &|_| Vec::new(), None);
    file
}

/// Takes what is written of a cassette so far: its text, and the bodies beside it.
pub(crate) type Taker<'a> = dyn FnMut(&str, BTreeMap<String, Bytes>) + 'a;

/// Writes a cassette with these interactions, which need not be held in memory, and gives what was not taken of
/// it. If a newer version than the one that was taken is needed to read it, also where that stands.
pub(crate) fn encode_in_pieces(
    cassette: &Cassette,
    interactions: &impl Interactions,
    trace: &Tracer<'_>,
    take: &mut Taker<'_>,
) -> (File, Option<(usize, FormatVersion)>) {
    document::write(cassette, interactions, trace, Some(take))
}

/// Reads a cassette. `body` fetches a body that lives beside the file, by its name.
///
/// # Errors
///
/// If the text is of a newer format, is not JSON, or says something that a cassette cannot say; if a
/// readable body is not what its compressed bytes decode to; if a body cannot be fetched or is not the
/// one that was stored. The error tells the line, the interaction and what to do.
///
/// # Example: a file from the future
///
/// ```
/// use retape::cassette::format::decode;
///
/// let error = decode(r#"{"retape": 3, "tapes": []}"#, |_| unreachable!()).unwrap_err();
///
/// assert!(error.is_newer_version());
/// ```
pub fn decode(text: &str, body: impl FnMut(&str) -> Result<Bytes>) -> Result<Cassette> {
    decode_with(text, body, |_| None)
}

/// The same, where `large` gives what stands in the place of a body that is not to be held in memory.
pub(crate) fn decode_with(
    text: &str,
    body: impl FnMut(&str) -> Result<Bytes>,
    large: impl FnMut(&str) -> Option<Bytes>,
) -> Result<Cassette> {
    // Some editors put a byte order mark before it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    document::check_version(text)?;
    document::read(text, &mut Fetch::new(body, large))
}

/// Reads what a person says in a cassette about matching, and nothing else of it: the rest may be
/// damaged.
///
/// # Errors
///
/// If the text is of a newer format, or the rules say something that cannot be.
pub fn decode_rules(text: &str) -> Result<Rules> {
    decode_said(text).map(|(rules, _)| rules)
}

/// The same with the names of the rules by which secrets were replaced.
pub(crate) fn decode_said(text: &str) -> Result<(Rules, Vec<String>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    document::check_version(text)?;
    rules::find(text)
}
