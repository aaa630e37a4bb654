//! How near two requests are by method and path.

use crate::cassette::{Request, target};
use crate::identity::identifiers;
use crate::text::json::pointer;

/// Where a request goes, made ready to be compared with many others.
#[derive(Debug)]
pub(super) struct Route<'a> {
    method: &'a str,
    origin: &'a str,
    segments: Vec<&'a str>,
}

/// What another server costs: more than another method.
const ORIGIN: u32 = 40;

/// What a segment of another name costs.
const SEGMENT: u32 = 10;
/// What another number or identifier costs: it is another thing of the same sort.
const ANOTHER: u32 = 3;
/// What another method costs: more than two segments.
const METHOD: u32 = 25;
/// What it costs if both send something to the server: less than another path. A client that now says
/// `PATCH` where it said `PUT` means the same thing.
const ALIKE: u32 = 8;

/// Methods that differ in how they change what is at their path.
const WRITES: [&str; 3] = ["PATCH", "POST", "PUT"];

impl<'a> Route<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let (origin, path) = target::split(request.path_only());
        Self { method: &request.method, origin, segments: segments(path).collect() }
    }

    /// The distance to a recorded request: method and path alone.
    pub(super) fn distance(&self, recorded: &Request) -> u32 {
        let method = match (self.method, &*recorded.method) {
            (ours, theirs) if ours == theirs => 0,
            (ours, theirs) if WRITES.contains(&ours) && WRITES.contains(&theirs) => ALIKE,
            _ => METHOD,
        };
        let (origin, path) = target::split(recorded.path_only());
        let origin = if origin == self.origin { 0 } else { ORIGIN };
        let theirs = segments(path);
        let count = theirs.clone().count();
        let costs = self.segments.iter().zip(theirs).map(|(ours, theirs)| cost(ours, theirs));
        let apart = self.segments.len().abs_diff(count) as u32;
        origin + method + costs.sum::<u32>() + apart * SEGMENT
    }

    /// The same for the sort of thing that it goes to: another number or identifier costs nothing.
    pub(super) fn distance_of_sort(&self, recorded: &Request) -> u32 {
        let theirs = segments(target::split(recorded.path_only()).1);
        let others =
            self.segments.iter().zip(theirs).filter(|(ours, it)| cost(ours, it) == ANOTHER);
        self.distance(recorded) - ANOTHER * others.count() as u32
    }

    /// Whether a recorded request is about the same thing: more than half of its path is the same,
    /// numbers and identifiers set aside.
    pub(super) fn is_related(&self, recorded: &Request) -> bool {
        let (origin, path) = target::split(recorded.path_only());
        let theirs = segments(path);
        let count = theirs.clone().count();
        let same = self.segments.iter().zip(theirs).filter(|(ours, it)| cost(ours, it) < SEGMENT);
        origin == self.origin && 2 * same.count() > self.segments.len().max(count)
    }
}

/// A path with what looks like a number or an identifier taken out: equal for the same sort of
/// thing.
pub(super) fn sort(path: &str) -> String {
    let segment = |segment| if is_id(segment) { "…" } else { segment };
    segments(path).map(segment).collect::<Vec<_>>().join("/")
}

fn segments(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

fn cost(ours: &str, theirs: &str) -> u32 {
    if ours == theirs {
        0
    } else if is_id(ours) && is_id(theirs) {
        ANOTHER
    } else {
        SEGMENT
    }
}

/// Whether a segment of a path is a number or an identifier.
pub(super) fn is_id(segment: &str) -> bool {
    pointer::is_index(segment) || identifiers(segment).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(target: &str) -> Request {
        let (method, path) = target.split_once(' ').unwrap();
        Request::of(method, path)
    }

    #[test]
    fn a_path_is_related_if_more_than_half_of_it_is_the_same() {
        for (one, other, related) in [
            ("GET /v1/agents", "POST /v1/agents", true),
            ("GET /v1/agents", "GET /v1/models", false),
            ("GET /v1/agents/1", "GET /v1/agents/2", true),
            ("GET /v1/agents/1/messages", "GET /v1/agents/1/messages/stream", true),
            ("GET /v1/agents/", "GET /v1/agents", true),
            ("GET /1", "GET /other", false),
            ("GET /", "GET /", true),
        ] {
            let (one, other) = (asked(one), asked(other));
            assert_eq!(Route::of(&one).is_related(&other), related, "{one:?} {other:?}");
        }
    }

    #[test]
    fn another_method_that_writes_as_well_is_nearer_than_another_path() {
        let one = asked("POST /v1/agents/1");
        let others = ["PATCH /v1/agents/1", "POST /v1/agents/1/x", "GET /v1/agents/1"];

        let distances = others.map(|other| Route::of(&one).distance(&asked(other)));

        assert_eq!(distances, [8, 10, 25]);
    }

    #[test]
    fn another_identifier_is_nearer_than_another_word_and_that_than_another_method() {
        let one = asked("GET /v1/agents/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0");
        let route = Route::of(&one);
        let others = [
            "GET /v1/agents/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0",
            "GET /v1/agents/0a2f6f1c-37a2-4fd9-92f1-fd5b1ee5a5f0",
            "GET /v1/agents/count",
            "DELETE /v1/agents/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0",
        ];

        let distances = others.map(|other| route.distance(&asked(other)));

        assert_eq!(distances, [0, 3, 10, 25]);
    }
}
