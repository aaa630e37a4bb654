//! HAR, as browsers and proxies write it, and Polly, whose files are HAR.

use bytes::Bytes;

use super::exchange::{Exchange, Message};
use super::{base64, refused};
use crate::cassette::{Content, Frame, Headers, Peer};
use crate::error::Result;
use crate::text::tree::Tree;
use crate::text::{date, percent};

fn entries(file: &Tree) -> &[Tree] {
    file.at(&["log", "entries"]).map_or(&[], Tree::items)
}

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
pub(super) fn read(file: &Tree) -> Result<Vec<Exchange>> {
    let was_answered = |entry: &&Tree| {
        entry.at(&["response", "status"]).and_then(Tree::count).is_some_and(|status| status > 0)
    };
    entries(file).iter().filter(was_answered).map(exchange).collect()
}

fn exchange(entry: &Tree) -> Result<Exchange> {
    let missing = || refused("an entry has no `request` or no `response`");
    let request = entry.get("request").ok_or_else(missing)?;
    let response = entry.get("response").ok_or_else(missing)?;
    Ok(Exchange {
        at: entry.text_of("startedDateTime").map(str::to_owned),
        method: request.text_of("method").unwrap_or("GET").to_owned(),
        url: request.text_of("url").unwrap_or_default().to_owned(),
        asked: Message { headers: headers(request), body: posted(request.get("postData")) },
        status: response.get("status").and_then(Tree::count).unwrap_or_default(),
        reason: response.text_of("statusText").unwrap_or_default().to_owned(),
        answered: Message { headers: headers(response), body: content(response.get("content"))? },
        frames: frames(entry)?,
    })
}

/// The messages of a WebSocket, as Chromium writes them.
fn frames(entry: &Tree) -> Result<Vec<Frame>> {
    let start = entry.text_of("startedDateTime").and_then(date::since_1970).unwrap_or_default();
    let messages = entry.get("_webSocketMessages").map_or(&[][..], Tree::items).iter();
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
    let fields = side.get("headers").map_or(&[][..], Tree::items).iter();
    let fields = fields.filter_map(|field| Some((field.text_of("name")?, field.text_of("value")?)));
    let fields = fields.filter(|(name, _)| !name.starts_with(':'));
    fields.map(|(name, value)| (name, value.to_owned().into_bytes())).collect()
}

fn posted(data: Option<&Tree>) -> Bytes {
    let Some(data) = data else { return Bytes::new() };
    if let Some(text) = data.text_of("text").filter(|text| !text.is_empty()) {
        return Bytes::copy_from_slice(text.as_bytes());
    }
    let fields = data.get("params").map_or(&[][..], Tree::items).iter();
    let fields = fields.map(|field| {
        let part = |name| percent::encoded(field.text_of(name).unwrap_or_default());
        format!("{}={}", part("name"), part("value"))
    });
    fields.collect::<Vec<_>>().join("&").into()
}

fn content(content: Option<&Tree>) -> Result<Bytes> {
    let text = content.and_then(|content| content.text_of("text")).unwrap_or_default();
    match content.and_then(|content| content.text_of("encoding")) {
        // Polly keeps the pieces of a compressed answer.
        Some("base64") => match Tree::of_json(text) {
            Some(Tree::List(pieces)) => {
                let pieces = pieces.iter().filter_map(Tree::text).map(base64);
                pieces.collect::<Result<Vec<Bytes>>>().map(|pieces| pieces.concat().into())
            }
            _ => base64(text),
        },
        _ => Ok(Bytes::copy_from_slice(text.as_bytes())),
    }
}
