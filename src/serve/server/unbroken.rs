//! Answers of which all that came is sent before they are cut, or end with trailers.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::{HeaderMap, Version};
use http_body::{Body, SizeHint};

use super::early::{Early, Idle};
use super::{AnswerBody, Cut, Polled};
use crate::serve::lock;

/// A body that lets hyper send what it has before it is cut: hyper drops what is not written by then. The
/// same goes for trailers over HTTP/1.1, which hyper would not write.
#[derive(Debug)]
pub(super) struct Unbroken {
    body: AnswerBody,
    early: Early,
    version: Version,
    given: Arc<HeldPieces>,
    end: Option<End>,
    /// From when on nothing was left but to write it.
    since: Option<Idle>,
}

/// How a body ends of which all is given to hyper.
#[derive(Debug)]
enum End {
    Cut,
    Trailers(HeaderMap),
}

/// What hyper holds of a body over HTTP/2 until its client takes more.
#[derive(Debug, Default)]
struct HeldPieces {
    pieces: AtomicUsize,
    waiting: Mutex<Option<Waker>>,
}

/// A piece of a body.
struct Piece {
    bytes: Bytes,
    given: Arc<HeldPieces>,
}

impl HeldPieces {
    fn piece(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.pieces.fetch_add(1, Ordering::AcqRel);
        Bytes::from_owner(Piece { bytes, given: Arc::clone(self) })
    }

    /// Waits until hyper holds nothing.
    fn poll_taken(&self, context: &Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.waiting);
        if self.pieces.load(Ordering::Acquire) == 0 {
            return Poll::Ready(());
        }
        *waiting = Some(context.waker().clone());
        Poll::Pending
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if self.given.pieces.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.given.waiting).take().into_iter().for_each(Waker::wake);
        }
    }
}

impl Unbroken {
    pub(super) fn new(body: AnswerBody, early: Early, version: Version) -> Self {
        Self { body, early, version, given: Arc::default(), end: None, since: None }
    }
}

impl Body for Unbroken {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        if self.end.is_none() {
            let polled = ready!(Pin::new(&mut self.body).poll_frame(context));
            self.end = Some(match polled {
                Some(Err(Cut)) => End::Cut,
                Some(Ok(frame)) if frame.is_trailers() && self.version == Version::HTTP_11 => {
                    End::Trailers(frame.into_trailers().unwrap_or_default())
                }
                Some(Ok(frame)) if self.version == Version::HTTP_2 => {
                    return Poll::Ready(Some(Ok(frame.map_data(|data| self.given.piece(data)))));
                }
                polled => return Poll::Ready(polled),
            });
        }
        ready!(self.given.poll_taken(context));
        let since = self.since.unwrap_or_else(|| self.early.idle());
        self.since = Some(since);
        ready!(self.early.poll_written(since, context));
        Poll::Ready(match &self.end {
            Some(End::Trailers(fields)) => {
                self.early.end_with(fields);
                None
            }
            _ => Some(Err(Cut)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.end.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::time::Duration;

    use http::Request;
    use http_body::Frame;
    use hyper::body::Incoming;
    use tokio::net::TcpListener;

    use super::super::{Answer, FieldNames, Handler, Server};
    use super::*;

    const PIECES: usize = 256;
    const PIECE: usize = 64 * 1024;

    /// Answers with many pieces, and is cut behind the last.
    struct Cutting;

    /// How many pieces are to come.
    struct Pieces(usize);

    impl Handler for Cutting {
        async fn handle(self: Arc<Self>, _: Request<Incoming>) -> Answer {
            Answer::new(AnswerBody::streamed(Pieces(PIECES)))
        }
    }

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Cut;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Polled {
            let Some(left) = self.0.checked_sub(1) else { return Poll::Ready(Some(Err(Cut))) };
            self.0 = left;
            Poll::Ready(Some(Ok(Frame::data(vec![b'~'; PIECE].into()))))
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_gets_all_that_comes_before_a_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::start(listener, Arc::new(Cutting), FieldNames::AsMeant).unwrap();
        let address = server.address();

        let reading = tokio::task::spawn_blocking(move || {
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
            // The connection is full by then.
            std::thread::sleep(Duration::from_millis(50));
            let mut all = Vec::new();
            client.read_to_end(&mut all).unwrap();
            all
        });
        let all = reading.await.unwrap();

        assert_eq!(all.iter().filter(|byte| **byte == b'~').count(), PIECES * PIECE);
        assert!(!all.ends_with(b"0\r\n\r\n"));
    }
}
