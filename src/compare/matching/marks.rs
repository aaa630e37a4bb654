//! By what clients mark their requests.

use crate::cassette::Headers;
use crate::cassette::reading::hash::hash_of;
use crate::cassette::reading::header;
use crate::identity::names::{Names, Template};
use crate::identity::{Scope, identifiers, may_mark};

/// The fields by which the client marks the request in its header (`idempotency-key`, `x-request-id`), or that it
/// reads again (`x-amz-meta-owner`), by place. They do not count; the server may give them back.
pub(super) fn of<'h>(headers: &'h Headers, names: &Names) -> impl Iterator<Item = (u64, &'h str)> {
    let marks = headers.iter().filter(|(name, _)| names.is_mark(name));
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
