//! The rules by name, and what a walk through a text decides and notes by them.

use super::name::{self, Tells};
use super::{Redactor, Secrets, Told, value};
use crate::error::{Error, Kind, Result};
use crate::text::words::words;

/// A rule of this release. What a name with its version means never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Headers,
    Cookies,
    Query,
    Userinfo,
    Form,
    Multipart,
    Json,
    Assignments,
    Values,
    Harmless,
    Names,
    Looks,
    Numbers,
    Codings,
    Nested,
    Graphql,
    Texts,
    FurtherLooks,
    FurtherNested,
    FurtherTexts,
    Keys,
    FurtherAssignments,
}

words!(Rule: Headers "headers/1", Cookies "cookies/1", Query "query/1", Userinfo "userinfo/1",
    Form "form/1", Multipart "multipart/1", Json "json/1", Assignments "assignments/1",
    Values "values/1", Harmless "harmless/1", Names "names/1", Looks "looks/1", Numbers "numbers/1",
    Codings "codings/1", Nested "nested/1", Graphql "graphql/1", Texts "texts/1",
    FurtherLooks "looks/2", FurtherNested "nested/2", FurtherTexts "texts/2", Keys "keys/1",
    FurtherAssignments "assignments/2");

impl Rule {
    /// Its own bit: there are fewer than 32.
    pub(super) const fn bit(self) -> u32 {
        1 << self as u32
    }

    pub(super) fn all() -> Vec<Self> {
        Self::WORDS.iter().filter_map(|name| Self::from_word(name)).collect()
    }

    pub(super) fn of(name: &str) -> Result<Self> {
        Self::from_word(name).ok_or_else(|| {
            Error::new(Kind::UnknownRule { rule: name.to_owned() })
                .with_hint("a newer release wrote it: `cargo install retape` brings that one")
        })
    }
}

/// Whose words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The client's: a secret is called by the field it stands in and by nothing else, so that it
    /// gets the same placeholder in a recording and in what comes in at replay.
    Request,
    /// The server's: a secret that was found before keeps its placeholder.
    Response,
    /// The same where the server refuses what a client sent: it says in words what is wrong with a field.
    Refusal,
}

impl Side {
    /// The side of an answer.
    pub(super) const fn of(status: u16) -> Self {
        if matches!(status, 400..=499) { Self::Refusal } else { Self::Response }
    }
}

/// The state of one walk.
pub(super) struct Notes<'a> {
    pub(super) redactor: &'a Redactor,
    pub(super) side: Side,
    pub(super) secrets: &'a mut Secrets,
}

impl Notes<'_> {
    pub(super) fn applies(&self, rule: Rule) -> bool {
        self.redactor.applies(rule)
    }

    /// What the name of a JSON field tells.
    pub(super) fn field(&self, name: &str) -> Tells {
        let own = &self.redactor.own;
        if own.is_json(name) {
            return Tells::Secret;
        }
        if own.is_no_secret(name) {
            // A value that looks like a credential is looked at, to be left alone wherever it stands.
            return Tells::Perhaps;
        }
        if !self.applies(Rule::Json) {
            return Tells::Nothing;
        }
        let tells = name::field(name);
        if !matches!(tells, Tells::Nothing | Tells::Perhaps) || !self.applies(Rule::Names) {
            return tells;
        }
        match name::composed(name) {
            composed if tells == Tells::Nothing => composed,
            Tells::Secret => Tells::Secret,
            _ => tells,
        }
    }

    /// Whether a value is a secret of which its name says little.
    pub(super) fn may_be_secret(&self, name: &str, value: &str) -> bool {
        let looks = || value::may_be_credential(value);
        match &self.redactor.told {
            _ if self.redactor.own.is_no_secret(name) => looks(),
            None => looks(),
            Some(Told::Names(names)) => {
                let names = &names.here;
                let is_word = !value.is_empty() && !value.contains(char::is_whitespace);
                value::is_placeholder(value)
                    || (is_word && names.contains(&value::shown_name(name)))
            }
            Some(Told::Lengths(lengths)) => {
                let lengths = lengths.get(&value::shown_name(name));
                let is_as_long = || lengths.is_some_and(|lengths| lengths.contains(&value.len()));
                looks() || (value::may_be_random(value) && is_as_long())
            }
        }
    }

    /// Whether the key in a header field is one though it looks like an identifier.
    pub(super) fn may_be_key(&self, value: &str) -> bool {
        // Where a recording tells, its names say it all.
        !matches!(self.redactor.told, Some(Told::Names(_))) && value::is_uuid(value)
    }

    /// Whether a string below a name such as `env` is a secret.
    pub(super) fn holds(&self, holder: &str, name: &str, value: &str) -> bool {
        // Each in a list says its name itself: `MODE=fast`. What ends in `=` may be base64.
        let entry = value.split_once('=').filter(|(_, it)| name == holder && !it.is_empty());
        let (name, value) = entry.unwrap_or((name, value));
        let is_plain = || match self.field(holder) {
            Tells::Holder => name::is_plain_entry(name) || value::is_plain_setting(value),
            // What describes one is no secret: its provider, its region, when it was made.
            _ => name != holder && (value::is_made_of_words(value) || value::is_time(value)),
        };
        !self.applies(Rule::Harmless) || value::is_credential(value) || !is_plain()
    }

    /// What is to stand in the place of a secret, if it is not that already.
    pub(super) fn replacement(&mut self, name: &str, secret: &str) -> Option<String> {
        let own = &self.redactor.own;
        if secret.is_empty() || own.replacement(name) == Some(secret) {
            return None;
        }
        if own.is_no_secret(name) {
            self.secrets.spare(secret.to_owned());
            return None;
        }
        if value::is_placeholder(secret) {
            return self.renamed(name, secret);
        }
        // What a server says stays as a person wants it, also where another name tells of it.
        if (self.side != Side::Request || self.redactor.is_again) && own.is_replacement(secret) {
            return None;
        }
        let says_why = || {
            let is_said = self.side == Side::Refusal && value::is_sentence(secret);
            is_said && !self.secrets.has_placeholder(secret)
        };
        // What a client sends is no mask, whatever its signs are.
        let is_mask = || self.side != Side::Request && value::is_masked(secret);
        if self.applies(Rule::Harmless) && (value::is_protocol(secret) || is_mask() || says_why()) {
            return None;
        }
        if !self.redactor.is_searched_for(secret) {
            // What a server echoes of a header field has the name of the field, in its own spelling.
            let asked = || self.secrets.placeholder_of(&value::shown_name(name), secret);
            let asked = (self.side != Side::Request).then(asked).flatten();
            return Some(asked.unwrap_or_else(|| self.own(name, secret)));
        }
        let own = self.own(name, secret);
        let noted = self.secrets.note(secret, own.clone());
        Some(if self.side == Side::Request { own } else { noted })
    }

    /// Notes a secret that stands within another.
    pub(super) fn note(&mut self, name: &str, secret: &str) {
        if self.redactor.is_searched_for(secret) {
            self.secrets.number_within(&value::shown_name(name), secret);
            let own = self.own(name, secret);
            self.secrets.note(secret, own);
        }
    }

    /// What a value of that name is replaced by: distinct values differ.
    fn own(&mut self, name: &str, secret: &str) -> String {
        if let Some(text) = self.redactor.own.replacement(name) {
            return text.to_owned();
        }
        let name = value::shown_name(name);
        let number = self.secrets.number(&name, secret);
        value::numbered(&name, if self.applies(Rule::Numbers) { number } else { 1 })
    }

    /// What stands in the place of a placeholder, if it is another. In what a client sends it is called
    /// by its own field, as the value itself would be.
    fn renamed(&mut self, name: &str, secret: &str) -> Option<String> {
        let shown = value::name_and_number(secret).map(|(name, _)| name);
        if shown == Some(&*value::shown_name(name)) {
            // The first name counts, as it did when the value itself stood here.
            let is_kept = self.applies(Rule::Numbers);
            let own = if is_kept { secret.to_owned() } else { self.own(name, secret) };
            self.secrets.rename(secret, &own);
            return (own != secret).then_some(own);
        }
        if self.side != Side::Request || self.redactor.is_again {
            return None;
        }
        let own = self.own(name, secret);
        self.secrets.rename(secret, &own);
        Some(own)
    }
}
