//! Counting how often something could have failed, and how often it did not.
//!
//! After Daikon (Ernst et al., TSE 2001): each template is tried for each field, or pair of fields, and
//! what failed once is out.
//!
//! # Rationale
//!
//! Only counts are kept, and what holds is what never failed: as many times held as it could have
//! failed. A pair of fields that has failed can be forgotten: its count never catches up again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::fast::{FixedState, RandomState};

use super::alone::PriorValue;
use super::claim::{Field, Invariant, Path};
use super::earlier::{Counted as CountedReferring, Referring};
use super::echo::{Echoes, said};
use super::first::Beginnings;
use super::holding::{Facts, Reference};
use super::kept::Kept;
use super::number::Numbers;
use super::offered::Offered;
use super::onward::Onward;
use super::pairing::Pairs;
use super::presence::Presence;
use super::sorted::{Sorted, is_of_row};
use super::text::Texts;
use super::trace::{Comparable, Event, RowNumber, Trace, each};
use super::within::Within;
use crate::text::json::Text;

/// With more pairs than that, those that have failed are forgotten.
pub(super) const PAIRS: usize = 1 << 12;

/// Learns invariants from traces, one by one.
#[derive(Debug, Clone, Default)]
pub struct Learner {
    names: FieldNumbers,
    facts: Map<u32, Facts>,
    echoes: Echoes,
    references: Map<(u32, u32), Reference>,
    referring: Referring,
    numbers: Numbers,
    pairs: Pairs,
    presence: Presence,
    texts: Texts,
    sorted: Sorted,
    onward: Onward,
    within: Within,
    kept: Kept,
    beginnings: Beginnings,
    offered: Offered,
    traces: u32,
}

/// What was counted, by the names of fields in their order.
#[derive(Debug)]
pub(super) struct Counted<'l> {
    pub(super) fields: BTreeMap<Field, &'l Facts>,
    pub(super) references: BTreeMap<(Field, Field), Reference>,
    pub(super) referring: CountedReferring,
}

/// A value of a message, by the number of its path.
#[derive(Debug)]
pub(super) struct Sight<'j> {
    pub(super) path: u32,
    pub(super) row: RowNumber,
    pub(super) value: Comparable<'j>,
}

/// The values of a message of a type, by its number.
pub(super) type Sights<'j> = (u32, Vec<Sight<'j>>);

/// What one trace has shown so far.
#[derive(Default)]
struct Current<'t> {
    /// Which message the event is of.
    identity: u64,
    /// The number of the event.
    event: usize,
    fields: Map<u32, FieldValues<'t>>,
    /// Which fields have said something in earlier events.
    said: Map<&'t str, Vec<u32>>,
    /// Who has referred to what, and what it was.
    referred: HashSet<(u32, u32, &'t str), RandomState>,
}

/// What a field has said.
struct FieldValues<'t> {
    /// What it said last, and in which event of which message.
    last: &'t Comparable<'t>,
    identity: u64,
    event: usize,
    all: HashSet<&'t str, RandomState>,
}

impl Learner {
    /// Learns from a trace, which is a recording by itself.
    pub fn learn(&mut self, trace: &Trace<'_>) {
        self.learn_from(self.traces, trace);
    }

    /// Learns from a whole answer that says no type: how its numbers go together, what it echoes, and what any whole
    /// answer shows.
    pub(crate) fn learn_alone(&mut self, recording: u32, trace: &Trace<'_>) {
        let (request, events) = self.sights(trace);
        self.numbers.learn(&self.names, recording, &request, &events);
        self.learn_echoes(recording, &request, &events);
        self.learn_answer(recording, trace, &request, &events);
    }

    /// Learns what any whole answer shows from one that is a message with a type, beside what messages show.
    pub(crate) fn learn_whole(&mut self, recording: u32, trace: &Trace<'_>) {
        let (request, events) = self.sights(trace);
        self.learn_answer(recording, trace, &request, &events);
    }

    /// What comes with what, that no row of a list comes twice or out of order, what refers to rows, where clients go
    /// on from, and what was said of the same things before.
    fn learn_answer(
        &mut self,
        recording: u32,
        trace: &Trace<'_>,
        request: &[Sight<'_>],
        events: &[Sights<'_>],
    ) {
        for (event, (_, sights)) in trace.events.iter().zip(events) {
            let json = (trace.request, event.json);
            self.presence.learn(&mut self.names, recording, json, [request, sights]);
        }
        self.learn_rows(events);
        self.onward.learn(recording, trace);
        let is_asked = request.iter().any(|it| !self.names.spelled(it.path).starts_with('{'));
        self.kept.learn(&self.names, recording, (trace, is_asked), events);
        self.beginnings.learn(&self.names, recording, events);
        self.offered.learn(&self.names, recording, trace, events);
        self.within.learn(&self.names, recording, events);
        let sights = events.iter().map(|(_, sights)| &sights[..]);
        self.sorted.learn(&self.names, trace.request, sights);
    }

    /// Learns that the rows of a list are called apart, and how they are numbered.
    fn learn_rows(&mut self, events: &[Sights<'_>]) {
        let mut said: Map<u32, HashSet<&str, RandomState>> = Map::default();
        for (_, sights) in events {
            let mut last: Map<u32, f64> = Map::default();
            for sight in sights {
                if !is_of_row(self.names.spelled(sight.path)) {
                    continue;
                }
                let field = self.names.field(None, sight.path);
                if let Some(key) = sight.value.key() {
                    self.key(field, key);
                    let rows = said.entry(field).or_default();
                    let others = rows.len();
                    let is_new = rows.insert(key);
                    if others > 0 {
                        self.facts.entry(field).or_default().see_row(is_new, others);
                    }
                } else if let Some(number) = sight.value.counted()
                    && let Some(before) = last.insert(field, number)
                {
                    self.facts.entry(field).or_default().see_next_row(before, number);
                }
            }
        }
    }

    /// Learns from a trace of a recording.
    pub(crate) fn learn_from(&mut self, recording: u32, trace: &Trace<'_>) {
        self.traces += 1;
        let (request, events) = self.sights(trace);
        if let Some(earlier) = trace.earlier {
            // Whoever wrote the path took what stands in it from anywhere.
            let is_open = |sight: &&Sight<'_>| self.names.spelled(sight.path).starts_with('{');
            let open = request.iter().take_while(is_open).count();
            self.referring.learn(&mut self.names, earlier, &request[..open], &events);
        }
        self.numbers.learn(&self.names, recording, &request, &events);
        self.pairs.learn(&self.names, recording, &events);
        self.beginnings.learn(&self.names, recording, &events);
        self.offered.learn(&self.names, recording, trace, &events);
        self.texts.learn(&mut self.names, recording, &events);
        self.learn_echoes(recording, &request, &events);
        let mut current = Current::default();
        for (tag, sights) in &events {
            current.identity = identity(*tag, sights);
            current.event += 1;
            for sight in sights {
                let is_text = sight.value.said().is_some() && sight.value.ordered().is_none();
                for tag in [None, Some(*tag)] {
                    let field = self.names.field(tag, sight.path);
                    if is_text {
                        self.facts.entry(field).or_default().is_text = true;
                    }
                    if !sight.value.is_plain() {
                        continue;
                    }
                    if let Some(key) = sight.value.key() {
                        if tag.is_some() {
                            self.refer(field, key, &mut current);
                        }
                        self.key(field, key);
                    }
                    self.say(field, &sight.value, &mut current);
                }
            }
            for (sight, key) in keys(sights) {
                let field = self.names.field(Some(*tag), sight.path);
                note(current.said.entry(key).or_default(), field);
            }
        }
        self.end(current);
    }

    /// The values of the request, and those of the messages.
    fn sights<'t>(&mut self, trace: &Trace<'t>) -> (Vec<Sight<'t>>, Vec<Sights<'t>>) {
        let names = &mut self.names;
        let request = trace.request.map(|json| names.sights(json)).unwrap_or_default();
        (request, trace.events.iter().map(|event| names.sights_of(event)).collect())
    }

    /// Learns what messages say of what was asked, of each type and of all together.
    fn learn_echoes(&mut self, recording: u32, request: &[Sight<'_>], events: &[Sights<'_>]) {
        let Some(asked) = self.echoes.ask(recording, request) else { return };
        for (tag, sights) in events {
            let tags = [None, Some(*tag).filter(|tag| !self.names.spelled(*tag).is_empty())];
            let tags = if tags[1].is_some() { &tags[..] } else { &tags[..1] };
            for Sight { path, value, .. } in sights {
                let Some(said) = said(value) else { continue };
                for tag in tags {
                    self.echoes.see(self.names.field(*tag, *path), value, said, &asked);
                }
            }
        }
    }

    /// What goes together by what is said.
    pub(super) fn tied(&self) -> impl Iterator<Item = Invariant> {
        let numbers = self.numbers.holding(&self.names).into_iter();
        let texts = self.texts.holding(&self.names);
        let echoes = self.echoes.holding(&self.names);
        let pairs = self.pairs.holding(&self.names);
        let sorted = self.sorted.holding(&self.names);
        let all = numbers.chain(pairs).chain(texts).chain(echoes).chain(sorted);
        let all = all.chain(self.presence.holding(&self.names)).chain(self.onward.holding());
        let all = all.chain(self.within.holding(&self.names));
        let all = all.chain(self.offered.holding(&self.names));
        all.chain(self.kept.holding(&self.names)).chain(self.beginnings.holding(&self.names))
    }

    /// What was counted, in the order of the fields.
    pub(super) fn counted(&self) -> Counted<'_> {
        let name = |field: u32| self.names.get(field).clone();
        let fields = self.facts.iter().map(|(field, facts)| (name(*field), facts));
        let references = self.references.iter();
        Counted {
            fields: fields.collect(),
            references: references
                .map(|((field, to), reference)| ((name(*field), name(*to)), *reference))
                .collect(),
            referring: self.referring.counted(&name),
        }
    }

    fn refer<'t>(&mut self, field: u32, key: &'t str, current: &mut Current<'t>) {
        for to in current.said.get(key).into_iter().flatten().filter(|to| **to != field) {
            self.references.entry((field, *to)).or_default().found += 1;
            current.referred.insert((field, *to, key));
        }
    }

    fn key(&mut self, field: u32, key: &str) {
        let facts = self.facts.entry(field).or_default();
        facts.keys += 1;
        facts.single.see(key);
        facts.repeats.say(FixedState::default().hash_one(key));
    }

    fn say<'t>(&mut self, field: u32, value: &'t Comparable<'t>, current: &mut Current<'t>) {
        let identity = current.identity;
        match current.fields.get_mut(&field) {
            Some(said) => {
                let others = said.all.len();
                let is_said = value.key().is_some_and(|key| !said.all.insert(key));
                // Elements of one message are no pieces of it.
                let is_same = said.identity == identity && said.event != current.event;
                let is_row = said.event == current.event;
                let before = PriorValue { last: said.last, is_said, is_same, is_row };
                let facts = self.facts.entry(field).or_default();
                facts.see(before, value);
                facts.repeats.beside(others);
                (said.last, said.identity, said.event) = (value, identity, current.event);
            }
            None => {
                let all = value.key().into_iter().collect();
                let event = current.event;
                current.fields.insert(field, FieldValues { last: value, identity, event, all });
            }
        }
    }

    fn end(&mut self, current: Current<'_>) {
        for (field, said) in current.fields {
            self.facts.entry(field).or_default().distinct += said.all.len() as u64;
        }
        for (field, to, _) in current.referred {
            self.references.entry((field, to)).or_default().referred += 1;
        }
        self.forget();
    }

    /// Forgets pairs that have failed where there are many.
    fn forget(&mut self) {
        let keys = |field: &u32| self.facts.get(field).map_or(0, |facts| facts.keys);
        if self.references.len() > PAIRS {
            self.references.retain(|(field, _), reference| reference.found >= keys(field));
        }
    }
}

/// What identifies something in a message.
pub(super) fn keys<'s>(sights: &'s [Sight<'_>]) -> impl Iterator<Item = (&'s Sight<'s>, &'s str)> {
    sights.iter().filter_map(|sight| Some((sight, sight.value.key()?)))
}

/// Notes a number, once.
pub(super) fn note(numbers: &mut Vec<u32>, number: u32) {
    if !numbers.contains(&number) {
        numbers.push(number);
    }
}

/// What tells two messages apart: all that an event identifies. The pieces of one message agree in it.
pub(super) fn identity(tag: u32, sights: &[Sight<'_>]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    tag.hash(&mut hasher);
    keys(sights).for_each(|(sight, key)| (sight.path, key).hash(&mut hasher));
    hasher.finish()
}

/// What is looked up for each value of each message.
pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Fields that have come up, each with a number: to count by that takes no memory for each time.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldNumbers {
    /// Types and paths.
    words: Map<Box<str>, u32>,
    spelled: Vec<Box<str>>,
    fields: Map<(Option<u32>, u32), u32>,
    all: Vec<NumberedField>,
}

/// A field that has a number.
#[derive(Debug, Clone)]
pub(super) struct NumberedField {
    pub(super) field: Field,
    /// The number of its path.
    pub(super) path: u32,
}

impl FieldNumbers {
    /// The number of a type or of a path.
    pub(crate) fn word(&mut self, word: &str) -> u32 {
        if let Some(number) = self.words.get(word) {
            return *number;
        }
        let number = number(self.spelled.len());
        self.words.insert(word.into(), number);
        self.spelled.push(word.into());
        number
    }

    /// The number of a word that has come up.
    pub(super) fn find(&self, word: &str) -> Option<u32> {
        self.words.get(word).copied()
    }

    /// The values in a JSON text in order; none if it is no JSON.
    pub(super) fn sights<'j>(&mut self, json: &'j str) -> Vec<Sight<'j>> {
        let mut all = Vec::new();
        if let Some(json) = Text::read(json) {
            each(json, &mut |path, row, value| {
                all.push(Sight { path: self.word(path.as_str()), row, value })
            });
        }
        all
    }

    /// The same of an event.
    pub(super) fn sights_of<'j>(&mut self, event: &Event<'j>) -> Sights<'j> {
        (self.word(event.tag), self.sights(event.json))
    }

    /// The word that has a number.
    pub(super) fn spelled(&self, word: u32) -> &str {
        &self.spelled[word as usize]
    }

    /// The number of the field of that type and path.
    pub(crate) fn field(&mut self, tag: Option<u32>, path: u32) -> u32 {
        if let Some(number) = self.fields.get(&(tag, path)) {
            return *number;
        }
        let number = number(self.all.len());
        let spelled = tag.map(|tag| self.spelled(tag).to_owned());
        let field = Field { tag: spelled, path: Path::written(self.spelled(path)) };
        self.fields.insert((tag, path), number);
        self.all.push(NumberedField { field, path });
        number
    }

    /// The number of a field.
    pub(super) fn number(&mut self, field: &Field) -> u32 {
        let tag = field.tag.as_deref().map(|tag| self.word(tag));
        let path = self.word(field.path.as_str());
        self.field(tag, path)
    }

    /// The field that has a number.
    pub(crate) fn get(&self, field: u32) -> &Field {
        &self.known(field).field
    }

    pub(super) fn known(&self, field: u32) -> &NumberedField {
        &self.all[field as usize]
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("nobody has so many fields")
}
