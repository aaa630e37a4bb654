//! What has begun and may be a secret.

use super::Input;
use super::ends::Ends;
use crate::redact::json;
use crate::redact::name::Tells;

/// Something that has begun and may be a secret.
#[derive(Clone)]
pub(super) enum Held {
    String {
        start: usize,
        quote: Quote,
        role: Role,
        begun: Begun,
    },
    Number {
        start: usize,
    },
    /// One that stands behind another within a word ends where another part of that word begins.
    Url {
        start: usize,
        scheme: usize,
        is_part: bool,
    },
    Assigned {
        start: usize,
        ends: Ends,
        name: String,
        tells: Tells,
    },
}

/// What a string is if it is something.
#[derive(Clone)]
pub(super) enum Role {
    Secret(String),
    Perhaps(String),
    /// A key or a value below a telling name.
    Nested,
}

/// Whether the placeholder for a long value has been written already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    No,
    Yes,
}

impl Held {
    pub(super) fn start(&self) -> usize {
        match self {
            Self::String { start, .. }
            | Self::Number { start }
            | Self::Url { start, .. }
            | Self::Assigned { start, .. } => *start,
        }
    }

    /// Counts from a text of which the first bytes are forgotten.
    pub(super) fn forget(&mut self, count: usize) {
        match self {
            Self::String { start, .. } | Self::Number { start } | Self::Assigned { start, .. } => {
                *start -= count;
            }
            Self::Url { start, scheme, .. } => {
                *start -= count;
                *scheme -= count;
            }
        }
    }

    /// Where it ends, and where to go on.
    pub(super) fn end(&self, text: &[u8], from: usize, input: Input) -> Option<(usize, usize)> {
        let first = |is_end: &dyn Fn(u8) -> bool| {
            let found = text[from..].iter().position(|byte| is_end(*byte))? + from;
            Some((found, found))
        };
        match self {
            Self::String { start, quote, .. } => quote.end(text, *start, from),
            Self::Assigned { start, ends, .. } => {
                ends.end(text, *start, from, input).map(|end| (end, end))
            }
            Self::Number { .. } => first(&|byte| {
                !byte.is_ascii_digit() && !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
            }),
            Self::Url { is_part, .. } => first(&|byte| {
                byte.is_ascii_whitespace()
                    || (*is_part && is_between(byte))
                    || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b')')
            }),
        }
    }
}

/// Whether it may stand between a URL and what follows it in a connection string.
pub(super) const fn is_between(byte: u8) -> bool {
    matches!(byte, b';' | b',')
}

/// How a string is quoted, and how many backslashes stand before its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) byte: u8,
    pub(super) slashes: usize,
}

impl Quote {
    /// Where a string so quoted ends that begins at `start` and has no end before `from`, and what
    /// comes behind its end. A line break ends it as well.
    pub(super) fn end(self, text: &[u8], start: usize, from: usize) -> Option<(usize, usize)> {
        let mut at = from;
        loop {
            at += memchr::memchr2(self.byte, b'\n', &text[at..])?;
            if text[at] == b'\n' {
                return Some((at, at));
            }
            // Each level of escaping doubles the backslashes and adds one before a quote; a quote
            // of this string or of one around it leaves a remainder that a quote within it does not.
            let slashes = slashes_before(&text[start..at]) % (2 * (self.slashes + 1));
            if slashes <= self.slashes {
                return Some((at - slashes, at + 1));
            }
            at += 1;
        }
    }

    /// A string's content without any of the escapes.
    pub(super) fn plain(self, content: &str) -> String {
        let escapes = std::iter::successors(Some(self.slashes), |slashes| Some(slashes / 2));
        let again = escapes.take_while(|slashes| *slashes > 0);
        let text = json::plain(content).into_owned();
        again.fold(text, |text, _| json::plain(&text).into_owned())
    }
}

/// The backslashes at the end of a text.
pub(super) fn slashes_before(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| **byte == b'\\').count()
}
