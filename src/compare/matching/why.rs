//! Why a difference counts.

use std::collections::{HashMap, VecDeque};

use memchr::memmem::Finder;

use super::given::given;
use super::nearest::Library;
use crate::cassette::Interaction;
use crate::compare::diff::{Difference, Place, Sort, Value};
use crate::identity::{Hole, Origin, Scope, identifiers};

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
    /// Both look made for the moment, but nothing says so: they are compared as they are.
    LooksMinted {
        /// Whether an answer holds the recorded one: if it does not count, the client is given that.
        comes_back: bool,
    },
    /// The value is another one.
    Value,
    /// A secret differs, which is not shown.
    Secret,
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
            return kinds(recorded, asked).unwrap_or(Why::Value);
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
        // What is an identifier may differ, so where both have some it is the rest that counts.
        let found = [&was, &is].map(|text| identifiers(text).next().is_some());
        let look_minted = found != [true; 2] && looks_minted(&was) && looks_minted(&is);
        if difference.at.rule().is_some() && look_minted {
            let later = &self.cassette.interactions[before..];
            Why::LooksMinted { comes_back: comes_back(later, &was) }
        } else {
            Why::Value
        }
    }

    /// The server issued what was recorded, and it did not come back.
    fn issued(&self, recorded: &str, asked: &str) -> Option<Why> {
        let origins = self.index.origins();
        let is_rarer = |identifier: &str| {
            asked.matches(identifier).count() < recorded.matches(identifier).count()
        };
        let (value, interaction) = identifiers(recorded).find_map(|range| {
            let identifier = &recorded[range];
            let is_gone = origins.is_issued(Scope::Anywhere, identifier) && is_rarer(identifier);
            let around = recorded.len() - identifier.len();
            let told = if around <= SHORT { recorded } else { identifier };
            is_gone.then(|| origins.origin(identifier).map(|it| (told, it.interaction)))?
        })?;
        let only_that = without_identifiers(recorded) == without_identifiers(asked);
        if !only_that && value.len() != recorded.len() {
            return None;
        }
        let mut others = identifiers(asked).map(|range| &asked[range]);
        let asked = others
            .find_map(|other| (!recorded.contains(other)).then(|| origins.origin(other)).flatten());
        Some(Why::Issued { value: value.to_owned(), interaction, asked })
    }
}

/// What the client calls otherwise than before in one request.
#[derive(Debug)]
pub(super) struct Conflict {
    recorded: String,
    asked: String,
    why: Why,
}

impl Conflict {
    /// Why a value counts that the client is free to choose: it holds what it calls otherwise.
    pub(super) fn in_difference(all: &[Self], difference: &Difference) -> Option<Why> {
        let recorded = difference.recorded.as_ref()?.said()?;
        let asked = difference.asked.as_ref()?.said()?;
        let here = |it: &&Self| recorded.contains(&it.recorded) && asked.contains(&it.asked);
        all.iter().find(here).map(|conflict| conflict.why.clone())
    }
}

/// What one request itself says of names: by the recorded one, and by the asked one.
#[derive(Default)]
struct Fresh<'a> {
    asked: HashMap<(Scope, &'a str), &'a str>,
    recorded: HashMap<(Scope, &'a str), &'a str>,
}

impl Library<'_> {
    /// What the client calls otherwise than before, or than elsewhere in this request. Places pair
    /// what was recorded with what is asked; so do the texts that are the same but for identifiers.
    pub(super) fn conflicts(
        &self,
        recorded: &[Hole],
        asked: &[Hole],
        renamed: &[Difference],
    ) -> Vec<Conflict> {
        let mut pairs: Vec<(Scope, String, String)> = Vec::new();
        // A text may hold several, one behind the other.
        let mut places: HashMap<u64, VecDeque<&Hole>> = HashMap::new();
        asked.iter().for_each(|new| places.entry(new.place).or_default().push_back(new));
        for old in recorded.iter() {
            let new = places.get_mut(&old.place).and_then(VecDeque::pop_front);
            // A time that stands where a name was is taken for one.
            let new = new.filter(|_| old.scope.is_lasting());
            pairs
                .extend(new.map(|new| (old.scope, old.identifier.clone(), new.identifier.clone())));
        }
        for difference in renamed {
            let texts = [&difference.recorded, &difference.asked].map(|it| it.as_ref()?.said());
            let [Some(old), Some(new)] = texts else { continue };
            let both = self.minted(&old).zip(self.minted(&new));
            pairs.extend(both.map(|(old, new)| (Scope::Anywhere, old.to_owned(), new.to_owned())));
        }
        pairs.dedup();
        let mut here = Fresh::default();
        let mut conflicts = Vec::new();
        for (scope, recorded, asked) in &pairs {
            match self.conflict(*scope, recorded, asked, &here) {
                Some(why) => {
                    let (recorded, asked) = (recorded.clone(), asked.clone());
                    conflicts.push(Conflict { recorded, asked, why });
                }
                None => {
                    here.asked.entry((*scope, recorded)).or_insert(asked);
                    here.recorded.entry((*scope, asked)).or_insert(recorded);
                }
            }
        }
        conflicts
    }

    fn conflict(&self, scope: Scope, recorded: &str, asked: &str, here: &Fresh<'_>) -> Option<Why> {
        let bindings = self.playlist.bindings();
        let before = bindings.live(scope, recorded).map(|live| live.identifier.as_str());
        let before = before.or_else(|| here.asked.get(&(scope, recorded)).copied());
        let before = before.map(str::to_owned);
        if let Some(before) = before {
            let origin = self.index.origins().origin(recorded);
            let interaction = origin.map(|origin| origin.interaction);
            return (before != asked).then_some(Why::CalledBefore { before, interaction });
        }
        let other = bindings.stands_for(scope, asked);
        let other = other.or_else(|| here.recorded.get(&(scope, asked)).copied())?;
        Some(Why::StandsFor { other: other.to_owned() })
    }

    /// The identifiers in a text that the server did not issue.
    fn minted<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let origins = self.index.origins();
        let all = identifiers(text).map(|range| &text[range]);
        all.filter(|identifier| !origins.is_issued(Scope::Anywhere, identifier))
    }
}

/// A text without its identifiers, and what is before them in the same word.
fn without_identifiers(text: &str) -> String {
    let mut rest = 0;
    let mut left = String::with_capacity(text.len());
    for range in identifiers(text) {
        let before = text[rest..range.start]
            .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        left.push_str(before);
        left.push('…');
        rest = range.end;
    }
    left + &text[rest..]
}

/// What a value says that is no object and no array.
fn scalar(value: &Value) -> Option<String> {
    if matches!(value.kind(), Some("object" | "array")) { None } else { value.said() }
}

fn kinds(recorded: &Value, asked: &Value) -> Option<Why> {
    let (was, is) = (recorded.kind()?, asked.kind()?);
    (was != is).then_some(Why::Kind(was, is))
}

/// Whether a value looks like a time, a counter of seconds, or a token that was drawn by lot.
fn looks_minted(value: &str) -> bool {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(&byte);
    let is_epoch = digits == value.len() && (10..=19).contains(&digits);
    let is_time = digits >= 8 && value.get(4..5) == Some("-") && value.get(7..8) == Some("-");
    let is_token = value.len() >= 12 && digits >= 3 && letters >= 3 && value.bytes().all(is_word);
    is_epoch || is_time || is_token || is_jumbled(value)
}

/// Whether it is a word of digits, small letters and capitals, as short random words are.
fn is_jumbled(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    value.len() >= 10
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
}

/// Whether one of these answers holds a value.
fn comes_back(interactions: &[Interaction], value: &str) -> bool {
    let finder = Finder::new(value);
    let mut answers = interactions.iter().filter_map(Interaction::response);
    answers.any(|answer| finder.find(&answer.readable().bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_tokens_look_minted_and_words_do_not() {
        for minted in [
            "1763719000",
            "1763719000123",
            "2026-11-21T09:16:45Z",
            "2026-11-21 09:16",
            "call_9f8a7b6c5d",
            "7fbMoasvahVm",
        ] {
            assert!(looks_minted(minted), "{minted}");
        }
        for plain in ["", "hello world", "12", "gpt-4o-mini", "claude-sonnet", "hello"] {
            assert!(!looks_minted(plain), "{plain}");
        }
    }
}
