//! Faults, and commands that run under each of them.

use insta::assert_snapshot;

use crate::retape::{Stage, said, told};
use crate::support::upstream::Upstream;

fn stage() -> Stage {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1\nPOST /2 {\"a\":1}");
    stage
}

/// What is said, without times.
fn timeless(text: &str) -> String {
    regex::Regex::new(r" after \d+ ms").unwrap().replace_all(text, "").into_owned()
}

#[test]
fn the_last_lines_say_who_got_which_fault_and_which_met_none() {
    let stage = stage();
    let faults = ["--fault", "/1: 503 x2", "--fault", "POST *: cut", "--fault", "/none: 500"];

    let asks = "GET /1\nGET /1\nGET /1\nPOST /2 {\"a\":1}";
    let replay = [&["replay"], &faults[..], &["tape"]].concat();
    let output = stage.around(&replay, asks).output().unwrap();
    let strict = [&replay[..], &["--strict"]].concat();
    let strict = stage.around(&strict, asks).output().unwrap();

    assert_eq!((output.status.code(), strict.status.code()), (Some(0), Some(1)));
    assert_snapshot!(timeless(&said(&output)), @"
    retape: fault in `tape`: GET /1: 503 x2, 503 x2, answered (3 attempts)
    retape: fault in `tape`: POST /2: cut, not asked again (1 attempt)
    retape: fault that met no request: /none: 500
    retape: replayed 1 cassette: 2 of 2 interactions played, 0 misses, nothing went out through retape
    ");
}

#[test]
fn what_is_no_fault_is_told_with_a_hint() {
    let output =
        stage().around(&["replay", "--fault", "refus", "tape"], "GET /1").output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(said(&output), @"
    error: invalid value 'refus' for '--fault <FAULT>': `refus` is not known
      hint: a fault is a status such as 503, or a word; did you mean `refuse`?

    For more information, try '--help'.
    ");
}

#[test]
fn a_matrix_says_what_passed_and_shows_why_the_rest_failed() {
    let stage = stage();
    let ask = "echo asking; got=$(curl -s -o /dev/null -w '%{http_code}' $RETAPE_URL/1); \
               [ $got = 200 ] || { echo \"it got $got\"; exit 3; }";
    let matrix =
        ["matrix", "--chunks", "recorded,1", "--fault", "503", "--fault", "503 x0", "tape"];
    let command = ["--", "sh", "-c", ask];

    let refused = stage.retape(&[&matrix[..], &command].concat()).output().unwrap();
    let matrix: Vec<&str> =
        matrix.into_iter().map(|it| if it == "503 x0" { "/none: cut" } else { it }).collect();
    let output = stage.retape(&[&matrix[..], &command].concat()).output().unwrap();
    let hung =
        ["matrix", "--chunks", "recorded", "--timeout", "200ms", "tape", "--", "sleep", "60"];
    let hung = stage.retape(&hung).output().unwrap();

    assert_eq!((refused.status.code(), output.status.code()), (Some(2), Some(1)));
    let table = regex::Regex::new(r" {2}\d+\.\d\d").unwrap();
    assert_snapshot!(table.replace_all(&told(&output), "  0.00"), @"
    chunks    fault       seconds  result
    recorded  -              0.00  passed
    1         -              0.00  passed
    recorded  503            0.00  failed with status 3
    recorded  /none: cut     0.00  passed, the fault met no request

    recorded 503:
      it got 503
    ");
    assert_eq!(said(&output), "retape: 3 of 4 runs passed\n");
    assert_eq!(hung.status.code(), Some(1));
    assert!(told(&hung).contains("timed out"), "{}", told(&hung));
}
