//! Texts that OpenAI's Responses say in pieces, and then as a whole: in another run, too.

use std::collections::BTreeMap;

use retape::message::Message;
use serde_json::{Value, json};

use super::super::edit::{each, values};
use super::super::recorded::{Recordings, said, say};

/// The pieces, what says them as a whole, and where in it.
const WHOLES: [(&str, &str, &str); 8] = [
    ("response.output_text.delta", "response.output_text.done", "/text"),
    ("response.output_text.delta", "response.content_part.done", "/part/text"),
    ("response.output_text.delta", "response.output_item.done", "/item/content/0/text"),
    (
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "/arguments",
    ),
    ("response.function_call_arguments.delta", "response.output_item.done", "/item/arguments"),
    ("response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "/text"),
    ("response.reasoning_summary_text.delta", "response.reasoning_summary_part.done", "/part/text"),
    ("response.reasoning_summary_text.delta", "response.output_item.done", "/item/summary/0/text"),
];

/// Whether a field says as a whole what pieces have said.
pub fn is_one(tag: &str, field: &str) -> bool {
    let ends = |(_, whole, place): &(&str, &str, &str)| *whole == tag && place.ends_with(field);
    tag == "response.completed" || WHOLES.iter().any(ends)
}

/// What is said as a whole is what the pieces say now.
pub fn kept(all: &mut Recordings) {
    for interaction in each(all) {
        let mut messages = said(interaction);
        let before = messages.clone();
        of_stream(&mut messages);
        if messages != before {
            say(interaction, &messages);
        }
    }
}

fn of_stream(messages: &mut [Message]) {
    let mut pieces: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut items: BTreeMap<String, Value> = BTreeMap::new();
    for message in messages {
        let Ok(value) = serde_json::from_str::<Value>(&message.data) else { continue };
        let tag = message.tag.to_string();
        let item = value["item_id"].as_str().or(value["item"]["id"].as_str()).unwrap_or_default();
        let item = item.to_owned();
        if let Some(delta) = value["delta"].as_str().filter(|_| tag.starts_with("response.")) {
            *pieces.entry((tag.clone(), item.clone())).or_default() += delta;
        }
        for (piece, _, place) in WHOLES.iter().filter(|(_, whole, _)| *whole == tag) {
            let whole = pieces.get(&((*piece).to_owned(), item.clone()));
            let whole = whole.filter(|whole| value.pointer(place).is_some_and(|it| it != *whole));
            if let Some(whole) = whole {
                values(message, |value| {
                    value.pointer_mut(place).into_iter().for_each(|it| *it = json!(whole));
                });
            }
        }
        let value: Value = serde_json::from_str(&message.data).unwrap_or_default();
        if tag == "response.output_item.done" {
            items.insert(item, value["item"].clone());
        }
        let output = value.pointer("/response/output").and_then(Value::as_array);
        let told = output.map(|output| {
            let now = |old: &Value| {
                let id = old["id"].as_str().unwrap_or_default();
                items.get(id).unwrap_or(old).clone()
            };
            output.iter().map(now).collect::<Vec<Value>>()
        });
        if let Some(told) = told.filter(|told| output != Some(told)) {
            values(message, |value| value["response"]["output"] = json!(told));
        }
    }
}
