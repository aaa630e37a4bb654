//! What happened, and the values in it that invariants speak of.

use super::earlier::Earlier;
use super::field::{Name, Path};
use crate::json::{Container, Text};

/// Values below so many containers are not looked at.
const DEEPEST: usize = 16;

/// What identifies something is of such a length.
const SHORTEST: usize = 6;
const LONGEST: usize = 128;

/// A request and the events that came of it.
#[derive(Debug, Clone, Copy)]
pub struct Trace<'a> {
    /// The JSON text of the request, if it had one.
    pub request: Option<&'a str>,
    /// The events in order.
    pub events: &'a [Event<'a>],
    /// What was said in earlier answers, if that is known.
    pub earlier: Option<&'a dyn Earlier>,
}

/// A message of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Its type.
    pub tag: &'a str,
    /// What it says. One that is not JSON says nothing.
    pub json: &'a str,
}

/// A value that invariants may speak of.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) path: Path,
    pub(super) pointer: String,
    pub(super) value: Value,
}

/// What may be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// It identifies something.
    Key(String),
    Number(f64),
}

impl Value {
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Number(_) => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Key(_) => None,
            Self::Number(number) => Some(*number),
        }
    }
}

/// What tells two messages apart: all that an event identifies. The pieces of one message agree in it.
pub(super) fn identity(seen: &[Seen]) -> Vec<(&Path, &str)> {
    seen.iter().filter_map(|seen| Some((&seen.path, seen.value.key()?))).collect()
}

/// What a JSON text says that identifies something, and where.
pub(crate) fn identified(json: &str) -> impl Iterator<Item = (Path, String)> {
    seen(json).into_iter().filter_map(|seen| match seen.value {
        Value::Key(key) => Some((seen.path, key)),
        Value::Number(_) => None,
    })
}

/// The values in a JSON text in order.
pub(super) fn seen(json: &str) -> Vec<Seen> {
    let mut all = Vec::new();
    if let Some(text) = Text::parse(json.as_bytes()) {
        collect(text, "", &Path::default(), String::new(), &mut all);
    }
    all
}

fn collect(text: Text<'_>, name: &str, path: &Path, pointer: String, all: &mut Vec<Seen>) {
    match text.container() {
        Some(_) if pointer.matches('/').count() >= DEEPEST => {}
        Some(Container::Object) => {
            for (name, member) in text.members() {
                let step = name.replace('~', "~0").replace('/', "~1");
                let path = path.member(&Name(&name));
                collect(member, &name, &path, format!("{pointer}/{step}"), all);
            }
        }
        Some(Container::Array) => {
            for (index, element) in text.elements().enumerate() {
                collect(element, name, &path.elements(), format!("{pointer}/{index}"), all);
            }
        }
        None => {
            let value = value(text, name);
            all.extend(value.map(|value| Seen { path: path.clone(), pointer, value }));
        }
    }
}

fn value(text: Text<'_>, name: &str) -> Option<Value> {
    if let Some(said) = text.string() {
        return is_key(&said).then(|| Value::Key(said.into_owned()));
    }
    let spelled = text.scalar()?;
    // `id` is that of JSON-RPC; others, such as `seq_id`, count.
    if name == "id" && spelled.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Value::Key(spelled.to_owned()));
    }
    spelled.parse().ok().map(Value::Number)
}

/// Whether a string identifies something: a word with a digit that is no date.
fn is_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-';
    (SHORTEST..=LONGEST).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(byte))
        && bytes.iter().any(u8::is_ascii_digit)
        && !is_date
}
