//! One interaction while it is being recorded.

mod asked;
mod kept;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use bytes::Bytes;
use http::HeaderMap;
use tokio::sync::Notify;

use super::arrived::Arrived;
use super::end_to_end::recorded;
use super::passing::{self, Noted, Passing};
use super::shown::Shown;
use super::tape::Tape;
use crate::cassette::large::{self, Gathered};
use crate::cassette::{
    Content, End, Frame, Headers, Interaction, Interim, Outcome, Peer, Progress, Request, Response,
};
use crate::redact::{Live, Pieces, Redactor, Secrets};
use crate::store::{Entry, EntrySpan};

/// One interaction while it is being recorded. Everything is noted for the journal, redacted; whoever
/// passes it on [writes](Self::write) it first. The ends of a request and of an answer are written at
/// once.
///
/// The tape owns its takes. When it is gone nobody will save them, and nothing is written any more.
#[derive(Debug)]
pub struct Take {
    tape: Weak<Tape>,
    redactor: Arc<Redactor>,
    number: usize,
    /// What was going on when it was asked, in little room: of many at once, each lists all others.
    after: Box<[(u32, u32)]>,
    begun: Instant,
    chunks: AtomicUsize,
    state: Mutex<TakeState>,
    /// Nothing more comes of the request.
    closed: Notify,
    /// Where the journal has it.
    entries: Mutex<Vec<Range<u64>>>,
}

#[derive(Debug)]
struct TakeState {
    interaction: Interaction,
    body: Gathered,
    /// What was said before the answer.
    interim: Vec<Interim>,
    asking: Asking,
    answer: Arrived,
    over: bool,
    /// Nobody asked the server.
    unasked: bool,
    /// When the client left, if it did before.
    left: Option<u64>,
    /// The answer's body, as the journal shows it.
    shown: Option<Box<Shown>>,
    /// What the journal shows of a chunk of which more is to come.
    seen: Vec<Bytes>,
    /// Where the answer's body is in the journal, if it may come to stand there alone.
    noted: Option<Box<Noted>>,
    /// What of each side is not held in memory.
    passing: [Option<Box<Passing>>; 2],
    /// What each side of a WebSocket has said last, as the journal reads it.
    pieces: [Pieces; 2],
    /// Whether the journal has the head of the request.
    is_begun: bool,
    /// The secrets up to here.
    secrets: Secrets,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Arriving,
    /// It is there, and is read for the journal.
    Reading,
    Complete,
    /// The rest will not come.
    GivenUp,
}

impl Take {
    pub(super) fn new(tape: &Arc<Tape>, number: usize, mut interaction: Interaction) -> Self {
        let short = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let after = std::mem::take(&mut interaction.after).into_iter();
        let after = after.map(|it| (short(it.interaction), short(it.chunks))).collect();
        let state = TakeState {
            interaction,
            body: Gathered::default(),
            interim: Vec::new(),
            asking: Asking::Arriving,
            answer: Arrived::default(),
            over: false,
            unasked: false,
            left: None,
            shown: None,
            seen: Vec::new(),
            noted: None,
            passing: Default::default(),
            pieces: Default::default(),
            is_begun: false,
            secrets: tape.known(),
        };
        Self {
            tape: Arc::downgrade(tape),
            redactor: Arc::clone(&tape.redactor),
            number,
            after,
            begun: Instant::now(),
            chunks: AtomicUsize::new(0),
            state: Mutex::new(state),
            closed: Notify::new(),
            entries: Mutex::default(),
        }
    }

    /// What it asks for, as people may see it: `GET /v1/events`.
    #[cfg(feature = "cli")]
    pub(super) fn asks_for(&self) -> String {
        let request = &self.state().interaction.request;
        format!("{} {}", request.method, self.redactor.target(&request.path))
    }

    /// What the server says before the answer.
    pub(super) fn interim(&self, status: u16, headers: Headers) {
        let ms = self.ms();
        let mut state = self.state();
        self.begin(&mut state);
        let mut harmless = headers.clone();
        self.redactor.headers_noting(&mut harmless, &mut state.secrets);
        let (reason, harmless) = (None, Cow::Owned(harmless));
        self.note(&Entry::Head { n: self.number, ms, status, reason, headers: harmless });
        self.write();
        state.interim.push(Interim { ms, status, headers });
    }

    /// The head of the answer, with its end-to-end fields.
    pub(super) fn head(&self, status: u16, reason: Option<&str>, headers: Headers) {
        let ms = self.ms();
        if let Some(tape) = self.tape.upgrade() {
            tape.note_server(&headers);
        }
        let mut state = self.state();
        self.begin(&mut state);
        // An answer may come before the request was complete; its secrets count all the same.
        if state.asking == Asking::Arriving {
            let mut request = state.request();
            self.redactor.request_noting(&mut request, &mut state.secrets);
        }
        let mut harmless = headers.clone();
        self.redactor.headers_noting(&mut harmless, &mut state.secrets);
        let shown = Shown::new(&self.redactor, &headers, state.secrets.clone()).answering(status);
        shown.headers(&mut harmless);
        state.shown = Some(Box::new(shown));
        state.noted = Noted::begin(&headers).map(Box::new);
        self.note(&Entry::Head {
            n: self.number,
            ms,
            status,
            reason: reason.map(|reason| Cow::Owned(self.redactor.text(reason))),
            headers: Cow::Owned(harmless),
        });
        let interim = std::mem::take(&mut state.interim);
        state.interaction.outcome = Outcome::Response(Response {
            ms,
            reason: reason.map(str::to_owned),
            headers,
            interim,
            end: End::Interrupted,
            ..Response::of(status)
        });
    }

    /// A part of a chunk of the answer.
    pub(super) fn part(&self, bytes: &Bytes) {
        let mut state = self.state();
        if !self.pass(&mut state, Peer::Server, bytes) {
            if state.shown.as_mut().is_some_and(|shown| shown.drops(bytes.len()))
                && let Some(tape) = self.tape.upgrade()
            {
                tape.journal.tell("an answer that is read as a whole has more than 4 MiB");
            }
            let shown = state.shown.as_mut().map(|shown| shown.push(bytes)).unwrap_or_default();
            state.seen.push(shown);
            state.expect_answer();
            state.answer.push(bytes);
        }
    }

    /// All of a chunk is there.
    pub(super) fn end_chunk(&self) {
        let ms = self.ms();
        let mut state = self.state();
        let mut seen = std::mem::take(&mut state.seen);
        self.show_chunk(&mut state, ms, &seen);
        seen.clear();
        state.seen = seen;
        state.answer.end_chunk(ms);
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a piece of a body that is not held in memory; gives whether it is none.
    fn pass(&self, state: &mut TakeState, from: Peer, bytes: &Bytes) -> bool {
        let Some(tape) = self.tape.upgrade() else { return false };
        if let Some(passing) = &mut state.passing[from as usize] {
            passing.push(bytes, &tape.journal);
            return true;
        }
        let came =
            bytes.len() + if from == Peer::Client { state.body.len() } else { state.answer.len() };
        let headers = match &state.interaction {
            interaction if from == Peer::Client => &interaction.request.headers,
            Interaction { outcome: Outcome::Response(response), .. } => &response.headers,
            _ => return false,
        };
        let is_first = from == Peer::Server && came == bytes.len();
        let is_staged = is_first
            && state.shown.as_ref().is_some_and(|shown| shown.is_read_in_pieces())
            && passing::is_staged(headers, bytes);
        if !is_staged && !passing::is_due(headers, came, bytes.len()) {
            return false;
        }
        self.begin(state);
        let (number, journal) = (self.number, &tape.journal);
        let mut passing = match from {
            Peer::Client => {
                let (came, secrets) = (std::mem::take(&mut state.body), state.secrets.clone());
                Passing::of_request(&self.redactor, secrets, number, came, journal)
            }
            Peer::Server if is_staged => {
                let Some(shown) = state.shown.take() else { return false };
                Passing::staging(shown.into_live(), number)
            }
            Peer::Server => {
                let (Some(shown), Some(noted)) = (state.shown.take(), state.noted.take()) else {
                    return false;
                };
                state.answer = Arrived::default();
                let seen = std::mem::take(&mut state.seen);
                Passing::of_answer((shown.into_live(), *noted), number, &seen, journal)
            }
        };
        passing.push(bytes, journal);
        state.passing[from as usize] = Some(Box::new(passing));
        true
    }

    /// Nothing more comes of what is not held in memory; tells whether there was something.
    fn end_passing(&self, state: &mut TakeState, from: Peer) -> bool {
        let (Some(passing), Some(tape)) = (&mut state.passing[from as usize], self.tape.upgrade())
        else {
            return false;
        };
        tape.note_found(passing.finish(&tape.journal).beyond(&state.secrets));
        true
    }

    /// A frame of a WebSocket. What comes behind a close says nothing.
    pub(super) fn frame(&self, from: Peer, content: Content, fragments: Vec<usize>) {
        let ms = self.ms();
        let mut state = self.state();
        if state.over || state.is_closed() {
            return;
        }
        let fragments = if from == Peer::Server { fragments } else { Vec::new() };
        let frame = Frame { ms, from, content, fragments };
        let mut harmless = frame.clone();
        if let Some(message) = harmless.message_mut() {
            let TakeState { pieces, secrets, .. } = &mut *state;
            *message = pieces[from as usize].next(&self.redactor, message, secrets);
            if from == Peer::Client {
                *message = self.redactor.variables_noting(message, secrets);
            }
            let mut live = Live::new(&self.redactor, std::mem::take(secrets));
            let mut shown = live.push(message).into_owned();
            let (rest, secrets) = live.finish();
            shown.extend(rest);
            state.secrets = secrets;
            *message = shown.into();
        }
        if let Content::Close { reason, .. } = &mut harmless.content {
            let mut live = Live::new(&self.redactor, state.secrets.clone());
            let mut shown = live.push(reason.as_bytes()).into_owned();
            shown.extend(live.finish().0);
            *reason = String::from_utf8_lossy(&shown).into_owned();
        }
        self.note(&Entry::Frame { n: self.number, frame: Cow::Owned(harmless) });
        if let Outcome::Response(response) = &mut state.interaction.outcome {
            response.frames.push(frame);
        }
        self.chunks.fetch_add(1, Ordering::Relaxed);
    }

    /// What one side of a WebSocket says from now on is not recorded, and the person who records is told why.
    pub(super) fn lose(&self, why: &str) {
        if let Some(tape) = self.tape.upgrade() {
            tape.journal.tell(why);
        }
    }

    /// One side of a WebSocket sends no more.
    pub(super) fn end_frames(&self, by: Peer) {
        let is_closed = self.state().is_closed();
        self.end(match by {
            _ if is_closed => End::Complete,
            Peer::Client => End::ClientClosed,
            Peer::Server => End::ServerClosed,
        });
    }

    /// The fields behind the body.
    pub(super) fn trailers(&self, trailers: &HeaderMap) {
        if let Outcome::Response(response) = &mut self.state().interaction.outcome {
            response.trailers = recorded(trailers);
        }
    }

    /// The client has left; what comes now it does not hear. Only the first word counts.
    pub(super) fn leave(&self) {
        let ms = self.ms();
        self.state().left.get_or_insert(ms);
    }

    /// The interaction is over. Only the first word counts.
    pub(super) fn end(&self, end: End) {
        {
            let mut state = self.state();
            if std::mem::replace(&mut state.over, true) {
                return;
            }
            self.begin(&mut state);
            let ms = self.ms();
            let rest = state.finish_shown().into();
            self.show_chunk(&mut state, ms, &[rest]);
            self.end_passing(&mut state, Peer::Server);
            let is_of_server = !matches!(end, End::ClientClosed | End::Interrupted);
            if is_of_server && state.answer.end(ms) {
                self.note(&Entry::Chunk { n: self.number, ms, pieces: Cow::default() });
            }
            state.answer.settle();
            let mut trailers = Headers::new();
            match &mut state.interaction.outcome {
                Outcome::Response(response) => {
                    response.end = end;
                    trailers = response.trailers.clone();
                }
                Outcome::Nothing(nothing) => *nothing = end,
            }
            self.redactor.headers_noting(&mut trailers, &mut state.secrets);
            let (n, left) = (self.number, state.left);
            self.note(&Entry::End { n, end, left, trailers: Cow::Owned(trailers) });
            self.write();
        }
        self.told();
    }

    /// The interaction is over without an answer: why, for the person who records.
    pub(super) fn fail(&self, end: End, why: String) {
        let of_server = !matches!(end, End::ClientClosed | End::Interrupted);
        if let Some(tape) = self.tape.upgrade().filter(|_| of_server) {
            tape.note_fault(why);
        }
        self.end(end);
    }

    /// The server was not asked, because this process may open no more files. That is no recording of
    /// the server.
    pub(super) fn out_of_files(&self) {
        self.state().unasked = true;
        if let Some(tape) = self.tape.upgrade() {
            tape.note_out_of_files();
        }
        self.end(End::Interrupted);
    }

    /// How many chunks of the answer have come.
    pub(super) fn progress(&self) -> usize {
        self.chunks.load(Ordering::Relaxed)
    }

    /// Writes what was noted.
    pub(super) fn write(&self) {
        if let Some(tape) = self.tape.upgrade() {
            tape.journal.flush();
        }
    }

    /// Tells whoever waits for it that one side has come to its end.
    fn told(&self) {
        self.closed.notify_waiters();
        let done = {
            let mut state = self.state();
            let is_done = state.over && !matches!(state.asking, Asking::Arriving | Asking::Reading);
            is_done.then(|| {
                // Many may be held, and only what is saved is needed of them.
                (state.pieces, state.noted, state.seen) = Default::default();
                let secrets = std::mem::take(&mut state.secrets);
                (secrets, state.body.len() + state.answer.len())
            })
        };
        if let Some((tape, (secrets, bytes))) = self.tape.upgrade().zip(done) {
            tape.note_known(secrets);
            tape.over(self.number, bytes);
        }
    }

    fn note(&self, entry: &Entry<'_>) -> Option<EntrySpan> {
        let place = self.tape.upgrade()?.journal.note(entry);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        match entries.last_mut() {
            Some(last) if last.end == place.entry.start => last.end = place.entry.end,
            _ => entries.push(place.entry.clone()),
        }
        Some(place)
    }

    fn show_chunk(&self, state: &mut TakeState, ms: u64, pieces: &[Bytes]) {
        if pieces.iter().all(Bytes::is_empty) {
            return;
        }
        let place = self.note(&Entry::Chunk { n: self.number, ms, pieces: Cow::Borrowed(pieces) });
        if let (Some(place), Some(noted)) = (place, &mut state.noted) {
            noted.note(pieces, place.behind());
        }
    }

    fn ms(&self) -> u64 {
        self.begun.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, TakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakeState {
    /// Whether a side of a WebSocket has said that it sends no more.
    fn is_closed(&self) -> bool {
        self.interaction.frames().last().is_some_and(|frame| frame.message().is_none())
    }

    /// Makes room for a body that begins, as far as it was announced and will be held.
    fn expect_answer(&mut self) {
        let Outcome::Response(response) = &self.interaction.outcome else { return };
        let length = passing::announced(&response.headers).filter(|_| self.answer.len() == 0);
        self.answer.expect(length.map_or(0, |length| length.min(large::LARGE) as usize));
    }

    fn is_answered(&self) -> bool {
        matches!(self.interaction.outcome, Outcome::Response(_))
    }

    /// The rest of the body that was arriving; its secrets are known from now on.
    fn finish_shown(&mut self) -> Vec<u8> {
        let Some(shown) = self.shown.take() else { return Vec::new() };
        let (rest, secrets) = shown.finish();
        self.secrets = secrets;
        rest
    }
}

/// The beginning of an interaction: what is known when the head of a request has arrived.
pub(super) fn begun(after: Vec<Progress>, request: Request) -> Interaction {
    Interaction { after, request, outcome: Outcome::Nothing(End::Interrupted) }
}
