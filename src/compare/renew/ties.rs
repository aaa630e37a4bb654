//! New times in whose places old ones would say what the server did not say.
//!
//! # Rationale
//!
//! A time alone says nothing, so an old one may stand for it. Several say how they stand to each other: the rows of a
//! list are in the order of their times, what ends has begun before, and an answer gives back the time that it was
//! asked for. Old times that stand for some of them, or for all but in another order, would show a server that keeps
//! to that where it does not any more, or one that breaks it where it does not.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::cassette::reading::{Kind, Node, Reading};
use crate::cassette::{Interaction, text};
use crate::config::Rules;
use crate::identity::{Meaning, each_document, is_epoch, is_moment};
use crate::text::date::since_1970;

/// Two clocks that are cut to seconds agree within so many milliseconds.
const SECOND: u64 = 1_000;

/// A value that is a time and nothing else.
#[derive(Debug, Clone)]
struct Time {
    spelled: String,
    /// Milliseconds since 1970.
    ms: u64,
    /// Equal for the same field of all rows of a list.
    field: u64,
    /// The object that it stands in.
    object: usize,
}

/// The new times of an interaction for which no old ones may stand, as `told` has them.
pub(super) fn own(new: &Interaction, told: &Interaction, rules: &Rules) -> HashSet<String> {
    let [asked, said] = [asked, answered].map(|of| [new, told].map(|it| of(it, rules)));
    let mut own = HashSet::new();
    let is_alike = |[new, told]: &[Vec<Time>; 2]| {
        new.len() == told.len() && new.iter().zip(told).all(|(one, other)| one.field == other.field)
    };
    for both in [&asked, &said].into_iter().filter(|both| is_alike(both)) {
        let pairs: Vec<(&Time, &Time)> = both[0].iter().zip(&both[1]).collect();
        turned(&pairs, |time| time.field, &mut own);
        turned(&pairs, |time| time.object as u64, &mut own);
    }
    if !is_alike(&asked) || !is_alike(&said) {
        return own;
    }
    let took = new.response().map_or(0, |it| it.body.chunks().last().map_or(it.ms, |last| last.ms));
    for (new, told) in said[0].iter().zip(&said[1]) {
        for (new_asked, told_asked) in asked[0].iter().zip(&asked[1]) {
            let [is_echo, was_echo] =
                [(new, new_asked), (told, told_asked)].map(|(said, asked)| said.ms == asked.ms);
            // A server that tells the time may well tell that of the request.
            let is_now = new.ms.abs_diff(new_asked.ms) <= took + SECOND;
            if is_echo != was_echo && (is_echo || !is_now) {
                own.insert(new.spelled.clone());
            }
        }
    }
    own
}

/// Adds the new times of each group in which all stand in one order, and the others in another.
fn turned(pairs: &[(&Time, &Time)], group: impl Fn(&Time) -> u64, own: &mut HashSet<String>) {
    let mut groups: HashMap<u64, Vec<(&Time, &Time)>> = HashMap::new();
    for (new, told) in pairs {
        groups.entry(group(new)).or_default().push((new, told));
    }
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let steps = || {
            group.windows(2).map(|pair| [step(pair[0].0, pair[1].0), step(pair[0].1, pair[1].1)])
        };
        let is_ordered = |side: usize| {
            let mut steps = steps().map(|steps| steps[side]).filter(|step| step.is_ne());
            let first = steps.next();
            first.is_some() && steps.all(|step| Some(step) == first)
        };
        let is_turned = steps().any(|[new, told]| new.is_ne() && told == new.reverse());
        if is_turned && (is_ordered(0) || is_ordered(1)) {
            own.extend(group.into_iter().map(|(new, _)| new.spelled.clone()));
        }
    }
}

fn step(one: &Time, other: &Time) -> Ordering {
    one.ms.cmp(&other.ms)
}

fn asked(interaction: &Interaction, rules: &Rules) -> Vec<Time> {
    let body = interaction.request.readable();
    let mut times = Vec::new();
    read(&Reading::of(&interaction.request, &body, rules), &mut 0, &mut times);
    times
}

fn answered(interaction: &Interaction, rules: &Rules) -> Vec<Time> {
    let (mut times, mut before) = (Vec::new(), 0);
    if let Some(response) = interaction.response() {
        let body = response.readable().bytes();
        each_document(&text(&body), |_, document| {
            read(&Reading::of_text(document.as_str(), rules), &mut before, &mut times);
        });
    }
    times
}

/// Adds the times of a reading, but for those in lists whose order means nothing. Its nodes are numbered behind those
/// of the readings `before`.
fn read(reading: &Reading<'_>, before: &mut usize, times: &mut Vec<Time>) {
    let mut sets_end = 0;
    for (at, node) in reading.nodes.iter().enumerate() {
        if node.kind == Kind::Set {
            sets_end = sets_end.max(node.end as usize);
        }
        if let Some(ms) = (at >= sets_end).then(|| instant(reading, at, node)).flatten() {
            let spelled = Cow::clone(&node.text).into_owned();
            let object = *before + node.parent as usize;
            times.push(Time { spelled, ms, field: node.wild, object });
        }
    }
    *before += reading.nodes.len();
}

fn instant(reading: &Reading<'_>, at: usize, node: &Node<'_>) -> Option<u64> {
    let said = &*node.text;
    if is_epoch(said) {
        let is_time = || Meaning::of(reading.name(at)) == Meaning::Moment;
        let digits = said.find('.').unwrap_or(said.len());
        let to_ms = 10_f64.powi(i32::try_from(digits).ok()? - 13);
        return is_time()
            .then(|| said.parse::<f64>())
            .and_then(Result::ok)
            .map(|it| (it / to_ms) as u64);
    }
    is_moment(said).then(|| since_1970(said)).flatten()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::cassette::{Body, Headers, Outcome, Request, Response};

    fn interaction(asked: &str, said: &str) -> Interaction {
        let headers = || Headers::from_iter([("content-type", "application/json")]);
        let body = Bytes::copy_from_slice(asked.as_bytes());
        let request =
            Request { method: "POST".into(), path: "/x".into(), headers: headers(), body };
        let body = Body::Whole(Bytes::copy_from_slice(said.as_bytes()));
        let response = Response { headers: headers(), body, ..Response::of(200) };
        Interaction { after: Vec::new(), request, outcome: Outcome::Response(response) }
    }

    /// Which hours of a text are its own; `1` stands for one o'clock.
    fn check([asked, said]: [&str; 2], [told_asked, told_said]: [&str; 2], expected: &[u32]) {
        let hours = |text: &str| {
            let times = text.split('\'').enumerate().map(|(at, part)| match at % 2 {
                0 => part.to_owned(),
                _ => format!("\"2026-11-21T{part:0>2}:00:00Z\""),
            });
            times.collect::<String>()
        };
        let new = interaction(&hours(asked), &hours(said));
        let told = interaction(&hours(told_asked), &hours(told_said));
        let own = super::own(&new, &told, &Rules::default());
        let mut own: Vec<u32> = own.iter().map(|time| time[11..13].parse().unwrap()).collect();
        own.sort_unstable();
        assert_eq!(own, expected, "{asked} {said}, {told_asked} {told_said}");
    }

    #[test]
    fn what_is_in_the_order_of_its_times_stays_so() {
        let rows = |times: [u32; 3]| times.map(|at| format!(r#"{{"at":'{at}'}}"#)).join(",");
        let list = |times| format!("[{}]", rows(times));
        let said =
            |new, told, expected: &[u32]| check(["", &list(new)], ["", &list(told)], expected);
        said([3, 2, 1], [13, 12, 11], &[]);
        said([1, 2, 3], [13, 12, 11], &[1, 2, 3]);
        // One of them has no old one, and is told as it is.
        said([3, 2, 1], [13, 12, 21], &[1, 2, 3]);
        // In no order on either side.
        said([2, 3, 1], [13, 11, 12], &[]);
        said([1, 1, 1], [13, 12, 11], &[]);
    }

    #[test]
    fn what_ends_has_begun_before() {
        let span = |from, to| format!(r#"{{"from":'{from}',"to":'{to}'}}"#);
        check(["", &span(1, 2)], ["", &span(11, 12)], &[]);
        check(["", &span(2, 1)], ["", &span(11, 12)], &[1, 2]);
    }

    #[test]
    fn a_time_that_was_asked_for_is_given_back() {
        let at = |at| format!(r#"{{"at":'{at}'}}"#);
        check([&at(1), &at(1)], [&at(11), &at(11)], &[]);
        check([&at(1), &at(2)], [&at(11), &at(11)], &[2]);
        check([&at(1), &at(1)], [&at(11), &at(12)], &[1]);
        check([&at(1), &at(2)], [&at(11), &at(12)], &[]);
    }
}
