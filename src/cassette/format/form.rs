//! The forms in which bytes stand in the file.

use std::borrow::Cow;

use bytes::Bytes;

use super::reader::Reader;
use super::sidecar::{Fetch, Sidecar};
use super::sse::Events;
use super::style::{Framing, Style};
use super::text;
use super::writer::{Spread, Writer};
use crate::error::Result;
use crate::text::amazon;
use crate::text::json::{Layout, Text};

/// Bytes as they stand in the file.
#[derive(Debug)]
pub(super) enum Form<'a> {
    Json(Text<'a>),
    Sse(Events<'a>),
    Ndjson(Lines<'a>),
    Amazon(Lines<'a>),
    Text(Cow<'a, [u8]>),
    Base64(Vec<u8>),
    File(Sidecar<'a>),
}

impl<'a> Form<'a> {
    /// The members that hold a whole body.
    pub(super) const WHOLE: &'static [&'static str] = &["json", "text", "base64", "file"];
    /// The members that hold a chunk.
    pub(super) const CHUNK: &'static [&'static str] =
        &["sse", "ndjson", "amazon", "text", "base64", "file"];
    /// The members that hold compressed bytes.
    pub(super) const BINARY: &'static [&'static str] = &["base64", "file"];

    /// Reads the value of a member that holds bytes; nothing if it is none of those.
    pub(super) fn read(reader: &mut Reader<'a>, name: &str) -> Result<Option<Self>> {
        Ok(Some(match name {
            "json" => Self::Json(reader.container()?),
            "sse" => Self::Sse(Events::read(reader)?),
            "ndjson" => Self::Ndjson(Lines::read(reader)?),
            "amazon" => Self::Amazon(Lines::read_messages(reader)?),
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
            Self::Amazon(lines) => lines.messages(style).into(),
            Self::Text(text) => text.into_owned().into(),
            Self::Base64(bytes) => bytes.into(),
            Self::File(sidecar) => sidecar.fetch(fetch)?,
        })
    }
}

/// Lines, each an object or an array in one layout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines<'a>(Vec<Text<'a>>);

impl<'a> Lines<'a> {
    /// Takes text that is nothing but whole lines, and tells their layout: the usual one if it can be.
    pub(super) fn of(text: &'a str, framing: Framing, usual: Style) -> Option<(Self, Style)> {
        let lines = text
            .strip_suffix(framing.eol)?
            .split(framing.eol)
            .map(Text::read_container)
            .collect::<Option<Vec<_>>>()?;
        let layout = [usual.layout, Layout::Compact, Layout::Spaced]
            .into_iter()
            .find(|layout| lines.iter().all(|line| layout.fits(*line)))?;
        Some((Self(lines), Style::on_line(layout)))
    }

    pub(super) fn bytes(&self, style: Style, framing: Framing) -> Vec<u8> {
        let mut text = String::new();
        for line in &self.0 {
            style.layout.write(*line, &mut text);
            text.push_str(framing.eol);
        }
        text.into_bytes()
    }

    /// The messages in Amazon's framing that the lines are.
    fn messages(&self, style: Style) -> Vec<u8> {
        let lines = String::from_utf8(self.bytes(style, Framing::USUAL));
        lines.ok().and_then(|lines| amazon::bytes(&lines)).unwrap_or_default()
    }

    /// Reads what must be messages in Amazon's framing.
    fn read_messages(reader: &mut Reader<'a>) -> Result<Self> {
        let here = reader.clone();
        let lines = Self::read(reader)?;
        let known = lines.0.iter().all(|line| amazon::is_message(*line));
        let what = "`amazon` is no message of an event stream";
        if known { Ok(lines) } else { Err(here.invalid(what)) }
    }

    /// Writes an object as itself; anything else as a list of the lines.
    pub(super) fn write(&self, w: &mut Writer) {
        match self.0.as_slice() {
            [one] if one.as_str().starts_with('{') => w.json(*one),
            lines => {
                w.list(Spread::Line, lines, |w, line| w.json(*line));
            }
        }
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        if reader.peek() != b'[' {
            return Ok(Self(vec![reader.container()?]));
        }
        reader.list(Reader::container).map(Self)
    }
}
