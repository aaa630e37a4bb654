//! What the client of a session put in the place of what it minted when it was recorded.

use std::collections::HashMap;

use super::{Hole, Scope};

/// Recorded client-minted values and the live ones that stand for them in a session.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    live: HashMap<(Scope, String), Hole>,
    recorded: HashMap<(Scope, String), String>,
}

impl Bindings {
    /// Whether all pairs of recorded and live values agree with each other and with what is bound:
    /// each recorded one stands for one live one, and the other way round.
    ///
    /// Values that are new each time, such as the ids of JSON-RPC requests, agree with anything.
    pub fn unify<'a>(&self, pairs: impl Iterator<Item = (&'a Hole, &'a Hole)>) -> bool {
        let mut fresh = Self::default();
        for (recorded, live) in pairs {
            if recorded.scope == Scope::Called && !self.may_call(recorded, live) {
                return false;
            }
            if !recorded.scope.is_lasting() {
                continue;
            }
            let scope = recorded.scope;
            let known = [self, &fresh].into_iter().find_map(|bound| bound.bound(recorded));
            let taken = [self, &fresh]
                .into_iter()
                .find_map(|bound| bound.stands_for(scope, &live.identifier));
            match (known, taken) {
                (None, None) => fresh.bind(recorded, live),
                (Some(known), Some(taken))
                    if known.identifier == live.identifier && taken == recorded.identifier => {}
                _ => return false,
            }
        }
        true
    }

    /// Whether a reference to an earlier request means the one that the recorded reference meant.
    fn may_call(&self, recorded: &Hole, live: &Hole) -> bool {
        let known = self.live(Scope::Call, &recorded.identifier);
        known.is_none_or(|known| known.identifier == live.identifier)
    }

    /// Lets `live` stand for `recorded` from now on.
    pub fn bind(&mut self, recorded: &Hole, live: &Hole) {
        let scope = recorded.scope;
        let before = self.live.insert((scope, recorded.identifier.clone()), live.clone());
        if let Some(before) = before.filter(|before| before.identifier != live.identifier) {
            self.recorded.remove(&(scope, before.identifier));
        }
        self.recorded.insert((scope, live.identifier.clone()), recorded.identifier.clone());
    }

    /// What stands for a recorded value now.
    pub fn live(&self, scope: Scope, recorded: &str) -> Option<&Hole> {
        // A key of two parts cannot be borrowed from two places; most sessions bind little.
        self.live.get(&(scope, recorded.to_owned()))
    }

    /// The recorded value that a live one stands for.
    pub fn stands_for(&self, scope: Scope, live: &str) -> Option<&str> {
        self.recorded.get(&(scope, live.to_owned())).map(String::as_str)
    }

    /// Recorded values and what stands for them, sorted.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        let pairs =
            self.live.iter().map(|((_, recorded), live)| (recorded.as_str(), &*live.identifier));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs
    }

    fn bound(&self, recorded: &Hole) -> Option<&Hole> {
        self.live(recorded.scope, &recorded.identifier)
    }
}
