//! Arrays whose elements mean something by their place: `["message", {"id": 7}]`, `[chunk, metadata]`.
//!
//! # Rationale
//!
//! The elements of a list are of one kind, and there may be any number of them. Those of a tuple differ, each is of
//! its own type at its place, and there are always as many. If each were of one of two types by lot, all arrays of `n`
//! elements in `r` recordings would be alike by a chance of `2 ^ -n(r - 1)`.

use std::collections::BTreeSet;

use super::evidence::Witness;
use super::sample::{Element, Sample};
use crate::contract::order::BY_CHANCE;

/// Longer ones are lists.
const MOST: usize = 16;

/// What the place of an element is called among the steps of a place in a promise: `[0]`.
pub(super) fn name(index: usize) -> String {
    format!("[{index}]")
}

/// The place of an element that a step says.
pub(crate) fn index(step: &str) -> Option<usize> {
    step.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// How many elements each of these arrays has, if they are tuples. `recordings` says how many independent recordings
/// they are from.
pub(super) fn length(
    arrays: &[(&[Element<'_>], Witness)],
    recordings: impl FnOnce() -> usize,
) -> Option<usize> {
    let length = arrays.first().map(|(elements, _)| elements.len())?;
    let are_alike = (2..=MOST).contains(&length) && arrays.iter().all(|it| it.0.len() == length);
    if !are_alike {
        return None;
    }
    let places: Vec<ElementKind<'_>> = (0..length)
        .map(|index| ElementKind::of(arrays.iter().map(|(elements, _)| &elements[index].value)))
        .collect::<Option<_>>()?;
    let are_apart = places
        .iter()
        .enumerate()
        .any(|(number, one)| places[..number].iter().any(|other| one.is_apart(other)));
    let by_lot = |recordings: usize| 0.5_f64.powf((length * recordings.saturating_sub(1)) as f64);
    (are_apart && by_lot(recordings()) < BY_CHANCE).then_some(length)
}

/// The elements at one place.
enum ElementKind<'s> {
    /// Nothing but `null`.
    Null,
    Boolean,
    Number,
    String,
    Array,
    /// Objects, with the names of their members.
    Object(BTreeSet<&'s str>),
}

impl<'s> ElementKind<'s> {
    /// None if they are of several types; `null` may stand beside any.
    fn of(values: impl Iterator<Item = &'s Sample<'s>>) -> Option<Self> {
        values.into_iter().try_fold(Self::Null, |all, value| {
            Some(match (all, value) {
                (all, Sample::Null) => all,
                (Self::Null | Self::Boolean, Sample::Boolean) => Self::Boolean,
                (Self::Null | Self::Number, Sample::Number(_)) => Self::Number,
                (Self::Null | Self::String, Sample::String(_)) => Self::String,
                (Self::Null | Self::Array, Sample::Array(_)) => Self::Array,
                (Self::Null, Sample::Object(members)) => {
                    Self::Object(members.iter().map(|member| &*member.name).collect())
                }
                (Self::Object(mut names), Sample::Object(members)) => {
                    names.extend(members.iter().map(|member| &*member.name));
                    Self::Object(names)
                }
                _ => return None,
            })
        })
    }

    /// Whether nothing at one place could stand at the other: it is of another type, or an object without any
    /// field of the other. Objects of one field may say by it of which kind they are: `{"circle": …}`, `{"line": …}`.
    fn is_apart(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, _) | (_, Self::Null) => false,
            (Self::Object(one), Self::Object(other)) => {
                one.len() > 1 && other.len() > 1 && one.is_disjoint(other)
            }
            (one, other) => std::mem::discriminant(one) != std::mem::discriminant(other),
        }
    }
}
