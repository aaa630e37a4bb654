//! Which interactions are not what they were.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Turn, differences, is_same};
use super::report::{CassettePair, InteractionPair, MovedCassette, State};
use crate::cassette::{Cassette, Headers, Id, Interaction, Name};
use crate::compare::alignment::{Called, Moved, Pair, Renaming, Sides};
use crate::contract::Traffic;
use crate::identity::identifiers;

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
    fn side<'a>((traffic, all): Cassettes<'a>, number: Option<&usize>) -> Option<SideCassette<'a>> {
        let number = *number?;
        Some(SideCassette { traffic, number, cassette: &all[number].1 })
    }
    let pair = |name: &&String| pair(name, side(was, olds.get(*name)), side(is, news.get(*name)));
    super::parallel::each(&names, pair).into_iter().flatten().collect()
}

/// The cassettes of before whose name is gone, and in which the same was asked as in one of now whose name
/// is new. Of several, those with the same last name, then those that are the same; one that is left is one that is new.
pub(super) fn moved(old: &[(Name, Cassette)], new: &[(Name, Cassette)]) -> Vec<MovedCassette> {
    let [gone, come] = [(old, new), (new, old)].map(|(here, there)| {
        let names: BTreeSet<&Name> = there.iter().map(|(name, _)| name).collect();
        let alone =
            here.iter().filter(|(name, it)| !names.contains(name) && !it.interactions.is_empty());
        alone.collect::<Vec<_>>()
    });
    if gone.is_empty() || come.is_empty() {
        return Vec::new();
    }
    let mut alike: BTreeMap<Vec<String>, [Vec<&NamedCassette>; 2]> = BTreeMap::new();
    for (side, all) in [gone, come].into_iter().enumerate() {
        for named in all {
            alike.entry(asked(&named.1)).or_default()[side].push(named);
        }
    }
    let mut moved = Vec::new();
    for [mut gone, mut come] in alike.into_values() {
        let mut pair = |from: &Name, to: &Name| {
            moved.push(MovedCassette { from: from.to_string(), to: to.to_string() });
        };
        for are_one in [have_one_name, are_the_same] {
            gone.retain(|from| {
                let to = come.iter().position(|to| are_one(from, to));
                to.inspect(|to| pair(&from.0, &come.remove(*to).0)).is_none()
            });
        }
        if let ([(from, _)], [(to, _)]) = (&gone[..], &come[..]) {
            pair(from, to);
        }
    }
    moved.sort();
    moved
}

type NamedCassette = (Name, Cassette);

fn have_one_name((one, _): &NamedCassette, (other, _): &NamedCassette) -> bool {
    last(one) == last(other)
}

/// Whether nothing but the name of a cassette is another one.
fn are_the_same((_, one): &NamedCassette, (_, other): &NamedCassette) -> bool {
    one.interactions == other.interactions
}

fn last(name: &Name) -> &str {
    name.as_str().rsplit('/').next().unwrap_or_default()
}

/// What is asked in a cassette, whatever identifiers and times it has.
fn asked(cassette: &Cassette) -> Vec<String> {
    let asked = cassette.interactions.iter().map(|interaction| {
        let request = &interaction.request;
        let body = request.readable();
        format!(
            "{} {} {}",
            request.method,
            bare(&request.path),
            bare(&String::from_utf8_lossy(&body))
        )
    });
    asked.collect()
}

/// A text without identifiers and numbers.
pub(super) fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut from = 0;
    for id in identifiers(text) {
        bare.extend([&text[from..id.start], "{}"]);
        from = id.end;
    }
    bare.push_str(&text[from..]);
    bare.replace(|char: char| char.is_ascii_digit(), "0")
}

/// The cassettes under the names that they have now; none if they have the same.
pub(super) fn renamed(
    all: &[(Name, Cassette)],
    moved: &[MovedCassette],
) -> Option<Vec<(Name, Cassette)>> {
    let names: BTreeMap<&str, &str> =
        moved.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect();
    let now = |name: &Name| names.get(name.as_str()).and_then(|to| Name::new(*to).ok());
    let renamed =
        all.iter().map(|(name, it)| (now(name).unwrap_or_else(|| name.clone()), it.clone()));
    (!moved.is_empty()).then(|| renamed.collect())
}

/// A cassette before and after, if it is not the same.
fn pair(
    name: &str,
    old: Option<SideCassette<'_>>,
    new: Option<SideCassette<'_>>,
) -> Option<CassettePair> {
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
struct SideCassette<'a> {
    traffic: &'a Traffic,
    number: usize,
    cassette: &'a Cassette,
}

impl<'a> SideCassette<'a> {
    fn turn(self, number: usize) -> Turn<'a> {
        let protocols = self.traffic.protocols_of(self.number, number);
        Turn::of(protocols, self.cassette, number)
    }
}

/// Two recordings of the same scenario.
struct Both<'a> {
    old: Option<SideCassette<'a>>,
    new: Option<SideCassette<'a>>,
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
        let moved = match self.sides() {
            Some([old, new]) => Moved::called(old, new),
            None => Vec::new(),
        };
        let alignment = sides.align(&moved);
        let made_up = self.made_up(&alignment.pairs, front);
        let alignment = match made_up.is_empty() {
            true => alignment,
            false => sides.align(&[moved, made_up].concat()),
        };
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

    /// Both cassettes, if there are two.
    fn sides(&self) -> Option<[&Cassette; 2]> {
        Some([self.old?.cassette, self.new?.cassette])
    }

    /// What the proofs of both recordings found to be made up by the client in one place: other values of it are no
    /// change. `front` interactions stand before those that were paired.
    fn made_up(&self, pairs: &[Pair], front: usize) -> Vec<Called> {
        let Some([old, new]) = self.sides() else { return Vec::new() };
        // Of messages over WebSockets the tables say other numbers.
        if [old, new].iter().any(|it| it.interactions.iter().any(Interaction::is_socket)) {
            return Vec::new();
        }
        let client = |cassette: &Cassette| {
            cassette.ids.iter().flat_map(|ids| &ids.client).cloned().collect::<Vec<Id>>()
        };
        let (olds, news) = (client(old), client(new));
        let called = pairs.iter().flat_map(|pair| {
            let of = |ids: &[Id], number: usize| -> Vec<Id> {
                ids.iter().filter(|id| id.interaction == front + number).cloned().collect()
            };
            let (was, is) = (of(&olds, pair.old), of(&news, pair.new));
            let other = |id: &Id| {
                let mut same = was.iter().filter(|it| it.at == id.at && it.value != id.value);
                same.next().map(|it| (id.value.clone(), it.value.clone()))
            };
            is.iter().filter_map(other).collect::<Vec<Called>>()
        });
        called.collect()
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

/// The interactions of both sides that are the same, by cassette and number.
pub(super) fn same(old: &[(Name, Cassette)], new: &[(Name, Cassette)]) -> [BTreeSet<String>; 2] {
    let olds: BTreeMap<&Name, &Cassette> = old.iter().map(|(name, it)| (name, it)).collect();
    let in_both = new.iter().filter_map(|(name, is)| Some((name, olds.get(name)?, is)));
    let same = in_both.flat_map(|(name, was, is)| {
        let [olds, news] = [was, is].map(|it| &it.interactions);
        let pairs = news.iter().enumerate().filter_map(move |(number, new)| {
            // What was added or removed stands before or behind.
            let from_end = (number + olds.len()).checked_sub(news.len());
            let places = [Some(number), from_end].into_iter().flatten();
            let is_it = |old: &Interaction| is_same(old, new) && headers_of(old) == headers_of(new);
            let mut olds = places.filter(|place| olds.get(*place).is_some_and(is_it));
            Some((olds.next()?, number))
        });
        pairs.map(move |(old, new)| {
            [(*was, old), (is, new)].map(|(it, at)| format!("{name} #{}", it.number(at)))
        })
    });
    let (old, new) = same.map(|[old, new]| (old, new)).unzip();
    [old, new]
}

/// Where another time is told, or another header field, it was recorded again.
fn headers_of(interaction: &Interaction) -> Option<&Headers> {
    interaction.response().map(|response| &response.headers)
}
