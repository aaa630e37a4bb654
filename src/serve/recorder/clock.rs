//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::text::date;

/// The time in UTC to the second: `2026-11-20T10:00:00Z`.
pub(super) fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date::rfc3339(seconds * 1000)
}
