//! What there is to tell about a cassette.

use std::borrow::Cow;

use super::line::{cut, visible};
use super::{Gist, line};
use crate::cassette::{Body, Cassette, End, Headers, Interaction, Media, Request, Response};
use crate::message::{DONE, Framing, Message, Messages, Protocols, Tag, Trace};
use crate::text::json::Text;

/// What there is to tell about a cassette, before it is decided how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// One for each interaction, in order.
    pub rows: Vec<InteractionSummary>,
    /// How many answers were streams.
    pub streams: usize,
    /// How many messages were in all streams, without keep-alives.
    pub messages: usize,
}

/// What there is to tell about an interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InteractionSummary {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// What was asked.
    pub asked: Option<Gist>,
    /// What was answered, if anything.
    pub answer: Option<AnswerSummary>,
    /// What is unusual about it, a sentence each.
    pub notes: Vec<String>,
}

/// What there is to tell about an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSummary {
    /// The status code.
    pub status: u16,
    /// What kind of body it has and how big it is: `28 events`, `json 8.4 kB`.
    pub body: String,
    /// Milliseconds from the arrival of the request to the last byte that came.
    pub ms: u64,
    /// The messages in it, deltas together; none if it is not a list of messages.
    pub lines: Vec<MessageSummary>,
    /// How many messages only said that the server was still there.
    pub keep_alives: usize,
    /// What it says as a whole, where it is not a list of messages.
    pub gist: Option<Gist>,
}

/// A message, or the deltas of one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageSummary {
    /// Its type.
    pub tag: Tag,
    /// How many deltas it came in.
    pub count: usize,
    /// When the first and the last one came, in milliseconds since the request; none where all came
    /// in one piece.
    pub ms: Option<(u64, u64)>,
    /// What it says.
    pub gist: Gist,
    /// What it is to the reader.
    pub role: Role,
}

/// What a message is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It says something.
    Content,
    /// It says that something went wrong.
    Error,
    /// It only says that no more will come.
    Done,
}

impl Summary {
    /// Looks at all interactions; the protocols are those of each.
    pub fn of(protocols: &impl Fn(usize) -> Protocols, cassette: &Cassette) -> Self {
        let mut summary = Self { rows: Vec::new(), streams: 0, messages: 0 };
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let protocols = &protocols(number);
            let messages = interaction.response().map(|it| Messages::of(it, protocols));
            if let Some(messages) = &messages
                && messages.framing.is_stream()
            {
                summary.streams += 1;
                summary.messages += messages.list.iter().filter(|it| !it.is_keep_alive()).count();
            }
            let notes = notes(cassette, interaction, messages.as_ref());
            summary.rows.push(InteractionSummary::of(
                protocols,
                interaction,
                messages.as_ref(),
                notes,
            ));
        }
        summary
    }
}

impl InteractionSummary {
    fn of(
        protocols: &Protocols,
        interaction: &Interaction,
        messages: Option<&Messages>,
        notes: Vec<String>,
    ) -> Self {
        let answer = interaction.response().zip(messages);
        let Request { method, path, .. } = &interaction.request;
        Self {
            method: method.clone(),
            path: path.clone(),
            asked: asked(&interaction.request),
            answer: answer.map(|(it, them)| AnswerSummary::of(protocols, it, them)),
            notes,
        }
    }
}

impl AnswerSummary {
    fn of(protocols: &Protocols, response: &Response, messages: &Messages) -> Self {
        let trace = Trace::of(&messages.list, protocols);
        let listed = is_list(messages, &response.readable().bytes());
        let is_timed = response.body.chunks().len() > 1;
        let steps = if listed { &trace.steps[..] } else { &[] };
        let lines = steps.iter().map(|step| {
            let parts: Vec<_> = step.messages.iter().map(|at| &messages.list[*at]).collect();
            MessageSummary::of(&parts, is_timed.then_some((step.first_ms, step.last_ms)))
        });
        Self {
            status: response.status,
            body: body_kind(response, messages),
            ms: response.body.chunks().last().map_or(response.ms, |chunk| chunk.ms),
            lines: lines.collect(),
            keep_alives: trace.keep_alives,
            gist: if listed { None } else { whole(response) },
        }
    }
}

impl MessageSummary {
    fn of(deltas: &[&Message], ms: Option<(u64, u64)>) -> Self {
        let first = deltas[0];
        let role = role(first);
        let mut gist = match role {
            Role::Content => Gist::of(deltas.iter().map(|it| it.data.as_str())),
            Role::Error => Gist::of_error(&first.data),
            Role::Done => Gist::default(),
        };
        // What tells the type is told already.
        let named =
            |word: &String| word.split_once(' ').is_some_and(|(_, it)| it == first.tag.as_str());
        gist.words.retain(|word| !named(word));
        Self { tag: first.tag.clone(), count: deltas.len(), ms, gist, role }
    }
}

fn role(message: &Message) -> Role {
    let named = |name: &str| matches!(name, "error" | "error_message" | "response.failed");
    match &message.tag {
        tag if tag.as_str() == DONE => Role::Done,
        tag if named(tag.as_str()) || message.event.as_deref().is_some_and(named) => Role::Error,
        _ => Role::Content,
    }
}

/// Streams are, and JSON answers in which at least one message says its type.
fn is_list(messages: &Messages, body: &[u8]) -> bool {
    let part = |it: &Message| it.range.len() < body.trim_ascii().len();
    match messages.framing {
        framing if framing.is_stream() => true,
        Framing::Json => messages.list.iter().any(|it| it.tag.is_named() && part(it)),
        _ => false,
    }
}

fn asked(request: &Request) -> Option<Gist> {
    if matches!(request.body.trim_ascii(), b"" | b"{}") {
        return None;
    }
    let media = media(&request.headers);
    let body = request.readable();
    let text = str::from_utf8(&body).ok();
    match text.filter(|_| Media::of(Some(&*media)) != Media::Multipart) {
        Some(text) => Some(Gist::of_request(text)),
        None => {
            let size = line::size(request.body.len());
            Some(Gist { words: vec![media.into_owned(), size], ..Gist::default() })
        }
    }
}

/// What an answer says that is no list of messages.
fn whole(response: &Response) -> Option<Gist> {
    if let Some(location) = response.headers.get("location") {
        return Some(Gist { words: vec![format!("to {location}")], ..Gist::default() });
    }
    let bytes = response.readable().bytes();
    let text = std::str::from_utf8(&bytes).ok().filter(|it| !it.trim().is_empty())?;
    if response.status >= 400 {
        return Some(Gist::of_error(text));
    }
    Text::read(text).map(Gist::json)
}

fn body_kind(response: &Response, messages: &Messages) -> String {
    let length = response.body.len();
    let several = messages.list.iter().filter(|it| !it.is_keep_alive()).count();
    match messages.framing {
        _ if length == 0 => "no body".to_owned(),
        Framing::EventStream | Framing::Amazon => line::count(several, "event"),
        Framing::Lines => line::count(several, "line"),
        _ => {
            let media = media(&response.headers);
            let kind = media.rsplit(['/', '+']).next().unwrap_or_default();
            let coding = response.headers.get("content-encoding").unwrap_or_default();
            format!("{coding} {kind} {}", line::size(length)).trim().to_owned()
        }
    }
}

fn media(headers: &Headers) -> Cow<'_, str> {
    let full = headers.get("content-type").unwrap_or_default();
    Cow::Borrowed(full.split(';').next().unwrap_or_default().trim())
}

fn notes(
    cassette: &Cassette,
    interaction: &Interaction,
    messages: Option<&Messages>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let going_on: Vec<String> = interaction
        .after
        .iter()
        .map(|it| {
            let number = cassette.number(it.interaction);
            format!("{number} ({} sent)", line::count(it.chunks, "chunk"))
        })
        .collect();
    if !going_on.is_empty() {
        notes.push(format!("began while {} was still being answered", going_on.join(", ")));
    }
    let rest = messages.and_then(|it| it.rest.as_ref());
    if let Some(rest) = rest {
        notes.push(format!("ends in {} of an unfinished message", line::size(rest.len())));
    }
    notes.extend(
        ending(interaction.end()).map(|why| format!("{}: {why}", interaction.end().as_str())),
    );
    notes
}

const fn ending(end: End) -> Option<&'static str> {
    match end {
        End::Complete => None,
        End::ClientClosed => Some("the client left before the end"),
        End::ServerClosed => Some("the server cut the connection before the end"),
        End::Timeout => Some("the server went silent before the end"),
        End::Unreachable => Some("the server could not be reached"),
        End::Interrupted => Some("the recorder was stopped before the end"),
    }
}

/// The most characters of a line: what a long answer begins with.
const LONGEST: usize = 300;

/// The messages of a streamed answer, deltas together: its type, the number of its deltas, and what
/// it says. Nothing for an answer that is not a stream.
///
/// Times are left out: they differ in every recording.
pub fn trace(protocols: &Protocols, response: &Response) -> Vec<String> {
    if matches!(response.body, Body::Whole(_)) {
        return Vec::new();
    }
    let answer = AnswerSummary::of(protocols, response, &Messages::of(response, protocols));
    answer.lines.iter().map(trace_line).collect()
}

fn trace_line(line: &MessageSummary) -> String {
    let times = if line.count > 1 { format!(" ×{}", line.count) } else { String::new() };
    let said = said(&line.gist);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    cut(&visible(&format!("{}{times}{said}", line.tag)), LONGEST).into_owned()
}

/// Prose alone needs no quotes, which a cassette would have to escape.
fn said(gist: &Gist) -> String {
    if gist.words.is_empty() && gist.beside.is_empty() {
        gist.text.clone()
    } else {
        gist.to_string()
    }
}
