//! The body of an answer while it is being recorded.

use bytes::Bytes;

use crate::cassette::Chunk;

/// The body of an answer as far as it has come.
///
/// # Rationale
///
/// What is read from a connection is a small piece of a large buffer. Keeping it would keep the
/// buffer, several kilobytes for each answer, so it is copied.
#[derive(Debug)]
pub(super) struct Arrived {
    bytes: Joined,
    /// When each chunk came, and where it ends.
    ends: Vec<(u64, usize)>,
}

/// The chunks behind each other: growing, or settled so that they can be shared.
#[derive(Debug)]
enum Joined {
    Growing(Vec<u8>),
    Settled(Bytes),
}

impl Default for Arrived {
    fn default() -> Self {
        Self { bytes: Joined::Growing(Vec::new()), ends: Vec::new() }
    }
}

impl Arrived {
    /// Takes the next part of a chunk.
    pub(super) fn push(&mut self, part: &[u8]) {
        if let Joined::Growing(joined) = &mut self.bytes {
            joined.extend_from_slice(part);
        }
    }

    /// A chunk ends.
    pub(super) fn end_chunk(&mut self, ms: u64) {
        let end = self.len();
        if self.ends.last().is_none_or(|(_, last)| *last < end) {
            self.ends.push((ms, end));
        }
    }

    /// How many bytes have come.
    pub(super) fn len(&self) -> usize {
        match &self.bytes {
            Joined::Growing(joined) => joined.len(),
            Joined::Settled(joined) => joined.len(),
        }
    }

    /// Takes out what has come.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.ends.clear();
        match std::mem::replace(&mut self.bytes, Joined::Growing(Vec::new())) {
            Joined::Growing(joined) => joined,
            Joined::Settled(joined) => joined.into(),
        }
    }

    /// Nothing more comes.
    pub(super) fn settle(&mut self) {
        if let Joined::Growing(joined) = &mut self.bytes {
            self.bytes = Joined::Settled(std::mem::take(joined).into());
        }
    }

    /// The chunks, without copies once it is settled.
    pub(super) fn chunks(&self) -> Vec<Chunk> {
        let joined = match &self.bytes {
            Joined::Growing(joined) => Bytes::copy_from_slice(joined),
            Joined::Settled(joined) => joined.clone(),
        };
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        let chunk = |(start, (ms, end)): (usize, &(u64, usize))| Chunk {
            ms: *ms,
            bytes: joined.slice(start..*end),
        };
        starts.zip(&self.ends).map(chunk).collect()
    }
}
