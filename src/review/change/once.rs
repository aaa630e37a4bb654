//! Changes that are told once, where several are found.

use super::draft::{Draft, Trace, at};
use super::report::Verdict;
use super::rule::Rule;
use crate::contract::type_alone;
use crate::message::NO_EVENT;

/// A new type of message is found in the order and among the shapes: it is one change. Among the shapes it may be called
/// by what it answers as well.
pub(super) fn each_tag(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut kept: Vec<Draft> = Vec::new();
    for draft in drafts {
        let same = |other: &&mut Draft| {
            matches!(draft.rule, Rule::TagNew | Rule::TagGone)
                && other.rule == draft.rule
                && [Some(&*draft.key), type_alone(&draft.key)].contains(&Some(&*other.key))
        };
        match kept.iter_mut().find(same) {
            Some(other) => other.possible = other.possible.take().or(draft.possible),
            None => kept.push(draft),
        }
    }
    without_event_names(without_questions(kept))
}

/// Where messages that named what they answer are of no question now, they still come.
fn without_questions(mut drafts: Vec<Draft>) -> Vec<Draft> {
    let gone = drafts.iter().filter(|it| it.rule == Rule::TagGone);
    let types: Vec<String> = gone.filter_map(|it| type_alone(&it.key)).map(str::to_owned).collect();
    let news = drafts.iter_mut().filter(|it| it.rule == Rule::TagNew && types.contains(&it.key));
    let mut unnamed = Vec::new();
    for draft in news {
        draft.what = format!("`{}` messages name nothing any more that was asked", draft.key);
        unnamed.push(draft.key.clone());
    }
    drafts.retain(|it| {
        let own = type_alone(&it.key).filter(|_| it.rule == Rule::TagGone);
        own.is_none_or(|own| !unnamed.iter().any(|it| it == own))
    });
    drafts
}

/// Where the names of SSE events are gone, all types of messages have lost theirs: one change, and they still come.
fn without_event_names(drafts: Vec<Draft>) -> Vec<Draft> {
    let unnamed = |draft: &Draft| {
        let unnamed = draft.key.strip_suffix(NO_EVENT).filter(|_| draft.rule == Rule::TagNew);
        unnamed.map(str::to_owned)
    };
    let types: Vec<String> = drafts.iter().filter_map(unnamed).collect();
    let is_there = |it: &Draft| it.rule == Rule::TagGone && types.contains(&it.key);
    let mut kept: Vec<Draft> = Vec::new();
    for mut draft in drafts.into_iter().filter(|draft| !is_there(draft)) {
        if types.len() > 1 && unnamed(&draft).is_some() {
            if let Some(first) = kept.iter_mut().find(|it| it.key == NO_EVENT) {
                first.show_for(&draft);
                continue;
            }
            let more = types.len() - 1;
            let s = if more > 1 { "s" } else { "" };
            let first = &types[0];
            draft.what = format!(
                "`{first}` and {more} other type{s} come without the names of their SSE events"
            );
            draft.key = NO_EVENT.to_owned();
        }
        kept.push(draft);
    }
    kept
}

/// What is told of several kinds of requests in the same words is told once.
pub(super) fn for_all_cases(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut kept: Vec<Draft> = Vec::new();
    for draft in drafts {
        if !kept.iter_mut().any(|other| other.join(&draft)) {
            kept.push(draft);
        }
    }
    kept
}

/// What does not come any more is told with what comes in its place: a type of message with the places of the
/// order where it is missing, if they are several, and a type of value with the one that it has now.
pub(super) fn with_what_is_gone(drafts: Vec<Draft>) -> Vec<Draft> {
    let is_gone = |draft: &Draft| matches!(draft.rule, Rule::TagGone | Rule::TypeGone);
    let (mut gone, mut drafts): (Vec<Draft>, Vec<Draft>) = drafts.into_iter().partition(is_gone);
    for draft in drafts.iter_mut().filter(|draft| draft.rule == Rule::TypeNew) {
        let same = |gone: &Draft| {
            let of = |draft: &Draft| (draft.part, draft.path.clone());
            gone.rule == Rule::TypeGone && of(gone) == of(draft)
        };
        if let Some(number) = gone.iter().position(same) {
            let gone = gone.remove(number);
            let name = at(gone.part, &gone.path);
            let never = gone.what.strip_prefix(&name).unwrap_or(&gone.what);
            draft.what = format!("{}, and{never}", draft.what);
        }
    }
    // The word that is said now has told which one is not.
    let instead =
        drafts.iter().flat_map(|it| it.instead.iter().map(|word| (it.path.clone(), word.clone())));
    let instead: Vec<(String, String)> = instead.collect();
    drafts.retain(|draft| {
        let is_it = |(path, word): &(String, String)| (path, word) == (&draft.path, &draft.key);
        draft.rule != Rule::ValueGone || !instead.iter().any(is_it)
    });
    for gone in gone.iter_mut().filter(|gone| gone.rule == Rule::TagGone) {
        let lacks = |draft: &Draft| missing(draft).contains(&&*gone.key);
        let places = drafts.iter().filter(|draft| lacks(draft)).map(Draft::places);
        if places.sum::<usize>() > 1 {
            let (without, others) = drafts.into_iter().partition(lacks);
            drafts = others;
            let without: Vec<Draft> = without;
            without.iter().for_each(|draft| gone.show(draft));
        }
    }
    drafts.extend(gone);
    drafts
}

/// One new type of message where one is gone: it may be called otherwise.
pub(super) fn tell_renamed(drafts: &mut Vec<Draft>) {
    let only = |rule: Rule| {
        let mut all = drafts.iter().enumerate().filter(|(_, draft)| draft.rule == rule);
        all.next().filter(|_| all.next().is_none())
    };
    let (Some((new, _)), Some((at, gone))) = (only(Rule::TagNew), only(Rule::TagGone)) else {
        return;
    };
    if gone.verdict == Verdict::Trim {
        let gone = drafts[at].key.clone();
        drafts[new].what.push_str(&format!(", and `{gone}` is not seen any more"));
        drafts.remove(at);
    }
}

/// The types of messages that are missing in an order.
fn missing(draft: &Draft) -> Vec<&str> {
    let is_missing = matches!(draft.rule, Rule::OrderMissing | Rule::OrderEndNew);
    let trace = draft.trace.iter().filter(|_| is_missing);
    trace.flat_map(Trace::types).collect()
}
