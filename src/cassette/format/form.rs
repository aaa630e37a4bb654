//! The forms in which bytes stand in the file.

use std::borrow::Cow;

use bytes::Bytes;

use super::ndjson::Lines;
use super::reader::Reader;
use super::sidecar::{Fetch, Sidecar};
use super::sse::Events;
use super::style::{Framing, Style};
use super::text;
use crate::error::Result;
use crate::text::json::Text;

/// Bytes as they stand in the file.
#[derive(Debug)]
pub(super) enum Form<'a> {
    Json(Text<'a>),
    Sse(Events<'a>),
    Ndjson(Lines<'a>),
    Text(Cow<'a, [u8]>),
    Base64(Vec<u8>),
    File(Sidecar<'a>),
}

impl<'a> Form<'a> {
    /// The members that hold a whole body.
    pub(super) const WHOLE: &'static [&'static str] = &["json", "text", "base64", "file"];
    /// The members that hold a chunk.
    pub(super) const CHUNK: &'static [&'static str] = &["sse", "ndjson", "text", "base64", "file"];
    /// The members that hold compressed bytes.
    pub(super) const BINARY: &'static [&'static str] = &["base64", "file"];

    /// Reads the value of a member that holds bytes; nothing if it is none of those.
    pub(super) fn read(reader: &mut Reader<'a>, name: &str) -> Result<Option<Self>> {
        Ok(Some(match name {
            "json" => Self::Json(reader.container()?),
            "sse" => Self::Sse(Events::read(reader)?),
            "ndjson" => Self::Ndjson(Lines::read(reader)?),
            "text" => Self::Text(text::read(reader)?),
            "base64" => Self::Base64(text::read_base64(reader)?),
            "file" => Self::File(Sidecar::read(reader)?),
            _ => return Ok(None),
        }))
    }

    pub(super) fn bytes(
        self,
        style: Style,
        framing: Framing,
        fetch: &mut Fetch<'_>,
    ) -> Result<Bytes> {
        Ok(match self {
            Self::Json(json) => style.apply(json).into(),
            Self::Sse(events) => events.bytes(framing, style).into(),
            Self::Ndjson(lines) => lines.bytes(style, framing).into(),
            Self::Text(text) => text.into_owned().into(),
            Self::Base64(bytes) => bytes.into(),
            Self::File(sidecar) => sidecar.fetch(fetch)?,
        })
    }
}
