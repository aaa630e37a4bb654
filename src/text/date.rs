//! Moments in RFC 3339, in UTC.

/// Milliseconds since 1970: `2026-11-20T10:00:00Z`, with the fraction of a second only if there is one.
pub(crate) fn rfc3339(ms: u64) -> String {
    let seconds = ms / 1000;
    let (year, month, day) = civil(seconds / 86_400);
    let of_day = seconds % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = match ms % 1000 {
        0 => String::new(),
        fraction => format!(".{fraction:03}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// Milliseconds since 1970 of a moment, with a fraction of a second or none, in any time zone: UTC if it names none.
pub(crate) fn since_1970(moment: &str) -> Option<u64> {
    let number = |from: usize, to: usize| moment.get(from..to)?.parse::<u64>().ok();
    let is_written = ["-", "-", "T", ":", ":"].iter().zip([4, 7, 10, 13, 16]);
    if !is_written.into_iter().all(|(mark, at)| moment.get(at..at + 1) == Some(mark)) {
        return None;
    }
    let (month, year) = (number(5, 7)?, number(0, 4)?);
    // March is the first month of a year that ends with the day that may be missing.
    let year = if month > 2 { year } else { year.checked_sub(1)? };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + number(8, 10)?.checked_sub(1)?;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year;
    let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let (fraction, zone) = fraction(&moment[19..]);
    let there = (days.checked_sub(719_468)? * 86_400 + seconds) * 1000 + fraction;
    there.checked_add_signed(-ahead_of_utc(zone)?)
}

/// The milliseconds that a text begins with as a fraction of a second, and what is behind them.
fn fraction(text: &str) -> (u64, &str) {
    let Some(digits) = text.strip_prefix(['.', ',']) else { return (0, text) };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let thousandths = digits[..end].bytes().chain(*b"000").take(3);
    (thousandths.fold(0, |all, digit| all * 10 + u64::from(digit - b'0')), &digits[end..])
}

/// How many milliseconds the clocks of a time zone are ahead: `+02:00`.
fn ahead_of_utc(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.split_at_checked(1) {
        None | Some(("Z" | "z", "")) => return Some(0),
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').or_else(|| rest.split_at_checked(2))?;
    let number = |text: &str| text.parse::<u8>().ok().map(i64::from);
    Some(sign * (number(hours)? * 60 + number(minutes)?) * 60_000)
}

/// Days since 1970 of a date without a time of day: `2026-11-20`.
pub(crate) fn day(date: &str) -> Option<u64> {
    let ms = fits(date.as_bytes(), "0000-00-00").then(|| since_1970(&format!("{date}T00:00:00Z")));
    Some(ms?? / 86_400_000)
}

/// The date of a day counted from 1970-01-01.
pub(crate) fn of_day(day: u64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a day counted from 1970-01-01, after Hinnant, *chrono-Compatible
/// Low-Level Date Algorithms*, `civil_from_days`, for days that are not before the epoch.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Whether bytes are as in the pattern, in which `0` is any digit.
pub(crate) fn fits(bytes: &[u8], pattern: &str) -> bool {
    bytes.len() == pattern.len()
        && bytes.iter().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => *byte == wanted,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_000, "2000-02-28T23:59:59Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_795_219_200_000, "2026-11-21T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (1_795_219_200_042, "2026-11-21T00:00:00.042Z"),
        ] {
            assert_eq!(rfc3339(ms), expected);
            assert_eq!(since_1970(expected), Some(ms), "{expected}");
        }
    }

    #[test]
    fn a_moment_is_read_with_its_fraction_and_time_zone() {
        for (moment, expected) in [
            ("2026-11-21T08:00:00", Some(1_795_248_000_000)),
            ("2026-11-21T08:00:00.5Z", Some(1_795_248_000_500)),
            ("2026-11-21T08:00:00.123456Z", Some(1_795_248_000_123)),
            ("2026-11-21T10:00:00.000+02:00", Some(1_795_248_000_000)),
            ("2026-11-21T03:30:00-0430", Some(1_795_248_000_000)),
            ("1970-01-01T00:00:00+01:00", None),
            ("2026-11-21T08:00:00 GMT", None),
            ("2026-11-21 08:00:00", None),
            ("Sat, 21 Nov 2026 08:00:00 GMT", None),
            ("", None),
        ] {
            assert_eq!(since_1970(moment), expected, "{moment}");
        }
    }
}
