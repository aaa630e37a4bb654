//! Any body into messages.

use std::ops::Range;

use super::{Message, Protocols, Tag, amazon, json, ndjson, sse};
use crate::cassette::{Body, Media, Response, text};
use crate::text::json::Text;

/// How messages stand in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    EventStream,
    /// A JSON value on each line, or behind each record separator and on one line.
    Lines,
    /// Binary messages in Amazon's framing.
    Amazon,
    /// One JSON value.
    Json,
    /// Nothing that can be read: no messages.
    Opaque,
}

/// The messages of a whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Messages {
    /// How they stood in the body.
    pub framing: Framing,
    /// What they are, in order, keep-alives too.
    pub list: Vec<Message>,
    /// Where the end of the body holds something that is no message: it was cut short.
    pub rest: Option<Range<usize>>,
}

/// Cuts a body into messages while it arrives.
///
/// The elements of a JSON answer are known only when all of it is there; [`Decoder::finish`] gives
/// them with the chunk and time at which each had come.
#[derive(Debug, Clone)]
pub struct Decoder {
    state: FramingDecoder,
    protocols: Protocols,
    /// Where each chunk ended, and when it came.
    chunks: Vec<(usize, u64)>,
}

#[derive(Debug, Clone)]
enum FramingDecoder {
    EventStream(sse::Decoder),
    Lines(ndjson::Decoder),
    Amazon(amazon::AmazonDecoder),
    Json(Vec<u8>),
    Opaque,
}

/// What was left at the end of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Left {
    /// Messages that only the end completed.
    pub messages: Vec<Message>,
    /// Where the body holds something that is no message: an SSE event that was cut short, a JSON
    /// value that is not whole.
    pub rest: Option<Range<usize>>,
}

impl Framing {
    /// Judges by the `content-type`.
    pub fn of(content_type: Option<&str>) -> Self {
        match Media::of(content_type) {
            Media::EventStream => Self::EventStream,
            Media::Lines | Media::Sequence => Self::Lines,
            Media::Amazon => Self::Amazon,
            Media::Json => Self::Json,
            _ => Self::Opaque,
        }
    }

    /// Whether messages come one by one, and not as one value.
    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Self::EventStream | Self::Lines | Self::Amazon)
    }
}

impl Messages {
    /// Cuts a recorded answer, decoded where it was compressed. Over a WebSocket, each message of the server
    /// is one, and so is its close.
    pub fn of(response: &Response, protocols: &Protocols) -> Self {
        let Some(said) = response.lines() else {
            let framing = Framing::of(response.headers.get("content-type"));
            let body = response.decoded();
            let cut = Self::cut(&body, framing, response.ms, protocols);
            let lines = cut.is_unread().then(|| Self::lines(&body, response.ms, protocols));
            return lines.flatten().unwrap_or(cut);
        };
        let mut messages = Self::cut(&said, Framing::Lines, response.ms, protocols);
        messages.list.extend(close(response, &said));
        messages
    }

    /// Whether it should be one JSON value, and is none.
    fn is_unread(&self) -> bool {
        self.framing == Framing::Json && self.list.is_empty() && self.rest.is_some()
    }

    /// The messages of a body that is called one JSON value and is one on each line, as those are with which servers
    /// tell what happens: Kubernetes, Docker, CouchDB.
    fn lines(body: &Body, ms: u64, protocols: &Protocols) -> Option<Self> {
        let lines = Self::cut(body, Framing::Lines, ms, protocols);
        (lines.list.len() > 1 && lines.list.iter().all(|it| it.is_json)).then_some(lines)
    }

    /// Cuts a body. The time is that of a body which came in one piece.
    pub fn cut(body: &Body, framing: Framing, ms: u64, protocols: &Protocols) -> Self {
        let mut decoder = Decoder::new(framing, protocols.clone());
        let mut list = match body {
            Body::Whole(bytes) => decoder.push(bytes, ms),
            Body::Stream(chunks) => {
                chunks.iter().flat_map(|chunk| decoder.push(&chunk.bytes, chunk.ms)).collect()
            }
        };
        let Left { messages, rest } = decoder.finish();
        list.extend(messages);
        Self { framing, list, rest }
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl Decoder {
    /// A decoder for a body of which nothing has come yet.
    pub fn new(framing: Framing, protocols: Protocols) -> Self {
        let state = match framing {
            Framing::EventStream => FramingDecoder::EventStream(sse::Decoder::new()),
            Framing::Lines => FramingDecoder::Lines(ndjson::Decoder::new()),
            Framing::Amazon => FramingDecoder::Amazon(amazon::AmazonDecoder::new()),
            Framing::Json => FramingDecoder::Json(Vec::new()),
            Framing::Opaque => FramingDecoder::Opaque,
        };
        Self { state, protocols, chunks: Vec::new() }
    }

    /// Takes the next chunk, which came that many milliseconds after the request, and gives the
    /// messages that it completed.
    pub fn push(&mut self, bytes: &[u8], ms: u64) -> Vec<Message> {
        let came = (self.chunks.len(), ms);
        let begin = self.chunks.last().map_or(0, |(end, _)| *end);
        self.chunks.push((begin + bytes.len(), ms));
        match &mut self.state {
            FramingDecoder::EventStream(decoder) => {
                let items = decoder.push(bytes).into_iter();
                items.filter_map(|item| event(item, came, &self.protocols)).collect()
            }
            FramingDecoder::Lines(decoder) => {
                let items = decoder.push(bytes).into_iter();
                items.map(|item| line(item, came, &self.protocols)).collect()
            }
            FramingDecoder::Amazon(decoder) => {
                let items = decoder.push(bytes).into_iter();
                items.map(|item| packed(item, came, &self.protocols)).collect()
            }
            FramingDecoder::Json(body) => {
                body.extend_from_slice(bytes);
                Vec::new()
            }
            FramingDecoder::Opaque => Vec::new(),
        }
    }

    /// Says that no more will come.
    pub fn finish(self) -> Left {
        let Some((_, ms)) = self.chunks.last() else { return Left::default() };
        let came = (self.chunks.len() - 1, *ms);
        match self.state {
            FramingDecoder::EventStream(decoder) => {
                Left { messages: Vec::new(), rest: decoder.rest() }
            }
            FramingDecoder::Lines(decoder) => {
                let last = decoder.finish().map(|item| line(item, came, &self.protocols));
                Left { messages: last.into_iter().collect(), rest: None }
            }
            FramingDecoder::Amazon(decoder) => Left { messages: Vec::new(), rest: decoder.rest() },
            FramingDecoder::Json(body) => Left::of_json(&body, &self.chunks, &self.protocols),
            FramingDecoder::Opaque => Left::default(),
        }
    }
}

impl Left {
    fn of_json(body: &[u8], chunks: &[(usize, u64)], protocols: &Protocols) -> Self {
        let Some(parts) = json::typed(body, protocols) else {
            let rest = (!body.is_empty()).then_some(0..body.len());
            return Self { messages: Vec::new(), rest };
        };
        let messages = parts.into_iter().map(|(range, tag)| {
            let chunk = chunks.partition_point(|(end, _)| *end < range.end);
            let data = text(&body[range.clone()]).into_owned();
            // A part of a whole that was read.
            let tag = tag.unwrap_or_else(|| protocols.tag_of(Text::known(&data), None));
            let ms = chunks[chunk].1;
            Message { tag, event: None, has_id: false, data, is_json: true, range, chunk, ms }
        });
        Self { messages: messages.collect(), rest: None }
    }
}

/// What the types of closes begin with.
pub(crate) const CLOSE: &str = "close ";

/// The number of a chunk, and when it came.
type ChunkTime = (usize, u64);

fn line(item: ndjson::Item, (chunk, ms): ChunkTime, protocols: &Protocols) -> Message {
    let ndjson::Item { text, range } = item;
    let length = text.len();
    let message = protocols.message(text);
    let start = range.start + (length - message.data.len());
    Message { range: start..range.end, chunk, ms, ..message }
}

fn packed(item: amazon::Item, (chunk, ms): ChunkTime, protocols: &Protocols) -> Message {
    let amazon::Item { kind: event, text: data, range } = item;
    let (tag, is_json) = protocols.read(&data, event.as_deref());
    Message { tag, event, has_id: false, data, is_json, range, chunk, ms }
}

/// The close of a server: its number is its type.
fn close(response: &Response, said: &Body) -> Option<Message> {
    let (code, reason) = response.closes()?;
    let message = Message::new(Tag::Named(format!("{CLOSE}{code}")), reason.to_owned(), false);
    let ms = response.frames.last().map_or(response.ms, |last| last.ms);
    Some(Message { range: said.len()..said.len(), chunk: said.chunks().len(), ms, ..message })
}

/// A retry time is for the transport and no message. A named block without data is one: SDKs that
/// do not go by the standard show it to their users, so its coming and going is worth knowing.
fn event(item: sse::Item, (chunk, ms): ChunkTime, protocols: &Protocols) -> Option<Message> {
    let has_id =
        matches!(&item.content, sse::Content::Event { last_id, .. } if !last_id.is_empty());
    let ((tag, is_json), event, data) = match item.content {
        sse::Content::Event { name, data, .. } => {
            (protocols.read(&data, name.as_deref()), name, data)
        }
        sse::Content::Dropped { name } => {
            (protocols.read("", Some(&name)), Some(name), String::new())
        }
        sse::Content::Comment(data) => ((Tag::Comment, Text::read(&data).is_some()), None, data),
        sse::Content::Retry(_) => return None,
    };
    Some(Message { tag, event, has_id, data, is_json, range: item.range, chunk, ms })
}
