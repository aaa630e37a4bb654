//! Which field tells the objects of a place apart, if one does.
//!
//! By description length (ALGORITHMS: *tagged unions first*; Klettke et al., DEco@VLDB 2022; Yun et
//! al., VLDB 2024): a tag is worth what it saves in saying which object has which field.

use std::collections::BTreeMap;

use super::learn::Shape;
use super::objects::{Field, Objects};
use super::tags::{Group, KNOWN, Tag, Words};

/// Bits for a branch.
const BRANCH: f64 = 4.0;

/// Bits for a field that some branches have for themselves, beyond the first.
const FIELD: f64 = 1.0;

/// What a tag must save that has no known name.
const UNKNOWN: f64 = 40.0;

/// The tag of these objects.
pub(super) fn tag(objects: &Objects) -> Option<(&str, &[Group])> {
    let candidates = objects.tags.0.iter().filter_map(|tag| {
        let Words::Many(groups) = &tag.said else { return None };
        let gain = gain(objects, tag, groups);
        (gain > 0.0).then_some((rank(tag), gain, tag, groups))
    });
    let best = candidates.max_by(|a, b| {
        (a.0.is_some(), a.1)
            .partial_cmp(&(b.0.is_some(), b.1))
            .expect("bits are numbers")
            .then(b.0.cmp(&a.0))
    })?;
    Some((&best.2.field, best.3))
}

/// The place among the known names.
fn rank(tag: &Tag) -> Option<usize> {
    KNOWN.iter().position(|known| **known == *tag.field)
}

/// The bits that it saves to know the tag first.
fn gain(objects: &Objects, tag: &Tag, groups: &[Group]) -> f64 {
    let apart: f64 = groups.iter().map(|(_, group)| bits(group)).sum();
    let price = BRANCH * groups.len() as f64 + FIELD * repeated(groups) as f64;
    let known = if rank(tag).is_some() { 0.0 } else { UNKNOWN };
    bits(objects) - apart - price - known
}

/// The bits that say which object has which field, and of which kind its value is.
fn bits(objects: &Objects) -> f64 {
    let of_field = |field: &Field| {
        let (all, present) = (objects.tally.count, field.present.count);
        choices(&[present, all - present.min(all)]) + choices(&kinds(&field.shape))
    };
    objects.fields.iter().map(of_field).sum()
}

fn kinds(shape: &Shape) -> [u64; 6] {
    [
        shape.null.count,
        shape.boolean.count,
        shape.integer.count + shape.number.count,
        shape.strings.as_ref().map_or(0, |strings| strings.tally.count),
        shape.arrays.as_ref().map_or(0, |arrays| arrays.tally.count),
        shape.objects.as_ref().map_or(0, |objects| objects.tally.count),
    ]
}

/// log2 of the ways to divide a number of things so: log2 (n! / Π k!).
fn choices(counts: &[u64]) -> f64 {
    let all = counts.iter().sum();
    log_factorial(all) - counts.iter().map(|count| log_factorial(*count)).sum::<f64>()
}

/// log2 n!, after Stirling where n is large.
fn log_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|factor| (factor as f64).log2()).sum();
    }
    let x = n as f64;
    let natural = x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + 1.0 / (12.0 * x);
    natural / std::f64::consts::LN_2
}

/// How many fields must be told again: those of several groups, but not of all.
fn repeated(groups: &[Group]) -> usize {
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for field in groups.iter().flat_map(|(_, group)| &group.fields) {
        *owners.entry(&field.name).or_default() += 1;
    }
    owners.values().filter(|owners| **owners < groups.len()).map(|owners| owners - 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factorial_of_large_numbers_goes_on_where_that_of_small_ones_ends() {
        let exact: f64 = (2..=40).map(|factor| f64::from(factor).log2()).sum();

        assert!((log_factorial(40) - exact).abs() < 1e-6);
        assert!((choices(&[1, 9]) - 10f64.log2()).abs() < 1e-9);
    }
}
