//! Decoding while the body comes in.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::zstd::Zstd;
use super::{Coding, allowed};

use crate::text::words::shown;

/// How much is decoded at a time.
const PIECE: usize = 16 << 10;

/// Decodes a compressed body piece by piece: each piece gives what it makes readable.
pub struct Live(Decompressor);

enum Decompressor {
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

    /// The same for what is not kept: no matter how much comes of it.
    pub(crate) fn endless(content_encoding: &str) -> Option<Self> {
        let sink = Sink { is_endless: true, ..Sink::default() };
        Coding::of(content_encoding).map(|coding| Self::into_sink(coding, sink))
    }

    fn of(coding: Coding) -> Self {
        Self::into_sink(coding, Sink::default())
    }

    fn into_sink(coding: Coding, sink: Sink) -> Self {
        Self(match coding {
            Coding::Gzip => Decompressor::Gzip(Box::new(MultiGzDecoder::new(sink))),
            Coding::Deflate => {
                Decompressor::Deflate(Box::new(Inflate { sink, ..Inflate::default() }))
            }
            Coding::Brotli => Decompressor::Brotli(Box::new(DecompressorWriter::new(sink, PIECE))),
            Coding::Zstd => Decompressor::Zstd(Zstd::default()),
        })
    }

    /// Takes in more of the body and gives what can be read now. From the first damage on there is
    /// nothing more to read.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let decoded = match &mut self.0 {
            Decompressor::Gzip(decoder) => {
                decoder.get_mut().came += bytes.len();
                decoder.write_all(bytes).and_then(|()| decoder.flush()).map(|()| decoder.get_mut())
            }
            Decompressor::Deflate(decoder) => {
                decoder.sink().came += bytes.len();
                decoder.push(bytes).map(|()| decoder.sink())
            }
            Decompressor::Brotli(decoder) => {
                decoder.get_mut().came += bytes.len();
                decoder.write_all(bytes).map(|()| decoder.get_mut())
            }
            Decompressor::Zstd(decoder) => {
                let decoded = decoder.push(bytes);
                return self.or_damaged(decoded);
            }
            Decompressor::Damaged => return Vec::new(),
        };
        let decoded = decoded.map(Sink::take);
        self.or_damaged(decoded)
    }

    /// All that can be read of a body that is there; nothing if it is damaged or cut short.
    pub(crate) fn whole(mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut readable = self.push(bytes);
        readable.extend(self.finish()?);
        Some(readable)
    }

    /// The same, as far as it goes.
    pub(crate) fn readable(mut self, bytes: &[u8]) -> Vec<u8> {
        let mut readable = self.push(bytes);
        readable.extend(self.finish().unwrap_or_default());
        readable
    }

    /// Whether something came that cannot be decoded.
    pub fn is_damaged(&self) -> bool {
        matches!(self.0, Decompressor::Damaged)
    }

    /// What else can be read when nothing more comes; nothing if the body is damaged or cut short.
    pub fn finish(self) -> Option<Vec<u8>> {
        match self.0 {
            Decompressor::Gzip(mut decoder) => {
                decoder.try_finish().ok()?;
                Some(decoder.get_mut().take())
            }
            Decompressor::Deflate(mut decoder) => decoder.is_whole().then(|| decoder.sink().take()),
            Decompressor::Brotli(mut decoder) => {
                decoder.close().ok()?;
                Some(decoder.get_mut().take())
            }
            Decompressor::Zstd(mut decoder) => {
                let rest = decoder.finish().ok()?;
                decoder.is_whole().then_some(rest)
            }
            Decompressor::Damaged => None,
        }
    }

    fn or_damaged(&mut self, decoded: io::Result<Vec<u8>>) -> Vec<u8> {
        decoded.unwrap_or_else(|_| {
            self.0 = Decompressor::Damaged;
            Vec::new()
        })
    }
}

shown!(Debug: Live, it => "Live {{ damaged: {:?}, .. }}", it.is_damaged());

/// Whether compressed bytes read as `shown`. Of a body that was cut short, decoders may show more of
/// the end or less.
pub(in crate::cassette) fn reads_as(coding: Coding, bytes: &[u8], shown: &[u8]) -> bool {
    let mut live = Live::of(coding);
    let mut readable = live.push(bytes);
    if live.is_damaged() {
        return false;
    }
    match live.finish() {
        Some(rest) => {
            readable.extend(rest);
            readable == shown
        }
        None => readable.starts_with(shown) || shown.starts_with(&readable),
    }
}

/// Decodes zlib, or bare deflate where the first two bytes are no zlib header.
#[derive(Debug, Default)]
struct Inflate {
    sink: Sink,
    head: Vec<u8>,
    decoder: Option<Decompress>,
    ended: bool,
}

impl Inflate {
    fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// Whether all of it came.
    fn is_whole(&self) -> bool {
        self.ended
    }

    /// Takes in more of the body.
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.decoder.is_some() {
            return self.decode(bytes);
        }
        self.head.extend_from_slice(bytes);
        let [first, second, ..] = self.head[..] else { return Ok(()) };
        let zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31);
        self.decoder = Some(Decompress::new(zlib));
        let head = std::mem::take(&mut self.head);
        self.decode(&head)
    }

    fn decode(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            if self.ended {
                return if bytes.is_empty() {
                    Ok(())
                } else {
                    Err(io::ErrorKind::InvalidData.into())
                };
            }
            let before = decoder.total_in();
            let status = decoder.decompress_vec(bytes, &mut piece, FlushDecompress::None)?;
            let read = usize::try_from(decoder.total_in() - before).unwrap_or(bytes.len());
            bytes = &bytes[read..];
            self.sink.write_all(&piece)?;
            self.ended = status == Status::StreamEnd;
            if !self.ended && read == 0 && piece.is_empty() {
                return Ok(());
            }
            piece.clear();
        }
    }
}

/// Takes decoded bytes up to the limit.
#[derive(Debug, Default)]
struct Sink {
    bytes: Vec<u8>,
    taken: usize,
    /// How many bytes came to be decoded.
    came: usize,
    is_endless: bool,
}

impl Sink {
    /// What came since the last time.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.taken += bytes.len();
        if !self.is_endless && self.taken > allowed(self.came) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
