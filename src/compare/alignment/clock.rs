//! Numbers that count from 1970 on, and dates, known by the time at which they were recorded.

use std::ops::Range;

use memchr::memmem;

use crate::cassette::splice::disjoint;
use crate::identity::{epochs, is_epoch};
use crate::text::date::{rfc3339, since_1970};

/// When a recording began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    /// Seconds since 1970.
    seconds: f64,
    /// The day before, that day and the next, as another time zone has them: `20261121`.
    days: [[u8; 8]; 3],
}

const DAY: f64 = 86_400.0;

/// What may stand between the numbers of a date.
const BETWEEN: [u8; 4] = *b"-/_.";

/// A number that means a time further away than ten years is likely to mean something else.
const NEAR: f64 = 3_653.0 * DAY;

impl Clock {
    /// Reads RFC 3339.
    pub(super) fn of(at: &str) -> Option<Self> {
        let seconds = since_1970(at)? / 1000;
        let day = |ahead: i64| -> Option<[u8; 8]> {
            let there = seconds.checked_add_signed(ahead * DAY as i64)?;
            rfc3339(there * 1000)[..10].replace('-', "").into_bytes().try_into().ok()
        };
        Some(Self { seconds: seconds as f64, days: [day(-1)?, day(0)?, day(1)?] })
    }

    /// The dates in a text that are near this one, however they are written: `2026/11/21`.
    pub(super) fn dates(self, text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
        let [years, others] =
            [self.days[0], self.days[2]].map(|day| [day[0], day[1], day[2], day[3]]);
        let mut found: Vec<usize> = memmem::find_iter(text.as_bytes(), &years).collect();
        if others != years {
            found.extend(memmem::find_iter(text.as_bytes(), &others));
        }
        found.into_iter().filter_map(move |start| self.date(text.as_bytes(), start))
    }

    /// The date near this one that begins there.
    fn date(self, text: &[u8], start: usize) -> Option<Range<usize>> {
        let mark = text.get(start + 4).copied().filter(|mark| BETWEEN.contains(mark));
        let end = start + if mark.is_some() { "2026/11/21" } else { "20261121" }.len();
        let date = text.get(start..end)?;
        let is_mark = |(at, byte): (usize, &u8)| matches!(at, 4 | 7) && mark == Some(*byte);
        let numbers = date.iter().copied().enumerate();
        let numbers: Vec<u8> =
            numbers.filter(|(at, byte)| !is_mark((*at, byte))).map(|(_, byte)| byte).collect();
        let goes_on =
            |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_digit);
        let is_near = self.days.iter().any(|day| day[..] == numbers);
        (is_near && !goes_on(start.checked_sub(1)) && !goes_on(Some(end))).then_some(start..end)
    }

    /// The numbers in a text that mean a time near this one, whatever they are called.
    pub(super) fn times(self, text: &str) -> impl Iterator<Item = Range<usize>> + use<> {
        let near = epochs(text).filter(|range| self.ahead(&text[range.clone()]).is_some());
        // A number with a fraction stands there without it, too.
        disjoint(near.collect(), Range::clone).into_iter()
    }

    /// How many seconds a number is ahead of the clock, if it means a time near it.
    fn ahead(self, number: &str) -> Option<f64> {
        let digits = number.split('.').next().filter(|_| is_epoch(number))?.len();
        let unit = 10_f64.powi(i32::try_from(digits).ok()? - 10);
        let ahead = number.parse::<f64>().ok()? / unit - self.seconds;
        (ahead.abs() < NEAR).then_some(ahead)
    }

    /// Whether an old number and a new one are as far ahead of their clocks, but for how long a day is.
    pub(super) fn moved(clocks: [Option<Self>; 2], old: &str, new: &str) -> bool {
        let [Some(before), Some(now)] = clocks else { return false };
        let both = before.ahead(old).zip(now.ahead(new));
        both.is_some_and(|(one, other)| (one - other).abs() < DAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_near_a_clock_are_found_however_they_are_written() {
        let clock = Clock::of("2027-01-01T09:00:00Z").unwrap();

        for (text, expected) in [
            ("/sessions/2026/12/31/rollout-2027-01-01T10-15-02", vec!["2026/12/31", "2027-01-01"]),
            ("backup_20270102.tar, 2027.01.01", vec!["20270102", "2027.01.01"]),
            ("2027/01-01 12027-01-01 2027-01-011 2027-01 2026-12-30", vec![]),
        ] {
            let mut found: Vec<&str> = clock.dates(text).map(|range| &text[range]).collect();
            found.sort_by_key(|found| text.find(found));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn times_near_a_clock_are_found_in_names_of_files_too() {
        let clock = Clock::of("2026-11-21T09:00:00Z").unwrap();
        let text = "report-1795252000123.txt at 1795252000.25, 1195252000";

        let found: Vec<&str> = clock.times(text).map(|range| &text[range]).collect();

        assert_eq!(found, ["1795252000123", "1795252000.25"]);
    }
}
