//! Any body into messages.

use std::ops::Range;

use super::{Framing, Message, Tag, json, ndjson, sse};

/// Cuts a body into messages while it arrives.
///
/// The elements of a JSON answer are known only when all of it is there; [`Decoder::finish`] gives
/// them with the chunk and time at which each had come.
#[derive(Debug, Clone)]
pub struct Decoder {
    state: State,
    /// Where each chunk ended, and when it came.
    chunks: Vec<(usize, u64)>,
}

#[derive(Debug, Clone)]
enum State {
    EventStream(sse::Decoder),
    Lines(ndjson::Decoder),
    Json(Vec<u8>),
    Opaque,
}

/// What was left at the end of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Left {
    /// Messages that only the end completed.
    pub messages: Vec<Message>,
    /// Where the body holds something that is no message: an SSE event that was cut short, a JSON
    /// value that is not whole.
    pub rest: Option<Range<usize>>,
}

/// A message of which the type is not known yet.
struct Piece {
    event: Option<String>,
    data: String,
    range: Range<usize>,
}

impl Decoder {
    /// A decoder for a body of which nothing has come yet.
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::EventStream => State::EventStream(sse::Decoder::new()),
            Framing::Lines => State::Lines(ndjson::Decoder::new()),
            Framing::Json => State::Json(Vec::new()),
            Framing::Opaque => State::Opaque,
        };
        Self { state, chunks: Vec::new() }
    }

    /// Takes the next chunk, which came that many milliseconds after the request, and gives the
    /// messages that it completed.
    pub fn push(&mut self, bytes: &[u8], ms: u64) -> Vec<Message> {
        let chunk = self.chunks.len();
        let begin = self.chunks.last().map_or(0, |(end, _)| *end);
        self.chunks.push((begin + bytes.len(), ms));
        match &mut self.state {
            State::EventStream(decoder) => {
                let items = decoder.push(bytes);
                items.into_iter().filter_map(|item| event(item, chunk, ms)).collect()
            }
            State::Lines(decoder) => decoder
                .push(bytes)
                .into_iter()
                .map(|item| Piece::line(item).in_chunk(chunk, ms))
                .collect(),
            State::Json(body) => {
                body.extend_from_slice(bytes);
                Vec::new()
            }
            State::Opaque => Vec::new(),
        }
    }

    /// Says that no more will come.
    pub fn finish(self) -> Left {
        let (chunk, ms) = match self.chunks.last() {
            Some((_, ms)) => (self.chunks.len() - 1, *ms),
            None => return Left::default(),
        };
        match self.state {
            State::EventStream(decoder) => Left { messages: Vec::new(), rest: decoder.rest() },
            State::Lines(decoder) => Left {
                messages: decoder
                    .finish()
                    .map(|item| Piece::line(item).in_chunk(chunk, ms))
                    .into_iter()
                    .collect(),
                rest: None,
            },
            State::Json(body) => Left::of_json(&body, &self.chunks),
            State::Opaque => Left::default(),
        }
    }
}

impl Left {
    fn of_json(body: &[u8], chunks: &[(usize, u64)]) -> Self {
        let Some(places) = json::cut(body) else {
            return Self {
                messages: Vec::new(),
                rest: (!body.is_empty()).then_some(0..body.len()),
            };
        };
        let messages = places.into_iter().map(|range| {
            let chunk = chunks.partition_point(|(end, _)| *end < range.end);
            let data = String::from_utf8_lossy(&body[range.clone()]).into_owned();
            Piece { event: None, data, range }.in_chunk(chunk, chunks[chunk].1)
        });
        Self { messages: messages.collect(), rest: None }
    }
}

impl Piece {
    fn line(item: ndjson::Item) -> Self {
        Self { event: None, data: item.text, range: item.range }
    }

    fn in_chunk(self, chunk: usize, ms: u64) -> Message {
        let Self { event, data, range } = self;
        Message { tag: Tag::of(&data, event.as_deref()), event, data, range, chunk, ms }
    }
}

/// A retry time is for the transport and no message. A named block without data is one: SDKs that
/// do not go by the standard show it to their users, so its coming and going is worth knowing.
fn event(item: sse::Item, chunk: usize, ms: u64) -> Option<Message> {
    let range = item.range;
    let piece = match item.content {
        sse::Content::Event { name, data, .. } => Piece { event: name, data, range },
        sse::Content::Dropped { name } => Piece { event: Some(name), data: String::new(), range },
        sse::Content::Comment(data) => {
            return Some(Message { tag: Tag::Comment, event: None, data, range, chunk, ms });
        }
        sse::Content::Retry(_) => return None,
    };
    Some(piece.in_chunk(chunk, ms))
}
