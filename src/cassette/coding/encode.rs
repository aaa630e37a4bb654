//! Encoding once more what was changed after it had been decoded.

use std::io::Write;

use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::Coding;

/// Encodes a body piece by piece: each piece is all there when it is read.
pub enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    Deflate(ZlibEncoder<Vec<u8>>),
    Rest(Rest),
}

/// What comes behind the first blocks of a gzip body, which somebody else has compressed.
pub struct Rest {
    blocks: Compress,
    /// Of all that the body says.
    sum: Crc,
}

/// The beginning of a gzip body that was passed on as it came.
#[derive(Default)]
pub struct Passed {
    sum: Crc,
    tail: Vec<u8>,
}

/// How a block ends behind which another one may stand (RFC 1951, section 3.2.4: an empty block of its own).
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];

impl Passed {
    /// None yet of a body with that `content-encoding`; nothing for those that cannot be gone on with.
    pub fn new(content_encoding: &str) -> Option<Self> {
        (Coding::of(content_encoding)? == Coding::Gzip).then(Self::default)
    }

    /// Notes what it says.
    pub fn says(&mut self, plain: &[u8]) {
        self.sum.update(plain);
    }

    /// Notes a piece that was passed on.
    pub fn ends(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(FLUSHED.len())..]);
        self.tail.drain(..self.tail.len().saturating_sub(FLUSHED.len()));
    }

    /// What encodes the rest of the body, if something else may stand there.
    pub fn rest(self) -> Option<Encoder> {
        if self.tail.is_empty() {
            return Encoder::new("gzip");
        }
        let blocks = Compress::new(Compression::fast(), false);
        (self.tail == FLUSHED).then_some(Encoder::Rest(Rest { blocks, sum: self.sum }))
    }
}

impl Rest {
    fn push(&mut self, bytes: &[u8], flush: FlushCompress) -> Vec<u8> {
        self.sum.update(bytes);
        let (mut out, mut rest) = (Vec::new(), bytes);
        loop {
            out.reserve(rest.len().max(FLUSHED.len() + 64));
            let before = self.blocks.total_in();
            let written = self.blocks.compress_vec(rest, &mut out, flush);
            debug_assert!(written.is_ok(), "there is room");
            rest = &rest[(self.blocks.total_in() - before) as usize..];
            if rest.is_empty() && out.len() < out.capacity() {
                return out;
            }
        }
    }

    /// The end, and what stands behind it (RFC 1952, section 2.3.1).
    fn finish(mut self) -> Vec<u8> {
        let mut last = self.push(&[], FlushCompress::Finish);
        last.extend_from_slice(&self.sum.sum().to_le_bytes());
        last.extend_from_slice(&self.sum.amount().to_le_bytes());
        last
    }
}

impl Encoder {
    /// An encoder for that `content-encoding`; nothing for those that are only read.
    pub fn new(content_encoding: &str) -> Option<Self> {
        match Coding::of(content_encoding)? {
            Coding::Gzip => Some(Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast()))),
            Coding::Deflate => {
                Some(Self::Deflate(ZlibEncoder::new(Vec::new(), Compression::fast())))
            }
            Coding::Brotli | Coding::Zstd => None,
        }
    }

    /// What a piece becomes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let written = match self {
            Self::Gzip(encoder) => encoder.write_all(bytes).and_then(|()| encoder.flush()),
            Self::Deflate(encoder) => encoder.write_all(bytes).and_then(|()| encoder.flush()),
            Self::Rest(rest) => return rest.push(bytes, FlushCompress::Sync),
        };
        debug_assert!(written.is_ok(), "a vector takes all");
        std::mem::take(match self {
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Deflate(encoder) => encoder.get_mut(),
            Self::Rest(_) => return Vec::new(),
        })
    }

    /// What ends the body.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Deflate(encoder) => encoder.finish(),
            Self::Rest(rest) => Ok(rest.finish()),
        }
        .unwrap_or_default()
    }
}
