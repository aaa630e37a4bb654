//! What may have changed the state that a request asks for.

use std::collections::HashMap;

use super::Skeleton;
use super::hash::{combine, hash_of};
use crate::cassette::{Cassette, Interaction, Request};
use crate::correlate::{Origins, Scope, identifiers};

/// For each interaction the last one before it that may have changed what it asks for: one that is not
/// only a question (`GET`, `HEAD`, `OPTIONS`) and was not refused, and that names an identifier of the
/// server that this one names too, or whose path is the same or goes on from there.
///
/// Further attempts at the same call hold up nobody who makes fewer of them before the next call. And
/// who writes the same again after it was done asks for it to be done once more; who was refused is
/// refused again until something has changed.
pub(super) fn before(
    cassette: &Cassette,
    origins: &Origins,
    skeletons: &[Skeleton],
) -> Vec<Option<usize>> {
    let mut last = Numbers::default();
    let mut alike = Numbers::default();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(skeletons.len());
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let request = &interaction.request;
        let path = paths(request).last();
        let named = issued(request, origins);
        let write = path.iter().chain(&named).filter_map(|key| last.get(key)).max().copied();
        let same = alike.insert(skeletons[number].hash, number);
        let done = same.filter(|same| writes(&cassette.interactions[*same]));
        let mut write = done.or(write);
        while let Some(attempt) =
            write.filter(|write| is_retry(&skeletons[*write], &skeletons[number]))
        {
            write = before[attempt];
        }
        before.push(write);
        if writes(interaction) {
            for key in paths(request).chain(named) {
                last.insert(key, number);
            }
        }
    }
    before
}

type Numbers = HashMap<u64, usize, foldhash::fast::FixedState>;

fn writes(interaction: &Interaction) -> bool {
    !interaction.request.only_reads()
        && interaction.response().is_some_and(|response| response.status < 400)
}

/// Whether a request is a further attempt at a call that looks like the other one.
fn is_retry(request: &Skeleton, other: &Skeleton) -> bool {
    request.hash == other.hash && request.attempt.is_some_and(|attempt| attempt > 0)
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
