//! Messages that follow each other as they never did.
//!
//! What is called breaking here has a pair of neighbours (the beginning and the end are neighbours too)
//! that no recorded stream of the endpoint has.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use retape::contract::Endpoint;
use retape::message::Message;
use serde_json::{Value, json};

use super::super::edit::{ServerChange, interaction, values};
use super::super::recorded::say;
use super::super::set::{Set, Stream};

/// What each stream becomes; its messages are shared, for there are many.
type Messages = Vec<Arc<Message>>;

type Edge<'m> = (Option<&'m str>, Option<&'m str>);

/// Which messages directly follow which.
fn edges(messages: &Messages) -> BTreeSet<Edge<'_>> {
    let tags = || messages.iter().map(|message| Some(message.tag.as_str()));
    iter::once(None).chain(tags()).zip(tags().chain([None])).collect()
}

/// What each stream of an endpoint becomes by a change, for those that it changes in a new way.
fn changes(
    set: &Set,
    change: impl Fn(&Stream, &[&Stream]) -> Vec<(String, Messages)>,
) -> Vec<ServerChange> {
    let mut made = Vec::new();
    for (endpoint, streams) in set.by_endpoint() {
        let known: BTreeSet<Edge<'_>> = streams.iter().flat_map(|it| edges(&it.messages)).collect();
        let mut done = BTreeSet::new();
        for stream in &streams {
            for (what, messages) in change(stream, &streams) {
                let new = edges(&messages);
                let new: Vec<_> = new.difference(&known).collect();
                if !new.is_empty() && done.insert(format!("{new:?}")) {
                    made.push(one(set, endpoint, stream, &what, messages));
                }
            }
        }
    }
    made
}

fn one(
    set: &Set,
    endpoint: &Endpoint,
    stream: &Stream,
    what: &str,
    messages: Messages,
) -> ServerChange {
    let (at, cassette) = (stream.at, &set.recordings[stream.at.cassette].0);
    let what = format!("{what} in {cassette} #{}", at.interaction + 1);
    ServerChange::new(what, move |all| say(interaction(all, at), &renumbered(&messages)))
        .at(endpoint)
}

/// A server that counts its messages counts these.
fn renumbered(messages: &Messages) -> Vec<Message> {
    let mut messages: Vec<Message> = messages.iter().map(|it| (**it).clone()).collect();
    for (number, message) in messages.iter_mut().enumerate() {
        if message.data.contains("\"sequence_number\"") {
            values(message, |value| value["sequence_number"] = json!(number));
        }
    }
    messages
}

/// Without the messages from a place on; what says that the stream is over still comes.
pub fn ends_early(set: &Set) -> Vec<ServerChange> {
    changes(set, |stream, _| {
        let done = stream.messages.iter().filter(|message| message.data.trim() == "[DONE]");
        let done: Messages = done.cloned().collect();
        let said = stream.messages.len() - done.len();
        let cut = (1..said).rev().map(|kept| {
            let what = format!("ends after `{}`", stream.messages[kept - 1].tag);
            (what, [&stream.messages[..kept], &done].concat())
        });
        cut.collect()
    })
}

pub fn dropped(set: &Set) -> Vec<ServerChange> {
    changes(set, |stream, _| {
        let without = |number: usize| {
            let mut messages = stream.messages.clone();
            let gone = messages.remove(number);
            (format!("`{}` is missing", gone.tag), messages)
        };
        (0..stream.messages.len() - 1).map(without).collect()
    })
}

/// A type of message that is not sent any more, in all streams.
pub fn dropped_everywhere(set: &Set) -> Vec<ServerChange> {
    let mut made = Vec::new();
    for (endpoint, streams) in set.by_endpoint() {
        let known: BTreeSet<Edge<'_>> = streams.iter().flat_map(|it| edges(&it.messages)).collect();
        let tags = streams.iter().flat_map(|it| it.messages.iter().map(|it| it.tag.clone()));
        for tag in tags.collect::<BTreeSet<_>>() {
            let without = |stream: &&Stream| -> Messages {
                stream.messages.iter().filter(|it| it.tag != tag).cloned().collect()
            };
            let changed: Vec<_> = streams.iter().map(|it| (it.at, without(it))).collect();
            if changed.iter().any(|(_, messages)| !edges(messages).is_subset(&known)) {
                let edit = move |all: &mut _| {
                    for (at, messages) in &changed {
                        say(interaction(all, *at), &renumbered(messages));
                    }
                };
                made.push(ServerChange::new(format!("`{tag}` never comes"), edit).at(endpoint));
            }
        }
    }
    made
}

pub fn swapped(set: &Set) -> Vec<ServerChange> {
    changes(set, |stream, _| {
        let swap = |number: usize| {
            let mut messages = stream.messages.clone();
            messages.swap(number, number + 1);
            let (one, other) = (&messages[number].tag, &messages[number + 1].tag);
            (format!("`{one}` comes before `{other}`"), messages)
        };
        (0..stream.messages.len() - 1).map(swap).collect()
    })
}

fn is_piece(message: &Message) -> bool {
    ["delta", "chunk"].iter().any(|piece| message.tag.as_str().contains(piece))
}

/// A message comes twice. One that is part of a text is no other text for being cut up otherwise.
pub fn doubled(set: &Set) -> Vec<ServerChange> {
    changes(set, |stream, _| {
        let whole =
            (0..stream.messages.len()).filter(|number| !is_piece(&stream.messages[*number]));
        let twice = |number: usize| {
            let mut messages = stream.messages.clone();
            messages.insert(number, messages[number].clone());
            (format!("`{}` comes twice", messages[number].tag), messages)
        };
        whole.map(twice).collect()
    })
}

/// A message of a type that is known, where none of the type came.
pub fn out_of_place(set: &Set) -> Vec<ServerChange> {
    changes(set, |stream, streams| {
        let all = || streams.iter().flat_map(|it| &it.messages);
        let tags: BTreeSet<_> = all().map(|message| &message.tag).collect();
        let others = tags.into_iter().filter_map(|tag| all().find(|message| message.tag == *tag));
        let others: Vec<&Arc<Message>> = others.collect();
        let places = (0..stream.messages.len()).flat_map(|place| {
            let fitting = others.iter().filter(move |it| it.tag != stream.messages[place].tag);
            fitting.map(move |other| {
                let mut messages = stream.messages.clone();
                messages.insert(place, Arc::clone(other));
                (format!("`{}` before `{}`", other.tag, messages[place + 1].tag), messages)
            })
        });
        places.collect()
    })
}

/// A message of a type that nobody has seen.
pub fn new_type(set: &Set) -> Vec<ServerChange> {
    changes(set, |stream, _| {
        let unseen = |place: usize| {
            let mut messages = stream.messages.clone();
            let mut other = (*messages[place]).clone();
            if other.event.is_some() {
                other.event = Some("unheard_of".to_owned());
            }
            values(&mut other, unheard_of);
            let is_other = other.tag != messages[place].tag;
            let what = format!("`unheard_of` before `{}`", messages[place].tag);
            messages.insert(place, Arc::new(other));
            is_other.then_some((what, messages))
        };
        (0..stream.messages.len()).filter_map(unseen).collect()
    })
}

fn unheard_of(value: &mut Value) {
    let tags = ["message_type", "type", "method"];
    let Some(object) = value.as_object_mut() else { return };
    if let Some(tag) = tags.into_iter().find(|tag| object.contains_key(*tag)) {
        object.insert(tag.to_owned(), json!("unheard_of"));
    }
}
