//! Answers of which all that came is sent before they are cut, or end with trailers.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::early::Early;
use super::resettable::Link;
use super::{AnswerBody, Cut, Polled};

/// A body that lets hyper send what it has before it is cut: an error closes the connection with all that
/// is not written yet. The same goes for trailers, which hyper would not write.
#[derive(Debug)]
pub(super) struct Unbroken {
    body: AnswerBody,
    link: Link,
    /// What writes the trailers, over HTTP/1.1.
    early: Option<Early>,
    end: Option<End>,
}

/// How a body ends of which all is given to hyper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Cut,
    Trailers,
}

impl Unbroken {
    pub(super) fn new(body: AnswerBody, link: Link, early: Option<Early>) -> Self {
        Self { body, link, early, end: None }
    }

    /// How the body ends behind what it gave, if it is to be held until that is written.
    fn end(&self, given: &Option<Result<Frame<Bytes>, Cut>>) -> Option<End> {
        match given {
            Some(Err(Cut)) => Some(End::Cut),
            Some(Ok(frame)) => {
                self.early.as_ref()?.end_with(frame.trailers_ref()?);
                Some(End::Trailers)
            }
            None => None,
        }
    }
}

impl Body for Unbroken {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        match (self.end, &self.early) {
            (Some(End::Cut), _) => return self.link.poll_room(context).map(|()| Some(Err(Cut))),
            (Some(End::Trailers), Some(early)) => return early.poll_end().map(|()| None),
            _ => {}
        }
        let polled = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.end = self.end(&polled);
        if self.end.is_none() {
            return Poll::Ready(polled);
        }
        // hyper writes what it has when there is nothing more for the moment.
        context.waker().wake_by_ref();
        Poll::Pending
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
    use std::sync::Arc;
    use std::time::Duration;

    use http::Request;
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
