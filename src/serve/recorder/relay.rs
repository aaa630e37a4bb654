//! A WebSocket on its way through.

use std::sync::Arc;

use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderMap, HeaderValue};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf, split};

use super::take::Take;
use crate::cassette::{End, Headers, Peer};
use crate::serve::websocket::{Compression, Event, Reader, Strictness};

/// So much is read at once.
const BUFFER: usize = 4 * 1024;

type Io = TokioIo<Upgraded>;

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
    take: Option<Arc<Take>>,
) {
    let (Ok(client), Ok(server)) = tokio::join!(client, server) else {
        if let Some(take) = take {
            take.end(End::ServerClosed);
        }
        return;
    };
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_server, to_server) = split(TokioIo::new(server));
    let tap = |peer| Tap {
        reader: Reader::new(Strictness::Onlooker, compression.and_then(|it| it.inflate(peer))),
        peer,
        take: take.clone(),
    };
    let asking = pump(from_client, to_server, tap(Peer::Client));
    let answering = pump(from_server, to_client, tap(Peer::Server));
    tokio::join!(asking, answering);
}

/// What looks at a copy.
struct Tap {
    reader: Reader,
    peer: Peer,
    take: Option<Arc<Take>>,
}

impl Tap {
    /// Notes what has come, and writes it: it is passed on next.
    fn see(&mut self, mut bytes: &[u8]) {
        let Some(take) = &self.take else { return };
        // What cannot be read is not recorded; the other side will close the connection over it.
        while let Ok(Some(event)) = self.reader.next(&mut bytes) {
            if let Event::Frame(content, fragments) = event {
                take.frame(self.peer, content, fragments);
            }
        }
        take.write();
    }
}

/// Passes on what one side sends. The first side that ends without a close has broken off.
async fn pump(mut from: ReadHalf<Io>, mut to: WriteHalf<Io>, mut tap: Tap) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        tap.see(&buffer[..length]);
        let passed = async { to.write_all(&buffer[..length]).await.and(to.flush().await) };
        if passed.await.is_err() {
            break;
        }
    }
    if let Some(take) = &tap.take {
        take.end_frames(tap.peer);
    }
    let _ = to.shutdown().await;
}

/// The head of a request as it is recorded.
pub(super) fn recorded(headers: &HeaderMap) -> Headers {
    super::end_to_end::recorded(&noted(headers.clone()))
}
