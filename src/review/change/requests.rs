//! What changed in what clients send: the server has to take what it took.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::compare::named_media;
use super::cut::cut_by;
use super::draft::{Draft, Position, ShownPlaces, at, cut, same_or_added};
use super::instead::{is_redirect, recordings};
use super::report::{CassettePair, Difference, Exchange, InteractionPair, Part, Verdict};
use super::rule::Rule;
use super::shapes::{self, Broken};
use super::weight::CHANCE;
use crate::cassette::End;
use crate::contract::order::FEWEST;
use crate::contract::shape::{Gain, Gained, Schema, Shape};
use crate::contract::{Answer, Contract, ERROR, JsonMessage, Kinds, RESULT_OF};
use crate::text::json::Text;
use crate::text::rpc::{self, Envelope, Speech};

/// What the recorded requests of one endpoint say otherwise than before.
pub(super) fn changes(old: &[Answer], new: &[Answer]) -> Vec<Draft> {
    let (old, new): (Vec<&Answer>, Vec<&Answer>) = (old.iter().collect(), new.iter().collect());
    let (was, is) = match (learned(&old), learned(&new)) {
        (Some(was), Some(is)) => (was, is),
        (Some(_), None) if !new.is_empty() => return vec![no_json()],
        _ => return Vec::new(),
    };
    // What is recorded on one side alone shows nothing of what clients send no more.
    let there: HashSet<&str> = new.iter().map(|it| it.cassette()).collect();
    let again: Vec<&Answer> =
        old.iter().copied().filter(|it| there.contains(it.cassette())).collect();
    let (old_again, was_again) = match learned(&again) {
        Some(was) => (&again, was),
        None => (&old, was.clone()),
    };
    // Either side may have told requests apart that the other did not: what was sent decides.
    let lost: Vec<Gain> =
        shown(is.gains(&was_again), &is, old_again).into_iter().map(|(gain, _)| gain).collect();
    let gained = shown(was.gains(&is), &was, &new);
    // What all said and none says, or says as something else, is not known to be taken any more.
    let is_other = |gain: &Gain| {
        let of = |what: &Gained| match what {
            Gained::Field | Gained::Missing => Some(true),
            Gained::Type | Gained::Filled | Gained::Number => Some(false),
            _ => None,
        };
        let is_it = |it: &&Gain| it.place == gain.place && of(&it.what) == of(&gain.what);
        of(&gain.what).is_some() && gained.iter().any(|(it, _)| is_it(&it))
    };
    let narrower = lost.iter().filter_map(|gain| {
        let draft = narrower(gain)?;
        Some(if is_other(gain) { unasked(draft) } else { draft })
    });
    let wider = gained.iter().filter_map(|(gain, place)| wider(gain, place));
    narrower.chain(wider).collect()
}

/// What a side asks that the requests of the other one do not look like, and where it first does.
fn shown<'a>(gains: Vec<Gain>, other: &Schema, answers: &[&'a Answer]) -> Vec<(Gain, &'a str)> {
    let asked = answers.iter().filter_map(|it| Some((request(it)?, it.place.as_str())));
    let broken: Vec<_> = asked.map(|(json, place)| (place, shapes::broken(other, json))).collect();
    let first = |gain: &Gain| {
        let shows = |(it, found): &Broken<'_>| shapes::shows(gain, it, *found);
        let first = broken.iter().find(|(_, broken)| broken.iter().any(shows));
        first.map(|(place, _)| *place)
    };
    gains.into_iter().filter_map(|gain| first(&gain).map(|place| (gain, place))).collect()
}

const UNASKED: &str = "no recording shows whether the server still takes what it took";

/// Something that is not asked any more.
fn unasked(draft: Draft) -> Draft {
    match draft.rule {
        Rule::RequestNarrower => Draft { verdict: Verdict::Unproven, ..draft }.because(UNASKED),
        _ => draft,
    }
}

fn no_json() -> Draft {
    let what = "requests are no JSON any more".to_owned();
    let draft = Draft::new(Rule::RequestNarrower, Verdict::Unproven, Part::Request, what);
    draft.keyed("json").because(UNASKED)
}

/// What JSON requests look like; nothing if there are none.
fn learned(answers: &[&Answer]) -> Option<Schema> {
    let mut shape = Shape::default();
    for (number, asked) in answers.iter().filter_map(|it| request(it)).enumerate() {
        // All of them were parsed before.
        let _ = shape.learn(asked, u32::try_from(number).unwrap_or(u32::MAX));
    }
    (shape.count() > 0).then(|| shape.finish())
}

/// What was asked, if that is JSON. What a client answers to a call of its server asks for nothing.
fn request(answer: &Answer) -> Option<&str> {
    let said = answer.asked.as_deref()?;
    let is_answer = |it: Envelope<'_>| it.is_marked && it.kind == Speech::Answer;
    Some(said).filter(|said| !Envelope::of(Text::known(said)).is_some_and(is_answer))
}

/// Something that requests said, or need not have said, and that is otherwise now.
fn narrower(gain: &Gain) -> Option<Draft> {
    let path = gain.at();
    let name = at(Part::Request, &path);
    let text = cut(&gain.schema.to_text());
    let (rule, what, key) = match &gain.what {
        Gained::Missing => {
            let what = format!("all requests say {name} now, which could be missing");
            (Rule::RequestRequired, what, String::new())
        }
        Gained::Field | Gained::Member => {
            (Rule::RequestNarrower, format!("requests say no {name} any more"), String::new())
        }
        Gained::Type | Gained::Filled | Gained::Number | Gained::Elements | Gained::Kind(..) => {
            (Rule::RequestNarrower, format!("{name} is never `{text}` any more"), text)
        }
        // Which words were sent is a matter of the scenario.
        _ => return None,
    };
    let verdict = if rule == Rule::RequestRequired { Verdict::Unproven } else { Verdict::Trim };
    let draft = Draft::new(rule, verdict, Part::Request, what).at(path).keyed(key);
    Some(match verdict {
        Verdict::Unproven => {
            draft.because("no recording shows whether the server still takes a request without it")
        }
        _ => draft,
    })
}

/// Something that requests say and did not say; the server took it, as its answer shows.
fn wider(gain: &Gain, place: &str) -> Option<Draft> {
    let path = gain.at();
    let name = at(Part::Request, &path);
    let text = cut(&gain.schema.to_text());
    let (what, key) = match &gain.what {
        Gained::Missing => (format!("requests need not say {name}"), "missing".to_owned()),
        Gained::Field | Gained::Member => {
            (format!("requests say {name}: `{text}`"), "field".to_owned())
        }
        Gained::Type | Gained::Filled | Gained::Number | Gained::Elements | Gained::Kind(..) => {
            (format!("{name} can be `{text}`"), text)
        }
        _ => return None,
    };
    let draft = Draft::new(Rule::RequestWider, Verdict::Compatible, Part::Request, what)
        .at(path)
        .keyed(key)
        .because("the server answers such requests as it does the others")
        .possible(gain)
        .witnessed(Some(ShownPlaces::new(place, Position::Whole)));
    Some(draft)
}

/// A request that was answered, and is refused or left without the end of its answer, or one that was refused, and is
/// answered.
pub(super) struct Unanswered {
    /// Where it was answered.
    pub(super) place: String,
    /// With what it is refused, if it was answered.
    pub(super) refused: Option<u16>,
    pub(super) draft: Draft,
}

/// The requests that were answered and are not any more, and those that were refused and are answered. Where some go
/// the one way and some the other, it is the server that decides anew each time, and no more of the one than of the
/// other may be chance.
pub(super) fn unanswered(cassettes: &[CassettePair]) -> Vec<Unanswered> {
    let pairs = || {
        let all =
            cassettes.iter().flat_map(|pair| pair.interactions.iter().map(move |it| (pair, it)));
        all.filter_map(|(pair, it)| Some((pair, asked_again(it)?)))
    };
    let mut ways: BTreeMap<(&str, String, u64), [BTreeSet<&str>; 2]> = BTreeMap::new();
    for (cassette, pair) in pairs() {
        let [was, is] = pair.map(is_refused);
        if was != is {
            ways.entry(question(pair[0])).or_default()[usize::from(is)].insert(&cassette.name);
        }
    }
    let found = |(cassette, pair): (&CassettePair, [&Exchange; 2])| {
        if is_followed(cassette, pair) {
            return None;
        }
        let mut found = unanswered_in(&cassette.name, pair)?;
        let [was, is] = pair.map(is_refused);
        if was == is {
            return Some(found);
        }
        let both = &ways[&question(pair[0])];
        let [one, other] = [is, was].map(|way| both[usize::from(way)].len() as u64);
        // One request that is refused now breaks its client. Others may be answered as they were meant to be.
        let is_chance = (was || other > 0) && as_often(one, other) >= CHANCE;
        if is_chance {
            let show = if one == 1 { "cassette shows" } else { "cassettes show" };
            let opposite = match other {
                0 => String::new(),
                other => format!(", and {other} the opposite"),
            };
            found.draft.doubt(format!("{one} {show} it{opposite}: that may be chance"));
        }
        (is || !is_chance || other == 0).then_some(found)
    };
    let mut all: Vec<Unanswered> = pairs().filter_map(found).collect();
    let left = all.iter().filter(|it| it.draft.key == LEFT).count();
    // A client that does not wait once is slow, or the server was.
    all.retain(|it| it.draft.key != LEFT || left >= FEWEST);
    all
}

/// An interaction before and after, if the client asked the same, of what was there or was gone both times.
fn asked_again(pair: &InteractionPair) -> Option<[&Exchange; 2]> {
    let is_of_request = |it: &Difference| it.at.starts_with("request ");
    let is_same = !pair.differences.iter().any(is_of_request);
    let both = [pair.old.as_ref()?, pair.new.as_ref()?];
    Some(both).filter(|[old, new]| is_same && old.is_deleted == new.is_deleted)
}

/// Whether a redirect was followed to what answers now where it was: the client got it before, and gets it still.
fn is_followed(cassette: &CassettePair, [old, new]: [&Exchange; 2]) -> bool {
    let next = cassette.interactions.iter().filter(|it| it.new.is_none());
    let mut next = next.filter_map(|it| it.old.as_ref());
    let next = next.find(|it| it.number.interaction == old.number.interaction + 1);
    old.status.is_some_and(is_redirect)
        && next.is_some_and(|next| is_refused(next) == is_refused(new))
}

fn is_refused(exchange: &Exchange) -> bool {
    exchange.has_result == Some(false) || exchange.status.is_some_and(|status| status >= 400)
}

/// What is asked, whatever it is about.
fn question(exchange: &Exchange) -> (&str, String, u64) {
    let path = exchange.path.split('?').next().unwrap_or_default();
    let has_digit = |segment: &str| segment.bytes().any(|byte| byte.is_ascii_digit());
    let segments = path.split('/').map(|segment| if has_digit(segment) { "{}" } else { segment });
    (&exchange.method, segments.collect::<Vec<_>>().join("/"), exchange.says)
}

/// How likely so many or more of these go one way, if each is as likely to go the other (McNemar, Psychometrika 1947,
/// by the exact binomial).
pub(super) fn as_often(one: u64, other: u64) -> f64 {
    let all = one + other;
    let ways = |some: u64| (0..some).map(|at| (all - at) as f64 / (at + 1) as f64).product::<f64>();
    (one..=all).map(ways).sum::<f64>() / 2f64.powi(i32::try_from(all).unwrap_or(i32::MAX))
}

fn unanswered_in(name: &str, [old, new]: [&Exchange; 2]) -> Option<Unanswered> {
    let is_otherwise = || {
        let (was, is) = old.status.zip(new.status).filter(|(was, is)| was != is)?;
        if is_sent_again(was, is) {
            let why = "what was asked for may have changed meanwhile";
            let draft = Draft { verdict: Verdict::Unproven, ..answered_otherwise(was, is) };
            return Some((None, draft.because(why)));
        }
        // What the server failed to do before, it may do.
        let is_told = match (was < 400, is < 400) {
            (true, is_answered) => !is_answered,
            (false, true) => was < 500 && says_why(was),
            (false, false) => says_why(was) && says_why(is),
        };
        is_told.then(|| match is {
            400.. => (Some(is).filter(|_| was < 400), refused(was, is)),
            _ => (None, answered_otherwise(was, is)),
        })
    };
    let cut = cut_short(old, new).map(|draft| (None, draft));
    // Where what is asked for is made or was made before.
    let is_of_other_success = || {
        let (was, is) = old.status.zip(new.status).filter(|(was, is)| was != is)?;
        let is_success = |status: u16| (200..300).contains(&status);
        if !is_success(was) || !is_success(is) {
            return None;
        }
        let draft = answered_otherwise(was, is).keyed(format!("{was} {is}"));
        let may_be_made = old.method != "GET" && [was, is].iter().all(|it| MADE.contains(it));
        let why = "what it makes may have been there already";
        let doubted = || Draft { verdict: Verdict::Unproven, ..draft.clone() }.because(why);
        Some((None, if may_be_made { doubted() } else { draft }))
    };
    let is_of_other_media = || {
        let ([accepted, was], [accepts, is]) = old.media.as_ref().zip(new.media.as_ref())?;
        let is_answered = old.status == new.status && old.status.is_some_and(|it| it < 300);
        let is_other = is_answered && accepted == accepts && was != is;
        let is_said = is_other && !was.is_empty() && !is.is_empty();
        is_said.then(|| (None, of_other_media(was, is)))
    };
    let is_failed = || {
        let outcomes = (old.has_result, new.has_result);
        (outcomes == (Some(true), Some(false))).then(|| (None, failed()))
    };
    let draft = cut.or_else(is_otherwise).or_else(is_of_other_success);
    let draft = draft.or_else(is_of_other_media).or_else(is_failed);
    let (refused, mut draft) = draft?;
    draft.seen(&format!("{name} #{}", new.number), Position::Whole);
    Some(Unanswered { place: format!("{name} #{}", old.number), refused, draft })
}

/// With what a request is answered that makes something, or finds that it is there.
const MADE: [u16; 3] = [200, 201, 204];

/// Whether a client is sent again what it has.
fn is_sent_again(was: u16, is: u16) -> bool {
    was == 304 && (200..300).contains(&is)
}

/// A request that is refused, or refused for another reason.
pub(super) fn refused(was: u16, is: u16) -> Draft {
    let said = if was < 400 { "answered" } else { "refused" };
    let what = format!("a request that was {said} with {was} is refused with {is}");
    let draft = Draft::new(Rule::RequestRefused, Verdict::Breaking, Part::Request, what);
    draft.keyed(format!("{was} {is}"))
}

/// A request that is answered with another status.
pub(super) fn answered_otherwise(was: u16, is: u16) -> Draft {
    let what = format!("a request that was answered with {was} is answered with {is}");
    Draft::new(Rule::StatusGone, Verdict::Breaking, Part::Endpoint, what)
}

/// A request that is answered in another media type.
pub(super) fn of_other_media(was: &str, is: &str) -> Draft {
    let [was, is] = [was, is].map(named_media);
    let what = format!("a request that was answered with {was} is answered with {is}");
    Draft::new(Rule::MediaGone, Verdict::Breaking, Part::Endpoint, what)
}

/// Whether a status says what is wrong with a request or a server, and not how busy that is.
fn says_why(status: u16) -> bool {
    (400..=501).contains(&status) && !matches!(status, 408 | 425 | 429)
}

/// A call by JSON-RPC that does not come to a result any more.
fn failed() -> Draft {
    let what = "a call that was answered with a result is answered with an error".to_owned();
    Draft::new(Rule::RequestRefused, Verdict::Breaking, Part::Request, what).keyed("result error")
}

/// Calls by JSON-RPC that a contract knows results of, and that all come to an error. Only its numbers are known: as
/// many recordings as it was learned from are a proof.
pub(super) fn failed_calls(was: &Contract, answers: &[Answer]) -> Vec<Draft> {
    let kinds = || was.body.iter().chain(&was.events);
    let is_accepted = |it: &JsonMessage| kinds().any(|kinds| kinds.broken(it).is_empty());
    let known: BTreeSet<&str> = kinds()
        .flat_map(Kinds::each)
        .filter_map(|(kind, _)| kind.strip_prefix(RESULT_OF))
        .collect();
    let method = |answer: &Answer| {
        let asked = Text::known(answer.asked.as_deref()?);
        asked.get("method")?.string().filter(|it| known.contains(&**it)).map(Cow::into_owned)
    };
    let mut called: BTreeMap<String, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        method(answer).into_iter().for_each(|it| called.entry(it).or_default().push(answer));
    }
    let failed = called.into_values().filter_map(|calls| {
        let has_failed = |answer: &&Answer| {
            let all = answer.body.iter().chain(&answer.events);
            let mut said = all.filter(|it| it.kind == ERROR || it.kind.starts_with(RESULT_OF));
            // A tool may have failed in the recordings that were accepted, too.
            let is_as_before = |it: &JsonMessage| {
                !rpc::has_failed(it.text()) || it.kind != ERROR && is_accepted(it)
            };
            said.clone().next().is_some() && !said.any(is_as_before)
        };
        if !calls.iter().all(has_failed) {
            return None;
        }
        let mut draft = failed();
        calls.iter().for_each(|answer| draft.seen(&answer.place, Position::Whole));
        let is_proof = recordings(calls) >= FEWEST && recordings(answers) >= was.origin.recordings;
        Some(if is_proof {
            draft
        } else {
            let why = "few recordings call it, or others than those of the contract";
            Draft { verdict: Verdict::Unproven, ..draft }.because(why)
        })
    });
    let mut drafts = Vec::new();
    failed.for_each(|draft| same_or_added(&mut drafts, draft.clone()).show(&draft));
    drafts
}

/// An answer that the recorder has left says nothing about the server. One that the client has left was not finished
/// then, nor a while after that.
fn cut_short(old: &Exchange, new: &Exchange) -> Option<Draft> {
    let by_server = [End::ServerClosed, End::Timeout, End::Unreachable].map(End::as_str);
    if old.end != End::Complete.as_str() {
        return None;
    }
    match new.end {
        LEFT => {
            let draft = Draft { verdict: Verdict::Unproven, ..cut_by(LEFT) };
            Some(draft.because("its client left before the end"))
        }
        end => by_server.contains(&end).then(|| cut_by(end)),
    }
}

const LEFT: &str = End::ClientClosed.as_str();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_one_way_than_the_other_may_be_chance() {
        assert!((as_often(1, 1) - 0.75).abs() < 1e-9);
        assert!(as_often(5, 5) > 0.5 && as_often(5, 1) > CHANCE);
        assert!(as_often(12, 1) < CHANCE && as_often(7, 0) < CHANCE);
    }
}
