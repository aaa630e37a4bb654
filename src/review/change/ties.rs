//! What changed in what ties messages together.

use super::draft::{Draft, Position};
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::shapes::Basis;
use crate::contract::Answer;
use crate::contract::invariant::Invariant;

/// What recordings break, and what is promised no more or for the first time.
pub(super) fn changes(
    old: &[Invariant],
    new: &[Invariant],
    basis: Basis,
    answers: &[Answer],
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for answer in answers {
        for violation in answer.with_trace(answer.before(), |trace| Invariant::check(old, trace)) {
            let at = violation.at.event.map_or(Position::Whole, Position::Said);
            broken(&violation.invariant, &mut drafts).seen(&answer.place, at);
        }
    }
    if basis == Basis::Accepted {
        drafts.extend(promised(old, new));
    }
    drafts
}

fn broken<'d>(invariant: &Invariant, drafts: &'d mut Vec<Draft>) -> &'d mut Draft {
    let said = invariant.to_string();
    let number = drafts.iter().position(|draft| draft.key == said).unwrap_or_else(|| {
        let what = format!("`{said}` does not hold any more");
        let draft = Draft::new(Rule::InvariantBroken, Verdict::Breaking, Part::Invariants, what);
        drafts.push(draft.keyed(said));
        drafts.len() - 1
    });
    &mut drafts[number]
}

/// What an accepted text says otherwise than the one before.
fn promised(old: &[Invariant], new: &[Invariant]) -> Vec<Draft> {
    let dropped = old.iter().filter(|invariant| !new.contains(invariant)).map(|invariant| {
        let said = invariant.to_string();
        let what = format!("`{said}` is not promised any more");
        Draft::new(Rule::InvariantDropped, Verdict::Unproven, Part::Invariants, what)
            .keyed(said)
            .because("the new contract does not say it, and no recording breaks it")
    });
    let added = new.iter().filter(|invariant| !old.contains(invariant)).map(|invariant| {
        let said = invariant.to_string();
        let what = format!("`{said}` is promised now");
        Draft::new(Rule::InvariantNew, Verdict::Compatible, Part::Invariants, what).keyed(said)
    });
    dropped.chain(added).collect()
}
