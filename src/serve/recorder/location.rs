//! Where the live server is.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};

use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::text::percent;

/// Where the live server is, and what its address says besides.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) speaks: Speaks,
    /// Without user information and without a slash at its end.
    pub(super) origin: String,
    base: Uri,
    /// What the user information of the address makes.
    pub(super) authorization: Option<HeaderValue>,
}

/// How the server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    /// HTTP/1.1.
    Plain,
    /// HTTP/2 from the first byte, without TLS.
    PriorKnowledge,
    /// TLS, and in it what the server prefers.
    Tls,
}

impl Location {
    /// Takes an address apart.
    pub(super) fn parse(address: &str) -> Result<Self> {
        let uri: Uri = address.parse().map_err(|source| refused(address).because(source))?;
        let speaks = uri.scheme_str().and_then(Speaks::of);
        let (Some(speaks), Some(authority), None) = (speaks, uri.authority(), uri.query()) else {
            return Err(refused(address));
        };
        let (user, host) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
        let path = uri.path().trim_end_matches('/');
        let origin = format!("{}://{host}{path}", speaks.scheme());
        let base: Uri = origin.parse().map_err(|source| refused(address).because(source))?;
        if !names_a_host(&base) {
            return Err(refused(address));
        }
        let authorization = (!user.is_empty()).then(|| basic(user));
        Ok(Self { speaks, origin, base, authorization })
    }

    /// The origin with the scheme that was given.
    pub(super) fn address(&self) -> Cow<'_, str> {
        match (self.speaks, self.origin.strip_prefix(self.speaks.scheme())) {
            (Speaks::PriorKnowledge, Some(rest)) => Cow::Owned(format!("h2c{rest}")),
            _ => Cow::Borrowed(&self.origin),
        }
    }

    /// The host and port.
    pub(super) fn host(&self) -> &str {
        self.base.authority().map_or("", |authority| authority.as_str())
    }

    /// The address of a request target at this server.
    pub(super) fn uri_of(&self, target: &str) -> Result<Uri, http::Error> {
        let path = format!("{}{target}", self.base.path().trim_end_matches('/'));
        let mut parts = self.base.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(path)?);
        Ok(Uri::from_parts(parts)?)
    }
}

impl Speaks {
    fn of(scheme: &str) -> Option<Self> {
        match scheme {
            "http" => Some(Self::Plain),
            "h2c" => Some(Self::PriorKnowledge),
            "https" => Some(Self::Tls),
            _ => None,
        }
    }

    /// The scheme that the server itself would name.
    const fn scheme(self) -> &'static str {
        match self {
            Self::Plain | Self::PriorKnowledge => "http",
            Self::Tls => "https",
        }
    }
}

/// Whether there is a host, and a number where a port is. The parser takes a password for a port if
/// there is a slash in it.
fn names_a_host(base: &Uri) -> bool {
    let host = base.host().unwrap_or_default();
    let said = base.authority().map_or("", |authority| authority.as_str());
    let port = base.port_u16().map_or(String::new(), |port| format!(":{port}"));
    !host.is_empty() && said == format!("{host}{port}")
}

fn refused(address: &str) -> Error {
    let expected =
        "http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]";
    let error = Error::setting("upstream", harmless(address), expected);
    let is_without_scheme =
        !address.contains("://") && Location::parse(&format!("http://{address}")).is_ok();
    if !is_without_scheme {
        return error;
    }
    error.with_hint(format!("did you mean `http://{}`?", harmless(address)))
}

/// The address without what may be a secret, although it may be no address.
fn harmless(address: &str) -> String {
    let redacted = |url: &str| Redactor::standard().target(url);
    let Some((before, behind)) = address.rsplit_once('@') else { return redacted(address) };
    let scheme =
        before.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
    format!("{scheme}…@{}", redacted(behind))
}

/// `user:password`, percent-encoded, as a client sends it.
fn basic(user: &str) -> HeaderValue {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let plain = format!("{}:{}", percent::decoded(user), percent::decoded(password));
    let value = format!("Basic {}", STANDARD.encode(plain));
    let mut value = HeaderValue::try_from(value).expect("base64 is ASCII");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, origin: &str, authorization: Option<&str>) {
        let location = Location::parse(address).unwrap();
        let sent = location.authorization.as_ref().map(|value| value.to_str().unwrap());
        assert_eq!((location.origin.as_str(), sent), (origin, authorization));
        assert!(!format!("{location:?}").contains("Basic"), "{location:?}");
    }

    #[test]
    fn user_information_is_not_part_of_the_address() {
        check("http://127.0.0.1:8283/", "http://127.0.0.1:8283", None);
        check("h2c://[::1]:1/base/", "http://[::1]:1/base", None);
        check("https://u:p@host/v1", "https://host/v1", Some("Basic dTpw"));
        check("https://key@host", "https://host", Some("Basic a2V5Og=="));
        check("https://u%40x:p%3Aq@host", "https://host", Some("Basic dUB4OnA6cQ=="));
    }

    #[test]
    fn only_an_address_is_proposed() {
        let told = |address: &str| format!("{:?}", Location::parse(address).unwrap_err());

        assert!(told("127.0.0.1:8283/x").contains("did you mean `http://127.0.0.1:8283/x`?"));
        assert!(!told("127.0.0.1:8283/x y").contains("did you mean"));
    }

    #[test]
    fn what_is_no_address_is_told_without_its_password() {
        for address in
            ["ftp://u:secret@h", "http://u:se/cret@h", "u:secret@h:1", "http://u:secret@h?x"]
        {
            let told = format!("{:?}", Location::parse(address).unwrap_err());
            assert!(told.contains("…@h") && !told.contains("cret"), "{told}");
        }
    }
}
