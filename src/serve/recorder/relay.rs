//! A WebSocket on its way through, or lines.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderMap, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};

use tokio::time::timeout;

use super::prompt::AT_ONCE;
use super::reframed::Reframed;
use super::take::Take;
use crate::cassette::{End, Headers, Peer};
use crate::serve::server::Rewriter;
use crate::serve::websocket::{Compression, Reader, SocketEvent, Strictness, TOO_BIG};
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
    (take, addresses): (Option<Arc<Take>>, Option<[Rewriter; 2]>),
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
        let inward = addresses.as_ref().map(|[inward, _]| inward.clone());
        let reframed = addresses.clone().map(|both| {
            let [inward, outward] = both;
            let rewriter = if peer == Peer::Client { inward } else { outward };
            Reframed::new(peer, rewriter, compression.is_some())
        });
        Tap { reader, peer, take: take.clone(), inward, reframed }
    };
    // What a server refuses to read was not said to it, nor will it be in replay.
    let asking = pump(from_client, to_server, tap(Peer::Client, Strictness::Server));
    let answering = pump(from_server, to_client, tap(Peer::Server, Strictness::Onlooker));
    let _ = tokio::join!(asking, answering);
}

/// What looks at a copy.
pub(super) struct Tap {
    pub(super) reader: FrameReader,
    pub(super) peer: Peer,
    pub(super) take: Option<Arc<Take>>,
    /// What puts the server's address in the place of ours.
    pub(super) inward: Option<Rewriter>,
    /// What is passed on in the place of what has come, if not that.
    pub(super) reframed: Option<Reframed>,
}

impl Tap {
    /// Notes what has come, and writes it. Gives what is passed on next.
    fn see<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let mut rest = bytes;
        let mut from = 0;
        while let Some(event) = self.next(&mut rest) {
            if let Some(reframed) = &mut self.reframed {
                let to = bytes.len() - rest.len();
                reframed.event(&bytes[from..to], &event, self.reader.is_within());
                from = to;
            }
            self.note(event);
        }
        if let Some(take) = &self.take {
            take.write();
        }
        let Some(reframed) = &mut self.reframed else { return bytes.into() };
        reframed.rest(&bytes[from..], self.reader.awaits_text());
        reframed.take().into()
    }

    /// The next that is said, if it can be read.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<SocketEvent> {
        self.reader.next(bytes).unwrap_or_else(|violation| {
            let is_lost = self.reframed.as_mut().is_some_and(Reframed::lose);
            // The other side will close the connection over anything else.
            let is_told = is_lost || violation.code == TOO_BIG;
            if let Some(take) = self.take.as_ref().filter(|_| is_told) {
                take.lose(violation.what);
            }
            None
        })
    }

    /// Reads what comes next. What waits for it, waits for a moment.
    async fn read(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
        buffer: &mut [u8],
    ) -> io::Result<Option<usize>> {
        if self.reframed.as_ref().is_some_and(Reframed::is_waiting) {
            timeout(AT_ONCE, from.read(buffer)).await.ok().transpose()
        } else {
            from.read(buffer).await.map(Some)
        }
    }

    fn note(&self, event: SocketEvent) {
        if let (Some(take), SocketEvent::Frame(content, fragments)) = (&self.take, event) {
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

/// Passes on what one side sends until it ends, or the other takes no more: tells which of them. The first side of a
/// WebSocket that ends without a close has broken off.
pub(super) async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut tap: Tap,
) -> Peer {
    let mut buffer = vec![0; BUFFER];
    let left = loop {
        let bytes = match (tap.read(&mut from, &mut buffer).await, &mut tap.reframed) {
            (Ok(Some(length @ 1..)), _) => tap.see(&buffer[..length]),
            (Ok(None), Some(reframed)) => {
                reframed.give_up();
                reframed.take().into()
            }
            _ => break tap.peer,
        };
        let passed = async { to.write_all(&bytes).await.and(to.flush().await) };
        if passed.await.is_err() {
            break tap.peer.other();
        }
        if tap.reframed.as_ref().is_some_and(Reframed::is_lost) {
            break tap.peer;
        }
    };
    tap.end();
    if let Some(reframed) = &mut tap.reframed {
        reframed.give_up();
        let _ = to.write_all(&reframed.take()).await;
    }
    let _ = to.shutdown().await;
    left
}

/// The head of a request as it is recorded.
pub(super) fn recorded(headers: &HeaderMap) -> Headers {
    super::end_to_end::recorded(&noted(headers.clone()))
}

#[cfg(test)]
mod tests {
    use http::header::SEC_WEBSOCKET_EXTENSIONS;

    use super::*;
    use crate::cassette::Content;
    use crate::serve::websocket::Writer;

    const FROM: &str = "http://127.0.0.1:8283";
    const TO: &str = "http://localhost:9/name/-";

    fn text(text: String, fragments: &[usize]) -> SocketEvent {
        SocketEvent::Frame(Content::Text(text.into()), fragments.to_vec())
    }

    /// What a side says of that address.
    fn events(address: &str) -> Vec<SocketEvent> {
        let closed = Content::Close { code: Some(1000), reason: "bye".to_owned() };
        vec![
            text("{}".to_owned(), &[]),
            SocketEvent::Ping(b"1".to_vec()),
            text(format!("at {}", address.replacen("http", "ws", 1)), &[]),
            text(format!("{address} in parts"), &[3, 9, 20]),
            SocketEvent::Pong(b"2".to_vec()),
            SocketEvent::Frame(Content::Binary(FROM.into()), Vec::new()),
            text(format!("at last {}", "and so on".repeat(20)), &[]),
            SocketEvent::Frame(closed, Vec::new()),
        ]
    }

    fn written(side: Peer, compression: Option<Compression>, events: &[SocketEvent]) -> Vec<u8> {
        let mut writer = match (side, compression) {
            (Peer::Server, Some(compression)) => Writer::new(compression.deflate()),
            _ => Writer::plain(side),
        };
        events.iter().for_each(|event| writer.event(event));
        writer.take()
    }

    /// What is read from what one side says.
    fn read(mut bytes: &[u8], side: Peer, compression: Option<Compression>) -> Vec<SocketEvent> {
        let strictness = match side {
            Peer::Client => Strictness::Server,
            Peer::Server => Strictness::Onlooker,
        };
        let mut reader = Reader::new(strictness, compression.and_then(|it| it.inflate(side)));
        let events = std::iter::from_fn(|| reader.next(&mut bytes).unwrap());
        let whole = |event| match event {
            SocketEvent::Frame(content, _) => SocketEvent::Frame(content, Vec::new()),
            control => control,
        };
        events.map(whole).collect()
    }

    #[test]
    fn addresses_in_frames_are_replaced_wherever_they_are_cut() {
        let agreed = http::HeaderValue::from_static("permessage-deflate");
        let agreed = HeaderMap::from_iter([(SEC_WEBSOCKET_EXTENSIONS, agreed)]);
        let compression = Compression::of_answer(&agreed);
        for (peer, compression) in
            [(Peer::Client, None), (Peer::Server, None), (Peer::Server, compression)]
        {
            let said = written(peer, compression, &events(FROM));
            let expected = read(&written(peer, None, &events(TO)), peer, None);
            for cut in 0..said.len() {
                let inflate = compression.and_then(|it| it.inflate(peer));
                let reader = FrameReader::Socket(Reader::new(Strictness::Onlooker, inflate));
                let reframed = Reframed::new(peer, Rewriter::new(FROM, TO), compression.is_some());
                let (take, inward, reframed) = (None, None, Some(reframed));
                let mut tap = Tap { reader, peer, take, inward, reframed };
                let mut passed = tap.see(&said[..cut]).into_owned();
                passed.extend_from_slice(&tap.see(&said[cut..]));

                assert_eq!(read(&passed, peer, compression), expected, "{peer:?}, cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_written_anew_ends_where_it_cannot_be_read_any_more() {
        let agreed = http::HeaderValue::from_static("permessage-deflate");
        let agreed = HeaderMap::from_iter([(SEC_WEBSOCKET_EXTENSIONS, agreed)]);
        let peer = Peer::Client;
        let inflate = Compression::of_answer(&agreed).and_then(|it| it.inflate(peer));
        let reader = FrameReader::Socket(Reader::new(Strictness::Server, inflate));
        let reframed = Some(Reframed::new(peer, Rewriter::new(FROM, TO), true));
        let mut tap = Tap { reader, peer, take: None, inward: None, reframed };
        let said = [text(format!("at {FROM}"), &[])];
        let unread = [0xff; 64];

        let passed = tap.see(&written(peer, None, &said)).into_owned();

        assert_eq!(read(&passed, peer, None), [text(format!("at {TO}"), &[])]);
        assert!(!tap.reframed.as_ref().unwrap().is_lost());
        assert!(tap.see(&unread).is_empty());
        assert!(tap.reframed.as_ref().unwrap().is_lost());
    }

    #[test]
    fn what_names_nobody_or_takes_its_time_goes_on_as_it_came() {
        let said = written(Peer::Server, None, &events("http://127.0.0.1:1"));
        let reader = FrameReader::Socket(Reader::new(Strictness::Onlooker, None));
        let reframed = Reframed::new(Peer::Server, Rewriter::new(FROM, TO), false);
        let (take, inward, reframed) = (None, None, Some(reframed));
        let mut tap = Tap { reader, peer: Peer::Server, take, inward, reframed };

        assert_eq!(*tap.see(&said), *said);
        let slow = written(Peer::Server, None, &[text(format!("at {FROM}"), &[])]);
        assert!(tap.see(&slow[..9]).is_empty());
        tap.reframed.as_mut().unwrap().give_up();
        let begun = tap.reframed.as_mut().unwrap().take();
        assert_eq!([&*begun, &*tap.see(&slow[9..])].concat(), slow);
    }
}
