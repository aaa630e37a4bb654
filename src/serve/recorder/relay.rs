//! A WebSocket on its way through, or lines.

use std::sync::Arc;

use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderMap, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};

use super::take::Take;
use crate::cassette::{End, Headers, Peer};
use crate::serve::server::Rewriter;
use crate::serve::websocket::{Compression, Event, Reader, Strictness};
use crate::serve::wire::FrameReader;

/// So much is read at once.
const BUFFER: usize = 4 * 1024;

/// Asks for a WebSocket, with no extension that cannot be read.
pub(super) fn ask(headers: &mut HeaderMap) {
    Compression::keep_offers(headers);
    agree(headers);
}

/// The fields that a proxy does not pass on, and that change the protocol.
pub(super) fn agree(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

/// The fields as a cassette keeps them: the keys are others each time, and mean nothing.
pub(super) fn noted(mut headers: HeaderMap) -> HeaderMap {
    for name in [SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_ACCEPT, CONNECTION] {
        headers.remove(name);
    }
    headers
}

/// Passes on what both sides send until both have ended.
pub(super) async fn relay(
    (client, server): (OnUpgrade, OnUpgrade),
    compression: Option<Compression>,
    (take, inward): (Option<Arc<Take>>, Option<Rewriter>),
) {
    let (Ok(client), Ok(server)) = tokio::join!(client, server) else {
        if let Some(take) = take {
            take.end(End::ServerClosed);
        }
        return;
    };
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_server, to_server) = split(TokioIo::new(server));
    let tap = |peer, strictness| {
        let inflate = compression.and_then(|it| it.inflate(peer));
        let reader = FrameReader::Socket(Reader::new(strictness, inflate));
        Tap { reader, peer, take: take.clone(), inward: inward.clone() }
    };
    // What a server refuses to read was not said to it, nor will it be in replay.
    let asking = pump(from_client, to_server, tap(Peer::Client, Strictness::Server));
    let answering = pump(from_server, to_client, tap(Peer::Server, Strictness::Onlooker));
    tokio::join!(asking, answering);
}

/// What looks at a copy.
pub(super) struct Tap {
    pub(super) reader: FrameReader,
    pub(super) peer: Peer,
    pub(super) take: Option<Arc<Take>>,
    /// What puts the server's address in the place of ours.
    pub(super) inward: Option<Rewriter>,
}

impl Tap {
    /// Notes what has come, and writes it: it is passed on next.
    fn see(&mut self, mut bytes: &[u8]) {
        // What cannot be read is not recorded; the other side will close the connection over it.
        while let Ok(Some(event)) = self.reader.next(&mut bytes) {
            self.note(event);
        }
        if let Some(take) = &self.take {
            take.write();
        }
    }

    fn note(&self, event: Event) {
        if let (Some(take), Event::Frame(content, fragments)) = (&self.take, event) {
            let content = match &self.inward {
                Some(inward) => inward.message(content),
                None => content,
            };
            take.frame(self.peer, content, fragments);
        }
    }

    /// This side sends no more.
    fn end(&mut self) {
        if let Some(event) = self.reader.last() {
            self.note(event);
        }
        match (&self.take, &self.reader) {
            (Some(take), FrameReader::Socket(_)) => take.end_frames(self.peer),
            // The other side may go on.
            (Some(take), FrameReader::Lines(_)) => take.write(),
            (None, _) => {}
        }
    }
}

/// Passes on what one side sends. The first side of a WebSocket that ends without a close has broken off.
pub(super) async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut tap: Tap,
) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        tap.see(&buffer[..length]);
        let passed = async { to.write_all(&buffer[..length]).await.and(to.flush().await) };
        if passed.await.is_err() {
            break;
        }
    }
    tap.end();
    let _ = to.shutdown().await;
}

/// The head of a request as it is recorded.
pub(super) fn recorded(headers: &HeaderMap) -> Headers {
    super::end_to_end::recorded(&noted(headers.clone()))
}
