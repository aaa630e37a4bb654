//! Integers that are codes: clients decide by them as by words.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Witness;
use super::schema::{Number, Schema};
use crate::message::telling;

/// There are no more of one field.
const MOST: usize = 12;

/// So many recordings show each.
const EACH: usize = 2;

/// Whether a field is called like the code of an error, or like what came of something.
pub(super) fn may_be_code(place: &[String]) -> bool {
    let names = || place.iter().map(String::as_str);
    let is_outcome = names().rfind(|step| !step.starts_with('[')).is_some_and(telling::is_outcome);
    is_outcome || telling::is_error_code(names())
}

/// What the numbers of such a field are.
pub(super) fn learn(
    schema: &mut Schema,
    said: &[(&str, Witness)],
    recordings: impl Fn(&[Witness]) -> usize,
) {
    match codes(said, recordings) {
        Some(codes) => schema.codes = codes,
        None => schema.number = said.iter().map(|(spelled, _)| Number::of(spelled)).max(),
    }
}

/// The integers, if they are few and several recordings show each: how many there are no test shows, but
/// who says one twice says it on purpose.
fn codes(
    said: &[(&str, Witness)],
    recordings: impl Fn(&[Witness]) -> usize,
) -> Option<BTreeSet<i64>> {
    let mut codes: BTreeMap<i64, Vec<Witness>> = BTreeMap::new();
    for (spelled, witness) in said {
        codes.entry(spelled.parse().ok()?).or_default().push(*witness);
    }
    let is_shown = |of: &Vec<Witness>| recordings(of) >= EACH;
    (codes.len() <= MOST && codes.values().all(is_shown)).then(|| codes.into_keys().collect())
}
