//! Places that say other words than before.

use std::collections::BTreeSet;

use super::draft::{Draft, at};
use super::renames::tell_once;
use super::report::Part;
use super::rule::Rule;
use crate::contract::shape::{Gain, Gained, Loss, Lost, Schema};

/// So many words are named.
const NAMED: usize = 3;

/// Tells of all words of a place as one change, where none is said any more of those that were: they are spelled
/// otherwise. The places are given back.
pub(super) fn respell(
    drafts: &mut Vec<Draft>,
    gains: &[Gain],
    sides: [&Schema; 2],
    part: Part,
) -> BTreeSet<Vec<String>> {
    let mut places = BTreeSet::new();
    for gain in gains {
        let (rule, object, field) = match (&gain.what, gain.place.split_last()) {
            (Gained::Kind(tag, _), _) => (Rule::KindNew, &gain.place[..], tag),
            (Gained::Value(_), Some((field, object))) => (Rule::ValueNew, object, field),
            _ => continue,
        };
        let [was, is] = sides.map(|side| side.words_at(object, field));
        let path = gain.at();
        let is_it = |draft: &Draft| draft.rule == rule && draft.path == path;
        let is_respelled = !was.is_empty() && !is.is_empty() && was.is_disjoint(&is);
        if !is_respelled || drafts.iter().filter(|draft| is_it(draft)).count() < 2 {
            continue;
        }
        let words: Vec<String> = is.iter().take(NAMED).map(|word| format!("`{word}`")).collect();
        let others = if is.len() > NAMED { " and others" } else { "" };
        let named = at(part, &path);
        let (what, key) = match rule {
            Rule::KindNew => (
                format!("{named} is of other kinds, told by `{field}`"),
                format!("{field} other words"),
            ),
            _ => (format!("{named} says other words"), "other words".to_owned()),
        };
        let what = format!("{what}: {}{others}, and none that was known", words.join(", "));
        tell_once(drafts, is_it, |all| Draft { what, ..all }.keyed(key));
        places.insert(gain.place.clone());
    }
    places
}

/// Whether it is told of a place that it says other words.
pub(super) fn is_told(loss: &Loss, places: &BTreeSet<Vec<String>>) -> bool {
    let is_word = matches!(loss.what, Lost::Value(_) | Lost::Kind(..));
    is_word && places.contains(&loss.place)
}
