//! What the client of a recording made up, to be found wherever it came back.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::FixedState;

use super::identifier::is_word;
use super::{Draw, Hole, Scope};
use crate::cassette::Cassette;
use crate::text::escape;

/// What the client of a recording made up, to be found wherever it came back.
#[derive(Debug, Default)]
pub struct MadeUp {
    values: HashMap<Scope, HashSet<String>>,
    words: Words,
    /// Those of whole values that are words also within a text.
    spoken: Words,
    /// The values of whole fields.
    pub(super) said: HashSet<String>,
    /// Whether there is anything that is told by its place only.
    pub(super) is_placed: bool,
    /// What tells where the server speaks of which draw.
    pub(super) draws: Vec<Draw>,
}

/// Values that are the same wherever they stand in a text as a word.
///
/// # Rationale
///
/// Words begin in few places of a text, and end in as few. So it is enough to look there into a table of
/// the values, which is made much faster than an automaton that finds them everywhere, and is smaller.
#[derive(Debug, Default)]
pub struct Words {
    values: HashSet<Box<[u8]>, FixedState>,
    /// The bytes that a value may begin with: a bit for each.
    firsts: [u64; 4],
    /// For each of them, how long those values are: the longest first.
    lengths: HashMap<u8, Vec<usize>, FixedState>,
    /// How long the shortest value is.
    shortest: usize,
}

impl MadeUp {
    /// What stands in these places of requests.
    pub fn of<'a>(holes: impl Iterator<Item = &'a Hole>) -> Self {
        let mut values: HashMap<Scope, HashSet<String>> = HashMap::new();
        for hole in holes {
            for scope in hole.scopes() {
                let same = values.entry(scope).or_default();
                if !same.contains(&hole.identifier) {
                    same.insert(hole.identifier.clone());
                }
            }
        }
        let words = values.get(&Scope::Anywhere).into_iter().flatten();
        let words = Words::of(words.map(String::as_str));
        let is_whole = |scope: &Scope| matches!(scope, Scope::Word | Scope::Number(_));
        let said = values.iter().filter(|(scope, _)| is_whole(scope));
        let said = said.flat_map(|(_, values)| values.iter().cloned()).collect();
        let is_placed = values.keys().any(|scope| *scope != Scope::Anywhere);
        let (spoken, draws) = (Words::default(), Vec::new());
        Self { values, words, spoken, said, is_placed, draws }
    }

    /// It, with what tells where the server speaks of which draw, from what is open in each request.
    pub(crate) fn drawn<'a, H: Iterator<Item = &'a Hole>>(
        self,
        open: impl Iterator<Item = H>,
        cassette: &Cassette,
    ) -> Self {
        let requests = open.zip(&cassette.interactions);
        let draws = requests.flat_map(|(holes, it)| Draw::of(holes, it)).collect();
        Self { draws, ..self }
    }

    /// It, where these of its values are words within a text too.
    pub fn spoken(mut self, words: impl IntoIterator<Item = String>) -> Self {
        let words = words.into_iter().filter(|word| self.contains(Scope::Word, word));
        let words: HashSet<String> = words.collect();
        self.spoken = Words::of(words.iter().map(String::as_str));
        if !words.is_empty() {
            self.values.insert(Scope::Within, words);
        }
        self
    }

    /// The same, if there is anything.
    pub fn some(holes: &[Hole]) -> Option<Self> {
        (!holes.is_empty()).then(|| Self::of(holes.iter()))
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

    /// The places in a text where a whole value comes back as a word.
    pub(super) fn spoken_in<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        self.spoken.find(text).filter(|range| is_apart(text, range))
    }
}

impl Words {
    /// Makes values ready to be found.
    pub fn of<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut words = Self { shortest: usize::MAX, ..Self::default() };
        for value in values {
            let Some(first) = value.as_bytes().first() else { continue };
            words.shortest = words.shortest.min(value.len());
            words.firsts[usize::from(first >> 6)] |= 1 << (first & 63);
            let lengths = words.lengths.entry(*first).or_default();
            if let Err(at) = lengths.binary_search_by(|length| value.len().cmp(length)) {
                lengths.insert(at, value.len());
            }
            words.values.insert(value.as_bytes().into());
        }
        words
    }

    /// Where they stand in a text as words: letters and digits do not go on at their ends. Where one
    /// goes on as another one, the longer one is meant.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let start = self.start(text.as_bytes(), at)?;
                let found = self.at(text.as_bytes(), start).next();
                at = found.as_ref().map_or(start + 1, |found| found.end);
                if found.is_some() {
                    return found;
                }
            }
        })
    }

    /// Whether one of them that is meant stands in bytes as a word, maybe within a longer one.
    pub(super) fn any(&self, text: &[u8], is_meant: impl Fn(&str) -> bool) -> bool {
        let is_meant = |found| str::from_utf8(&text[found]).is_ok_and(&is_meant);
        let mut at = 0;
        while let Some(start) = self.start(text, at) {
            if self.at(text, start).any(is_meant) {
                return true;
            }
            at = start + 1;
        }
        false
    }

    /// Where a word may begin, from a place on: not within another one. A letter that belongs to an escape
    /// (`\n`, `%3A`) is no part of one.
    fn start(&self, bytes: &[u8], from: usize) -> Option<usize> {
        // Most texts are too short for any of them.
        let last = bytes.len().checked_sub(self.shortest)?;
        if self.values.is_empty() || from > last {
            return None;
        }
        let is_first = |byte: u8| (self.firsts[usize::from(byte >> 6)] >> (byte & 63)) & 1 == 1;
        let mut is_inside = from > 0 && bytes[from - 1].is_ascii_alphanumeric();
        let mut unescaped = escape::end_of(bytes, from);
        for (at, byte) in bytes[..=last].iter().copied().enumerate().skip(from) {
            let is_part = byte.is_ascii_alphanumeric();
            if !(is_part && is_inside && at != unescaped) && is_first(byte) {
                return Some(at);
            }
            if escape::is_mark(byte) {
                unescaped = at + 1 + escape::letters(&bytes[at..]);
            }
            is_inside = is_part;
        }
        None
    }

    /// The words that begin in a place, the longest first.
    fn at<'t>(&'t self, bytes: &'t [u8], at: usize) -> impl Iterator<Item = Range<usize>> + 't {
        let lengths = self.lengths.get(&bytes[at]).into_iter().flatten();
        let places = lengths.map(move |length| at..at + length);
        places.filter(move |place| {
            let value = bytes.get(place.clone());
            value.is_some_and(|value| !goes_on(bytes, place.end) && self.values.contains(value))
        })
    }
}

/// Whether letters and digits stand at both sides of a place.
fn goes_on(bytes: &[u8], at: usize) -> bool {
    let is_inside = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    at > 0 && is_inside(at - 1) && is_inside(at)
}

/// Whether no letters go on at the ends of a place, which was found by those of ASCII, in other alphabets.
pub(super) fn is_apart(text: &str, range: &Range<usize>) -> bool {
    let goes_on = |one: Option<char>, other: Option<char>| {
        one.zip(other).is_some_and(|(one, other)| {
            one.is_alphanumeric()
                && other.is_alphanumeric()
                && !(one.is_ascii() && other.is_ascii())
        })
    };
    let word = &text[range.clone()];
    !goes_on(text[..range.start].chars().next_back(), word.chars().next())
        && !goes_on(word.chars().next_back(), text[range.end..].chars().next())
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
        let words = Words::of(["8f3a", "a-b", "3A5", "uno"].into_iter());
        for (text, expected) in [
            ("8f3a", Some(0..4)),
            ("x-8f3a_y", Some(2..6)),
            ("x8f3a 8f3ab", None),
            (r"line\n8f3a", Some(6..10)),
            ("id%3A8f3a", Some(5..9)),
            (r"dash\u20148f3a", Some(10..14)),
            (r"\n8f3ab\n8f3a", Some(9..13)),
            // Values may begin as an escape does.
            (r"%3A8f3a", Some(3..7)),
            (r"\u20148f3a", Some(6..10)),
            ("%3A5", Some(1..4)),
            ("x%3A8f3ab%zz8f3a", None),
            ("ca-b a-b", Some(5..8)),
            ("a-bc, a-b-c", Some(6..9)),
        ] {
            assert_eq!(words.find(text).next(), expected, "{text}");
        }
    }
}
