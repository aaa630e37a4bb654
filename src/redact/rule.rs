//! The rules by name, and what a walk through a text decides and notes by them.

use super::name::{self, Tells};
use super::{Redactor, Secrets, value};
use crate::error::{Error, Kind, Result};

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
}

impl Rule {
    pub(super) const ALL: [(Self, &str); 9] = [
        (Self::Headers, "headers/1"),
        (Self::Cookies, "cookies/1"),
        (Self::Query, "query/1"),
        (Self::Userinfo, "userinfo/1"),
        (Self::Form, "form/1"),
        (Self::Multipart, "multipart/1"),
        (Self::Json, "json/1"),
        (Self::Assignments, "assignments/1"),
        (Self::Values, "values/1"),
    ];

    pub(super) const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    pub(super) fn of(name: &str) -> Result<Self> {
        let row = Self::ALL.iter().find(|(_, known)| *known == name);
        row.map(|(rule, _)| *rule).ok_or_else(|| {
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
        if self.applies(Rule::Json) { name::field(name) } else { Tells::Nothing }
    }

    /// What is to stand in the place of a secret, if it is not that already.
    pub(super) fn replacement(&mut self, name: &str, secret: &str) -> Option<String> {
        let own = value::placeholder(name);
        if secret.is_empty() {
            return None;
        }
        if !value::is_placeholder(secret) {
            let noted = self.secrets.note(secret, own.clone());
            return Some(if self.side == Side::Request { own } else { noted });
        }
        if secret == own || self.side == Side::Request {
            // The first name counts, as it did when the value itself stood here.
            self.secrets.rename(secret, &own);
        }
        (secret != own && self.side == Side::Request).then_some(own)
    }
}
