//! What strict matching would have refused.

use std::sync::Mutex;

use super::recorded::Recorded;
use crate::cassette::Request;
use crate::cassette::exchanges::ExchangePart;
use crate::compare::matching::{Index, Mismatch, Playlist};
use crate::config::Compare;
use crate::serve::lock;

/// A run that is compared strictly beside one that is not. It answers nothing.
///
/// # Rationale
///
/// Whether strict matching lets a request pass depends on what the run has bound before. So it is a run
/// of its own, and not a comparison of two requests. What it refuses it takes for played, so that what
/// comes next is compared as if nothing had drifted.
#[derive(Debug)]
pub(super) struct Drift {
    index: Index,
    state: Mutex<(Playlist, Vec<Mismatch>)>,
}

impl Drift {
    pub(super) fn of(recorded: &Recorded) -> Self {
        let rules = recorded.index.rules().clone().compare(Compare::All);
        let index = Index::of(recorded.played(), rules);
        let playlist = Playlist::new(&index);
        Self { index, state: Mutex::new((playlist, Vec::new())) }
    }

    /// Compares a request strictly that was answered by an exchange.
    pub(super) fn note(&self, recorded: &Recorded, asked: &Request, exchange: usize) {
        let mut state = lock(&self.state);
        let (playlist, drifted) = &mut *state;
        let plain = asked.readable();
        let read = self.index.read(asked, &plain);
        let taken = match recorded.spot(exchange).part {
            ExchangePart::Frame(_) => playlist.take_next(&self.index, &read),
            ExchangePart::Request | ExchangePart::Rest => playlist.take(&self.index, &read),
        };
        if taken.is_some() {
            return;
        }
        let (cassette, veil) = (recorded.played(), Recorded::veil());
        let mismatch = Mismatch::beside(exchange, asked, cassette, &self.index, playlist, &veil);
        playlist.skip(&self.index, exchange);
        drifted.push(recorded.numbered(mismatch));
    }

    /// Lets the run begin anew. What was refused stays noted.
    pub(super) fn reset(&self) {
        lock(&self.state).0 = Playlist::new(&self.index);
    }

    /// What was refused since this was asked last.
    pub(super) fn take(&self) -> Vec<Mismatch> {
        let mut state = lock(&self.state);
        std::mem::take(&mut state.1)
    }
}
