//! Learning what a server promises from what was recorded.

use std::collections::BTreeMap;

use super::made_up::MadeUp;
use super::message::Said;
use super::traffic::{Answer, Traffic};
use super::{Contract, Endpoint, Kinds, Orders};
use crate::contract::invariant::{Invariant, Learner};
use crate::contract::shape::{Schema, Shape};

/// What the answers of an endpoint have in common.
pub(super) fn learn(endpoint: &Endpoint, traffic: &Traffic) -> Contract {
    let answers = traffic.answers(endpoint);
    let is_made_up = |word: &str| traffic.made_up.has(word);
    Contract {
        endpoint: endpoint.clone(),
        tag: traffic.told(endpoint).cloned(),
        order: Orders::learn(answers, &is_made_up),
        invariants: invariants(answers),
        events: kinds(answers.iter().map(|answer| &*answer.events), &traffic.made_up),
        body: kinds(answers.iter().map(|answer| answer.body.as_slice()), &traffic.made_up),
    }
}

fn invariants(answers: &[Answer]) -> Vec<Invariant> {
    let mut learner = Learner::default();
    for answer in answers.iter().filter(|answer| answer.has_trace()) {
        answer.with_trace(answer.before(), |trace| learner.learn(trace));
    }
    learner.finish()
}

fn kinds<'a>(answers: impl Iterator<Item = &'a [Said]>, made_up: &MadeUp) -> Option<Kinds> {
    let mut shapes: BTreeMap<&str, Shape> = BTreeMap::new();
    for (witness, said) in answers.enumerate() {
        let witness = u32::try_from(witness).unwrap_or(u32::MAX);
        for said in said {
            shapes.entry(&said.kind).or_default().learn_text(said.text(), witness);
        }
    }
    let mut all = Shape::default();
    shapes.values().for_each(|shape| all.merge(shape));
    let finish = |shape: &Shape| -> Schema {
        shape.finish().loosened(&|word| made_up.has(word), &|prefix| made_up.has_prefix(prefix))
    };
    let one = (all.count() > 0).then(|| finish(&all))?;
    if shapes.len() == 1 || one.is_union() {
        return Some(Kinds::One(one));
    }
    Some(Kinds::Each(
        shapes.iter().map(|(kind, shape)| ((*kind).to_owned(), finish(shape))).collect(),
    ))
}
