//! Which interactions are not what they were.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::exchange::{differences, exchange, is_same, route};
use super::report::{CassettePair, InteractionPair, State};
use crate::cassette::{Cassette, Interaction, Name};

/// The cassettes that are not the same but for identifiers and times.
pub(super) fn pairs(old: &[(Name, Cassette)], new: &[(Name, Cassette)]) -> Vec<CassettePair> {
    let by_name = |all: &'_ [(Name, Cassette)]| -> BTreeMap<String, usize> {
        let numbered = all.iter().enumerate();
        numbered.map(|(number, (name, _))| (name.to_string(), number)).collect()
    };
    let (olds, news) = (by_name(old), by_name(new));
    let names: BTreeSet<&String> = olds.keys().chain(news.keys()).collect();
    let names: Vec<&String> = names.into_iter().collect();
    let pair = |name: &&String| match (olds.get(*name), news.get(*name)) {
        (Some(was), Some(is)) => both(name, &old[*was].1, &new[*is].1),
        (Some(was), None) => Some(alone(name, &old[*was].1, State::Lost)),
        (None, Some(is)) => Some(alone(name, &new[*is].1, State::New)),
        (None, None) => None,
    };
    super::parallel::each(&names, pair).into_iter().flatten().collect()
}

fn alone(name: &str, cassette: &Cassette, state: State) -> CassettePair {
    let all = cassette.interactions.iter().enumerate();
    let interactions = all.map(|(number, one)| match state {
        State::Lost => apart(Some((number, one)), None),
        _ => apart(None, Some((number, one))),
    });
    CassettePair { name: name.to_owned(), state, same: 0, interactions: interactions.collect() }
}

type Numbered<'a> = (usize, &'a Interaction);

fn apart(old: Option<Numbered<'_>>, new: Option<Numbered<'_>>) -> InteractionPair {
    let of = |one: Option<Numbered<'_>>| one.map(|(number, it)| exchange(number, it));
    InteractionPair { old: of(old), new: of(new), differences: Vec::new(), more: 0 }
}

fn both(name: &str, old: &Cassette, new: &Cassette) -> Option<CassettePair> {
    let mut interactions = Vec::new();
    let mut same = 0;
    for (was, is) in aligned(&old.interactions, &new.interactions) {
        let of = |number: Option<usize>, all: &'_ [Interaction]| number.map(|it| all[it].clone());
        match (was, is) {
            (Some(was), Some(is)) => {
                let (one, other) = (&old.interactions[was], &new.interactions[is]);
                match compared((was, one), (is, other)) {
                    Some(pair) => interactions.push(pair),
                    None => same += 1,
                }
            }
            (was, is) => {
                let (one, other) = (of(was, &old.interactions), of(is, &new.interactions));
                interactions.push(apart(was.zip(one.as_ref()), is.zip(other.as_ref())));
            }
        }
    }
    let pair = CassettePair { name: name.to_owned(), state: State::Kept, same, interactions };
    (!pair.interactions.is_empty()).then_some(pair)
}

fn compared(old: Numbered<'_>, new: Numbered<'_>) -> Option<InteractionPair> {
    if is_same(old.1, new.1) {
        return None;
    }
    let (differences, more) = differences(old.1, new.1);
    let pair = apart(Some(old), Some(new));
    (!differences.is_empty()).then_some(InteractionPair { differences, more, ..pair })
}

/// Which interaction belongs to which: by method and path, in order.
fn aligned(old: &[Interaction], new: &[Interaction]) -> Vec<(Option<usize>, Option<usize>)> {
    let routes = |all: &[Interaction]| -> Vec<String> { all.iter().map(route).collect() };
    let ops = capture_diff_slices(Algorithm::Myers, &routes(old), &routes(new));
    let mut pairs = Vec::new();
    for op in ops {
        let (olds, news) = (op.old_range(), op.new_range());
        if op.tag() == DiffTag::Equal {
            pairs.extend(olds.zip(news).map(|(one, other)| (Some(one), Some(other))));
        } else {
            pairs.extend(olds.map(|one| (Some(one), None)));
            pairs.extend(news.map(|other| (None, Some(other))));
        }
    }
    pairs
}
