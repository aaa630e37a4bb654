//! How often recordings have shown what a contract allows and does not require.
//!
//! # Rationale
//!
//! A server that never sends an optional field any more keeps its contract. Only numbers tell that it was seen often,
//! and that there were enough recordings since then which could have shown it. The head of a contract says how often.

use std::collections::{BTreeMap, BTreeSet};

use super::cut::JsonMessage;
use super::order::FEWEST;
use super::text::{BODY, EVENTS, HEADERS};
use super::traffic::Answer;
use super::{Contract, Kinds};
use crate::contract::shape::{Census, EvidenceSource, Loss, Lost, Schema, Share};

/// Something that a contract allows and does not require.
pub(crate) struct Seen {
    /// The part of the contract.
    pub(crate) part: &'static str,
    /// The kind of the message, where no field tells it.
    pub(crate) kind: Option<String>,
    /// What it would be not to see it any more.
    pub(crate) gone: Loss,
    /// How many recordings show it.
    pub(crate) share: Share,
}

impl Contract {
    /// What it allows and does not require, and how many of these recordings show it.
    pub(crate) fn seen(&self, answers: &[&Answer]) -> Vec<Seen> {
        let all = [
            in_part(HEADERS, self.headers.as_ref(), answers, |answer| {
                std::slice::from_ref(&answer.headers)
            }),
            in_part(EVENTS, self.events.as_ref(), answers, |answer| &answer.events),
            in_part(BODY, self.body.as_ref(), answers, |answer| answer.body.as_slice()),
        ];
        all.into_iter().flatten().collect()
    }

    /// How many recordings show each type of message, where no field of a message tells it.
    pub(crate) fn messages(&self, answers: &[Answer]) -> BTreeMap<String, Share> {
        match self.events {
            Some(Kinds::Each(_)) => messages(answers),
            _ => BTreeMap::new(),
        }
    }

    /// What is said of it in the head: how often that was seen which recordings showed often.
    pub(super) fn seen_often(&self, answers: &[Answer]) -> BTreeMap<String, Share> {
        let all: Vec<&Answer> = answers.iter().collect();
        let seen = self.seen(&all).into_iter().map(|seen| (seen.key(), seen.share));
        // What always comes, the order says.
        let messages = self.messages(answers).into_iter();
        let messages = messages.filter(|(_, share)| share.seen < share.all);
        seen.chain(messages).filter(|(_, share)| share.is_often()).collect()
    }
}

/// How the head of a contract calls a type of message.
const MESSAGE: &str = "message ";

/// The type of message that the head of a contract speaks of.
pub(crate) fn message(key: &str) -> Option<&str> {
    key.strip_prefix(MESSAGE)
}

/// How many recordings show each type of message, of those with messages.
fn messages(answers: &[Answer]) -> BTreeMap<String, Share> {
    let mut all = BTreeSet::new();
    let mut each: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
    for answer in answers {
        let Some(word) = answer.word.as_ref() else { continue };
        all.insert(answer.witness);
        for token in &word.tokens {
            each.entry(&token.tag).or_default().insert(answer.witness);
        }
    }
    let share = |seen: BTreeSet<_>| Share { seen: seen.len(), all: all.len() };
    each.into_iter().map(|(tag, seen)| (format!("{MESSAGE}{tag}"), share(seen))).collect()
}

fn in_part(
    part: &'static str,
    kinds: Option<&Kinds>,
    answers: &[&Answer],
    of: fn(&Answer) -> &[JsonMessage],
) -> Vec<Seen> {
    let census = |kind: Option<&str>, schema: &Schema| {
        let mut census = Census::of(schema);
        let answers = if census.counts { answers } else { &[] };
        for answer in answers {
            let said = of(answer).iter().filter(|it| kind.is_none_or(|kind| *kind == it.kind));
            for message in said {
                let recording = EvidenceSource::recording(answer.witness.0);
                // A body is a resource, a message is none.
                let source =
                    if part == BODY { recording.within(message.text()) } else { recording };
                census.see(message.text(), source);
            }
        }
        let shares = census.shares().into_iter();
        shares
            .map(|(gone, share)| Seen { part, kind: kind.map(str::to_owned), gone, share })
            .collect::<Vec<_>>()
    };
    let all = kinds.into_iter().flat_map(Kinds::all);
    all.flat_map(|(kind, schema)| census(kind, schema)).collect()
}

impl Share {
    /// Whether so many show it that it may tell something.
    pub(crate) fn is_often(self) -> bool {
        self.seen >= FEWEST
    }
}

impl Seen {
    /// How it is called in the head of a contract.
    pub(crate) fn key(&self) -> String {
        let at = self.gone.at();
        let inside = [self.part, self.kind.as_deref().unwrap_or_default(), &at];
        let inside: Vec<&str> = inside.into_iter().filter(|step| !step.is_empty()).collect();
        let what = match &self.gone.what {
            Lost::Value(word) => format!("={word}"),
            Lost::Truth(truth) => format!("={truth}"),
            Lost::Kind(tag, word) => format!(" {tag}={word}"),
            Lost::Types(schema) => format!(" {}", schema.kind()),
            _ => "?".to_owned(),
        };
        format!("{}{what}", inside.join(" "))
    }
}

/// What stands between those in the head of a contract.
const BETWEEN: &str = ", ";

/// It as the head of a contract says it.
pub(super) fn written(seen: &BTreeMap<String, Share>) -> String {
    // A word may hold anything.
    let readable = seen.iter().filter(|(key, _)| !key.contains(BETWEEN));
    let each = readable.map(|(key, share)| format!("{key} {}/{}", share.seen, share.all));
    each.collect::<Vec<_>>().join(BETWEEN)
}

/// The same, read.
pub(super) fn read(said: &str) -> BTreeMap<String, Share> {
    let each = said.split(BETWEEN).filter_map(|one| {
        let (key, share) = one.rsplit_once(' ')?;
        let (seen, all) = share.split_once('/')?;
        let share = Share { seen: seen.parse().ok()?, all: all.parse().ok()? };
        Some((key.to_owned(), share))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_head_of_a_contract_says_is_read_again() {
        let said = "body items[] type=a 9/9, body more? 5/18, headers link? 7/18";

        let mut seen = read(said);

        assert_eq!(seen["body more?"], Share { seen: 5, all: 18 });
        seen.insert("body note=first, then more".to_owned(), Share { seen: 6, all: 7 });
        assert_eq!(written(&seen), said);
    }
}
