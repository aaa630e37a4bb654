//! Requests that came to us as to a proxy.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use http::header::{HOST, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::uri::Authority;
use http::{Method, StatusCode};

use super::event::{Event, Miss};
use super::gateway::Gateway;
use super::guard;
use crate::config::HostRule;
use crate::serve::lock;
use crate::serve::server::{
    Handshake, NamedHost, Refusal, Tunnel, Via, host_of, origin, problem, session_of,
};
use crate::store::mode::Mode;

/// A request that came to us as to a proxy, or that a client's transport led here.
#[derive(Debug)]
pub(super) struct Proxied {
    pub(super) session: String,
    /// The server that the client means.
    pub(super) origin: String,
    pub(super) rule: HostRule,
}

impl Gateway {
    /// What a request asks for, if it came to us as to a proxy.
    ///
    /// # Errors
    ///
    /// The answer, if it is refused.
    pub(super) fn proxied(&self, head: &mut Parts) -> Result<Option<Proxied>, Refusal> {
        if let Some(Via { origin, session }) = head.extensions.remove() {
            return Ok(Some(Proxied { session, origin, rule: HostRule::Recorded }));
        }
        let Some(NamedHost { scheme, authority }) = self.named(head) else { return Ok(None) };
        let rule = self.host_rule(&head.method, &authority)?;
        let origin = origin(scheme, host_of(&authority));
        let session = session_of(&head.headers);
        head.headers.remove(PROXY_AUTHORIZATION);
        Ok(Some(Proxied { session, origin, rule }))
    }

    /// The server that a request names, if it is not us. Each by HTTP/2 names a host, and ours may have any
    /// name: so it means another one only if we are a proxy. So does one behind another that named its server, and
    /// one whose field names another.
    fn named(&self, head: &mut Parts) -> Option<NamedHost> {
        let by_host =
            head.extensions.remove::<NamedHost>().filter(|_| self.settings.proxy.is_some());
        let by_address = head.uri.authority().cloned().map(|authority| {
            let scheme = if head.uri.scheme_str() == Some("https") { "https" } else { "http" };
            NamedHost { scheme, authority }
        });
        let by_host = by_host.or_else(|| self.named_by_field(head));
        by_address.or(by_host).filter(|it| !self.is_listening_at(&it.authority))
    }

    /// The server that the field `host` of a request names, if that is another one.
    fn named_by_field(&self, head: &Parts) -> Option<NamedHost> {
        let port = self.port().filter(|_| self.settings.proxy.is_some())?;
        if !guard::names_another(head, &self.settings.given.allowed_hosts, port) {
            return None;
        }
        let authority = head.headers.get(HOST)?.as_bytes().try_into().ok()?;
        Some(NamedHost { scheme: "http", authority })
    }

    /// The tunnel that a client asks for.
    ///
    /// # Errors
    ///
    /// The answer, if it is refused.
    pub(super) fn tunnel_to(&self, head: &Parts) -> Result<Tunnel, Refusal> {
        let Some(authority) = head.uri.authority() else {
            let why = "`CONNECT` names no host";
            return Err(problem(StatusCode::BAD_REQUEST, "proxy", why).into());
        };
        let rule = self.host_rule(&head.method, authority)?;
        if rule == HostRule::Passed {
            self.note_passed();
        }
        let proxy = self.settings.proxy.clone().ok_or_else(not_asked)?;
        let authority = match authority.port_u16() {
            Some(_) => host_of(authority).to_owned(),
            None => format!("{}:443", host_of(authority)),
        };
        Ok(Tunnel { authority, session: session_of(&head.headers), proxy })
    }

    /// Whether an authority is where we listen.
    pub(super) fn is_listening_at(&self, authority: &Authority) -> bool {
        authority.port_u16() == self.port() && guard::is_local(authority.host())
    }

    fn port(&self) -> Option<u16> {
        self.address.get().map(SocketAddr::port)
    }

    /// Notes how far a client came in a tunnel to a server.
    pub(super) fn note_handshake(&self, server: &str, came: Handshake) {
        let mut handshakes = lock(&self.handshakes);
        match handshakes.get_mut(server) {
            Some(known) if *known >= came => {}
            Some(known) => *known = came,
            None => _ = handshakes.insert(server.to_owned(), came),
        }
    }

    /// Servers that clients asked for through the proxy, and to which no request came, or that they do not trust.
    pub(super) fn failed_handshakes(&self) -> BTreeMap<String, Handshake> {
        let handshakes = lock(&self.handshakes).clone();
        handshakes.into_iter().filter(|(_, came)| *came != Handshake::Asked).collect()
    }

    /// What is done with a host that a client asks us for.
    fn host_rule(&self, method: &Method, authority: &Authority) -> Result<HostRule, Refusal> {
        let host = host_of(authority);
        let Some(proxy) = &self.settings.proxy else {
            self.tell_refused(method, host, NO_PROXY);
            return Err(not_asked());
        };
        match proxy.rule(host) {
            HostRule::Refused => {
                let why = format!("`{host}` is refused by `refuse` in `[proxy]` of retape.toml");
                Err(problem(StatusCode::FORBIDDEN, "refused", &why).into())
            }
            rule => Ok(rule),
        }
    }

    /// A client that is refused everything must not seem to have asked nothing.
    fn tell_refused(&self, method: &Method, host: &str, why: &str) {
        let asked = self.settings.redactor().target(host);
        let cassette = self.settings.cassette.as_str();
        let miss = Miss::unexplained("", cassette, (method.as_str(), &asked));
        let miss = miss.explained(why.to_owned());
        match self.mode() {
            Mode::Replay | Mode::Once => drop(self.note(miss)),
            _ => {
                self.misses().refuse(why.lines().next().unwrap_or_default());
                self.tell(Event::Unrecorded(miss));
            }
        }
    }
}

fn not_asked() -> Refusal {
    problem(StatusCode::MISDIRECTED_REQUEST, "no_proxy", NO_PROXY).into()
}

const NO_PROXY: &str = "retape is no proxy here\n\
    hint: start it with `--proxy`, or give the client retape's address as its base address";
