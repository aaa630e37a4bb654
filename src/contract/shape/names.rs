//! Names that are data: those of a map, and those that clients choose.

use std::collections::{BTreeSet, HashMap};

use super::format::{ID, UUID, formats};
use super::learn::Column;
use super::sample::Sample;
use crate::identity::identifiers;

/// Fewer names are fields.
const FEWEST_KEYS: usize = 6;

/// So many that none of them is said twice are none: how likely the next one is new is what share of all was said once
/// (after Good, Biometrika 1953).
const FEWEST_APART: usize = 4;

/// The entropy in nats above which names are data (Spoth et al., SIGMOD 2021).
const ENTROPY: f64 = 1.0;

/// A name that stands everywhere is no accident if chance explains it more rarely.
const CHANCE: f64 = 0.05;

/// How clients name the members of what they put into one field.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    objects: usize,
    names: HashMap<String, usize, foldhash::fast::RandomState>,
}

impl Naming {
    /// Counts another object.
    pub(crate) fn open(&mut self) {
        self.objects += 1;
    }

    /// Counts a member of an object that was counted.
    pub(crate) fn name(&mut self, name: &str) {
        if let Some(count) = self.names.get_mut(name) {
            *count += 1;
        } else {
            self.names.insert(name.to_owned(), 1);
        }
    }

    /// Whether clients choose the names.
    pub(crate) fn is_free(&self) -> bool {
        vary(self.names.values().copied(), self.objects)
    }

    /// Whether so many recordings may all have a name because clients chose it.
    pub(super) fn is_chance(&self, name: &str, recordings: usize) -> bool {
        let count = self.names.get(name).copied().unwrap_or_default();
        let share = count as f64 / self.objects.max(1) as f64;
        share.powi(i32::try_from(recordings).unwrap_or(i32::MAX)) >= CHANCE
    }
}

/// Whether no name is in all objects, and names vary much: −Σ p ln p over the shares of the objects that have
/// each name. The counts say how many have it. Fewer names do if each object has its own.
pub(super) fn vary(counts: impl Iterator<Item = usize> + Clone, objects: usize) -> bool {
    let shares = || counts.clone().map(|count| count as f64 / objects as f64);
    let names = counts.clone().count();
    let are_apart = objects >= FEWEST_APART && names >= objects && counts.clone().all(|it| it == 1);
    are_apart
        || names >= FEWEST_KEYS
            && counts.clone().all(|count| count < objects)
            && -shares().map(|share| share * share.ln()).sum::<f64>() > ENTROPY
}

/// Whether members say values that are alike; there are some.
pub(super) fn are_alike(members: &[Column<'_>]) -> bool {
    let mut outlines = members.iter().map(|it| Outline::of(it.values.iter().map(|it| it.1)));
    outlines.next().is_some_and(|first| outlines.all(|outline| outline == first))
}

/// How long a UUID with dashes is.
const UUID_LENGTH: usize = 36;

/// A shorter name is a word.
const SHORTEST: usize = 10;

/// Whether a name may be what something is identified by elsewhere: `local-run-16`, as a `run_id` says, too.
pub(super) fn may_be_given(name: &str) -> bool {
    name.len() >= SHORTEST && name.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a name was minted, or has something in it that was: `!QsDMy3cY3gOuCJnJjS:example.org`.
pub(super) fn is_data(name: &str) -> bool {
    let is_composed = || name.bytes().any(|byte| b":@/#!$".contains(&byte));
    let is_minted = || formats(name).0 & (ID | UUID) != 0;
    let ends_in_uuid = || {
        let end = name.len().checked_sub(UUID_LENGTH).and_then(|at| name.get(at..));
        end.is_some_and(|end| formats(end).0 & UUID != 0)
    };
    name.len() >= SHORTEST
        && (is_minted() || ends_in_uuid() || is_composed() && identifiers(name).next().is_some())
}

/// What makes values alike: their kinds, `null` apart, and the names of fields.
#[derive(PartialEq, Default)]
struct Outline<'s> {
    kinds: [bool; 4],
    names: BTreeSet<&'s str>,
    elements: Option<Box<Outline<'s>>>,
}

impl<'s> Outline<'s> {
    fn of(values: impl Iterator<Item = &'s Sample<'s>>) -> Self {
        let (mut outline, mut elements) = (Self::default(), Vec::new());
        let mut arrays = false;
        for value in values {
            match value {
                Sample::Deep | Sample::Null => {}
                Sample::Boolean => outline.kinds[0] = true,
                Sample::Number(_) => outline.kinds[1] = true,
                Sample::String(_) => outline.kinds[2] = true,
                Sample::Array(inner) => {
                    arrays = true;
                    elements.extend(inner.iter().map(|element| &element.value));
                }
                Sample::Object(members) => {
                    outline.kinds[3] = true;
                    let names = members.iter().map(|member| &*member.name);
                    outline.names.extend(names.filter(|name| !is_data(name)));
                }
            }
        }
        outline.elements = arrays.then(|| Box::new(Self::of(elements.into_iter())));
        outline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_data_if_something_in_it_was_minted() {
        assert!(is_data("run-8f3a9c2b1d") && is_data("!QsDMy3cY3gOuCJnJjS:example.org"));
        assert!(is_data("lc_run--6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"));
        for name in [
            "@odata.nextLink",
            "app.kubernetes.io/name",
            "value@odata.type",
            "http://schema.org/name",
        ] {
            assert!(!is_data(name), "{name}");
        }
    }

    #[test]
    fn names_are_data_where_each_object_has_its_own() {
        let vary = |counts: &[usize], objects| vary(counts.iter().copied(), objects);

        assert!(vary(&[1, 1, 1, 1], 4));
        assert!(!vary(&[1, 1, 1], 3) && !vary(&[2, 1, 1], 4) && !vary(&[1, 1, 1], 4));
        assert!(vary(&[2, 1, 1, 2, 1, 1, 1], 8) && !vary(&[8, 1, 1, 1, 1, 1, 1], 8));
    }
}
