//! Bodies that stand in a cassette byte for byte.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::hash::{combine, hash_of};
use super::header::{Fields, fields};
use crate::cassette::Request;

/// What counts of the bodies in which the client made nothing up, by what they are byte for byte.
///
/// # Rationale
///
/// Much of what a client sends is what it sent when it was recorded. To compare bytes takes a twentieth
/// of the time that reading them does.
#[derive(Debug, Default)]
pub(super) struct Bodies(HashMap<u64, u64, FixedState>);

impl Bodies {
    /// Notes what counts of the bodies of requests.
    pub(super) fn of<'a>(counted: impl Iterator<Item = (&'a Request, u64)>) -> Self {
        let bodies = counted.filter(|(request, _)| !request.body.is_empty());
        Self(bodies.map(|(request, counts)| (key_of(request), counts)).collect())
    }

    /// What counts of the body of a request, if it is one of them.
    pub(super) fn get(&self, request: &Request) -> Option<u64> {
        if request.body.is_empty() || self.0.is_empty() {
            return None;
        }
        self.0.get(&key_of(request)).copied()
    }
}

fn key_of(request: &Request) -> u64 {
    key(fields(&request.headers), &request.body)
}

/// The body, and the fields that say how to read it.
pub(super) fn key<'h>(fields: impl Fields<'h>, body: &[u8]) -> u64 {
    let tells = |(name, value): &(&str, &[u8])| {
        // JSON is read as JSON whatever it is called.
        *value != b"application/json"
            && TELLING.iter().any(|telling| telling.eq_ignore_ascii_case(name))
    };
    let header = fields.filter(tells).fold(0, |sum: u64, (name, value)| {
        sum.wrapping_add(combine(&[name.len() as u64, hash_of(value)]))
    });
    combine(&[header, hash_of(body)])
}

const TELLING: [&str; 2] = ["content-type", "content-encoding"];

#[cfg(test)]
mod tests {
    use super::*;

    fn request(content_type: &'static str, body: &'static str) -> Request {
        Request {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            headers: [("x-sdk", "1"), ("content-type", content_type)].into_iter().collect(),
            body: body.into(),
        }
    }

    #[test]
    fn a_body_is_known_by_its_bytes_and_by_how_it_is_read() {
        let recorded = [request("text/plain", "a=1"), request("text/plain", "")];
        let bodies = Bodies::of(recorded.iter().zip([7, 8]));

        for (asked, expected) in [
            (request("text/plain", "a=1"), Some(7)),
            (request("application/x-www-form-urlencoded", "a=1"), None),
            (request("text/plain", "a=2"), None),
            (request("text/plain", ""), None),
        ] {
            assert_eq!(bodies.get(&asked), expected, "{asked:?}");
        }
    }

    #[test]
    fn other_fields_do_not_count() {
        let bodies = Bodies::of([request("text/plain", "a=1")].iter().zip([7]));
        let mut asked = request("text/plain", "a=1");
        asked.headers.set("x-sdk", "2");

        assert_eq!(bodies.get(&asked), Some(7));
    }
}
