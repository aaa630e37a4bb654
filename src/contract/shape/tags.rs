//! Which field tells the objects of a place apart, if one does.
//!
//! By description length (ALGORITHMS: *tagged unions first*; Klettke et al., DEco@VLDB 2022; Yun et
//! al., VLDB 2024): a tag is worth what it saves in saying which object has which field.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Witness;
use super::learn::{Column, MOST_FIELDS, Objects};
use super::names::is_data;
use super::sample::Sample;
use crate::message::telling;

/// The most values of a tag of a known name, and of another one.
const MOST_KNOWN: usize = 128;
const MOST: usize = 16;

/// Bits for a branch.
const BRANCH: f64 = 4.0;

/// Bits for a field that some branches have for themselves, beyond the first.
const FIELD: f64 = 1.0;

/// What a tag must save that has no known name.
const UNKNOWN: f64 = 40.0;

/// Whether words are names of things: they have the same beginning, and behind it most have a digit, as `t3_c27k8n` has.
fn are_numbered<'w>(words: impl Iterator<Item = &'w &'w str> + Clone) -> bool {
    let first = words.clone().next().map_or("", |word| *word);
    let Some(mark) = first.rfind(['_', '-', ':', '/']) else { return false };
    let rest = |word: &'w str| word.strip_prefix(&first[..=mark]);
    let has_digit =
        |word: &&&'w str| rest(word).is_some_and(|it| it.bytes().any(|b| b.is_ascii_digit()));
    let count = words.clone().count();
    words.clone().all(|word| rest(word).is_some()) && words.filter(has_digit).count() * 2 >= count
}

/// A field that has said a word in every object, and the numbers of the objects that say each.
pub(super) struct Tag<'s> {
    pub(super) field: &'s str,
    pub(super) groups: BTreeMap<&'s str, Vec<usize>>,
    /// The place of the field among the known names.
    rank: Option<usize>,
}

impl<'s> Tag<'s> {
    /// The tag of these objects. A word that a client has made up tells nothing apart, unless the name of
    /// the field says that it does: both sides know the kinds of a protocol, and either may say one first.
    /// Where the field only repeats what the client has chosen, its name says nothing.
    pub(super) fn of(
        objects: &Objects<'s>,
        is_made_up: &dyn Fn(&str) -> bool,
        is_chosen: &dyn Fn(&Self) -> bool,
    ) -> Option<Self> {
        let candidates = objects.members().filter_map(|field| {
            let mut tag = Self::candidate(field, objects.count())?;
            if tag.rank.is_some() && is_chosen(&tag) {
                tag.rank = None;
            }
            if tag.rank.is_none() && tag.groups.keys().any(|word| is_made_up(word)) {
                return None;
            }
            let mut gain = tag.gain(objects);
            if gain <= 0.0 {
                gain += tag.inner_gain(objects);
            }
            (gain > 0.0).then_some((tag.rank, gain, tag))
        });
        let best = candidates.max_by(|a, b| {
            (a.0.is_some(), a.1)
                .partial_cmp(&(b.0.is_some(), b.1))
                .expect("bits are numbers")
                .then(b.0.cmp(&a.0))
        });
        best.map(|(_, _, tag)| tag)
    }

    /// A field that is missing in one object, that says something which is no word, always the same or
    /// too many different things, is no tag.
    fn candidate(field: &Column<'s>, objects: usize) -> Option<Self> {
        if field.values.len() < objects {
            return None;
        }
        let rank = telling::rank(field.name);
        let most = if rank.is_some() { MOST_KNOWN } else { MOST };
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (object, value) in &field.values {
            let Sample::String(said) = value else { return None };
            if let Some(group) = groups.get_mut(&*said.text) {
                group.push(*object);
            } else if said.is_word() && groups.len() < most {
                groups.insert(&said.text, vec![*object]);
            } else {
                return None;
            }
        }
        let is_tag = groups.len() > 1 && !(rank.is_none() && are_numbered(groups.keys()));
        is_tag.then_some(Self { field: field.name, groups, rank })
    }

    /// Whether it names each object rather than its kind: those that stand together never have the same, as the tools
    /// in a list. Others may come then. A field that is called like a kind says one.
    pub(super) fn is_name(&self, together: impl Fn(usize) -> Witness) -> bool {
        let mut names: BTreeMap<Witness, usize> = BTreeMap::new();
        self.rank.is_none()
            && self.groups.values().all(|group| {
                let places: BTreeSet<Witness> = group.iter().map(|one| together(*one)).collect();
                places.iter().for_each(|place| *names.entry(*place).or_default() += 1);
                places.len() == group.len()
            })
            && names.values().any(|count| *count > 1)
    }

    /// The number of its group, by the number of the object.
    fn group_of(&self, objects: &Objects<'_>) -> Vec<usize> {
        let mut group_of = vec![0; objects.count()];
        for (number, group) in self.groups.values().enumerate() {
            group.iter().for_each(|object| group_of[*object] = number);
        }
        group_of
    }

    /// The bits that it saves to know the tag before what is in the fields, as in `{type, data: {…}}`.
    fn inner_gain(&self, objects: &Objects<'_>) -> f64 {
        let group_of = self.group_of(objects);
        let inner = |field: &Column<'_>| inner_gain(&field.values, &group_of, self.groups.len());
        objects.fields.iter().map(inner).sum::<f64>().max(0.0)
    }

    /// The bits that it saves to know the tag first.
    fn gain(&self, objects: &Objects<'_>) -> f64 {
        let group_of = self.group_of(objects);
        let sizes: Vec<u64> = self.groups.values().map(|group| group.len() as u64).collect();
        let all = objects.count() as u64;
        // Fields that must be told again: those of several groups, but not of all.
        let (mut whole, mut repeated) = (0.0, 0);
        let mut apart = vec![0.0; sizes.len()];
        for field in &objects.fields {
            let mut kinds = vec![[0; 7]; sizes.len()];
            for (object, value) in &field.values {
                kinds[group_of[*object]][kind(value)] += 1;
            }
            let mut sum = [0; 7];
            kinds.iter().flat_map(|kinds| kinds.iter().enumerate()).for_each(|(k, n)| sum[k] += n);
            whole += bits(&sum, all);
            for ((bits_of_group, kinds), size) in apart.iter_mut().zip(&kinds).zip(&sizes) {
                *bits_of_group += bits(kinds, *size);
            }
            let owners = kinds.iter().filter(|kinds| kinds.iter().any(|count| *count > 0)).count();
            repeated += if owners < sizes.len() { owners.saturating_sub(1) } else { 0 };
        }
        let price = BRANCH * sizes.len() as f64 + FIELD * repeated as f64;
        let known = if self.rank.is_some() { 0.0 } else { UNKNOWN };
        whole - apart.iter().sum::<f64>() - price - known
    }
}

/// The bits that it saves to know the group of objects before the members of what one of their fields says,
/// those of their members with them.
///
/// There may be many members, and of many some fall into groups by chance. So how many objects of each
/// group have a member is paid for: what falls so by chance saves nothing.
fn inner_gain(values: &[(usize, &Sample<'_>)], group_of: &[usize], groups: usize) -> f64 {
    let mut sizes = vec![0; groups];
    let mut fields: BTreeMap<&str, Vec<(usize, &Sample<'_>)>> = BTreeMap::new();
    for (object, value) in values {
        let Sample::Object(members) = value else { continue };
        sizes[group_of[*object]] += 1;
        for member in members.iter().filter(|member| !is_data(&member.name)) {
            fields.entry(&member.name).or_default().push((*object, &member.value));
        }
    }
    if sizes.iter().filter(|size| **size > 0).count() < 2 || fields.len() > MOST_FIELDS {
        return 0.0;
    }
    let of_field = |values: &Vec<(usize, &Sample<'_>)>| {
        let mut kinds = vec![[0; 7]; groups];
        values.iter().for_each(|(object, value)| kinds[group_of[*object]][kind(value)] += 1);
        let sum = std::array::from_fn(|at| kinds.iter().map(|kinds| kinds[at]).sum());
        let counted = |kinds: &[u64; 7], size: u64| bits(kinds, size) + ((size + 1) as f64).log2();
        let apart: f64 = kinds.iter().zip(&sizes).map(|(kinds, size)| counted(kinds, *size)).sum();
        counted(&sum, sizes.iter().sum()) - apart + inner_gain(values, group_of, groups)
    };
    fields.values().map(of_field).sum()
}

/// The number of a type of values; of those that are too deep nothing is said.
fn kind(value: &Sample<'_>) -> usize {
    match value {
        Sample::Null => 0,
        Sample::Boolean => 1,
        Sample::Number(_) => 2,
        Sample::String(_) => 3,
        Sample::Array(_) => 4,
        Sample::Object(_) => 5,
        Sample::Deep => 6,
    }
}

/// The bits that say which of the objects have a field, and of which kind its value is.
fn bits(kinds: &[u64; 7], objects: u64) -> f64 {
    let present = kinds.iter().sum();
    choices(&[present, objects - present]) + choices(&kinds[..6])
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
