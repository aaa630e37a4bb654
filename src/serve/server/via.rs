//! How a request came to us, if not by our own address.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::PROXY_AUTHORIZATION;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Proxy;
use crate::text::percent;

/// A connection of a client, whatever it goes through.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// A tunnel that a client asked for.
#[derive(Debug)]
pub struct Tunnel {
    /// The host and the port that it leads to.
    pub authority: String,
    /// The session that the proxy's user names.
    pub session: String,
    /// What it goes through.
    pub proxy: Arc<Proxy>,
}

/// Through which tunnel a request came. It stands among the extensions of the request.
#[derive(Debug, Clone)]
pub struct Via {
    /// The server that the client means: `https://api.openai.com`.
    pub origin: String,
    /// The session that the proxy's user names.
    pub session: String,
}

/// How far a client came in a tunnel. Of several that ask for a server, the greatest counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(not(feature = "proxy"), expect(dead_code, reason = "no tunnel has TLS"))]
pub enum Handshake {
    /// It left before it asked anything. So do those that look at a certificate after the handshake, and those that
    /// connected to have a connection at hand.
    Left,
    /// It asked something.
    Asked,
    /// It did not agree upon TLS, for this reason.
    Failed(String),
    /// It says that it does not trust our certificate.
    Distrusted,
}

/// The host that a request by HTTP/2 names. It may be ours, by whatever name, or that of a server behind us as a
/// proxy. It stands among the extensions of the request.
#[derive(Debug, Clone)]
pub struct NamedHost {
    pub scheme: &'static str,
    pub authority: Authority,
}

/// Whom a client trusts besides those that this machine trusts, as its transport says: certificates in Base64 with
/// commas between, or `anyone`. It stands among the extensions of the request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientTrust(pub HeaderValue);

/// The session that a client names as the user of the proxy; empty if it names none.
pub fn session_of(headers: &HeaderMap) -> String {
    let user = || {
        let field = headers.get(PROXY_AUTHORIZATION)?.to_str().ok()?;
        let (scheme, encoded) = field.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let plain = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
        let (user, _) = plain.split_once(':').unwrap_or((&plain, ""));
        Some(percent::decoded(user).trim_matches('/').to_owned())
    };
    user().unwrap_or_default()
}

/// The host and the port, without who asks.
pub fn host_of(authority: &Authority) -> &str {
    authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, host)| host)
}

/// The address of a server, without the port that goes without saying.
pub fn origin(scheme: &str, authority: &str) -> String {
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = authority.strip_suffix(usual).unwrap_or(authority);
    format!("{scheme}://{}", host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_the_proxy_names_the_session() {
        for (user, session) in
            [("letta/hello:", "letta/hello"), ("letta%2Fhello~2:x", "letta/hello~2"), (":", "")]
        {
            let field = format!("Basic {}", STANDARD.encode(user));
            let headers = HeaderMap::from_iter([(PROXY_AUTHORIZATION, field.parse().unwrap())]);
            assert_eq!(session_of(&headers), session);
        }
        assert_eq!(session_of(&HeaderMap::new()), "");
    }

    #[test]
    fn a_usual_port_goes_without_saying() {
        assert_eq!(origin("https", "API.openai.com:443"), "https://api.openai.com");
        assert_eq!(origin("http", "[::1]:80"), "http://[::1]");
        assert_eq!(origin("https", "a:80"), "https://a:80");
    }
}
