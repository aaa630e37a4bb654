//! One change in several places.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::report::{Change, Report, Verdict};
use super::rule::Rule;

/// A change, and the other places in which it is the same: one field that is gone from every message, or
/// at every endpoint. People are told once, and approve it once.
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
        for change in &self.changes {
            match numbers.entry(gist(change)) {
                Entry::Occupied(number) => groups[*number.get()].also.push(change),
                Entry::Vacant(free) => {
                    free.insert(groups.len());
                    groups.push(Group::alone(change));
                }
            }
        }
        groups
    }
}

impl<'r> Group<'r> {
    /// A change in one place.
    pub fn alone(change: &'r Change) -> Self {
        Self { change, also: Vec::new() }
    }

    /// The change in all its places.
    pub fn all(&self) -> impl Iterator<Item = &'r Change> {
        std::iter::once(self.change).chain(self.also.iter().copied())
    }
}

/// What changed, whatever it stands in.
fn gist(change: &Change) -> Gist<'_> {
    let path = change.place.path.as_str();
    let what = match named(change) {
        _ if answers_otherwise(change.rule) => change.what.clone(),
        // A type of message is the same wherever it comes.
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
    let what = match change.rule {
        Rule::TypeNew => what.replace("can be `integer-string`", "can be `string`"),
        _ => what,
    };
    (change.verdict, change.rule, change.approved.as_deref(), what)
}

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
