//! What makes a connection go on.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::text::words::shown;

/// A connection that goes on in a task of its own, and when whoever waits for what comes on it says so.
///
/// # Rationale
///
/// hyper gives out one piece of an answer at a time, and reads the next one in the task of the connection.
/// With a task for the answer, each piece wakes both, and goes to the journal and to the client alone.
/// What was read already comes in one go when the reader makes the connection go on by itself.
#[derive(Debug, Clone)]
pub(super) struct Driver(Arc<Mutex<Driven>>);

struct Driven {
    /// Until it has ended.
    connection: Option<Running>,
    outcome: Option<hyper::Result<()>>,
    /// The task of its own, which is woken for it.
    task: Waker,
}

type Running = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

impl Driver {
    pub(super) fn new(
        connection: impl Future<Output = hyper::Result<()>> + Send + 'static,
    ) -> Self {
        let connection: Running = Box::pin(connection);
        let task = Waker::noop().clone();
        Self(Arc::new(Mutex::new(Driven { connection: Some(connection), outcome: None, task })))
    }

    /// Lets the connection go on, unless that is just happening.
    pub(super) fn go_on(&self) {
        if let Ok(mut driven) = self.0.try_lock() {
            let task = driven.task.clone();
            driven.go_on(&mut Context::from_waker(&task));
        }
    }
}

impl Driven {
    fn go_on(&mut self, context: &mut Context<'_>) {
        let Some(connection) = &mut self.connection else { return };
        if let Poll::Ready(outcome) = connection.as_mut().poll(context) {
            (self.connection, self.outcome) = (None, Some(outcome));
            self.task.wake_by_ref();
        }
    }
}

impl Future for Driver {
    type Output = hyper::Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        let mut driven = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        driven.task.clone_from(context.waker());
        driven.go_on(context);
        driven.outcome.take().map_or(Poll::Pending, Poll::Ready)
    }
}

shown!(Debug: Driven, it => "Driven {{ ended: {:?}, .. }}", it.connection.is_none());
