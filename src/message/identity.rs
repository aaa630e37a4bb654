//! Which of a server's things a message is about.

use super::Protocols;
use crate::config::Object;
use crate::text::json::Text;

/// What a message says of its identity: the places where it does, and what stands there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Identity<'p>(Vec<(&'p str, String)>);

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

impl<'p> Identity<'p> {
    pub(super) fn of(data: &str, protocols: &'p Protocols) -> Self {
        let Some(json) = Text::read_container(data) else { return Self::default() };
        let message = Object::of(json);
        let keys = protocols.of_message(&message).into_iter().flat_map(|protocol| protocol.keys());
        Self(keys.filter_map(|key| Some((key.as_str(), said(message.at(key)?)?))).collect())
    }

    pub(super) fn relation(&self, other: &Self) -> Relation {
        let mut relation = Relation::Unsaid;
        for (place, said) in &self.0 {
            match other.0.iter().find(|(other, _)| other == place) {
                Some((_, same)) if same == said => relation = Relation::Same,
                Some(_) => return Relation::Different,
                None => {}
            }
        }
        relation
    }
}

fn said(value: Text<'_>) -> Option<String> {
    value.string().map(|it| it.into_owned()).or_else(|| value.scalar().map(str::to_owned))
}
