//! Values of fields that are named like identifiers, in JSON wherever it stands.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Form, Meaning, Scope, each_document, is_epoch};
use crate::text::json::{Container, Places, Text, Token, unescape};

/// A whole value that may be an identifier because of the name of its field, or its place in a JSON-RPC
/// message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Where the value stands, its quotes included unless it is a time or stands in a string.
    pub(crate) range: Range<usize>,
    pub(crate) scope: Scope,
    pub(crate) value: String,
    /// In how many strings it stands that are JSON themselves.
    pub(crate) depth: usize,
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
pub(crate) fn fields(text: &str, said: &HashSet<String>) -> Vec<Field> {
    let mut search = Search { said, found: Vec::new() };
    each_document(text, |offset, document| search.read(document, &|at| offset + at, 0));
    search.found
}

/// Looks for fields.
struct Search<'a> {
    said: &'a HashSet<String>,
    found: Vec<Field>,
}

/// JSON in more strings is not looked into.
const DEEPEST: usize = 3;

impl Search<'_> {
    /// Reads a document that stands in `depth` strings; `place` tells where in the whole text.
    fn read(&mut self, document: Text<'_>, place: &dyn Fn(usize) -> usize, depth: usize) {
        let mut names: Vec<(Container, Option<String>)> = Vec::new();
        let mut tokens = document.tokens();
        let mut calls = Envelopes::of(document);
        while let Some(token) = tokens.next() {
            let (value, form, spelled) = match token {
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
                Token::String(spelled) => (unescape(spelled), Form::Text, spelled),
                Token::Scalar(spelled) => (spelled.into(), Form::Number, spelled),
            };
            let members = names.len();
            let range = tokens.end() - spelled.len()..tokens.end();
            let name = match names.last_mut() {
                Some((Container::Object, name)) if name.is_none() => {
                    *name = Some(value.into_owned());
                    continue;
                }
                Some((Container::Object, name)) => name.take(),
                _ => None,
            };
            let role = name.as_ref().and_then(|name| calls.role(members, name));
            let scope = match (role, &name) {
                (Some(role), _) => answered(role).filter(|_| depth == 0),
                (None, Some(name)) if self.said.contains(&*value) => Some(scope_of(name, form)),
                (None, Some(name)) => ordinary(name, &value, form),
                (None, None) => None,
            };
            match scope {
                Some(scope) => {
                    // Times and what stands in a string are exchanged without their quotes.
                    let bare = form == Form::Text && (scope == Scope::Moment || depth > 0);
                    let quotes = usize::from(bare);
                    let range = place(range.start + quotes)..place(range.end - quotes);
                    self.found.push(Field { range, scope, value: value.into_owned(), depth });
                }
                None if depth < DEEPEST => self.within(spelled, range.start, place, depth + 1),
                None => {}
            }
        }
    }

    /// Looks into a string that may be JSON itself.
    fn within(
        &mut self,
        spelled: &str,
        start: usize,
        place: &dyn Fn(usize) -> usize,
        depth: usize,
    ) {
        let inside = spelled.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let inside = inside.filter(|it| it.trim_start().starts_with(['{', '[']));
        let Some(inside) = inside else { return };
        let nested = Places::of_json_string(inside, start + 1);
        if let Some(document) = Text::parse_container(&nested.text) {
            self.read(document, &|at| place(nested.outside(at)), depth);
        }
    }
}

/// The scope of a part of an envelope. Here it is the server that speaks: what it makes up is its own
/// affair.
fn answered(role: Role) -> Option<Scope> {
    match role {
        Role::Answered => Some(Scope::Call),
        Role::Made(Scope::Progress) => Some(Scope::Progress),
        Role::Made(_) => None,
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
enum Role {
    /// Made up by who sends it.
    Made(Scope),
    /// The id of a request of the other side, which this answers.
    Answered,
}

/// The JSON-RPC messages of a document, in order.
#[derive(Debug)]
struct Envelopes {
    /// The depth of their members.
    depth: usize,
    /// Whether each one asks something, or tells it.
    methods: Vec<Option<String>>,
    /// The one that was opened last, counted from 1.
    current: usize,
}

impl Envelopes {
    /// Looks for them: the document itself, or the elements of an array.
    fn of(document: Text<'_>) -> Self {
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
    fn open(&mut self, depth: usize) {
        self.current += usize::from(depth == self.depth);
    }

    /// What a member is, if the envelope of its message says so.
    fn role(&self, depth: usize, name: &str) -> Option<Role> {
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
}
