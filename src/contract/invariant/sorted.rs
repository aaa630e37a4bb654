//! Lists whose rows are in order.
//!
//! # Rationale
//!
//! A list is in the order of one of its fields, and others may follow that one: what was created later was mostly changed
//! later, too. Which it is, no recording shows. So the promise is that one of those holds that never were otherwise. Rows
//! that say the same in this field and in words count once, however many recordings read them. Twelve lists of two rows
//! are in one order by chance once in 2,048 times for a field; longer lists more seldom: of `n` rows one order in `n!` is
//! this one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::{FixedState, RandomState};

use super::check::{At, Broken, Check};
use super::claim::{Field, Invariant, Path};
use super::learn::{Map, Names, Sight};
use super::trace::{Row, Value};
use crate::identity::Meaning;
use crate::text::date::fits;

/// So many different pairs of rows have to be in order.
const FEWEST: usize = 12;

/// More pairs than these are not told apart.
const MOST: usize = 64;

/// What stands behind the name of a list.
const ELEMENTS: &str = "[]";

/// How a field goes from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// It never falls.
    Rising,
    /// It never rises.
    Falling,
}

impl Direction {
    pub(super) const ALL: [Self; 2] = [Self::Rising, Self::Falling];

    /// How it is written.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
        }
    }

    /// Whether it allows that a row stands so to the next one.
    fn allows(self, ordering: Ordering) -> bool {
        match self {
            Self::Rising => ordering.is_le(),
            Self::Falling => ordering.is_ge(),
        }
    }
}

/// The fields of the rows of lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Sorted(Map<u32, Seen>);

/// How a field went from row to row.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// The pairs of rows that differ in it.
    pairs: HashSet<u64, RandomState>,
    /// In which directions it never went.
    broken: [bool; Direction::ALL.len()],
}

impl Sorted {
    /// Learns from the values of a message.
    pub(super) fn learn(&mut self, names: &Names, sights: &[Sight<'_>]) {
        let mut last: Map<u32, &Sight<'_>> = Map::default();
        let mut words: Map<Row, u64> = Map::default();
        for sight in sights.iter().filter(|sight| is_of_row(names.spelled(sight.path))) {
            if let Value::Text(text) = sight.value
                && Meaning::of(Path::written(names.spelled(sight.path)).last()) == Meaning::Plain
            {
                let known = words.entry(sight.row).or_default();
                *known = FixedState::default().hash_one((*known, text));
            }
        }
        for sight in sights.iter().filter(|sight| is_of_row(names.spelled(sight.path))) {
            let Some(other) = last.insert(sight.path, sight) else { continue };
            let before = &other.value;
            let ordering = ordering(before, &sight.value);
            let Some(ordering) = ordering.filter(|it| it.is_ne()) else { continue };
            let Seen { pairs, broken } = self.0.entry(sight.path).or_default();
            for (broken, direction) in broken.iter_mut().zip(Direction::ALL) {
                *broken |= !direction.allows(ordering);
            }
            if pairs.len() < MOST {
                let both = [before, &sight.value].map(|it| it.counted().map(f64::to_bits));
                let said = [before, &sight.value].map(|it| it.said());
                let words = [other, sight].map(|it| words.get(&it.row));
                pairs.insert(FixedState::default().hash_one((both, said, words)));
            }
        }
    }

    /// In which order each list always was, by any field of its rows.
    pub(super) fn holding(&self, names: &Names) -> impl Iterator<Item = Invariant> {
        let mut lists: BTreeMap<&str, Vec<(Field, Direction)>> = BTreeMap::new();
        for (field, seen) in self.0.iter().filter(|(_, seen)| seen.pairs.len() >= FEWEST) {
            let holding = Direction::ALL.into_iter().zip(seen.broken);
            for (direction, _) in holding.filter(|(_, broken)| !broken) {
                let path = names.spelled(*field);
                let field = Field { tag: None, path: Path::written(path) };
                lists.entry(list(path)).or_default().push((field, direction));
            }
        }
        lists.into_values().map(|mut keys| {
            keys.sort();
            Invariant::Sorted(keys)
        })
    }
}

impl Check<'_> {
    /// The first row that is out of order by the first of these fields, if it is so by each.
    pub(super) fn unsorted(&self, keys: &[(Field, Direction)]) -> Broken<'_> {
        let broken = keys.iter().map(|(field, direction)| {
            let all: Vec<At<'_>> = self.all(field);
            let mut pairs = all.iter().zip(all.iter().skip(1));
            let wrong = pairs.find(|(one, other)| {
                one.event == other.event
                    && ordering(one.value, other.value).is_some_and(|it| !direction.allows(it))
            });
            wrong.map(|(one, other)| (*other, Some(*one)))
        });
        let broken: Option<Broken<'_>> = broken.collect();
        broken.unwrap_or_default().into_iter().take(1).collect()
    }
}

/// The list in whose rows a field stands: `data[]` of `data[].created`.
pub(super) fn list(path: &str) -> &str {
    path.find(ELEMENTS).map_or("", |at| &path[..at + ELEMENTS.len()])
}

/// Whether a field stands in the rows of a list, and in no list within.
pub(super) fn is_of_row(path: &str) -> bool {
    path.matches(ELEMENTS).count() == 1 && !path.ends_with(ELEMENTS)
}

/// How numbers follow each other, or times that are written alike.
fn ordering(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (one.counted(), other.counted()) {
        return one.partial_cmp(&other);
    }
    let (one, other) = (one.said()?, other.said()?);
    let is_time = |said: &str| {
        said.as_bytes().get(..SECONDS.len()).is_some_and(|seconds| fits(seconds, SECONDS))
    };
    let are_alike = one.len() == other.len() && one.ends_with('Z') == other.ends_with('Z');
    (are_alike && is_time(&one) && is_time(&other)).then(|| one.cmp(&other))
}

const SECONDS: &str = "0000-00-00T00:00:00";
