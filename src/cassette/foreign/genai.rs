//! Replays of google-genai.

use bytes::Bytes;

use super::exchange::{Exchange, HttpMessage};
use super::{base64, fields, joined, sides};
use crate::cassette::Headers;
use crate::error::Result;
use crate::text::tree::Tree;

/// What stands in addresses for the servers that were asked.
const PREFIXES: [(&str, &str); 2] = [
    ("{MLDEV_URL_PREFIX}", "https://generativelanguage.googleapis.com/v1beta"),
    (
        "{VERTEX_URL_PREFIX}",
        "https://aiplatform.googleapis.com/v1beta1/projects/project/locations/location",
    ),
];

pub(super) fn is_it(file: &Tree) -> bool {
    let is_replay = |it: &Tree| it.at(&["response", SEGMENTS]).is_some();
    match file.get("interactions") {
        Some(Tree::List(items)) => !items.is_empty() && items.iter().all(is_replay),
        _ => false,
    }
}

pub(super) fn each(file: &Tree) -> Vec<&Tree> {
    file.items_of("interactions").iter().collect()
}

pub(super) fn exchange(interaction: &Tree) -> Result<Exchange> {
    let missing = "an interaction has no `request` or no `response`";
    let (request, response) = sides(interaction, missing)?;
    let mut url = request.text_of("url").unwrap_or_default().to_owned();
    for (sign, prefix) in PREFIXES {
        url = url.replacen(sign, prefix, 1);
    }
    let mut answered = headers(response);
    let body = answer(response, url.contains("alt=sse"), &mut answered)?;
    Ok(Exchange {
        method: request.text_of("method").unwrap_or("POST").to_owned(),
        url,
        asked: HttpMessage {
            headers: headers(request),
            body: request.items_of(SEGMENTS).iter().map(Tree::to_json).collect::<String>().into(),
        },
        status: response.get("status_code").and_then(Tree::count).unwrap_or(200),
        answered: HttpMessage { headers: answered, body },
        ..Exchange::default()
    })
}

/// The JSON texts of a body.
const SEGMENTS: &str = "body_segments";

/// The body: each segment of a stream was an event. Its length and coding are not what they were.
fn answer(response: &Tree, is_stream: bool, headers: &mut Headers) -> Result<Bytes> {
    for name in ["content-length", "content-encoding"] {
        headers.remove(name);
    }
    let bytes = response.items_of("byte_segments");
    if !bytes.is_empty() {
        return joined(bytes.iter().filter_map(Tree::text).map(base64));
    }
    let segments = response.items_of(SEGMENTS);
    if is_stream {
        headers.set("content-type", "text/event-stream");
        let events = segments.iter().map(|it| format!("data: {}\r\n\r\n", it.to_json()));
        return Ok(events.collect::<String>().into());
    }
    if !headers.contains("content-type") {
        headers.append("content-type", "application/json; charset=UTF-8");
    }
    Ok(segments.iter().map(Tree::to_json).collect::<String>().into())
}

fn headers(side: &Tree) -> Headers {
    let all = side.members_of("headers").iter();
    fields(all.map(|(name, value)| (name.to_ascii_lowercase(), value)))
}
