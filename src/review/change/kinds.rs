//! Objects of a kind that none was before.

use std::collections::HashSet;

use crate::contract::shape::{Fault, Schema, Violation};
use crate::message::telling;

/// What a value breaks, where all that an object of another kind breaks is one thing.
///
/// # Rationale
///
/// A field that is named like a type tells no kinds apart as long as it says one word. Where another one comes beside
/// it, the object that says it is of a kind of its own: that it has other fields is no news of the known kind.
pub(super) fn together(mut found: Vec<Violation>, old: &Schema, new: &Schema) -> Vec<Violation> {
    let kinds = (0..found.len()).filter_map(|number| other_kind(&found, number, old, new));
    let kinds: Vec<Violation> = kinds.collect();
    let others: HashSet<&str> = kinds.iter().map(around).collect();
    found.retain(|it| others.is_empty() || !is_within_any(it, &others));
    found.extend(kinds);
    found
}

/// The object of another kind, if the word that breaks the shape tells one.
fn other_kind(found: &[Violation], number: usize, old: &Schema, new: &Schema) -> Option<Violation> {
    let word = &found[number];
    let (name, place) = word.place.split_last()?;
    if word.fault != Fault::Word || !telling::is_kind(name) {
        return None;
    }
    let words = [old, new].map(|side| side.words_at(place, name));
    let both_come = !words[0].is_disjoint(&words[1]);
    (both_come && breaks_else(found, number)).then(|| Violation {
        place: place.to_vec(),
        fault: Fault::Branch,
        ..word.clone()
    })
}

/// Whether anything else is broken in the object around a word than that it has new fields.
fn breaks_else(found: &[Violation], number: usize) -> bool {
    let object = around(&found[number]);
    let is_inside = |it: &&Violation| is_within(it, object);
    // What is found in one object comes in one piece.
    let before = found[..number].iter().rev().take_while(is_inside);
    let after = found[number + 1..].iter().take_while(is_inside);
    before.chain(after).any(|it| !matches!(it.fault, Fault::Unknown | Fault::Other))
}

/// The object in which a field stands, as a JSON Pointer.
fn around(field: &Violation) -> &str {
    field.pointer.rsplit_once('/').map_or("", |(around, _)| around)
}

fn is_within(it: &Violation, object: &str) -> bool {
    let rest = it.pointer.strip_prefix(object);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_within_any(it: &Violation, objects: &HashSet<&str>) -> bool {
    let ends = it.pointer.match_indices('/').map(|(at, _)| at);
    ends.chain([it.pointer.len()]).any(|end| objects.contains(&it.pointer[..end]))
}
