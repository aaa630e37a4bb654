//! What refers to earlier answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::claim::Invariant;
use super::facts::{CHANCES, Single};
use super::field::Field;
use super::learn::PAIRS;
use super::trace::{Seen, Trace, seen};

/// What stands for the type where a field of the request is meant.
pub(super) const REQUEST: &str = "request";

/// Where the server has said something in earlier answers of the same conversation.
pub trait Earlier {
    /// The fields that have said what identifies something.
    fn fields(&self, key: &str) -> Vec<&Field>;
}

/// How often fields said what the server had said before, in this answer or in an earlier one.
#[derive(Debug, Clone, Default)]
pub(super) struct Referring {
    fields: BTreeMap<Field, Keys>,
    found: BTreeMap<(Field, Field), u64>,
}

/// How often a field identified something.
#[derive(Debug, Clone, Default)]
struct Keys {
    times: u64,
    single: Single,
}

impl Referring {
    /// Learns from a trace, if what came before it is known. What stands in its events is given.
    pub(super) fn learn(&mut self, trace: &Trace<'_>, events: &[(&str, Vec<Seen>)]) {
        let Some(earlier) = trace.earlier else { return };
        let request = trace.request.map(seen).unwrap_or_default();
        said_before(earlier, &request, events, |field, key, fields| {
            let keys = self.fields.entry(field.clone()).or_default();
            keys.times += 1;
            keys.single.merge(&Single::Only(key.to_owned()));
            for to in fields {
                *self.found.entry((field.clone(), (*to).clone())).or_default() += 1;
            }
        });
        if self.found.len() > PAIRS {
            let fields = &self.fields;
            self.found.retain(|(field, _), found| {
                fields.get(field).is_some_and(|keys| keys.times == *found)
            });
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (field, keys) in &other.fields {
            let own = self.fields.entry(field.clone()).or_default();
            own.times += keys.times;
            own.single.merge(&keys.single);
        }
        for (pair, found) in &other.found {
            *self.found.entry(pair.clone()).or_default() += found;
        }
    }

    /// What always held, to the field that says most.
    pub(super) fn holding(&self) -> Vec<Invariant> {
        self.fields.iter().filter_map(|(field, keys)| self.reference(field, keys)).collect()
    }

    fn reference(&self, field: &Field, keys: &Keys) -> Option<Invariant> {
        let tells = match &keys.single {
            Single::Unseen => false,
            // A model that is always the same says the same words in each scenario.
            Single::Only(key) => is_minted(key),
            Single::Several => true,
        };
        if keys.times < CHANCES || !tells {
            return None;
        }
        let to = self.to(field).min_by_key(|to| {
            let own = self.to(to).next().is_some();
            (to.path.last() != field.path.last(), own, to.path.as_str().len(), *to)
        })?;
        Some(Invariant::RefersEarlier(field.clone(), to.clone()))
    }

    /// The fields that have always said before what this one says.
    fn to<'a>(&'a self, field: &Field) -> impl Iterator<Item = &'a Field> {
        let times = self.fields.get(field).map(|keys| keys.times);
        let from = Field { tag: None, path: super::field::Path::default() };
        let field = field.clone();
        self.found
            .range((field.clone(), from)..)
            .take_while(move |((own, _), _)| *own == field)
            .filter(move |(_, found)| Some(**found) == times)
            .map(|((_, to), _)| to)
    }
}

/// Whether it is more likely minted than a name that somebody chose: letters and digits in one word.
fn is_minted(key: &str) -> bool {
    const SHORTEST: usize = 8;
    const FEWEST: usize = 2;
    let mixed = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= SHORTEST && digits >= FEWEST && word.len() - digits >= FEWEST
    };
    key.split(|char: char| !char.is_ascii_alphanumeric()).any(mixed)
}

/// Tells of each field that identifies something which fields have said it before.
fn said_before<'e>(
    earlier: &'e dyn Earlier,
    request: &'e [Seen],
    events: &'e [(&str, Vec<Seen>)],
    mut tell: impl FnMut(&Field, &str, &BTreeSet<&Field>),
) {
    let requested = std::iter::once((REQUEST, request));
    let all = requested.chain(events.iter().map(|(tag, seen)| (*tag, seen.as_slice())));
    let all: Vec<Vec<(Field, &str)>> = all.map(|(tag, seen)| keys(tag, seen)).collect();
    let mut said: HashMap<&str, BTreeSet<&Field>> = HashMap::new();
    for (place, keys) in all.iter().enumerate() {
        for (field, key) in keys {
            // That a thing keeps its identifier is no reference, nor that messages of one answer
            // have one in common.
            let other = |to: &&Field| to.tag != field.tag && field.path.as_str() != "id";
            let before = earlier.fields(key).into_iter();
            let before = before.filter(|to| to.path != field.path || other(to));
            let here = said.get(key).into_iter().flatten().copied();
            let here = here.filter(|to| to.path != field.path);
            tell(field, key, &before.chain(here).collect());
        }
        // What the client says was not said by the server.
        if place > 0 {
            keys.iter().for_each(|(field, key)| {
                said.entry(key).or_default().insert(field);
            });
        }
    }
}

/// What identifies something in a message.
fn keys<'e>(tag: &str, seen: &'e [Seen]) -> Vec<(Field, &'e str)> {
    let field = |seen: &Seen| Field { tag: Some(tag.to_owned()), path: seen.path.clone() };
    seen.iter().filter_map(|seen| Some((field(seen), seen.value.key()?))).collect()
}

impl fmt::Debug for dyn Earlier + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Earlier")
    }
}
