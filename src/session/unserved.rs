//! Requests that nobody can answer, whatever was recorded.

use std::sync::atomic::Ordering;

use super::event::Miss;
use super::gateway::Gateway;
use crate::error::Error;
use crate::serve::lock;
use crate::serve::server::{Address, Unread};

/// HTTP/1.1 forbids it (RFC 9112, sections 5 and 3.2), and servers differ in what they make of it.
const HEAD: &str = "HTTP/1.1 (RFC 9112) allows letters, digits and `-` in the name of a field, one line without control \
                    characters as its value, one `host`, one length, and no space or `\"<>\\^{|}` in a target; retape \
                    takes 256 fields at most. Change what your client sends, or leave this request out";

/// The client would take what HTTP says for what it asked for.
pub(super) fn upgrade(protocol: &str) -> Error {
    Error::said(format!("an upgrade to `{protocol}` is not supported")).with_hint(
        "let your client ask the server itself for that, past retape, or without `Upgrade`",
    )
}

impl Gateway {
    /// What cannot be read: HTTP forbids some signs in a target, and servers differ in what they make of them.
    pub(super) fn unread(&self, unread: &Unread) -> Error {
        let sign = match unread {
            Unread::Target { sign, .. } => sign,
            Unread::Head { why, .. } => {
                return Error::said(format!("the head of a request cannot be read: {why}"))
                    .with_hint(HEAD);
            }
            Unread::Tls => {
                let hint = if self.settings.proxy.is_some() { TLS_TO_PROXY } else { TLS };
                return Error::said("a client speaks TLS to retape, which listens without")
                    .with_hint(hint);
            }
        };
        Error::said(format!("a target has a `{sign}` that is not encoded")).with_hint(format!(
            "let your client encode it, as `%{:02X}`: what builds a URL from parts does (`params=` in Python, \
             `URLSearchParams`, `curl --data-urlencode`)",
            u32::from(*sign)
        ))
    }

    /// Notes a request that can neither be recorded nor replayed: it was not recorded, or it is a miss.
    pub(super) fn unserved(&self, session: &str, asked: (&str, &str), error: Error) -> Miss {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let (method, target) = asked;
        let address = Address { session, ..Address::parse(target) };
        let name = address.cassette().ok().flatten();
        let name = name.unwrap_or_else(|| self.settings.cassette.clone());
        let miss = self.unexplained(method, &address, name.as_str());
        let miss = self.unanswerable(miss, &error);
        if self.records(name.as_str()) {
            lock(&self.failure).get_or_insert(error);
        }
        miss
    }
}

const TLS: &str = "give the client the address as RETAPE_URL says it, with `http://` or `ws://`; one that makes \
    `https://` or `wss://` of any address needs `--proxy`, and a server that speaks TLS";

const TLS_TO_PROXY: &str = "give the client the proxy as HTTPS_PROXY says it, with `http://`: it asks there for \
    `CONNECT HOST:PORT`, and speaks TLS behind that; one that cannot needs retape's address as its base address, with \
    `http://`";
