//! Sessions on a cassette.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONNECTION, HeaderValue};
use http::request::Parts;
use tokio::sync::watch;

use super::answers::Wanted;
use super::drift::Drift;
use super::faults::Faults;
use super::meanwhile::Hold;
use super::naming::{Naming, renamed};
use super::pace::Clock;
use super::ports::Ports;
use super::resume::Point;
use super::run::Overdue;
pub(super) use super::run::RunProgress;
use super::sockets::Sockets;
use super::spoil::Blow;
use super::{Chunking, Pace, Recorded};
use crate::cassette::{Headers, Request, target};
use crate::compare::matching::{
    Asked, Mismatch, Playlist, Proof, agreeing_fields, without_numbers,
};
use crate::config::Timing;
use crate::identity::{Hole, MadeUp, Renamed};
use crate::redact::{Found, Memory, Unveiled, of_request, spell_out};
use crate::serve::lock;
use crate::serve::server::{Answer, Arrival, ServerPlace, is_asked_for_first, may_name_us};

/// One client's run through a cassette.
#[derive(Debug)]
pub struct Replayer {
    pub(super) recorded: Arc<Recorded>,
    pub(super) pace: Pace,
    chunking: Chunking,
    pub(super) playlist: Arc<Mutex<Playlist>>,
    /// What it has come to, for answers that wait for it.
    pub(super) run: watch::Sender<RunProgress>,
    pub(super) memory: Memory,
    pub(super) sockets: Mutex<Sockets>,
    /// Held while a client of a WebSocket is heard, or leaves: which recording it is hangs on what the others are.
    pub(super) turns: Mutex<()>,
    pub(super) ports: Ports,
    /// What is called otherwise in recordings that this one goes on from.
    beside: Aliases,
    /// What the run shows about the recording, if it is to prove it.
    pub(super) proof: Option<Mutex<Proof>>,
    /// Requests that came beside recorded ones, in such a run.
    pub(super) strays: Mutex<Vec<Mismatch>>,
    /// What strict matching would have refused, if that is to be told.
    drift: Option<Box<Drift>>,
    /// What goes wrong, if anything is to.
    pub(super) faults: Option<Box<Faults>>,
}

/// Recorded names that a client made up, and what it calls them now.
pub type Aliases = Vec<(Hole, Hole)>;

/// How long an answer waits for what it shows: for requests that are under way at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// The interaction that answers a request.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The number of its exchange, among those that are played.
    pub number: usize,
    /// What the client's own identifiers in its answer are this time.
    pub renamed: Renamed,
    /// What its own secrets are.
    pub unveiled: Unveiled,
    /// The event behind which the client goes on with it.
    pub(super) behind: Option<Point>,
    /// What goes wrong with its answer.
    pub(super) blow: Option<Blow>,
}

impl Chosen {
    /// An interaction whose answer is given as it was recorded.
    fn unchanged(number: usize) -> Self {
        let (renamed, unveiled, behind, blow) = Default::default();
        Self { number, renamed, unveiled, behind, blow }
    }
}

/// The day of the clock, counted from 1970-01-01.
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400
}

impl Replayer {
    /// Begins a run in which nothing was played yet, at that pace, or else at the one that the recording needs.
    pub fn new(recorded: Arc<Recorded>, pace: Option<Pace>) -> Self {
        let pace = pace.unwrap_or_else(|| match recorded.index.rules().timing() {
            Timing::Recorded => Pace::Times(1.0),
            _ => Pace::Instant,
        });
        let playlist = Playlist::new(&recorded.index).on(&recorded.index, today(), false);
        let playlist = Arc::new(Mutex::new(playlist));
        let length = if recorded.is_watched() { recorded.index.len() } else { 0 };
        let run = RunProgress::begin(length);
        let (memory, sockets, turns, ports, chunking) = Default::default();
        let (beside, proof, strays, drift, faults) = Default::default();
        Self {
            recorded,
            pace,
            chunking,
            playlist,
            run,
            memory,
            sockets,
            turns,
            ports,
            beside,
            proof,
            strays,
            drift,
            faults,
        }
    }

    /// Goes on from other recordings, in which the client has made up these names.
    pub fn beside(mut self, beside: Aliases) -> Self {
        self.beside = beside;
        *self.playlist() = self.begin();
        self
    }

    /// A run in which nothing was played yet.
    pub(super) fn begin(&self) -> Playlist {
        let names = self.beside.iter().map(|(recorded, live)| (recorded, live));
        let index = &self.recorded.index;
        Playlist::new(index).calling(names).on(index, today(), self.proof.is_some())
    }

    /// What the client calls otherwise now, wherever it stands.
    pub fn aliases(&self) -> Aliases {
        self.playlist().bindings().aliases()
    }

    /// What is known of this run to be made up, beside what the recording says.
    pub(super) fn shown(&self) -> Vec<Hole> {
        let proof = self.proof.as_ref().map(lock);
        let shown = proof.iter().flat_map(|proof| proof.holes().cloned());
        shown.chain(self.beside.iter().map(|(recorded, _)| recorded.clone())).collect()
    }

    /// Sends streams in other pieces.
    pub fn in_pieces(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// Lets the run prove the recording: what differs in values only is answered, and noted.
    pub fn proving(mut self) -> Self {
        self.proof = Some(Mutex::default());
        *self.playlist() = self.begin();
        self
    }

    /// Notes what strict matching would have refused.
    pub fn noting_drift(mut self) -> Self {
        self.drift = Some(Box::new(Drift::of(&self.recorded)));
        self
    }

    /// What strict matching would have refused since this was asked last.
    pub fn drifted(&self) -> Vec<Mismatch> {
        self.drift.as_ref().map(|drift| drift.take()).unwrap_or_default()
    }

    /// What the run has shown so far, if it is to prove the recording.
    pub fn proof(&self) -> Option<Proof> {
        let proof = lock(self.proof.as_ref()?).clone();
        Some(match &self.recorded.exchanges {
            Some(exchanges) => proof.folded(exchanges),
            None => proof,
        })
    }

    /// What is replayed.
    pub fn recorded(&self) -> &Arc<Recorded> {
        &self.recorded
    }

    /// Answers a request as it was recorded.
    ///
    /// # Errors
    ///
    /// What is most alike, if nothing answers it.
    pub async fn answer(&self, arrival: Arrival<'_>, body: Bytes) -> Result<Answer, Box<Mismatch>> {
        let clock = self.pace.begin();
        let found = self.found_at(arrival, body).await;
        let (chosen, place) = found.map_err(|asked| self.explain(*asked))?;
        Ok(self.send(chosen, arrival.head, place, clock).await)
    }

    /// Answers a request as it was recorded, if it was. Nobody is told what is most alike, which
    /// would take much longer.
    pub async fn answer_known(&self, arrival: Arrival<'_>, body: Bytes) -> Option<Answer> {
        let clock = self.pace.begin();
        let chosen = self.found(arrival, body).await.ok()?;
        Some(self.send(chosen, arrival.head, arrival.place, clock).await)
    }

    /// The answer of a server that did not want the body of a request, if that was not played yet. Where others of the
    /// same path were wanted, the announced length tells, then the header fields, then which one comes first.
    pub async fn refusal(&self, arrival: Arrival<'_>) -> Option<Answer> {
        let head = arrival.head;
        if !is_asked_for_first(&head.headers) {
            return None;
        }
        let clock = self.pace.begin();
        let (target, place) = self.led_by_head(arrival)?;
        let chosen = {
            let target = target::relative(&self.recorded.cassette.recorded.upstream, &target);
            let (asked, found) = self.asked(Arrival { head, target, place }, Bytes::new());
            let index = &self.recorded.index;
            let read = index.read(&asked, &[]).by(found);
            let mut playlist = self.playlist();
            let number = playlist.peek(index, &read)?;
            let all = &self.recorded.played().interactions;
            if playlist.was_played(number) || !all[number].request.is_without_its_body() {
                return None;
            }
            let likely = |number: usize| {
                let recorded = &all[number].request.headers;
                let fits = length_of(recorded) == length_of(&asked.headers);
                (fits, agreeing_fields(recorded, &asked.headers), Reverse(number))
            };
            let is_wanted = |other: &usize| {
                let [refused, other] = [number, *other].map(|it| &all[it].request);
                let is_same = (&other.method, &other.path) == (&refused.method, &refused.path);
                is_same && !other.is_without_its_body() && other.headers.contains("expect")
            };
            if playlist.unplayed().filter(is_wanted).any(|other| likely(other) > likely(number)) {
                return None;
            }
            drop(playlist);
            self.take(&asked, &read)?
        };
        let mut answer = Box::pin(self.send(chosen, head, place, clock)).await;
        // hyper closes the connection of a request that was not read to its end.
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        Some(answer)
    }

    pub(super) async fn send(
        &self,
        chosen: Chosen,
        head: &Parts,
        place: ServerPlace<'_>,
        clock: Clock,
    ) -> Answer {
        let blow = chosen.blow.as_ref();
        if let Some(blow) = blow.filter(|blow| blow.is_instead()) {
            if *blow == Blow::Silence {
                Hold::silent(&self.run).end().await;
            }
            return blow.answer();
        }
        let hold = if blow.is_some_and(Blow::falls_silent) {
            Some(Hold::silent(&self.run))
        } else {
            let hold = self.recorded.meanwhile.hold(chosen.number, &self.run);
            hold.map(|hold| hold.naming(Naming::of(self, &chosen, head, place)))
        };
        let early = head.extensions.get();
        let wanted = Wanted { early, hold, ..self.wanted(&chosen, &head.headers, place, clock) };
        self.recorded.answers.send(chosen.number, wanted).await
    }

    /// What an answer is to be like that nothing holds back.
    fn wanted<'w>(
        &'w self,
        chosen: &'w Chosen,
        headers: &'w HeaderMap,
        place: ServerPlace<'w>,
        clock: Clock,
    ) -> Wanted<'w> {
        Wanted {
            upstream: self.server(place),
            beside: &self.recorded.beside,
            place,
            clock,
            chunking: self.chunking,
            headers,
            early: None,
            renamed: &chosen.renamed,
            unveiled: &chosen.unveiled,
            hold: None,
            behind: chosen.behind.clone(),
            shown: MadeUp::some(&self.shown()),
            blow: chosen.blow.clone(),
        }
    }

    /// Answers a request as it was recorded, at once.
    ///
    /// # Errors
    ///
    /// What is most alike, if nothing answers it.
    #[cfg(feature = "wiremock")]
    pub fn answer_at_once(
        &self,
        arrival: Arrival<'_>,
        body: Bytes,
    ) -> Result<Answer, Box<Mismatch>> {
        let chosen = self.find(arrival, body).map_err(|asked| self.explain(*asked))?;
        let Arrival { head, place, .. } = arrival;
        let wanted = self.wanted(&chosen, &head.headers, place, Pace::Instant.begin());
        Ok(self.recorded.answers.at_once(chosen.number, &wanted))
    }

    /// The interaction that answers a request, or what was asked.
    pub(super) async fn found(
        &self,
        arrival: Arrival<'_>,
        body: Bytes,
    ) -> Result<Chosen, Box<(Request, Found)>> {
        match self.find(arrival, body) {
            // In a place of its own: few wait, and all pay for what is held across a wait.
            Err(asked) => match Box::pin(self.wait(&asked)).await {
                Some(chosen) => {
                    self.note_drift(&asked.0, chosen.number);
                    Ok(chosen)
                }
                None => {
                    let other = self.resumed(&asked.0).or_else(|| self.in_anothers_place(&asked));
                    let other = other.or_else(|| self.assume(&asked));
                    other.ok_or(asked)
                }
            },
            Ok(found) => Ok(found),
        }
    }

    /// The interaction that answers a request now, or what was asked.
    fn find(&self, arrival: Arrival<'_>, body: Bytes) -> Result<Chosen, Box<(Request, Found)>> {
        let upstream = &self.recorded.cassette.recorded.upstream;
        let arrival = Arrival { target: target::relative(upstream, arrival.target), ..arrival };
        if self.drift.is_none()
            && self.faults.is_none()
            && !self.has_assumed()
            && let Some(chosen) = self.take_recognized(arrival, &body)
        {
            return Ok(chosen);
        }
        let (mut asked, found) = self.asked(arrival, body);
        self.faults.iter().for_each(|faults| faults.discount(&mut asked));
        let recast = self.playlist().recast(&self.recorded.index, &asked);
        let asked = recast.unwrap_or(asked);
        let plain = asked.readable();
        let read = self.recorded.index.read(&asked, &plain).by(found);
        let strays = self.retract(&read);
        let chosen = self.take(&asked, &read);
        self.assume_otherwise(strays);
        let found = read.into_found();
        drop(plain);
        if let Some(chosen) = &chosen {
            self.note_drift(&asked, chosen.number);
        }
        chosen.ok_or_else(|| Box::new((asked, found)))
    }

    pub(super) fn note_drift(&self, asked: &Request, exchange: usize) {
        if let Some(drift) = &self.drift {
            drift.note(&self.recorded, asked, exchange);
        }
    }

    /// The interaction that answers a request when what it shows was asked for: the client may ask for both
    /// at once.
    async fn wait(&self, (asked, found): &(Request, Found)) -> Option<Chosen> {
        let index = &self.recorded.index;
        if !index.has_needed() {
            return None;
        }
        let plain = asked.readable();
        let read = index.read(asked, &plain).by(found.clone());
        let mut played = self.run.subscribe();
        let patience = tokio::time::sleep(PATIENCE);
        tokio::pin!(patience);
        while self.playlist().awaited(index, &read).is_some() {
            tokio::select! {
                _ = played.changed() => {}
                () = &mut patience => return None,
            }
            if played.borrow_and_update().is_over() {
                return None;
            }
            if let Some(chosen) = self.take(asked, &read) {
                return Some(chosen);
            }
        }
        self.take(asked, &read)
    }

    /// The interaction with the stream that a client goes on with, behind another event than when it was
    /// recorded.
    fn resumed(&self, asked: &Request) -> Option<Chosen> {
        let (cassette, index) = (self.recorded.played(), &self.recorded.index);
        let point = Point::of(asked)?;
        point.elsewhere(asked, cassette).iter().find_map(|alike| {
            let chosen = self.take(asked, &index.read(alike, &alike.readable()))?;
            let response = cassette.interactions[chosen.number].response()?;
            let behind = Some(point.clone()).filter(|point| point.stands_in(response))?;
            Some(Chosen { behind: Some(behind), ..chosen })
        })
    }

    /// The interaction that answers a request if what it names came in the place of another of its kind.
    fn in_anothers_place(&self, (asked, found): &(Request, Found)) -> Option<Chosen> {
        let index = &self.recorded.index;
        let recast = self.playlist().exchange_twins(index, asked)?;
        let body = recast.readable();
        self.take(&recast, &index.read(&recast, &body).by(found.clone()))
    }

    pub(super) fn explain(&self, (asked, found): (Request, Found)) -> Box<Mismatch> {
        let (cassette, index) = (self.recorded.played(), &self.recorded.index);
        let veil = Recorded::veil();
        let playlist = self.playlist();
        let library = (cassette, index, &*playlist);
        let mismatch = Mismatch::explain((asked, found), library, &veil);
        // What would come of the one that was meant is waited for no more: what else is asked has its answers.
        let meant = mismatch.nearest.as_ref().filter(|nearest| !nearest.played);
        if let Some(nearest) = meant.filter(|_| !self.recorded.meanwhile.is_empty()) {
            self.run.send_modify(|run| run.miss(nearest.asking.interaction));
        }
        Box::new(self.recorded.numbered(mismatch))
    }

    /// Begins the run anew.
    pub fn reset(&self) {
        *self.playlist() = self.begin();
        self.run.send_modify(RunProgress::reset);
        lock(&self.sockets).clear();
        lock(&self.ports).clear();
        self.memory.clear();
        self.drift.iter().for_each(|drift| drift.reset());
        self.faults.iter().for_each(|faults| faults.reset());
    }

    /// Ends what is held back, as a server does that goes away.
    pub fn end(&self) {
        self.run.send_modify(RunProgress::end);
    }

    /// What answers a request that stands in the cassette as it came. It needs no redaction: what is
    /// recorded holds no secret, and in its header there is none that is not known.
    fn take_recognized(&self, arrival: Arrival<'_>, body: &[u8]) -> Option<Chosen> {
        let Arrival { head, target, .. } = arrival;
        let index = &self.recorded.index;
        let line = (head.method.as_str(), target);
        let recognized = index.recognize(line, &head.headers, body)?;
        if !self.memory.has_seen(&head.headers) {
            return None;
        }
        let mut playlist = self.playlist();
        if playlist.has_exchanged() {
            return None;
        }
        let number = playlist.take_recognized(index, &recognized)?;
        Some(self.chosen(number, &Found::default(), &playlist))
    }

    fn take(&self, request: &Request, asked: &Asked<'_>) -> Option<Chosen> {
        let index = &self.recorded.index;
        let mut playlist = self.playlist();
        let blow = match &self.faults {
            Some(faults) => {
                let number = playlist.peek(index, asked)?;
                let interaction = self.recorded.spot(number).interaction;
                let blow = faults.inject(request, interaction, self.recorded.room(number));
                if blow.as_ref().is_some_and(Blow::is_instead) {
                    return Some(Chosen { blow, ..Chosen::unchanged(number) });
                }
                blow
            }
            None => None,
        };
        let number = playlist.take(index, asked)?;
        Some(Chosen { blow, ..self.taken(number, &playlist, asked) })
    }

    /// Notes what the choice shows.
    pub(super) fn taken(&self, number: usize, playlist: &Playlist, asked: &Asked<'_>) -> Chosen {
        let index = &self.recorded.index;
        if let Some(proof) = &self.proof {
            let called = playlist.called(index, number, asked);
            lock(proof).note(called.iter().map(|(recorded, live)| (recorded, live)));
        }
        self.chosen(number, asked.found(), playlist)
    }

    pub(super) fn chosen(&self, number: usize, found: &Found, playlist: &Playlist) -> Chosen {
        if self.recorded.is_watched() {
            self.run.send_modify(|run| self.recorded.meanwhile.note(number, run));
        }
        let bindings = playlist.bindings();
        let renamed = if bindings.is_empty() {
            Renamed::default()
        } else {
            renamed(&self.recorded, number, &self.shown(), bindings)
        };
        let index = &self.recorded.index;
        let value = |secret: &_| playlist.secret(index, (number, found), secret);
        let unveiled = self.recorded.answers.veiled(number).unveiled(value);
        Chosen { renamed, unveiled, ..Chosen::unchanged(number) }
    }

    /// The request as the recorded server would have been asked: its address in the place of ours,
    /// secrets replaced as they were in the recording.
    fn asked(&self, arrival: Arrival<'_>, body: Bytes) -> (Request, Found) {
        self.asked_of(self.server(arrival.place), arrival, body)
    }

    /// The same for a server that the client sees at a place.
    pub(super) fn asked_of(
        &self,
        server: &str,
        arrival: Arrival<'_>,
        body: Bytes,
    ) -> (Request, Found) {
        let Arrival { head, target, place } = arrival;
        let inward = |text: &[u8]| {
            let ours = place.may_stand_in(text);
            ours.then(|| place.inward(server, &self.recorded.beside)?.whole(text)).flatten()
        };
        let mut asked = arrival.request(body);
        if let Some(target) = inward(target.as_bytes()) {
            asked.path = String::from_utf8_lossy(&target).into_owned();
        }
        let ours = may_name_us(&head.headers).then(|| inward(&asked.body)).flatten();
        asked.body = ours.unwrap_or(asked.body);
        for (_, value) in asked.headers.iter_mut().filter(|(_, value)| value.starts_with(b"http")) {
            *value = inward(value).unwrap_or_else(|| value.clone());
        }
        self.veiled(asked)
    }

    /// A request without its secrets, and these.
    pub(super) fn veiled(&self, mut asked: Request) -> (Request, Found) {
        // What a client was given in the place of a secret it may say again, and under any name.
        spell_out(&mut asked);
        let given = of_request(&asked);
        let mut found = self.memory.redact(&self.recorded.redactor, &mut asked);
        if !given.is_empty() {
            let still = of_request(&asked);
            found.add(given.into_iter().filter(|secret| still.contains(secret)));
            without_numbers(&mut asked);
        }
        (asked, found)
    }

    /// Answers that have waited in vain.
    pub(super) fn take_overdue(&self) -> Vec<Overdue> {
        RunProgress::take_overdue(&self.run)
    }

    pub(super) fn playlist(&self) -> MutexGuard<'_, Playlist> {
        lock(&self.playlist)
    }
}

/// How long a body is said to be.
fn length_of(headers: &Headers) -> Option<u64> {
    headers.get("content-length")?.trim().parse().ok()
}
