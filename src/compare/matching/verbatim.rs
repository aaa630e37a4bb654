//! Requests that stand in a cassette byte for byte.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::cassette::Request;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::header::{HeaderFields, fields};

/// Requests in which the client made nothing up, by what they are byte for byte.
///
/// # Rationale
///
/// Much of what a client asks is what it asked when it was recorded. Then nothing has to be taken apart,
/// and one look into one table tells the interaction.
#[derive(Debug, Default)]
pub(super) struct Verbatim(HashMap<u64, Membership, FixedState>);

/// What is known of such a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Membership {
    /// The number of the only interaction of its group.
    Only(usize),
    /// The group, of which there are several.
    OneOf(u64),
}

impl Verbatim {
    /// Notes requests, each with what counts of its header, its number if it is the only one of its
    /// group, and the group.
    pub(super) fn of<'a>(
        requests: impl Iterator<Item = (&'a Request, u64, Option<usize>, u64)>,
    ) -> Self {
        let mut known = HashMap::default();
        for (request, header, only, group) in requests {
            let line = (&*request.method, &*request.path);
            let key = key(line, fields(&request.headers), header, &request.body);
            known.entry(key).or_insert(only.map_or(Membership::OneOf(group), Membership::Only));
        }
        Self(known)
    }

    /// What is known of a request, given what counts of its header.
    pub(super) fn get<'h>(
        &self,
        line: (&str, &str),
        fields: impl HeaderFields<'h>,
        header: u64,
        body: &[u8],
    ) -> Option<Membership> {
        self.0.get(&key(line, fields, header, body)).copied()
    }
}

/// Method and target, what counts of the header, and the body with what says how to read it.
fn key<'h>(
    (method, target): (&str, &str),
    fields: impl HeaderFields<'h>,
    header: u64,
    body: &[u8],
) -> u64 {
    let tells = |(name, value): &(&str, &[u8])| {
        // JSON is read as JSON whatever it is called.
        *value != b"application/json"
            && TELLING.iter().any(|telling| telling.eq_ignore_ascii_case(name))
    };
    let read_as = fields.filter(tells).fold(0, |sum: u64, (name, value)| {
        sum.wrapping_add(combine(&[name.len() as u64, hash_of(value)]))
    });
    let read_as = if body.is_empty() { 0 } else { read_as };
    combine(&[hash_of(method), hash_of(target), header, read_as, hash_of(body)])
}

/// The fields that say how to read a body.
const TELLING: [&str; 2] = ["content-type", "content-encoding"];

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(&str, &str); 2] = [("content-type", "application/json"), ("x-sdk", "1")];

    fn request(line: (&str, &str), fields: &[(&'static str, &'static str)], body: &str) -> Request {
        Request {
            headers: fields.iter().copied().collect(),
            body: body.to_owned().into(),
            ..Request::of(line.0, line.1)
        }
    }

    #[test]
    fn a_request_is_known_by_all_that_counts_of_it() {
        let recorded = request(("POST", "/a?b=1"), &FIELDS, "{}");
        let verbatim = Verbatim::of([(&recorded, 1, Some(7), 0)].into_iter());
        for (asked, header, expected) in [
            (request(("POST", "/a?b=1"), &FIELDS, "{}"), 1, true),
            (request(("POST", "/a?b=1"), &FIELDS[..1], "{}"), 1, true),
            (request(("PUT", "/a?b=1"), &FIELDS, "{}"), 1, false),
            (request(("POST", "/a?b=2"), &FIELDS, "{}"), 1, false),
            (request(("POST", "/a?b=1"), &FIELDS, "{ }"), 1, false),
            (request(("POST", "/a?b=1"), &FIELDS, ""), 1, false),
            (request(("POST", "/a?b=1"), &FIELDS, "{}"), 2, false),
            (request(("POST", "/a"), &[FIELDS[0], ("content-encoding", "gzip")], "{}"), 1, false),
            (request(("POST", "/a?b=1"), &[("content-type", "text/plain")], "{}"), 1, false),
        ] {
            let line = (&*asked.method, &*asked.path);
            let found = verbatim.get(line, fields(&asked.headers), header, &asked.body);
            assert_eq!(found, expected.then_some(Membership::Only(7)), "{asked:?}");
        }
    }
}
