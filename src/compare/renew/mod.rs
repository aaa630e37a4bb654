//! A recording that takes the place of an older one and says the same in the same words.
//!
//! What an unchanged server says is another in every recording: identifiers, times, how the network
//! cut it up, how often it said that it is still there. [`renew`] lays the new recording beside the
//! old one and keeps the old text wherever nothing else differs, so that the difference of the two
//! files is what changed.
//!
//! # What is kept, and what is not
//!
//! *Names* are exchanged in the whole recording at once, one for one, so that an identifier is the
//! same wherever it stands and a replay of the result works as that of the new recording. *Times*,
//! chunks, offsets, keep-alives, `after` and the header fields that tell of one transfer stay as they
//! were. Everything else is taken from the new recording, value by value and byte by byte.

mod body;
mod exchange;
mod order;
mod settle;

use self::order::Entry;
use self::settle::Settle;
use crate::cassette::Cassette;
use crate::compare::alignment::{Moved, Sides};

/// A recording in the words of an older one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// It.
    pub cassette: Cassette,
    /// How many of its interactions are as they were.
    pub kept: usize,
    /// How many of the old one's are not in it any more.
    pub gone: usize,
}

/// Tells a new recording in the words of the old one.
pub fn renew(old: &Cassette, mut new: Cassette) -> Renewed {
    let moved = Moved::between(&old.recorded.upstream, &new.recorded.upstream);
    if moved.is_some() {
        new.recorded.upstream.clone_from(&old.recorded.upstream);
    }
    let mut sides = Sides::of(old, &new);
    let alignment = sides.align(moved.as_ref());
    let settle = Settle { renaming: &alignment.renaming };
    let mut entries = Vec::new();
    let mut pairs = alignment.pairs.iter().peekable();
    for (number, view) in sides.new.iter().enumerate() {
        if alignment.waits_new.contains(&number) {
            continue;
        }
        let old = pairs.next_if(|pair| pair.new == number).map(|pair| pair.old);
        let interaction = exchange::told(old.map(|old| &sides.old[old]), view, settle);
        entries.push(Entry { old, new: Some(number), interaction });
    }
    let interactions = order::restored(entries, &alignment.waits_old, old, &new);
    let kept = interactions.iter().filter(|(_, is_kept)| *is_kept).count();
    let interactions: Vec<_> = interactions.into_iter().map(|(it, _)| it).collect();
    let is_same = interactions == old.interactions && new.interrupted == old.interrupted;
    let cassette = if is_same {
        // Rules that had nothing to redact are no change.
        Cassette { rules: new.rules, ..old.clone() }
    } else {
        Cassette { interactions, ..new }
    };
    Renewed { cassette, kept, gone: alignment.only_old.len() }
}
