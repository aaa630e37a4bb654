//! One change in several places.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::report::{Change, Report, Verdict, Witnesses};
use super::rule::Rule;
use crate::contract::Endpoint;
use crate::identity::{Meaning, refers};

/// A change, and the other places in which it is the same: one field that is gone from every message, or
/// at every endpoint. People are told once, by the worst of them, and approve it once: what too few recordings show
/// in one place is the same change where enough do.
#[derive(Debug)]
#[non_exhaustive]
pub struct Group<'r> {
    /// The first of them.
    pub change: &'r Change,
    /// The others.
    pub also: Vec<&'r Change>,
}

/// What is the same in all places.
type Gist<'r> = (Verdict, Rule, Option<&'r str>, What<'r>);

/// What changed.
#[derive(Debug, PartialEq, Eq, Hash)]
enum What<'r> {
    /// What tells it from other changes of its rule.
    Key(&'r str),
    /// The same of what is called so.
    Of(&'r str, &'r str),
    /// A sentence, at this endpoint if at one only.
    Said(Option<&'r Endpoint>, &'r str),
}

impl Report {
    /// All changes, each told once, the worst first.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut numbers: HashMap<Gist<'_>, usize> = HashMap::new();
        let is_type = |change: &&Change| change.rule == Rule::TagNew;
        let types: HashSet<&str> =
            self.changes.iter().filter(is_type).filter_map(new_word).collect();
        for change in &self.changes {
            match numbers.entry(gist(change, &types)) {
                Entry::Occupied(number) => groups[*number.get()].also.push(change),
                Entry::Vacant(free) => {
                    free.insert(groups.len());
                    groups.push(Group::alone(change));
                }
            }
        }
        join_objects(&mut groups, &others(&self.changes));
        groups.iter_mut().for_each(Group::lead);
        groups
    }
}

impl<'r> Group<'r> {
    /// A change in one place.
    pub fn alone(change: &'r Change) -> Self {
        Self { change, also: Vec::new() }
    }

    /// Tells a type of message first where it comes in an order: that says what came there before.
    fn lead(&mut self) {
        let is_type = |it: &&mut &Change| {
            it.rule == Rule::TagNew && it.verdict == self.change.verdict && it.trace.is_some()
        };
        if matches!(self.change.rule, Rule::KindNew | Rule::ValueNew)
            && let Some(first) = self.also.iter_mut().find(is_type)
        {
            std::mem::swap(&mut self.change, first);
        }
    }

    /// The change in all its places.
    pub fn all(&self) -> impl Iterator<Item = &'r Change> {
        std::iter::once(self.change).chain(self.also.iter().copied())
    }
}

/// An object, and the answers that show something of it.
type ShownObject<'r> = (&'r Endpoint, &'r str, &'r Witnesses);

/// The object in which a field can be missing.
fn object(change: &Change) -> Option<ShownObject<'_>> {
    let (above, _) = change.place.path.rsplit_once('.').unwrap_or_default();
    let is_missing = change.rule == Rule::FieldMissing && change.approved.is_none();
    Some((&change.place.endpoint, above, change.witnesses.as_ref().filter(|_| is_missing)?))
}

/// So many fields of an object that are missing in the same answers say that another object stands there.
const ANOTHER: usize = 3;

/// The objects in whose places others stand: that is one change, however many fields they had.
fn others(changes: &[Change]) -> HashSet<ShownObject<'_>> {
    let mut missing: HashMap<ShownObject<'_>, usize> = HashMap::new();
    changes.iter().filter_map(object).for_each(|it| *missing.entry(it).or_default() += 1);
    missing.retain(|_, fields| *fields >= ANOTHER);
    missing.into_keys().collect()
}

/// Joins what is missing of one object, and of no other: what is missing elsewhere as well is gone by itself.
fn join_objects<'r>(groups: &mut Vec<Group<'r>>, others: &HashSet<ShownObject<'r>>) {
    if others.is_empty() {
        return;
    }
    let objects = |group: &Group<'r>| -> HashSet<ShownObject<'r>> {
        let all: Option<HashSet<ShownObject<'r>>> = group.all().map(object).collect();
        all.filter(|all| all.is_subset(others)).unwrap_or_default()
    };
    let mut at = 0;
    while at < groups.len() {
        let own = objects(&groups[at]);
        let same = |other: &Group<'r>| objects(other) == own;
        let same = groups.iter().skip(at + 1).position(same).filter(|_| !own.is_empty());
        match same {
            Some(behind) => {
                let other = groups.remove(at + 1 + behind);
                groups[at].also.extend(other.all());
            }
            None => at += 1,
        }
    }
}

/// What changed, whatever it stands in. `types` are those of messages that are new.
fn gist<'r>(change: &'r Change, types: &HashSet<&str>) -> Gist<'r> {
    let verdict = if change.verdict.is_open() { Verdict::Breaking } else { change.verdict };
    let (rule, what) = match new_word(change) {
        // A type of message is the same wherever it comes, and in whatever list its messages are.
        Some(word) if types.contains(word) => (Rule::TagNew, What::Key(word)),
        Some(word) if change.rule != Rule::ValueNew => (change.rule, What::Key(word)),
        _ => (change.rule, what(change)),
    };
    (verdict, rule, change.approved.as_deref(), what)
}

/// The word that is new, if a change is that there is one.
fn new_word(change: &Change) -> Option<&str> {
    match change.rule {
        Rule::TagNew => Some(&change.key),
        Rule::KindNew => Some(change.key.split_once(' ')?.1),
        Rule::ValueNew => change.key.strip_prefix('"')?.strip_suffix('"'),
        _ => None,
    }
}

fn what(change: &Change) -> What<'_> {
    let path = change.place.path.as_str();
    match change.rule {
        Rule::StatusNew | Rule::StatusGone | Rule::MediaNew | Rule::MediaGone => {
            What::Said(None, &change.what)
        }
        // A tie names its fields as they are called in each answer that has them.
        Rule::InvariantBroken | Rule::TagGone => What::Key(&change.key),
        // The identifiers of a thing are of one format, whatever the fields are called that hold them.
        Rule::FormatNew if change.key.starts_with(AN_ID) => What::Key(AN_ID),
        Rule::ValueOther if is_identifier(name(path)) => What::Of(AN_ID, &change.key),
        // What has no place in a value is told of an endpoint by itself.
        _ if path.is_empty() => What::Said(Some(&change.place.endpoint), &change.what),
        // A kind is the same in whatever list its objects are.
        Rule::KindNew | Rule::KindGone if path.ends_with("[]") => What::Of("[]", &change.key),
        // `stop_reason` and `last_stop_reason` say the same.
        Rule::ValueNew => {
            let mut words = path.rsplit(['.', '_', '[', ']', '{', '}']);
            What::Of(words.find(|word| !word.is_empty()).unwrap_or_default(), &change.key)
        }
        // What a new field holds is no part of its key: none that was known is there.
        Rule::FieldNew => {
            What::Of(name(path), change.possible.as_ref().map_or("", |possible| &possible.text))
        }
        _ => What::Of(name(path), &change.key),
    }
}

/// How a field is called, or the list or map of what it is an element of.
fn name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Whether a field of that name holds what identifies something.
fn is_identifier(name: &str) -> bool {
    let name = name.trim_end_matches("[]");
    Meaning::of(name) == Meaning::Identity || refers(name)
}

/// The format of what identifies something.
const AN_ID: &str = "Id";
