//! Where the numbers begin that say a place: with 0.
//!
//! # Rationale
//!
//! Clients put what comes into a list at its `index`. A server that counts from 1 all at once keeps to every shape.
//! Other numbers are 0 at first by chance, so only fields that are called so are looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{At, Broken, Check};
use super::claim::{Field, Invariant};
use super::holding::{CHANCES, Trials};
use super::learn::{FieldNumbers, Sights};

/// What such fields say first, by the numbers of their paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Beginnings(BTreeMap<u32, Trials>);

impl Beginnings {
    /// Learns from the messages of an answer.
    pub(super) fn learn(&mut self, names: &FieldNumbers, recording: u32, events: &[Sights<'_>]) {
        let mut seen = BTreeSet::new();
        for sight in events.iter().flat_map(|(_, sights)| sights) {
            let Some(number) = sight.value.counted() else { continue };
            if !is_index(names.spelled(sight.path)) || !seen.insert(sight.path) {
                continue;
            }
            self.0.entry(sight.path).or_default().see(recording, number == 0.0);
        }
    }

    /// Which of them always began with 0.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let all = self.0.iter().filter(|(_, trials)| trials.hold(CHANCES));
        all.map(|(path, _)| Invariant::Begins(Field::of_all(names.spelled(*path)))).collect()
    }
}

/// Whether a field is called like the place of something.
pub(in crate::contract) fn is_index(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    name == "index" || name.ends_with("_index") || name.ends_with("Index")
}

impl Check<'_> {
    /// The first of such numbers, if it is not 0.
    pub(super) fn begun_otherwise(&self, field: &Field) -> Broken<'_> {
        let number = |at: &At<'_>| at.value.counted();
        let first = self.all(field).into_iter().find(|at| number(at).is_some());
        first.filter(|at| number(at) != Some(0.0)).map(|at| (at, None)).into_iter().collect()
    }
}
