//! From a request to the session it belongs to.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use http::header::{HOST, UPGRADE};
use http::uri::Authority;
use http::{HeaderMap, Method, Request, StatusCode};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::event::{Event, Miss};
use super::misses::{self, Misses};
use super::proxied::Proxied;
use super::settings::{Opening, Settings};
use super::slot::Slot;
use super::stale::Stale;
use super::summary::Unplayed;
use super::track::{self, Extension, Live, Track, Unanswered};
use super::{control, inspect, track::Begun};
use crate::cassette::Name;
use crate::compare::matching::Mismatch;
use crate::config::HostRule;
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::review::report::{self, Withheld};
use crate::serve::recorder::{Asked, Tape};
use crate::serve::replayer::{Recorded, Replayer, miss_answer};
use crate::serve::server::{Address, Answer, Handler, Place, Refusal, Tunnel, problem};
use crate::store::mode::Mode;
use crate::store::{self, Journal};

/// All sessions that are served at one address.
#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) settings: Settings,
    pub(super) tracks: Mutex<BTreeMap<String, Arc<Slot>>>,
    /// Loaded cassettes, shared by the sessions of the same name.
    pub(super) library: Mutex<HashMap<Name, Arc<OnceCell<Arc<Recorded>>>>>,
    pub(super) tapes: Mutex<BTreeMap<Name, Arc<OnceCell<Arc<Tape>>>>>,
    misses: Misses,
    /// How many requests came; those to the control API do not count.
    pub(super) requests: AtomicUsize,
    /// How many went to hosts that the proxy leaves alone.
    pub(super) passed: AtomicUsize,
    /// Where we listen, once we do.
    address: OnceLock<SocketAddr>,
    /// What passes without being recorded.
    untouched: Option<Live>,
    /// The first cassette that could not be opened while clients asked for it.
    pub(super) failure: Mutex<Option<Error>>,
}

impl Gateway {
    /// Opens the default session, so that what is wrong with it is known at once. In replay it may
    /// be missing: all clients may name cassettes of their own.
    pub(super) async fn open(settings: Settings) -> Result<Self> {
        let gateway = Self {
            misses: Misses::begin(settings.misses.clone())?,
            untouched: settings.proxy.as_ref().map(|_| Live::new(&settings, None)).transpose()?,
            passed: AtomicUsize::new(0),
            address: OnceLock::new(),
            settings,
            tracks: Mutex::default(),
            library: Mutex::default(),
            tapes: Mutex::default(),
            requests: AtomicUsize::new(0),
            failure: Mutex::default(),
        };
        let name = gateway.settings.cassette.clone();
        let at_once = gateway.settings.opening == Opening::AtOnce;
        if at_once && Track::plan(&gateway.settings, &name) == Mode::Replay {
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

    pub(super) fn listens_at(&self, address: Option<SocketAddr>) {
        address.into_iter().for_each(|address| _ = self.address.set(address));
    }

    /// Whether an authority is where we listen.
    pub(super) fn is_listening_at(&self, authority: &Authority) -> bool {
        let port = self.address.get().map(SocketAddr::port);
        authority.port_u16() == port && is_loopback(authority.host())
    }

    pub(super) fn note_passed(&self) {
        self.passed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn misses(&self) -> &Misses {
        &self.misses
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
        for (session, slot) in lock(&self.tracks).iter() {
            let Some(replayer) = slot.replayer() else { continue };
            let interactions = &replayer.recorded().cassette().interactions;
            all.extend(left(slot, replayer).into_iter().map(|interaction| Unplayed {
                session: session.clone(),
                cassette: slot.cassette.to_string(),
                interaction,
                method: interactions[interaction].request.method.clone(),
                path: interactions[interaction].request.path.clone(),
            }));
        }
        all
    }

    async fn serve(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let (mut head, body) = request.into_parts();
        let proxied = match self.proxied(&mut head) {
            Ok(proxied) => proxied,
            Err(refusal) => return *refusal,
        };
        let Some(Proxied { session, target, rule }) = &proxied else {
            let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
            if let Some(asked) = control::asked(target) {
                return control::answer(&self, &head.method, asked);
            }
            let host = seen_at(&head.headers, self.settings.is_private);
            let mut address = self.address(target).await;
            let place = Place { authority: host, session: address.session, server: address.server };
            let named = host.filter(|_| address.session.is_empty()).and_then(session_of_host);
            address.session = named.as_deref().unwrap_or(address.session);
            return self.serve_at(&head, &address, body, place).await;
        };
        if let (HostRule::Passed, Some(live)) = (rule, &self.untouched) {
            self.note_passed();
            return live.ask(&head, target, Asked::Arriving(body), Place::default()).await;
        }
        let address = Address { session, server: "", target: target.into() };
        self.serve_at(&head, &address, body, Place::default()).await
    }

    /// Answers what an address asks for, for a client that sees it at `place`.
    async fn serve_at(
        self: &Arc<Self>,
        head: &http::request::Parts,
        address: &Address<'_>,
        body: Incoming,
        place: Place<'_>,
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
        if head.method == Method::GET && wants_websocket(&head.headers) {
            return self.refuse_upgrade(
                missed(head, address, slot.cassette.as_str(), NO_UPGRADES.to_owned()),
                track,
            );
        }
        match track.answer(head, &address.target, body, place).await {
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

    /// What a target asks for: of the server that it names, if there is one of that name.
    async fn address<'t>(&self, target: &'t str) -> Address<'t> {
        if let Some(mut named) = Address::naming_a_server(target)
            && let Some(server) = self.server_of(&named).await
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
        if !store::exists(&self.settings.folder, &name) {
            return None;
        }
        let recorded = self.recorded(&name).await.ok()?;
        recorded.cassette().address_of(address.server).map(str::to_owned)
    }

    fn slot(&self, address: &Address<'_>) -> Result<Arc<Slot>> {
        if let Some(slot) = lock(&self.tracks).get(address.session) {
            return Ok(Arc::clone(slot));
        }
        let name = address.cassette()?.unwrap_or_else(|| self.settings.cassette.clone());
        Ok(self.slot_of(address.session, name))
    }

    fn slot_of(&self, session: &str, cassette: Name) -> Arc<Slot> {
        let mut tracks = lock(&self.tracks);
        let slot = tracks.entry(session.to_owned());
        Arc::clone(slot.or_insert_with(|| Arc::new(Slot::new(cassette))))
    }

    pub(super) async fn track(&self, name: &Name) -> Result<Track> {
        let settings = &self.settings;
        let replayer = |recorded| {
            let replayer = Replayer::new(recorded, settings.pace);
            if settings.is_proving { replayer.proving() } else { replayer }
        };
        let live = |tape| Live::new(settings, tape);
        Ok(match Track::plan(settings, name) {
            Mode::Replay | Mode::Once => {
                Track::Replay(Box::new(replayer(self.recorded(name).await?)))
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
        let (folder, name) = (self.settings.folder.clone(), name.clone());
        let rules = self.settings.rules_of(&name);
        move || Recorded::load(&folder, &name, &rules)
    }

    async fn base(&self, name: &Name) -> Result<Arc<Recorded>> {
        let cell = Arc::clone(lock(&self.library).entry(name.clone()).or_default());
        cell.get_or_try_init(|| async { track::base(&self.settings, name).map(Arc::new) })
            .await
            .cloned()
    }

    async fn tape(&self, name: &Name) -> Result<Arc<Tape>> {
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

    fn missed(&self, session: &str, name: &Name, mismatch: &Mismatch) -> Miss {
        let explanation = report::miss(name.as_str(), mismatch, &self.settings.rerun);
        Miss::of(session, name.as_str(), mismatch).explained(explanation)
    }

    fn withheld(
        &self,
        head: &http::request::Parts,
        address: &Address<'_>,
        slot: &Slot,
        why: &Stale,
    ) -> Miss {
        let name = slot.cassette.as_str();
        let recorded = slot.replayer().map(|it| it.recorded().cassette().interactions.len());
        let miss = missed(head, address, name, String::new());
        let request = Withheld {
            cassette: (name, recorded.unwrap_or_default()),
            asked: (&miss.method, &miss.path),
            text: &why.text,
            interaction: why.interaction,
            upstream: self.settings.servers.first(),
        };
        let explanation = report::withheld(&request, &self.settings.rerun);
        miss.explained(explanation)
    }

    /// A request whose cassette cannot be opened is a miss as well, unless it was to be recorded. If it
    /// is there, or cannot be recorded, that is more than a finding.
    fn refuse(
        &self,
        head: &http::request::Parts,
        address: &Address<'_>,
        cassette: &str,
        mut error: Error,
    ) -> Answer {
        if error.is_no_cassette() && !self.is_unfinished(cassette) {
            error = error.with_hint(self.record_it(cassette));
        }
        let miss = missed(head, address, cassette, format!("{error:?}"));
        let records = self.records(cassette);
        if records {
            self.tell(Event::Unrecorded(miss.clone()));
        } else {
            self.note(miss.clone());
        }
        if records || !(error.is_no_cassette() || error.is_no_name()) {
            lock(&self.failure).get_or_insert(error);
        }
        miss_answer(&head.headers, &miss.explanation, miss.to_json())
    }

    /// What cannot be recorded is missing in a replay, and in the recording.
    fn refuse_upgrade(&self, miss: Miss, track: &Track) -> Answer {
        match track {
            Track::Replay(_) => drop(self.note(miss)),
            Track::Forward(_) | Track::Extend(_) => self.tell(Event::Unrecorded(miss)),
        }
        problem(StatusCode::NOT_IMPLEMENTED, "upgrade", NO_UPGRADES)
    }

    /// Whether a request of that cassette is to be recorded.
    fn records(&self, cassette: &str) -> bool {
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
        let upstream = self.settings.servers.first();
        format!("record it:\n  {}", self.settings.rerun.steps(upstream, cassette).join("\n  "))
    }

    pub(super) fn note(&self, miss: Miss) -> Miss {
        self.misses.note(miss.clone());
        self.tell(Event::Miss(miss.clone()));
        miss
    }

    pub(super) fn tell(&self, event: Event) {
        (self.settings.listener)(event);
    }
}

impl Handler for Gateway {
    fn handle(self: Arc<Self>, request: Request<Incoming>) -> impl Future<Output = Answer> + Send {
        self.serve(request)
    }

    fn tunnel(&self, head: &http::request::Parts) -> Result<Tunnel, Refusal> {
        self.tunnel_to(head)
    }
}

const NO_UPGRADES: &str = "retape does not record WebSocket or other upgrades yet";

/// A request that is not answered, as people may see it.
fn missed(
    head: &http::request::Parts,
    address: &Address<'_>,
    cassette: &str,
    explanation: String,
) -> Miss {
    let redacted = Redactor::standard().target(&address.target);
    let path = redacted.unwrap_or_else(|| address.target.clone().into_owned());
    let asked = (head.method.as_str(), path.as_str());
    Miss::unexplained(address.session, cassette, asked).explained(explanation)
}

/// The authority by which a request names us, if it does. Where only this machine reaches us, other names
/// than its own are for the server: it may refuse them.
fn seen_at(headers: &HeaderMap, is_private: bool) -> Option<&str> {
    let Some(host) = headers.get(HOST) else { return Some("127.0.0.1") };
    let host = host.to_str().ok()?;
    (!is_private || is_loopback(host)).then_some(host)
}

/// The session that a host below `localhost` names: `hello.letta.localhost:8283` is `letta/hello`.
fn session_of_host(host: &str) -> Option<String> {
    let name = host.split(':').next()?.strip_suffix(".localhost")?;
    Some(name.rsplit('.').collect::<Vec<_>>().join("/"))
}

/// Whether a host, with or without a port, is this machine for itself.
fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |it| it.0);
    let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let is_address = |name: &str| name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    name == "localhost" || name.ends_with(".localhost") || is_address(&name)
}

/// Any other offer, such as the `h2c` of Java's client, may be ignored, and is.
fn wants_websocket(headers: &HeaderMap) -> bool {
    if !headers.contains_key(UPGRADE) {
        return false;
    }
    let offers = headers.get_all(UPGRADE).iter().filter_map(|offer| offer.to_str().ok());
    offers
        .flat_map(|offer| offer.split(','))
        .any(|offer| offer.trim().eq_ignore_ascii_case("websocket"))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
