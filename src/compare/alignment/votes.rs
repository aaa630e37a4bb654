//! Which identifiers stand in the same places.

use std::collections::HashMap;

use super::known::Known;
use super::{Renaming, Said, Sort};

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
    pub(super) fn hear(&mut self, old: &Said<'v>, new: &Said<'v>, known: &Known) {
        // What both hold is called the same without a vote.
        if old.words.is_empty() || new.words.is_empty() || old.text == new.text {
            return;
        }
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
    old: &Said<'v>,
    new: &Said<'v>,
) -> (impl Iterator<Item = (&'v str, &'v str)>, usize) {
    let [olds, news] = [old, new].map(|said| said.sorted(Sort::Identifier).collect::<Vec<_>>());
    let comparable = olds.len() == news.len();
    let weight = if between(old).eq(between(new)) { SURE } else { 1 };
    (olds.into_iter().zip(news).filter(move |_| comparable), weight)
}

/// What stands between the words of a text.
fn between<'s>(said: &'s Said<'_>) -> impl Iterator<Item = &'s str> {
    let starts = std::iter::once(0).chain(said.words.iter().map(|word| word.range.end));
    let ends = said.words.iter().map(|word| word.range.start).chain([said.text.len()]);
    starts.zip(ends).map(|(start, end)| &said.text[start..end])
}
