//! What tells requests apart that look the same.

use super::groups::Groups;
use super::index::Entry;
use crate::cassette::reading::Reading;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::identity::Scope;
use crate::identity::names::{NodePart, Opening};

/// A whole value that tells apart requests that look the same. The ids of JSON-RPC do not: a client
/// that counts from another number on would be taken for one that asks in another order.
pub(super) fn of(reading: &Reading<'_>, opening: &Opening) -> Option<(u64, u64)> {
    let node = &reading.nodes[opening.node];
    let is_whole = opening.part == NodePart::Value && opening.range == (0..node.text.len());
    let tells = opening.scope.is_lasting() || opening.scope == Scope::Moment;
    (is_whole && tells).then(|| (node.place, hash_of(&*node.text)))
}

/// The interactions by what the client used in the places of groups that several of them have.
pub(super) fn by_value(entries: &[Entry], groups: &Groups) -> Groups {
    let has_others = |entry: &Entry| groups.get(entry.group()).is_some_and(|all| all.len() > 1);
    let several = entries.iter().enumerate().filter(|(_, entry)| has_others(entry));
    Groups::of(several.flat_map(|(number, entry)| {
        let telling = entry.telling.iter();
        telling.map(move |(place, value)| (combine(&[entry.group(), *place, *value]), number))
    }))
}
