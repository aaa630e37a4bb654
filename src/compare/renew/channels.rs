//! Messages of a WebSocket that are independent of each other, in their old order.
//!
//! # Rationale
//!
//! A server that speaks of several things over one connection says what is independent in any order. Which
//! messages are, a recording shows that has them in both orders. That the new recording has them in another
//! order than the old one shows nothing: it may be what has changed.

use std::collections::{HashMap, HashSet};

use crate::cassette::exchanges::{Exchanges, Part, Spot};
use crate::cassette::{Cassette, Outcome};
use crate::compare::alignment::{Moved, Sides, View};

/// Of more messages than that, no orders are looked for.
const MOST: usize = 200;

/// Puts messages of the new recording that are independent into their old order. Tells whether any was moved.
pub(super) fn restore(
    (olds, news): (&Exchanges, &Exchanges),
    moved: Option<&Moved>,
    new: &mut Cassette,
) -> bool {
    let mut sides = Sides::of(&olds.cassette, &news.cassette);
    let pairs = sides.align(moved).pairs;
    let [before, now]: [Vec<Vec<u64>>; 2] =
        [&sides.old, &sides.new].map(|views| views.iter().map(kinds).collect());
    let independent = independent([&before, &now]);
    let mut is_any = false;
    for pair in pairs {
        let order = order(&before[pair.old], &now[pair.new], &independent);
        if order.is_sorted() {
            continue;
        }
        let Spot { interaction, part } = news.spot(pair.new);
        let first = if let Part::Frame(asked) = part { asked + 1 } else { 0 };
        let Outcome::Response(response) = &mut new.interactions[interaction].outcome else {
            continue;
        };
        let Some(frames) = response.frames.get_mut(first..first + order.len()) else { continue };
        let said: Vec<_> = order.iter().map(|at| frames[*at].clone()).collect();
        for (frame, said) in frames.iter_mut().zip(said) {
            // When something was said is when it came at that place.
            (frame.content, frame.fragments) = (said.content, said.fragments);
        }
        is_any = true;
    }
    is_any
}

/// The kinds of the messages of an answer; nothing where they are not told apart.
fn kinds(view: &View<'_>) -> Vec<u64> {
    let script = view.answered.as_ref().filter(|_| view.interaction.is_socket());
    let Some((script, text)) = script.and_then(|it| Some((it, it.as_str()?))) else {
        return Vec::new();
    };
    let chunks = view.interaction.response().map_or(0, |it| it.body.chunks().len());
    if chunks != script.records.len() || chunks > MOST {
        return Vec::new();
    }
    script.records.iter().map(|record| record.kind(text)).collect()
}

/// Two kinds, in this order.
type Order = (u64, u64);

/// The kinds that came in both orders within a recording.
fn independent(recordings: [&[Vec<u64>]; 2]) -> HashSet<Order> {
    let mut both = HashSet::new();
    for answers in recordings {
        let mut seen: HashSet<Order> = HashSet::new();
        for kinds in answers {
            let once = places(kinds);
            let mut once: Vec<(u64, usize)> = once.into_iter().collect();
            once.sort_unstable_by_key(|(_, at)| *at);
            for (at, (one, _)) in once.iter().enumerate() {
                seen.extend(once[at + 1..].iter().map(|(other, _)| (*one, *other)));
            }
        }
        both.extend(seen.iter().filter(|(one, other)| seen.contains(&(*other, *one))));
    }
    both
}

/// Where the kinds stand that come once.
fn places(kinds: &[u64]) -> HashMap<u64, usize> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    kinds.iter().for_each(|kind| *counts.entry(*kind).or_default() += 1);
    let once = kinds.iter().enumerate().filter(|(_, kind)| counts[kind] == 1);
    once.map(|(at, kind)| (*kind, at)).collect()
}

/// The numbers of the new messages, with neighbours that are independent in their old order.
fn order(old: &[u64], new: &[u64], independent: &HashSet<Order>) -> Vec<usize> {
    let (before, now) = (places(old), places(new));
    let place = |at: usize| before.get(&new[at]).filter(|_| now.contains_key(&new[at]));
    let mut order: Vec<usize> = (0..new.len()).collect();
    for _ in 0..order.len() {
        let mut is_done = true;
        for at in 1..order.len() {
            let (one, other) = (order[at - 1], order[at]);
            let is_turned =
                matches!((place(one), place(other)), (Some(one), Some(other)) if one > other);
            if is_turned && independent.contains(&(new[one], new[other])) {
                order.swap(at - 1, at);
                is_done = false;
            }
        }
        if is_done {
            break;
        }
    }
    order
}
