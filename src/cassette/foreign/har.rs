//! HAR, as browsers and proxies write it, and Polly, whose files are HAR.

use bytes::Bytes;

use super::exchange::{Exchange, HttpMessage};
use super::{base64, fields, joined, sides};
use crate::cassette::{Content, Frame, Headers, Peer};
use crate::error::Result;
use crate::text::tree::Tree;
use crate::text::{date, form};

pub(super) fn is_it(file: &Tree) -> bool {
    file.at(&["log", "entries"]).is_some_and(|entries| matches!(entries, Tree::List(_)))
}

pub(super) fn is_polly(file: &Tree) -> bool {
    let creator = file.at(&["log", "creator", "name"]).and_then(Tree::text);
    is_it(file) && creator.is_some_and(|name| name.eq_ignore_ascii_case("Polly.JS"))
}

/// What Polly calls a recording.
pub(super) fn name(file: &Tree) -> Option<String> {
    file.at(&["log", "_recordingName"]).and_then(Tree::text).map(str::to_owned)
}

/// Requests that were blocked, and have no status, are left out.
pub(super) fn each(file: &Tree) -> Vec<&Tree> {
    let was_answered = |entry: &&Tree| {
        entry.at(&["response", "status"]).and_then(Tree::count).is_some_and(|status| status > 0)
    };
    let entries = file.get("log").map_or(&[][..], |log| log.items_of("entries"));
    entries.iter().filter(was_answered).collect()
}

pub(super) fn exchange(entry: &Tree) -> Result<Exchange> {
    let (request, response) = sides(entry, "an entry has no `request` or no `response`")?;
    Ok(Exchange {
        at: entry.text_of("startedDateTime").map(str::to_owned),
        method: request.text_of("method").unwrap_or("GET").to_owned(),
        url: request.text_of("url").unwrap_or_default().to_owned(),
        asked: HttpMessage { headers: headers(request), body: posted(request.get("postData")) },
        status: response.get("status").and_then(Tree::count).unwrap_or_default(),
        reason: response.text_of("statusText").unwrap_or_default().to_owned(),
        answered: HttpMessage {
            headers: headers(response),
            body: content(response.get("content"))?,
        },
        frames: frames(entry)?,
    })
}

/// The messages of a WebSocket, as Chromium writes them.
fn frames(entry: &Tree) -> Result<Vec<Frame>> {
    let start = entry.text_of("startedDateTime").and_then(date::since_1970).unwrap_or_default();
    let messages = entry.items_of("_webSocketMessages").iter();
    let frame = |message: &Tree| {
        let data = message.text_of("data").unwrap_or_default();
        let seconds =
            message.get("time").and_then(Tree::words).and_then(|it| it.parse::<f64>().ok());
        let at = seconds.map_or(start, |seconds| (seconds * 1000.0).round() as u64);
        let is_sent = message.text_of("type") == Some("send");
        Ok(Frame {
            ms: at.saturating_sub(start),
            from: if is_sent { Peer::Client } else { Peer::Server },
            content: match message.get("opcode").and_then(Tree::count) {
                Some(2) => Content::Binary(base64(data)?),
                _ => Content::Text(Bytes::copy_from_slice(data.as_bytes())),
            },
            fragments: Vec::new(),
        })
    };
    messages.map(frame).collect()
}

/// The fields. Those of HTTP/2 that stand for the line of the request are none.
fn headers(side: &Tree) -> Headers {
    let all = side.items_of("headers").iter();
    let all = all.filter_map(|field| Some((field.text_of("name")?, field.get("value")?)));
    fields(all.filter(|(name, _)| !name.starts_with(':')))
}

fn posted(data: Option<&Tree>) -> Bytes {
    let Some(data) = data else { return Bytes::new() };
    if let Some(text) = data.text_of("text").filter(|text| !text.is_empty()) {
        return Bytes::copy_from_slice(text.as_bytes());
    }
    let part = |field: &'_ Tree, name| field.text_of(name).unwrap_or_default().to_owned();
    let fields = data.items_of("params").iter();
    form::encoded(fields.map(|field| (part(field, "name"), part(field, "value")))).into()
}

fn content(content: Option<&Tree>) -> Result<Bytes> {
    let text = content.and_then(|content| content.text_of("text")).unwrap_or_default();
    match content.and_then(|content| content.text_of("encoding")) {
        // Polly keeps the pieces of a compressed answer.
        Some("base64") => match Tree::of_json(text) {
            Some(Tree::List(pieces)) => joined(pieces.iter().filter_map(Tree::text).map(base64)),
            _ => base64(text),
        },
        _ => Ok(Bytes::copy_from_slice(text.as_bytes())),
    }
}
