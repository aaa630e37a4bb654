//! What all values of a place have in common, whatever each of them says.

use crate::identity::is_moment;

/// What all values have, what any has, and how large they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traits {
    all: u32,
    any: u32,
    /// The least and the greatest number, without signs.
    size: Option<(f64, f64)>,
    /// The shortest and the longest: characters, or elements of a list.
    length: Option<(usize, usize)>,
    is_list: bool,
}

impl Default for Traits {
    fn default() -> Self {
        Self { all: u32::MAX, any: 0, size: None, length: None, is_list: false }
    }
}

/// What held of all values and holds of none, or the other way round.
pub(super) struct TraitChange {
    /// What it is called, which stays the same.
    pub(super) key: &'static str,
    pub(super) of: Of,
    /// What is said of the field.
    pub(super) said: String,
}

/// What it is that all values have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// How texts are written.
    Format,
    /// How large or how many something is, or that there is nothing.
    Size,
}

/// What a text can be: the bit 0 is of lists and numbers, too.
const EMPTY: u32 = 1;

/// How a trait is said: of what is or has something, or begins with it.
#[derive(Debug, Clone, Copy)]
enum Verb {
    Is,
    Has,
    Begins,
}

/// The traits of a text that is no sentence, in the order of their bits, the most telling one first.
const OF_TEXTS: [(&str, Verb, &str); 13] = [
    ("empty", Verb::Is, "empty"),
    ("address", Verb::Is, "an address with `://`"),
    ("path", Verb::Begins, "with `/`"),
    ("number", Verb::Is, "a number"),
    ("hexadecimal", Verb::Is, "hexadecimal"),
    ("dot", Verb::Has, "a `.` in it"),
    ("colon", Verb::Has, "a `:` in it"),
    ("equals", Verb::Has, "a `=` in it"),
    ("slash", Verb::Has, "a `/` in it"),
    ("dash", Verb::Has, "a `-` in it"),
    ("underscore", Verb::Has, "a `_` in it"),
    ("capitals", Verb::Has, "capital letters in it"),
    ("space", Verb::Has, "a space in it"),
];

/// So much of a text is looked at, in bytes.
const LOOKED_AT: usize = 256;

/// Shorter words are hexadecimal by chance.
const LEAST_HEXADECIMAL: usize = 8;

/// The least power of ten by which another unit is told, and how far off it both ends may be, as logarithms.
const ANOTHER_UNIT: f64 = 2.0;
const OFF: f64 = 0.1;

/// So many seconds are a minute, and an hour.
const TIMES: [f64; 2] = [60.0, 3600.0];

impl Traits {
    /// Takes in a text, and says whether it is a word. Of a sentence, which people read, only that it is not empty.
    pub(super) fn text(&mut self, text: &str) -> bool {
        let begin = &text.as_bytes()[..text.len().min(LOOKED_AT)];
        let is_time = begin.first().is_some_and(u8::is_ascii_digit) && is_moment(text);
        if !is_time && begin.iter().any(|byte| *byte <= b' ') {
            self.see(0);
            return false;
        }
        let has = |wanted: u8| begin.contains(&wanted);
        let has = [
            begin.is_empty(),
            memchr::memmem::find(begin, b"://").is_some(),
            begin.starts_with(b"/"),
            text.parse::<f64>().is_ok_and(f64::is_finite),
            begin.len() >= LEAST_HEXADECIMAL && begin.iter().all(u8::is_ascii_hexdigit),
            has(b'.'),
            has(b':'),
            has(b'='),
            has(b'/'),
            has(b'-'),
            has(b'_'),
            begin.iter().any(u8::is_ascii_uppercase),
            has(b' '),
        ];
        let bits = has.into_iter().enumerate();
        self.see(bits.fold(0, |bits, (number, has)| bits | u32::from(has) << number));
        self.sized(text.chars().count());
        true
    }

    /// Takes in a number.
    pub(super) fn number(&mut self, number: f64) {
        self.see(u32::from(number == 0.0));
        let size = number.abs();
        let (least, greatest) = self.size.unwrap_or((size, size));
        self.size = Some((least.min(size), greatest.max(size)));
    }

    /// Takes in how many elements a list has.
    pub(super) fn list(&mut self, elements: usize) {
        self.see(u32::from(elements == 0));
        self.sized(elements);
        self.is_list = true;
    }

    fn see(&mut self, bits: u32) {
        self.all &= bits;
        self.any |= bits;
    }

    fn sized(&mut self, length: usize) {
        let (shortest, longest) = self.length.unwrap_or((length, length));
        self.length = Some((shortest.min(length), longest.max(length)));
    }

    /// How many of them are not the same in all values of both sides.
    pub(super) fn tried(&self, other: &Self) -> usize {
        let varied = (self.any | other.any) & !(self.all & other.all);
        varied.count_ones() as usize
            + usize::from(self.length != other.length)
            + usize::from(self.size != other.size)
    }

    /// What held of all values of before and holds of none of now, or the other way round; the most telling one.
    pub(super) fn lost(&self, now: &Self) -> Option<TraitChange> {
        let lost = self.all & !now.any;
        // What was never counted may come up at any time.
        let ignored = if self.size.is_some() { lost & EMPTY } else { 0 };
        let flipped = (lost | now.all & !self.any) & !ignored;
        if flipped & EMPTY != 0 {
            let nothing = if self.size.is_some() { "0" } else { "empty" };
            let said = Verb::Is.said(nothing, lost & EMPTY != 0);
            return Some(TraitChange { key: "empty", of: Of::Size, said });
        }
        let named = || {
            let number = flipped.trailing_zeros();
            let (key, verb, what) = *OF_TEXTS.get(number as usize)?;
            let said = verb.said(what, lost & (1 << number) != 0);
            Some(TraitChange { key, of: Of::Format, said })
        };
        self.other_unit(now).or_else(named).or_else(|| self.other_length(now))
    }

    /// Numbers that are all so many times what they were: of what only grew, the least grew by another factor than the
    /// greatest.
    fn other_unit(&self, now: &Self) -> Option<TraitChange> {
        let ((least, greatest), (new_least, new_greatest)) = self.size.zip(now.size)?;
        let ratio = (new_greatest / greatest).log10();
        let power = Some(ratio.round()).filter(|power| power.abs() >= ANOTHER_UNIT);
        let units = power.into_iter().chain(TIMES.map(f64::log10)).flat_map(|it| [it, -it]);
        let is_unit = units.into_iter().any(|unit| {
            [new_least / least, new_greatest / greatest]
                .iter()
                .all(|ratio| (ratio.log10() - unit).abs() < OFF)
        });
        let said = if new_least > greatest {
            format!("was at most {}, and is at least {} now", plain(greatest), plain(new_least))
        } else if new_greatest < least {
            format!("was at least {}, and is at most {} now", plain(least), plain(new_greatest))
        } else {
            return None;
        };
        is_unit.then_some(TraitChange { key: "unit", of: Of::Size, said })
    }

    fn other_length(&self, now: &Self) -> Option<TraitChange> {
        let ((least, most), (new_least, new_most)) = self.length.zip(now.length)?;
        let is_other = least == most && new_least == new_most && least != new_least;
        let of = |count: usize| match (self.is_list, count) {
            (true, 1) => "1 element".to_owned(),
            (true, count) => format!("{count} elements"),
            (false, count) => format!("{count} characters"),
        };
        is_other.then(|| TraitChange {
            key: "length",
            of: if self.is_list { Of::Size } else { Of::Format },
            said: format!("always had {}, and always has {} now", of(least), of(new_least)),
        })
    }
}

/// A number with so many digits that calculating has not made them.
fn plain(number: f64) -> f64 {
    const DIGITS: usize = 12;
    format!("{number:.DIGITS$e}").parse().unwrap_or(number)
}

impl Verb {
    /// What is said of what always was so and never is, or the other way round.
    fn said(self, what: &str, was: bool) -> String {
        let [before, now] = if was { ["always", "never"] } else { ["never", "always"] };
        match self {
            Self::Is => format!("was {before} {what}, and {now} is now"),
            Self::Has => format!("{before} had {what}, and {now} does now"),
            Self::Begins => format!("{before} began {what}, and {now} does now"),
        }
    }
}
