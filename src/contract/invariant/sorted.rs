//! Lists whose rows are in order.
//!
//! # Rationale
//!
//! A list is in the order of one of its fields, and others may follow that one: what was created later was mostly changed
//! later, too. Which it is, no recording shows. So the promise is that one of those holds that never were otherwise. Rows
//! that say the same in this field and in words count once, however many recordings read them. Twelve lists of two rows
//! are in one order by chance once in 2,048 times for a field; longer lists more seldom: of `n` rows one order in `n!` is
//! this one.
//!
//! Where no field always is in order, the client may say in which one it wants the rows: then they are so wherever a word
//! of the request is the same, or two words.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::{FixedState, RandomState};

use super::check::{At, Broken, Check};
use super::claim::{Asked, Field, Invariant, Path, With};
use super::learn::{FieldNumbers, Map, Sight};
use super::presence::conditions;
use super::trace::{Comparable, RowNumber};
use crate::identity::Meaning;
use crate::text::date::fits;

/// So many different pairs of rows have to be in order.
const FEWEST: usize = 12;

/// More pairs than these are not told apart.
const MOST: usize = 64;

/// With more ways to ask than these, no word decides, and one of more words is no choice.
const MOST_WAYS: usize = 64;
const MOST_WORDS: usize = 8;

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
pub(super) struct Sorted {
    always: FieldOrders,
    /// By what the request said in words, in the order of the places; none if clients ask in too many ways.
    asked: BTreeMap<Vec<Asked>, FieldOrders>,
    has_many_ways: bool,
}

/// By the numbers of their paths.
type FieldOrders = Map<u32, FieldOrder>;

/// How a field went from row to row.
#[derive(Debug, Clone, Default)]
struct FieldOrder {
    /// The pairs of rows that differ in it.
    pairs: HashSet<u64, RandomState>,
    /// In which directions it never went.
    broken: [bool; Direction::ALL.len()],
}

impl Sorted {
    /// Learns from the values of messages, and what was asked.
    pub(super) fn learn<'s, 'j: 's>(
        &mut self,
        names: &FieldNumbers,
        request: Option<&str>,
        messages: impl Iterator<Item = &'s [Sight<'j>]>,
    ) {
        let mut seen = FieldOrders::default();
        messages.for_each(|sights| see(&mut seen, names, sights));
        if seen.is_empty() {
            return;
        }
        if !self.has_many_ways {
            add(self.asked.entry(words(request)).or_default(), &seen);
        }
        if self.asked.len() > MOST_WAYS {
            (self.has_many_ways, self.asked) = (true, BTreeMap::new());
        }
        add(&mut self.always, &seen);
    }

    /// In which order each list always was, by any field of its rows, or wherever the same was asked.
    pub(super) fn holding(&self, names: &FieldNumbers) -> impl Iterator<Item = Invariant> {
        let always = in_order(&self.always, names);
        let mut asked: BTreeMap<(&str, Vec<Asked>), SortFields> = BTreeMap::new();
        for words in self.deciding() {
            let mut here = FieldOrders::default();
            let all = self.asked.iter().filter(|(said, _)| words.iter().all(|it| it.is_in(said)));
            all.for_each(|(_, seen)| add(&mut here, seen));
            for (list, keys) in in_order(&here, names) {
                // What holds with one word holds with that and another one.
                let is_told = |told: &[Asked]| told.iter().all(|it| words.contains(it));
                let mut told = asked.keys().filter(|(of, _)| *of == list).map(|(_, words)| words);
                if !always.contains_key(list) && !told.any(|words| is_told(words)) {
                    asked.insert((list, words.clone()), keys);
                }
            }
        }
        let asked = asked.into_iter().map(|((_, words), keys)| Invariant::Sorted(keys, words));
        always.into_values().map(|keys| Invariant::Sorted(keys, Vec::new())).chain(asked)
    }

    /// What a request may say that decides: each word in a place that says several or none at times, and then each two of
    /// them. What all of these requests say beside them decides with them: which of it no recording shows.
    fn deciding(&self) -> Vec<Vec<Asked>> {
        let said: BTreeSet<&Asked> = self.asked.keys().flatten().collect();
        let none = said.iter().map(|it| Asked { path: it.path.clone(), says: None });
        let single: BTreeSet<Asked> = said.iter().map(|it| (*it).clone()).chain(none).collect();
        let is_choice = |place: &Path| {
            (1..=MOST_WORDS).contains(&said.iter().filter(|it| it.path == *place).count())
        };
        // In which of the ways to ask a word is said: a bit for each.
        let ways = |word: &Asked| -> u64 {
            let ways = self.asked.keys().zip(0..MOST_WAYS);
            ways.map(|(said, at)| u64::from(word.is_in(said)) << at).sum()
        };
        let all = u64::MAX >> (MOST_WAYS - self.asked.len().clamp(1, MOST_WAYS));
        let words = single.into_iter().filter(|word| is_choice(&word.path));
        let words = words.map(|word| (ways(&word), word)).filter(|(ways, _)| *ways != all);
        let words: Vec<(u64, Asked)> = words.collect();
        let both = words.iter().enumerate().flat_map(|(at, (ways, one))| {
            let others = words[at + 1..].iter().filter(|(_, other)| other.path != one.path);
            others.map(move |(others, _)| ways & others)
        });
        let decided: BTreeSet<u64> = words.iter().map(|(ways, _)| *ways).chain(both).collect();
        let said_in = |decided: &u64| -> Vec<Asked> {
            let said = words.iter().filter(|(ways, _)| ways & decided == *decided);
            said.map(|(_, word)| word.clone()).collect()
        };
        let mut deciding: Vec<Vec<Asked>> =
            decided.iter().filter(|ways| **ways != 0).map(said_in).collect();
        deciding.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        deciding
    }
}

/// The fields by one of which a list is in order.
type SortFields = Vec<(Field, Direction)>;

/// The lists that are in order, each by fields of its rows.
fn in_order<'n>(seen: &FieldOrders, names: &'n FieldNumbers) -> BTreeMap<&'n str, SortFields> {
    let mut lists: BTreeMap<&str, SortFields> = BTreeMap::new();
    for (field, seen) in seen.iter().filter(|(_, seen)| seen.pairs.len() >= FEWEST) {
        let holding = Direction::ALL.into_iter().zip(seen.broken);
        for (direction, _) in holding.filter(|(_, broken)| !broken) {
            let path = names.spelled(*field);
            lists.entry(list(path)).or_default().push((Field::of_all(path), direction));
        }
    }
    lists.values_mut().for_each(|keys| keys.sort());
    lists
}

/// How the fields of the rows of a message go.
fn see(seen: &mut FieldOrders, names: &FieldNumbers, sights: &[Sight<'_>]) {
    let mut last: Map<u32, &Sight<'_>> = Map::default();
    let mut words: Map<RowNumber, u64> = Map::default();
    for sight in sights.iter().filter(|sight| is_of_row(names.spelled(sight.path))) {
        if let Comparable::Text(text) = sight.value
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
        let FieldOrder { pairs, broken } = seen.entry(sight.path).or_default();
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

fn add(all: &mut FieldOrders, more: &FieldOrders) {
    for (field, FieldOrder { pairs, broken }) in more {
        let seen = all.entry(*field).or_default();
        seen.broken.iter_mut().zip(broken).for_each(|(all, more)| *all |= more);
        let room = MOST.saturating_sub(seen.pairs.len());
        seen.pairs.extend(pairs.iter().take(room));
    }
}

/// What a request says in words, by place. Where it says two, none of them decides.
fn words(request: Option<&str>) -> Vec<Asked> {
    let said = conditions(request, "null").into_iter();
    let said = said.filter_map(|With { path, says, .. }| Some((path, says?)));
    // Whose rows these are, the path says.
    let is_plain = |(path, _): &(Path, String)| {
        Meaning::of(path.last()) == Meaning::Plain && !path.as_str().starts_with('{')
    };
    let words = said.filter(is_plain).map(|(path, says)| Asked { path, says: Some(says) });
    let words: Vec<Asked> = words.collect();
    let is_one = |it: &&Asked| words.iter().filter(|word| word.path == it.path).count() == 1;
    words.iter().filter(is_one).cloned().collect()
}

impl Asked {
    /// Whether a request says it that says this in words.
    fn is_in(&self, said: &[Self]) -> bool {
        match &self.says {
            Some(_) => said.contains(self),
            None => said.iter().all(|it| it.path != self.path),
        }
    }

    /// Whether a request says all of these.
    pub(super) fn all_said(all: &[Self], request: Option<&str>) -> bool {
        all.is_empty() || {
            let said = words(request);
            all.iter().all(|it| it.is_in(&said))
        }
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
fn ordering(one: &Comparable<'_>, other: &Comparable<'_>) -> Option<Ordering> {
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
