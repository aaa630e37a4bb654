//! Who has seen what a promise says: for those who ask, never in the compared text.

use std::collections::BTreeSet;

/// A number that the caller gives to a sample, such as its place among all that were learned from.
pub type Witness = u32;

/// Who has seen one thing that a [`Schema`](super::Schema) says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// Where, as in a [`Loss`](super::Loss).
    pub place: Vec<String>,
    /// What.
    pub of: Claim,
    /// How often, and by whom.
    pub seen: Tally,
    /// Of how many values at that place.
    pub all: u64,
    /// Who has seen a value without it; told of fields only.
    pub missed: Witnesses,
}

/// What a promise says that is not so in every value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// An optional field.
    Field,
    /// `null`, where other values are as well.
    Null,
    /// A known string.
    Value(String),
    /// Objects that are told by this field and what it says.
    Branch(String, String),
}

/// How often something was seen, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// Some of those who saw it.
    pub witnesses: Witnesses,
}

/// The first and the last witnesses of something, by number.
///
/// # Rationale
///
/// The lowest and the highest numbers are the same in whatever order samples come; those that came first
/// in time would not be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Witnesses(Vec<Witness>);

/// How many of the first and as many of the last are kept.
const EACH: usize = 2;

impl Tally {
    pub(super) fn of(witnesses: impl Iterator<Item = Witness>) -> Self {
        let all: Vec<Witness> = witnesses.collect();
        Self { count: all.len() as u64, witnesses: all.into_iter().collect() }
    }
}

impl Witnesses {
    /// Them in ascending order.
    pub fn as_slice(&self) -> &[Witness] {
        &self.0
    }
}

impl FromIterator<Witness> for Witnesses {
    fn from_iter<I: IntoIterator<Item = Witness>>(all: I) -> Self {
        let all: BTreeSet<Witness> = all.into_iter().collect();
        let last = all.len().saturating_sub(EACH);
        let kept = all.into_iter().enumerate().filter(|(at, _)| *at < EACH || *at >= last);
        Self(kept.map(|(_, witness)| witness).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_lowest_and_the_two_highest_are_kept_in_whatever_order_they_come() {
        for order in [[5, 1, 9, 3, 7, 2], [9, 7, 5, 3, 2, 1], [3, 5, 9, 1, 2, 7]] {
            let witnesses: Witnesses = order.into_iter().chain(order).collect();

            assert_eq!(witnesses.as_slice(), [1, 2, 7, 9], "{order:?}");
        }
    }
}
