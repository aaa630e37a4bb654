//! In which order interactions stand, and what was going on when each began.

use std::collections::HashMap;

use crate::cassette::exchanges::MESSAGE;
use crate::cassette::{Cassette, Interaction, Progress};

/// An interaction of the renewed recording, and what it was in the others.
#[derive(Debug)]
pub(super) struct OrderEntry {
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
    pub(super) interaction: Interaction,
}

impl OrderEntry {
    /// Whether it is as it was.
    fn is_kept(&self, old: &Cassette) -> bool {
        self.old.map(|number| &old.interactions[number]).is_some_and(|before| {
            before.request == self.interaction.request && before.outcome == self.interaction.outcome
        })
    }

    /// Whether it is a message of a WebSocket, whose order means something.
    fn is_message(&self) -> bool {
        self.interaction.request.method == MESSAGE
    }
}

/// An interaction of the renewed recording, and whether it is as it was.
#[derive(Debug)]
pub(super) struct RenewedInteraction {
    pub(super) interaction: Interaction,
    pub(super) is_kept: bool,
    /// Its numbers in the recordings, where it comes from them.
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
}

/// Puts interactions that were under way at the same time into their old order, and those back by
/// which the client only waited. Tells of each whether it is as it was.
pub(super) fn restored(
    mut entries: Vec<OrderEntry>,
    waits: &[usize],
    old: &Cassette,
    new: &Cassette,
) -> Vec<RenewedInteraction> {
    sort(&mut entries, old, new);
    for wait in waits {
        // It stands behind what is left of what stood before it.
        let before = |entry: &&OrderEntry| entry.old.is_some_and(|old| old < *wait);
        let nearest = entries.iter().filter(before).filter_map(|entry| entry.old).max();
        let behind = entries.iter().position(|entry| nearest.is_some() && entry.old == nearest);
        let interaction = old.interactions[*wait].clone();
        let entry = OrderEntry { old: Some(*wait), new: None, interaction };
        entries.insert(behind.map_or(0, |at| at + 1), entry);
    }
    let olds = places(&entries, |entry| entry.old);
    let news = places(&entries, |entry| entry.new);
    let listened = listened(&entries, old, new);
    let kept: Vec<bool> = entries.iter().map(|entry| entry.is_kept(old)).collect();
    let mut done = Vec::with_capacity(entries.len());
    for (at, entry) in entries.into_iter().enumerate() {
        let told = meanwhile(&listened, &entry, new);
        let is_kept = kept[at];
        let OrderEntry { old: number, new: fresh, mut interaction } = entry;
        let before = number.map(|number| &old.interactions[number]);
        interaction.after = match before.filter(|_| is_kept) {
            Some(before) => {
                let mut after = placed(&before.after, &olds, at);
                // How far an answer had come counts in what it says now.
                let others = if fresh.is_some() {
                    after.retain(|progress| kept[progress.interaction]);
                    let mut others = placed(&interaction.after, &news, at);
                    others.retain(|progress| !kept[progress.interaction]);
                    others
                } else {
                    Vec::new()
                };
                for progress in others.into_iter().chain(placed(&told, &news, at)) {
                    if after.iter().all(|it| it.interaction != progress.interaction) {
                        after.push(progress);
                    }
                }
                after.sort_by_key(|progress| progress.interaction);
                after
            }
            None => placed(&interaction.after, &news, at),
        };
        done.push(RenewedInteraction { interaction, is_kept, old: number, new: fresh });
    }
    within_bounds(&mut done);
    done
}

/// Exchanges neighbours that stand in another order than before, if one began while the other was under way, in either
/// recording, or if both are requests that are as they were: whoever asks first is not told by the other's answer.
/// What is new gives way to those, too, which are as they were without it.
fn sort(entries: &mut [OrderEntry], old: &Cassette, new: &Cassette) {
    let is_free = |entry: &OrderEntry| entry.is_kept(old) && !entry.is_message();
    let mut free: Vec<bool> = entries.iter().map(is_free).collect();
    for _ in 0..entries.len() {
        let mut is_done = true;
        // The last one of the old recording that stands before.
        let mut last = None;
        for at in 1..entries.len() {
            let (one, other) = (&entries[at - 1], &entries[at]);
            last = last.max(one.old);
            let is_turned = match (one.old, other.old) {
                (Some(one), Some(other)) => one > other,
                (None, other @ Some(_)) => last > other,
                (_, None) => false,
            };
            let met = |cassette: &Cassette, one: Option<usize>, other: Option<usize>| {
                let (Some(one), Some(other)) = (one, other) else { return false };
                let (first, last) = (one.min(other), one.max(other));
                cassette.interactions[last].after.iter().any(|it| it.interaction == first)
            };
            let may_turn = || {
                (free[at] && (free[at - 1] || one.old.is_none()))
                    || met(new, one.new, other.new)
                    || met(old, one.old, other.old)
            };
            if is_turned && may_turn() {
                entries.swap(at - 1, at);
                free.swap(at - 1, at);
                is_done = false;
            }
        }
        if is_done {
            return;
        }
    }
}

/// Where the interactions of a recording stand now.
fn places(
    entries: &[OrderEntry],
    number: fn(&OrderEntry) -> Option<usize>,
) -> HashMap<usize, usize> {
    let numbered = entries.iter().enumerate();
    numbered.filter_map(|(at, entry)| Some((number(entry)?, at))).collect()
}

/// What was under way, of what is still there and stands before.
fn placed(after: &[Progress], of: &HashMap<usize, usize>, at: usize) -> Vec<Progress> {
    let placed = after.iter().filter_map(|progress| {
        let interaction = *of.get(&progress.interaction)?;
        (interaction < at).then_some(Progress { interaction, ..*progress })
    });
    let mut placed: Vec<Progress> = placed.collect();
    placed.sort_by_key(|progress| progress.interaction);
    placed
}

/// By the numbers of the new recording, the streams that tell what the old one does not: that the client
/// went on listening when all had been sent. With each goes how many chunks it is kept in.
///
/// # Rationale
///
/// That of which only the end was missing was left out of `after` once, and a replay that does not know of
/// it ends such a stream too early. Whether one request came before the end or behind it may be an
/// accident: servers are often a moment late with the end. So it is told of a stream beside which the client
/// asked for several things, and of which the old recording tells nothing of this sort.
fn listened(entries: &[OrderEntry], old: &Cassette, new: &Cassette) -> HashMap<usize, usize> {
    let [olds, news] = [old, new].map(Beside::of);
    let is_told = |entry: &&OrderEntry| {
        let by = |all: &HashMap<usize, Beside>, number: Option<usize>| {
            number.and_then(|number| all.get(&number).copied()).unwrap_or_default()
        };
        let (before, now) = (by(&olds, entry.old), by(&news, entry.new));
        before.to_the_end == 0 && now.to_the_end > 0 && now.requests >= SEVERAL
    };
    let told = entries.iter().filter(is_told);
    told.filter_map(|entry| Some((entry.new?, chunks(&entry.interaction)))).collect()
}

/// What a request that does something is told of the streams.
fn meanwhile(
    listened: &HashMap<usize, usize>,
    entry: &OrderEntry,
    new: &Cassette,
) -> Vec<Progress> {
    let Some(number) = entry.new.filter(|_| !entry.interaction.request.only_reads()) else {
        return Vec::new();
    };
    let all = new.interactions[number].after.iter().filter(|it| is_to_the_end(it, new));
    let told = all.filter_map(|it| {
        let chunks = *listened.get(&it.interaction)?;
        Some(Progress { interaction: it.interaction, chunks })
    });
    told.collect()
}

/// So many requests beside a stream are no accident.
const SEVERAL: usize = 2;

/// How many requests came while the client listened to a stream.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    requests: usize,
    /// When all had been sent.
    to_the_end: usize,
}

impl Beside {
    /// By the numbers of the streams.
    fn of(cassette: &Cassette) -> HashMap<usize, Self> {
        let mut all: HashMap<usize, Self> = HashMap::new();
        let after = cassette.interactions.iter().flat_map(|interaction| &interaction.after);
        for progress in after.filter(|it| cassette.interactions[it.interaction].is_listening()) {
            let beside = all.entry(progress.interaction).or_default();
            beside.requests += 1;
            beside.to_the_end += usize::from(is_to_the_end(progress, cassette));
        }
        all
    }
}

/// Whether all of a stream had been sent.
fn is_to_the_end(progress: &Progress, cassette: &Cassette) -> bool {
    let all = chunks(&cassette.interactions[progress.interaction]);
    all > 0 && progress.chunks >= all
}

fn chunks(interaction: &Interaction) -> usize {
    interaction.response().map_or(0, |response| response.body.chunks().len())
}

/// No more of an answer had been sent than there is.
fn within_bounds(interactions: &mut [RenewedInteraction]) {
    let most: Vec<usize> = interactions.iter().map(|it| chunks(&it.interaction)).collect();
    for RenewedInteraction { interaction, .. } in interactions.iter_mut().filter(|it| !it.is_kept) {
        for progress in &mut interaction.after {
            progress.chunks = progress.chunks.min(most[progress.interaction]);
        }
    }
}
