//! What could be otherwise and is not any more; what repeats more or less often.

use serde_json::{Value, json};

use super::super::edit::{ServerChange, interaction, objects, values};
use super::super::fields::Kind;
use super::super::recorded::{Recordings, say};
use super::super::set::{Field, Key, Set, Stream};
use super::wholes;

/// Of these it depends what a message is, or what else comes.
const DECIDE: [&str; 9] = [
    "error",
    "finish_reason",
    "inputRequests",
    "pending_approval",
    "requestState",
    "result",
    "stop_reason",
    "usage",
    "tool_calls",
];

/// Messages that are pieces of a text.
const PIECES: [&str; 12] = [
    "reasoning_message",
    "assistant_message",
    "content",
    "content_block_delta",
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "response.reasoning_summary_text.delta",
    "REASONING_MESSAGE_CONTENT",
    "TEXT_MESSAGE_CONTENT",
    "TOOL_CALL_ARGS",
    "tool_calls",
    "tool_call",
];

/// A value that no other one has to be the same as.
fn is_free(key: &Key, value: &Value) -> bool {
    let is_id = |name: &str| name.to_ascii_lowercase().ends_with("id") || name.ends_with("ids");
    let is_chat = key.place.contains("delta");
    let has_id = value.to_string().contains("id\":");
    !is_id(&key.name) && !DECIDE.contains(&&*key.name) && !is_chat && !has_id
}

fn example(key: &Key, field: &Field) -> Option<Value> {
    field.values.iter().find(|value| !value.is_null() && is_free(key, value)).cloned()
}

/// Changes a field in the same way at some of its places.
fn changes(
    set: &Set,
    made: impl Fn(&Key, &Field) -> Option<(Vec<super::super::set::Site>, Option<Value>)>,
) -> Vec<ServerChange> {
    let made = set.fields.iter().filter_map(|(key, field)| {
        let (sites, value) = made(key, field)?;
        let name = key.name.clone();
        let edit = move |all: &mut _| {
            objects(all, &sites, |object, _| match &value {
                Some(value) => drop(object.insert(name.clone(), value.clone())),
                None => drop(object.remove(&name)),
            });
        };
        Some(ServerChange::new(format!("{} {}/{}", key.tag, key.place, key.name), edit))
    });
    made.collect()
}

/// What ended ends after it began: the time of another one may be before that, and is moved into a later year.
pub fn never_null(set: &Set) -> Vec<ServerChange> {
    changes(set, |key, field| {
        let value = example(key, field).filter(|_| field.kinds.contains(&Kind::Null))?;
        let later = value.as_str().filter(|it| it.get(10..11) == Some("T")).and_then(|it| {
            let year: u16 = it[..4].parse().ok()?;
            Some(format!("{}{}", year + 1, &it[4..]).into())
        });
        let value = later.unwrap_or(value);
        let sites = field.sites.iter().zip(&field.values);
        let sites = sites.filter(|(_, value)| value.is_null()).map(|(site, _)| site.clone());
        Some((sites.collect(), Some(value)))
    })
}

pub fn always_there(set: &Set) -> Vec<ServerChange> {
    changes(set, |key, field| {
        let value = example(key, field).filter(|_| field.kinds.contains(&Kind::Missing))?;
        Some((field.without.clone(), Some(value)))
    })
}

pub fn never_there(set: &Set) -> Vec<ServerChange> {
    changes(set, |key, field| {
        let is_free = field.values.iter().all(|value| is_free(key, value));
        (field.kinds.contains(&Kind::Missing) && is_free).then(|| (field.sites.clone(), None))
    })
}

/// The pieces of a text in a row: where they are, of three or more.
fn rows(stream: &Stream) -> Vec<(usize, usize)> {
    let tags: Vec<&str> = stream.messages.iter().map(|message| message.tag.as_str()).collect();
    let mut rows = Vec::new();
    let mut from = 0;
    for row in tags.chunk_by(|one, other| one == other) {
        if row.len() > 2 && PIECES.contains(&row[0]) {
            rows.push((from, row.len()));
        }
        from += row.len();
    }
    rows
}

/// A text comes in more pieces.
pub fn more_pieces(set: &Set) -> Vec<ServerChange> {
    pieces(set, "more pieces", |stream| {
        let mut messages = stream.copied();
        for (from, count) in rows(stream).into_iter().rev() {
            let middle = from + count / 2;
            messages.insert(middle, messages[middle].clone());
        }
        messages
    })
}

/// A text comes in fewer pieces, still in several.
pub fn fewer_pieces(set: &Set) -> Vec<ServerChange> {
    pieces(set, "fewer pieces", |stream| {
        let mut messages = stream.copied();
        for (from, count) in rows(stream).into_iter().rev().filter(|(_, count)| *count > 3) {
            messages.remove(from + count / 2);
        }
        messages
    })
}

/// Fields by which a server numbers the messages of a stream, one after the other.
const NUMBERS: [&str; 2] = ["sequence_number", "seq_id"];

/// A server that says more or fewer pieces numbers them from the same first number.
fn number(messages: &mut [retape::message::Message]) {
    for field in NUMBERS {
        let mut next = None;
        for message in messages.iter_mut() {
            let value: Value = serde_json::from_str(&message.data).unwrap_or_default();
            if let Some(first) = value[field].as_u64() {
                let number = next.unwrap_or(first);
                if number != first {
                    values(message, |value| value[field] = json!(number));
                }
                next = Some(number + 1);
            }
        }
    }
}

fn pieces(
    set: &Set,
    what: &'static str,
    change: fn(&Stream) -> Vec<retape::message::Message>,
) -> Vec<ServerChange> {
    let mut made = Vec::new();
    for (endpoint, streams) in set.by_endpoint() {
        let mut changed: Vec<_> = streams.iter().map(|it| (it.at, change(it))).collect();
        changed.iter_mut().for_each(|(_, messages)| number(messages));
        let is_same = streams.iter().zip(&changed).all(|(it, (_, now))| it.copied() == *now);
        if !is_same {
            let edit = move |all: &mut Recordings| {
                changed.iter().for_each(|(at, messages)| say(interaction(all, *at), messages));
                wholes::kept(all);
            };
            made.push(ServerChange::new(format!("{what} at {endpoint}"), edit));
        }
    }
    made
}
