//! Heads and small bodies of recorded answers, close to each other.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, SERVER, VARY};
use http::{HeaderMap, HeaderName};

/// The header fields of a recorded answer, and its body if that is small.
///
/// # Rationale
///
/// In a large cassette whatever belongs to one answer alone is in no cache when it is asked for. The map
/// with the values that many answers have is shared by them, so that only the others, one behind the
/// other and just before the body, have to be fetched.
#[derive(Debug)]
pub(super) struct Laid {
    /// The fields; empty are those whose values stand in `bytes`.
    fields: Arc<HeaderMap>,
    /// Values in the order of the map, each ended by a line feed, which no value holds; then the body.
    bytes: Bytes,
    /// Where the body begins.
    body: u32,
}

/// Where what is sent is laid out.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    block: BytesMut,
    fields: HashMap<Vec<(HeaderName, Option<HeaderValue>)>, Arc<HeaderMap>>,
}

/// How much is laid out in one piece of memory.
const BLOCK: usize = 1024 * 1024;

/// A larger body stays where it is: to copy it would take longer than to go there.
const SMALL: usize = 4096;

/// Fields that most answers of a server have with the same values.
const ALIKE: [HeaderName; 5] = [CACHE_CONTROL, CONNECTION, CONTENT_TYPE, SERVER, VARY];

impl Laid {
    /// The fields and their values.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut map = HeaderMap::clone(&self.fields);
        let mut at = 0;
        for value in map.values_mut().filter(|value| value.is_empty()) {
            let end = at + memchr::memchr(b'\n', &self.bytes[at..]).unwrap_or_default();
            let text = self.bytes.slice(at..end);
            *value = HeaderValue::from_maybe_shared(text).expect("it was the value of a field");
            at = end + 1;
        }
        map
    }

    /// The body, if it was small.
    pub(super) fn body(&self) -> Bytes {
        self.bytes.slice(self.body as usize..)
    }
}

impl Shelf {
    /// Whether a body is laid out behind its head.
    pub(super) fn takes(body: &Bytes) -> bool {
        body.len() <= SMALL
    }

    /// Lays out a head and what stands behind it.
    pub(super) fn put(&mut self, headers: HeaderMap, body: &[u8]) -> Laid {
        let fields = self.fields(&headers);
        let own = headers.values().zip(fields.values()).filter(|(_, shared)| shared.is_empty());
        let own: Vec<&HeaderValue> = own.map(|(value, _)| value).collect();
        let values: usize = own.iter().map(|value| value.len() + 1).sum();
        let needed = values + body.len();
        if self.block.capacity() - self.block.len() < needed {
            self.block = BytesMut::with_capacity(needed.max(BLOCK));
        }
        for value in own {
            self.block.extend_from_slice(value.as_bytes());
            self.block.extend_from_slice(b"\n");
        }
        self.block.extend_from_slice(body);
        let body = u32::try_from(values).expect("no head is that long");
        Laid { bytes: self.block.split().freeze(), fields, body }
    }

    /// The map that answers with such fields share.
    fn fields(&mut self, headers: &HeaderMap) -> Arc<HeaderMap> {
        let alike = |name: &HeaderName| ALIKE.contains(name);
        let key = headers
            .iter()
            .map(|(name, value)| (name.clone(), alike(name).then(|| value.clone())))
            .collect();
        let shared = self.fields.entry(key).or_insert_with(|| {
            let mut shared = headers.clone();
            let own = shared.iter_mut().filter(|(name, _)| !alike(name));
            own.for_each(|(_, value)| *value = HeaderValue::from_static(""));
            Arc::new(shared)
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
            &[("content-type", b""), ("x-empty", b"\xff"), ("x-odd", b"")],
            &[],
        ];
        let mut shelf = Shelf::default();
        for fields in fields.iter().cycle().take(9) {
            let mut headers = HeaderMap::new();
            for (name, value) in *fields {
                let value = HeaderValue::from_bytes(value).expect("it is a value");
                headers.append(HeaderName::from_static(name), value);
            }
            for length in [0, 10, SMALL, BLOCK / 2, BLOCK + 1] {
                let body = Bytes::from(vec![b'x'; length]);

                let laid = shelf.put(headers.clone(), &body);

                assert!(laid.body() == body, "a body of {length}");
                assert_eq!(laid.headers(), headers);
                assert!(laid.headers().iter().eq(headers.iter()), "they are in order");
            }
        }
    }
}
