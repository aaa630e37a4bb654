//! What is another in every recording, within a text.

use std::ops::Range;

use crate::correlate::{identifiers, moments};

/// What sort of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// An identifier without its prefix.
    Identifier,
    /// A point in time.
    Moment,
}

/// The identifiers and points in time within a text, in order. They do not overlap.
pub(crate) fn words(text: &str) -> Vec<(Range<usize>, Sort)> {
    let mut found: Vec<(Range<usize>, Sort)> = moments(text)
        .map(|range| (range.start..clock(text, range.end), Sort::Moment))
        .chain(identifiers(text).map(|range| (range, Sort::Identifier)))
        .collect();
    found.sort_by_key(|(range, _)| range.start);
    let mut end = 0;
    found.retain(|(range, _)| {
        let apart = range.start >= end;
        if apart {
            end = range.end;
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
            words(text).into_iter().map(|(range, sort)| (&text[range], sort)).collect();

        let expected = [
            ("6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", Sort::Identifier),
            ("2026-11-20 09:52:13 PM", Sort::Moment),
        ];
        assert_eq!(found, expected);
    }
}
