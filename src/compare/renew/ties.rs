//! New times in whose places old ones would say what the server did not say.
//!
//! # Rationale
//!
//! A time alone says nothing, so an old one may stand for it. Several say how they stand to each other: the rows of a
//! list are in the order of their times, what ends has begun before, and an answer gives back the time that it was
//! asked for. Old times that stand for all of them but in another order would show a server that keeps to that where
//! it does not any more: then none does. Old times for all but a row that is new would show one that breaks it: then
//! the row next to it says when that one is, too. The events of a stream happen one after the other: where they would
//! not, each new time has one old time, that of most.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::settle::is_exact;
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
    /// The document that it stands in, and the object. Events of a stream come in the order in which they happen.
    document: usize,
    object: usize,
}

impl Time {
    fn is_exact(&self) -> bool {
        is_exact(&self.spelled)
    }

    /// Whether both are one time, however it is written.
    fn is(&self, other: &Self) -> bool {
        let is_written_alike = self.spelled.len() == other.spelled.len();
        if is_written_alike { self.spelled == other.spelled } else { self.ms == other.ms }
    }
}

/// What old times may stand for the new ones of an interaction, where those that do say what it does not.
#[derive(Debug, Default)]
pub(super) struct Ties {
    /// The new times for which none may stand.
    pub(super) own: HashSet<String>,
    /// Those that had none, and the old ones next to them.
    pub(super) beside: HashMap<String, String>,
    /// Those of the events of a stream, each with the one old time that stands for it.
    pub(super) sole: HashMap<String, String>,
}

impl Ties {
    pub(super) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.beside.is_empty() && self.sole.is_empty()
    }

    /// Adds those of an interaction, as `told` has it.
    pub(super) fn add(&mut self, new: &Interaction, told: &Interaction, rules: &Rules) {
        let [asked, said] = [asked, answered].map(|of| [new, told].map(|it| of(it, rules)));
        let both = [&asked, &said].into_iter().filter(|both| are_alike(both));
        for [new, told] in both.clone() {
            let pairs: Vec<TimePair<'_>> = new.iter().zip(told).collect();
            for rows in groups(&pairs, |time| (time.document, time.field)) {
                self.turn(&rows);
            }
            for events in groups(&pairs, |time| (0, time.field)) {
                self.follow(&events);
            }
            for times in groups(&pairs, |time| (time.object, 0)) {
                if are_turned(&times) || are_mixed(&times) {
                    self.stay(&times);
                }
                for (at, one) in times.iter().enumerate() {
                    let turned =
                        times[at + 1..].iter().filter(|other| are_far_apart(*one, **other));
                    turned.for_each(|other| self.stay(&[*one, *other]));
                }
            }
            // Two times of one thing are hardly the same to a thousandth, unless they are one.
            let beside = pairs.windows(2).filter(|pair| pair[0].0.object == pair[1].0.object);
            for pair in beside
                .filter(|pair| pair.iter().all(|(new, told)| new.is_exact() && told.is_exact()))
            {
                let are_one = [(pair[0].0, pair[1].0), (pair[0].1, pair[1].1)];
                let [are_one, were_one] = are_one.map(|(one, other)| one.is(other));
                if are_one != were_one {
                    self.own.extend(pair.iter().map(|(new, _)| new.spelled.clone()));
                }
            }
        }
        if both.count() == 2 {
            let took = new
                .response()
                .map_or(0, |it| it.body.chunks().last().map_or(it.ms, |last| last.ms));
            self.echo(asked, said, took);
        }
    }

    /// Adds those of the messages of a WebSocket, which follow each other as the events of a stream do.
    pub(super) fn add_messages(
        &mut self,
        messages: &[(&Interaction, &Interaction)],
        rules: &Rules,
    ) {
        let mut both: [Vec<Time>; 2] = Default::default();
        for (number, (new, told)) in messages.iter().enumerate() {
            let said = [new, told].map(|it| answered(it, rules));
            if are_alike(&said) {
                for (all, said) in both.iter_mut().zip(said) {
                    all.extend(said.into_iter().map(|time| Time { document: number, ..time }));
                }
            }
        }
        let pairs: Vec<TimePair<'_>> = both[0].iter().zip(&both[1]).collect();
        groups(&pairs, |time| (0, time.field)).iter().for_each(|events| self.follow(events));
    }

    /// Adds all times of an interaction if they follow each other, in rows or events, as they did before, and those that
    /// are told do not: some are old ones, and some are not.
    pub(super) fn give_up(
        &mut self,
        old: Option<&Interaction>,
        new: &Interaction,
        told: &Interaction,
        rules: &Rules,
    ) {
        let [news, tolds] = [new, told].map(|it| answered(it, rules));
        let before = old.map(|old| answered(old, rules));
        let both = [news, tolds];
        if !are_alike(&both) {
            return;
        }
        let pairs: Vec<TimePair<'_>> = both[0].iter().zip(&both[1]).collect();
        let things = groups(&pairs, |time| (time.object, 0));
        let are_broken = |times: &&Vec<TimePair<'_>>| are_turned(times) || are_mixed(times);
        things.iter().filter(are_broken).for_each(|times| self.stay(times));
        let is_broken = |group: fn(&Time) -> (usize, u64)| {
            groups(&pairs, group).iter().any(|group_of| {
                let [new, told] = orders(group_of);
                let is_other = match (new, told) {
                    (Order::One(new), Order::One(told)) => new != told,
                    (new, told) => new != Order::None && told == Order::None,
                };
                is_other
                    && before.as_ref().is_none_or(|before| was_in_order(before, group_of, group))
            })
        };
        if is_broken(|time| (time.document, time.field)) || is_broken(|time| (0, time.field)) {
            self.stay(&pairs);
        }
    }

    /// Adds the rows of a list if their times say another order, or those that have no old times among them if that is
    /// why. What is in no order in the old recording says nothing: it came at once from several.
    fn turn(&mut self, rows: &[TimePair<'_>]) {
        if are_turned(rows) {
            return self.stay(rows);
        }
        self.stand_beside(rows);
    }

    /// Adds those that have no old times among others that have, if that is why they are in no order. Tells whether
    /// it is.
    fn stand_beside(&mut self, times: &[TimePair<'_>]) -> bool {
        let has_moved = |(new, told): &TimePair<'_>| new.spelled != told.spelled;
        let moved: Vec<TimePair<'_>> = times.iter().copied().filter(has_moved).collect();
        let [new, told] = orders(times);
        // Where most have none, those may be the same as before.
        let is_by_others = told == Order::None && matches!(new, Order::One(_));
        if !is_by_others || 2 * moved.len() <= times.len() || orders(&moved)[1] != new {
            return false;
        }
        let mut near = moved[0].1;
        for time in times {
            if has_moved(time) {
                near = time.1;
            } else {
                self.beside.insert(time.0.spelled.clone(), near.spelled.clone());
            }
        }
        true
    }

    /// Adds the times of a field in events that follow each other, if the old ones for them do not.
    fn follow(&mut self, events: &[TimePair<'_>]) {
        let is_list = |pair: &[TimePair<'_>]| pair[0].0.document == pair[1].0.document;
        let [new, told] = orders(events);
        if told != Order::None || new == Order::None || events.windows(2).any(is_list) {
            return;
        }
        if self.stand_beside(events) {
            return;
        }
        let mut olds: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (new, told) in events.iter().filter(|(new, told)| new.spelled != told.spelled) {
            *olds.entry(&new.spelled).or_default().entry(&told.spelled).or_default() += 1;
        }
        for (new, olds) in olds {
            let most = olds.into_iter().rev().max_by_key(|(_, count)| *count);
            self.sole.extend(most.map(|(old, _)| (new.to_owned(), old.to_owned())));
        }
    }

    fn stay(&mut self, times: &[TimePair<'_>]) {
        self.own.extend(times.iter().map(|(new, _)| new.spelled.clone()));
    }

    /// Adds the times that an answer says which are those of the request on one side only.
    fn echo(&mut self, asked: [Vec<Time>; 2], said: [Vec<Time>; 2], took: u64) {
        for (new, told) in said[0].iter().zip(&said[1]) {
            for (new_asked, told_asked) in asked[0].iter().zip(&asked[1]) {
                let [is_echo, was_echo] =
                    [(new, new_asked), (told, told_asked)].map(|(said, asked)| said.ms == asked.ms);
                // A server that tells the time may well tell that of the request.
                let is_now = new.ms.abs_diff(new_asked.ms) <= took + SECOND;
                if is_echo != was_echo && (is_echo || !is_now) {
                    self.own.insert(new.spelled.clone());
                }
            }
        }
    }
}

/// A new time, and what is told for it.
type TimePair<'t> = (&'t Time, &'t Time);

/// In which order times are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// All are the same.
    Same,
    One(Ordering),
    None,
}

fn are_alike([new, told]: &[Vec<Time>; 2]) -> bool {
    new.len() == told.len() && new.iter().zip(told).all(|(one, other)| one.field == other.field)
}

/// Times that stand together, in their order.
fn groups<'t>(
    pairs: &[TimePair<'t>],
    group: impl Fn(&Time) -> (usize, u64),
) -> Vec<Vec<TimePair<'t>>> {
    let mut groups: BTreeMap<(usize, u64), Vec<TimePair<'t>>> = BTreeMap::new();
    for pair in pairs {
        groups.entry(group(pair.0)).or_default().push(*pair);
    }
    groups.into_values().collect()
}

/// In which order the times of both sides are.
fn orders(pairs: &[TimePair<'_>]) -> [Order; 2] {
    let sides: [fn(&TimePair<'_>) -> u64; 2] = [|pair| pair.0.ms, |pair| pair.1.ms];
    sides.map(|side| {
        let steps = pairs.windows(2).map(|pair| side(&pair[0]).cmp(&side(&pair[1])));
        let mut steps = steps.filter(|step| step.is_ne());
        match steps.next() {
            None => Order::Same,
            Some(first) if steps.all(|step| step == first) => Order::One(first),
            Some(_) => Order::None,
        }
    })
}

/// Whether the old times of a field followed each other in each group.
fn was_in_order(old: &[Time], rows: &[TimePair<'_>], group: fn(&Time) -> (usize, u64)) -> bool {
    let field = rows.first().map(|(new, _)| new.field);
    let own: Vec<TimePair<'_>> =
        old.iter().filter(|time| Some(time.field) == field).map(|time| (time, time)).collect();
    groups(&own, group).iter().all(|group| orders(group)[0] != Order::None)
}

/// Whether what is told is in an order, and the new times are in the opposite one, or in none.
fn are_turned(pairs: &[TimePair<'_>]) -> bool {
    match orders(pairs) {
        [Order::One(new), Order::One(told)] => new != told,
        [new, told] => new == Order::None && matches!(told, Order::One(_)),
    }
}

/// Whether times of one thing are in an order, and are in none because old ones stand for some of them only.
fn are_mixed(pairs: &[TimePair<'_>]) -> bool {
    let moved = pairs.iter().filter(|(new, told)| new.spelled != told.spelled).count();
    matches!(orders(pairs), [Order::One(_), Order::None]) && (1..pairs.len()).contains(&moved)
}

/// Whether two times of one thing stand to each other the other way round, by more than chance makes them.
fn are_far_apart(one: TimePair<'_>, other: TimePair<'_>) -> bool {
    let both = [(one.0.ms, other.0.ms), (one.1.ms, other.1.ms)];
    let is_far = |(one, other): &(u64, u64)| one.abs_diff(*other) >= SECOND;
    both.iter().all(is_far) && (both[0].0 < both[0].1) != (both[1].0 < both[1].1)
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
            times.push(Time { spelled, ms, field: node.wild, document: *before, object });
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

    /// Which hours of a text are its own; `1` stands for one o'clock. Returns those that get the old one next to them.
    fn check(
        [asked, said]: [&str; 2],
        [told_asked, told_said]: [&str; 2],
        expected: &[u32],
    ) -> Vec<[u32; 2]> {
        let (ties, own) = ties([asked, said], [told_asked, told_said]);
        assert_eq!(own, expected, "{asked} {said}, {told_asked} {told_said}");
        ties.beside.iter().map(hours).collect()
    }

    fn hours((new, old): (&String, &String)) -> [u32; 2] {
        [new, old].map(|time| time[11..13].parse().unwrap())
    }

    fn ties([asked, said]: [&str; 2], [told_asked, told_said]: [&str; 2]) -> (Ties, Vec<u32>) {
        let hours = |text: &str| {
            let times = text.split('\'').enumerate().map(|(at, part)| match at % 2 {
                0 => part.to_owned(),
                _ => format!("\"2026-11-21T{part:0>2}:00:00Z\""),
            });
            times.collect::<String>()
        };
        let new = interaction(&hours(asked), &hours(said));
        let told = interaction(&hours(told_asked), &hours(told_said));
        let mut ties = Ties::default();
        ties.add(&new, &told, &Rules::default());
        let mut own: Vec<u32> = ties.own.iter().map(|it| it[11..13].parse().unwrap()).collect();
        own.sort_unstable();
        (ties, own)
    }

    #[test]
    fn what_is_in_the_order_of_its_times_stays_so() {
        let rows = |times: [u32; 3]| times.map(|at| format!(r#"{{"at":'{at}'}}"#)).join(",");
        let list = |times| format!("[{}]", rows(times));
        let said = |new, told, own: &[u32], beside: &[[u32; 2]]| {
            let found = check(["", &list(new)], ["", &list(told)], own);
            assert_eq!(found, beside, "{new:?} {told:?}");
        };
        said([3, 2, 1], [13, 12, 11], &[], &[]);
        said([1, 2, 3], [13, 12, 11], &[1, 2, 3], &[]);
        // One of them has no old one, and is told as it is.
        said([23, 22, 21], [13, 12, 21], &[], &[[21, 12]]);
        said([21, 22, 23], [21, 12, 13], &[], &[[21, 12]]);
        said([23, 22, 21], [23, 12, 21], &[], &[]);
        // It was in none before.
        said([3, 2, 1], [13, 11, 12], &[], &[]);
        // In no order on either side.
        said([2, 3, 1], [13, 11, 12], &[], &[]);
        said([1, 1, 1], [13, 12, 11], &[], &[]);
    }

    #[test]
    fn a_time_in_the_events_of_a_stream_has_one_old_time_where_they_would_go_back() {
        let stream = |times: &[u32]| -> String {
            times.iter().map(|at| format!("data: {{\"at\":'{at}'}}\n\n")).collect()
        };
        let check = |new: &[u32], told: &[u32], expected: &[[u32; 2]]| {
            let (ties, own) = ties(["", &stream(new)], ["", &stream(told)]);
            let mut sole: Vec<[u32; 2]> = ties.sole.iter().map(hours).collect();
            sole.sort_unstable();
            assert_eq!((&own[..], &sole[..]), (&[][..], expected), "{new:?} {told:?}");
        };
        check(&[1, 1, 2, 2], &[11, 11, 12, 12], &[]);
        // The second has no old one, and the third another one.
        check(&[1, 1, 1, 1, 2], &[11, 1, 12, 11, 12], &[[1, 11], [2, 12]]);
        check(&[1, 1, 1, 1], &[12, 11, 12, 12], &[[1, 12]]);
        // They went back on the other side too.
        check(&[1, 2, 1], &[11, 12, 11], &[]);
        check(&[1, 2, 3], &[13, 12, 11], &[]);
        let (ties, own) = ties(["", &stream(&[1, 2, 3, 4])], ["", &stream(&[11, 12, 3, 13])]);
        let beside: Vec<[u32; 2]> = ties.beside.iter().map(hours).collect();
        assert_eq!((own, beside, ties.sole.len()), (Vec::new(), vec![[3, 12]], 0));
    }

    #[test]
    fn the_messages_of_a_websocket_follow_each_other_too() {
        let said = |at: u32| format!(r#"{{"at":"2026-11-21T{at:0>2}:00:00Z"}}"#);
        let messages = [(1, 11), (2, 2), (3, 13)];
        let both =
            messages.map(|times| <[u32; 2]>::from(times).map(|at| interaction("", &said(at))));
        let messages: Vec<_> = both.iter().map(|[new, told]| (new, told)).collect();
        let mut ties = Ties::default();

        ties.add_messages(&messages, &Rules::default());

        assert_eq!(ties.beside.iter().map(hours).collect::<Vec<_>>(), [[2, 11]]);
    }

    #[test]
    fn what_ends_has_begun_before() {
        let span = |from, to| format!(r#"{{"from":'{from}',"to":'{to}'}}"#);
        check(["", &span(1, 2)], ["", &span(11, 12)], &[]);
        check(["", &span(2, 1)], ["", &span(11, 12)], &[1, 2]);
        // To the second they may be the same by chance.
        check(["", &span(1, 1)], ["", &span(11, 12)], &[]);
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
