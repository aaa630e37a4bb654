//! What is another in every recording, within a text.

use std::ops::Range;

use crate::identity::{Meaning, SHORTEST, identifiers, moments, refers};

/// A word that is another in every recording, and where it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) range: Range<usize>,
    pub(crate) sort: Sort,
}

/// What sort of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A name, without its prefix.
    Name,
    /// A point in time.
    Moment,
}

/// A text, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'v> {
    /// As it is spelled, with its quotes if it is a string of JSON.
    pub(crate) text: &'v str,
    /// What its place says of it.
    pub(crate) field: Field,
}

/// What the name of a field says of the values in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) is_time: bool,
    pub(crate) is_span: bool,
    pub(crate) is_id: bool,
}

impl Field {
    /// Nothing is known.
    pub(crate) const PLAIN: Self = Self { is_time: false, is_span: false, is_id: false };

    /// A place where identifiers stand.
    pub(crate) const ID: Self = Self { is_id: true, ..Self::PLAIN };

    /// Reads a name: `created_at`, `ttft_ns`, `tool_call_id`.
    pub(crate) fn of(name: &str) -> Self {
        let meaning = Meaning::of(name);
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        Self {
            is_time: meaning == Meaning::Moment,
            is_span: meaning == Meaning::Span || ends(&["_ns", "ttft_ms", "ttft_us"]),
            is_id: matches!(meaning, Meaning::Mark | Meaning::Identity) || refers(name),
        }
    }
}

impl<'v> Said<'v> {
    /// Without the quotes of JSON.
    pub(crate) fn value(self) -> &'v str {
        self.text.trim_matches('"')
    }

    /// Whether it is how long something took.
    pub(crate) fn is_span(self) -> bool {
        self.field.is_span && self.text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    }
}

/// What looks like a name or a point in time within a text, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let names = identifiers(text).map(|range| Word { range, sort: Sort::Name });
    apart(times(text).chain(names).collect())
}

/// The points in time within a text.
pub(crate) fn times(text: &str) -> impl Iterator<Item = Word> + '_ {
    let long = if text.len() < SHORTEST { "" } else { text };
    moments(long)
        .map(|range| Word { range: range.start..clock(text, range.end), sort: Sort::Moment })
}

/// Words in order. Of those that overlap the first one is left, and of these the longest.
pub(crate) fn apart(mut words: Vec<Word>) -> Vec<Word> {
    words.sort_by_key(|word| (word.range.start, std::cmp::Reverse(word.range.end)));
    let mut end = 0;
    words.retain(|word| {
        let is_free = word.range.start >= end;
        end = end.max(word.range.end);
        is_free
    });
    words
}

/// What stands between words, before them and behind them.
pub(crate) fn between<'t>(text: &'t str, words: &[Word]) -> Vec<&'t str> {
    let starts = std::iter::once(0).chain(words.iter().map(|word| word.range.end));
    let ends = words.iter().map(|word| word.range.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
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
            ("6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", Sort::Name),
            ("2026-11-20 09:52:13 PM", Sort::Moment),
        ];
        assert_eq!(found, expected);
    }
}
