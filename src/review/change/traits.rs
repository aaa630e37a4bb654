//! What all values of a place have in common, whatever each of them says.

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
pub(super) struct Lost {
    /// What it is called, which stays the same.
    pub(super) key: &'static str,
    /// What is said of the field.
    pub(super) said: String,
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
const OF_TEXTS: [(&str, Verb, &str); 12] = [
    ("empty", Verb::Is, "empty"),
    ("address", Verb::Is, "an address with `://`"),
    ("path", Verb::Begins, "with `/`"),
    ("number", Verb::Is, "a number"),
    ("hexadecimal", Verb::Is, "hexadecimal"),
    ("dot", Verb::Has, "`.` in it"),
    ("colon", Verb::Has, "`:` in it"),
    ("equals", Verb::Has, "`=` in it"),
    ("slash", Verb::Has, "`/` in it"),
    ("dash", Verb::Has, "`-` in it"),
    ("underscore", Verb::Has, "`_` in it"),
    ("capitals", Verb::Has, "capital letters in it"),
];

/// So much of a text is looked at, in bytes.
const LOOKED_AT: usize = 256;

/// Shorter words are hexadecimal by chance.
const LEAST_HEXADECIMAL: usize = 8;

/// Numbers are of another size if there is so much between the greatest and the least.
const ANOTHER_SIZE: f64 = 100.0;

impl Traits {
    /// Takes in a text, and says whether it is a word. Of a sentence, which people read, only that it is not empty.
    pub(super) fn text(&mut self, text: &str) -> bool {
        let begin = &text.as_bytes()[..text.len().min(LOOKED_AT)];
        if begin.iter().any(|byte| *byte <= b' ') {
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

    /// What held of all values of before and holds of none of now, or the other way round; the most telling one. The
    /// size of a serial number tells nothing: it grows.
    pub(super) fn lost(&self, now: &Self, is_serial: bool) -> Option<Lost> {
        let lost = self.all & !now.any;
        // What was never counted may come up at any time.
        let ignored = if self.size.is_some() { lost & EMPTY } else { 0 };
        let flipped = (lost | now.all & !self.any) & !ignored;
        if flipped & EMPTY != 0 {
            let nothing = if self.size.is_some() { "0" } else { "empty" };
            return Some(Lost { key: "empty", said: Verb::Is.said(nothing, lost & EMPTY != 0) });
        }
        let named = || {
            let number = flipped.trailing_zeros();
            let (key, verb, what) = *OF_TEXTS.get(number as usize)?;
            Some(Lost { key, said: verb.said(what, lost & (1 << number) != 0) })
        };
        let other_size = self.other_size(now).filter(|_| !is_serial);
        other_size.or_else(named).or_else(|| self.other_length(now))
    }

    fn other_size(&self, now: &Self) -> Option<Lost> {
        let ((least, greatest), (new_least, new_greatest)) = self.size.zip(now.size)?;
        let grows = greatest > 0.0 && new_least > greatest * ANOTHER_SIZE;
        let shrinks = new_greatest > 0.0 && least > new_greatest * ANOTHER_SIZE;
        let said = match (grows, shrinks) {
            (true, _) => format!("was at most {greatest}, and is at least {new_least} now"),
            (_, true) => format!("was at least {least}, and is at most {new_greatest} now"),
            _ => return None,
        };
        Some(Lost { key: "size", said })
    }

    fn other_length(&self, now: &Self) -> Option<Lost> {
        let ((least, most), (new_least, new_most)) = self.length.zip(now.length)?;
        let is_other = least == most && new_least == new_most && least != new_least;
        let of = |count: usize| match (self.is_list, count) {
            (true, 1) => "1 element".to_owned(),
            (true, count) => format!("{count} elements"),
            (false, count) => format!("{count} characters"),
        };
        is_other.then(|| Lost {
            key: "length",
            said: format!("always had {}, and always has {} now", of(least), of(new_least)),
        })
    }
}

impl Verb {
    /// What is said of what always was so and never is, or the other way round.
    fn said(self, what: &str, was: bool) -> String {
        let [before, now] = if was { ["always", "never"] } else { ["never", "always"] };
        match self {
            Self::Is => format!("was {before} {what}, and {now} is now"),
            Self::Has => format!("{before} had {what}, and {now} has now"),
            Self::Begins => format!("{before} began {what}, and {now} does now"),
        }
    }
}
