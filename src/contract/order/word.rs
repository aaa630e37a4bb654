//! Events, and traces of them.

use std::borrow::Cow;
use std::fmt;

use super::edges::{Letter, Place, Witness};

/// What guards and slices can see of an event. Any `Fn(&str) -> Option<String>` will do.
pub trait Fields {
    /// The JSON text of what stands at a path, if anything does.
    fn field(&self, path: &str) -> Option<Cow<'_, str>>;
}

/// One event of a trace, as far as an order has to know it.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// Its type.
    pub tag: &'a str,
    fields: Option<&'a dyn Fields>,
}

impl<F: Fn(&str) -> Option<String>> Fields for F {
    fn field(&self, path: &str) -> Option<Cow<'_, str>> {
        self(path).map(Cow::from)
    }
}

impl<'a> Event<'a> {
    /// An event with fields.
    pub fn new(tag: &'a str, fields: &'a dyn Fields) -> Self {
        Self { tag, fields: Some(fields) }
    }

    /// An event without fields.
    pub fn plain(tag: &'a str) -> Self {
        Self { tag, fields: None }
    }

    /// The JSON text of a field.
    pub fn field(&self, path: &str) -> Option<Cow<'a, str>> {
        self.fields.and_then(|fields| fields.field(path))
    }

    /// The slice of a key that it belongs to: none if the field is missing or `null`.
    pub(super) fn slice(&self, key: &str) -> Option<Cow<'a, str>> {
        self.field(key).filter(|json| json != "null")
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.tag).finish()
    }
}

/// A trace to learn from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// Its events, those that are deltas of one message as one.
    pub tokens: Vec<Token>,
    /// What shows it.
    pub witness: Witness,
    /// How much of it came.
    pub extent: Extent,
}

/// How much of a trace came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// Only how it begins.
    Begun,
    /// All of it, but for how the server would have closed the connection: the client did so first.
    Left,
}

impl Extent {
    /// Whether all came that there is.
    pub(crate) fn is_whole(self) -> bool {
        self != Self::Begun
    }
}

/// One event of a trace, or several in a row that are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Token {
    /// The type.
    pub tag: String,
    /// Whether it stands for several events in a row.
    pub run: bool,
    /// Whether it is a piece of something, of which there may be more, whatever was seen.
    pub is_piece: bool,
    /// Fields by which events may belong together: name and JSON text. `null` is no value.
    pub keys: Vec<(String, String)>,
    /// What it says, for guards: paths and JSON texts.
    pub fields: Vec<(String, String)>,
    /// Its members that are objects or lists.
    pub parts: Vec<String>,
}

/// What a member says that is an object or a list, as far as an order has to know it.
pub(super) const PART: &str = "{}";

impl Fields for Token {
    fn field(&self, path: &str) -> Option<Cow<'_, str>> {
        let said = self.fields.iter().find(|(field, _)| field == path);
        let part = || self.parts.iter().any(|part| part == path).then_some(PART);
        let said = said.map(|(_, json)| json.as_str()).or_else(|| self.key(path));
        said.or_else(part).map(Cow::from)
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

    /// The value of a key, which any field may be.
    pub fn key(&self, name: &str) -> Option<&str> {
        let mut said = self.keys.iter().chain(&self.fields);
        let (_, value) = said.find(|(key, value)| key == name && value != "null")?;
        Some(value)
    }

    /// How many events it is where an order is asked.
    fn times(&self) -> usize {
        if self.run && !self.is_piece { 2 } else { 1 }
    }

    /// Without some of its fields.
    pub(super) fn without(&self, is_one: impl Fn(&str) -> bool) -> Self {
        let kept = |fields: &[(String, String)]| {
            fields.iter().filter(|(name, _)| !is_one(name)).cloned().collect()
        };
        Self { keys: kept(&self.keys), fields: kept(&self.fields), ..self.clone() }
    }

    pub(super) fn letter(&self) -> Letter<'_> {
        Letter { tag: &self.tag, run: self.run }
    }
}

impl Word {
    /// A word of events without keys.
    pub fn plain<T: Into<String>>(tags: impl IntoIterator<Item = T>, witness: Witness) -> Self {
        let tokens = tags.into_iter().map(Token::plain).collect();
        Self { tokens, witness, ..Self::default() }
    }

    /// Its events, with what they say. Several that are one token are two, so that an order tells whether
    /// there may be several.
    pub fn events(&self) -> Vec<Event<'_>> {
        let tokens = self.tokens.iter();
        tokens.flat_map(|token| std::iter::repeat_n(token.event(), token.times())).collect()
    }

    /// Whether a message of that type is in it.
    pub(crate) fn has(&self, tag: &str) -> bool {
        self.tokens.iter().any(|token| token.tag == tag)
    }

    /// The token that an event is of; that of the end is behind the last one.
    pub(crate) fn token_of(&self, event: usize) -> usize {
        let ends = self.tokens.iter().scan(0, |end, token| {
            *end += token.times();
            Some(*end)
        });
        ends.take_while(|end| *end <= event).count()
    }

    /// Without events of some types.
    pub(crate) fn without(&self, is_one: impl Fn(&str) -> bool) -> Self {
        let tokens = self.tokens.iter().filter(|token| !is_one(&token.tag)).cloned();
        Self { tokens: tokens.collect(), ..*self }
    }

    /// It as a whole one, which goes on behind its last message as another one does; else it ends there.
    pub(crate) fn ended_like(&self, others: &[&Self]) -> Self {
        let last = self.tokens.last().map(|token| &token.tag);
        let behind = others.iter().find_map(|other| {
            let at = other.tokens.iter().rposition(|token| Some(&token.tag) == last)?;
            Some(&other.tokens[at + 1..])
        });
        let tokens = [&self.tokens, behind.unwrap_or_default()].concat();
        Self { tokens, extent: Extent::Whole, ..*self }
    }

    pub(super) fn letters(&self) -> impl Iterator<Item = Letter<'_>> {
        self.tokens.iter().map(Token::letter)
    }

    /// Its types, each with the one behind it.
    pub(in crate::contract) fn pairs(&self) -> impl Iterator<Item = (Place<'_>, Place<'_>)> {
        let tags = self.tokens.iter().map(|token| Place::Tag(&token.tag));
        std::iter::once(Place::Start).chain(tags.clone()).zip(tags.chain([Place::End]))
    }
}
