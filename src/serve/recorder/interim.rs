//! What a server says before its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderMap, StatusCode};
use tokio::sync::Notify;

use super::end_to_end::{of_response, recorded};
use super::expected::Gate;
use super::take::Take;
use crate::serve::server::{Early, KeptPlace, Outward};

/// A server that says more than so many things before its answer never comes to it.
pub(super) const MOST: usize = 100;

/// How often a server has said something before its answer, and who is to know that it was too often. It stands among
/// the extensions of the request.
#[derive(Debug, Clone, Default)]
pub(super) struct Count(Arc<(AtomicUsize, Notify)>);

impl Count {
    /// Counts one more. Gives whether it was one too many.
    fn is_full(&self) -> bool {
        let (count, full) = &*self.0;
        let is_full = count.fetch_add(1, Ordering::Relaxed) >= MOST;
        if is_full {
            full.notify_one();
        }
        is_full
    }

    /// Waits until it was one too many.
    pub(super) async fn full(&self) {
        self.0.1.notified().await;
    }
}

/// What becomes of what a server says before its answer.
#[derive(Debug)]
pub(super) struct Interim {
    pub(super) early: Option<Early>,
    pub(super) gate: Option<Gate>,
    pub(super) take: Option<Arc<Take>>,
    pub(super) outward: Option<Outward>,
    /// Where the client sees the server.
    pub(super) place: KeptPlace,
    pub(super) count: Count,
}

impl Interim {
    pub(super) fn hear(&self, status: StatusCode, headers: &HeaderMap) {
        if self.count.is_full() {
            return;
        }
        let gate = self.gate.iter().filter(|_| status == StatusCode::CONTINUE);
        gate.for_each(Gate::open);
        // Whoever waits for the body says by himself that it may come.
        let Some(early) = self.early.as_ref().filter(|_| status != StatusCode::CONTINUE) else {
            return;
        };
        let mut headers = of_response(headers);
        if let Some(take) = &self.take {
            take.interim(status.as_u16(), recorded(&headers));
        }
        self.place.place().keep_below(&mut headers);
        self.outward.iter().for_each(|outward| outward.fields(&mut headers));
        early.say(status, &headers);
    }
}
