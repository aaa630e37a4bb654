//! Secrets in JSON texts, found token by token.

use std::borrow::Cow;
use std::ops::Range;

use super::levels::{Levels, Names};
use super::name::Tells;
use super::rule::Notes;
use super::{body, value};
use crate::cassette::splice::Edit;
use crate::text::json::{Container, Text, Token, escape};

/// The edits that take the secrets out of a JSON text, in order.
pub(super) fn find(json: Text<'_>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut walk = Walk { levels: Levels::default(), edits: Vec::new(), notes };
    let mut tokens = json.tokens();
    while let Some(token) = tokens.next() {
        match token {
            Token::Open(container) => walk.open(container),
            Token::Close(_) => walk.levels.close(),
            Token::Comma => walk.levels.next(),
            Token::Colon => {}
            Token::String(spelled) => walk.string(spelled, tokens.end()),
            Token::Scalar(spelled) => walk.scalar(spelled, tokens.end()),
        }
    }
    walk.edits
}

struct Walk<'a, 'n, 's> {
    levels: Levels<'a>,
    edits: Vec<Edit>,
    notes: &'n mut Notes<'s>,
}

impl<'a> Walk<'a, '_, '_> {
    fn open(&mut self, container: Container) {
        let key = self.levels.last().filter(|level| level.names != Names::Schemas);
        let key = key.and_then(|level| level.key.clone());
        let holder = key.filter(|key| {
            matches!(self.notes.field(key), Tells::Secret | Tells::Secrets | Tells::Holder)
        });
        self.levels.open(container, holder);
    }

    fn string(&mut self, spelled: &'a str, end: usize) {
        let inner = &spelled[1..spelled.len() - 1];
        let start = end - 1 - inner.len();
        if self.levels.awaits_key() {
            self.levels.set_key(plain(inner));
        } else if let Some(name) = self.name_of(inner) {
            let skipped = value::behind_scheme(inner);
            let with = self.notes.replacement(&name, &plain(&inner[skipped..]));
            let edit = with.map(|with| Edit::new(start + skipped..start + inner.len(), with));
            self.edits.extend(edit);
        } else if self.notes.redactor.may_tell(inner.as_bytes()) {
            let places = Places::of_json_string(inner, start);
            let found = body::find_in_text(&places.text, self.notes);
            self.edits.extend(places.outside(found));
        }
    }

    /// What the string that comes is called if it is a secret.
    fn name_of(&self, inner: &str) -> Option<String> {
        let key = self.levels.last()?.key.as_deref();
        let named = key.filter(|key| match self.notes.field(key) {
            Tells::Secret | Tells::Secrets => true,
            Tells::Perhaps => self.notes.may_be_secret(key, &plain(inner)),
            Tells::Nothing | Tells::Holder => false,
        });
        let held = self.levels.held();
        let held = held.filter(|name| self.notes.holds(self.levels.holder(), name, &plain(inner)));
        held.or(named).map(str::to_owned)
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

/// What a string says that is spelled so without its quotes.
pub(super) fn plain(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let text = Places::of_json_string(inner, 0).text;
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// A text put together from pieces of another, such as a string without its escapes, and where its
/// bytes come from.
#[derive(Default)]
pub(super) struct Places {
    pub(super) text: Vec<u8>,
    /// Where a piece begins here, and where its first byte stands in the other text.
    pieces: Vec<(usize, usize)>,
}

impl Places {
    /// What a JSON string says that is spelled so, without the quotes, beginning at `offset`.
    pub(super) fn of_json_string(spelled: &str, offset: usize) -> Self {
        let mut places = Self::default();
        let bytes = spelled.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
            places.push(&bytes[at..at + found], offset + at);
            at += found;
            let (char, length) = escape(&spelled[at..]);
            let char = char.unwrap_or(match length {
                1 => '\\',
                2 => 'u',
                _ => char::REPLACEMENT_CHARACTER,
            });
            places.push(char.encode_utf8(&mut [0; 4]).as_bytes(), offset + at);
            at += length;
        }
        places.push(&bytes[at..], offset + at);
        places.pieces.push((places.text.len(), offset + bytes.len()));
        places
    }

    /// Adds bytes that stand at `offset` of the other text.
    pub(super) fn push(&mut self, bytes: &[u8], offset: usize) {
        self.pieces.push((self.text.len(), offset));
        self.text.extend_from_slice(bytes);
    }

    /// Edits of this text as edits of the other.
    pub(super) fn outside(&self, edits: Vec<Edit>) -> impl Iterator<Item = Edit> + '_ {
        edits.into_iter().map(|Edit { range, with }| {
            let Range { start, end } = range;
            Edit { range: self.at(start)..self.at(end), with }
        })
    }

    fn at(&self, here: usize) -> usize {
        let next = self.pieces.partition_point(|(start, _)| *start <= here);
        let (start, there) = self.pieces.get(next.wrapping_sub(1)).copied().unwrap_or_default();
        there + (here - start)
    }
}
