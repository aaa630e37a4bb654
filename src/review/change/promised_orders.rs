//! What changed in the order of messages.

use std::collections::BTreeSet;

use super::draft::{Draft, tag_gone};
use super::orders::{self, Covered, ShownTrace, case_name, deviations, tags, unknown_case};
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::shapes::Basis;
use crate::contract::order::{Gains, Neighbours, Word};
use crate::contract::{Answer, Case, Condition, Orders};

/// So many lost neighbours are named in a sentence.
const NAMED: usize = 4;

/// What recordings show, what the orders promise otherwise, and what is not seen any more.
pub(super) fn changes(
    [old, new]: [Option<&Orders>; 2],
    basis: Basis,
    [before, answers]: [&[Answer]; 2],
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    match (old, new) {
        (Some(old), Some(new)) => {
            orders::shown(old, [before, answers], &mut drafts);
            let promised = promised(old, new);
            // What was learned tells the shortest trace, which no recording has to be.
            for draft in &mut drafts {
                let same = promised.iter().find(|other| other.is(draft));
                draft.keep_shorter(same.and_then(|other| other.trace.as_ref()));
            }
            if basis == Basis::Accepted {
                let is_known = |draft: &Draft| drafts.iter().any(|other| other.is(draft));
                let unseen: Vec<Draft> =
                    promised.into_iter().filter(|draft| !is_known(draft)).map(unseen).collect();
                drafts.extend(unseen);
            }
            let gone = gone(old, new, (&drafts, orders::seen_next(before)));
            drafts.extend(gone);
            orders::unseen(old, before, answers, &mut drafts);
        }
        // Streams that said something are empty.
        (Some(old), None) => orders::shown(old, [before, answers], &mut drafts),
        (None, Some(_)) => drafts.extend(first(answers)),
        (None, None) => {}
    }
    drafts
}

fn unseen(mut draft: Draft) -> Draft {
    if draft.verdict == Verdict::Breaking {
        let why = "no recording shows it; the trace keeps the new contract and breaks the old one";
        draft.why = why.to_owned();
    }
    draft
}

/// Messages where no order was known.
fn first(answers: &[Answer]) -> Option<Draft> {
    let what = "messages come where none were promised".to_owned();
    let mut draft = Draft::new(Rule::OrderWider, Verdict::Breaking, Part::Order, what);
    // A list in a JSON answer shows an order only where several types are in it.
    let is_stream = |answer: &&Answer| answer.body.is_none();
    if !answers.iter().any(|answer| is_stream(&answer)) {
        return None;
    }
    for answer in answers.iter().filter(is_stream).filter(|answer| answer.has_messages()) {
        draft.seen(&answer.place, super::draft::Position::Whole);
    }
    if draft.shown.is_none() {
        draft.verdict = Verdict::Unproven;
    }
    Some(draft)
}

/// What the new orders allow and the old ones do not.
///
/// A request belongs to the first case that fits. If both sides have the same cases, each is compared
/// with its own; else a new case is compared with all old ones that the same request may belong to.
fn promised(old: &Orders, new: &Orders) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let there = tags(new);
    let gone = orders::gone(old, |tag| there.contains(tag));
    if have_same_cases(old, new) {
        for (before, after) in old.cases.iter().zip(&new.cases) {
            gained((old, &gone), [before, after], Verdict::Breaking, &mut drafts);
        }
        return drafts;
    }
    for case in &new.cases {
        let may_be: Vec<&Case> = old.cases.iter().filter(|it| may_be_one(it, case)).collect();
        // A request for which no old case fits had no order.
        let is_known = may_be
            .iter()
            .any(|it| it.when.iter().all(|one| case.when.iter().any(|other| one.covers(other))));
        if !is_known {
            let covered = may_be.iter().all(|before| before.order.covers(&case.order));
            let covered = Covered::when(covered && !may_be.is_empty());
            drafts.push(unknown_case(case_name(case).unwrap_or_default(), covered));
        }
        for before in &may_be {
            let is_the_one = may_be.len() == 1 || before.when == case.when;
            let verdict = if is_the_one { Verdict::Breaking } else { Verdict::Unproven };
            gained((old, &gone), [before, case], verdict, &mut drafts);
        }
    }
    drafts
}

fn have_same_cases(old: &Orders, new: &Orders) -> bool {
    old.cases.iter().map(|case| &case.when).eq(new.cases.iter().map(|case| &case.when))
}

/// Whether a request may belong to both cases: nothing in one contradicts the other.
fn may_be_one(one: &Case, other: &Case) -> bool {
    let contradicts = |condition: &Condition| other.when.iter().any(|it| it.excludes(condition));
    !one.when.iter().any(contradicts)
}

fn gained(
    (old, gone): (&Orders, &BTreeSet<String>),
    [before, after]: [&Case; 2],
    verdict: Verdict,
    drafts: &mut Vec<Draft>,
) {
    match before.order.gains(&after.order) {
        Gains::Nothing => {}
        Gains::Traces(traces) => {
            let known = drafts.len();
            for tokens in traces {
                let word = Word { tokens, ..Word::default() };
                let shown = ShownTrace { word: &word, before: None, gone };
                deviations(old, before, &shown, None, drafts);
            }
            drafts.iter_mut().skip(known).for_each(|draft| draft.verdict = verdict);
        }
        Gains::Unknown => drafts.push(unknown(before)),
    }
}

fn unknown(before: &Case) -> Draft {
    let what = "the order is another one".to_owned();
    Draft::new(Rule::OrderWider, Verdict::Unproven, Part::Order, what)
        .because("it could not be proved that the old order allows all that the new one does")
        .within(case_name(before))
}

/// What is not seen any more: types of messages, neighbours, and kinds of requests. What the old order allowed and no
/// recording of before shows was not seen then either.
fn gone(
    old: &Orders,
    new: &Orders,
    (told, seen): (&[Draft], Option<BTreeSet<Neighbours>>),
) -> Vec<Draft> {
    let (were, are) = (tags(old), tags(new));
    let mut drafts: Vec<Draft> =
        were.difference(&are).map(|tag| tag_gone(Part::Order, tag)).collect();
    // What changed places is not where it was: that is told.
    let is_told = |case: &Case, pair: &Neighbours| {
        let name = case_name(case);
        let is_of = |draft: &&Draft| draft.cases.is_empty() || draft.cases.first() == name.as_ref();
        told.iter().filter(is_of).any(|draft| draft.lost.contains(pair))
    };
    for case in &old.cases {
        match new.cases.iter().find(|other| other.when == case.when) {
            None if !new.cases.iter().any(|other| may_be_one(other, case)) => {
                drafts.push(case_gone(case));
            }
            None => {}
            Some(after) => {
                let lost = case.order.neighbours();
                let is_kept = |tag: &Option<String>| tag.as_ref().is_none_or(|it| are.contains(it));
                // What became a case of its own is still seen there.
                let is_of = |other: &&Case| {
                    if have_same_cases(old, new) {
                        other.when == after.when
                    } else {
                        may_be_one(other, case)
                    }
                };
                let kept: BTreeSet<Neighbours> =
                    new.cases.iter().filter(is_of).flat_map(|it| it.order.neighbours()).collect();
                let lost: BTreeSet<&Neighbours> = lost
                    .difference(&kept)
                    .filter(|(from, to)| is_kept(from) && is_kept(to))
                    .filter(|pair| !is_told(case, pair))
                    .filter(|pair| seen.as_ref().is_none_or(|seen| seen.contains(pair)))
                    .collect();
                drafts.extend(next_gone(case, &lost, seen.is_some()));
            }
        }
    }
    drafts
}

fn case_gone(case: &Case) -> Draft {
    let what = "such requests are not recorded any more".to_owned();
    Draft::new(Rule::CaseGone, Verdict::Trim, Part::Order, what).within(case_name(case))
}

fn next_gone(case: &Case, lost: &BTreeSet<&Neighbours>, was_seen: bool) -> Option<Draft> {
    let pairs: Vec<String> = lost.iter().map(|pair| neighbours(pair)).collect();
    let more = pairs.len().checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    let named = pairs.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let is_lost = if was_seen { "not seen any more" } else { "allowed, and shown by no recording" };
    let what = format!("{is_lost}: {named}{more}");
    let draft = Draft::new(Rule::OrderNextGone, Verdict::Trim, Part::Order, what);
    let draft = draft.keyed(pairs.join(";")).within(case_name(case));
    (!pairs.is_empty()).then_some(draft)
}

fn neighbours((from, to): &Neighbours) -> String {
    match (from, to) {
        (Some(from), Some(to)) => format!("`{to}` after `{from}`"),
        (Some(from), None) => format!("the end after `{from}`"),
        (None, Some(to)) => format!("`{to}` at the beginning"),
        (None, None) => "an empty stream".to_owned(),
    }
}
