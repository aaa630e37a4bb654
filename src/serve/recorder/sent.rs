//! Requests that are copied to a take while they pass.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::take::Take;
use super::upstream::Outgoing;

/// The client left before its request was complete.
#[derive(Debug, Clone, Copy)]
pub struct Abandoned;

impl std::fmt::Display for Abandoned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the client left before its request was complete")
    }
}

impl std::error::Error for Abandoned {}

/// A request's body on its way to the server.
///
/// Where the server is not there, or answers before it was asked to the end, hyper drops it; what is
/// recorded is then read to its end on a task of its own, for the grace time.
#[derive(Debug)]
pub(super) struct Sent {
    /// Taken when the rest is read elsewhere.
    source: Option<Source>,
}

#[derive(Debug)]
struct Source {
    body: Outgoing,
    take: Option<Arc<Take>>,
    grace: Duration,
}

impl Sent {
    pub(super) fn new(body: Outgoing, take: Option<Arc<Take>>, grace: Duration) -> Self {
        let source = Source { body, take, grace };
        source.note_end();
        Self { source: Some(source) }
    }
}

impl Source {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Abandoned>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let Some(take) = &self.take else { return polled };
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    take.sent(bytes);
                }
                self.note_end();
                take.write();
            }
            Poll::Ready(Some(Err(_))) => take.given_up(),
            Poll::Ready(None) => take.asked(),
            Poll::Pending => take.awaits_more(),
        }
        polled
    }

    /// A body whose length is known may never be polled for its end.
    fn note_end(&self) {
        if let Some(take) = self.take.as_ref().filter(|_| self.body.is_end_stream()) {
            take.asked();
        }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Abandoned;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Abandoned>>> {
        self.source.as_mut().map_or(Poll::Ready(None), |source| source.poll(context))
    }

    fn is_end_stream(&self) -> bool {
        self.source.as_ref().is_none_or(|source| source.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.source.as_ref().map_or_else(SizeHint::default, |source| source.body.size_hint())
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let Some(source) = self.source.take() else { return };
        let Some(take) = source.take.clone().filter(|take| take.is_arriving()) else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(read_on(source, take))),
            Err(_) => take.given_up(),
        }
    }
}

/// Reads the rest of a request that the server does not read.
async fn read_on(mut source: Source, take: Arc<Take>) {
    let grace = source.grace;
    let rest = async {
        while let Some(Ok(_)) = std::future::poll_fn(|context| source.poll(context)).await {}
    };
    let _ = tokio::time::timeout(grace, rest).await;
    take.given_up();
}
