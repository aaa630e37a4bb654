//! Rows: what lists have that comes again and again because it is kept.

use std::collections::BTreeMap;

use super::evidence::Witness;
use super::sample::{Element, Sample};
use crate::text::json::Text;

/// An element of a list and who has seen it.
pub(super) type SeenSample<'s> = (&'s Sample<'s>, Witness);

/// The elements of lists, with no row more than twice: by two recordings, if it is in two.
///
/// # Rationale
///
/// A server that has three customers shows the same three in every recording. They say no more of what a
/// customer may look like when thirty recordings show them. That a row came again is known; how often
/// says nothing. Rows stand for different recordings, as far as there are any: each is evidence of its own.
pub(super) fn independent<'s>(
    elements: Vec<(&'s Element<'s>, Witness)>,
    recording: impl Fn(Witness) -> u32,
) -> Vec<SeenSample<'s>> {
    let mut rows: BTreeMap<&str, Vec<SeenSample<'s>>> = BTreeMap::new();
    let mut seen = Vec::new();
    for (element, witness) in elements {
        match element.row {
            Some(row) => rows.entry(row).or_default().push((&element.value, witness)),
            None => seen.push((&element.value, witness)),
        }
    }
    for (number, (_, mut again)) in rows.into_iter().enumerate() {
        again.sort_by_key(|(_, witness)| recording(*witness));
        again.dedup_by_key(|(_, witness)| recording(*witness));
        let count = again.len();
        seen.extend((number..number + count.min(2)).map(|at| again[at % count]));
    }
    seen
}

/// What an object is called, if it has an identity.
pub(crate) fn identity(value: Text<'_>) -> Option<String> {
    let sample = Sample::of(value);
    sample.is_row().then(|| sample.identity().unwrap_or_default().to_owned())
}
