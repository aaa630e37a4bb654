//! How far a run has come.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Replayer;
use super::run::Overdue;
use crate::cassette::{Request, target};
use crate::compare::matching::{Asking, Awaited, Mismatch, Nearest, called};
use crate::config::{Repeats, RequestLine};
use crate::redact::Redactor;

impl Replayer {
    /// The messages that the client did not send over a WebSocket that was opened: their numbers, and
    /// what they say. Those that it may leave out are not told.
    pub fn unsent(&self, interaction: usize) -> Vec<(usize, String)> {
        let recorded = self.recorded();
        let opened = recorded.opened(interaction);
        let playlist = self.playlist();
        let script = recorded.script(opened).filter(|_| playlist.was_played(opened));
        let unsent = script.into_iter().flat_map(|it| it.unsent(|it| playlist.was_played(it)));
        unsent.map(|frame| (frame, recorded.message(interaction, frame))).collect()
    }

    /// Whether a client may leave an interaction out.
    pub fn may_leave_out(&self, interaction: usize) -> bool {
        let recorded = self.recorded();
        if interaction >= recorded.own {
            return true;
        }
        let request = &recorded.cassette().interactions[interaction].request;
        let opened = recorded.opened(interaction);
        let is_opened = self.playlist().was_played(opened);
        !is_opened
            && recorded.index.rules().is_optional(RequestLine {
                method: &request.method,
                path: target::split(request.path_only()).1,
                interaction,
                body: &request.readable(),
            })
    }

    /// The numbers of the interactions that were not asked for in this run, and of WebSockets on which
    /// the client did not say all that it said when they were recorded.
    pub fn unplayed(&self) -> Vec<usize> {
        let (recorded, playlist) = (self.recorded(), self.playlist());
        let all = 0..recorded.cassette().interactions.len();
        let is_left = |number: &usize| {
            let opened = recorded.opened(*number);
            let script = recorded.script(opened);
            let mut unsent =
                script.into_iter().flat_map(|it| it.unsent(|asked| playlist.was_played(asked)));
            !playlist.was_played(opened) || unsent.next().is_some()
        };
        all.filter(is_left).collect()
    }

    /// What was played in this run and what was not, as it may be shown.
    pub fn progress(&self) -> (Vec<Asking>, Vec<Asking>) {
        let playlist = self.playlist();
        let count = self.recorded().cassette().interactions.len();
        let askings = (0..count).map(|interaction| self.asking(interaction));
        askings.partition(|asking| playlist.was_played(self.recorded().opened(asking.interaction)))
    }

    /// The requests whose answers waited in vain for another one, or for the client to leave, since this was
    /// asked last; and those that came beside recorded ones, and were answered in their place.
    pub fn overdue(&self) -> Vec<Mismatch> {
        let strays = self.take_strays();
        let overdue = self.take_overdue();
        if overdue.is_empty() {
            return strays;
        }
        let asking = |exchange: usize| self.asking(self.recorded().spot(exchange).interaction);
        let recorded = self.recorded().cassette();
        let overdue = overdue.into_iter().map(|Overdue { answer, request }| {
            let asked = asking(answer);
            Mismatch {
                method: asked.method.clone(),
                path: asked.path.clone(),
                call: asked.call.clone(),
                message: None,
                nearest: Some(Nearest {
                    asking: asked,
                    played: true,
                    alike: 1000,
                    differences: Vec::new(),
                    more: 0,
                    next: None,
                    repeats: Repeats::default(),
                    awaited: Some(request.map(asking).map_or(Awaited::Leaving, Awaited::Asked)),
                }),
                others: Vec::new(),
                recorded: recorded.interactions.len(),
                servers: recorded.recorded.servers(),
                origins: recorded.origins().into_iter().map(str::to_owned).collect(),
            }
        });
        strays.into_iter().chain(overdue).collect()
    }

    /// What stands for the client-minted identifiers and times of what was played, by the recorded
    /// ones. Those that stand where secrets do are left out.
    pub fn bound(&self) -> BTreeMap<String, String> {
        let requests = self.requests();
        let playlist = self.playlist();
        let pairs = playlist.bindings().pairs().into_iter();
        let may_be_shown = |recorded: &str| requests.iter().any(|it| stands_in(it, recorded));
        pairs
            .filter(|(recorded, _)| may_be_shown(recorded))
            .map(|(recorded, live)| (recorded.to_owned(), live.to_owned()))
            .collect()
    }

    /// A request as it may be listed: somebody may have written it by hand.
    fn asking(&self, interaction: usize) -> Asking {
        let interactions = &self.recorded().cassette().interactions;
        let request = &interactions[interaction].request;
        let path = Redactor::standard().target(&request.path);
        let call = called(&request.readable()).map(Cow::into_owned);
        Asking { interaction, frame: None, method: request.method.clone(), path, call }
    }

    /// What was recorded, without its secrets.
    fn requests(&self) -> Vec<Request> {
        let interactions = &self.recorded().cassette().interactions;
        let redactor = Redactor::standard();
        let redacted = |request: &Request| {
            let mut request = request.clone();
            redactor.request(&mut request);
            request
        };
        interactions.iter().map(|it| redacted(&it.request)).collect()
    }
}

fn stands_in(request: &Request, identifier: &str) -> bool {
    let stands = |text: &[u8]| memchr::memmem::find(text, identifier.as_bytes()).is_some();
    stands(request.path.as_bytes())
        || stands(&request.readable())
        || request.headers.iter().any(|(_, value)| stands(value))
}
