//! How two readings differ, place by place.
//!
//! JSON is compared as values: the order of members, white space and spelling (`1.0`, `1`) are no
//! difference. Arrays are aligned, so that one element that was put in is one difference and not a
//! difference in each element behind it.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::Range;

use super::recorded::Recorded;
use crate::cassette::reading::{Kind, Node, PathStep, Reading};
use crate::cassette::{Place, Request};
use crate::config::Rules;
use crate::identity::names::{NodePart, Opening};
use crate::identity::{Hole, Scope};
use crate::text::json::{Layout, Text, kind};
use crate::text::plain;
use crate::text::sequence::{self, Pairing, Rates};

/// One place where two requests differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Where. What is missing stands where it was recorded, everything else where it is asked.
    pub at: Place,
    /// What was recorded there, if anything was.
    pub recorded: Option<Value>,
    /// What is asked there, if anything is.
    pub asked: Option<Value>,
    /// Whether only the order is another one.
    pub sort: Sort,
}

/// How far two values differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sort {
    /// They are not the same.
    Changed,
    /// The elements of an array are the same, in another order.
    Reordered,
}

/// What was found, up to a limit.
#[derive(Debug, Default)]
pub struct Differences {
    /// Those that are listed, in the order of the request.
    pub listed: Vec<Difference>,
    /// How many more there are.
    pub more: usize,
    /// The values that are others, by their nodes.
    pub(super) changed: Vec<(usize, usize)>,
    /// How many values the differences hold.
    pub(super) weight: usize,
    /// How many values are the same in both.
    pub(super) same: usize,
    /// What stands in the open parts of what was recorded: the number of the opening.
    pub(super) filled: Vec<Filled>,
}

/// What stands now in an open part of what was recorded.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    /// The number of the opening.
    pub(super) opening: usize,
    /// The node of what is asked.
    pub(super) asked: usize,
    pub(super) hole: Hole,
}

/// So many are listed; nobody reads more, and a body may hold any number.
const MOST: usize = 200;

/// What a value costs that only one of the sides has, and one that is another: with the first goes its name.
const ONLY_ONE: usize = 3;
const ANOTHER: usize = 2;

/// Compares what is asked with what was recorded.
///
/// Requests of another method are not compared beyond their path: nothing in them has the same meaning.
pub(super) fn compare(recorded: &Recorded<'_, '_>, asked: &Reading<'_>) -> Differences {
    let mut found = walked(recorded, asked, |walk| walk.requests());
    found.filled.sort_by_key(|filled| filled.opening);
    found
}

/// Compares two JSON texts; one that is none is compared as a text. `open` says which parts of a recorded
/// text may be anything.
pub fn documents(recorded: &str, asked: &str, open: &Open<'_>) -> Differences {
    let rules = Rules::default();
    let [recorded, asked] = [recorded, asked].map(|text| Reading::of_text(text, &rules));
    let openings = openings(&recorded, open);
    walked(&Recorded::new(&recorded, &openings), &asked, |walk| walk.values(0, 0))
}

/// Compares what two requests ask, their headers aside.
pub fn requests(recorded: &Request, asked: &Request, open: &Open<'_>) -> Differences {
    let rules = Rules::default();
    let [old, new] = [recorded.readable(), asked.readable()];
    let [recorded, asked] =
        [(recorded, &old), (asked, &new)].map(|(request, body)| Reading::of(request, body, &rules));
    let openings = openings(&recorded, open);
    let mut found = compare(&Recorded::new(&recorded, &openings), &asked);
    found.listed.retain(|difference| !matches!(difference.at, Place::Header(_)));
    found
}

fn walked<'r, 't>(
    recorded: &Recorded<'r, 't>,
    asked: &Reading<'t>,
    go: impl FnOnce(&mut ReadingWalk<'_, 'r, 't>),
) -> Differences {
    let masked = [recorded.masked(recorded.reading), recorded.masked(asked)];
    let mut walk = ReadingWalk { recorded, asked, masked: &masked, found: Differences::default() };
    go(&mut walk);
    walk.found
}

/// The parts of a text that may be anything, in order.
pub type Open<'o> = dyn Fn(&str) -> Vec<Range<usize>> + 'o;

fn openings(reading: &Reading<'_>, open: &Open<'_>) -> Vec<Opening> {
    let texts = reading.nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Text);
    let found = texts.flat_map(|(node, it)| {
        let parts = open(&it.text).into_iter();
        let (part, scope, draw) = (NodePart::Value, Scope::Moment, None);
        parts.map(move |range| Opening { node, part, range, scope, draw })
    });
    found.collect()
}

impl Differences {
    /// How many values are not the same.
    pub(super) fn apart(&self) -> usize {
        self.weight / ANOTHER
    }
}

impl Difference {
    /// A difference of which nothing is told but where it is.
    pub fn hidden(at: Place) -> Self {
        let hidden = || Some(Value::text("[redacted]"));
        Self { at, recorded: hidden(), asked: hidden(), sort: Sort::Changed }
    }
}

/// A walk through two readings side by side.
struct ReadingWalk<'w, 'r, 't> {
    recorded: &'w Recorded<'r, 't>,
    asked: &'w Reading<'t>,
    masked: &'w [Vec<u64>; 2],
    found: Differences,
}

impl<'t> ReadingWalk<'_, '_, 't> {
    fn requests(&mut self) {
        let (recorded, asked) = (self.recorded.reading, self.asked);
        let is_same_method = recorded.nodes[0].hash == asked.nodes[0].hash;
        if !is_same_method {
            self.changed(0, 0, Sort::Changed);
        }
        let roots = |reading: &Reading<'_>, is_meant: fn(&PathStep<'_>) -> bool| -> Vec<usize> {
            reading.inside(None).filter(|at| is_meant(&reading.nodes[*at].step)).collect()
        };
        let of_origin = |step: &PathStep<'_>| *step == PathStep::Origin;
        self.named(&roots(recorded, of_origin), &roots(asked, of_origin));
        let of_path = |step: &PathStep<'_>| matches!(step, PathStep::Path | PathStep::Segment(_));
        let (old, new) = (roots(recorded, of_path), roots(asked, of_path));
        if old.len() == new.len() {
            old.iter().zip(&new).for_each(|(old, new)| self.values(*old, *new));
        } else {
            let path = |reading: &Reading<'_>, nodes: &[usize]| {
                let parts: Vec<&str> = nodes.iter().map(|at| &*reading.nodes[*at].text).collect();
                Some(Value::text(parts.join("/")))
            };
            let (recorded, asked) = (path(recorded, &old), path(asked, &new));
            self.note(
                Difference { at: Place::Path, recorded, asked, sort: Sort::Changed },
                ANOTHER,
            );
        }
        // How much is the same tells which is the nearest, but nothing is listed.
        let listed = (!is_same_method).then(|| (self.found.listed.clone(), self.found.weight));
        for is_meant in
            [(|step| matches!(step, PathStep::Query(_))) as fn(&PathStep<'_>) -> bool, |step| {
                matches!(step, PathStep::Header(_))
            }]
        {
            self.named(&roots(recorded, is_meant), &roots(asked, is_meant));
        }
        let of_body = |step: &PathStep<'_>| {
            matches!(step, PathStep::Form(_) | PathStep::Part(_) | PathStep::Body)
        };
        self.bodies(&roots(recorded, of_body), &roots(asked, of_body));
        if let Some((listed, weight)) = listed {
            (self.found.listed, self.found.weight, self.found.more) = (listed, weight, 0);
            self.found.filled.clear();
        }
    }

    fn bodies(&mut self, old: &[usize], new: &[usize]) {
        let sort = |reading: &Reading<'_>, roots: &[usize]| {
            roots.first().map(|at| reading.nodes[*at].step.is_of_form())
        };
        let (was, is) = (sort(self.recorded.reading, old), sort(self.asked, new));
        let place = |reading: &Reading<'_>, at: usize| reading.nodes[at].place;
        if let ([old], [new]) = (old, new)
            && place(self.recorded.reading, *old) == place(self.asked, *new)
        {
            return self.values(*old, *new);
        }
        if was == is {
            return self.named(old, new);
        }
        let (recorded, asked) = (self.recorded.reading.body, self.asked.body);
        let at = Place::Body;
        let weight = ONLY_ONE * old.len().max(new.len());
        let [was, is] = [(recorded, asked), (asked, recorded)]
            .map(|(body, other)| (!body.is_empty()).then(|| whole(body, other)));
        self.note(Difference { at, recorded: was, asked: is, sort: Sort::Changed }, weight);
    }

    /// Compares what has names. A repeated name is compared one by one, equal values first.
    fn named(&mut self, old: &[usize], new: &[usize]) {
        let (recorded, asked) = (&self.recorded.reading.nodes, &self.asked.nodes);
        let is_equal = |old: usize, new: usize| recorded[old].hash == asked[new].hash;
        let pairs = Pairs::of(
            (old, |old| recorded[old].place),
            (new, |new| asked[new].place),
            &[&is_equal, &|old, new| self.is_alike(old, new), &|_, _| true],
        );
        self.pairs(pairs);
    }

    /// Compares those that are partners; the others are on one side only.
    fn pairs(&mut self, pairs: Pairs) {
        for (old, new) in pairs.olds {
            match new {
                Some(new) => self.values(old, new),
                None => self.missing(old),
            }
        }
        pairs.left.into_iter().for_each(|new| self.extra(new));
    }

    fn values(&mut self, old: usize, new: usize) {
        let (was, is) = (&self.recorded.reading.nodes[old], &self.asked.nodes[new]);
        if was.hash == is.hash && was.kind == is.kind && !self.recorded.has_opening(old) {
            self.found.same += leaves(self.asked, new);
            return;
        }
        match (was.kind, is.kind) {
            (Kind::Object, Kind::Object) => self.members(old, new),
            (Kind::Set, Kind::Set) => self.items_of_set(old, new),
            (Kind::Array, Kind::Array) => self.items(old, new),
            _ if was.kind.is_container() || is.kind.is_container() => {
                self.changed(old, new, Sort::Changed);
            }
            _ => self.leaf(old, new),
        }
    }

    fn leaf(&mut self, old: usize, new: usize) {
        let (was, is) = (&self.recorded.reading.nodes[old], &self.asked.nodes[new]);
        let is_same = match self.recorded.template(old, NodePart::Value) {
            Some((first, template)) => match template.captured(&is.text, is.kind) {
                Some(holes) => {
                    self.fill(first, new, holes);
                    true
                }
                None => false,
            },
            None => was.hash == is.hash,
        };
        if is_same {
            self.found.same += 1;
        } else {
            self.found.changed.push((old, new));
            self.changed(old, new, Sort::Changed);
        }
    }

    fn fill(&mut self, first: usize, asked: usize, holes: Vec<Hole>) {
        let filled = holes.into_iter().enumerate();
        self.found.filled.extend(filled.map(|(at, hole)| Filled {
            opening: first + at,
            asked,
            hole,
        }));
    }

    fn members(&mut self, old: usize, new: usize) {
        let (recorded, asked, masked) = (self.recorded, self.asked, self.masked);
        let olds: Vec<usize> = recorded.reading.inside(Some(old)).collect();
        let news: Vec<usize> = asked.inside(Some(new)).collect();
        let is_equal = |old: usize, new: usize| masked[0][old] == masked[1][new];
        let mut pairs = Pairs::of(
            (&olds, |old| member(&recorded.reading.nodes[old])),
            (&news, |new| member(&asked.nodes[new])),
            &[&is_equal, &|_, _| true],
        );
        for (old, pair) in &mut pairs.olds {
            let Some((first, template)) = recorded.template(*old, NodePart::Name) else { continue };
            // A name that is open may have been given again as it was.
            let name = |new: usize| template.captured(member(&asked.nodes[new]), Kind::Text);
            let named = match *pair {
                Some(new) => Some((new, name(new).unwrap_or_default())),
                None => {
                    let mut left = pairs.left.iter().filter(|new| is_equal(*old, **new));
                    left.find_map(|new| Some((*new, name(*new)?)))
                }
            };
            if let Some((new, holes)) = named {
                pairs.left.retain(|left| *left != new);
                self.fill(first, new, holes);
                *pair = Some(new);
            }
        }
        self.pairs(pairs);
    }

    fn items_of_set(&mut self, old: usize, new: usize) {
        let olds: Vec<usize> = self.recorded.reading.inside(Some(old)).collect();
        let news: Vec<usize> = self.asked.inside(Some(new)).collect();
        let [masked, others] = self.masked;
        let is_same =
            |old: usize, new: usize| masked[old] == others[new] && self.is_alike(old, new);
        let pairs = Pairs::of((&olds, |_| ()), (&news, |_| ()), &[&is_same, &|_, _| true]);
        self.pairs(pairs);
    }

    fn items(&mut self, old: usize, new: usize) {
        let olds: Vec<usize> = self.recorded.reading.inside(Some(old)).collect();
        let news: Vec<usize> = self.asked.inside(Some(new)).collect();
        if self.is_reordered(&olds, &news) {
            return self.changed(old, new, Sort::Reordered);
        }
        let [masked, others] = self.masked;
        let hashes: [Vec<u64>; 2] = [
            olds.iter().map(|at| masked[*at]).collect(),
            news.iter().map(|at| others[*at]).collect(),
        ];
        let unlike = |old: usize, new: usize| self.unlike(olds[old], news[new]);
        for step in sequence::align(&hashes[0], &hashes[1], RATES, unlike) {
            match step {
                Pairing::Both(old, new) => self.values(olds[old], news[new]),
                Pairing::Old(old) => self.missing(olds[old]),
                Pairing::New(new) => self.extra(news[new]),
            }
        }
    }

    /// Whether both hold the same elements, in another order.
    fn is_reordered(&self, olds: &[usize], news: &[usize]) -> bool {
        let [masked, others] = self.masked;
        let in_order = || olds.iter().zip(news).all(|(old, new)| masked[*old] == others[*new]);
        let sorted = |nodes: &[usize], hashes: &[u64]| {
            let mut hashes: Vec<u64> = nodes.iter().map(|at| hashes[*at]).collect();
            hashes.sort_unstable();
            hashes
        };
        olds.len() == news.len() && !in_order() && sorted(olds, masked) == sorted(news, others)
    }

    /// How unlike two values are that are not equal. Up to twice [`ALONE`] they are compared with each
    /// other rather than told as one that is gone and one that is new.
    fn unlike(&self, old: usize, new: usize) -> u32 {
        const NOT_COMPARABLE: u32 = 3 * ALONE;
        let (was, is) = (&self.recorded.reading.nodes[old], &self.asked.nodes[new]);
        match (was.kind, is.kind) {
            (Kind::Object, Kind::Object) => {
                let olds: Vec<usize> = self.recorded.reading.inside(Some(old)).collect();
                let news: Vec<usize> = self.asked.inside(Some(new)).collect();
                let alike = |old: &usize| {
                    let name = member(&self.recorded.reading.nodes[*old]);
                    let other = news.iter().find(|new| member(&self.asked.nodes[**new]) == name)?;
                    Some(1 + usize::from(self.masked[0][*old] == self.masked[1][*other]))
                };
                let alike: usize = olds.iter().filter_map(alike).sum();
                let most = (olds.len() + news.len()).max(1);
                2 * ALONE * most.saturating_sub(alike) as u32 / most as u32
            }
            (old, new) if old == new && old.is_container() => ALONE,
            (old, new) if old.is_container() || new.is_container() => NOT_COMPARABLE,
            (old, new) if (old == Kind::Text) == (new == Kind::Text) => ALONE + 10,
            _ => 2 * ALONE - 10,
        }
    }

    /// Whether two values are the same but for what is open.
    fn is_alike(&self, old: usize, new: usize) -> bool {
        let mut walk = ReadingWalk { found: Differences::default(), ..*self };
        walk.values(old, new);
        walk.found.listed.is_empty()
    }

    fn changed(&mut self, old: usize, new: usize, sort: Sort) {
        let (was, is) = (&self.recorded.reading.nodes[old], &self.asked.nodes[new]);
        let at = self.asked.place(new);
        let weight = match sort {
            Sort::Reordered => ANOTHER,
            Sort::Changed => {
                match leaves(self.recorded.reading, old).max(leaves(self.asked, new)) {
                    1 => ANOTHER,
                    several => several * ONLY_ONE,
                }
            }
        };
        let bodies = [self.recorded.reading.body, self.asked.body];
        let recorded = Some(value(was, bodies[0], bodies[1]));
        let asked = Some(value(is, bodies[1], bodies[0]));
        self.note(Difference { at, recorded, asked, sort }, weight);
    }

    fn missing(&mut self, old: usize) {
        let reading = self.recorded.reading;
        let weight = leaves(reading, old) * ONLY_ONE;
        let at = reading.place(old);
        let recorded = Some(value(&reading.nodes[old], reading.body, b""));
        self.note(Difference { at, recorded, asked: None, sort: Sort::Changed }, weight);
    }

    fn extra(&mut self, new: usize) {
        let weight = leaves(self.asked, new) * ONLY_ONE;
        let at = self.asked.place(new);
        let asked = Some(value(&self.asked.nodes[new], self.asked.body, b""));
        self.note(Difference { at, recorded: None, asked, sort: Sort::Changed }, weight);
    }

    fn note(&mut self, difference: Difference, weight: usize) {
        self.found.weight += weight;
        if self.found.listed.len() < MOST {
            self.found.listed.push(difference);
        } else {
            self.found.more += 1;
        }
    }
}

/// Which of one list is which of another.
struct Pairs {
    olds: Vec<(usize, Option<usize>)>,
    /// Those of the new list that are nobody's partner, in order.
    left: Vec<usize>,
}

impl Pairs {
    /// Those of equal keys are partners, if they fit: in the first round, else in the next.
    fn of<K: Hash + Eq>(
        (olds, old_key): (&[usize], impl Fn(usize) -> K),
        (news, new_key): (&[usize], impl Fn(usize) -> K),
        rounds: &[&dyn Fn(usize, usize) -> bool],
    ) -> Self {
        let mut by_key: HashMap<K, Vec<usize>> = HashMap::new();
        news.iter().for_each(|new| by_key.entry(new_key(*new)).or_default().push(*new));
        let mut pairs: Vec<_> = olds.iter().map(|old| (*old, None)).collect();
        for fits in rounds {
            for (old, pair) in pairs.iter_mut().filter(|(_, pair)| pair.is_none()) {
                let Some(same) = by_key.get_mut(&old_key(*old)) else { continue };
                let found = same.iter().position(|new| fits(*old, *new));
                *pair = found.map(|found| same.remove(found));
            }
        }
        let left: HashSet<usize> = by_key.into_values().flatten().collect();
        let left = news.iter().copied().filter(|new| left.contains(new)).collect();
        Self { olds: pairs, left }
    }
}

const RATES: Rates = Rates { longest: 2000, most_pairs: 1024, alone: ALONE };

/// What it costs to leave an element without a partner, in hundredths of a wholly different one.
const ALONE: u32 = 50;

pub(super) fn member<'n>(node: &'n Node<'_>) -> &'n str {
    if let PathStep::Member(name) = &node.step { name } else { "" }
}

/// How many values a value holds.
fn leaves(reading: &Reading<'_>, node: usize) -> usize {
    let inside = &reading.nodes[node..reading.nodes[node].end as usize];
    inside.iter().filter(|node| !node.kind.is_container()).count().max(1)
}

/// A value as it is shown.
pub(super) fn value(node: &Node<'_>, body: &[u8], other: &[u8]) -> Value {
    match node.kind {
        _ if !node.spelled.is_empty() => Value::json(Text::known(node.spelled)),
        Kind::Bytes(length) => Value::binary(length, body, other),
        _ => Value::text(&*node.text),
    }
}

/// A body as a whole.
fn whole(bytes: &[u8], other: &[u8]) -> Value {
    if let Some(json) = Text::parse_container(bytes) {
        return Value::json(json);
    }
    match plain::text(bytes) {
        Some(text) => Value::text(text),
        None => Value::binary(bytes.len(), bytes, other),
    }
}

/// A value as it was recorded or is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A JSON value, spelled as it came, without white space between its tokens.
    Json(String),
    /// A text.
    Text(String),
    /// Bytes that are no text.
    Binary {
        /// How many there are.
        length: usize,
        /// The first place, counted from 0, where they are not those of the other side.
        differs_at: usize,
    },
}

impl Value {
    pub(super) fn json(text: Text<'_>) -> Self {
        let mut spelled = String::new();
        Layout::Compact.write(text, &mut spelled);
        Self::Json(spelled)
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Bytes, and where they are not those of the other side.
    pub(super) fn binary(length: usize, bytes: &[u8], other: &[u8]) -> Self {
        let same = bytes.iter().zip(other).take_while(|(one, other)| one == other);
        Self::Binary { length, differs_at: same.count() }
    }

    /// The text of it: what a JSON string says, else how it is spelled. Bytes have none.
    pub fn said(&self) -> Option<String> {
        match self {
            Self::Json(spelled) => {
                let said = Text::read(spelled).and_then(Text::string);
                Some(said.map_or_else(|| spelled.clone(), |said| said.into_owned()))
            }
            Self::Text(text) => Some(text.clone()),
            Self::Binary { .. } => None,
        }
    }

    /// What sort of JSON it is: `string`, `number`, `array` …; nothing if it is no JSON.
    pub fn kind(&self) -> Option<&'static str> {
        let Self::Json(spelled) = self else { return None };
        kind(spelled)
    }
}
