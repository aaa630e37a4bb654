//! Where the client's identifiers stand, and what they look like there.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::ops::Range;

use super::identifier::{MOST_PARTS, is_word, next_span};
use super::minted;

/// Where the identifiers stand that a client made up in a recording: the place in the request, the
/// words before it there, and how long it is. Which letters there were says which others there may be.
///
/// # Rationale
///
/// Random letters spell something now and then. A word that does not look random by itself is one all
/// the same where a recorded request has one that does: at the same place, behind the same words, as long,
/// of the same letters. What reads as a word, or as words put together, never is; so what was asked as a
/// word stays one. Both sides of a comparison ask the recording, none asks the other.
#[derive(Debug, Default)]
pub struct Frames {
    known: HashMap<u64, Letters, foldhash::fast::FixedState>,
    /// How long they are, one bit for each length.
    lengths: u128,
    shortest: usize,
}

/// An identifier, or a word that may be one because of where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framed {
    range: Range<usize>,
    frame: u64,
    letters: Letters,
}

/// The kinds of letters in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Letters(u8);

/// So many letters before it are compared.
const LEAD: usize = 12;

impl Framed {
    /// An identifier at a range of the text at a place, if a word may be known by it: it ends where its
    /// run of letters does.
    pub fn of(place: u64, text: &str, range: Range<usize>) -> Option<Self> {
        let bytes = text.as_bytes();
        let word = &bytes[range.clone()];
        if bytes.get(range.end).is_some_and(is_word) || word.len() > minted::LONGEST {
            return None;
        }
        let lead = &bytes[range.start.saturating_sub(LEAD)..range.start];
        let frame = foldhash::fast::FixedState::with_seed(place).hash_one((lead, word.len()));
        Some(Self { range, frame, letters: Letters::of(word) })
    }
}

impl Frames {
    /// Learns from an identifier, unless its like is always told by its look.
    pub fn learn(&mut self, framed: &Framed) {
        let length = framed.range.len();
        if framed.letters.is_plain(length) {
            return;
        }
        self.known.entry(framed.frame).or_default().0 |= framed.letters.with_kin(length).0;
        self.lengths |= 1 << length.min(127);
        self.shortest = self.lengths.trailing_zeros() as usize;
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The words of the text at a place that are identifiers because one stood there, in order.
    pub fn find(&self, place: u64, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for range in self.as_long(text) {
            let is_free = found.last().is_none_or(|last| last.end <= range.start);
            if is_free && Framed::of(place, text, range.clone()).is_some_and(|it| self.has(&it)) {
                found.push(range);
            }
        }
        found
    }

    /// The words of a text that are as long as an identifier, with what is before a mark or without, and
    /// do not read as words.
    pub(super) fn as_long<'a>(
        &self,
        text: &'a str,
    ) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let bytes = text.as_bytes();
        let (lengths, shortest) = (self.lengths, self.shortest.max(1));
        let mut at = if self.is_empty() { text.len() } else { 0 };
        std::iter::from_fn(move || {
            let span = next_span(bytes, at, shortest)?;
            at = span.end;
            Some(span)
        })
        .flat_map(move |span| {
            let run = &bytes[span.clone()];
            let marks = run.iter().enumerate().filter(|(_, byte)| matches!(byte, b'-' | b'_'));
            let starts = std::iter::once(0).chain(marks.map(|(at, _)| at + 1)).take(1 + MOST_PARTS);
            starts.map(move |start| span.start + start..span.end)
        })
        .filter(move |range| lengths >> range.len().min(127) & 1 == 1)
        .filter(move |range| may_be_minted(&bytes[range.clone()]))
    }

    fn has(&self, word: &Framed) -> bool {
        self.known.get(&word.frame).is_some_and(|known| known.may_be(word.letters))
    }
}

impl Letters {
    const DIGIT: u8 = 1;
    const HEX: u8 = 2;
    const SMALL: u8 = 4;
    const CAPITAL: u8 = 8;
    const MARK: u8 = 16;

    fn of(word: &[u8]) -> Self {
        Self(word.iter().fold(0, |all, byte| {
            all | match byte {
                b'0'..=b'9' => Self::DIGIT,
                b'a'..=b'f' => Self::HEX,
                b'g'..=b'z' => Self::SMALL,
                b'A'..=b'Z' => Self::CAPITAL,
                _ => Self::MARK,
            }
        }))
    }

    /// Whether a word of such letters may be made as these are: a long one has both cases if others have.
    fn may_be(self, word: Self) -> bool {
        let is_mixed =
            |it: Self| it.0 & Self::CAPITAL != 0 && it.0 & (Self::SMALL | Self::HEX) != 0;
        word.0 & !self.0 == 0 && (is_mixed(word) || !is_mixed(self))
    }

    /// Whether all that are made so look random: UUIDs, and hexadecimal digits that are many.
    fn is_plain(self, length: usize) -> bool {
        let hex = self.0 & (Self::SMALL | Self::CAPITAL) == 0;
        hex && (length == 36 || (length >= 16 && self.0 & Self::MARK == 0))
    }

    /// With those of others that are made the same way.
    fn with_kin(self, length: usize) -> Self {
        let with = |kinds: u8, more: u8| if self.0 & kinds == kinds { more } else { 0 };
        let token = if matches!(length, 21 | 22 | 43) { Self::MARK } else { 0 };
        let kin = with(Self::SMALL, Self::HEX)
            | with(Self::SMALL | Self::CAPITAL, Self::HEX | Self::DIGIT | token)
            | with(Self::HEX, Self::DIGIT);
        Self(self.0 | kin)
    }
}

/// Whether a word may be drawn at random, as far as one can see: less than half of it reads.
fn may_be_minted(word: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| word.iter().any(class);
    let (digit, small) = (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase));
    let capital = has(u8::is_ascii_uppercase);
    match (digit, small || capital) {
        (true, false) => is_number(word),
        (false, _) if capital && !small => false,
        (false, _) if !capital => !minted::reads(word) && minted::strange(word) > 2,
        _ => !minted::reads(word),
    }
}

/// Digits that are no date.
fn is_number(word: &[u8]) -> bool {
    !(word.len() == 8 && (word.starts_with(b"19") || word.starts_with(b"20")))
        && word.iter().all(u8::is_ascii_digit)
}
