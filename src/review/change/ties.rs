//! What changed in what ties messages together.

use super::about::About;
use super::draft::{Draft, Position, same_or_added};
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::shapes::Basis;
use crate::contract::Answer;
use crate::contract::invariant::{Invariant, Tie};

/// What recordings break, and what is promised no more or for the first time.
pub(super) fn changes(
    old: &[Invariant],
    new: &[Invariant],
    basis: Basis,
    [before, answers]: [&[Answer]; 2],
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    drafts.extend(cumulative(old, new, before));
    for answer in answers {
        for violation in answer.with_trace(answer.before(), |trace| Invariant::check(old, trace)) {
            // Of lists it is told by their names.
            if matches!(violation.invariant, Invariant::Offers(..)) {
                continue;
            }
            let at = violation.at.event.map_or(Position::Whole, Position::Said);
            let broken = changed(
                Rule::InvariantBroken,
                Verdict::Breaking,
                &violation.invariant,
                "does not hold any more",
            );
            let broken = broken.about(About::Tie(violation.invariant));
            same_or_added(&mut drafts, broken).seen(&answer.place, at);
        }
    }
    if basis == Basis::Accepted {
        // Of messages that do not come any more it is told that they do not.
        let comes =
            |tag: &str| answers.iter().flat_map(|it| &it.events).any(|it| it.tag.as_str() == tag);
        let is_gone = |invariant: &Invariant| {
            !answers.is_empty() && invariant.tag().is_some_and(|tag| !comes(tag))
        };
        drafts.extend(promised(old, new, is_gone));
    }
    drafts
}

/// Texts that were pieces, and of which each says all that came before now: whoever joins them says it again and again.
pub(super) fn cumulative(old: &[Invariant], new: &[Invariant], before: &[Answer]) -> Vec<Draft> {
    let is_it =
        |it: &&Invariant| matches!(it, Invariant::Tied(Tie::Extends, ..)) && !old.contains(it);
    let is_broken = |it: &&Invariant| {
        let alone = [(*it).clone()];
        let breaks = |answer: &Answer| {
            let broken = answer.with_trace(None, |trace| Invariant::check(&alone, trace).len());
            broken > 0
        };
        before.iter().any(breaks)
    };
    let gained = new.iter().filter(is_it).filter(is_broken).map(|invariant| {
        let how = "holds now, and did not before: each text says again what came before it";
        changed(Rule::InvariantNew, Verdict::Unproven, invariant, how)
            .because("a client that joins the texts says it twice")
    });
    gained.collect()
}

fn changed(rule: Rule, verdict: Verdict, invariant: &Invariant, how: &str) -> Draft {
    let said = invariant.to_string();
    Draft::new(rule, verdict, Part::Invariants, format!("`{said}` {how}")).keyed(said)
}

/// What an accepted text says otherwise than the one before.
fn promised(
    old: &[Invariant],
    new: &[Invariant],
    is_gone: impl Fn(&Invariant) -> bool,
) -> Vec<Draft> {
    let dropped = old.iter().filter(|it| !new.contains(it) && !is_gone(it)).map(|invariant| {
        let how = "is not promised any more";
        changed(Rule::InvariantDropped, Verdict::Unproven, invariant, how)
            .because("the new contract does not say it, and no recording breaks it")
    });
    let added = new.iter().filter(|invariant| !old.contains(invariant)).map(|invariant| {
        changed(Rule::InvariantNew, Verdict::Compatible, invariant, "is promised now")
    });
    dropped.chain(added).collect()
}
