//! How many broken streams the learned contracts catch.
//!
//! From each recorded stream, mutants are made one change at a time, always the same ones: an event is
//! dropped, doubled, swapped with the next, inserted (a copy of one of another type), or given another
//! type; a field of an event, at any depth, is dropped, renamed, or given a value of another type. Each
//! is put in the place of the recorded answer and held against what was learned from all of them.
//!
//! # Rationale
//!
//! What is still in the protocol, as far as the recordings tell, is no mutant and is not counted:
//!
//! - an event is moved, doubled or left out and the types that come, deltas of one message taken
//!   together, are the same: deltas say how a text was cut, and keep-alives nothing;
//! - a field is dropped that another recorded event of the type does not have;
//! - a field is given a type that it has in another recorded event of the type.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

use retape::cassette::Interaction;
use retape::contract::{self, Contract, Endpoint, Finding, History, Traffic};
use retape::message::{Message, Messages, Protocols, Tag, Trace};
use retape::{Cassette, Name};
use serde_json::{Value, json};

use crate::measure::Effort;
use crate::server_changes::fields::Kind;
use crate::server_changes::recorded::{cassettes, is_stream, say, with_value};

/// What [`score`] is called.
pub const SCORE: &str = "broken streams that the learned contracts catch";

/// So many survivors are told.
const TOLD: usize = 20;

/// A recorded stream.
struct Stream {
    place: String,
    endpoint: Endpoint,
    interaction: Interaction,
    /// What came before it.
    earlier: History,
    events: Vec<Message>,
}

/// One change: of which kind, to which event, and what was done.
struct Mutant {
    kind: &'static str,
    event: usize,
    what: String,
    events: Vec<Message>,
}

/// The types that each field has in the recorded events of a type; `Kind::Missing` where it is not.
type Known = BTreeMap<(Endpoint, String, String), BTreeSet<Kind>>;

#[derive(Default)]
struct Count {
    tried: usize,
    caught: usize,
}

/// The table, the total, and the survivors.
pub fn score(effort: Effort) -> String {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut survivors = Vec::new();
    for folder in ["cassettes/letta", "cassettes/mcp"] {
        let cassettes = cassettes(folder);
        let contracts = contracts(&cassettes);
        let streams = streams(folder, &cassettes);
        let known = known(&streams);
        for stream in streams.iter().take(effort.at_most(usize::MAX).div_ceil(50)) {
            let Some(contract) = contracts.iter().find(|it| it.endpoint == stream.endpoint) else {
                continue;
            };
            let recorded = contract.broken_by(
                &Protocols::default(),
                &stream.interaction,
                Some(&stream.earlier),
            );
            assert!(recorded.is_empty(), "{} breaks its own contract", stream.place);
            for mutant in mutants(stream, &streams, &known) {
                let count = counts.entry(mutant.kind).or_default();
                count.tried += 1;
                let changed = stream.with(&mutant.events);
                if contract
                    .broken_by(&Protocols::default(), &changed, Some(&stream.earlier))
                    .is_empty()
                {
                    let Mutant { kind, event, what, .. } = mutant;
                    let event = event + 1;
                    survivors.push(format!("{}, event {event}: {kind}, {what}", stream.place));
                } else {
                    count.caught += 1;
                }
            }
        }
    }
    printed(&counts, &survivors)
}

fn printed(counts: &BTreeMap<&str, Count>, survivors: &[String]) -> String {
    let mut text =
        format!("## {SCORE}\n\n| mutation | tried | caught | share |\n|---|---|---|---|\n");
    let mut total = Count::default();
    let row = |name: &str, Count { tried, caught }: &Count| {
        let share = 100.0 * *caught as f64 / (*tried).max(1) as f64;
        format!("| {name} | {tried} | {caught} | {share:.2} % |\n")
    };
    for (kind, count) in counts {
        total.tried += count.tried;
        total.caught += count.caught;
        text.push_str(&row(kind, count));
    }
    text.push_str(&row("all (at least 95 % is wanted)", &total));
    let _ = writeln!(text, "\nSurvivors: {}", survivors.len());
    survivors.iter().take(TOLD).for_each(|it| {
        let _ = writeln!(text, "- {it}");
    });
    text
}

fn contracts(cassettes: &[(Name, Cassette)]) -> Vec<Contract> {
    let traffic = Traffic::of(
        &Protocols::default(),
        &[],
        cassettes.iter().map(|(name, cassette)| (name, cassette)),
    );
    let findings = contract::check(&traffic, &[]).into_iter();
    findings
        .filter_map(|found| match found {
            Finding::New(contract) => Some(contract),
            _ => None,
        })
        .collect()
}

fn streams(folder: &str, cassettes: &[(Name, Cassette)]) -> Vec<Stream> {
    let mut streams = Vec::new();
    for (name, cassette) in cassettes {
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let Some(response) = interaction.response() else { continue };
            let Messages { framing, list: events, .. } =
                Messages::of(response, &Protocols::default());
            if is_stream(framing) && !events.is_empty() {
                streams.push(Stream {
                    place: format!("{folder}/{name} #{}", number + 1),
                    endpoint: Endpoint::of(&interaction.request, response, &HashSet::new()),
                    interaction: interaction.clone(),
                    earlier: History::of(&cassette.interactions[..number], &Protocols::default()),
                    events,
                });
            }
        }
    }
    streams
}

impl Stream {
    /// The interaction with other events.
    fn with(&self, events: &[Message]) -> Interaction {
        let mut interaction = self.interaction.clone();
        say(&mut interaction, events);
        interaction
    }
}

fn mutants(stream: &Stream, all: &[Stream], known: &Known) -> Vec<Mutant> {
    let others = others(&stream.endpoint, all);
    let mut mutants = Vec::new();
    for event in 0..stream.events.len() {
        if !stream.events[event].is_keep_alive() {
            mutants.extend(of_event(stream, event, &others));
            mutants.extend(of_fields(stream, event, known));
        }
    }
    mutants
}

/// The first event of each type that an endpoint sends.
fn others(endpoint: &Endpoint, all: &[Stream]) -> Vec<Message> {
    let same = all.iter().filter(|stream| stream.endpoint == *endpoint);
    let mut others: BTreeMap<&str, &Message> = BTreeMap::new();
    for event in same.flat_map(|stream| &stream.events).filter(|event| !event.is_keep_alive()) {
        others.entry(event.tag.as_str()).or_insert(event);
    }
    others.into_values().cloned().collect()
}

fn of_event(stream: &Stream, event: usize, others: &[Message]) -> Vec<Mutant> {
    let own = &stream.events[event];
    let mut made = Vec::new();
    let mut make = |kind, what: String, change: &dyn Fn(&mut Vec<Message>)| {
        let mut events = stream.events.clone();
        change(&mut events);
        if word(&events) != word(&stream.events) {
            made.push(Mutant { kind, event, what, events });
        }
    };
    make("event dropped", own.tag.to_string(), &|events| drop(events.remove(event)));
    make("event doubled", own.tag.to_string(), &|events| events.insert(event, own.clone()));
    if let Some(next) = stream.events.get(event + 1) {
        make("events swapped", format!("{} and {}", own.tag, next.tag), &|events| {
            events.swap(event, event + 1);
        });
    }
    let different: Vec<&Message> = others.iter().filter(|other| other.tag != own.tag).collect();
    let Some(other) = different.get(event % different.len().max(1)) else { return made };
    make("event inserted", format!("{} before {}", other.tag, own.tag), &|events| {
        events.insert(event, (*other).clone());
    });
    if let Some(retagged) = retagged(own, other) {
        make("event retagged", format!("{} as {}", own.tag, other.tag), &|events| {
            events[event] = retagged.clone();
        });
    }
    made
}

fn word(events: &[Message]) -> Vec<Tag> {
    Trace::of(events, &Protocols::default()).steps.into_iter().map(|step| step.tag).collect()
}

/// The event with the type of another: the field that tells it, and the name of the SSE event.
fn retagged(own: &Message, other: &Message) -> Option<Message> {
    let mut value: Value = serde_json::from_str(&own.data).ok()?;
    let tag = Value::from(own.tag.as_str());
    let field = value.as_object_mut()?.values_mut().find(|value| **value == tag)?;
    *field = Value::from(other.tag.as_str());
    let event = own.event.as_ref().and(other.event.clone());
    Some(with_value(&Message { event, ..own.clone() }, &value))
}

fn of_fields(stream: &Stream, event: usize, known: &Known) -> Vec<Mutant> {
    let own = &stream.events[event];
    let Ok(value) = serde_json::from_str::<Value>(&own.data) else { return Vec::new() };
    let mut made = Vec::new();
    for (parent, name) in fields(&value) {
        let key = (stream.endpoint.clone(), own.tag.to_string(), path(&parent, &name));
        let kinds = &known[&key];
        let mut make = |kind, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut value = value.clone();
            let object = value.pointer_mut(&parent).and_then(Value::as_object_mut);
            change(object.expect("the field was found there"));
            let mut events = stream.events.clone();
            events[event] = with_value(own, &value);
            made.push(Mutant { kind, event, what: format!("{} {}", own.tag, key.2), events });
        };
        if !kinds.contains(&Kind::Missing) {
            make("field dropped", &|object| drop(object.remove(&name)));
        }
        make("field renamed", &|object| {
            let value = object.remove(&name).expect("the field was found there");
            object.insert(format!("{name}_renamed"), value);
        });
        if let Some(other) = retyped(kinds) {
            make("field retyped", &|object| drop(object.insert(name.clone(), other.clone())));
        }
    }
    made
}

/// A value of the first type that a field never has.
fn retyped(kinds: &BTreeSet<Kind>) -> Option<Value> {
    let values = [json!(17), json!("seventeen"), json!(true), json!([17]), json!({"a": 17})];
    values.into_iter().find(|value| !kinds.contains(&Kind::of(value)))
}

/// All fields: the pointer to the object, and the name.
fn fields(value: &Value) -> Vec<(String, String)> {
    fn walk(value: &Value, pointer: &str, found: &mut Vec<(String, String)>) {
        let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                found.push((pointer.to_owned(), name.clone()));
                walk(value, &format!("{pointer}/{}", escaped(name)), found);
            }),
            Value::Array(elements) => elements.iter().enumerate().for_each(|(index, value)| {
                walk(value, &format!("{pointer}/{index}"), found);
            }),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}

/// A field with the elements of arrays taken together.
fn path(parent: &str, name: &str) -> String {
    let steps = parent.split('/').skip(1).chain([name]);
    let steps = steps.map(|step| if step.parse::<usize>().is_ok() { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

fn known(streams: &[Stream]) -> Known {
    let mut known = Known::new();
    // Objects by place, then fields by object: a field is missing where fewer have it.
    let mut objects: BTreeMap<(Endpoint, String, String), usize> = BTreeMap::new();
    let mut present: BTreeMap<(Endpoint, String, String), (String, usize)> = BTreeMap::new();
    for (stream, event) in streams.iter().flat_map(|it| it.events.iter().map(move |e| (it, e))) {
        let Ok(value) = serde_json::from_str::<Value>(&event.data) else { continue };
        let key = |path: String| (stream.endpoint.clone(), event.tag.to_string(), path);
        let mut parents = BTreeSet::new();
        for (parent, name) in fields(&value) {
            let object = value.pointer(&parent).expect("the field was found there");
            let place = path(&parent, "");
            if parents.insert(parent.clone()) {
                *objects.entry(key(place.clone())).or_default() += 1;
            }
            let field = key(path(&parent, &name));
            known.entry(field.clone()).or_default().insert(Kind::of(&object[&name]));
            present.entry(field).or_insert((place, 0)).1 += 1;
        }
    }
    for ((endpoint, tag, field), (place, count)) in present {
        if count < objects[&(endpoint.clone(), tag.clone(), place)] {
            known.entry((endpoint, tag, field)).or_default().insert(Kind::Missing);
        }
    }
    known
}
