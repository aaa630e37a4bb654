//! Which element of a list corresponds to which of another.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// One step through two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// An element of each.
    Both(usize, usize),
    /// An element of the old one alone.
    Old(usize),
    /// An element of the new one alone.
    New(usize),
}

/// How much is tried, and what counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    /// Longer lists are paired one by one, once their equal ends are taken away.
    pub(crate) longest: usize,
    /// Blocks of more pairs than that, of which none are equal, are paired one by one.
    pub(crate) most_pairs: usize,
    /// What it costs to leave an element without a partner.
    pub(crate) alone: u32,
}

/// Aligns two lists in order, given by what is equal for equal elements. Those are partners; between
/// them it is what costs least in all, where `unlike` tells what it costs to pair two that are not equal.
pub(crate) fn align(
    old: &[u64],
    new: &[u64],
    rates: Rates,
    unlike: impl Fn(usize, usize) -> u32,
) -> Vec<Pairing> {
    let same = |(one, other): &(&u64, &u64)| one == other;
    let front = old.iter().zip(new).take_while(same).count();
    let ends = old[front..].iter().rev().zip(new[front..].iter().rev());
    let back = ends.take_while(same).count();
    let (olds, news) = (front..old.len() - back, front..new.len() - back);
    let mut steps: Vec<Pairing> = in_step(0..front, 0..front).collect();
    if olds.len().max(news.len()) > rates.longest {
        steps.extend(in_step(olds.clone(), news.clone()));
    } else {
        let shifted = |range: Range<usize>| range.start + front..range.end + front;
        let ops = capture_diff_slices(Algorithm::Myers, &old[olds.clone()], &new[news.clone()]);
        for op in ops {
            let (one, other) = (shifted(op.old_range()), shifted(op.new_range()));
            match op.tag() {
                DiffTag::Replace if one.len() * other.len() <= rates.most_pairs => {
                    steps.extend(cheapest(one, other, rates.alone, &unlike));
                }
                _ => steps.extend(in_step(one, other)),
            }
        }
    }
    steps.extend(in_step(olds.end..old.len(), news.end..new.len()));
    steps
}

/// The alignment of least cost.
pub(crate) fn cheapest(
    old: Range<usize>,
    new: Range<usize>,
    alone: u32,
    unlike: impl Fn(usize, usize) -> u32,
) -> Vec<Pairing> {
    let width = new.len() + 1;
    // From each pair of places on: what the rest costs, and the first step of it.
    let mut rest: Vec<(u32, Option<Pairing>)> = vec![(0, None); (old.len() + 1) * width];
    for one in (0..=old.len()).rev() {
        for other in (0..=new.len()).rev() {
            let from = |one: usize, other: usize| rest[one * width + other].0;
            let (at, with) = (old.start + one, new.start + other);
            let (more_old, more_new) = (one < old.len(), other < new.len());
            let both = (more_old && more_new)
                .then(|| (unlike(at, with) + from(one + 1, other + 1), Pairing::Both(at, with)));
            let gone = more_old.then(|| (alone + from(one + 1, other), Pairing::Old(at)));
            let fresh = more_new.then(|| (alone + from(one, other + 1), Pairing::New(with)));
            let choices = [both, gone, fresh].into_iter().flatten();
            if let Some((cost, step)) = choices.min_by_key(|(cost, _)| *cost) {
                rest[one * width + other] = (cost, Some(step));
            }
        }
    }
    let (mut steps, mut one, mut other) = (Vec::new(), 0, 0);
    while let Some(step) = rest[one * width + other].1 {
        one += usize::from(!matches!(step, Pairing::New(_)));
        other += usize::from(!matches!(step, Pairing::Old(_)));
        steps.push(step);
    }
    steps
}

/// One by one; what is left of the longer list stands alone.
fn in_step(old: Range<usize>, new: Range<usize>) -> impl Iterator<Item = Pairing> {
    let both = old.len().min(new.len());
    let pairs = old.clone().zip(new.clone()).map(|(one, other)| Pairing::Both(one, other));
    pairs.chain(old.skip(both).map(Pairing::Old)).chain(new.skip(both).map(Pairing::New))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { longest: 8, most_pairs: 12, alone: 45 };

    fn check(old: &str, new: &str, expected: &[Pairing]) {
        let unlike = |at: usize, with: usize| {
            let (old, new) = (old.as_bytes()[at], new.as_bytes()[with]);
            if old.eq_ignore_ascii_case(&new) { 20 } else { 100 }
        };
        let list = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
        assert_eq!(align(&list(old), &list(new), RATES, unlike), expected, "{old} {new}");
    }

    #[test]
    fn equal_elements_are_partners_and_between_them_those_that_are_alike() {
        use Pairing::{Both, New, Old};
        check("abc", "abc", &[Both(0, 0), Both(1, 1), Both(2, 2)]);
        check("abc", "axbc", &[Both(0, 0), New(1), Both(1, 2), Both(2, 3)]);
        check("abc", "ac", &[Both(0, 0), Old(1), Both(2, 1)]);
        check("abc", "axBc", &[Both(0, 0), New(1), Both(1, 2), Both(2, 3)]);
        check("ab", "xy", &[Old(0), Old(1), New(0), New(1)]);
        check("", "a", &[New(0)]);
    }

    #[test]
    fn what_is_too_much_is_paired_one_by_one() {
        use Pairing::{Both, New};
        check("abcd", "wABCD", &[Both(0, 0), Both(1, 1), Both(2, 2), Both(3, 3), New(4)]);
        let pairs: Vec<Pairing> = (0..9).map(|at| Both(at, at)).collect();
        check("abcdefghi", "bcdefghia", &pairs);
    }
}
