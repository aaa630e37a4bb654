//! Secrets in JSON texts, found token by token.

use std::borrow::Cow;

use super::name::{self, Spot, Tells};
use super::notes::Notes;
use super::places::Places;
use super::{text, value};
use crate::cassette::splice::Edit;
use crate::text::json::{Container, Text, Token};

/// The edits that take the secrets out of a JSON text, in order.
pub(super) fn find(json: Text<'_>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut walk = Walk { levels: Vec::new(), edits: Vec::new(), notes };
    let mut tokens = json.tokens();
    while let Some(token) = tokens.next() {
        walk.take(token, tokens.end());
    }
    walk.edits
}

struct Walk<'a, 'n, 's> {
    levels: Vec<Level<'a>>,
    edits: Vec<Edit>,
    notes: &'n mut Notes<'s>,
}

/// A container that is open.
struct Level<'a> {
    container: Container,
    /// The name of the field whose value comes next or is open.
    key: Option<Cow<'a, str>>,
    /// The name that makes all strings below it secrets.
    holder: Option<Cow<'a, str>>,
    /// What its own name was.
    names: Names,
}

/// What the keys of a container are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Names of values.
    Values,
    /// Names of values in an element of an array.
    Columns,
    /// Names of fields that a JSON schema describes: there `"password"` is no password.
    Schemas,
}

impl<'a> Walk<'a, '_, '_> {
    fn take(&mut self, token: Token<'a>, end: usize) {
        match token {
            Token::Open(container) => self.open(container),
            Token::Close(_) => {
                self.levels.pop();
            }
            Token::Comma => {
                if let Some(level) = self.levels.last_mut() {
                    level.key = None;
                }
            }
            Token::Colon => {}
            Token::String(spelled) => self.string(spelled, end),
            Token::Scalar(spelled) => self.scalar(spelled, end),
        }
    }

    fn open(&mut self, container: Container) {
        let level = self.levels.last();
        let key = level.and_then(|level| level.key.as_deref());
        let in_array = level.is_some_and(|level| level.container == Container::Array);
        let of_schemas = level.is_some_and(|level| level.names == Names::Schemas);
        let tells = key.map_or(Tells::Nothing, |key| self.notes.field(key));
        let holds = matches!(tells, Tells::Secret | Tells::Secrets | Tells::Holder) && !of_schemas;
        let holder = match level.and_then(|level| level.holder.clone()) {
            Some(holder) => Some(holder),
            None if holds => level.and_then(|level| level.key.clone()),
            None => None,
        };
        let names = match key {
            Some("properties" | "patternProperties" | "$defs" | "definitions") => Names::Schemas,
            _ if in_array => Names::Columns,
            _ => Names::Values,
        };
        self.levels.push(Level { container, key: None, holder, names });
    }

    fn string(&mut self, spelled: &'a str, end: usize) {
        let inner = &spelled[1..spelled.len() - 1];
        let start = end - 1 - inner.len();
        if let Some(level) = self.levels.last_mut()
            && level.container == Container::Object
            && level.key.is_none()
        {
            level.key = Some(plain(inner));
            return;
        }
        match self.name_of(inner) {
            Some(name) => self.edits.extend(secret(inner, start, &name, self.notes)),
            None => self.within(inner, start),
        }
    }

    /// What the string that comes is called if it is a secret.
    fn name_of(&self, inner: &str) -> Option<String> {
        let level = self.levels.last()?;
        let key = level.key.as_deref();
        let named = key.filter(|key| match self.notes.field(key) {
            Tells::Secret | Tells::Secrets => true,
            Tells::Perhaps => {
                let text = plain(inner);
                value::is_credential(&text) || value::is_placeholder(&text)
            }
            Tells::Nothing | Tells::Holder => false,
        });
        let below = level.holder.as_deref().and_then(|holder| {
            let spot = match (key, level.names) {
                (None, _) => Spot::Element,
                (Some(key), Names::Columns) => Spot::Column(key),
                (Some(key), _) => Spot::Entry(key),
            };
            name::below(holder, spot)
        });
        below.or(named).map(str::to_owned)
    }

    /// Looks for secrets within a string that is none itself.
    fn within(&mut self, inner: &str, start: usize) {
        if self.notes.redactor.may_tell(inner.as_bytes()) {
            let places = Places::of_json_string(inner, start);
            let found = text::find(&places.text, self.notes);
            self.edits.extend(places.outside(found));
        }
    }

    /// A number in the place of a secret becomes 0.
    fn scalar(&mut self, spelled: &str, end: usize) {
        let key = self.levels.last().and_then(|level| level.key.as_deref());
        let is_number = spelled.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let tells = || key.is_some_and(|key| self.notes.field(key) == Tells::Secret);
        if is_number && spelled != "0" && tells() {
            self.edits.push(Edit::new(end - spelled.len()..end, "0"));
        }
    }
}

/// The edit for a string that is a secret, spelled so without its quotes.
fn secret(inner: &str, start: usize, name: &str, notes: &mut Notes<'_>) -> Option<Edit> {
    let skipped = value::behind_scheme(inner);
    let with = notes.replacement(name, &plain(&inner[skipped..]))?;
    Some(Edit::new(start + skipped..start + inner.len(), with))
}

/// What a string says that is spelled so without its quotes.
pub(super) fn plain(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let text = Places::of_json_string(inner, 0).text;
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}
