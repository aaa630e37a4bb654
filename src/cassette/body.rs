//! Bodies, whole or in chunks.

use bytes::{Bytes, BytesMut};

/// The bytes of a body as they went over the wire, compressed ones still compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A body whose length was announced, or that came in one piece: how the network cut it up
    /// means nothing.
    Whole(Bytes),
    /// A body that was sent piece by piece.
    Stream(Vec<Chunk>),
}

/// A piece of a streamed body: the payload of one HTTP chunk, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Milliseconds since the request arrived.
    pub ms: u64,
    /// What came.
    pub bytes: Bytes,
}

impl Body {
    /// All bytes in one piece. Copies only if there is more than one chunk.
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes.clone(),
            Self::Stream(chunks) => match chunks.as_slice() {
                [one] => one.bytes.clone(),
                chunks => {
                    let mut all = BytesMut::with_capacity(self.len());
                    chunks.iter().for_each(|chunk| all.extend_from_slice(&chunk.bytes));
                    all.freeze()
                }
            },
        }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Stream(chunks) => chunks.iter().map(|chunk| chunk.bytes.len()).sum(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The chunks of a streamed body; none for a whole one.
    pub fn chunks(&self) -> &[Chunk] {
        match self {
            Self::Whole(_) => &[],
            Self::Stream(chunks) => chunks,
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}
