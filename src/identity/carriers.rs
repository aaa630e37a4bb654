//! Header fields that carry what a server has issued.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::decide::words;
use super::{Meaning, refers};
use crate::cassette::reading::header;
use crate::cassette::{Ids, Interactions, text};
use crate::config::Rules;

/// The header fields in which requests come back with what the server issued, and that do not count by
/// themselves: a lease, a token against forgery, the account that an earlier answer has made.
///
/// # Rationale
///
/// What a client says of itself in its header does not count, and no list knows the fields of every server.
/// But whoever gives back what an answer was the first to say has it from there, and may give back the wrong
/// one. `ids` says which values these are.
pub fn carriers(interactions: &impl Interactions, ids: &Ids, rules: &Rules) -> Vec<String> {
    let issued: HashSet<&str> = ids.server.iter().map(|id| id.value.as_str()).collect();
    let mut found = BTreeSet::new();
    for interaction in interactions.each().filter(|_| !issued.is_empty()) {
        for (name, value) in interaction.request.headers.iter() {
            let value = text(value);
            let mut carried = carried(name, &value).into_iter();
            if carried.any(|at| issued.contains(&value[at])) && may_count(name, rules) {
                found.insert(header::lowercase(name).into_owned());
            }
        }
    }
    found.into_iter().collect()
}

/// Where the names are that a field carries, if nothing else in it may be another one each time: a time, a count.
/// A number is a name where the field is called like what refers to something (`X-Project-Id`).
pub(super) fn carried(name: &str, value: &str) -> Vec<Range<usize>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if is_number(value) && refers(&header::lowercase(name)) {
        return std::iter::once(0..value.len()).collect();
    }
    let mut words: Vec<_> = words(value).collect();
    let ends = words.iter().map(|word| word.start).chain([value.len()]);
    let starts = [0].into_iter().chain(words.iter().map(|word| word.end));
    let has_digit =
        |(start, end): (usize, usize)| value[start..end].contains(|c: char| c.is_ascii_digit());
    if starts.zip(ends).any(has_digit) {
        words.clear();
    }
    words
}

/// Whether a field does not count yet, marks no attempt, and nobody has said anything about it.
pub(super) fn may_count(name: &str, rules: &Rules) -> bool {
    let mut named = rules.headers().iter();
    !header::counts(name)
        && Meaning::of(name) != Meaning::Mark
        && rules.of_header(name).is_none()
        && !named.any(|named| named.eq_ignore_ascii_case(name))
}
