//! What a server was told to do with things, and what it has said of them, in the same cassette.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher as _;

use bytes::Bytes;
use foldhash::fast::{FixedState, RandomState};

use super::asked::fields;
use super::cut::Cut;
use crate::cassette::{End, Interaction, Request};
use crate::contract::invariant::{FieldNumbers, Said, Thing, is_number, place_of, said_of, things};
use crate::contract::path;
use crate::identity::is_minted;
use crate::message::Framing;
use crate::text::json::Text;
use crate::text::percent;

/// What is known of things, by interaction.
#[derive(Debug, Default)]
pub(super) struct State {
    /// What answers say in a place of a thing, each time.
    said: ByPlace<Said>,
    /// The numbers that they say there.
    counted: ByPlace<f64>,
    /// The same of `null` and of what is true or false in things that are answers by themselves.
    flags: ByPlace<Said>,
    /// The requests that may have changed a thing, as they or their answers speak of it.
    touched: HashMap<String, Vec<usize>, RandomState>,
    /// Those that may have changed anything, as they speak of nothing that is known.
    sweeping: Vec<usize>,
    /// How many requests before each may have changed something.
    writes: Vec<usize>,
    /// What was made, by path.
    made: HashMap<String, Vec<Made>, RandomState>,
    /// What reads ask for, each leaf by its place.
    asked: HashMap<usize, BTreeMap<String, String>, RandomState>,
    /// The paths of reads that say a number.
    paged: HashSet<String, RandomState>,
    /// The reads that began while something else was being changed.
    beside: HashSet<usize, RandomState>,
    /// What requests with a key came to, by all of the request and by its key.
    came_to: HashMap<Said, (usize, String), RandomState>,
    /// The requests whose key came before, and what the first one came to.
    again: HashMap<usize, String, RandomState>,
}

/// What answers say in a place of a thing, each time, by the number of the answer.
type ByPlace<V> = HashMap<Said, Vec<(usize, V)>, RandomState>;

/// A thing that was made, and perhaps deleted.
#[derive(Debug)]
struct Made {
    id: String,
    at: usize,
    gone: Option<usize>,
}

/// More is not kept of one cassette.
const MOST: usize = 1 << 16;

impl State {
    /// What is known before any of these was answered.
    pub(super) fn of(interactions: &[Interaction]) -> Self {
        let mut state = Self { writes: vec![0], ..Self::default() };
        let reads: Vec<bool> = interactions.iter().map(|it| it.request.only_reads()).collect();
        for (number, interaction) in interactions.iter().enumerate() {
            state.writes.push(state.writes[number] + usize::from(!reads[number]));
            if !reads[number] {
                continue;
            }
            let is_write = |at: usize| reads.get(at) == Some(&false);
            if interaction.after.iter().any(|open| is_write(open.interaction)) {
                state.beside.insert(number);
            }
            if let Some(fields) = fields(&interaction.request) {
                let asked = leaves(Text::known(&fields));
                if asked.values().any(|word| is_number(word)) {
                    state.paged.insert(interaction.request.path_only().to_owned());
                }
                state.asked.insert(number, asked);
            } else if interaction.request.body.is_empty() {
                state.asked.insert(number, BTreeMap::new());
            }
        }
        state
    }

    /// Whether something is read, so that it can be held against what was said.
    fn has_reads(&self) -> bool {
        self.writes.last().is_some_and(|writes| *writes + 1 < self.writes.len())
    }

    /// Notes what was asked and what an answer says of things.
    pub(super) fn tell(
        &mut self,
        names: &mut FieldNumbers,
        number: usize,
        interaction: &Interaction,
        asked: Option<Text<'_>>,
        cut: Option<&Cut>,
    ) {
        self.repeat(names, number, interaction, cut);
        if !self.has_reads() || self.said.len() > MOST {
            return;
        }
        let json = || cut.into_iter().flat_map(Cut::json).map(|(_, json)| json);
        let is_done = interaction.response().is_some_and(|response| {
            (200..300).contains(&response.status) && response.end == End::Complete
        });
        if is_done && interaction.request.method == "DELETE" {
            self.delete(number, interaction.request.path_only());
        }
        if let Some(cut) = cut.filter(|cut| is_done && cut.framing == Framing::Json) {
            self.hear(names, number, interaction, cut);
        }
        if !interaction.request.only_reads() {
            self.touch(number, interaction.request.path_only(), asked.into_iter().chain(json()));
        }
    }

    /// Notes what an answer says of things, and what it made or deleted.
    fn hear(
        &mut self,
        names: &mut FieldNumbers,
        number: usize,
        interaction: &Interaction,
        cut: &Cut,
    ) {
        let path = interaction.request.path_only();
        let is_made = interaction.request.method == "POST" && interaction.request.query().is_none();
        for (at, (_, json)) in cut.json().enumerate() {
            let things = things(names, json.as_str());
            if let Some(first) = things.first().filter(|it| is_made && at == 0 && !it.is_row) {
                let made = Made { id: first.id.clone(), at: number, gone: None };
                let list = path.trim_end_matches('/').to_owned();
                self.made.entry(list).or_default().push(made);
            }
            if let Some(thing) = things.first().filter(|thing| !thing.is_row) {
                for (place, said) in flags(&thing.id, json) {
                    self.flags.entry(place).or_default().push((number, said));
                }
            }
            for thing in things {
                for (place, said) in thing.said {
                    self.said.entry(place).or_default().push((number, said));
                }
                for (place, said) in thing.counted {
                    self.counted.entry(place).or_default().push((number, said));
                }
                self.touched.entry(thing.id).or_default();
            }
        }
    }

    /// Notes what a request may have changed.
    fn touch<'t>(&mut self, number: usize, path: &str, said: impl Iterator<Item = Text<'t>>) {
        let mut is_sweeping = true;
        let mut speak = |word: &str| {
            if let Some(touched) = self.touched.get_mut(word) {
                is_sweeping = false;
                touched.push(number);
            }
        };
        path.split('/').for_each(|segment| speak(&percent::decoded(segment)));
        said.for_each(|json| json.each_leaf(|_, _, word, _| speak(&word)));
        if is_sweeping {
            self.sweeping.push(number);
        }
    }

    /// Notes that something was deleted, if the server says so.
    fn delete(&mut self, number: usize, path: &str) {
        let Some((list, id)) = path.trim_end_matches('/').rsplit_once('/') else { return };
        let id = percent::decoded(id);
        let made = self.made.get_mut(list).into_iter().flatten();
        made.filter(|made| *made.id == *id).for_each(|made| made.gone = Some(number));
    }

    /// Whether something at this path is asked for by its number, as pages are.
    pub(super) fn has_pages(&self, path: &str) -> bool {
        self.paged.contains(path)
    }

    /// Notes what a request came to that has a key of its own, by which a server knows it again.
    fn repeat(
        &mut self,
        names: &mut FieldNumbers,
        number: usize,
        interaction: &Interaction,
        cut: Option<&Cut>,
    ) {
        let Interaction { request, .. } = interaction;
        let is_done = interaction.response().is_some_and(|it| (200..300).contains(&it.status));
        if !is_done || request.method != "POST" || self.came_to.len() > MOST {
            return;
        }
        let keys = keys(request);
        let json = cut.filter(|_| !keys.is_empty()).and_then(|cut| cut.json().next());
        let things = json.map(|(_, json)| things(names, json.as_str())).unwrap_or_default();
        let Some(Thing { id, .. }) = things.into_iter().find(|thing| !thing.is_row) else { return };
        for key in keys {
            let (first, known) = self.came_to.entry(key).or_insert_with(|| (number, id.clone()));
            if *first < number {
                self.again.insert(number, known.clone());
            }
        }
    }

    /// What the first request with the same key came to.
    pub(super) fn again(&self, number: usize) -> Option<&str> {
        self.again.get(&number).map(String::as_str)
    }

    /// What answers before a read said in a place of a thing, since anything may have changed it.
    pub(super) fn said(&self, id: &str, place: &str, number: usize) -> &[(usize, Said)] {
        self.since(&self.said, (id, place), number)
    }

    /// The numbers that they said.
    pub(super) fn counted(&self, id: &str, place: &str, number: usize) -> &[(usize, f64)] {
        self.since(&self.counted, (id, place), number)
    }

    /// Whether the last answer before a read said the same in a place of a thing.
    pub(super) fn says(&self, id: &str, place: &str, number: usize, now: Text<'_>) -> bool {
        let all = if now.string().is_some() { &self.said } else { &self.flags };
        let last = self.since(all, (id, place), number).last();
        last.is_some_and(|(_, last)| said_of(now) == Some(*last))
    }

    /// Whether any answer before said that in a place of a thing.
    pub(super) fn has_said(&self, id: &str, place: &str, number: usize, value: Text<'_>) -> bool {
        let all = if value.string().is_some() { &self.said } else { &self.flags };
        let said = all.get(&place_of(id, place)).into_iter().flatten();
        let mut before = said.filter(|(at, _)| *at < number);
        said_of(value).is_some_and(|value| before.any(|(_, said)| *said == value))
    }

    /// What was said there before a read, since anything may have changed the thing.
    fn since<'s, V>(
        &self,
        all: &'s ByPlace<V>,
        (id, place): (&str, &str),
        number: usize,
    ) -> &'s [(usize, V)] {
        let Some(said) = all.get(&place_of(id, place)) else { return &[] };
        let last = |by: &[usize]| by[..by.partition_point(|by| *by < number)].last().copied();
        let touched = self.touched.get(id).and_then(|by| last(by));
        let changed = last(&self.sweeping).max(touched);
        let is_read = self.writes.get(number) == self.writes.get(number.saturating_add(1));
        if !is_read || self.beside.contains(&number) {
            return &[];
        }
        let first = said.partition_point(|(at, _)| changed.is_some_and(|changed| *at < changed));
        &said[first..said.partition_point(|(at, _)| *at < number).max(first)]
    }

    /// What was made at a path before a read, and whether it should be there.
    pub(super) fn made(&self, path: &str, number: usize) -> Vec<(&str, bool)> {
        let made =
            self.made.get(path.trim_end_matches('/')).filter(|_| !self.beside.contains(&number));
        let made = made.into_iter().flatten().filter(|made| made.at < number);
        let is_there = |made: &Made| made.gone.is_none_or(|gone| gone > number);
        made.map(|made| (&*made.id, is_there(made))).collect()
    }

    /// Whether two reads ask for the same but for the number in one place, and nothing was changed between them.
    pub(super) fn are_pages(&self, place: &str, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.asked.get(&one), self.asked.get(&other)) else {
            return false;
        };
        let is_other =
            |(one, other): (&String, &String)| one != other && is_number(one) && is_number(other);
        let is_same = |(one, other): ((&String, &String), (&String, &String))| {
            one == other || (one.0 == place && other.0 == place)
        };
        first.get(place).zip(second.get(place)).is_some_and(is_other)
            && first.len() == second.len()
            && first.iter().zip(second).all(is_same)
            && self.is_unchanged(one, other)
    }

    /// Whether the first of two reads asks for the same as the other one but that it has no number in a place, and is
    /// another page by that: without a number it may be page 0 or 1. Nothing was changed between them.
    pub(super) fn is_first(&self, place: &str, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.asked.get(&one), self.asked.get(&other)) else {
            return false;
        };
        let is_later =
            |word: &String| is_number(word) && !matches!(word.trim_start_matches('0'), "" | "1");
        let is_same = |(at, word): (&String, &String)| at == place || first.get(at) == Some(word);
        second.get(place).is_some_and(is_later)
            && !first.contains_key(place)
            && first.len() + 1 == second.len()
            && second.iter().all(is_same)
            && self.is_unchanged(one, other)
    }

    /// Whether all from behind one request to the other one only read.
    fn is_unchanged(&self, since: usize, number: usize) -> bool {
        let writes = |at: usize| self.writes.get(at);
        let behind = writes(number.saturating_add(1));
        behind.is_some() && writes(since + 1) == behind && !self.beside.contains(&number)
    }
}

/// What stands for a request by each key that it has: what is made up in its head, or in its body.
fn keys(request: &Request) -> Vec<Said> {
    let Request { method, path, body, headers } = request;
    let hash = |key: &[u8]| FixedState::default().hash_one((method, path, body, key));
    let text = |value: &Bytes| std::str::from_utf8(value).is_ok_and(is_minted);
    let minted = headers.iter().filter(|(_, value)| text(value));
    let mut keys: Vec<Said> = minted.map(|(_, value)| hash(value)).collect();
    let mut has_own = false;
    if let Some(json) = Text::parse(body) {
        json.each_leaf(|_, _, word, _| has_own |= is_minted(&word));
    }
    keys.extend(has_own.then(|| hash(&[])));
    keys
}

/// What a thing says that is neither a text nor a number.
fn flags(id: &str, json: Text<'_>) -> Vec<(Said, Said)> {
    let mut found = Vec::new();
    json.each_leaf(|pointer, _, _, spelled| {
        if matches!(spelled, "null" | "true" | "false") {
            let place = path(pointer).map(|path| place_of(id, &path));
            found.extend(place.zip(said_of(Text::known(spelled))));
        }
    });
    found
}

/// The leaves of a request, by their places.
fn leaves(json: Text<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    json.each_leaf(|pointer, _, word, _| {
        found.extend(path(pointer).map(|path| (path, word.to_string())));
    });
    found
}
