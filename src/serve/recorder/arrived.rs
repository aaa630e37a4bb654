//! The body of an answer while it is being recorded.

use crate::cassette::large::Gathered;
use crate::cassette::{Body, Chunk, Headers};

/// The body of an answer as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    bytes: Gathered,
    /// When each chunk came, and where it ends.
    ends: Vec<(u64, usize)>,
}

/// So many milliseconds behind the last chunk, the end of a body is a silence of its own.
const SILENCE: u64 = 250;

impl Arrived {
    /// Makes room for so many bytes.
    pub(super) fn expect(&mut self, length: usize) {
        self.bytes.expect(length);
    }

    /// Takes the next part of a chunk.
    pub(super) fn push(&mut self, part: &[u8]) {
        self.bytes.push(part);
    }

    /// A chunk ends.
    pub(super) fn end_chunk(&mut self, ms: u64) {
        let end = self.len();
        if self.ends.last().is_none_or(|(_, last)| *last < end) {
            self.ends.push((ms, end));
        }
    }

    /// The body ends. Gives whether that is long after its last chunk: then an empty one says when.
    pub(super) fn end(&mut self, ms: u64) -> bool {
        let last = self.ends.last().map(|(last, _)| last.saturating_add(SILENCE));
        let is_late = last.is_some_and(|last| ms >= last);
        if is_late {
            self.ends.push((ms, self.len()));
        }
        is_late
    }

    /// How many bytes have come.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing more comes.
    pub(super) fn settle(&mut self) {
        self.bytes.settle();
    }

    /// The body behind these header fields, without copies once it is settled. A chunk that has not ended is none.
    pub(super) fn body(&self, headers: &Headers) -> Body {
        let joined = self.bytes.joined();
        if Body::is_in_one(headers, self.ends.len()) {
            let end = self.ends.last().map_or(0, |(_, end)| *end);
            return Body::Whole(joined.slice(..end));
        }
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        let chunk = |(start, (ms, end)): (usize, &(u64, usize))| Chunk {
            ms: *ms,
            bytes: joined.slice(start..*end),
        };
        Body::Stream(starts.zip(&self.ends).map(chunk).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_the_chunks_that_have_ended_in_one_piece_if_its_length_was_announced() {
        let mut arrived = Arrived::default();
        for (ms, part) in [(1, b"one "), (2, b"two ")] {
            arrived.push(part);
            arrived.end_chunk(ms);
        }
        arrived.push(b"cut");
        let announced = Headers::from_iter([("content-length", "20")]);

        let chunk = |ms, bytes: &'static [u8]| Chunk { ms, bytes: bytes.into() };
        let chunks = vec![chunk(1, b"one "), chunk(2, b"two ")];
        assert_eq!(arrived.body(&Headers::new()), Body::Stream(chunks.clone()));
        assert_eq!(arrived.body(&announced), Body::of_arrival(&announced, chunks));
        arrived.settle();
        assert_eq!(arrived.body(&announced), Body::Whole(b"one two ".as_slice().into()));
    }
}
