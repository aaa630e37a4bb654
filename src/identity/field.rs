//! Values of fields that are named like identifiers, in JSON wherever it stands.

use std::collections::HashSet;
use std::fmt::Display;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::names::Role;
use super::{Form, Meaning, Scope, each_document, is_epoch};
use crate::text::json::{Container, Places, Text, pointer};
use crate::text::rpc::{self, Envelope};

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

/// The scope of a value in a field of that name that is an identifier by its name only. An element of a message that is
/// an array means nothing elsewhere, as a number does.
pub fn scope_of(name: &str, form: Form) -> Scope {
    match form {
        Form::Text if !name.starts_with('[') => Scope::Word,
        Form::Text | Form::Number => {
            Scope::Number(foldhash_of(&name.replace(['_', '-'], "").to_ascii_lowercase()))
        }
    }
}

/// How an element of a message that is an array is called: `[1]`.
pub(super) fn name_of_element(number: impl Display) -> String {
    format!("[{number}]")
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
        let whole = document.as_str();
        let calls = Envelopes::of(document);
        document.each_leaf(|pointer, name, value, spelled| {
            let start = spelled.as_ptr() as usize - whole.as_ptr() as usize;
            let form = if spelled.starts_with('"') { Form::Text } else { Form::Number };
            let scope = match calls.role(pointer, &name) {
                Some(role) => answered(role).filter(|_| depth == 0),
                None if name.is_empty() => {
                    let element = pointer.strip_prefix('/').filter(|it| pointer::is_index(it));
                    let element = element.filter(|_| self.said.contains(&*value));
                    element.map(|number| scope_of(&name_of_element(number), form))
                }
                None if self.said.contains(&*value) => Some(scope_of(&name, form)),
                None => ordinary(&name, &value, form),
            };
            // Which of the two it is, the request shows that had this id.
            let call = (depth == 0 && calls.may_answer(pointer)).then_some(Scope::Call);
            if scope.is_none() && depth < DEEPEST {
                self.within(spelled, start, place, depth + 1);
            }
            for scope in call.into_iter().chain(scope) {
                // Times and what stands in a string are exchanged without their quotes.
                let bare = form == Form::Text && (scope == Scope::Moment || depth > 0);
                let quotes = usize::from(bare);
                let range = place(start + quotes)..place(start + spelled.len() - quotes);
                self.found.push(Field { range, scope, value: value.to_string(), depth });
            }
        });
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
        (Meaning::Mark, Form::Text) => may_mark(value),
        (Meaning::Identity, Form::Text) => may_identify(value),
        (Meaning::Mark | Meaning::Identity, Form::Number) => may_number(value),
        // Which of them a client has said it decides, and not the name: `t`, `start`.
        _ if is_epoch(value) => return Some(Scope::Moment),
        _ => false,
    };
    may.then(|| scope_of(name, form))
}

static RPC: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"jsonrpc\""));

/// The JSON-RPC messages of a document.
#[derive(Debug, Default)]
struct Envelopes {
    /// What the ids are that stand in these places.
    ids: Vec<(String, Role)>,
    /// Whether the document has no member `jsonrpc`, and answers a request if one had its id.
    may_answer: bool,
}

impl Envelopes {
    /// Looks for them: the document itself, or the elements of an array.
    fn of(document: Text<'_>) -> Self {
        let is_list = document.container() == Some(Container::Array);
        // Nearly no list is one of them, and to look into each would cost time.
        if is_list && RPC.find(document.as_str().as_bytes()).is_none() {
            return Self::default();
        }
        let mut found = Self::default();
        for (number, message) in rpc::messages(document).enumerate() {
            let Some(envelope) = Envelope::of(message) else { continue };
            if envelope.is_marked {
                let at = if is_list { format!("/{number}/id") } else { "/id".to_owned() };
                found.ids.push((at, Role::of_id(&envelope)));
            } else if !is_list {
                found.may_answer = envelope.answered().is_some();
            }
        }
        found
    }

    /// What a member is, if the envelope of its message says so.
    fn role(&self, pointer: &str, name: &str) -> Option<Role> {
        match name {
            _ if self.ids.is_empty() => None,
            "id" => self.ids.iter().find(|(at, _)| at == pointer).map(|(_, role)| *role),
            "requestId" => Some(Role::Made(Scope::Called)),
            "progressToken" => Some(Role::Made(Scope::Progress)),
            _ => None,
        }
    }

    fn may_answer(&self, pointer: &str) -> bool {
        self.may_answer && pointer == "/id"
    }
}
