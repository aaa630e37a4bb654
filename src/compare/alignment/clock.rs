//! Numbers that count from 1970 on, known by the time at which they were recorded.

use std::ops::Range;

use crate::identity::{is_epoch, since_1970};

/// When a recording began, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock(f64);

const DAY: f64 = 86_400.0;

/// A number that means a time further away than ten years is likely to mean something else.
const NEAR: f64 = 3_653.0 * DAY;

impl Clock {
    /// Reads RFC 3339 in UTC.
    pub(super) fn of(at: &str) -> Option<Self> {
        since_1970(at).map(|seconds| Self(seconds as f64))
    }

    /// The numbers in a text that mean a time near this one, whatever they are called.
    pub(super) fn times(self, text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let words = words.map(|word| word.trim_matches('.'));
        let times = words.filter(move |word| word.len() >= 10 && self.ahead(word).is_some());
        times.map(move |word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            start..start + word.len()
        })
    }

    /// How many seconds a number is ahead of the clock, if it means a time near it.
    fn ahead(self, number: &str) -> Option<f64> {
        let digits = number.split('.').next().filter(|_| is_epoch(number))?.len();
        let unit = 10_f64.powi(i32::try_from(digits).ok()? - 10);
        let ahead = number.parse::<f64>().ok()? / unit - self.0;
        (ahead.abs() < NEAR).then_some(ahead)
    }

    /// Whether an old number and a new one are as far ahead of their clocks, but for how long a day is.
    pub(super) fn moved(clocks: [Option<Self>; 2], old: &str, new: &str) -> bool {
        let [Some(before), Some(now)] = clocks else { return false };
        let both = before.ahead(old).zip(now.ahead(new));
        both.is_some_and(|(one, other)| (one - other).abs() < DAY)
    }
}
