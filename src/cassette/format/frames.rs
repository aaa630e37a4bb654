//! The frames of a WebSocket, a line each.

use bytes::Bytes;

use super::form::Form;
use super::reader::Reader;
use super::sidecar::{self, Fetch};
use super::style::{Framing, Style};
use super::text;
use super::writer::{Spread, Writer};
use crate::cassette::{Body, Content, Frame, Peer};
use crate::error::Result;

/// The member that holds them.
pub(super) const MEMBER: &str = "frames";

/// Writes the member, if there are any. `layout` goes for all of them where there is no body.
pub(super) fn write(w: &mut Writer, frames: &[Frame], body: &Body) {
    if frames.is_empty() {
        return;
    }
    w.is_newer = true;
    let usual = if body.is_empty() { usual(frames) } else { Style::COMPACT };
    usual.write(w, Some(Style::COMPACT));
    w.name(MEMBER);
    w.list(Spread::Broken, frames, |w, frame| write_frame(w, frame, usual));
}

/// The layout of the first frame that is JSON.
fn usual(frames: &[Frame]) -> Style {
    let style = |frame: &Frame| Some(Style::of(frame.message()?)?.0);
    frames.iter().find_map(style).filter(|style| style.is_on_line()).unwrap_or(Style::COMPACT)
}

fn write_frame(w: &mut Writer, frame: &Frame, usual: Style) {
    w.object(Spread::Line);
    w.name("ms");
    w.number(frame.ms);
    w.text_member("from", frame.from.as_str());
    match &frame.content {
        Content::Close { code, reason } => {
            w.name("close");
            match code {
                Some(code) => w.number(*code),
                None => w.null(),
            }
            if !reason.is_empty() {
                w.text_member("reason", reason);
            }
        }
        Content::Text(bytes) => {
            let is_written =
                write_json(w, frame, bytes, usual) || write_text(w, frame, bytes, usual);
            if !is_written {
                w.text_member("type", "text");
                text::write_binary(w, bytes, Spread::Line);
            }
        }
        Content::Binary(bytes) => {
            w.text_member("type", "binary");
            if !write_json(w, frame, bytes, usual) {
                text::write_binary(w, bytes, Spread::Line);
            }
        }
    }
    if !frame.fragments.is_empty() {
        w.name("fragments");
        w.counts(frame.fragments.iter().copied());
    }
    w.end('}');
}

fn write_json(w: &mut Writer, frame: &Frame, bytes: &Bytes, usual: Style) -> bool {
    let Some((style, json)) = Style::of(bytes) else { return false };
    let write = |w: &mut Writer| {
        style.write(w, Some(usual));
        w.name("json");
        w.json(json);
    };
    proved(w, frame, bytes, usual, write)
}

fn write_text(w: &mut Writer, frame: &Frame, bytes: &Bytes, usual: Style) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    if text.len() > sidecar::LONGEST_TEXT {
        return false;
    }
    let write = |w: &mut Writer| w.text_member("text", text);
    proved(w, frame, bytes, usual, write)
}

fn proved(
    w: &mut Writer,
    frame: &Frame,
    bytes: &Bytes,
    usual: Style,
    write: impl FnOnce(&mut Writer),
) -> bool {
    w.proved(write, |reader, bodies| {
        let line = FrameLine::read(reader)?;
        let read = line.form_bytes(usual, &mut sidecar::among(bodies))?;
        Ok(frame.message() == Some(bytes) && read.as_ref() == Some(bytes))
    })
}

/// A line as it was read.
#[derive(Debug, Default)]
pub(super) struct FrameLine<'a> {
    here: Reader<'a>,
    ms: Option<u64>,
    from: Option<Peer>,
    is_binary: Option<bool>,
    form: Option<Form<'a>>,
    style: Option<Style>,
    length: Option<usize>,
    fragments: Vec<usize>,
    close: Option<Option<u16>>,
    reason: String,
}

impl<'a> FrameLine<'a> {
    const MEMBERS: &'static [&'static str] =
        &["ms", "from", "type", "layout", "bytes", "fragments", "close", "reason"];

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut line = Self { here: reader.clone(), ..Self::default() };
        reader.object(&[Self::MEMBERS, Form::WHOLE], |reader, name| line.member(reader, name))?;
        Ok(line)
    }

    fn member(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        match name {
            "ms" => self.ms = Some(reader.number()?),
            "from" => self.from = Some(read_peer(reader)?),
            "type" => self.is_binary = Some(read_type(reader)?),
            "layout" => self.style = Some(Style::read(reader)?),
            "bytes" => self.length = Some(reader.count()?),
            "fragments" => self.fragments = reader.list(Reader::count)?,
            "close" => self.close = Some(read_code(reader)?),
            "reason" => self.reason = reader.string()?.into_owned(),
            _ if self.form.is_some() => return Err(reader.invalid("a frame is written twice")),
            _ => self.form = Form::read(reader, name)?,
        }
        Ok(())
    }

    /// The frame, whose JSON stands in the usual layout if nothing is said.
    pub(super) fn into_frame(mut self, usual: Style, fetch: &mut Fetch<'_>) -> Result<Frame> {
        let ms = self.ms.ok_or_else(|| self.here.missing("ms"))?;
        let from = self.from.ok_or_else(|| self.here.missing("from"))?;
        let is_text = matches!(self.form, Some(Form::Json(_) | Form::Text(_)));
        let is_binary = self.is_binary.unwrap_or(!is_text);
        let fragments = std::mem::take(&mut self.fragments);
        let reason = std::mem::take(&mut self.reason);
        let (close, here) = (self.close, self.here.clone());
        let content = match (self.form_bytes(usual, fetch)?, close) {
            (None, Some(code)) => Content::Close { code, reason },
            (Some(bytes), None) => {
                if !fragments.is_empty() && added(&fragments) != Some(bytes.len()) {
                    return Err(here
                        .invalid("the lengths of the fragments do not add up to that of the frame")
                        .with_hint("correct them, or remove `fragments`"));
                }
                if is_binary { Content::Binary(bytes) } else { Content::Text(bytes) }
            }
            (Some(_), Some(_)) => return Err(here.invalid("a frame that closes has no content")),
            (None, None) => return Err(here.missing("json")),
        };
        Ok(Frame { ms, from, content, fragments })
    }

    fn form_bytes(self, usual: Style, fetch: &mut Fetch<'_>) -> Result<Option<Bytes>> {
        let Some(form) = self.form else { return Ok(None) };
        let bytes = form.bytes(self.style.unwrap_or(usual), Framing::USUAL, fetch)?;
        sidecar::expect_length(&self.here, self.length, &bytes)?;
        Ok(Some(bytes))
    }
}

fn read_peer(reader: &mut Reader<'_>) -> Result<Peer> {
    let here = reader.clone();
    let unknown = || here.unknown_word("`from` is neither side", Peer::WORDS);
    Peer::from_word(&reader.string()?).ok_or_else(unknown)
}

fn read_type(reader: &mut Reader<'_>) -> Result<bool> {
    let here = reader.clone();
    match &*reader.string()? {
        "text" => Ok(false),
        "binary" => Ok(true),
        _ => Err(here.unknown_word("`type` is none of a frame", &["text", "binary"])),
    }
}

fn read_code(reader: &mut Reader<'_>) -> Result<Option<u16>> {
    if reader.peek() == b'n' {
        reader.null()?;
        return Ok(None);
    }
    let here = reader.clone();
    let code = u16::try_from(reader.number()?);
    code.map(Some).map_err(|_| here.invalid("`close` is no code of a close frame"))
}

/// The sum of lengths that somebody may have written, if there is one.
fn added(lengths: &[usize]) -> Option<usize> {
    lengths.iter().try_fold(0_usize, |sum, length| sum.checked_add(*length))
}
