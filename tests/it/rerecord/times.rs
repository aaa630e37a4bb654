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

#[test]
fn durations_that_sum_up_or_go_on_are_all_old_or_all_new() {
    let bill = |text: &str, latency: u32, cost: u32, total: u32| {
        let said =
            format!(r#"{{"text":"{text}","latency_ms":{latency},"cost":{cost},"total":{total}}}"#);
        talk(&[("GET /bill", &said)])
    };
    let (old, new) = (bill("a", 30, 12, 42), bill("b", 50, 20, 70));
    check(&old, new.clone(), &new);
    check(&old, bill("b", 50, 20, 99), &bill("b", 30, 20, 99));
    check(&old, bill("a", 50, 12, 42), &old);

    let steps = |steps: &[(&str, u32)]| {
        let step = |(text, ms): &(&str, u32)| format!(r#"{{"text":"{text}","elapsed_ms":{ms}}}"#);
        let steps: Vec<String> = steps.iter().map(step).collect();
        talk(&[("GET /steps", &format!("[{}]", steps.join(",")))])
    };
    let old = steps(&[("a", 3), ("b", 5), ("c", 8)]);
    check(&old, steps(&[("a", 1), ("b", 25), ("c", 30)]), &old);
    // The step that is new took as long as it did, and so did those beside it.
    let new = steps(&[("a", 1), ("quite another step", 20), ("b", 25), ("c", 30)]);
    check(&old, new.clone(), &new);
}

#[test]
fn rows_in_one_second_do_not_go_back() {
    let rows = |day: u32, rows: &[(&str, u32)]| {
        let row = |(text, second): &(&str, u32)| {
            format!(r#"{{"text":"{text}","at":"2026-11-{day}T10:00:{second:02}Z"}}"#)
        };
        let rows: Vec<String> = rows.iter().map(row).collect();
        talk(&[("GET /rows", &format!("[{}]", rows.join(",")))])
    };
    let old = rows(21, &[("a", 1), ("b", 1), ("c", 2), ("d", 2)]);
    check(&old, rows(28, &[("a", 31), ("b", 31), ("c", 31), ("d", 31)]), &old);

    // For the second of now two old ones stand, and the row that is new has none.
    let new = rows(28, &[("a", 31), ("b", 31), ("c", 31), ("quite another row", 31), ("d", 31)]);
    check(&old, new.clone(), &new);
}
