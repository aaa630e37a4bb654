//! Where a stream is cut into chunks, and when they came.

use std::ops::Range;

use bytes::Bytes;

use crate::cassette::{Body, Chunk};
use crate::compare::alignment::Record;

/// A piece of a renewed body, and the record whose place it takes.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) text: Vec<u8>,
    pub(super) of: Source,
}

/// A record of the old body or of the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Old(usize),
    New(usize),
}

/// How a body came.
#[derive(Debug)]
pub(super) struct Came<'a> {
    text: &'a [u8],
    records: &'a [Record],
    /// Where each chunk began, and when it came.
    chunks: Vec<(usize, u64)>,
}

impl<'a> Came<'a> {
    /// `body` is the readable one, whose text that is.
    pub(super) fn of(body: &Body, text: &'a [u8], records: &'a [Record]) -> Self {
        let mut start = 0;
        let chunks = body.chunks().iter().map(|chunk| {
            let begun = (start, chunk.ms);
            start += chunk.bytes.len();
            begun
        });
        Self { text, records, chunks: chunks.collect() }
    }

    /// When the chunk came in which that place is.
    pub(super) fn ms(&self, at: usize) -> Option<u64> {
        let next = self.chunks.partition_point(|(start, _)| *start <= at);
        Some(self.chunks.get(next.checked_sub(1)?)?.1)
    }

    fn is_cut(&self, at: usize) -> bool {
        at >= self.text.len() || self.chunks.binary_search_by_key(&at, |(start, _)| *start).is_ok()
    }

    /// The cuts within a record that still make sense in what takes its place.
    fn within(&self, range: &Range<usize>, now: &[u8]) -> Vec<(usize, u64)> {
        let before = &self.text[range.clone()];
        let front = before.iter().zip(now).take_while(|(one, other)| one == other).count();
        let ends = before.iter().rev().zip(now.iter().rev());
        let back = ends.take_while(|(one, other)| one == other).count();
        let first = self.chunks.partition_point(|(start, _)| *start <= range.start);
        let inner = self.chunks[first..].iter().take_while(|(at, _)| *at < range.end);
        let placed = inner.filter_map(|(at, ms)| {
            let from_end = range.end - at;
            match at - range.start {
                at if at <= front => Some((at, *ms)),
                _ if from_end <= back => Some((now.len() - from_end, *ms)),
                _ => None,
            }
        });
        placed.filter(|(at, _)| (1..now.len()).contains(at)).collect()
    }
}

/// Cuts the pieces as the records were cut whose place they take.
pub(super) fn cut(pieces: &[Piece], old: &Came<'_>, new: &Came<'_>) -> Vec<Chunk> {
    let mut chunks: Vec<(Source, u64, Vec<u8>)> = Vec::new();
    let mut is_ended = true;
    for piece in pieces {
        let (came, record) = match piece.of {
            Source::Old(record) => (old, record),
            Source::New(record) => (new, record),
        };
        let range = &came.records[record].range;
        let ms = came.ms(range.start).unwrap_or_default();
        if is_ended || came.is_cut(range.start) {
            chunks.push((piece.of, ms, Vec::new()));
        }
        let mut rest = 0;
        for (at, ms) in came.within(range, &piece.text) {
            extend(&mut chunks, &piece.text[rest..at]);
            chunks.push((piece.of, ms, Vec::new()));
            rest = at;
        }
        extend(&mut chunks, &piece.text[rest..]);
        is_ended = came.is_cut(range.end);
    }
    in_time(&mut chunks);
    chunks.into_iter().map(|(_, ms, bytes)| Chunk { ms, bytes: Bytes::from(bytes) }).collect()
}

fn extend(chunks: &mut [(Source, u64, Vec<u8>)], text: &[u8]) {
    if let Some((.., chunk)) = chunks.last_mut() {
        chunk.extend_from_slice(text);
    }
}

/// Old chunks keep their times; what is new between them cannot have come before or behind them.
fn in_time(chunks: &mut [(Source, u64, Vec<u8>)]) {
    let mut before = 0;
    for at in 0..chunks.len() {
        let (of, ms, _) = &chunks[at];
        let ms = match of {
            Source::Old(_) => *ms,
            Source::New(_) => {
                let is_old = |(of, ..): &&(Source, u64, Vec<u8>)| matches!(of, Source::Old(_));
                let next = chunks[at..].iter().find(is_old).map_or(u64::MAX, |(_, ms, _)| *ms);
                (*ms).max(before).min(next)
            }
        };
        chunks[at].1 = ms;
        before = ms;
    }
}
