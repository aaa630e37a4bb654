//! Where a client goes on from: the next page does not say again the token that leads to it.
//!
//! # Rationale
//!
//! A client takes a token from an answer and asks with it for what comes behind. A server that forgets to look at it says
//! the first page again, and with it the token. That keeps to every shape, and the client never comes to an end. So what
//! is looked for is a place that has said the token before, says something in the answer to it, and never that.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{At, Broken, Check};
use super::claim::{Field, Invariant, Path};
use super::earlier::REQUEST;
use super::holding::CHANCES;
use super::tie::Tie;
use super::trace::Trace;
use crate::contract::path;
use crate::text::json::Text;

/// A token is as long as this at least, and has a digit.
const SHORTEST: usize = 6;
const LONGEST: usize = 4096;

/// More places of requests and answers are not held against each other.
const MOST: usize = 256;

/// How often the answers to a token said something where it came from, by that place and the one in the request.
#[derive(Debug, Clone, Default)]
pub(super) struct Onward(BTreeMap<(String, String), Seen>);

#[derive(Debug, Clone, Default)]
struct Seen {
    tokens: BTreeSet<String>,
    is_said_again: bool,
}

impl Onward {
    /// Learns from an answer that is a message by itself.
    pub(super) fn learn(&mut self, trace: &Trace<'_>) {
        let (Some(asked), Some(earlier)) = (trace.request.and_then(Text::read), trace.earlier)
        else {
            return;
        };
        let asked = tokens(asked);
        if asked.is_empty() {
            return;
        }
        let answers = trace.events.iter().filter_map(|event| Text::read(event.json));
        let said: Vec<(String, String)> = answers.flat_map(tokens).collect();
        for (of, token) in asked {
            for place in earlier.led_by(&token) {
                let here = said.iter().filter(|(of, _)| of == place);
                let Some(is_said_again) = here.map(|(_, said)| *said == token).reduce(|a, b| a | b)
                else {
                    continue;
                };
                let key = (place.to_owned(), of.clone());
                if self.0.len() < MOST || self.0.contains_key(&key) {
                    let seen = self.0.entry(key).or_default();
                    seen.is_said_again |= is_said_again;
                    seen.tokens.insert(token.clone());
                }
            }
        }
    }

    /// Where no answer said again what led to it, so often that it could have.
    pub(super) fn holding(&self) -> impl Iterator<Item = Invariant> {
        let holds = |seen: &Seen| !seen.is_said_again && seen.tokens.len() as u64 >= CHANCES;
        let holding = self.0.iter().filter(move |(_, seen)| holds(seen));
        holding.map(|((place, of), _)| {
            let field = |tag: Option<&str>, path: &str| Field {
                tag: tag.map(str::to_owned),
                path: Path::written(path),
            };
            Invariant::Tied(Tie::Differs, field(None, place), field(Some(REQUEST), of))
        })
    }
}

impl Check<'_> {
    /// Where a field says again what the request says.
    pub(super) fn said_again(&self, field: &Field, asked: &Field) -> Broken<'_> {
        let mut all = self.all(field).into_iter();
        let again = |at: &At<'_>| self.asked(asked).find(|it| it.value.says_as(at.value));
        let first = all.find_map(|at| again(&at).map(|asked| (at, Some(asked))));
        first.into_iter().collect()
    }
}

/// What may lead somewhere, and where it stands. What stands in an open place of a path leads to a thing, not on.
pub(in crate::contract) fn tokens(json: Text<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    json.each_leaf(|pointer, _, word, spelled| {
        let is_token = spelled.starts_with('"')
            && (SHORTEST..=LONGEST).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_graphic())
            && word.bytes().any(|byte| byte.is_ascii_digit());
        if let Some(path) = is_token.then(|| path(pointer)).flatten() {
            found.push((path, word.to_string()));
        }
    });
    found
}
