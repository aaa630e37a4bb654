//! What a request or an answer carries.

use bytes::Bytes;

use super::chunk::{self, ChunkLine, Usual};
use super::encoded::{self, Encoded};
use super::form::Form;
use super::reader::Reader;
use super::sidecar::{self, Fetch};
use super::style::{Framing, Style};
use super::text;
use super::writer::{Spread, Writer};
use crate::cassette::large::may_be_passed;
use crate::cassette::{Body, Chunk, Headers, Media};
use crate::error::Result;

/// Writes the members that hold a body; none if it is empty.
pub(super) fn write(w: &mut Writer, headers: &Headers, body: &Body) {
    if matches!(body, Body::Whole(bytes) if w.large(bytes)) {
        return;
    }
    let compressed = encoded::readable(headers, body).is_some_and(|readable| {
        proved(w, headers, body, |w| write_compressed(w, headers, body, &readable))
    });
    if !compressed {
        write_readable(w, headers, body, body.chunks());
    }
}

fn write_compressed(w: &mut Writer, headers: &Headers, body: &Body, readable: &Body) {
    match write_readable(w, headers, readable, body.chunks()) {
        BodyLayout::Whole => encoded::write(w, &body.bytes(), &[]),
        BodyLayout::Chunks => encoded::write(w, &body.bytes(), body.chunks()),
    }
}

/// How a body is shown.
enum BodyLayout {
    Whole,
    Chunks,
}

/// Writes a body as far as it can be read, where `sent` are the chunks as they went over the wire.
fn write_readable(w: &mut Writer, headers: &Headers, body: &Body, sent: &[Chunk]) -> BodyLayout {
    match body {
        Body::Whole(bytes) => {
            if !bytes.is_empty() {
                write_whole(w, bytes);
            }
            BodyLayout::Whole
        }
        Body::Stream(chunks) => {
            let bytes = body.bytes();
            // Each piece of a stream means something of its own, even if all together are JSON.
            if !Media::of_headers(headers).is_stream() && Style::of(&bytes).is_some() {
                write_whole(w, &bytes);
                w.name("chunks");
                w.pairs(sent.iter().map(|chunk| (chunk.ms, chunk.bytes.len())));
                return BodyLayout::Whole;
            }
            write_stream(w, chunks);
            BodyLayout::Chunks
        }
    }
}

fn write_stream(w: &mut Writer, chunks: &[Chunk]) {
    let usual = Usual::of(chunks);
    usual.framing.write(w, Framing::USUAL);
    usual.style.write(w, Some(Style::COMPACT));
    w.name("stream");
    w.list(Spread::Broken, chunks, |w, chunk| chunk::write(w, chunk, usual));
}

fn write_whole(w: &mut Writer, bytes: &Bytes) {
    let mark = w.text.len();
    let readable = write_json(w, bytes) || write_text(w, bytes);
    if readable && w.text.len() - mark <= sidecar::LONGEST_TEXT {
        return;
    }
    w.text.truncate(mark);
    if readable {
        return w.file(bytes);
    }
    text::write_binary(w, bytes, Spread::Broken);
}

fn write_json(w: &mut Writer, bytes: &Bytes) -> bool {
    let Some((style, json)) = Style::of(bytes) else { return false };
    let write = |w: &mut Writer| {
        style.write(w, Some(Style::COMPACT));
        w.name("json");
        w.json(json);
    };
    proved(w, &Headers::new(), &Body::Whole(bytes.clone()), write)
}

fn write_text(w: &mut Writer, bytes: &Bytes) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let write = |w: &mut Writer| {
        w.name("text");
        text::write(w, text);
    };
    proved(w, &Headers::new(), &Body::Whole(bytes.clone()), write)
}

fn proved(w: &mut Writer, headers: &Headers, body: &Body, write: impl FnOnce(&mut Writer)) -> bool {
    w.proved(write, |reader, bodies| {
        let mut parts = Parts::default();
        reader.object(&[Parts::MEMBERS, Form::WHOLE], |reader, name| parts.member(reader, name))?;
        Ok(parts.into_body(headers, &mut sidecar::among(bodies))? == *body)
    })
}

/// The members that hold a body, as they were read.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    /// Where the first of them stands.
    here: Option<Reader<'a>>,
    form: Option<Form<'a>>,
    length: Option<usize>,
    style: Option<Style>,
    framing: Option<Framing>,
    stream: Option<Vec<ChunkLine<'a>>>,
    chunks: Option<Vec<(u64, usize)>>,
    encoded: Option<Encoded<'a>>,
}

/// What of a body can be read, and how it was cut up.
enum Readable {
    Whole(Bytes),
    Cut(Bytes, Vec<(u64, usize)>),
    Stream(Vec<Chunk>),
}

impl<'a> Parts<'a> {
    /// The members of any body, beside [`Form::WHOLE`].
    pub(super) const SENT: &'static [&'static str] = &["bytes", "layout", "encoded"];
    /// The members of a body that may have been streamed, beside [`Form::WHOLE`].
    pub(super) const MEMBERS: &'static [&'static str] =
        &["bytes", "layout", "encoded", "framing", "stream", "chunks"];

    pub(super) fn member(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<()> {
        self.here.get_or_insert_with(|| reader.clone());
        match name {
            "bytes" => self.length = Some(reader.count()?),
            "layout" => self.style = Some(Style::read(reader)?),
            "framing" => self.framing = Some(Framing::read(reader)?),
            "encoded" => self.encoded = Some(Encoded::read(reader)?),
            "stream" => self.stream = Some(reader.list(ChunkLine::read)?),
            "chunks" => {
                let pair = |reader: &mut Reader<'a>| reader.pair(Reader::number, Reader::count);
                self.chunks = Some(reader.list(pair)?);
            }
            _ if self.form.is_some() => return Err(reader.invalid("a body is written twice")),
            _ => self.form = Form::read(reader, name)?,
        }
        Ok(())
    }

    /// How JSON stands in it.
    pub(super) fn layout(&self) -> Style {
        self.style.unwrap_or(Style::COMPACT)
    }

    /// The body as it went over the wire.
    pub(super) fn into_body(mut self, headers: &Headers, fetch: &mut Fetch<'_>) -> Result<Body> {
        let Some(here) = self.here.take() else { return Ok(Body::default()) };
        let encoded = self.encoded.take();
        // What is compressed is needed itself, and what is read as a whole when it is asked or answered.
        let may_stand_in = encoded.is_none() && may_be_passed(headers);
        let readable = self.into_readable(&here, may_stand_in, fetch)?;
        let Some(mut encoded) = encoded else { return readable.into_body(&here) };
        match readable {
            Readable::Whole(bytes) => encoded.bytes(headers, &bytes, fetch).map(Body::Whole),
            Readable::Cut(bytes, chunks) => {
                cut(encoded.bytes(headers, &bytes, fetch)?, chunks, &here)
            }
            Readable::Stream(shown) => {
                let lengths = encoded.lengths(shown.len())?;
                let chunks = shown.iter().map(|chunk| chunk.ms).zip(lengths).collect();
                let readable = Body::Stream(shown).bytes();
                cut(encoded.bytes(headers, &readable, fetch)?, chunks, &here)
            }
        }
    }

    fn into_readable(
        self,
        here: &Reader<'a>,
        may_stand_in: bool,
        fetch: &mut Fetch<'_>,
    ) -> Result<Readable> {
        let style = self.style.unwrap_or(Style::COMPACT);
        let framing = self.framing.unwrap_or(Framing::USUAL);
        if let Some(lines) = self.stream {
            if self.form.is_some() || self.chunks.is_some() {
                return Err(here.invalid("a body is written both whole and as a stream"));
            }
            if !style.is_on_line() {
                return Err(here.invalid("`layout` is none for a stream"));
            }
            let usual = Usual { style, framing };
            // What does not say when it came, came with what is before it.
            let mut latest = 0;
            let chunk = |line: ChunkLine<'a>| {
                latest = line.ms.unwrap_or(latest);
                Ok(Chunk { ms: latest, bytes: line.bytes(usual, fetch)? })
            };
            return lines.into_iter().map(chunk).collect::<Result<_>>().map(Readable::Stream);
        }
        let bytes = match self.form {
            // What is cut is needed itself.
            Some(Form::File(sidecar)) if may_stand_in && self.chunks.is_none() => {
                sidecar.fetch_or_stand_in(fetch)?
            }
            Some(form) => form.bytes(style, framing, fetch)?,
            None => Bytes::new(),
        };
        sidecar::expect_length(here, self.length, &bytes)?;
        Ok(match self.chunks {
            Some(chunks) => Readable::Cut(bytes, chunks),
            None => Readable::Whole(bytes),
        })
    }
}

impl Readable {
    /// The body, if it was not compressed.
    fn into_body(self, here: &Reader<'_>) -> Result<Body> {
        match self {
            Self::Whole(bytes) => Ok(Body::Whole(bytes)),
            Self::Cut(bytes, chunks) => cut(bytes, chunks, here),
            Self::Stream(chunks) => Ok(Body::Stream(chunks)),
        }
    }
}

/// Cuts a body into chunks of given times and lengths.
fn cut(mut bytes: Bytes, chunks: Vec<(u64, usize)>, here: &Reader<'_>) -> Result<Body> {
    let wrong = || {
        here.invalid("the lengths of the chunks do not add up to that of the body")
            .with_hint("correct them, or remove `chunks` to have the body in one piece")
    };
    let chunks = chunks
        .into_iter()
        .map(|(ms, length)| {
            let enough = length <= bytes.len();
            enough.then(|| Chunk { ms, bytes: bytes.split_to(length) }).ok_or_else(wrong)
        })
        .collect::<Result<_>>()?;
    if bytes.is_empty() { Ok(Body::Stream(chunks)) } else { Err(wrong()) }
}
