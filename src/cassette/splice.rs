//! Replacing ranges of bytes, also in a body that came in chunks.

use std::ops::Range;

use bytes::Bytes;

use super::{Body, Chunk};

/// Bytes to be put in the place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, as offsets into the joined bytes. Not empty.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub with: Bytes,
}

impl Edit {
    /// Puts `with` in the place of `range`.
    pub fn new(range: Range<usize>, with: impl Into<Bytes>) -> Self {
        Self { range, with: with.into() }
    }

    /// The same edit of a text in which this one begins `offset` bytes later.
    pub fn shifted(mut self, offset: usize) -> Self {
        self.range = self.range.start + offset..self.range.end + offset;
        self
    }
}

/// Sorts edits, and drops those that overlap one that begins earlier or is longer.
pub fn in_order(edits: Vec<Edit>) -> Vec<Edit> {
    disjoint(edits, |edit| edit.range.clone())
}

/// The same of whatever stands in a range.
pub fn disjoint<T>(mut all: Vec<T>, range: impl Fn(&T) -> Range<usize>) -> Vec<T> {
    all.sort_by_key(|it| (range(it).start, std::cmp::Reverse(range(it).end)));
    let mut end = 0;
    all.retain(|it| {
        let apart = range(it).start >= end;
        if apart {
            end = range(it).end;
        }
        apart
    });
    all
}

/// The bytes after the edits, which are in order.
pub fn splice(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(&bytes[at..edit.range.start]);
        out.extend_from_slice(&edit.with);
        at = edit.range.end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

impl Body {
    /// Applies edits, which are in order and count from the beginning of the joined bytes.
    ///
    /// The number of chunks stays. What is as long as what it replaces is cut up where that was; else
    /// it goes to the chunk in which the range begins, and a chunk that lay within a range is left
    /// empty. Chunks that no edit touches are not copied.
    pub fn splice(&mut self, edits: &[Edit]) {
        match self {
            Self::Whole(bytes) if !edits.is_empty() => *bytes = splice(bytes, edits).into(),
            Self::Whole(_) => {}
            Self::Stream(chunks) => {
                let mut start = 0;
                let mut rest = edits;
                for chunk in chunks {
                    let end = start + chunk.bytes.len();
                    let done = rest.iter().take_while(|edit| edit.range.end <= start).count();
                    rest = &rest[done..];
                    chunk.splice(start, rest);
                    start = end;
                }
            }
        }
    }
}

impl Chunk {
    /// Applies those of the edits that concern this chunk, whose first byte is number `start`.
    fn splice(&mut self, start: usize, edits: &[Edit]) {
        let end = start + self.bytes.len();
        let mut local = edits.iter().take_while(|edit| edit.range.start < end).peekable();
        if local.peek().is_none() {
            return;
        }
        let within = local.map(|edit| {
            let range = edit.range.start.max(start)..edit.range.end.min(end);
            let with = if edit.with.len() == edit.range.len() {
                edit.with.slice(range.start - edit.range.start..range.end - edit.range.start)
            } else if edit.range.start >= start {
                edit.with.clone()
            } else {
                Bytes::new()
            };
            Edit { range: range.start - start..range.end - start, with }
        });
        self.bytes = splice(&self.bytes, &within.collect::<Vec<_>>()).into();
    }
}
