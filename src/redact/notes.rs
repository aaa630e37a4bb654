//! What a walk through a text decides by, and what it notes.

use super::name::{self, Tells};
use super::{Redactor, Rule, Secrets, value};

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
        if secret == own {
            // The first name counts, as it did when the value itself stood here.
            self.secrets.rename(secret, &own);
            return None;
        }
        let is_placeholder = value::is_placeholder(secret);
        match self.side {
            Side::Request if is_placeholder => {
                self.secrets.rename(secret, &own);
                Some(own)
            }
            Side::Response if is_placeholder => None,
            Side::Request => {
                self.secrets.note(secret, own.clone());
                Some(own)
            }
            Side::Response => Some(self.secrets.note(secret, own)),
        }
    }
}
