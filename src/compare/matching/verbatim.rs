//! Requests that stand in a cassette byte for byte.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::Skeleton;
use super::bodies;
use super::hash::{combine, hash_of};
use super::header::{Fields, fields};
use super::skeleton::Reduced;
use crate::cassette::Request;

/// Requests in which the client made nothing up, by what they are byte for byte.
///
/// # Rationale
///
/// Much of what a client asks is what it asked when it was recorded. Then nothing has to be taken apart,
/// and one look into one table tells the interaction. The table has nothing in it that is not needed then:
/// the smaller it is, the longer it is held.
#[derive(Debug, Default)]
pub(super) struct Verbatim {
    /// The number of the only interaction of a skeleton, or where among `several` its hash stands.
    known: HashMap<u64, u32, FixedState>,
    several: Vec<u64>,
}

/// What is known of such a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// The number of the only interaction of its skeleton.
    Only(usize),
    /// The hash of its skeleton, which several interactions have.
    OneOf(u64),
}

/// Marks places in `several`.
const SEVERAL: u32 = 1 << 31;

impl Verbatim {
    /// Notes the requests of a cassette that have neither a hole nor a mark. `only` tells the one
    /// interaction that answers whatever has a skeleton.
    ///
    /// # Panics
    ///
    /// If there are more than 2^31.
    pub(super) fn of<'a>(
        requests: impl Iterator<Item = (&'a Request, &'a Reduced)>,
        only: impl Fn(u64) -> Option<usize>,
    ) -> Self {
        let Self { mut known, mut several } = Self::default();
        for (request, reduced) in requests.filter(|(_, reduced)| is_whole(&reduced.skeleton)) {
            let hash = reduced.skeleton.hash;
            let line = (&*request.method, &*request.path);
            let key = key(line, fields(&request.headers), reduced.header, &request.body);
            known.entry(key).or_insert_with(|| match only(hash) {
                Some(number) => short(number),
                None => {
                    several.push(hash);
                    short(several.len() - 1) | SEVERAL
                }
            });
        }
        Self { known, several }
    }

    /// What is known of a request, given what counts of its header.
    pub(super) fn get<'h>(
        &self,
        line: (&str, &str),
        fields: impl Fields<'h>,
        header: u64,
        body: &[u8],
    ) -> Option<Known> {
        let known = *self.known.get(&key(line, fields, header, body))?;
        Some(match known & SEVERAL {
            0 => Known::Only(known as usize),
            _ => Known::OneOf(self.several[(known & !SEVERAL) as usize]),
        })
    }
}

fn short(number: usize) -> u32 {
    let short = u32::try_from(number).ok().filter(|number| number & SEVERAL == 0);
    short.expect("no cassette has so many interactions")
}

fn is_whole(skeleton: &Skeleton) -> bool {
    skeleton.holes.is_empty() && skeleton.marks.is_empty()
}

/// Method and target, what counts of the header, and the body with what says how to read it.
fn key<'h>(
    (method, target): (&str, &str),
    fields: impl Fields<'h>,
    header: u64,
    body: &[u8],
) -> u64 {
    let body = if body.is_empty() { 0 } else { bodies::key(fields, body) };
    combine(&[hash_of(method), hash_of(target), header, body])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Rules;
    use crate::identity::Origins;

    const FIELDS: [(&str, &str); 2] = [("content-type", "application/json"), ("x-sdk", "1")];

    fn request(line: (&str, &str), fields: &[(&'static str, &'static str)], body: &str) -> Request {
        Request {
            method: line.0.to_owned(),
            path: line.1.to_owned(),
            headers: fields.iter().copied().collect(),
            body: body.to_owned().into(),
        }
    }

    fn reduced(request: &Request) -> Reduced {
        Reduced::of(request, &Origins::default(), &Rules::default(), None)
    }

    fn known(recorded: &[Request], only: Option<usize>, asked: &Request) -> Option<Known> {
        let reduced_all: Vec<Reduced> = recorded.iter().map(reduced).collect();
        let verbatim = Verbatim::of(recorded.iter().zip(&reduced_all), |_| only);
        let line = (&*asked.method, &*asked.path);
        verbatim.get(line, fields(&asked.headers), reduced(asked).header, &asked.body)
    }

    #[test]
    fn a_request_is_known_by_all_that_counts_of_it() {
        let recorded = [request(("POST", "/a?b=1"), &FIELDS, "{}")];
        let event_stream = ("accept", "text/event-stream");
        for (asked, expected) in [
            (request(("POST", "/a?b=1"), &FIELDS, "{}"), true),
            (request(("POST", "/a?b=1"), &FIELDS[..1], "{}"), true),
            (request(("PUT", "/a?b=1"), &FIELDS, "{}"), false),
            (request(("POST", "/a?b=2"), &FIELDS, "{}"), false),
            (request(("POST", "/a?b=1"), &FIELDS, "{ }"), false),
            (request(("POST", "/a?b=1"), &FIELDS, ""), false),
            (request(("POST", "/a?b=1"), &[FIELDS[0], event_stream], "{}"), false),
            (request(("POST", "/a?b=1"), &[FIELDS[0], ("content-encoding", "gzip")], "{}"), false),
            (request(("POST", "/a?b=1"), &[("content-type", "text/plain")], "{}"), false),
        ] {
            let found = known(&recorded, Some(7), &asked);
            assert_eq!(found, expected.then_some(Known::Only(7)), "{asked:?}");
        }
    }

    #[test]
    fn those_that_look_alike_lead_to_their_skeleton() {
        let recorded = ["/a", "/b", "/a"].map(|path| request(("GET", path), &[], ""));

        for asked in &recorded {
            let expected = Known::OneOf(reduced(asked).skeleton.hash);
            assert_eq!(known(&recorded, None, asked), Some(expected));
        }
    }

    #[test]
    fn a_request_with_something_that_its_client_made_up_is_not_known() {
        let made_up = request(("GET", "/a/6f1c2d3e-4b5a-4978-8a6b-1c2d3e4f5a6b"), &[], "");
        let marked = request(("GET", "/a"), &[("idempotency-key", "k-1f6b2c9d8e7a")], "");
        for request in [made_up, marked] {
            assert_eq!(known(std::slice::from_ref(&request), Some(0), &request), None);
        }
    }
}
