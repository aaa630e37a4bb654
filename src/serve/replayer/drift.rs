//! What strict matching would have refused.

use std::sync::Mutex;

use super::recorded::Recorded;
use crate::cassette::{Cassette, Request};
use crate::compare::matching::{Index, Mismatch, Playlist};
use crate::config::{Compare, Rules};
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
    pub(super) fn of(cassette: &Cassette, rules: &Rules) -> Self {
        let rules = rules.clone().compare(Compare::All);
        let index = Index::of(cassette, rules);
        let playlist = Playlist::new(&index);
        Self { index, state: Mutex::new((playlist, Vec::new())) }
    }

    /// Compares a request strictly that was answered by an interaction.
    pub(super) fn note(&self, recorded: &Recorded, asked: &Request, number: usize) {
        let mut state = lock(&self.state);
        let (playlist, drifted) = &mut *state;
        let plain = asked.readable();
        if playlist.take(&self.index, &self.index.read(asked, &plain)).is_some() {
            return;
        }
        let (cassette, veil) = (&recorded.cassette, Recorded::veil());
        let mismatch = Mismatch::beside(number, asked, cassette, &self.index, playlist, &veil);
        playlist.skip(&self.index, number);
        drifted.push(mismatch);
    }

    /// What was refused since this was asked last.
    pub(super) fn take(&self) -> Vec<Mismatch> {
        let mut state = lock(&self.state);
        std::mem::take(&mut state.1)
    }
}
