//! The live server that is recorded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, Request, Response, StatusCode, Uri, Version};
use http_body::Body as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;

use super::connection::{Connection, Unanswered};
use super::fault::ServerFault;
use super::location::{Location, Speaks};
use super::pool::{Pool, Repeatable};
use super::sent::{Abandoned, Progress};
use super::tls::{Connector, Trust, connectors};
use crate::cassette::End;
use crate::error::{Error, Result};
use crate::serve::recording::Patience;
use crate::serve::server::ClientTrust;

/// A body on its way to the server.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, Abandoned>;

/// The live server that is recorded, reached over HTTP/1.1 or HTTP/2.
///
/// # Rationale
///
/// A server may close an idle connection just when it is used again, and the request on it is lost.
/// One that may be sent twice (RFC 9110, section 9.2.2), or was not sent yet, is sent once more then.
/// Any other must not be (the same section), and an answer that the server never gave must not stand
/// in a cassette. So it is sent on a kept connection only if the server was seen to keep them, and no
/// connection is kept behind an answer of which nothing says where it ends: a server that ends its
/// answers by closing the connection does so behind one to a `HEAD` too.
#[derive(Debug, Clone)]
pub struct Upstream {
    location: Location,
    /// One for each that its clients trust.
    ways: Arc<Mutex<HashMap<Option<ClientTrust>, Arc<Connectors>>>>,
    /// Whether it has answered before.
    answered: Arc<AtomicBool>,
}

/// How a server is reached.
#[derive(Debug)]
struct Connectors {
    connector: Connector,
    /// For what HTTP/2 has no way to: to become a WebSocket.
    upgrading: Connector,
    pool: Pool,
    trust: Trust,
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
        Ok(Self { location, ways: Arc::default(), answered: Arc::default() })
    }

    /// How it is reached by whoever sends that request.
    fn way(&self, request: &Request<Outgoing>) -> Arc<Connectors> {
        let client = request.extensions().get().cloned();
        let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        let way = ways.entry(client).or_insert_with_key(|client| {
            let (connectors, trust) = connectors(&tcp(), self.location.speaks, client.as_ref());
            let [connector, upgrading] = connectors;
            Arc::new(Connectors { connector, upgrading, pool: Pool::default(), trust })
        });
        Arc::clone(way)
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

    /// The same as it was given: one that speaks HTTP/2 without TLS is `h2c://…`.
    pub fn address(&self) -> Cow<'_, str> {
        self.location.address()
    }

    /// The host and port of the address.
    pub(super) fn host(&self) -> &str {
        self.location.host()
    }

    /// What a page of this server gives as its origin: the address without a path.
    pub(super) fn page_origin(&self) -> String {
        let origin = self.origin();
        let (scheme, rest) = origin.split_once("://").unwrap_or(("http", origin));
        let scheme = if scheme == "https" { scheme } else { "http" };
        format!("{scheme}://{}", rest.split('/').next().unwrap_or(rest))
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
        request: Box<Request<Outgoing>>,
        patience: Patience,
    ) -> Result<Response<Incoming>, ServerFault> {
        let way = self.way(&request);
        let progress = request.extensions().get::<Progress>().cloned();
        let answer = within(patience.silence, progress, self.ask(&way, request)).await;
        match answer.unwrap_or(Err(ServerFault::Silent(patience.silence))) {
            Ok(response) => {
                self.answered.store(true, Ordering::Relaxed);
                Ok(response)
            }
            Err(fault) => Err(self.explained(way.trust, fault)),
        }
    }

    /// Asks on a connection that was kept, or else on a new one.
    async fn ask(
        &self,
        way: &Connectors,
        mut request: Box<Request<Outgoing>>,
    ) -> Result<Response<Incoming>, ServerFault> {
        let address = request.uri().clone();
        if request.headers().contains_key(UPGRADE) {
            let open = Connection::open(way.upgrading.clone(), address, false, || {});
            let own = Box::pin(open).await?;
            return own
                .send(request)
                .await
                .map(|(it, _)| it)
                .map_err(|unanswered| unanswered.fault);
        }
        let repeatable = repeatable(&request);
        while let Some(kept) = way.pool.take(repeatable) {
            let again = repeated(&request);
            match way.ask_on(kept, request).await {
                Ok(response) => return Ok(response),
                Err(Unanswered { unsent: Some(unsent), .. }) => request = unsent,
                Err(Unanswered { fault, .. }) => match again {
                    Some(again) if fault.end() == End::ServerClosed => {
                        request = again;
                        break;
                    }
                    _ => return Err(fault),
                },
            }
        }
        let speaks_http2 = self.location.speaks == Speaks::PriorKnowledge;
        let connector = way.connector.clone();
        // Most requests go on a kept connection, and need no room for this.
        let open = Connection::open(connector, address, speaks_http2, way.pool.on_end());
        let fresh = Box::pin(open).await?;
        way.ask_on(fresh, request).await.map_err(|unanswered| unanswered.fault)
    }

    /// The fault in the light of what the address says.
    fn explained(&self, trust: Trust, fault: ServerFault) -> ServerFault {
        match (self.location.speaks, fault) {
            (_, ServerFault::Tls(fault)) => trust.explained(fault),
            (Speaks::Plain, ServerFault::NotHttp) => ServerFault::NotHttp1,
            (
                Speaks::PriorKnowledge,
                ServerFault::NotHttp | ServerFault::Closed | ServerFault::Broken(_),
            ) if !self.answered.load(Ordering::Relaxed) => ServerFault::NotHttp2,
            (_, fault) => fault,
        }
    }
}

impl Connectors {
    async fn ask_on(
        &self,
        connection: Connection,
        request: Box<Request<Outgoing>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let (response, connection) = connection.send(request).await?;
        if let Some(connection) = connection.filter(|_| says_its_end(&response)) {
            self.pool.put(connection);
        }
        Ok(response)
    }
}

/// Waits so long for an answer. The time counts from when the request last went on.
async fn within<T>(
    silence: Duration,
    progress: Option<Progress>,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let mut answer = std::pin::pin!(answer);
    let mut deadline = Instant::now() + silence;
    loop {
        let waiting = tokio::time::timeout_at(deadline.into(), &mut answer);
        if let Ok(answered) = waiting.await {
            return Some(answered);
        }
        let later = progress.as_ref().map(|progress| progress.deadline(silence));
        deadline = later.filter(|later| *later > deadline)?;
    }
}

/// Whether the end of an answer is known from its head, so that the connection may go on behind it.
fn says_its_end<B>(response: &Response<B>) -> bool {
    let is_said = |field| response.headers().contains_key(field);
    response.version() == Version::HTTP_2
        || response.status() == StatusCode::NO_CONTENT
        || is_said(CONTENT_LENGTH)
        || is_said(TRANSFER_ENCODING)
}

fn repeatable(request: &Request<Outgoing>) -> Repeatable {
    if request.method().is_idempotent() && request.body().is_end_stream() {
        Repeatable::Yes
    } else {
        Repeatable::No
    }
}

/// The same request, if it may be sent twice.
fn repeated(request: &Request<Outgoing>) -> Option<Box<Request<Outgoing>>> {
    (repeatable(request) == Repeatable::Yes).then(|| {
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        let mut again = Box::new(Request::new(body));
        *again.method_mut() = request.method().clone();
        *again.uri_mut() = request.uri().clone();
        *again.headers_mut() = request.headers().clone();
        *again.extensions_mut() = request.extensions().clone();
        again
    })
}

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT));
    tcp
}
