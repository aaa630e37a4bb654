//! Header fields that are meant for the other end, not for the next hop.

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, TE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};

use super::expected::Gate;
use crate::cassette::{HOP_BY_HOP, Headers};
use crate::serve::server::is_asked_for_first;

/// The fields of a request that go on to the server. `host` is the server's own; without a gate `expect` is
/// answered by us.
pub(super) fn of_request(headers: &HeaderMap, gate: Option<&Gate>) -> HeaderMap {
    let named = named_by_connection(headers);
    // What else a client expects is for the server to say no to.
    let is_expected = gate.is_some() || !is_asked_for_first(headers);
    let is_kept = |name: &HeaderName| *name != HOST && (*name != EXPECT || is_expected);
    let mut kept = filtered(headers, |name| is_end_to_end(name, &named) && is_kept(name));
    let codings = headers.get_all(TE).iter().filter_map(|value| value.to_str().ok());
    let asked = codings.flat_map(|value| value.split(',')).any(|coding| {
        coding.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("trailers")
    });
    if asked {
        kept.insert(TE, HeaderValue::from_static("trailers"));
    }
    kept
}

/// The fields of an answer that go on to the client. A length beside a transfer coding means nothing (RFC 9112, section
/// 6.3).
pub(super) fn of_response(headers: &HeaderMap) -> HeaderMap {
    let named = named_by_connection(headers);
    let is_coded = headers.contains_key(TRANSFER_ENCODING);
    let means = |name: &HeaderName| *name != CONTENT_LENGTH || !is_coded;
    filtered(headers, |name| is_end_to_end(name, &named) && means(name))
}

fn is_end_to_end(name: &HeaderName, named: &[HeaderName]) -> bool {
    !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(name)
}

/// The fields as a cassette keeps them.
pub(super) fn recorded(headers: &HeaderMap) -> Headers {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes().to_vec())).collect()
}

fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}

fn filtered(headers: &HeaderMap, keep: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| keep(name)) {
        kept.append(name.clone(), value.clone());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_meant_for_the_other_end_is_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "127.0.0.1:1"),
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("x-end", "a"),
            ("keep-alive", "timeout=5"),
            ("te", "deflate, Trailers;q=0.5"),
            ("transfer-encoding", "chunked"),
            ("x-end", "b"),
            ("upgrade", "h2c"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }

        let kept = recorded(&of_request(&headers, None));

        let answered = of_response(&HeaderMap::from_iter([
            (CONTENT_LENGTH, HeaderValue::from_static("3")),
            (TRANSFER_ENCODING, HeaderValue::from_static("chunked")),
        ]));
        assert!(answered.is_empty(), "{answered:?}");
        let kept: Vec<_> = kept.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        assert_eq!(kept, [r#"x-end: b"a""#, r#"x-end: b"b""#, r#"te: b"trailers""#]);
    }
}
