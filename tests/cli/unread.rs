//! A cassette that cannot be read, among others.

use crate::retape::{Stage, said, told};
use crate::support::upstream::Upstream;

/// A folder with two cassettes, and one between them that is damaged.
fn damaged() -> Stage {
    let (stage, upstream) = (Stage::new(), Upstream::json(|_| "[1]".to_owned()));
    stage.record(&upstream.url(), "a", "GET /a");
    stage.record(&upstream.url(), "z", "GET /z");
    stage.write("cassettes/m.json", "{\"retape\": 1, \"interactions\": [");
    stage
}

#[test]
fn a_cassette_that_cannot_be_read_is_told_once_the_others_are_done() {
    let stage = damaged();
    let check = |arguments: &[&str], last: &str| {
        let output = stage.retape(arguments).output().unwrap();
        let (told, said) = (told(&output), said(&output));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(told.contains(last), "{arguments:?}: {told}");
        assert!(said.contains("not a cassette (`") && said.contains("m.json`"), "{said}");
        assert!(said.contains("\nhint: "), "{arguments:?}: {said}");
    };

    check(&["list"], "z     1 interaction ");
    check(&["show", "**"], "1 GET /z");
    check(&["show", "--ids", "**"], "z\n");
    check(&["coverage"], "/z");
    check(&["export", "--to", "curl"], "/z");
    check(&["check"], "/z");
    check(&["check", "--evidence"], "/z");
    check(&["diff", "cassettes", "cassettes"], "");
}

#[test]
fn each_cassette_that_cannot_be_read_is_named_before_something_is_accepted() {
    let stage = damaged();
    stage.write("cassettes/n.json", "{}");

    let output = stage.retape(&["accept"]).output().unwrap();

    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("m.json`") && said.contains("n.json`"), "{said}");
    assert!(!stage.folder().join("cassettes/contracts").exists());
}

#[test]
fn a_scan_goes_on_behind_a_cassette_that_cannot_be_read_and_searches_its_text() {
    let stage = damaged();
    let secret = "Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    stage.write("cassettes/m.json", &format!("{{\"retape\": 1,\n\"authorization\": \"{secret}\""));
    stage.write("cassettes/zz.txt", &format!("authorization: {secret}\n"));

    let output = stage.retape(&["scan"]).output().unwrap();

    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("m.json\nretape:   line 2: "), "{said}");
    assert!(said.contains("zz.txt\nretape:   line 1: "), "{said}");
    assert!(said.contains("hint: have the secret revoked"), "{said}");
    assert!(said.contains("error: not a cassette"), "{said}");
}
