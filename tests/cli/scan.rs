//! `retape scan`.

use std::fs;

use crate::retape::Stage;

#[test]
fn scan_finds_nothing_in_the_cassettes_of_this_repository_but_golden_cookies() {
    let stage = Stage::new();
    let folders = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cassettes")).unwrap();
    for folder in folders.map(|it| it.unwrap().path()) {
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
