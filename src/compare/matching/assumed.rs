//! Interactions that stand for requests which differ from theirs.

use std::collections::HashSet;

use super::{Asked, Index, Playlist};
use crate::cassette::{Id, Request};
use crate::identity::Hole;

/// Interactions that stand for requests which differ from theirs, because nobody has asked for them yet.
///
/// # Rationale
///
/// A value is made up if the client says another one *instead* of it. A request that comes beside the recorded one,
/// such as a retry that the test before has left behind, shows nothing about it. Which of both it is, is known
/// once the recorded one comes, or the run is over.
#[derive(Debug, Clone, Default)]
pub(super) struct Assumptions {
    all: Vec<Assumed>,
    /// The groups of interactions for which the client has asked after all.
    asked_for: HashSet<u64>,
}

/// An interaction that stands for a request which differs from its own.
#[derive(Debug, Clone)]
pub(super) struct Assumed {
    pub(super) number: usize,
    pub(super) asked: Request,
    /// What differs.
    pub(super) made_up: Vec<Id>,
    /// What stands for which recorded value.
    pub(super) bound: Vec<(Hole, Hole)>,
    /// That of it which was not known before.
    pub(super) fresh: Vec<(Hole, Hole)>,
}

impl Assumptions {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn add(&mut self, assumed: Assumed) {
        self.all.push(assumed);
    }

    /// What differs from run to run.
    pub(super) fn made_up(&self) -> impl Iterator<Item = &Id> {
        self.all.iter().flat_map(|it| &it.made_up)
    }

    pub(super) fn change_made_up(&mut self, change: impl Fn(Vec<Id>) -> Vec<Id>) {
        for assumed in &mut self.all {
            assumed.made_up = change(std::mem::take(&mut assumed.made_up));
        }
    }

    /// The recorded values for which others stand.
    pub(super) fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.all.iter().flat_map(|it| it.bound.iter().map(|(recorded, _)| recorded))
    }

    /// Takes out what stands for a request that came otherwise, now that it comes as it was recorded.
    pub(super) fn retract(&mut self, index: &Index, asked: &Asked<'_>) -> Vec<Assumed> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let lists: Vec<_> = index.candidates(asked).collect();
        let comes = |assumed: &mut Assumed| {
            let number = assumed.number;
            lists.iter().any(|list| list.contains(number)) && index.fill(number, asked).is_some()
        };
        let retracted: Vec<Assumed> = self.all.extract_if(.., comes).collect();
        self.asked_for.extend(retracted.iter().map(|it| index.entry(it.number).group()));
        retracted
    }

    /// Whether the client has asked for an interaction, or for one that asks the same, as it was recorded.
    pub(super) fn is_asked_for(&self, index: &Index, playlist: &Playlist, number: usize) -> bool {
        let is_assumed = |other: usize| self.all.iter().any(|it| it.number == other);
        let mut alike = index.alike(number);
        self.asked_for.contains(&index.entry(number).group())
            || alike.any(|other| playlist.was_played(other) && !is_assumed(other))
    }
}
