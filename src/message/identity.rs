//! Which of a server's things a message is about.

use crate::json::Text;

/// The fields that tell one thing's messages from another's, where a message has them.
const FIELDS: [&[&str]; 11] = [
    &["id"],
    &["otid"],
    &["index"],
    &["item_id"],
    &["output_index"],
    &["content_index"],
    &["tool_call_id"],
    &["tool_call", "tool_call_id"],
    &["choices", "0", "index"],
    &["choices", "0", "delta", "tool_calls", "0", "index"],
    &["message", "id"],
];

/// What a message says of its identity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Identity([Option<String>; FIELDS.len()]);

/// How two messages relate by what they say of their identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are about the same thing.
    Same,
    /// They are about different things.
    Different,
    /// Neither says anything that can be compared.
    Unsaid,
}

impl Identity {
    pub(super) fn of(data: &str) -> Self {
        let mut identity = Self::default();
        let json = Text::parse_container(data.as_bytes());
        for (name, value) in json.into_iter().flat_map(Text::members) {
            for (field, slot) in FIELDS.iter().zip(&mut identity.0) {
                if field[0] == name {
                    *slot = value.at(&field[1..]).and_then(said);
                }
            }
        }
        identity
    }

    pub(super) fn relation(&self, other: &Self) -> Relation {
        let shared = || self.0.iter().zip(&other.0).filter(|(a, b)| a.is_some() && b.is_some());
        match shared().all(|(a, b)| a == b) {
            false => Relation::Different,
            true if shared().next().is_some() => Relation::Same,
            true => Relation::Unsaid,
        }
    }
}

fn said(value: Text<'_>) -> Option<String> {
    value.string().map(|it| it.into_owned()).or_else(|| value.scalar().map(str::to_owned))
}
