//! What refers to earlier answers.

use std::collections::BTreeMap;
use std::fmt;

use super::claim::Field;
use super::claim::Invariant;
use super::holding::{CHANCES, Single};
use super::learn::{Map, Names};
use super::learn::{PAIRS, Sight, Sights, keys, note};

/// What stands for the type where a field of the request is meant.
pub(super) const REQUEST: &str = "request";

/// Where the server has said something in earlier answers of the same conversation.
pub trait Earlier {
    /// The fields that have said what identifies something.
    fn fields(&self, key: &str) -> Vec<&Field>;
}

/// How often fields said what the server had said before, in this answer or in an earlier one, by the
/// numbers of the fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Referring {
    fields: Map<u32, Keys>,
    found: Map<(u32, u32), u64>,
}

/// The same by the names of the fields, in their order.
#[derive(Debug)]
pub(super) struct Counted<'r> {
    fields: BTreeMap<Field, &'r Keys>,
    found: BTreeMap<(Field, Field), u64>,
}

/// How often a field identified something.
#[derive(Debug, Clone, Default)]
struct Keys {
    times: u64,
    single: Single,
}

impl Referring {
    /// Learns from what was said before and from a trace: what stands in its events is given.
    pub(super) fn learn(
        &mut self,
        names: &mut Names,
        earlier: &dyn Earlier,
        request: &[Sight<'_>],
        events: &[Sights<'_>],
    ) {
        let mut said: Map<&str, Vec<u32>> = Map::default();
        let requested = (names.word(REQUEST), request);
        let events = events.iter().map(|(tag, sights)| (*tag, sights.as_slice()));
        for (place, (tag, sights)) in std::iter::once(requested).chain(events).enumerate() {
            for (sight, key) in keys(sights) {
                let field = names.field(Some(tag), sight.path);
                let known = self.fields.entry(field).or_default();
                known.times += 1;
                known.single.see(key);
                let here = said.get(key).map_or(&[][..], Vec::as_slice);
                for to in said_before(names, earlier, field, key, here) {
                    *self.found.entry((field, to)).or_default() += 1;
                }
            }
            // What the client says was not said by the server.
            for (sight, key) in keys(sights).filter(|_| place > 0) {
                note(said.entry(key).or_default(), names.field(Some(tag), sight.path));
            }
        }
        if self.found.len() > PAIRS {
            let fields = &self.fields;
            self.found.retain(|(field, _), found| {
                fields.get(field).is_some_and(|keys| keys.times == *found)
            });
        }
    }

    /// The same by the names of the fields.
    pub(super) fn counted(&self, name: &dyn Fn(u32) -> Field) -> Counted<'_> {
        let fields = self.fields.iter().map(|(field, keys)| (name(*field), keys));
        let found = self.found.iter();
        let found = found.map(|((field, to), found)| ((name(*field), name(*to)), *found));
        Counted { fields: fields.collect(), found: found.collect() }
    }
}

impl Counted<'_> {
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
        let from = Field { tag: None, path: super::claim::Path::default() };
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

/// The fields that have said before what a field says: in earlier answers, and here.
fn said_before(
    names: &mut Names,
    earlier: &dyn Earlier,
    field: u32,
    key: &str,
    here: &[u32],
) -> Vec<u32> {
    let path = names.known(field).path;
    let here = here.iter().copied().filter(|to| names.known(*to).path != path);
    let mut all: Vec<u32> = here.collect();
    for to in earlier.fields(key) {
        let own = names.get(field);
        // That a thing keeps its identifier is no reference, nor that messages of one answer have one
        // in common.
        let is_other = to.tag != own.tag && own.path.as_str() != "id";
        if to.path != own.path || is_other {
            let to = names.number(to);
            note(&mut all, to);
        }
    }
    all
}

impl fmt::Debug for dyn Earlier + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Earlier")
    }
}
