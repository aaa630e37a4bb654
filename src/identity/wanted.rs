//! What later requests say, for which answers are looked through.

use std::collections::{HashMap, HashSet};

use super::Words;
use super::decide::{Candidate, Sort, TELLING};
use crate::cassette::{Interactions, Request};

/// What answers are looked through for.
pub(super) struct Wanted<'c> {
    /// What is found within texts.
    pub(super) words: Words,
    /// All of it.
    pub(super) all: Words,
    /// The last interaction that says it.
    pub(super) last: HashMap<&'c str, usize>,
    /// The segments that paths have behind others: what a `POST` to these has made may be called so.
    below: HashMap<String, HashSet<String>>,
}

impl<'c> Wanted<'c> {
    pub(super) fn of(candidates: &'c [Candidate]) -> Self {
        let is_word = |it: &&Candidate| it.sort != Sort::Reference && it.value.len() >= TELLING;
        let words = candidates.iter().filter(is_word).map(|it| it.value.as_str());
        let last: HashMap<&str, usize> =
            candidates.iter().map(|it| (it.value.as_str(), it.interaction)).collect();
        let (words, all) = (Words::of(words), Words::of(last.keys().copied()));
        Self { words, all, last, below: HashMap::new() }
    }

    pub(super) fn with_what_is_below(mut self, interactions: &impl Interactions) -> Self {
        for interaction in interactions.each() {
            let path = interaction.request.path_only();
            for (at, _) in path.match_indices('/').filter(|(at, _)| *at > 0) {
                let name = path[at + 1..].split('/').next().unwrap_or_default();
                self.below.entry(path[..at].to_owned()).or_default().insert(name.to_owned());
            }
        }
        self
    }

    /// What the thing may be called that a request has made, as later requests say it.
    pub(super) fn names_below(&self, request: &Request) -> Option<&HashSet<String>> {
        let path = request.path_only();
        let path = path.strip_suffix('/').unwrap_or(path);
        self.below.get(path).filter(|_| request.method == "POST")
    }

    /// Whether a body may hold what a later interaction says. Where anything is escaped, it may; what is no text
    /// has words and nothing else.
    pub(super) fn stands_in(&self, body: &[u8], number: usize) -> bool {
        let is_later = |value: &str| self.last.get(value).is_some_and(|last| *last > number);
        if memchr::memchr(0, body).is_some() && str::from_utf8(body).is_err() {
            return self.words.any(body, is_later);
        }
        memchr::memchr(b'\\', body).is_some() || self.all.any(body, is_later)
    }
}
