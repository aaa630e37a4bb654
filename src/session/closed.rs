//! The end of a session.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::event::Miss;
use super::gateway::Gateway;
use super::idle::Idle;
use super::lax;
use super::spoiled;
use super::summary::Summary;
use super::track::Track;
use crate::cassette::Name;
use crate::compare::matching::{Mismatch, Proof};
use crate::error::{Error, Result};
use crate::serve::lock;
use crate::serve::recorder::{Course, Recording, Tape};
use crate::serve::replayer::Replayer;

/// A session that takes no more requests. Answers that are under way are still recorded.
#[derive(Debug)]
#[must_use = "a session that is not saved has recorded nothing"]
pub(crate) struct Closed {
    gateway: Arc<Gateway>,
    ended: Ended,
    /// The sessions that were opened in it, and that nobody finished.
    left: Vec<Self>,
}

/// What the sessions came to that were opened in another one, and finished.
#[derive(Debug, Default)]
pub(super) struct Ended {
    summary: Summary,
    proofs: Vec<(Name, Proof)>,
    pub(super) idle: Idle,
}

impl Ended {
    pub(super) fn add(&mut self, summary: Summary, proofs: Vec<(Name, Proof)>) {
        self.summary.add(summary);
        self.proofs.extend(proofs);
    }
}

impl Closed {
    pub(super) fn new(gateway: Arc<Gateway>) -> Self {
        Self { gateway, ended: Ended::default(), left: Vec::new() }
    }

    /// The same with the sessions that were opened in it: what those came to that were finished, and the others.
    pub(super) fn with(self, ended: Ended, left: Vec<Self>) -> Self {
        Self { ended, left, ..self }
    }

    /// What the runs have shown of each cassette.
    pub(super) fn proofs(&self) -> Vec<(Name, Proof)> {
        let tracks = lock(&self.gateway.tracks);
        let proofs = tracks
            .values()
            .filter_map(|slot| Some((slot.cassette.clone(), slot.replayer()?.proof()?)));
        let left = self.left.iter().flat_map(Self::proofs);
        proofs.chain(self.ended.proofs.iter().cloned()).chain(left).collect()
    }

    /// Who knows which rules fit no cassette, once everything is saved.
    #[cfg(feature = "cli")]
    pub(crate) fn idle(&self) -> Idle {
        let mut idle = self.ended.idle.clone();
        idle.note(&self.gateway.settings);
        idle
    }

    /// What is under way: what each interaction asks for.
    #[cfg(feature = "cli")]
    pub(crate) fn unfinished(&self) -> Vec<String> {
        self.all_tapes().iter().flat_map(|(_, tape)| tape.unfinished()).collect()
    }

    /// Waits until they have come to their end, but not for longer than they are given.
    pub(crate) async fn settle(&self) {
        // What the grace time ends ends a moment later.
        let patience = self.gateway.settings.given.patience;
        let limit = patience.grace.max(patience.rest) + Duration::from_secs(1);
        for (_, tape) in self.all_tapes() {
            tape.settle(limit).await;
        }
    }

    /// What was missed.
    pub(crate) fn misses(&self) -> Vec<Miss> {
        self.gateway.misses().all()
    }

    /// Saves what was recorded and sums up. All cassettes are tried before the first failure is
    /// returned.
    pub(crate) fn save(mut self, course: Course) -> Result<Summary> {
        let mut failure = lock(&self.gateway.failure).take().or_else(|| self.gateway.unled());
        for left in std::mem::take(&mut self.left) {
            // Nobody has said how it went: what opened it may have ended in the middle.
            match left.save(if course == Course::Discarded { course } else { Course::Failed }) {
                Ok(summary) => {
                    summary.misses.iter().for_each(|it| self.gateway.misses().note(it.clone()));
                    self.ended.summary.add(summary);
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        self.gateway.agree();
        let (mut recordings, mut discarded) = (Vec::new(), BTreeSet::new());
        for (name, tape) in self.gateway.tapes() {
            if course == Course::Discarded {
                failure = failure.or(tape.discard().err());
                discarded.insert(name);
                continue;
            }
            let is_holed = lock(&self.gateway.holed).contains(name.as_str());
            let course = if is_holed { Course::Failed } else { course };
            let base = lock(&self.gateway.library).get(&name).and_then(|cell| cell.get().cloned());
            match tape.finish(base.as_ref().map(|base| base.original()), course) {
                Ok(recording) => {
                    failure = failure.map(|it| if is_holed { kept(it, &recording) } else { it });
                    recordings.push(recording);
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure = failure.or(self.gateway.misses().finish().err());
        let mut summary = Summary { discarded, ..self.summary(recordings) };
        summary.add(std::mem::take(&mut self.ended.summary));
        if let Some(file) = &self.gateway.settings.lax {
            failure = failure.or(lax::write(file, &summary).err());
        }
        failure.map_or(Ok(summary), Err)
    }

    /// What strict matching would have refused, in an order that does not depend on which session was
    /// faster.
    fn drifted(&self) -> Vec<Miss> {
        let tracks = lock(&self.gateway.tracks);
        let mut drifted: Vec<Miss> = Vec::new();
        for (session, slot) in tracks.iter() {
            let of_session = slot.replayer().map(Replayer::drifted).unwrap_or_default();
            let miss = |it: &Mismatch| Miss::of(session, slot.cassette.as_str(), it);
            drifted.extend(of_session.iter().map(miss));
        }
        drifted.sort_by(|a, b| (&a.cassette, &a.session).cmp(&(&b.cassette, &b.session)));
        drifted
    }

    /// Its tapes, and those of the sessions that nobody finished.
    fn all_tapes(&self) -> Vec<(Name, Arc<Tape>)> {
        let left = self.left.iter().flat_map(Self::all_tapes);
        self.gateway.tapes().into_iter().chain(left).collect()
    }

    fn summary(&self, recordings: Vec<Recording>) -> Summary {
        // They are looked for in the sessions too, so before those are locked.
        let misses = self.gateway.misses().all();
        let drifted = self.drifted();
        let unplayed = self.gateway.never_played();
        let cassettes = self.gateway.sessions().into_iter().map(|(_, name)| name).collect();
        let refused = self.gateway.misses().refused();
        let requests = self.gateway.requests.load(Ordering::Relaxed) + refused.len();
        let (spoiled, met, unmet) = spoiled::of(&self.gateway);
        let tracks = lock(&self.gateway.tracks);
        let opened = tracks.values().filter_map(|slot| slot.track.get());
        let lengths = tracks.values().filter_map(|slot| {
            let replayer = slot.replayer()?;
            let all = replayer.recorded().cassette().interactions.len();
            Some((&slot.cassette, all - slot.never_played(replayer).len()))
        });
        let (replayed, played): (Vec<&Name>, Vec<usize>) = lengths.unzip();
        Summary {
            requests,
            unused: requests == 0 && !self.gateway.settings.given.may_be_unused,
            forwarded: opened.map(Track::forwarded).sum(),
            passed: self.gateway.passed.load(Ordering::Relaxed),
            handshakes: self.gateway.failed_handshakes(),
            cassettes,
            recordings,
            discarded: BTreeSet::new(),
            misses,
            refused,
            drifted,
            sessions: replayed.len(),
            replayed: replayed.into_iter().cloned().collect(),
            played: played.iter().sum(),
            unplayed,
            spoiled,
            met,
            unmet,
        }
    }
}

/// What has failed, and where that is which could be recorded.
fn kept(failure: Error, recording: &Recording) -> Error {
    let kept = format!("what could be recorded is kept as `{}`", recording.saved_name);
    let hint = failure.hint().map_or(kept.clone(), |hint| format!("{hint}; {kept}"));
    failure.with_hint(hint)
}
