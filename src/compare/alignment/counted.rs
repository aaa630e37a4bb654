//! Names that a server has counted.
//!
//! # Rationale
//!
//! `conv-1` looks like text. Two things show that a server counts: its client came back with what an answer
//! issued, or the server said new ones one at a time, each with a larger number than all before. A list of what
//! is there (`gpt-4`, `gpt-5`) does neither.

use std::collections::{BTreeMap, HashSet};

use super::View;
use crate::cassette::placeholder::OPENING;
use crate::cassette::{Evidence, Id, Ids, Interaction, Reach};
use crate::identity::segment_behind;

/// The names that were counted. Of those of the server the table of a recording tells: an answer to a request
/// that does something issued them, and they say more than a number.
pub(super) fn counted(views: &[View<'_>], ids: Option<&Ids>) -> HashSet<String> {
    let is_counted = |id: &&Id| {
        let has = |class: fn(char) -> bool| id.value.contains(class);
        has(|c| c.is_ascii_digit()) && has(|c| c.is_ascii_alphabetic())
    };
    let issued = issued(views, ids).filter(is_counted).map(|id| id.value.clone());
    issued.chain(views.iter().flat_map(numbered)).chain(rising(views)).collect()
}

/// Whether an answer may issue names. What a client does while it listens to a stream or a WebSocket, that tells.
pub(super) fn issues(interaction: &Interaction) -> bool {
    interaction.is_listening() || !interaction.request.only_reads()
}

/// So many names in rising order are no accident.
const RISING: usize = 3;

/// The names in places for names that end with a number, of which a server said new ones one at a time in
/// rising order.
fn rising(views: &[View<'_>]) -> HashSet<String> {
    let mut series: BTreeMap<String, Series<'_>> = BTreeMap::new();
    for view in views.iter().filter(|view| issues(view.interaction)) {
        // The messages of a WebSocket have its number in their paths.
        let stream = view.interaction.request.path.as_str();
        for said in view.answered_ids() {
            let mut fresh = HashSet::new();
            for (stem, number, name) in said.into_iter().filter_map(numbered_name) {
                let series = series.entry(stem.to_owned()).or_default();
                if series.names.contains(name) {
                    continue;
                }
                let last = series.last.insert(stream, number);
                series.is_broken |= last.is_some_and(|last| last >= number) || !fresh.insert(stem);
                series.names.insert(name);
            }
        }
    }
    let rising = series.into_values().filter(|it| !it.is_broken && it.names.len() >= RISING);
    rising.flat_map(|it| it.names).map(str::to_owned).collect()
}

/// The names that differ in nothing but the number at their end.
#[derive(Default)]
struct Series<'v> {
    names: HashSet<&'v str>,
    /// The latest of each stream.
    last: BTreeMap<&'v str, u64>,
    is_broken: bool,
}

/// What stands before the number at the end of a name, and the number.
fn numbered_name(name: &str) -> Option<(&str, u64, &str)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_name = stem.contains(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    Some((stem, name[stem.len()..].parse().ok().filter(|_| is_name)?, name))
}

/// What a server issued in answer to a request that does something, and its client sent back.
pub(super) fn issued<'i>(views: &[View<'_>], ids: Option<&'i Ids>) -> impl Iterator<Item = &'i Id> {
    let is_issued = |id: &&Id| {
        let view = views.get(id.interaction);
        let is_told = id.evidence == Evidence::Return && id.reach == Reach::Anywhere;
        is_told && view.is_some_and(|view| issues(view.interaction))
    };
    ids.into_iter().flat_map(|ids| &ids.server).filter(is_issued)
}

/// The names of what a client has had made: a path has them behind that to which it had posted. One without a digit may
/// be a word elsewhere.
pub(super) fn made<'i>(views: &[View<'_>], ids: Option<&'i Ids>) -> impl Iterator<Item = &'i str> {
    issued(views, ids).map(|id| (id, &*id.value)).filter_map(|(id, name)| {
        let above = views[id.interaction].interaction.request.path_only();
        let is_asked_for = |view: &View<'_>| {
            segment_behind(above, view.interaction.request.path_only()) == Some(name)
        };
        let has_digit = name.bytes().any(|byte| byte.is_ascii_digit());
        (has_digit && views[id.interaction..].iter().any(is_asked_for)).then_some(name)
    })
}

/// The numbered placeholders of secrets, which are counted in the order in which they came.
fn numbered(view: &View<'_>) -> Vec<String> {
    let texts = [view.asked_texts(), view.answered_texts()].into_iter().flatten();
    texts.flat_map(|said| placeholders(said.text)).map(str::to_owned).collect()
}

/// Those in a text: `[redacted:authorization~3]`.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let brackets = memchr::memchr_iter(b'[', text.as_bytes());
    let found = brackets.filter(|at| text[*at..].starts_with(OPENING)).filter_map(|at| {
        let end = at + text[at..].find(']')?;
        Some(&text[at..=end])
    });
    found.filter(|name| name.contains('~') && !name.contains('"'))
}

/// A text without its numbers: what counts on differs in nothing else.
pub(super) fn uncounted(name: &str) -> String {
    let parts = name.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("0")
}
