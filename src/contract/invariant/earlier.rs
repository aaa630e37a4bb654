//! What refers to earlier answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::claim::{Field, Invariant, Path};
use super::echo::Said;
use super::holding::{CHANCES, Single};
use super::learn::{FieldNumbers, Map, Sight, Sights, keys, note};
use crate::identity::is_minted;

/// What stands for the type where a field of the request is meant.
pub(super) const REQUEST: &str = "request";

/// More fields that have said something, or more different ones, tell nothing.
const MOST: usize = 64;

/// So many fields together are no longer one thing.
const TOGETHER: usize = 4;

/// Where the server has said something in earlier answers of the same conversation.
pub trait Earlier {
    /// The fields that have said what identifies something.
    fn fields(&self, key: &str) -> Vec<&Field>;
    /// The answers to requests of the same path that lead here, each token with its place: the last one that has said
    /// this, and where it is a number those that differ by it alone, in that place of the request.
    fn pages(&self, place: &str, token: &str) -> Vec<&[(String, String)]>;
    /// The answer to the last request that differs only as it has no number there, if none before has another one.
    fn first_page(&self, place: &str) -> Option<&[(String, String)]>;
    /// What answers said in that place of the thing with this identifier since anything may have changed it, each with
    /// the number of its answer. Nothing, if this one does not only read.
    fn said(&self, id: &str, place: &str) -> &[(usize, Said)];
    /// The numbers that they said.
    fn counted(&self, id: &str, place: &str) -> &[(usize, f64)];
    /// The identifier of what the same request came to before, if a key in it says that it is the same.
    fn again(&self) -> Option<&str>;
    /// What was made at the path of this request, if that only reads, and whether it should be there.
    fn made(&self) -> Vec<(&str, bool)>;
}

/// What the server had said before of what fields say, in this answer or in an earlier one, by the numbers
/// of the fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Referring {
    fields: Map<u32, KeyCounts<u32>>,
}

/// The same by the names of the fields, in their order.
#[derive(Debug)]
pub(super) struct Counted {
    fields: BTreeMap<Field, KeyCounts<Field>>,
}

/// How often a field identified something.
#[derive(Debug, Clone)]
struct KeyCounts<F> {
    single: Single,
    /// How often these had said it before. Nothing if once none had: then it refers to nothing.
    sources: Option<BTreeMap<Sources<F>, u64>>,
}

/// The fields that have said before what a field says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Sources<F> {
    /// In earlier answers; in other places of this one.
    told: Vec<F>,
    /// In the same place of other messages of this answer: they may only have it in common.
    beside: Vec<F>,
}

impl Referring {
    /// Learns from what was said before and from a trace: what stands in its events is given.
    pub(super) fn learn(
        &mut self,
        names: &mut FieldNumbers,
        earlier: &dyn Earlier,
        open: &[Sight<'_>],
        events: &[Sights<'_>],
    ) {
        // What was asked for by its path may be known from anywhere.
        let is_asked_for = |key: &str| keys(open).any(|(_, own)| own == key);
        let mut said: Map<&str, Vec<u32>> = Map::default();
        for (tag, sights) in events {
            for (sight, key) in keys(sights).filter(|(_, key)| !is_asked_for(key)) {
                let field = names.field(Some(*tag), sight.path);
                let known = self.fields.entry(field).or_default();
                known.single.see(key);
                if known.sources.is_some() {
                    let here = said.get(key).map_or(&[][..], Vec::as_slice);
                    known.count(said_before(names, earlier, field, key, here));
                }
            }
            for (sight, key) in keys(sights) {
                note(said.entry(key).or_default(), names.field(Some(*tag), sight.path));
            }
        }
    }

    /// The same by the names of the fields.
    pub(super) fn counted(&self, name: &dyn Fn(u32) -> Field) -> Counted {
        let fields = self.fields.iter().map(|(field, keys)| (name(*field), keys.named(name)));
        Counted { fields: fields.collect() }
    }
}

impl<F> Default for KeyCounts<F> {
    fn default() -> Self {
        Self { single: Single::default(), sources: Some(BTreeMap::new()) }
    }
}

impl KeyCounts<u32> {
    fn count(&mut self, sources: Sources<u32>) {
        let is_unsaid = sources == Sources::default();
        match self.sources.as_mut().filter(|all| !is_unsaid && all.len() < MOST) {
            Some(all) => *all.entry(sources).or_default() += 1,
            None => self.sources = None,
        }
    }

    fn named(&self, name: &dyn Fn(u32) -> Field) -> KeyCounts<Field> {
        let all = |fields: &[u32]| fields.iter().map(|field| name(*field)).collect();
        let named = |sources: &Sources<u32>| Sources {
            told: all(&sources.told),
            beside: all(&sources.beside),
        };
        let sources = self.sources.iter().flatten();
        let sources = sources.map(|(sources, times)| (named(sources), *times)).collect();
        KeyCounts {
            single: self.single.clone(),
            sources: self.sources.is_some().then_some(sources),
        }
    }
}

impl Counted {
    /// What always held, to the fields that say most.
    pub(super) fn holding(&self) -> Vec<Invariant> {
        self.fields.iter().filter_map(|(field, keys)| self.reference(field, keys)).collect()
    }

    fn reference(&self, field: &Field, keys: &KeyCounts<Field>) -> Option<Invariant> {
        let tells = match &keys.single {
            Single::Unseen => false,
            // A model that is always the same says the same words in each scenario.
            Single::Only(key) => is_minted(key),
            Single::Several => true,
        };
        if !tells {
            return None;
        }
        let one = keys.one().into_iter().min_by_key(|to| {
            let own = self.fields.get(*to).is_some_and(|keys| !keys.one().is_empty());
            (to.path.last() != field.path.last(), own, to.path.as_str().len(), *to)
        });
        let to = one.map(|to| vec![to.clone()]).or_else(|| keys.several(field))?;
        Some(Invariant::RefersEarlier(field.clone(), to))
    }
}

impl KeyCounts<Field> {
    /// The fields that have always said before what this one says.
    fn one(&self) -> Vec<&Field> {
        let Some(sources) = &self.sources else { return Vec::new() };
        let mut all = sources.keys();
        let mut one: Vec<&Field> = all.next().map_or_else(Vec::new, |it| it.told.iter().collect());
        all.for_each(|it| one.retain(|to| it.told.contains(to)));
        one.retain(|_| sources.values().sum::<u64>() >= CHANCES);
        one
    }

    /// The fewest types of messages of which one has always said it before, all in the same place.
    fn several(&self, field: &Field) -> Option<Vec<Field>> {
        let sources = self.sources.as_ref()?;
        let paths = sources.keys().flat_map(Sources::all).map(|to| &to.path);
        let mut paths: Vec<&Path> = paths.collect::<BTreeSet<_>>().into_iter().collect();
        paths.sort_by_key(|path| (path.last() != field.path.last(), path.as_str().len()));
        paths.into_iter().find_map(|path| promised(sources, &covering(sources, path)?))
    }
}

/// The fewest fields in a place of which one explains each; of as many those that explain most.
fn covering(sources: &BTreeMap<Sources<Field>, u64>, path: &Path) -> Option<Vec<Field>> {
    let explaining = sources.keys().map(|said| said.all().filter(|to| to.path == *path).collect());
    let all: Vec<BTreeSet<&Field>> = explaining.collect();
    let explained = |set: &BTreeSet<&Field>| -> u64 {
        let times = all.iter().zip(sources.values());
        times.map(|(said, times)| times * said.intersection(set).count() as u64).sum()
    };
    (1..=TOGETHER).find_map(|count| {
        let mut found = BTreeSet::new();
        covers(&all, count, &mut BTreeSet::new(), &mut found);
        let most = found.into_iter().max_by_key(|set| (explained(set), Reverse(set.clone())))?;
        Some(most.into_iter().cloned().collect())
    })
}

/// All sets of so many more fields of which one explains each of `all`.
fn covers<'s>(
    all: &[BTreeSet<&'s Field>],
    room: usize,
    chosen: &mut BTreeSet<&'s Field>,
    found: &mut BTreeSet<BTreeSet<&'s Field>>,
) {
    let left = all.iter().filter(|said| said.is_disjoint(chosen));
    let Some(fewest) = left.min_by_key(|said| said.len()) else {
        found.insert(chosen.clone());
        return;
    };
    for to in fewest.iter().filter(|_| room > 0) {
        chosen.insert(to);
        covers(all, room - 1, chosen, found);
        chosen.remove(to);
    }
}

/// What is promised of fields that explain everything.
///
/// # Rationale
///
/// Several explain more by chance than one. So there have to be as many chances for each as for one, and
/// each has to explain something twice that no other does. What only messages of one answer have in common
/// is no reference.
fn promised(sources: &BTreeMap<Sources<Field>, u64>, chosen: &[Field]) -> Option<Vec<Field>> {
    const TWICE: u64 = 2;
    let times = |of: &dyn Fn(&Sources<Field>) -> bool| -> u64 {
        sources.iter().filter(|(said, _)| of(said)).map(|(_, times)| times).sum()
    };
    let is_enough = times(&|_| true) >= CHANCES * chosen.len() as u64;
    let is_told = times(&|said| !chosen.iter().any(|to| said.beside.contains(to))) >= TWICE;
    let is_needed =
        |own: &Field| times(&|said| !chosen.iter().any(|to| to != own && said.has(to))) >= TWICE;
    (is_enough && is_told && chosen.iter().all(is_needed)).then(|| chosen.to_vec())
}

impl<F> Sources<F> {
    fn all(&self) -> impl Iterator<Item = &F> {
        self.told.iter().chain(&self.beside)
    }

    fn has(&self, field: &F) -> bool
    where
        F: PartialEq,
    {
        self.all().any(|own| own == field)
    }
}

/// The fields that have said before what a field says: in earlier answers, and here.
fn said_before(
    names: &mut FieldNumbers,
    earlier: &dyn Earlier,
    field: u32,
    key: &str,
    here: &[u32],
) -> Sources<u32> {
    let path = names.known(field).path;
    // That a thing keeps its identifier is no reference.
    let is_own = names.get(field).path.as_str() == "id";
    let here = here.iter().copied().filter(|to| *to != field);
    let (mut beside, mut told): (Vec<u32>, Vec<u32>) =
        here.partition(|to| names.known(*to).path == path);
    beside.retain(|_| !is_own);
    for to in earlier.fields(key) {
        let own = names.get(field);
        let is_other = to.tag != own.tag && !is_own;
        if to.path != own.path || is_other {
            let to = names.number(to);
            note(&mut told, to);
        }
    }
    for all in [&mut told, &mut beside] {
        all.sort_unstable();
        all.truncate(MOST);
    }
    Sources { told, beside }
}

impl fmt::Debug for dyn Earlier + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Earlier")
    }
}
