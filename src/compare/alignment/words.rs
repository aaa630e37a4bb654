//! What is another in every recording, within a text.

use std::borrow::Cow;
use std::ops::Range;

use super::Field;
use crate::identity::{SHORTEST, identifiers, moments};

/// A word that is another in every recording, and where it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) range: Range<usize>,
    pub(crate) sort: Sort,
}

/// A text, and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Said<'v> {
    /// As it is spelled, with its quotes if it is a string of JSON.
    pub(crate) text: &'v str,
    /// The words in it, in order.
    pub(crate) words: Cow<'v, [Word]>,
    /// What its place says of it.
    pub(crate) field: Field,
}

impl<'v> Said<'v> {
    /// Looks for the words in a text.
    pub(crate) fn of(text: &'v str, field: Field) -> Self {
        Self { text, words: words(text).into(), field }
    }

    /// The words of a sort.
    pub(crate) fn sorted(&self, sort: Sort) -> impl Iterator<Item = &'v str> {
        let (text, words) = (self.text, self.words.iter());
        words.filter(move |word| word.sort == sort).map(|word| &text[word.range.clone()])
    }
}

/// What sort of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// An identifier without its prefix.
    Identifier,
    /// A point in time.
    Moment,
}

/// The identifiers and points in time within a text, in order. They do not overlap.
pub(crate) fn words(text: &str) -> Vec<Word> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let moments = moments(text).map(|range| range.start..clock(text, range.end));
    let word = |sort| move |range| Word { range, sort };
    let mut found: Vec<Word> = moments
        .map(word(Sort::Moment))
        .chain(identifiers(text).map(word(Sort::Identifier)))
        .collect();
    found.sort_by_key(|word| word.range.start);
    let mut end = 0;
    found.retain(|word| {
        let apart = word.range.start >= end;
        if apart {
            end = word.range.end;
        }
        apart
    });
    found
}

/// Where a time ends behind which half of the day may stand, as in `09:52:13 PM`.
fn clock(text: &str, end: usize) -> usize {
    let half = [" AM", " PM", " am", " pm"];
    let rest = &text[end..];
    if half.iter().any(|half| rest.starts_with(half)) { end + half[0].len() } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_each_time_is_found_in_order() {
        let text = "agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0 at 2026-11-20 09:52:13 PM UTC";

        let found: Vec<(&str, Sort)> =
            words(text).into_iter().map(|word| (&text[word.range], word.sort)).collect();

        let expected = [
            ("6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", Sort::Identifier),
            ("2026-11-20 09:52:13 PM", Sort::Moment),
        ];
        assert_eq!(found, expected);
    }
}
