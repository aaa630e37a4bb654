//! How often two names stand in the same place of two recordings.

use std::collections::HashMap;

use super::super::counted::{placeholders, uncounted};
use super::super::value::{KnownText, Sort, Word, between, filled, words};
use super::{KnownNames, RecordingNames, prefix};
use crate::identity::{UUID, begins_with_uuid};

/// How often two names stood in the same place.
#[derive(Debug, Default)]
pub(in super::super) struct Votes<'v> {
    pub(super) counts: HashMap<(&'v str, &'v str), Count>,
}

#[derive(Debug)]
pub(super) struct Count {
    pub(super) weight: usize,
    /// How many were known before.
    pub(super) first: usize,
}

/// What a place weighs where nothing but names differs, beside one where more does.
const SURE: usize = 8;

impl<'v> Votes<'v> {
    /// Two texts stand in the same place.
    pub(in super::super) fn hear(
        &mut self,
        old: KnownText<'v>,
        new: KnownText<'v>,
        known: &KnownNames,
    ) {
        // What both hold is called the same without a vote, but for what was counted.
        if old.text == new.text && !known.is_counting() {
            return;
        }
        let (olds, news) = (known.old.words(old), known.new.words(new));
        let (old, new) = (old.text, new.text);
        if (olds.is_empty() && news.is_empty())
            || self.hear_words((old, &olds), (new, &news), SURE, known)
            || self.hear_proved(old, new, known)
            || self.hear_secrets(old, new, known)
        {
            return;
        }
        let (mut ones, mut others) = (runs(old), runs(new));
        let is_alike = between(old, &ones) == between(new, &others);
        if !is_alike {
            hold(&mut ones, &olds);
            hold(&mut others, &news);
        }
        if ones.len() != others.len() {
            return;
        }
        let weight = if is_alike { SURE } else { 1 };
        for (one, other) in ones.into_iter().zip(others) {
            self.hear_run(&old[one.range], &new[other.range], weight, known);
        }
    }

    /// Votes for the words of two texts, if only they differ.
    fn hear_words(
        &mut self,
        (old, olds): (&'v str, &[Word]),
        (new, news): (&'v str, &[Word]),
        weight: usize,
        known: &KnownNames,
    ) -> bool {
        let is_same = between(old, olds) == between(new, news);
        for (one, other) in olds.iter().zip(news).filter(|_| is_same) {
            let (one, other) = (&old[one.range.clone()], &new[other.range.clone()]);
            let is_known = known.old.values.contains(one) && known.new.values.contains(other);
            let is_proved = || {
                (known.old.has_proved(one) || known.new.has_proved(other))
                    && known.may_be_called(one, other)
            };
            if is_known || (one != other && is_proved()) {
                let is_counted =
                    known.old.counted.contains(one) || known.new.counted.contains(other);
                if !is_counted || uncounted(one) == uncounted(other) {
                    self.count((one, other), weight);
                }
            }
        }
        is_same
    }

    /// Votes for what stands where a name is known to stand, whatever it looks like, if only names differ.
    fn hear_proved(&mut self, old: &'v str, new: &'v str, known: &KnownNames) -> bool {
        let mut is_heard = false;
        for (one, is_old) in [(&known.old, true), (&known.new, false)] {
            let (from, to) = if is_old { (old, new) } else { (new, old) };
            if one.proved.find(from).next().is_none() {
                continue;
            }
            let words = one.words(KnownText::plain(from));
            let Some(others) = filled(&between(from, &words), to) else { continue };
            for (word, other) in words.iter().zip(others) {
                let word = &from[word.range.clone()];
                is_heard |= one.has_proved(word);
                let is_like = |c: char| c.is_alphanumeric() || "-_".contains(c) || word.contains(c);
                let (was, is) = if is_old { (word, other) } else { (other, word) };
                let is_proved = one.has_proved(word) && known.may_be_called(was, is);
                let is_other = one.issued.contains(word) || other.chars().all(is_like);
                if is_proved && word != other && is_other {
                    self.count((was, is), SURE);
                }
            }
        }
        is_heard
    }

    /// Votes for the numbered placeholders of the same secrets. Whether one is quoted is a matter of its letters.
    fn hear_secrets(&mut self, old: &'v str, new: &'v str, known: &KnownNames) -> bool {
        let [one, other] = [(old, &known.old), (new, &known.new)].map(|(text, side)| {
            let found = placeholders(text).filter(|name| side.counted.contains(*name));
            found.collect::<Vec<_>>()
        });
        let names = |all: &[&str]| all.iter().map(|name| uncounted(name)).collect::<Vec<_>>();
        let is_same = !one.is_empty() && names(&one) == names(&other);
        one.into_iter().zip(other).filter(|_| is_same).for_each(|pair| self.count(pair, SURE));
        is_same
    }

    /// Two runs of letters, digits, `-` and `_` stand in the same place. They are names as a whole, but for
    /// their prefixes, if not only a name in them differs.
    fn hear_run(&mut self, old: &'v str, new: &'v str, weight: usize, known: &KnownNames) {
        let (olds, news) =
            (known.old.words(KnownText::plain(old)), known.new.words(KnownText::plain(new)));
        if self.hear_words((old, &olds), (new, &news), weight, known) {
            return;
        }
        // What stands around a part that is shown to be made up is no name: `…-4` is not what `…-5` was.
        let is_part = |side: &RecordingNames, run: &str| {
            side.shown.find(run).any(|part| part.len() < run.len())
        };
        if is_part(&known.old, old) || is_part(&known.new, new) {
            return;
        }
        let is_known = olds.iter().any(|word| known.old.values.contains(&old[word.range.clone()]))
            || news.iter().any(|word| known.new.values.contains(&new[word.range.clone()]));
        // What a prefix is called is no part of a name.
        let (mut one, mut other) = (prefix(old), prefix(new));
        if one == 0 || other == 0 || old.len() - one != new.len() - other {
            (one, other) = (0, 0);
        }
        let plain =
            |text, words| between(text, words).into_iter().map(uncounted).collect::<Vec<_>>();
        // Names that come from the same place are as long, but for the numbers in them. Whether the whole of one looks
        // like a name as well is a matter of its letters.
        let is_like = old.len() - one == new.len() - other
            || plain(old, &olds) == plain(new, &news)
            || plain(old, &words(old)) == plain(new, &words(new));
        if is_known && is_like {
            self.count((&old[one..], &new[other..]), weight);
        }
    }

    /// A UUID that is not spelled as one any more is told, whatever stands for it.
    fn count(&mut self, (old, new): (&'v str, &'v str), weight: usize) {
        if is_uuid(old) != is_uuid(new) {
            return;
        }
        let first = self.counts.len();
        self.counts.entry((new, old)).or_insert(Count { weight: 0, first }).weight += weight;
    }
}

fn is_uuid(name: &str) -> bool {
    name.len() == UUID && begins_with_uuid(name.as_bytes())
}

/// The runs of letters, digits, `-` and `_` in a text.
fn runs(text: &str) -> Vec<Word> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let runs = text.split(|c| !belongs(c)).filter(|run| !run.is_empty()).map(|run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        Word { range: start..start + run.len(), sort: Sort::Name }
    });
    runs.collect()
}

/// Leaves the runs that hold names.
fn hold(runs: &mut Vec<Word>, words: &[Word]) {
    let is_in =
        |run: &Word, word: &Word| word.sort == Sort::Name && run.range.contains(&word.range.start);
    runs.retain(|run| words.iter().any(|word| is_in(run, word)));
}
