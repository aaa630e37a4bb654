//! In which order interactions stand, and what was going on when each began.

use std::collections::HashMap;

use crate::alignment::Wait;
use crate::cassette::{Cassette, Interaction, Progress};

/// An interaction of the renewed recording, and what it was in the others.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
    pub(super) interaction: Interaction,
}

/// Puts interactions that were under way at the same time into their old order, and those back by
/// which the client only waited. Tells of each whether it is as it was.
pub(super) fn restored(
    mut entries: Vec<Entry>,
    waits: &[Wait],
    old: &Cassette,
    new: &Cassette,
) -> Vec<(Interaction, bool)> {
    sort(&mut entries, old, new);
    for wait in waits {
        let behind = entries.iter().position(|entry| entry.old == Some(wait.repeats));
        let interaction = old.interactions[wait.interaction].clone();
        let entry = Entry { old: Some(wait.interaction), new: None, interaction };
        entries.insert(behind.map_or(entries.len(), |at| at + 1), entry);
    }
    let places = Places::of(&entries);
    let mut done = Vec::with_capacity(entries.len());
    for (at, Entry { old: number, mut interaction, .. }) in entries.into_iter().enumerate() {
        let before = number.map(|number| &old.interactions[number]);
        let is_kept = before.is_some_and(|before| {
            before.request == interaction.request && before.outcome == interaction.outcome
        });
        interaction.after = match before.filter(|_| is_kept) {
            Some(before) => places.after(&before.after, &places.olds, at),
            None => places.after(&interaction.after, &places.news, at),
        };
        done.push((interaction, is_kept));
    }
    within_bounds(&mut done);
    done
}

/// Exchanges neighbours that stand in another order than before, if one began while the other was
/// under way, in either recording.
fn sort(entries: &mut [Entry], old: &Cassette, new: &Cassette) {
    for _ in 0..entries.len() {
        let mut is_done = true;
        for at in 1..entries.len() {
            let (one, other) = (&entries[at - 1], &entries[at]);
            let is_turned = matches!((one.old, other.old), (Some(one), Some(other)) if one > other);
            let met = |cassette: &Cassette, one: Option<usize>, other: Option<usize>| {
                let (Some(one), Some(other)) = (one, other) else { return false };
                let (first, last) = (one.min(other), one.max(other));
                cassette.interactions[last].after.iter().any(|it| it.interaction == first)
            };
            if is_turned && (met(new, one.new, other.new) || met(old, one.old, other.old)) {
                entries.swap(at - 1, at);
                is_done = false;
            }
        }
        if is_done {
            return;
        }
    }
}

/// Where the interactions of the recordings stand now.
struct Places {
    olds: HashMap<usize, usize>,
    news: HashMap<usize, usize>,
}

impl Places {
    fn of(entries: &[Entry]) -> Self {
        let places = |number: fn(&Entry) -> Option<usize>| {
            let numbered = entries.iter().enumerate();
            numbered.filter_map(|(at, entry)| Some((number(entry)?, at))).collect()
        };
        Self { olds: places(|entry| entry.old), news: places(|entry| entry.new) }
    }

    /// What was under way, of what is still there and stands before.
    fn after(&self, after: &[Progress], of: &HashMap<usize, usize>, at: usize) -> Vec<Progress> {
        let placed = after.iter().filter_map(|progress| {
            let interaction = *of.get(&progress.interaction)?;
            (interaction < at).then_some(Progress { interaction, ..*progress })
        });
        let mut placed: Vec<Progress> = placed.collect();
        placed.sort_by_key(|progress| progress.interaction);
        placed
    }
}

/// No more of an answer had been sent than there is.
fn within_bounds(interactions: &mut [(Interaction, bool)]) {
    let chunks = |(it, _): &(Interaction, bool)| {
        it.response().map_or(0, |response| response.body.chunks().len())
    };
    let most: Vec<usize> = interactions.iter().map(chunks).collect();
    for (interaction, _) in interactions.iter_mut().filter(|(_, is_kept)| !is_kept) {
        for progress in &mut interaction.after {
            progress.chunks = progress.chunks.min(most[progress.interaction]);
        }
    }
}
