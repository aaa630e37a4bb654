//! What a protocol allows, known from how it is made and not from what retape learns.

use regex::Regex;
use serde_json::{Value, json};

use super::talk::{Event, Session, Stream, Talk};
use crate::dice::Random;

/// A protocol whose grammar is known.
pub struct Protocol {
    pub name: &'static str,
    /// Records a conversation.
    pub say: fn(&mut Talk),
    /// What its streams may say, if it has any.
    pub grammar: Option<Grammar>,
    /// Members of JSON answers that may be missing.
    pub optional: &'static [&'static str],
}

/// What a stream may say.
pub struct Grammar {
    pub types: TypeSource,
    /// A regular expression over the types of its events. Those that have the key are `_`.
    pub order: &'static str,
    /// What may come anywhere but at the ends.
    pub anywhere: &'static [&'static str],
    /// The key of what may be interleaved, as a JSON Pointer, and the order of what has one key.
    pub slices: Option<(&'static str, &'static str)>,
    /// What else must hold, by the request.
    pub law: fn(&Value, &[Event]) -> bool,
}

/// What tells the type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeSource {
    /// The name of the SSE event.
    Name,
    /// A member, a boolean one too.
    Member(&'static str),
    /// JSON-RPC: the method, or which of `result` and `error` is there.
    Method,
}

/// No other law.
pub const NO_LAW: fn(&Value, &[Event]) -> bool = |_, _| true;

/// One edit that makes a conversation illegal.
pub struct Illegal {
    pub edit: &'static str,
    /// What was changed, in words.
    pub what: String,
    /// The interaction that was changed, and its new answer.
    pub interaction: usize,
    pub body: retape::cassette::Body,
}

/// The edits of streams, and of bodies.
pub const EDITS: [&str; 8] = [
    "dropped",
    "doubled",
    "swapped",
    "inserted",
    "renamed",
    "cut",
    "member dropped or renamed",
    "member of another type",
];

impl TypeSource {
    fn of(self, event: &Event) -> String {
        let data = &event.data;
        match self {
            _ if data == "[DONE]" => "[DONE]".to_owned(),
            Self::Name => event.name.clone().unwrap_or_default(),
            Self::Member(name) => match &data[name] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
            Self::Method => match data["method"].as_str() {
                Some(method) => method.to_owned(),
                None => if data["error"].is_null() { "result" } else { "error" }.to_owned(),
            },
        }
    }

    /// The event as one of another type.
    fn renamed(self, event: &Event, name: &str) -> Event {
        let mut event = event.clone();
        match self {
            Self::Name => event.name = Some(name.to_owned()),
            Self::Member(member) => {
                let value = name.parse::<bool>().map_or_else(|_| json!(name), Value::from);
                event.data[member] = value;
                // Many servers say it twice.
                event.name = event.name.map(|_| name.to_owned());
            }
            Self::Method if event.data["method"].is_string() => event.data["method"] = json!(name),
            Self::Method => {
                if let Some(members) = event.data.as_object_mut() {
                    let said = members.remove("result").or_else(|| members.remove("error"));
                    members.insert(name.to_owned(), said.unwrap_or_default());
                }
            }
        }
        event
    }
}

impl Grammar {
    /// Whether a stream is one of the protocol.
    pub fn allows(&self, asked: &Value, events: &[Event]) -> bool {
        let events: Vec<Event> =
            events.iter().filter(|event| !event.is_comment()).cloned().collect();
        let types: Vec<String> = events.iter().map(|event| self.types.of(event)).collect();
        let is_between = |at: usize| 0 < at && at + 1 < events.len();
        let mut word = String::new();
        let mut slices: Vec<(&Value, String)> = Vec::new();
        for (at, (event, kind)) in events.iter().zip(&types).enumerate() {
            if self.anywhere.contains(&kind.as_str()) {
                if !is_between(at) {
                    return false;
                }
                continue;
            }
            let Some(key) = self.slices.and_then(|(key, _)| event.data.pointer(key)) else {
                word += &format!("{kind} ");
                continue;
            };
            if !word.ends_with("_ ") {
                word += "_ ";
            }
            match slices.iter_mut().find(|(other, _)| *other == key) {
                Some((_, slice)) => *slice += &format!("{kind} "),
                None => slices.push((key, format!("{kind} "))),
            }
        }
        let inner = self.slices.map(|(_, order)| regular(order));
        let slices_are = slices
            .iter()
            .all(|(_, slice)| inner.as_ref().is_some_and(|inner| inner.is_match(slice)));
        regular(self.order).is_match(&word) && slices_are && (self.law)(asked, &events)
    }

    /// One edit of a stream that the grammar forbids; none if chance finds none.
    fn illegal(&self, stream: &Stream, others: &[&Stream], random: &mut Random) -> Option<Illegal> {
        let edit = EDITS[random.below(6)];
        let attempts = (0..20).map(|_| {
            let mut events = stream.events.clone();
            self.edit(edit, &mut events, others, random);
            events
        });
        let mut illegal = attempts.filter(|it| !self.allows(&stream.asked, it));
        let events = illegal.next()?;
        let what = self.difference(&stream.events, &events);
        Some(Illegal { edit, what, interaction: stream.interaction, body: stream.body(&events) })
    }

    /// Where the types of two streams differ, with their neighbours.
    fn difference(&self, was: &[Event], is: &[Event]) -> String {
        let same = was.iter().zip(is).take_while(|(was, is)| was == is).count();
        let from = same.saturating_sub(2);
        let types = |events: &[Event]| {
            let types = events.iter().skip(from).take(6).map(|event| self.types.of(event));
            types.collect::<Vec<String>>().join(" ")
        };
        format!("event {same}: {} → {}", types(was), types(is))
    }

    fn edit(&self, edit: &str, events: &mut Vec<Event>, others: &[&Stream], random: &mut Random) {
        let at = random.below(events.len());
        let other = &others[random.below(others.len())].events;
        let other = &other[random.below(other.len())];
        match edit {
            "dropped" => drop(events.remove(at)),
            "doubled" => events.insert(at, events[at].clone()),
            "swapped" => events[at..].chunks_mut(2).take(1).for_each(<[Event]>::reverse),
            "inserted" => events.insert(at, other.clone()),
            "cut" => events.truncate(at.max(1)),
            _ => {
                let own = self.types.of(&events[at]);
                let name = match self.types.of(other) {
                    other if other != own && random.chance(50) => other,
                    _ => format!("{own}ed"),
                };
                events[at] = self.types.renamed(&events[at], &name);
            }
        }
    }
}

/// The regular expression of an order that is written in words: each stands for itself and the space
/// behind it.
fn regular(order: &str) -> Regex {
    let mut pattern = String::from("^(?:");
    let is_letter = |char: char| char.is_alphanumeric() || "_./$[]-".contains(char);
    for part in order.split_inclusive(|char| !is_letter(char)) {
        let word = part.trim_end_matches(|char| !is_letter(char));
        if !word.is_empty() {
            pattern += &format!("(?:{} )", regex::escape(word));
        }
        pattern += part[word.len()..].trim();
    }
    Regex::new(&(pattern + ")$")).expect("orders of protocols are regular expressions")
}

impl Protocol {
    /// An edit of a conversation that the protocol forbids.
    pub fn illegal(
        &self,
        session: &Session,
        all: &[Session],
        random: &mut Random,
    ) -> Option<Illegal> {
        let Some(grammar) = &self.grammar else { return self.illegal_body(session, random) };
        let others: Vec<&Stream> = all.iter().flat_map(|session| &session.streams).collect();
        let stream = session.streams.get(random.below(session.streams.len().max(1)))?;
        grammar.illegal(stream, &others, random)
    }

    /// Whether all streams of a conversation are of the protocol.
    pub fn allows(&self, session: &Session) -> bool {
        let allows = |stream: &Stream| {
            let grammar = self.grammar.as_ref();
            grammar.is_some_and(|grammar| grammar.allows(&stream.asked, &stream.events))
        };
        session.streams.iter().all(allows)
    }

    fn illegal_body(&self, session: &Session, random: &mut Random) -> Option<Illegal> {
        let interaction = random.below(session.cassette.interactions.len());
        let answer = session.cassette.interactions[interaction].response()?;
        let mut value: Value = serde_json::from_slice(&answer.body.bytes()).ok()?;
        let mut found = Vec::new();
        self.required(&value, "", &mut found);
        let (place, name) = found.get(random.below(found.len().max(1)))?.clone();
        let members = value.pointer_mut(&place).and_then(Value::as_object_mut)?;
        let own = members.remove(&name)?;
        let what = format!("{name} at {place:?}");
        let edit = EDITS[6 + random.below(2)];
        if edit == EDITS[7] {
            members.insert(name, json!({"value": own}));
        } else if random.chance(50) {
            members.insert(format!("{name}_renamed"), own);
        }
        let body = retape::cassette::Body::Whole(value.to_string().into());
        Some(Illegal { edit, what, interaction, body })
    }

    /// The members that must be there: where they stand, and their names.
    fn required(&self, value: &Value, place: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter().filter(|(name, _)| self.is_required(name)) {
                    found.push((place.to_owned(), name.clone()));
                    self.required(member, &format!("{place}/{name}"), found);
                }
            }
            Value::Array(elements) => (0..).zip(elements).for_each(|(at, element)| {
                self.required(element, &format!("{place}/{at}"), found);
            }),
            _ => {}
        }
    }

    fn is_required(&self, name: &str) -> bool {
        !self.optional.contains(&name)
    }
}

/// Whether a number is one more in each event that has it.
pub fn counts(events: &[Event], name: &str) -> bool {
    let numbers: Vec<u64> = events.iter().filter_map(|event| event.data[name].as_u64()).collect();
    numbers.len() == events.len() && numbers.windows(2).all(|two| two[1] == two[0] + 1)
}
