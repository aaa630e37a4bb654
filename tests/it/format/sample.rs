//! Cassettes to test with.

use std::collections::BTreeMap;

use bytes::Bytes;
use retape::cassette::format::{File, decode, encode};
use retape::cassette::{Body, Cassette, Chunk, Headers, Interaction, Recorded, Request, Response};
use retape::config::Rules;

pub(super) fn headers(fields: &[(&str, &str)]) -> Headers {
    fields.iter().map(|(name, value)| (*name, value.as_bytes().to_vec())).collect()
}

pub(super) fn bytes(value: impl AsRef<[u8]>) -> Bytes {
    Bytes::copy_from_slice(value.as_ref())
}

pub(super) fn request() -> Request {
    Request::of("GET", "/")
}

pub(super) fn response() -> Response {
    Response { ..Response::of(200) }
}

pub(super) fn interaction(request: Request, response: Response) -> Interaction {
    Interaction::of(request, response)
}

pub(super) fn cassette(interactions: Vec<Interaction>) -> Cassette {
    Cassette {
        recorded: Recorded {
            at: "2026-11-20T10:00:00Z".into(),
            upstream: "http://127.0.0.1:8283".into(),
            origins: Default::default(),
            server: Some("uvicorn".into()),
            ..Recorded::default()
        },
        redactions: vec!["headers/1".into()],
        interrupted: false,
        rules: Rules::default(),
        ids: None,
        interactions,
        larges: Default::default(),
        spots: Default::default(),
    }
}

/// A stream of those chunks, a millisecond each.
pub(super) fn stream<T: AsRef<[u8]>>(chunks: &[T]) -> Body {
    let chunk = |(ms, piece): (usize, &T)| Chunk { ms: ms as u64, bytes: bytes(piece) };
    Body::Stream(chunks.iter().enumerate().map(chunk).collect())
}

/// A cassette with nothing but an answer of that body.
pub(super) fn answer(fields: &[(&str, &str)], body: Body) -> Cassette {
    let response = Response { headers: headers(fields), body, ..response() };
    Cassette { interactions: vec![interaction(request(), response)], ..Cassette::default() }
}

pub(super) fn decoded(file: &File) -> retape::Result<Cassette> {
    decode_with(&file.text, &file.bodies)
}

pub(super) fn decode_with(
    text: &str,
    bodies: &BTreeMap<String, Bytes>,
) -> retape::Result<Cassette> {
    decode(text, |name| Ok(bodies[name].clone()))
}

/// Writes the cassette, after making sure that it can be read again and is written the same.
#[track_caller]
pub(super) fn written(cassette: &Cassette) -> File {
    let file = encode(cassette);
    let again = decoded(&file);
    assert_eq!(again.as_ref().ok(), Some(cassette), "{again:?}\n{}", file.text);
    assert_eq!(encode(&again.unwrap()), file);
    file
}

/// The part of the answer between its head and its end, without indentation.
#[track_caller]
pub(super) fn body_text(cassette: &Cassette) -> String {
    let text = written(cassette).text;
    let (_, answer) = text.split_once("\"status\": 200").unwrap();
    let (answer, _) = answer.rsplit_once("\"end\":").unwrap();
    let lines = answer.lines().skip(1).map(|line| line.strip_prefix("        ").unwrap_or(line));
    let text: Vec<&str> = lines.collect();
    let text = text.join("\n");
    let body = match text.split_once("},\n") {
        Some((head, body)) if head.starts_with("\"headers\": {\n") => body,
        _ => &text,
    };
    body.trim_end().trim_end_matches(',').to_owned()
}
