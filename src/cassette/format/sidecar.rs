//! Bodies that live beside the file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;

use super::reader::Reader;
use crate::cassette::large::{self, DIGITS};
use crate::error::{Error, Kind, Result};
use crate::text::plain;
use crate::text::words::shown;

/// How long a readable body may be in the file: 64 KiB.
pub(super) const LONGEST_TEXT: usize = 64 << 10;

/// How long a body may be in base64 in the file: 4 KiB.
pub(super) const LONGEST_BASE64: usize = 4 << 10;

type FetchBody<'f> = Box<dyn FnMut(&str) -> Result<Bytes> + 'f>;
type FetchLarge<'f> = Box<dyn FnMut(&str) -> Option<Bytes> + 'f>;

/// What fetches bodies by their names.
pub(super) struct Fetch<'f> {
    body: FetchBody<'f>,
    /// Gives what stands in the place of one that is not to be held in memory.
    large: FetchLarge<'f>,
}

shown!(Debug: Fetch<'_>, _ => "Fetch");

impl<'f> Fetch<'f> {
    pub(super) fn new(
        body: impl FnMut(&str) -> Result<Bytes> + 'f,
        large: impl FnMut(&str) -> Option<Bytes> + 'f,
    ) -> Self {
        Self { body: Box::new(body), large: Box::new(large) }
    }
}

/// The name under which a body is kept.
pub(super) fn name(body: &[u8]) -> String {
    blake3::hash(body).to_hex()[..DIGITS].to_owned()
}

/// Fetches from bodies that are at hand.
pub(super) fn among(bodies: &BTreeMap<String, Bytes>) -> Fetch<'_> {
    let body = |name: &str| match bodies.get(name) {
        Some(body) => Ok(body.clone()),
        None => Err(Error::new(Kind::MissingBody { hash: name.to_owned() })),
    };
    Fetch::new(body, |_| None)
}

/// Checks the length that stands beside the name of a body.
pub(super) fn expect_length(here: &Reader<'_>, told: Option<usize>, body: &[u8]) -> Result<()> {
    match told {
        Some(length) if length as u64 != large::length(body) => {
            Err(here.invalid("`bytes` is not the length of the body"))
        }
        _ => Ok(()),
    }
}

/// A body named in the file.
#[derive(Debug)]
pub(super) struct Sidecar<'a> {
    here: Reader<'a>,
    name: Cow<'a, str>,
}

impl<'a> Sidecar<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let here = reader.clone();
        let name = reader.string()?;
        if name.len() == DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Ok(Self { here, name });
        }
        Err(here.invalid("`file` is not the name of a body"))
    }

    pub(super) fn fetch(&self, fetch: &mut Fetch<'_>) -> Result<Bytes> {
        let body = (fetch.body)(&self.name)?;
        if name(&body) == *self.name {
            return Ok(body);
        }
        Err(self.changed(&body))
    }

    /// The body, or what stands in its place if it is not to be held in memory.
    pub(super) fn fetch_or_stand_in(&self, fetch: &mut Fetch<'_>) -> Result<Bytes> {
        (fetch.large)(&self.name).map_or_else(|| self.fetch(fetch), Ok)
    }

    fn changed(&self, body: &[u8]) -> Error {
        let hint = if name(&plain::with_unix_ends(body)) == *self.name {
            "a checkout has changed the ends of its lines: write `*.bodies/* -text` into `.gitattributes`, and check it out anew"
        } else {
            "restore it from version control, or record the cassette again"
        };
        self.here.error(Kind::MissingBody { hash: self.name.clone().into_owned() }).with_hint(hint)
    }
}
