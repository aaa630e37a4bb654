//! What recordings show of the order of messages.

use std::collections::{BTreeSet, HashMap};

use super::about::About;
use super::draft::{Draft, Position, THE_END, Trace, either, first_time, names, same_or_added};
use super::gap::Gap;
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::swap::{neighbours, swapped};
use crate::contract::order::{
    Deviation, Event, Explanation, Extent, Fault, Neighbours, Next, Place, Slicing, Token, Word,
};
use crate::contract::{Answer, Case, Orders};
use crate::message::{CLOSE, DONE};

/// Who shows a trace, if a recording does.
pub(super) type TraceSource<'a> = Option<&'a str>;

/// What recordings show that the old orders do not allow.
pub(super) fn shown(old: &Orders, [before, answers]: [&[Answer]; 2], drafts: &mut Vec<Draft>) {
    let said = words(answers).flat_map(|(_, word)| &word.tokens);
    let said: BTreeSet<&str> = said.map(|token| &*token.tag).collect();
    let gone = if said.is_empty() { BTreeSet::new() } else { gone(old, |tag| said.contains(tag)) };
    let before: HashMap<&str, &Word> =
        before.iter().filter_map(|it| Some((&*it.place, it.word.as_ref()?))).collect();
    for answer in answers {
        let Some(word) = &answer.word else { continue };
        let fitting = old.fitting(&answer.situation);
        match fitting.last() {
            Some(_) if fitting.iter().any(|case| case.order.keeps(word)) => {}
            Some(case) => {
                let before = before.get(&*answer.place).copied();
                let shown = ShownTrace { word, before, gone: &gone };
                deviations(old, case, &shown, Some(&answer.place), drafts);
            }
            // What no case knows may be as in any.
            None if old.cases.iter().any(|case| case.order.keeps(word)) => {}
            None => {
                let so = old.so(&answer.situation);
                add(drafts, unknown_case(so, Covered::NotByAll), Some(&answer.place), 0);
            }
        }
    }
}

/// What the old orders allow that no old recording shows: they were generalised, and that is no
/// permission.
pub(super) fn unseen(orders: &Orders, old: &[Answer], new: &[Answer], drafts: &mut Vec<Draft>) {
    let anywhere: BTreeSet<&str> = orders.anywhere().collect();
    let ordered = |word: &Word| word.without(|tag| anywhere.contains(tag));
    let olds: Vec<Word> = words(old).map(|(_, word)| ordered(word)).collect();
    if olds.is_empty() {
        return;
    }
    let slicing = Slicing::find(&olds);
    let edges = |word: &Word| Slicing::edges(slicing.as_ref(), word);
    // What the slices do not fit any more is held against whole streams.
    let whole = |word: &Word| Slicing::edges(None, word);
    let mut known: BTreeSet<_> =
        olds.iter().flat_map(|it| [edges(it), whole(it)]).flatten().collect();
    // What was cut shows what came up to there.
    let end = Place::End.to_string();
    let cut = old.iter().filter_map(|answer| answer.word.as_ref());
    let cut: Vec<Word> = cut.filter(|word| !word.extent.is_whole()).map(ordered).collect();
    let came = cut.iter().flat_map(|it| [edges(it), whole(it)]).flatten();
    known.extend(came.filter(|(_, _, to)| *to != end));
    for (answer, word) in words(new) {
        let unseen: Vec<_> =
            edges(&ordered(word)).into_iter().filter(|it| !known.contains(it)).collect();
        let mut fitting = orders.fitting(&answer.situation).into_iter();
        // What is not allowed is told by itself.
        if unseen.is_empty() || !fitting.any(|case| case.order.keeps(word)) {
            continue;
        }
        // How the server would have closed what its client has closed nobody knows.
        let is_left = |to: &str| word.extent == Extent::Left && to == end;
        for (slice, from, to) in unseen.into_iter().filter(|(_, _, to)| !is_left(to)) {
            let at = word.tokens.iter().position(|token| token.tag == to);
            let slices = slicing.as_ref().map(|slicing| slicing.key.clone());
            let draft = Draft { slices, ..unseen_edge(&slice, &from, &to) };
            add(drafts, draft, Some(&answer.place), at.unwrap_or(word.tokens.len()));
        }
    }
}

/// What recordings show next to each other: in the stream, or among what belongs together. Nothing if there are none.
pub(super) fn seen_next(answers: &[Answer]) -> Option<BTreeSet<Neighbours>> {
    let all: Vec<Word> = words(answers).map(|(_, word)| word.clone()).collect();
    let slicing = Slicing::find(&all);
    let ways =
        |word| Slicing::edges(slicing.as_ref(), word).into_iter().chain(Slicing::edges(None, word));
    let [start, end] = [Place::Start, Place::End].map(|place| place.to_string());
    let seen = all.iter().flat_map(ways).map(|(_, from, to)| {
        (Some(from).filter(|it| *it != start), Some(to).filter(|it| *it != end))
    });
    (!all.is_empty()).then(|| seen.collect())
}

/// The answers in messages of which all came.
pub(super) fn words(answers: &[Answer]) -> impl Iterator<Item = (&Answer, &Word)> {
    let all = answers.iter().filter_map(|answer| Some((answer, answer.word.as_ref()?)));
    all.filter(|(_, word)| word.extent.is_whole())
}

fn unseen_edge(slice: &str, from: &str, to: &str) -> Draft {
    let [start, end] = [Place::Start, Place::End].map(|place| place.to_string());
    let (rule, what) = match (from == start, to == end) {
        (_, true) => (Rule::OrderEndNew, format!("the stream ends after {}", called(from))),
        (true, _) => (Rule::OrderStartNew, format!("the stream begins with {}", called(to))),
        _ => (Rule::OrderNextNew, format!("{} comes after {}", called(to), called(from))),
    };
    let what = if slice.is_empty() { what } else { format!("{what} (among {})", called(slice)) };
    let what = format!("{what}, as in no recording before");
    let about = if from == start { About::Answers } else { About::Messages(from.to_owned()) };
    let draft = Draft::new(rule, Verdict::Breaking, Part::Order, what);
    Draft { is_again: from == to, ..draft.keyed(format!("{slice}:{from}>{to}?")).about(about) }
}

/// What an order calls so: a type of message, or what is said of one thing.
fn called(name: &str) -> String {
    let Some(slice) = name.strip_prefix("per ") else { return format!("`{name}`") };
    match slice.split_once(' ') {
        Some((key, types)) => format!("what is of one `{key}` {types}"),
        None => format!("what is of one `{slice}`"),
    }
}

/// Whether what comes is in order whatever was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Covered {
    ByAll,
    NotByAll,
}

impl Covered {
    pub(super) fn when(all: bool) -> Self {
        if all { Self::ByAll } else { Self::NotByAll }
    }
}

/// The types of a trace as it is shown.
pub(super) fn shown_tags(word: &Word) -> Vec<String> {
    let mark = |token: &Token| format!("{}{}", token.tag, if token.run { "+" } else { "" });
    word.tokens.iter().map(mark).collect()
}

/// The types that orders name and that are not there any more.
pub(super) fn gone(orders: &Orders, is_there: impl Fn(&str) -> bool) -> BTreeSet<String> {
    tags(orders).into_iter().filter(|tag| !is_there(tag)).collect()
}

/// A trace, the one that it came in the place of, and the types that no trace has any more.
pub(super) struct ShownTrace<'a> {
    pub(super) word: &'a Word,
    pub(super) before: Option<&'a Word>,
    pub(super) gone: &'a BTreeSet<String>,
}

/// What a trace has that an order does not allow.
pub(super) fn deviations(
    orders: &Orders,
    case: &Case,
    ShownTrace { word, before, gone }: &ShownTrace<'_>,
    seen: TraceSource<'_>,
    drafts: &mut Vec<Draft>,
) {
    let events = word.events();
    if case.order.keeps(word) {
        return;
    }
    let (word, before) = (*word, *before);
    let explanation = case.order.explain_beside(word, before);
    let swapped = swapped(case, &explanation, word);
    let is_told = !swapped.is_empty();
    for (draft, at) in swapped {
        add(drafts, draft.within(case_name(case)), seen, at);
    }
    if is_told {
        return;
    }
    let mut told: Vec<(Draft, usize)> = Vec::new();
    for deviation in without_gone(case, word, gone, together(&explanation)) {
        let mut draft = of_deviation(orders, &deviation, &events);
        let at = word.token_of(deviation.at);
        if draft.rule != Rule::TagNew {
            draft = draft.within(case_name(case));
        }
        // What belongs to no slice may have lost its key.
        draft.slices = case.order.expression().key().map(str::to_owned);
        let expected = deviation.expected.clone();
        draft.trace = Some(Trace { tags: shown_tags(word), at, expected });
        draft.lost = parted(&deviation, &events);
        if word.extent == Extent::Left && at == word.tokens.len() && is_close(&deviation) {
            draft.doubt("the client closed it first, and the server may have been about to");
        }
        told.push((draft, at));
    }
    // What comes as it does for other requests is one change, however many messages are others.
    let is_another = |other: &Case| other != case && other.order.keeps(word);
    if orders.cases.iter().any(is_another) {
        let more: Vec<String> =
            told.drain(1.min(told.len())..).map(|(draft, _)| draft.what).collect();
        if let Some((first, _)) = told.first_mut() {
            first.brings = more;
            if first.why.is_empty() {
                first.why = "it comes as it does for other requests".to_owned();
            }
        }
    }
    for (draft, at) in told {
        add(drafts, draft, seen, at);
    }
}

/// What deviates where types are gone: where all else is in order, they are missing, and nothing comes out of place.
fn without_gone(
    case: &Case,
    word: &Word,
    gone: &BTreeSet<String>,
    found: Vec<Deviation>,
) -> Vec<Deviation> {
    let is_all = || case.order.with_optional(gone).is_some_and(|order| order.keeps(word));
    if gone.is_empty() || !is_all() {
        return found;
    }
    let is_gone = |next: &Next| match next {
        Next::Event(it) => it.tag.as_ref().is_some_and(|tag| gone.contains(tag)),
        Next::End => false,
    };
    let missing = found.iter().filter_map(|it| {
        let expected: Vec<Next> = it.expected.iter().filter(|it| is_gone(it)).cloned().collect();
        (!expected.is_empty()).then(|| Deviation { fault: Fault::Missing, expected, ..it.clone() })
    });
    let missing: Vec<Deviation> = missing.collect();
    if missing.is_empty() { found } else { missing }
}

/// Whether nothing may be missing but that the server closes the connection.
fn is_close(deviation: &Deviation) -> bool {
    deviation.fault == Fault::Missing
        && deviation.expected.iter().any(|it| match it {
            Next::Event(pattern) => pattern.tag.as_ref().is_some_and(|tag| tag.starts_with(CLOSE)),
            Next::End => false,
        })
}

/// The neighbours between which something came.
fn parted(deviation: &Deviation, events: &[Event<'_>]) -> BTreeSet<Neighbours> {
    if deviation.fault != Fault::Unexpected {
        return BTreeSet::new();
    }
    let mut without = events.to_vec();
    without.remove(deviation.at);
    &neighbours(&without) - &neighbours(events)
}

/// What is not in order. Several that are missing in one place are told as one: the first of them says
/// what was expected there.
fn together(explanation: &Explanation) -> Vec<Deviation> {
    let mut kept: Vec<Deviation> = Vec::new();
    for deviation in explanation.deviations() {
        let goes_on = kept.last().is_some_and(|last| {
            (last.fault, deviation.fault) == (Fault::Missing, Fault::Missing)
                && (last.at, &last.slice) == (deviation.at, &deviation.slice)
        });
        if !goes_on {
            kept.push(deviation.clone());
        }
    }
    kept
}

/// Adds a change, or one more answer that shows it; the shortest trace is kept.
pub(super) fn add(drafts: &mut Vec<Draft>, draft: Draft, seen: TraceSource<'_>, at: usize) {
    let known = same_or_added(drafts, draft.clone());
    known.lost.extend(draft.lost.iter().cloned());
    known.show(&draft);
    if let Some(place) = seen {
        known.seen(place, Position::Step(at));
    }
}

/// For which requests: what must be so; nothing if that is nothing.
pub(super) fn case_name(case: &Case) -> Option<String> {
    let conditions: Vec<String> = case.when.iter().map(ToString::to_string).collect();
    (!conditions.is_empty()).then(|| conditions.join(", "))
}

/// Requests that no order was known for: what is so of them.
pub(super) fn unknown_case(so: String, covered: Covered) -> Draft {
    let (verdict, why) = match covered {
        Covered::ByAll => (Verdict::Compatible, "the order is allowed for all other requests"),
        Covered::NotByAll => (
            Verdict::Unproven,
            "not all other requests allow what comes now, so nothing shows what it was before",
        ),
    };
    let what = "no order was known for such a request".to_owned();
    Draft::new(Rule::CaseNew, verdict, Part::Order, what).because(why).within(Some(so))
}

fn of_deviation(orders: &Orders, deviation: &Deviation, events: &[Event<'_>]) -> Draft {
    let tag = |at: usize| events.get(at).map(|event| event.tag);
    // What stands before it may be in order elsewhere: in slices.
    let before = deviation.at.checked_sub(1).filter(|_| deviation.slice.is_none());
    let after = deviation.after.or(before).and_then(tag);
    // Of slices each has a beginning and an end.
    let key = deviation.slice.as_ref().map(|(key, _)| key.as_str());
    let all = key.map_or("the stream".to_owned(), |key| format!("what belongs to one `{key}`"));
    let behind = match (after, key) {
        (Some(tag), _) => format!("after `{tag}`"),
        (None, None) => "at the beginning".to_owned(),
        (None, Some(key)) => format!("at the beginning of what belongs to one `{key}`"),
    };
    let mut wanted = names(&deviation.expected);
    // What may come again and again was there.
    if wanted.len() > 1 {
        wanted.retain(|tag| Some(tag.as_str()) != after);
    }
    let (rule, what, got) = match (deviation.fault, tag(deviation.at)) {
        (Fault::Missing, got) => {
            let got = got.filter(|tag| *tag != DONE).unwrap_or(THE_END);
            let got = BTreeSet::from([got.to_owned()]);
            let after = after.map(str::to_owned);
            return Gap { all, after, behind, wanted, got }.draft();
        }
        (Fault::Apart, got) => {
            let (key, got) = (key.unwrap_or_default(), got.unwrap_or_default());
            (Rule::OrderApart, format!("`{got}` of a `{key}` comes when that was over"), got)
        }
        (_, got) => unexpected(
            orders,
            got.unwrap_or_default(),
            after,
            (&all, &behind),
            (deviation, &wanted),
        ),
    };
    let key = format!("{}>{got}!{}", after.unwrap_or_default(), wanted.join("|"));
    let key = if rule == Rule::TagNew { got.to_owned() } else { key };
    let about = match after.filter(|_| rule != Rule::TagNew) {
        Some(tag) => About::Messages(tag.to_owned()),
        None => About::Answers,
    };
    let is_again = after == Some(got);
    let draft = Draft::new(rule, Verdict::Breaking, Part::Order, what);
    Draft { is_again, ..draft.keyed(key).about(about) }
}

fn unexpected<'a>(
    orders: &Orders,
    got: &'a str,
    after: Option<&str>,
    (all, behind): (&str, &str),
    (deviation, wanted): (&Deviation, &[String]),
) -> (Rule, String, &'a str) {
    if !tags(orders).contains(got) {
        return (Rule::TagNew, format!("{}, first {behind}", first_time(got)), got);
    }
    let promised = match wanted {
        [] => "where nothing was promised".to_owned(),
        wanted => format!("where {} was promised", either(wanted)),
    };
    let is_got = |next: &Next| matches!(next, Next::Event(it) if it.tag.as_deref() == Some(got));
    match after {
        None if deviation.expected.iter().any(is_got) => {
            let what = format!("{all} begins with `{got}`, and does not go on as promised then");
            (Rule::OrderStartNew, what, got)
        }
        // It was, but what follows it here has to come before.
        Some(_) if wanted.iter().any(|wanted| wanted == got) => {
            let what = format!("`{got}` comes {behind} more often than was promised");
            (Rule::OrderNextNew, what, got)
        }
        Some(_) => (Rule::OrderNextNew, format!("`{got}` comes {behind}, {promised}"), got),
        None => (Rule::OrderStartNew, format!("{all} begins with `{got}`, {promised}"), got),
    }
}

/// All types of messages that the orders know.
pub(super) fn tags(orders: &Orders) -> BTreeSet<String> {
    orders.cases.iter().flat_map(|case| case.order.tags()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_one_thing_is_called_by_what_names_it() {
        let said = |slice: &str, from: &str, to: &str| unseen_edge(slice, from, to).what;

        assert_eq!(said("", "a", "b"), "`b` comes after `a`, as in no recording before");
        assert_eq!(
            said("", "per toolCallId", "finish"),
            "`finish` comes after what is of one `toolCallId`, as in no recording before"
        );
        assert_eq!(
            said("per step_id without call", "a", "b"),
            "`b` comes after `a` (among what is of one `step_id` without call), as in no recording before"
        );
    }
}
