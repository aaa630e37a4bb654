//! Who has seen what a contract says: for those who ask, never in the compared text.

use std::collections::BTreeMap;

use super::samples::{Sample, Samples};
use super::text::{BODY, EVENTS, HEADERS};
use super::traffic::{Answer, Traffic};
use super::{Case, Contract, Endpoint, Kinds};
use crate::contract::order::{self, Place, Slicing, Word};
use crate::contract::shape;
use crate::text::json::Text;

/// Who has seen what is learned about one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// Which one.
    pub endpoint: Endpoint,
    /// How many whole answers there are.
    pub answers: usize,
    /// The first of them.
    pub first: Occurrence,
    /// The orders, case by case.
    pub orders: Vec<OrderEvidence>,
    /// What is not so in every value.
    pub claims: Vec<Claimed>,
}

/// Who has seen the order of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderEvidence {
    /// What decides, as the contract says it; empty if nothing does.
    pub case: String,
    /// How likely the next recording says nothing new: how many answers are in the order that the
    /// others teach.
    pub coverage: order::Coverage,
    /// What follows what.
    pub edges: Vec<Edge>,
}

/// That a message was followed by another.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The kind of slice in which it is so; empty outside of slices.
    pub slice: String,
    /// The first, `⊢` before the first message.
    pub from: String,
    /// The second, `⊣` behind the last message.
    pub to: String,
    /// In how many answers.
    pub answers: usize,
    /// The first of them, and the second message there.
    pub witness: Occurrence,
}

/// Something that is not so in every value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claimed {
    /// The part of the contract: `events` or `body`.
    pub part: &'static str,
    /// The kind of the message, where no field of it tells that.
    pub kind: Option<String>,
    /// What was seen, where, and how often.
    pub evidence: shape::Evidence,
    /// The first that has seen it.
    pub witness: Occurrence,
    /// The first without it, if it is a field.
    pub missed: Option<Occurrence>,
    /// Whether all that have seen it are one answer.
    pub is_single: bool,
}

/// A place in the recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occurrence {
    /// The cassette and the number of the interaction in it, counted from 1: `letta/hello #4`.
    pub answer: String,
    /// Where in the answer, if that is in messages.
    pub at: Option<At>,
}

/// Where in an answer, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum At {
    /// A line of the trace: a message, or the deltas of one.
    Step(usize),
    /// A message of a stream that is JSON.
    Event(usize),
}

impl Traffic {
    /// Who has seen what is learned about each endpoint.
    pub fn evidence(&self) -> Vec<Evidence> {
        let learned = super::check(self, &[]);
        let learned = learned.iter().filter_map(super::Finding::proposed);
        learned.filter_map(|contract| self.evidence_of(contract)).collect()
    }

    fn evidence_of(&self, contract: &Contract) -> Option<Evidence> {
        let answers = self.answers(&contract.endpoint);
        let first = Occurrence { answer: answers.first()?.place.clone(), at: None };
        let claims = |part, kinds: &Option<Kinds>, samples: &Samples<'_>| {
            kinds.as_ref().map(|kinds| claims(part, kinds, samples)).unwrap_or_default()
        };
        let mut all = claims(EVENTS, &contract.events, &self.events(answers));
        all.extend(claims(HEADERS, &contract.headers, &self.headers(answers)));
        all.extend(claims(BODY, &contract.body, &self.bodies(answers)));
        Some(Evidence {
            endpoint: contract.endpoint.clone(),
            answers: answers.len(),
            first,
            orders: orders(contract, answers),
            claims: all,
        })
    }
}

/// Who has seen what is not so in every message, kind by kind where a contract says them so.
fn claims(part: &'static str, kinds: &Kinds, samples: &Samples<'_>) -> Vec<Claimed> {
    let mut texts: BTreeMap<Option<&str>, Vec<(Text<'_>, u32)>> = BTreeMap::new();
    for (number, sample) in samples.iter() {
        let kind = matches!(kinds, Kinds::Each(_)).then_some(sample.message.kind.as_str());
        texts.entry(kind).or_default().push((sample.message.text(), number));
    }
    let of_kind = |(kind, texts): (Option<&str>, Vec<(Text<'_>, u32)>)| {
        let all = shape::evidence(texts.into_iter(), samples).into_iter();
        let told = all.filter(|evidence| match evidence.of {
            shape::Claim::Value(_) => evidence.seen.count < evidence.all,
            _ => true,
        });
        let claims = told.filter_map(|evidence| claim(part, kind, evidence, samples));
        claims.collect::<Vec<_>>()
    };
    texts.into_iter().flat_map(of_kind).collect()
}

fn claim(
    part: &'static str,
    kind: Option<&str>,
    evidence: shape::Evidence,
    samples: &Samples<'_>,
) -> Option<Claimed> {
    let place = |sample: &Sample<'_>| Occurrence {
        answer: sample.answer.place.clone(),
        at: (part == EVENTS).then_some(At::Event(sample.event + 1)),
    };
    let seen = evidence.seen.witnesses.as_slice();
    let (first, last) = (samples.get(*seen.first()?)?, samples.get(*seen.last()?)?);
    let missed = evidence.missed.as_slice().first().and_then(|number| samples.get(*number));
    Some(Claimed {
        part,
        kind: kind.map(str::to_owned),
        witness: place(first),
        missed: missed.map(place),
        is_single: first.number == last.number,
        evidence,
    })
}

/// The evidence of the cases, in the order of the contract.
fn orders(contract: &Contract, answers: &[Answer]) -> Vec<OrderEvidence> {
    let Some(orders) = &contract.order else { return Vec::new() };
    let of_case = |case: &Case| {
        let is_it = |fitting: &&Case| std::ptr::eq(*fitting, case);
        let answers = answers.iter().filter_map(|answer| Some((answer, answer.word.as_ref()?)));
        let words = answers
            .filter(|(_, word)| word.extent.is_whole())
            .filter(|(answer, _)| orders.fitting(&answer.situation).last().is_some_and(is_it));
        let is_only = case.when.is_empty() && orders.cases.len() == 1;
        let name = if is_only { String::new() } else { case.head() };
        let anywhere = case.order.anywhere();
        let words =
            words.map(|(answer, word)| (answer, word.without(|tag| anywhere.contains(tag))));
        order_evidence(name, &words.collect::<Vec<_>>())
    };
    orders.cases.iter().map(of_case).collect()
}

fn order_evidence(case: String, words: &[(&Answer, Word)]) -> OrderEvidence {
    let all: Vec<Word> = words.iter().map(|(_, word)| word.clone()).collect();
    let slicing = Slicing::find(&all);
    let mut edges: BTreeMap<(String, String, String), Edge> = BTreeMap::new();
    for (answer, word) in words {
        for (slice, from, to) in Slicing::edges(slicing.as_ref(), word) {
            let key = (slice.clone(), from.clone(), to.clone());
            let edge = edges.entry(key).or_insert_with(|| {
                let at = step(word, &from, &to).map(At::Step);
                let witness = Occurrence { answer: answer.place.clone(), at };
                Edge { slice, from, to, answers: 0, witness }
            });
            edge.answers += 1;
        }
    }
    let mut edges: Vec<Edge> = edges.into_values().collect();
    let is_end = |edge: &Edge| edge.to == Place::End.to_string();
    edges.sort_by_key(|it| (it.slice.clone(), it.witness.at.map(At::number), is_end(it)));
    OrderEvidence { case, coverage: order::Coverage::by_edges(&all), edges }
}

/// The step of a word that came behind another one, if they are neighbours.
fn step(word: &Word, from: &str, to: &str) -> Option<usize> {
    let is_it =
        |(one, other): (Place<'_>, Place<'_>)| one.to_string() == from && other.to_string() == to;
    let place = word.pairs().position(is_it)?;
    Some((place + 1).min(word.tokens.len().max(1)))
}

impl At {
    /// The number.
    pub fn number(self) -> usize {
        match self {
            Self::Step(number) | Self::Event(number) => number,
        }
    }
}
