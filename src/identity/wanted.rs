//! What later requests say, for which answers are looked through.

use std::collections::{HashMap, HashSet};

use super::Words;
use super::decide::{Candidate, Sort, TELLING};
use crate::cassette::Request;

/// What answers are looked through for.
pub(super) struct Wanted<'c> {
    /// What is found within texts.
    pub(super) words: Words,
    /// All of it.
    pub(super) all: Words,
    /// The last interaction that says it.
    pub(super) last: HashMap<&'c str, usize>,
    /// The segments of paths behind others.
    below: Below,
}

/// The segments that paths have behind others: what a `POST` to these has made may be called so.
#[derive(Debug, Default)]
pub(crate) struct Below(HashMap<String, HashSet<String>>);

impl Below {
    pub(crate) fn note(&mut self, path: &str) {
        for (at, _) in path.match_indices('/').filter(|(at, _)| *at > 0) {
            let (above, _) = path.split_at(at);
            let segment = segment_behind(above, path).unwrap_or_default();
            self.0.entry(above.to_owned()).or_default().insert(segment.to_owned());
        }
    }

    /// What the thing may be called that a request has made, as paths say it.
    pub(crate) fn names(&self, request: &Request) -> Option<&HashSet<String>> {
        let path = request.path_only();
        let path = path.strip_suffix('/').unwrap_or(path);
        self.0.get(path).filter(|_| request.method == "POST")
    }
}

/// The segment that a path has behind another path.
pub(crate) fn segment_behind<'p>(above: &str, path: &'p str) -> Option<&'p str> {
    let above = above.strip_suffix('/').unwrap_or(above);
    path.strip_prefix(above)?.strip_prefix('/')?.split('/').next()
}

impl<'c> Wanted<'c> {
    pub(super) fn of(candidates: &'c [Candidate], below: Below) -> Self {
        let is_word = |it: &&Candidate| it.sort != Sort::Reference && it.value.len() >= TELLING;
        let words = candidates.iter().filter(is_word).map(|it| it.value.as_str());
        let last: HashMap<&str, usize> =
            candidates.iter().map(|it| (it.value.as_str(), it.interaction)).collect();
        let (words, all) = (Words::of(words), Words::of(last.keys().copied()));
        Self { words, all, last, below }
    }

    /// What the thing may be called that a request has made, as later requests say it.
    pub(super) fn names_below(&self, request: &Request) -> Option<&HashSet<String>> {
        self.below.names(request)
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
