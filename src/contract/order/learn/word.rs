//! Traces to learn from, with what could be keys.

use std::borrow::Cow;

use super::edges::{Letter, Witness};
use crate::contract::order::event::{Event, Fields};

/// A trace to learn from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// Its events, those that are deltas of one message as one.
    pub tokens: Vec<Token>,
    /// What shows it.
    pub witness: Witness,
}

/// One event of a trace, or several in a row that are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Token {
    /// The type.
    pub tag: String,
    /// Whether it stands for several events in a row.
    pub run: bool,
    /// Fields by which events may belong together: name and JSON text. `null` is no value.
    pub keys: Vec<(String, String)>,
    /// What it says, for guards: paths and JSON texts.
    pub fields: Vec<(String, String)>,
}

impl Fields for Token {
    fn field(&self, path: &str) -> Option<Cow<'_, str>> {
        let said = self.fields.iter().find(|(field, _)| field == path);
        said.map(|(_, json)| json.as_str()).or_else(|| self.key(path)).map(Cow::from)
    }
}

impl Token {
    /// An event without keys.
    pub fn plain(tag: impl Into<String>) -> Self {
        Self { tag: tag.into(), ..Self::default() }
    }

    /// It as an event, with the keys as its fields.
    pub fn event(&self) -> Event<'_> {
        Event::new(&self.tag, self)
    }

    /// The value of a key.
    pub fn key(&self, name: &str) -> Option<&str> {
        let mut keys = self.keys.iter().filter(|(key, value)| key == name && value != "null");
        keys.next().map(|(_, value)| value.as_str())
    }

    pub(super) fn letter(&self) -> Letter<'_> {
        Letter { tag: &self.tag, run: self.run }
    }
}

impl Word {
    /// A word of events without keys.
    pub fn plain<T: Into<String>>(tags: impl IntoIterator<Item = T>, witness: Witness) -> Self {
        Self { tokens: tags.into_iter().map(Token::plain).collect(), witness }
    }

    /// Its events, with what they say.
    pub fn events(&self) -> Vec<Event<'_>> {
        self.tokens.iter().map(Token::event).collect()
    }

    pub(super) fn letters(&self) -> impl Iterator<Item = Letter<'_>> {
        self.tokens.iter().map(Token::letter)
    }
}
