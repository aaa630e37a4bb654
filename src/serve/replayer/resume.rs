//! Streams that a client goes on with behind an event.

use std::borrow::Cow;

use bytes::Bytes;

use crate::cassette::{Body, Cassette, Chunk, Media, Request, Response};
use crate::text::json::Text;
use crate::text::{percent, sse};

/// The event behind which a client goes on with a stream.
///
/// # Rationale
///
/// Where a connection breaks is an accident, so a client may go on behind another event than when it was
/// recorded. What follows it stands in the recording of the stream, in whichever part of it holds the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    member: Member,
    event: String,
}

/// Where a request names the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    /// The header field of the standard, which names the `id` of an event.
    Header,
    /// A field of the query, which names what the event says of its place.
    Query,
}

const HEADER: &str = "last-event-id";
const QUERY: &str = "starting_after";

/// What events say of their place.
const NUMBERS: [&str; 2] = ["sequence_number", "seq_id"];

impl Point {
    /// The event that a request names.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let found = [Member::Header, Member::Query].into_iter().find_map(|member| {
            let event = member.of(request)?.into_owned();
            Some(Self { member, event })
        });
        found.filter(|point| !point.event.is_empty())
    }

    /// The same request as it was recorded for streams that hold the event.
    pub(super) fn elsewhere(&self, asked: &Request, cassette: &Cassette) -> Vec<Request> {
        let mut found: Vec<Request> = Vec::new();
        for interaction in &cassette.interactions {
            let recorded = &interaction.request;
            let is_alike =
                recorded.method == asked.method && recorded.path_only() == asked.path_only();
            let holds = |response| self.stands_in(response);
            if is_alike && interaction.response().is_some_and(holds) {
                let alike = self.member.exchanged(asked, recorded);
                if !found.contains(&alike) {
                    found.push(alike);
                }
            }
        }
        found
    }

    /// Whether a stream goes on behind the event.
    pub(super) fn stands_in(&self, response: &Response) -> bool {
        Media::of_headers(&response.headers) == Media::EventStream
            && !response.headers.contains("content-length")
            && !response.headers.contains("content-encoding")
            && self.end(&response.body.bytes()).is_some()
    }

    /// What stands behind the event. The number of chunks stays; those before it are empty.
    pub(super) fn rest(&self, body: &Body) -> Option<Body> {
        let end = self.end(&body.bytes())?;
        let (mut start, mut begun) = (0, None);
        let chunk = |chunk: &Chunk| {
            let skipped = end.saturating_sub(start).min(chunk.bytes.len());
            start += chunk.bytes.len();
            let bytes = chunk.bytes.slice(skipped..);
            if start > end {
                begun.get_or_insert(chunk.ms);
            }
            Chunk { ms: begun.map_or(0, |begun| chunk.ms.saturating_sub(begun)), bytes }
        };
        match body {
            Body::Whole(bytes) => Some(Body::Whole(bytes.slice(end..))),
            Body::Stream(chunks) => Some(Body::Stream(chunks.iter().map(chunk).collect())),
        }
    }

    /// Where the event ends.
    fn end(&self, body: &Bytes) -> Option<usize> {
        let mut is_here = false;
        for line in sse::event_lines(body) {
            if line.content.is_empty() {
                if is_here {
                    return Some(line.end);
                }
                continue;
            }
            let field = line.field(body);
            let value = &body[field.value];
            is_here |= match (self.member, &body[field.name]) {
                (Member::Header, b"id") => value == self.event.as_bytes(),
                (Member::Query, b"data") => Text::parse_container(value).is_some_and(|json| {
                    let mut numbers = NUMBERS.iter().filter_map(|name| json.get(name));
                    numbers.any(|number| number.as_str().trim() == self.event)
                }),
                _ => false,
            };
        }
        None
    }
}

impl Member {
    fn of(self, request: &Request) -> Option<Cow<'_, str>> {
        match self {
            Self::Header => request.headers.get(HEADER).map(Cow::Borrowed),
            Self::Query => fields(request).find_map(|field| {
                let (name, value) = field.split_once('=')?;
                (name == QUERY).then(|| percent::form_decoded(value))
            }),
        }
    }

    /// A request that names the event which a recorded one names, or none.
    fn exchanged(self, asked: &Request, recorded: &Request) -> Request {
        let mut exchanged = asked.clone();
        match self {
            Self::Header => {
                exchanged.headers.remove(HEADER);
                if let Some(event) = recorded.headers.get(HEADER) {
                    exchanged.headers.append(HEADER, event.to_owned().into_bytes());
                }
            }
            Self::Query => {
                let is_named = |field: &&str| field.split('=').next() == Some(QUERY);
                let others = fields(asked).filter(|field| !is_named(field));
                let all: Vec<&str> = others.chain(fields(recorded).filter(is_named)).collect();
                let mark = if all.is_empty() { "" } else { "?" };
                exchanged.path = format!("{}{mark}{}", asked.path_only(), all.join("&"));
            }
        }
        exchanged
    }
}

fn fields(request: &Request) -> impl Iterator<Item = &str> {
    request.query().unwrap_or_default().split('&').filter(|field| !field.is_empty())
}
