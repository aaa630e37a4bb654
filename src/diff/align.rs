//! Which element of an array corresponds to which of another.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::tree::{Kind, Member, Tree};

/// One step through two arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// An element of each.
    Both(usize, usize),
    /// An element of the first alone.
    Old(usize),
    /// An element of the second alone.
    New(usize),
}

/// Longer arrays are compared element by element once their equal ends are taken away.
const MOST_ALIGNED: usize = 2000;

/// Blocks of more pairs than that are compared element by element.
const MOST_PAIRS: usize = 1024;

/// What it costs to leave an element without a partner, in hundredths of a wholly different one.
const ALONE: u32 = 50;

/// Aligns two arrays in order. Equal elements are partners; between them those that are alike.
pub(super) fn align(old: &[Tree<'_>], new: &[Tree<'_>]) -> Vec<Step> {
    let same = |(one, other): &(&Tree<'_>, &Tree<'_>)| one.masked == other.masked;
    let front = old.iter().zip(new).take_while(same).count();
    let ends = old[front..].iter().rev().zip(new[front..].iter().rev());
    let back = ends.take_while(same).count();
    let (olds, news) = (front..old.len() - back, front..new.len() - back);
    let mut steps: Vec<Step> = in_step(0..front, 0..front).collect();
    steps.extend(match olds.len().max(news.len()) > MOST_ALIGNED {
        true => in_step(olds.clone(), news.clone()).collect(),
        false => middle(old, olds.clone(), new, news.clone()),
    });
    steps.extend(in_step(olds.end..old.len(), news.end..new.len()));
    steps
}

/// Aligns what is between the equal ends.
fn middle(old: &[Tree<'_>], olds: Range<usize>, new: &[Tree<'_>], news: Range<usize>) -> Vec<Step> {
    let hashes = |elements: &[Tree<'_>]| -> Vec<u64> {
        elements.iter().map(|element| element.masked).collect()
    };
    let ops = capture_diff_slices(
        Algorithm::Myers,
        &hashes(&old[olds.clone()]),
        &hashes(&new[news.clone()]),
    );
    let mut steps = Vec::new();
    for op in ops {
        let shifted = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let one = shifted(op.old_range(), olds.start);
        let other = shifted(op.new_range(), news.start);
        match op.tag() {
            DiffTag::Replace => steps.extend(block(old, one, new, other)),
            _ => steps.extend(in_step(one, other)),
        }
    }
    steps
}

/// Pairs the elements of two blocks that have no equal ones.
fn block(old: &[Tree<'_>], olds: Range<usize>, new: &[Tree<'_>], news: Range<usize>) -> Vec<Step> {
    if olds.len() * news.len() > MOST_PAIRS {
        return in_step(olds, news).collect();
    }
    let steps = cheapest(&old[olds.clone()], &new[news.clone()]);
    let shifted = |step| match step {
        Step::Both(one, other) => Step::Both(olds.start + one, news.start + other),
        Step::Old(one) => Step::Old(olds.start + one),
        Step::New(other) => Step::New(news.start + other),
    };
    steps.into_iter().map(shifted).collect()
}

/// The alignment of least cost.
fn cheapest(old: &[Tree<'_>], new: &[Tree<'_>]) -> Vec<Step> {
    let width = new.len() + 1;
    // From each pair of places on: what the rest costs, and the first step of it.
    let mut rest: Vec<(u32, Option<Step>)> = vec![(0, None); (old.len() + 1) * width];
    for one in (0..=old.len()).rev() {
        for other in (0..=new.len()).rev() {
            let from = |one: usize, other: usize| rest[one * width + other].0;
            let (more_old, more_new) = (one < old.len(), other < new.len());
            let both = (more_old && more_new).then(|| {
                let unlike = unlike(&old[one], &new[other]);
                (unlike + from(one + 1, other + 1), Step::Both(one, other))
            });
            let alone = more_old.then(|| (ALONE + from(one + 1, other), Step::Old(one)));
            let fresh = more_new.then(|| (ALONE + from(one, other + 1), Step::New(other)));
            let choices = [both, alone, fresh].into_iter().flatten();
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

/// How unlike two values are that are not equal. Up to twice [`ALONE`] they are compared with each
/// other rather than told as one that is gone and one that is new.
fn unlike(old: &Tree<'_>, new: &Tree<'_>) -> u32 {
    const NOT_COMPARABLE: u32 = 3 * ALONE;
    let is_string = |tree: &Tree<'_>| tree.text.string().is_some();
    match (&old.kind, &new.kind) {
        (Kind::Object(olds), Kind::Object(news)) => {
            let alike: usize = olds
                .iter()
                .filter_map(|member| {
                    let named = |other: &&Member<'_>| other.masked == member.masked;
                    let partner = news.iter().find(named)?;
                    Some(1 + usize::from(partner.value.masked == member.value.masked))
                })
                .sum();
            let most = (olds.len() + news.len()).max(1);
            2 * ALONE * most.saturating_sub(alike) as u32 / most as u32
        }
        (Kind::Array(_), Kind::Array(_)) => ALONE,
        (Kind::Leaf, Kind::Leaf) if is_string(old) == is_string(new) => ALONE + 10,
        (Kind::Leaf, Kind::Leaf) => 2 * ALONE - 10,
        _ => NOT_COMPARABLE,
    }
}

/// Element by element; what is left of the longer one stands alone.
fn in_step(olds: Range<usize>, news: Range<usize>) -> impl Iterator<Item = Step> {
    let both = olds.len().min(news.len());
    let pairs = olds.clone().zip(news.clone()).map(|(one, other)| Step::Both(one, other));
    let alone = olds.skip(both).map(Step::Old);
    pairs.chain(alone).chain(news.skip(both).map(Step::New))
}
