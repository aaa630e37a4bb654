//! Where a trace breaks what holds in the others.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::claim::{Field, Path};
use super::claim::{Invariant, Referred};
use super::earlier::{Earlier, REQUEST};
use super::trace::{Seen, Trace, Value, seen};

/// A place where an invariant does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// What should hold.
    pub invariant: Invariant,
    /// Where it does not.
    pub at: Place,
    /// The place that does not go with it, if there is one.
    pub other: Option<Place>,
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The event, counted from 0; none for the request.
    pub event: Option<usize>,
    /// Where the value stands in it, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What it says.
    pub says: String,
}

impl fmt::Display for Place {
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
            (Invariant::Echoes(..), _) => write!(f, "{at} is not in the request"),
            (Invariant::Refers(_, _, Referred::Each), None) => {
                write!(f, "{at} refers to nothing before, or nothing refers to it")
            }
            (Invariant::Refers(..) | Invariant::RefersEarlier(..), _) => {
                write!(f, "{at} refers to nothing before")
            }
            (_, Some(other)) => write!(f, "{at}, but {other}"),
            (_, None) => at.fmt(f),
        }
    }
}

impl Invariant {
    /// Where a trace breaks these invariants: each place, in the order of the invariants.
    pub fn check(invariants: &[Self], trace: &Trace<'_>) -> Vec<Violation> {
        let events: Vec<(&str, Vec<Seen<'_>>)> =
            trace.events.iter().map(|event| (event.tag, seen(event.json))).collect();
        let request = trace.request.map(seen).unwrap_or_default();
        let asked = asked(&request);
        let broken = |invariant: &Self| match (invariant, trace.earlier) {
            (Self::RefersEarlier(field, to), Some(earlier)) => {
                let loose = unsaid(field, to, &request, &events, earlier).into_iter();
                loose
                    .map(|at| Violation { invariant: invariant.clone(), at, other: None })
                    .collect()
            }
            _ => invariant.broken(&events, &asked),
        };
        invariants.iter().flat_map(broken).collect()
    }

    fn broken(&self, events: &Events<'_>, asked: &Asked<'_>) -> Vec<Violation> {
        let broken = match self {
            Self::Constant(field) => pairs(field, events, Value::key, |before, now| before != now),
            Self::Counting(field) => {
                pairs(field, events, Value::number, |before, now| *now != before + 1.0)
            }
            Self::Increasing(field) => {
                pairs(field, events, Value::number, |before, now| now <= before)
            }
            Self::NotDecreasing(field) => {
                pairs(field, events, Value::number, |before, now| now < before)
            }
            Self::Unique(field) => repeated(field, events),
            Self::Echoes(field, path) => {
                let echoed = |key: &str| asked.get(key).is_some_and(|paths| paths.contains(&path));
                let all = field.places(events).filter(|(_, seen)| seen.value.key().is_some());
                all.filter(|(_, seen)| !seen.value.key().is_some_and(echoed))
                    .map(|(event, seen)| (Place::of(event, seen), None))
                    .collect()
            }
            Self::Refers(field, to, referred) => loose(field, to, *referred, events),
            // What is not known breaks nothing.
            Self::RefersEarlier(..) => Broken::new(),
        };
        let violation = |(at, other)| Violation { invariant: self.clone(), at, other };
        broken.into_iter().map(violation).collect()
    }
}

/// What the request says that identifies something, and where.
type Asked<'a> = HashMap<&'a str, Vec<&'a Path>>;

type Events<'a> = [(&'a str, Vec<Seen<'a>>)];
type Broken = Vec<(Place, Option<Place>)>;

fn asked<'a>(request: &'a [Seen<'a>]) -> Asked<'a> {
    let mut asked = Asked::new();
    for seen in request {
        if let Some(key) = seen.value.key() {
            asked.entry(key).or_default().push(&seen.path);
        }
    }
    asked
}

impl Field {
    /// Where it stands in the events, in order.
    fn places<'e>(&'e self, events: &'e Events<'_>) -> impl Iterator<Item = (usize, &'e Seen<'e>)> {
        events.iter().enumerate().flat_map(move |(event, (tag, seen))| {
            let fits = self.tag.as_deref().is_none_or(|own| own == *tag);
            let seen = seen.iter().filter(move |seen| fits && seen.path == self.path);
            seen.map(move |seen| (event, seen))
        })
    }
}

impl Place {
    fn of(event: impl Into<Option<usize>>, seen: &Seen<'_>) -> Self {
        let says = match &seen.value {
            Value::Key(key) => format!("`{key}`"),
            Value::Number(number) => number.to_string(),
        };
        Self { event: event.into(), pointer: seen.pointer.clone(), says }
    }
}

/// Neighbours, among those of a kind, that do not go together.
fn pairs<'e, T>(
    field: &'e Field,
    events: &'e Events<'_>,
    of: impl Fn(&'e Value<'e>) -> Option<T>,
    breaks: impl Fn(&T, &T) -> bool,
) -> Broken {
    let all: Vec<(usize, &Seen<'_>, T)> = field
        .places(events)
        .filter_map(|(event, seen)| Some((event, seen, of(&seen.value)?)))
        .collect();
    let broken = all.windows(2).filter(|two| breaks(&two[0].2, &two[1].2));
    broken.map(|two| (Place::of(two[1].0, two[1].1), Some(Place::of(two[0].0, two[0].1)))).collect()
}

fn repeated(field: &Field, events: &Events<'_>) -> Broken {
    let mut first: BTreeMap<&str, Place> = BTreeMap::new();
    let mut broken = Vec::new();
    for (event, seen) in field.places(events) {
        let Some(key) = seen.value.key() else { continue };
        match first.get(key) {
            Some(before) => broken.push((Place::of(event, seen), Some(before.clone()))),
            None => {
                first.insert(key, Place::of(event, seen));
            }
        }
    }
    broken
}

/// What was not said before, in this answer or in earlier ones.
fn unsaid(
    field: &Field,
    to: &Field,
    request: &[Seen<'_>],
    events: &Events<'_>,
    earlier: &dyn Earlier,
) -> Vec<Place> {
    let sources: Vec<(usize, &Seen<'_>)> = to.places(events).collect();
    let is_asked = field.tag.as_deref() == Some(REQUEST);
    let asked = request.iter().filter(|seen| is_asked && seen.path == field.path);
    let said = field.places(events).map(|(event, seen)| (Some(event), seen));
    let all = asked.map(|seen| (None, seen)).chain(said);
    all.filter_map(|(event, seen)| {
        let key = seen.value.key()?;
        let here =
            sources.iter().any(|(at, source)| Some(*at) < event && source.value == seen.value);
        let known = here || earlier.fields(key).contains(&to);
        (!known).then(|| Place::of(event, seen))
    })
    .collect()
}

/// What refers to nothing before, and what nothing refers to although all should be.
fn loose(field: &Field, to: &Field, referred: Referred, events: &Events<'_>) -> Broken {
    let sources: Vec<(usize, &Seen<'_>)> = to.places(events).collect();
    let mut broken: Broken = field
        .places(events)
        .filter(|(_, seen)| seen.value.key().is_some())
        .filter(|(event, seen)| {
            !sources.iter().any(|(before, source)| before < event && source.value == seen.value)
        })
        .map(|(event, seen)| (Place::of(event, seen), None))
        .collect();
    if referred == Referred::Each {
        let unheard = |(at, source): &&(usize, &Seen<'_>)| {
            source.value.key().is_some()
                && !field
                    .places(events)
                    .any(|(event, seen)| event > *at && seen.value == source.value)
        };
        broken.extend(
            sources.iter().filter(unheard).map(|(event, seen)| (Place::of(*event, seen), None)),
        );
    }
    broken
}
