//! JSON text without the escapes that no word needs.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::cassette;

/// A text in which letters, digits, `-` and `_` that were escaped (`\\u002d`) stand as they are, so that
/// words can be found in it.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    /// The text.
    pub(super) text: Cow<'a, str>,
    /// The offsets in `text` of the characters that were escaped.
    escaped: Vec<usize>,
}

/// How many bytes an escape takes beyond the character that it stands for.
const BEYOND: usize = 5;

/// The text of a body without escapes in the words of JSON strings.
pub(crate) fn plain(body: &[u8]) -> Cow<'_, str> {
    Plain::of(cassette::text(body)).text
}

impl<'a> Plain<'a> {
    pub(super) fn of(text: Cow<'a, str>) -> Self {
        let mut escaped = Vec::new();
        let mut plain = String::new();
        let mut rest = 0;
        for at in memmem::find_iter(text.as_bytes(), b"\\u00") {
            let Some(word) = word(&text.as_bytes()[at..]).filter(|_| at >= rest) else { continue };
            plain.push_str(&text[rest..at]);
            escaped.push(plain.len());
            plain.push(word);
            rest = at + BEYOND + 1;
        }
        if escaped.is_empty() {
            return Self { text, escaped };
        }
        plain.push_str(&text[rest..]);
        Self { text: plain.into(), escaped }
    }

    /// Where a range of the text stands in what it was made from.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            offset + BEYOND * self.escaped.partition_point(|escaped| *escaped < offset)
        };
        at(range.start)..at(range.end)
    }
}

/// The character of a word that the escape at the beginning stands for.
fn word(escape: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(escape.get(2..6)?).ok()?;
    let code = u8::from_str_radix(digits, 16).ok()?;
    (code.is_ascii_alphanumeric() || matches!(code, b'-' | b'_')).then_some(char::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_escapes_and_are_found_where_they_stood() {
        let text = r#"{"id": "a\u002db\u00e9\u0063", "n": "\n\u00"}"#;
        let plain = Plain::of(text.into());

        let start = plain.text.find("a-b").expect("the dash is plain");
        let c = plain.text.rfind('c').expect("so is the letter");

        assert_eq!(&text[plain.original(start..start + 3)], r"a\u002db");
        assert_eq!(&text[plain.original(c..c + 1)], r"\u0063");
        assert!(plain.text.contains(r"\u00e9"));
        assert_eq!(Plain::of("none".into()).original(1..3), 1..3);
    }
}
