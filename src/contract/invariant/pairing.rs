//! What says one thing for each thing that another field says: a pod of one `uid` has one `name`.
//!
//! # Rationale
//!
//! Two fields of a few messages go together by chance, and so do one that changes now and then and one that
//! changes at times. So what counts is how improbable it is. Where a field changes at all, it has to do so just
//! where the other one does: there are only so many ways to choose those places. And where the other one comes
//! back to what it said before, so has the field. A field that never changes in an answer says nothing here.
//!
//! A word that says of which kind something is goes together with it as well, until there are two kinds in one
//! thing. So what is no identifier and no number of a thing has to be a name: no two things have it, and no
//! other recording says it again.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::claim::{Field, Invariant};
use super::holding::{CHANCES, Trials};
use super::learn::{FieldNumbers, Map, Sight, Sights};
use super::number::CHANCE;
use super::tie::Tie;
use super::trace::Comparable;

/// More messages do not tell more, and one with more fields is a table.
const MESSAGES: usize = 1 << 12;
const MOST: usize = 256;

/// A longer text names nothing.
const LONGEST: usize = 128;

/// So many names of different recordings tell enough.
const NAMES: usize = 1 << 14;

/// How far fields have gone together, by the numbers of their paths: what follows first.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    all: Map<(u32, u32), Together>,
    /// In which recording a field said what is no identifier.
    named: Map<(u32, u64), u32>,
    /// The fields that say such a thing in several recordings.
    words: BTreeSet<u32>,
}

#[derive(Debug, Clone, Default)]
struct Together {
    is_broken: bool,
    /// How improbable it is by chance, in bits.
    bits: f64,
    trials: Trials,
}

/// What a field says in the messages that have it, by their numbers.
#[derive(Default)]
struct Column {
    said: Vec<(usize, u64)>,
    /// How often it identifies something, and the numbers that it says.
    keys: usize,
    numbers: Vec<f64>,
}

impl Pairs {
    pub(super) fn learn(&mut self, names: &FieldNumbers, witness: u32, events: &[Sights<'_>]) {
        let columns = columns(names, events);
        columns.iter().for_each(|(path, column)| self.name(*path, column, witness));
        for (to, key) in columns.iter().filter(|(_, column)| column.may_group()) {
            for (path, column) in columns.iter().filter(|(path, _)| *path != to) {
                let together = self.all.entry((*path, *to)).or_default();
                if together.is_broken {
                    continue;
                }
                match evidence(&both(column, key), column.is_identifier()) {
                    None => *together = Together { is_broken: true, ..Together::default() },
                    Some(bits) if bits > 0.0 => {
                        together.bits += bits;
                        together.trials.see(witness, true);
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Looks whether a field says in this recording what it says in others.
    fn name(&mut self, path: u32, column: &Column, witness: u32) {
        if column.is_identifier() || column.is_numbering() {
            return;
        }
        for (_, said) in &column.said {
            let has_room = self.named.len() < NAMES;
            let known = self.named.get(&(path, *said)).copied();
            if known.is_none() && has_room {
                self.named.insert((path, *said), witness);
            } else if known != Some(witness) {
                self.words.insert(path);
                return;
            }
        }
    }

    /// What always went together, is shown by enough recordings, and does not follow from something else.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let enough = -(CHANCE / self.all.len().max(1) as f64).log2();
        let shown = self.all.iter().filter(|((path, _), it)| {
            !it.is_broken
                && !self.words.contains(path)
                && it.bits >= enough
                && it.trials.hold(CHANCES)
        });
        let spelled = |path: u32| names.spelled(path);
        let shown: BTreeSet<(&str, &str)> =
            shown.map(|((path, to), _)| (spelled(*path), spelled(*to))).collect();
        let tied =
            |(path, to)| Invariant::Tied(Tie::OnePer, Field::of_all(path), Field::of_all(to));
        telling(&shown).into_iter().map(tied).collect()
    }
}

impl Column {
    /// Whether all that it says identifies something.
    fn is_identifier(&self) -> bool {
        self.keys == self.said.len()
    }

    /// Whether it numbers things one by one, from 0 or 1 on.
    fn is_numbering(&self) -> bool {
        let mut numbers = self.numbers.clone();
        numbers.sort_by(f64::total_cmp);
        self.numbers.len() == self.said.len()
            && numbers.first().is_some_and(|first| (0.0..=1.0).contains(first))
            && numbers.windows(2).all(|two| two[1] - two[0] <= 1.0)
    }

    /// Whether others may go with it: it identifies things, or numbers them one by one, and comes back to some of
    /// them. Two things may have the same time, or the same size.
    fn may_group(&self) -> bool {
        let different: BTreeSet<u64> = self.said.iter().map(|(_, said)| *said).collect();
        different.len() < self.said.len() && (self.is_identifier() || self.is_numbering())
    }
}

/// What a field says as far as one thing may go with another.
pub(super) fn paired(value: &Comparable<'_>) -> Option<u64> {
    let hash = FixedState::default();
    match value {
        Comparable::Key(key) => Some(hash.hash_one(key)),
        Comparable::Text(text) if text.len() <= LONGEST => Some(hash.hash_one(text)),
        Comparable::Number(number) if number.fract() == 0.0 => Some(number.to_bits()),
        Comparable::Text(_) | Comparable::Number(_) | Comparable::Length(_) => None,
    }
}

fn columns(names: &FieldNumbers, events: &[Sights<'_>]) -> BTreeMap<u32, Column> {
    let mut columns: BTreeMap<u32, Column> = BTreeMap::new();
    for (event, (_, sights)) in events.iter().enumerate().take(MESSAGES) {
        let alone = |sight: &&Sight<'_>| !names.spelled(sight.path).contains("[]");
        for sight in sights.iter().filter(alone).take(MOST) {
            if let Some(said) = paired(&sight.value) {
                let column = columns.entry(sight.path).or_default();
                column.said.push((event, said));
                match sight.value {
                    Comparable::Key(_) => column.keys += 1,
                    Comparable::Number(number) => column.numbers.push(number),
                    Comparable::Text(_) | Comparable::Length(_) => {}
                }
            }
        }
    }
    columns
}

/// What two fields say in the messages that have both.
fn both(column: &Column, key: &Column) -> Vec<(u64, u64)> {
    let mut keys = key.said.iter().peekable();
    let pair = |(event, said): &(usize, u64)| {
        while keys.next_if(|(other, _)| other < event).is_some() {}
        keys.peek().filter(|(other, _)| other == event).map(|(_, key)| (*said, *key))
    };
    column.said.iter().filter_map(pair).collect()
}

/// How improbable it is, in bits, that what is said goes with the key in this order of messages. None if it
/// does not, or if several keys say what is no identifier: a word that says of which kind they are may be
/// another one in the next message of each.
fn evidence(both: &[(u64, u64)], is_identifier: bool) -> Option<f64> {
    let (mut of_key, mut of_said): (Map<u64, u64>, Map<u64, u64>) = Default::default();
    let (mut moved, mut changed, mut bits) = (0, 0, 0.0);
    let mut last = None;
    for (said, key) in both {
        let known = of_key.insert(*key, *said);
        let is_shared = of_said.insert(*said, *key).is_some_and(|known| known != *key);
        if known.is_some_and(|known| known != *said) || is_shared && !is_identifier {
            return None;
        }
        if let Some((last_said, last_key)) = last.replace((said, key)) {
            moved += usize::from(last_key != key);
            changed += usize::from(last_said != said);
            if last_key != key && known.is_some() {
                bits += (of_said.len() as f64).log2();
            }
        }
    }
    let gaps = both.len().saturating_sub(1);
    let ways = |one: usize| ((gaps - one) as f64 / (moved - one) as f64).log2();
    Some(bits + (0..changed).map(ways).sum::<f64>())
}

/// Those that do not follow from others. Of fields that go together both ways, one stands for all.
fn telling<'n>(all: &BTreeSet<(&'n str, &'n str)>) -> Vec<(&'n str, &'n str)> {
    let is_same =
        |one: &str, other: &str| all.contains(&(one, other)) && all.contains(&(other, one));
    let before = |one: &str, other: &str| (one.len(), one) < (other.len(), other);
    let stands_for_all = |path: &str| {
        !all.iter().any(|(other, to)| *to == path && is_same(other, to) && before(other, to))
    };
    let between = |path: &str, to: &str| {
        let middle = all.iter().filter(|(of, middle)| *of == path && *middle != to);
        middle
            .filter(|(_, middle)| all.contains(&(*middle, to)))
            .any(|(_, middle)| !is_same(middle, to) && !is_same(path, middle))
    };
    let told = all.iter().copied().filter(|(path, to)| {
        let by_one = if is_same(path, to) {
            stands_for_all(path) || stands_for_all(to)
        } else {
            stands_for_all(path) && stands_for_all(to)
        };
        by_one && !between(path, to)
    });
    told.collect()
}
