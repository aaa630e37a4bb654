//! Names with values, in which the order of different names does not count.

use super::{Differences, Mask, Place, Sort, Value};
use crate::text::percent;

/// A name, and what it is set to.
pub(super) type Parameter = (String, Value);

/// More are not looked at.
const MOST: usize = 2000;

/// The parameters of a query or a form, decoded.
pub(super) fn parameters(text: &str) -> Vec<Parameter> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let decoded = pairs.take(MOST).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = percent::form_decoded(name).into_owned();
        (name, Value::text(percent::form_decoded(value)))
    });
    decoded.collect()
}

/// Compares what has names. A repeated name is compared one by one, equal values first.
pub(super) fn compare(
    recorded: Vec<Parameter>,
    asked: Vec<Parameter>,
    place: fn(String) -> Place,
    mask: Mask<'_>,
    found: &mut Differences,
) {
    let mut asked: Vec<Option<Parameter>> = asked.into_iter().map(Some).collect();
    let mut take = |old: &Parameter, fits: &dyn Fn(&Value) -> bool| {
        let fitting = |new: &&mut Option<Parameter>| {
            new.as_ref().is_some_and(|(name, value)| *name == old.0 && fits(value))
        };
        asked.iter_mut().find(fitting).and_then(Option::take)
    };
    let mut left = Vec::new();
    for old in recorded {
        if take(&old, &|value| *value == old.1).is_none() {
            left.push(old);
        }
    }
    let mut changed = Vec::new();
    for old in left {
        match take(&old, &|value| masked(value, mask) == masked(&old.1, mask)) {
            Some(new) => found.changed(place(old.0), old.1, new.1, Sort::Renamed),
            None => changed.push(old),
        }
    }
    for old in changed {
        match take(&old, &|_| true) {
            Some(new) => found.changed(place(old.0), old.1, new.1, Sort::Changed),
            None => found.missing(place(old.0), old.1),
        }
    }
    for (name, value) in asked.into_iter().flatten() {
        found.extra(place(name), value);
    }
}

/// A text behind the mask; bytes are what they are.
fn masked(value: &Value, mask: Mask<'_>) -> Option<String> {
    value.said().map(|said| mask(&said).into_owned())
}
