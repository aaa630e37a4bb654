//! Where a request goes: below the first origin of a cassette, or to another one.
//!
//! A request of the first origin has a path, `/v1/agents`; one of another has the whole address,
//! `https://api.openai.com/v1/models`, as HTTP itself writes a target that is absolute. So whatever
//! compares paths keeps origins apart.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Cassette, Interactions, Recorded};

/// The origin that a target names, if it is absolute, and the rest of it.
pub(crate) fn split(target: &str) -> (&str, &str) {
    let scheme = ["http://", "https://"].into_iter().find(|scheme| target.starts_with(scheme));
    let Some(scheme) = scheme else { return ("", target) };
    let authority = &target[scheme.len()..];
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    if end == 0 { ("", target) } else { target.split_at(scheme.len() + end) }
}

/// An absolute target as a cassette with that first origin writes it.
pub(crate) fn relative<'t>(upstream: &str, target: &'t str) -> &'t str {
    match target.strip_prefix(upstream) {
        Some(rest) if !upstream.is_empty() && rest.starts_with(['/', '?']) => rest,
        _ => target,
    }
}

/// A target of a cassette with that first origin, whole.
pub(crate) fn absolute<'t>(upstream: &str, target: &'t str) -> Cow<'t, str> {
    match split(target).0 {
        "" => Cow::Owned(format!("{upstream}{target}")),
        _ => Cow::Borrowed(target),
    }
}

/// How an address begins by which HTTP/2 is spoken without TLS, and how the server itself begins it.
const H2C: [&str; 2] = ["h2c://", "http://"];

/// The servers of a recording, by their addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origins {
    /// The first one, as it was given; empty if it is not known yet.
    pub first: String,
    /// The others that have a name.
    pub named: BTreeMap<String, String>,
}

impl Recorded {
    /// The servers that have to be named to record the same again.
    pub(crate) fn servers(&self) -> Origins {
        Origins { first: self.address().into_owned(), named: self.origins.clone() }
    }

    /// The address as it is given to a recorder, and spelled in a file.
    pub(crate) fn address(&self) -> Cow<'_, str> {
        let [given, own] = H2C;
        match self.upstream.strip_prefix(own).filter(|_| self.h2c) {
            Some(host) => Cow::Owned(format!("{given}{host}")),
            None => Cow::Borrowed(&self.upstream),
        }
    }

    /// Takes the address as [`address`](Self::address) gives it.
    pub(crate) fn set_address(&mut self, address: String) {
        let [given, own] = H2C;
        let host = address.strip_prefix(given);
        self.h2c = host.is_some();
        self.upstream = host.map(|host| format!("{own}{host}")).unwrap_or(address);
    }

    /// Names the first origin, if it was not known when the recording began, and writes what goes there
    /// without it. A named origin that nothing went to is not kept.
    pub(crate) fn settle_origins(&mut self, all: &mut impl Interactions) {
        let (mut first, mut asked) = (None, BTreeSet::new());
        let named: Vec<usize> = (0..all.count()).filter(|it| all.names_origin(*it)).collect();
        for number in &named {
            let path = &all.at(*number).request.path;
            first.get_or_insert_with(|| split(path).0.to_owned());
            let origins = self.origins.values();
            asked.extend(origins.filter(|address| relative(address, path) != path).cloned());
        }
        if self.upstream.is_empty() {
            self.upstream = first.unwrap_or_default();
        }
        // One that stands at the first origin, or below it, was asked without a name in the file.
        let upstream = &self.upstream;
        let within =
            |address: &&String| relative(upstream, &format!("{address}/")).len() <= address.len();
        let within: Vec<&String> = self.origins.values().filter(within).collect();
        if !within.is_empty() {
            for interaction in all.each() {
                let path = absolute(upstream, &interaction.request.path);
                let is_asked = |it: &&&String| relative(it, &path) != path;
                asked.extend(within.iter().filter(is_asked).map(|it| (*it).clone()));
            }
        }
        self.origins.retain(|_, address| asked.contains(address));
        for number in named {
            all.change(number, |interaction| {
                let path = &mut interaction.request.path;
                let behind = relative(&self.upstream, path).len();
                path.drain(..path.len() - behind);
            });
        }
    }
}

impl Cassette {
    /// The same for the one that is recorded in it.
    pub(crate) fn settle_origins(&mut self) {
        self.recorded.settle_origins(&mut self.interactions);
    }

    /// The address of the server of that name, or of that host.
    pub(crate) fn address_of(&self, name: &str) -> Option<&str> {
        let of_host = || {
            let is_meant = |origin: &&str| origin.split_once("://").is_some_and(|it| it.1 == name);
            self.origins().into_iter().skip(1).find(is_meant)
        };
        self.recorded.origins.get(name).map(String::as_str).or_else(of_host)
    }

    /// The origins that were asked, the first one first.
    pub(crate) fn origins(&self) -> Vec<&str> {
        let mut origins = vec![split(&self.recorded.upstream).0];
        for interaction in &self.interactions {
            let (origin, _) = split(&interaction.request.path);
            if !origin.is_empty() && !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        origins.retain(|origin| !origin.is_empty());
        origins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_path_or_begins_with_an_origin() {
        for (target, expected) in [
            ("/v1?x=http://a/b", ("", "/v1?x=http://a/b")),
            ("*", ("", "*")),
            ("https://a:1/v1?x", ("https://a:1", "/v1?x")),
            ("http://a?x", ("http://a", "?x")),
            ("http://[::1]:8", ("http://[::1]:8", "")),
            ("http:///v1", ("", "http:///v1")),
        ] {
            assert_eq!(split(target), expected);
        }
    }

    #[test]
    fn what_goes_to_the_first_origin_is_written_without_it() {
        for (upstream, target, expected) in [
            ("http://a", "http://a/v1", "/v1"),
            ("http://a", "http://ab/v1", "http://ab/v1"),
            ("http://a/base", "http://a/base/v1", "/v1"),
            ("http://a/base", "http://a/v1", "http://a/v1"),
            ("", "/v1", "/v1"),
            ("http://a", "/v1", "/v1"),
        ] {
            assert_eq!(relative(upstream, target), expected);
        }
    }
}
