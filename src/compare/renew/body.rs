//! Bodies.

use std::ops::Range;

use bytes::Bytes;

use super::exchange::announce;
use super::settle::{Render, Settle};
use crate::cassette::{Body, Chunk, End, Headers, Media};
use crate::compare::alignment::{Record, Script, records};
use crate::text::sequence::Pairing;

/// A silence of so many milliseconds is what keep-alives are for.
const SILENCE: u64 = 1000;

/// A body as it went over the wire, and what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecodedBody<'a> {
    pub(super) wire: &'a Body,
    pub(super) readable: &'a Body,
    pub(super) script: &'a Script,
    /// Its content coding.
    pub(super) coding: Option<&'a str>,
}

/// A new body in the words of the old one; the old one itself if it then says the same. The header is
/// the new one, which may have to be put right, and `end` is how the new body ended.
pub(super) fn settled(
    old: Option<DecodedBody<'_>>,
    new: DecodedBody<'_>,
    settle: Settle<'_>,
    (headers, end): (&mut Headers, End),
) -> Body {
    let [came, comes] = [old.unwrap_or(new), new].map(|said| {
        let DecodedBody { readable, script, .. } = said;
        ArrivedBody::of(readable, &script.text, &script.records)
    });
    let pieces = match old {
        Some(old) => pieces(old.script, new.script, (&came, &comes), settle),
        None => {
            let numbered = new.script.records.iter().enumerate();
            let text = new.script.as_str();
            let piece = |(number, record)| RenewedPiece {
                text: named(record, (new.script, text), settle),
                of: BodyRecord::New(number),
            };
            numbered.map(piece).collect()
        }
    };
    let joined: Vec<u8> = pieces.iter().flat_map(|piece| &piece.text).copied().collect();
    let is_old = |old: &DecodedBody<'_>| old.coding == new.coding && joined == old.script.text;
    if let Some(old) = old.filter(is_old) {
        announce(headers, new.wire.len(), old.wire.len());
        return old.wire.clone();
    }
    let is_compressed = new.readable != new.wire;
    if joined == new.script.text && (old.is_none() || is_compressed) {
        return new.wire.clone();
    }
    let is_stream = |said: DecodedBody<'_>| matches!(said.wire, Body::Stream(_));
    // In how many pieces a body came is an accident, unless its length is announced.
    let as_stream =
        is_stream(old.unwrap_or(new)) && (is_stream(new) || !headers.contains("content-length"));
    let body = if as_stream {
        let mut chunks = cut(&pieces, &came, &comes);
        let latest = chunks.last().map_or(0, |chunk| chunk.ms);
        let end = late_end(old.unwrap_or(new).wire);
        chunks.extend(end.map(|end| Chunk { ms: end.ms.max(latest), ..end }));
        Body::Stream(chunks)
    } else {
        Body::Whole(joined.into())
    };
    let is_of_amazon = Media::of_headers(headers) == Media::Amazon;
    let body = if is_of_amazon { body.into_amazon() } else { body };
    let body = if is_compressed { compressed(body, headers, end) } else { body };
    announce(headers, new.wire.len(), body.len());
    body
}

/// The body in the coding that its header names, as the server sent it. What no encoder is there for is kept
/// readable, and the header says so.
fn compressed(body: Body, headers: &mut Headers, end: End) -> Body {
    let coding = headers.get("content-encoding");
    coding.and_then(|coding| body.encoded(coding, end)).unwrap_or_else(|| {
        headers.remove("content-encoding");
        body
    })
}

/// Whether two streams say the same until their clients left them, and as far as both were read on: how much
/// came behind that is a matter of time.
pub(super) fn same_until_left(
    (old, was): (DecodedBody<'_>, u64),
    (new, is): (DecodedBody<'_>, u64),
) -> bool {
    let [came, comes] =
        [old, new].map(|it| ArrivedBody::of(it.readable, &it.script.text, &it.script.records));
    let (was_said, is_said) = (&old.script.records, &new.script.records);
    let olds: Vec<_> = said(was_said, is_said, &came).iter().map(|at| &was_said[*at]).collect();
    let news: Vec<_> = said(is_said, was_said, &comes).iter().map(|at| &is_said[*at]).collect();
    let same = olds.iter().zip(&news).take_while(|(old, new)| old.hash == new.hash).count();
    // The last one of either may be cut short, and what is not cut into records is one.
    let text =
        |said: DecodedBody<'_>, record: &Record| said.script.text.slice(record.range.clone());
    let (is_alike, shared) = match (olds.get(same), news.get(same)) {
        (Some(was), Some(is)) => {
            let [was, is] = [text(old, was), text(new, is)];
            (was.starts_with(&is) || is.starts_with(&was), was.len().min(is.len()))
        }
        _ => (true, 0),
    };
    let is_behind = |came: &ArrivedBody<'_>, records: &[&Record], left: u64| {
        let next = records.get(same).and_then(|record| {
            let goes_on = record.range.len() > shared;
            let next = || records.get(same + 1).map(|next| next.range.start);
            if goes_on { Some(record.range.start + shared) } else { next() }
        });
        next.and_then(|next| came.ms(next)).is_none_or(|ms| ms > left)
    };
    is_alike && is_behind(&came, &olds, was) && is_behind(&comes, &news, is)
}

/// The records of the new body in the words of the old one, with the old keep-alives in the place of
/// the new ones: each stays behind what it stood behind, unless something else came in its place.
fn pieces(
    old: &Script,
    new: &Script,
    (came, comes): (&ArrivedBody<'_>, &ArrivedBody<'_>),
    settle: Settle<'_>,
) -> Vec<RenewedPiece> {
    // That none came is a count as any other.
    let is_silent = new.records.iter().all(|record| !record.is_keep_alive);
    let mut said = said(&old.records, &new.records, came);
    said.retain(|at| !(is_silent && old.records[*at].is_keep_alive));
    let new_said = self::said(&new.records, &old.records, comes);
    let olds: Vec<&Record> = said.iter().map(|at| &old.records[*at]).collect();
    let news: Vec<&Record> = new_said.iter().map(|at| &new.records[*at]).collect();
    let ends = |at: usize| said.get(at).copied().unwrap_or(old.records.len());
    // That a text is one is looked at once, and not for each record.
    let texts = [old, new].map(|script| (script, script.as_str()));
    let mut pieces = Vec::new();
    // The old keep-alives that stand before what comes next.
    let mut rest = 0..ends(0);
    for step in records(&olds, &news) {
        let (beside, with) = match step {
            Pairing::Old(_) => continue,
            Pairing::New(with) => {
                let since = with.checked_sub(1).map_or(0, |before| new_said[before] + 1);
                let takes_place = !rest.is_empty() && (is_silent || news[with].is_keep_alive);
                let place = (rest.start + new_said[with] - since).min(rest.end.saturating_sub(1));
                (takes_place.then_some(place), with)
            }
            Pairing::Both(at, with) => (Some(said[at]), with),
        };
        let place = beside.filter(|place| rest.contains(place)).unwrap_or(rest.end);
        pieces.extend(kept(rest.start..place, old));
        let text = record(beside.map(|at| &old.records[at]), news[with], texts, settle);
        pieces.push(RenewedPiece {
            text,
            of: beside.map_or(BodyRecord::New(new_said[with]), BodyRecord::Old),
        });
        rest = match step {
            Pairing::Both(at, _) => said[at] + 1..ends(at + 1),
            _ if place < rest.end => place + 1..rest.end,
            _ => rest.end..rest.end,
        };
    }
    pieces.extend(kept(rest, old));
    pieces
}

/// That a stream ended a while behind what it said, if it did: when is as it was.
fn late_end(body: &Body) -> Option<Chunk> {
    body.chunks().last().filter(|chunk| chunk.bytes.is_empty()).cloned()
}

/// Old keep-alives as they were.
fn kept(stretch: Range<usize>, old: &Script) -> impl Iterator<Item = RenewedPiece> {
    stretch.map(|at| {
        let text = old.text[old.records[at].range.clone()].to_vec();
        RenewedPiece { text, of: BodyRecord::Old(at) }
    })
}

/// The numbers of the records that say something. The others say that the other side is still there,
/// and might as well have come more often or less: those that broke a silence, and those of which the
/// other recording has the like.
fn said(records: &[Record], others: &[Record], came: &ArrivedBody<'_>) -> Vec<usize> {
    let mut before = None;
    let mut is_pulse = |record: &Record| {
        let now = came.ms(record.range.start);
        let silence = now.unwrap_or_default().saturating_sub(before.unwrap_or_default());
        before = now;
        let has_like =
            || others.iter().any(|other| other.is_keep_alive && other.hash == record.hash);
        record.is_keep_alive && (silence >= SILENCE || has_like())
    };
    (0..records.len()).filter(|at| !is_pulse(&records[*at])).collect()
}

fn record(
    old: Option<&Record>,
    new: &Record,
    [(_, before), now]: [ScriptText<'_>; 2],
    settle: Settle<'_>,
) -> Vec<u8> {
    match (before, now.1) {
        (Some(before), Some(now)) => {
            let render = Render { settle, new: now, out: String::new() };
            render.record(old.map(|old| (before, old)), new).into_bytes()
        }
        _ => named(new, now, settle),
    }
}

/// What is said, and its text if it is one.
type ScriptText<'a> = (&'a Script, Option<&'a str>);

fn named(record: &Record, (script, text): ScriptText<'_>, settle: Settle<'_>) -> Vec<u8> {
    match text {
        Some(text) => settle.named(&text[record.range.clone()]).into_owned().into_bytes(),
        None => settle.renaming.bytes(&script.text[record.range.clone()]).into_owned(),
    }
}

/// A piece of a renewed body, and the record whose place it takes.
#[derive(Debug)]
pub(super) struct RenewedPiece {
    pub(super) text: Vec<u8>,
    pub(super) of: BodyRecord,
}

/// A record of the old body or of the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyRecord {
    Old(usize),
    New(usize),
}

/// How a body came.
#[derive(Debug)]
pub(super) struct ArrivedBody<'a> {
    text: &'a [u8],
    records: &'a [Record],
    /// Where each chunk began, and when it came.
    chunks: Vec<(usize, u64)>,
}

impl<'a> ArrivedBody<'a> {
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
pub(super) fn cut(
    pieces: &[RenewedPiece],
    old: &ArrivedBody<'_>,
    new: &ArrivedBody<'_>,
) -> Vec<Chunk> {
    let mut chunks: Vec<(BodyRecord, u64, Vec<u8>)> = Vec::new();
    let mut is_ended = true;
    for piece in pieces {
        let (came, record) = match piece.of {
            BodyRecord::Old(record) => (old, record),
            BodyRecord::New(record) => (new, record),
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

fn extend(chunks: &mut [(BodyRecord, u64, Vec<u8>)], text: &[u8]) {
    if let Some((.., chunk)) = chunks.last_mut() {
        chunk.extend_from_slice(text);
    }
}

/// Old chunks keep their times; what is new between them cannot have come before or behind them.
fn in_time(chunks: &mut [(BodyRecord, u64, Vec<u8>)]) {
    let mut before = 0;
    for at in 0..chunks.len() {
        let (of, ms, _) = &chunks[at];
        let ms = match of {
            BodyRecord::Old(_) => *ms,
            BodyRecord::New(_) => {
                let is_old =
                    |(of, ..): &&(BodyRecord, u64, Vec<u8>)| matches!(of, BodyRecord::Old(_));
                let next = chunks[at..].iter().find(is_old).map_or(u64::MAX, |(_, ms, _)| *ms);
                (*ms).max(before).min(next)
            }
        };
        chunks[at].1 = ms;
        before = ms;
    }
}
