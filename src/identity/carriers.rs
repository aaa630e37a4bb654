//! Header fields that carry what a server has issued.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::decide::words;
use super::word_around;
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
            let is_issued = carried(&value).is_some_and(|at| issued.contains(&value[at]));
            if is_issued && may_count(name, rules) {
                found.insert(header::lowercase(name).into_owned());
            }
        }
    }
    found.into_iter().collect()
}

/// Where the name is that a field carries, if it is all that the field says but for quotation marks.
pub(super) fn carried(value: &str) -> Option<Range<usize>> {
    let word = words(value).next()?;
    let whole = word_around(value, word.clone());
    let (before, behind) = (value[..whole.start].trim(), value[whole.end..].trim());
    matches!((before, behind), ("", "") | ("\"", "\"")).then_some(word)
}

/// Whether a field does not count yet, and nobody has said that it never shall.
pub(super) fn may_count(name: &str, rules: &Rules) -> bool {
    let mut named = rules.headers().iter();
    !header::counts(name)
        && rules.of_header(name).is_none()
        && !named.any(|named| named.eq_ignore_ascii_case(name))
}
