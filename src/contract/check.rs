//! Which accepted contracts the recordings keep, and what they would be.

use super::cut::{JsonMessage, ReadInteraction};
use super::headers::Promised;
use super::history::Before;
use super::text::{BODY, EVENTS, HEADERS, INVARIANTS, KEEP_ALIVES, ORDER};
use super::traffic::{Answer, Traffic};
use super::{Contract, Endpoint, History, Kinds};
use crate::cassette::Interaction;
use crate::contract::invariant::Invariant;
use crate::contract::order::Witness;
use crate::message::Protocols;

/// What recordings mean to the contract of one endpoint. What that means to a client says
/// [`compare`](crate::review::change::compare).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Nothing is accepted yet: what the contract would be.
    New(Contract),
    /// Something that was recorded is not as accepted: what the contract would be.
    Changed(Contract),
    /// It is accepted, and no cassette shows it any more.
    Orphaned(Endpoint),
}

impl Finding {
    /// What it is about.
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Self::New(contract) | Self::Changed(contract) => &contract.endpoint,
            Self::Orphaned(endpoint) => endpoint,
        }
    }

    /// What the contract would be, if there would be one.
    pub fn proposed(&self) -> Option<&Contract> {
        match self {
            Self::New(proposed) | Self::Changed(proposed) => Some(proposed),
            Self::Orphaned(_) => None,
        }
    }
}

/// Something in one answer that is not as accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breach {
    /// Which part of the contract: `order`, `invariants`, `events` or `body`.
    pub part: &'static str,
    /// What is wrong, in words.
    pub what: String,
}

/// Finds the contracts that recordings do not keep. What keeps its contract is not mentioned.
pub fn check(traffic: &Traffic, accepted: &[Contract]) -> Vec<Finding> {
    let mut findings = check_uncounted(traffic, accepted);
    count_seen(traffic, &mut findings);
    findings
}

/// Counts how often what may be missing was seen, as the heads of files say.
pub(crate) fn count_seen(traffic: &Traffic, findings: &mut [Finding]) {
    for finding in findings {
        if let Finding::New(contract) | Finding::Changed(contract) = finding
            && contract.is_as_learned()
        {
            contract.origin.seen = contract.seen_often(traffic.answers(&contract.endpoint));
        }
    }
}

/// The same without these numbers, which take a while: only files need them.
pub(crate) fn check_uncounted(traffic: &Traffic, accepted: &[Contract]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for endpoint in traffic.endpoints() {
        match accepted.iter().find(|contract| contract.endpoint == *endpoint) {
            None => findings.push(Finding::New(traffic.learn(endpoint))),
            Some(contract) => findings.extend(contract.changed(traffic).map(Finding::Changed)),
        }
    }
    let is_shown = |contract: &&Contract| !traffic.answers(&contract.endpoint).is_empty();
    let orphans = accepted.iter().filter(|contract| !is_shown(contract));
    findings.extend(orphans.map(|contract| Finding::Orphaned(contract.endpoint.clone())));
    findings
}

impl Contract {
    /// What is not as accepted in one interaction, each thing once; `earlier` is what came before it in
    /// its conversation, if that is known, read by the same protocols. A stream that was cut is looked at
    /// as far as it came. The endpoint is not looked at.
    pub fn broken_by(
        &self,
        protocols: &Protocols,
        interaction: &Interaction,
        earlier: Option<&History>,
    ) -> Vec<Breach> {
        let Some(response) = interaction.response() else { return Vec::new() };
        let before = earlier.map(|history| Before { history, number: usize::MAX });
        let protocols = self.tag.as_ref().map_or(protocols.clone(), |tag| protocols.with(tag));
        let ReadInteraction { asked, cut: Some(cut) } =
            ReadInteraction::of(interaction, &protocols)
        else {
            return Vec::new();
        };
        let place = (String::new(), Witness::default());
        let headers = Promised::only(self.named_headers()).of(response);
        let answer = Answer::of(interaction, response, (asked, cut), before, place, headers);
        let mut breaches = Vec::new();
        for part in [ORDER, INVARIANTS, HEADERS, EVENTS, KEEP_ALIVES, BODY] {
            for what in self.broken_in(part, &answer, before) {
                let breach = Breach { part, what };
                if !breaches.contains(&breach) {
                    breaches.push(breach);
                }
            }
        }
        breaches
    }

    /// What the contract would be, if recordings break it. A part that is kept stays as it is, also where
    /// somebody has widened it by hand.
    fn changed(&self, traffic: &Traffic) -> Option<Self> {
        if self.tag.as_ref() != traffic.tag(&self.endpoint) {
            // All that was said in other types is learned anew.
            return Some(traffic.learn(&self.endpoint));
        }
        let is_broken = |part: &'static str| {
            let mut answers = traffic.answers(&self.endpoint).iter();
            answers.any(|answer| !self.broken_in(part, answer, answer.before()).is_empty())
        };
        let [order, invariants, headers, events, keep_alives, body] =
            [ORDER, INVARIANTS, HEADERS, EVENTS, KEEP_ALIVES, BODY].map(is_broken);
        if ![order, invariants, headers, events, keep_alives, body].contains(&true) {
            return None;
        }
        let learned = traffic.learn(&self.endpoint);
        if self.is_as_learned() {
            return Some(learned);
        }
        let mut proposed = self.clone();
        if headers {
            proposed.headers = learned.headers;
        }
        if order {
            proposed.order = learned.order;
        }
        if invariants {
            proposed.invariants = learned.invariants;
        }
        if events {
            proposed.events = learned.events;
        }
        if keep_alives {
            proposed.keep_alives = learned.keep_alives;
        }
        if body {
            proposed.body = learned.body;
        }
        Some(proposed)
    }

    /// What is not as accepted in a part of one answer.
    fn broken_in(&self, part: &str, answer: &Answer, before: Option<Before<'_>>) -> Vec<String> {
        match part {
            ORDER => match (&answer.word, &self.order) {
                (Some(word), Some(orders)) => orders.broken(&answer.situation, word),
                // A list in a JSON answer shows an order only where several types are in it.
                (Some(_), None) if answer.body.is_none() && answer.has_messages() => {
                    vec!["messages came where none were accepted".to_owned()]
                }
                _ => Vec::new(),
            },
            INVARIANTS => {
                let mut broken =
                    answer.with_trace(before, |trace| Invariant::check(&self.invariants, trace));
                // Each is told once.
                let mut told: Vec<Invariant> = Vec::new();
                broken.retain(|it| {
                    let is_new = !told.contains(&it.invariant);
                    told.extend(is_new.then(|| it.invariant.clone()));
                    is_new
                });
                broken.iter().map(ToString::to_string).collect()
            }
            // What none was accepted for is not looked at.
            HEADERS => match &self.headers {
                Some(headers) => headers.broken(&answer.headers),
                None => Vec::new(),
            },
            // Where none were accepted, none had come yet.
            KEEP_ALIVES => match &self.keep_alives {
                Some(kinds) => answer.keep_alives.iter().flat_map(|it| kinds.broken(it)).collect(),
                None => Vec::new(),
            },
            EVENTS => {
                answer.events.iter().flat_map(|it| unlike(self.events.as_ref(), it)).collect()
            }
            _ => {
                // Where no body was accepted, none is promised.
                let body = answer.body.iter().filter(|it| self.body.is_some() || !it.is_nothing());
                body.flat_map(|it| unlike(self.body.as_ref(), it)).collect()
            }
        }
    }
}

/// What is wrong with a message.
fn unlike(kinds: Option<&Kinds>, message: &JsonMessage) -> Vec<String> {
    match kinds {
        Some(kinds) => kinds.broken(message),
        None => vec!["JSON came where none was accepted".to_owned()],
    }
}
