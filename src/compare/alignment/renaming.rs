//! What identifiers are called.

use std::borrow::Cow;
use std::collections::HashMap;

use super::family;
use crate::cassette::splice::{Edit, splice};
use crate::identity::identifiers;

/// What the identifiers of a new recording are called in an old one. One stands for one: no two are
/// called the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renaming {
    olds: HashMap<String, String>,
    news: HashMap<String, String>,
    /// A new identifier and an old one of each family, by that of the new one.
    families: HashMap<String, (String, String)>,
}

impl Renaming {
    /// What an identifier of the new recording is called in the old one, without its prefix: of
    /// `agent-6f1c…` that is the UUID. One that is derived from another is called as that is, with
    /// the same ending.
    pub fn old(&self, new: &str) -> Option<Cow<'_, str>> {
        if let Some(old) = self.olds.get(new) {
            return Some(Cow::Borrowed(old));
        }
        let (known, old) = self.families.get(family::root(new)?)?;
        let derived = family::derived(old, known, new)?;
        (!self.news.contains_key(&derived)).then_some(Cow::Owned(derived))
    }

    /// What an identifier of the old recording is called in the new one.
    pub fn new_of(&self, old: &str) -> Option<&str> {
        self.news.get(old).map(String::as_str)
    }

    /// Whether an identifier of the new recording may stand where that one stood in the old one: if
    /// it is called so, or is the same as another by chance only.
    pub fn is_called(&self, new: &str, old: &str) -> bool {
        let called = self.old(new);
        if called.as_deref() == Some(old) || (called.is_none() && new == old) {
            return true;
        }
        let by_chance = |one: &str, other: &str, tail: &str| {
            family::is_same(one, other) && [one, other].iter().any(|it| family::is_tail(it, tail))
        };
        called.is_some_and(|called| by_chance(&called, old, new))
            || self.new_of(old).is_some_and(|known| by_chance(known, new, old))
    }

    /// A text of the new recording, such as a path, a header field, or JSON as it is spelled, with the
    /// old names.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let edits = self.edits(text);
        if edits.is_empty() {
            return Cow::Borrowed(text);
        }
        let renamed = String::from_utf8(splice(text.as_bytes(), &edits));
        renamed.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// The new name and the old one of each identifier that has changed its name, sorted.
    pub fn changed(&self) -> Vec<(&str, &str)> {
        let all = self.olds.iter().map(|(new, old)| (new.as_str(), old.as_str()));
        let mut changed: Vec<_> = all.filter(|(new, old)| new != old).collect();
        changed.sort_unstable();
        changed
    }

    /// The same of bytes, of which some may be no text.
    pub(crate) fn bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        // Identifiers are ASCII, so what is not can be masked for finding them.
        let ascii = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { ' ' };
        let edits = match std::str::from_utf8(bytes) {
            Ok(text) => self.edits(text),
            Err(_) => self.edits(&bytes.iter().map(ascii).collect::<String>()),
        };
        if edits.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(splice(bytes, &edits)) }
    }

    /// Lets one stand for the other, unless one of them stands for something else.
    pub(super) fn bind(&mut self, new: &str, old: &str) {
        if self.olds.contains_key(new) || self.news.contains_key(old) {
            return;
        }
        self.olds.insert(new.to_owned(), old.to_owned());
        self.news.insert(old.to_owned(), new.to_owned());
        if let (Some(root), Some(_)) = (family::root(new), family::root(old)) {
            let known = || (new.to_owned(), old.to_owned());
            self.families.entry(root.to_owned()).or_insert_with(known);
        }
    }

    fn edits(&self, text: &str) -> Vec<Edit> {
        let edit = |range: std::ops::Range<usize>| {
            let new = &text[range.clone()];
            let old = self.old(new).filter(|old| old != new)?;
            Some(Edit::new(range, old.into_owned()))
        };
        identifiers(text).filter_map(edit).collect()
    }
}
