//! `retape scan`.

use std::fs;

use crate::retape::Stage;

#[test]
fn scan_says_nothing_of_the_cassettes_of_this_repository() {
    let stage = Stage::new();
    let folders = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cassettes")).unwrap();
    // The golden files show how cookies are written.
    let folders = folders.map(|it| it.unwrap().path()).filter(|it| !it.ends_with("compat"));

    for folder in folders {
        let output =
            stage.retape(&["scan", "--cassettes", folder.to_str().unwrap()]).output().unwrap();

        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0), "{}", folder.display());
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
