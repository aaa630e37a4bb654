//! Bodies, whole or in chunks.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

use super::{End, Headers, Media, coding};
use crate::text::amazon;

/// The bytes of a body as they went over the wire, compressed ones still compressed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    /// A body whose length was announced, or that came in one piece: how the network cut it up
    /// means nothing.
    Whole(Bytes),
    /// A body that was sent piece by piece.
    Stream(Vec<Chunk>),
}

/// A piece of a streamed body: the payload of one HTTP chunk, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// Milliseconds since the request arrived.
    pub ms: u64,
    /// What came.
    pub bytes: Bytes,
}

/// The text of bytes, what is none of it replaced. Nearly all are text, and that is seen at a glance.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

impl Body {
    /// The body that arrived in these pieces behind these header fields.
    ///
    /// A body whose length was announced, or that came in one piece and is not of a streaming
    /// media type, is [`Whole`](Self::Whole).
    pub fn of_arrival(headers: &Headers, chunks: Vec<Chunk>) -> Self {
        if Self::is_in_one(headers, chunks.len()) {
            Self::Whole(Self::Stream(chunks).bytes())
        } else {
            Self::Stream(chunks)
        }
    }

    /// Whether a body that arrived in so many pieces behind these header fields is [`Whole`](Self::Whole).
    pub(crate) fn is_in_one(headers: &Headers, pieces: usize) -> bool {
        let announced = headers.contains("content-length");
        announced || (pieces <= 1 && !Media::of_headers(headers).is_stream())
    }

    /// The body without its content coding, each chunk as what it made readable; what can be read of
    /// one that was cut short. Nothing if the coding is not known.
    pub fn decoded(&self, content_encoding: &str) -> Option<Self> {
        coding::Live::new(content_encoding).map(|live| self.decoded_by(live))
    }

    pub(super) fn decoded_by(&self, mut live: coding::Live) -> Self {
        let chunks = match self {
            Self::Whole(bytes) => return Self::Whole(live.readable(bytes).into()),
            Self::Stream(chunks) => chunks,
        };
        let decode = |chunk: &Chunk| (chunk.ms, live.push(&chunk.bytes));
        let mut plain: Vec<(u64, Vec<u8>)> = chunks.iter().map(decode).collect();
        if let Some((_, last)) = plain.last_mut() {
            last.extend(live.finish().unwrap_or_default());
        }
        let chunks = plain.into_iter().map(|(ms, bytes)| Chunk { ms, bytes: bytes.into() });
        Self::Stream(chunks.collect())
    }

    /// A stream of Amazon's as lines of text, each message in the chunk that completed it. Nothing if it
    /// is none.
    pub(crate) fn lines_of_amazon(&self) -> Option<Self> {
        let all = self.bytes();
        let lines = amazon::lines(&all)?;
        let Self::Stream(chunks) = self else { return Some(Self::Whole(lines.into())) };
        let mut ends = amazon::ends(&all).peekable();
        let mut rest = lines.split_inclusive('\n');
        let mut cut = Vec::with_capacity(chunks.len());
        let mut end = 0;
        for chunk in chunks {
            end += chunk.bytes.len();
            let mut text = String::new();
            while ends.next_if(|whole| *whole <= end).is_some() {
                text.push_str(rest.next().unwrap_or_default());
            }
            cut.push((chunk.ms, text));
        }
        if let Some((_, last)) = cut.last_mut() {
            last.extend(rest);
        }
        let chunk = |(ms, text): (u64, String)| Chunk { ms, bytes: text.into() };
        Some(Self::Stream(cut.into_iter().map(chunk).collect()))
    }

    /// The stream of Amazon's that these lines are; themselves if they are none.
    pub(crate) fn into_amazon(self) -> Self {
        let wire = |bytes: Bytes| {
            let wire = std::str::from_utf8(&bytes).ok().and_then(amazon::bytes);
            wire.map_or(bytes, Bytes::from)
        };
        match self {
            Self::Whole(bytes) => Self::Whole(wire(bytes)),
            Self::Stream(chunks) => {
                let chunk = |chunk: Chunk| Chunk { bytes: wire(chunk.bytes), ..chunk };
                Self::Stream(chunks.into_iter().map(chunk).collect())
            }
        }
    }

    /// The body in a content coding, chunk by chunk; without its end if more was to come. Nothing if the
    /// coding is only read.
    pub(crate) fn encoded(&self, content_encoding: &str, end: End) -> Option<Self> {
        let mut encoder = coding::Encoder::new(content_encoding)?;
        let encode = |chunk: &Chunk| (chunk.ms, encoder.push(&chunk.bytes));
        let mut pieces: Vec<(u64, Vec<u8>)> = match self {
            Self::Whole(bytes) => vec![(0, encoder.push(bytes))],
            Self::Stream(chunks) => chunks.iter().map(encode).collect(),
        };
        if let (Some((_, last)), End::Complete) = (pieces.last_mut(), end) {
            last.extend(encoder.finish());
        }
        let mut chunks = pieces.into_iter().map(|(ms, bytes)| Chunk { ms, bytes: bytes.into() });
        Some(match self {
            Self::Whole(_) => Self::Whole(chunks.next()?.bytes),
            Self::Stream(_) => Self::Stream(chunks.collect()),
        })
    }

    /// All bytes in one piece. Copies only if there is more than one chunk.
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes.clone(),
            Self::Stream(chunks) => match chunks.as_slice() {
                [one] => one.bytes.clone(),
                chunks => {
                    let mut all = BytesMut::with_capacity(self.len());
                    chunks.iter().for_each(|chunk| all.extend_from_slice(&chunk.bytes));
                    all.freeze()
                }
            },
        }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Stream(chunks) => chunks.iter().map(|chunk| chunk.bytes.len()).sum(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The chunks of a streamed body; none for a whole one.
    pub fn chunks(&self) -> &[Chunk] {
        match self {
            Self::Whole(_) => &[],
            Self::Stream(chunks) => chunks,
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}
