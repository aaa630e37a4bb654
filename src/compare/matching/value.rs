//! What counts of a value, and the holes in it.

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;

use super::hash::{HOLE, combine, hash_of, hasher};
use crate::config::{Rules, Treatment};
use crate::identity::{
    Form, Framed, Hole, Meaning, Origins, SHORTEST, Scope, identifiers_like, is_epoch, is_moment,
    may_identify, may_mark, may_number, moments, says_something, scope_of,
};
use crate::text::json::canonical_number;

/// Reads values, and notes the holes in them.
pub(super) struct Values<'a> {
    pub(super) origins: &'a Origins,
    pub(super) rules: &'a Rules,
    pub(super) holes: Vec<Hole>,
    /// Where identifiers stand in texts.
    pub(super) stood: Vec<Framed>,
}

/// A value and all that is known about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) place: u64,
    /// The name of the field.
    pub(super) name: &'a str,
    pub(super) meaning: Meaning,
    pub(super) treatment: Option<Treatment<'a>>,
}

impl<'a> Value<'a> {
    /// A value of which nothing is known.
    pub(super) fn at(place: u64) -> Self {
        Self { place, name: "", meaning: Meaning::Plain, treatment: None }
    }

    pub(super) fn named(self, name: &'a str, meaning: Meaning) -> Self {
        Self { name, meaning, ..self }
    }

    pub(super) fn treated(self, treatment: Option<Treatment<'a>>) -> Self {
        Self { treatment, ..self }
    }
}

impl<'a> Values<'a> {
    pub(super) fn new(origins: &'a Origins, rules: &'a Rules) -> Self {
        Self { origins, rules, holes: Vec::new(), stood: Vec::new() }
    }
}

impl Values<'_> {
    /// What counts of a value.
    pub(super) fn leaf(&mut self, value: Value<'_>, text: &str, form: Form) -> u64 {
        match form {
            Form::Text => self.text(value, text),
            Form::Number => self.scalar(value, text),
        }
    }

    /// What counts of a whole text.
    pub(super) fn text(&mut self, value: Value<'_>, text: &str) -> u64 {
        match value.treatment {
            Some(Treatment::Ignore) => return combine(&[HOLE]),
            Some(Treatment::Pattern(pattern)) => {
                return self.words(value.place, &pattern.left(text));
            }
            Some(Treatment::NotId) => return hash_of_text(text),
            Some(Treatment::Id) => return self.whole(value.place, Scope::Word, text, Form::Text),
            _ => {}
        }
        if is_moment(text) || (value.meaning == Meaning::Moment && is_epoch(text)) {
            return self.whole(value.place, Scope::Moment, text, Form::Text);
        }
        let by_name = match value.meaning {
            Meaning::Mark => may_mark(text),
            Meaning::Identity => may_identify(text),
            _ => false,
        };
        let found = || made_up(text, self.origins).next();
        // Padded Base64 is one word, of which the marks in it would make several.
        let by_name = by_name && (text.ends_with('=') || found().is_none());
        if by_name {
            return self.whole(value.place, Scope::Word, text, Form::Text);
        }
        self.words(value.place, text)
    }

    /// What counts of a number, `true`, `false` or `null`.
    fn scalar(&mut self, value: Value<'_>, spelled: &str) -> u64 {
        match value.treatment {
            Some(Treatment::Ignore) => return combine(&[HOLE]),
            Some(Treatment::Pattern(pattern)) => return hash_of(&*pattern.left(spelled)),
            Some(Treatment::NotId) => return scalar(spelled),
            Some(Treatment::Id) => {
                let scope = scope_of(value.name, Form::Number);
                return self.whole(value.place, scope, spelled, Form::Number);
            }
            _ => {}
        }
        let number = spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        match value.meaning {
            Meaning::Mark | Meaning::Identity if may_number(spelled) => {
                let scope = scope_of(value.name, Form::Number);
                self.whole(value.place, scope, spelled, Form::Number)
            }
            Meaning::Moment if is_epoch(spelled) => {
                self.whole(value.place, Scope::Moment, spelled, Form::Number)
            }
            Meaning::Span if number => {
                self.whole(value.place, Scope::Moment, spelled, Form::Number)
            }
            _ => scalar(spelled),
        }
    }

    /// A whole value that is a hole, unless the server issued it.
    pub(super) fn whole(&mut self, place: u64, scope: Scope, value: &str, form: Form) -> u64 {
        let issued = self.origins.is_issued(scope, value)
            || (scope == Scope::Word && self.origins.is_issued(Scope::Anywhere, value));
        if issued {
            return literal(value, form);
        }
        self.holes.push(Hole { place, scope, identifier: value.to_owned(), form });
        let mut hasher = hasher();
        hasher.write(b"");
        hasher.write_u64(HOLE);
        hasher.write(b"");
        hasher.finish()
    }

    /// A text with its client-minted identifiers and times taken out and noted.
    pub(super) fn words(&mut self, place: u64, text: &str) -> u64 {
        if text.len() < SHORTEST {
            return hash_of_text(text);
        }
        let mut hasher = hasher();
        let mut rest = 0;
        let mut times = moments(text).peekable();
        let mut words = self.made_up_at(place, text).into_iter().peekable();
        loop {
            let time_is_next = match (words.peek(), times.peek()) {
                (Some(word), Some(time)) => time.start < word.start,
                (None, Some(_)) => true,
                _ => false,
            };
            let scope = if time_is_next { Scope::Moment } else { Scope::Anywhere };
            let next = if time_is_next { times.next() } else { words.next() };
            let Some(range) = next else { break };
            let identifier = &text[range.clone()];
            if range.start < rest || self.origins.is_issued(scope, identifier) {
                continue;
            }
            hasher.write(&text.as_bytes()[rest..range.start]);
            hasher.write_u64(HOLE);
            rest = range.end;
            let identifier = identifier.to_owned();
            if scope == Scope::Anywhere {
                self.stood.extend(Framed::of(place, text, range));
            }
            self.holes.push(Hole { place, scope, identifier, form: Form::Text });
        }
        hasher.write(&text.as_bytes()[rest..]);
        hasher.finish()
    }

    /// The words in a text that are made up, by their look or because one was where they stand.
    fn made_up_at(&self, place: u64, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<_> = made_up(text, self.origins).collect();
        let mut framed = self.origins.frames().find(place, text);
        if !framed.is_empty() {
            framed.retain(|word| !says_something(text, word));
            let is_part = |word: &Range<usize>| {
                framed.iter().any(|it| it.start < word.end && word.start < it.end)
            };
            found.retain(|word| !is_part(word));
            found.append(&mut framed);
            found.sort_unstable_by_key(|word| word.start);
        }
        found
    }
}

/// The words in a text that are made up, by their look. What a client encoded is not.
fn made_up<'t>(text: &'t str, origins: &'t Origins) -> impl Iterator<Item = Range<usize>> + 't {
    identifiers_like(text, origins.shapes()).filter(|word| !says_something(text, word))
}

/// A value that is compared as it is.
pub(super) fn literal(value: &str, form: Form) -> u64 {
    match form {
        Form::Text => hash_of_text(value),
        Form::Number => scalar(value),
    }
}

/// The same as that of words in which there is nothing to take out.
pub(super) fn hash_of_text(text: &str) -> u64 {
    let mut hasher = hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// `true` and `1` differ, `1` and `1.0` do not.
fn scalar(spelled: &str) -> u64 {
    let number = spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let meaning = if number { canonical_number(spelled) } else { Cow::Borrowed(spelled) };
    combine(&[hash_of("scalar"), hash_of(meaning.as_ref())])
}
