//! The chunks of a stream, a line each.

use bytes::Bytes;

use super::form::{Form, Lines};

use super::reader::Reader;
use super::sidecar::{self, Fetch};
use super::sse::Events;
use super::style::{Framing, Style};
use super::text;
use super::writer::{Spread, Writer};
use crate::cassette::Chunk;
use crate::error::Result;
use crate::text::amazon;

/// What goes without saying in the chunks of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usual {
    pub(super) style: Style,
    pub(super) framing: Framing,
}

impl Usual {
    /// Goes by the first chunk that tells how JSON stands in it.
    pub(super) fn of(chunks: &[Chunk]) -> Self {
        let tell = |chunk: &Chunk| {
            let lines = amazon::lines(&chunk.bytes);
            let text = lines.as_deref().or_else(|| std::str::from_utf8(&chunk.bytes).ok())?;
            let framing = Framing::guess(text);
            if let Some(events) = Events::of(text, framing, Style::COMPACT) {
                return Some(Self { style: events.style().unwrap_or(Style::COMPACT), framing });
            }
            let framing = Framing { eol: framing.eol, ..Framing::USUAL };
            let (_, style) = Lines::of(text, framing, Style::COMPACT)?;
            Some(Self { style, framing })
        };
        let otherwise = Self { style: Style::COMPACT, framing: Framing::USUAL };
        chunks.iter().find_map(tell).unwrap_or(otherwise)
    }
}

/// Writes a chunk as a line.
pub(super) fn write(w: &mut Writer, chunk: &Chunk, usual: Usual) {
    w.object(Spread::Line);
    w.name("ms");
    w.number(chunk.ms);
    let readable = write_amazon(w, &chunk.bytes, usual)
        || std::str::from_utf8(&chunk.bytes)
            .is_ok_and(|text| write_events(w, text, usual) || write_lines(w, text, usual));
    if !readable && !write_text(w, &chunk.bytes, usual) {
        text::write_binary(w, &chunk.bytes, Spread::Line);
    }
    w.end('}');
}

fn write_events(w: &mut Writer, text: &str, usual: Usual) -> bool {
    let framing = Framing::guess(text);
    let Some(events) = Events::of(text, framing, usual.style) else { return false };
    let write = |w: &mut Writer| {
        framing.write(w, usual.framing);
        w.name("sse");
        events.write(w);
    };
    proved(w, text.as_bytes(), usual, write)
}

fn write_lines(w: &mut Writer, text: &str, usual: Usual) -> bool {
    let eol = Framing::guess(text).eol;
    let framing =
        if eol == usual.framing.eol { usual.framing } else { Framing { eol, ..Framing::USUAL } };
    let Some((lines, style)) = Lines::of(text, framing, usual.style) else { return false };
    let write = |w: &mut Writer| {
        framing.write(w, usual.framing);
        style.write(w, Some(usual.style));
        w.name("ndjson");
        lines.write(w);
    };
    proved(w, text.as_bytes(), usual, write)
}

fn write_amazon(w: &mut Writer, bytes: &[u8], usual: Usual) -> bool {
    let Some(text) = amazon::lines(bytes) else { return false };
    let Some((lines, style)) = Lines::of(&text, Framing::USUAL, usual.style) else { return false };
    let write = |w: &mut Writer| {
        style.write(w, Some(usual.style));
        w.name("amazon");
        lines.write(w);
    };
    let proved = proved(w, bytes, usual, write);
    w.is_newer |= proved;
    proved
}

fn write_text(w: &mut Writer, bytes: &[u8], usual: Usual) -> bool {
    let Some(pieces) = text::split(bytes) else { return false };
    let write = |w: &mut Writer| {
        w.name("text");
        text::write_split(w, pieces);
    };
    proved(w, bytes, usual, write)
}

fn proved(w: &mut Writer, bytes: &[u8], usual: Usual, write: impl FnOnce(&mut Writer)) -> bool {
    w.proved(write, |reader, bodies| {
        let line = ChunkLine::read(reader)?;
        Ok(line.bytes(usual, &mut sidecar::among(bodies))? == bytes)
    })
}

/// A line as it was read.
#[derive(Debug, Default)]
pub(super) struct ChunkLine<'a> {
    here: Reader<'a>,
    /// When it came, if that is said.
    pub(super) ms: Option<u64>,
    form: Option<Form<'a>>,
    style: Option<Style>,
    framing: Option<Framing>,
    length: Option<usize>,
}

impl<'a> ChunkLine<'a> {
    const MEMBERS: &'static [&'static str] = &["ms", "layout", "framing", "bytes"];

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut line = Self { here: reader.clone(), ..Self::default() };
        reader.object(&[Self::MEMBERS, Form::CHUNK], |reader, name| line.member(reader, name))?;
        Ok(line)
    }

    fn member(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "ms" => self.ms = Some(reader.number()?),
            "layout" => self.style = Some(Style::read_on_line(reader)?),
            "framing" => self.framing = Some(Framing::read(reader)?),
            "bytes" => self.length = Some(reader.count()?),
            _ if self.form.is_some() => return Err(reader.invalid("a chunk is written twice")),
            _ => self.form = Form::read(reader, name)?,
        }
        Ok(())
    }

    pub(super) fn bytes(self, usual: Usual, fetch: &mut Fetch<'_>) -> Result<Bytes> {
        let Some(form) = self.form else {
            return Err(self.here.missing("text"));
        };
        let style = self.style.unwrap_or(usual.style);
        let bytes = form.bytes(style, self.framing.unwrap_or(usual.framing), fetch)?;
        sidecar::expect_length(&self.here, self.length, &bytes)?;
        Ok(bytes)
    }
}
