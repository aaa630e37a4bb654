//! Holding what was recorded against what was accepted.

use std::collections::BTreeMap;

use super::traffic::{Answer, Traffic};
use super::{Contract, Endpoint, Orders, learn};
use crate::cassette::Interaction;
use crate::invariant::Invariant;
use crate::order::{Witness, Word};
use crate::shape::Schema;

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
    /// Which part of the contract: `order`, `invariants`, `events` or `body`.
    pub part: &'static str,
    /// What is wrong, in words.
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
        let answers = traffic.answers(endpoint);
        match accepted.iter().find(|contract| contract.endpoint == *endpoint) {
            None => findings.push(Finding::New(learn::learn(endpoint, answers))),
            Some(contract) => findings.extend(contract.held_against(answers)),
        }
    }
    let is_shown = |contract: &&Contract| !traffic.answers(&contract.endpoint).is_empty();
    let orphans = accepted.iter().filter(|contract| !is_shown(contract));
    findings.extend(orphans.map(|contract| Finding::Orphaned(contract.endpoint.clone())));
    findings
}

/// Breaches by part and words.
type Found = BTreeMap<(&'static str, String), (usize, String)>;

impl Contract {
    /// What is not as accepted in one interaction, each thing once. One without a whole answer breaks
    /// nothing. The endpoint is not looked at.
    pub fn broken_by(&self, interaction: &Interaction) -> Vec<Breach> {
        let answer = Answer::recorded(interaction, String::new(), Witness(0));
        let found = answer.map(|answer| self.breaches(&answer)).unwrap_or_default();
        let breach = |(part, what)| Breach { part, what, count: 1, place: String::new() };
        found.into_iter().map(breach).collect()
    }

    fn held_against(&self, answers: &[Answer]) -> Option<Finding> {
        let mut found = Found::new();
        for answer in answers {
            let breaches = self.breaches(answer);
            for breach in breaches {
                let (count, _) = found.entry(breach).or_insert_with(|| (0, answer.place.clone()));
                *count += 1;
            }
        }
        if found.is_empty() {
            return None;
        }
        let is_broken = |part: &str| found.keys().any(|(broken, _)| *broken == part);
        let learned = learn::learn(&self.endpoint, answers);
        // A part that is kept stays as it is, also where somebody has widened it by hand.
        let proposed = Self {
            endpoint: self.endpoint.clone(),
            order: if is_broken(ORDER) { learned.order } else { self.order.clone() },
            invariants: match is_broken(INVARIANTS) {
                true => learned.invariants,
                false => self.invariants.clone(),
            },
            events: if is_broken(EVENTS) { learned.events } else { self.events.clone() },
            body: if is_broken(BODY) { learned.body } else { self.body.clone() },
        };
        let breaches = found.into_iter().map(|((part, what), (count, place))| Breach {
            part,
            what,
            count,
            place,
        });
        let mut breaches: Vec<Breach> = breaches.collect();
        breaches.sort_by_key(|breach| (part_number(breach.part), std::cmp::Reverse(breach.count)));
        Some(Finding::Broken { proposed, breaches })
    }

    /// What is not as accepted in one answer, each thing once.
    fn breaches(&self, answer: &Answer) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        if let Some(word) = &answer.word {
            found.extend(
                out_of_order(self.order.as_ref(), answer.asked.as_deref(), word)
                    .into_iter()
                    .map(|what| (ORDER, what)),
            );
        }
        let untied = answer.with_trace(|trace| Invariant::check(&self.invariants, trace));
        found.extend(untied.iter().map(|violation| (INVARIANTS, violation.invariant.to_string())));
        let events = answer.events.iter().map(|said| said.json.as_str()).collect();
        found.extend(of_shape(self.events.as_ref(), events).map(|what| (EVENTS, what)));
        let body = answer.body.as_deref().into_iter().collect();
        found.extend(of_shape(self.body.as_ref(), body).map(|what| (BODY, what)));
        found.sort();
        found.dedup();
        found
    }
}

const ORDER: &str = "order";
const INVARIANTS: &str = "invariants";
const EVENTS: &str = "events";
const BODY: &str = "body";

fn part_number(part: &str) -> usize {
    [ORDER, INVARIANTS, EVENTS, BODY].iter().position(|known| *known == part).unwrap_or(0)
}

/// What is out of order.
fn out_of_order(orders: Option<&Orders>, asked: Option<&str>, word: &Word) -> Vec<String> {
    let Some(orders) = orders else {
        return vec!["messages came where none were accepted".to_owned()];
    };
    let Some(order) = orders.of(asked) else { return vec![orders.unknown(asked)] };
    let explanation = order.explain(&word.events(), None);
    explanation.deviations().map(|deviation| explanation.sentence(deviation)).collect()
}

/// What is wrong with JSON texts. Elements of arrays are not told apart.
fn of_shape<'a>(
    schema: Option<&'a Schema>,
    texts: Vec<&'a str>,
) -> impl Iterator<Item = String> + 'a {
    let unknown = schema.is_none() && !texts.is_empty();
    let unknown = unknown.then(|| "JSON came where none was accepted".to_owned());
    let violations = texts
        .into_iter()
        .flat_map(move |text| schema.into_iter().flat_map(move |schema| schema.accepts(text)));
    let told = violations.map(|mut violation| {
        let steps = violation.pointer.split('/');
        let steps = steps.map(|step| if step.parse::<usize>().is_ok() { "*" } else { step });
        violation.pointer = steps.collect::<Vec<_>>().join("/");
        violation.to_string()
    });
    unknown.into_iter().chain(told)
}
