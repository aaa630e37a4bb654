//! What was said over streamable HTTP, as both sides say it in lines.
//!
//! MCP is the same JSON-RPC over HTTP and over standard input and output. Over HTTP each message of a client
//! is a `POST`; its answers, and what the server says by itself, come in the answers to those and to a `GET`.
//! Over standard input and output all are lines, in the order in which they came.

use std::collections::HashMap;

use bytes::Bytes;

use super::{Framing, Messages, Protocols};
use crate::cassette::exchanges::{is_in_body, place_in_frame};
use crate::cassette::{Cassette, Content, Frame, Id, Interaction, Request, Response};
use crate::text::json::{Layout, Text};
use crate::text::rpc::{self, Envelope};

/// The field that names a session of MCP over HTTP.
pub(crate) const SESSION: &str = "mcp-session-id";

/// With which a client of MCP begins.
pub(super) const INITIALIZE: &str = "initialize";

/// The cassette with its sessions of MCP over HTTP as sessions of lines. It stays as it is if it holds sessions
/// of frames.
pub(crate) fn over_lines(cassette: Cassette) -> Cassette {
    if cassette.interactions.iter().any(Interaction::is_socket) {
        return cassette;
    }
    let mut sessions = Sessions::default();
    for number in 0..cassette.interactions.len() {
        sessions.interaction(&cassette.interactions, number);
    }
    let lines = std::mem::take(&mut sessions.lines);
    let interactions = sessions.finish();
    let to = |id: &Id| {
        let (session, frame) = lines.get(&id.interaction).filter(|_| is_in_body(&id.at))?;
        Some((*session, place_in_frame(*frame, &id.at)))
    };
    let ids = cassette.ids.map(|ids| ids.moved(to));
    Cassette { interactions, ids, ..cassette }
}

#[derive(Default)]
struct Sessions<'c> {
    all: Vec<Session<'c>>,
    /// When each interaction began, in milliseconds, as far as it is known, and what the server said in it.
    said: Vec<AnswerMessages>,
    /// Which line of which session the body of each interaction is that a client sent.
    lines: HashMap<usize, (usize, usize)>,
}

/// One client with its server.
struct Session<'c> {
    path: &'c str,
    id: Option<&'c str>,
    begun: u64,
    /// The interactions whose answers are lines of it.
    interactions: Vec<usize>,
    frames: Vec<Frame>,
}

/// What a server said in an answer.
struct AnswerMessages {
    begun: u64,
    /// Each message, with the number of the chunk that completed it and its time.
    messages: Vec<(usize, u64, Bytes)>,
    /// How many of them are lines of a session.
    passed: usize,
}

impl<'c> Sessions<'c> {
    fn interaction(&mut self, all: &'c [Interaction], number: usize) {
        let Interaction { after, request, .. } = &all[number];
        let response = all[number].response();
        let passed = |earlier: usize| {
            let progress = after.iter().find(|progress| progress.interaction == earlier);
            progress.map_or(usize::MAX, |progress| progress.chunks)
        };
        let mut begun = self.said.last().map_or(0, |said| said.begun);
        for (earlier, said) in self.said.iter().enumerate() {
            let came = said.messages.iter().take_while(|(chunk, ..)| *chunk < passed(earlier));
            begun = begun.max(said.begun + came.last().map_or(0, |(_, ms, _)| *ms));
        }
        let asked = message(&request.body).filter(|_| request.method == "POST");
        let mut messages = Vec::new();
        if let Some(at) = self.session(request, response, asked.as_ref(), begun) {
            self.pass(at, passed);
            let session = &mut self.all[at];
            if asked.is_some() {
                let content = Content::Text(line(&request.body));
                let ms = begun.saturating_sub(session.begun);
                self.lines.insert(number, (at, session.frames.len()));
                session.frames.push(Frame { ms, ..Frame::of_client(content) });
            }
            session.interactions.push(number);
            messages = response.map(said_in).unwrap_or_default();
        }
        self.said.push(AnswerMessages { begun, messages, passed: 0 });
    }

    /// The session that a request belongs to: that which it names, or that its answer begins.
    fn session(
        &mut self,
        request: &'c Request,
        response: Option<&'c Response>,
        asked: Option<&Envelope<'_>>,
        begun: u64,
    ) -> Option<usize> {
        let path = request.path_only();
        let given = response.and_then(|response| response.headers.get(SESSION));
        let id = request.headers.get(SESSION).or(given);
        let begins = asked.is_some_and(|it| it.method.as_deref() == Some(INITIALIZE));
        let is_it = |session: &Session<'_>| session.path == path && session.id == id;
        let known = self.all.iter().rposition(is_it).filter(|_| !begins);
        if known.is_some() || asked.is_none() {
            return known;
        }
        let (interactions, frames) = (Vec::new(), Vec::new());
        self.all.push(Session { path, id, begun, interactions, frames });
        Some(self.all.len() - 1)
    }

    /// Writes down what the server has said in a session, as far as `limit` says of each interaction.
    fn pass(&mut self, at: usize, limit: impl Fn(usize) -> usize) {
        let Session { begun, interactions, frames, .. } = &mut self.all[at];
        loop {
            let due = interactions.iter().filter_map(|number| {
                let said = &self.said[*number];
                let (chunk, ms, _) = said.messages.get(said.passed)?;
                (*chunk < limit(*number)).then_some((said.begun + ms, *number))
            });
            let Some((ms, number)) = due.min() else { return };
            let said = &mut self.said[number];
            let content = Content::Text(said.messages[said.passed].2.clone());
            said.passed += 1;
            frames.push(Frame { ms: ms.saturating_sub(*begun), content, ..Frame::of_server() });
        }
    }

    fn finish(mut self) -> Vec<Interaction> {
        (0..self.all.len()).for_each(|at| self.pass(at, |_| usize::MAX));
        self.all.into_iter().map(|session| interaction(session.frames)).collect()
    }
}

/// A session of lines.
fn interaction(frames: Vec<Frame>) -> Interaction {
    Interaction::of(Request::of_lines(), Response { frames, ..Response::of(101) })
}

/// The message of JSON-RPC that a body is, or the first one of several.
pub(super) fn message(body: &[u8]) -> Option<Envelope<'_>> {
    let first = rpc::messages(Text::parse_container(body)?).next()?;
    Envelope::of(first).filter(Envelope::is_certain)
}

/// The messages of JSON-RPC in an answer.
fn said_in(response: &Response) -> Vec<(usize, u64, Bytes)> {
    let Messages { framing, list, .. } = Messages::of(response, &Protocols::default());
    if framing == Framing::Opaque {
        return Vec::new();
    }
    let of_rpc =
        list.into_iter().filter(|message| self::message(message.data.as_bytes()).is_some());
    of_rpc.map(|it| (it.chunk, it.ms, line(it.data.as_bytes()))).collect()
}

/// A message on one line.
fn line(message: &[u8]) -> Bytes {
    let text = std::str::from_utf8(message).ok().filter(|_| message.contains(&b'\n'));
    let Some(json) = text.and_then(Text::read) else {
        return Bytes::copy_from_slice(message);
    };
    let mut compact = String::new();
    Layout::Compact.write(json, &mut compact);
    compact.into()
}
