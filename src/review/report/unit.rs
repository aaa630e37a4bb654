//! Sizes, times and counts for people.

/// `86 B`, `8.4 kB`, `1.2 MB`.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..99_950 => format!("{:.1} kB", bytes as f64 / 1e3),
        99_950..999_500 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `381 ms`, `1.42 s`, `2 min 05 s`.
pub(super) fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.2} s", ms as f64 / 1e3),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `381 ms`, `381–549 ms`, `0.98–1.42 s`: both ends in the unit of the second.
pub(super) fn span(first: u64, last: u64) -> String {
    let (first_said, last_said) = (time(first), time(last));
    if first_said == last_said {
        return last_said;
    }
    match last {
        0..1_000 => format!("{first}–{last_said}"),
        1_000..60_000 => format!("{:.2}–{last_said}", first as f64 / 1e3),
        _ => format!("{first_said} – {last_said}"),
    }
}

/// `1 event`, `28 events`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_unit_that_reads_best() {
        assert_eq!(
            [0, 999, 1_000, 99_949, 99_950, 1_234_567].map(size),
            ["0 B", "999 B", "1.0 kB", "99.9 kB", "100 kB", "1.2 MB"]
        );
        assert_eq!(
            [0, 999, 1_000, 59_994, 125_000].map(time),
            ["0 ms", "999 ms", "1.00 s", "59.99 s", "2 min 05 s"]
        );
        assert_eq!(span(5, 5), "5 ms");
        assert_eq!(span(5, 7), "5–7 ms");
        assert_eq!(span(980, 1_420), "0.98–1.42 s");
        assert_eq!(span(1_001, 1_002), "1.00 s");
        assert_eq!(span(59_000, 61_000), "59.00 s – 1 min 01 s");
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!(count(0, "event"), "0 events");
    }
}
