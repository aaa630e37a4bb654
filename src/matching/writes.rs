//! What may have changed the state that a request asks for.

use std::collections::HashMap;

use super::hash::{combine, hash_of};
use crate::cassette::{Cassette, Request};
use crate::correlate::{Origins, Scope, identifiers};

/// For each interaction the last one before it that may have changed what it asks for: one that is not
/// only a question (`GET`, `HEAD`, `OPTIONS`), and that names an identifier of the server that this one
/// names too, or whose path is the same or goes on from there.
pub(super) fn before(cassette: &Cassette, origins: &Origins) -> Vec<Option<usize>> {
    let mut last: HashMap<u64, usize, foldhash::fast::FixedState> = HashMap::default();
    let requests = cassette.interactions.iter().map(|interaction| &interaction.request);
    let before = requests.enumerate().map(|(number, request)| {
        let path = paths(request).last();
        let named = issued(request, origins);
        let before = path.iter().chain(&named).filter_map(|key| last.get(key)).max().copied();
        if !matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS") {
            for key in paths(request).chain(named) {
                last.insert(key, number);
            }
        }
        before
    });
    before.collect()
}

/// The path and all that it goes on from, the shortest first.
fn paths(request: &Request) -> impl Iterator<Item = u64> + '_ {
    let segments = request.path_only().split('/').filter(|segment| !segment.is_empty());
    segments.scan(0, |path, segment| {
        *path = combine(&[*path, hash_of(segment)]);
        Some(*path)
    })
}

/// The identifiers in a request that the server issued.
fn issued(request: &Request, origins: &Origins) -> Vec<u64> {
    let body = request.readable();
    let mut found = Vec::new();
    for text in [request.path.as_str(), std::str::from_utf8(&body).unwrap_or("")] {
        let issued = identifiers(text)
            .map(|range| &text[range])
            .filter(|word| origins.is_issued(Scope::Anywhere, word));
        found.extend(issued.map(|word| combine(&[hash_of(word)])));
    }
    found
}
