//! Reading the journal of a recorder that was killed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::format::Entry;
use crate::cassette::{
    Body, Cassette, Chunk, End, Headers, Interaction, Outcome, Recorded, Request, Response,
};

/// What a killed recorder had written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// All requests that were complete, with what had come of them; marked as interrupted.
    pub cassette: Cassette,
    /// How many of them were cut in the middle.
    pub cut: usize,
    /// How many requests had arrived in part only; they are not in the cassette.
    pub unasked: usize,
}

/// An interaction as far as its lines tell.
struct Partial {
    interaction: Interaction,
    asked: bool,
    body: Vec<u8>,
    chunks: Vec<Chunk>,
    over: bool,
}

/// Puts the lines together; a torn last line was never passed on and does not count. `None` if no
/// request had arrived.
pub(super) fn recover(journal: &[u8]) -> Option<Recovered> {
    let whole = &journal[..journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)];
    let mut lines = whole.split(|byte| *byte == b'\n').map_while(Entry::read);
    let Some(Entry::Begin { recorded }) = lines.next() else { return None };
    let mut partials: BTreeMap<usize, Partial> = BTreeMap::new();
    lines.for_each(|entry| put(&mut partials, entry));
    if partials.is_empty() {
        return None;
    }
    Some(sum_up(recorded, partials))
}

/// Whether a journal is empty or begins as this release begins one. A first line that is torn is
/// the only one.
pub(super) fn is_begun(journal: &[u8]) -> bool {
    match journal.split_inclusive(|byte| *byte == b'\n').next() {
        Some(first) if first.ends_with(b"\n") => {
            matches!(Entry::read(first), Some(Entry::Begin { .. }))
        }
        _ => true,
    }
}

fn put(partials: &mut BTreeMap<usize, Partial>, entry: Entry<'static>) {
    match entry {
        Entry::Begin { .. } => {}
        Entry::Request { n, after, method, path, headers } => {
            let request = Request {
                method: method.into_owned(),
                path: path.into_owned(),
                headers: headers.into_owned(),
                body: Vec::new().into(),
            };
            let outcome = Outcome::Nothing(End::Interrupted);
            let interaction = Interaction { after: after.into_owned(), request, outcome };
            let partial = Partial {
                interaction,
                asked: false,
                body: Vec::new(),
                chunks: Vec::new(),
                over: false,
            };
            partials.insert(n, partial);
        }
        Entry::Sent { n, bytes } => {
            with(partials, n, |partial| partial.body.extend_from_slice(&bytes))
        }
        Entry::Asked { n } => with(partials, n, |partial| partial.asked = true),
        Entry::Head { n, ms, status, reason, headers } => with(partials, n, |partial| {
            partial.interaction.outcome = Outcome::Response(Response {
                ms,
                status,
                reason: reason.map(Cow::into_owned),
                headers: headers.into_owned(),
                body: Body::default(),
                trailers: Headers::new(),
                end: End::Interrupted,
            });
        }),
        Entry::Chunk { n, ms, bytes } => with(partials, n, |partial| {
            partial.chunks.push(Chunk { ms, bytes: bytes.into_owned().into() });
        }),
        Entry::End { n, end, trailers } => with(partials, n, |partial| {
            partial.over = true;
            match &mut partial.interaction.outcome {
                Outcome::Response(response) => {
                    response.end = end;
                    response.trailers = trailers.into_owned();
                }
                Outcome::Nothing(nothing) => *nothing = end,
            }
        }),
    }
}

fn with(partials: &mut BTreeMap<usize, Partial>, n: usize, change: impl FnOnce(&mut Partial)) {
    if let Some(partial) = partials.get_mut(&n) {
        change(partial);
    }
}

fn sum_up(recorded: Recorded, partials: BTreeMap<usize, Partial>) -> Recovered {
    let unasked = partials.values().filter(|partial| !partial.asked).count();
    let cut = partials.values().filter(|partial| partial.asked && !partial.over).count();
    // Interactions are numbered anew without the requests that were never complete.
    let numbers: BTreeMap<usize, usize> = partials
        .iter()
        .filter(|(_, partial)| partial.asked)
        .enumerate()
        .map(|(new, (old, _))| (*old, new))
        .collect();
    let interactions = partials.into_values().filter(|partial| partial.asked).map(|mut partial| {
        partial.interaction.request.body = partial.body.into();
        partial.interaction.after.retain_mut(|progress| {
            let new = numbers.get(&progress.interaction);
            progress.interaction = new.copied().unwrap_or_default();
            new.is_some()
        });
        if let Outcome::Response(response) = &mut partial.interaction.outcome {
            response.body = Body::of_arrival(&response.headers, partial.chunks);
        }
        partial.interaction
    });
    let mut cassette = Cassette {
        recorded,
        interrupted: true,
        interactions: interactions.collect(),
        ..Cassette::default()
    };
    cassette.settle_origins();
    Recovered { cassette, cut, unasked }
}
