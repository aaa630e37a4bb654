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
    /// Takes the next chunk.
    pub(super) fn push(&mut self, ms: u64, bytes: &[u8]) {
        if let Joined::Growing(joined) = &mut self.bytes {
            joined.extend_from_slice(bytes);
            self.ends.push((ms, joined.len()));
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
