//! Bodies.

use std::ops::Range;

use super::cuts::{Came, Piece, Source, cut};
use super::exchange::announce;
use super::render::Render;
use super::settle::Settle;
use crate::cassette::{Body, Headers};
use crate::compare::alignment::{Record, Script, records};
use crate::text::sequence::Step;

/// A silence of so many milliseconds is what keep-alives are for.
const SILENCE: u64 = 1000;

/// A body as it went over the wire, and what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) wire: &'a Body,
    pub(super) readable: &'a Body,
    pub(super) script: &'a Script,
}

impl Said<'_> {
    fn is_compressed(&self) -> bool {
        self.readable != self.wire
    }
}

/// A new body in the words of the old one; the old one itself if it then says the same. The header is
/// the new one, which may have to be put right.
pub(super) fn both(
    old: Said<'_>,
    new: Said<'_>,
    settle: Settle<'_>,
    headers: &mut Headers,
) -> Body {
    let (before, now) = (&old.script, &new.script);
    let came = Came::of(old.readable, &before.text, &before.records);
    let comes = Came::of(new.readable, &now.text, &now.records);
    let pieces = pieces(before, now, (&came, &comes), settle);
    let joined: Vec<u8> = pieces.iter().flat_map(|piece| &piece.text).copied().collect();
    if joined == before.text {
        announce(headers, new.wire.len(), old.wire.len());
        return old.wire.clone();
    }
    if joined == now.text && new.is_compressed() {
        return new.wire.clone();
    }
    // In how many pieces a body came is an accident, unless its length is announced.
    let as_stream = matches!(old.wire, Body::Stream(_))
        && (matches!(new.wire, Body::Stream(_)) || !headers.contains("content-length"));
    let body = match as_stream {
        true => Body::Stream(cut(&pieces, &came, &comes)),
        false => Body::Whole(joined.into()),
    };
    plain(body, new, headers)
}

/// A body that has none beside it.
pub(super) fn alone(new: Said<'_>, settle: Settle<'_>, headers: &mut Headers) -> Body {
    let came = Came::of(new.readable, &new.script.text, &new.script.records);
    let named = |(number, record): (usize, &Record)| Piece {
        text: named(record, new.script, settle),
        of: Source::New(number),
    };
    let pieces: Vec<Piece> = new.script.records.iter().enumerate().map(named).collect();
    let joined: Vec<u8> = pieces.iter().flat_map(|piece| &piece.text).copied().collect();
    if joined == new.script.text {
        return new.wire.clone();
    }
    let body = match new.wire {
        Body::Whole(_) => Body::Whole(joined.into()),
        Body::Stream(_) => Body::Stream(cut(&pieces, &came, &came)),
    };
    plain(body, new, headers)
}

/// A body that was compressed is kept readable if something in it was exchanged.
fn plain(body: Body, new: Said<'_>, headers: &mut Headers) -> Body {
    if new.is_compressed() {
        headers.remove("content-encoding");
    }
    announce(headers, new.wire.len(), body.len());
    body
}

/// The records of the new body in the words of the old one, with the old keep-alives in the place of
/// the new ones: each stays behind what it stood behind.
fn pieces(
    old: &Script,
    new: &Script,
    (came, comes): (&Came<'_>, &Came<'_>),
    settle: Settle<'_>,
) -> Vec<Piece> {
    let said = said(&old.records, &new.records, came);
    let new_said = self::said(&new.records, &old.records, comes);
    let olds: Vec<&Record> = said.iter().map(|at| &old.records[*at]).collect();
    let news: Vec<&Record> = new_said.iter().map(|at| &new.records[*at]).collect();
    let ends = |at: usize| said.get(at).copied().unwrap_or(old.records.len());
    let mut pieces = kept(0..ends(0), old);
    for step in records(&olds, &news) {
        match step {
            Step::Old(_) => {}
            Step::New(with) => {
                let text = record(None, news[with], (old, new), settle);
                pieces.push(Piece { text, of: Source::New(new_said[with]) });
            }
            Step::Both(at, with) => {
                let text = record(Some(olds[at]), news[with], (old, new), settle);
                pieces.push(Piece { text, of: Source::Old(said[at]) });
                pieces.extend(kept(said[at] + 1..ends(at + 1), old));
            }
        }
    }
    pieces
}

/// Old keep-alives as they were.
fn kept(stretch: Range<usize>, old: &Script) -> Vec<Piece> {
    let piece = |at: usize| {
        let text = old.text[old.records[at].range.clone()].to_vec();
        Piece { text, of: Source::Old(at) }
    };
    stretch.map(piece).collect()
}

/// The numbers of the records that say something. The others say that the other side is still there,
/// and might as well have come more often or less: those that broke a silence, and those of which the
/// other recording has the like.
fn said(records: &[Record], others: &[Record], came: &Came<'_>) -> Vec<usize> {
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
    (before, now): (&Script, &Script),
    settle: Settle<'_>,
) -> Vec<u8> {
    match (before.as_str(), now.as_str()) {
        (Some(before), Some(now)) => {
            let render = Render { settle, new: now, out: String::new() };
            render.record(old.map(|old| (before, old)), new).into_bytes()
        }
        _ => named(new, now, settle),
    }
}

fn named(record: &Record, script: &Script, settle: Settle<'_>) -> Vec<u8> {
    match script.as_str() {
        Some(text) => settle.named(&text[record.range.clone()]).into_owned().into_bytes(),
        None => settle.renaming.bytes(&script.text[record.range.clone()]).into_owned(),
    }
}
