//! The rules by name.

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
    pub(super) const ALL: &'static [Self] = &[
        Self::Headers,
        Self::Cookies,
        Self::Query,
        Self::Userinfo,
        Self::Form,
        Self::Multipart,
        Self::Json,
        Self::Assignments,
        Self::Values,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Headers => "headers/1",
            Self::Cookies => "cookies/1",
            Self::Query => "query/1",
            Self::Userinfo => "userinfo/1",
            Self::Form => "form/1",
            Self::Multipart => "multipart/1",
            Self::Json => "json/1",
            Self::Assignments => "assignments/1",
            Self::Values => "values/1",
        }
    }

    pub(super) fn of(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name).ok_or_else(|| {
            Error::new(Kind::UnknownRule { rule: name.to_owned() })
                .with_hint("a newer release wrote it: `cargo install retape` brings that one")
        })
    }
}
