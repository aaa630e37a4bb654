//! Walking a JSON text.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// A text that is one valid JSON value, with white space around it or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(super) &'a str);

/// One token of a JSON text, spelled as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `{` or `[`.
    Open(Container),
    /// `}` or `]`.
    Close(Container),
    /// `,`.
    Comma,
    /// `:`.
    Colon,
    /// A string with its quotes and escapes.
    String(&'a str),
    /// A number, `true`, `false` or `null`.
    Scalar(&'a str),
}

/// What holds other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// `{…}`.
    Object,
    /// `[…]`.
    Array,
}

/// The tokens of a text in order. [`Tokens::end`] tells where the last one ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    /// Takes bytes that are a JSON text. Depth is not limited.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        Self::read(std::str::from_utf8(bytes).ok()?)
    }

    /// The same of what is known to be text.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok()?;
        Some(Self(text))
    }

    /// Takes what was read before.
    pub(crate) fn known(text: &'a str) -> Self {
        Self(text)
    }

    /// Takes bytes that are an object or an array.
    pub(crate) fn parse_container(bytes: &'a [u8]) -> Option<Self> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
        if matches!(first, b'{' | b'[') { Self::parse(bytes) } else { None }
    }

    /// Takes a text that is an object or an array.
    pub(crate) fn read_container(text: &'a str) -> Option<Self> {
        Self(text).container().and_then(|_| Self::read(text))
    }

    /// The text itself.
    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }

    /// Its tokens.
    pub(crate) fn tokens(self) -> Tokens<'a> {
        Tokens::of(self.0)
    }
}

impl Container {
    /// Its opening bracket.
    pub(crate) const fn opening(self) -> &'static str {
        match self {
            Self::Object => "{",
            Self::Array => "[",
        }
    }

    /// Its closing bracket.
    pub(crate) const fn closing(self) -> &'static str {
        match self {
            Self::Object => "}",
            Self::Array => "]",
        }
    }
}

impl<'a> Tokens<'a> {
    /// The tokens of a text that may not be JSON: they make sense as far as it is.
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The offset in bytes behind the token that was given last.
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// All up to there.
    pub(crate) fn before(&self) -> &'a str {
        &self.text[..self.at]
    }

    /// The first byte of the next token. Passes the white space before it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                b' ' => self.at += spaces(&bytes[self.at..]),
                b'\n' | b'\r' | b'\t' => self.at += 1,
                first => return Some(first),
            }
        }
    }

    /// Passes a bracket, a comma or a colon, if it comes next.
    pub(crate) fn pass(&mut self, byte: u8) -> bool {
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    /// Passes a whole value, if one comes next that is JSON.
    pub(crate) fn checked(&mut self) -> Option<Text<'a>> {
        let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter();
        let value: &'a RawValue = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(Text(value.get()))
    }

    /// The next value on this level; none if the container ends. Of what is inside no more than brackets and
    /// strings is looked at.
    pub(super) fn next_value(&mut self) -> Option<Text<'a>> {
        self.pass_between();
        self.value()
    }

    /// The name of the next member on this level; none if the container ends.
    pub(super) fn next_name(&mut self) -> Option<Cow<'a, str>> {
        self.pass_between();
        let start = self.at + 1;
        let rest = self.text.as_bytes().get(self.at..)?.strip_prefix(b"\"")?;
        let (length, is_escaped) = string(rest);
        self.at = start + length;
        let spelled = &self.text[start - 1..self.at];
        if is_escaped || length == 0 || !spelled.ends_with('"') {
            return Some(unescape(spelled));
        }
        Some(Cow::Borrowed(&self.text[start..self.at - 1]))
    }

    /// Passes what stands between two values.
    #[inline]
    fn pass_between(&mut self) {
        while let Some(b',' | b':') = self.peek() {
            self.at += 1;
        }
    }

    /// Passes a whole value, where one begins; a container that is never closed goes on to the end.
    pub(crate) fn value(&mut self) -> Option<Text<'a>> {
        let first = self.peek()?;
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += match first {
            b'"' => 1 + string_length(&rest[1..]),
            b'{' | b'[' => container_length(rest).unwrap_or(rest.len()),
            b'}' | b']' => return None,
            _ => scalar_length(rest),
        };
        Some(Text(&self.text[start..self.at]))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let first = self.peek()?;
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at = match first {
            b'"' => start + 1 + string_length(&bytes[start + 1..]),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => start + 1,
            _ => start + scalar_length(&bytes[start..]),
        };
        let spelled = &self.text[start..self.at];
        Some(match first {
            b'{' => Token::Open(Container::Object),
            b'[' => Token::Open(Container::Array),
            b'}' => Token::Close(Container::Object),
            b']' => Token::Close(Container::Array),
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => Token::String(spelled),
            _ => Token::Scalar(spelled),
        })
    }
}

/// How many spaces come first, up to eight: most white space is indentation.
fn spaces(bytes: &[u8]) -> usize {
    match bytes.first_chunk() {
        Some(eight) => {
            (u64::from_le_bytes(*eight) ^ u64::from_le_bytes([b' '; 8])).trailing_zeros() as usize
                / 8
        }
        None => usize::from(bytes.starts_with(b" ")),
    }
}

/// The length of a container with its brackets.
fn container_length(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'"' => at += string_length(&bytes[at + 1..]),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of a string behind its opening quote, with the closing one.
pub(super) fn string_length(bytes: &[u8]) -> usize {
    string(bytes).0
}

/// So many bytes are looked at eight by eight; from there on it pays to call what takes more at once.
const SHORT: usize = 32;

/// The length of a string behind its opening quote, with the closing one, and whether anything in it is escaped.
#[inline]
fn string(bytes: &[u8]) -> (usize, bool) {
    let (mut at, mut is_escaped) = (0, false);
    while let Some(found) = quote_or_escape(bytes, at) {
        if bytes[found] == b'"' {
            return (found + 1, is_escaped);
        }
        is_escaped = true;
        at = found + 2;
    }
    (bytes.len(), is_escaped)
}

/// Where the next quote or backslash stands.
#[inline]
fn quote_or_escape(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = of_byte(*eight, b'"') | of_byte(*eight, b'\\');
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += eight.len();
        if at >= from + SHORT {
            break;
        }
    }
    Some(at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?)
}

/// The highest bit of each of eight bytes that is this one, up to the first: behind it there may be others (Mycroft's
/// test for a zero byte).
#[inline]
const fn of_byte(eight: [u8; 8], byte: u8) -> u64 {
    let zeros = u64::from_le_bytes(eight) ^ u64::from_le_bytes([byte; 8]);
    zeros.wrapping_sub(u64::from_le_bytes([1; 8])) & !zeros & u64::from_le_bytes([0x80; 8])
}

fn scalar_length(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| {
        matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"') || byte.is_ascii_whitespace()
    };
    bytes.iter().position(ends).unwrap_or(bytes.len())
}

/// Whether anything in a string is escaped.
#[inline]
fn has_escape(bytes: &[u8]) -> bool {
    if bytes.len() > SHORT {
        return memchr::memchr(b'\\', bytes).is_some();
    }
    let (words, rest) = bytes.as_chunks();
    words.iter().any(|eight| of_byte(*eight, b'\\') != 0) || rest.contains(&b'\\')
}

/// What a string token means: without its quotes, escapes resolved.
///
/// A lone surrogate has no meaning as text and stays as it is spelled (`\ud800`).
pub(crate) fn unescape(spelled: &str) -> Cow<'_, str> {
    let inner =
        spelled.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(spelled);
    if !has_escape(inner.as_bytes()) {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (meaning, length) = escape(&rest[at..]);
        match meaning {
            Some(char) => out.push(char),
            None => out.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that an escape at the beginning of `text` stands for, and its length. None of a lone
/// surrogate, of `\u` without four digits (2), and of a backslash that escapes nothing (1).
pub(crate) fn escape(text: &str) -> (Option<char>, usize) {
    let simple = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(text),
        Some(other) if other.is_ascii() => char::from(*other),
        _ => return (None, 1),
    };
    (Some(simple), 2)
}

fn unicode_escape(text: &str) -> (Option<char>, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return (None, 2) };
    if let Some(char) = char::from_u32(first) {
        return (Some(char), 6);
    }
    match unit(6) {
        Some(second) if first < 0xDC00 && (0xDC00..0xE000).contains(&second) => {
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code), 12)
        }
        _ => (None, 6),
    }
}

/// Spells a character of a string as an escape.
pub(crate) fn push_escape(c: char, out: &mut String) {
    match c {
        '"' | '\\' => out.extend(['\\', c]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
    }
}

/// A spelling that all numbers of the same value share: `1.0`, `1`, `10e-1` are `1e0`.
///
/// Exact for any length and exponent; `-0` is `0`.
pub(crate) fn canonical_number(spelled: &str) -> Cow<'_, str> {
    if !spelled.starts_with('0') && spelled.bytes().all(|byte| byte.is_ascii_digit()) {
        let significant = spelled.trim_end_matches('0');
        return match spelled.len() - significant.len() {
            0 => Cow::Borrowed(spelled),
            zeros => Cow::Owned(format!("{significant}e{zeros}")),
        };
    }
    let (sign, unsigned) = match spelled.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", spelled),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Cow::Borrowed("0");
    }
    let dropped = digits.trim_start_matches('0').len() - significant.len();
    let shift = dropped as i128 - fraction.len() as i128;
    match exponent.parse::<i128>().map(|exponent| exponent.saturating_add(shift)) {
        Ok(0) => Cow::Owned(format!("{sign}{significant}")),
        Ok(exponent) => Cow::Owned(format!("{sign}{significant}e{exponent}")),
        Err(_) => Cow::Borrowed(spelled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_equal_value_are_spelled_alike() {
        for same in [
            &["1", "1.0", "10e-1", "0.1E1", "1e0"][..],
            &["0", "-0", "0.0", "-0.0", "0e99"],
            &["100", "1e2", "1E+2", "100.0"],
            &["12345678901234567890", "12345678901234567890.0"],
            &["1e400", "10e399"],
        ] {
            for number in same {
                assert_eq!(canonical_number(number), canonical_number(same[0]), "{number}");
            }
        }
        assert_ne!(
            canonical_number("12345678901234567890"),
            canonical_number("12345678901234567891")
        );
        assert_ne!(canonical_number("1"), canonical_number("-1"));
        assert_ne!(canonical_number("1"), canonical_number("10"));
    }

    #[test]
    fn a_string_ends_at_its_first_quote_that_is_not_escaped() {
        for length in 0..80 {
            let plain = "é".repeat(length / 2) + &"a".repeat(length % 2);
            for (inside, is_escaped) in [
                (plain.clone(), false),
                (format!("{plain}\\\""), true),
                (format!("\\\\{plain}"), true),
                (format!("{plain}\\n{plain}"), true),
            ] {
                let behind = format!("{inside}\"}},\"b\\\"");
                assert_eq!(string(behind.as_bytes()), (inside.len() + 1, is_escaped), "{inside}");
                assert_eq!(has_escape(inside.as_bytes()), is_escaped, "{inside}");
                assert_eq!(string(inside.as_bytes()), (inside.len(), is_escaped), "{inside}");
                let object = format!("{{\"{inside}\":1}}");
                let (name, value) = Text(&object).members().next().unwrap();
                assert_eq!((&*name, value.as_str()), (&*unescape(&format!("\"{inside}\"")), "1"));
            }
        }
        for cut in [r#"{"#, r#"{""#, r#"{"a"#, r#"{"a\"#, r#"{"a\""#] {
            assert!(Text(cut).members().next().is_none(), "{cut}");
        }
    }

    #[test]
    fn escapes_are_resolved_and_lone_surrogates_kept() {
        assert_eq!(unescape(r#""a\"\\\/\n\u00e9\ud83d\ude00""#), "a\"\\/\né😀");
        assert_eq!(unescape(r#""\ud83d x""#), r"\ud83d x");
    }
}
