//! What the client of a session put in the place of what it minted when it was recorded.

use std::collections::HashMap;

/// Recorded client-minted identifiers and the live ones that stand for them in a session.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    live: HashMap<String, String>,
    recorded: HashMap<String, String>,
}

impl Bindings {
    /// Whether all pairs of recorded and live identifiers agree with each other and with what is
    /// bound: each recorded one stands for one live one, and the other way round.
    pub fn unify<'a>(&self, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
        let mut fresh = Self::default();
        for (recorded, live) in pairs {
            let known = [&self.live, &fresh.live].into_iter().find_map(|known| known.get(recorded));
            let taken =
                [&self.recorded, &fresh.recorded].into_iter().find_map(|known| known.get(live));
            match (known, taken) {
                (None, None) => fresh.bind(recorded, live),
                (Some(known), Some(taken)) if known == live && taken == recorded => {}
                _ => return false,
            }
        }
        true
    }

    /// Lets `live` stand for `recorded` from now on.
    pub fn bind(&mut self, recorded: &str, live: &str) {
        if let Some(before) = self.live.insert(recorded.to_owned(), live.to_owned()) {
            self.recorded.remove(&before);
        }
        self.recorded.insert(live.to_owned(), recorded.to_owned());
    }

    /// What stands for a recorded identifier now.
    pub fn live(&self, recorded: &str) -> Option<&str> {
        self.live.get(recorded).map(String::as_str)
    }
}
