//! Any body into messages.

use std::ops::Range;

use super::{Framing, Message, Protocols, Tag, json, ndjson, sse};
use crate::cassette::text;
use crate::text::json::Text;

/// Cuts a body into messages while it arrives.
///
/// The elements of a JSON answer are known only when all of it is there; [`Decoder::finish`] gives
/// them with the chunk and time at which each had come.
#[derive(Debug, Clone)]
pub struct Decoder {
    state: State,
    protocols: Protocols,
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
    kind: PieceKind,
    event: Option<String>,
    data: String,
    range: Range<usize>,
}

enum PieceKind {
    Said,
    Comment,
}

impl Decoder {
    /// A decoder for a body of which nothing has come yet.
    pub fn new(framing: Framing) -> Self {
        Self::with(framing, Protocols::default())
    }

    /// The same with other protocols than those that retape knows.
    pub fn with(framing: Framing, protocols: Protocols) -> Self {
        let state = match framing {
            Framing::EventStream => State::EventStream(sse::Decoder::new()),
            Framing::Lines => State::Lines(ndjson::Decoder::new()),
            Framing::Json => State::Json(Vec::new()),
            Framing::Opaque => State::Opaque,
        };
        Self { state, protocols, chunks: Vec::new() }
    }

    /// Takes the next chunk, which came that many milliseconds after the request, and gives the
    /// messages that it completed.
    pub fn push(&mut self, bytes: &[u8], ms: u64) -> Vec<Message> {
        let chunk = self.chunks.len();
        let begin = self.chunks.last().map_or(0, |(end, _)| *end);
        self.chunks.push((begin + bytes.len(), ms));
        let pieces: Vec<Piece> = match &mut self.state {
            State::EventStream(decoder) => {
                decoder.push(bytes).into_iter().filter_map(Piece::event).collect()
            }
            State::Lines(decoder) => decoder.push(bytes).into_iter().map(Piece::line).collect(),
            State::Json(body) => {
                body.extend_from_slice(bytes);
                Vec::new()
            }
            State::Opaque => Vec::new(),
        };
        pieces.into_iter().map(|piece| piece.in_chunk(chunk, ms, &self.protocols)).collect()
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
                    .map(|item| Piece::line(item).in_chunk(chunk, ms, &self.protocols))
                    .into_iter()
                    .collect(),
                rest: None,
            },
            State::Json(body) => Left::of_json(&body, &self.chunks, &self.protocols),
            State::Opaque => Left::default(),
        }
    }
}

impl Left {
    fn of_json(body: &[u8], chunks: &[(usize, u64)], protocols: &Protocols) -> Self {
        let Some(parts) = json::typed(body, protocols) else {
            return Self {
                messages: Vec::new(),
                rest: (!body.is_empty()).then_some(0..body.len()),
            };
        };
        let messages = parts.into_iter().map(|(range, tag)| {
            let chunk = chunks.partition_point(|(end, _)| *end < range.end);
            let data = text(&body[range.clone()]).into_owned();
            // A part of a whole that was read.
            let tag = tag.unwrap_or_else(|| protocols.tag_of(Text::known(&data), None));
            Message { tag, event: None, data, range, chunk, ms: chunks[chunk].1 }
        });
        Self { messages: messages.collect(), rest: None }
    }
}

impl Piece {
    fn of(data: String, range: Range<usize>) -> Self {
        Self { kind: PieceKind::Said, event: None, data, range }
    }

    fn line(item: ndjson::Item) -> Self {
        Self::of(item.text, item.range)
    }

    /// A retry time is for the transport and no message. A named block without data is one: SDKs that
    /// do not go by the standard show it to their users, so its coming and going is worth knowing.
    fn event(item: sse::Item) -> Option<Self> {
        let range = item.range;
        match item.content {
            sse::Content::Event { name, data, .. } => {
                Some(Self { event: name, ..Self::of(data, range) })
            }
            sse::Content::Dropped { name } => {
                Some(Self { event: Some(name), ..Self::of(String::new(), range) })
            }
            sse::Content::Comment(data) => {
                Some(Self { kind: PieceKind::Comment, ..Self::of(data, range) })
            }
            sse::Content::Retry(_) => None,
        }
    }

    fn in_chunk(self, chunk: usize, ms: u64, protocols: &Protocols) -> Message {
        let Self { kind, event, data, range } = self;
        let tag = match kind {
            PieceKind::Said => protocols.tag(&data, event.as_deref()),
            PieceKind::Comment => Tag::Comment,
        };
        Message { tag, event, data, range, chunk, ms }
    }
}
