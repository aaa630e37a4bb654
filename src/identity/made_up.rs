//! What the client of a recording made up, to be found wherever it came back.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::identifier::is_word;
use super::{Hole, Scope};

/// What the client of a recording made up, to be found wherever it came back.
#[derive(Debug, Default)]
pub struct MadeUp {
    values: HashMap<Scope, HashSet<String>>,
    words: Words,
    said: HashSet<String>,
    is_placed: bool,
}

/// Values that are the same wherever they stand in a text as a word.
#[derive(Debug, Default)]
pub struct Words {
    finder: Option<AhoCorasick>,
}

impl MadeUp {
    /// What stands in these places of requests.
    pub fn of<'a>(holes: impl Iterator<Item = &'a Hole>) -> Self {
        let mut values: HashMap<Scope, HashSet<String>> = HashMap::new();
        for hole in holes {
            let same = values.entry(hole.scope).or_default();
            if !same.contains(&hole.identifier) {
                same.insert(hole.identifier.clone());
            }
        }
        let words = values.get(&Scope::Anywhere).into_iter().flatten();
        let words = Words::of(words.map(String::as_str));
        let is_whole = |scope: &Scope| matches!(scope, Scope::Word | Scope::Number(_));
        let said = values.iter().filter(|(scope, _)| is_whole(scope));
        let said = said.flat_map(|(_, values)| values.iter().cloned()).collect();
        let is_placed = values.keys().any(|scope| *scope != Scope::Anywhere);
        Self { values, words, said, is_placed }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether the client made up a value that may stand in this scope.
    pub fn contains(&self, scope: Scope, value: &str) -> bool {
        self.values.get(&scope).is_some_and(|values| values.contains(value))
    }

    /// The places in a text of what may stand anywhere.
    pub(super) fn words<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.words.find(text)
    }

    /// Whether there is anything that is told by its place only.
    pub(super) fn is_placed(&self) -> bool {
        self.is_placed
    }

    /// The values of whole fields.
    pub(super) fn said(&self) -> &HashSet<String> {
        &self.said
    }
}

impl Words {
    /// Makes values ready to be found.
    pub fn of<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return Self::default();
        }
        let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(values);
        Self { finder: builder.ok() }
    }

    /// Where they stand in a text as words: letters and digits do not go on at their ends.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let found = self.finder.iter().flat_map(move |finder| finder.find_iter(text));
        found.map(|found| found.range()).filter(|range| is_whole(text.as_bytes(), range))
    }
}

/// Whether neither end of a place stands within a word. A letter that belongs to an escape
/// (`\n`, `%3A`) is no part of one.
fn is_whole(bytes: &[u8], range: &Range<usize>) -> bool {
    let goes_on = |at: usize, within: u8| {
        bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric())
            && within.is_ascii_alphanumeric()
    };
    let begins = range.start == 0
        || !goes_on(range.start - 1, bytes[range.start])
        || is_behind_escape(&bytes[..range.start]);
    begins && !goes_on(range.end, bytes[range.end - 1])
}

fn is_behind_escape(before: &[u8]) -> bool {
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'\\', b'u', a, b, c, d] => hex(&[*a, *b, *c, *d]),
        [.., b'%', a, b] => hex(&[*a, *b]),
        _ => false,
    }
}

/// The whole word that a place in a text belongs to: letters, digits, `-` and `_`.
pub fn word_around(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes[..range.start].iter().rev().take_while(|byte| is_word(byte)).count();
    let behind = bytes[range.end..].iter().take_while(|byte| is_word(byte)).count();
    range.start - before..range.end + behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_as_a_whole_and_behind_escapes() {
        let words = Words::of(["8f3a", "a-b"].into_iter());
        for (text, expected) in [
            ("8f3a", Some(0..4)),
            ("x-8f3a_y", Some(2..6)),
            ("x8f3a 8f3ab", None),
            (r"line\n8f3a", Some(6..10)),
            ("id%3A8f3a", Some(5..9)),
            ("ca-b a-b", Some(5..8)),
        ] {
            assert_eq!(words.find(text).next(), expected, "{text}");
        }
    }
}
