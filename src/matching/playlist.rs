//! What a session has played, and what comes next.

use std::collections::HashMap;

use super::{Index, Skeleton};
use crate::correlate::Bindings;

/// One client's run through a cassette.
#[derive(Debug, Default)]
pub struct Playlist {
    played: Vec<bool>,
    bindings: Bindings,
    /// Per skeleton of several candidates, how many of them from the first on have been played.
    fronts: HashMap<u64, usize, foldhash::fast::FixedState>,
}

impl Playlist {
    /// A run in which nothing was played yet.
    pub fn new(index: &Index) -> Self {
        Self { played: vec![false; index.len()], ..Self::default() }
    }

    /// The interaction that answers a request now, if there is one.
    ///
    /// Requests that look the same are answered in recorded order. When all of them were played the
    /// last answer stays: clients repeat what they ask, by retrying and by polling.
    ///
    /// A repetition that brings other client-minted values is no repetition, and nothing answers it,
    /// unless the whole cassette was played and it is the first request again: then the client has
    /// begun anew, and so does the run.
    pub fn take(&mut self, index: &Index, skeleton: &Skeleton) -> Option<usize> {
        let candidates = index.candidates(skeleton);
        let number = self.fitting(index, skeleton).or_else(|| {
            let again = candidates.first() == Some(&0) && self.unplayed().next().is_none();
            again.then(|| *self = Self::new(index))?;
            self.fitting(index, skeleton)
        })?;
        self.played[number] = true;
        for (recorded, live) in index.holes(number).iter().zip(&skeleton.holes) {
            self.bindings.bind(&recorded.identifier, &live.identifier);
        }
        Some(number)
    }

    /// What was recorded and not asked for in this run.
    pub fn unplayed(&self) -> impl Iterator<Item = usize> + '_ {
        self.played.iter().enumerate().filter(|(_, played)| !**played).map(|(number, _)| number)
    }

    /// Whether an interaction was played in this run.
    pub fn was_played(&self, interaction: usize) -> bool {
        self.played[interaction]
    }

    /// What stands for the client-minted identifiers of the recording in this run.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The first candidate that was not played, else the last that was, whose holes can be filled.
    fn fitting(&mut self, index: &Index, skeleton: &Skeleton) -> Option<usize> {
        let candidates = index.candidates(skeleton);
        let front = self.front(skeleton.hash, candidates);
        let fits = |number: &&usize| self.unifies(index, **number, skeleton);
        let fresh = candidates[front..].iter().filter(|number| !self.played[**number]).find(fits);
        let again = || candidates.iter().rev().filter(|number| self.played[**number]).find(fits);
        fresh.or_else(again).copied()
    }

    fn front(&mut self, hash: u64, candidates: &[usize]) -> usize {
        if let [only] = candidates {
            return usize::from(self.played[*only]);
        }
        let front = self.fronts.entry(hash).or_default();
        while candidates.get(*front).is_some_and(|number| self.played[*number]) {
            *front += 1;
        }
        *front
    }

    fn unifies(&self, index: &Index, number: usize, skeleton: &Skeleton) -> bool {
        let recorded = index.holes(number).iter().map(|hole| hole.identifier.as_str());
        let live = skeleton.holes.iter().map(|hole| hole.identifier.as_str());
        self.bindings.unify(recorded.zip(live))
    }
}
