//! How fast a recording is played.

use std::str::FromStr;
use std::time::Duration;

use crate::error::{Error, Kind};

/// How fast recorded answers come. Order and chunks are the same at any pace.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Pace {
    /// Without waiting.
    #[default]
    Instant,
    /// So many times as fast as they were recorded; 1 is the recorded pace.
    Times(f64),
}

impl Pace {
    /// When something that happened `ms` milliseconds after a request is due in replay.
    pub(super) fn due(self, ms: u64) -> Duration {
        match self {
            Self::Instant => Duration::ZERO,
            Self::Times(factor) => Duration::from_secs_f64(ms as f64 / 1000.0 / factor),
        }
    }
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
                Error::new(Kind::Setting {
                    name: "pace",
                    value: word.to_owned(),
                    expected: "instant, recorded, or a factor such as 2x or 0.5x",
                })
            }),
        }
    }
}
