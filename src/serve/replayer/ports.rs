//! Servers that listen at another port than when they were recorded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;
use http::Method;
use http::request::Parts;

use super::Replayer;
use super::replay::Chosen;
use crate::cassette::{Evidence, Request, target};
use crate::compare::alignment::Moved;
use crate::compare::matching::agreeing_fields;
use crate::identity::is_server;
use crate::redact::Found;
use crate::serve::lock;
use crate::serve::server::{Arrival, ServerPlace};

/// For each server that a client has named: the recorded one that it stands for.
pub(super) type Ports = Mutex<HashMap<String, Stand>>;

/// The recorded server that a live one stands for.
#[derive(Debug, Clone)]
pub(super) struct Stand {
    recorded: String,
    /// Whether it has answered a request: until then another one may be meant.
    is_sure: bool,
}

impl Stand {
    fn supposed(recorded: &str) -> Self {
        Self { recorded: recorded.to_owned(), is_sure: false }
    }
}

/// Where a target leads, and where its client sees that server.
type Led<'t> = (Cow<'t, str>, ServerPlace<'t>);

/// A request to a server that its client names.
#[derive(Debug, Clone, Copy)]
struct Call<'a> {
    head: &'a Parts,
    origin: &'a str,
    /// What follows the origin in the target.
    path: &'a str,
    body: &'a Bytes,
}

impl Replayer {
    /// The interaction that answers a request, and where its client sees the server; or what was asked.
    ///
    /// A client that starts a server itself names it by another port each time. Where the table of names
    /// says so, or this run is to show it, what is asked first tells which recorded server the live one
    /// stands for. It does so from then on.
    pub(super) async fn found_at<'t>(
        &self,
        arrival: Arrival<'t>,
        body: Bytes,
    ) -> Result<(Chosen, ServerPlace<'t>), Box<(Request, Found)>> {
        let Arrival { head, target, place } = arrival;
        let (origin, path) = target::split(target);
        if origin.is_empty() {
            return self.found(arrival, body).await.map(|chosen| (chosen, place));
        }
        let call = Call { head, origin, path, body: &body };
        if self.known(origin).is_none() && !self.meet(call) {
            self.suppose(call);
        }
        let (led, at) = self.led(target, place);
        let to = Arrival { head, target: &led, place: at };
        // In a place of its own: most requests name no server.
        match Box::pin(self.found(to, body.clone())).await {
            Ok(chosen) => {
                self.settle(origin);
                Ok((chosen, at))
            }
            Err(asked) if !self.meet_another(call) => Err(asked),
            Err(_) => {
                let (led, at) = self.led(target, place);
                let to = Arrival { head, target: &led, place: at };
                let found = Box::pin(self.found(to, body.clone())).await;
                found.map(|chosen| {
                    self.settle(origin);
                    (chosen, at)
                })
            }
        }
    }

    /// Where the target of a request leads whose body is not known yet, if its server is known, or can be
    /// without it.
    pub(super) fn led_by_head<'t>(&self, arrival: Arrival<'t>) -> Option<Led<'t>> {
        let Arrival { head, target, place } = arrival;
        let (origin, path) = target::split(target);
        let call = Call { head, origin, path, body: &Bytes::new() };
        let is_led = origin.is_empty() || self.known(origin).is_some() || self.meet(call);
        is_led.then(|| self.led(target, place))
    }

    /// Where a target leads as far as servers are known, and where its client sees that server.
    pub(super) fn led<'t>(&self, target: &'t str, place: ServerPlace<'t>) -> Led<'t> {
        let (origin, path) = target::split(target);
        match self.known(origin).filter(|recorded| recorded != origin) {
            Some(recorded) => (Cow::Owned(format!("{recorded}{path}")), ServerPlace::at(origin)),
            None => (Cow::Borrowed(target), place),
        }
    }

    /// The recorded address of the server that a client sees at a place.
    pub(super) fn server(&self, place: ServerPlace<'_>) -> &str {
        let cassette = self.recorded().cassette();
        let moved = place.origin.and_then(|(scheme, host)| {
            let ports = lock(&self.ports);
            // Few runs have any.
            let stand =
                if ports.is_empty() { None } else { ports.get(&format!("{scheme}://{host}")) };
            let stand = stand.filter(|it| it.recorded.split_once("://") != Some((scheme, host)))?;
            cassette.origins().into_iter().find(|origin| *origin == stand.recorded)
        });
        moved.unwrap_or_else(|| self.recorded().server(place))
    }

    fn known(&self, origin: &str) -> Option<String> {
        if origin.is_empty() {
            return None;
        }
        lock(&self.ports).get(origin).map(|stand| stand.recorded.clone())
    }

    /// Decides which recorded server a live one stands for by what it is asked, if that tells it.
    ///
    /// Of several, it is the one whose request has most fields of its header in common with this one, also of
    /// those that do not count, and of these the one that was asked so first. A port that is the same tells
    /// something unless ports are given out anew: then two are the same by chance.
    fn meet(&self, call: Call<'_>) -> bool {
        let mut ports = lock(&self.ports);
        // Another request may have met it meanwhile.
        if ports.contains_key(call.origin) {
            return true;
        }
        let Some(servers) = self.may_be(call.origin) else {
            ports.insert(call.origin.to_owned(), Stand::supposed(call.origin));
            return true;
        };
        let is_taken = |recorded: &str| ports.values().any(|stand| stand.recorded == recorded);
        let is_chance = self.moves(call.origin) == Some(Evidence::Runs)
            || ports.iter().any(|(live, stand)| *live != stand.recorded);
        let mut asked: Vec<&str> = Vec::new();
        for (server, _) in self.still_to_come(Some(&call.head.method)) {
            if servers.contains(&server) && !asked.contains(&server) {
                asked.push(server);
            }
        }
        // A port may have been given out twice, to one server after another: what is taken comes last.
        let rank = |it: &str| (it != call.origin || is_chance, is_taken(it));
        asked.sort_by_key(|it| rank(it));
        let mut met: Option<(&str, usize)> = None;
        for recorded in asked {
            if met.is_some_and(|(best, _)| rank(best) != rank(recorded)) {
                break;
            }
            if let Some(agreeing) = self.would_answer(call, recorded)
                && met.is_none_or(|(_, most)| agreeing > most)
            {
                met = Some((recorded, agreeing));
            }
        }
        met.is_some_and(|(recorded, _)| {
            ports.insert(call.origin.to_owned(), Stand::supposed(recorded));
            true
        })
    }

    /// Supposes which recorded server is meant where nothing that was recorded is what is asked: the one
    /// at the same port, else one that was asked for the same path, else the first that is free.
    fn suppose(&self, call: Call<'_>) {
        let mut ports = lock(&self.ports);
        let Some(servers) = self.may_be(call.origin) else { return };
        let is_taken = |recorded: &str| ports.values().any(|stand| stand.recorded == recorded);
        let is_same = |path: &str| path.split('?').next() == call.path.split('?').next();
        let alike = self.still_to_come(Some(&call.head.method));
        let alike = alike.into_iter().filter(|(_, path)| is_same(path)).map(|(server, _)| server);
        let same = servers.iter().copied().filter(|it| *it == call.origin);
        let mut all = same.chain(alike).chain(servers.iter().copied());
        if let Some(recorded) = all.find(|it| servers.contains(it) && !is_taken(it)) {
            ports.insert(call.origin.to_owned(), Stand::supposed(recorded));
        }
    }

    /// The recorded servers for which a live one may stand; nothing if it is itself one that does not move.
    fn may_be(&self, origin: &str) -> Option<Vec<&str>> {
        let cassette = self.recorded().cassette();
        let mut servers = cassette.origins();
        if servers.contains(&origin) && self.moves(origin).is_none() {
            return None;
        }
        servers.retain(|it| *it == origin || Moved::between(it, origin).is_some());
        servers.retain(|it| self.proof.is_some() || self.moves(it).is_some());
        Some(servers)
    }

    /// What shows that a recorded server may listen elsewhere each time, if anything does.
    fn moves(&self, recorded: &str) -> Option<Evidence> {
        let mut client = self.recorded().cassette().ids.iter().flat_map(|ids| &ids.client);
        client.find(|id| is_server(id, recorded)).map(|id| id.evidence)
    }

    /// The servers, and the paths, of what was recorded with a method, or with any, and not played yet.
    fn still_to_come(&self, method: Option<&Method>) -> Vec<(&str, &str)> {
        let cassette = self.recorded().played();
        let upstream = target::split(&cassette.recorded.upstream).0;
        let playlist = self.playlist();
        let unplayed = playlist.unplayed().map(|number| &cassette.interactions[number].request);
        let asked = unplayed.filter(|it| method.is_none_or(|method| method.as_str() == it.method));
        let split = asked.map(|request| match target::split(&request.path) {
            ("", path) => (upstream, path),
            whole => whole,
        });
        split.collect()
    }

    /// Whether a recorded server was asked so, and that was not played yet: in how many fields of the header
    /// it agrees.
    fn would_answer(
        &self,
        Call { head, origin, path, body }: Call<'_>,
        recorded: &str,
    ) -> Option<usize> {
        let (cassette, index) = (self.recorded().cassette(), &self.recorded().index);
        let target = format!("{recorded}{path}");
        let target = target::relative(&cassette.recorded.upstream, &target);
        let arrival = Arrival { head, target, place: ServerPlace::at(origin) };
        let (asked, found) = self.asked_of(recorded, arrival, body.clone());
        self.memory.forget_fields();
        let plain = asked.readable();
        let read = index.read(&asked, &plain).by(found);
        let number = self.playlist().answering(index, &read)?;
        let request = &self.recorded().played().interactions[number].request;
        Some(agreeing_fields(&request.headers, &asked.headers))
    }

    /// A request was answered by the server that a live one stands for.
    fn settle(&self, origin: &str) {
        let mut ports = lock(&self.ports);
        let Some(stand) = ports.get_mut(origin).filter(|stand| !stand.is_sure) else { return };
        stand.is_sure = true;
        if let Some(proof) = &self.proof {
            lock(proof).note_server(self.recorded().cassette(), &stand.recorded, origin);
        }
    }

    /// Takes a live server that nothing answers for another one, if all that was asked of the one that it
    /// stands for has come: a free port is given out again.
    fn meet_another(&self, call: Call<'_>) -> bool {
        let Some(stand) = lock(&self.ports).remove(call.origin) else { return false };
        let is_over =
            || self.still_to_come(None).iter().all(|(server, _)| *server != stand.recorded);
        if !stand.is_sure {
            return false;
        }
        let is_met = is_over() && self.meet(call);
        if !is_met {
            lock(&self.ports).insert(call.origin.to_owned(), stand);
        }
        is_met
    }
}
