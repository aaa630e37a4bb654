//! The live server that is recorded.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::tee::Abandoned;
use crate::cassette::End;
use crate::error::{Error, Kind, Result};
use crate::server::Line;

/// A body on its way to the server.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, Abandoned>;

type Connector = HttpsConnector<HttpConnector>;

/// The live server that is recorded, reached over HTTP/1.1 or, with TLS, h2.
///
/// # Rationale
///
/// Each connection of a client has its own to the server. Were they shared, a server that closes
/// connections without a word would fail requests that came over a fresh one, and a recording would
/// hold failures that nobody sees without it.
#[derive(Debug, Clone)]
pub struct Upstream {
    connector: Connector,
    /// The address without user information and without a slash at its end.
    origin: String,
    base: Uri,
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
    /// If it is not an `http` or `https` address.
    pub fn new(address: &str) -> Result<Self> {
        let refused = || {
            Error::new(Kind::Setting {
                name: "upstream",
                value: address.to_owned(),
                expected: "http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH]",
            })
        };
        let base: Uri = address.parse().map_err(|source| refused().because(source))?;
        let scheme = base.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let (Some(scheme), Some(authority), None) = (scheme, base.authority(), base.query()) else {
            return Err(refused());
        };
        // User information has no place in a URL that is written down.
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        let origin = format!("{scheme}://{host}{}", base.path().trim_end_matches('/'));
        Ok(Self { connector: connector(), origin, base })
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
        mut request: Request<Outgoing>,
        patience: Patience,
    ) -> Result<Response<Incoming>, End> {
        let line = request.extensions_mut().remove::<Line>().unwrap_or_default();
        let client = line.keep(|| client(self.connector.clone()));
        let sent = client.expect("nothing else is kept with a connection").request(request);
        match tokio::time::timeout(patience.silence, sent).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(End::Unreachable),
            Ok(Err(_)) => Err(End::ServerClosed),
            Err(_) => Err(End::Timeout),
        }
    }
}

fn client(connector: Connector) -> Client<Connector, Outgoing> {
    Client::builder(TokioExecutor::new())
        .http1_preserve_header_case(true)
        // Servers close idle connections, some after a second or two; a request that meets the
        // closing end would fail though the server is well.
        .pool_idle_timeout(Duration::from_secs(1))
        .pool_timer(TokioTimer::new())
        .build(connector)
}

/// The provider of the cryptography is named, never taken from the process: another crate of the
/// user's build may have installed one, or none.
fn connector() -> Connector {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions");
    let tls = match tls.with_native_roots() {
        Ok(tls) => tls.with_no_client_auth(),
        // No certificates on this machine: plain HTTP works all the same, TLS will say what is amiss.
        Err(_) => rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth(),
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
