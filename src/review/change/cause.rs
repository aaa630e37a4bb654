//! What another change brings with it: that is told of the other one, and not by itself.
//!
//! # Rationale
//!
//! A field that is a text now has no members: what tied them to other fields does not hold, and messages that were told
//! apart by one of them are of no kind that was promised. Where an identifier is another one, nothing that refers to it
//! does any more. All of it is one change of the server, and shown by the same answers.

use std::collections::BTreeSet;

use super::about::About;
use super::draft::{Draft, Trace};
use super::report::{Part, Verdict};
use super::rule::Rule;
use crate::contract::Endpoint;
use crate::contract::invariant::{Alone, Field, Invariant};

/// The changes that none of the others brings with it.
pub(super) fn alone(drafts: Vec<Draft>) -> Vec<Draft> {
    let gone: BTreeSet<&str> = drafts.iter().filter_map(gone).collect();
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    let ties = |at: usize| drafts.iter().filter(|other| are_tied(&drafts[at], other)).count();
    let rank = |at: &usize| {
        let draft = &drafts[*at];
        (rank(draft, &gone), usize::MAX - ties(*at), depth(draft), is_numbered(draft))
    };
    let ranks: Vec<_> = order.iter().map(rank).collect();
    order.sort_by_key(|at| (ranks[*at], *at));
    let mut kept: Vec<(usize, Draft)> = Vec::new();
    for at in order {
        let draft = &drafts[at];
        let causes = || kept.iter().filter(|(_, cause)| brings(cause, draft, &gone));
        let covered: BTreeSet<&String> = causes().flat_map(|(_, cause)| shown(cause)).collect();
        let is_covered =
            shown(draft).next().is_some() && shown(draft).all(|it| covered.contains(it));
        let first = causes().next().map(|(at, _)| *at).filter(|_| is_covered);
        match kept.iter_mut().find(|(at, _)| Some(*at) == first) {
            Some((_, cause)) => cause.brings.push(draft.what.clone()),
            None => kept.push((at, draft.clone())),
        }
    }
    kept.sort_by_key(|(at, _)| *at);
    kept.into_iter().map(|(_, draft)| draft).collect()
}

/// Tells what is answered instead once: not also what is new at the endpoints beside it, and what is gone there.
pub(super) fn instead(all: &mut [(&Endpoint, Vec<Draft>)]) {
    for at in 0..all.len() {
        let endpoint = all[at].0;
        let causes: Vec<Draft> = all[at].1.iter().filter(|it| says_instead(it)).cloned().collect();
        for cause in causes {
            let told: BTreeSet<&String> = shown(&cause).collect();
            let is_gone = |draft: &Draft, status: u16| {
                let is_of_refusal = cause.key.starts_with(&status.to_string())
                    || cause.rule == Rule::MediaNew && status == endpoint.status;
                matches!(draft.rule, Rule::StatusGone | Rule::MediaGone)
                    && draft.shown.is_none()
                    && (status < 400 || is_of_refusal)
            };
            // Answers that take the place of others are of another kind than those that they stand among now.
            let is_there = |draft: &Draft| {
                draft.shown.is_some() && shown(draft).all(|place| told.contains(place))
            };
            // A request that is refused is told of the endpoint that refuses it now, unless that took the place of
            // another refusal.
            let is_of = |draft: &Draft, other: &Endpoint| match draft.rule {
                Rule::RequestRefused if cause.rule == Rule::StatusNew => {
                    draft.key.starts_with(&cause.key) || draft.key.ends_with(&cause.key)
                }
                _ => other != endpoint,
            };
            let mut brought = Vec::new();
            for (other, drafts) in &mut *all {
                if (&other.method, &other.path) == (&endpoint.method, &endpoint.path) {
                    let is_brought = |draft: &mut Draft| {
                        cause.verdict <= draft.verdict
                            && (is_gone(draft, other.status)
                                || is_there(draft) && is_of(draft, other))
                    };
                    // How those are asked that are answered otherwise is no news of the others that are answered so.
                    let told = drafts.extract_if(.., is_brought).filter(|it| !is_request(it.rule));
                    brought.extend(told.map(|draft| draft.what));
                }
            }
            if let Some(cause) = all[at].1.iter_mut().find(|it| it.is(&cause)) {
                cause.brings.append(&mut brought);
            }
        }
    }
}

/// What an answer says is no graver than that it comes, where nobody knows whether that was asked for before.
pub(super) fn of_unproven(drafts: &mut [Draft]) {
    let is_unproven = |it: &Draft| {
        it.verdict == Verdict::Unproven && matches!(it.rule, Rule::StatusNew | Rule::MediaNew)
    };
    if drafts.iter().any(is_unproven) {
        let is_said = |it: &&mut Draft| {
            it.verdict == Verdict::Breaking
                && matches!(it.part, Part::Body | Part::Events | Part::Headers)
        };
        drafts.iter_mut().filter(is_said).for_each(|draft| draft.doubt(UNKNOWN));
    }
}

/// Why an answer that is recorded for the first time may break nobody.
pub(super) const UNKNOWN: &str = "whether it was asked for before is not known";

/// Whether a rule tells what requests say.
fn is_request(rule: Rule) -> bool {
    matches!(rule, Rule::RequestWider | Rule::RequestNarrower | Rule::RequestRequired)
}

/// Whether a change says that something else is answered than before.
fn says_instead(draft: &Draft) -> bool {
    match draft.rule {
        Rule::RequestRefused | Rule::StatusGone => draft.shown.is_some(),
        Rule::StatusNew | Rule::MediaNew | Rule::MediaGone => {
            draft.shown.is_some() && draft.verdict == Verdict::Breaking
        }
        _ => false,
    }
}

/// The type of messages that are not seen any more.
fn gone(draft: &Draft) -> Option<&str> {
    (draft.rule == Rule::TagGone).then_some(draft.key.as_str())
}

/// Those of the types that are gone that an order misses.
fn missed<'d>(draft: &'d Draft, gone: &BTreeSet<&str>) -> impl Iterator<Item = &'d str> {
    let trace = draft.trace.iter().filter(|_| draft.part == Part::Order);
    trace.flat_map(Trace::types).filter(|tag| gone.contains(tag))
}

/// What brings comes before what is brought.
fn rank(draft: &Draft, gone: &BTreeSet<&str>) -> usize {
    match draft.part {
        _ if draft.rule == Rule::InvariantBroken => 1,
        Part::Order if missed(draft, gone).next().is_some() => 0,
        Part::Events | Part::Body if is_of_value(draft.rule) => 0,
        _ => 2,
    }
}

/// Whether a rule tells what stands in a place, or that nothing does. An order may name a type by a word that stands
/// there.
fn is_of_value(rule: Rule) -> bool {
    use Rule::{FieldMissing, KindNew, TypeNew, ValueNew, ValueOther};
    matches!(rule, TypeNew | KindNew | FieldMissing | ValueNew | ValueOther)
}

fn shown(draft: &Draft) -> impl Iterator<Item = &String> {
    draft.shown.iter().flat_map(|shown| &shown.places)
}

/// Whether a change brings another one with it, if the same answers show both.
fn brings(cause: &Draft, draft: &Draft, gone: &BTreeSet<&str>) -> bool {
    let is_graver = cause.verdict <= draft.verdict;
    is_graver
        && match cause.rule {
            Rule::InvariantBroken => are_of_key(cause, draft) || are_tied(cause, draft),
            Rule::FieldMissing if is_sliced_by(draft, &cause.path) => true,
            rule if is_of_value(rule) && rank(cause, gone) == 0 => speaks_of(draft, cause),
            _ => missed(cause, gone).any(|tag| ties(draft, tag)),
        }
}

/// Whether a tie speaks of messages of a type.
fn ties(draft: &Draft, tag: &str) -> bool {
    let About::Tie(invariant) = &draft.about else { return false };
    invariant.fields().iter().any(|field| field.tag.as_deref() == Some(tag))
}

/// Where a key is not as it always was, other messages belong to one of it, and pieces of one message are several:
/// that is told of the key, and not of each that comes behind another there.
fn are_of_key(cause: &Draft, draft: &Draft) -> bool {
    draft.rule != Rule::InvariantBroken
        && (draft.is_again && cause.about.ties(&draft.about)
            || cause.key.split(' ').any(|field| is_sliced_by(draft, field)))
}

/// Whether a change is in the order of messages that belong together by a field. Where that is gone, all belong to one.
fn is_sliced_by(draft: &Draft, field: &str) -> bool {
    draft.slices.as_deref().is_some_and(|key| ends_in(field, key))
}

/// Whether a place is that field: all of it, or a field of messages of a type.
fn ends_in(place: &str, field: &str) -> bool {
    place.strip_suffix(field).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Whether two invariants are broken in the same answers, and speak of the same field of messages.
fn are_tied(one: &Draft, other: &Draft) -> bool {
    let (About::Tie(tie), About::Tie(another)) = (&one.about, &other.about) else { return false };
    let are_shown = || shown(one).eq(shown(other));
    // Without a path it is the messages themselves, which are counted.
    let is_same = |one: &Field, other: &Field| {
        let are_of_one = one.tag == other.tag || one.tag.is_none() || other.tag.is_none();
        one.path == other.path && are_of_one && !one.path.as_str().is_empty()
    };
    let others = another.fields();
    let is_tied = tie.fields().iter().any(|one| others.iter().any(|other| is_same(one, other)));
    are_shown() && (is_tied || come_again(tie, another) || are_of_rows(tie, another))
}

/// Whether one is the order of a list, and the other is that no row of it comes twice, or none is left out.
fn are_of_rows(tie: &Invariant, another: &Invariant) -> bool {
    let is_order =
        |it: &Invariant| matches!(it, Invariant::Sorted(..) | Invariant::Alone(Alone::Counting, _));
    let list = |it: &Invariant| {
        let is_of_rows = is_order(it) || matches!(it, Invariant::Alone(Alone::Unique, _));
        let fields = if is_of_rows { it.fields() } else { Vec::new() };
        let (list, _) = fields.first()?.path.as_str().split_once("[]")?;
        Some(list.to_owned())
    };
    [tie, another].into_iter().any(is_order)
        && list(tie).is_some_and(|one| list(another) == Some(one))
}

/// Whether a message that comes twice breaks both.
fn come_again(tie: &Invariant, another: &Invariant) -> bool {
    let unique = |it: &Invariant| match it {
        Invariant::Alone(Alone::Unique, field) => Some(field.tag.clone()),
        _ => None,
    };
    unique(tie).is_some_and(|tag| unique(another) == Some(tag))
}

/// Whether messages or rows are not numbered one after the other: where one comes twice, that is told.
fn is_numbered(draft: &Draft) -> bool {
    matches!(&draft.about, About::Tie(Invariant::Alone(Alone::Counting, _)))
}

/// How deep the field stands of which a tie speaks: of a message that comes twice its own fields tell that first.
fn depth(draft: &Draft) -> usize {
    let About::Tie(invariant) = &draft.about else { return 0 };
    let fields = invariant.fields();
    let depth = |field: &&Field| field.path.as_str().matches(['.', '[']).count();
    fields.iter().map(depth).min().unwrap_or_default()
}

/// Whether what has changed is about what stands in the place of another change, or below it.
fn speaks_of(draft: &Draft, cause: &Draft) -> bool {
    let is_below = |place: &str| {
        let below = place.strip_prefix(&*cause.path).filter(|_| !cause.path.is_empty());
        below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
    };
    match (&draft.about, draft.part) {
        (About::Tie(invariant), _) => invariant.fields().into_iter().any(|field| {
            let tag = field.tag.as_ref().map_or(String::new(), |tag| format!("{tag}."));
            is_below(&format!("{tag}{}", field.path.as_str()))
        }),
        (_, Part::Order) => draft.trace.iter().any(|trace| {
            let deviates = trace.tags.get(trace.at).map_or("", |tag| tag.trim_end_matches('+'));
            let labelled = trace.patterns().filter(|it| it.tag.as_deref() == Some(deviates));
            let mut fields = labelled.flat_map(|it| &it.guards).map(|guard| &*guard.path);
            // It is gone where it always was, and so it is where it was at times.
            let is_gone = |field| cause.rule == Rule::FieldMissing && ends_in(&cause.path, field);
            fields.any(|field| is_below(&format!("{deviates}.{field}")) || is_gone(field))
        }),
        (_, part) => part == cause.part && draft.path != cause.path && is_below(&draft.path),
    }
}

#[cfg(test)]
mod tests {
    use super::super::draft::{Position, ShownPlaces};
    use super::*;

    fn shown(rule: Rule, part: Part, key: &str, place: &str) -> Draft {
        let draft = Draft::new(rule, Verdict::Breaking, part, key.to_owned()).keyed(key);
        draft.witnessed(Some(ShownPlaces::new(place, Position::Whole)))
    }

    #[test]
    fn what_spoke_of_a_value_is_told_with_the_value() {
        let tie = |said: &str, place| {
            let invariant = Invariant::parse(said).expect("it is one").remove(0);
            shown(Rule::InvariantBroken, Part::Invariants, said, place).about(About::Tie(invariant))
        };
        let value = shown(Rule::TypeNew, Part::Events, "string", "one #1").at("start.block");
        let all = [
            tie("stop.id refers to earlier start.block.id", "one #1"),
            tie("start.blocks constant", "one #1"),
            tie("start.block.id constant", "two #1"),
            value,
            tie("start.n increasing", "three #1"),
            tie("stop.n refers to start.n", "three #1"),
        ];

        let alone = alone(all.to_vec());

        let told: Vec<(&str, usize)> =
            alone.iter().map(|it| (it.key.as_str(), it.brings.len())).collect();
        let expected = [
            ("start.blocks constant", 0),
            ("start.block.id constant", 0),
            ("string", 1),
            ("start.n increasing", 1),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_message_that_comes_twice_is_told_once_and_by_its_own_identifier() {
        let unique = |said: &str, place| {
            let invariant = Invariant::parse(said).expect("it is one").remove(0);
            shown(Rule::InvariantBroken, Part::Invariants, said, place).about(About::Tie(invariant))
        };
        let all = [
            unique("row.changes[].rev unique", "one #1"),
            unique("row.id unique", "one #1"),
            unique("end.id unique", "one #1"),
            unique("row.seq unique", "two #1"),
        ];

        let alone = alone(all.to_vec());

        let told: Vec<(&str, usize)> =
            alone.iter().map(|it| (it.key.as_str(), it.brings.len())).collect();
        assert_eq!(told, [("row.id unique", 1), ("end.id unique", 0), ("row.seq unique", 0)]);
    }

    #[test]
    fn what_stands_in_slices_of_a_broken_key_is_told_of_the_key() {
        let tie = |key: &str| shown(Rule::InvariantBroken, Part::Invariants, key, "one #1");
        let next = |slices: &str, place| Draft {
            slices: Some(slices.to_owned()),
            ..shown(Rule::OrderNextNew, Part::Order, slices, place)
        };
        let all = [
            tie("added.output_index increasing by 1"),
            next("output_index", "one #1"),
            next("output_index", "two #1"),
            next("index", "one #1"),
            shown(Rule::OrderNextNew, Part::Order, "of no slices", "one #1"),
        ];

        let kept: Vec<String> = alone(all.to_vec()).into_iter().map(|it| it.key).collect();

        assert_eq!(
            kept,
            ["added.output_index increasing by 1", "output_index", "index", "of no slices"]
        );
    }
}
