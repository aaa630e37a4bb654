//! The body of a replayed answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::server::Cut;

/// The recorded chunks, each a frame of its own, each when it is due.
#[derive(Debug)]
pub(super) struct Played {
    chunks: std::vec::IntoIter<(Duration, Bytes)>,
    trailers: Option<HeaderMap>,
    /// Whether the recording was cut short, and replay is too.
    ending: Ending,
    begun: Instant,
    timer: Option<Pin<Box<Sleep>>>,
    /// The announced length, where there is one.
    length: Option<u64>,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    Cut,
}

impl Played {
    /// Plays chunks that are due so long after `begun`.
    pub(super) fn new(begun: Instant, chunks: Vec<(Duration, Bytes)>, ending: Ending) -> Self {
        Self {
            chunks: chunks.into_iter(),
            trailers: None,
            ending,
            begun,
            timer: None,
            length: None,
        }
    }

    /// Announces the length: nothing else is sent as the framing then.
    pub(super) fn with_length(mut self, length: u64) -> Self {
        self.length = Some(length);
        self
    }

    pub(super) fn with_trailers(mut self, trailers: Option<HeaderMap>) -> Self {
        self.trailers = trailers;
        self
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some((due, _)) = self.chunks.as_slice().first() else { return Poll::Ready(()) };
        if due.is_zero() {
            return Poll::Ready(());
        }
        let due = self.begun + *due;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if timer.deadline() != due {
            timer.as_mut().reset(due);
        }
        timer.as_mut().poll(context)
    }
}

impl Body for Played {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        ready!(self.poll_due(context));
        if let Some((_, bytes)) = self.chunks.next() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if self.ending == Ending::Cut {
            return Poll::Ready(Some(Err(Cut)));
        }
        Poll::Ready(self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
