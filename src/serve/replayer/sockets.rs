//! The WebSockets of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, UPGRADE,
};
use http::request::Parts;
use tokio::sync::watch;

use super::Replayer;
use super::meanwhile::Hold;
use super::pace::Clock;
use super::recorded::Recorded;
use super::replay::{Chosen, RunProgress};
use super::script::{Passed, Script};
use super::socket::{Opened, Socket, breaks_off};
use super::spoil::Blow;
use crate::cassette::exchanges::{ExchangePart, ExchangeSpot, Exchanges, message_request, path_of};
use crate::cassette::{Cassette, Content, Frame, Peer, Request};
use crate::compare::matching::{Index, Message, Mismatch, Playlist};
use crate::identity::{Echo, MadeUp, Renamed};
use crate::redact::{Found, Veiled};
use crate::serve::lock;
use crate::serve::server::{Answer, Arrival, ServerPlace};
use crate::serve::websocket::{Compression, accept_key};

/// The WebSockets that are open, by a number of their own.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    open: BTreeMap<usize, SocketProgress>,
    /// The exchanges that opened those whose clients left and never said what they say there.
    left: BTreeSet<usize>,
    count: usize,
    exchanged: watch::Sender<()>,
}

/// How far a WebSocket has come.
#[derive(Debug)]
struct SocketProgress {
    /// The exchange that opened it.
    opened: usize,
    passed: Passed,
    /// Whether the client has said anything that was recorded.
    is_begun: bool,
    /// How many messages the client has sent.
    asked: usize,
    /// What was said so far, where it may show that another session is meant.
    history: Option<History>,
}

/// What both sides of a session of lines have said.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    pub(super) heard: Vec<Content>,
    pub(super) said: Vec<Content>,
}

/// The frame of the client that is waited for.
pub(super) struct Awaited {
    pub(super) interaction: usize,
    /// Its number among the steps.
    pub(super) at: usize,
    /// Whether the client may leave it out.
    pub(super) is_optional: bool,
    /// Whether it is only to tell which client it is.
    pub(super) is_to_tell: bool,
    /// How long it took when it was recorded, in milliseconds.
    pub(super) gap: u64,
}

/// What a request comes to that asks for a WebSocket.
#[derive(Debug)]
pub enum Upgraded {
    /// It is opened.
    Opened(Opened),
    /// It was not.
    Refused(Answer),
}

/// The WebSockets of a cassette, by the exchanges that open them.
pub(super) fn scripts(
    cassette: &Cassette,
    exchanges: Option<&Exchanges>,
    index: &Index,
) -> Vec<(usize, Script)> {
    let sockets = cassette.interactions.iter().enumerate().filter(|(_, it)| it.is_socket());
    let scripts = sockets.filter_map(|(number, interaction)| {
        let asked = |frame| exchanges?.asked(number, frame);
        let script = Script::of(interaction, number, index, asked)?;
        Some((exchanges.map_or(number, |it| it.opened(number)), script))
    });
    scripts.collect()
}

/// A message as a request, and the secrets in it.
type MessageRequest = (Request, Found);

impl Sockets {
    /// All runs begin anew. Whoever plays one that was open is told.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.left.clear();
        self.exchanged.send_replace(());
    }

    /// Nothing was said on a connection yet.
    pub(super) fn enter(
        &mut self,
        number: usize,
        opened: usize,
        script: &Script,
        history: Option<History>,
    ) {
        let passed = Passed::behind(0, script);
        let asked = self.open.get(&number).map_or(0, |state| state.asked);
        self.open
            .insert(number, SocketProgress { opened, passed, is_begun: false, asked, history });
    }

    /// Counts a message of the client. Tells how many came before it.
    fn count_message(&mut self, number: usize) -> usize {
        self.open.get_mut(&number).map_or(0, |state| {
            state.asked += 1;
            state.asked - 1
        })
    }
}

impl Replayer {
    /// Answers a request for a WebSocket as it was recorded.
    ///
    /// # Errors
    ///
    /// What is most alike, if nothing answers it.
    pub async fn open(self: &Arc<Self>, arrival: Arrival<'_>) -> Result<Upgraded, Box<Mismatch>> {
        let clock = self.clock();
        let found = self.found_at(arrival, Bytes::new()).await;
        let (chosen, place) = found.map_err(|asked| self.explain(*asked))?;
        Ok(self.opened(chosen, arrival.head, place, clock).await)
    }

    /// Answers a request for a WebSocket as it was recorded, if it was, at the very server that is asked. Where
    /// there is a live one, a server at another port is itself.
    pub async fn open_known(self: &Arc<Self>, arrival: Arrival<'_>) -> Option<Upgraded> {
        let clock = self.clock();
        let chosen = self.found(arrival, Bytes::new()).await.ok()?;
        Some(self.opened(chosen, arrival.head, arrival.place, clock).await)
    }

    async fn opened(
        self: &Arc<Self>,
        mut chosen: Chosen,
        head: &Parts,
        place: ServerPlace<'_>,
        clock: Clock,
    ) -> Upgraded {
        let number = chosen.number;
        let script = match &chosen.blow {
            Some(blow) if blow.is_instead() => None,
            _ => self.recorded().script(number),
        };
        // What goes wrong behind the handshake is not to spoil it.
        let blow = chosen.blow.take_if(|_| script.is_some());
        let mut answer = self.send(chosen, head, place, clock).await;
        if let Some(breaks) = blow.as_ref().and_then(Blow::breaks) {
            answer.extensions_mut().insert(breaks);
        }
        let Some(script) = script else {
            return Upgraded::Refused(answer);
        };
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        if let Some(key) = accept_key(&head.headers) {
            headers.insert(SEC_WEBSOCKET_ACCEPT, key);
        }
        let was_compressed = headers.remove(SEC_WEBSOCKET_EXTENSIONS).is_some();
        let agreed = Compression::agreed(&head.headers).filter(|_| was_compressed);
        let compression = agreed.map(|(compression, answered)| {
            headers.insert(SEC_WEBSOCKET_EXTENSIONS, answered);
            compression
        });
        let number = self.enter(number, script, None);
        let blow = blow.as_ref().and_then(Blow::within);
        let server = self.server(place);
        let beside = &self.recorded().beside;
        let outward = place.outward(server, beside).map(|outward| outward.own().clone());
        let addresses = place.inward(server, beside).zip(outward).map(<[_; 2]>::from);
        let socket = Socket { replayer: Arc::clone(self), number, compression, addresses, blow };
        Upgraded::Opened(Opened { answer, socket })
    }

    /// A connection on which a recorded WebSocket is played.
    pub(super) fn enter(&self, opened: usize, script: &Script, history: Option<History>) -> usize {
        let playlist = self.playlist();
        let mut sockets = lock(&self.sockets);
        let number = sockets.count;
        sockets.count += 1;
        sockets.enter(number, opened, script, history);
        sockets.hold(number, self.recorded(), &playlist);
        number
    }

    /// Whether a connection belongs to this run.
    pub(super) fn is_open(&self, number: usize) -> bool {
        lock(&self.sockets).open.contains_key(&number)
    }

    /// Tells that a WebSocket is another recorded one from now on, or of another run.
    pub(super) fn exchanged(&self) -> watch::Receiver<()> {
        lock(&self.sockets).exchanged.subscribe()
    }

    /// What was said on a connection, if that is kept, and the exchange that opened it.
    pub(super) fn history(&self, number: usize) -> Option<(usize, History)> {
        self.with(number, |_, state| Some((state.opened, state.history.clone()?)))?
    }

    /// The interaction that is played on a connection.
    pub(super) fn interaction(&self, number: usize) -> Option<usize> {
        self.with(number, |script, _| script.interaction)
    }

    pub(super) fn clock(&self) -> Clock {
        self.pace.begin()
    }

    pub(super) fn watch(&self) -> watch::Receiver<RunProgress> {
        self.run.subscribe()
    }

    pub(super) fn leave(&self, number: usize) {
        let _turn = lock(&self.turns);
        let short = |script: &Script, state: &SocketProgress| {
            let is_silent = state.asked == 0 && script.is_spoken_to();
            let is_short = !script.is_over(&state.passed);
            is_short.then_some((state.opened, state.passed.count, is_silent))
        };
        let short = self.with(number, short).flatten();
        // Who is about to come may be the one that said no more.
        let left = short.filter(|short| !self.take_short(number, *short));
        let mut sockets = lock(&self.sockets);
        sockets.open.remove(&number);
        sockets.left.extend(left.filter(|(.., is_silent)| *is_silent).map(|(opened, ..)| opened));
    }

    /// Takes a client that has left early for one that was silent when it was recorded, or said no more than this one,
    /// if there is one left: who comes later may be the one that says more.
    fn take_short(&self, number: usize, (opened, count, is_silent): (usize, usize, bool)) -> bool {
        let is_short = |it: &Script| {
            (is_silent && !it.is_spoken_to()) || it.is_over(&Passed::behind(count, it))
        };
        let is_it = |other| self.recorded().script(other).is_some_and(is_short);
        let mut others = self.alike(opened).filter(|(other, _)| is_it(*other));
        others.any(|other| self.become_another((number, opened), other, |_| true))
    }

    /// What of other requests holds a WebSocket back.
    pub(super) fn hold(&self, number: usize) -> Option<Hold> {
        let opened = lock(&self.sockets).open.get(&number)?.opened;
        self.recorded().meanwhile.hold(opened, &self.run)
    }

    /// How many frames have passed.
    pub(super) fn passed(&self, number: usize) -> usize {
        self.with(number, |_, state| state.passed.count).unwrap_or_default()
    }

    /// The frame that may be sent now, and how long after what came before it.
    pub(super) fn due(&self, number: usize) -> Option<(usize, u64)> {
        self.with(number, |script, state| script.due(&state.passed).map(|at| (at, script.gap(at))))?
    }

    /// The frame of the client that is waited for.
    pub(super) fn awaited(&self, number: usize) -> Option<Awaited> {
        self.with(number, |script, state| {
            let at = script.awaited(&state.passed)?;
            let is_optional = script.steps[at].is_optional;
            let (interaction, is_to_tell) = (script.interaction, state.passed.held.is_some());
            Some(Awaited { interaction, at, is_optional, is_to_tell, gap: script.gap(at) })
        })?
    }

    /// A frame that is waited for no more.
    pub(super) fn pass_over(&self, number: usize, awaited: &Awaited) {
        if let Some(state) = lock(&self.sockets).open.get_mut(&number) {
            if awaited.is_to_tell {
                state.passed.held = None;
            } else {
                state.passed.over.push(awaited.at);
            }
        }
    }

    /// Whether all was said, and the server broke off.
    pub(super) fn is_cut(&self, number: usize) -> bool {
        let is_cut = self
            .with(number, |script, state| breaks_off(script.end) && script.is_over(&state.passed));
        is_cut.unwrap_or(true)
    }

    /// A frame as it is sent in this run.
    pub(super) fn say(&self, number: usize, at: usize) -> (Frame, Content) {
        let playlist = self.playlist();
        let mut sockets = lock(&self.sockets);
        let Some(state) = sockets.open.get_mut(&number) else { return gone() };
        state.passed.pass(at);
        let Some(script) = self.recorded().script(state.opened) else { return gone() };
        let step = &script.steps[at];
        let shown = MadeUp::some(&self.shown());
        let text = step.frame.message().map(Bytes::as_ref).unwrap_or_default();
        let shown = shown.map(|shown| Echo::all(text, &shown)).unwrap_or_default();
        let names = step.names().chain(shown.iter().map(Echo::value));
        let renamed = Renamed::of(names, playlist.bindings());
        let index = &self.recorded().index;
        let value = |secret: &_| playlist.secret(index, (state.opened, &Found::default()), secret);
        let unveiled = Veiled::of_text(text).unveiled(value);
        let said = step.said(&renamed, &shown, &unveiled);
        if let Some(history) = &mut state.history {
            history.said.push(said.clone());
        }
        (step.frame.clone(), said)
    }

    /// Takes a message of the client. Tells which frame it is; nothing, if it does not matter.
    ///
    /// # Errors
    ///
    /// What is most alike, if it was not recorded.
    pub(super) fn ask(
        &self,
        number: usize,
        content: Content,
    ) -> Result<Option<usize>, Box<Mismatch>> {
        let frame = Frame::of_client(content);
        let before = lock(&self.sockets).count_message(number);
        let heard = self.hear(number, &frame);
        heard.or_else(|asked| {
            self.elsewhere(number, &frame).ok_or_else(|| {
                let mut mismatch = self.explain(*asked);
                let elsewhere = self.recorded_elsewhere(number, &frame);
                let message = |interaction| Message { interaction, number: before, elsewhere };
                mismatch.message = self.interaction(number).map(message);
                mismatch
            })
        })
    }

    /// Takes a message of the client, or tells what was asked. What is said on a connection of another run does not
    /// matter.
    pub(super) fn hear(
        &self,
        number: usize,
        frame: &Frame,
    ) -> Result<Option<usize>, Box<MessageRequest>> {
        let _turn = lock(&self.turns);
        let Some(mut opened) = self.with(number, |_, state| state.opened) else { return Ok(None) };
        let mut asked = self.message(opened, frame);
        let mut chosen = self.take_message(&asked);
        if chosen.is_none()
            && let Some((other, message)) = self.another(number, opened, frame)
        {
            chosen = self.take_message(&message);
            if chosen.is_some() {
                (opened, asked) = (other, message);
            }
        }
        let chosen = chosen.or_else(|| self.assume(&asked).map(|chosen| chosen.number));
        let Some(exchange) = chosen else { return Err(Box::new(asked)) };
        let ExchangeSpot { interaction, part } = self.recorded().spot(exchange);
        let script = self.recorded().script(opened);
        // A frame is left out of a script only where the client says nothing.
        let at = match part {
            ExchangePart::Frame(at) if script.is_some_and(|it| it.interaction == interaction) => {
                Some(at)
            }
            _ => None,
        };
        if let (Some(state), Some(at)) = (lock(&self.sockets).open.get_mut(&number), at) {
            state.passed.pass(at);
            state.passed.held = None;
            state.is_begun = true;
            if let Some(history) = &mut state.history {
                history.heard.push(frame.content.clone());
            }
        }
        Ok(at)
    }

    fn take_message(&self, (asked, found): &MessageRequest) -> Option<usize> {
        let index = &self.recorded().index;
        let plain = asked.readable();
        let read = index.read(asked, &plain).by(found.clone());
        let strays = self.retract(&read);
        let mut playlist = self.playlist();
        let number = playlist.take_next(index, &read);
        let taken = number.map(|number| self.taken(number, &playlist, &read).number);
        drop(playlist);
        self.assume_otherwise(strays);
        taken.iter().for_each(|exchange| self.note_drift(asked, *exchange));
        taken
    }

    /// A message as the recorded server would have been asked.
    fn message(&self, opened: usize, frame: &Frame) -> MessageRequest {
        let recorded = self.recorded();
        let spot = recorded.spot(opened).interaction;
        let path = path_of(&recorded.cassette().interactions[spot].request, spot);
        self.veiled(message_request(&path, frame))
    }

    /// Another recorded WebSocket that was asked for in the same way, in whose place this one may be:
    /// of two clients the other may come first this time. Neither may have said or been told more yet than what both
    /// begin with.
    fn another(
        &self,
        number: usize,
        opened: usize,
        frame: &Frame,
    ) -> Option<(usize, MessageRequest)> {
        let index = &self.recorded().index;
        let mut others = self.alike(opened).map(|other| (other, self.message(other.0, frame)));
        let found = others.find(|(other, (asked, found))| {
            let plain = asked.readable();
            let read = index.read(asked, &plain).by(found.clone());
            let answers = |playlist: &Playlist| playlist.answering(index, &read).is_some();
            self.become_another((number, opened), *other, answers)
        });
        found.map(|((other, _), message)| (other, message))
    }

    /// The other recorded WebSockets that were asked for in the same way, and how many frames each of them begins with
    /// in the same way.
    fn alike(&self, opened: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let recorded = self.recorded();
        let script = recorded.script(opened);
        let is_alike = move |other| other != opened && recorded.index.asks_the_same(opened, other);
        let others = recorded.scripts().filter(move |(other, _)| is_alike(*other));
        others.filter_map(move |(other, it)| Some((other, script?.shared_beginning(it))))
    }

    /// Lets a connection be another recorded one from now on, if nobody has said more there, or was told more, than what
    /// both `share`, and `is_it` finds that it is.
    fn become_another(
        &self,
        (number, opened): (usize, usize),
        (other, share): (usize, usize),
        is_it: impl FnOnce(&Playlist) -> bool,
    ) -> bool {
        let recorded = self.recorded();
        let index = &recorded.index;
        let mut playlist = self.playlist();
        let mut sockets = lock(&self.sockets);
        let Some(owner) = sockets.is_free(other, &playlist) else { return false };
        if owner.into_iter().chain([number]).any(|it| !sockets.is_within(it, share)) {
            return false;
        }
        let scripts = recorded.script(opened).zip(recorded.script(other));
        let said = scripts.into_iter().flat_map(|(one, other)| one.shared_messages(other, share));
        let exchanged: Vec<_> = std::iter::once((opened, other)).chain(said).collect();
        let exchange = |playlist: &mut Playlist| {
            exchanged.iter().for_each(|(one, other)| playlist.exchange(index, *one, *other));
        };
        exchange(&mut playlist);
        if !is_it(&playlist) {
            exchange(&mut playlist);
            return false;
        }
        playlist.note_exchanged(index, &exchanged);
        sockets.swap((number, opened), (owner, other), recorded);
        if sockets.left.remove(&other) {
            sockets.left.insert(opened);
        }
        if let Some(owner) = owner {
            sockets.hold(owner, recorded, &playlist);
        }
        true
    }

    /// The interaction in which a message was recorded, if that is another WebSocket that was asked for in the same
    /// way.
    fn recorded_elsewhere(&self, number: usize, frame: &Frame) -> Option<usize> {
        let opened = self.with(number, |_, state| state.opened)?;
        let recorded = self.recorded();
        let mut said = self.alike(opened).filter_map(|(other, _)| {
            let (asked, found) = self.message(other, frame);
            let plain = asked.readable();
            let read = recorded.index.read(&asked, &plain).by(found);
            self.playlist().saying(&recorded.index, &read)
        });
        said.next().map(|exchange| recorded.spot(exchange).interaction)
    }

    fn with<R>(
        &self,
        number: usize,
        read: impl FnOnce(&Script, &SocketProgress) -> R,
    ) -> Option<R> {
        let sockets = lock(&self.sockets);
        let state = sockets.open.get(&number)?;
        Some(read(self.recorded().script(state.opened)?, state))
    }
}

impl Sockets {
    /// Whether what an exchange has opened is still to be played, and by which of them it is.
    #[expect(clippy::option_option, reason = "it is free also where none plays it")]
    fn is_free(&self, opened: usize, playlist: &Playlist) -> Option<Option<usize>> {
        match self.open.iter().find(|(_, state)| state.opened == opened) {
            Some((owner, _)) => Some(Some(*owner)),
            None => (!playlist.was_played(opened) || self.left.contains(&opened)).then_some(None),
        }
    }

    /// Waits for what the client says where it may be another one, which has heard no more by the time it spoke.
    fn hold(&mut self, number: usize, recorded: &Recorded, playlist: &Playlist) {
        let Some(opened) = self.open.get(&number).map(|state| state.opened) else { return };
        let script = recorded.script(opened);
        let behind = |(other, it): (usize, &Script)| {
            let is_another = other != opened && recorded.index.asks_the_same(opened, other);
            let behind = script.filter(|_| is_another)?.may_speak_behind(it)?;
            let owner = self.is_free(other, playlist)?;
            let is_begun = owner.and_then(|it| self.open.get(&it)).is_some_and(|it| it.is_begun);
            (!is_begun).then_some(behind)
        };
        let held = recorded.scripts().filter_map(behind).min();
        if let Some(state) = self.open.get_mut(&number) {
            state.passed.held = held;
        }
    }

    /// Whether no more has passed on one than so many frames, from the beginning.
    fn is_within(&self, number: usize, beginning: usize) -> bool {
        self.open.get(&number).is_none_or(|state| state.passed.is_within(beginning))
    }

    /// Lets two of them be each other.
    fn swap(
        &mut self,
        (one, opened): (usize, usize),
        (owner, other): (Option<usize>, usize),
        recorded: &Recorded,
    ) {
        for (number, opened) in [(Some(one), other), (owner, opened)] {
            let state = number.and_then(|number| self.open.get_mut(&number));
            if let Some((state, script)) = state.zip(recorded.script(opened)) {
                // Both have said and were told the same so far.
                state.opened = opened;
                state.passed = Passed::behind(state.passed.count, script);
                state.is_begun |= number == Some(one);
            }
        }
        self.exchanged.send_replace(());
    }
}

/// What is sent on a connection that a new run has taken away.
fn gone() -> (Frame, Content) {
    let content = Content::Close { code: Some(1001), reason: String::new() };
    (Frame { ms: 0, from: Peer::Server, content: content.clone(), fragments: Vec::new() }, content)
}
