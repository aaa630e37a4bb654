//! The request that opens a WebSocket, and its answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{SEC_WEBSOCKET_KEY, UPGRADE};
use http::{HeaderMap, HeaderValue, Method};
use sha1_smol::Sha1;

/// Whether a request opens a WebSocket. Any other offer, such as the `h2c` of Java's client, may be
/// ignored, and is.
pub fn is_upgrade(method: &Method, headers: &HeaderMap) -> bool {
    if *method != Method::GET || !headers.contains_key(UPGRADE) {
        return false;
    }
    let offers = headers.get_all(UPGRADE).iter().filter_map(|offer| offer.to_str().ok());
    offers
        .flat_map(|offer| offer.split(','))
        .any(|offer| offer.trim().eq_ignore_ascii_case("websocket"))
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
}
