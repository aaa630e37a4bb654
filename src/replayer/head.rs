//! Heads and small bodies of recorded answers, close to each other.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};
use http::header::HeaderValue;
use http::{HeaderMap, HeaderName};

/// The header fields of a recorded answer.
///
/// # Rationale
///
/// In a large cassette whatever belongs to one answer alone is in no cache when it is asked for. The map
/// without its values is shared by all answers with the same fields, so that only the values, one behind
/// the other and just before the body, have to be fetched.
#[derive(Debug)]
pub(super) struct Head {
    /// The fields, all of them empty.
    fields: Arc<HeaderMap>,
    /// Their values in the order of the map, each ended by a line feed, which no value holds.
    values: Bytes,
}

/// Where what is sent is laid out.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    block: BytesMut,
    fields: HashMap<Vec<HeaderName>, Arc<HeaderMap>>,
}

/// How much is laid out in one piece of memory.
const BLOCK: usize = 1024 * 1024;

/// A larger body stays where it is: to copy it would take longer than to go there.
const SMALL: usize = 4096;

impl Head {
    /// The fields and their values.
    pub(super) fn map(&self) -> HeaderMap {
        let mut map = HeaderMap::clone(&self.fields);
        let mut left = self.values.clone();
        for value in map.values_mut() {
            let end = memchr::memchr(b'\n', &left).unwrap_or(left.len());
            let text = left.split_to(end);
            *value = HeaderValue::from_maybe_shared(text).expect("it was the value of a field");
            left.advance(left.len().min(1));
        }
        map
    }
}

impl Shelf {
    /// Lays out a head and the body behind it. The body is given back, in its new place if it is small.
    pub(super) fn put(&mut self, headers: HeaderMap, body: Bytes) -> (Head, Bytes) {
        let is_small = body.len() <= SMALL;
        let values: usize = headers.values().map(|value| value.len() + 1).sum();
        let needed = values + if is_small { body.len() } else { 0 };
        if self.block.capacity() - self.block.len() < needed {
            self.block = BytesMut::with_capacity(needed.max(BLOCK));
        }
        for value in headers.values() {
            self.block.extend_from_slice(value.as_bytes());
            self.block.extend_from_slice(b"\n");
        }
        let values = self.block.split().freeze();
        let head = Head { fields: self.fields(headers), values };
        if !is_small {
            return (head, body);
        }
        self.block.extend_from_slice(&body);
        (head, self.block.split().freeze())
    }

    fn fields(&mut self, mut headers: HeaderMap) -> Arc<HeaderMap> {
        let names: Vec<HeaderName> = headers.iter().map(|(name, _)| name.clone()).collect();
        let shared = self.fields.entry(names).or_insert_with(|| {
            headers.values_mut().for_each(|value| *value = HeaderValue::from_static(""));
            Arc::new(headers)
        });
        Arc::clone(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_laid_out_comes_back_as_it_was() {
        let fields: &[&[(&str, &[u8])]] = &[
            &[("content-type", b"application/json"), ("x-empty", b""), ("x-odd", b"\xff\t;")],
            &[("set-cookie", b"a=1"), ("content-type", b"text/plain"), ("set-cookie", b"b=2")],
            &[("content-type", b"text/plain"), ("x-empty", b"no"), ("x-odd", b"1")],
            &[],
        ];
        let mut shelf = Shelf::default();
        for fields in fields.iter().cycle().take(9) {
            let mut headers = HeaderMap::new();
            for (name, value) in *fields {
                let value = HeaderValue::from_bytes(value).expect("it is a value");
                headers.append(HeaderName::from_static(name), value);
            }
            for length in [0, 10, SMALL, SMALL + 1, BLOCK / 2] {
                let body = Bytes::from(vec![b'x'; length]);

                let (head, laid) = shelf.put(headers.clone(), body.clone());

                assert!(laid == body, "a body of {length}");
                assert_eq!(head.map(), headers);
                assert!(head.map().iter().eq(headers.iter()), "they are in order");
            }
        }
    }
}
