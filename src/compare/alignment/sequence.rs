//! Which element of a list corresponds to which of another, as far as is known.

use super::likeness::{self, WHOLLY};
use super::{Node, Record};
use crate::text::sequence::{Rates, Step, align};

const RATES: Rates = Rates { longest: 20_000, most_pairs: 10_000, alone: 45 };

/// Aligns the values of two arrays.
pub(crate) fn nodes(old: &[&Node], new: &[&Node]) -> Vec<Step> {
    let hashes = |nodes: &[&Node]| nodes.iter().map(|node| node.hash).collect::<Vec<u64>>();
    align(&hashes(old), &hashes(new), RATES, |at, with| {
        WHOLLY - likeness::values(old[at], new[with])
    })
}

/// Aligns the records of two bodies.
pub(crate) fn records(old: &[&Record], new: &[&Record]) -> Vec<Step> {
    let hashes = |records: &[&Record]| records.iter().map(|it| it.hash).collect::<Vec<u64>>();
    align(&hashes(old), &hashes(new), RATES, |at, with| {
        WHOLLY - likeness::records(old[at], new[with])
    })
}
