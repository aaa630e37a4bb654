//! From a request to the interactions that look like it.

use std::collections::HashMap;

use super::{Hole, Skeleton};
use crate::cassette::{Cassette, Request};
use crate::correlate::Origins;

/// The interactions of a cassette by the skeleton of their request.
#[derive(Debug)]
pub struct Index {
    origins: Origins,
    by_skeleton: HashMap<u64, Vec<usize>, foldhash::fast::FixedState>,
    holes: Vec<Vec<Hole>>,
}

impl Index {
    /// Reads all requests of a cassette once.
    pub fn of(cassette: &Cassette) -> Self {
        let origins = Origins::of(cassette);
        let mut by_skeleton: HashMap<u64, Vec<usize>, _> = HashMap::default();
        let mut holes = Vec::with_capacity(cassette.interactions.len());
        for (number, interaction) in cassette.interactions.iter().enumerate() {
            let skeleton = Skeleton::of(&interaction.request, &origins);
            by_skeleton.entry(skeleton.hash).or_default().push(number);
            holes.push(skeleton.holes);
        }
        Self { origins, by_skeleton, holes }
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
        self.by_skeleton.get(&skeleton.hash).map_or(&[], Vec::as_slice)
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
