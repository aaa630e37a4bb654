//! The live server that is recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response, Uri};
use http_body::Body as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::fault::Fault;
use super::location::{Location, Speaks};
use super::sent::Abandoned;
use super::tls::{Connector, Trust, connector};
use crate::cassette::End;
use crate::error::{Error, Result};
use crate::serve::recording::Patience;

/// A body on its way to the server.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, Abandoned>;

/// The live server that is recorded, reached over HTTP/1.1 or HTTP/2.
///
/// # Rationale
///
/// A server may close an idle connection just when it is used again, and the request on it is lost.
/// One that may be sent twice (RFC 9110, section 9.2.2) is sent once more then. Any other gets a
/// connection of its own: an answer that the server never gave must not stand in a cassette.
#[derive(Debug, Clone)]
pub struct Upstream {
    kept_alive: Client<Connector, Outgoing>,
    fresh: Client<Connector, Outgoing>,
    location: Location,
    trust: Trust,
    /// Whether it has answered before, so that a connection may be used again.
    answered: Arc<AtomicBool>,
}

impl Upstream {
    /// Takes an address: `http://127.0.0.1:8283`, `https://api.example.com/base`. Over `http` it
    /// speaks HTTP/1.1, over `https` what the server prefers, over `h2c` HTTP/2 without TLS. User
    /// information goes with each request that has no `authorization` of its own.
    ///
    /// # Errors
    ///
    /// If it is no such address.
    pub fn new(address: &str) -> Result<Self> {
        let location = Location::parse(address)?;
        let (connector, trust) = connector(tcp(), location.speaks);
        let kept_alive = client(connector.clone(), location.speaks, KEPT_IDLE);
        let fresh = client(connector, location.speaks, 0);
        Ok(Self { kept_alive, fresh, location, trust, answered: Arc::default() })
    }

    /// Whether this build can ask it.
    ///
    /// # Errors
    ///
    /// If it takes a feature that is not there.
    pub fn check_built(&self) -> Result<()> {
        match self.location.speaks {
            Speaks::Tls if !cfg!(feature = "tls") => Err(Error::not_built("tls")),
            _ => Ok(()),
        }
    }

    /// The address, without user information and without a slash at its end.
    pub fn origin(&self) -> &str {
        &self.location.origin
    }

    /// The host and port of the address.
    pub(super) fn host(&self) -> &str {
        self.location.host()
    }

    /// The address of a request target at this server.
    ///
    /// # Errors
    ///
    /// If the two do not make an address.
    pub(super) fn uri_of(&self, target: &str) -> Result<Uri, http::Error> {
        self.location.uri_of(target)
    }

    /// Adds what the address says of the user, as any client would.
    pub(super) fn authorize(&self, headers: &mut HeaderMap) {
        if let Some(authorization) = &self.location.authorization {
            headers.entry(AUTHORIZATION).or_insert_with(|| authorization.clone());
        }
    }

    /// Sends a request and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// Why no answer came.
    pub(super) async fn send(
        &self,
        request: Request<Outgoing>,
        patience: Patience,
    ) -> Result<Response<Incoming>, Fault> {
        let again = self.answered.load(Ordering::Relaxed).then(|| repeated(&request)).flatten();
        let client = if is_repeatable(&request) { &self.kept_alive } else { &self.fresh };
        let mut outcome = send_once(client, request, patience).await;
        let is_cut = outcome.as_ref().is_err_and(|fault| fault.end() == End::ServerClosed);
        if let Some(again) = again.filter(|_| is_cut) {
            outcome = send_once(&self.fresh, again, patience).await;
        }
        if outcome.is_ok() {
            self.answered.store(true, Ordering::Relaxed);
        }
        outcome.map_err(|fault| self.explained(fault))
    }

    /// The fault in the light of what the address says.
    fn explained(&self, fault: Fault) -> Fault {
        match (self.location.speaks, fault) {
            (_, Fault::Tls(fault)) => self.trust.explained(fault),
            (Speaks::Plain, Fault::NotHttp) => Fault::NotHttp1,
            (Speaks::PriorKnowledge, Fault::NotHttp | Fault::Closed | Fault::Broken(_))
                if !self.answered.load(Ordering::Relaxed) =>
            {
                Fault::NotHttp2
            }
            (_, fault) => fault,
        }
    }
}

async fn send_once(
    client: &Client<Connector, Outgoing>,
    request: Request<Outgoing>,
    patience: Patience,
) -> Result<Response<Incoming>, Fault> {
    match tokio::time::timeout(patience.silence, client.request(request)).await {
        Ok(outcome) => outcome.map_err(|error| Fault::of(&error)),
        Err(_) => Err(Fault::Silent),
    }
}

fn is_repeatable(request: &Request<Outgoing>) -> bool {
    request.method().is_idempotent() && request.body().is_end_stream()
}

/// The same request, if it may be sent twice.
fn repeated(request: &Request<Outgoing>) -> Option<Request<Outgoing>> {
    is_repeatable(request).then(|| {
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        let mut again = Request::new(body);
        *again.method_mut() = request.method().clone();
        *again.uri_mut() = request.uri().clone();
        *again.headers_mut() = request.headers().clone();
        *again.extensions_mut() = request.extensions().clone();
        again
    })
}

/// So many idle connections are kept: more than a test suite has clients.
const KEPT_IDLE: usize = 256;

fn client(connector: Connector, speaks: Speaks, idle: usize) -> Client<Connector, Outgoing> {
    Client::builder(TokioExecutor::new())
        .http2_only(speaks == Speaks::PriorKnowledge)
        .http1_preserve_header_case(true)
        .pool_max_idle_per_host(idle)
        // Shorter than any server's patience with an idle connection that we know of.
        .pool_idle_timeout(Duration::from_secs(1))
        .pool_timer(TokioTimer::new())
        .build(connector)
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(Duration::from_secs(10)));
    tcp
}
