//! In how many places answers differ by themselves.
//!
//! # Rationale
//!
//! An answer with many optional parts shows a few of them each time by chance, and in three recordings some always or
//! never. So each place that differs among recordings of one server is a try that chance had. Where the same scenario
//! is answered in one way once and in another way then, that it is recorded again proves nothing.

use std::collections::{BTreeMap, HashMap};

use super::about::LOOKED_AT;
use super::always::Question;
use super::maps::{FixedMembers, Maps};
use super::report::Part;
use crate::contract::shape::DEEPEST;
use crate::contract::{Answer, Contract, JsonMessage};
use crate::text::json::{Container, Text};

/// So many places of one answer are looked at.
const MOST: usize = 2000;

/// What ends the place of a whole message.
const ROOT: char = '/';

/// What stands in a place, as bits.
type Kinds = u8;

const NULL: Kinds = 1;
const TRUTH: Kinds = 2;
const NUMBER: Kinds = 4;
const TEXT: Kinds = 8;
const OBJECT: Kinds = 16;
const ARRAY: Kinds = 32;

/// What stands in the places of an answer, messages of one type taken together.
#[derive(Default)]
struct Places(HashMap<String, Kinds>);

/// How answers differ by themselves.
pub(super) struct Varying {
    /// In how many places the answers of before differ, where what is around a place is there. Where only a contract is
    /// known, it is what that allows and does not require.
    pub(super) count: usize,
    /// Whether chance decides in one of these places: in two scenarios the same stood there before, and other things do
    /// now.
    pub(super) is_by_chance: bool,
}

impl Varying {
    pub(super) fn of(was: &Contract, old: &[&Answer], new: &[&Answer]) -> Self {
        if old.is_empty() {
            return Self { count: was.seen(&[]).len(), is_by_chance: false };
        }
        let maps = &Maps::of(was);
        let all: Vec<Places> = old.iter().take(LOOKED_AT).map(|it| Places::of(it, maps)).collect();
        let mut times: BTreeMap<&String, usize> = BTreeMap::new();
        all.iter().flat_map(|it| it.0.keys()).for_each(|it| *times.entry(it).or_default() += 1);
        // What one answer alone has may be a name that is data, and comes no other time.
        let several = times.into_iter().filter(|(_, times)| *times > 1).map(|(place, _)| place);
        let differ = |place: &&String| {
            let mut kinds = all.iter().filter_map(|it| it.at(place));
            // Which messages come is a matter of the order.
            !place.ends_with(ROOT) && kinds.next().is_some_and(|first| kinds.any(|it| it != first))
        };
        let varying: Vec<&String> = several.filter(differ).collect();
        let pairs = asked_again(old, new, maps);
        let is_by_chance = varying.iter().any(|place| {
            let mut became: BTreeMap<Kinds, Kinds> = BTreeMap::new();
            let mut each =
                pairs.iter().filter_map(|[old, new]| Some((old.at(place)?, new.at(place)?)));
            each.any(|(old, new)| *became.entry(old).or_insert(new) != new)
        });
        Self { count: varying.len(), is_by_chance }
    }
}

/// The answers to the same scenarios, before and now.
fn asked_again(old: &[&Answer], new: &[&Answer], maps: &Maps) -> Vec<[Places; 2]> {
    let olds: HashMap<&str, &Answer> = old.iter().map(|it| (it.place.as_str(), *it)).collect();
    let pairs = new.iter().take(LOOKED_AT).filter_map(|new| {
        let old = *olds.get(new.place.as_str())?;
        let is_same = Question::of(new).says_as(&Question::of(old));
        is_same.then(|| [old, new].map(|it| Places::of(it, maps)))
    });
    pairs.collect()
}

impl Places {
    fn of(answer: &Answer, maps: &Maps) -> Self {
        let mut places = Self::default();
        let body = answer.body.iter().map(|it| (String::new(), Part::Body, it));
        let events = answer.events.iter();
        let events = events.map(|it| (format!("{}{ROOT}", it.kind), Part::Events, it));
        for (root, part, message) in body.chain(events) {
            places.take(root, message, |path| maps.at(part, Some(&message.kind), path));
        }
        places
    }

    fn take<'m>(
        &mut self,
        root: String,
        message: &JsonMessage,
        members_at: impl Fn(&str) -> FixedMembers<'m>,
    ) {
        let start = root.len();
        let mut open = vec![(root, 0, message.text())];
        while let Some((place, depth, value)) = open.pop() {
            if self.0.len() >= MOST {
                return;
            }
            // What a contract does not look at is not read again at each depth.
            if depth < DEEPEST {
                let named = members_at(place[start..].trim_start_matches('.'));
                let step = |name| format!("{place}.{}", named.step(name));
                let members = value.members().map(|(name, it)| (step(name), depth + 1, it));
                let elements = value.elements().map(|it| (format!("{place}[]"), depth + 1, it));
                open.extend(members.chain(elements));
            }
            *self.0.entry(place).or_default() |= kind(value);
        }
    }

    /// What stands in a place: nothing there if what is around it is.
    fn at(&self, place: &str) -> Option<Kinds> {
        let end = place.strip_suffix("[]").map_or_else(|| place.rfind('.'), |it| Some(it.len()));
        let is_within = end.is_none_or(|end| {
            let around = self.0.get(&place[..end]);
            around.is_some_and(|kinds| kinds & (OBJECT | ARRAY) != 0)
        });
        is_within.then(|| self.0.get(place).copied().unwrap_or_default())
    }
}

fn kind(value: Text<'_>) -> Kinds {
    match (value.container(), value.as_str().trim_start().as_bytes().first()) {
        (Some(Container::Object), _) => OBJECT,
        (Some(Container::Array), _) => ARRAY,
        (None, Some(b'"')) => TEXT,
        (None, Some(b'n')) => NULL,
        (None, Some(b't' | b'f')) => TRUTH,
        _ => NUMBER,
    }
}
