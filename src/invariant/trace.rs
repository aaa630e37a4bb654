//! What happened, and the values in it that invariants speak of.

use super::earlier::Earlier;
use super::field::Path;
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
    let mut all = Vec::new();
    each(json, &mut |way, value| match value {
        Value::Key(key) => all.push((way.path.clone(), key)),
        Value::Number(_) => {}
    });
    all.into_iter()
}

/// The values in a JSON text in order.
pub(super) fn seen(json: &str) -> Vec<Seen> {
    let mut all = Vec::new();
    each(json, &mut |way, value| {
        all.push(Seen { path: way.path.clone(), pointer: way.pointer.clone(), value });
    });
    all
}

fn each(json: &str, told: &mut dyn FnMut(&Way, Value)) {
    if let Some(text) = Text::read(json) {
        let mut way = Way { path: Path::default(), pointer: String::new(), depth: 0 };
        collect(text, "", &mut way, told);
    }
}

/// The way to a value.
struct Way {
    path: Path,
    pointer: String,
    depth: usize,
}

impl Way {
    fn member(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let path = self.path.enter(name);
        match name.contains(['~', '/']) {
            true => self.inside(&name.replace('~', "~0").replace('/', "~1"), path, look),
            false => self.inside(name, path, look),
        }
    }

    fn element(&mut self, index: usize, look: impl FnOnce(&mut Self)) {
        let path = self.path.enter_elements();
        self.inside(&index.to_string(), path, look);
    }

    fn inside(&mut self, step: &str, path: usize, look: impl FnOnce(&mut Self)) {
        let pointer = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        self.depth += 1;
        look(self);
        self.depth -= 1;
        self.pointer.truncate(pointer);
        self.path.leave(path);
    }
}

fn collect(text: Text<'_>, name: &str, way: &mut Way, told: &mut dyn FnMut(&Way, Value)) {
    match text.container() {
        Some(_) if way.depth >= DEEPEST => {}
        Some(Container::Object) => {
            for (name, member) in text.members() {
                way.member(&name, |way| collect(member, &name, way, told));
            }
        }
        Some(Container::Array) => {
            for (index, element) in text.elements().enumerate() {
                way.element(index, |way| collect(element, name, way, told));
            }
        }
        None => {
            if let Some(value) = value(text, name) {
                told(way, value);
            }
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
