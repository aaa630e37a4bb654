//! What must hold of an event's fields.

use std::fmt;

use super::Event;

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

/// A JSON value without parts.
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
}

impl Guard {
    /// Whether it holds of an event.
    pub fn holds(&self, event: &Event<'_>) -> bool {
        let found = event.field(&self.path);
        let equal = found.is_some_and(|json| self.values.iter().any(|value| value.is(&json)));
        equal == (self.comparison == Comparison::Equal)
    }
}

impl Literal {
    /// The value of a JSON text, unless it is an object, an array, or no JSON.
    pub fn parse(json: &str) -> Option<Self> {
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
            Self::Text(text) => super::text::write_quoted(f, text),
        }
    }
}
