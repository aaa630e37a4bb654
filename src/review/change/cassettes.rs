//! Which interactions are not what they were.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Turn, differences, is_same};
use super::report::{CassettePair, InteractionPair, State};
use crate::cassette::{Cassette, Interaction, Name};
use crate::compare::alignment::{Renaming, Sides};
use crate::message::Protocols;

/// The cassettes that are not the same but for identifiers and times.
pub(super) fn pairs(
    protocols: &Protocols,
    old: &[(Name, Cassette)],
    new: &[(Name, Cassette)],
) -> Vec<CassettePair> {
    let by_name = |all: &'_ [(Name, Cassette)]| -> BTreeMap<String, usize> {
        let numbered = all.iter().enumerate();
        numbered.map(|(number, (name, _))| (name.to_string(), number)).collect()
    };
    let (olds, news) = (by_name(old), by_name(new));
    let names: BTreeSet<&String> = olds.keys().chain(news.keys()).collect();
    let names: Vec<&String> = names.into_iter().collect();
    let pair = |name: &&String| {
        let was = olds.get(*name).map(|number| &old[*number].1);
        let is = news.get(*name).map(|number| &new[*number].1);
        pair(protocols, name, was, is)
    };
    super::parallel::each(&names, pair).into_iter().flatten().collect()
}

/// A cassette before and after, if it is not the same.
fn pair(
    protocols: &Protocols,
    name: &str,
    old: Option<&Cassette>,
    new: Option<&Cassette>,
) -> Option<CassettePair> {
    let state = match (old, new) {
        (Some(_), Some(_)) => State::Kept,
        (Some(_), None) => State::Lost,
        (None, _) => State::New,
    };
    let nothing = Cassette::default();
    let both = Both { protocols, old: old.unwrap_or(&nothing), new: new.unwrap_or(&nothing) };
    let (interactions, same) = both.compared();
    let pair = CassettePair { name: name.to_owned(), state, same, interactions };
    (state != State::Kept || !pair.interactions.is_empty()).then_some(pair)
}

/// Two recordings of the same scenario.
struct Both<'a> {
    protocols: &'a Protocols,
    old: &'a Cassette,
    new: &'a Cassette,
}

impl Both<'_> {
    /// The interactions that are not the same, and how many are.
    fn compared(&self) -> (Vec<InteractionPair>, usize) {
        let (olds, news) = (&self.old.interactions[..], &self.new.interactions[..]);
        let is_kept = |(old, new): &(&Interaction, &Interaction)| is_same(old, new);
        // What was recorded again in the words of before is mostly the same to the byte.
        let front = olds.iter().zip(news).take_while(is_kept).count();
        let (olds, news) = (&olds[front..], &news[front..]);
        let back = olds.iter().rev().zip(news.iter().rev()).take_while(is_kept).count();
        let (olds, news) = (&olds[..olds.len() - back], &news[..news.len() - back]);
        let mut sides = Sides::between(olds, news);
        let mut interactions = Vec::new();
        let mut same = front + back;
        let alignment = sides.align(None);
        for (old, new) in alignment.in_order() {
            let is_same = old.zip(new).is_some_and(|(old, new)| {
                is_same(&olds[old], &news[new]) || sides.are_same(old, new)
            });
            let [old, new] = [old, new].map(|number| number.map(|number| front + number));
            match (!is_same).then(|| self.pair(&alignment.renaming, old, new)).flatten() {
                Some(pair) => interactions.push(pair),
                None => same += 1,
            }
        }
        (interactions, same)
    }

    /// Two interactions side by side, or one alone; nothing if only what is another each time differs.
    fn pair(
        &self,
        renaming: &Renaming,
        old: Option<usize>,
        new: Option<usize>,
    ) -> Option<InteractionPair> {
        let old = old.map(|number| Turn::of(self.protocols, self.old, number));
        let new = new.map(|number| Turn::of(self.protocols, self.new, number));
        let (differences, more) = match (&old, &new) {
            (Some(old), Some(new)) => differences(renaming, old, new),
            _ => (Vec::new(), 0),
        };
        if old.is_some() && new.is_some() && differences.is_empty() {
            return None;
        }
        let [old, new] = [&old, &new].map(|turn| turn.as_ref().map(Turn::exchange));
        Some(InteractionPair { old, new, differences, more })
    }
}
