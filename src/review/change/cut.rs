//! Answers that the server cuts, and did not.
//!
//! # Rationale
//!
//! Where the same request was answered before, one recording shows it. Else numbers do: how many recordings of an
//! endpoint were cut before, which the head of a contract says too, and how many are now. A server that cuts an
//! answer now and then does so by chance.

use std::collections::BTreeSet;

use super::compare::Promises;
use super::draft::{Draft, Position, ShownPlaces};
use super::instead::recordings;
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::weight::{CHANCE, CHANCE_OF_ALL};
use crate::contract::order::exact;
use crate::contract::{Endpoint, Origin};

/// Of how many recordings of an endpoint the server cut an answer.
#[derive(Clone, Copy)]
struct Cut {
    cut: usize,
    all: usize,
}

impl Cut {
    fn recorded(endpoint: &Endpoint, side: &Promises) -> Self {
        let answers = side.traffic.answers(endpoint);
        let places: BTreeSet<&str> = answers.iter().map(|answer| &*answer.place).collect();
        let cut = side.traffic.cut(endpoint);
        let count = |is: &dyn Fn(&str) -> bool| {
            let cut = cut.iter().filter(|cut| is(&cut.place));
            cut.map(|cut| cut.recording).collect::<BTreeSet<_>>().len()
        };
        let read = recordings(answers);
        Self { cut: count(&|_| true), all: read + count(&|place| !places.contains(place)) }
    }

    fn promised(origin: &Origin) -> Self {
        Self { cut: origin.cut, all: origin.recordings.max(origin.cut) }
    }

    fn is_each(self) -> bool {
        self.cut == self.all
    }

    /// Whether more are cut than on the other side.
    fn is_more_than(self, other: Self) -> bool {
        self.cut * other.all.max(1) > other.cut * self.all
    }

    /// How likely chance alone makes the difference.
    fn chance(self, other: Self) -> f64 {
        exact([self, other].map(|side| (side.cut as u64, side.all as u64)))
    }
}

/// What an answer of an endpoint does now that came to its end before.
pub(super) fn change(
    [before, endpoint]: [&Endpoint; 2],
    was: &Promises,
    is: &Promises,
) -> Option<Draft> {
    let promise = was.all.get(before)?;
    let cut = is.traffic.cut(endpoint);
    let (first, place) = (cut.first()?, cut.iter().map(|cut| &*cut.place));
    let are_recorded = was.are_recorded();
    let origin = &promise.contract.origin;
    let old = if are_recorded { Cut::recorded(before, was) } else { Cut::promised(origin) };
    let new = Cut::recorded(endpoint, is);
    if !new.is_more_than(old) {
        return None;
    }
    let shown = ShownPlaces::of(place, Position::Whole)?;
    // The only cassette in which there was anything is the same scenario, recorded again.
    let is_same = !are_recorded
        && old.cut == 0
        && shown.cassettes().iter().any(|cassette| origin.is_of(cassette));
    let chance = new.chance(old);
    // A contract that a person has written says of all answers what it says.
    let is_rare = chance <= CHANCE_OF_ALL || old.all == 0;
    let is_proof = chance < CHANCE || new.is_each() && new.cut > 1 && is_rare;
    let draft = cut_by(first.end.as_str()).witnessed(Some(shown));
    if is_proof || is_same {
        return Some(draft);
    }
    let (now, then) =
        (format!("{} of {}", new.cut, new.all), format!("{} of {}", old.cut, old.all));
    let why = format!("{now} recordings show it, and {then} before: that may be chance");
    Some(Draft { verdict: Verdict::Unproven, ..draft }.because(why))
}

/// What became of an answer, by how it ended.
pub(super) fn cut_by(end: &str) -> Draft {
    let what = format!("an answer that came to its end does not any more: `{end}`");
    Draft::new(Rule::AnswerCut, Verdict::Breaking, Part::Endpoint, what).keyed(end)
}
