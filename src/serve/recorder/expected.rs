//! Bodies that the server is asked for first: `Expect: 100-continue`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Version;
use http::request::Parts;
use http_body::{Body, SizeHint};
use tokio::time::Sleep;

use super::forward::RequestBody;
use super::sent::Abandoned;
use crate::serve::server::{Polled, is_asked_for_first};

/// A server that knows nothing of it says nothing. So long most clients wait for it too.
const PATIENCE: Duration = Duration::from_secs(1);

/// What lets the body of a request go, or not. It stands among the extensions of the request.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate(Arc<Mutex<(BodyState, Option<Waker>)>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum BodyState {
    #[default]
    Waiting,
    Open,
    /// The server has answered without it. While the answer comes, hyper must not see that the body breaks
    /// off: it would close the connection.
    Answered,
    Closed,
}

impl Gate {
    /// One before a body that the client sends only if it is wanted.
    pub(super) fn before(head: &Parts, body: &RequestBody) -> Option<Self> {
        let is_to_come = matches!(body, RequestBody::Arriving(body) if !body.is_end_stream());
        let is_asked = is_asked_for_first(&head.headers) && head.version == Version::HTTP_11;
        (is_to_come && is_asked).then(Self::default)
    }

    /// The server wants the body.
    pub(super) fn open(&self) {
        self.turn(BodyState::Open);
    }

    /// The server has answered. Unless it wanted the body before, nothing is sent, and the body is over when
    /// what is given here is dropped.
    pub(super) fn answered(self) -> Unwanted {
        self.turn(BodyState::Answered);
        Unwanted(self)
    }

    fn turn(&self, state: BodyState) {
        let mut gate = self.gate();
        if matches!(
            (gate.0, state),
            (BodyState::Waiting, _) | (BodyState::Answered, BodyState::Closed)
        ) {
            gate.0 = state;
            gate.1.iter().for_each(Waker::wake_by_ref);
        }
    }

    fn gate(&self) -> MutexGuard<'_, (BodyState, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer to a request whose body may still wait.
#[derive(Debug)]
pub(super) struct Unwanted(Gate);

impl Unwanted {
    /// Whether the body was never asked for.
    pub(super) fn is_unsent(&self) -> bool {
        self.0.gate().0 == BodyState::Answered
    }
}

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.turn(BodyState::Closed);
    }
}

/// A body that comes when the server wants it.
pub(super) struct Expected<B> {
    body: B,
    gate: Gate,
    patience: Pin<Box<Sleep>>,
}

impl<B> Expected<B> {
    pub(super) fn new(body: B, gate: Gate) -> Self {
        Self { body, gate, patience: Box::pin(tokio::time::sleep(PATIENCE)) }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Expected<B> {
    type Data = Bytes;
    type Error = Abandoned;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled<Abandoned> {
        if self.patience.as_mut().poll(context).is_ready() {
            self.gate.open();
        }
        let state = {
            let mut gate = self.gate.gate();
            gate.1 = Some(context.waker().clone());
            gate.0
        };
        match state {
            BodyState::Waiting | BodyState::Answered => Poll::Pending,
            BodyState::Open => Pin::new(&mut self.body).poll_frame(context).map_err(|_| Abandoned),
            BodyState::Closed => Poll::Ready(Some(Err(Abandoned))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
