//! Counting how often something could have failed, and how often it did not.
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

use super::earlier::Referring;
use super::facts::{Facts, Reference, Single};
use super::field::{Field, Path};
use super::trace::{Seen, Trace, Value, identity, seen};

/// With more pairs than that, those that have failed are forgotten.
pub(super) const PAIRS: usize = 1 << 12;

/// Learns invariants from traces, one by one. What several have learned can be merged.
#[derive(Debug, Clone, Default)]
pub struct Learner {
    pub(super) fields: BTreeMap<Field, Facts>,
    /// How often a field said what the request says there.
    pub(super) echoes: BTreeMap<(Field, Path), u64>,
    pub(super) references: BTreeMap<(Field, Field), Reference>,
    pub(super) referring: Referring,
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
