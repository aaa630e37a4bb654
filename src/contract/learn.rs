//! Learning what a server promises from what was recorded.

use super::traffic::Answer;
use super::{Contract, Endpoint};
use crate::invariant::{Invariant, Learner};
use crate::order::{Learned, Style, Word};
use crate::shape::{Schema, Shape};

/// What the answers of an endpoint have in common.
pub(super) fn learn(endpoint: &Endpoint, answers: &[Answer]) -> Contract {
    let words: Vec<Word> = answers.iter().filter_map(|answer| answer.word.clone()).collect();
    let order = Learned::from_words(&words).order(Style::Shortest).ok();
    Contract {
        endpoint: endpoint.clone(),
        order: order.filter(|_| !words.is_empty()),
        invariants: invariants(answers),
        events: schema(
            answers.iter().map(|answer| answer.events.iter().map(|said| &*said.json).collect()),
        ),
        body: schema(answers.iter().map(|answer| answer.body.as_deref().into_iter().collect())),
    }
}

fn invariants(answers: &[Answer]) -> Vec<Invariant> {
    let mut learner = Learner::default();
    for answer in answers.iter().filter(|answer| !answer.events.is_empty()) {
        answer.with_trace(|trace| learner.learn(trace));
    }
    learner.finish()
}

fn schema<'a>(texts: impl Iterator<Item = Vec<&'a str>>) -> Option<Schema> {
    let mut shape = Shape::default();
    for (witness, texts) in texts.enumerate() {
        let witness = u32::try_from(witness).unwrap_or(u32::MAX);
        for text in texts {
            // All of them were parsed before.
            let _ = shape.learn(text, witness);
        }
    }
    (shape.count() > 0).then(|| shape.finish())
}
