//! One change in several places.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::report::{Change, Report, Verdict, Witnesses};
use super::rule::Rule;
use crate::contract::Endpoint;

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
type Gist<'r> = (Verdict, Rule, Option<&'r str>, String);

impl Report {
    /// All changes, each told once, the worst first.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut numbers: HashMap<Gist<'_>, usize> = HashMap::new();
        let is_type = |change: &&Change| change.rule == Rule::TagNew;
        let types = self.changes.iter().filter(is_type).filter_map(new_word);
        let types: HashSet<String> = types.map(|(word, _)| word).collect();
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
type Object<'r> = (&'r Endpoint, &'r str, &'r Witnesses);

/// The object in which a field can be missing.
fn object(change: &Change) -> Option<Object<'_>> {
    let (above, _) = change.place.path.rsplit_once('.').unwrap_or_default();
    let is_missing = change.rule == Rule::FieldMissing && change.approved.is_none();
    Some((&change.place.endpoint, above, change.witnesses.as_ref().filter(|_| is_missing)?))
}

/// So many fields of an object that are missing in the same answers say that another object stands there.
const ANOTHER: usize = 3;

/// The objects in whose places others stand: that is one change, however many fields they had.
fn others(changes: &[Change]) -> HashSet<Object<'_>> {
    let mut missing: HashMap<Object<'_>, usize> = HashMap::new();
    changes.iter().filter_map(object).for_each(|it| *missing.entry(it).or_default() += 1);
    missing.retain(|_, fields| *fields >= ANOTHER);
    missing.into_keys().collect()
}

/// Joins what is missing of one object.
fn join_objects<'r>(groups: &mut Vec<Group<'r>>, others: &HashSet<Object<'r>>) {
    if others.is_empty() {
        return;
    }
    let objects = |group: &Group<'r>| -> HashSet<Object<'r>> {
        group.all().filter_map(object).filter(|it| others.contains(it)).collect()
    };
    let mut at = 0;
    while at < groups.len() {
        let own = objects(&groups[at]);
        let same = |other: &Group<'r>| !objects(other).is_disjoint(&own);
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
fn gist<'r>(change: &'r Change, types: &HashSet<String>) -> Gist<'r> {
    let verdict = if change.verdict.is_open() { Verdict::Breaking } else { change.verdict };
    // A type of message is the same wherever it comes, and in whatever list its messages are.
    let (rule, what) = match new_word(change) {
        Some((word, _)) if types.contains(&word) => (Rule::TagNew, word),
        Some((word, of)) => (change.rule, format!("{word} {of}")),
        None => (change.rule, in_any_place(change)),
    };
    (verdict, rule, change.approved.as_deref(), what)
}

/// The word that is new, if a change is that there is one, and of a value how its field ends.
fn new_word(change: &Change) -> Option<(String, &str)> {
    let quoted = |behind: &str| {
        let (_, rest) = change.what.split_once(behind)?;
        rest.split('`').next()
    };
    let (word, of) = match change.rule {
        Rule::TagNew if change.what.contains("` is a new type of message") => (quoted("`")?, ""),
        Rule::KindNew => {
            let (_, told_by) = change.what.split_once(" can be of a new kind, told by `")?;
            (told_by.split('`').nth(2)?, "")
        }
        Rule::ValueNew => {
            let mut field = change.place.path.rsplit(['.', '_', '[', ']', '{', '}']);
            let word = quoted(" can be `\"")?;
            (word.strip_suffix('"')?, field.find(|it| !it.is_empty())?)
        }
        _ => return None,
    };
    Some((word.to_owned(), of))
}

fn in_any_place(change: &Change) -> String {
    let path = change.place.path.as_str();
    let what = match named(change) {
        _ if answers_otherwise(change.rule) => change.what.clone(),
        // A tie names its fields as they are called in each answer that has them.
        _ if change.rule == Rule::InvariantBroken => change.what.clone(),
        // The identifiers of a thing are of one format, whatever the fields are called that hold them.
        _ if change.rule == Rule::FormatNew && change.what.contains(AN_ID) => AN_ID.to_owned(),
        _ if matches!(change.rule, Rule::TagNew | Rule::TagGone) => {
            change.what.split(", first ").next().unwrap_or_default().to_owned()
        }
        // What has no place in a value is told of an endpoint by itself.
        _ if path.is_empty() => format!("{} {}", change.place.endpoint, change.what),
        Some(named) => {
            let name = path.rsplit('.').next().unwrap_or(path);
            // A kind is the same in whatever list its objects are.
            let is_kind = matches!(change.rule, Rule::KindNew | Rule::KindGone);
            let name = if is_kind && name.ends_with("[]") { "[]" } else { name };
            without_examples(&change.what).replacen(&format!("`{named}`"), &format!("`{name}`"), 1)
        }
        None => without_examples(&change.what).to_owned(),
    };
    // What many texts look like is told, and of few that they are texts.
    match change.rule {
        Rule::TypeNew => match what.split_once(" can be `\"") {
            Some((place, _)) => format!("{place} can be `string`"),
            None => what.replace("can be `integer-string`", "can be `string`"),
        },
        _ => what,
    }
}

/// What is said of a field that holds an identifier of another format.
const AN_ID: &str = "` can be `Id`";

/// Whether an endpoint answers with another status or media type: where several do so alike, it is one change.
fn answers_otherwise(rule: Rule) -> bool {
    matches!(rule, Rule::StatusNew | Rule::StatusGone | Rule::MediaNew | Rule::MediaGone)
}

/// The place that a change names first: all of its path, or what of it stands in the message that it names.
fn named(change: &Change) -> Option<&str> {
    let named = change.what.split('`').nth(1)?;
    let path = change.place.path.as_str();
    let above = path.strip_suffix(named)?;
    (above.is_empty() || above.ends_with('.') || named.starts_with('[')).then_some(named)
}

/// What is the same wherever it was seen: not the values that were, nor the kind of message.
fn without_examples(what: &str) -> &str {
    let what = what.split_once(" (in ").map_or(what, |(what, _)| what);
    what.split_once(", such as `").map_or(what, |(what, _)| what)
}
