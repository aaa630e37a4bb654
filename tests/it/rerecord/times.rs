//! Times say how they stand to each other, and old ones must not say it otherwise than the server did.

use super::cases::{check, talk};

const ASKED: &str = r#"POST /events {"starts_at": "2026-11-21T10:01:00Z"}"#;

fn answered(at: &str) -> String {
    format!(r#"{{"starts_at": "2026-11-21T{at}Z"}}"#)
}

#[test]
fn another_time_than_the_one_that_was_asked_for_is_a_difference() {
    let [before, same, later] = ["10:01:00", "10:01:00", "11:01:00"].map(answered);
    let old = talk(&[(ASKED, &before)]);
    check(&old, talk(&[(ASKED, &same)]), &old);

    let new = talk(&[(ASKED, &later)]);

    check(&old, new.clone(), &new);
}

/// Rows with times of an hour of some day, and other words each time.
fn rows(day: u32, hours: &[u32], word: &str) -> String {
    let row = |hour: &u32| {
        format!(r#"{{"title": "{word}", "created_at": "2026-11-{day:02}T{hour:02}:00:00Z"}}"#)
    };
    format!("[{}]", hours.iter().map(row).collect::<Vec<_>>().join(", "))
}

#[test]
fn rows_that_come_in_another_order_of_their_times_are_a_difference() {
    let list = |day, hours: &[u32]| talk(&[("GET /items", &rows(day, hours, "x"))]);
    let old = list(21, &[12, 11, 10]);
    check(&old, list(22, &[9, 8, 7]), &old);

    let turned = list(22, &[7, 8, 9]);

    check(&old, turned.clone(), &turned);
}

#[test]
fn rows_beside_a_new_one_keep_no_times_that_are_out_of_order() {
    let list = |day, hours: &[u32]| talk(&[("GET /items", &rows(day, hours, "x"))]);
    let old = list(21, &[12, 11, 10]);

    // The last one has no time of its own among the old ones, and is told to be when the one before it is.
    check(&old, list(22, &[12, 11, 10, 9]), &list(21, &[12, 11, 10, 10]));
}

#[test]
fn a_duration_in_another_unit_is_a_difference() {
    let took = |took: &str| talk(&[("GET /run", &format!(r#"{{"duration": {took}}}"#))]);
    check(&took("2425"), took("1311"), &took("2425"));
    check(&took("2.425"), took("31.1"), &took("2.425"));
    for [old, new] in [["2425", "8.462"], ["8.462", "8462"], ["2425", "2"]] {
        check(&took(old), took(new), &took(new));
    }
}
