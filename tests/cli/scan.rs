//! `retape scan`.

use std::fs;

use crate::retape::{Stage, said};
use crate::support::upstream::Upstream;

#[test]
fn scan_finds_nothing_in_the_cassettes_of_this_repository_but_golden_cookies() {
    let stage = Stage::new();
    let folders = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cassettes")).unwrap();
    for folder in folders.map(|it| it.unwrap().path()).filter(|it| it.is_dir()) {
        let output =
            stage.retape(&["scan", "--cassettes", folder.to_str().unwrap()]).output().unwrap();

        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        // One of the golden files shows how cookies were written that nobody had redacted.
        let cookies = if folder.ends_with("compat") { 4 } else { 0 };
        let found: Vec<&str> = told.lines().filter(|line| line.contains("interaction")).collect();
        assert_eq!(found.len(), cookies, "{told}");
        assert!(found.iter().all(|line| line.to_lowercase().contains("cookie`")), "{told}");
        assert_eq!(output.status.code(), Some(i32::from(cookies > 0)), "{told}");
    }
}

#[test]
fn scan_names_the_place_and_never_the_secret() {
    let stage = Stage::new();
    let secret = format!("{}{}", "ghp_", "a1B2".repeat(9));
    let report = stage.folder().join("report.md");
    fs::write(&report, format!("one\nthe key {secret} is here\n")).unwrap();

    let output = stage.retape(&["scan", report.to_str().unwrap()]).output().unwrap();

    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("line 2: github-token"), "{told}");
    assert!(!told.contains(&secret), "{told}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_recording_says_which_exception_it_makes_and_scan_reports_one_that_the_file_has_not() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| r#"{"api_key":"open-sesame-12","seat":"12C"}"#.to_owned());
    let rules = "[redact]\njson = [\"seat\"]\nnot-secrets = [\n  \"api_key\",\n]\n";
    stage.write("retape.toml", rules);

    let output =
        stage.around(&["record", "--upstream", &upstream.url(), "tape"], "GET /").output().unwrap();

    let told = stage.harmless(&said(&output));
    assert!(told.contains("not replaced, because"), "{told}");
    assert!(told.contains("`api_key` (FOLDER/retape.toml, line 4)"), "{told}");
    let cassette = stage.read("cassettes/tape.json");
    assert!(cassette.contains("open-sesame-12") && !cassette.contains("12C"), "{cassette}");
    assert!(cassette.contains("\"json seat\", \"not api_key\""), "{cassette}");
    let scanned = stage.retape(&["scan"]).output().unwrap();
    assert_eq!(scanned.status.code(), Some(0), "{}", said(&scanned));

    stage.write("retape.toml", "");
    let scanned = stage.retape(&["scan"]).output().unwrap();

    assert_eq!(scanned.status.code(), Some(1));
    assert!(said(&scanned).contains("body of the answer, line 1: api_key"));
}
