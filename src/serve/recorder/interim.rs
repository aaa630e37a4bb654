//! What a server says before its answer.

use std::sync::Arc;

use http::{HeaderMap, StatusCode};

use super::end_to_end::{of_response, recorded};
use super::expected::Gate;
use super::take::Take;
use crate::serve::server::{Early, Rewriter, ServerPlace};

/// What becomes of what a server says before its answer.
#[derive(Debug)]
pub(super) struct Interim {
    pub(super) early: Option<Early>,
    pub(super) gate: Option<Gate>,
    pub(super) take: Option<Arc<Take>>,
    pub(super) outward: Option<Rewriter>,
    /// Where the client sees the server.
    pub(super) session: String,
    pub(super) server: String,
}

impl Interim {
    pub(super) fn hear(&self, status: StatusCode, headers: &HeaderMap) {
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
        let (session, server) = (&*self.session, &*self.server);
        ServerPlace { session, server, origin: None }.keep_below(&mut headers);
        self.outward.iter().for_each(|outward| outward.all_fields(&mut headers));
        early.say(status, &headers);
    }
}
