//! The types of a body's messages, in order.

use std::fmt;

use super::identity::{Identity, Relation};
use super::{Message, Protocols, Tag};

/// The tags of one body in order. The deltas of one message are one step; keep-alives are set aside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// What came, in order.
    pub steps: Vec<Step>,
    /// How many messages only said that the server was still there.
    pub keep_alives: usize,
}

/// One message, or the deltas of one message that came in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The type.
    pub tag: Tag,
    /// Which messages these are, by their place among all messages of the body; at least one.
    pub messages: Vec<usize>,
    /// Milliseconds since the request arrived at which the first one was complete.
    pub first_ms: u64,
    /// The same of the last one.
    pub last_ms: u64,
}

impl Trace {
    /// The trace of a body's messages.
    pub fn of(messages: &[Message]) -> Self {
        Self::by(&Protocols::default(), messages)
    }

    /// The same with other protocols than those that retape knows.
    pub fn by(protocols: &Protocols, messages: &[Message]) -> Self {
        let mut trace = Self::default();
        let mut before: Option<Identity<'_>> = None;
        for (place, message) in messages.iter().enumerate() {
            if message.is_keep_alive() {
                trace.keep_alives += 1;
                continue;
            }
            let identity = Identity::of(&message.data, protocols);
            match trace.steps.last_mut().zip(before.as_ref()) {
                Some((step, before)) if step.goes_on_with(message, before.relation(&identity)) => {
                    step.messages.push(place);
                    step.last_ms = message.ms;
                }
                _ => trace.steps.push(Step::begin(place, message)),
            }
            before = Some(identity);
        }
        trace
    }
}

impl Step {
    /// How many messages these are.
    pub fn count(&self) -> usize {
        self.messages.len()
    }

    fn begin(place: usize, message: &Message) -> Self {
        let Message { tag, ms, .. } = message;
        Self { tag: tag.clone(), messages: vec![place], first_ms: *ms, last_ms: *ms }
    }

    fn goes_on_with(&self, message: &Message, relation: Relation) -> bool {
        self.tag == message.tag
            && match relation {
                Relation::Same => true,
                Relation::Different => false,
                // Without any identity, two of the same type are two messages, unless the type
                // itself says that it is a part of one.
                Relation::Unsaid => match &self.tag {
                    Tag::Named(name) | Tag::KeepAlive(name) => {
                        ["delta", "chunk"].iter().any(|part| name.contains(part))
                    }
                    Tag::Untyped(_) | Tag::Comment => true,
                },
            }
    }
}

impl fmt::Display for Trace {
    /// The tags with spaces between them, and a `+` behind those that came in several pieces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.steps.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            let plus = if step.count() > 1 { "+" } else { "" };
            write!(f, "{space}{}{plus}", step.tag)?;
        }
        Ok(())
    }
}
