//! One connection to the live server.

use std::error::Error as StdError;
use std::time::Duration;

use http::header::{EXPECT, HOST};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::watch;
use tokio_util::io::InspectReader;
use tower_service::Service as _;

use super::driver::Driver;
use super::expected::Gate;
use super::fault::ServerFault;
use super::tls::Connector;
use super::upstream::Outgoing;
use crate::serve::server::{Ear, MOST_FIELDS, without};

/// A connection to the live server, driven by a task of its own.
#[derive(Debug)]
pub(super) struct Connection {
    sender: Sender,
    /// Why the connection ended, once it has.
    ended: watch::Receiver<Option<ServerFault>>,
}

#[derive(Debug)]
enum Sender {
    /// One request at a time.
    Http1(http1::SendRequest<Outgoing>, Driver, Ear),
    /// Many at a time.
    Http2(http2::SendRequest<Outgoing>),
}

/// Why a request was not answered.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) fault: ServerFault,
    /// The request, if nothing of it was sent.
    pub(super) unsent: Option<Box<Request<Outgoing>>>,
}

/// What a request and its connection come to: the answer, and the connection if it goes on.
type Answered<S> = Result<(Response<Incoming>, Option<S>), TrySendError<Request<Outgoing>>>;

impl Connection {
    /// Connects to the server at `address`. `ended` is called when the connection is gone.
    pub(super) async fn open(
        mut connector: Connector,
        address: Uri,
        speaks_http2: bool,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self, ServerFault> {
        let ready = std::future::poll_fn(|context| connector.poll_ready(context)).await;
        ready.map_err(refused)?;
        let io = connector.call(address).await.map_err(refused)?;
        let broken = |error: hyper::Error| ServerFault::of_asking(&error);
        if speaks_http2 || io.connected().is_negotiated_h2() {
            let builder = http2::Builder::new(TokioExecutor::new());
            let (sender, connection) = builder.handshake(io).await.map_err(broken)?;
            return Ok(Self { sender: Sender::Http2(sender), ended: drive(connection, ended) });
        }
        let mut builder = http1::Builder::new();
        builder.preserve_header_case(true).max_headers(MOST_FIELDS);
        // Old servers still fold long lines, and every client takes them (RFC 9112, section 5.2).
        builder.allow_obsolete_multiline_headers_in_responses(true);
        let ear = Ear::default();
        let io = InspectReader::new(TokioIo::new(io), {
            let ear = ear.clone();
            move |bytes: &[u8]| ear.hear(bytes)
        });
        let (sender, connection) = builder.handshake(TokioIo::new(io)).await.map_err(broken)?;
        let driver = Driver::new(connection.with_upgrades());
        let ended = drive(driver.clone(), ended);
        Ok(Self { sender: Sender::Http1(sender, driver, ear), ended })
    }

    /// Sends a request and waits for the head of the answer, which holds the [`Driver`] of its body. The
    /// connection is given back if it goes on.
    pub(super) async fn send(
        self,
        mut request: Box<Request<Outgoing>>,
    ) -> Result<(Response<Incoming>, Option<Self>), Unanswered> {
        let mut ended = self.ended;
        let address = request.uri().clone();
        let outcome = match self.sender {
            Sender::Http1(mut sender, driver, ear) => {
                ear.listen();
                let answer = sender.try_send_request(of_http1(*request));
                driver.go_on();
                let answered = answered(answer, sender, &mut ended).await;
                answered.map(|(mut response, sender)| {
                    response.extensions_mut().insert(driver.clone());
                    response.extensions_mut().insert(ear.heard());
                    ear.chunks().map(|sizes| response.extensions_mut().insert(sizes));
                    (response, sender.map(|sender| Sender::Http1(sender, driver, ear)))
                })
            }
            Sender::Http2(mut sender) => {
                // hyper does not tell what the server says before the answer.
                request.headers_mut().remove(EXPECT);
                request.extensions().get::<Gate>().iter().for_each(|gate| gate.open());
                let answer = sender.try_send_request(*request);
                let answered = answered(answer, sender, &mut ended).await;
                answered.map(|(response, sender)| (response, sender.map(Sender::Http2)))
            }
        };
        match outcome {
            Ok((response, sender)) => Ok((response, sender.map(|sender| Self { sender, ended }))),
            Err(mut error) => {
                let unsent = error.take_message().map(|mut request| {
                    *request.uri_mut() = address;
                    Box::new(request)
                });
                let fault = ServerFault::of_asking(&error.into_error());
                // What ended the connection is not known to a request that it never saw, nor always to
                // one that it was just sending.
                let fault = match fault {
                    ServerFault::Closed => why(&mut ended).await.unwrap_or(ServerFault::Closed),
                    known => known,
                };
                Err(Unanswered { fault, unsent })
            }
        }
    }

    /// One more way to use it, if it takes many requests at a time.
    pub(super) fn shared(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(..) => None,
            Sender::Http2(sender) => {
                Some(Self { sender: Sender::Http2(sender.clone()), ended: self.ended.clone() })
            }
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender, ..) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender, ..) => sender.is_ready(),
            Sender::Http2(sender) => sender.is_ready(),
        }
    }

    /// Waits until the last answer is read, or the connection is gone.
    pub(super) async fn ready(&mut self) {
        let _ = match &mut self.sender {
            Sender::Http1(sender, ..) => sender.ready().await,
            Sender::Http2(sender) => sender.ready().await,
        };
    }
}

/// Waits for an answer.
///
/// # Rationale
///
/// hyper loses a request that reaches a connection in the moment in which it ends: it stays in a
/// channel that nobody reads, until nobody can write to it any more. So the end of the connection is
/// waited for too, and the sender dropped then.
async fn answered<S>(
    answer: impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Outgoing>>>>,
    sender: S,
    ended: &mut watch::Receiver<Option<ServerFault>>,
) -> Answered<S> {
    tokio::pin!(answer);
    tokio::select! {
        biased;
        outcome = &mut answer => return outcome.map(|response| (response, Some(sender))),
        _ = ended.wait_for(Option::is_some) => drop(sender),
    }
    answer.await.map(|response| (response, None))
}

/// Why a connection ended that is ending: whoever drives it says so a moment later.
async fn why(ended: &mut watch::Receiver<Option<ServerFault>>) -> Option<ServerFault> {
    let told = tokio::time::timeout(MOMENT, ended.wait_for(Option::is_some)).await;
    told.ok()?.ok()?.clone()
}

/// So long at most.
const MOMENT: Duration = Duration::from_secs(1);

/// Drives a connection on a task of its own, and tells why it ended.
fn drive(
    connection: impl Future<Output = hyper::Result<()>> + Send + 'static,
    ended: impl FnOnce() + Send + 'static,
) -> watch::Receiver<Option<ServerFault>> {
    let (tell, told) = watch::channel(None);
    tokio::spawn(async move {
        let outcome = connection.await;
        ended();
        let fault =
            outcome.map_or_else(|error| ServerFault::of_asking(&error), |()| ServerFault::Closed);
        let _ = tell.send(Some(fault));
    });
    told
}

/// With TLS and without, the connectors have errors of different types.
fn refused(error: impl Into<Box<dyn StdError + Send + Sync>>) -> ServerFault {
    ServerFault::of_connecting(&*error.into())
}

/// The request as HTTP/1.1 writes it: the host is a field, the first one (RFC 9110, section 7.2), and not part of the
/// target.
fn of_http1(mut request: Request<Outgoing>) -> Request<Outgoing> {
    let authority = request.uri().authority().map(|it| HeaderValue::from_str(it.as_str()));
    let others = std::mem::take(request.headers_mut());
    let host = others.get(HOST).cloned().or(authority.and_then(Result::ok));
    let headers = request.headers_mut();
    headers.extend(host.map(|host| (HOST, host)));
    headers.extend(without(others, |name| *name == HOST));
    let target = request.uri().path_and_query().cloned();
    let target = target.unwrap_or_else(|| PathAndQuery::from_static("/"));
    if *request.method() != Method::CONNECT {
        *request.uri_mut() = target.into();
    }
    request
}
