//! What answers now where an endpoint is not recorded any more.
//!
//! # Rationale
//!
//! With recordings of both sides, the same request shows it. A contract does not say what was asked: only how
//! many independent recordings it comes from. If those of another answer are so many more now that they make
//! up for all that are lost, the same scenarios were recorded again, and are answered otherwise.

use std::collections::BTreeSet;

use super::compare::Promises;
use super::draft::{Draft, Position, Shown};
use super::report::{Part, Verdict};
use super::requests;
use super::rule::Rule;
use super::weight::Weight;
use crate::contract::{Answer, Endpoint};

/// Another answer of the path, which was known and is no refusal, in the place of one that is gone.
pub(super) fn answered(gone: &Endpoint, was: &Promises, is: &Promises) -> Option<Draft> {
    let may_be = |it: &Endpoint| it.status < 400 && is_beside(gone, it) && was.all.contains_key(it);
    let asked = is.all.keys().filter(|it| may_be(it)).find_map(|it| asked_again(gone, it, was, is));
    let (now, shown, weight) = asked.or_else(|| more_often(gone, &may_be, was, is))?;
    let (rule, before, now) = if now.status == gone.status {
        (Rule::MediaGone, format!("`{}`", gone.media), format!("`{}`", now.media))
    } else {
        (Rule::StatusGone, gone.status.to_string(), now.status.to_string())
    };
    let what = format!("a request that was answered with {before} is answered with {now}");
    let draft = Draft::new(rule, Verdict::Breaking, Part::Endpoint, what);
    Some(weighed(draft, gone, shown, weight, was))
}

/// A refusal in the place of an answer that is gone, where no other answer is left. Where the recordings of before
/// are at hand, they show which request is refused.
pub(super) fn refused(gone: &Endpoint, was: &Promises, is: &Promises) -> Option<Draft> {
    let is_answered = is.all.keys().any(|it| it.status < 400 && is_beside(gone, it));
    if gone.status >= 400 || is_answered {
        return None;
    }
    let may_be = |it: &Endpoint| it.status >= 400 && is_beside(gone, it);
    let (now, shown, weight) = more_often(gone, &may_be, was, is)?;
    Some(weighed(requests::refused(gone.status, now.status), gone, shown, weight, was))
}

fn is_beside(one: &Endpoint, other: &Endpoint) -> bool {
    one.method == other.method && one.path == other.path
}

/// What answers now, who shows it, and how far numbers prove that, if that is all that is known.
type Instead<'a> = (&'a Endpoint, Shown, Option<Weight>);

/// It answers what the other one was asked before, and was not asked itself.
fn asked_again<'a>(
    gone: &Endpoint,
    it: &'a Endpoint,
    was: &Promises,
    is: &Promises,
) -> Option<Instead<'a>> {
    let (asked, known) = (was.asked(gone), was.asked(it));
    let is_same = |now: &str| asked.contains(now) && !known.contains(now);
    let answers = is.traffic.answers(it).iter();
    let same = answers.filter(|answer| answer.asked.as_deref().is_some_and(is_same));
    Some((it, shown(same)?, None))
}

/// It has so many recordings more than the contracts know of as the one that is gone had, or more.
fn more_often<'a>(
    gone: &Endpoint,
    may_be: &dyn Fn(&Endpoint) -> bool,
    was: &Promises,
    is: &'a Promises,
) -> Option<Instead<'a>> {
    if was.traffic.endpoints().next().is_some() {
        return None;
    }
    let promised = |it: &Endpoint| was.all.get(it).map_or(0, |it| it.contract.origin.recordings);
    let more = |it: &Endpoint| recordings(is.traffic.answers(it)).saturating_sub(promised(it));
    let now = is.all.keys().filter(|it| may_be(it)).max_by_key(|it| more(it))?;
    let (lost, more) = (promised(gone), more(now));
    let shown = shown(is.traffic.answers(now).iter())?;
    // One cassette alone is another scenario, unless it is the only one that there was.
    let is_other = shown.cassettes().len() < 2 && !is_of_same(gone, &shown, was);
    (lost > 0 && more >= lost && !is_other).then_some(())?;
    let weight =
        Weight { broken: more, all: more, before: Some(lost), promised: lost, ..Weight::default() };
    Some((now, shown, Some(weight)))
}

/// Whether the only cassette shows it in which there was anything else.
fn is_of_same(gone: &Endpoint, shown: &Shown, was: &Promises) -> bool {
    let origin = was.all.get(gone).map(|promise| &promise.contract.origin);
    let is_it = |cassette: &String| origin.is_some_and(|origin| origin.is_of(cassette));
    shown.cassettes().iter().any(is_it)
}

/// How many of them are independent.
fn recordings(answers: &[Answer]) -> usize {
    answers.iter().map(|answer| answer.witness).collect::<BTreeSet<_>>().len()
}

fn shown<'a>(mut answers: impl Iterator<Item = &'a Answer>) -> Option<Shown> {
    let mut shown = Shown::new(&answers.next()?.place, Position::Whole);
    shown.places.extend(answers.map(|answer| answer.place.clone()));
    Some(shown)
}

/// What few recordings show is unproven, unless they are of the only cassette in which there was anything else.
fn weighed(
    draft: Draft,
    gone: &Endpoint,
    shown: Shown,
    weight: Option<Weight>,
    was: &Promises,
) -> Draft {
    let is_same = is_of_same(gone, &shown, was);
    let draft = draft.witnessed(Some(shown));
    match weight {
        Some(weight) if !weight.is_proof() && !is_same => {
            Draft { verdict: Verdict::Unproven, ..draft }.because(weight.sentence())
        }
        _ => draft,
    }
}
