//! Who has seen something, and how often.

/// A number that the caller gives to a sample, such as its place among all that were learned from.
pub type Witness = u32;

/// How many of the first and as many of the last are kept.
const EACH: usize = 2;

/// The first and the last witnesses of something, by number.
///
/// # Rationale
///
/// The lowest and the highest numbers are the same in whatever order samples come and shapes are
/// merged; those that came first in time would not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Witnesses {
    numbers: [Witness; 2 * EACH],
    count: u8,
}

/// How often something was seen, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// Some of those who saw it.
    pub witnesses: Witnesses,
}

impl Witnesses {
    /// Them in ascending order.
    pub fn as_slice(&self) -> &[Witness] {
        &self.numbers[..usize::from(self.count)]
    }

    pub(super) fn add(&mut self, witness: Witness) {
        let count = usize::from(self.count);
        let Err(at) = self.as_slice().binary_search(&witness) else { return };
        if count < 2 * EACH {
            self.numbers.copy_within(at..count, at + 1);
            self.numbers[at] = witness;
            self.count += 1;
        } else if at < EACH {
            self.numbers.copy_within(at..EACH - 1, at + 1);
            self.numbers[at] = witness;
        } else if at > EACH {
            self.numbers.copy_within(EACH + 1..at, EACH);
            self.numbers[at - 1] = witness;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        other.as_slice().iter().for_each(|witness| self.add(*witness));
    }
}

impl Tally {
    pub(super) fn add(&mut self, witness: Witness) {
        self.count += 1;
        self.witnesses.add(witness);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.witnesses.merge(&other.witnesses);
    }

    pub(super) fn is_seen(&self) -> bool {
        self.count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_lowest_and_the_two_highest_are_kept_in_whatever_order_they_come() {
        for order in
            [[5, 1, 9, 3, 7, 2], [1, 2, 3, 5, 7, 9], [9, 7, 5, 3, 2, 1], [3, 5, 9, 1, 2, 7]]
        {
            let mut witnesses = Witnesses::default();
            order.into_iter().chain(order).for_each(|witness| witnesses.add(witness));

            assert_eq!(witnesses.as_slice(), [1, 2, 7, 9], "{order:?}");
        }
    }
}
