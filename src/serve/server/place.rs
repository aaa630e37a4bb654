//! Where a client sees us.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::{HOST, HeaderValue, LINK, SET_COOKIE};

use super::origin::{ADDRESSES, LEADING, may_hold, may_name};
use super::{Address, Rewriter};
use crate::cassette::target;

/// Where a client sees a server: behind us, at the address that it connected to and the prefix of its
/// session, or at the server's own address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerPlace<'a> {
    /// The scheme and the authority that stand for the server's own; nothing if the client names the server
    /// as it is.
    pub origin: Option<(&'a str, &'a str)>,
    /// The session that the path names.
    pub session: &'a str,
    /// The server that the path names.
    pub server: &'a str,
    /// Whether the authority is ours, so that a path below it leads to each of the servers.
    pub is_ours: bool,
}

/// Where a client sees a server, for whoever answers later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPlace {
    origin: Option<(String, String)>,
    session: String,
    server: String,
    is_ours: bool,
}

impl KeptPlace {
    /// The place itself.
    pub fn place(&self) -> ServerPlace<'_> {
        ServerPlace {
            origin: self.origin.as_ref().map(|(scheme, host)| (&**scheme, &**host)),
            session: &self.session,
            server: &self.server,
            is_ours: self.is_ours,
        }
    }
}

/// What puts our addresses in the place of those of the servers.
#[derive(Debug, Clone)]
pub struct Outward {
    /// That of the server which answers.
    own: Rewriter,
    /// Those of all servers, if there are others.
    all: Option<Rewriter>,
}

impl Outward {
    /// Replaces addresses in the fields of an answer: those of the server that answers in any, as any may lead on, and those
    /// of others in the ones that do.
    pub fn fields(&self, headers: &mut HeaderMap) {
        self.own.all_fields(headers);
        self.all.iter().for_each(|all| all.fields(headers, &ADDRESSES));
    }

    /// What replaces them in a body.
    ///
    /// # Rationale
    ///
    /// Where a body names another server, that is mostly what it tells of itself, such as the model provider that an
    /// agent has. A well-known document (RFC 8615) says where a client is to go on.
    pub fn body(&self, is_well_known: bool) -> &Rewriter {
        self.all.as_ref().filter(|_| is_well_known).unwrap_or(&self.own)
    }

    /// What replaces the address of the server that answers.
    pub fn own(&self) -> &Rewriter {
        &self.own
    }
}

impl<'a> ServerPlace<'a> {
    /// Behind us, as the `host` field of a request names us.
    pub fn of(headers: &'a HeaderMap) -> Self {
        let host =
            headers.get(HOST).and_then(|host| host.to_str().ok()).filter(|it| !it.is_empty());
        let origin = Some(("http", host.unwrap_or("127.0.0.1")));
        Self { origin, is_ours: true, ..Self::default() }
    }

    /// At the address of a server that need not be the one which answers.
    pub fn at(origin: &'a str) -> Self {
        Self { origin: origin.split_once("://"), ..Self::default() }
    }

    /// What puts the address of each server in the place of ours, if ours is seen. `beside` are all servers by their
    /// names, the first one by the empty name.
    pub fn inward(&self, server: &str, beside: &BTreeMap<String, String>) -> Option<Rewriter> {
        let own = (self.address()?, server.to_owned());
        let others = self.others(server, beside).map(|(theirs, ours)| (ours, theirs));
        Some(Rewriter::of([own].into_iter().chain(others).collect()))
    }

    /// What puts our addresses in the place of theirs.
    pub fn outward(&self, server: &str, beside: &BTreeMap<String, String>) -> Option<Outward> {
        let own = (server.to_owned(), self.address()?);
        let others: Vec<_> = self.others(server, beside).collect();
        let is_alone = others.is_empty();
        let all = [own.clone()].into_iter().chain(others).collect();
        let all = (!is_alone).then(|| Rewriter::of(all));
        Some(Outward { own: Rewriter::of(vec![own]), all })
    }

    /// What a page of the server says of where it comes from, in the place of where the client has it from.
    pub fn page(&self, origin: &str) -> Option<Rewriter> {
        Some(Rewriter::new(&self.address()?, origin))
    }

    /// The same place in the words of an owner that outlives the request.
    pub fn kept(&self) -> KeptPlace {
        let owned = |(scheme, authority): (&str, &str)| (scheme.to_owned(), authority.to_owned());
        KeptPlace {
            origin: self.origin.map(owned),
            session: self.session.to_owned(),
            server: self.server.to_owned(),
            is_ours: self.is_ours,
        }
    }

    /// The other servers: their addresses, and what stands for each of them.
    fn others<'s>(
        &self,
        server: &str,
        beside: &'s BTreeMap<String, String>,
    ) -> impl Iterator<Item = (String, String)> + use<'s, '_, 'a> {
        let server = server.to_owned();
        let place = *self;
        let known = beside.iter().filter(move |(_, it)| place.is_ours && !it.is_empty());
        known.filter(move |(_, it)| **it != server).filter_map(move |(name, it)| {
            let ours = ServerPlace { server: name, ..place }.address()?;
            Some((it.clone(), ours))
        })
    }

    /// Whether our address may stand in a text.
    pub fn may_stand_in(&self, text: &[u8]) -> bool {
        self.origin.is_some_and(|(_, authority)| may_hold(text, authority))
    }

    /// The address that stands for the server's own: `http://127.0.0.1:4000/letta/hitl/-`.
    pub fn address(&self) -> Option<String> {
        let (scheme, authority) = self.origin?;
        Some(format!("{scheme}://{authority}{}", Address::prefix_to(self.session, self.server)))
    }

    /// Keeps absolute paths below the session's prefix: those to which an answer leads, and those to
    /// which a client is to send a cookie back.
    pub fn keep_below(&self, headers: &mut HeaderMap) {
        let prefix = Address::prefix_to(self.session, self.server);
        if prefix.is_empty() {
            return;
        }
        for (name, value) in headers.iter_mut() {
            let Ok(text) = str::from_utf8(value.as_bytes()) else { continue };
            let below = match *name {
                LINK => Some(links_below(text, &prefix)),
                SET_COOKIE => Some(cookie_below(text, &prefix)),
                _ if LEADING.contains(name) => is_path(text).then(|| format!("{prefix}{text}")),
                _ => None,
            };
            if let Some(Ok(below)) = below.map(HeaderValue::try_from) {
                *value = below;
            }
        }
    }
}

/// The servers that an answer may name.
#[derive(Debug, Clone, Copy)]
pub struct NamedServers<'a> {
    /// The one that has said it; empty if it is not known.
    pub own: &'a str,
    /// All by their names.
    pub beside: &'a BTreeMap<String, String>,
    /// Whether it is a document that is well known.
    pub is_well_known: bool,
}

impl NamedServers<'_> {
    /// Whether an address that is replaced may stand in a body.
    pub fn may_stand_in(&self, body: &[u8]) -> bool {
        self.all().any(|(server, is_own)| (is_own || self.is_well_known) && may_hold(body, server))
    }

    /// Whether one may stand in the fields.
    pub fn may_stand_in_fields(&self, headers: &HeaderMap) -> bool {
        self.all().any(|(server, _)| may_name(headers, server))
    }

    /// Each with whether it is the one that has said it.
    fn all(&self) -> impl Iterator<Item = (&str, bool)> {
        let others = self.beside.values().filter(|it| **it != self.own);
        let all = [(self.own, true)].into_iter().chain(others.map(|it| (&**it, false)));
        all.filter(|(server, _)| !server.is_empty())
    }
}

/// Whether a target is a document that says where a client is to go on (RFC 8615).
pub fn is_well_known(target: &str) -> bool {
    target::split(target).1.starts_with(WELL_KNOWN)
}

/// Where such documents stand.
pub(super) const WELL_KNOWN: &str = "/.well-known/";

/// `/path`, and not `//host/path`.
fn is_path(location: &str) -> bool {
    location.starts_with('/') && !location.starts_with("//")
}

/// `</path>; rel="next"`
fn links_below(links: &str, prefix: &str) -> String {
    let mut pieces = links.split('<');
    let mut below = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        below.push('<');
        below.push_str(if is_path(piece) { prefix } else { "" });
        below.push_str(piece);
    }
    below
}

/// `name=value; Path=/path`. Without a path a client takes that of its request, which has the prefix.
fn cookie_below(cookie: &str, prefix: &str) -> String {
    // A client takes such a one only for the whole host.
    if cookie.trim_start().get(..7).is_some_and(|name| name.eq_ignore_ascii_case("__Host-")) {
        return cookie.to_owned();
    }
    let mut attributes = cookie.split(';');
    let mut below = attributes.next().unwrap_or_default().to_owned();
    for attribute in attributes {
        below.push(';');
        match attribute.split_once('=').map(|(name, path)| (name, path.trim())) {
            // The prefix alone is for itself and for all below it.
            Some((name, "/")) if is_named_path(name) => below.extend([name, "=", prefix]),
            Some((name, path)) if is_named_path(name) && is_path(path) => {
                below.extend([name, "=", prefix, path]);
            }
            _ => below.push_str(attribute),
        }
    }
    below
}

fn is_named_path(attribute: &str) -> bool {
    attribute.trim().eq_ignore_ascii_case("path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_cookie_is_kept_below_the_prefix() {
        for (cookie, below) in [
            ("a=b; Path=/; HttpOnly", "a=b; Path=/x/-; HttpOnly"),
            ("a=\"/\";path = /v1/ ;Secure", "a=\"/\";path =/x/-/v1/;Secure"),
            ("path=/v1", "path=/v1"),
            (
                "a=b; Path=//v1; Path=v1; Path; Max-Age=0",
                "a=b; Path=//v1; Path=v1; Path; Max-Age=0",
            ),
            ("__Host-a=b; Path=/", "__Host-a=b; Path=/"),
            ("", ""),
        ] {
            assert_eq!(cookie_below(cookie, "/x/-"), below);
        }
    }

    #[test]
    fn only_paths_in_links_are_kept_below_the_prefix() {
        for (links, below) in [
            ("</a>; rel=\"<b\", </>", "</x/-/a>; rel=\"<b\", </x/-/>"),
            ("<//host/a>, <a>, <http://host/a>, /a", "<//host/a>, <a>, <http://host/a>, /a"),
            ("", ""),
        ] {
            assert_eq!(links_below(links, "/x/-"), below);
        }
    }
}
