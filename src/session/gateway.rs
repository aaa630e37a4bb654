//! From a request to the session it belongs to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use http::request::Parts;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use super::beside::Beside;
use super::event::{Event, Miss};
use super::misses::{self, Misses};
use super::proxied::Proxied;
use super::settings::{Opening, Settings};
use super::slot::Slot;
use super::stale::Stale;
use super::summary::Unplayed;
use super::track::{self, Extension, Live, Played, Track, Unanswered};
use super::{hub, inspect, track::Begun};
use crate::cassette::Name;
use crate::cassette::exchanges::MESSAGE;
use crate::compare::matching::Mismatch;
use crate::config::HostRule;
use crate::error::{Error, Result};
use crate::review::report::{self, Unsent, Withheld};
use crate::serve::lock;
use crate::serve::recorder::{RequestBody, Tape};
use crate::serve::replayer::{Lost, Notice, Recorded, Replayer, miss_answer};
use crate::serve::server::{Address, Answer, Arrival, Handshake, ServerPlace, as_from_server};
use crate::store::mode::Mode;
use crate::store::{self, Journal};

/// All sessions that are served at one address.
#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) settings: Settings,
    pub(super) beside: Beside,
    pub(super) tracks: Mutex<BTreeMap<String, Arc<Slot>>>,
    /// Loaded cassettes, shared by the sessions of the same name.
    pub(super) library: Mutex<HashMap<Name, Arc<OnceCell<Arc<Recorded>>>>>,
    pub(super) tapes: Mutex<BTreeMap<Name, Arc<OnceCell<Arc<Tape>>>>>,
    misses: Misses,
    /// The WebSockets that are replayed.
    pub(super) sockets: Mutex<JoinSet<()>>,
    /// How many requests came; those to the control API do not count.
    pub(super) requests: AtomicUsize,
    /// How many went to hosts that the proxy leaves alone.
    pub(super) passed: AtomicUsize,
    /// How far clients of the proxy came with each server.
    pub(super) handshakes: Mutex<BTreeMap<String, Handshake>>,
    /// Where we listen, once we do.
    pub(super) address: OnceLock<SocketAddr>,
    /// What passes without being recorded.
    pub(super) untouched: Option<Live>,
    /// The first cassette that could not be opened while clients asked for it.
    pub(super) failure: Mutex<Option<Error>>,
    /// The cassettes in which something is missing that was asked: we could not record it.
    pub(super) holed: Mutex<BTreeSet<String>>,
}

impl Gateway {
    /// Opens the default session, so that what is wrong with it is known at once. In replay it may
    /// be missing: all clients may name cassettes of their own.
    pub(super) async fn open(settings: Settings, beside: Beside) -> Result<Self> {
        let gateway = Self {
            beside,
            misses: Misses::begin(settings.misses.clone())?,
            untouched: settings.may_pass().then(|| Live::new(&settings, None)).transpose()?,
            passed: AtomicUsize::new(0),
            handshakes: Mutex::default(),
            address: OnceLock::new(),
            settings,
            tracks: Mutex::default(),
            library: Mutex::default(),
            tapes: Mutex::default(),
            sockets: Mutex::default(),
            requests: AtomicUsize::new(0),
            failure: Mutex::default(),
            holed: Mutex::default(),
        };
        let name = gateway.settings.cassette.clone();
        let at_once = gateway.settings.given.opening == Opening::AtOnce;
        if Track::planned(&gateway.settings, &name)? == Mode::Replay && at_once {
            // Nobody is served yet who could be held up, so this takes no thread.
            let load = || async { gateway.loading(&name)().map(Arc::new) };
            match gateway.cell(&name).get_or_try_init(load).await {
                Err(error) if error.is_no_cassette() => {}
                Err(error) => return Err(error),
                Ok(_) => drop(gateway.slot_of("", name).track(&gateway).await?),
            }
        }
        Ok(gateway)
    }

    pub(super) fn mode(&self) -> Mode {
        self.settings.mode
    }

    /// What is done with a request for the default cassette.
    pub(super) fn plan(&self) -> Mode {
        Track::plan(&self.settings, &self.settings.cassette)
    }

    pub(super) fn listens_at(&self, address: Option<SocketAddr>) {
        address.into_iter().for_each(|address| _ = self.address.set(address));
    }

    pub(super) fn note_passed(&self) {
        self.passed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn misses(&self) -> &Misses {
        self.note_overdue();
        &self.misses
    }

    /// An answer that waited in vain for what ended it is a miss, of which its client saw the beginning.
    fn note_overdue(&self) {
        let slots: Vec<_> =
            lock(&self.tracks).iter().map(|it| (it.0.clone(), Arc::clone(it.1))).collect();
        for (session, slot) in slots {
            for mismatch in slot.replayer().iter().flat_map(|replayer| replayer.overdue()) {
                self.note(self.missed(&session, &slot.cassette, &mismatch));
            }
        }
    }

    /// Lets the runs of a session, or of all, begin anew. Tells how many there were.
    pub(super) fn reset(&self, session: Option<&str>) -> usize {
        let tracks = lock(&self.tracks);
        let chosen = tracks
            .iter()
            .filter(|(name, _)| session.is_none_or(|session| misses::is_same(name, session)));
        chosen.filter_map(|(_, slot)| slot.reset()).count()
    }

    /// Ends the answers that wait for what a client asks next: nothing more is asked.
    pub(super) fn end_waiting(&self) {
        let tracks = lock(&self.tracks);
        tracks.values().filter_map(|slot| slot.replayer()).for_each(Replayer::end);
    }

    /// Waits for the WebSockets that were told to end, but not for longer than `grace`.
    pub(super) async fn close_sockets(&self, grace: Duration) {
        let mut sockets = std::mem::take(&mut *lock(&self.sockets));
        let ended = async { while sockets.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(grace, ended).await;
        sockets.shutdown().await;
    }

    /// The sessions that were asked for and their cassettes.
    pub(super) fn sessions(&self) -> Vec<(String, Name)> {
        lock(&self.tracks)
            .iter()
            .map(|(session, slot)| (session.clone(), slot.cassette.clone()))
            .collect()
    }

    /// What a session is at, if it was asked for.
    pub(super) fn inspect(&self, session: &str) -> Option<Value> {
        let found = lock(&self.tracks)
            .iter()
            .find(|(name, _)| misses::is_same(name, session))
            .map(|(name, slot)| (name.clone(), Arc::clone(slot)));
        let (name, slot) = found?;
        let replayer = slot.replayer();
        let misses = self.misses.of(session);
        Some(inspect::session(&name, slot.cassette.as_str(), replayer, &misses))
    }

    /// The interactions of all cassettes that are played or recorded, as programs read them.
    pub(super) fn interactions(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for slot in lock(&self.tracks).values() {
            if let Some(replayer) = slot.replayer() {
                let unplayed = replayer.unplayed();
                let is_played = |number| unplayed.binary_search(&number).is_err();
                all.extend(inspect::interactions(replayer.recorded().cassette(), false, is_played));
            }
        }
        for cell in lock(&self.tapes).values() {
            // What cannot be read is told when it is saved.
            if let Some(Ok(cassette)) = cell.get().map(|tape| tape.so_far()) {
                all.extend(inspect::interactions(&cassette, true, |_| false));
            }
        }
        all
    }

    /// Why live servers gave no answer, each time.
    pub(super) fn unanswered(&self) -> Vec<String> {
        let slots = lock(&self.tracks);
        slots.values().filter_map(|slot| slot.track.get()).flat_map(Track::unanswered).collect()
    }

    /// Why a request had no live server to go to, if one had none.
    pub(super) fn unled(&self) -> Option<Error> {
        lock(&self.tracks).values().filter_map(|slot| slot.track.get()).find_map(Track::unled)
    }

    /// What was recorded and not asked for since the runs began, by session.
    pub(super) fn unplayed(&self) -> Vec<Unplayed> {
        self.left(|_, replayer| replayer.unplayed())
    }

    /// What was recorded and never asked for, also not before a run began anew.
    pub(super) fn never_played(&self) -> Vec<Unplayed> {
        self.left(Slot::never_played)
    }

    fn left(&self, left: impl Fn(&Slot, &Replayer) -> Vec<usize>) -> Vec<Unplayed> {
        let mut all = Vec::new();
        let tracks = lock(&self.tracks);
        let asked = tracks.iter().filter(|(_, slot)| !slot.is_passed_over(tracks.values()));
        for (session, slot) in asked {
            let Some(replayer) = slot.replayer() else { continue };
            let interactions = &replayer.recorded().cassette().interactions;
            let left = left(slot, replayer).into_iter().filter(|it| !replayer.may_leave_out(*it));
            all.extend(left.map(|interaction| Unplayed {
                session: session.clone(),
                cassette: slot.cassette.to_string(),
                interaction,
                frames: replayer.unsent(interaction),
                method: interactions[interaction].request.method.clone(),
                path: interactions[interaction].request.path.clone(),
            }));
        }
        all
    }

    /// Answers a request: by its own path, or for the server that the client means.
    pub(super) async fn serve(
        self: &Arc<Self>,
        head: &Parts,
        asked: RequestBody,
        proxied: Option<&Proxied>,
    ) -> Answer {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let Some(Proxied { session, origin, rule }) = proxied else {
            let place = ServerPlace::of(&head.headers);
            let of_host = place.origin.and_then(|(_, host)| session_of_host(host));
            let of_host = of_host.unwrap_or_default();
            let address = self.address(path, &of_host).await;
            let (session, server) = (address.session, address.server);
            let place = ServerPlace { session, server, ..place };
            return self.serve_at(head, &address.or_of(&of_host), asked, place).await;
        };
        // Without the proxy a session has the servers that were named, and all else leads to the first;
        // one of a test runner has all that its test asks. The first one may listen elsewhere each time.
        let is_first = self.settings.servers.first() == origin;
        let is_named = async || {
            let server = origin.split_once("://").map_or("", |(_, host)| host);
            self.server_of(&Address { session, server, target: path.into() }).await.is_some()
        };
        let leads_to_first = self.settings.proxy.is_none() && !self.settings.given.is_opened;
        let (target, place) = if is_first || (leads_to_first && !is_named().await) {
            (Cow::Borrowed(path), ServerPlace::at(origin))
        } else {
            (Cow::Owned(format!("{origin}{path}")), ServerPlace::default())
        };
        if let (HostRule::Passed, Some(live)) = (rule, &self.untouched) {
            self.note_passed();
            return Box::pin(live.ask(Arrival { head, target: &target, place }, asked)).await;
        }
        let address = Address { session, server: "", target };
        let answer = self.serve_at(head, &address, asked, place).await;
        // A test runner's part within the client makes of it what the client's own library does.
        if self.settings.given.is_opened { answer } else { as_from_server(answer) }
    }

    /// Answers what an address asks for, for a client that sees it at `place`.
    async fn serve_at(
        self: &Arc<Self>,
        head: &Parts,
        address: &Address<'_>,
        asked: RequestBody,
        place: ServerPlace<'_>,
    ) -> Answer {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let slot = match self.slot(address) {
            Ok(slot) => slot,
            Err(error) => return self.refuse(head, address, "", error),
        };
        let track = match slot.track(self).await {
            Ok(track) => track,
            Err(error) => return self.refuse(head, address, slot.cassette.as_str(), error),
        };
        let arrival = Arrival { head, target: &address.target, place };
        let answered = self.answer(track, arrival, asked).await;
        let answered = answered.map(|(answer, socket)| {
            if let Some(socket) = socket {
                self.play(socket, address.session, &slot.cassette);
            }
            answer
        });
        match answered {
            Ok(answer) => answer,
            Err(why) => {
                let miss = self.note(match why {
                    Unanswered::Mismatch(why) => self.missed(address.session, &slot.cassette, &why),
                    Unanswered::Stale(why) => self.withheld(head, address, &slot, &why),
                });
                miss_answer(&head.headers, &miss.explanation, miss.to_json())
            }
        }
    }

    /// Plays a WebSocket on a task of its own.
    fn play(self: &Arc<Self>, played: Played, session: &str, cassette: &Name) {
        let report = self.lost(session, cassette);
        let mut sockets = lock(&self.sockets);
        while sockets.try_join_next().is_some() {}
        sockets.spawn(played.socket.play(played.client, report));
    }

    /// What notes that something was lost, and says what the client is told of it.
    pub(super) fn lost(
        self: &Arc<Self>,
        session: &str,
        cassette: &Name,
    ) -> impl Fn(Lost) -> Notice + Send + Sync + use<> {
        let (gateway, session, cassette) = (Arc::clone(self), session.to_owned(), cassette.clone());
        move |lost| {
            let miss = match lost {
                Lost::Mismatch(why) => gateway.missed(&session, &cassette, &why),
                Lost::Missing { interaction, frame, waited } => {
                    gateway.unsent(&session, &cassette, (interaction, frame), waited)
                }
            };
            let reason = format!("retape: {}", miss.reason());
            Notice { reason, explanation: gateway.note(miss).explanation }
        }
    }

    /// What a target asks for: of the server that it names, if there is one of that name in its session, or else in
    /// that of the host.
    async fn address<'t>(&self, target: &'t str, of_host: &str) -> Address<'t> {
        if let Some(mut named) = Address::naming_a_server(target)
            && let Some(server) = self.server_of(&named.clone().or_of(of_host)).await
        {
            named.target = format!("{server}{}", named.target).into();
            return named;
        }
        Address::parse(target)
    }

    /// The address of the server that a target names: as we were told, or as it was recorded.
    async fn server_of(&self, address: &Address<'_>) -> Option<String> {
        if let Some(known) = self.settings.servers.address_of(address.server) {
            return Some(known.to_owned());
        }
        let name = address.cassette().ok()?.unwrap_or_else(|| self.settings.cassette.clone());
        if !self.settings.exists(&name) {
            return None;
        }
        let recorded = self.recorded(&name).await.ok()?;
        recorded.cassette().address_of(address.server).map(str::to_owned)
    }

    fn slot(&self, address: &Address<'_>) -> Result<Arc<Slot>> {
        let session = if self.settings.given.is_opened {
            hub::behind_token(address.session)
        } else {
            address.session
        };
        if let Some(slot) = lock(&self.tracks).get(session) {
            return Ok(Arc::clone(slot));
        }
        let name = address.cassette()?.unwrap_or_else(|| self.settings.cassette.clone());
        Ok(self.slot_of(session, name))
    }

    pub(super) fn slot_of(&self, session: &str, cassette: Name) -> Arc<Slot> {
        let mut tracks = lock(&self.tracks);
        let slot = tracks.entry(session.to_owned());
        Arc::clone(slot.or_insert_with(|| Arc::new(Slot::new(cassette))))
    }

    pub(super) async fn track(&self, name: &Name) -> Result<Track> {
        let settings = &self.settings;
        let replayer = |recorded| {
            let replayer =
                Replayer::new(recorded, settings.given.pace).in_pieces(settings.given.chunking);
            let replayer = replayer.with_faults(settings.faults_of(name));
            let replayer = if settings.given.is_proving { replayer.proving() } else { replayer };
            let replayer = replayer.beside(self.beside.aliases.clone());
            if settings.lax.is_some() { replayer.noting_drift() } else { replayer }
        };
        let live = |tape| Live::new(settings, tape);
        Ok(match Track::planned(settings, name)? {
            Mode::Replay | Mode::Once => {
                Track::Replay(Arc::new(replayer(self.recorded(name).await?)))
            }
            Mode::Passthrough => Track::Forward(Box::new(live(None)?)),
            Mode::Record => Track::Forward(Box::new(live(Some(self.tape(name).await?))?)),
            Mode::NewEpisodes => {
                let base = self.base(name).await?;
                let live = live(Some(self.tape(name).await?))?;
                Track::Extend(Box::new(Extension::new(replayer(base), live)))
            }
        })
    }

    /// Loading takes a while for a large cassette and must not hold up others.
    async fn recorded(&self, name: &Name) -> Result<Arc<Recorded>> {
        let cell = self.cell(name);
        let loaded = cell.get_or_try_init(|| async {
            let loading = tokio::task::spawn_blocking(self.loading(name));
            loading.await.expect("loading a cassette does not panic").map(Arc::new)
        });
        loaded.await.cloned()
    }

    /// Where a cassette is kept when it is loaded.
    fn cell(&self, name: &Name) -> Arc<OnceCell<Arc<Recorded>>> {
        let known = lock(&self.library).get(name).cloned();
        known.unwrap_or_else(|| {
            self.report_unfinished(name);
            Arc::clone(lock(&self.library).entry(name.clone()).or_default())
        })
    }

    /// What loads a cassette.
    fn loading(&self, name: &Name) -> impl FnOnce() -> Result<Recorded> + Send + use<> {
        let source = self.settings.source(name);
        move || source.load()
    }

    pub(super) async fn base(&self, name: &Name) -> Result<Arc<Recorded>> {
        let cell = Arc::clone(lock(&self.library).entry(name.clone()).or_default());
        cell.get_or_try_init(|| async { track::base(&self.settings, name).map(Arc::new) })
            .await
            .cloned()
    }

    pub(super) async fn tape(&self, name: &Name) -> Result<Arc<Tape>> {
        let cell = Arc::clone(lock(&self.tapes).entry(name.clone()).or_default());
        let begun = cell.get_or_try_init(|| async {
            let Begun { tape, rescued } = track::begin(&self.settings, name)?;
            if let Some((left, path)) = rescued {
                self.tell(Event::rescued(&left, path));
            }
            Ok(tape)
        });
        begun.await.cloned()
    }

    fn report_unfinished(&self, name: &Name) {
        let folder = &self.settings.folder;
        if let Some(left) = Journal::peek(folder, name) {
            self.tell(Event::Unfinished {
                journal: Journal::path_of(folder, name),
                interactions: left.cassette.interactions.len(),
                cut: left.cut,
            });
        }
    }

    pub(super) fn missed(&self, session: &str, name: &Name, mismatch: &Mismatch) -> Miss {
        let explanation = report::miss(name.as_str(), mismatch, &self.settings.rerun);
        Miss::of(session, name.as_str(), mismatch).explained(explanation)
    }

    /// A message of a recorded WebSocket that did not come.
    fn unsent(
        &self,
        session: &str,
        name: &Name,
        (interaction, frame): (usize, usize),
        waited: Duration,
    ) -> Miss {
        let opened = lock(&self.library).get(name).and_then(|cell| {
            let recorded = cell.get()?;
            let path = recorded.cassette().interactions[interaction].request.path.clone();
            let servers = recorded.cassette().recorded.servers();
            Some((path, recorded.message(interaction, frame), servers))
        });
        let (path, message, servers) = opened.unwrap_or_default();
        let unsent = Unsent {
            cassette: name.as_str(),
            socket: (interaction, &path),
            frame: (frame, &message),
            waited,
            servers: &servers,
        };
        let explanation = report::unsent(&unsent, &self.settings.rerun);
        Miss::unexplained(session, name.as_str(), (MESSAGE, &path)).explained(explanation)
    }

    fn withheld(&self, head: &Parts, address: &Address<'_>, slot: &Slot, why: &Stale) -> Miss {
        let name = slot.cassette.as_str();
        let recorded = slot.replayer().map(|it| it.recorded().cassette().interactions.len());
        let miss = self.unexplained(head.method.as_str(), address, name);
        let request = Withheld {
            cassette: (name, recorded.unwrap_or_default()),
            asked: (&miss.method, &miss.path),
            text: &why.text,
            interaction: why.interaction,
            servers: &self.settings.servers.origins(),
        };
        let explanation = report::withheld(&request, &self.settings.rerun);
        miss.explained(explanation)
    }

    /// A request whose cassette cannot be opened is a miss as well, unless it was to be recorded. If it
    /// is there, or cannot be recorded, that is more than a finding.
    fn refuse(
        &self,
        head: &Parts,
        address: &Address<'_>,
        cassette: &str,
        mut error: Error,
    ) -> Answer {
        if error.is_no_cassette() && !self.is_unfinished(cassette) {
            let name = Name::new(cassette).ok();
            let near = name.and_then(|name| store::near(&self.settings.folder, &name));
            let near = near.unwrap_or_default();
            error = error.with_hint(format!("{near}{}", self.record_it(cassette)));
        }
        let is_finding = error.is_no_cassette() || error.is_no_name();
        let miss = self.unexplained(head.method.as_str(), address, cassette);
        let miss = self.unanswerable(miss, &error);
        if self.records(cassette) {
            lock(&self.holed).insert(cassette.to_owned());
        }
        if self.records(cassette) || !is_finding {
            lock(&self.failure).get_or_insert(error);
        }
        miss_answer(&head.headers, &miss.explanation, miss.to_json())
    }

    /// A request that is not answered, as people may see it.
    pub(super) fn unexplained(&self, method: &str, address: &Address<'_>, cassette: &str) -> Miss {
        let path = self.settings.redactor().target(&address.target);
        Miss::unexplained(address.session, cassette, (method, &path))
    }

    /// Notes a request that cannot be answered: it was not recorded, or it is a miss.
    pub(super) fn unanswerable(&self, miss: Miss, error: &Error) -> Miss {
        let why = format!("{error:?}");
        if !self.records(&miss.cassette) {
            let why = report::unopened(&why, (&miss.method, &miss.path));
            return self.note(miss.explained(why));
        }
        let miss = miss.explained(why);
        self.tell(Event::Unrecorded(miss.clone()));
        miss
    }

    /// Whether a request of that cassette is to be recorded.
    pub(super) fn records(&self, cassette: &str) -> bool {
        let mode = match Name::new(cassette) {
            Ok(name) => Track::plan(&self.settings, &name),
            Err(_) => self.mode(),
        };
        matches!(mode, Mode::Record | Mode::NewEpisodes)
    }

    /// Whether a killed recorder has left a journal of that cassette.
    fn is_unfinished(&self, cassette: &str) -> bool {
        let name = Name::new(cassette);
        name.is_ok_and(|name| Journal::peek(&self.settings.folder, &name).is_some())
    }

    /// How a cassette comes to be that is not there.
    fn record_it(&self, cassette: &str) -> String {
        let servers = self.settings.servers.origins();
        format!("record it:\n  {}", self.settings.rerun.steps(&servers, cassette).join("\n  "))
    }

    pub(super) fn note(&self, miss: Miss) -> Miss {
        self.misses.note(miss.clone());
        self.tell(Event::Miss(miss.clone()));
        miss
    }

    pub(super) fn tell(&self, event: Event) {
        (self.settings.given.listener)(event);
    }
}

/// The session that a host below `localhost` names: `hello.letta.localhost:8283` is `letta/hello`.
fn session_of_host(host: &str) -> Option<String> {
    let (name, zone) = host.split(':').next()?.rsplit_once('.')?;
    let is_ours = zone.eq_ignore_ascii_case("localhost");
    is_ours.then(|| name.rsplit('.').collect::<Vec<_>>().join("/"))
}
