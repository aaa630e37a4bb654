//! Where a value ends that is assigned to a name: what it begins with says it, or what stands before the name.

use super::held::Quote;
use super::{Input, REACH};
use crate::redact::value;
use crate::text::escape;

/// A quote that is not closed within so much of its line is none.
const QUOTED: usize = 512;

/// What a value ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// In prose and in code: any sign that is in few words.
    Word,
    /// In a list of settings: white space, a quote, or the next setting.
    Setting,
    /// In a connection string: a semicolon as well.
    Part,
    /// Behind a quote: that quote.
    Quote(Quote),
    /// Behind what stands for a quote: that.
    Mark(&'static str),
}

/// Quotes as HTML writes them.
pub(super) const ENTITIES: [&str; 4] = ["&quot;", "&#34;", "&#39;", "&apos;"];

/// The same in the spelling of Python, Go and Jinja.
pub(super) const FURTHER_ENTITIES: [&str; 4] = ["&#x27;", "&#x22;", "&#X27;", "&#X22;"];

/// What stands between two parameters as HTML writes it: the semicolon is none of a connection string.
pub(super) const AMPERSANDS: [&str; 2] = ["&amp;", "&#38;"];

/// Words before a setting.
const COMMANDS: [&[u8]; 5] = [b"export", b"set", b"env", b"arg", b"setx"];

impl Ends {
    /// What a value ends with that has no quotes. Its name begins at `name`.
    pub(super) fn of_name(text: &[u8], name: usize) -> Self {
        let before = &text[name.saturating_sub(REACH)..name];
        let (line, is_whole) = match line_start(before) {
            Some(start) => (&before[start..], true),
            None => (before, name <= REACH),
        };
        let said = line.trim_ascii();
        let is_apart = line.last().is_none_or(u8::is_ascii_whitespace);
        let last = said.rsplit(u8::is_ascii_whitespace).next().filter(|_| is_apart);
        let last = last.unwrap_or_default();
        let is_pair = last.contains(&b'=') && !last.iter().any(|byte| b"\"'<".contains(byte));
        // `user: x, password: y`.
        let is_next = is_whole
            && said.ends_with(b",")
            && begins(said, b':', is_of_name).is_some_and(|begins| begins);
        let is_listed = is_next
            || (is_whole && matches!(said, b"" | b"-"))
            || is_pair
            || last.starts_with(b"-")
            || text[name..].starts_with(b"--")
            || COMMANDS.iter().any(|it| it.eq_ignore_ascii_case(last));
        match said {
            [said @ .., b';'] if memchr::memchr(b'=', said).is_some() => Self::Part,
            _ if is_listed => Self::Setting,
            _ => Self::Word,
        }
    }

    /// Whether a value stands between quotes.
    pub(super) const fn is_closed(self) -> bool {
        matches!(self, Self::Quote(_) | Self::Mark(_))
    }

    /// The end of a value that begins at `start` and has no end before `from`; nothing if it may come yet.
    pub(super) fn end(self, text: &[u8], start: usize, from: usize, input: Input) -> Option<usize> {
        let quoted = &text[start..text.len().min(start + QUOTED)];
        let found = match self {
            Self::Word => up_to(text, start, from, |at| Some(!is_end(text[at]))),
            Self::Setting | Self::Part => {
                // What comes behind a sign may not have been there before.
                let from = from.saturating_sub(REACH).max(start);
                up_to(text, start, from, |at| self.goes_on(text, start, at))
            }
            Self::Quote(quote) => closed(text, start, quote.byte, input, || {
                let (end, next) = quote.end(quoted, 0, 0)?;
                // The one in `it's` closes nothing.
                let behind = text.get(start + next);
                let is_within = behind.is_some_and(u8::is_ascii_alphanumeric);
                let is_known = behind.is_some() || input == Input::Done;
                is_known.then_some((end, next > end && !is_within))
            }),
            Self::Mark(mark) => closed(text, start, mark.as_bytes()[0], input, || {
                let line = memchr::memchr(b'\n', quoted);
                let within = &quoted[..line.unwrap_or(quoted.len())];
                let end = memchr::memmem::find(within, mark.as_bytes()).map(|end| (end, true));
                end.or(line.map(|end| (end, false)))
            }),
        };
        found.or_else(|| (input == Input::Done).then_some(text.len()))
    }

    /// Whether a value in a list goes on with a byte; nothing if what comes next decides.
    fn goes_on(self, text: &[u8], start: usize, at: usize) -> Option<bool> {
        let rest = &text[at + 1..];
        match text[at] {
            byte if byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`') => Some(false),
            b';' if self == Self::Part => Some(false),
            b'&' | b';' | b',' => begins(rest, b'=', is_of_name).map(|next| !next),
            b'<' => begins(rest, b'>', is_of_tag).map(|tag| !tag),
            b'\\' if text[start..at].ends_with(b"\\") => Some(true),
            b'\\' => {
                let is_escape = |byte: u8| escape::is_letter(byte) || matches!(byte, b'"' | b'\'');
                rest.first().map(|byte| !is_escape(*byte))
            }
            _ => Some(true),
        }
    }
}

/// Where the last line of a text begins, which may stand in a string.
fn line_start(text: &[u8]) -> Option<usize> {
    let line = memchr::memrchr(b'\n', text).map(|at| at + 1);
    let escape = memchr::memmem::rfind(text, b"\\n").map(|at| at + 2);
    line.max(escape)
}

/// Where a value ends that goes on as long as it is said to, with a scheme before it; nothing if it may go on.
fn up_to(
    text: &[u8],
    start: usize,
    from: usize,
    goes_on: impl Fn(usize) -> Option<bool>,
) -> Option<usize> {
    let next = |from: usize| (from..text.len()).find(|at| goes_on(*at) != Some(true));
    let mut end = next(from)?;
    if text[end] == b' ' && value::is_scheme(&text[start..end]) {
        end = next(end + 1)?;
    }
    goes_on(end).map(|_| end)
}

/// Where a value in quotes ends, if they are closed in its line; else it is a word.
fn closed(
    text: &[u8],
    start: usize,
    quote: u8,
    input: Input,
    end: impl Fn() -> Option<(usize, bool)>,
) -> Option<usize> {
    match end() {
        Some((length, true)) => Some(start + length),
        None if input == Input::More && text.len() - start < QUOTED => None,
        _ => up_to(text, start, start, |at| {
            Some(!(text[at] <= b' ' || text[at] == quote || text[at] == b'\\'))
        }),
    }
}

/// Whether a name begins that such a sign follows; nothing if that may come yet.
fn begins(rest: &[u8], sign: u8, is_of_it: fn(u8) -> bool) -> Option<bool> {
    let length = rest.iter().take(REACH / 2).take_while(|byte| is_of_it(**byte)).count();
    rest.get(length).map(|byte| length > 0 && *byte == sign)
}

/// Whether a name may have such a byte.
pub(super) const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

const fn is_of_tag(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b':' | b'-')
}

/// Whether a word is over before this byte.
pub(super) const fn is_end(byte: u8) -> bool {
    byte <= b' '
        || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b'|')
        || matches!(byte, b'<' | b'>' | b'(' | b')' | b'{' | b'}')
}
