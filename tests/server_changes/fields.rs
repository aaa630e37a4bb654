//! The objects in a JSON value, and where they stand.

use serde_json::{Map, Value};

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Missing,
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

/// What tells kinds of objects apart, in the protocols that are recorded.
pub const TYPES: [&str; 2] = ["message_type", "type"];

/// Below these a person who uses the server says what the names are.
const MADE_UP: [&str; 10] = [
    "arguments",
    "input",
    "inputRequests",
    "inputSchema",
    "metadata",
    "outputSchema",
    "parameters",
    "requestedSchema",
    "_meta",
    "structuredContent",
];

/// An object in a value.
pub struct Found<'v> {
    /// The JSON Pointer to it.
    pub pointer: String,
    /// The same with the elements of arrays taken together, and kinds of objects told apart:
    /// `output/*/message`.
    pub place: String,
    pub members: &'v Map<String, Value>,
}

/// The objects in a value whose members have names that the server gives.
pub fn objects(value: &Value) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    walk(value, String::new(), String::new(), &mut found);
    found
}

fn walk<'v>(value: &'v Value, pointer: String, place: String, found: &mut Vec<Found<'v>>) {
    match value {
        Value::Object(members) => {
            let kind = TYPES.iter().find_map(|name| members.get(*name)?.as_str());
            let place = match kind {
                Some(kind) if !place.is_empty() => format!("{place}/{kind}"),
                _ => place,
            };
            for (name, value) in members.iter().filter(|(name, _)| !MADE_UP.contains(&&***name)) {
                walk(value, below(&pointer, name), format!("{place}/{name}"), found);
            }
            found.push(Found { pointer, place, members });
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                walk(value, format!("{pointer}/{index}"), format!("{place}/*"), found);
            }
        }
        _ => {}
    }
}

/// The pointer to a member of what is at a pointer.
pub fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}
