//! What the scenarios of the guide's table (`docs/letta.md`) pin of real servers, and of a stand-in for an execution
//! engine: a test for each row, on recordings, with no server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod cancel;
mod e2e;
mod engine;
mod hitl;
mod integration;
mod table;

use std::path::Path;

use retape::cassette::{End, Interaction};
use retape::message::{Message, Messages, Protocols};
use retape::{Cassette, Name, assert_contract, store};
use serde_json::Value;

/// The recording of one scenario.
struct Tape {
    cassette: Cassette,
}

/// What was answered to one request.
struct Answer {
    /// The number of the interaction, counted from 0.
    number: usize,
    status: u16,
    end: End,
    /// The messages of a stream, or of a JSON answer, without keep-alives.
    messages: Vec<Message>,
    /// The body, if it is JSON.
    json: Value,
}

impl Tape {
    /// One of the Letta server.
    fn of(name: &str) -> Self {
        Self::of_any(&format!("letta/{name}"))
    }

    fn of_any(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes");
        Self { cassette: store::load(&folder, &Name::new(name).unwrap()).unwrap() }
    }

    /// What was answered at a route such as `POST /v1/agents/*/messages`: an identifier is `*`.
    fn answers(&self, wanted: &str) -> Vec<Answer> {
        let all = self.cassette.interactions.iter().enumerate();
        let found = all.filter(|(_, interaction)| route(interaction) == wanted);
        found.map(|(number, interaction)| Answer::of(number, interaction)).collect()
    }

    fn streams(&self) -> Vec<Answer> {
        self.answers("POST /v1/agents/*/messages/stream")
    }

    fn plain(&self) -> Vec<Answer> {
        self.answers("POST /v1/agents/*/messages")
    }

    /// The history of the agent, page by page.
    fn history(&self) -> Vec<Message> {
        let pages = self.answers("GET /v1/agents/*/messages").into_iter();
        pages.flat_map(|page| page.messages).collect()
    }

    /// What the last stop reason of the agent was, each time it was asked for.
    fn stop_reasons(&self) -> Vec<String> {
        let states = self.answers("GET /v1/agents/*").into_iter().filter(|it| it.status == 200);
        states.map(|state| text(&state.json["last_stop_reason"])).collect()
    }

    /// What became of the runs, each time one was asked for.
    fn runs(&self) -> Vec<String> {
        let runs = self.answers("GET /v1/runs/*").into_iter();
        runs.map(|run| text(&run.json["status"])).collect()
    }

    /// The body of the request behind an answer.
    fn asked(&self, answer: &Answer) -> Value {
        let body = &self.cassette.interactions[answer.number].request.body;
        serde_json::from_slice(body).unwrap()
    }
}

impl Answer {
    fn of(number: usize, interaction: &Interaction) -> Self {
        let response = interaction.response().unwrap();
        let messages = Messages::of(response, &Protocols::default()).list;
        let messages: Vec<Message> =
            messages.into_iter().filter(|message| !message.is_keep_alive()).collect();
        let json = serde_json::from_slice(&response.body.bytes()).unwrap_or_default();
        Self { number, status: response.status, end: response.end, messages, json }
    }

    /// The first message of a type.
    fn one(&self, tag: &str) -> Value {
        self.all(tag).remove(0)
    }

    fn all(&self, tag: &str) -> Vec<Value> {
        of_type(&self.messages, tag)
    }

    /// The messages as JSON; the end marker of a stream is none.
    fn values(&self) -> Vec<Value> {
        let data = self.messages.iter().filter(|message| message.is_json);
        data.map(|message| serde_json::from_str(&message.data).unwrap()).collect()
    }

    /// Why it came to its end.
    fn stop_reason(&self) -> String {
        match self.json["stop_reason"]["stop_reason"].as_str() {
            Some(reason) => reason.to_owned(),
            None => text(&self.all("stop_reason").last().unwrap()["stop_reason"]),
        }
    }
}

#[test]
fn all_recordings_keep_the_contracts_that_were_accepted() {
    assert_contract!("cassettes/letta");
}

fn of_type(messages: &[Message], tag: &str) -> Vec<Value> {
    let found = messages.iter().filter(|message| message.tag.as_str() == tag);
    found.map(|message| serde_json::from_str(&message.data).unwrap()).collect()
}

/// A text in JSON, or the JSON itself.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// `POST /v1/agents/*/messages`: the method and the path, without its query, `*` for each identifier.
fn route(interaction: &Interaction) -> String {
    let path = interaction.request.path.split('?').next().unwrap();
    let parts = path.trim_end_matches('/').split('/');
    let parts: Vec<&str> = parts.map(|part| if is_identifier(part) { "*" } else { part }).collect();
    format!("{} {}", interaction.request.method, parts.join("/"))
}

/// Whether it ends in a UUID.
fn is_identifier(part: &str) -> bool {
    let tail = part.len().checked_sub(36).and_then(|at| part.get(at..));
    tail.is_some_and(|tail| {
        tail.char_indices().all(|(at, letter)| match at {
            8 | 13 | 18 | 23 => letter == '-',
            _ => letter.is_ascii_hexdigit(),
        })
    })
}

/// An order as the table writes it: a capital letter for each type of message.
fn order(short: &str) -> String {
    let long = |word: &str| match word {
        "U" => "user_message".to_owned(),
        "R" => "reasoning_message".to_owned(),
        "A" => "assistant_message".to_owned(),
        "C" => "tool_call_message".to_owned(),
        "T" => "tool_return_message".to_owned(),
        "Q" => "approval_request_message".to_owned(),
        "P" => "approval_response_message".to_owned(),
        "S" => "stop_reason".to_owned(),
        "Z" => "usage_statistics".to_owned(),
        "E" => "error_message".to_owned(),
        "Y" => "system_message".to_owned(),
        other => other.to_owned(),
    };
    let mut order = String::new();
    let mut word = String::new();
    for letter in short.chars().chain([' ']) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else {
            order.push_str(&long(&std::mem::take(&mut word)));
            order.push(letter);
        }
    }
    order
}
