//! A request that comes in.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::ServerPlace;
use crate::cassette::{Headers, Request};

/// A request that comes in, without its body.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The method and the fields.
    pub head: &'a Parts,
    /// What it asks for: below the prefix of its session, or at another server.
    pub target: &'a str,
    /// Where its client sees us.
    pub place: ServerPlace<'a>,
}

impl Arrival<'_> {
    /// The request with that body, as a cassette has it.
    pub fn request(&self, body: Bytes) -> Request {
        Request {
            method: self.head.method.as_str().to_owned(),
            path: self.target.to_owned(),
            headers: fields(&self.head.headers),
            body,
        }
    }
}

/// The fields of a request, their values in one buffer: one for each takes longer than to match them.
fn fields(headers: &HeaderMap) -> Headers {
    let mut values: Vec<u8> = Vec::with_capacity(headers.values().map(HeaderValue::len).sum());
    headers.values().for_each(|value| values.extend_from_slice(value.as_bytes()));
    let mut values = Bytes::from(values);
    headers.iter().map(|(name, value)| (name, values.split_to(value.len()))).collect()
}

/// The fields but for some, in their order: what is removed from a map has the last one take its place.
pub fn without(headers: HeaderMap, is_left_out: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(headers.len());
    let mut last = None;
    for (name, value) in headers {
        // A further value of a field comes without its name.
        last = name.or(last);
        if let Some(name) = last.as_ref().filter(|name| !is_left_out(name)) {
            kept.append(name, value);
        }
    }
    kept
}

/// The fields for hyper. What HTTP does not allow is left out.
pub fn header_map(headers: &Headers) -> HeaderMap {
    let field = |(name, value): (&str, &Bytes)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(value).ok()?))
    };
    headers.iter().filter_map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_keeps_its_order() {
        let headers = [("a", "1"), ("host", "h"), ("b", "2"), ("a", "3"), ("c", "4")];
        let headers = header_map(&Headers::from_iter(headers));

        let kept = without(headers, |name| *name == http::header::HOST);

        let said: Vec<_> =
            kept.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(said, [("a", &b"1"[..]), ("a", b"3"), ("b", b"2"), ("c", b"4")]);
    }
}
