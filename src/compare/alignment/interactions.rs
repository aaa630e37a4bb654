//! Which interaction of an old recording is which of a new one.

use std::collections::{BTreeMap, HashMap};

use super::{Pair, View, Wait};

/// How the interactions of two recordings belong together.
#[derive(Debug, Default)]
pub(super) struct Paired {
    pub(super) pairs: Vec<Pair>,
    pub(super) only_old: Vec<usize>,
    pub(super) only_new: Vec<usize>,
    pub(super) waits_old: Vec<Wait>,
    pub(super) waits_new: Vec<Wait>,
}

/// More are paired one by one: to compare each with each would take long.
const MOST_COMPARED: usize = 2500;

/// Pairs the interactions: those that are the same, then those that ask the same, then those that ask
/// for the same sort of thing, then those that are much alike.
pub(super) fn pair(old: &[View<'_>], new: &[View<'_>]) -> Paired {
    let mut partners = Partners { olds: vec![None; old.len()], news: vec![None; new.len()] };
    partners.pair(old, new, |view| (view.request, view.response), in_order);
    let waits = [(old, &partners.olds), (new, &partners.news)].map(|(views, partners)| {
        let waits = waits(views).into_iter();
        waits.filter(|wait| partners[wait.interaction].is_none()).collect::<Vec<Wait>>()
    });
    let [mut waits_old, mut waits_new] = waits;
    // A wait is one only beside what it waits for, which must be in both.
    waits_old.retain(|wait| partners.is_there(&partners.olds, wait, old));
    waits_new.retain(|wait| partners.is_there(&partners.news, wait, new));
    partners.leave_out(&waits_old, &waits_new);
    partners.pair(old, new, |view| (view.request, 0), alike);
    partners.pair(old, new, |view| (view.route, 1), alike);
    partners.pair(old, new, |_| (0, 2), much_alike);
    partners.told(waits_old, waits_new)
}

/// A partner that is nobody: the interaction is not to have one.
const NOBODY: usize = usize::MAX;

struct Partners {
    olds: Vec<Option<usize>>,
    news: Vec<Option<usize>>,
}

/// Pairs the interactions of a group.
type Choose = fn(&[(usize, &View<'_>)], &[(usize, &View<'_>)]) -> Vec<(usize, usize)>;

/// Interactions with their numbers.
type Group<'v> = Vec<(usize, &'v View<'v>)>;

impl Partners {
    fn pair(
        &mut self,
        old: &[View<'_>],
        new: &[View<'_>],
        key: impl Fn(&View<'_>) -> (u64, u64),
        choose: Choose,
    ) {
        for (olds, news) in self.groups(old, new, key) {
            for (one, other) in choose(&olds, &news) {
                self.olds[one] = Some(other);
                self.news[other] = Some(one);
            }
        }
    }

    /// Those of equal keys that have no partner yet, in the order of the new recording.
    fn groups<'v>(
        &self,
        old: &'v [View<'v>],
        new: &'v [View<'v>],
        key: impl Fn(&View<'_>) -> (u64, u64),
    ) -> Vec<(Group<'v>, Group<'v>)> {
        let mut groups: BTreeMap<usize, (Vec<_>, Vec<_>)> = BTreeMap::new();
        let mut first = HashMap::new();
        for (number, view) in new.iter().enumerate().filter(|(at, _)| self.news[*at].is_none()) {
            let group = *first.entry(key(view)).or_insert(number);
            groups.entry(group).or_default().1.push((number, view));
        }
        for (number, view) in old.iter().enumerate().filter(|(at, _)| self.olds[*at].is_none()) {
            let group = first.get(&key(view)).and_then(|group| groups.get_mut(group));
            group.into_iter().for_each(|group| group.0.push((number, view)));
        }
        groups.into_values().collect()
    }

    /// Whether what a wait repeats has a partner, or repeats something that has one.
    fn is_there(&self, partners: &[Option<usize>], wait: &Wait, views: &[View<'_>]) -> bool {
        let same = |at: usize| {
            let (one, other) = (&views[at], &views[wait.interaction]);
            one.request == other.request && one.response == other.response
        };
        (0..=wait.repeats).any(|at| same(at) && partners[at].is_some())
    }

    fn leave_out(&mut self, olds: &[Wait], news: &[Wait]) {
        olds.iter().for_each(|wait| self.olds[wait.interaction] = Some(NOBODY));
        news.iter().for_each(|wait| self.news[wait.interaction] = Some(NOBODY));
    }

    fn told(self, waits_old: Vec<Wait>, waits_new: Vec<Wait>) -> Paired {
        let alone = |partners: &[Option<usize>]| -> Vec<usize> {
            (0..partners.len()).filter(|at| partners[*at].is_none()).collect()
        };
        let partner = |(new, old): (usize, &Option<usize>)| {
            Some(Pair { old: old.filter(|old| *old != NOBODY)?, new })
        };
        Paired {
            only_old: alone(&self.olds),
            only_new: alone(&self.news),
            pairs: self.news.iter().enumerate().filter_map(partner).collect(),
            waits_old,
            waits_new,
        }
    }
}

/// The first with the first, the second with the second.
fn in_order(old: &[(usize, &View<'_>)], new: &[(usize, &View<'_>)]) -> Vec<(usize, usize)> {
    old.iter().zip(new).map(|((one, _), (other, _))| (*one, *other)).collect()
}

/// Those first that are most alike; in order where there is one for each.
fn alike(old: &[(usize, &View<'_>)], new: &[(usize, &View<'_>)]) -> Vec<(usize, usize)> {
    match old.len() == new.len() || old.len() * new.len() > MOST_COMPARED {
        true => in_order(old, new),
        false => most_alike(old, new, 0),
    }
}

/// Those first that are most alike, if they are half alike at least: something was asked for in
/// another place.
fn much_alike(old: &[(usize, &View<'_>)], new: &[(usize, &View<'_>)]) -> Vec<(usize, usize)> {
    match old.len() * new.len() > MOST_COMPARED {
        true => Vec::new(),
        false => most_alike(old, new, 500),
    }
}

/// Those first that are most alike, by so many thousandths at least.
fn most_alike(
    old: &[(usize, &View<'_>)],
    new: &[(usize, &View<'_>)],
    least: usize,
) -> Vec<(usize, usize)> {
    let sketches = |views: &[(usize, &View<'_>)]| -> Vec<Vec<u64>> {
        views.iter().map(|(_, view)| view.sketch()).collect()
    };
    let (olds, news) = (sketches(old), sketches(new));
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (one, sketch) in olds.iter().enumerate() {
        let compared = |(other, theirs): (usize, &Vec<u64>)| (likeness(sketch, theirs), one, other);
        let likenesses = news.iter().enumerate().map(compared);
        pairs.extend(likenesses.filter(|(likeness, ..)| *likeness >= least));
    }
    pairs.sort_by_key(|(likeness, one, other)| (std::cmp::Reverse(*likeness), *one, *other));
    let (mut taken, mut given) = (vec![false; old.len()], vec![false; new.len()]);
    let mut chosen = Vec::new();
    for (_, one, other) in pairs {
        if !taken[one] && !given[other] {
            (taken[one], given[other]) = (true, true);
            chosen.push((old[one].0, new[other].0));
        }
    }
    chosen
}

/// How much of the larger of two sorted lists both have in common, in thousandths.
fn likeness(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut with, mut common) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(at), other.get(with)) {
        common += usize::from(a == b);
        at += usize::from(a <= b);
        with += usize::from(b <= a);
    }
    1000 * common / one.len().max(other.len()).max(1)
}

/// The interactions in which a client only asked again until the answer changed: the same request and
/// the same answer as before, nothing written in between, and another answer to it later.
fn waits(views: &[View<'_>]) -> Vec<Wait> {
    let mut by_request: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, view) in views.iter().enumerate() {
        by_request.entry(view.request).or_default().push(number);
    }
    let mut found = Vec::new();
    for numbers in by_request.into_values() {
        let mut changes = false;
        for pair in numbers.windows(2).rev() {
            let (repeats, interaction) = (pair[0], pair[1]);
            let same = views[repeats].response == views[interaction].response;
            changes |= !same;
            if same && changes && is_quiet(&views[repeats + 1..interaction]) {
                found.push(Wait { interaction, repeats });
            }
        }
    }
    found.sort_by_key(|wait| wait.interaction);
    found
}

/// Whether nothing was written meanwhile.
fn is_quiet(between: &[View<'_>]) -> bool {
    between.iter().all(|view| matches!(view.interaction.request.method.as_str(), "GET" | "HEAD"))
}
