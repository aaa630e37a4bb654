//! HTTP Archive 1.2, with the messages of WebSockets as Chromium writes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde_json::{Value, json};

use super::{LossCounts, address, lose, lose_of_answer};
use crate::cassette::{
    Body, Cassette, Content, End, Frame, Headers, Interaction, Name, Outcome, Peer, Request,
    Response, text,
};
use crate::text::{date, form, percent};

/// A log with a page for each cassette.
pub(super) fn write(cassettes: &[(Name, Cassette)], lost: &mut LossCounts) -> String {
    let mut pages = Vec::new();
    let mut entries = Vec::new();
    for (name, cassette) in cassettes {
        let began = date::since_1970(&cassette.recorded.at).unwrap_or_default();
        pages.push(json!({
            "startedDateTime": moment(began),
            "id": name.as_str(),
            "title": name.as_str(),
            "pageTimings": {},
        }));
        let starts = starts(&cassette.interactions).into_iter();
        for (interaction, start) in cassette.interactions.iter().zip(starts) {
            if interaction.request.is_of_lines() {
                lose(lost, "sessions over standard input and output");
                continue;
            }
            let mut entry = entry(cassette, interaction, began.saturating_add(start), lost);
            entry["pageref"] = json!(name.as_str());
            entries.push(entry);
        }
    }
    let creator = json!({"name": "retape", "version": env!("CARGO_PKG_VERSION")});
    let log = json!({"version": "1.2", "creator": creator, "pages": pages, "entries": entries});
    format!("{:#}\n", json!({"log": log}))
}

/// With milliseconds, as browsers write it, and in a year of four digits.
fn moment(ms: u64) -> String {
    const LAST: u64 = 253_402_300_799_999;
    let ms = ms.min(LAST);
    let moment = date::rfc3339(ms);
    if ms.is_multiple_of(1000) { moment.replace('Z', ".000Z") } else { moment }
}

/// When each began, in milliseconds: a cassette knows which answers were over by then, and how much of the
/// others had come.
fn starts(interactions: &[Interaction]) -> Vec<u64> {
    let mut starts: Vec<u64> = Vec::with_capacity(interactions.len());
    let mut open: Vec<usize> = Vec::new();
    let mut now = 0;
    for (number, interaction) in interactions.iter().enumerate() {
        let is_open = |it: &usize| interaction.after.iter().any(|after| after.interaction == *it);
        let ends = open.extract_if(.., |it| !is_open(it));
        now =
            ends.map(|it| starts[it].saturating_add(lasted(&interactions[it]))).fold(now, u64::max);
        for after in &interaction.after {
            if let Some(start) = starts.get(after.interaction) {
                now = now.max(
                    start.saturating_add(came(&interactions[after.interaction], after.chunks)),
                );
            }
        }
        starts.push(now);
        open.push(number);
    }
    starts
}

/// How long until its last piece came, in milliseconds.
fn lasted(interaction: &Interaction) -> u64 {
    came(interaction, usize::MAX)
}

/// How long until so many pieces had come.
fn came(interaction: &Interaction, pieces: usize) -> u64 {
    let Some(response) = interaction.response() else { return 0 };
    let chunks = response.body.chunks().iter().map(|chunk| chunk.ms);
    let frames = response.frames.iter().map(|frame| frame.ms);
    chunks.chain(frames).take(pieces).last().unwrap_or(response.ms).max(response.ms)
}

fn entry(
    cassette: &Cassette,
    interaction: &Interaction,
    start: u64,
    lost: &mut LossCounts,
) -> Value {
    let url = address(cassette, &interaction.request);
    let time = lasted(interaction);
    let wait = interaction.response().map_or(0, |response| response.ms);
    let mut entry = json!({
        "startedDateTime": moment(start),
        "time": time,
        "request": request(&interaction.request, &url, lost),
        "response": match &interaction.outcome {
            Outcome::Response(answer) => response(answer, lost),
            Outcome::Nothing(end) => nothing(*end),
        },
        "cache": {},
        "timings": {
            "blocked": -1, "dns": -1, "connect": -1, "ssl": -1,
            "send": 0, "wait": wait, "receive": time - wait,
        },
    });
    let frames = interaction.frames();
    if !frames.is_empty() {
        entry["_resourceType"] = json!("websocket");
        let messages = frames.iter().filter_map(|frame| message(frame, start, lost));
        entry["_webSocketMessages"] = messages.collect();
    }
    entry
}

fn request(request: &Request, url: &str, lost: &mut LossCounts) -> Value {
    let mut told = json!({
        "method": request.method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": fields(&request.headers),
        "queryString": query(request.query().unwrap_or_default()),
        "headersSize": -1,
        "bodySize": request.body.len(),
    });
    if std::str::from_utf8(&request.body).is_err() {
        lose(lost, "bodies that are no text (requests)");
    } else if !request.body.is_empty() {
        let media = request.headers.get("content-type").unwrap_or_default();
        told["postData"] = json!({"mimeType": media, "text": text(&request.body)});
    }
    told
}

fn response(response: &Response, lost: &mut LossCounts) -> Value {
    lose_of_answer(response, lost);
    // A HAR holds what was compressed as it reads.
    let plain = response.decoded();
    let bytes = plain.bytes();
    let (sent, size) = (response.body.len(), bytes.len());
    let media = response.headers.get("content-type").unwrap_or("x-unknown");
    let mut content = match std::str::from_utf8(&bytes) {
        Ok(text) => json!({"text": text}),
        Err(_) => json!({"text": STANDARD.encode(&bytes), "encoding": "base64"}),
    };
    content["size"] = json!(size);
    content["mimeType"] = json!(media);
    if matches!(*plain, Body::Whole(_)) && size > sent {
        content["compression"] = json!(size - sent);
    }
    let usual = StatusCode::from_u16(response.status).ok().and_then(|it| it.canonical_reason());
    json!({
        "status": response.status,
        "statusText": response.reason.as_deref().or(usual).unwrap_or_default(),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": fields(&response.headers),
        "content": content,
        "redirectURL": response.headers.get("location").unwrap_or_default(),
        "headersSize": -1,
        "bodySize": sent,
    })
}

/// What browsers write where no answer came.
fn nothing(end: End) -> Value {
    json!({
        "status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
        "content": {"size": 0, "mimeType": "x-unknown"},
        "redirectURL": "", "headersSize": -1, "bodySize": -1, "_error": end.as_str(),
    })
}

fn message(frame: &Frame, start: u64, lost: &mut LossCounts) -> Option<Value> {
    let (opcode, data) = match &frame.content {
        Content::Text(bytes) => (1, text(bytes).into_owned()),
        Content::Binary(bytes) => (2, STANDARD.encode(bytes)),
        Content::Close { .. } => {
            lose(lost, "who closed and why (WebSockets)");
            return None;
        }
    };
    let by = if frame.from == Peer::Client { "send" } else { "receive" };
    let seconds = start.saturating_add(frame.ms) as f64 / 1000.0;
    Some(json!({"type": by, "time": seconds, "opcode": opcode, "data": data}))
}

fn fields(headers: &Headers) -> Value {
    headers.iter().map(|(name, value)| json!({"name": name, "value": text(value)})).collect()
}

fn query(query: &str) -> Value {
    let decoded = percent::form_decoded;
    form::pairs(query)
        .map(|(name, value)| json!({"name": decoded(name), "value": decoded(value)}))
        .collect()
}
