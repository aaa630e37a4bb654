//! What was said over WebSockets, as requests and answers.

mod things;

use std::collections::HashMap;
use std::ops::Range;

use bytes::{BufMut as _, Bytes, BytesMut};

use super::calls::{Calls, Credit};
use super::interaction::LATE;
use super::number::{Number, Spots, Spotted};
use super::{
    Body, Cassette, Chunk, Content, Frame, Headers, Id, Ids, Interaction, Outcome, Peer, Request,
    Response,
};
use crate::text::json::Text;

/// A cassette in which each message of a client over a WebSocket is a request of its own, and what the
/// server said until the next one its answer: so whatever knows requests and answers knows frames.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    pub(crate) cassette: Cassette,
    spots: Vec<ExchangeSpot>,
    /// Where each interaction went.
    opened: Vec<usize>,
    /// Where each message of a client went, by interaction and frame.
    asked: HashMap<(usize, usize), usize>,
    /// Where each message of a server went, by exchange: the frames.
    said: HashMap<usize, Vec<usize>>,
}

/// Where an exchange comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExchangeSpot {
    /// The interaction.
    pub(crate) interaction: usize,
    pub(crate) part: ExchangePart,
}

/// What of an interaction an exchange is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExchangePart {
    /// The request and its answer; of a WebSocket, what opens it.
    Request,
    /// The frame of that number, which is a message of the client.
    Frame(usize),
    /// What the server said after something else was asked, or about any of several calls.
    Rest,
}

/// The method of a message: no request of HTTP has it.
pub(crate) const MESSAGE: &str = "SEND";

/// What the answers to messages are: one on each line.
const LINES: &str = "application/x-ndjson";
const BINARY: &str = "application/octet-stream";

/// What clients are told where a close has no number.
const NO_CODE: u16 = 1005;

/// What stands before the number of a frame, in a place: `frame.3/request_id`.
const FRAME: &str = "frame.";

impl Exchanges {
    /// The exchanges of a cassette, if there is a WebSocket in it.
    pub(crate) fn of(cassette: &Cassette) -> Option<Self> {
        Self::split(cassette, Split::ByTime)
    }

    /// The same, whatever else was asked between two messages.
    pub(crate) fn by_message(cassette: &Cassette) -> Option<Self> {
        Self::split(cassette, Split::ByMessage)
    }

    fn split(cassette: &Cassette, split: Split) -> Option<Self> {
        let mut answers = cassette.interactions.iter().filter_map(Interaction::response);
        answers.any(Response::holds_frames).then(|| {
            let mut unfolding = Unfolding::new(cassette, split);
            for number in 0..cassette.interactions.len() {
                unfolding.interaction(number);
            }
            unfolding.finish()
        })
    }

    /// The cassette that exchanges make, which are `told` in other words: when the WebSocket was closed
    /// that each opens, it, and its number here. Those of one WebSocket stand in order.
    pub(crate) fn fold(
        &self,
        source: &Cassette,
        told: Vec<(Option<u64>, Interaction, Option<usize>)>,
    ) -> Vec<Interaction> {
        let mut folding = Folding::default();
        for (closed, interaction, number) in told {
            let spot = number.map(|number| self.spots[number]);
            if let Some(ExchangeSpot { interaction, part: ExchangePart::Request }) = spot {
                folding.closed.insert(interaction, closed);
            }
            folding.put(source, interaction, spot);
        }
        folding.finish(source)
    }

    /// Where an exchange comes from.
    pub(crate) fn spot(&self, exchange: usize) -> ExchangeSpot {
        self.spots[exchange]
    }

    /// The exchange that an interaction begins with.
    pub(crate) fn opened(&self, interaction: usize) -> usize {
        self.opened[interaction]
    }

    /// The exchange of a message of a client.
    pub(crate) fn asked(&self, interaction: usize, frame: usize) -> Option<usize> {
        self.asked.get(&(interaction, frame)).copied()
    }

    /// How many pieces of an answer had come for certain when a client sent a message on another WebSocket.
    /// Nothing if the two are on one, or none: then they came in the order in which they stand.
    ///
    /// # Rationale
    ///
    /// Each WebSocket has a clock of its own. What had come on one when another was opened is all that tells
    /// how one clock is to the other.
    pub(crate) fn had_come(&self, source: &Cassette, answer: usize, asked: usize) -> Option<usize> {
        let (ExchangeSpot { interaction: one, .. }, ExchangeSpot { interaction: other, part }) =
            (self.spots[answer], self.spots[asked]);
        let ExchangePart::Frame(frame) = part else { return None };
        if one == other || !source.interactions[one].is_socket() {
            return None;
        }
        let asked = source.interactions[other].frames().get(frame)?.ms;
        let had_come = |ms: u64| {
            if one < other {
                ms < asked.saturating_add(opened_within(source, one, other).start)
            } else {
                ms.saturating_add(opened_within(source, other, one).end) < asked
            }
        };
        let said = self.cassette.interactions[answer].response()?.body.chunks();
        Some(said.iter().take_while(|chunk| had_come(chunk.ms)).count())
    }

    /// A table of the exchanges as one of the cassette.
    pub(crate) fn folded(&self, mut ids: Ids) -> Ids {
        for id in ids.client.iter_mut().chain(&mut ids.server) {
            let ExchangeSpot { interaction, part } = self.spots[id.interaction];
            id.interaction = interaction;
            if let ExchangePart::Frame(frame) = part {
                id.at = place_in_frame(frame, &id.at);
            }
        }
        ids
    }

    /// A table of the cassette as one of the exchanges.
    pub(crate) fn unfolded(&self, ids: &Ids) -> Ids {
        let mut ids = ids.clone();
        for id in ids.client.iter_mut().chain(&mut ids.server) {
            self.unfold(id);
        }
        ids
    }

    /// A place in a frame that has another number now.
    #[cfg(feature = "record")]
    pub(crate) fn moved_place(place: &str, now: impl Fn(usize) -> Option<usize>) -> String {
        let moved = in_frame(place).and_then(|(frame, at)| Some((now(frame?)?, at)));
        moved.map_or_else(|| place.to_owned(), |(frame, at)| place_in_frame(frame, at))
    }

    fn unfold(&self, id: &mut Id) {
        let place = in_frame(&id.at).map(|(frame, at)| (frame, at.to_owned()));
        let frame = place.as_ref().and_then(|(frame, _)| *frame);
        let exchange = frame.and_then(|frame| self.asked(id.interaction, frame));
        let opened = self.opened.get(id.interaction).copied();
        // A person may have written anything into the table.
        id.interaction = exchange.or(opened).unwrap_or_default();
        if let (Some(_), Some((_, at))) = (exchange, place) {
            id.at = place_in_body(&at);
        }
    }
}

/// Between which moments of a WebSocket a later one was opened, in milliseconds.
fn opened_within(source: &Cassette, one: usize, other: usize) -> Range<u64> {
    let mut after = source.interactions[other].after.iter();
    // It was over.
    let over = u64::MAX..u64::MAX;
    let Some(progress) = after.find(|progress| progress.interaction == one) else { return over };
    let frames = source.interactions[one].frames();
    let (come, rest) = frames.split_at(progress.chunks.min(frames.len()));
    come.last().map_or(0, |it| it.ms)..rest.first().map_or(u64::MAX, |it| it.ms)
}

impl Cassette {
    /// The cassette with each message of a client over a WebSocket as a request of its own, and with what
    /// answers it, whatever the client says in between: for whoever reads requests and answers.
    pub(crate) fn by_message(self) -> Self {
        let Some(mut exchanges) = Exchanges::split(&self, Split::Named) else { return self };
        exchanges.by_thing();
        let Exchanges { mut cassette, spots, mut said, .. } = exchanges;
        let mut messages: HashMap<usize, usize> = HashMap::new();
        let numbered = spots.iter().enumerate().map(|(at, spot)| {
            let count = messages.entry(spot.interaction).or_default();
            *count += usize::from(spot.part != ExchangePart::Request);
            let message = Some(*count).filter(|count| *count > 0);
            let number = Number { interaction: spot.interaction + 1, message };
            let asks = match spot.part {
                ExchangePart::Frame(frame) => Some(frame),
                ExchangePart::Request | ExchangePart::Rest => None,
            };
            Spotted { number, asks, answers: said.remove(&at).unwrap_or_default() }
        });
        cassette.spots = Spots(numbered.collect());
        // A close ends the last answer.
        let mut last: HashMap<usize, usize> = HashMap::new();
        last.extend(spots.iter().enumerate().map(|(at, spot)| (spot.interaction, at)));
        for (interaction, at) in last {
            let close =
                self.interactions[interaction].frames().last().filter(|it| it.message().is_none());
            if let Outcome::Response(response) = &mut cassette.interactions[at].outcome {
                response.frames.extend(close.cloned());
            }
        }
        for (Interaction { request, outcome, .. }, spot) in
            cassette.interactions.iter_mut().zip(spots)
        {
            forget_socket(&mut request.path);
            if let (true, Outcome::Response(response)) =
                (self.interactions[spot.interaction].is_socket(), outcome)
                && let Body::Stream(said) = &mut response.body
            {
                said.iter_mut().for_each(|chunk| chunk.bytes = on_one_line(&chunk.bytes));
            }
        }
        cassette
    }
}

impl Response {
    /// The number with which the server closed its WebSocket, as its client is told, and why, if it did. A close
    /// without a number counts as 1005 (RFC 6455, section 7.1.5). With which one a client closes is its own
    /// affair.
    pub(crate) fn closes(&self) -> Option<(u16, &str)> {
        let last = self.frames.last().filter(|last| last.from == Peer::Server)?;
        let Content::Close { code, reason } = &last.content else { return None };
        Some((code.unwrap_or(NO_CODE), reason))
    }

    /// Whether its client closed its WebSocket before the server did.
    pub(crate) fn is_left(&self) -> bool {
        let last = self.frames.last();
        last.is_some_and(|last| last.from == Peer::Client && last.message().is_none())
    }

    /// Whether its client closed its WebSocket so shortly after a message that others may have been on their way.
    pub(crate) fn is_left_at_once(&self) -> bool {
        let said = self.body.chunks().last().map_or(self.ms, |last| last.ms);
        let close = self.frames.last().filter(|_| self.is_left());
        close.is_some_and(|close| close.ms <= said.saturating_add(LATE))
    }

    /// Whether frames are to be told apart; of those that were, only a close is left.
    fn holds_frames(&self) -> bool {
        !self.frames.is_empty() && matches!(self.body, Body::Whole(_))
    }

    /// What the server said, over a WebSocket a message on each line; nothing if it is no WebSocket, or none
    /// over which anything was said.
    pub(crate) fn lines(&self) -> Option<Body> {
        if self.holds_frames() {
            return Some(lines_of_server(&self.frames));
        }
        let is_said = !self.frames.is_empty() || !self.body.is_empty();
        (self.status == 101 && is_said).then(|| self.body.clone())
    }
}

/// The place in a body whose text is that of a frame.
pub(crate) fn place_in_body(in_frame: &str) -> String {
    if in_frame.is_empty() { BODY } else { in_frame }.to_owned()
}

/// The place in the frame of that number, from 0, whose text is that of a body.
pub(crate) fn place_in_frame(frame: usize, in_body: &str) -> String {
    let at = if in_body == BODY { "" } else { in_body };
    format!("{FRAME}{}{at}", frame + 1)
}

/// Whether a place in a request is in its body.
pub(crate) fn is_in_body(place: &str) -> bool {
    place == BODY || place.starts_with('/')
}

/// The place of a body that is no JSON.
const BODY: &str = "body";

/// The number of a frame, from 0, and the place in it, if a place is in one.
pub(crate) fn in_frame(place: &str) -> Option<(Option<usize>, &str)> {
    let rest = place.strip_prefix(FRAME)?;
    let (number, at) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Some((number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)), at))
}

/// What ends what a server said to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Split {
    /// The next message on the WebSocket.
    ByMessage,
    /// The same, but for what names an earlier message.
    Named,
    /// Whatever else is asked as well.
    ByTime,
}

/// Exchanges that become a cassette again.
#[derive(Default)]
struct Folding {
    done: Vec<Interaction>,
    /// Where each exchange went, by its place.
    places: Vec<usize>,
    /// Where each interaction of the source went, and how many of its frames were put there.
    sockets: HashMap<usize, (usize, usize)>,
    /// When those were closed, where that is known better.
    closed: HashMap<usize, Option<u64>>,
}

impl Folding {
    fn put(&mut self, source: &Cassette, mut interaction: Interaction, spot: Option<ExchangeSpot>) {
        for progress in &mut interaction.after {
            progress.interaction = self.places[progress.interaction];
        }
        let Some(ExchangeSpot { interaction: number, part }) = spot else {
            self.places.push(self.done.len());
            return self.done.push(interaction);
        };
        if part == ExchangePart::Request && !source.interactions[number].is_socket() {
            self.places.push(self.done.len());
            return self.done.push(interaction);
        }
        let body = interaction.request.body.clone();
        let (mut ms, mut chunks) = (0, Vec::new());
        if let Outcome::Response(response) = &mut interaction.outcome {
            ms = response.ms;
            if let Body::Stream(said) = std::mem::take(&mut response.body) {
                chunks = said;
            }
        }
        let next = self.done.len();
        let (place, count) = self.sockets.entry(number).or_insert((next, 0));
        self.places.push(*place);
        if *place == next {
            self.done.push(interaction);
        }
        let Outcome::Response(opened) = &mut self.done[*place].outcome else { return };
        if let ExchangePart::Frame(at) = part {
            let frame = source.interactions[number].frames()[at].clone();
            opened.frames.push(frame.saying(ms, body));
            *count = at + 1;
        }
        let behind = source.interactions[number].frames()[*count..].iter();
        let said: Vec<&Frame> =
            behind.take_while(|it| it.message().is_some() && !it.asks()).collect();
        let is_same = said.len() >= chunks.len();
        *count += chunks.len().min(said.len());
        for (at, Chunk { ms, bytes }) in chunks.into_iter().enumerate() {
            let bytes = bytes.slice(..bytes.len() - usize::from(bytes.ends_with(b"\n")));
            let frame = said.get(at).filter(|_| is_same).map(|frame| (*frame).clone());
            opened.frames.push(frame.unwrap_or_else(Frame::of_server).saying(ms, bytes));
        }
    }

    /// The interactions, with how their WebSockets ended.
    fn finish(mut self, source: &Cassette) -> Vec<Interaction> {
        for (number, (place, _)) in self.sockets {
            let last = source.interactions[number].frames().last();
            let close = last.filter(|frame| frame.message().is_none()).cloned();
            let ms = self.closed.get(&number).copied().flatten();
            let close = close.map(|close| Frame { ms: ms.unwrap_or(close.ms), ..close });
            if let (Outcome::Response(opened), Some(close)) = (&mut self.done[place].outcome, close)
            {
                opened.frames.push(close);
            }
        }
        self.done
    }
}

/// A cassette whose frames become exchanges, in the order in which they came as far as it is known.
struct Unfolding<'c> {
    source: &'c Cassette,
    split: Split,
    exchanges: Exchanges,
    sockets: Vec<Socket<'c>>,
    /// When each interaction began, in milliseconds, as far as it is known.
    begun: Vec<u64>,
}

/// A WebSocket of which not all frames were put anywhere.
struct Socket<'c> {
    interaction: usize,
    frames: &'c [Frame],
    next: usize,
    /// The exchange to which what the server says belongs.
    latest: usize,
    calls: Calls,
}

impl<'c> Unfolding<'c> {
    fn new(source: &'c Cassette, split: Split) -> Self {
        let cassette = Cassette { interactions: Vec::new(), ids: None, ..source.clone() };
        let exchanges = Exchanges { cassette, ..Exchanges::default() };
        Self { source, split, exchanges, sockets: Vec::new(), begun: Vec::new() }
    }

    fn interaction(&mut self, number: usize) {
        let interaction = &self.source.interactions[number];
        let progress = |of: usize| {
            let mut after = interaction.after.iter();
            after.find(|progress| progress.interaction == of).map(|progress| progress.chunks)
        };
        let limits: Vec<usize> = self
            .sockets
            .iter()
            .map(|socket| progress(socket.interaction).unwrap_or(usize::MAX))
            .collect();
        let mut begun = self.begun.last().copied().unwrap_or_default();
        for (socket, limit) in self.sockets.iter().zip(&limits) {
            let passed = socket.frames[..socket.frames.len().min(*limit)].last();
            let passed = passed.map_or(0, |frame| frame.ms);
            begun = begun.max(self.begun[socket.interaction] + passed);
        }
        self.frames(&limits);
        self.begun.push(begun);
        let mut whole = interaction.clone();
        for progress in &mut whole.after {
            progress.interaction = self.exchanges.opened[progress.interaction];
        }
        let latest = self.exchanges.cassette.interactions.len();
        if let Outcome::Response(response) = &mut whole.outcome
            && interaction.is_socket()
        {
            response.frames = Vec::new();
            response.body = Body::Stream(Vec::new());
        }
        self.exchanges.opened.push(latest);
        self.push(whole, ExchangeSpot { interaction: number, part: ExchangePart::Request });
        if let Some(response) = interaction.response().filter(|_| interaction.is_socket()) {
            let frames = &response.frames;
            let calls = Calls::default();
            self.sockets.push(Socket { interaction: number, frames, next: 0, latest, calls });
        }
    }

    /// Puts frames where they belong, up to a number of each socket, by their time.
    fn frames(&mut self, limits: &[usize]) {
        loop {
            let due = self.sockets.iter().zip(limits).enumerate();
            let due =
                due.filter(|(_, (socket, limit))| socket.next < socket.frames.len().min(**limit));
            let time = |(at, (socket, _)): (usize, (&Socket<'_>, &usize))| {
                (self.begun[socket.interaction] + socket.frames[socket.next].ms, at)
            };
            let Some((_, at)) = due.map(time).min() else { return };
            self.frame(at);
        }
    }

    fn frame(&mut self, at: usize) {
        let Socket { interaction, frames, next, latest, .. } = self.sockets[at];
        let frame = &frames[next];
        self.sockets[at].next += 1;
        let Some(message) = frame.message() else { return };
        let count = self.exchanges.cassette.interactions.len();
        if frame.asks() {
            let spot = ExchangeSpot { interaction, part: ExchangePart::Frame(next) };
            self.exchanges.asked.insert((interaction, next), count);
            let asked = request(&self.source.interactions[interaction], interaction, frame);
            self.push(answered(asked, frame.ms), spot);
            self.sockets[at].latest = count;
            self.sockets[at].calls.ask(count, message);
            return;
        }
        // What came after something else was asked is no answer from before it.
        if self.split == Split::ByTime && latest + 1 != count {
            let path = self.source.interactions[interaction].request.path.clone();
            let nobody = Request::of("", path);
            self.push(
                answered(nobody, frame.ms),
                ExchangeSpot { interaction, part: ExchangePart::Rest },
            );
            self.sockets[at].latest = count;
        }
        let Socket { latest, calls, .. } = &mut self.sockets[at];
        let credit = (self.split == Split::Named).then(|| calls.answered(message, *latest));
        let latest = match credit.unwrap_or(Credit::To(*latest)) {
            Credit::To(exchange) => exchange,
            Credit::Nobody => {
                let path = path_of(&self.source.interactions[interaction].request, interaction);
                let spot = ExchangeSpot { interaction, part: ExchangePart::Rest };
                self.push(answered(Request::of(MESSAGE, path), frame.ms), spot);
                count
            }
        };
        if let Outcome::Response(response) =
            &mut self.exchanges.cassette.interactions[latest].outcome
            && let Body::Stream(chunks) = &mut response.body
        {
            chunks.push(Chunk { ms: frame.ms, bytes: line(message) });
            self.exchanges.said.entry(latest).or_default().push(next);
        }
    }

    fn push(&mut self, interaction: Interaction, spot: ExchangeSpot) {
        self.exchanges.cassette.interactions.push(interaction);
        self.exchanges.spots.push(spot);
    }

    fn finish(mut self) -> Exchanges {
        self.frames(&vec![usize::MAX; self.sockets.len()]);
        let Self { source, mut exchanges, .. } = self;
        exchanges.cassette.ids = source.ids.as_ref().map(|ids| exchanges.unfolded(ids));
        exchanges
    }
}

/// A message as a request to the socket of that number.
fn request(opened: &Interaction, socket: usize, frame: &Frame) -> Request {
    message_request(&path_of(&opened.request, socket), frame)
}

/// What stands before the number of the interaction in the path of a message.
pub(crate) const SOCKET: char = '#';

/// What the messages of a socket are sent to: the path, with the number of the interaction, which
/// stands in no path of HTTP.
pub(crate) fn path_of(opened: &Request, socket: usize) -> String {
    format!("{}{SOCKET}{}", opened.path_only(), socket + 1)
}

/// Takes the number of the interaction from the path of a message.
pub(crate) fn forget_socket(path: &mut String) {
    if let Some(end) = path.find(SOCKET) {
        path.truncate(end);
    }
}

/// A message as a request.
pub(crate) fn message_request(path: &str, frame: &Frame) -> Request {
    let is_binary = matches!(frame.content, Content::Binary(_));
    let mut headers = Headers::new();
    if is_binary {
        headers.set("content-type", BINARY.to_owned());
    }
    Request {
        headers,
        body: frame.message().cloned().unwrap_or_default(),
        ..Request::of(MESSAGE, path)
    }
}

fn answered(request: Request, ms: u64) -> Interaction {
    let mut headers = Headers::new();
    headers.set("content-type", LINES.to_owned());
    let body = Body::Stream(Vec::new());
    Interaction::of(request, Response { ms, headers, body, ..Response::of(101) })
}

/// What the server said over a WebSocket, a message on each line.
fn lines_of_server(frames: &[Frame]) -> Body {
    let said = frames.iter().filter(|frame| frame.from == Peer::Server);
    Body::Stream(
        said.filter_map(|it| Some(Chunk { ms: it.ms, bytes: on_one_line(&line(it.message()?)) }))
            .collect(),
    )
}

/// A line, with spaces for the ends of lines within its JSON: no string has one in it.
fn on_one_line(line: &Bytes) -> Bytes {
    let said = line.strip_suffix(b"\n").unwrap_or(line);
    let has_lines = || said.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let is_json = || std::str::from_utf8(said).is_ok_and(|it| Text::read_container(it).is_some());
    if !has_lines() || !is_json() {
        return line.clone();
    }
    let spaced = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
    said.iter().map(spaced).chain(*b"\n").collect()
}

fn line(message: &Bytes) -> Bytes {
    let mut line = BytesMut::with_capacity(message.len() + 1);
    line.extend_from_slice(message);
    line.put_u8(b'\n');
    line.freeze()
}
