//! Why a difference counts.

use std::collections::HashMap;

use memchr::memmem::Finder;

use super::given::given;
use super::nearest::Library;
use crate::cassette::Interaction;
use crate::cassette::Place;
use crate::cassette::placeholder::is_placeholder;
use crate::compare::difference::Value;
use crate::compare::difference::{Difference, Filled, Sort};
use crate::compare::recorded::Recorded;
use crate::identity::names::Opening;
use crate::identity::{Issuer, Origin, Scope, identifiers, may_coincide};

/// Why a difference counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The server issued the recorded value, so it has to come back as it is.
    Issued {
        /// What it issued.
        value: String,
        /// In which interaction, counted from 0.
        interaction: usize,
        /// Where what is asked came from, if the cassette knows it.
        asked: Option<Origin>,
    },
    /// The server gave the recorded value, though it does not look like an identifier.
    Given {
        /// In which interaction, counted from 0.
        interaction: usize,
        /// Where its answer held it: `/id`, `header.etag`.
        at: String,
    },
    /// The client called it otherwise before.
    CalledBefore {
        /// What it called it before.
        before: String,
        /// The interaction in which it came up first, counted from 0.
        interaction: Option<usize>,
    },
    /// The client uses the same value for something else.
    StandsFor {
        /// What the value stands for: the recorded one.
        other: String,
    },
    /// The recording has no such field.
    NotRecorded,
    /// What is asked has no such field.
    NotAsked,
    /// Values of other kinds (`string`, `number` …): the recorded and the asked one.
    Kind(&'static str, &'static str),
    /// The elements of the array are the same in another order.
    Order,
    /// The value is another one.
    Value {
        /// Whether a later answer holds the recorded one: if it does not count, the client is given that.
        comes_back: bool,
    },
    /// A secret differs, which is not shown.
    Secret,
    /// The client says what it was given in the place of another secret.
    AnotherSecret,
}

/// What is told as the server's word beside a value that is no longer than that.
const SHORT: usize = 60;

impl Library<'_> {
    /// Why it counts that something is not as it was recorded in a request, which was asked when so many
    /// interactions had gone before.
    pub(super) fn why(&self, difference: &Difference, before: usize) -> Why {
        let (recorded, asked) = match (&difference.recorded, &difference.asked) {
            (None, _) => return Why::NotRecorded,
            (_, None) => return Why::NotAsked,
            (Some(recorded), Some(asked)) => (recorded, asked),
        };
        if difference.sort == Sort::Reordered {
            return Why::Order;
        }
        // A part of a form may be JSON as a whole.
        let said = |value: &Value| match difference.at {
            Place::Part(_) => value.said(),
            _ => scalar(value),
        };
        let (Some(was), Some(is)) = (said(recorded), said(asked)) else {
            return kinds(recorded, asked).unwrap_or(Why::Value { comes_back: false });
        };
        if let Some(issued) = self.issued(&was, &is) {
            return issued;
        }
        if let Some(kinds) = kinds(recorded, asked) {
            return kinds;
        }
        if let Some((interaction, at)) = given(&self.cassette.interactions[..before], &was) {
            return Why::Given { interaction, at };
        }
        let later = &self.cassette.interactions[before..];
        Why::Value { comes_back: is_word(&was) && comes_back(later, &was) }
    }

    /// The server issued what was recorded, and it did not come back.
    fn issued(&self, recorded: &str, asked: &str) -> Option<Why> {
        let names = self.index.names();
        let is_rarer = |value: &str| asked.matches(value).count() < recorded.matches(value).count();
        let mut gone = names.issued_in(recorded).filter(|range| is_rarer(&recorded[range.clone()]));
        let range = gone.next()?;
        let (interaction, _) = names.issued(&recorded[range.clone()])?;
        let is_short = recorded.len() - range.len() <= SHORT;
        let value = if is_short { recorded } else { &recorded[range.clone()] };
        let only_that = asked.starts_with(stem(&recorded[..range.start]))
            && asked.ends_with(&recorded[range.end..]);
        if !only_that && value.len() != recorded.len() {
            return None;
        }
        let mut others = identifiers(asked).map(|range| &asked[range]).chain([asked]);
        let asked = others
            .find_map(|other| if recorded.contains(other) { None } else { self.origin(other) });
        Some(Why::Issued { value: value.to_owned(), interaction, asked })
    }

    /// Where a value came from, if the cassette knows it.
    fn origin(&self, value: &str) -> Option<Origin> {
        let names = self.index.names();
        if let Some(interaction) = names.made_up(value) {
            return Some(Origin { issuer: Issuer::Client, interaction });
        }
        let issued = names.issued(value).map(|(interaction, _)| interaction);
        let issued = issued.or_else(|| {
            given(&self.cassette.interactions, value).map(|(interaction, _)| interaction)
        });
        issued.map(|interaction| Origin { issuer: Issuer::Server, interaction })
    }
}

/// What stands before a name in another word.
fn stem(before: &str) -> &str {
    before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// What one request says of the client's names: by the recorded one, and by the asked one.
#[derive(Default)]
pub(super) struct Conflicts<'a> {
    asked: HashMap<(Scope, &'a str), &'a str>,
    recorded: HashMap<(Scope, &'a str), &'a str>,
}

impl<'a> Conflicts<'a> {
    /// What the client calls otherwise than before, or than elsewhere in this request.
    pub(super) fn of(
        library: &Library<'_>,
        recorded: &'a Recorded<'_, '_>,
        openings: &'a [Opening],
        filled: &'a [Filled],
    ) -> Vec<(&'a Filled, Why)> {
        let mut here = Self::default();
        let mut conflicts = Vec::new();
        for it in filled.iter().filter(|it| it.hole.scope.is_lasting()) {
            let (scope, live) = (it.hole.scope, it.hole.identifier.as_str());
            let old = recorded.text(&openings[it.opening]);
            // What a secret is in this run is for nobody to read.
            if is_placeholder(old) {
                continue;
            }
            match library.conflict(scope, old, live, &here) {
                Some(why) => conflicts.push((it, why)),
                None => {
                    here.asked.entry((scope, old)).or_insert(live);
                    here.recorded.entry((scope, live)).or_insert(old);
                }
            }
        }
        conflicts
    }
}

impl Library<'_> {
    fn conflict(
        &self,
        scope: Scope,
        recorded: &str,
        asked: &str,
        here: &Conflicts<'_>,
    ) -> Option<Why> {
        let bindings = self.playlist.bindings();
        let before = bindings.live(scope, recorded).map(|live| live.identifier.as_str());
        let before = before.or_else(|| here.asked.get(&(scope, recorded)).copied());
        if let Some(before) = before {
            let interaction = self.index.names().made_up(recorded);
            let before = before.to_owned();
            return (before != asked).then_some(Why::CalledBefore { before, interaction });
        }
        if may_coincide(asked) {
            return None;
        }
        let other = bindings.stands_for(scope, asked);
        let other = other.or_else(|| here.recorded.get(&(scope, asked)).copied())?;
        Some(Why::StandsFor { other: other.to_owned() })
    }
}

/// What a value says that is no object and no array.
fn scalar(value: &Value) -> Option<String> {
    if matches!(value.kind(), Some("object" | "array")) { None } else { value.said() }
}

fn kinds(recorded: &Value, asked: &Value) -> Option<Why> {
    let (was, is) = (recorded.kind()?, asked.kind()?);
    (was != is).then_some(Why::Kind(was, is))
}

/// Whether a value is one that is not there by chance: a word, and no short one.
fn is_word(value: &str) -> bool {
    (6..=128).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether one of these answers holds a value.
fn comes_back(interactions: &[Interaction], value: &str) -> bool {
    let finder = Finder::new(value);
    let mut answers = interactions.iter().filter_map(Interaction::response);
    answers.any(|answer| finder.find(&answer.readable().bytes()).is_some())
}
