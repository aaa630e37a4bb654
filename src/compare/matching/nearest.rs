//! The recorded interaction that is most alike.

use std::cmp::Reverse;

use super::apart::apart;
use super::likeness::Likeness;
use super::route::{Route, sort};
use super::{Index, Playlist};
use crate::cassette::{Cassette, Request};
use crate::compare::diff::Mask;

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

/// So many interactions of each sort are looked at: a miss must be told within a moment.
const LOOKS: usize = 64;

/// So many of them are compared place by place.
const CLOSE_LOOKS: usize = 12;

/// So many bytes of theirs, if there are more than two.
const CLOSE_BYTES: usize = 1 << 20;

/// So many other requests are told.
const OTHERS: usize = 5;

/// An interaction that was looked at.
#[derive(Debug)]
struct Look {
    found: Found,
    /// Whether its request looks the same.
    is_same: bool,
    /// Whether it was not played yet.
    fresh: bool,
    /// How far it is apart.
    apart: usize,
}

impl Look {
    /// The highest is the nearest.
    fn rank(&self) -> impl Ord + use<> {
        let apart = self.apart * if self.fresh { 2 } else { 3 };
        let next = self.fresh && self.apart == 0;
        let Found { interaction, alike } = self.found;
        (self.is_same, Reverse(apart), next, alike, self.fresh, Reverse(interaction))
    }
}

impl Library<'_> {
    /// The interaction that is most alike, if one is about the same thing at all.
    ///
    /// # Rationale
    ///
    /// Method and path say what a request is about, so they come first: another method costs as much
    /// as two and a half segments (one of `PATCH`, `POST`, `PUT` for another less than one), another
    /// number or identifier in the path a third of one. Among the interactions that are equally near
    /// by that, the fewest differences that count decide ([`apart`]), since those are what is told.
    /// What was played before is as near as one that differs in half as much again: of about equally
    /// near ones it is rather what comes next that is meant. A share of what both have does not tell
    /// that: it is about the same for all where bodies are large.
    ///
    /// However large the cassette is, only some of them are looked at: those with the same skeleton,
    /// those that come next, those whose body is about as long, and the last ones that were played. Of
    /// these again only some are compared place by place: those that share most names, values and words.
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
        let ours = Likeness::of(asked, self.index.rules(), mask);
        let mut looks: Vec<Look> = self
            .worth_a_look(asked, near, &same)
            .into_iter()
            .map(|interaction| {
                let theirs = Likeness::of(self.request(interaction), self.index.rules(), mask);
                Look {
                    is_same: same.contains(&interaction),
                    fresh: !self.playlist.was_played(interaction),
                    apart: ours.apart(&theirs),
                    found: Found { interaction, alike: ours.to(&theirs) },
                }
            })
            .collect();
        looks.sort_by_key(|look| Reverse(look.rank()));
        let mut bytes = 0;
        let closely = looks.into_iter().take(CLOSE_LOOKS).enumerate().take_while(|(at, look)| {
            bytes += self.request(look.found.interaction).body.len() + asked.body.len();
            *at < 2 || bytes <= CLOSE_BYTES
        });
        let closely = closely.map(|(_, look)| {
            let recorded = self.request(look.found.interaction);
            Look { apart: apart(self.index, asked, recorded, mask), ..look }
        });
        closely.max_by_key(Look::rank).map(|look| look.found)
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
        let mut chosen: Vec<usize> = Vec::with_capacity(5 * LOOKS);
        chosen.extend(same.iter().filter(|number| !played(number)).take(LOOKS));
        chosen.extend(same.iter().rev().take(LOOKS));
        chosen.extend(near.iter().filter(|number| !played(number)).take(LOOKS));
        chosen.extend(near.iter().rev().filter(played).take(LOOKS));
        let length = |number: &usize| self.request(*number).body.len().abs_diff(asked.body.len());
        let mut by_length = near;
        if by_length.len() > LOOKS {
            by_length.select_nth_unstable_by_key(LOOKS, |number| (length(number), *number));
            by_length.truncate(LOOKS);
        }
        chosen.extend(by_length);
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}
