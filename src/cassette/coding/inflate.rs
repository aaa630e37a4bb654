//! `deflate`, in the wrapping or without.

use std::io::{self, Write};

use flate2::{Decompress, FlushDecompress, Status};

use super::sink::Sink;

/// How much is decoded at a time.
const PIECE: usize = 16 << 10;

/// Decodes zlib, or bare deflate where the first two bytes are no zlib header.
#[derive(Debug, Default)]
pub(super) struct Inflate {
    sink: Sink,
    head: Vec<u8>,
    decoder: Option<Decompress>,
    ended: bool,
}

impl Inflate {
    pub(super) fn sink(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// Whether all of it came.
    pub(super) fn is_whole(&self) -> bool {
        self.ended
    }

    /// Takes in more of the body.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
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
