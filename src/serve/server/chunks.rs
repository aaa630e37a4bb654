//! The chunks of an answer over HTTP/1.1, as the server cut them (RFC 9112, section 7.1).
//!
//! # Rationale
//!
//! hyper gives out what it has read of a chunk, and forgets where the chunk ends. To some servers and clients a chunk
//! is a message. So the sizes are overheard as they come, and what comes of a chunk in pieces is put together again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};

use crate::serve::lock;

/// The sizes of the chunks that have begun, in order. They stand among the extensions of the answer.
#[derive(Debug, Clone, Default)]
pub struct ChunkSizes(Arc<Mutex<VecDeque<u64>>>);

/// Reads the sizes.
#[derive(Debug, Default)]
pub(super) struct ChunkReader {
    sizes: ChunkSizes,
    at: ChunkPart,
}

/// Where in a chunk the reader is.
#[derive(Debug, Clone, Copy)]
enum ChunkPart {
    /// In its size, of which so much is read.
    Size(u64),
    /// Between the size and the data.
    Extension(u64),
    /// In the data, with the line feed behind it, of which so much is left.
    Data(u64),
    /// Behind the last one, or in what is none.
    Over,
}

impl Default for ChunkPart {
    fn default() -> Self {
        Self::Size(0)
    }
}

impl ChunkReader {
    pub(super) fn sizes(&self) -> ChunkSizes {
        self.sizes.clone()
    }

    /// Reads on.
    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        while let [first, rest @ ..] = bytes {
            if let ChunkPart::Data(left) = self.at {
                let here = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                bytes = &bytes[here..];
                self.at = match left - here as u64 {
                    0 => ChunkPart::Size(0),
                    left => ChunkPart::Data(left),
                };
                continue;
            }
            bytes = rest;
            self.at = match (self.at, first) {
                (ChunkPart::Over, _) => return,
                (ChunkPart::Size(size) | ChunkPart::Extension(size), b'\n') => self.begin(size),
                (ChunkPart::Size(size), digit) => match char::from(*digit).to_digit(16) {
                    Some(digit) => match size.checked_mul(16) {
                        Some(size) => ChunkPart::Size(size + u64::from(digit)),
                        None => ChunkPart::Over,
                    },
                    None => ChunkPart::Extension(size),
                },
                (within, _) => within,
            };
        }
    }

    fn begin(&self, size: u64) -> ChunkPart {
        if size == 0 {
            return ChunkPart::Over;
        }
        lock(&self.sizes.0).push_back(size);
        ChunkPart::Data(size.saturating_add("\r\n".len() as u64))
    }
}

/// Puts together what comes of a chunk in pieces.
#[derive(Debug)]
pub struct Joining {
    sizes: ChunkSizes,
    /// How much of the chunk is still to come.
    left: u64,
    /// What has come of it.
    held: BytesMut,
    passes: bool,
}

/// A chunk that is longer goes on in pieces, as it comes.
const LONGEST: u64 = 1 << 20;

impl Joining {
    /// Goes by these sizes.
    pub fn new(sizes: ChunkSizes) -> Self {
        Self { sizes, left: 0, held: BytesMut::new(), passes: false }
    }

    /// Takes a piece. Gives a chunk once it is whole, or what is to go on in pieces.
    pub fn push(&mut self, piece: Bytes) -> Option<Bytes> {
        let mut rest = piece.len() as u64;
        while rest > 0 {
            if self.left == 0 {
                let size = lock(&self.sizes.0).pop_front().unwrap_or(rest);
                (self.left, self.passes) = (size, size > LONGEST);
            }
            let here = rest.min(self.left);
            (rest, self.left) = (rest - here, self.left - here);
        }
        let is_whole = self.left == 0 || self.passes;
        if is_whole && self.held.is_empty() {
            return Some(piece);
        }
        self.held.extend_from_slice(&piece);
        is_whole.then(|| self.held.split().freeze())
    }

    /// What has come of a chunk that is not whole.
    pub fn take(&mut self) -> Option<Bytes> {
        (!self.held.is_empty()).then(|| self.held.split().freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRE: &[u8] = b"5;a=b\r\nhello\r\n0C\r\nhello\r\nworld\r\n0\r\nA: 5\r\n\r\n";

    #[test]
    fn the_sizes_are_read_however_they_come() {
        for step in 1..WIRE.len() {
            let mut reader = ChunkReader::default();
            WIRE.chunks(step).for_each(|piece| reader.read(piece));
            assert_eq!(*lock(&reader.sizes().0), [5, 12], "{step}");
        }
        let mut reader = ChunkReader::default();
        reader.read(b"ffffffffffffffffffff\r\n5\r\n");
        assert!(lock(&reader.sizes().0).is_empty());
    }

    #[test]
    fn pieces_are_put_together_up_to_a_limit() {
        let sizes = ChunkSizes::default();
        lock(&sizes.0).extend([3, 2, LONGEST + 1, 4]);
        let mut joining = Joining::new(sizes);
        let mut push = |length: usize| joining.push(vec![b'x'; length].into()).map(|it| it.len());
        let most = usize::try_from(LONGEST).unwrap();

        assert_eq!([1, 2, 2].map(&mut push), [None, Some(3), Some(2)]);
        assert_eq!([most, 1].map(&mut push), [Some(most), Some(1)]);
        assert_eq!(push(3), None);
        assert_eq!(joining.take().map(|it| it.len()), Some(3));
        // Where no size is known, each piece goes on.
        assert_eq!(joining.take(), None);
    }
}
