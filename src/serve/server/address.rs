//! Which cassette and which session a request is for.

use std::borrow::Cow;

use super::place::WELL_KNOWN;
use crate::cassette::Name;
use crate::error::Result;
use crate::text::percent;

/// A request target taken apart: `/<cassette>~<token>/-/<what the client asks for>`.
///
/// Everything before the first `/-/` is retape's, the rest is the client's. Without it the whole
/// target is the client's and the default cassette is meant. `/-NAME/` in its place means the server
/// of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address<'a> {
    /// The path before the separator as it came, without a slash at either end; it names a session.
    pub session: &'a str,
    /// The name of the server that is asked; empty for the first one.
    pub server: &'a str,
    /// What the client asks the recorded server for: path and query.
    pub target: Cow<'a, str>,
}

impl<'a> Address<'a> {
    /// Takes a request target apart.
    pub fn parse(target: &'a str) -> Self {
        let parts = separator(target, str::is_empty);
        parts.map_or_else(|| Self::whole(target), |parts| Self::of(target, parts))
    }

    /// Takes a request target apart that may name a server, if it does before anything else that tells
    /// what is the client's. Whether there is one of that name is for the caller to say.
    pub fn naming_a_server(target: &'a str) -> Option<Self> {
        let parts = separator(target, |_| true)?;
        Some(Self::of(target, parts)).filter(|address| !address.server.is_empty())
    }

    fn whole(target: &'a str) -> Self {
        Self { session: "", server: "", target: Cow::Borrowed(target) }
    }

    fn of(target: &'a str, Separator { start, end }: Separator) -> Self {
        let rest = once(&target[..end], &target[end..]);
        let rest = match rest.as_bytes().first() {
            Some(b'/') => Cow::Borrowed(rest),
            _ => Cow::Owned(format!("/{rest}")),
        };
        let server = &target[start + "/-".len()..end];
        let (known, session) = well_known(&target[..start]);
        let session = session.trim_start_matches('/');
        let target = match (known, &*rest) {
            ("", _) => rest,
            (known, "/") => Cow::Borrowed(known),
            (known, rest) => Cow::Owned(format!("{known}{rest}")),
        };
        Self { session, server, target }
    }

    /// The same in another session, if the target names none.
    pub fn or_of(self, session: &'a str) -> Self {
        if self.session.is_empty() { Self { session, ..self } } else { self }
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
        Self::prefix_to(session, "")
    }

    /// The same for the server of a name.
    pub fn prefix_to(session: &str, server: &str) -> String {
        match (session, server) {
            ("", "") => String::new(),
            ("", server) => format!("/-{server}"),
            (session, server) => format!("/{session}/-{server}"),
        }
    }
}

/// What a client asks for that has put a path which an answer led to behind its base address, with what is retape's
/// in both: that counts once.
fn once<'a>(before: &str, rest: &'a str) -> &'a str {
    let is_named = before.len() > "/-".len();
    let again = rest.strip_prefix(before).filter(|rest| is_named && rest.starts_with('/'));
    again.unwrap_or(rest)
}

/// What stands before a session if a client asks for a document that is well known of it. A client puts
/// `/.well-known/NAME` between the host and the path (RFC 8414, section 3.1; RFC 9728, section 3.1).
fn well_known(before: &str) -> (&str, &str) {
    let name = before.strip_prefix(WELL_KNOWN).unwrap_or_default();
    let length = name.find('/').unwrap_or(name.len());
    before.split_at(if name.is_empty() { 0 } else { WELL_KNOWN.len() + length })
}

/// Where the segment stands that separates what is retape's: its slash, and the end of the name in it.
#[derive(Clone, Copy)]
struct Separator {
    start: usize,
    end: usize,
}

/// The first segment `-NAME` with such a name.
fn separator(target: &str, is_meant: impl Fn(&str) -> bool) -> Option<Separator> {
    let bytes = target.as_bytes();
    let in_path = memchr::memchr2_iter(b'-', b'?', bytes).take_while(|at| bytes[*at] == b'-');
    let dashes = in_path.filter(|at| bytes[..*at].ends_with(b"/"));
    let mut found = dashes.map(|at| {
        let name = &bytes[at + 1..];
        let length = memchr::memchr2(b'/', b'?', name).unwrap_or(name.len());
        Separator { start: at - 1, end: at + 1 + length }
    });
    found.find(|found| is_meant(&target[found.start + "/-".len()..found.end]))
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
        check("/a/b/-/a/b/-/v1?x=1", "a/b", Some("a/b"), "/v1?x=1");
        check("/a/b/-/a/c/-/v1", "a/b", Some("a/b"), "/a/c/-/v1");
        check("/a/-/a/-b", "a", Some("a"), "/a/-b");
        check("/-/-/v1", "", None, "/-/v1");
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
        check("/.well-known/x/v1", "", None, "/.well-known/x/v1");
        check("/.well-known/x/a/b/-/v1?q", "a/b", Some("a/b"), "/.well-known/x/v1?q");
        check("/.well-known/x/-", "", None, "/.well-known/x");
    }

    #[test]
    fn a_server_may_be_named_behind_the_session() {
        let named = |target: &'static str| {
            let address = Address::naming_a_server(target)?;
            Some((address.session, address.server, address.target.into_owned()))
        };
        let of = |session, server, target: &str| Some((session, server, target.to_owned()));

        assert_eq!(named("/a/b~2/-openai/v1?x=1"), of("a/b~2", "openai", "/v1?x=1"));
        assert_eq!(named("/-api.openai.com?x"), of("", "api.openai.com", "/?x"));
        assert_eq!(named("/a/-openai"), of("a", "openai", "/"));
        assert_eq!(named("/a/-/-openai/v1"), None);
        assert_eq!(named("/.well-known/x/a/-as/v1"), of("a", "as", "/.well-known/x/v1"));
        assert_eq!(named("/.well-known/x/-as"), of("", "as", "/.well-known/x"));
        assert_eq!(named("/a?x=/-openai/"), None);
        assert_eq!(Address::parse("/a/-openai/v1").target, "/a/-openai/v1");
    }

    #[test]
    fn a_name_never_leaves_its_folder() {
        for target in ["/../x/-/v1", "/%2e%2e/x/-/v1", "/a//b/-/v1", "/a%00/-/v1", "/.git/-/v1"] {
            assert!(Address::parse(target).cassette().is_err(), "{target}");
        }
    }
}
