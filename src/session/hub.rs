//! The sessions that a test runner opens and finishes one by one at a running address.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::request::Parts;
use http::uri::Scheme;
use http::{HeaderName, Request, Uri};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use serde_json::{Value, json};

use super::beside::Beside;
use super::closed::{Closed, Ended};
use super::event::{Event, Miss};
use super::gateway::Gateway;
use super::proxied::Proxied;
use super::settings::SessionBuilder;
use super::{GRACE, changes, control, guard, opening, proof, unserved};
use crate::config::HostRule;
use crate::error::{Error, Result};
use crate::serve::lock;
use crate::serve::recorder::{Course, RequestBody};
use crate::serve::replayer::{Replayer, miss_answer};
use crate::serve::server::{
    Address, Answer, ClientTrust, Handler, Handshake, Refusal, Tunnel, Unread, Via, host_of,
    origin, without,
};
use crate::serve::websocket::{is_upgrade, raw_upgrade};
use crate::store::mode::Mode;

/// All that is served at one address: the session that was started there, and those that were opened
/// by the [control API](control) since.
///
/// # Rationale
///
/// A test runner knows when a test begins and how it ended; nobody else does. So it opens a session for
/// each test, and finishes it: what was recorded is saved then, or thrown away, and nothing of it stays in
/// memory.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) main: Arc<Gateway>,
    /// What holds for a session that is opened, unless it says otherwise.
    settings: SessionBuilder,
    opened: Mutex<BTreeMap<String, Arc<Gateway>>>,
    /// Which opened session a name leads to now.
    routes: Mutex<BTreeMap<String, String>>,
    ended: Mutex<Ended>,
    last: AtomicUsize,
    /// What was told of requests that were refused.
    refused: Mutex<BTreeSet<String>>,
}

/// So many hosts are told of that are none of retape's: whoever may send requests may name any number.
const MOST_REFUSED: usize = 8;

/// What a client's transport says that leads here: the session, and the server that the client means to
/// talk to, as in `~opened-3 https://api.example.com`.
const FOR: HeaderName = HeaderName::from_static("retape-for");

/// Whom that client trusts ([`ClientTrust`]).
const TRUST: HeaderName = HeaderName::from_static("retape-trust");

impl Hub {
    pub(super) fn new(main: Arc<Gateway>, settings: SessionBuilder) -> Self {
        Self {
            main,
            settings,
            opened: Mutex::default(),
            routes: Mutex::default(),
            ended: Mutex::default(),
            refused: Mutex::default(),
            last: AtomicUsize::new(0),
        }
    }

    /// Opens a session with what `asked` says, a JSON object. Returns its name, and what it does.
    pub(super) async fn open(&self, asked: &[u8]) -> Result<(String, Mode)> {
        let (settings, beside) = opening::settings(self.settings.clone(), asked)?;
        let beside = self.beside(&beside)?;
        let gateway = Arc::new(Gateway::open(settings.complete()?, beside).await?);
        let mode = gateway.plan();
        lock(&self.ended).idle.note(&gateway.settings);
        let session = format!("~opened-{}", self.last.fetch_add(1, Ordering::Relaxed) + 1);
        lock(&self.opened).insert(session.clone(), gateway);
        Ok((session, mode))
    }

    /// Opened sessions, and what the client calls otherwise in them.
    fn beside(&self, sessions: &[String]) -> Result<Beside> {
        let opened = lock(&self.opened);
        let mut beside = Beside::default();
        for session in sessions {
            let gateway = opened.get(session).ok_or_else(|| not_opened(session))?;
            let tracks = lock(&gateway.tracks);
            let replayers = tracks.values().filter_map(|slot| slot.replayer());
            beside.aliases.extend(replayers.flat_map(Replayer::aliases));
            gateway.beside.is_shared.store(true, Ordering::Relaxed);
            beside.sessions.push(Arc::clone(gateway));
        }
        Ok(beside)
    }

    /// From now on what is asked of `session` goes to the opened session `to`, or nowhere.
    pub(super) fn route(&self, session: &str, to: Option<&str>) -> Result<()> {
        match to {
            Some(to) if !lock(&self.opened).contains_key(to) => return Err(not_opened(to)),
            Some(to) => lock(&self.routes).insert(session.to_owned(), to.to_owned()),
            None => lock(&self.routes).remove(session),
        };
        Ok(())
    }

    /// Finishes a session that was opened: saves what it recorded, or throws it away, and says what it came
    /// to. What was missed counts for the whole run.
    pub(super) async fn finish(
        &self,
        session: &str,
        course: Course,
        changes: &[u8],
    ) -> Result<Value> {
        let found = lock(&self.opened).get(session).cloned();
        changes::make(&*found.ok_or_else(|| not_opened(session))?, changes)?;
        let gateway = lock(&self.opened).remove(session).ok_or_else(|| not_opened(session))?;
        lock(&self.routes).retain(|_, to| to != session);
        gateway.end_waiting();
        gateway.close_sockets(GRACE).await;
        let is_proof = self.is_proof(&gateway);
        let folder = gateway.settings.folder.clone();
        let closed = Closed::new(gateway);
        closed.settle().await;
        let proofs = closed.proofs();
        let missed = closed.misses();
        // What was missed is told also where what was recorded cannot be saved.
        let summary = closed.save(course).inspect_err(|_| self.note(missed))?;
        let mut told = summary.to_json();
        if is_proof {
            // The test runner has recorded it a moment ago.
            let made_up = proof::learn_more(&folder, &proofs)?;
            told["made_up"] =
                made_up.iter().map(|id| json!({"id": id.value, "at": id.at})).collect();
            return Ok(told);
        }
        self.note(summary.misses.clone());
        lock(&self.ended).add(summary, proofs);
        Ok(told)
    }

    fn note(&self, misses: Vec<Miss>) {
        misses.into_iter().for_each(|miss| self.main.misses().note(miss));
    }

    /// What `retape.toml` says of cassettes that are not there.
    pub(super) fn idle_rules(&self) -> BTreeSet<String> {
        let idle = lock(&self.ended).idle.clone();
        idle.told()
    }

    /// Ends all answers that wait.
    pub(super) fn end_waiting(&self) {
        self.main.end_waiting();
        lock(&self.opened).values().for_each(|gateway| gateway.end_waiting());
    }

    /// Ends the WebSockets that are still open, each session's in at most that time.
    pub(super) async fn close_sockets(&self, grace: Duration) {
        let opened: Vec<Arc<Gateway>> = lock(&self.opened).values().cloned().collect();
        for gateway in std::iter::once(&self.main).chain(&opened) {
            gateway.close_sockets(grace).await;
        }
    }

    /// The main session at its end, with those that were opened in it: whoever should have finished them may
    /// have been killed.
    pub(super) fn close(&self) -> Closed {
        let opened = std::mem::take(&mut *lock(&self.opened)).into_values();
        let left = opened.filter(|gateway| !self.is_proof(gateway)).map(Closed::new).collect();
        Closed::new(Arc::clone(&self.main)).with(std::mem::take(&mut *lock(&self.ended)), left)
    }

    /// Whether an opened session is run against what was recorded a moment ago.
    fn is_proof(&self, opened: &Gateway) -> bool {
        opened.settings.given.is_proving && !self.main.settings.given.is_proving
    }

    /// The session that was opened under that name, or to which it leads.
    pub(super) fn opened(&self, session: &str) -> Option<Arc<Gateway>> {
        let name = opened_part(session)?;
        let routed = lock(&self.routes).get(name).cloned();
        lock(&self.opened).get(routed.as_deref().unwrap_or(name)).cloned()
    }

    /// The gateway of an opened session, or else that of the session that was started.
    fn gateway_of(&self, session: &str) -> Arc<Gateway> {
        self.opened(session).unwrap_or_else(|| Arc::clone(&self.main))
    }

    /// The session that a target names: one that was opened may stand before the name of a server as well.
    fn session_of<'t>(&self, target: &'t str) -> &'t str {
        let before_server = Address::naming_a_server(target).map(|address| address.session);
        let opened = before_server.filter(|session| self.opened(session).is_some());
        opened.unwrap_or_else(|| Address::parse(target).session)
    }

    async fn serve(&self, head: &mut Parts, body: Incoming) -> Answer {
        let proxied = match self.main.proxied(head) {
            Ok(proxied) => proxied,
            Err(refusal) => return *refusal,
        };
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let session = match &proxied {
            Some(proxied) => &proxied.session,
            None => {
                if let Some(why) = guard::refusal(head, &self.main.settings.given.allowed_hosts) {
                    // The control API is asked for nothing that was recorded.
                    if control::asked(target).is_none() {
                        self.main.misses().refuse(&why);
                    }
                    let answer = guard::refused(&why);
                    self.tell_refused(why);
                    return answer;
                }
                if let Some(asked) = control::asked(target) {
                    return Box::pin(control::answer(self, head, body, asked)).await;
                }
                self.session_of(target)
            }
        };
        let gateway = self.gateway_of(session);
        if let Some(protocol) = raw_upgrade(&head.headers) {
            let asked = (head.method.as_str(), target);
            let miss = gateway.unserved(session, asked, unserved::upgrade(protocol));
            return miss_answer(&head.headers, &miss.explanation, miss.to_json());
        }
        let client = head.extensions.remove::<OnUpgrade>();
        let client = client.filter(|_| is_upgrade(&head.method, &head.headers));
        let asked = client.map_or(RequestBody::Arriving(body), RequestBody::Upgrade);
        gateway.serve(head, asked, proxied.as_ref()).await
    }

    fn tell_refused(&self, why: String) {
        let mut refused = lock(&self.refused);
        if refused.len() < MOST_REFUSED && refused.insert(why.clone()) {
            self.main.tell(Event::Refused(why));
        }
    }

    /// Notes which session and which server a request means that a client's transport leads here. No page of
    /// another host can send that field.
    fn lead(&self, request: &mut Request<Incoming>) {
        let Some(field) = request.headers().get(FOR).cloned() else { return };
        let field = String::from_utf8_lossy(field.as_bytes());
        let (session, origin) = field.split_once(' ').unwrap_or((&field, ""));
        let via = Via { origin: origin.to_owned(), session: session.to_owned() };
        // Some transports name whom they connect to, and not whom the client means.
        let host = request.headers().get(HOST).and_then(|host| host.as_bytes().try_into().ok());
        let is_ours = host.is_some_and(|host| self.main.is_listening_at(&host));
        let is_left_out =
            |name: &HeaderName| *name == FOR || *name == TRUST || is_ours && *name == HOST;
        let trust = request.headers().get(TRUST).cloned();
        let fields = std::mem::take(request.headers_mut());
        *request.headers_mut() = without(fields, is_left_out);
        request.extensions_mut().insert(via);
        if let Some(trust) = trust {
            request.extensions_mut().insert(ClientTrust(trust));
        }
    }

    /// Answers a request of this process, for the server that it names.
    pub(super) async fn ask(self: Arc<Self>, mut head: Parts, body: Bytes) -> Answer {
        let uri = std::mem::take(&mut head.uri).into_parts();
        let proxied = uri.authority.map(|authority| Proxied {
            session: String::new(),
            origin: origin(uri.scheme.as_ref().map_or("http", Scheme::as_str), host_of(&authority)),
            rule: HostRule::Recorded,
        });
        head.uri = uri.path_and_query.map_or_else(Uri::default, Uri::from);
        self.main.serve(&head, RequestBody::Whole(body), proxied.as_ref()).await
    }
}

impl Handler for Hub {
    fn handle(
        self: Arc<Self>,
        mut request: Request<Incoming>,
    ) -> impl Future<Output = Answer> + Send {
        self.lead(&mut request);
        let (mut head, body) = request.into_parts();
        async move { self.serve(&mut head, body).await }
    }

    fn tunnel(&self, head: &Parts) -> Result<Tunnel, Refusal> {
        self.main.tunnel_to(head)
    }

    fn handshake(&self, server: &str, came: Handshake) {
        self.main.note_handshake(server, came);
    }

    fn unread(&self, via: Option<&Via>, unread: &Unread) {
        let asked = match unread {
            Unread::Target { method, target, .. } | Unread::Head { method, target, .. } => {
                (method.as_str(), target.as_str())
            }
            Unread::Tls => ("TLS", "/"),
        };
        let session = via.map_or_else(|| self.session_of(asked.1), |via| &via.session);
        let gateway = self.gateway_of(session);
        gateway.unserved(session, asked, self.main.unread(unread));
    }
}

/// `~opened-3` of `~opened-3` and of `~opened-3~worker`.
fn opened_part(session: &str) -> Option<&str> {
    session.strip_prefix('~').map(|_| &session[..session.len() - behind_token(session).len()])
}

/// `~worker` of `~opened-3~worker`: what tells several runs of an opened session apart, by whatever name
/// they lead to it.
pub(super) fn behind_token(session: &str) -> &str {
    let token = session.strip_prefix('~').unwrap_or(session);
    token.find('~').map_or("", |at| &token[at..])
}

fn not_opened(session: &str) -> Error {
    let hint = "`POST /-/retape/open` opens a session and says its name";
    Error::said(format!("no session `{session}` was opened")).with_hint(hint)
}
