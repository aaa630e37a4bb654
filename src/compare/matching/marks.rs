//! By what clients mark their requests.

use crate::cassette::Headers;
use crate::cassette::reading::hash::hash_of;
use crate::cassette::reading::header;
use crate::identity::names::Template;
use crate::identity::{Meaning, Scope, identifiers, may_mark};

/// The fields by which the client marks the request in its header (`idempotency-key`, `x-request-id`),
/// by place. They do not count; the server may give them back.
pub(super) fn of(headers: &Headers) -> impl Iterator<Item = (u64, &str)> {
    let marks = headers.iter().filter(|(name, _)| Meaning::of(name) == Meaning::Mark);
    marks.filter_map(|(name, value)| {
        Some((hash_of(&*header::lowercase(name)), std::str::from_utf8(value).ok()?))
    })
}

/// What the value of such a field is made of.
pub(super) fn template(place: u64, text: &str) -> Template {
    let words = identifiers(text).map(|range| (range, Scope::Anywhere));
    let mut words: Vec<_> = words.collect();
    if words.is_empty() && may_mark(text) {
        words.push((0..text.len(), Scope::Word));
    }
    Template::of_text(place, text, words)
}
