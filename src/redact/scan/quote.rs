//! Quoted strings at any depth of escaping.

use crate::redact::json;

/// How a string is quoted, and how many backslashes stand before its quotes.
#[derive(Clone, Copy)]
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
        let mut text = json::plain(content).into_owned();
        let mut slashes = self.slashes;
        while slashes > 0 {
            text = json::plain(&text).into_owned();
            slashes /= 2;
        }
        text
    }
}

/// The backslashes at the end of a text.
pub(super) fn slashes_before(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| **byte == b'\\').count()
}
