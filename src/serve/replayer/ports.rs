//! Servers that listen at another port than when they were recorded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Mutex;

use super::Replayer;
use super::replay::lock;
use crate::cassette::target;
use crate::compare::alignment::Moved;
use crate::identity::is_server;
use crate::serve::server::Place;

/// For each server that a client has named: the recorded one that it stands for, if it is not that one itself.
pub(super) type Ports = Mutex<HashMap<String, Option<String>>>;

impl Replayer {
    /// Where a target leads, and where its client sees that server.
    ///
    /// A client that starts a server itself names it by another port each time. Where the table of names
    /// says so, or this run is to show it, the port stands for the recorded one from then on.
    pub fn led<'t>(&self, target: &'t str, place: Place<'t>) -> (Cow<'t, str>, Place<'t>) {
        let (origin, path) = target::split(target);
        match self.stands_for(origin).filter(|_| !origin.is_empty()) {
            Some(recorded) => (Cow::Owned(format!("{recorded}{path}")), Place::at(origin)),
            None => (Cow::Borrowed(target), place),
        }
    }

    /// The recorded address of the server that a client sees at a place.
    pub(super) fn server(&self, place: Place<'_>) -> &str {
        let cassette = self.recorded().cassette();
        let moved = place.origin.and_then(|(scheme, host)| {
            let ports = lock(&self.ports);
            // Few runs have any.
            let moved =
                if ports.is_empty() { None } else { ports.get(&format!("{scheme}://{host}")) };
            moved.cloned().flatten()
        });
        let moved =
            moved.and_then(|it| cassette.origins().into_iter().find(|origin| *origin == it));
        moved.unwrap_or_else(|| self.recorded().server(place))
    }

    fn stands_for(&self, origin: &str) -> Option<String> {
        if origin.is_empty() {
            return None;
        }
        let mut ports = lock(&self.ports);
        if let Some(known) = ports.get(origin) {
            return known.clone();
        }
        let cassette = self.recorded().cassette();
        let origins = cassette.origins();
        let is_open = |recorded: &str| {
            let mut client = cassette.ids.iter().flat_map(|ids| &ids.client);
            self.proof.is_some() || client.any(|id| is_server(id, recorded))
        };
        let is_taken = |recorded: &str| {
            ports.contains_key(recorded) || ports.values().flatten().any(|taken| taken == recorded)
        };
        let recorded = if origins.contains(&origin) {
            Some(origin)
        } else {
            let mut others = origins.iter().copied().filter(|it| is_open(it) && !is_taken(it));
            others.find(|it| Moved::between(it, origin).is_some())
        };
        if let (Some(recorded), Some(proof)) = (recorded, &self.proof) {
            lock(proof).note_server(cassette, recorded, origin);
        }
        let moved = recorded.filter(|it| *it != origin).map(str::to_owned);
        ports.insert(origin.to_owned(), moved.clone());
        moved
    }
}
