//! What was said in lines, as both sides say it over streamable HTTP.
//!
//! MCP is the same JSON-RPC over standard input and output and over HTTP. Each message of a client becomes a
//! `POST`. What the server said while a request of the client was open is sent in the answer to it, and what it
//! said besides in the answer to the `GET` with which clients listen.

use std::collections::HashMap;

use bytes::Bytes;

use super::lines::{INITIALIZE, SESSION, message};
use crate::cassette::exchanges::{in_frame, place_in_body};
use crate::cassette::{
    Body, Cassette, Chunk, End, Frame, Headers, Id, Interaction, Outcome, Peer, Progress, Request,
    Response,
};
use crate::text::rpc::Envelope;

/// What clients may leave out: not all listen, or say that they leave.
const OPTIONAL: [&str; 2] = ["GET /mcp", "DELETE /mcp"];

/// The cassette with its sessions of MCP in lines as sessions of MCP over HTTP. It stays as it is if it holds
/// anything else: others that talk in lines talk over a WebSocket as well.
pub(crate) fn over_http(cassette: Cassette) -> Cassette {
    let opens =
        |it: &Interaction| it.request.is_of_lines() && it.frames().first().is_some_and(is_of_mcp);
    if cassette.interactions.is_empty() || !cassette.interactions.iter().all(opens) {
        return cassette;
    }
    let mut posts = Posts::default();
    for (number, session) in cassette.interactions.iter().enumerate() {
        posts.session(number, session.frames());
    }
    let rules = OPTIONAL.iter().try_fold(cassette.rules, |rules, line| rules.optional(line));
    let rules = rules.and_then(|rules| rules.ignore("header.accept"));
    let rules = rules.expect("what is written above can be read");
    let to = |id: &Id| {
        let (frame, at) = in_frame(&id.at)?;
        Some((*posts.posted.get(&(id.interaction, frame?))?, place_in_body(at)))
    };
    let ids = cassette.ids.map(|ids| ids.moved(to));
    Cassette { interactions: posts.done, ids, rules, ..cassette }
}

/// Where each request of later protocol versions says which one it is.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Whether a message names a version of MCP, as the first one of a client does.
fn is_of_mcp(frame: &Frame) -> bool {
    let params = frame.message().and_then(|said| message(said)?.params);
    params.is_some_and(|params| {
        params.get("protocolVersion").is_some() || params.at(&["_meta", VERSION]).is_some()
    })
}

#[derive(Default)]
struct Posts {
    done: Vec<Interaction>,
    /// The answers of this session that are still being sent.
    open: Vec<OpenAnswer>,
    /// What nobody listened to when it was said.
    unheard: Vec<Bytes>,
    /// Which interaction each line of a client has become, by session and frame.
    posted: HashMap<(usize, usize), usize>,
}

/// An answer that is still being sent.
struct OpenAnswer {
    interaction: usize,
    /// The id of the request that it answers; nothing if the client listens.
    id: Option<String>,
    /// By what the server tells how far it has come with the request.
    token: Option<String>,
    begun: u64,
}

impl Posts {
    fn session(&mut self, number: usize, frames: &[Frame]) {
        let mut messages = frames.iter().filter_map(|frame| message(frame.message()?));
        let is_begun = messages.any(|it| it.method.as_deref() == Some(INITIALIZE));
        let session = is_begun.then(|| format!("session-{}", number + 1));
        // What a client asks before that, such as which versions there are, belongs to no session.
        let mut begun = None;
        for (at, frame) in frames.iter().enumerate() {
            // What is no message of the protocol cannot be said over HTTP.
            let Some((said, message)) = frame.message().and_then(|it| Some((it, message(it)?)))
            else {
                continue;
            };
            match frame.from {
                Peer::Client => {
                    let sessions = [session.as_deref(), begun];
                    let asked = self.ask(frame.ms, said, &message, sessions);
                    if message.method.as_deref() == Some(INITIALIZE) {
                        begun = session.as_deref();
                    }
                    self.posted.extend(asked.map(|interaction| ((number, at), interaction)));
                }
                Peer::Server => self.say(frame.ms, said, &message),
            }
        }
        // What was not answered ends when the client leaves.
        for OpenAnswer { interaction, .. } in std::mem::take(&mut self.open) {
            if let Outcome::Response(response) = &mut self.done[interaction].outcome {
                response.end = End::ClientClosed;
            }
        }
        self.unheard.clear();
        if session.is_some() {
            self.push(request("DELETE", session.as_deref(), &Bytes::new()), response(200, false));
        }
    }

    /// Gives the number of the request. `begun` is the session, once it has begun.
    fn ask(
        &mut self,
        ms: u64,
        said: &Bytes,
        message: &Envelope<'_>,
        [session, begun]: [Option<&str>; 2],
    ) -> Option<usize> {
        let method = message.method.as_deref();
        if session.is_none() && method == Some("notifications/cancelled") {
            // Without sessions, a client cancels by leaving.
            return None;
        }
        let id = message.asked();
        let is_first = method == Some(INITIALIZE);
        let asked = request("POST", begun, said);
        let mut answer = response(if id.is_some() { 200 } else { 202 }, id.is_some());
        if let Some(session) = session.filter(|_| is_first) {
            answer.headers.set(SESSION, session.to_owned());
        }
        let interaction = self.push(asked, answer);
        if let Some(id) = id {
            let token = message.wants_progress().map(str::to_owned);
            let id = Some(id.to_owned());
            self.open.push(OpenAnswer { interaction, id, token, begun: ms });
            for unheard in std::mem::take(&mut self.unheard) {
                self.event(self.open.len() - 1, ms, &unheard);
            }
        }
        if method == Some("notifications/initialized") && session.is_some() {
            let asked = request("GET", session, &Bytes::new());
            let listens = self.push(asked, response(200, true));
            self.open.push(OpenAnswer { interaction: listens, id: None, token: None, begun: ms });
        }
        Some(interaction)
    }

    fn say(&mut self, ms: u64, said: &Bytes, message: &Envelope<'_>) {
        let answered = message.answered();
        let at = match answered {
            Some(id) => self.open.iter().position(|open| open.id.as_deref() == Some(id)),
            None => {
                let token = message.tells_progress();
                let is_its = |open: &OpenAnswer| token.is_some() && open.token.as_deref() == token;
                let latest = || self.open.iter().rposition(|open| open.id.is_some());
                let its = self.open.iter().position(is_its).or_else(latest);
                its.or(self.open.len().checked_sub(1))
            }
        };
        match (at, answered) {
            (Some(at), _) => self.event(at, ms, said),
            (None, None) => self.unheard.push(said.clone()),
            // Nobody has asked for it.
            (None, Some(_)) => {}
        }
        if let (Some(at), Some(_)) = (at, answered) {
            self.open.remove(at);
        }
    }

    fn event(&mut self, at: usize, ms: u64, said: &Bytes) {
        let OpenAnswer { interaction, begun, .. } = self.open[at];
        let bytes = [&b"event: message\ndata: "[..], said, b"\n\n"].concat().into();
        if let Outcome::Response(Response { body: Body::Stream(chunks), .. }) =
            &mut self.done[interaction].outcome
        {
            chunks.push(Chunk { ms: ms.saturating_sub(begun), bytes });
        }
    }

    fn push(&mut self, request: Request, response: Response) -> usize {
        let progress = self.open.iter().map(|open| {
            let sent = self.done[open.interaction].response();
            let chunks = sent.map_or(0, |response| response.body.chunks().len());
            Progress { interaction: open.interaction, chunks }
        });
        let mut after: Vec<Progress> = progress.collect();
        after.sort_by_key(|progress| progress.interaction);
        self.done.push(Interaction { after, request, outcome: Outcome::Response(response) });
        self.done.len() - 1
    }
}

fn request(method: &str, session: Option<&str>, body: &Bytes) -> Request {
    let mut headers = Headers::new();
    if method == "POST" {
        headers.set("content-type", "application/json".to_owned());
    }
    if let Some(session) = session {
        headers.set(SESSION, session.to_owned());
    }
    Request { headers, body: body.clone(), ..Request::of(method, "/mcp") }
}

fn response(status: u16, is_stream: bool) -> Response {
    let mut headers = Headers::new();
    if is_stream {
        headers.set("content-type", "text/event-stream".to_owned());
    }
    let body = if is_stream { Body::Stream(Vec::new()) } else { Body::default() };
    Response { headers, body, ..Response::of(status) }
}
