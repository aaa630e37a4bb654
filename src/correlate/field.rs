//! Values of fields that are named like identifiers, in JSON wherever it stands.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Form, Meaning, Scope, is_epoch};
use crate::json::{Container, Text, Token, unescape};

/// A whole value that may be an identifier because of the name of its field, or its place in a JSON-RPC
/// message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// Where the value stands, its quotes included.
    pub(super) range: Range<usize>,
    pub(super) scope: Scope,
    pub(super) value: String,
}

/// Whether a text may be an identifier in a field that is named like one: `msg-1`, `42`.
pub fn may_identify(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a text may be what a client marks a request or a message with: any word.
pub fn may_mark(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a number may be an identifier.
pub fn may_number(spelled: &str) -> bool {
    spelled.len() <= 20 && !spelled.is_empty() && spelled.bytes().all(|byte| byte.is_ascii_digit())
}

/// The scope of a value in a field of that name that is an identifier by its name only.
pub fn scope_of(name: &str, form: Form) -> Scope {
    match form {
        Form::Text => Scope::Word,
        Form::Number => {
            Scope::Number(foldhash_of(&name.replace(['_', '-'], "").to_ascii_lowercase()))
        }
    }
}

fn foldhash_of(name: &str) -> u64 {
    use std::hash::BuildHasher as _;
    foldhash::fast::FixedState::with_seed(0x1d).hash_one(name)
}

/// The fields in a text: one JSON document, or lines that are some or hold one behind `data:`. What
/// is said to be an identifier is one in any field.
pub(super) fn fields(text: &str, said: &HashSet<String>) -> Vec<Field> {
    let mut found = Vec::new();
    for (offset, document) in documents(text) {
        read(document, offset, said, &mut found);
    }
    found
}

/// The JSON documents in a text, with where they begin.
pub(crate) fn documents(text: &str) -> Vec<(usize, Text<'_>)> {
    if let Some(whole) = Text::read_container(text) {
        return vec![(0, whole)];
    }
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let data = line.strip_prefix("data:").unwrap_or(line);
        if let Some(document) = Text::read_container(data) {
            found.push((start + line.len() - data.len(), document));
        }
        start += line.len();
    }
    found
}

fn read(document: Text<'_>, offset: usize, said: &HashSet<String>, found: &mut Vec<Field>) {
    let mut names: Vec<(Container, Option<String>)> = Vec::new();
    let mut tokens = document.tokens();
    let mut calls = Envelopes::of(document);
    while let Some(token) = tokens.next() {
        let (value, form, length) = match token {
            Token::Open(container) => {
                names.push((container, None));
                calls.open(names.len());
                continue;
            }
            Token::Close(_) => {
                names.pop();
                if let Some((Container::Object, name)) = names.last_mut() {
                    *name = None;
                }
                continue;
            }
            Token::Comma | Token::Colon => continue,
            Token::String(spelled) => (unescape(spelled), Form::Text, spelled.len()),
            Token::Scalar(spelled) => (spelled.into(), Form::Number, spelled.len()),
        };
        let depth = names.len();
        let Some((Container::Object, name)) = names.last_mut() else { continue };
        let Some(name) = name.take() else {
            *name = Some(value.into_owned());
            continue;
        };
        let end = offset + tokens.end();
        let scope = match calls.role(depth, &name) {
            // Here it is the server that speaks: what it makes up is its own affair.
            Some(Role::Answered) => Some(Scope::Call),
            Some(Role::Made(Scope::Progress)) => Some(Scope::Progress),
            Some(Role::Made(_)) => None,
            None if said.contains(&*value) => Some(scope_of(&name, form)),
            None => ordinary(&name, &value, form),
        };
        if let Some(scope) = scope {
            // Times are exchanged as they stand, whether in quotes or not.
            let quotes = usize::from(scope == Scope::Moment && form == Form::Text);
            let range = end - length + quotes..end - quotes;
            found.push(Field { range, scope, value: value.into_owned() });
        }
    }
}

/// The scope of a value that is no part of a JSON-RPC envelope.
fn ordinary(name: &str, value: &str, form: Form) -> Option<Scope> {
    let may = match (Meaning::of(name), form) {
        (Meaning::Moment, _) if is_epoch(value) => return Some(Scope::Moment),
        (Meaning::Mark, Form::Text) => may_mark(value),
        (Meaning::Identity, Form::Text) => may_identify(value),
        (Meaning::Mark | Meaning::Identity, Form::Number) => may_number(value),
        _ => false,
    };
    may.then(|| scope_of(name, form))
}

static RPC: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"jsonrpc\""));

/// What a member of a JSON-RPC message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Made up by who sends it.
    Made(Scope),
    /// The id of a request of the other side, which this answers.
    Answered,
}

/// The JSON-RPC messages of a document, in order.
#[derive(Debug)]
pub struct Envelopes {
    /// The depth of their members.
    depth: usize,
    /// Whether each one asks something, or tells it.
    methods: Vec<Option<String>>,
    /// The one that was opened last, counted from 1.
    current: usize,
}

impl Envelopes {
    /// Looks for them: the document itself, or the elements of an array.
    pub fn of(document: Text<'_>) -> Self {
        let mut envelopes = Self { depth: 0, methods: Vec::new(), current: 0 };
        // Nearly no document is one, and to look into each would cost time.
        if RPC.find(document.as_str().as_bytes()).is_none() {
            return envelopes;
        }
        let method = |message: Text<'_>| Some(message.get("method")?.string()?.into_owned());
        if document.get("jsonrpc").is_some() {
            envelopes.depth = 1;
            envelopes.methods.push(method(document));
        } else if document.elements().any(|message| message.get("jsonrpc").is_some()) {
            envelopes.depth = 2;
            envelopes.methods = document.elements().map(method).collect();
        }
        envelopes
    }

    /// An object or array was opened, of which the members are at this depth.
    pub fn open(&mut self, depth: usize) {
        self.current += usize::from(depth == self.depth);
    }

    /// What a member is, if the envelope of its message says so.
    pub fn role(&self, depth: usize, name: &str) -> Option<Role> {
        match name {
            _ if self.depth == 0 => None,
            "id" if depth == self.depth && self.asks() => Some(Role::Made(Scope::Call)),
            "id" if depth == self.depth => Some(Role::Answered),
            "requestId" => Some(Role::Made(Scope::Called)),
            "progressToken" => Some(Role::Made(Scope::Progress)),
            _ => None,
        }
    }

    /// Whether the message that is being read asks something or tells it, and does not answer.
    fn asks(&self) -> bool {
        self.current.checked_sub(1).is_some_and(|at| matches!(self.methods.get(at), Some(Some(_))))
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.depth == 0
    }
}
