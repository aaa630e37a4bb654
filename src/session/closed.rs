//! The end of a session.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::gateway::{Gateway, lock};
use super::summary::Summary;
use super::track::Track;
use crate::cassette::Name;
use crate::error::Result;
use crate::serve::recorder::{Course, Recording, Tape};

/// A session that takes no more requests. Answers that are under way are still recorded.
#[derive(Debug)]
#[must_use = "a session that is not saved has recorded nothing"]
pub(crate) struct Closed {
    gateway: Arc<Gateway>,
}

impl Closed {
    pub(super) fn new(gateway: Arc<Gateway>) -> Self {
        Self { gateway }
    }

    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// How many interactions are under way.
    #[cfg(feature = "cli")]
    pub(crate) fn unfinished(&self) -> usize {
        self.tapes().iter().map(|(_, tape)| tape.unfinished()).sum()
    }

    /// Waits until they have come to their end, but not for longer than the grace time.
    pub(crate) async fn settle(&self) {
        // What the grace time ends ends a moment later.
        let limit = self.gateway.settings.patience.grace + Duration::from_secs(1);
        for (_, tape) in self.tapes() {
            tape.settle(limit).await;
        }
    }

    /// Saves what was recorded and sums up. All cassettes are tried before the first failure is
    /// returned.
    pub(crate) fn save(self, course: Course) -> Result<Summary> {
        let mut recordings = Vec::new();
        let mut failure = lock(&self.gateway.failure).take();
        for (name, tape) in self.tapes() {
            let base = lock(&self.gateway.library).get(&name).and_then(|cell| cell.get().cloned());
            match tape.finish(base.as_ref().map(|base| base.cassette()), course) {
                Ok(recording) => recordings.push(recording),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure = failure.or(self.gateway.misses().finish().err());
        match failure {
            Some(error) => Err(error),
            None => Ok(self.summary(recordings)),
        }
    }

    fn tapes(&self) -> Vec<(Name, Arc<Tape>)> {
        let tapes = lock(&self.gateway.tapes);
        tapes.iter().filter_map(|(name, cell)| Some((name.clone(), cell.get()?.clone()))).collect()
    }

    fn summary(&self, recordings: Vec<Recording>) -> Summary {
        let unplayed = self.gateway.never_played();
        let cassettes = self.gateway.sessions().into_iter().map(|(_, name)| name).collect();
        let requests = self.gateway.requests.load(Ordering::Relaxed);
        let tracks = lock(&self.gateway.tracks);
        let opened = tracks.values().filter_map(|slot| slot.track.get());
        let lengths = tracks.values().filter_map(|slot| {
            Some((&slot.cassette, slot.replayer()?.recorded().cassette().interactions.len()))
        });
        let (replayed, lengths): (Vec<&Name>, Vec<usize>) = lengths.unzip();
        Summary {
            requests,
            unused: requests == 0 && !self.gateway.settings.may_be_unused,
            forwarded: opened.map(Track::forwarded).sum(),
            passed: self.gateway.passed.load(Ordering::Relaxed),
            cassettes,
            recordings,
            misses: self.gateway.misses().all(),
            sessions: lengths.len(),
            replayed: replayed.into_iter().cloned().collect(),
            played: lengths.iter().sum::<usize>() - unplayed.len(),
            unplayed,
        }
    }
}
