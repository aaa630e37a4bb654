//! A request and what came of it.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::memmem;

use super::{Body, Frame, Headers, Media, Peer, coding};
use crate::text::graphql;
use crate::text::json::{Container, Text};
use crate::text::words::words;

/// A request and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// What was going on when the request arrived: earlier interactions whose answer was not
    /// complete by then. All other earlier ones were.
    pub after: Vec<Progress>,
    /// What was asked.
    pub request: Request,
    /// What came of it.
    pub outcome: Outcome,
}

/// How far an interaction had come at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Its number in the cassette, counted from 0.
    pub interaction: usize,
    /// How many chunks of its answer had been sent on to the client; of a WebSocket, how many frames
    /// there had been in both directions.
    pub chunks: usize,
}

/// A request as the server received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// The request target as the client wrote it, with its query and without retape's own prefix:
    /// `/v1/agents?limit=1`. If it went to another server than the first one of the cassette, it begins
    /// with the address of that: `https://api.openai.com/v1/models`.
    pub path: String,
    /// End-to-end header fields; the hop-by-hop ones are not kept.
    pub headers: Headers,
    /// All bytes of the body.
    pub body: Bytes,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// An answer, whole or cut short.
    Response(Response),
    /// No answer, and how that ended.
    Nothing(End),
}

/// An answer as the server sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Milliseconds from the arrival of the request to the arrival of the answer's head.
    pub ms: u64,
    /// What the server said before it, such as `103 Early Hints`.
    pub interim: Vec<Interim>,
    /// The status code.
    pub status: u16,
    /// The reason phrase, where it is not the usual one of that status.
    pub reason: Option<String>,
    /// End-to-end header fields; `content-length` is there if the server sent it.
    pub headers: Headers,
    /// What followed.
    pub body: Body,
    /// Fields that came after the body.
    pub trailers: Headers,
    /// What went over the WebSocket, or in lines, in both directions, if the status is 101.
    pub frames: Vec<Frame>,
    /// Milliseconds from the arrival of the request until the client left, if more of the answer came later.
    pub left: Option<u64>,
    /// How it ended.
    pub end: End,
}

/// What a server says of an answer before it (RFC 9110, section 15.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interim {
    /// Milliseconds from the arrival of the request.
    pub ms: u64,
    /// The status code: 102 to 199.
    pub status: u16,
    /// Its fields.
    pub headers: Headers,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum End {
    /// All of it came.
    #[default]
    Complete,
    /// The client left, and the server had not finished within the grace time either.
    ClientClosed,
    /// The server cut the connection.
    ServerClosed,
    /// The server went silent for longer than the recorder waits.
    Timeout,
    /// The server could not be reached.
    Unreachable,
    /// The recorder itself was stopped.
    Interrupted,
}

impl Interaction {
    /// A request and its answer, with nothing else going on.
    pub fn of(request: Request, response: Response) -> Self {
        Self { after: Vec::new(), request, outcome: Outcome::Response(response) }
    }

    /// The answer, if one came.
    pub fn response(&self) -> Option<&Response> {
        match &self.outcome {
            Outcome::Response(response) => Some(response),
            Outcome::Nothing(_) => None,
        }
    }

    /// What went over a WebSocket, or over pipes; nothing if it is neither.
    pub(crate) fn frames(&self) -> &[Frame] {
        self.response().map_or(&[], |response| &response.frames)
    }

    /// The messages of its client there.
    pub(crate) fn said_by_client(&self) -> impl Iterator<Item = &Bytes> {
        self.said_by(Peer::Client)
    }

    /// What one side says over a WebSocket.
    pub(crate) fn said_by(&self, peer: Peer) -> impl Iterator<Item = &Bytes> {
        let said = self.frames().iter().filter(move |frame| frame.from == peer);
        said.filter_map(Frame::message)
    }

    /// Whether the client listened to the answer beside what else it did: it asked for nothing to be done and for
    /// events, which may be lines that came one after the other, or opened a WebSocket.
    pub fn is_listening(&self) -> bool {
        let listens = |response: &Response| match Media::of_headers(&response.headers) {
            Media::EventStream => true,
            // Kubernetes calls the lines of a watch JSON.
            Media::Lines | Media::Json => {
                let said = response.body.chunks().iter().filter(|chunk| !chunk.bytes.is_empty());
                said.clone().count() > 1 && said.clone().all(|it| it.bytes.ends_with(b"\n"))
            }
            _ => false,
        };
        self.is_socket() || (self.request.method == "GET" && self.response().is_some_and(listens))
    }

    /// Whether it is a WebSocket, or a session of lines.
    pub fn is_socket(&self) -> bool {
        self.response().is_some_and(|response| response.status == 101)
    }

    /// How it ended.
    pub fn end(&self) -> End {
        match &self.outcome {
            Outcome::Response(response) => response.end,
            Outcome::Nothing(end) => *end,
        }
    }
}

impl Request {
    /// A request in which nothing else is said.
    pub fn of(method: impl Into<String>, path: impl Into<String>) -> Self {
        let (headers, body) = (Headers::new(), Bytes::new());
        Self { method: method.into(), path: path.into(), headers, body }
    }

    /// What stands for the beginning of a session in which client and server say lines to each other over
    /// standard input and output.
    ///
    /// # Rationale
    ///
    /// A session of lines is what a WebSocket is: one connection, and messages of both sides in order. Its
    /// messages go to the same address as those of a WebSocket at the root of a server. So both have one
    /// contract, and each can be replayed as the other.
    pub(crate) fn of_lines() -> Self {
        let mut headers = Headers::new();
        headers.set("upgrade", "stdio".to_owned());
        Self { headers, ..Self::of("GET", "/") }
    }

    /// Whether it is one [of lines](Self::of_lines).
    pub(crate) fn is_of_lines(&self) -> bool {
        self.headers.get("upgrade") == Some("stdio")
    }

    /// Whether the server refused it before its body was sent.
    pub(crate) fn is_without_its_body(&self) -> bool {
        let expects = |it: &str| it.eq_ignore_ascii_case("100-continue");
        self.body.is_empty() && self.headers.get("expect").is_some_and(expects)
    }

    /// Whether it only asks for what is there: by its method, or as a query of GraphQL, or several.
    pub fn only_reads(&self) -> bool {
        match self.method.as_str() {
            "GET" | "HEAD" | "OPTIONS" | "QUERY" => true,
            "POST" => is_query(&self.readable()),
            _ => false,
        }
    }

    /// The path without the query.
    pub fn path_only(&self) -> &str {
        self.path.split_once('?').map_or(self.path.as_str(), |(path, _)| path)
    }

    /// What stands behind the `?`, if there is one.
    pub fn query(&self) -> Option<&str> {
        self.path.split_once('?').map(|(_, query)| query)
    }

    /// The body without its content coding, as far as that is known.
    pub fn readable(&self) -> Cow<'_, [u8]> {
        let coding = self.headers.get("content-encoding");
        match coding.and_then(|coding| coding::decode_readable(coding, &self.body)) {
            Some(plain) => Cow::Owned(plain),
            None => Cow::Borrowed(&self.body),
        }
    }
}

/// Whether a body asks for nothing but queries of GraphQL, which change nothing.
fn is_query(body: &[u8]) -> bool {
    let reads = |json: Text<'_>| {
        let word = |name: &str| json.get(name).and_then(Text::string);
        let named = word("operationName");
        word("query").is_some_and(|query| graphql::only_reads(&query, named.as_deref()))
    };
    let json = memmem::find(body, b"\"query\"").and_then(|_| Text::parse_container(body));
    json.is_some_and(|json| match json.container() {
        Some(Container::Array) => json.elements().next().is_some() && json.elements().all(reads),
        _ => reads(json),
    })
}

/// What comes so shortly after a client has left is the end of what it has heard, in milliseconds.
pub(super) const LATE: u64 = 50;

impl Response {
    /// An answer of that status in which nothing else is said, and which came at once.
    pub fn of(status: u16) -> Self {
        let (headers, trailers) = (Headers::new(), Headers::new());
        let (body, end) = (Body::default(), End::Complete);
        let (interim, frames) = (Vec::new(), Vec::new());
        let (ms, reason, left) = (0, None, None);
        Self { ms, interim, status, reason, headers, body, trailers, frames, left, end }
    }

    /// A good answer with a body of that media type, in one piece.
    pub fn whole(media: &str, body: impl Into<Bytes>) -> Self {
        let headers = Headers::from_iter([("content-type", media.to_owned())]);
        Self { headers, body: Body::Whole(body.into()), ..Self::of(200) }
    }

    /// Notes when the client left, if more of the answer came later: all of it, however soon, or what it may not have
    /// left for.
    pub(crate) fn note_left(&mut self, left: Option<u64>) {
        let last = self.body.chunks().iter().rfind(|chunk| !chunk.bytes.is_empty());
        let last = last.map_or(self.ms, |last| last.ms.max(self.ms));
        self.left = left.filter(|left| self.ms > *left || last >= left.saturating_add(LATE));
    }

    /// Its fields: those of the head, those before it and those behind the body.
    pub(crate) fn fields_mut(&mut self) -> impl Iterator<Item = &mut Headers> {
        let interim = self.interim.iter_mut().map(|interim| &mut interim.headers);
        [&mut self.headers, &mut self.trailers].into_iter().chain(interim)
    }

    /// The body as text, as far as that can be: without its content coding, and a binary stream of
    /// Amazon's as lines.
    pub fn readable(&self) -> Cow<'_, Body> {
        let decoded = self.decoded();
        let lines = self.is_of_amazon().then(|| decoded.lines_of_amazon()).flatten();
        lines.map_or(decoded, Cow::Owned)
    }

    /// Whether the body is a stream in Amazon's framing.
    pub(crate) fn is_of_amazon(&self) -> bool {
        Media::of_headers(&self.headers) == Media::Amazon
    }

    /// The body without its content coding, as far as that is known: each chunk as what it made
    /// readable. A body that was cut short shows what can be read of it.
    pub fn decoded(&self) -> Cow<'_, Body> {
        let coding = self.headers.get("content-encoding");
        match coding.and_then(|coding| self.body.decoded(coding)) {
            Some(plain) => Cow::Owned(plain),
            None => Cow::Borrowed(&self.body),
        }
    }
}

impl End {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Complete,
        Self::ClientClosed,
        Self::ServerClosed,
        Self::Timeout,
        Self::Unreachable,
        Self::Interrupted,
    ];
}

words!(End: Complete "complete", ClientClosed "client_closed", ServerClosed "server_closed",
    Timeout "timeout", Unreachable "unreachable", Interrupted "interrupted");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::Chunk;

    #[test]
    fn when_the_client_left_is_noted_if_more_came_long_after() {
        let chunk =
            |ms, text: &'static str| Chunk { ms, bytes: Bytes::from_static(text.as_bytes()) };
        let chunks = vec![chunk(10, "one"), chunk(100, "two"), chunk(900, "")];
        let mut response = Response { ms: 1, body: Body::Stream(chunks), ..Response::of(200) };
        for (left, noted) in [(20, Some(20)), (50, Some(50)), (60, None), (u64::MAX, None)] {
            response.note_left(Some(left));
            assert_eq!(response.left, noted, "left after {left} ms");
        }

        response.body = Body::default();
        response.ms = 300;

        response.note_left(Some(100));

        assert_eq!(response.left, Some(100), "left before the head");

        response.note_left(Some(299));

        assert_eq!(response.left, Some(299), "left just before the head");
    }
}
