//! From a request to the interactions that look like it.

use std::collections::HashMap;
use std::ops::Range;

use super::{Hole, Skeleton};
use crate::cassette::{Cassette, Request};
use crate::correlate::Origins;

/// The interactions of a cassette by the skeleton of their request.
#[derive(Debug)]
pub struct Index {
    origins: Origins,
    /// Where the interactions of a skeleton stand in `ordered`.
    by_skeleton: HashMap<u64, Range<usize>, foldhash::fast::FixedState>,
    ordered: Vec<usize>,
    holes: Vec<Vec<Hole>>,
}

impl Index {
    /// Reads all requests of a cassette once.
    pub fn of(cassette: &Cassette) -> Self {
        let origins = Origins::of(cassette);
        let mut hashes = Vec::with_capacity(cassette.interactions.len());
        let mut holes = Vec::with_capacity(cassette.interactions.len());
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let skeleton = Skeleton::of(&interaction.request, &origins);
            hashes.push((skeleton.hash, number));
            holes.push(skeleton.holes);
        }
        hashes.sort_unstable();
        let mut by_skeleton = HashMap::with_capacity_and_hasher(hashes.len(), Default::default());
        let mut start = 0;
        for same in hashes.chunk_by(|one, other| one.0 == other.0) {
            by_skeleton.insert(same[0].0, start..start + same.len());
            start += same.len();
        }
        let ordered = hashes.into_iter().map(|(_, number)| number).collect();
        Self { origins, by_skeleton, ordered, holes }
    }

    /// Who issued which identifier in the cassette.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Reduces a live request to what is compared.
    pub fn skeleton(&self, request: &Request) -> Skeleton {
        Skeleton::of(request, &self.origins)
    }

    /// The interactions whose request has this skeleton, in recorded order.
    pub fn candidates(&self, skeleton: &Skeleton) -> &[usize] {
        let range = self.by_skeleton.get(&skeleton.hash);
        range.map_or(&[], |range| &self.ordered[range.clone()])
    }

    /// The client-minted identifiers in the request of an interaction.
    pub fn holes(&self, interaction: usize) -> &[Hole] {
        &self.holes[interaction]
    }

    /// The number of interactions.
    pub fn len(&self) -> usize {
        self.holes.len()
    }

    /// Whether there are no interactions.
    pub fn is_empty(&self) -> bool {
        self.holes.is_empty()
    }
}
