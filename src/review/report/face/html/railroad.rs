//! Two orders as one railroad: on its tracks both can be run, and each track tells who may take it.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::contract::order::{Between, Expression, Pattern, Slice, Times};
use crate::review::change::State;
use crate::review::report::line::visible;
use crate::text::sequence::{Pairing, cheapest};

/// A part of a railroad.
///
/// What is not on a [`Branch`] of its own belongs to whatever it lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Track {
    Nothing,
    Event(Pattern),
    Sequence(Vec<Track>),
    Choice(Vec<Branch>),
    /// In any mixture.
    Interleaved(Vec<Branch>),
    /// How often it comes before, and how often now.
    Repeated(Box<Track>, Times, Times),
    Slice(String, Between, Box<Track>),
}

/// A track for one side, or for both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branch {
    pub state: State,
    pub track: Track,
}

impl Branch {
    fn of(state: State, order: &Expression) -> Self {
        Self { state, track: Track::of(order) }
    }
}

const ONCE: Times = Times { min: 1, max: Some(1) };

/// Both orders: what is alike in them lies on the same track.
pub(super) fn merged(old: &Expression, new: &Expression) -> Track {
    use Expression::{Choice, Ending, Interleaved, Repeated, Sequence, Slice};
    if old == new {
        return Track::of(old);
    }
    match (old, new) {
        // With what a stream ends is told in words.
        (Ending(old, _), _) => merged(old, new),
        (_, Ending(new, _)) => merged(old, new),
        _ if alike(old, new) == 0 => replaced(old, new),
        (Repeated(..), _) | (_, Repeated(..)) if repeats_the_same(old, new) => {
            let ((one, was), (other, is)) = (repeated(old), repeated(new));
            Track::Repeated(Box::new(merged(one, other)), was, is)
        }
        (Choice(_), Sequence(parts)) if is_nearer_to_a_part(old, parts) => in_a_row(old, new),
        (Sequence(parts), Choice(_)) if is_nearer_to_a_part(new, parts) => in_a_row(old, new),
        (Choice(_), _) | (_, Choice(_)) => {
            Track::Choice(side_by_side(alternatives(old), alternatives(new)))
        }
        (Sequence(_), _) | (_, Sequence(_)) => in_a_row(old, new),
        (Interleaved(one), Interleaved(other)) => Track::Interleaved(side_by_side(one, other)),
        (Slice(one), Slice(other)) if one.key == other.key && one.between == other.between => {
            let each = merged(&one.each, &other.each);
            Track::Slice(one.key.clone(), one.between, Box::new(each))
        }
        _ => replaced(old, new),
    }
}

impl Track {
    /// An order as it is.
    pub(super) fn of(order: &Expression) -> Self {
        let kept = |parts: &[Expression]| -> Vec<Branch> {
            parts.iter().map(|part| Branch::of(State::Kept, part)).collect()
        };
        match order {
            Expression::Nothing => Self::Nothing,
            Expression::Event(pattern) => Self::Event(pattern.clone()),
            Expression::Sequence(parts) => Self::Sequence(parts.iter().map(Self::of).collect()),
            Expression::Choice(parts) => Self::Choice(kept(parts)),
            Expression::Interleaved(parts) => Self::Interleaved(kept(parts)),
            Expression::Repeated(inner, times) => {
                Self::Repeated(Box::new(Self::of(inner)), *times, *times)
            }
            Expression::Slice(Slice { key, between, each }) => {
                Self::Slice(key.clone(), *between, Box::new(Self::of(each)))
            }
            Expression::Ending(all, _) => Self::of(all),
        }
    }

    /// As the page's script reads it.
    pub(super) fn to_json(&self) -> Value {
        let branches = |branches: &[Branch]| -> Vec<Value> {
            let branch =
                |it: &Branch| json!({"state": word(it.state), "track": it.track.to_json()});
            branches.iter().map(branch).collect()
        };
        match self {
            Self::Nothing => json!({"kind": "nothing"}),
            Self::Event(pattern) => json!({
                "kind": "event",
                "name": visible(&pattern.to_string()),
                "tag": pattern.tag.as_deref().map(visible),
            }),
            Self::Sequence(parts) => {
                let parts: Vec<Value> = parts.iter().map(Self::to_json).collect();
                json!({"kind": "sequence", "parts": parts})
            }
            Self::Choice(parts) => json!({"kind": "choice", "branches": branches(parts)}),
            Self::Interleaved(parts) => json!({"kind": "mixture", "branches": branches(parts)}),
            Self::Repeated(inner, was, is) => json!({
                "kind": "repeated",
                "track": inner.to_json(),
                "skip": on(was.min == 0, is.min == 0),
                "again": on(was.max != Some(1), is.max != Some(1)),
                "times": [times(*was), times(*is)],
            }),
            Self::Slice(key, between, each) => json!({
                "kind": "slice",
                "key": visible(key),
                "between": *between != Between::Nothing,
                "track": each.to_json(),
            }),
        }
    }
}

pub(super) fn word(state: State) -> &'static str {
    match state {
        State::Kept => "kept",
        State::New => "new",
        State::Lost => "lost",
    }
}

/// Who may take a way that there is before and now.
fn on(was: bool, is: bool) -> Option<&'static str> {
    match (was, is) {
        (true, true) => Some("kept"),
        (false, true) => Some("new"),
        (true, false) => Some("lost"),
        (false, false) => None,
    }
}

/// What the ways do not say: how often, if that is counted.
fn times(times: Times) -> Option<String> {
    let is_drawn = [ONCE, Times::OPTIONAL, Times::ANY, Times::SOME].contains(&times);
    (!is_drawn).then(|| times.to_string())
}

fn replaced(old: &Expression, new: &Expression) -> Track {
    instead(std::slice::from_ref(old), std::slice::from_ref(new))
}

/// What came in a row before and what comes there now, a track or more of them in a row.
fn gap(old: &[Expression], new: &[Expression]) -> Vec<Track> {
    let each = |state, parts: &[Expression]| -> Option<Vec<Track>> {
        parts.iter().map(|part| aside(state, part)).collect()
    };
    let asides = match (old, new) {
        ([], new) => each(State::New, new),
        (old, []) => each(State::Lost, old),
        _ => None,
    };
    asides.unwrap_or_else(|| vec![instead(old, new)])
}

/// What need not come, on one side only: the way past it is on both.
fn aside(state: State, part: &Expression) -> Option<Track> {
    let Expression::Repeated(inner, times) = part else { return None };
    let inner = match *times {
        Times::OPTIONAL => inner.as_ref().clone(),
        Times::ANY => inner.as_ref().clone().repeated(Times::SOME),
        _ => return None,
    };
    let past = Branch { state: State::Kept, track: Track::Nothing };
    Some(Track::Choice(vec![past, Branch::of(state, &inner)]))
}

/// What came in a row before, or what comes there now.
fn instead(old: &[Expression], new: &[Expression]) -> Track {
    let row = |state, parts: &[Expression]| {
        Branch::of(state, &Expression::sequence(parts.iter().cloned()))
    };
    Track::Choice(vec![row(State::Lost, old), row(State::New, new)])
}

fn repeated(order: &Expression) -> (&Expression, Times) {
    match order {
        Expression::Repeated(inner, times) => (inner, *times),
        once => (once, ONCE),
    }
}

/// Whether two orders repeat what is alike, so that one way back serves both.
fn repeats_the_same(old: &Expression, new: &Expression) -> bool {
    let inner = |order| repeated(order).0;
    let both = alike(inner(old), inner(new));
    // A part of a sequence may be what is repeated: then it is aligned there.
    let inside = |order: &Expression, other: &Expression| match order {
        Expression::Sequence(parts) | Expression::Choice(parts) => {
            parts.iter().map(|part| alike(part, other)).max().unwrap_or(0)
        }
        _ => 0,
    };
    both > 0 && both >= inside(old, new).max(inside(new, old))
}

fn alternatives(order: &Expression) -> &[Expression] {
    match order {
        Expression::Choice(parts) => parts,
        only => std::slice::from_ref(only),
    }
}

fn parts(order: &Expression) -> &[Expression] {
    match order {
        Expression::Sequence(parts) => parts,
        only => std::slice::from_ref(only),
    }
}

/// Whether a choice is one part of a sequence rather than the sequence one of its alternatives.
fn is_nearer_to_a_part(choice: &Expression, parts: &[Expression]) -> bool {
    let row = Expression::sequence(parts.iter().cloned());
    let as_part = parts.iter().map(|part| alike(choice, part)).max();
    let as_alternative = alternatives(choice).iter().map(|it| alike(it, &row)).max();
    as_part >= as_alternative
}

/// Each with the one most alike; what is left is new or lost.
fn side_by_side(old: &[Expression], new: &[Expression]) -> Vec<Branch> {
    let mut left: Vec<&Expression> = new.iter().collect();
    let (mut kept, mut alone) = (Vec::new(), Vec::new());
    for one in old {
        // The first of those that are equally alike.
        let likeness = left.iter().enumerate().map(|(at, other)| (alike(one, other), Reverse(at)));
        match likeness.max() {
            Some((score, Reverse(at))) if score > 0 => {
                let track = merged(one, left.remove(at));
                kept.push(Branch { state: State::Kept, track });
            }
            _ => alone.push(Branch::of(State::Lost, one)),
        }
    }
    alone.extend(left.into_iter().map(|it| Branch::of(State::New, it)));
    kept.extend(alone);
    kept
}

/// Parts in a row, aligned so that as much as possible lies on the same track.
fn in_a_row(old: &Expression, new: &Expression) -> Track {
    let (old, new) = (parts(old), parts(new));
    let mut row = Vec::new();
    let (mut was, mut is) = (0, 0);
    for (one, other) in aligned(old, new).into_iter().chain([(old.len(), new.len())]) {
        if was < one || is < other {
            row.extend(gap(&old[was..one], &new[is..other]));
        }
        if let (Some(old), Some(new)) = (old.get(one), new.get(other)) {
            row.push(merged(old, new));
        }
        (was, is) = (one + 1, other + 1);
    }
    Track::Sequence(row)
}

/// The places that belong together, in order: as much as possible is alike in all of them together.
fn aligned(old: &[Expression], new: &[Expression]) -> Vec<(usize, usize)> {
    let weight: Vec<Vec<usize>> =
        old.iter().map(|one| new.iter().map(|other| alike(one, other)).collect()).collect();
    let most = weight.iter().flatten().max().copied().unwrap_or(0) as u32;
    // Two that have nothing in common stand alone, each of them.
    let unlike = |one: usize, other: usize| match weight[one][other] as u32 {
        0 => 2 * most + 1,
        weight => 2 * most - weight,
    };
    let steps = cheapest(0..old.len(), 0..new.len(), most, unlike).into_iter();
    let both = steps.filter_map(|step| match step {
        Pairing::Both(one, other) => Some((one, other)),
        Pairing::Old(_) | Pairing::New(_) => None,
    });
    both.collect()
}

/// How alike two orders are: twice the events that both have, and one more if they are equal.
fn alike(one: &Expression, other: &Expression) -> usize {
    let mut left = Vec::new();
    events(other, &mut left);
    let mut own = Vec::new();
    events(one, &mut own);
    let common = own.iter().filter(|event| {
        let at = left.iter().position(|other| other == *event);
        at.map(|at| left.swap_remove(at)).is_some()
    });
    2 * common.count() + usize::from(one == other)
}

fn events<'e>(order: &'e Expression, found: &mut Vec<&'e Expression>) {
    match order {
        Expression::Nothing => {}
        Expression::Event(_) => found.push(order),
        Expression::Sequence(parts)
        | Expression::Choice(parts)
        | Expression::Interleaved(parts) => {
            parts.iter().for_each(|part| events(part, found));
        }
        Expression::Repeated(inner, _) => events(inner, found),
        Expression::Slice(slice) => events(&slice.each, found),
        Expression::Ending(all, _) => events(all, found),
    }
}

#[cfg(test)]
mod tests;
