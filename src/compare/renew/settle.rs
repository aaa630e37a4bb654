//! What a text becomes that stands where an old one stood.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::ties::Ties;
use crate::cassette::reading::Kind;
use crate::cassette::splice::{Edit, in_order, splice};
use crate::compare::alignment::{KnownText, Record, Renaming, Sort, Value, between, partners};
use crate::identity::{epochs, is_epoch, is_moment};
use crate::text::percent;

/// Texts of a new recording in the words of the old one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settle<'a> {
    pub(super) renaming: &'a Renaming,
    pub(super) times: &'a Times,
    pub(super) spans: Spans,
}

/// How long things took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spans {
    /// The old numbers stay.
    Stay,
    /// They would [say](super::spans) what the server did not.
    New,
}

/// Which old time stands for a new one.
///
/// # Rationale
///
/// A time says nothing, so the old one stays where one stood. But what has no old one beside it, such as an
/// element of a list that comes in another order, may say a time that stands elsewhere too: it is the same time
/// in the words of the old recording, or the two would contradict each other.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// New times and the old ones that stay for them, also if they are the same, since this was asked for.
    heard: RefCell<Vec<Stayed>>,
    /// Those of them that requests say: an answer that says one says it because it was asked.
    asked: RefCell<Vec<Stayed>>,
    olds: HashMap<String, String>,
    /// Those for which none may stand: it would [say](super::ties) what the server did not.
    own: HashSet<String>,
    /// Those for which no other one may.
    sole: HashSet<String>,
}

/// A new time, and the old one that stays for it.
pub(super) type Stayed = (String, String);

impl Times {
    /// The times for which an old one stayed since this was asked for.
    pub(super) fn heard(&self) -> Vec<Stayed> {
        self.heard.take()
    }

    /// What was heard so far stands in a request.
    pub(super) fn are_asked(&self) {
        self.asked.borrow_mut().extend(self.heard.take());
    }

    /// What requests said since this was asked for.
    pub(super) fn asked(&self) -> Vec<Stayed> {
        self.asked.take()
    }

    /// Whether another old time is known to stand for one of these, or none may.
    pub(super) fn contradict(&self, stayed: &[Stayed]) -> bool {
        stayed.iter().any(|(new, old)| self.has_other(new, old))
    }

    /// Several things happen in one second, so that says nothing.
    fn has_other(&self, new: &str, old: &str) -> bool {
        let is_other = || self.olds.get(new).is_some_and(|known| known != old);
        let is_sole = || is_exact(new) || self.sole.contains(new.trim_matches('"'));
        self.own.contains(new.trim_matches('"')) || (is_sole() && is_other())
    }

    /// Those of which all say the same. What requests say counts before the rest, and what was heard where nothing else
    /// differs before what remains.
    pub(super) fn agreed([asked, sure, other]: [Vec<Stayed>; 3]) -> Self {
        let agreed = |pairs: Vec<Stayed>| {
            let mut olds: HashMap<String, Option<String>> = HashMap::new();
            for (new, old) in pairs {
                let known = olds.entry(new).or_insert_with(|| Some(old.clone()));
                *known = known.take().filter(|known| *known == old);
            }
            olds
        };
        let mut olds = agreed(other);
        olds.extend(agreed(sure));
        let asked = agreed(asked).into_iter();
        olds.extend(asked.filter(|(new, old)| old.is_some() && is_exact(new)));
        let olds = olds.into_iter().filter_map(|(new, old)| Some((new, old?)));
        Self { olds: olds.collect(), ..Self::default() }
    }

    /// The same, as far as these let old times stand for new ones.
    pub(super) fn but_for(mut self, Ties { own, beside, sole }: Ties) -> Self {
        self.own.extend(own);
        self.sole.extend(sole.keys().cloned());
        self.olds.extend(beside.into_iter().chain(sole));
        self.olds.retain(|new, _| !self.own.contains(new));
        self
    }

    /// Whether no old time may stand for one of these, or one alone.
    pub(super) fn has_own(&self, stayed: &[Stayed]) -> bool {
        let mut news = stayed.iter().map(|(new, _)| new.trim_matches('"'));
        news.any(|new| self.own.contains(new) || self.sole.contains(new))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.olds.is_empty() && self.own.is_empty()
    }

    /// Notes that old times stay for new ones; nothing if another one is known to stand for one of them.
    fn stay(&self, times: &[(&str, &str)]) -> bool {
        if times.iter().any(|(new, old)| self.has_other(new, old)) {
            return false;
        }
        let times = times.iter().map(|(new, old)| ((*new).to_owned(), (*old).to_owned()));
        self.heard.borrow_mut().extend(times);
        true
    }
}

impl Settle<'_> {
    /// A text with the old names and times in it.
    pub(super) fn named<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let named = self.renaming.text(text);
        if self.times.is_empty() {
            return named;
        }
        // By which clock a message was said is not known.
        let times = self.renaming.times(&named).into_iter().chain(epochs(&named));
        let edits = times.filter_map(|range| {
            let old = self.times.olds.get(&named[range.clone()])?;
            Some(Edit::new(range, old.clone()))
        });
        let edits = in_order(edits.collect());
        match String::from_utf8(splice(named.as_bytes(), &edits)) {
            Ok(told) if !edits.is_empty() => Cow::Owned(told),
            _ => named,
        }
    }

    /// A text that stands where an old one stood: the old one if only names and times differ.
    pub(super) fn text<'t>(&self, old: KnownText<'t>, new: KnownText<'t>) -> Cow<'t, str> {
        match self.alike(old, new) {
            Some(times) if self.times.stay(&times) => Cow::Borrowed(old.text),
            _ => self.named(new.text),
        }
    }

    /// The target of a request; what is percent-encoded in it is read.
    pub(super) fn target(&self, old: &str, new: &str) -> String {
        let [olds, news] = [old, new].map(|path| path.split_inclusive(['?', '&']));
        if olds.clone().count() != news.clone().count() {
            return self.named(new).into_owned();
        }
        let piece = |(old, new): (&str, &str)| {
            let [before, now] = [old, new].map(percent::form_decoded);
            let [was, is] = [&before, &now].map(|text| KnownText::plain(text));
            // A character may be encoded in one and not in the other.
            let is_spelled_alike = old.matches('%').count() == new.matches('%').count();
            if is_spelled_alike && *self.text(was, is) == *before {
                old.to_owned()
            } else {
                self.named(new).into_owned()
            }
        };
        olds.zip(news).map(piece).collect()
    }

    /// The times, each with the old one, if only they and names differ, and may.
    fn alike<'t>(&self, old: KnownText<'t>, new: KnownText<'t>) -> Option<Vec<(&'t str, &'t str)>> {
        if old.text == new.text {
            let digits = new.text.bytes().filter(u8::is_ascii_digit).take(FEWEST).count();
            let text = if digits < FEWEST { "" } else { new.text };
            let same = self.renaming.times(text).into_iter();
            return Some(same.map(|at| (&new.text[at.clone()], &old.text[at])).collect());
        }
        // A number and a string of its digits are not the same to a client.
        if is_quoted(old.text) != is_quoted(new.text) {
            return None;
        }
        if old.is_span() && new.is_span() && are_measured_alike(old.value(), new.value()) {
            return (self.spans == Spans::Stay).then(Vec::new);
        }
        let (before, now) = (old.value(), new.value());
        if new.field.is_time && is_time(before, now) && self.is_free(before, now) {
            return Some(vec![(now, before)]);
        }
        if self.renaming.is_overwritten(before, now) {
            return Some(Vec::new());
        }
        let [olds, news] = self.renaming.words(old.text, new.text);
        if between(old.text, &olds) != between(new.text, &news) {
            return None;
        }
        let mut times = Vec::new();
        for (one, other) in olds.iter().zip(&news) {
            let (was, is) = (&old.text[one.range.clone()], &new.text[other.range.clone()]);
            let is_alike = one.sort == other.sort
                && match one.sort {
                    Sort::Name => self.renaming.is_called(is, was),
                    Sort::Moment => was == is || self.is_moved(was, is),
                };
            if !is_alike {
                return None;
            }
            if one.sort == Sort::Moment {
                times.push((is, was));
            }
        }
        Some(times)
    }

    /// Whether an old time may stay for a new one.
    fn is_moved(&self, was: &str, is: &str) -> bool {
        self.is_free(was, is) && are_written_alike(was, is) && self.renaming.is_moved(was, is)
    }

    fn is_free(&self, old: &str, new: &str) -> bool {
        self.renaming.is_free(old) && self.renaming.is_free(new)
    }
}

/// Whether two texts may say how long something took in the same unit. A whole number is also what rarely is left of a
/// fraction, unless it is large. What is negative now takes no time.
fn are_measured_alike(one: &str, other: &str) -> bool {
    if one.starts_with('-') != other.starts_with('-') {
        return false;
    }
    const LARGE: f64 = 100.0;
    const OTHER_UNIT: f64 = 1_000.0;
    let (Ok(before), Ok(now)) = (one.parse::<f64>(), other.parse::<f64>()) else { return true };
    let is_whole = |text: &str| text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let is_same_kind = match (is_whole(one), is_whole(other)) {
        (true, false) => before.abs() < LARGE,
        (false, true) => now.abs() < LARGE,
        _ => true,
    };
    let share = (before / now).abs();
    // What is as fine as a clock may be next to nothing.
    let is_other_unit = is_whole(one)
        && is_whole(other)
        && share > 0.0
        && share.is_finite()
        && share.max(1.0 / share) >= OTHER_UNIT;
    let is_nothing = is_whole(one) && now == 0.0 && before >= LARGE;
    is_same_kind && !is_other_unit && !is_nothing
}

fn is_quoted(text: &str) -> bool {
    text.starts_with('"')
}

/// No time has fewer digits: `20261121`.
const FEWEST: usize = 8;

/// Whether two whole values are times that are written in the same way.
fn is_time(one: &str, other: &str) -> bool {
    let are = |is: fn(&str) -> bool| is(one) && is(other);
    (are(is_epoch) || are(is_moment)) && are_written_alike(one, other)
}

/// Whether two times are written in the same way.
fn are_written_alike(one: &str, other: &str) -> bool {
    // A number has no more digits than it needs, so how many say nothing behind the point.
    let spelled = |time: &str| (time.find('.').unwrap_or(time.len()), time.contains('.'));
    if is_epoch(one) && is_epoch(other) {
        return spelled(one) == spelled(other);
    }
    shape(one) == shape(other) && are_near(one, other)
}

/// Whether two times that begin with their years are near each other: `0001-01-01` and `9999-12-31` mean never.
fn are_near(one: &str, other: &str) -> bool {
    const YEARS: u32 = 20;
    let year = |time: &str| -> Option<u32> {
        let is_behind = time.get(4..5).is_some_and(|mark| mark == "-");
        time.get(..4).filter(|_| is_behind)?.parse().ok()
    };
    year(one).zip(year(other)).is_none_or(|(one, other)| one.abs_diff(other) <= YEARS)
}

/// Whether a time has parts of a second: then it is hardly the same by chance.
pub(super) fn is_exact(time: &str) -> bool {
    const THOUSANDTHS: usize = 3;
    let behind = time.rsplit(['.', ',']).next().filter(|behind| behind.len() < time.len());
    let digits = behind.map_or(0, |behind| behind.bytes().take_while(u8::is_ascii_digit).count());
    digits >= THOUSANDTHS || (is_epoch(time) && time.len() >= "1763712000000".len())
}

/// How a time is written: to write it in another way is a change.
fn shape(time: &str) -> String {
    let fraction =
        time.find(['.', ',']).filter(|at| time[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let digits =
        fraction.map_or(0, |at| time[at + 1..].bytes().take_while(u8::is_ascii_digit).count());
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| time.as_bytes().get(at)).is_some_and(u8::is_ascii_alphabetic)
    };
    let mut shape = String::new();
    for (at, c) in time.char_indices() {
        // Other than in the name of a day.
        let alone = !is_letter(at.checked_sub(1)) && !is_letter(Some(at + 1));
        // Parts of a second beyond the millionth are cut where zeros begin.
        if fraction.is_some_and(|start| at > start + 7 && at <= start + digits) {
            continue;
        }
        shape.push(match c {
            '0'..='9' => '0',
            'T' | 'Z' | 't' | 'z' if alone => c,
            _ if c.is_ascii_alphabetic() => 'a',
            _ => c,
        });
    }
    shape
}

/// Writes values of the new text, beside those of the old one where they correspond.
pub(super) struct Render<'a> {
    pub(super) settle: Settle<'a>,
    pub(super) new: &'a str,
    pub(super) out: String,
}

impl<'a> Render<'a> {
    pub(super) fn record(mut self, old: Option<(&'a str, &'a Record)>, new: &'a Record) -> String {
        let values = new.values(self.new);
        let olds = old.map_or_else(Vec::new, |(text, old)| old.values(text));
        let is_alike = olds.len() == values.len();
        let olds = (0..values.len()).map(|at| if is_alike { Some(olds[at]) } else { None });
        let (olds, order) = (olds.collect::<Vec<_>>(), (0..values.len()).collect());
        self.all(new.range.clone(), &values, &olds, order);
        self.out
    }

    fn value(&mut self, old: Option<Value<'a>>, new: Value<'a>) {
        let range = new.node().range.clone();
        let old = match (old, old.and_then(Value::said), new.said()) {
            (_, Some(before), Some(now)) => {
                return self.out.push_str(&self.settle.text(before, now));
            }
            (Some(old), None, None) => old,
            _ => return self.out.push_str(&self.settle.named(&self.new[range])),
        };
        let (values, olds) = (new.inside(), partners(old, new));
        let places = olds.iter().map(|old| old.map(|old| old.node().range.start));
        let order = match old.node().kind {
            Kind::Set => as_before(&places.collect::<Vec<_>>()),
            // Each name with the value behind it. Some servers write maps in any order.
            Kind::Object if new.node().kind == Kind::Object => {
                let names = as_before(&places.step_by(2).collect::<Vec<_>>());
                names.into_iter().flat_map(|at| [2 * at, 2 * at + 1]).collect()
            }
            _ => (0..values.len()).collect(),
        };
        self.all(range, &values, &olds, order);
    }

    /// Writes the values within a range in an order, each where the one stood that comes then.
    fn all(
        &mut self,
        range: Range<usize>,
        values: &[Value<'a>],
        olds: &[Option<Value<'a>>],
        order: Vec<usize>,
    ) {
        let mut rest = range.start;
        for (place, at) in values.iter().zip(order) {
            let place = &place.node().range;
            // White space and punctuation.
            self.out.push_str(&self.new[rest..place.start]);
            self.value(olds[at], values[at]);
            rest = place.end;
        }
        self.out.push_str(&self.new[rest..range.end]);
    }
}

/// The elements of a set in their old order; a new one stays behind the one that it came behind.
fn as_before(partners: &[Option<usize>]) -> Vec<usize> {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (item, partner) in partners.iter().enumerate() {
        match (partner, groups.last_mut()) {
            (None, Some((_, group))) => group.push(item),
            _ => groups.push((*partner, vec![item])),
        }
    }
    groups.sort_by_key(|(partner, _)| *partner);
    groups.into_iter().flat_map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::alignment::FieldMeaning;

    fn check(old: &str, new: &str, field: &str, expected: bool) {
        let (renaming, times) = (&Renaming::default(), &Times::default());
        let settle = Settle { renaming, times, spans: Spans::Stay };
        let [before, now] = [old, new].map(|text| KnownText::new(text, FieldMeaning::of(field)));
        let kept = settle.text(before, now) == old;
        assert_eq!(kept, expected, "{old} {new}");
    }

    #[test]
    fn times_are_kept_and_nothing_else_is() {
        check("2026-11-21T09:00:00Z", "2027-01-02T10:11:12Z", "x", true);
        check("at 2026-11-21 09:00:00 AM", "at 2026-11-21 11:30:00 PM", "x", true);
        check("Sat, 21 Nov 2026 09:00:00 GMT", "Sun, 22 Nov 2026 09:00:00 GMT", "date", true);
        check("1763712000", "1763712999", "created", true);
        check("1763712000.7848911", "1763712999.75", "created", true);
        check("1763712000", "1763712999.75", "created", false);
        check("17.5", "3", "duration_ms", true);
        check("0.0288", "5e-05", "queue_time", true);
        check("0.0288", "0", "queue_time", true);
        check("2425", "0", "duration_ms", false);
        check("12", "-1", "elapsed_ms", false);
        check("0.999", "0.111", "beta", false);
        check("0.9991", "0.1112", "rank_eta", true);
        check("2026-11-21T09:00:00Z", "0001-01-01T00:00:00Z", "expires_at", false);
        check("2425", "8", "duration_ms", true);
        check("2425", "8.462", "duration_ms", false);
        check("8.462", "2425", "duration_ms", false);
        check("2425", "2", "duration_ms", false);
        check("0.5", "0.25", "executionDuration", true);
        check("\"0.106911980s\"", "\"0.15s\"", "executionDuration", true);
        check("\"1m2.5s\"", "\"350µs\"", "duration", true);
        check("\"0.1s\"", "\"0.2s\"", "offset", false);
        check("\"5 seats\"", "\"6 seats\"", "duration", false);
        check("\"1s\"", "\"fast\"", "duration", false);
        check("0.0288", "1763712000", "completion_time", false);
        check("1.25", "1.5", "start_time", false);
        check("1763712000", "1763712999", "count", false);
        check("2026-11-21", "2026-11-22", "created_at", true);
        check("2025-06-18", "2025-11-25", "protocolVersion", false);
        check("2026-11-21T09:00:00Z", "2026-11-21T09:00:00+00:00", "created_at", false);
        check("2026-11-21T09:00:00Z", "2026-11-21T09:00:00.123Z", "created_at", false);
        check("a 2026-11-21T09:00:00Z", "b 2026-11-21T09:00:01Z", "x", false);
        check("1", "2", "x", false);
        check("null", "\"2026-11-21T09:00:00Z\"", "created_at", false);
        check("1763712000", "\"1763712999\"", "created", false);
        check("\"1763712000\"", "\"1763712999\"", "created", true);
        check("1034", "\"1035\"", "pid", false);
        check("1034", "1035", "pid", true);
    }

    #[test]
    fn elements_of_a_set_stand_as_before_and_new_ones_behind_their_neighbour() {
        let check = |partners: &[Option<usize>], expected: &[usize]| {
            assert_eq!(as_before(partners), expected);
        };
        check(&[Some(2), Some(0), Some(1)], &[1, 2, 0]);
        check(&[None, Some(1), None, Some(0)], &[0, 3, 1, 2]);
        check(&[], &[]);
    }
}
