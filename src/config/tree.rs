//! A JSON body as a tree, to find places in it.
//!
//! # Rationale
//!
//! `serde_json` refuses as a value some of what is JSON and may be in a recording: lone surrogates,
//! numbers beyond `f64`, more than 128 levels. None of that must keep a rule from its place, so the
//! tree is made from the tokens, and what no value can hold is a gap in it.

use serde_json::Value;

use super::Step;
use crate::text::json::{Container, Text};

/// Levels below this are left out: values are walked and dropped by recursion.
const DEEPEST: usize = 128;

/// The tree of a text that is JSON.
pub(super) fn of(body: &str) -> Option<Value> {
    Text::read(body).map(|text| value(text, 0))
}

/// The way that a JSON Pointer of these parts takes, if it leads somewhere.
pub(super) fn follow(body: &Value, parts: &[String]) -> Option<Vec<Step>> {
    let mut here = body;
    let mut way = Vec::with_capacity(parts.len());
    for part in parts {
        let (next, step) = match here {
            Value::Object(members) => (members.get(part)?, Step::Member(part.clone())),
            Value::Array(items) => {
                let index = index(part)?;
                (items.get(index)?, Step::Item(index))
            }
            _ => return None,
        };
        here = next;
        way.push(step);
    }
    Some(way)
}

fn value(text: Text<'_>, depth: usize) -> Value {
    match text.container() {
        Some(_) if depth == DEEPEST => Value::Null,
        Some(Container::Object) => {
            let members = text.members();
            members.map(|(name, of)| (name.into_owned(), value(of, depth + 1))).collect()
        }
        Some(Container::Array) => text.elements().map(|of| value(of, depth + 1)).collect(),
        None => match text.string() {
            Some(string) => Value::String(string.into_owned()),
            None => serde_json::from_str(text.as_str()).unwrap_or_default(),
        },
    }
}

/// An index as a JSON Pointer spells it: without leading zeros.
fn index(part: &str) -> Option<usize> {
    let plain = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|_| plain)
}
