//! What the client of a session put in the place of what it minted when it was recorded.

use std::collections::HashMap;

use super::{Hole, Scope};

/// Recorded client-minted values and the live ones that stand for them in a session.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    live: Scoped<Hole>,
    recorded: Scoped<String>,
}

/// What the pairs of one request bind, by either side.
#[derive(Debug, Default)]
struct Fresh<'a> {
    live: HashMap<(Scope, &'a str), &'a str, HashState>,
    recorded: HashMap<(Scope, &'a str), &'a str, HashState>,
}

pub(super) type Scoped<T> = HashMap<Scope, HashMap<String, T, HashState>, HashState>;
type HashState = foldhash::fast::FixedState;

/// A number with fewer characters may be drawn twice by chance.
const LARGE: usize = 7;

/// A word with as many letters is in no list to draw from.
const LONG: usize = 16;

impl Bindings {
    /// Whether all pairs of recorded and live values agree with each other and with what is bound:
    /// each recorded one stands for one live one, and the other way round.
    ///
    /// Values that are new each time, such as the ids of JSON-RPC requests, agree with anything.
    pub fn unify<'a>(&self, pairs: impl Iterator<Item = (&'a Hole, &'a Hole)>) -> bool {
        let mut fresh = Fresh::default();
        let mut pairs = pairs.peekable();
        while let Some((recorded, live)) = pairs.next() {
            let is_lasting = recorded.is_lasting();
            let agrees = match recorded.scope {
                Scope::Called => self.may_call(recorded, live),
                _ => !is_lasting || self.agrees(recorded, live, &fresh),
            };
            if !agrees {
                return false;
            }
            // Most requests have one name, and nothing to compare it with.
            if is_lasting && pairs.peek().is_some() {
                fresh.live.insert((recorded.scope, &recorded.identifier), &live.identifier);
                fresh.recorded.insert((recorded.scope, &live.identifier), &recorded.identifier);
            }
        }
        true
    }

    /// The recorded words and small numbers that stand for another value than before: two were drawn from a list, and
    /// alike by chance when they were recorded.
    pub fn drawn<'p>(&self, pairs: &'p [(Hole, Hole)]) -> Vec<&'p str> {
        let mut here: HashMap<(Scope, &str), &str> = HashMap::new();
        let mut drawn = Vec::new();
        for (recorded, live) in pairs.iter().filter(|(it, _)| it.is_lasting()) {
            let (scope, name) = (recorded.scope, &*recorded.identifier);
            let known = self.live(scope, name).map(|known| &*known.identifier);
            let known =
                known.unwrap_or_else(|| here.entry((scope, name)).or_insert(&live.identifier));
            if known != live.identifier && may_coincide(name) {
                drawn.push(name);
            }
        }
        drawn
    }

    /// Lets what stands for each of two recorded values stand for the other one.
    pub fn exchange(&mut self, one: &Hole, other: &Hole) {
        let mut taken = [one, other].map(|recorded| {
            let live = self.live.get_mut(&recorded.scope)?.remove(&recorded.identifier)?;
            let reverse = self.recorded.get_mut(&recorded.scope);
            reverse.map(|reverse| reverse.remove(&live.identifier));
            Some(live)
        });
        taken.reverse();
        for (recorded, live) in [one, other].into_iter().zip(taken) {
            if let Some(live) = live {
                self.bind(recorded, &live);
            }
        }
    }

    /// Lets `live` stand for `recorded` from now on.
    pub fn bind(&mut self, recorded: &Hole, live: &Hole) {
        for scope in recorded.scopes() {
            let known = self.live.entry(scope).or_default();
            let reverse = self.recorded.entry(scope).or_default();
            let before = known.insert(recorded.identifier.clone(), live.clone());
            if let Some(before) = before.filter(|before| before.identifier != live.identifier) {
                reverse.remove(&before.identifier);
            }
            reverse.insert(live.identifier.clone(), recorded.identifier.clone());
        }
    }

    /// Lets `live` stand for `recorded` no more.
    pub fn unbind(&mut self, recorded: &Hole, live: &Hole) {
        for scope in recorded.scopes() {
            let known = self.live.entry(scope).or_default();
            let is_bound = |it: &Hole| it.identifier == live.identifier;
            if known.get(&recorded.identifier).is_some_and(is_bound) {
                known.remove(&recorded.identifier);
                self.recorded.entry(scope).or_default().remove(&live.identifier);
            }
        }
    }

    /// What may stand anywhere, and what stands for it now.
    pub fn aliases(&self) -> Vec<(Hole, Hole)> {
        let all = self.live.get(&Scope::Anywhere).into_iter().flatten();
        let recorded = |name: &str, live: &Hole| Hole {
            identifier: name.to_owned(),
            scope: Scope::Anywhere,
            ..live.clone()
        };
        all.map(|(name, live)| (recorded(name, live), live.clone())).collect()
    }

    /// Whether nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// What stands for a recorded value now.
    pub fn live(&self, scope: Scope, recorded: &str) -> Option<&Hole> {
        self.live.get(&scope)?.get(recorded)
    }

    /// The recorded value that a live one stands for.
    pub fn stands_for(&self, scope: Scope, live: &str) -> Option<&str> {
        self.recorded.get(&scope)?.get(live).map(String::as_str)
    }

    /// Recorded values and what stands for them, sorted.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        let all = self.live.values().flatten();
        let mut pairs: Vec<_> =
            all.map(|(recorded, live)| (recorded.as_str(), live.identifier.as_str())).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Whether a pair agrees with what is bound, and with the pairs before it in the same request.
    fn agrees(&self, recorded: &Hole, live: &Hole, fresh: &Fresh<'_>) -> bool {
        let scope = recorded.scope;
        let known = self.live(scope, &recorded.identifier).map(|known| known.identifier.as_str());
        let known = known.or_else(|| fresh.live.get(&(scope, &*recorded.identifier)).copied());
        let taken = self.stands_for(scope, &live.identifier);
        let taken = taken.or_else(|| fresh.recorded.get(&(scope, &*live.identifier)).copied());
        let is_known = known.is_none_or(|known| known == live.identifier);
        is_known
            && (known.is_some() == taken.is_some()
                && taken.is_none_or(|it| it == recorded.identifier)
                || may_coincide(&live.identifier))
    }

    /// Whether a reference to an earlier request means the one that the recorded reference meant.
    fn may_call(&self, recorded: &Hole, live: &Hole) -> bool {
        let known = self.live(Scope::Call, &recorded.identifier);
        known.is_none_or(|known| known.identifier == live.identifier)
    }
}

/// Whether a client may say the same for two things: `7` for `13` and for `5`, or the same word of a short list.
/// A name that is to be the only one of its kind is long, or has more than letters.
pub(crate) fn may_coincide(live: &str) -> bool {
    let is_number = live.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_number && live.len() < LARGE || live.len() < LONG && live.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Form;

    fn hole(identifier: &str) -> Hole {
        let identifier = identifier.to_owned();
        let (scope, form) = (Scope::Word, Form::default());
        Hole { place: 0, scope, identifier, form, draw: None }
    }

    fn check(recorded: [&str; 2], live: [&str; 2], expected: bool) {
        let [recorded, live] = [recorded, live].map(|names| names.map(hole));
        let pairs = || recorded.iter().zip(&live);
        assert_eq!(Bindings::default().unify(pairs()), expected, "{recorded:?} {live:?}");

        // The same in two requests.
        let mut bindings = Bindings::default();
        let each: Vec<bool> = pairs()
            .map(|(recorded, live)| {
                let agrees = bindings.unify([(recorded, live)].into_iter());
                bindings.bind(recorded, live);
                agrees
            })
            .collect();
        assert_eq!(!each.contains(&false), expected, "{recorded:?} {live:?}");
    }

    #[test]
    fn small_numbers_and_words_are_drawn_twice_by_chance_and_names_are_not() {
        check(["13", "5"], ["7", "8"], true);
        check(["13", "5"], ["7", "7"], true);
        check(["0.13", "0.5"], ["0.7", "0.7"], true);
        check(["13", "13"], ["7", "8"], false);
        check(["13", "5"], ["7000000", "7000000"], false);
        check(["red", "green"], ["blue", "blue"], true);
        check(["green", "blue"], ["turquoise", "green"], true);
        check(["red", "red"], ["blue", "white"], false);
        check(["red-fox", "old-owl"], ["big-cat", "big-cat"], false);
        check(["red1", "old2"], ["big3", "big3"], false);
        check(["kqzvbnmwertyuiopa", "plmoknijbuhvygctf"], ["qazwsxedcrfvtgbyh"; 2], false);
    }
}
