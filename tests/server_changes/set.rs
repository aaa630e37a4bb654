//! Recordings of one server, and what they have: counted here, not learned by retape.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use retape::cassette::Interaction;
use retape::contract::Endpoint;
use retape::message::{Framing, Message};
use serde_json::Value;

use super::fields::{Kind, objects};
use super::recorded::{self, Recordings};

/// Recordings of one server.
pub struct Set {
    pub name: &'static str,
    pub recordings: Recordings,
    pub streams: Vec<Stream>,
    pub fields: BTreeMap<Key, Field>,
    /// All that was asked, as text.
    pub asked: String,
}

/// Which interaction of which cassette, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub cassette: usize,
    pub interaction: usize,
}

/// A stream, keep-alives left out.
pub struct Stream {
    pub at: At,
    pub endpoint: Endpoint,
    pub messages: Vec<Arc<Message>>,
}

/// A field of all messages of a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub endpoint: Endpoint,
    /// The type of the messages; `body` where the answer is no stream.
    pub tag: String,
    /// The object that has it.
    pub place: String,
    pub name: String,
}

/// Where a field is and is not.
#[derive(Default)]
pub struct Field {
    pub sites: Vec<Site>,
    pub values: Vec<Value>,
    /// The objects that do not have it.
    pub without: Vec<Site>,
    /// The types of its values; `Kind::Missing` if it is not everywhere.
    pub kinds: BTreeSet<Kind>,
}

/// An object in a recorded message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    pub at: At,
    /// The number of the message in [`recorded::said`].
    pub message: usize,
    pub pointer: String,
}

impl Stream {
    /// Its messages, to be changed.
    pub fn copied(&self) -> Vec<Message> {
        self.messages.iter().map(|message| (**message).clone()).collect()
    }
}

type Object = (Endpoint, String, String);

impl Set {
    /// The cassettes of a folder whose names are wanted.
    pub fn of(name: &'static str, wanted: impl Fn(&str) -> bool) -> Self {
        let mut recordings = recorded::cassettes(&format!("cassettes/{name}"));
        recordings.retain(|(name, _)| wanted(name.as_str()));
        let mut set = Self {
            name,
            recordings: Vec::new(),
            streams: Vec::new(),
            fields: BTreeMap::new(),
            asked: String::new(),
        };
        let mut seen: BTreeMap<Object, Vec<Site>> = BTreeMap::new();
        for (cassette, (_, recorded)) in recordings.iter().enumerate() {
            for (interaction, one) in recorded.interactions.iter().enumerate() {
                set.asked += &String::from_utf8_lossy(&one.request.readable());
                set.read(At { cassette, interaction }, one, &mut seen);
            }
        }
        for (key, field) in &mut set.fields {
            let object = (key.endpoint.clone(), key.tag.clone(), key.place.clone());
            let has: BTreeSet<&Site> = field.sites.iter().collect();
            let without = seen[&object].iter().filter(|site| !has.contains(site));
            field.without = without.cloned().collect();
            if !field.without.is_empty() {
                field.kinds.insert(Kind::Missing);
            }
        }
        set.recordings = recordings;
        set
    }

    fn read(&mut self, at: At, one: &Interaction, seen: &mut BTreeMap<Object, Vec<Site>>) {
        let Some(endpoint) = endpoint(one) else { return };
        let messages = recorded::said(one);
        for (number, message) in messages.iter().enumerate() {
            let Ok(value) = serde_json::from_str::<Value>(&message.data) else { continue };
            let tag = type_of(message, &value, one);
            for object in objects(&value) {
                let site = Site { at, message: number, pointer: object.pointer };
                let place = (endpoint.clone(), tag.clone(), object.place.clone());
                seen.entry(place).or_default().push(site.clone());
                for (name, value) in object.members {
                    let (endpoint, tag) = (endpoint.clone(), tag.clone());
                    let (place, name) = (object.place.clone(), name.clone());
                    let field = self.fields.entry(Key { endpoint, tag, place, name }).or_default();
                    field.sites.push(site.clone());
                    field.values.push(value.clone());
                    field.kinds.insert(Kind::of(value));
                }
            }
        }
        let media = one.response().and_then(|it| it.headers.get("content-type"));
        if recorded::is_stream(Framing::of(media)) {
            let said = messages.into_iter().filter(|it| !it.is_keep_alive());
            let messages: Vec<Arc<Message>> = said.map(Arc::new).collect();
            if !messages.is_empty() {
                self.streams.push(Stream { at, endpoint, messages });
            }
        }
    }

    /// The streams of one endpoint, and those of the next.
    pub fn by_endpoint(&self) -> BTreeMap<&Endpoint, Vec<&Stream>> {
        let mut sorted: BTreeMap<&Endpoint, Vec<&Stream>> = BTreeMap::new();
        self.streams.iter().for_each(|it| sorted.entry(&it.endpoint).or_default().push(it));
        sorted
    }

    pub fn interaction(&self, at: At) -> &Interaction {
        &self.recordings[at.cassette].1.interactions[at.interaction]
    }

    /// All interactions.
    pub fn interactions(&self) -> impl Iterator<Item = (At, &Interaction)> {
        self.recordings.iter().enumerate().flat_map(|(cassette, (_, recorded))| {
            let all = recorded.interactions.iter().enumerate();
            all.map(move |(interaction, one)| (At { cassette, interaction }, one))
        })
    }
}

/// Where something was asked, and how it was answered.
pub fn endpoint(one: &Interaction) -> Option<Endpoint> {
    Some(Endpoint::of(&one.request, one.response()?, &std::collections::HashSet::new()))
}

/// What JSON-RPC answers look like depends on what was called.
fn type_of(message: &Message, value: &Value, one: &Interaction) -> String {
    let tag = message.tag.as_str();
    let asked = serde_json::from_slice::<Value>(&one.request.readable()).unwrap_or_default();
    match asked["method"].as_str().filter(|_| value.get("result").is_some()) {
        Some(method) => format!("{tag} of {method}"),
        None => tag.to_owned(),
    }
}
