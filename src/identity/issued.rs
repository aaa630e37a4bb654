//! Values and where each came from, in little memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

use super::{Issuer, Origin};

/// Values and where each came from.
///
/// # Rationale
///
/// In a large cassette each value stands in memory that no cache holds, and so does its place in a table.
/// So the values are not kept: 128 bits stand for one, 64 of them by each of two hash functions. Among a
/// million values two have the same bits by chance once in 10^26 cassettes.
#[derive(Debug, Default)]
pub(super) struct Issued {
    known: HashMap<Bits, Short, foldhash::fast::FixedState>,
}

type Bits = [u64; 2];

/// An origin in 4 bytes: the number of the interaction, doubled, and 1 more for the client.
#[derive(Debug, Clone, Copy)]
struct Short(u32);

impl Issued {
    /// Notes where a value came from, unless it is known. Tells whether it was not.
    pub(super) fn note(&mut self, value: &str, from: Origin) -> bool {
        match self.known.entry(bits(value)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(Short::of(from));
                true
            }
        }
    }

    /// The same, also if it is known to have come from a later interaction; that one is given back.
    pub(super) fn note_earlier(&mut self, value: &str, from: Origin) -> Option<Origin> {
        let known = self.origin(value);
        if known.is_some_and(|known| known.interaction <= from.interaction) {
            return None;
        }
        self.known.insert(bits(value), Short::of(from));
        known
    }

    /// Where a value came from.
    pub(super) fn origin(&self, value: &str) -> Option<Origin> {
        if self.known.is_empty() {
            return None;
        }
        Some(self.known.get(&bits(value))?.origin())
    }
}

impl Short {
    /// # Panics
    ///
    /// If there are more than 2^31 interactions.
    fn of(origin: Origin) -> Self {
        let number = u32::try_from(origin.interaction).ok().and_then(|it| it.checked_mul(2));
        let number = number.expect("no cassette has so many interactions");
        Self(number + u32::from(origin.issuer == Issuer::Client))
    }

    fn origin(self) -> Origin {
        let issuer = if self.0 % 2 == 1 { Issuer::Client } else { Issuer::Server };
        Origin { issuer, interaction: (self.0 / 2) as usize }
    }
}

fn bits(value: &str) -> Bits {
    [1, 2].map(|seed| FixedState::with_seed(seed).hash_one(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_value_came_from_first_is_known() {
        let mut issued = Issued::default();
        let origin = |issuer, interaction| Origin { issuer, interaction };
        assert_eq!(issued.origin("a"), None);

        assert!(issued.note("a", origin(Issuer::Client, 7)));
        assert!(issued.note("b", origin(Issuer::Server, 123_456)));
        assert!(!issued.note("a", origin(Issuer::Server, 8)));

        assert_eq!(issued.origin("a"), Some(origin(Issuer::Client, 7)));
        assert_eq!(issued.origin("b"), Some(origin(Issuer::Server, 123_456)));
        assert_eq!(issued.origin("c"), None);
    }

    #[test]
    fn both_halves_of_what_stands_for_a_value_are_its_own() {
        let [one, other] = [bits("one"), bits("other")];
        assert!(one[0] != one[1] && one[0] != other[0] && one[1] != other[1]);
    }
}
