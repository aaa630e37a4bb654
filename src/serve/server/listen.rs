//! The accept loop.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::{CONNECTION, HOST, HeaderValue};
use http::request::Parts;
use http::uri::{Authority, Scheme};
use http::{Method, Request, Response, StatusCode, Uri, Version};
use hyper::body::Incoming;
#[cfg(not(feature = "http2"))]
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
#[cfg(feature = "http2")]
use hyper_util::rt::TokioExecutor;
use hyper_util::rt::TokioIo;
#[cfg(feature = "http2")]
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::early::{Early, Interleaved, Unread};
use super::resettable::{Link, Resettable};
use super::unbroken::Unbroken;
use super::{
    Answer, Breaks, Cut, Handshake, NamedHost, Tunnel, Via, full, host_of, problem, proxy,
};
use crate::error::{Error, Result};
use crate::serve::lock;

/// The most header fields of a message over HTTP/1.1, on both sides.
pub const MOST_FIELDS: usize = 256;

/// The answer to what is refused.
pub type Refusal = Box<Answer>;

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. It is dropped if the client leaves before the answer's head was sent.
    fn handle(self: Arc<Self>, request: Request<Incoming>) -> impl Future<Output = Answer> + Send;

    /// The tunnel that a client asks for, or why there is none.
    fn tunnel(&self, _: &Parts) -> Result<Tunnel, Refusal> {
        Err(problem(StatusCode::MISDIRECTED_REQUEST, "no_proxy", "this is no proxy").into())
    }

    /// Hears how far a client came that asked for a tunnel to a server.
    fn handshake(&self, _: &str, _: Handshake) {}

    /// Hears of a request that cannot be read. Its client gets a status 400 without a word.
    fn unread(&self, _: Option<&Via>, _: &Unread) {}
}

/// What the handler is told of the names of header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldNames {
    /// How the client spelled them: for passing them on. To keep that takes time for each request.
    AsSent,
    /// Only what they mean.
    AsMeant,
}

/// A server on its own task of the current runtime.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    phase: watch::Sender<Phase>,
    accepting: JoinHandle<()>,
}

/// What a server is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    /// It takes no more connections and lets the open ones finish.
    Finishing,
    /// It closes the open ones.
    Closing,
}

impl Server {
    /// Takes a listening address; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// If the address is taken or not of this machine.
    pub async fn bind(address: SocketAddr) -> Result<TcpListener> {
        TcpListener::bind(address).await.map_err(|source| {
            Error::said(format!("cannot listen on `{address}`"))
                .because(source)
                .with_hint("take another port, or port 0 for a free one: `--listen 127.0.0.1:0`")
        })
    }

    /// Starts to answer what arrives at `listener`, with the names of header fields as they are asked
    /// for.
    ///
    /// # Errors
    ///
    /// If the listener has no address any more.
    pub fn start<H: Handler>(
        listener: TcpListener,
        handler: Arc<H>,
        names: FieldNames,
    ) -> Result<Self> {
        let address = listener
            .local_addr()
            .map_err(|source| Error::said("cannot listen on `?`").because(source))?;
        let (phase, phases) = watch::channel(Phase::Serving);
        let accepting = tokio::spawn(accept(listener, handler, names, phases));
        Ok(Self { address, phase, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets the open ones finish what they are at for up to `grace`, then
    /// closes them. Afterwards no request is at work any more.
    pub async fn stop(mut self, grace: Duration) {
        self.phase.send_replace(Phase::Finishing);
        if tokio::time::timeout(grace, &mut self.accepting).await.is_err() {
            self.phase.send_replace(Phase::Closing);
            let _ = self.accepting.await;
        }
    }
}

async fn accept<H: Handler>(
    listener: TcpListener,
    handler: Arc<H>,
    names: FieldNames,
    mut phases: watch::Receiver<Phase>,
) {
    let mut connections = JoinSet::new();
    // One for each connection: to ask it costs a request less than to ask a channel of all.
    let mut open = HashMap::new();
    loop {
        tokio::select! {
            biased;
            _ = phases.changed() => break,
            Some(ended) = connections.join_next_with_id(), if !connections.is_empty() => {
                open.remove(&ended.map_or_else(|error| error.id(), |(id, ())| id));
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (goes_on, finishing) = oneshot::channel();
                    let task = serve(stream, Arc::clone(&handler), names, finishing);
                    open.insert(connections.spawn(task).id(), goes_on);
                }
                // Out of file descriptors, or a connection that was gone before it was taken.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
        }
    }
    drop(listener);
    drop(open);
    let finished = async { while connections.join_next().await.is_some() {} };
    let closing = async { phases.wait_for(|phase| *phase == Phase::Closing).await.is_ok() };
    tokio::select! {
        () = finished => {}
        true = closing => connections.shutdown().await,
    }
}

/// Serves a connection until the client leaves. When the other end of `finishing` is gone, it finishes
/// what it is at.
async fn serve<H: Handler>(
    stream: TcpStream,
    handler: Arc<H>,
    names: FieldNames,
    mut finishing: oneshot::Receiver<Infallible>,
) {
    // A chunk is to leave when it is written, not when the next one fills a segment.
    let _ = stream.set_nodelay(true);
    let link = Link::default();
    let stream = Resettable::new(stream, link.clone());
    let ends = (stream, &link, Early::default());
    let asked = converse(ends, &handler, names, None, &mut finishing).await;
    let Some((upgrade, tunnel)) = asked else { return };
    let opened = async { proxy::open(tunnel, TokioIo::new(upgrade.await.ok()?), &*handler).await };
    let opened = tokio::select! {
        biased;
        opened = opened => opened,
        _ = &mut finishing => None,
    };
    if let Some((client, via)) = opened {
        let (origin, early) = (via.origin.clone(), Early::default());
        let ends = (client, &link, early.clone());
        converse(ends, &handler, names, Some(via), &mut finishing).await;
        let came = if early.is_begun() { Handshake::Asked } else { Handshake::Left };
        handler.handshake(&origin, came);
    }
}

/// A tunnel, and the connection that becomes it.
type PendingTunnel = (OnUpgrade, Tunnel);

/// Answers requests, by HTTP/1 or HTTP/2 as the client begins, until it leaves or asks for a tunnel.
async fn converse<H: Handler>(
    (stream, link, early): (impl AsyncRead + AsyncWrite + Send + Unpin + 'static, &Link, Early),
    handler: &Arc<H>,
    names: FieldNames,
    via: Option<Via>,
    finishing: &mut oneshot::Receiver<Infallible>,
) -> Option<PendingTunnel> {
    let asked = Arc::new(Mutex::new(None));
    let (tunnel, link) = (Arc::clone(&asked), link.clone());
    let (heard, led) = (early.clone(), via.clone());
    let is_proxied = Arc::new(AtomicBool::new(false));
    let stream = Interleaved::new(stream, early.clone());
    let service = service_fn(move |mut request| {
        let (handler, via, tunnel) = (Arc::clone(handler), via.clone(), Arc::clone(&tunnel));
        let (link, early) = (link.clone(), early.clone());
        let is_proxied = Arc::clone(&is_proxied);
        // hyper keeps room for it as long as the connection lasts.
        Box::pin(async move {
            let version = request.version();
            let answer = match as_meant(&mut request, &is_proxied) {
                Err(why) => refuse(&*handler, &request, via.as_ref(), why),
                Ok(()) if request.method() == Method::CONNECT => {
                    connect(&*handler, request, via.as_ref(), &tunnel)
                }
                Ok(()) => {
                    via.into_iter().for_each(|via| _ = request.extensions_mut().insert(via));
                    if version == Version::HTTP_11 {
                        request.extensions_mut().insert(early.clone());
                    }
                    let answer = handler.handle(request).await;
                    early.sent().await;
                    answer
                }
            };
            sent(answer, &link, early, version)
        })
    });
    let keeps_case = names == FieldNames::AsSent;
    #[cfg(feature = "http2")]
    let mut builder = auto::Builder::new(TokioExecutor::new());
    #[cfg(feature = "http2")]
    let connection = {
        builder.http1().preserve_header_case(keeps_case).auto_date_header(false);
        builder.http1().max_headers(MOST_FIELDS);
        builder.http2().auto_date_header(false);
        builder.serve_connection_with_upgrades(TokioIo::new(stream), service)
    };
    #[cfg(not(feature = "http2"))]
    let connection = http1::Builder::new()
        .preserve_header_case(keeps_case)
        .auto_date_header(false)
        .max_headers(MOST_FIELDS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        biased;
        // A client that leaves, or an answer that is cut on purpose, ends in an error here; whoever
        // produces the answer has been told by then.
        ended = connection.as_mut() => {
            let unread = ended.err().and_then(|error| heard.unread(as_error(&error)));
            unread.into_iter().for_each(|it| handler.unread(led.as_ref(), &it));
            return lock(&asked).take();
        }
        _ = finishing => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
    None
}

/// Why a connection has ended, as hyper says it.
#[cfg(feature = "http2")]
#[expect(clippy::borrowed_box, reason = "this is what hyper-util gives")]
fn as_error(
    error: &Box<dyn std::error::Error + Send + Sync>,
) -> &(dyn std::error::Error + 'static) {
    &**error
}

/// Why a connection has ended, as hyper says it.
#[cfg(not(feature = "http2"))]
fn as_error(error: &hyper::Error) -> &(dyn std::error::Error + 'static) {
    error
}

/// An answer that is sent, unless the connection is to break off before it.
fn sent(
    answer: Answer,
    link: &Link,
    early: Early,
    version: Version,
) -> Result<Response<Unbroken>, Cut> {
    let breaks = answer.extensions().get::<Breaks>();
    if matches!(breaks, Some(Breaks::Reset | Breaks::ResetUnanswered)) {
        link.reset();
    }
    match breaks {
        Some(Breaks::Unanswered | Breaks::ResetUnanswered) => Err(Cut),
        Some(Breaks::Reset) | None => Ok(answer.map(|body| Unbroken::new(body, early, version))),
    }
}

/// Answers a client that asks for a tunnel. Within one there is no other.
fn connect<H: Handler>(
    handler: &H,
    request: Request<Incoming>,
    via: Option<&Via>,
    asked: &Mutex<Option<PendingTunnel>>,
) -> Answer {
    let is_first = via.is_none() && request.version() != Version::HTTP_2;
    let (head, body) = request.into_parts();
    let tunnel = match handler.tunnel(&head) {
        Ok(tunnel) if is_first => tunnel,
        Ok(_) => return problem(StatusCode::NOT_IMPLEMENTED, "proxy", "a tunnel within a tunnel"),
        Err(refusal) => return *refusal,
    };
    let upgrade = hyper::upgrade::on(Request::from_parts(head, body));
    *lock(asked) = Some((upgrade, tunnel));
    Answer::new(full(""))
}

/// The server that a request means by its `host`, once another request on the connection has said a whole address. Java
/// asks for a WebSocket like that. A web page cannot: its browser says a whole address to a proxy only.
fn named_before(request: &Request<Incoming>) -> Option<NamedHost> {
    let host = request.headers().get(HOST)?.to_str().ok()?;
    Some(NamedHost { scheme: "http", authority: host.parse().ok()? })
}

/// A request as HTTP/1.1 has it. One that does not name one host is refused (RFC 9112, section 3.2). That of a
/// whole address takes the place of the field (section 3.2.2).
fn as_meant(request: &mut Request<Incoming>, is_proxied: &AtomicBool) -> Result<(), &'static str> {
    let named = request.uri().authority().filter(|_| request.method() != Method::CONNECT).cloned();
    let host = named.as_ref().and_then(|it| HeaderValue::try_from(host_of(it)).ok());
    if request.version() != Version::HTTP_2 {
        refuse_hosts(request)?;
        if named.is_some() {
            is_proxied.store(true, Ordering::Relaxed);
        } else if is_proxied.load(Ordering::Relaxed) && request.method() != Method::CONNECT {
            let named = named_before(request);
            named.into_iter().for_each(|named| _ = request.extensions_mut().insert(named));
        }
    } else if let Some(authority) = named {
        let is_https = request.uri().scheme() == Some(&Scheme::HTTPS);
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target.map(Uri::from).unwrap_or_default();
        let scheme = if is_https { "https" } else { "http" };
        request.extensions_mut().insert(NamedHost { scheme, authority });
    }
    host.into_iter().for_each(|host| _ = request.headers_mut().insert(HOST, host));
    Ok(())
}

/// Answers a request that cannot be read as it is meant.
fn refuse<H: Handler>(
    handler: &H,
    request: &Request<Incoming>,
    via: Option<&Via>,
    why: &str,
) -> Answer {
    let [method, target] = [request.method().to_string(), request.uri().to_string()];
    handler.unread(via, &Unread::Head { method, target, why: why.to_owned() });
    let mut refusal = problem(StatusCode::BAD_REQUEST, "request", why);
    refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    refusal
}

/// Refuses a request that does not name one host, and says why.
fn refuse_hosts(request: &Request<Incoming>) -> Result<(), &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() != Version::HTTP_11 => Ok(()),
        (Some(host), None) if is_host(host.as_bytes()) => Ok(()),
        (Some(_), None) => Err("the `host` of a request names a host"),
        _ => Err("a request has one `host`"),
    }
}

/// Whether a field `host` is a host with a port or without, or empty.
fn is_host(field: &[u8]) -> bool {
    let is_port =
        |rest: &str| rest.strip_prefix(':').unwrap_or(rest).bytes().all(|b| b.is_ascii_digit());
    let names = |it: Authority| it.as_str().strip_prefix(it.host()).is_some_and(is_port);
    field.is_empty() || Authority::try_from(field).is_ok_and(names)
}
