//! The request that opens a WebSocket, and its answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONNECTION, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderMap, HeaderValue, Method};
use sha1_smol::Sha1;

use crate::cassette::reading::header::offers;

/// Whether a request opens a WebSocket. Any other offer, such as the `h2c` of Java's client, may be
/// ignored, and is.
pub fn is_upgrade(method: &Method, headers: &HeaderMap) -> bool {
    let mut fields = headers.get_all(UPGRADE).iter();
    *method == Method::GET && fields.any(|field| offers(field.as_bytes(), "websocket"))
}

/// What a connection is to become, if bytes of its own follow that are no WebSocket: the `tcp` of Docker.
///
/// # Rationale
///
/// A server may ignore the offer to speak another HTTP, or to go over to TLS. What asks for something else takes
/// what comes for that, whatever the answer says.
pub fn raw_upgrade(headers: &HeaderMap) -> Option<&str> {
    let listed = |name| {
        let fields = headers.get_all(name).iter().filter_map(|field| field.to_str().ok());
        fields.flat_map(|field| field.split(',')).map(str::trim)
    };
    let is_offered = listed(CONNECTION).any(|option| option.eq_ignore_ascii_case("upgrade"));
    let may_be_ignored = |offer: &str| {
        let name = offer.split('/').next().unwrap_or_default();
        ["", "websocket", "h2c", "h2", "http", "tls"].iter().any(|it| name.eq_ignore_ascii_case(it))
    };
    let offers = || listed(UPGRADE).filter(|_| is_offered);
    if offers().any(may_be_ignored) { None } else { offers().next() }
}

/// The answer to the key of a request, which shows that a server has understood it.
pub fn accept_key(asked: &HeaderMap) -> Option<HeaderValue> {
    let key = asked.get(SEC_WEBSOCKET_KEY)?;
    let mut hash = Sha1::new();
    hash.update(key.as_bytes());
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    HeaderValue::try_from(STANDARD.encode(hash.digest().bytes())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_standard_is_accepted() {
        let key = HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ==");
        let asked = HeaderMap::from_iter([(SEC_WEBSOCKET_KEY, key)]);

        assert_eq!(accept_key(&asked).unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn an_offer_that_may_be_ignored_is_no_raw_upgrade() {
        for (connection, upgrade, expected) in [
            ("Upgrade", "tcp", Some("tcp")),
            ("keep-alive, upgrade", "SPDY/3.1", Some("SPDY/3.1")),
            ("Upgrade, HTTP2-Settings", "h2c", None),
            ("Upgrade", "TLS/1.0, HTTP/1.1", None),
            ("upgrade", "WebSocket", None),
            ("keep-alive", "tcp", None),
            ("upgrade", "", None),
        ] {
            let fields = [(CONNECTION, connection), (UPGRADE, upgrade)];
            let fields = fields.map(|(name, value)| (name, HeaderValue::from_static(value)));
            let asked = HeaderMap::from_iter(fields);
            assert_eq!(raw_upgrade(&asked), expected, "{connection}: {upgrade}");
        }
    }
}
