//! Holding what was recorded against what was accepted.

use std::collections::BTreeMap;

use super::cut::{Cut, JsonMessage};
use super::history::Before;
use super::text::{BODY, EVENTS, INVARIANTS, ORDER, TAG};
use super::traffic::{Answer, Traffic, whole};
use super::{Contract, Endpoint, History, Kinds};
use crate::cassette::Interaction;
use crate::contract::invariant::Invariant;
use crate::contract::order::Witness;
use crate::message::Protocols;

/// What a check has found about one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Nothing is accepted yet.
    New(Contract),
    /// Something that was recorded is not as accepted.
    Broken {
        /// What the contract would be.
        proposed: Contract,
        /// What is not as accepted, the most frequent first.
        breaches: Vec<Breach>,
    },
    /// It is accepted, and no cassette shows it any more.
    Orphaned(Endpoint),
}

impl Finding {
    /// What it is about.
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Self::New(contract) | Self::Broken { proposed: contract, .. } => &contract.endpoint,
            Self::Orphaned(endpoint) => endpoint,
        }
    }

    /// What the contract would be, if there would be one.
    pub fn proposed(&self) -> Option<&Contract> {
        match self {
            Self::New(proposed) | Self::Broken { proposed, .. } => Some(proposed),
            Self::Orphaned(_) => None,
        }
    }
}

/// Something that is not as accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Which part of the contract: `tag`, `order`, `invariants`, `events` or `body`.
    pub part: &'static str,
    /// What is wrong, in words, with the places in the first answer where it is.
    pub what: String,
    /// In how many answers.
    pub count: usize,
    /// The first of them: a cassette and the number of the interaction, counted from 1; empty where
    /// [one interaction](Contract::broken_by) was looked at.
    pub place: String,
}

/// Holds recordings against accepted contracts. What keeps its contract is not mentioned.
pub fn check(traffic: &Traffic, accepted: &[Contract]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for endpoint in traffic.endpoints() {
        match accepted.iter().find(|contract| contract.endpoint == *endpoint) {
            None => findings.push(Finding::New(traffic.learn(endpoint))),
            Some(contract) => findings.extend(contract.held_against(traffic)),
        }
    }
    let is_shown = |contract: &&Contract| !traffic.answers(&contract.endpoint).is_empty();
    let orphans = accepted.iter().filter(|contract| !is_shown(contract));
    findings.extend(orphans.map(|contract| Finding::Orphaned(contract.endpoint.clone())));
    findings
}

/// What is wrong, by part and by what is the same in other answers.
type Found = BTreeMap<(&'static str, String), Flaw>;

/// What is wrong in one answer or in several.
struct Flaw {
    /// In words, with what is so in the first answer only.
    what: String,
    count: usize,
    place: String,
}

impl Contract {
    /// What is not as accepted in one interaction, each thing once; `earlier` is what came before it in
    /// its conversation, if that is known, read by the same protocols. One without a whole answer breaks
    /// nothing. The endpoint is not looked at.
    pub fn broken_by(
        &self,
        protocols: &Protocols,
        interaction: &Interaction,
        earlier: Option<&History>,
    ) -> Vec<Breach> {
        let Some(response) = whole(interaction) else { return Vec::new() };
        let before = earlier.map(|history| Before { history, number: usize::MAX });
        let protocols = self.tag.as_ref().map_or(protocols.clone(), |tag| protocols.with(tag));
        let cut = Cut::of(response, &protocols);
        let place = (String::new(), Witness::default());
        let answer = Answer::of(interaction, response, cut, before, place);
        let mut found = Found::new();
        self.look(&answer, before, &mut found);
        found.into_iter().map(Breach::of).collect()
    }

    fn held_against(&self, traffic: &Traffic) -> Option<Finding> {
        if self.tag.as_ref() != traffic.tag(&self.endpoint) {
            return Some(self.tagged_otherwise(traffic));
        }
        let answers = traffic.answers(&self.endpoint);
        let mut found = Found::new();
        for answer in answers {
            self.look(answer, answer.before(), &mut found);
        }
        if found.is_empty() {
            return None;
        }
        let is_broken = |part: &str| found.keys().any(|(broken, _)| *broken == part);
        let learned = traffic.learn(&self.endpoint);
        // A part that is kept stays as it is, also where somebody has widened it by hand.
        let proposed = Self {
            endpoint: self.endpoint.clone(),
            tag: self.tag.clone(),
            order: if is_broken(ORDER) { learned.order } else { self.order.clone() },
            invariants: if is_broken(INVARIANTS) {
                learned.invariants
            } else {
                self.invariants.clone()
            },
            events: if is_broken(EVENTS) { learned.events } else { self.events.clone() },
            body: if is_broken(BODY) { learned.body } else { self.body.clone() },
        };
        let mut breaches: Vec<Breach> = found.into_iter().map(Breach::of).collect();
        breaches.sort_by_key(|breach| (part_number(breach.part), std::cmp::Reverse(breach.count)));
        Some(Finding::Broken { proposed, breaches })
    }

    /// More was recorded since it was accepted, and shows what tells the types of the messages. All
    /// that was said in other types is learned anew.
    fn tagged_otherwise(&self, traffic: &Traffic) -> Finding {
        let answers = traffic.answers(&self.endpoint);
        let tag = traffic.tag(&self.endpoint).map_or_else(String::new, ToString::to_string);
        let breach = Breach {
            part: TAG,
            what: format!("`{tag}` tells the types of the messages"),
            count: answers.len(),
            place: answers.first().map_or_else(String::new, |answer| answer.place.clone()),
        };
        let proposed = traffic.learn(&self.endpoint);
        Finding::Broken { proposed, breaches: vec![breach] }
    }

    /// Adds what is not as accepted in one answer, each thing once.
    fn look(&self, answer: &Answer, before: Option<Before<'_>>, found: &mut Found) {
        let mut broken = BTreeMap::new();
        if let Some(word) = &answer.word {
            let out_of_order = match &self.order {
                Some(orders) => orders.broken(&answer.situation, word),
                None => vec!["messages came where none were accepted".to_owned()],
            };
            broken.extend(out_of_order.into_iter().map(|what| ((ORDER, what.clone()), what)));
        }
        let untied = answer.with_trace(before, |trace| Invariant::check(&self.invariants, trace));
        for violation in untied {
            let key = (INVARIANTS, violation.invariant.to_string());
            broken.entry(key).or_insert_with(|| violation.to_string());
        }
        let events = answer.events.iter().flat_map(|message| unlike(self.events.as_ref(), message));
        broken.extend(events.map(|what| ((EVENTS, what.clone()), what)));
        let body = answer.body.iter().flat_map(|message| unlike(self.body.as_ref(), message));
        broken.extend(body.map(|what| ((BODY, what.clone()), what)));
        for (key, what) in broken {
            let new = || Flaw { what, count: 0, place: answer.place.clone() };
            found.entry(key).or_insert_with(new).count += 1;
        }
    }
}

impl Breach {
    fn of(((part, _), flaw): ((&'static str, String), Flaw)) -> Self {
        Self { part, what: flaw.what, count: flaw.count, place: flaw.place }
    }
}

/// Where a part stands in a contract.
fn part_number(part: &str) -> Option<usize> {
    [TAG, ORDER, INVARIANTS, EVENTS, BODY].iter().position(|known| *known == part)
}

/// What is wrong with a message.
fn unlike(kinds: Option<&Kinds>, message: &JsonMessage) -> Vec<String> {
    match kinds {
        Some(kinds) => kinds.broken(message),
        None => vec!["JSON came where none was accepted".to_owned()],
    }
}
