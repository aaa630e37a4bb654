//! The same values, written otherwise; the same messages, with something between them that says nothing.

use retape::cassette::Interaction;
use retape::message::{Framing, Message, Tag};
use serde_json::Value;

use super::super::edit::{ServerChange, each};
use super::super::recorded::{is_stream, said, say};
use super::super::set::Set;

fn respelled(what: &str, spell: fn(&Value) -> String) -> ServerChange {
    ServerChange::new(what, move |all| {
        for interaction in each(all) {
            let mut messages = said(interaction);
            for message in &mut messages {
                if let Ok(value) = serde_json::from_str(&message.data) {
                    message.data = spell(&value);
                }
            }
            if !messages.is_empty() {
                say(interaction, &messages);
            }
        }
    })
}

pub fn white_space(_: &Set) -> Vec<ServerChange> {
    // Over several `data:` lines, where it is a stream.
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("a value");
    vec![respelled("one space", Value::to_string), respelled("indented", pretty)]
}

pub fn member_order(_: &Set) -> Vec<ServerChange> {
    let sorted = Value::to_string;
    vec![respelled("sorted", sorted), respelled("sorted, the last one first", backwards)]
}

fn backwards(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members = members.map(|(name, value)| {
                format!("{}:{}", Value::from(name.as_str()), backwards(value))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(backwards).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// Characters that need no escape have one.
pub fn escapes(_: &Set) -> Vec<ServerChange> {
    let escaped = |value: &Value| value.to_string().replace('/', r"\/").replace('é', r"\u00e9");
    let ascii = |value: &Value| {
        let text = value.to_string();
        let escape = |c: char| match c.is_ascii() {
            true => c.to_string(),
            false => {
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }
        };
        text.chars().map(escape).collect()
    };
    vec![respelled("slashes escaped", escaped), respelled("nothing but ASCII", ascii)]
}

fn is_events(interaction: &Interaction) -> bool {
    let media = interaction.response().and_then(|it| it.headers.get("content-type"));
    is_stream(Framing::of(media))
}

/// So many messages, and one that only says that the server is still there.
pub fn keep_alives(_: &Set) -> Vec<ServerChange> {
    let made = [1, 3, 10].map(|every| {
        ServerChange::new(format!("a comment every {every}"), move |all| {
            for interaction in each(all).filter(|one| is_events(one)) {
                let pause = Message { tag: Tag::Comment, ..Message::from("") };
                let pause = Message { data: " keep-alive".to_owned(), ..pause };
                let mut messages = said(interaction);
                for place in (1..messages.len()).rev().filter(|place| place % every == 0) {
                    messages.insert(place, pause.clone());
                }
                say(interaction, &messages);
            }
        })
    });
    made.into()
}
