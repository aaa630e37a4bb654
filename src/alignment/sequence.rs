//! Which element of a list corresponds to which of another.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::likeness::{self, WHOLLY};
use super::{Node, Record};

/// One step through two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// An element of each.
    Both(usize, usize),
    /// An element of the old one alone.
    Old(usize),
    /// An element of the new one alone.
    New(usize),
}

/// Blocks of more pairs than that are paired one by one.
const MOST_PAIRS: usize = 10_000;

/// What it costs to leave an element without a partner.
const ALONE: u32 = 45;

/// Aligns the values of two arrays.
pub(crate) fn nodes(old: &[&Node], new: &[&Node]) -> Vec<Step> {
    align(old, new, |node| node.hash, |old, new| likeness::values(old, new))
}

/// Aligns the records of two bodies.
pub(crate) fn records(old: &[&Record], new: &[&Record]) -> Vec<Step> {
    align(old, new, |record| record.hash, |old, new| likeness::records(old, new))
}

/// Aligns two lists in order: equal elements are partners, and between them those that are alike.
fn align<T>(
    old: &[T],
    new: &[T],
    hash: impl Fn(&T) -> u64,
    likeness: impl Fn(&T, &T) -> u32,
) -> Vec<Step> {
    let hashes = |list: &[T]| list.iter().map(&hash).collect::<Vec<u64>>();
    let (olds, news) = (hashes(old), hashes(new));
    if olds == news {
        return (0..olds.len()).map(|at| Step::Both(at, at)).collect();
    }
    let mut steps = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &olds, &news) {
        let (one, other) = (op.old_range(), op.new_range());
        match op.tag() {
            DiffTag::Replace if one.len() * other.len() <= MOST_PAIRS => {
                let likeness = |at: usize, with: usize| likeness(&old[at], &new[with]);
                steps.extend(cheapest(one, other, likeness));
            }
            _ => steps.extend(in_step(one, other)),
        }
    }
    steps
}

/// The alignment of least cost.
fn cheapest(
    old: Range<usize>,
    new: Range<usize>,
    likeness: impl Fn(usize, usize) -> u32,
) -> Vec<Step> {
    let width = new.len() + 1;
    // From each pair of places on: what the rest costs, and the first step of it.
    let mut rest: Vec<(u32, Option<Step>)> = vec![(0, None); (old.len() + 1) * width];
    for one in (0..=old.len()).rev() {
        for other in (0..=new.len()).rev() {
            let from = |one: usize, other: usize| rest[one * width + other].0;
            let (at, with) = (old.start + one, new.start + other);
            let (more_old, more_new) = (one < old.len(), other < new.len());
            let both = (more_old && more_new).then(|| {
                (WHOLLY - likeness(at, with) + from(one + 1, other + 1), Step::Both(at, with))
            });
            let gone = more_old.then(|| (ALONE + from(one + 1, other), Step::Old(at)));
            let fresh = more_new.then(|| (ALONE + from(one, other + 1), Step::New(with)));
            let choices = [both, gone, fresh].into_iter().flatten();
            if let Some((cost, step)) = choices.min_by_key(|(cost, _)| *cost) {
                rest[one * width + other] = (cost, Some(step));
            }
        }
    }
    let (mut steps, mut one, mut other) = (Vec::new(), 0, 0);
    while let Some(step) = rest[one * width + other].1 {
        one += usize::from(!matches!(step, Step::New(_)));
        other += usize::from(!matches!(step, Step::Old(_)));
        steps.push(step);
    }
    steps
}

/// One by one; what is left of the longer list stands alone.
fn in_step(old: Range<usize>, new: Range<usize>) -> impl Iterator<Item = Step> {
    let both = old.len().min(new.len());
    let pairs = old.clone().zip(new.clone()).map(|(one, other)| Step::Both(one, other));
    pairs.chain(old.skip(both).map(Step::Old)).chain(new.skip(both).map(Step::New))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &[Step]) {
        let likeness = |old: &u8, new: &u8| if old.eq_ignore_ascii_case(new) { 80 } else { 0 };
        let found = align(old.as_bytes(), new.as_bytes(), |byte| u64::from(*byte), likeness);
        assert_eq!(found, expected, "{old} {new}");
    }

    #[test]
    fn equal_elements_are_partners_and_between_them_those_that_are_alike() {
        use Step::{Both, New, Old};
        check("abc", "abc", &[Both(0, 0), Both(1, 1), Both(2, 2)]);
        check("abc", "axbc", &[Both(0, 0), New(1), Both(1, 2), Both(2, 3)]);
        check("abc", "ac", &[Both(0, 0), Old(1), Both(2, 1)]);
        check("abc", "axBc", &[Both(0, 0), New(1), Both(1, 2), Both(2, 3)]);
        check("ab", "xy", &[Old(0), Old(1), New(0), New(1)]);
        check("", "a", &[New(0)]);
    }
}
