//! Which interactions are not what they were.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Turn, differences, is_same};
use super::report::{CassettePair, InteractionPair, State};
use crate::cassette::{Cassette, Interaction, Name};
use crate::compare::alignment::{Renaming, Sides};
use crate::contract::Traffic;

/// The cassettes that are not the same but for identifiers and times.
pub(super) fn pairs(
    was: (&Traffic, &[(Name, Cassette)]),
    is: (&Traffic, &[(Name, Cassette)]),
) -> Vec<CassettePair> {
    let by_name = |all: &'_ [(Name, Cassette)]| -> BTreeMap<String, usize> {
        let numbered = all.iter().enumerate();
        numbered.map(|(number, (name, _))| (name.to_string(), number)).collect()
    };
    let (olds, news) = (by_name(was.1), by_name(is.1));
    let names: BTreeSet<&String> = olds.keys().chain(news.keys()).collect();
    let names: Vec<&String> = names.into_iter().collect();
    type Cassettes<'a> = (&'a Traffic, &'a [(Name, Cassette)]);
    fn side<'a>((traffic, all): Cassettes<'a>, number: Option<&usize>) -> Option<Side<'a>> {
        let number = *number?;
        Some(Side { traffic, number, cassette: &all[number].1 })
    }
    let pair = |name: &&String| pair(name, side(was, olds.get(*name)), side(is, news.get(*name)));
    super::parallel::each(&names, pair).into_iter().flatten().collect()
}

/// A cassette before and after, if it is not the same.
fn pair(name: &str, old: Option<Side<'_>>, new: Option<Side<'_>>) -> Option<CassettePair> {
    let state = match (old, new) {
        (Some(_), Some(_)) => State::Kept,
        (Some(_), None) => State::Lost,
        (None, _) => State::New,
    };
    let (interactions, same) = Both { old, new }.compared();
    let pair = CassettePair { name: name.to_owned(), state, same, interactions };
    (state != State::Kept || !pair.interactions.is_empty()).then_some(pair)
}

/// A cassette among those of its side, by its number.
#[derive(Clone, Copy)]
struct Side<'a> {
    traffic: &'a Traffic,
    number: usize,
    cassette: &'a Cassette,
}

impl<'a> Side<'a> {
    fn turn(self, number: usize) -> Turn<'a> {
        let protocols = self.traffic.protocols_of(self.number, number);
        Turn::of(protocols, self.cassette, number)
    }
}

/// Two recordings of the same scenario.
struct Both<'a> {
    old: Option<Side<'a>>,
    new: Option<Side<'a>>,
}

impl Both<'_> {
    /// The interactions that are not the same, and how many are.
    fn compared(&self) -> (Vec<InteractionPair>, usize) {
        let [olds, news] =
            [self.old, self.new].map(|side| side.map_or(&[][..], |it| &it.cassette.interactions));
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
        let old = self.old.zip(old).map(|(side, number)| side.turn(number));
        let new = self.new.zip(new).map(|(side, number)| side.turn(number));
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
