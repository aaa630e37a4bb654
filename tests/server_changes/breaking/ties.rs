//! Values that do not belong together any more.

use serde_json::{Value, json};

use super::super::edit::{ServerChange, objects};
use super::super::set::{Field, Key, Set, Site};
use super::OFTEN;
use crate::dice::Random;

/// What a protocol promises of a field: the set, the type of message, the object, the field.
type Tie = (&'static str, &'static str, &'static str, &'static str);

/// Identifiers that were given before.
const REFERRING: [Tie; 18] = [
    ("letta", "tool_return_message", "", "tool_call_id"),
    ("letta", "tool_return_message", "tool_returns/*/tool", "tool_call_id"),
    ("letta", "tool_return_message", "", "step_id"),
    ("letta", "body", "messages/*/tool_return_message", "tool_call_id"),
    ("letta", "body", "messages/*/tool_return_message/tool_returns/*/tool", "tool_call_id"),
    ("openai", "response.output_text.delta", "", "item_id"),
    ("openai", "response.output_text.done", "", "item_id"),
    ("openai", "response.content_part.added", "", "item_id"),
    ("openai", "response.content_part.done", "", "item_id"),
    ("openai", "response.function_call_arguments.delta", "", "item_id"),
    ("openai", "response.function_call_arguments.done", "", "item_id"),
    ("openai", "response.reasoning_summary_text.delta", "", "item_id"),
    ("openai", "response.output_item.done", "item/function_call", "id"),
    ("openai", "response.output_item.done", "item/function_call", "call_id"),
    ("openai", "response.completed", "response/output/*/function_call", "call_id"),
    ("ag-ui", "TOOL_CALL_END", "", "toolCallId"),
    ("ag-ui", "TOOL_CALL_RESULT", "", "toolCallId"),
    ("ag-ui", "TEXT_MESSAGE_END", "", "messageId"),
];

/// What is the same in all messages of a stream.
const CONSTANT: [Tie; 6] = [
    ("letta", "reasoning_message", "", "run_id"),
    ("letta", "assistant_message", "", "run_id"),
    ("letta", "approval_request_message", "", "run_id"),
    ("letta", "tool_return_message", "", "run_id"),
    ("openai", "response.completed", "response", "id"),
    ("openai", "response.in_progress", "response", "id"),
];

/// What the client has said, and the server says again.
const ECHOED: [Tie; 8] = [
    ("mcp", "result of tools/call", "", "id"),
    ("mcp", "result of tools/list", "", "id"),
    ("mcp", "result of resources/read", "", "id"),
    ("ag-ui", "RUN_STARTED", "", "runId"),
    ("ag-ui", "RUN_STARTED", "", "threadId"),
    ("ag-ui", "RUN_FINISHED", "", "runId"),
    ("anthropic", "message_start", "message/message", "model"),
    ("openai", "response.completed", "response", "model"),
];

/// What counts up.
const COUNTED: [Tie; 9] = [
    ("openai", "response.output_text.delta", "", "sequence_number"),
    ("openai", "response.completed", "", "sequence_number"),
    ("openai", "response.output_item.done", "", "sequence_number"),
    ("openai", "response.function_call_arguments.delta", "", "sequence_number"),
    ("openai", "response.content_part.added", "", "sequence_number"),
    ("mcp", "notifications/progress", "params", "progress"),
    ("anthropic", "content_block_stop", "", "index"),
    ("ag-ui", "STATE_DELTA", "delta/*", "value"),
    ("openai", "response.output_item.added", "", "sequence_number"),
];

/// What no two have.
const UNIQUE: [Tie; 3] = [
    ("openai", "response.output_item.added", "item/function_call", "id"),
    ("openai", "response.output_item.added", "item/function_call", "call_id"),
    ("letta", "body", "messages/*/assistant_message", "otid"),
];

/// What is the sum of two others.
const SUMMED: [Tie; 3] = [
    ("letta", "usage_statistics", "", "total_tokens"),
    ("openai", "chat.completion", "usage", "total_tokens"),
    ("openai", "response.completed", "response/usage", "total_tokens"),
];

/// What was said in pieces before.
const JOINED: [Tie; 4] = [
    ("openai", "response.output_text.done", "", "text"),
    ("openai", "response.content_part.done", "part/output_text", "text"),
    ("openai", "response.function_call_arguments.done", "", "arguments"),
    ("openai", "response.reasoning_summary_text.done", "", "text"),
];

pub fn no_sum(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    changes(set, &SUMMED, random, |_, _| vec![Scope::All, Scope::Last], other)
}

pub fn not_the_pieces(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    changes(
        set,
        &JOINED,
        random,
        |_, _| vec![Scope::All, Scope::Last],
        |value, _| json!(format!("{} …", value.as_str().unwrap_or_default())),
    )
}

pub fn refers_to_nothing(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    changes(set, &REFERRING, random, |_, _| vec![Scope::All, Scope::Last], other)
}

pub fn not_constant(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    changes(set, &CONSTANT, random, |_, _| vec![Scope::Last], other)
}

pub fn echoes_something_else(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    changes(set, &ECHOED, random, |_, _| vec![Scope::All, Scope::Last], other)
}

/// The last of a stream is the first one again.
pub fn counts_back(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let several = |_: &Key, field: &Field| match last_of_several(field) {
        Some(site) => vec![Scope::One(site)],
        None if field.values.iter().any(|it| it.as_u64() > Some(2)) => vec![Scope::Last],
        None => Vec::new(),
    };
    changes(set, &COUNTED, random, several, |_, _| json!(0))
}

pub fn twice(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let several = |_: &Key, field: &Field| {
        let site = last_of_several(field);
        site.map(Scope::One).into_iter().collect()
    };
    changes(set, &UNIQUE, random, several, |_, first| first.clone())
}

enum Scope {
    All,
    Last,
    One(Site),
}

/// The last place in a stream that has several.
fn last_of_several(field: &Field) -> Option<Site> {
    let of_one = field.sites.chunk_by(|one, other| one.at == other.at);
    of_one.filter(|it| it.len() > 1).max_by_key(|it| it.len())?.last().cloned()
}

fn changes(
    set: &Set,
    ties: &[Tie],
    random: &mut Random,
    scopes: impl Fn(&Key, &Field) -> Vec<Scope>,
    change: fn(&Value, &Value) -> Value,
) -> Vec<ServerChange> {
    let mut made = Vec::new();
    for (key, field) in &set.fields {
        let is_tied = |(name, tag, place, field): &Tie| {
            set.name.starts_with(name)
                && (*tag, *place, *field)
                    == (&*key.tag, key.place.trim_start_matches('/'), &*key.name)
        };
        if field.sites.len() < OFTEN || !ties.iter().any(is_tied) {
            continue;
        }
        for scope in scopes(key, field) {
            let (scope, sites) = match scope {
                Scope::All => ("always", field.sites.clone()),
                Scope::Last => ("once", vec![field.sites[random.below(field.sites.len())].clone()]),
                Scope::One(site) => ("once", vec![site]),
            };
            let first = first_beside(field, &sites[0]);
            let name = key.name.clone();
            let edit = move |all: &mut _| {
                objects(all, &sites, |object, _| {
                    let value = change(&object[&name], &first);
                    object.insert(name.clone(), value);
                });
            };
            let what = format!("{} {}/{}, {scope}", key.tag, key.place, key.name);
            made.push(ServerChange::new(what, edit).at(&key.endpoint).of_field(&key.name));
        }
    }
    made
}

/// What the first of the same answer says.
fn first_beside(field: &Field, site: &Site) -> Value {
    let first = field.sites.iter().position(|other| other.at == site.at);
    first.map(|number| field.values[number].clone()).unwrap_or_default()
}

/// Another identifier of the same form, which nobody has given.
fn other(value: &Value, _: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_u64().unwrap_or_default() + 7_000),
        Value::String(text) => json!(super::super::harmless::runs::turned(text, 5)),
        other => other.clone(),
    }
}
