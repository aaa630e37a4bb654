//! What is known of a field, and what holds: what never failed, without what follows from something
//! else.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::alone::{Alone, PriorValue};
use super::claim::{Field, Invariant, Path, Referred};
use super::learn::{Counted, Learner};
use super::sorted::is_of_row;
use super::trace::Comparable;
use crate::identity::{Meaning, refers};

/// An invariant had at least so many chances to fail.
pub const CHANCES: u64 = 5;

/// So many rows follow others, where each is one more than the one before.
const ROWS: u64 = 12;

/// What is known of a field.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// How often it identified something, and how many things in each trace, added up.
    pub(super) keys: u64,
    pub(super) distinct: u64,
    /// By what may hold.
    alone: [Chances; Alone::ALL.len()],
    /// What it says in all traces, if that is the same.
    pub(super) single: Single,
    pub(super) repeats: Repeats,
    /// Whether it said a number that can be no time since 1970.
    is_no_time: bool,
    /// Whether it said a text that is neither a number nor a time: numbers among such texts are words of them.
    pub(super) is_text: bool,
    /// Whether several rows of one message have it.
    is_of_rows: bool,
    /// Whether the number is one more in each row of a list.
    rows: Chances,
}

/// How often a field says what it has said in any trace, as hashes, and how many things of one trace could be the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    said: HashMap<u64, u32, RandomState>,
    pairs: u64,
}

/// With more things than these none is said again by chance.
const MOST_SAID: usize = 1 << 12;

/// So many repetitions chance brings, if it brings none only one time in twenty (Poisson).
const NO_CHANCE: f64 = 3.0;

/// How often something could have failed, and how often it held.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chances {
    had: u64,
    held: u64,
}

/// Independent recordings in which something could have failed, and whether it ever did.
#[derive(Debug, Clone, Default)]
pub(super) struct Trials {
    recordings: BTreeSet<u32>,
    is_broken: bool,
}

/// How often a field said what another one had said before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reference {
    pub(super) found: u64,
    /// How many of the things that the other one identified were referred to.
    pub(super) referred: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Single {
    #[default]
    Unseen,
    Only(String),
    Several,
}

impl Facts {
    /// It says something behind what it said before.
    pub(super) fn see(&mut self, before: PriorValue<'_>, now: &Comparable<'_>) {
        self.is_of_rows |= before.is_row;
        self.is_no_time |= match now.counted() {
            Some(number) => !may_be_time(number),
            None => now.moment().is_none(),
        };
        for (chances, alone) in self.alone.iter_mut().zip(Alone::ALL) {
            if let Some(held) = alone.holds(before, now) {
                chances.count(held);
            }
        }
    }

    /// A row of a list is called so: as none of the others before it, or as one of them.
    pub(super) fn see_row(&mut self, is_new: bool, others: usize) {
        self.alone[Alone::Unique as usize].count(is_new);
        self.repeats.beside(others);
    }

    /// A row of a list says one number behind the other.
    pub(super) fn see_next_row(&mut self, before: f64, now: f64) {
        self.rows.count(Alone::follows(before, now));
    }

    fn of(&self, alone: Alone) -> Chances {
        self.alone[alone as usize]
    }

    /// What holds, that which says most. That a field says the same in all traces is told by its shape; a
    /// number that never changes does not count anything.
    fn claim(&self) -> Option<Alone> {
        let several = self.single == Single::Several;
        let holds = |alone: &Alone| match alone {
            Alone::Constant | Alone::Unique => self.of(*alone).hold() && several,
            Alone::Counting if self.rows.had > 0 => self.rows.hold() && self.rows.had >= ROWS,
            _ if self.is_of_rows || self.is_text => false,
            Alone::NotDecreasing => {
                self.of(*alone).hold() && self.of(Alone::Increasing).held >= CHANCES
            }
            // Two things may happen at once.
            Alone::Counting | Alone::Increasing => self.of(*alone).hold() && self.is_no_time,
        };
        Alone::ALL.into_iter().find(holds)
    }
}

/// Whether a number may be the time since 1970, in seconds, milliseconds or what is smaller, between 2001 and 2096.
fn may_be_time(number: f64) -> bool {
    const UNITS: [f64; 4] = [1e9, 1e12, 1e15, 1e18];
    UNITS.iter().any(|unit| (*unit..4.0 * unit).contains(&number))
}

impl Chances {
    pub(super) fn count(&mut self, held: bool) {
        self.had += 1;
        self.held += u64::from(held);
    }

    /// Whether it held in all of so many.
    pub(super) fn always(self, times: u64) -> bool {
        self.hold() && self.held == times
    }

    pub(super) fn hold(self) -> bool {
        self.had >= CHANCES && self.held == self.had
    }
}

impl Trials {
    /// It could have failed in a recording. More recordings than a few do not tell more.
    pub(super) fn see(&mut self, recording: u32, held: bool) {
        self.is_broken |= !held;
        if (self.recordings.len() as u64) < CHANCES {
            self.recordings.insert(recording);
        }
    }

    /// Whether it never did, in so many recordings, which are no more than [`CHANCES`].
    pub(super) fn hold(&self, fewest: u64) -> bool {
        !self.is_broken && self.recordings.len() as u64 >= fewest
    }
}

impl Repeats {
    /// It says this, by its hash.
    pub(super) fn say(&mut self, key: u64) {
        if self.said.len() < MOST_SAID || self.said.contains_key(&key) {
            *self.said.entry(key).or_default() += 1;
        }
    }

    /// Something else was said in the same trace by as many as these.
    pub(super) fn beside(&mut self, others: usize) {
        self.pairs += others as u64;
    }

    /// Whether it is no chance that no trace says anything twice: what is the same in several traces, as quantities
    /// are, would be so within one as well. The estimate is that of Simpson (Nature, 1949).
    fn are_apart(&self) -> bool {
        self.said.values().all(|count| *count == 1) || self.are_apart_by_evidence()
    }

    /// The same where something is said again at all.
    fn are_apart_by_evidence(&self) -> bool {
        let all = self.said.values().map(|count| f64::from(*count)).sum::<f64>();
        let again: f64 =
            self.said.values().map(|count| f64::from(*count)).map(|it| it * (it - 1.0)).sum();
        self.pairs as f64 * again / (all * (all - 1.0)) >= NO_CHANCE
    }
}

impl Single {
    /// It says this.
    pub(super) fn see(&mut self, said: &str) {
        match self {
            Self::Unseen => *self = Self::Only(said.to_owned()),
            Self::Only(only) if only == said => {}
            _ => *self = Self::Several,
        }
    }
}

impl Learner {
    /// What holds in all traces so far, without what follows from something else that does: in the
    /// order constant, increasing, unique, equal to the request, referring, tied.
    pub fn finish(&self) -> Vec<Invariant> {
        let mut found = self.counted().holding();
        found.extend(self.tied());
        found.sort();
        found
    }
}

impl Counted<'_> {
    fn holding(&self) -> Vec<Invariant> {
        let mut found: Vec<Invariant> =
            self.fields.iter().filter_map(|(field, facts)| self.alone(field, facts)).collect();
        found.extend(self.fields.iter().filter_map(|(field, facts)| self.reference(field, facts)));
        let told = |field: &Field| {
            self.of_all(field).is_some_and(|all| all.of(Alone::Constant).hold())
                || found.iter().any(|it| matches!(it, Invariant::Refers(from, ..) if from == field))
        };
        let mut earlier = self.referring.holding();
        earlier.retain(|it| !matches!(it, Invariant::RefersEarlier(field, _) if told(field)));
        found.extend(earlier);
        found
    }

    /// The most telling thing that holds of a field alone.
    fn alone(&self, field: &Field, facts: &Facts) -> Option<Invariant> {
        let claim = facts.claim()?;
        let name = field.path.last().trim_end_matches("[]");
        // An identifier is one by its name.
        let is_named = refers(name) || Meaning::of(name) == Meaning::Identity;
        let is_of_row = is_of_row(field.path.as_str()) && field.tag.is_none();
        let is_lost = match claim {
            // Rows may be called apart and still refer to the same thing, where no client has it so yet.
            Alone::Unique if is_of_row && name != "id" => {
                let is_own = field.path.as_str().ends_with(&format!("[].{name}"));
                !(is_own && is_named && facts.repeats.are_apart_by_evidence())
            }
            Alone::Unique => !is_named && !facts.repeats.are_apart(),
            // What counts the things of a server goes on only as long as none is taken out.
            Alone::Counting => is_of_row && is_named,
            // Types that come one behind the other have numbers of their own, which may grow by chance.
            Alone::Increasing | Alone::NotDecreasing => {
                self.of_all(field).is_some() && field.tag.is_none() && !self.is_repeated(field)
            }
            _ => false,
        };
        if is_lost {
            return None;
        }
        let follows = match self.of_all(field) {
            // It is the only type that has the field: the field of that type says more.
            None => field.tag.is_none() && self.types(field).next().is_some(),
            Some(all) => field.tag.is_some() && all.claim().is_some_and(|all| all <= claim),
        };
        (!follows).then(|| Invariant::Alone(claim, field.clone()))
    }

    /// Whether messages of one type often have the field one behind the other.
    fn is_repeated(&self, field: &Field) -> bool {
        let types = self.types(field).filter_map(|field| self.fields.get(field));
        types.map(|facts| facts.of(Alone::NotDecreasing).had).sum::<u64>() >= CHANCES
    }

    fn reference(&self, field: &Field, facts: &Facts) -> Option<Invariant> {
        let constant = self.of_all(field).is_some_and(|all| all.of(Alone::Constant).hold());
        if facts.keys < CHANCES || facts.single != Single::Several || constant {
            return None;
        }
        let candidates = self.references.iter().filter(|((from, _), _)| from == field);
        let holding = candidates.filter(|((_, to), reference)| {
            // What several messages have in common is a reference to one that says it once, as the first of them:
            // as often as there are things, however many pieces each has.
            let is_opened = || {
                facts.distinct >= CHANCES
                    && !self.groups(&field.path)
                    && self.fields.get(to).is_some_and(|facts| facts.keys == facts.distinct)
            };
            reference.found == facts.keys && (to.path != field.path || is_opened())
        });
        let ((_, to), reference) = holding.min_by_key(|((_, to), _)| {
            (
                to.path.last() != field.path.last(),
                self.refers(to),
                to.path.as_str().len(),
                to.clone(),
            )
        })?;
        let all = self.fields.get(to).is_some_and(|facts| facts.distinct == reference.referred);
        let referred = if all { Referred::Each } else { Referred::Some };
        Some(Invariant::Refers(field.clone(), to.clone(), referred))
    }

    /// Whether a field says what a message is itself, or what it belongs to: all types that identify
    /// anything have it.
    fn groups(&self, path: &Path) -> bool {
        let tags = |of: Option<&Path>| -> BTreeSet<&str> {
            let fields = self.fields.iter().filter(|(field, facts)| {
                facts.keys > 0 && of.is_none_or(|path| field.path == *path)
            });
            fields.filter_map(|(field, _)| field.tag.as_deref()).collect()
        };
        tags(Some(path)).len() > 2 && tags(Some(path)) == tags(None)
    }

    /// Whether what a field says has always been said by another one before.
    fn refers(&self, field: &Field) -> bool {
        let keys = self.fields.get(field).map_or(0, |facts| facts.keys);
        self.references
            .iter()
            .any(|((from, _), reference)| from == field && reference.found == keys)
    }

    /// The same field in events of all types, if several types have it.
    fn of_all(&self, field: &Field) -> Option<&Facts> {
        let all = Field { tag: None, path: field.path.clone() };
        let several = self.types(field).nth(1).is_some();
        self.fields.get(&all).copied().filter(|_| several)
    }

    /// The field in messages of each type.
    fn types(&self, field: &Field) -> impl Iterator<Item = &Field> {
        self.fields.keys().filter(|other| other.tag.is_some() && other.path == field.path)
    }
}
