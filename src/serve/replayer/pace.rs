//! How fast a recording is played.

use std::str::FromStr;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::Error;

/// How fast recorded answers come. Order and chunks are the same at any pace.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Pace {
    /// Without waiting.
    #[default]
    Instant,
    /// So many times as fast as they were recorded; 1 is the recorded pace. Nothing is waited for
    /// longer than a year, whatever the factor.
    Times(f64),
}

/// What a clock can count to for sure.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// When what was recorded of an answer is due. Where nothing is waited for, no clock is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(Option<(Instant, f64)>);

impl Clock {
    /// When something that happened `ms` milliseconds after the request is due; `None` if at once.
    pub(super) fn due(self, ms: u64) -> Option<Instant> {
        let (begun, factor) = self.0.filter(|_| ms > 0)?;
        Some(begun + after(ms, factor))
    }
}

impl Pace {
    /// The clock of a request that arrives now.
    pub(super) fn begin(self) -> Clock {
        match self {
            Self::Instant => Clock(None),
            Self::Times(factor) => Clock(Some((Instant::now(), factor))),
        }
    }
}

fn after(ms: u64, factor: f64) -> Duration {
    let due = Duration::try_from_secs_f64(ms as f64 / 1000.0 / factor);
    due.map_or(LONGEST, |due| due.min(LONGEST))
}

impl FromStr for Pace {
    type Err = Error;

    /// Reads `instant`, `recorded`, or a factor: `2x`, `0.5x`.
    fn from_str(word: &str) -> Result<Self, Error> {
        let factor =
            || word.strip_suffix('x')?.parse().ok().filter(|factor| (0.001..=1e6).contains(factor));
        match word {
            "instant" => Ok(Self::Instant),
            "recorded" => Ok(Self::Times(1.0)),
            _ => factor().map(Self::Times).ok_or_else(|| {
                Error::setting("pace", word, "instant, recorded, or a factor such as 2x or 0.5x")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_factor_and_no_time_is_too_much_for_a_clock() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 0.001] {
            for ms in [0, 1, u64::MAX] {
                assert!(after(ms, factor) <= LONGEST, "{ms} at {factor}");
            }
        }
        assert_eq!(after(500, 2.0), Duration::from_millis(250));
    }
}
