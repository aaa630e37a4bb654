//! Where a trace breaks what holds in the others.

use std::collections::BTreeMap;
use std::fmt;

use super::alone::{Alone, PriorValue};
use super::claim::{Asked, Field, Invariant, Path, Referred};
use super::earlier::{Earlier, REQUEST};
use super::echo::{Said, said, said_by_client};
use super::learn::{FieldNumbers, Sight, Sights};
use super::presence;
use super::sorted::is_of_row;
use super::tie::Tie;
use super::trace::{Comparable, Trace, pointer};
use crate::contract::clients::completes;
use crate::contract::order::Extent;
use crate::text::json::unescape;
use crate::text::plain;

/// A place where an invariant does not hold.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// What should hold.
    pub invariant: Invariant,
    /// Where it does not.
    pub at: EventValue,
    /// The place that does not go with it, if there is one.
    pub other: Option<EventValue>,
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventValue {
    /// The event, counted from 0; none for the request.
    pub event: Option<usize>,
    /// Where the value stands in it, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What it says.
    pub says: String,
}

impl fmt::Display for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} of ", self.says, self.pointer)?;
        match self.event {
            Some(event) => write!(f, "event {}", event + 1),
            None => f.write_str("the request"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, at, other } = self;
        write!(f, "{invariant}: ")?;
        match (invariant, other) {
            (Invariant::Echoes(..), _) => write!(f, "{at} is not what the request says"),
            (Invariant::Refers(_, _, Referred::Each), None) => {
                write!(f, "{at} refers to nothing before, or nothing refers to it")
            }
            (Invariant::Refers(..) | Invariant::RefersEarlier(..), _) => {
                write!(f, "{at} refers to nothing before")
            }
            (Invariant::Comes(..), _) => {
                let is = if at.says.is_empty() { "there all the same" } else { "missing" };
                write!(f, "it is {is} in event {}", at.event.unwrap_or_default() + 1)
            }
            (Invariant::Tied(Tie::Joins, ..), _) => write!(f, "{at} is not what the pieces say"),
            (Invariant::Tied(Tie::Extends, ..), _) => write!(f, "{at} begins otherwise"),
            (Invariant::Tied(Tie::NewBehind, ..), _) => write!(f, "{at} came with it already"),
            (Invariant::Tied(Tie::NewBehindFirst, ..), _) => {
                write!(f, "{at} came without it already")
            }
            (Invariant::Tied(Tie::Stays, ..), _) => write!(f, "{at} was something else before"),
            (Invariant::Tied(Tie::NeverFalls, ..), _) => write!(f, "{at} was more before"),
            (Invariant::Tied(Tie::NeverRises, ..), _) => write!(f, "{at} was less before"),
            (Invariant::Tied(Tie::NeverReturns, ..), _) => {
                write!(f, "{at} had been left for something else before")
            }
            (Invariant::Again(..), _) => write!(f, "{at} was something else the first time"),
            (Invariant::Lists(..) | Invariant::Offers(..), _) if at.pointer.is_empty() => {
                write!(f, "{} is missing in event {}", at.says, at.event.unwrap_or_default() + 1)
            }
            (Invariant::Lists(..), _) => write!(f, "{at} was deleted"),
            (Invariant::Tied(Tie::Counts, ..), _) => write!(f, "{at} is not how many there are"),
            (Invariant::Tied(Tie::Totals, ..), _) => {
                write!(f, "{at} is not what the rows sum up to")
            }
            (_, Some(other)) => write!(f, "{at}, but {other}"),
            (_, None) => at.fmt(f),
        }
    }
}

impl Invariant {
    /// Where a trace breaks these invariants: each place, in the order of the invariants.
    pub fn check(invariants: &[Self], trace: &Trace<'_>) -> Vec<Violation> {
        if invariants.is_empty() {
            return Vec::new();
        }
        let check = Check::of(trace);
        let broken = |invariant: &Self| -> Vec<Violation> {
            let violation = |(at, other): (At<'_>, Option<At<'_>>)| Violation {
                invariant: invariant.clone(),
                at: check.place(at),
                other: other.map(|other| check.place(other)),
            };
            let unlisted = match invariant {
                Self::Lists(field) => check.unlisted(field).into_iter().collect(),
                Self::Offers(field, name) => check.unoffered(field, name),
                _ => Vec::new(),
            };
            let missing = check.missing(invariant).chain(unlisted);
            let missing =
                missing.map(|at| Violation { invariant: invariant.clone(), at, other: None });
            check.broken(invariant).into_iter().map(violation).chain(missing).collect()
        };
        invariants.iter().flat_map(broken).collect()
    }

    /// Whether a trace says as much as it takes to break it: a value that it speaks of, and two where what holds of
    /// a field is how they follow each other.
    pub(crate) fn is_tried_by(&self, trace: &Trace<'_>) -> bool {
        let check = Check::of(trace);
        match self {
            Self::Alone(_, field) => check.all(field).len() > 1,
            Self::Sorted(keys, asked) => {
                Asked::all_said(asked, trace.request)
                    && keys.iter().any(|(field, _)| check.all(field).len() > 1)
            }
            Self::Refers(field, to, Referred::Each) => check.says(field) || check.says(to),
            // A first page is behind nothing.
            Self::Tied(Tie::NewBehind | Tie::NewBehindFirst, field, asked) => {
                check.says(field) && check.asked(asked).next().is_some()
            }
            // It may be missing in any message.
            Self::Comes(field, _) => {
                let mut tags = trace.events.iter().map(|event| event.tag);
                tags.any(|tag| field.tag.as_deref().is_none_or(|own| own == tag))
            }
            _ => self.fields().first().is_some_and(|field| check.says(field)),
        }
    }
}

/// A trace that is held against invariants.
pub(super) struct Check<'t> {
    pub(super) trace: &'t Trace<'t>,
    pub(super) names: FieldNumbers,
    request: Vec<Sight<'t>>,
    pub(super) events: Vec<Sights<'t>>,
}

/// A value, the event that it is in (none for the request), and how many values stand before it there.
#[derive(Clone, Copy)]
pub(super) struct At<'c> {
    pub(super) event: Option<usize>,
    pub(super) number: usize,
    pub(super) value: &'c Comparable<'c>,
}

/// What does not hold, and what it does not go with.
pub(super) type Broken<'c> = Vec<(At<'c>, Option<At<'c>>)>;

impl<'t> Check<'t> {
    fn of(trace: &'t Trace<'t>) -> Self {
        let mut names = FieldNumbers::default();
        let request = trace.request.map(|json| names.sights(json)).unwrap_or_default();
        let events = trace.events.iter().map(|event| names.sights_of(event)).collect();
        Self { trace, names, request, events }
    }
}

impl Check<'_> {
    fn broken(&self, invariant: &Invariant) -> Broken<'_> {
        match (invariant, self.trace.earlier) {
            (Invariant::Alone(holds, field), _) => self.otherwise(*holds, field),
            (Invariant::Echoes(field, path), _) => alone(self.not_echoed(field, path)),
            (Invariant::Refers(field, to, referred), _) => alone(self.loose(field, to, *referred)),
            (Invariant::RefersEarlier(field, to), Some(earlier)) => {
                alone(self.unsaid(field, to, earlier))
            }
            (Invariant::Tied(tie, field, to), _) => self.untied(*tie, field, to),
            (Invariant::Sums(field, of), _) => self.unsummed(field, of),
            (Invariant::Sorted(_, asked), _) if !Asked::all_said(asked, self.trace.request) => {
                Broken::new()
            }
            (Invariant::Sorted(keys, _), _) => self.unsorted(keys),
            (Invariant::Lists(field), _) => alone(self.listed_again(field)),
            (Invariant::Again(field), _) => self.made_again(field),
            (Invariant::Begins(field), _) => self.begun_otherwise(field),
            // It is no value that is wrong, but that there is none.
            (Invariant::Comes(..) | Invariant::Offers(..), _) => Broken::new(),
            // What is not known breaks nothing.
            (Invariant::RefersEarlier(..), None) => Broken::new(),
        }
    }

    /// Whether the request asks for anything beside what its path names.
    pub(super) fn is_asked(&self) -> bool {
        self.request.iter().any(|sight| !self.names.spelled(sight.path).starts_with('{'))
    }

    /// The messages in which something is missing that should come, or comes where it should not.
    fn missing<'c>(&'c self, invariant: &'c Invariant) -> impl Iterator<Item = EventValue> + 'c {
        let comes = match invariant {
            Invariant::Comes(field, with) => Some((&field.path, with)),
            _ => None,
        };
        comes.into_iter().flat_map(move |(path, with)| {
            let events = self.trace.events.iter().enumerate();
            events.filter_map(move |(event, said)| {
                let is_missing = presence::is_missing(said.json, path)
                    && presence::conditions(self.trace.request, said.json).contains(with);
                let says = match is_missing {
                    true => path.to_string(),
                    false if presence::comes_without(said.json, path, with) => String::new(),
                    false => return None,
                };
                Some(EventValue { event: Some(event), pointer: String::new(), says })
            })
        })
    }

    /// Where a field stands in the events, in order.
    pub(super) fn all(&self, field: &Field) -> Vec<At<'_>> {
        let Some(path) = self.names.find(field.path.as_str()) else { return Vec::new() };
        let tag = field.tag.as_deref().map(|tag| self.names.find(tag));
        let events = self.events.iter().enumerate();
        let events = events.filter(|(_, (own, _))| tag.is_none_or(|tag| tag == Some(*own)));
        events.flat_map(|(event, (_, sights))| within(sights, Some(event), path)).collect()
    }

    /// Whether it stands in the events, or in the request.
    fn says(&self, field: &Field) -> bool {
        self.asked(field).next().is_some() || !self.all(field).is_empty()
    }

    /// Where it stands in the request, if it is a field of that.
    pub(super) fn asked(&self, field: &Field) -> impl Iterator<Item = At<'_>> {
        let path = self.names.find(field.path.as_str());
        let path = path.filter(|_| field.tag.as_deref() == Some(REQUEST));
        path.into_iter().flat_map(|path| within(&self.request, None, path))
    }

    /// The same of what identifies something, or is called like what does in these fields.
    fn keys(&self, fields: [&Field; 2]) -> impl Iterator<Item = At<'_>> {
        let all = self.all(fields[0]);
        let known = [all.clone(), self.all(fields[1])].concat();
        all.into_iter().filter(move |at| at.value.key().is_some() || is_called_like(at, &known))
    }

    /// The values that break what holds of a field alone, and those before that they do not go with.
    fn otherwise(&self, holds: Alone, field: &Field) -> Broken<'_> {
        let mut first: BTreeMap<&str, At<'_>> = BTreeMap::new();
        let mut last: Option<At<'_>> = None;
        let mut broken = Vec::new();
        let all = self.all(field);
        if holds == Alone::Constant {
            let key = all.iter().find(|at| at.value.key().is_some()).copied();
            let other =
                all.iter().filter(|at| at.value.key().is_none() && is_called_like(at, &all));
            broken.extend(other.map(|at| (*at, key)));
        }
        let is_of_list =
            holds == Alone::Counting && field.tag.is_none() && is_of_row(field.path.as_str());
        for at in all.into_iter().filter(|at| at.value.is_plain()) {
            let said = at.value.key().and_then(|key| first.get(key)).copied();
            if let Some(last) = last {
                let (is_said, is_row) = (said.is_some(), !is_of_list && last.event == at.event);
                let before = PriorValue { last: last.value, is_said, is_same: false, is_row };
                if holds.holds(before, at.value) == Some(false) {
                    let other = said.filter(|_| holds == Alone::Unique).or(Some(last));
                    broken.push((at, other));
                }
            }
            first.extend(at.value.key().filter(|_| said.is_none()).map(|key| (key, at)));
            last = Some(at);
        }
        broken
    }

    /// What the request says otherwise.
    fn not_echoed(&self, field: &Field, path: &Path) -> Vec<At<'_>> {
        let path = self.names.find(path.as_str());
        let of_path = || self.request.iter().filter(|sight| Some(sight.path) == path);
        let asked: Vec<Said> = of_path().flat_map(|sight| said_by_client(&sight.value)).collect();
        let words: Vec<_> = of_path().filter_map(|sight| sight.value.said()).collect();
        let completes = |said: &str| words.iter().any(|word| completes(said, word));
        let is_other = |at: &At<'_>| {
            let is_same = said(at.value).is_none_or(|said| asked.contains(&said));
            !is_same && !at.value.said().is_some_and(|said| completes(&said))
        };
        let said_there = self.all(field).into_iter().filter(|_| !asked.is_empty());
        said_there.filter(is_other).collect()
    }

    /// What was not said before, in this answer or in earlier ones. Of those only what identifies something is known.
    fn unsaid(&self, field: &Field, to: &[Field], earlier: &dyn Earlier) -> Vec<At<'_>> {
        let sources: Vec<At<'_>> = to.iter().flat_map(|to| self.all(to)).collect();
        let all = self.asked(field).chain(self.all(field)).filter(|at| {
            let is_here =
                sources.iter().any(|it| it.event < at.event && it.value.says_as(at.value));
            let is_earlier = |key| earlier.fields(key).into_iter().any(|said| to.contains(said));
            let is_open = |sight: &&Sight<'_>| self.names.spelled(sight.path).starts_with('{');
            let of_path = || self.request.iter().filter(is_open);
            let is_asked_for = || of_path().any(|sight| sight.value.says_as(at.value));
            at.value.key().is_some_and(|key| !is_here && !is_earlier(key)) && !is_asked_for()
        });
        all.collect()
    }

    /// What refers to nothing before, and what nothing refers to although all should be.
    fn loose(&self, field: &Field, to: &Field, referred: Referred) -> Vec<At<'_>> {
        let (references, sources) = (self.all(field), self.all(to));
        let is_of_none = field.tag.is_none() && to.tag.is_none();
        let ties = |one: &At<'_>, other: &At<'_>| {
            let is_before = one.event < other.event || (is_of_none && one.event == other.event);
            is_before && one.value.says_as(other.value)
        };
        let loose = self.keys([field, to]);
        let loose = loose.filter(|at| !sources.iter().any(|source| ties(source, at)));
        // What is not referred to yet may be.
        let is_over = referred == Referred::Each && self.trace.extent == Extent::Whole;
        // What is said again and again has to be referred to once.
        let first =
            |source: &At<'_>| sources.iter().find(|it| it.value.says_as(source.value)).copied();
        let unheard = self.keys([to, field]).filter(|source| {
            let first = first(source).unwrap_or(*source);
            is_over && !references.iter().any(|at| ties(&first, at))
        });
        loose.chain(unheard).collect()
    }

    fn place(&self, at: At<'_>) -> EventValue {
        let says = match at.value {
            Comparable::Key(key) => format!("`{key}`"),
            Comparable::Number(number) | Comparable::Length(number) => number.to_string(),
            Comparable::Text(spelled) => format!("`{}`", shortened(spelled)),
        };
        let json = at.event.map_or(self.trace.request, |event| Some(self.trace.events[event].json));
        let pointer = pointer(json.unwrap_or_default(), at.number);
        EventValue { event: at.event, pointer, says }
    }
}

/// A text to be shown among others.
fn shortened(spelled: &str) -> String {
    const LONGEST: usize = 40;
    plain::beginning(&unescape(spelled), LONGEST).into_owned()
}

/// The values in a path.
fn within<'c>(
    sights: &'c [Sight<'c>],
    event: Option<usize>,
    path: u32,
) -> impl Iterator<Item = At<'c>> {
    let all = sights.iter().enumerate().filter(move |(_, sight)| sight.path == path);
    all.map(move |(number, sight)| At { event, number, value: &sight.value })
}

/// Whether a text without a digit begins as what identifies something in the same place does: `run_none` beside `run_7f`.
/// What servers mint is such a word at times, and what stands for nothing is one always.
fn is_called_like(at: &At<'_>, all: &[At<'_>]) -> bool {
    let Some(word) = at.value.said() else { return false };
    let own = prefix(&word);
    own.is_some() && all.iter().filter_map(|it| it.value.key()).any(|key| prefix(key) == own)
}

/// The letters before the first mark of a word that may be minted, with the mark.
fn prefix(word: &str) -> Option<&str> {
    let at = word.find(['_', '-', ':']).filter(|at| *at > 1 && at + 1 < word.len())?;
    let (letters, behind) = (&word[..at], &word[at..]);
    let is_plain = letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && behind.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain.then(|| &word[..=at])
}

fn alone(all: Vec<At<'_>>) -> Broken<'_> {
    all.into_iter().map(|at| (at, None)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::trace::Event;
    use super::*;

    #[test]
    fn a_trace_tries_what_it_could_break() {
        let tries = |said: &str, events: &[&str], request: Option<&str>| {
            let invariant = Invariant::parse(said).expect("it is one").remove(0);
            let events: Vec<_> = events.iter().map(|json| Event { tag: "a", json }).collect();
            let trace = Trace { request, events: &events, earlier: None, extent: Extent::Whole };
            invariant.is_tried_by(&trace)
        };
        let (one, two) = (r#"{"n":1,"m":2}"#, r#"{"n":2}"#);

        // One number is in every order.
        assert!(
            !tries("a.n increasing", &[one], None) && tries("a.n increasing", &[one, two], None)
        );
        assert!(!tries("b.n increasing", &[one, two], None));
        assert!(tries("a.n at most a.m", &[one], None) && !tries("a.o at most a.m", &[one], None));
        assert!(tries("a.x refers to a.m, each by the end", &[one], None));
        assert!(!tries("a.x refers to a.m", &[one], None));
        let behind = "a.m new behind request.after";
        assert!(
            tries(behind, &[one], Some(r#"{"after":2}"#)) && !tries(behind, &[one], Some("{}"))
        );
        assert!(tries("request.id refers to earlier a.id", &[], Some(r#"{"id":"call_17"}"#)));
        assert!(!tries("request.id refers to earlier a.id", &[], Some("{}")));
        assert!(
            tries("a.x comes with n=1", &[two], None) && !tries("b.x comes with n=1", &[two], None)
        );
    }

    #[test]
    fn what_is_referred_to_is_known_whatever_its_field_is_called() {
        let invariant = Invariant::parse("b.id refers to a.customer").expect("it is one").remove(0);
        let broken = |said: &str| {
            let (first, second) =
                (r#"{"customer":"cus_NfJgQvTzXbWkLm"}"#, format!(r#"{{"id":"{said}"}}"#));
            let events = [Event { tag: "a", json: first }, Event { tag: "b", json: &second }];
            let extent = Extent::Whole;
            let trace = Trace { request: None, events: &events, earlier: None, extent };
            Invariant::check(std::slice::from_ref(&invariant), &trace).len()
        };
        assert_eq!(["cus_NfJgQvTzXbWkLm", "cus_QvTzXbWkLmNfJg"].map(broken), [0, 1]);
    }
}
