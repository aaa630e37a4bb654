//! What answers now where an endpoint is not recorded any more.
//!
//! # Rationale
//!
//! With recordings of both sides, the same request shows it. A contract does not say what was asked: only how
//! many independent recordings it comes from. If those of another answer are so many more now that they make
//! up for all that are lost, the same scenarios were recorded again, and are answered otherwise.

use std::collections::{BTreeSet, HashMap};

use super::always::Question;
use super::compare::Promises;
use super::draft::{Draft, Position, ShownPlaces};
use super::report::Verdict;
use super::requests::{self, Unanswered, as_often};
use super::rule::Rule;
use super::weight::{CHANCE, CHANCE_OF_ALL, Weight};
use crate::contract::order::{FEWEST, Witness, exact};
use crate::contract::{Answer, Endpoint, cassette_of, without_names};
use crate::text::json::Text;

/// Another answer of the path, which was known and is no refusal, in the place of one that is gone.
pub(super) fn answered(gone: &Endpoint, was: &Promises, is: &Promises) -> Option<Draft> {
    // What the server failed to do before, it may do.
    if gone.status >= 500 {
        return None;
    }
    let may_be = |it: &Endpoint| it.status < 400 && is_beside(gone, it) && was.all.contains_key(it);
    let others = || is.all.keys().filter(|it| may_be(it));
    let asked = others().find_map(|it| asked_again(gone, it, was, is));
    let asked = asked.or_else(|| others().find_map(|it| asked_alike(gone, it, was, is)));
    let asked = asked.or_else(|| others().find_map(|it| in_its_place(gone, it, was, is)));
    // Who is not refused any more may ask for something else.
    let is_counted = !was.are_recorded() && gone.status < 400;
    let counted = || is_counted.then(|| more_often(gone, &may_be, was, is)).flatten();
    let (other, shown, weight) = asked.or_else(counted)?;
    let draft = if other.status == gone.status {
        requests::of_other_media(&gone.media, &other.media)
    } else {
        requests::answered_otherwise(gone.status, other.status)
    };
    let by_chance = weight.as_ref().and_then(|_| other_scenarios(gone, was, is));
    let draft = weighed(draft, gone, shown, weight, was);
    Some(match by_chance {
        Some(why) if draft.verdict == Verdict::Breaking => {
            Draft { verdict: Verdict::Unproven, ..draft }.because(why)
        }
        _ => draft,
    })
}

/// Whether a client that follows redirects asks for something else at once.
pub(super) fn is_redirect(status: u16) -> bool {
    matches!(status, 301..=303 | 307 | 308)
}

/// A refusal that is recorded for the first time may be that of a question which was never asked: one that
/// was answered before is told by itself.
pub(super) fn status_new(status: u16) -> Verdict {
    if status >= 400 { Verdict::Unproven } else { Verdict::Breaking }
}

/// Another success, or media type, may be the answer to a question that was never asked. It breaks clients where
/// it takes the place of one of `like`: where the same was asked before, or all of them are gone, unless one
/// recording is all there is beside the contract of many.
pub(super) fn takes_place(
    endpoint: &Endpoint,
    like: impl Fn(&Endpoint) -> bool,
    was: &Promises,
    is: &Promises,
) -> Verdict {
    let before = || was.all.iter().filter(|(it, _)| like(it));
    let now = is.questions(endpoint);
    let is_answered_again = before().any(|(it, _)| !was.questions(it).is_disjoint(&now));
    let is_left = before().any(|(it, _)| is.all.contains_key(it));
    let cassettes: BTreeSet<&str> = is.places(endpoint).into_iter().map(cassette_of).collect();
    let may_be_of =
        |cassette: &&str| before().any(|(_, promise)| promise.contract.origin.may_be_of(cassette));
    // Where one cassette was all that was known, several others may be others.
    let is_of_one = before().all(|(_, promise)| promise.contract.origin.cassette.is_some());
    let is_other = !was.are_recorded()
        && (cassettes.len() < 2 || is_of_one)
        && !cassettes.iter().any(may_be_of);
    // What was only refused, of another request, may always have been answered.
    let were_refused = endpoint.status < 400 && before().all(|(it, _)| it.status >= 400);
    let may_be_other = is_left || is_other || were_refused;
    // As where one and the same request shows it.
    let is_chance = were_refused && as_often(cassettes.len() as u64, 0) >= CHANCE;
    if may_be_other && (is_chance || !is_answered_again) {
        Verdict::Unproven
    } else {
        Verdict::Breaking
    }
}

/// A refusal in the place of an answer that is gone, where no other answer is left.
pub(super) fn refused(gone: &Endpoint, was: &Promises, is: &Promises) -> Option<Draft> {
    let is_answered = is.all.keys().any(|it| it.status < 400 && is_beside(gone, it));
    if gone.status >= 400 || is_answered {
        return None;
    }
    let may_be = |it: &Endpoint| it.status >= 400 && is_beside(gone, it);
    let (now, shown, weight) = more_often(gone, &may_be, was, is)?;
    Some(weighed(requests::refused(gone.status, now.status), gone, shown, weight, was))
}

/// Calls unproven what may be refused by what the server has in mind: the same request was answered and refused
/// before, and refusals are not more than chance makes them. Where they are no more than before, and most of what was
/// answered still is, nothing has changed.
pub(super) fn weighed_refusals(
    mut all: Vec<Unanswered>,
    was: &Promises,
    is: &Promises,
) -> Vec<Unanswered> {
    if all.iter().all(|it| it.refused.is_none()) {
        return all;
    }
    let counts = [was, is].map(counted);
    let places: HashMap<&str, (&Endpoint, &Answer)> = was
        .traffic
        .endpoints()
        .flat_map(|it| {
            was.traffic.answers(it).iter().map(move |answer| (&*answer.place, (it, answer)))
        })
        .collect();
    let asked = |it: &Unanswered| {
        let (refused, (endpoint, answer)) = it.refused.zip(places.get(&*it.place))?;
        Some((question(endpoint, answer, refused), answer.witness))
    };
    let mut turned: HashMap<_, BTreeSet<Witness>> = HashMap::new();
    for (question, recording) in all.iter().filter_map(asked) {
        turned.entry(question).or_default().insert(recording);
    }
    all.retain_mut(|it| {
        let Some((refused, (endpoint, answer))) = it.refused.zip(places.get(&*it.place)) else {
            return true;
        };
        let [old, new] = counts.each_ref().map(|counts| {
            let count = |status| counts.get(&question(endpoint, answer, status)).copied();
            let refused = count(refused).unwrap_or_default();
            (refused, refused + count(endpoint.status).unwrap_or_default())
        });
        let is_no_more = new.0 * old.1 <= old.0 * new.1;
        let turned = turned.get(&question(endpoint, answer, refused)).map_or(0, BTreeSet::len);
        if old.0 > 0 && is_no_more && 2 * turned as u64 <= old.1 - old.0 {
            return false;
        }
        if old.0 > 0 && (is_no_more || exact([new, old]) >= CHANCE) {
            let ((now, all), (then, before)) = (new, old);
            it.draft.doubt(format!(
                "{now} of {all} such requests are refused, and {then} of {before} were before: that may be chance"
            ));
        }
        true
    });
    // What is told of several is told as the worst of them.
    all.sort_by_key(|it| it.draft.verdict != Verdict::Breaking);
    all
}

/// What is asked where, as JSON, and with which status that is answered.
type AnsweredRequest<'a> = (&'a str, String, Option<&'a str>, u16);

fn question<'a>(endpoint: &'a Endpoint, answer: &'a Answer, status: u16) -> AnsweredRequest<'a> {
    (&endpoint.method, without_names(&endpoint.path), answer.said_by_client(), status)
}

/// How many recordings there are of each.
fn counted(side: &Promises) -> HashMap<AnsweredRequest<'_>, u64> {
    let mut recordings: HashMap<AnsweredRequest<'_>, BTreeSet<Witness>> = HashMap::new();
    for endpoint in side.traffic.endpoints() {
        for answer in side.traffic.answers(endpoint) {
            let question = question(endpoint, answer, endpoint.status);
            recordings.entry(question).or_default().insert(answer.witness);
        }
    }
    recordings.into_iter().map(|(question, all)| (question, all.len() as u64)).collect()
}

fn is_beside(one: &Endpoint, other: &Endpoint) -> bool {
    one.method == other.method && one.path == other.path
}

/// What answers now, who shows it, and how far numbers prove that, if that is all that is known.
type Instead<'a> = (&'a Endpoint, ShownPlaces, Option<Weight>);

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

/// It answers in the place of each one that is gone, to requests that say the same: what tells them apart stands in
/// their header fields, such as `range`.
fn in_its_place<'a>(
    gone: &Endpoint,
    it: &'a Endpoint,
    was: &Promises,
    is: &Promises,
) -> Option<Instead<'a>> {
    let answers = is.traffic.answers(it);
    let now: HashMap<&str, &Answer> = answers.iter().map(|it| (&*it.place, it)).collect();
    let before = was.traffic.answers(gone).iter();
    let there = |answer: &Answer| {
        let other = *now.get(&*answer.place)?;
        Question::of(answer).says_as(&Question::of(other)).then_some(other)
    };
    let there: Option<Vec<&Answer>> = before.map(there).collect();
    let there = there.filter(|there| recordings(there.iter().copied()) > 1)?;
    Some((it, shown(there)?, None))
}

/// It answers what says something that each request to the other one said, and none to it: `stream=true`.
fn asked_alike<'a>(
    gone: &Endpoint,
    it: &'a Endpoint,
    was: &Promises,
    is: &Promises,
) -> Option<Instead<'a>> {
    let (before, known) = (was.asked(gone), was.asked(it));
    if known.is_empty() {
        return None;
    }
    let mut telling = before.iter().map(|asked| said(asked));
    let first = telling.next()?;
    let mut telling = telling.fold(first, |all, said| &all & &said);
    for asked in known {
        telling = &telling - &said(asked);
    }
    let answers = is.traffic.answers(it).iter();
    let alike = answers.filter(|answer| {
        answer.asked.as_deref().is_some_and(|asked| !said(asked).is_disjoint(&telling))
    });
    let alike: Vec<&Answer> = alike.collect();
    let now = recordings(alike.iter().copied()) as u64;
    let then = recordings(was.traffic.answers(gone)) as u64;
    let is_proof = exact([(now, now), (0, then)]) < CHANCE;
    Some((it, shown(alike).filter(|_| is_proof)?, None))
}

/// The words and truths that a request says, with their places.
fn said(asked: &str) -> BTreeSet<(String, String)> {
    let leaves = Text::read(asked).map(Text::leaves).unwrap_or_default().into_iter();
    let telling = leaves.filter(|leaf| leaf.spelled.starts_with(['"', 't', 'f']));
    telling.map(|leaf| (leaf.pointer, leaf.spelled.to_owned())).collect()
}

/// It has so many recordings more than the contracts know of as the one that is gone had, or more, or fewer that are
/// no chance.
fn more_often<'a>(
    gone: &Endpoint,
    may_be: &dyn Fn(&Endpoint) -> bool,
    was: &Promises,
    is: &'a Promises,
) -> Option<Instead<'a>> {
    let promised = |it: &Endpoint| was.all.get(it).map_or(0, |it| it.contract.origin.recordings);
    let more = |it: &Endpoint| recordings(is.traffic.answers(it)).saturating_sub(promised(it));
    let now = is.all.keys().filter(|it| may_be(it)).max_by_key(|it| more(it))?;
    let (lost, more) = (promised(gone), more(now));
    let shown = shown(is.traffic.answers(now))?;
    // One cassette alone is another scenario, unless it is the only one that there was.
    let is_other = shown.cassettes().len() < 2 && !is_of_same(gone, &shown, was);
    // What was known before may answer other requests.
    let is_new = promised(now) == 0;
    let is_enough =
        more >= lost || (is_new && exact([(more as u64, more as u64), (0, lost as u64)]) < CHANCE);
    (lost > 0 && is_enough && !is_other).then_some(())?;
    let weight =
        Weight { broken: more, all: more, before: Some(lost), promised: lost, ..Weight::default() };
    Some((now, shown, Some(weight)))
}

/// Why another answer may come to other requests: where only the contract is known, nobody knows what is asked anew.
fn other_scenarios(gone: &Endpoint, was: &Promises, is: &Promises) -> Option<String> {
    let before = was.all.iter().filter(|(it, _)| is_beside(gone, it));
    let before: usize = before.map(|(_, it)| it.contract.origin.recordings).sum();
    let now = is.all.keys().filter(|it| is_beside(gone, it));
    let now: usize = now.map(|it| recordings(is.traffic.answers(it))).sum();
    (!was.are_recorded() && now > before).then(|| {
        format!("{now} recordings show the path, and {before} did before: others may ask otherwise")
    })
}

/// Calls unproven that no answer of the path is any more what many were before, if chance hardly explains it: who was
/// refused may be served now, or asks for what nobody refuses. What else is gone, recordings of before would show.
pub(super) fn weigh_gone(draft: Draft, gone: &Endpoint, was: &Promises, is: &Promises) -> Draft {
    let before = |it: &Endpoint| was.all.get(it).map_or(0, |it| it.contract.origin.recordings);
    // A refusal is told by itself; what is refused no more is a success.
    let is_refusal = gone.status >= 400;
    let chance = if is_refusal { CHANCE_OF_ALL } else { CHANCE };
    let could = |it: &&Endpoint| (is_refusal || it.status < 400) && is_beside(gone, it);
    let (lost, all) = (before(gone), was.all.keys().filter(could).map(before).sum::<usize>());
    let now = is.all.keys().filter(could).map(|it| recordings(is.traffic.answers(it))).sum();
    let is_told = matches!(draft.rule, Rule::StatusGone | Rule::MediaGone);
    let is_often = lost >= FEWEST && now >= FEWEST;
    if !is_told
        || !is_often
        || (was.are_recorded() && !is_refusal)
        || exact([(0, now as u64), (lost as u64, all as u64)]) >= chance
    {
        return draft;
    }
    let why = match is_refusal {
        true => format!(
            "{lost} of {all} recordings were refused so, and none of {now} is: hardly chance, unless clients do not ask \
             for that any more"
        ),
        false => hardly_chance(now, [lost, all]),
    };
    Draft { verdict: Verdict::Unproven, ..draft }.because(why)
}

/// What numbers say of what no recording shows any more, and so many of before did.
pub(super) fn hardly_chance(now: usize, [seen, all]: [usize; 2]) -> String {
    format!(
        "{seen} of {all} recordings showed the old state, and none of {now} does: hardly chance, but nothing promised it"
    )
}

/// Whether the only cassette shows it in which there was anything else.
fn is_of_same(gone: &Endpoint, shown: &ShownPlaces, was: &Promises) -> bool {
    let origin = was.all.get(gone).map(|promise| &promise.contract.origin);
    let is_it = |cassette: &String| origin.is_some_and(|origin| origin.is_of(cassette));
    shown.cassettes().iter().any(is_it)
}

/// How many of them are independent.
pub(super) fn recordings<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> usize {
    answers.into_iter().map(|answer| answer.witness).collect::<BTreeSet<_>>().len()
}

/// Who shows an answer, the first one there.
pub(super) fn shown<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Option<ShownPlaces> {
    ShownPlaces::of(answers.into_iter().map(|answer| &*answer.place), Position::Whole)
}

/// What few recordings show is unproven, unless they are of the only cassette in which there was anything else.
fn weighed(
    draft: Draft,
    gone: &Endpoint,
    shown: ShownPlaces,
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
