//! Returned that a client gave back.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::cassette::splice::{Edit, in_order, splice};
use crate::compare::alignment::{Alignment, Said, Sides, Sort, View, texts, walk, words};
use crate::identity::is_epoch;

/// The times of a new recording that are more than that, and what looks like nothing but random
/// letters: the server gave them, and the client came back with them. They are exchanged everywhere or
/// nowhere, as identifiers are.
#[derive(Debug, Default)]
pub(super) struct Returned {
    /// What they are in the old recording, if that is the same everywhere.
    olds: HashMap<String, String>,
    /// The values, of the new recording and of the old one, that stand for themselves only.
    kept: HashSet<String>,
}

impl Returned {
    pub(super) fn of(sides: &Sides<'_>, alignment: &Alignment) -> Self {
        let sent = sent(&sides.new);
        if sent.is_empty() {
            return Self::default();
        }
        let mut olds: HashMap<&str, HashSet<&str>> = HashMap::new();
        let mut news: HashMap<&str, HashSet<&str>> = HashMap::new();
        for pair in &alignment.pairs {
            walk(&sides.old[pair.old], &sides.new[pair.new], &mut |old, new| {
                let (before, now) = (values(&old), values(&new));
                if before.len() == now.len() {
                    for (old, new) in before.into_iter().zip(now) {
                        olds.entry(new).or_default().insert(old);
                        news.entry(old).or_default().insert(new);
                    }
                }
            });
        }
        let mut found = Self::default();
        for value in sent {
            let one = olds.get(value).filter(|olds| olds.len() == 1);
            let old = one.and_then(|olds| olds.iter().next());
            match old.filter(|old| news[*old].len() == 1) {
                Some(old) => {
                    found.olds.insert(value.to_owned(), (*old).to_owned());
                    found.kept.insert((*old).to_owned());
                }
                None => drop(found.kept.insert(value.to_owned())),
            }
        }
        found
    }

    /// Whether nothing was given back.
    pub(super) fn is_empty(&self) -> bool {
        self.olds.is_empty()
    }

    /// Whether a value is exchanged on its own, where it stands.
    pub(super) fn is_free(&self, value: &str) -> bool {
        !self.kept.contains(value)
    }

    /// Whether a value of the new recording is that one in the old one.
    pub(super) fn is_called(&self, new: &str, old: &str) -> bool {
        self.olds.get(new).is_some_and(|called| called == old)
    }

    /// A text of the new recording with the old values that stand for those in it everywhere.
    pub(super) fn text<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.olds.is_empty() {
            return text;
        }
        let mut edits = Vec::new();
        let mut edit = |range: Range<usize>| {
            if let Some(old) = self.olds.get(&text[range.clone()]) {
                edits.push(Edit::new(range, old.clone()));
            }
        };
        words(&text).into_iter().for_each(|word| edit(word.range));
        numbers(&text).for_each(&mut edit);
        for new in self.olds.keys().filter(|new| new.len() >= SEALED) {
            text.match_indices(new).for_each(|(at, _)| edit(at..at + new.len()));
        }
        if edits.is_empty() {
            return text;
        }
        let edits = in_order(edits);
        String::from_utf8(splice(text.as_bytes(), &edits)).map_or(text, Cow::Owned)
    }
}

/// The values in requests that an earlier answer gave.
fn sent<'v>(views: &'v [View<'_>]) -> HashSet<&'v str> {
    let mut given: HashSet<&str> = HashSet::new();
    let mut sent = HashSet::new();
    for view in views {
        texts::asked(view, &mut |said| {
            let numbers = numbers(said.text).map(|range| &said.text[range]);
            let all = values(&said).into_iter().chain(numbers);
            sent.extend(all.filter(|value| given.contains(value)));
        });
        texts::answered(view, &mut |said| given.extend(values(&said)));
    }
    sent
}

/// The times in a text, and the text itself if it looks random.
fn values<'v>(said: &Said<'v>) -> Vec<&'v str> {
    let text = said.text;
    let mut found: Vec<&str> = said.sorted(Sort::Moment).collect();
    found.extend(opaque(text).map(|range| &text[range]));
    if said.field.is_time {
        found.extend(numbers(text).map(|range| &text[range]));
    }
    found
}

/// A state that the server has sealed is longer than this.
const SEALED: usize = 40;

/// A whole text that is nothing but random letters and digits, too long for an identifier.
fn opaque(text: &str) -> Option<Range<usize>> {
    let said = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let start = usize::from(said.len() < text.len());
    let bytes = said.as_bytes();
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let is_random = bytes.len() >= SEALED
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_+/=.~".contains(byte))
        && changes * 3 > bytes.len();
    is_random.then_some(start..start + said.len())
}

/// The numbers in a text that may count from 1970 on.
fn numbers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(move |word| {
        let range = start..start + word.len();
        // What parts two words is one character, of whatever length.
        start = range.end + text[range.end..].chars().next().map_or(0, char::len_utf8);
        (word.len() >= 10 && is_epoch(word)).then_some(range)
    })
}
