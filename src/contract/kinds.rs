//! What messages look like, by kind where they do not tell their kind themselves.

use std::collections::BTreeMap;

use super::message::Said;
use crate::contract::shape::{Schema, Violation};
use crate::text::nearest;

/// What messages look like.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kinds {
    /// All of them. Those that tell their type in a field are told apart by it.
    One(Schema),
    /// Each kind by itself, where no field tells it: in JSON-RPC a notification by its method, a
    /// result by the method that was asked for.
    Each(BTreeMap<String, Schema>),
}

impl Kinds {
    /// What is wrong with a message, in words.
    pub(super) fn broken(&self, said: &Said) -> Vec<String> {
        match self {
            Self::One(schema) => told(said, schema.accepts(&said.json)),
            Self::Each(kinds) => match kinds.get(&said.kind) {
                Some(schema) => told(said, schema.accepts(&said.json)),
                None => {
                    let known: Vec<&str> = kinds.keys().map(String::as_str).collect();
                    let hint = nearest::hint(&said.kind, &known);
                    vec![format!("no message of the kind `{}` was accepted; {hint}", said.kind)]
                }
            },
        }
    }
}

/// Violations in words, with the kind of the message. Elements of arrays are not told apart.
fn told(said: &Said, violations: Vec<Violation>) -> Vec<String> {
    let told = violations.into_iter().map(|mut violation| {
        let steps = violation.pointer.split('/');
        let steps = steps.map(|step| if step.parse::<usize>().is_ok() { "*" } else { step });
        violation.pointer = steps.collect::<Vec<_>>().join("/");
        match said.has_type {
            true => format!("`{}` {violation}", said.kind),
            false => violation.to_string(),
        }
    });
    told.collect()
}
