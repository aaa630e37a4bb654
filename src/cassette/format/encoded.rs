//! The compressed bytes of a body that is shown readable.

use bytes::Bytes;

use super::form::Form;
use super::reader::Reader;
use super::sidecar::{self, Fetch};
use super::style::{Framing, Style};
use super::text;
use super::writer::{Spread, Writer};
use crate::cassette::coding::{Coding, Live, reads_as};
use crate::cassette::{Body, Chunk, Headers};
use crate::error::{Error, Result};

/// The coding of a body, if there is one and it is known.
pub(super) fn coding(headers: &Headers) -> Option<Coding> {
    let mut codings = headers.get_all("content-encoding");
    let coding = std::str::from_utf8(codings.next()?).ok()?;
    if codings.next().is_some() { None } else { Coding::of(coding) }
}

/// What a compressed body reads as, each chunk as far as it can be read when it has come. Nothing if
/// it is not compressed, or cannot be read. A stream may turn out damaged when it is proved.
pub(super) fn readable(headers: &Headers, body: &Body) -> Option<Body> {
    if body.is_empty() {
        return None;
    }
    coding(headers)?;
    let live = Live::new(headers.get("content-encoding")?)?;
    match body {
        Body::Whole(bytes) => live.whole(bytes).map(|readable| Body::Whole(readable.into())),
        Body::Stream(_) => Some(body.decoded_by(live)),
    }
}

/// Writes the member that holds the compressed bytes.
pub(super) fn write(w: &mut Writer, bytes: &Bytes, chunks: &[Chunk]) {
    let length = text::base64_length(bytes.len());
    w.name("encoded");
    w.object(if length <= 64 && chunks.is_empty() { Spread::Line } else { Spread::Broken });
    text::write_binary(w, bytes, Spread::Broken);
    if !chunks.is_empty() {
        w.name("lengths");
        w.counts(chunks.iter().map(|chunk| chunk.bytes.len()));
    }
    w.end('}');
}

/// Compressed bytes as they were read.
#[derive(Debug)]
pub(super) struct Encoded<'a> {
    here: Reader<'a>,
    form: Option<Form<'a>>,
    length: Option<usize>,
    /// The lengths of the chunks of a stream that is shown chunk by chunk.
    lengths: Option<Vec<usize>>,
}

impl<'a> Encoded<'a> {
    const MEMBERS: &'static [&'static str] = &["bytes", "lengths"];

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut encoded = Self { here: reader.clone(), form: None, length: None, lengths: None };
        reader.object(&[Self::MEMBERS, Form::BINARY], |reader, name| {
            match name {
                "bytes" => encoded.length = Some(reader.count()?),
                "lengths" => encoded.lengths = Some(reader.list(Reader::count)?),
                _ if encoded.form.is_some() => {
                    return Err(reader.invalid("`encoded` is written twice"));
                }
                _ => encoded.form = Form::read(reader, name)?,
            }
            Ok(())
        })?;
        Ok(encoded)
    }

    /// The lengths of the chunks, one for each of those that are shown.
    pub(super) fn lengths(&mut self, shown: usize) -> Result<Vec<usize>> {
        match self.lengths.take() {
            Some(lengths) if lengths.len() == shown => Ok(lengths),
            Some(_) => Err(self.here.invalid("`lengths` has not one length for each chunk")),
            None => Err(self.here.missing("lengths")),
        }
    }

    /// The compressed bytes, if `shown` is what they read as.
    pub(super) fn bytes(
        self,
        headers: &Headers,
        shown: &[u8],
        fetch: &mut Fetch<'_>,
    ) -> Result<Bytes> {
        let Some(form) = self.form else {
            return Err(self.here.missing("base64"));
        };
        let bytes = form.bytes(Style::COMPACT, Framing::USUAL, fetch)?;
        sidecar::expect_length(&self.here, self.length, &bytes)?;
        let Some(coding) = coding(headers) else {
            let what = "`encoded` stands without a `content-encoding` that is known";
            return Err(edited(&self.here, what));
        };
        if reads_as(coding, &bytes, shown) {
            return Ok(bytes);
        }
        Err(edited(&self.here, "the readable body is not what `encoded` decodes to"))
    }
}

fn edited(here: &Reader<'_>, what: &'static str) -> Error {
    here.invalid(what).with_hint(
        "if the readable body was edited on purpose, remove `encoded` and the `content-encoding` header",
    )
}
