//! The recorded interaction that is most alike.

use super::likeness::Likeness;
use super::route::{Route, sort};
use super::{Index, Playlist};
use crate::cassette::{Cassette, Request};
use crate::diff::Mask;

/// What is looked through.
#[derive(Clone, Copy)]
pub(super) struct Library<'a> {
    pub(super) cassette: &'a Cassette,
    pub(super) index: &'a Index,
    pub(super) playlist: &'a Playlist,
}

/// An interaction and how alike it is, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) interaction: usize,
    pub(super) alike: u32,
}

/// What was played before is less likely to be what is meant, unless it is very much alike.
const PLAYED: u32 = 300;

/// So many interactions of each sort are looked at closely: a miss must be told within a moment.
const CLOSE_LOOKS: usize = 64;

/// So many other requests are told.
const OTHERS: usize = 5;

impl Library<'_> {
    /// The interaction that is most alike, if one is about the same thing at all.
    ///
    /// # Rationale
    ///
    /// Method and path say what a request is about, so they come first: another method costs as much
    /// as two and a half segments (one of `PATCH`, `POST`, `PUT` for another less than one), another
    /// number or identifier in the path a third of one. Among the interactions that are equally near
    /// by that, the share of names, values and words of query and body decides that both have; what
    /// was played before is put back by 30 % of it. However large the cassette is, only some of them
    /// are looked at so closely: those with the same skeleton, those that come next, those whose body
    /// is about as long, and the last ones that were played.
    pub(super) fn nearest(&self, asked: &Request, mask: Mask<'_>) -> Option<Found> {
        let route = Route::of(asked);
        let distances: Vec<u32> =
            (0..self.len()).map(|number| route.distance(self.request(number))).collect();
        let closest = *distances.iter().min()?;
        let near: Vec<usize> =
            (0..self.len()).filter(|number| distances[*number] == closest).collect();
        let same = self.index.candidates(&self.index.skeleton(asked));
        let same: Vec<usize> = same.map_or_else(Vec::new, |same| same.iter().collect());
        if same.is_empty() && !route.is_related(self.request(near[0])) {
            return None;
        }
        let likeness = Likeness::of(asked, mask);
        let looked_at = self.worth_a_look(asked, near, &same).into_iter().map(|interaction| {
            let alike = likeness.to(&Likeness::of(self.request(interaction), mask));
            Found { interaction, alike }
        });
        looked_at.max_by_key(|found| {
            let fresh = !self.playlist.was_played(found.interaction);
            let alike = found.alike + if fresh { PLAYED } else { 0 };
            (same.contains(&found.interaction), alike, std::cmp::Reverse(found.interaction))
        })
    }

    /// Requests about other things, each sort once, the nearest first: those with the same method, or
    /// if there are none any.
    pub(super) fn others(&self, asked: &Request) -> Vec<usize> {
        let route = Route::of(asked);
        let same_method = |number: &usize| self.request(*number).method == asked.method;
        let mut numbers: Vec<usize> = (0..self.len()).filter(same_method).collect();
        if numbers.is_empty() {
            numbers = (0..self.len()).collect();
        }
        numbers.sort_by_cached_key(|number| route.distance(self.request(*number)));
        let mut told = std::collections::HashSet::new();
        let is_new = |number: &usize| {
            let request = self.request(*number);
            told.insert((request.method.clone(), sort(request.path_only())))
        };
        numbers.into_iter().filter(is_new).take(OTHERS).collect()
    }

    pub(super) fn request(&self, interaction: usize) -> &Request {
        &self.cassette.interactions[interaction].request
    }

    fn len(&self) -> usize {
        self.cassette.interactions.len()
    }

    fn worth_a_look(&self, asked: &Request, near: Vec<usize>, same: &[usize]) -> Vec<usize> {
        let played = |number: &&usize| self.playlist.was_played(**number);
        let mut chosen: Vec<usize> = Vec::with_capacity(5 * CLOSE_LOOKS);
        chosen.extend(same.iter().filter(|number| !played(number)).take(CLOSE_LOOKS));
        chosen.extend(same.iter().rev().take(CLOSE_LOOKS));
        chosen.extend(near.iter().filter(|number| !played(number)).take(CLOSE_LOOKS));
        chosen.extend(near.iter().rev().filter(played).take(CLOSE_LOOKS));
        let length = |number: &usize| self.request(*number).body.len().abs_diff(asked.body.len());
        let mut by_length = near;
        if by_length.len() > CLOSE_LOOKS {
            by_length.select_nth_unstable_by_key(CLOSE_LOOKS, |number| (length(number), *number));
            by_length.truncate(CLOSE_LOOKS);
        }
        chosen.extend(by_length);
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}
