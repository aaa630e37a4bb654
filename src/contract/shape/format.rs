//! What strings look like.

use std::fmt;

use crate::identity::{begins_with_uuid, identifiers};
use crate::text::date::fits;

/// What all strings of a place look like.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// A UUID with dashes (RFC 9562).
    Uuid,
    /// A date and a time with a zone (RFC 3339). Most parsers refuse one without.
    DateTime,
    /// A date and a time that need not have a zone, as Python writes it.
    LocalDateTime,
    /// A date and a time as mail and header fields say it (RFC 5322, RFC 9110): `Sat, 21 Nov 2026 09:00:00 GMT`.
    HttpDate,
    /// A date.
    Date,
    /// An absolute address with `://`.
    Uri,
    /// An integer in a string.
    Integer,
    /// A value that was minted: a UUID, a random word, either of them behind a prefix.
    Id,
    /// A value that was minted, behind this prefix: `message` in `message-8babbcfb-…`.
    Prefixed(String),
}

/// The formats that a string has, as bits: those of many strings are what their bits have in common.
pub(super) const UUID: u16 = 1;
pub(super) const DATE_TIME: u16 = 1 << 1;
pub(super) const DATE: u16 = 1 << 2;
pub(super) const URI: u16 = 1 << 3;
pub(super) const INTEGER: u16 = 1 << 4;
pub(super) const ID: u16 = 1 << 5;
pub(super) const PREFIXED: u16 = 1 << 6;
pub(super) const LOCAL_DATE_TIME: u16 = 1 << 7;
pub(super) const HTTP_DATE: u16 = 1 << 8;

/// No format is longer, addresses apart.
pub(super) const LONGEST: usize = 128;

/// A random word without a prefix has so many letters at least.
const LONG: usize = 16;

/// What was minted behind a prefix has so many.
pub(super) const SHORT: usize = 6;

impl Format {
    /// The formats with a name of their own, and their names.
    pub(super) const NAMED: [(Self, &'static str); 8] = [
        (Self::Uuid, "uuid"),
        (Self::DateTime, "date-time"),
        (Self::LocalDateTime, "local-date-time"),
        (Self::HttpDate, "http-date"),
        (Self::Date, "date"),
        (Self::Uri, "uri"),
        (Self::Integer, "integer-string"),
        (Self::Id, "Id"),
    ];

    /// Whether a string has it.
    ///
    /// What was minted is told by some of it that looks so. Any word may come then where it came from: of
    /// those that a service mints some look like words that somebody has thought of.
    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Prefixed(prefix) => {
                let rest = text.strip_prefix(prefix.as_str()).map(str::as_bytes);
                rest.is_some_and(
                    |rest| matches!(rest, [b'-' | b'_', minted @ ..] if is_token(minted, SHORT)),
                )
            }
            Self::Id => {
                formats(text).0 & (UUID | ID) != 0
                    || is_token(text.as_bytes(), LONG)
                    || is_numbered(text)
            }
            other => formats(text).0 & other.bit() != 0,
        }
    }

    /// Whether every string that has the other one has this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Id, Self::Uuid | Self::Prefixed(_)) => true,
            (Self::LocalDateTime, Self::DateTime) => true,
            (Self::Prefixed(short), Self::Prefixed(long)) => {
                long == short
                    || long.strip_prefix(short).is_some_and(|it| it.starts_with(['-', '_']))
            }
            _ => self == other,
        }
    }

    pub(super) const fn bit(&self) -> u16 {
        match self {
            Self::Uuid => UUID,
            Self::DateTime => DATE_TIME,
            Self::LocalDateTime => LOCAL_DATE_TIME,
            Self::HttpDate => HTTP_DATE,
            Self::Date => DATE,
            Self::Uri => URI,
            Self::Integer => INTEGER,
            Self::Id => ID,
            Self::Prefixed(_) => PREFIXED,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Prefixed(prefix) = self {
            return write!(f, "Id<{prefix}>");
        }
        let name = Self::NAMED.iter().find(|(format, _)| format == self);
        f.write_str(name.map_or("string", |(_, name)| name))
    }
}

/// The formats that a string has, and the length of the prefix before what was minted.
pub(super) fn formats(text: &str) -> (u16, usize) {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return (0, 0) };
    if bytes.len() > LONGEST || !(first.is_ascii_alphanumeric() || *first == b'-') {
        return (uri(bytes), 0);
    }
    if is_uuid(bytes) {
        return (UUID | ID, 0);
    }
    let whole = if is_integer(bytes) {
        INTEGER
    } else if is_date(bytes) {
        DATE
    } else if is_http_date(text) {
        HTTP_DATE
    } else {
        date_time(bytes)
    };
    if whole != 0 {
        return (whole, 0);
    }
    match prefix(bytes) {
        Some(prefix) => (PREFIXED | ID, prefix),
        None if bytes.len() >= LONG && (is_random(bytes) || is_nano(bytes)) => (ID, 0),
        None => (uri(bytes), 0),
    }
}

/// Whether a word with a digit stands behind a prefix, as what is minted does: of eight hexadecimal digits, one time in
/// forty none is a letter.
fn is_numbered(text: &str) -> bool {
    let Some((prefix, minted)) = text.split_once(['-', '_']) else { return false };
    let is_prefix = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_alphabetic());
    let minted = minted.as_bytes();
    is_prefix && is_token(minted, SHORT) && minted.iter().any(u8::is_ascii_digit)
}

/// Whether it is one word of so many letters at least, of those that services mint words from (Base64,
/// nano ids).
fn is_token(bytes: &[u8], shortest: usize) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte);
    (shortest..=LONGEST).contains(&bytes.len()) && bytes.iter().all(is_letter)
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36 && begins_with_uuid(bytes)
}

fn is_integer(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let leading = digits.len() > 1 && digits[0] == b'0';
    !digits.is_empty() && digits.len() <= 20 && !leading && digits.iter().all(u8::is_ascii_digit)
}

fn is_date(bytes: &[u8]) -> bool {
    fits(bytes, "0000-00-00")
}

/// With the name of a day or without one, in any time zone.
fn is_http_date(text: &str) -> bool {
    let is_name = |word: &str| word.len() == 3 && word.bytes().all(|it| it.is_ascii_alphabetic());
    let behind_day = text.split_once(", ").filter(|(day, _)| is_name(day));
    let mut words = behind_day.map_or(text, |(_, rest)| rest).split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (day, month, year, time, zone) = (next(), next(), next(), next(), next());
    let is_day = fits(day.as_bytes(), "00") || fits(day.as_bytes(), "0");
    let is_zone = ["+0000", "-0000"].iter().any(|it| fits(zone.as_bytes(), it));
    is_day
        && is_name(month)
        && fits(year.as_bytes(), "0000")
        && fits(time.as_bytes(), "00:00:00")
        && (is_zone || matches!(zone, "GMT" | "UTC" | "Z"))
        && words.next().is_none()
}

fn date_time(bytes: &[u8]) -> u16 {
    if fits(bytes, "0000-00-00T00:00") {
        return LOCAL_DATE_TIME;
    }
    let Some((head, rest)) = bytes.split_at_checked(19) else { return 0 };
    if !fits(head, "0000-00-00T00:00:00") && !fits(head, "0000-00-00 00:00:00") {
        return 0;
    }
    let fraction = match rest {
        [b'.', digits @ ..] => 1 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    match &rest[fraction..] {
        _ if fraction == 1 => 0,
        b"" => LOCAL_DATE_TIME,
        b"Z" | b"z" => LOCAL_DATE_TIME | DATE_TIME,
        zone if fits(zone, "+00:00") || fits(zone, "-00:00") => LOCAL_DATE_TIME | DATE_TIME,
        // As Jira and Salesforce write it, which RFC 3339 does not allow.
        zone if fits(zone, "+0000") || fits(zone, "-0000") => LOCAL_DATE_TIME,
        _ => 0,
    }
}

fn uri(bytes: &[u8]) -> u16 {
    let scheme = bytes.iter().take(16).position(|byte| *byte == b':').unwrap_or(0);
    let (before, after) = bytes.split_at(scheme);
    let is_scheme = before.first().is_some_and(u8::is_ascii_lowercase)
        && before.iter().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+.-".contains(byte)
        });
    let is_address = after.starts_with(b"://")
        && after.len() > 3
        && after.iter().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(byte));
    if is_scheme && is_address { URI } else { 0 }
}

/// The length of the lower-case words before something that was minted.
fn prefix(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    loop {
        let word = bytes[end..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let separator = bytes.get(end + word)?;
        if word == 0 || !matches!(separator, b'-' | b'_') {
            return None;
        }
        end += word + 1;
        let rest = &bytes[end..];
        if is_uuid(rest) || (rest.len() >= 8 && is_random(rest)) || is_nano(rest) {
            return Some(end - 1);
        }
    }
}

/// Whether letters and digits change so often that nobody has thought of the word. In a long one it is
/// enough that it is hexadecimal, or that it has a digit and small and capital letters change: one in
/// thirty of those that a service mints has its digits together.
fn is_random(word: &[u8]) -> bool {
    if !word.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    let changes =
        |kind: fn(&u8) -> u8| word.windows(2).filter(|two| kind(&two[0]) != kind(&two[1])).count();
    let has_digit = word.iter().any(u8::is_ascii_digit);
    let is_long = word.len() >= LONG && has_digit;
    changes(|byte| u8::from(byte.is_ascii_digit())) >= 3
        || (is_long && (is_hash(word) || changes(case) >= 5))
}

/// Whether it is one random word with `-` or `_` in it, such as a nano id.
fn is_nano(word: &[u8]) -> bool {
    let is_mark = |byte: &u8| matches!(byte, b'-' | b'_');
    let text = std::str::from_utf8(word).unwrap_or_default();
    word.iter().any(is_mark)
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
        && identifiers(text).next() == Some(0..word.len())
}

/// Hexadecimal digits, letters and figures among them, and more than a word has.
pub(super) fn is_hash(word: &[u8]) -> bool {
    word.len() >= 8
        && word.iter().all(u8::is_ascii_hexdigit)
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_alphabetic)
}

/// A number for figures, small letters and capitals.
fn case(byte: &u8) -> u8 {
    match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let (bits, length) = formats(text);
        let mut all: Vec<Format> = Format::NAMED.iter().map(|(format, _)| format.clone()).collect();
        all.push(Format::Prefixed(text[..length].to_owned()));
        let told = all.iter().filter(|it| bits & it.bit() != 0);
        let told: Vec<String> = told.map(ToString::to_string).collect();

        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn formats_are_told_by_the_value() {
        check("6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", &["uuid", "Id"]);
        check("message-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", &["Id", "Id<message>"]);
        check("toolu_98a5f7163e0582751f4f3b89", &["Id", "Id<toolu>"]);
        check("test-agent-8f3a9c2b", &["Id", "Id<test-agent>"]);
        check("01ARZ3NDEKTSV4RRFFQ69G5FAV", &["Id"]);
        check("thread_AB_x80q2B2mk-ei2", &["Id", "Id<thread>"]);
        check("V1StGXR8_Z5jdHi6B-myT", &["Id"]);
        check("2026-11-21T04:27:40+00:00", &["date-time", "local-date-time"]);
        check("2026-11-21 04:27:40.5Z", &["date-time", "local-date-time"]);
        check("2026-11-21T04:27:40.123456", &["local-date-time"]);
        check("2026-11-21T04:27:40.000+0000", &["local-date-time"]);
        check("2026-11-21T04:27", &["local-date-time"]);
        check("2026-11-21T04:27:40.", &[]);
        check("Sat, 21 Nov 2026 04:27:40 GMT", &["http-date"]);
        check("7 Nov 2026 04:27:40 +0100", &["http-date"]);
        check("Sat, 21 Nov 2026", &[]);
        check("2026-11-21", &["date"]);
        check("http://127.0.0.1:8283/v1?a=b", &["uri"]);
        check("-740845635798344975", &["integer-string"]);
    }

    /// One that is not told makes the identifiers of a whole recording strings.
    #[test]
    fn random_words_are_told_however_they_fall_out() {
        let mut state = 1_u64;
        let mut random = |letters: &[u8], length: usize| {
            let letter = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(letters[usize::try_from(state >> 33).unwrap() % letters.len()])
            };
            std::iter::repeat_with(letter).take(length).collect::<String>()
        };
        let letters: Vec<u8> = (b'0'..=b'9').chain(b'a'..=b'z').chain(b'A'..=b'Z').collect();

        for _ in 0..20_000 {
            let minted = random(b"0123456789abcdef", 24);
            assert!(formats(&format!("toolu_{minted}")).0 & PREFIXED != 0, "{minted}");
            let minted = format!("01{}", random(&letters, 24));
            assert!(formats(&format!("toolu_{minted}")).0 & PREFIXED != 0, "{minted}");
        }
        check("toolu_abcdefabcdefabcdefabcd12", &["Id", "Id<toolu>"]);
        check("tool_getWeatherForCity", &[]);
    }

    #[test]
    fn an_identifier_may_be_any_word_behind_its_prefix() {
        let call = Format::Prefixed("call".to_owned());
        for (text, fits) in [
            ("call_aDdJTteHrpMdhdkEkyxjxEHH", true),
            ("call_00000000", true),
            ("call-q-Xx80q2B2mkab_7", true),
            ("toolu_aDdJTteHrpMdhdkEkyxjxEHH", false),
            ("callback_8f3a9c2b", false),
            ("call_me", false),
            ("call me when you are there", false),
            ("17", false),
        ] {
            assert_eq!(call.fits(text), fits, "{text}");
        }
        assert!(Format::Id.fits("abcdefghijklmnopqrst"));
        assert!(Format::Id.fits("col-00326285"));
        assert!(!Format::Id.fits("my-favourite") && !Format::Id.fits("col-17"));
        assert!(!Format::Id.fits("the answer is forty-two"));
    }

    #[test]
    fn words_have_no_format() {
        for word in
            ["", "Hello", "007", "claude-sonnet-4-5-20250929", "get_base64encoded", "note: x", "a"]
        {
            check(word, &[]);
        }
    }
}
