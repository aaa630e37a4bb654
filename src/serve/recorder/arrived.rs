//! The body of an answer while it is being recorded.

use crate::cassette::Chunk;
use crate::cassette::large::Gathered;

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

    /// The chunks, without copies once it is settled.
    pub(super) fn chunks(&self) -> Vec<Chunk> {
        let joined = self.bytes.joined();
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        let chunk = |(start, (ms, end)): (usize, &(u64, usize))| Chunk {
            ms: *ms,
            bytes: joined.slice(start..*end),
        };
        starts.zip(&self.ends).map(chunk).collect()
    }
}
