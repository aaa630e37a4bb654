//! What was recorded, and how it is written again.

use std::path::Path;

use bytes::Bytes;
use retape::cassette::{Body, Interaction, Outcome, Response};
use retape::message::{Framing, Message, Messages, Protocols, Tag};
use retape::{Cassette, Name, store};
use serde_json::Value;

/// Cassettes by name.
pub type Recordings = Vec<Named>;

/// A cassette and its name.
pub type Named = (Name, Cassette);

/// The cassettes of a folder of the repository, by name.
pub fn cassettes(folder: &str) -> Recordings {
    let folder = &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut names = Vec::new();
    find(folder, "", &mut names);
    names.sort();
    let named = names.into_iter().map(|name| Name::new(name).expect("a file has a name"));
    named.map(|name| (name.clone(), store::load(folder, &name).expect("a cassette"))).collect()
}

/// The names of the cassettes in a folder.
fn find(folder: &Path, below: &str, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of cassettes").flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !file.ends_with(".bodies") {
            find(&entry.path(), &format!("{below}{file}/"), names);
        } else if let Some(name) = file.strip_suffix(".json") {
            names.push(format!("{below}{name}"));
        }
    }
}

/// Whether an answer comes in messages.
pub fn is_stream(framing: Framing) -> bool {
    matches!(framing, Framing::EventStream | Framing::Lines)
}

/// The messages of a stream, or the one JSON value that an answer is.
pub fn said(interaction: &Interaction) -> Vec<Message> {
    let Some(response) = interaction.response() else { return Vec::new() };
    let Messages { framing, list, .. } = Messages::of(response, &Protocols::default());
    if is_stream(framing) {
        return list;
    }
    let data = String::from_utf8_lossy(&response.readable().bytes()).into_owned();
    let value = serde_json::from_str::<Value>(&data);
    value.iter().map(|_| with_data(&Message::from("body"), data.clone())).collect()
}

/// Puts other messages, or another JSON value, in the place of those that were recorded.
pub fn say(interaction: &mut Interaction, messages: &[Message]) {
    let Outcome::Response(response) = &mut interaction.outcome else { return };
    let framing = Framing::of(response.headers.get("content-type"));
    let written: String = match is_stream(framing) {
        true => messages.iter().map(|message| written(message, framing)).collect(),
        false => messages.iter().map(|message| message.data.as_str()).collect(),
    };
    whole(response, written.into());
}

/// Puts a body in the place of the recorded one.
pub fn whole(response: &mut Response, body: Bytes) {
    response.body = Body::Whole(body);
    response.headers.remove("content-encoding");
}

fn written(message: &Message, framing: Framing) -> String {
    match (framing, &message.tag) {
        (Framing::Lines, _) => format!("{}\n", message.data),
        (_, Tag::Comment) => format!(":{}\n\n", message.data),
        _ => {
            let event = message.event.iter().map(|event| format!("event: {event}\n"));
            let data = message.data.split('\n').map(|line| format!("data: {line}\n"));
            event.chain(data).chain(["\n".to_owned()]).collect()
        }
    }
}

/// The message with another value.
pub fn with_value(own: &Message, value: &Value) -> Message {
    let data = value.to_string();
    let tag = Protocols::default().tag(&data, own.event.as_deref());
    Message { tag, ..with_data(own, data) }
}

fn with_data(own: &Message, data: String) -> Message {
    Message { data, ..own.clone() }
}
