//! What was asked and answered, before it is an interaction.

use bytes::Bytes;
use http::{Method, StatusCode};

use super::{Corrected, refused, url};
use crate::cassette::coding::{self, Coding};
use crate::cassette::{
    Body, Chunk, Frame, HOP_BY_HOP, Headers, Interaction, Media, Request, Response,
};
use crate::error::Result;
use crate::text::json::Text;
use crate::text::{amazon, sse};

/// What was asked and answered, as another tool has it.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// When, if it is known.
    pub(super) at: Option<String>,
    pub(super) method: String,
    /// The whole address; a path, where the server is not known.
    pub(super) url: String,
    pub(super) asked: HttpMessage,
    pub(super) status: u64,
    pub(super) reason: String,
    pub(super) answered: HttpMessage,
    /// What went over it, if it is a WebSocket.
    pub(super) frames: Vec<Frame>,
}

/// Header and body.
#[derive(Debug, Default)]
pub(super) struct HttpMessage {
    pub(super) headers: Headers,
    pub(super) body: Bytes,
}

/// What a server says of itself and its connection, and not of what is asked.
const OF_THE_CONNECTION: [&str; 2] = ["host", "expect"];

/// What clients say by themselves. Some recorders note only what the caller of one has said, or nothing: nock unless
/// it is asked to, and vcrpy of aiohttp.
const OF_EACH_CLIENT: [&str; 5] =
    ["content-type", "content-length", "transfer-encoding", "user-agent", "accept-encoding"];

/// The media type that a client says of such a body, where nothing else tells it.
fn media_of(body: &Bytes) -> Option<&'static str> {
    let is_pair = |pair: &[u8]| {
        pair.contains(&b'=')
            && pair
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"=%+-_.~*[]!'()".contains(byte))
    };
    match Text::parse_container(body) {
        Some(_) => Some("application/json"),
        None if body.split(|byte| *byte == b'&').all(is_pair) => {
            Some("application/x-www-form-urlencoded")
        }
        None => None,
    }
}

impl Exchange {
    pub(super) fn into_interaction(self, corrected: &mut Corrected) -> Result<Interaction> {
        let status = u16::try_from(self.status).ok();
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        let status = status.ok_or_else(|| refused("an answer has no status"))?;
        let method = self.method.to_ascii_uppercase();
        if Method::from_bytes(method.as_bytes()).is_err() {
            let error = refused("a request has no method that HTTP allows");
            return Err(error.with_hint("correct it in the file, or take the interaction out"));
        }
        // A WebSocket that was refused was asked for all the same.
        let is_wanted = |wanted: &str| wanted.eq_ignore_ascii_case("websocket");
        let is_wanted = self.asked.headers.get("upgrade").is_some_and(is_wanted);
        let is_socket = status == StatusCode::SWITCHING_PROTOCOLS;
        let mut asked = asked(self.asked.headers, is_socket || is_wanted);
        OF_THE_CONNECTION.iter().for_each(|name| asked.remove(name));
        if !OF_EACH_CLIENT.iter().any(|name| asked.contains(name))
            && let Some(media) = media_of(&self.asked.body)
        {
            asked.set("content-type", media);
        }
        let mut headers = end_to_end(self.answered.headers, is_socket);
        correct(&mut headers, &self.answered.body, (&method, status), corrected);
        let reason = Some(self.reason).filter(|reason| {
            !reason.is_empty() && Some(reason.as_str()) != status.canonical_reason()
        });
        let body = streamed(&headers, self.answered.body);
        let request = Request {
            method,
            path: url::absolute(&self.url),
            headers: asked,
            body: self.asked.body,
        };
        let response = Response {
            reason,
            headers,
            body,
            frames: self.frames,
            ..Response::of(status.as_u16())
        };
        Ok(Interaction::of(request, response))
    }
}

/// The fields that a cassette keeps.
fn end_to_end(headers: Headers, is_socket: bool) -> Headers {
    let is_kept = |name: &str| match name.to_ascii_lowercase().as_str() {
        "upgrade" => is_socket,
        "sec-websocket-key" | "sec-websocket-accept" => false,
        name => !HOP_BY_HOP.contains(&name),
    };
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    kept.map(|(name, value)| (name, value.clone())).collect()
}

/// The same of a request, with names in lower case.
fn asked(headers: Headers, is_socket: bool) -> Headers {
    let kept = end_to_end(headers, is_socket);
    kept.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect()
}

/// Makes the header say what the body is. Many tools keep the body uncompressed, and not all of them
/// change the header.
fn correct(
    headers: &mut Headers,
    body: &Bytes,
    (method, status): (&str, StatusCode),
    corrected: &mut Corrected,
) {
    let coding = headers.get("content-encoding").filter(|coding| Coding::of(coding).is_some());
    if !body.is_empty() && coding.is_some_and(|coding| !coding::is_whole(coding, body)) {
        headers.remove("content-encoding");
        if headers.contains("content-length") {
            headers.set("content-length", body.len().to_string());
        }
        corrected.codings += 1;
    }
    let has_none = method == "HEAD" || matches!(status.as_u16(), 100..=199 | 204 | 304);
    let announced = headers.get("content-length").is_some_and(|length| length.trim() != "0");
    if body.is_empty() && announced && !has_none {
        headers.set("content-length", "0");
        corrected.lengths += 1;
    }
}

/// The body, cut into events if it was streamed: that is how most servers send them.
fn streamed(headers: &Headers, body: Bytes) -> Body {
    let media = Media::of_headers(headers);
    if !media.is_stream() || headers.contains("content-length") || body.is_empty() {
        return Body::Whole(body);
    }
    let is_plain = headers.get("content-encoding").is_none_or(|coding| coding == "identity");
    let ends = match media {
        _ if !is_plain => Vec::new(),
        Media::EventStream => sse::event_ends(&body),
        Media::Amazon => amazon::ends(&body).collect(),
        _ => sse::lines(&body).map(|line| line.end).collect(),
    };
    let mut chunks = Vec::with_capacity(ends.len() + 1);
    let mut from = 0;
    for end in ends.into_iter().chain([body.len()]) {
        if end > from {
            chunks.push(Chunk { ms: 0, bytes: body.slice(from..end) });
            from = end;
        }
    }
    Body::Stream(chunks)
}
