//! The body of a replayed answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::meanwhile::Hold;
use crate::cassette::{self, End};
use crate::serve::server::Cut;

/// The recorded chunks, each a frame of its own, each when it is due.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) chunks: std::vec::IntoIter<(Option<Instant>, Bytes)>,
    pub(super) trailers: Option<HeaderMap>,
    /// Whether the recording was cut short, and replay is too.
    pub(super) ending: Ending,
    pub(super) timer: Option<Pin<Box<Sleep>>>,
    /// What holds back what came only after something else was asked, and how many chunks were sent.
    pub(super) hold: Option<Hold>,
    pub(super) sent: usize,
    /// The announced length, where there is one: nothing else is sent as the framing then.
    pub(super) length: Option<u64>,
    /// Whether each piece is sent on its own: hyper sends what it has when there is nothing more.
    pub(super) apart: Option<Sent>,
}

/// Whether what came before was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Yes,
    No,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ending {
    #[default]
    Whole,
    Cut,
}

impl Ending {
    pub(super) fn of(end: End) -> Self {
        if end == End::Complete { Self::Whole } else { Self::Cut }
    }
}

impl Played {
    fn poll_hold(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        let is_end = self.chunks.as_slice().is_empty();
        match &mut self.hold {
            Some(hold) if is_end => hold.poll_end(context),
            Some(hold) => hold.poll(self.sent, context),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Gives the rest the names that have come up while it was held back.
    fn name(&mut self) {
        let Some(named) = self.hold.as_mut().and_then(Hold::named) else { return };
        let named: Vec<Bytes> = match named {
            cassette::Body::Whole(bytes) => vec![bytes],
            cassette::Body::Stream(chunks) => chunks.into_iter().map(|it| it.bytes).collect(),
        };
        let rest = self.chunks.as_slice();
        let Some(sent) = named.len().checked_sub(rest.len()) else { return };
        let named = &named[sent..];
        let before: usize = rest.iter().map(|(_, bytes)| bytes.len()).sum();
        let now: usize = named.iter().map(Bytes::len).sum();
        // An announced length holds.
        if self.length.is_none() || before == now {
            let dues = rest.iter().map(|(due, _)| *due);
            let named = dues.zip(named.iter().cloned());
            self.chunks = named.collect::<Vec<_>>().into_iter();
        }
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some((Some(due), _)) = self.chunks.as_slice().first() else {
            return Poll::Ready(());
        };
        let due = *due;
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
        if let Err(cut) = ready!(self.poll_hold(context)) {
            return Poll::Ready(Some(Err(cut)));
        }
        self.name();
        ready!(self.poll_due(context));
        if self.apart == Some(Sent::No) {
            self.apart = Some(Sent::Yes);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some((_, bytes)) = self.chunks.next() {
            self.sent += 1;
            self.apart = self.apart.map(|_| Sent::No);
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
