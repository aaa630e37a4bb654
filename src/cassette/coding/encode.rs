//! Encoding once more what was changed after it had been decoded.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::Coding;

/// Encodes a body piece by piece: each piece is all there when it is read.
pub enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    Deflate(ZlibEncoder<Vec<u8>>),
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
        };
        debug_assert!(written.is_ok(), "a vector takes all");
        std::mem::take(match self {
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Deflate(encoder) => encoder.get_mut(),
        })
    }

    /// What ends the body.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Deflate(encoder) => encoder.finish(),
        }
        .unwrap_or_default()
    }
}
