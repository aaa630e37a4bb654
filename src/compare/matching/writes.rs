//! What may have changed the state that a request asks for.

use std::collections::{HashMap, HashSet};

use super::index::Entry;
use super::route::is_id;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::{Cassette, Interaction, Request};
use crate::config::{Early, Rules};
use crate::identity::names::Names;

/// What came before a request and may have changed what it asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PriorWrites {
    /// The last one.
    pub(super) write: Option<usize>,
    /// The write that its answer shows: one that asks the same will do.
    pub(super) needed: Option<usize>,
    /// The state of what is asked for when all of it was put or deleted last (RFC 9110, section 9.3), and whether nothing
    /// was changed since.
    pub(super) state: Option<PutState>,
    pub(super) is_whole: bool,
    /// The state in which the interaction itself leaves what it puts or deletes.
    pub(super) puts: Option<PutState>,
}

/// All of a thing, as the first write that put it so: equal ones leave it in the same state.
pub(super) type PutState = usize;

/// The same for all interactions, as far as it matters: where several requests look the same, or one asks
/// for what another has changed and is not to be answered early.
pub(super) fn of(
    cassette: &Cassette,
    names: &Names,
    all: &[Entry],
    (rules, are_repeated): (&Rules, bool),
) -> Vec<PriorWrites> {
    let may_wait = rules.earliness() == Early::Missed && asks_behind_a_write(cassette);
    if !may_wait && !are_repeated {
        return vec![PriorWrites::default(); all.len()];
    }
    let mut before = before(cassette, names, (all, rules));
    if !may_wait {
        before.iter_mut().for_each(|before| before.needed = None);
    }
    before
}

fn asks_behind_a_write(cassette: &Cassette) -> bool {
    let mut behind = cassette.interactions.iter().skip_while(|it| !writes(it));
    behind.any(|it| it.request.only_reads())
}

/// For each interaction the last one before it that may have changed what it asks for: one that is not
/// only a question (`GET`, `HEAD`, `OPTIONS`) and was not refused, and that names an identifier of the
/// server that this one names too, or whose path is the same or goes on from there.
///
/// Further attempts at the same call hold up nobody who makes fewer of them before the next call. And
/// who writes the same again after it was done asks for it to be done once more; who was refused is
/// refused again until something has changed.
///
/// It is needed, so that nothing answers before it, where the request only asks for what is there, and for
/// one thing: where its path names one, by its look or as [`Things`] show, or where both name the same identifier. What shows a list is the
/// affair of all clients that write to it, of which some may be absent. What was still being answered when
/// the request came may have changed nothing yet.
fn before(
    cassette: &Cassette,
    names: &Names,
    (all, rules): (&[Entry], &Rules),
) -> Vec<PriorWrites> {
    let mut last = Numbers::default();
    let (mut alike, mut states) = (Numbers::default(), Numbers::default());
    let mut put: HashMap<&str, (usize, PutState)> = HashMap::new();
    let mut before: Vec<PriorWrites> = Vec::with_capacity(all.len());
    let things = Things::of(cassette);
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let request = &interaction.request;
        let last_of = |key: &u64| last.get(key).copied();
        let paths: Vec<u64> = paths(request).collect();
        let by_path = paths.last().and_then(last_of);
        let named = names.issued_by_request(request, rules);
        let named: Vec<u64> = named.iter().map(|name| combine(&[hash_of(name.as_str())])).collect();
        let by_name = named.iter().filter_map(last_of).max();
        // What a client calls otherwise is another thing.
        let thing = combine(&[all[number].group(), hash_of(request.path_only())]);
        let same = alike.insert(thing, number);
        let done = same.filter(|same| writes(&cassette.interactions[*same]));
        let latest = by_path.max(by_name);
        let mut write = done.or(latest);
        while let Some(attempt) = write.filter(|write| is_retry(&all[*write], &all[number])) {
            write = before[attempt].write;
        }
        let write = write.map(|write| client_write(cassette, write));
        let state = put.get(&*request.path).copied();
        let is_whole = state.is_some_and(|(put, _)| latest.is_none_or(|latest| latest <= put));
        let puts = (puts_all(interaction) && client_write(cassette, number) == number).then(|| {
            // What the client makes up may be something else each time.
            match all[number].holes.is_empty() {
                true => *states.entry(thing).or_insert(number),
                false => number,
            }
        });
        put.extend(puts.map(|state| (&*request.path, (number, state))));
        let state = state.map(|(_, state)| state);
        let is_of_one = is_of_one(request) || paths.last().is_some_and(|it| things.0.contains(it));
        let shown = by_name.max(by_path.filter(|_| is_of_one));
        let shown = shown.map(|write| client_write(cassette, write));
        let was_over = |write: &usize| interaction.after.iter().all(|it| it.interaction != *write);
        let needed = shown.filter(|write| request.only_reads() && was_over(write));
        before.push(PriorWrites { write, needed, state, is_whole, puts });
        if writes(interaction) {
            for key in paths.into_iter().chain(named) {
                last.insert(key, number);
            }
        }
    }
    before
}

/// The paths that name one thing, whatever they look like: something was put there, or changed or deleted as a whole
/// (RFC 9110, section 9.3), nothing was posted to it, and what is directly below is no thing of its own. That is a
/// list, of which a bucket is one too.
struct Things(HashSet<u64>);

impl Things {
    fn of(cassette: &Cassette) -> Self {
        let (mut things, mut lists) = (HashSet::new(), HashSet::new());
        for Interaction { request, .. } in cassette.interactions.iter().filter(|it| writes(it)) {
            let mut paths = paths(request).collect::<Vec<_>>().into_iter().rev();
            let Some(path) = paths.next() else { continue };
            match &*request.method {
                "PUT" | "PATCH" | "DELETE" => {
                    things.insert(path);
                    lists.extend(paths.next());
                }
                _ => _ = lists.insert(path),
            }
        }
        things.retain(|path| !lists.contains(path));
        Self(things)
    }
}

/// The write that a client asked for: a server that answers one may send others through the recorder.
fn client_write(cassette: &Cassette, mut write: usize) -> usize {
    let all = &cassette.interactions;
    let around = |write: usize| {
        let mut around = all[write].after.iter().map(|progress| progress.interaction);
        around.rfind(|around| writes(&all[*around]) && is_of_another(&all[*around], &all[write]))
    };
    while let Some(outer) = around(write) {
        write = outer;
    }
    write
}

/// Whether another has asked for the one than for the other: the server itself, if it was answering then.
///
/// Another `user-agent` is the only evidence of it in a cassette.
pub(super) fn is_of_another(one: &Interaction, other: &Interaction) -> bool {
    let [one, other] = [one, other].map(|it| it.request.headers.get("user-agent"));
    one != other
}

type Numbers = HashMap<u64, usize, foldhash::fast::FixedState>;

/// Whether an interaction may have changed anything. What a server said of itself nobody has asked for.
pub(super) fn writes(interaction: &Interaction) -> bool {
    let is_asked = !interaction.request.method.is_empty();
    is_asked
        && !interaction.request.only_reads()
        && interaction.response().is_some_and(|response| response.status < 400)
}

/// Whether an interaction leaves what it is about in a state that it alone decides. What was not there is not there once
/// it is deleted.
fn puts_all(interaction: &Interaction) -> bool {
    let status = interaction.response().map(|response| response.status);
    match &*interaction.request.method {
        "PUT" => writes(interaction),
        "DELETE" => writes(interaction) || matches!(status, Some(404 | 410)),
        _ => false,
    }
}

/// Whether the path of a request names one thing.
pub(super) fn is_of_one(request: &Request) -> bool {
    request.path_only().split('/').any(is_id)
}

/// Whether a request is a further attempt at a call that looks like the other one.
fn is_retry(request: &Entry, other: &Entry) -> bool {
    request.group() == other.group() && request.attempt.is_some_and(|attempt| attempt > 0)
}

/// The path and all that it goes on from, the shortest first.
fn paths(request: &Request) -> impl Iterator<Item = u64> + '_ {
    let segments = request.path_only().split('/').filter(|segment| !segment.is_empty());
    segments.scan(0, |path, segment| {
        *path = combine(&[*path, hash_of(segment)]);
        Some(*path)
    })
}
