//! What an order is made of.

use std::fmt;

use super::Event;
use crate::contract::syntax;

/// An order of events: a regular expression over their tags, with interleaving and slices.
///
/// The constructors ([`Expression::sequence`], [`Expression::choice`], …) keep to one form for what
/// reads the same: no sequence in a sequence, no choice in a choice, no group of one. What is built
/// with them is what parsing its text gives back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Expression {
    /// No event at all, written `()`.
    Nothing,
    /// One event.
    Event(Pattern),
    /// One behind the other.
    Sequence(Vec<Self>),
    /// One of these, written with `|`.
    Choice(Vec<Self>),
    /// All of these, their events in any mixture, written with `&`.
    Interleaved(Vec<Self>),
    /// Again and again, written `?`, `*`, `+`, `{m,n}`.
    Repeated(Box<Self>, Times),
    /// The events of one value of a key, written `per KEY (…)`.
    Slice(Slice),
    /// This, and the last event is one of those in the choice, written `… ends (a | b)`.
    Ending(Box<Self>, Box<Self>),
}

/// What one event has to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern {
    /// Its tag; any tag (`_`) if there is none.
    pub tag: Option<String>,
    /// What must hold of its fields.
    pub guards: Vec<Guard>,
}

/// How often something comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Times {
    /// At least so often.
    pub min: u32,
    /// At most so often; without end if there is none.
    pub max: Option<u32>,
}

/// All events with one value of a key.
///
/// They are a word of their own, which has to be as [`Slice::each`] says. Around them they stand for
/// one event, at the place of the first of them.
///
/// # Rationale
///
/// That the events of a slice come in a row is a promise worth keeping, and most servers keep it. It
/// holds unless the order says otherwise: `per KEY ~ (…)` lets events of other slices by the key come
/// between, `per KEY & (…)` any others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slice {
    /// The field whose values tell the slices apart.
    pub key: String,
    /// Whether other events may come between.
    pub between: Between,
    /// What the events of one slice have to be.
    pub each: Box<Expression>,
}

/// What may come between two events of one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Between {
    /// Nothing: they come in a row.
    Nothing,
    /// Events of other slices by the same key: all are over when anything else comes. Written `~`.
    Slices,
    /// Events of other slices, and others. Written `&`.
    Others,
}

impl Times {
    /// `?`
    pub const OPTIONAL: Self = Self { min: 0, max: Some(1) };
    /// `*`
    pub const ANY: Self = Self { min: 0, max: None };
    /// `+`
    pub const SOME: Self = Self { min: 1, max: None };

    const ONCE: Self = Self { min: 1, max: Some(1) };
    const NEVER: Self = Self { min: 0, max: Some(0) };

    /// Whether there is a sign for it, so that two of them are again one.
    fn is_plain(self) -> bool {
        [Self::OPTIONAL, Self::ANY, Self::SOME].contains(&self)
    }
}

impl Expression {
    /// An event with a tag.
    pub fn tag(tag: impl Into<String>) -> Self {
        Self::Event(Pattern { tag: Some(tag.into()), guards: Vec::new() })
    }

    /// One behind the other.
    pub fn sequence(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Nothing => {}
                Self::Sequence(parts) => flat.extend(parts),
                part => flat.push(part),
            }
        }
        single(flat, Self::Sequence)
    }

    /// One of these.
    pub fn choice(parts: impl IntoIterator<Item = Self>) -> Self {
        let (mut flat, mut optional) = (Vec::new(), false);
        for part in parts {
            match part {
                Self::Nothing => optional = true,
                Self::Choice(parts) => flat.extend(parts),
                Self::Repeated(part, Times::OPTIONAL) => {
                    optional = true;
                    match *part {
                        Self::Choice(parts) => flat.extend(parts),
                        part => flat.push(part),
                    }
                }
                part => flat.push(part),
            }
        }
        let choice = single(flat, Self::Choice);
        if optional { choice.repeated(Times::OPTIONAL) } else { choice }
    }

    /// All of these, in any mixture.
    pub fn interleaved(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Nothing => {}
                Self::Interleaved(parts) => flat.extend(parts),
                part => flat.push(part),
            }
        }
        single(flat, Self::Interleaved)
    }

    /// This again and again.
    #[must_use]
    pub fn repeated(self, times: Times) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            _ if times == Times::NEVER => Self::Nothing,
            this if times == Times::ONCE => this,
            Self::Repeated(inner, of) if of.is_plain() && times.is_plain() => {
                let max = of.max.zip(times.max).map(|_| 1);
                Self::Repeated(inner, Times { min: of.min.min(times.min), max })
            }
            this => Self::Repeated(Box::new(this), times),
        }
    }

    /// The events of one value of `key`.
    pub fn per(key: impl Into<String>, between: Between, each: Self) -> Self {
        Self::Slice(Slice { key: key.into(), between, each: Box::new(each) })
    }

    /// This, where the last event is one of a choice; the same as it is where slices are in that, as what ends
    /// in a slice is said there.
    #[must_use]
    pub fn ending(self, last: Self) -> Self {
        if last.alternatives().iter().all(|event| matches!(event, Self::Event(_))) {
            Self::Ending(Box::new(self), Box::new(last))
        } else {
            self
        }
    }

    /// Those of a choice, with nothing among them or not.
    pub(super) fn alternatives(&self) -> &[Self] {
        match self {
            Self::Choice(parts) => parts,
            Self::Repeated(inner, Times::OPTIONAL) => inner.alternatives(),
            one => std::slice::from_ref(one),
        }
    }

    /// The same with something else in the place of each tag that has no guards.
    #[must_use]
    pub(super) fn with_tags(self, label: &dyn Fn(&str) -> Self) -> Self {
        let all = |parts: Vec<Self>| parts.into_iter().map(|part| part.with_tags(label));
        match self {
            Self::Event(Pattern { tag: Some(tag), guards }) if guards.is_empty() => label(&tag),
            Self::Nothing | Self::Event(_) => self,
            Self::Sequence(parts) => Self::sequence(all(parts)),
            Self::Choice(parts) => Self::choice(all(parts)),
            Self::Interleaved(parts) => Self::interleaved(all(parts)),
            Self::Repeated(inner, times) => inner.with_tags(label).repeated(times),
            Self::Slice(slice) => Self::per(slice.key, slice.between, slice.each.with_tags(label)),
            Self::Ending(all, last) => {
                let once = |tag: &str| match label(tag) {
                    Self::Repeated(one, _) => *one,
                    one => one,
                };
                all.with_tags(label).ending(last.with_tags(&once))
            }
        }
    }

    /// The key of the first slices in it.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::Nothing | Self::Event(_) => None,
            Self::Slice(slice) => Some(&slice.key),
            Self::Choice(parts) | Self::Sequence(parts) | Self::Interleaved(parts) => {
                parts.iter().find_map(Self::key)
            }
            Self::Repeated(inner, _) => inner.key(),
            Self::Ending(all, last) => all.key().or_else(|| last.key()),
        }
    }

    /// Whether no event at all is in order.
    pub fn is_nullable(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Event(_) | Self::Slice(_) => false,
            Self::Choice(parts) => parts.iter().any(Self::is_nullable),
            Self::Sequence(parts) | Self::Interleaved(parts) => parts.iter().all(Self::is_nullable),
            Self::Repeated(inner, times) => times.min == 0 || inner.is_nullable(),
            Self::Ending(all, last) => all.is_nullable() && last.is_nullable(),
        }
    }

    /// How many signs it takes to say it: tags, groups and repetitions.
    pub fn size(&self) -> usize {
        match self {
            Self::Nothing => 1,
            Self::Event(pattern) => 1 + pattern.guards.len(),
            Self::Sequence(parts) => parts.iter().map(Self::size).sum(),
            Self::Choice(parts) | Self::Interleaved(parts) => {
                parts.iter().map(|part| part.size() + 1).sum()
            }
            Self::Repeated(inner, _) => inner.size() + 1,
            Self::Slice(slice) => slice.each.size() + 2,
            Self::Ending(all, last) => all.size() + last.size() + 1,
        }
    }
}

/// A group of one is what is in it.
fn single(mut parts: Vec<Expression>, group: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        0 => Expression::Nothing,
        1 => parts.remove(0),
        _ => group(parts),
    }
}

/// A condition on one field, written in brackets behind a tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// Where the field stands; what a path means is decided by whoever gives the events.
    pub path: String,
    /// How it compares.
    pub comparison: Comparison,
    /// With what: one of these, written with `|` between them.
    pub values: Vec<Literal>,
}

/// How a field compares with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// `=`: it is one of them. A field that is missing is equal to nothing.
    Equal,
    /// `!=`: it is none of them. A field that is missing differs from everything.
    Different,
}

/// What is said of a field that is not there.
pub(super) const MISSING: &str = "missing";

/// A JSON value without parts, or none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// A string, without quotes and escapes.
    Text(String),
    /// Nothing: the field is not there. Written `missing`.
    Missing,
}

impl Guard {
    /// Whether it holds of an event.
    pub fn holds(&self, event: &Event<'_>) -> bool {
        let equal = match event.field(&self.path) {
            Some(json) => self.values.iter().any(|value| value.is(&json)),
            None => self.values.contains(&Literal::Missing),
        };
        equal == (self.comparison == Comparison::Equal)
    }
}

impl Literal {
    /// The value of a JSON text, unless it is an object, an array, or no JSON; `missing` is none.
    pub fn parse(json: &str) -> Option<Self> {
        if json == MISSING {
            return Some(Self::Missing);
        }
        match serde_json::from_str(json).ok()? {
            serde_json::Value::Null => Some(Self::Null),
            serde_json::Value::Bool(value) => Some(Self::Bool(value)),
            serde_json::Value::Number(_) => Some(Self::Number(json.trim().to_owned())),
            serde_json::Value::String(text) => Some(Self::Text(text)),
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
        }
    }

    /// Whether a JSON text says the same value.
    fn is(&self, json: &str) -> bool {
        Self::parse(json).is_some_and(|other| match (self, &other) {
            (Self::Number(one), Self::Number(other)) => one == other || equal(one, other),
            _ => *self == other,
        })
    }
}

/// Whether two ways to write a number mean the same one. Those with more digits than a floating-point
/// number holds are not rounded until they are equal.
fn equal(one: &str, other: &str) -> bool {
    const EXACT: usize = 16;
    let value = |text: &str| text.parse::<f64>().ok().filter(|_| text.len() <= EXACT);
    value(one).is_some_and(|one| Some(one) == value(other))
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::Equal => "=",
            Comparison::Different => "!=",
        };
        super::text::write_name(f, &self.path)?;
        f.write_str(sign)?;
        for (place, value) in self.values.iter().enumerate() {
            write!(f, "{}{value}", if place == 0 { "" } else { "|" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::Text(text) => syntax::write_name(f, text, false),
            Self::Missing => f.write_str(MISSING),
        }
    }
}
