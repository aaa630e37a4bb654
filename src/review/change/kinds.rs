//! Objects of a kind that none was before.

use crate::contract::shape::{Fault, Schema, Violation};
use crate::message::telling;

/// What a value breaks, where all that an object of another kind breaks is one thing.
///
/// # Rationale
///
/// A field that is named like a type tells no kinds apart as long as it says one word. Where another one comes beside
/// it, the object that says it is of a kind of its own: that it has other fields is no news of the known kind.
pub(super) fn together(mut found: Vec<Violation>, old: &Schema, new: &Schema) -> Vec<Violation> {
    let kinds = found.iter().filter_map(|it| other_kind(it, &found, old, new));
    let kinds: Vec<Violation> = kinds.collect();
    found.retain(|it| !kinds.iter().any(|kind| is_within(it, around(kind))));
    found.extend(kinds);
    found
}

/// The object of another kind, if a word tells one.
fn other_kind(
    word: &Violation,
    found: &[Violation],
    old: &Schema,
    new: &Schema,
) -> Option<Violation> {
    let (name, place) = word.place.split_last()?;
    if word.fault != Fault::Word || !telling::is_kind(name) {
        return None;
    }
    let is_new_field = |it: &Violation| matches!(it.fault, Fault::Unknown | Fault::Other);
    let is_other = |it: &Violation| it != word && is_within(it, around(word)) && !is_new_field(it);
    let words = [old, new].map(|side| side.words_at(place, name));
    let both_come = !words[0].is_disjoint(&words[1]);
    (both_come && found.iter().any(is_other)).then(|| Violation {
        place: place.to_vec(),
        fault: Fault::Branch,
        ..word.clone()
    })
}

/// The object in which a field stands, as a JSON Pointer.
fn around(field: &Violation) -> &str {
    field.pointer.rsplit_once('/').map_or("", |(around, _)| around)
}

fn is_within(it: &Violation, object: &str) -> bool {
    let rest = it.pointer.strip_prefix(object);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
