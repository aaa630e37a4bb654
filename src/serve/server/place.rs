//! Where a client sees us.

use http::HeaderMap;
use http::header::{HOST, HeaderValue, LINK, SET_COOKIE};

use super::origin::{LEADING, may_hold};
use super::{Address, Rewriter};

/// Where a client sees a server: behind us, at the address that it connected to and the prefix of its
/// session, or at the server's own address.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerPlace<'a> {
    /// The scheme and the authority that stand for the server's own; nothing if the client names the server
    /// as it is.
    pub origin: Option<(&'a str, &'a str)>,
    /// The session that the path names.
    pub session: &'a str,
    /// The server that the path names.
    pub server: &'a str,
}

impl<'a> ServerPlace<'a> {
    /// Behind us, as the `host` field of a request names us.
    pub fn of(headers: &'a HeaderMap) -> Self {
        let host =
            headers.get(HOST).and_then(|host| host.to_str().ok()).filter(|it| !it.is_empty());
        Self { origin: Some(("http", host.unwrap_or("127.0.0.1"))), ..Self::default() }
    }

    /// At the address of a server that need not be the one which answers.
    pub fn at(origin: &'a str) -> Self {
        Self { origin: origin.split_once("://"), ..Self::default() }
    }

    /// What puts the server's address in the place of ours, if ours is seen.
    pub fn inward(&self, server: &str) -> Option<Rewriter> {
        Some(Rewriter::new(&self.address()?, server))
    }

    /// What puts our address in the place of the server's.
    pub fn outward(&self, server: &str) -> Option<Rewriter> {
        Some(Rewriter::new(server, &self.address()?))
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
