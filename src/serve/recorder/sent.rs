//! Requests that are copied to a take while they pass.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, SizeHint};

use super::take::Take;
use super::upstream::Outgoing;
use crate::serve::lock;
use crate::serve::server::{Polled, Rewriter};
use crate::text::words::shown;

/// The client left before its request was complete.
#[derive(Debug, Clone, Copy)]
pub struct Abandoned;

shown!(Display: Abandoned, _ => "the client left before its request was complete");

impl std::error::Error for Abandoned {}

/// When a request last went on. It stands among the extensions of a request that has a body.
#[derive(Debug, Clone)]
pub(super) struct Progress(Arc<Mutex<SendStep>>);

#[derive(Debug, Clone, Copy)]
enum SendStep {
    /// The server took a piece at that time, and takes more or answers.
    Taken(Instant),
    /// The client is to say more.
    Awaited,
}

impl Progress {
    fn begin() -> Self {
        Self(Arc::new(Mutex::new(SendStep::Taken(Instant::now()))))
    }

    /// Until when a server may say nothing that has so long for each thing.
    pub(super) fn deadline(&self, silence: Duration) -> Instant {
        let last = match *lock(&self.0) {
            SendStep::Taken(at) => at,
            SendStep::Awaited => Instant::now(),
        };
        last + silence
    }

    fn note<T>(&self, polled: &Poll<T>) {
        *lock(&self.0) = match polled {
            Poll::Ready(_) => SendStep::Taken(Instant::now()),
            Poll::Pending => SendStep::Awaited,
        };
    }
}

/// A request's body on its way to the server.
///
/// Where the server is not there, or answers before it was asked to the end, hyper drops it; what is
/// recorded is then read to its end on a task of its own, for so long.
#[derive(Debug)]
pub(super) struct Sent {
    /// Taken when the rest is read elsewhere.
    source: Option<RequestSource>,
    /// Nothing where there is no body.
    progress: Option<Progress>,
}

#[derive(Debug)]
struct RequestSource {
    body: Outgoing,
    take: Option<Arc<Take>>,
    /// Puts the server's address in the place of ours in what is recorded, however it goes to the server: a
    /// request is compared so.
    inward: Option<Rewriter>,
    limit: Duration,
}

impl Sent {
    pub(super) fn new(
        body: Outgoing,
        take: Option<Arc<Take>>,
        inward: Option<Rewriter>,
        limit: Duration,
    ) -> Self {
        let mut source = RequestSource { body, take, inward, limit };
        source.note_end();
        let progress = (!source.body.is_end_stream()).then(Progress::begin);
        Self { source: Some(source), progress }
    }

    pub(super) fn progress(&self) -> Option<Progress> {
        self.progress.clone()
    }
}

impl RequestSource {
    fn poll(&mut self, context: &mut Context<'_>) -> Polled<Abandoned> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let Some(take) = self.take.clone() else { return polled };
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                match (frame.data_ref(), &mut self.inward) {
                    (Some(bytes), Some(inward)) => take.sent(&inward.push(bytes.clone())),
                    (Some(bytes), None) => take.sent(bytes),
                    (None, _) => {}
                }
                self.note_end();
                take.write();
            }
            Poll::Ready(Some(Err(_))) => self.give_up(),
            Poll::Ready(None) => self.complete(),
            Poll::Pending => take.awaits_more(),
        }
        polled
    }

    /// A body whose length is known may never be polled for its end.
    fn note_end(&mut self) {
        if self.body.is_end_stream() {
            self.complete();
        }
    }

    fn complete(&mut self) {
        self.note_rest();
        self.take.iter().for_each(Take::asked);
    }

    fn give_up(&mut self) {
        self.note_rest();
        self.take.iter().for_each(|take| take.given_up());
    }

    /// What may have been the beginning of our address.
    fn note_rest(&mut self) {
        if let Some((take, inward)) = self.take.as_ref().zip(self.inward.as_mut()) {
            take.sent(&inward.finish());
        }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Abandoned;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled<Abandoned> {
        let polled = self.source.as_mut().map_or(Poll::Ready(None), |source| source.poll(context));
        self.progress.iter().for_each(|progress| progress.note(&polled));
        polled
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
        let Some(mut source) = self.source.take() else { return };
        if !source.take.as_ref().is_some_and(|take| take.is_arriving()) {
            return;
        }
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(read_on(source))),
            Err(_) => source.give_up(),
        }
    }
}

/// Reads the rest of a request that the server does not read.
async fn read_on(mut source: RequestSource) {
    let limit = source.limit;
    let rest = async {
        while let Some(Ok(_)) = std::future::poll_fn(|context| source.poll(context)).await {}
    };
    let _ = tokio::time::timeout(limit, rest).await;
    source.give_up();
}
