//! What refers to a row of a list in the same message: `parent` to another row, `first_id` to the first one.
//!
//! # Rationale
//!
//! What servers mint is never the same by chance, so few recordings show it. But a page may end before what its rows
//! refer to, and a small one shows that late: more of them have to.

use std::collections::{BTreeMap, HashSet};

use super::claim::{Field, Invariant, Referred};
use super::holding::{CHANCES, Trials};
use super::learn::{FieldNumbers, Map, Sight, Sights, keys};
use super::sorted::is_of_row;
use super::trace::RowNumber;

/// A message with more fields that identify something is no list of things that refer to each other.
const MOST: usize = 16;

/// How often what a field says is said by the rows of a list, by the numbers of the paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Within(BTreeMap<(u32, u32), Trials>);

impl Within {
    /// Learns from messages that are answers by themselves.
    pub(super) fn learn(&mut self, names: &FieldNumbers, recording: u32, events: &[Sights<'_>]) {
        for (_, sights) in events {
            let mut fields: Map<u32, Vec<(&Sight<'_>, &str)>> = Map::default();
            keys(sights).for_each(|it| fields.entry(it.0.path).or_default().push(it));
            if fields.len() > MOST {
                continue;
            }
            for (to, rows) in fields.iter().filter(|(to, _)| is_of_row(names.spelled(**to))) {
                let said: HashSet<&str> = rows.iter().map(|(_, key)| *key).collect();
                for (from, all) in fields.iter().filter(|(from, _)| *from != to) {
                    let is_said = all.iter().all(|(_, key)| said.contains(key));
                    let is_own = |row: RowNumber, key: &str| {
                        rows.iter().any(|(it, own)| it.row == row && *own == key)
                    };
                    let is_other = || all.iter().any(|(it, key)| !is_own(it.row, key));
                    if !is_said || said.len() > 1 && is_other() {
                        self.0.entry((*from, *to)).or_default().see(recording, is_said);
                    }
                }
            }
        }
    }

    /// What was always said by a row, and not by its own alone: by the list with the shortest name.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let mut found: BTreeMap<u32, u32> = BTreeMap::new();
        for ((from, to), _) in self.0.iter().filter(|(_, seen)| seen.hold(CHANCES)) {
            let best = found.entry(*from).or_insert(*to);
            *best =
                [*best, *to].into_iter().min_by_key(|it| names.spelled(*it).len()).unwrap_or(*to);
        }
        let field = |path: u32| Field::of_all(names.spelled(path));
        let refers =
            |(from, to): (u32, u32)| Invariant::Refers(field(from), field(to), Referred::Some);
        found.into_iter().map(refers).collect()
    }
}
