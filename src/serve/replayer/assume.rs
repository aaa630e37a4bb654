//! Requests that differ from recorded ones, in a run that is to prove the recording.

use super::replay::{Chosen, Replayer};
use crate::cassette::Request;
use crate::compare::matching::{Asked, Mismatch};
use crate::redact::Found;
use crate::serve::lock;

impl Replayer {
    /// The interaction that a request differs from in the fewest values, if the run is to prove the
    /// recording.
    pub(super) fn assume(&self, (asked, found): &(Request, Found)) -> Option<Chosen> {
        let proof = self.proof.as_ref()?;
        let recorded = self.recorded();
        let mut playlist = self.playlist();
        let number =
            lock(proof).assume(recorded.played(), &recorded.index, &mut playlist, asked)?;
        Some(self.chosen(number, found, &playlist))
    }

    pub(super) fn has_assumed(&self) -> bool {
        self.proof.as_ref().is_some_and(|proof| lock(proof).has_assumed())
    }

    /// Takes back what was assumed of a request that comes as it was recorded. Returns what had come before.
    pub(super) fn retract(&self, asked: &Asked<'_>) -> Vec<Request> {
        let Some(proof) = &self.proof else { return Vec::new() };
        let mut playlist = self.playlist();
        lock(proof).retract(&self.recorded().index, &mut playlist, asked)
    }

    /// Looks for other interactions in whose place requests may have come. One that came in the place of none is
    /// a miss, although its client was answered.
    pub(super) fn assume_otherwise(&self, strays: Vec<Request>) {
        for stray in strays {
            let is_assumed = self.assume(&(stray.clone(), Found::default())).is_some();
            if !is_assumed {
                let miss = *self.explain((stray, Found::default()));
                lock(&self.strays).push(miss);
            }
        }
    }

    /// The requests that came beside recorded ones since this was asked last.
    pub(super) fn take_strays(&self) -> Vec<Mismatch> {
        std::mem::take(&mut *lock(&self.strays))
    }
}
