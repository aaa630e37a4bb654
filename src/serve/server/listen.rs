//! The accept loop.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::Answer;
use crate::error::{Error, Kind, Result};

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. It is dropped if the client leaves before the answer's head was sent.
    fn handle(self: Arc<Self>, request: Request<Incoming>) -> impl Future<Output = Answer> + Send;
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
            Error::new(Kind::Bind { address: address.to_string() })
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
            .map_err(|source| Error::new(Kind::Bind { address: "?".to_owned() }).because(source))?;
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
    finishing: oneshot::Receiver<Infallible>,
) {
    // A chunk is to leave when it is written, not when the next one fills a segment.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, Infallible>(handler.handle(request).await) }
    });
    let connection = http1::Builder::new()
        .preserve_header_case(names == FieldNames::AsSent)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        biased;
        // A client that leaves, or an answer that is cut on purpose, ends in an error here; whoever
        // produces the answer has been told by then.
        _ = connection.as_mut() => return,
        _ = finishing => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
