//! Messages that changed places.

use std::collections::{BTreeMap, BTreeSet};

use super::about::About;
use super::draft::{Draft, Trace, all_of};
use super::orders::shown_tags;
use super::report::{Part, Verdict};
use super::rule::Rule;
use crate::contract::Case;
use crate::contract::order::{Event, Explanation, Neighbours, Next, Order, Pattern, Word};

/// Longer traces, and those that leave the order in more places, are told place by place.
const LONGEST: usize = 100;
const MOST: usize = 6;

/// The changes in a trace of which nothing is wrong but that some messages stand elsewhere, with the place
/// of each; none if that is not so.
///
/// Such a message makes three pairs of neighbours new and ends three, in each of the ways that lead past
/// it: it is one change nevertheless. Nothing is presumed: with the messages put back the order has to
/// accept the trace.
pub(super) fn swapped(case: &Case, explanation: &Explanation, word: &Word) -> Vec<(Draft, usize)> {
    let mut events = word.events();
    let mut origins: Vec<usize> = (0..events.len()).collect();
    let mut left = places(explanation);
    let mut drafts = Vec::new();
    while !left.is_empty() {
        let Some((moved, next)) = best(&case.order, &left, &events) else { return Vec::new() };
        let before = events.clone();
        moved.put_back(&mut events);
        let at = word.token_of(origins[moved.told()]);
        let mut draft = moved.draft(&before);
        if let Some(promised) = promised(explanation, &draft) {
            let (own, _) = draft.swaps.first().cloned().unwrap_or_default();
            draft.what = format!("another `{own}` comes where `{promised}` was promised");
        }
        draft.lost = &neighbours(&events) - &neighbours(&before);
        let tag = Some(events[moved.told()].tag.to_owned());
        let expected = vec![Next::Event(Pattern { tag, guards: Vec::new() })];
        draft.trace = Some(Trace { tags: shown_tags(word), at, expected });
        drafts.push((draft, at));
        moved.put_back(&mut origins);
        left = next;
    }
    drafts
}

/// Which message was promised where one of its type came, if only what they say tells the two apart.
fn promised(explanation: &Explanation, draft: &Draft) -> Option<String> {
    let (own, _) = draft.swaps.first().filter(|_| draft.swaps.iter().all(|(a, b)| a == b))?;
    let first = explanation.deviations().next()?;
    let told = first.expected.iter().find_map(|next| match next {
        Next::Event(pattern) if pattern.tag.as_ref() == Some(own) => Some(pattern.to_string()),
        _ => None,
    });
    told.filter(|told| told != own)
}

/// Where a trace is not in order.
fn places(explanation: &Explanation) -> Vec<usize> {
    explanation.deviations().map(|deviation| deviation.at).collect()
}

/// The move after which the least is wrong, and where.
fn best(order: &Order, wrong: &[usize], events: &[Event<'_>]) -> Option<(Move, Vec<usize>)> {
    if wrong.len() > MOST || events.len() > LONGEST {
        return None;
    }
    let beside = wrong.iter().flat_map(|at| [(at + 1, *at), (*at, at.wrapping_sub(1))]);
    let between = wrong.iter().flat_map(|is| wrong.iter().map(|to| (*is, *to)));
    let moves = beside.chain(between).map(|(is, to)| Move { is, to });
    let moves: Vec<Move> = moves.filter(|moved| moved.is_in(events.len())).collect();
    let after = |moved: &Move| {
        let mut events = events.to_vec();
        moved.put_back(&mut events);
        events
    };
    // To ask is cheap; to find out how much is left to do is not.
    if let Some(moved) = moves.iter().find(|moved| order.accepts(&after(moved))) {
        return Some((*moved, Vec::new()));
    }
    let left = |moved: &Move| (*moved, places(&order.explain(&after(moved))));
    let tried = moves.iter().filter(|_| wrong.len() > 1).map(left);
    let best = tried.min_by_key(|(_, left)| left.len());
    best.filter(|(_, left)| left.len() < wrong.len())
}

/// A message that stands in another place of a trace than in the order.
#[derive(Debug, Clone, Copy)]
struct Move {
    /// Where it stands.
    is: usize,
    /// Before which one it would stand in order; the number of messages if that is the end.
    to: usize,
}

impl Move {
    /// Whether it is one in so many messages.
    fn is_in(self, messages: usize) -> bool {
        self.is < messages && self.to <= messages && !self.passed().is_empty()
    }

    /// The messages that it came past.
    fn passed(self) -> std::ops::Range<usize> {
        if self.to > self.is { self.is + 1..self.to } else { self.to..self.is }
    }

    fn put_back<T>(self, all: &mut Vec<T>) {
        let moved = all.remove(self.is);
        all.insert(if self.to > self.is { self.to - 1 } else { self.to }, moved);
    }

    /// Which message is told not to be as promised: of two that changed places the first.
    fn told(self) -> usize {
        if self.passed().len() == 1 { self.is.min(self.passed().start) } else { self.is }
    }

    fn draft(self, events: &[Event<'_>]) -> Draft {
        let own = events[self.is].tag;
        let passed = events[self.passed()].iter().map(|event| event.tag);
        let pairs = passed.map(|other| if self.to > self.is { (own, other) } else { (other, own) });
        let swaps = pairs.map(|(first, second)| (first.to_owned(), second.to_owned())).collect();
        told(
            own,
            swaps,
            Draft::new(Rule::OrderSwapped, Verdict::Breaking, Part::Order, String::new()),
        )
    }
}

/// Messages that changed places with one message are one change, in whichever traces.
pub(super) fn together(drafts: Vec<Draft>) -> Vec<Draft> {
    let (mut left, mut kept): (Vec<Draft>, Vec<Draft>) =
        drafts.into_iter().partition(|draft| !draft.swaps.is_empty());
    while let Some((side, own)) = most_moved(&left) {
        let is_of = |draft: &Draft| draft.swaps.iter().all(|pair| *side.of(pair) == own);
        let (same, others): (Vec<Draft>, Vec<Draft>) = left.into_iter().partition(is_of);
        left = others;
        let mut same = same.into_iter();
        kept.extend(same.next().map(|first| {
            same.fold(first, |mut all, draft| {
                let swaps = &all.swaps | &draft.swaps;
                all.show_for(&draft);
                told(&own, swaps, all)
            })
        }));
    }
    kept
}

/// Which of two messages that changed places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SwapSide {
    First,
    Second,
}

impl SwapSide {
    fn of(self, (first, second): &(String, String)) -> &String {
        match self {
            Self::First => first,
            Self::Second => second,
        }
    }
}

/// The message that most changes have in common, as the first or as the second one.
fn most_moved(drafts: &[Draft]) -> Option<(SwapSide, String)> {
    let mut counts: BTreeMap<(SwapSide, &String), usize> = BTreeMap::new();
    for draft in drafts {
        for side in [SwapSide::First, SwapSide::Second] {
            let moved: BTreeSet<&String> = draft.swaps.iter().map(|pair| side.of(pair)).collect();
            if let (1, Some(own)) = (moved.len(), moved.first()) {
                *counts.entry((side, own)).or_default() += 1;
            }
        }
    }
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map(|((side, own), _)| (side, own.clone()))
}

/// Says which messages changed places with one.
fn told(own: &str, swaps: BTreeSet<(String, String)>, draft: Draft) -> Draft {
    let names =
        |side: SwapSide| swaps.iter().map(|pair| side.of(pair)).collect::<BTreeSet<&String>>();
    let (first, second) = (names(SwapSide::First), names(SwapSide::Second));
    let key = |names: &BTreeSet<&String>| {
        names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(",")
    };
    let key = format!("{}<{}", key(&first), key(&second));
    let what = if second.len() == 1 && first.len() > 1 {
        format!("`{own}` comes after {}", all_of(&first))
    } else {
        format!("{} comes before {}", all_of(&first), all_of(&second))
    };
    let about = About::Messages(own.to_owned());
    Draft { what, swaps, ..draft.keyed(key).about(about) }
}

pub(super) fn neighbours(events: &[Event<'_>]) -> BTreeSet<Neighbours> {
    let tags = || events.iter().map(|event| Some(event.tag.to_owned()));
    std::iter::once(None).chain(tags()).zip(tags().chain([None])).collect()
}
