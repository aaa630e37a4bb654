//! Which identifiers stand in the same places.

use std::collections::HashMap;

use super::known::Known;
use super::{Renaming, Sort, words::words};

/// How often two identifiers stood in the same place.
#[derive(Debug, Default)]
pub(super) struct Votes<'v> {
    counts: HashMap<(&'v str, &'v str), Count>,
}

#[derive(Debug)]
struct Count {
    weight: usize,
    /// How many were known before.
    first: usize,
}

/// What a place weighs where nothing but identifiers differs, beside one where more does.
const SURE: usize = 8;

impl<'v> Votes<'v> {
    /// Two texts stand in the same place.
    pub(super) fn hear(&mut self, old: &'v str, new: &'v str, known: &Known) {
        let (pairs, weight) = identifiers(old, new);
        for (old, new) in pairs.filter(|(old, new)| known.is_old(old) && known.is_new(new)) {
            let first = self.counts.len();
            let count = self.counts.entry((new, old)).or_insert(Count { weight: 0, first });
            count.weight += weight;
        }
    }

    /// Binds those with the most votes first.
    pub(super) fn counted(self, mut renaming: Renaming) -> Renaming {
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| (std::cmp::Reverse(count.weight), count.first));
        for ((new, old), _) in counts {
            renaming.bind(new, old);
        }
        renaming
    }
}

/// The identifiers that stand in the same places of two texts, if there are as many in each, and what
/// that weighs.
fn identifiers<'v>(
    old: &'v str,
    new: &'v str,
) -> (impl Iterator<Item = (&'v str, &'v str)>, usize) {
    let (olds, before) = apart(old);
    let (news, after) = apart(new);
    let comparable = olds.len() == news.len();
    let pairs = olds.into_iter().zip(news).filter(move |_| comparable);
    (pairs, if before == after { SURE } else { 1 })
}

/// The identifiers of a text, and what stands between them, times left out.
fn apart(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut found, mut between, mut rest) = (Vec::new(), Vec::new(), 0);
    for (range, sort) in words(text) {
        between.push(&text[rest..range.start]);
        rest = range.end;
        if sort == Sort::Identifier {
            found.push(&text[range]);
        }
    }
    between.push(&text[rest..]);
    (found, between)
}
