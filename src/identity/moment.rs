//! Times, which differ each time by their nature.

use std::borrow::Cow;
use std::ops::Range;

use super::Meaning;
use super::identifier::next_span;
use crate::text::date::fits;
use crate::text::percent;

/// The places of points in time within a text: dates with a time of day as RFC 3339 and ISO 8601
/// write them, with slashes too or with no marks at all, as mail and HTTP do, and as C and JavaScript do. Each of them may be
/// percent-encoded, as it is in a link.
pub fn moments(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let (mut at, mut behind) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let mark = at + memchr::memchr3(b':', b'%', b'Z', bytes.get(at..)?)?;
            let found = match bytes[mark] {
                b':' => ending_hour(bytes, mark),
                b'%' => encoded(bytes, behind, mark),
                _ => basic(bytes, mark),
            };
            at = mark + 1;
            if let Some(found) = found.filter(|found| !follows(bytes, found)) {
                (at, behind) = (found.end, found.end);
                return Some(found);
            }
        }
    })
}

/// How a point in time is written that may be percent-encoded.
pub(super) fn decoded(moment: &str) -> Cow<'_, str> {
    if moment.contains('%') { percent::form_decoded(moment) } else { Cow::Borrowed(moment) }
}

/// The point in time that a `Z` ends, in the basic format of ISO 8601, as signed requests have it:
/// `20261121T090000Z`.
fn basic(bytes: &[u8], mark: usize) -> Option<Range<usize>> {
    let start = (mark + 1).checked_sub(BASIC.len())?;
    let goes_on = bytes.get(mark + 1).is_some_and(u8::is_ascii_alphanumeric);
    (!goes_on && fits(&bytes[start..=mark], BASIC)).then_some(start..mark + 1)
}

const BASIC: &str = "00000000T000000Z";

/// The point in time whose hour ends at a colon that is percent-encoded. Nothing before `from` belongs to it.
fn encoded(bytes: &[u8], from: usize, mark: usize) -> Option<Range<usize>> {
    /// No time is longer, decoded, nor what stands before its first colon, encoded.
    const LONGEST: usize = 48;
    let is_colon = bytes.get(mark + 1..mark + 3).is_some_and(|it| it.eq_ignore_ascii_case(b"3A"));
    let from = from.max(mark.saturating_sub(LONGEST));
    let is_marked = is_colon && bytes[from..mark].last().is_some_and(u8::is_ascii_digit);
    if !is_marked {
        return None;
    }
    let (mut text, mut ends, mut colon, mut at) = (Vec::new(), Vec::new(), 0, from);
    while at < bytes.len() && text.len() < 2 * LONGEST {
        if at == mark {
            colon = text.len();
        }
        let (byte, length) = percent::form_byte(&bytes[at..])?;
        at += length;
        text.push(byte);
        ends.push(at);
    }
    let found = ending_hour(&text, colon).filter(|found| !follows(&text, found))?;
    let start = found.start.checked_sub(1).map_or(from, |before| ends[before]);
    Some(start..ends[found.end - 1])
}

/// The point in time whose hour ends at a colon.
fn ending_hour(bytes: &[u8], colon: usize) -> Option<Range<usize>> {
    KINDS.iter().find_map(|kind| {
        let start = colon.checked_sub(kind.0.find(':')?)?;
        Some(start..start + length(&bytes[start..], kind)?)
    })
}

/// How a point in time is written up to its seconds, `Ddd` for a day of the week and `Mmm` for a month, and
/// the length of what belongs to it behind that; nothing if it is none.
type TimeNotation = (&'static str, fn(&[u8]) -> Option<usize>);

const KINDS: [TimeNotation; 10] = [
    ("0000-00-00T00:00", of_iso),
    ("0000-00-00 00:00", of_iso),
    ("0000/00/00 00:00", of_iso),
    ("00/00/0000 00:00", of_iso),
    ("Ddd, 00 Mmm 0000 00:00:00", of_mail),
    ("Ddd, 00-Mmm-0000 00:00:00", of_mail),
    // As Netscape wrote it, which cookies still have.
    ("Ddd, 00-Mmm-00 00:00:00", of_mail),
    ("Ddd Mmm 00 00:00:00", of_c),
    ("Ddd Mmm  0 00:00:00", of_c),
    ("Ddd Mmm 00 0000 00:00:00", of_javascript),
];

/// The length of a point in time of that kind at the beginning.
fn length(bytes: &[u8], (written, behind): &TimeNotation) -> Option<usize> {
    let (head, rest) = bytes.split_at_checked(written.len())?;
    let is_like = |(byte, mark): (&u8, u8)| match mark {
        b'0' => byte.is_ascii_digit(),
        b'D' | b'M' | b'd' | b'm' => byte.is_ascii_alphabetic(),
        mark => *byte == mark,
    };
    let names = |name: &str, all: &[&[u8]]| {
        written.find(name).is_none_or(|at| all.contains(&&head[at..at + name.len()]))
    };
    let is_written = head.iter().zip(written.bytes()).all(is_like);
    (is_written && names("Ddd", &DAYS) && names("Mmm", &MONTHS)).then_some(())?;
    Some(written.len() + behind(rest)?)
}

/// The places of dates without a time of day, `2026-11-21`, in a text.
pub fn dates(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let is_part = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
    };
    let dashes = memchr::memchr_iter(b'-', bytes).filter_map(|dash| dash.checked_sub(4));
    let found = dashes.map(|start| start..start + 10).filter(move |range| {
        let date = bytes.get(range.clone()).is_some_and(|it| fits(it, "0000-00-00"));
        date && !is_part(range.start.checked_sub(1)) && !is_part(Some(range.end))
    });
    found.filter(move |range| {
        // One with a time of day behind a space is another kind.
        bytes.get(range.end..range.end + 4).is_none_or(|it| !fits(it, " 00:"))
    })
}

/// Whether it goes on from what stands before it.
fn follows(bytes: &[u8], found: &Range<usize>) -> bool {
    let before = found.start.checked_sub(1).map(|before| bytes[before]);
    before.is_some_and(|before| match bytes[found.start] {
        b'0'..=b'9' => before.is_ascii_digit(),
        _ => before.is_ascii_alphanumeric(),
    })
}

/// The places of numbers in a text that may count from 1970 on, with what follows a decimal point and without.
pub(crate) fn epochs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    // Most texts have no ten digits in a row.
    let digits = next_span(text.as_bytes(), 0, EPOCH, u8::is_ascii_digit);
    let words = if digits.is_some() { text } else { "" };
    let words = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let words = words.map(|word| word.trim_matches('.')).filter(|word| word.len() >= EPOCH);
    let words = words.flat_map(|word| {
        std::iter::once(word).chain(word.split('.').filter(move |piece| *piece != word))
    });
    words.filter(|word| word.len() >= EPOCH && is_epoch(word)).map(|word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        start..start + word.len()
    })
}

/// The digits of a number that counts seconds since 1970, from 2001 on.
pub(crate) const EPOCH: usize = 10;

/// Whether the field of a path says when something was, by its name and its JSON text.
pub(crate) fn says_when(path: &str, json: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    is_moment(json.trim_matches('"')) || Meaning::of(name) == Meaning::Moment && is_epoch(json)
}

/// Whether a whole value is a point in time or a length of time: a date, a date with a time, an HTTP
/// date, an ISO 8601 duration.
pub fn is_moment(value: &str) -> bool {
    let bytes = value.as_bytes();
    KINDS.iter().any(|kind| length(bytes, kind) == Some(bytes.len()))
        || fits(bytes, "0000-00-00")
        || fits(bytes, BASIC)
        || is_duration(bytes)
}

/// Whether a number counts seconds, or thousandths and so on, since 1970 and means a time between
/// 2001 and 2100. `1732180000.25` does.
pub fn is_epoch(spelled: &str) -> bool {
    let (whole, rest) = spelled.split_once('.').unwrap_or((spelled, ""));
    let digits = [whole, rest].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let plausible = matches!(whole.as_bytes().first(), Some(b'1'..=b'4'));
    digits && plausible && matches!(whole.len(), 10 | 13 | 16 | 19)
}

/// Behind the minutes.
fn of_iso(rest: &[u8]) -> Option<usize> {
    let mut length = 0;
    if rest.get(..3).is_some_and(|seconds| fits(seconds, ":00")) {
        length += 3;
        if matches!(rest.get(length), Some(b'.' | b',')) {
            let digits = digits(&rest[length + 1..]);
            length += if digits > 0 { digits + 1 } else { 0 };
        }
    }
    length += half_of_the_day(&rest[length..]);
    Some(length + zone(&rest[length..]))
}

/// The length of the half of the day at the beginning, as in `09:52:13 PM`.
fn half_of_the_day(bytes: &[u8]) -> usize {
    match bytes {
        [b' ', b'A' | b'P', b'M', rest @ ..] | [b' ', b'a' | b'p', b'm', rest @ ..]
            if !rest.first().is_some_and(u8::is_ascii_alphanumeric) =>
        {
            3
        }
        _ => 0,
    }
}

/// The length of a time zone at the beginning.
fn zone(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'Z' | b'z') => 1,
        Some(b'+' | b'-') if bytes.get(1..6).is_some_and(|zone| fits(zone, "00:00")) => 6,
        Some(b'+' | b'-') if bytes.get(1..5).is_some_and(|zone| fits(zone, "0000")) => 5,
        _ => 0,
    }
}

/// A time zone behind a space: `Sat, 21 Nov 2026 09:00:00 GMT`, as mail and HTTP write it.
fn of_mail(rest: &[u8]) -> Option<usize> {
    Some(match rest {
        [b' ', b'G', b'M' | b'm', b'T' | b't', ..] | [b' ', b'U', b'T', b'C', ..] => 4,
        [b' ', rest @ ..] => Some(zone(rest)).filter(|zone| *zone > 1).map_or(0, |zone| zone + 1),
        _ => 0,
    })
}

/// The year, behind a time zone or not, as C and `date` write it: `Sat Nov 21 09:00:00 2026`,
/// `Sat Nov  7 09:00:00 UTC 2026`.
fn of_c(rest: &[u8]) -> Option<usize> {
    let zone = match rest {
        [b' ', zone @ ..] => zone.iter().take_while(|byte| byte.is_ascii_uppercase()).count(),
        _ => 0,
    };
    let zone = if zone > 0 { zone + 1 } else { 0 };
    fits(rest.get(zone..zone + 5)?, " 0000").then_some(zone + 5)
}

/// A time zone and its name, as JavaScript writes them:
/// `Sat Nov 21 2026 09:00:00 GMT+0100 (Central European Standard Time)`.
fn of_javascript(rest: &[u8]) -> Option<usize> {
    let offset = rest.strip_prefix(b" GMT").map(|rest| (rest, zone(rest)));
    Some(offset.filter(|(_, zone)| *zone > 1).map_or(0, |(rest, zone)| {
        let name = rest[zone..].strip_prefix(b" (").and_then(|name| {
            let end = memchr::memchr(b')', &name[..name.len().min(LONGEST_ZONE)])?;
            let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b' ';
            name[..end].iter().all(is_name).then_some(end + " ()".len())
        });
        " GMT".len() + zone + name.unwrap_or_default()
    }))
}

/// The longest name of a time zone, and more.
const LONGEST_ZONE: usize = 64;

const DAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

pub(super) const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// `PT1.5S`, `P1DT2H`
fn is_duration(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"P") else { return false };
    let known = |byte: &u8| byte.is_ascii_digit() || b"YMWDTHS.".contains(byte);
    rest.iter().any(u8::is_ascii_digit)
        && rest.iter().all(known)
        && rest.last().is_some_and(u8::is_ascii_uppercase)
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_times_are_found_in_text() {
        for (text, expected) in [
            ("it is 2026-11-21T09:00:00.123456Z now", vec!["2026-11-21T09:00:00.123456Z"]),
            (
                "2026-11-21 09:00, then 2026-11-21T09:00:00+01:00.",
                vec!["2026-11-21 09:00", "2026-11-21T09:00:00+01:00"],
            ),
            ("2026-11-21T09:00:00.", vec!["2026-11-21T09:00:00"]),
            ("12026-11-21T09:00 at 09:00: or 2026-11-21", vec![]),
            ("::::é:", vec![]),
            (
                "it is Sat, 21 Nov 2026 09:00:00 GMT, or Sat, 21 Nov 2026 10:00:00 +0100 there",
                vec!["Sat, 21 Nov 2026 09:00:00 GMT", "Sat, 21 Nov 2026 10:00:00 +0100"],
            ),
            (
                "a=b; expires=Sat, 21-Nov-26 09:00:00 GMT; path=/, Sat, 21-Nov-2026 09:00:00 GMT",
                vec!["Sat, 21-Nov-26 09:00:00 GMT", "Sat, 21-Nov-2026 09:00:00 GMT"],
            ),
            ("Sat, 21 Nov 2026 09:00:00 Paris", vec!["Sat, 21 Nov 2026 09:00:00"]),
            (
                "Sat Nov 21 09:00:00 2026, Sat Nov  7 09:00:00 CEST 2026; Sat Nov 21 09:00:00",
                vec!["Sat Nov 21 09:00:00 2026", "Sat Nov  7 09:00:00 CEST 2026"],
            ),
            (
                "Sat Nov 21 2026 09:00:00 GMT+0100 (Central European Standard Time), Sat Nov 07 2026 09:00:00 (x)",
                vec![
                    "Sat Nov 21 2026 09:00:00 GMT+0100 (Central European Standard Time)",
                    "Sat Nov 07 2026 09:00:00",
                ],
            ),
            (
                "2026/11/21 09:00:00 or 11/21/2026 09:00",
                vec!["2026/11/21 09:00:00", "11/21/2026 09:00"],
            ),
            (
                "2026-11-21 09:52:13 PM UTC, 2026-11-21 09:52 am; 2026-11-21 09:52:13 AMPLE",
                vec!["2026-11-21 09:52:13 PM", "2026-11-21 09:52 am", "2026-11-21 09:52:13"],
            ),
            (
                "X-Amz-Date=20261121T090000Z&X=120261121T090000Z or 20261121T090000Za",
                vec!["20261121T090000Z"],
            ),
            (
                "?at=2026-11-21T09%3A00%3A00.948Z&to=2026-11-21T09%3a00%3A00%2B01%3A00&x=09%3A00",
                vec!["2026-11-21T09%3A00%3A00.948Z", "2026-11-21T09%3a00%3A00%2B01%3A00"],
            ),
            (
                "Sat%2C+21+Nov+2026+09%3A00%3A00+GMT 2026-11-21T09:00%3A00 2026-11-21%2009%3A00",
                vec![
                    "Sat%2C+21+Nov+2026+09%3A00%3A00+GMT",
                    "2026-11-21T09:00",
                    "2026-11-21%2009%3A00",
                ],
            ),
            ("Cat, 21 Nov 2026 09:00:00 GMT; XSat, 21 Nov 2026 09:00:00", vec![]),
        ] {
            let found: Vec<&str> = moments(text).map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_may_be_times_are_found_with_their_fractions() {
        for (text, expected) in [
            ("ts=1732180000.000100;", vec!["1732180000.000100", "1732180000"]),
            ("at 1732180000. Or a1732180000, 173218000", vec!["1732180000"]),
            ("report.1732180000123.txt", vec!["1732180000123"]),
        ] {
            let found: Vec<&str> = epochs(text).map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn whole_values_are_times_or_not() {
        for value in [
            "2026-11-21",
            "2026-11-21T09:00:00Z",
            "Sat, 21 Nov 2026 09:00:00 GMT",
            "PT1.5S",
            "P1DT2H",
        ] {
            assert!(is_moment(value), "{value}");
        }
        for value in ["2026-11", "PHOTOS", "P", "PT", "Hello", "09:00", "", "2026-11-21 at noon"] {
            assert!(!is_moment(value), "{value}");
        }
        for number in ["1732180000", "1732180000123", "1732180000.25", "1732180000123456789"] {
            assert!(is_epoch(number), "{number}");
        }
        for number in ["5", "9999999999", "17321800001", "-1732180000", "1e9", "1732180000.x"] {
            assert!(!is_epoch(number), "{number}");
        }
    }
}
