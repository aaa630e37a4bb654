//! Which cassette and which session a request is for.

use std::borrow::Cow;

use crate::cassette::Name;
use crate::error::Result;
use crate::text::percent;

/// A request target taken apart: `/<cassette>~<token>/-/<what the client asks for>`.
///
/// Everything before the first `/-/` is retape's, the rest is the client's. Without it the whole
/// target is the client's and the default cassette is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address<'a> {
    /// The path before the separator as it came, without a slash at either end; it names a session.
    pub session: &'a str,
    /// What the client asks the recorded server for: path and query.
    pub target: Cow<'a, str>,
}

impl<'a> Address<'a> {
    /// Takes a request target apart.
    pub fn parse(target: &'a str) -> Self {
        let Some((session, rest)) = split(target) else {
            return Self { session: "", target: Cow::Borrowed(target) };
        };
        let target = match rest.as_bytes().first() {
            Some(b'/') => Cow::Borrowed(rest),
            _ => Cow::Owned(format!("/{rest}")),
        };
        Self { session, target }
    }

    /// The cassette, `None` for the default one.
    ///
    /// # Errors
    ///
    /// If what stands before the separator is not a cassette name.
    pub fn cassette(&self) -> Result<Option<Name>> {
        match self.session.split('~').next() {
            None | Some("") => Ok(None),
            Some(name) => Name::new(percent::decoded(name)).map(Some),
        }
    }

    /// The path that stands before what the client asks for: empty for the default session.
    pub fn prefix(session: &str) -> String {
        if session.is_empty() { String::new() } else { format!("/{session}/-") }
    }
}

/// Splits at `/-/`, or at a `/-` that ends the path.
fn split(target: &str) -> Option<(&str, &str)> {
    let bytes = target.as_bytes();
    let is_separator = |at: &usize| {
        bytes[..*at].ends_with(b"/") && matches!(bytes.get(at + 1), None | Some(b'/' | b'?'))
    };
    let in_path = memchr::memchr2_iter(b'-', b'?', bytes).take_while(|at| bytes[*at] == b'-');
    let at = in_path.into_iter().find(is_separator)?;
    Some((target[..at - 1].trim_start_matches('/'), &target[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, session: &str, cassette: Option<&str>, asked: &str) {
        let address = Address::parse(target);
        let name = address.cassette().expect(target);
        assert_eq!(
            (address.session, name.as_ref().map(Name::as_str), &*address.target),
            (session, cassette, asked)
        );
    }

    #[test]
    fn what_stands_before_the_separator_is_retapes() {
        check("/v1/agents?limit=1", "", None, "/v1/agents?limit=1");
        check(
            "/letta/hitl/-/v1/agents?x=/-/y",
            "letta/hitl",
            Some("letta/hitl"),
            "/v1/agents?x=/-/y",
        );
        check("/letta/hitl~a7/-/v1", "letta/hitl~a7", Some("letta/hitl"), "/v1");
        check("/~a7/-/v1", "~a7", None, "/v1");
        check("/a/-/b/-/c", "a", Some("a"), "/b/-/c");
        check("/-/v1", "", None, "/v1");
        check("/a/-", "a", Some("a"), "/");
        check("/a/-?q=1", "a", Some("a"), "/?q=1");
        check("/a/-/", "a", Some("a"), "/");
        check("/test%5B0%5D/-/v1", "test%5B0%5D", Some("test[0]"), "/v1");
        check("/v1?x=/-/y", "", None, "/v1?x=/-/y");
    }

    #[test]
    fn a_name_never_leaves_its_folder() {
        for target in ["/../x/-/v1", "/%2e%2e/x/-/v1", "/a//b/-/v1", "/a%00/-/v1", "/.git/-/v1"] {
            assert!(Address::parse(target).cassette().is_err(), "{target}");
        }
    }
}
