//! Finding out what holds, by counting how often it could have failed and how often it did not.
//!
//! After Daikon (Ernst et al., TSE 2001): each template is tried for each field, or pair of fields, and
//! what failed once is out.
//!
//! # Rationale
//!
//! Only counts are kept, and what holds is what never failed: as many times held as it could have
//! failed. Counts of two learners add up, so learning can be divided in any way. A pair of fields that
//! has failed can be forgotten: its count never catches up again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::claim::{Invariant, Referred};
use super::earlier::Referring;
use super::field::{Field, Path};
use super::trace::{Seen, Trace, Value, identity, seen};

/// An invariant had at least so many chances to fail.
pub const CHANCES: u64 = 5;

/// With more pairs than that, those that have failed are forgotten.
pub(super) const PAIRS: usize = 1 << 12;

/// Learns invariants from traces, one by one. What several have learned can be merged.
#[derive(Debug, Clone, Default)]
pub struct Learner {
    fields: BTreeMap<Field, Facts>,
    /// How often a field said what the request says there.
    echoes: BTreeMap<(Field, Path), u64>,
    references: BTreeMap<(Field, Field), Reference>,
    referring: Referring,
}

/// What is known of a field.
#[derive(Debug, Clone, Default)]
struct Facts {
    /// How often it identified something, and how many things in each trace, added up.
    keys: u64,
    distinct: u64,
    constant: Chances,
    unique: Chances,
    counting: Chances,
    increasing: Chances,
    not_decreasing: Chances,
    /// What it says in all traces, if that is the same.
    single: Single,
}

/// How often something could have failed, and how often it held.
#[derive(Debug, Clone, Copy, Default)]
struct Chances {
    had: u64,
    held: u64,
}

/// How often a field said what another one had said before.
#[derive(Debug, Clone, Copy, Default)]
struct Reference {
    found: u64,
    /// How many of the things that the other one identified were referred to.
    referred: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Single {
    #[default]
    Unseen,
    Only(String),
    Several,
}

/// What one trace has shown so far.
#[derive(Default)]
struct Current {
    /// Which message the event is of.
    identity: u64,
    keys: HashMap<Field, Said>,
    numbers: HashMap<Field, f64>,
    /// Which fields have said something in earlier events.
    said: HashMap<String, BTreeSet<Field>>,
    /// Who has referred to what, and what it was.
    referred: BTreeSet<(Field, Field, String)>,
}

/// What a field has said.
struct Said {
    /// What it said last, and in which message.
    last: String,
    identity: u64,
    all: BTreeSet<String>,
}

impl Learner {
    /// Learns from a trace.
    pub fn learn(&mut self, trace: &Trace<'_>) {
        let asked = asked(trace);
        let mut current = Current::default();
        let events: Vec<(&str, Vec<Seen>)> =
            trace.events.iter().map(|event| (event.tag, seen(event.json))).collect();
        self.referring.learn(trace, &events);
        for (tag, seen) in &events {
            let hasher = &mut DefaultHasher::new();
            (tag, identity(seen)).hash(hasher);
            current.identity = hasher.finish();
            for seen in seen {
                for tag in [None, Some((*tag).to_owned())] {
                    let field = Field { tag, path: seen.path.clone() };
                    match &seen.value {
                        Value::Key(key) => self.key(field, key, &asked, &mut current),
                        Value::Number(number) => self.number(field, *number, &mut current),
                    }
                }
            }
            for (seen, key) in seen.iter().filter_map(|seen| Some((seen, seen.value.key()?))) {
                let field = Field { tag: Some((*tag).to_owned()), path: seen.path.clone() };
                current.said.entry(key.to_owned()).or_default().insert(field);
            }
        }
        self.end(current);
    }

    /// Learns what another one has learned.
    pub fn merge(&mut self, other: &Self) {
        for (field, facts) in &other.fields {
            self.fields.entry(field.clone()).or_default().merge(facts);
        }
        for (pair, count) in &other.echoes {
            *self.echoes.entry(pair.clone()).or_default() += count;
        }
        for (pair, reference) in &other.references {
            let own = self.references.entry(pair.clone()).or_default();
            own.found += reference.found;
            own.referred += reference.referred;
        }
        self.referring.merge(&other.referring);
        self.forget();
    }

    fn key(
        &mut self,
        field: Field,
        key: &str,
        asked: &HashMap<String, BTreeSet<Path>>,
        current: &mut Current,
    ) {
        for path in asked.get(key).into_iter().flatten() {
            *self.echoes.entry((field.clone(), path.clone())).or_default() += 1;
        }
        if field.tag.is_some() {
            for to in current.said.get(key).into_iter().flatten().filter(|to| **to != field) {
                self.references.entry((field.clone(), to.clone())).or_default().found += 1;
                current.referred.insert((field.clone(), to.clone(), key.to_owned()));
            }
        }
        let facts = self.fields.entry(field.clone()).or_default();
        facts.keys += 1;
        facts.single.merge(&Single::Only(key.to_owned()));
        let identity = current.identity;
        match current.keys.get_mut(&field) {
            Some(said) => {
                // Between two pieces of one message nothing could have failed.
                if said.identity != identity {
                    facts.constant.count(said.last == key);
                }
                facts.unique.count(said.all.insert(key.to_owned()));
                said.identity = identity;
                key.clone_into(&mut said.last);
            }
            None => {
                let (last, all) = (key.to_owned(), BTreeSet::from([key.to_owned()]));
                current.keys.insert(field, Said { last, identity, all });
            }
        }
    }

    fn number(&mut self, field: Field, number: f64, current: &mut Current) {
        if let Some(before) = current.numbers.insert(field.clone(), number) {
            let facts = self.fields.entry(field).or_default();
            facts.counting.count(number == before + 1.0);
            facts.increasing.count(number > before);
            facts.not_decreasing.count(number >= before);
        }
    }

    fn end(&mut self, current: Current) {
        for (field, said) in current.keys {
            self.fields.entry(field).or_default().distinct += said.all.len() as u64;
        }
        for (field, to, _) in current.referred {
            self.references.entry((field, to)).or_default().referred += 1;
        }
        self.forget();
    }

    /// Forgets pairs that have failed where there are many.
    fn forget(&mut self) {
        let keys = |field: &Field| self.fields.get(field).map_or(0, |facts| facts.keys);
        if self.echoes.len() > PAIRS {
            self.echoes.retain(|(field, _), held| *held >= keys(field));
        }
        if self.references.len() > PAIRS {
            self.references.retain(|(field, _), reference| reference.found >= keys(field));
        }
    }

    /// What holds in all traces so far, without what follows from something else that does: in the
    /// order constant, increasing, unique, equal to the request, referring.
    pub fn finish(&self) -> Vec<Invariant> {
        let mut found: Vec<Invariant> =
            self.fields.iter().filter_map(|(field, facts)| self.alone(field, facts)).collect();
        found.extend(self.fields.iter().filter_map(|(field, facts)| self.echo(field, facts)));
        found.extend(self.fields.iter().filter_map(|(field, facts)| self.reference(field, facts)));
        let told = |field: &Field| {
            self.of_all(field).is_some_and(|all| all.constant.hold())
                || found.iter().any(|it| matches!(it, Invariant::Refers(from, ..) if from == field))
        };
        let mut earlier = self.referring.holding();
        earlier.retain(|it| !matches!(it, Invariant::RefersEarlier(field, _) if told(field)));
        found.extend(earlier);
        found.sort();
        found
    }

    /// The most telling thing that holds of a field alone.
    fn alone(&self, field: &Field, facts: &Facts) -> Option<Invariant> {
        let claim = facts.claim()?;
        let follows = match self.of_all(field) {
            // It is the only type that has the field: the field of that type says more.
            None => field.tag.is_none(),
            Some(all) => field.tag.is_some() && all.claim().is_some_and(|all| all <= claim),
        };
        (!follows).then(|| claim.of(field.clone()))
    }

    fn echo(&self, field: &Field, facts: &Facts) -> Option<Invariant> {
        if facts.keys < CHANCES || (field.tag.is_none() && self.of_all(field).is_none()) {
            return None;
        }
        let places = |field: &Field| {
            let from = (field.clone(), Path::default());
            self.echoes.range(from..).take_while({
                let field = field.clone();
                move |((other, _), _)| *other == field
            })
        };
        let path = places(field)
            .filter(|(_, held)| **held == facts.keys)
            .map(|((_, path), _)| path)
            .min_by_key(|path| (path.last() != field.path.last(), path.as_str().len(), *path))?;
        let all = Field { tag: None, path: field.path.clone() };
        let follows = field.tag.is_some()
            && self.of_all(field).is_some_and(|facts| {
                places(&all).any(|((_, other), held)| other == path && *held == facts.keys)
            });
        (!follows).then(|| Invariant::Echoes(field.clone(), path.clone()))
    }

    fn reference(&self, field: &Field, facts: &Facts) -> Option<Invariant> {
        let constant = self.of_all(field).is_some_and(|all| all.constant.hold());
        if facts.keys < CHANCES || facts.single != Single::Several || constant {
            return None;
        }
        let candidates = self.references.iter().filter(|((from, _), _)| from == field);
        let holding = candidates.filter(|((_, to), reference)| {
            let one_to_one = to.path == field.path
                && !self.groups(&field.path)
                && [field, to].iter().all(|field| {
                    self.fields.get(*field).is_some_and(|facts| facts.keys == facts.distinct)
                });
            reference.found == facts.keys && (to.path != field.path || one_to_one)
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
        path.as_str() == "id" || (tags(Some(path)).len() > 2 && tags(Some(path)) == tags(None))
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
        let typed = |other: &&Field| other.tag.is_some() && other.path == field.path;
        let several = self.fields.keys().filter(typed).nth(1).is_some();
        self.fields.get(&all).filter(|_| several)
    }
}

/// What holds of a field alone, what says most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Constant,
    Counting,
    Increasing,
    Unique,
    NotDecreasing,
}

impl Claim {
    fn of(self, field: Field) -> Invariant {
        match self {
            Self::Constant => Invariant::Constant(field),
            Self::Counting => Invariant::Counting(field),
            Self::Increasing => Invariant::Increasing(field),
            Self::Unique => Invariant::Unique(field),
            Self::NotDecreasing => Invariant::NotDecreasing(field),
        }
    }
}

impl Facts {
    fn merge(&mut self, other: &Self) {
        self.keys += other.keys;
        self.distinct += other.distinct;
        self.constant.merge(other.constant);
        self.unique.merge(other.unique);
        self.counting.merge(other.counting);
        self.increasing.merge(other.increasing);
        self.not_decreasing.merge(other.not_decreasing);
        self.single.merge(&other.single);
    }

    /// What holds. That a field says the same in all traces is told by its shape; a number that never
    /// changes does not count anything.
    fn claim(&self) -> Option<Claim> {
        let several = self.single == Single::Several;
        let claims = [
            (self.constant.hold() && several, Claim::Constant),
            (self.counting.hold(), Claim::Counting),
            (self.increasing.hold(), Claim::Increasing),
            (self.unique.hold() && several, Claim::Unique),
            (self.not_decreasing.hold() && self.increasing.held >= CHANCES, Claim::NotDecreasing),
        ];
        claims.into_iter().find(|(holds, _)| *holds).map(|(_, claim)| claim)
    }
}

impl Chances {
    fn count(&mut self, held: bool) {
        self.had += 1;
        self.held += u64::from(held);
    }

    fn merge(&mut self, other: Self) {
        self.had += other.had;
        self.held += other.held;
    }

    fn hold(self) -> bool {
        self.had >= CHANCES && self.held == self.had
    }
}

impl Single {
    pub(super) fn merge(&mut self, other: &Self) {
        match (&*self, other) {
            (_, Self::Unseen) => {}
            (Self::Unseen, other) => *self = other.clone(),
            (one, other) if one == other => {}
            _ => *self = Self::Several,
        }
    }
}

/// What the request says that identifies something, and where.
pub(super) fn asked(trace: &Trace<'_>) -> HashMap<String, BTreeSet<Path>> {
    let mut asked: HashMap<String, BTreeSet<Path>> = HashMap::new();
    for seen in trace.request.map(seen).unwrap_or_default() {
        if let Value::Key(key) = seen.value {
            asked.entry(key).or_default().insert(seen.path);
        }
    }
    asked
}
