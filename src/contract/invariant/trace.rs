//! What happened, and the values in it that invariants speak of.

use std::borrow::Cow;

use super::claim::Path;
use super::earlier::Earlier;
use crate::text::json::{Container, Text, Token, Tokens, unescape};

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

/// A value that invariants may speak of, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Seen<'j> {
    pub(super) path: Path,
    pub(super) pointer: String,
    pub(super) value: Value<'j>,
}

/// What may be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'j> {
    /// It identifies something.
    Key(Cow<'j, str>),
    Number(f64),
}

impl Value<'_> {
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

/// Tells what a JSON text says that identifies something, and where.
pub(crate) fn identified<'j>(json: Text<'j>, mut told: impl FnMut(&Path, Cow<'j, str>)) {
    walk(json, None, &mut |way, value| {
        if let Value::Key(key) = value {
            told(&way.path, key);
        }
    });
}

/// Tells the values in a JSON text in order.
pub(super) fn each<'j>(json: &'j str, told: &mut dyn FnMut(&Path, Value<'j>)) {
    if let Some(json) = Text::read(json) {
        walk(json, None, &mut |way, value| told(&way.path, value));
    }
}

/// The values in a JSON text in order.
pub(super) fn seen(json: &str) -> Vec<Seen<'_>> {
    let mut all = Vec::new();
    if let Some(json) = Text::read(json) {
        walk(json, Some(String::new()), &mut |way, value| {
            let pointer = way.pointer.clone().unwrap_or_default();
            all.push(Seen { path: way.path.clone(), pointer, value });
        });
    }
    all
}

fn walk<'j>(json: Text<'j>, pointer: Option<String>, told: &mut dyn FnMut(&Way, Value<'j>)) {
    let mut way = Way { path: Path::default(), pointer, depth: 0 };
    collect(&mut json.tokens(), "", &mut way, told);
}

/// The way to a value.
struct Way {
    path: Path,
    /// The same as a JSON Pointer, for who tells it.
    pointer: Option<String>,
    depth: usize,
}

impl Way {
    fn member(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let path = self.path.enter(name);
        match self.pointer.is_some() && name.contains(['~', '/']) {
            true => self.inside(&name.replace('~', "~0").replace('/', "~1"), path, look),
            false => self.inside(name, path, look),
        }
    }

    fn element(&mut self, index: usize, look: impl FnOnce(&mut Self)) {
        let path = self.path.enter_elements();
        match self.pointer {
            Some(_) => self.inside(&index.to_string(), path, look),
            None => self.inside("", path, look),
        }
    }

    fn inside(&mut self, step: &str, path: usize, look: impl FnOnce(&mut Self)) {
        let above = self.pointer.as_mut().map(|pointer| {
            let above = pointer.len();
            pointer.push('/');
            pointer.push_str(step);
            above
        });
        self.depth += 1;
        look(self);
        self.depth -= 1;
        if let Some((pointer, above)) = self.pointer.as_mut().zip(above) {
            pointer.truncate(above);
        }
        self.path.leave(path);
    }
}

/// Passes the next value, and tells what is in it.
fn collect<'j>(
    tokens: &mut Tokens<'j>,
    name: &str,
    way: &mut Way,
    told: &mut dyn FnMut(&Way, Value<'j>),
) {
    if way.depth >= DEEPEST && matches!(tokens.peek(), Some(b'{' | b'[')) {
        tokens.value();
        return;
    }
    match tokens.next() {
        Some(Token::Open(Container::Object)) => {
            while let Some(Token::String(name)) = tokens.find(|token| *token != Token::Comma) {
                let name = unescape(name);
                // The colon.
                tokens.next();
                way.member(&name, |way| collect(tokens, &name, way, told));
            }
        }
        Some(Token::Open(Container::Array)) => {
            let mut index = 0;
            while tokens.peek().is_some_and(|first| first != b']') {
                way.element(index, |way| collect(tokens, name, way, told));
                index += 1;
                if tokens.peek() == Some(b',') {
                    tokens.next();
                }
            }
            tokens.next();
        }
        Some(Token::String(spelled)) => {
            if let Some(key) = key(spelled) {
                told(way, Value::Key(key));
            }
        }
        Some(Token::Scalar(spelled)) => {
            if let Some(value) = scalar(spelled, name) {
                told(way, value);
            }
        }
        _ => {}
    }
}

/// What a string identifies, if it does.
fn key(spelled: &str) -> Option<Cow<'_, str>> {
    let inner = &spelled[1..spelled.len().max(2) - 1];
    if is_key(inner) {
        return Some(Cow::Borrowed(inner));
    }
    Some(unescape(spelled)).filter(|said| matches!(said, Cow::Owned(said) if is_key(said)))
}

fn scalar<'j>(spelled: &'j str, name: &str) -> Option<Value<'j>> {
    // `id` is that of JSON-RPC; others, such as `seq_id`, count.
    if name == "id" && spelled.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Value::Key(Cow::Borrowed(spelled)));
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
