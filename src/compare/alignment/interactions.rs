//! Which interaction of an old recording is which of a new one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Alignment, Pair, View};
use crate::text::sequence::{Pairing, cheapest};

/// More are paired one by one: to compare each with each would take long.
const MOST_COMPARED: usize = 1_000_000;

/// Pairs the interactions: those that are the same, then those that ask the same, then those that ask
/// for the same sort of thing, then those that are much alike.
pub(super) fn pair(old: &[View<'_>], new: &[View<'_>]) -> Alignment {
    let (olds, news) = (vec![None; old.len()], vec![None; new.len()]);
    let mut partners = Partners { views: [old, new], olds, news };
    partners.pair(|view| (view.request, view.response), as_many);
    partners.pair_in_place();
    partners.pair(|view| (view.request, view.response), in_order);
    let [mut waits_old, waits_new] = partners.waits();
    waits_new.iter().for_each(|wait| partners.news[*wait] = Some(NOBODY));
    waits_old.extend(unasked(&partners));
    waits_old.sort_unstable();
    waits_old.dedup();
    waits_old.iter().for_each(|wait| partners.olds[*wait] = Some(NOBODY));
    partners.pair(|view| (view.request, 0), alike);
    partners.pair(|view| (view.route, 1), alike);
    partners.pair(|_| (0, 2), much_alike);
    let alone = |partners: &[Option<usize>]| -> Vec<usize> {
        (0..partners.len()).filter(|at| partners[*at].is_none()).collect()
    };
    let (only_old, only_new) = (alone(&partners.olds), alone(&partners.news));
    let numbered = partners.news.into_iter().enumerate();
    let pairs = numbered.filter_map(|(new, old)| Some(Pair { old: old?, new }));
    let pairs = pairs.filter(|pair| pair.old != NOBODY).collect();
    Alignment { pairs, only_old, only_new, waits_old, waits_new, ..Alignment::default() }
}

/// A partner that is nobody: the interaction is not to have one.
const NOBODY: usize = usize::MAX;

struct Partners<'v, 'a> {
    views: [&'v [View<'a>]; 2],
    olds: Vec<Option<usize>>,
    news: Vec<Option<usize>>,
}

/// An interaction with its number.
type Numbered<'v, 'a> = (usize, &'v View<'a>);

/// Pairs the interactions of a group.
type Choose = fn(&[Numbered<'_, '_>], &[Numbered<'_, '_>]) -> Vec<(usize, usize)>;

impl Partners<'_, '_> {
    /// Pairs those of equal keys that have no partner yet, in the order of the new recording.
    fn pair(&mut self, key: impl Fn(&View<'_>) -> (u64, u64), choose: Choose) {
        let [old, new] = self.views;
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
        for (olds, news) in groups.into_values() {
            for (one, other) in choose(&olds, &news) {
                self.olds[one] = Some(other);
                self.news[other] = Some(one);
            }
        }
    }

    /// Pairs those that are the same and stand in the same place: what is another in one of the
    /// recordings moves nothing that is not.
    fn pair_in_place(&mut self) {
        let said = |view: &View<'_>| (view.request, view.response);
        let [old, new] = self.views;
        let ends = |views: &mut dyn Iterator<Item = bool>| views.take_while(|it| *it).count();
        let front = ends(&mut old.iter().zip(new).map(|(old, new)| said(old) == said(new)));
        let (olds, news) = (front..old.len(), front..new.len());
        if olds.len() * news.len() > MOST_COMPARED {
            return;
        }
        let unlike = |one: usize, other: usize| u32::from(said(&old[one]) != said(&new[other]));
        let steps = cheapest(olds, news, 1, unlike).into_iter();
        let both = steps.filter_map(|step| match step {
            Pairing::Both(one, other) => Some((one, other)),
            _ => None,
        });
        for (one, other) in (0..front).map(|at| (at, at)).chain(both) {
            let is_open = self.olds[one].is_none() && self.news[other].is_none();
            if is_open && unlike(one, other) == 0 {
                (self.olds[one], self.news[other]) = (Some(other), Some(one));
            }
        }
    }

    /// The waits of both sides. Where the other side asks for something of which nothing here is the
    /// like, what stands there is no wait: it is what was asked before.
    fn waits(&self) -> [Vec<usize>; 2] {
        let [old, new] = self.views;
        let found = [waits(old, &self.olds), waits(new, &self.news)];
        // How many more of a route the new side asks, waits set aside.
        let mut more: HashMap<u64, isize> = HashMap::new();
        for (views, partners, waits, one) in
            [(old, &self.olds, &found[0], -1), (new, &self.news, &found[1], 1)]
        {
            let open = (0..views.len()).filter(|at| partners[*at].is_none() && !waits.contains(at));
            open.for_each(|at| *more.entry(views[at].route).or_default() += one);
        }
        let [olds, news] = found;
        let mut is_wait = |view: &View<'_>, one: isize| {
            let more = more.entry(view.route).or_default();
            let is_wait = *more * one >= 0;
            *more += if is_wait { 0 } else { one };
            is_wait
        };
        let olds = olds.into_iter().filter(|at| is_wait(&old[*at], -1)).collect();
        [olds, news.into_iter().filter(|at| is_wait(&new[*at], 1)).collect()]
    }
}

/// The first with the first, the second with the second, if there is one for each.
fn as_many(old: &[Numbered<'_, '_>], new: &[Numbered<'_, '_>]) -> Vec<(usize, usize)> {
    if old.len() == new.len() { in_order(old, new) } else { Vec::new() }
}

/// The first with the first, the second with the second.
fn in_order(old: &[Numbered<'_, '_>], new: &[Numbered<'_, '_>]) -> Vec<(usize, usize)> {
    old.iter().zip(new).map(|((one, _), (other, _))| (*one, *other)).collect()
}

/// Those first that are most alike; in order where there is one for each.
fn alike(old: &[Numbered<'_, '_>], new: &[Numbered<'_, '_>]) -> Vec<(usize, usize)> {
    if old.len() == new.len() || old.len() * new.len() > MOST_COMPARED {
        return in_order(old, new);
    }
    most_alike(old, new, 0)
}

/// Those first that are most alike, if they are half alike at least: something was asked for in
/// another place.
fn much_alike(old: &[Numbered<'_, '_>], new: &[Numbered<'_, '_>]) -> Vec<(usize, usize)> {
    if old.len() * new.len() > MOST_COMPARED { Vec::new() } else { most_alike(old, new, 500) }
}

/// Those first that are most alike, by so many thousandths at least.
fn most_alike(
    old: &[Numbered<'_, '_>],
    new: &[Numbered<'_, '_>],
    least: usize,
) -> Vec<(usize, usize)> {
    let sketches = |views: &[Numbered<'_, '_>]| -> Vec<Vec<u64>> {
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
/// the same answer as before, nothing written in between, and another answer to it later. One is only
/// beside something that it repeats and that has a partner.
fn waits(views: &[View<'_>], partners: &[Option<usize>]) -> Vec<usize> {
    let mut found = Vec::new();
    for numbers in by_request(views) {
        let mut changes = false;
        for pair in numbers.windows(2).rev() {
            let (repeats, interaction) = (pair[0], pair[1]);
            let is_same = |at: &usize| views[*at].response == views[interaction].response;
            changes |= !is_same(&repeats);
            let has_partner = |at: &usize| is_same(at) && partners[*at].is_some();
            if is_same(&repeats)
                && changes
                && is_quiet(&views[repeats + 1..interaction])
                && partners[interaction].is_none()
                && numbers.iter().take_while(|at| **at < interaction).any(has_partner)
            {
                found.push(interaction);
            }
        }
    }
    found.sort_unstable();
    found
}

/// The interactions of the old recording in which a client only asked before there was the answer that
/// the new recording has at once: nothing was written in between, and all that the new one asks there
/// was answered so before.
fn unasked(partners: &Partners<'_, '_>) -> Vec<usize> {
    let [old, new] = partners.views;
    let others = new.iter().zip(&partners.news).filter(|(_, partner)| partner.is_none());
    let others: HashSet<u64> = others.map(|(view, _)| view.route).collect();
    let mut found = Vec::new();
    for numbers in by_request(old).into_iter().filter(|it| !others.contains(&old[it[0]].route)) {
        let (mut has_come, mut next) = (false, old.len());
        for at in numbers.into_iter().rev() {
            let is_answered = partners.olds[at].is_some();
            has_come = is_answered || (has_come && is_quiet(&old[at..next]));
            if has_come && !is_answered {
                found.push(at);
            }
            next = at;
        }
    }
    found
}

/// The numbers of those that ask the same.
fn by_request(views: &[View<'_>]) -> Vec<Vec<usize>> {
    let mut found: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (number, view) in views.iter().enumerate() {
        found.entry(view.request).or_default().push(number);
    }
    found.into_values().collect()
}

/// Whether nothing was written meanwhile.
fn is_quiet(between: &[View<'_>]) -> bool {
    between.iter().all(|view| view.interaction.request.only_reads())
}
