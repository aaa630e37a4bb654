//! What a fault does to an answer.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;
use tokio::time::Instant;

use super::chunking::{between, event_ends, random};
use super::script::Script;
use crate::cassette::{self, Body, Chunk, Content, Media, Peer};
use crate::config::{Behind, Harm};
use crate::serve::server::{Answer, Breaks, full};
use crate::text::amazon;

/// What goes wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blow {
    /// There is none.
    Unanswered(Breaks),
    /// There is none, and the connection stays open.
    Silence,
    /// It is an error of the server, with these fields.
    Status(u16, Vec<(&'static str, String)>),
    /// It comes in small pieces, with a pause before each.
    Drip(usize, Duration),
    /// Something goes wrong behind so many events.
    Within(Within, usize),
}

/// What goes wrong within an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Cut,
    Reset,
    Silence,
    Malformed,
    Oversized(usize),
    Close(u16),
}

/// What there is in an answer that can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Room {
    /// How many events, or messages of a WebSocket.
    pub(super) pieces: usize,
    /// Whether it is no stream, so that all of it is one piece.
    pub(super) in_one: bool,
    pub(super) is_socket: bool,
}

/// The field by which an answer that is a fault is told from the server's.
const FAULT: HeaderName = HeaderName::from_static("retape-fault");

impl Blow {
    /// What goes wrong, if there is room for it in the answer.
    pub(super) fn of(harm: &Harm, room: Room, state: &mut u64) -> Option<Self> {
        let mut within = |behind: &Behind, within: Within| {
            let behind = match behind {
                Behind::Events(behind) => *behind,
                Behind::Random => (random(state) % room.pieces.max(1) as u64) as usize,
            };
            let is_there = if room.in_one { room.pieces > 0 } else { behind < room.pieces };
            is_there.then_some(Self::Within(within, behind))
        };
        match harm {
            Harm::Refuse => Some(Self::Unanswered(Breaks::Unanswered)),
            Harm::Reset(None) => Some(Self::Unanswered(Breaks::ResetUnanswered)),
            Harm::Hang(None) => Some(Self::Silence),
            Harm::Status(status, fields) => Some(Self::Status(*status, fields.clone())),
            Harm::Drip(size, every) => {
                (!room.is_socket && room.pieces > 0).then_some(Self::Drip(*size, *every))
            }
            Harm::Reset(Some(behind)) => within(behind, Within::Reset),
            Harm::Hang(Some(behind)) => within(behind, Within::Silence),
            Harm::Cut(behind) => within(behind, Within::Cut),
            Harm::Malformed(behind) => within(behind, Within::Malformed),
            Harm::Oversized(behind, size) => within(behind, Within::Oversized(*size)),
            Harm::Close(code, behind) => {
                within(behind, Within::Close(*code)).filter(|_| room.is_socket)
            }
        }
    }

    /// Whether nothing of the recorded answer is given.
    pub(super) fn is_instead(&self) -> bool {
        matches!(self, Self::Unanswered(_) | Self::Silence | Self::Status(..))
    }

    /// What a WebSocket suffers.
    pub(super) fn within(&self) -> Option<(Within, usize)> {
        match self {
            Self::Within(within, behind) => Some((*within, *behind)),
            _ => None,
        }
    }

    /// How the connection ends.
    pub(super) fn breaks(&self) -> Option<Breaks> {
        match self {
            Self::Unanswered(breaks) => Some(*breaks),
            Self::Silence => Some(Breaks::Unanswered),
            Self::Within(Within::Reset, _) => Some(Breaks::Reset),
            _ => None,
        }
    }

    /// The answer in the place of the recorded one.
    pub(super) fn answer(&self) -> Answer {
        let Self::Status(status, fields) = self else {
            let mut answer = Response::new(full(""));
            self.breaks().into_iter().for_each(|it| _ = answer.extensions_mut().insert(it));
            return answer;
        };
        let kind = match status {
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        let message = format!("retape injected this {status}");
        // What SDKs of several servers look for.
        let body = json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "detail": message,
        });
        let mut answer = Response::new(full(body.to_string()));
        *answer.status_mut() = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(FAULT, HeaderValue::from(*status));
        for (name, value) in fields {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        answer
    }

    /// The body with the event that is spoiled, if one is.
    pub(super) fn spoiled(&self, body: &Body, media: Media) -> Option<Body> {
        let Self::Within(within, behind) = self else { return None };
        if !within.changes() {
            return None;
        }
        match body {
            Body::Whole(bytes) => Some(Body::Whole(within.changed(bytes, media).into())),
            Body::Stream(chunks) => {
                let pieces: Vec<Bytes> = chunks.iter().map(|chunk| chunk.bytes.clone()).collect();
                let event = events(&pieces.concat(), media).into_iter().nth(*behind)?;
                let mut at = 0;
                let mut spoiled: Vec<Chunk> = Vec::new();
                for chunk in chunks {
                    let range = at..at + chunk.bytes.len();
                    at = range.end;
                    let mut bytes = within_range(&chunk.bytes, &range, 0..event.start).to_vec();
                    if range.contains(&event.start) {
                        bytes.extend(within.changed(&pieces.concat()[event.clone()], media));
                    }
                    bytes.extend(within_range(&chunk.bytes, &range, event.end..usize::MAX));
                    spoiled.push(Chunk { bytes: bytes.into(), ..chunk.clone() });
                }
                Some(Body::Stream(spoiled))
            }
        }
    }

    /// The pieces that are sent, each when it is due.
    pub(super) fn pieces(
        &self,
        sent: Vec<(Option<Instant>, Bytes)>,
        media: Option<Media>,
    ) -> Vec<(Option<Instant>, Bytes)> {
        match self {
            Self::Drip(size, every) => dripping(sent, *size, *every),
            Self::Within(Within::Cut | Within::Reset | Within::Silence, behind) => {
                let all: Vec<u8> =
                    sent.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
                let length = match media {
                    Some(media) => {
                        let event = events(&all, media).into_iter().nth(*behind);
                        event.map_or(all.len(), |event| event.start)
                    }
                    None => all.len() / 2,
                };
                shortened(sent, length)
            }
            _ => sent,
        }
    }

    /// Whether the answer comes to no good end.
    pub(super) fn breaks_off(&self) -> bool {
        matches!(self, Self::Within(Within::Cut | Within::Reset | Within::Silence, _))
    }

    /// Whether nothing comes behind the pieces that are sent, and the connection stays open.
    pub(super) fn falls_silent(&self) -> bool {
        matches!(self, Self::Within(Within::Silence, _))
    }
}

impl Within {
    fn changes(self) -> bool {
        matches!(self, Self::Malformed | Self::Oversized(_))
    }

    /// An event as it is sent.
    fn changed(self, event: &[u8], media: Media) -> Vec<u8> {
        match self {
            Self::Malformed if media == Media::Amazon => broken_frame(event),
            Self::Malformed => broken(event),
            Self::Oversized(size) if media != Media::Amazon => padded(event, size),
            _ => event.to_vec(),
        }
    }

    /// A message of a WebSocket as it is sent.
    pub(super) fn message(self, content: Content) -> Content {
        match content {
            Content::Text(text) => Content::Text(self.changed(&text, Media::Json).into()),
            Content::Binary(bytes) => Content::Binary(self.changed(&bytes, Media::Json).into()),
            close @ Content::Close { .. } => close,
        }
    }
}

impl Room {
    pub(super) fn in_socket(script: &Script) -> Self {
        let messages = script.steps.iter().filter(|step| {
            step.frame.from == Peer::Server && !matches!(step.frame.content, Content::Close { .. })
        });
        Self { pieces: messages.count(), in_one: false, is_socket: true }
    }

    pub(super) fn in_answer(response: &cassette::Response) -> Self {
        let media = Media::of_headers(&response.headers);
        let plain = if media == Media::Amazon { None } else { Some(response.readable()) };
        let body = plain.as_deref().unwrap_or(&response.body);
        match body {
            Body::Whole(bytes) => {
                Self { pieces: usize::from(!bytes.is_empty()), in_one: true, is_socket: false }
            }
            Body::Stream(_) => {
                let pieces = events(&body.bytes(), media).len();
                Self { pieces, in_one: false, is_socket: false }
            }
        }
    }
}

/// Where the events of a stream stand.
fn events(body: &[u8], media: Media) -> Vec<Range<usize>> {
    let ends = match media {
        Media::Amazon => amazon::ends(body).collect(),
        _ => event_ends(body),
    };
    between(ends, body.len()).collect()
}

/// What of a piece that stands there in the body stands in a range of the body.
fn within_range<'b>(piece: &'b [u8], at: &Range<usize>, range: Range<usize>) -> &'b [u8] {
    let from = range.start.clamp(at.start, at.end) - at.start;
    let to = range.end.clamp(at.start, at.end) - at.start;
    piece.get(from..to).unwrap_or_default()
}

/// Where the ends of lines begin that end an event.
fn end_of(event: &[u8]) -> usize {
    event.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1)
}

/// An event that breaks off in the middle of what it says, and ends as if it were whole.
fn broken(event: &[u8]) -> Vec<u8> {
    const DATA: &[u8] = b"data:";
    let end = end_of(event);
    let says = memchr::memmem::find(&event[..end], DATA).map_or(0, |at| at + DATA.len());
    let mut middle = says + (end - says) / 2;
    // Not within a character: that is another fault.
    while middle > says && event.get(middle).is_some_and(|byte| byte & 0xC0 == 0x80) {
        middle -= 1;
    }
    [&event[..middle], &event[end..]].concat()
}

/// A binary message whose checksum is wrong.
fn broken_frame(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame.last_mut().into_iter().for_each(|byte| *byte ^= 0xFF);
    frame
}

/// An event with white space behind what it says, which means the same.
fn padded(event: &[u8], size: usize) -> Vec<u8> {
    let end = end_of(event);
    let spaces = vec![b' '; size.saturating_sub(event.len())];
    [&event[..end], &spaces, &event[end..]].concat()
}

fn dripping(
    sent: Vec<(Option<Instant>, Bytes)>,
    size: usize,
    every: Duration,
) -> Vec<(Option<Instant>, Bytes)> {
    let begun = Instant::now();
    let small = sent.iter().flat_map(|(_, bytes)| bytes.chunks(size).map(|it| bytes.slice_ref(it)));
    let paused = small.enumerate().map(|(number, bytes)| {
        let pause = every.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX));
        (Some(begun + pause), bytes)
    });
    paused.collect()
}

fn shortened(
    sent: Vec<(Option<Instant>, Bytes)>,
    mut length: usize,
) -> Vec<(Option<Instant>, Bytes)> {
    let mut kept = Vec::new();
    for (due, bytes) in sent {
        let taken = bytes.len().min(length);
        length -= taken;
        if taken > 0 {
            kept.push((due, bytes.slice(..taken)));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(pieces: &[&str]) -> Body {
        let chunk = |piece: &&str| Chunk { ms: 0, bytes: Bytes::from((*piece).to_owned()) };
        Body::Stream(pieces.iter().map(chunk).collect())
    }

    fn spoiled(within: Within, behind: usize, pieces: &[&str]) -> Vec<String> {
        let body = Blow::Within(within, behind).spoiled(&stream(pieces), Media::EventStream);
        let body = body.expect("it is another");
        let text = |chunk: &Chunk| String::from_utf8_lossy(&chunk.bytes).into_owned();
        body.chunks().iter().map(text).collect()
    }

    const STREAM: [&str; 3] = ["data: {\"a\":1}\n\ndata: {\"", "bé\":2}\n", "\ndata: [DONE]\n\n"];

    #[test]
    fn an_event_breaks_off_in_its_middle_wherever_the_pieces_are_cut() {
        assert_eq!(
            spoiled(Within::Malformed, 1, &STREAM),
            ["data: {\"a\":1}\n\ndata: {\"b\n\n", "", "data: [DONE]\n\n"]
        );
        assert!(spoiled(Within::Malformed, 2, &STREAM).concat().ends_with("data: [D\n\n"));
    }

    #[test]
    fn an_event_is_made_larger_without_another_meaning() {
        let padded = spoiled(Within::Oversized(40), 0, &STREAM).concat();

        let first = padded.split_inclusive("\n\n").next().unwrap_or_default();
        assert_eq!(first.len(), 40);
        assert_eq!(first.trim_end(), "data: {\"a\":1}");
        assert!(padded.ends_with("data: {\"bé\":2}\n\ndata: [DONE]\n\n"));
    }

    #[test]
    fn a_stream_is_cut_behind_so_many_events() {
        let sent: Vec<_> =
            STREAM.iter().map(|it| (None, Bytes::from_static(it.as_bytes()))).collect();
        let cut = |behind| {
            let blow = Blow::Within(Within::Cut, behind);
            let pieces = blow.pieces(sent.clone(), Some(Media::EventStream));
            pieces
                .iter()
                .map(|(_, it)| String::from_utf8_lossy(it).into_owned())
                .collect::<String>()
        };
        assert_eq!(cut(0), "");
        assert_eq!(cut(1), "data: {\"a\":1}\n\n");
        assert_eq!(cut(2), "data: {\"a\":1}\n\ndata: {\"bé\":2}\n\n");
    }
}
