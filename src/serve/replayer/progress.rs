//! How far a run has come.

use std::collections::BTreeMap;

use super::Replayer;
use super::meanwhile::Overdue;
use crate::cassette::{Request, target};
use crate::compare::matching::{Asking, Awaited, Mismatch, Nearest};
use crate::config::Line;
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
            && recorded.index.rules().is_optional(Line {
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
        let requests = self.requests();
        let playlist = self.playlist();
        let askings = requests.into_iter().enumerate().map(|(interaction, request)| Asking {
            interaction,
            frame: None,
            method: request.method,
            path: request.path,
        });
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
        let requests = self.requests();
        let asking = |exchange: usize| {
            let interaction = self.recorded().spot(exchange).interaction;
            let Request { method, path, .. } = requests[interaction].clone();
            Asking { interaction, frame: None, method, path }
        };
        let recorded = self.recorded().cassette();
        let overdue = overdue.into_iter().map(|Overdue { answer, request }| {
            let asked = asking(answer);
            Mismatch {
                method: asked.method.clone(),
                path: asked.path.clone(),
                message: None,
                nearest: Some(Nearest {
                    asking: asked,
                    played: true,
                    alike: 1000,
                    differences: Vec::new(),
                    more: 0,
                    next: None,
                    awaited: Some(request.map(asking).map_or(Awaited::Leaving, Awaited::Asked)),
                }),
                others: Vec::new(),
                recorded: requests.len(),
                upstream: recorded.recorded.address().into_owned(),
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
        let may_be_shown = |recorded: &str| {
            self.recorded().is_redacted() || requests.iter().any(|it| stands_in(it, recorded))
        };
        pairs
            .filter(|(recorded, _)| may_be_shown(recorded))
            .map(|(recorded, live)| (recorded.to_owned(), live.to_owned()))
            .collect()
    }

    /// What was recorded, without its secrets: somebody may have written it by hand.
    fn requests(&self) -> Vec<Request> {
        let interactions = &self.recorded().cassette().interactions;
        let mut requests: Vec<Request> = interactions.iter().map(|it| it.request.clone()).collect();
        if !self.recorded().is_redacted() {
            let redactor = Redactor::standard();
            requests.iter_mut().for_each(|request| redactor.request(request));
        }
        requests
    }
}

fn stands_in(request: &Request, identifier: &str) -> bool {
    let stands = |text: &[u8]| memchr::memmem::find(text, identifier.as_bytes()).is_some();
    stands(request.path.as_bytes())
        || stands(&request.readable())
        || request.headers.iter().any(|(_, value)| stands(value))
}
