//! Decoding while the body comes in.

use std::fmt;
use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;

use super::Coding;
use super::inflate::Inflate;
use super::sink::Sink;
use super::zstd::Zstd;

/// How much is decoded at a time.
const PIECE: usize = 16 << 10;

/// Decodes a compressed body piece by piece: each piece gives what it makes readable.
pub struct Live(State);

enum State {
    Gzip(Box<MultiGzDecoder<Sink>>),
    Deflate(Box<Inflate>),
    Brotli(Box<DecompressorWriter<Sink>>),
    Zstd(Zstd),
    Damaged,
}

impl Live {
    /// A decoder for that `content-encoding`, if it is a single coding that is known.
    pub fn new(content_encoding: &str) -> Option<Self> {
        Coding::of(content_encoding).map(Self::of)
    }

    /// A decoder for that coding.
    pub fn of(coding: Coding) -> Self {
        let sink = Sink::default();
        Self(match coding {
            Coding::Gzip => State::Gzip(Box::new(MultiGzDecoder::new(sink))),
            Coding::Deflate => State::Deflate(Box::default()),
            Coding::Brotli => State::Brotli(Box::new(DecompressorWriter::new(sink, PIECE))),
            Coding::Zstd => State::Zstd(Zstd::default()),
        })
    }

    /// Takes in more of the body and gives what can be read now. From the first damage on there is
    /// nothing more to read.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let decoded = match &mut self.0 {
            State::Gzip(decoder) => {
                decoder.write_all(bytes).and_then(|()| decoder.flush()).map(|()| decoder.get_mut())
            }
            State::Deflate(decoder) => decoder.push(bytes).map(|()| decoder.sink()),
            State::Brotli(decoder) => decoder.write_all(bytes).map(|()| decoder.get_mut()),
            State::Zstd(decoder) => {
                let decoded = decoder.push(bytes);
                return self.or_damaged(decoded);
            }
            State::Damaged => return Vec::new(),
        };
        let decoded = decoded.map(Sink::take);
        self.or_damaged(decoded)
    }

    /// Whether something came that cannot be decoded.
    pub fn is_damaged(&self) -> bool {
        matches!(self.0, State::Damaged)
    }

    /// What else can be read when nothing more comes; nothing if the body is damaged or cut short.
    pub fn finish(self) -> Option<Vec<u8>> {
        match self.0 {
            State::Gzip(mut decoder) => {
                decoder.try_finish().ok()?;
                Some(decoder.get_mut().take())
            }
            State::Deflate(mut decoder) => decoder.is_whole().then(|| decoder.sink().take()),
            State::Brotli(mut decoder) => {
                decoder.close().ok()?;
                Some(decoder.get_mut().take())
            }
            State::Zstd(mut decoder) => {
                let rest = decoder.finish().ok()?;
                decoder.is_whole().then_some(rest)
            }
            State::Damaged => None,
        }
    }

    fn or_damaged(&mut self, decoded: io::Result<Vec<u8>>) -> Vec<u8> {
        decoded.unwrap_or_else(|_| {
            self.0 = State::Damaged;
            Vec::new()
        })
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("damaged", &self.is_damaged()).finish_non_exhaustive()
    }
}
