//! The live server that is recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body::Body as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::tee::Abandoned;
use crate::cassette::End;
use crate::error::{Error, Kind, Result};
use crate::redact::Redactor;

/// A body on its way to the server.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, Abandoned>;

/// The live server that is recorded, reached over HTTP/1.1 or, with TLS, h2.
///
/// # Rationale
///
/// A server may close an idle connection just when it is used again, and the request on it is lost.
/// One that may be sent twice (RFC 9110, section 9.2.2) is sent once more then. Any other gets a
/// connection of its own: an answer that the server never gave must not stand in a cassette.
#[derive(Debug, Clone)]
pub struct Upstream {
    kept_alive: Client<HttpsConnector<HttpConnector>, Outgoing>,
    fresh: Client<HttpsConnector<HttpConnector>, Outgoing>,
    /// The address without a slash at its end.
    origin: String,
    base: Uri,
    /// Whether it has answered before, so that a connection may be used again.
    answered: Arc<AtomicBool>,
}

/// How long the recorder waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the head of an answer, and between two pieces of its body.
    pub silence: Duration,
    /// For the rest of an answer after the client has left.
    pub grace: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(300), grace: Duration::from_secs(5) }
    }
}

impl Upstream {
    /// Takes an address: `http://127.0.0.1:8283`, `https://api.example.com/base`. Over `http` it
    /// speaks HTTP/1.1; over `https` what the server prefers.
    ///
    /// # Errors
    ///
    /// If it is not an `http` or `https` address, or holds user information.
    pub fn new(address: &str) -> Result<Self> {
        let base: Uri = address.parse().map_err(|source| refused(address).because(source))?;
        let scheme = base.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let (Some(scheme), Some(authority), None) = (scheme, base.authority(), base.query()) else {
            return Err(refused(address));
        };
        if authority.as_str().contains('@') {
            return Err(refused(address).with_hint(
                "leave user and password out: what the client sends as `authorization` is passed on",
            ));
        }
        let origin = format!("{scheme}://{authority}{}", base.path().trim_end_matches('/'));
        let connector = connector();
        let kept_alive = client(connector.clone(), KEPT_IDLE);
        let fresh = client(connector, 0);
        Ok(Self { kept_alive, fresh, origin, base, answered: Arc::default() })
    }

    /// The address, without a slash at its end.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The address of a request target at this server.
    ///
    /// # Errors
    ///
    /// If the two do not make an address.
    pub(super) fn uri_of(&self, target: &str) -> Result<Uri, http::Error> {
        let path = format!("{}{target}", self.base.path().trim_end_matches('/'));
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(path)?);
        Ok(Uri::from_parts(parts)?)
    }

    /// Sends a request and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// How it ended if no answer came.
    pub(super) async fn send(
        &self,
        request: Request<Outgoing>,
        patience: Patience,
    ) -> Result<Response<Incoming>, End> {
        let again = self.answered.load(Ordering::Relaxed).then(|| repeated(&request)).flatten();
        let client = if is_repeatable(&request) { &self.kept_alive } else { &self.fresh };
        let mut outcome = send_once(client, request, patience).await;
        if let (Err(End::ServerClosed), Some(again)) = (&outcome, again) {
            outcome = send_once(&self.fresh, again, patience).await;
        }
        if outcome.is_ok() {
            self.answered.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

/// What was given is shown without the secrets in it.
fn refused(address: &str) -> Error {
    Error::new(Kind::Setting {
        name: "upstream",
        value: Redactor::standard().url(address),
        expected: "http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH]",
    })
}

async fn send_once(
    client: &Client<HttpsConnector<HttpConnector>, Outgoing>,
    request: Request<Outgoing>,
    patience: Patience,
) -> Result<Response<Incoming>, End> {
    match tokio::time::timeout(patience.silence, client.request(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) if error.is_connect() => Err(End::Unreachable),
        Ok(Err(_)) => Err(End::ServerClosed),
        Err(_) => Err(End::Timeout),
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

fn client<B>(
    connector: HttpsConnector<HttpConnector>,
    idle: usize,
) -> Client<HttpsConnector<HttpConnector>, B>
where
    B: http_body::Body + Send + 'static + Unpin,
    B::Data: Send,
{
    Client::builder(TokioExecutor::new())
        .http1_preserve_header_case(true)
        .pool_max_idle_per_host(idle)
        // Shorter than any server's patience with an idle connection that we know of.
        .pool_idle_timeout(Duration::from_secs(1))
        .pool_timer(TokioTimer::new())
        .build(connector)
}

/// The provider of the cryptography is named, never taken from the process: another crate of the
/// user's build may have installed one, or none.
fn connector() -> HttpsConnector<HttpConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = || {
        rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
    };
    let tls = match builder().with_native_roots() {
        Ok(tls) => tls.with_no_client_auth(),
        // No certificates on this machine: plain HTTP works all the same, TLS will say what is amiss.
        Err(_) => {
            builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
        }
    };
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(Duration::from_secs(10)));
    HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(tcp)
}
