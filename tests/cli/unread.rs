//! A cassette that cannot be read, among others.

use serde_json::{Value, json};

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
fn every_report_opens_with_the_cassette_that_could_not_be_read() {
    let stage = damaged();
    stage.write("cassettes/m.json", "<<<<<<< HEAD\n{}\n");
    stage.write(".git/HEAD", "");
    let shown = |arguments: &[&str]| told(&stage.retape(arguments).output().unwrap());
    let diff = |format| shown(&["diff", "cassettes", "cassettes", "--format", format]);
    let why = "not a cassette: expected value at line 1 column 1";
    let headline = |literal: &str| {
        let file = format!("{literal}cassettes/m.json{literal}");
        format!("1 cassette could not be read: {file}: {why}; nothing else changed")
    };

    let text = diff("text").replace('\n', " ");
    assert!(text.starts_with(&headline("`")), "{text}");
    let markdown = diff("markdown");
    assert!(markdown.starts_with(&format!("❌ **{}** ", headline("`"))), "{markdown}");
    let html = diff("html");
    assert!(html.contains(&format!("<title>{}</title>", headline("`"))), "{html}");
    assert!(html.contains("data-standing=\"breaking\""), "{html}");
    let github = diff("github");
    let error = "::error file=cassettes/m.json,line=1,title=retape::this cassette could not";
    assert!(github.starts_with(error), "{github}");
    assert!(!github.contains("::nothing changed"), "{github}");
    let junit = diff("junit");
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{junit}");
    assert!(junit.contains(&format!("<error message=\"`cassettes/m.json`: {why}\"")), "{junit}");
    let sarif: Value = serde_json::from_str(&diff("sarif")).unwrap();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let place = &invocation["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "cassettes/m.json");
    let json: Value = serde_json::from_str(&diff("json")).unwrap();
    let unreadable = json!([{"file": "cassettes/m.json", "line": 1, "why": why}]);
    assert_eq!((&json["unreadable"], &json["fails"]), (&unreadable, &Value::Bool(true)));
    let check = shown(&["check", "--format", "markdown"]);
    assert!(check.starts_with("❌ **1 cassette could not be read: "), "{check}");
}

#[test]
fn each_of_several_cassettes_that_could_not_be_read_is_in_the_report() {
    let stage = Stage::new();
    for name in ["a", "b", "c"] {
        stage.write(&format!("cassettes/{name}.json"), "{}");
    }

    for format in ["text", "markdown", "html", "json", "junit", "sarif", "github"] {
        let diff = ["diff", "cassettes", "cassettes", "--format", format];
        let output = stage.retape(&diff).output().unwrap();

        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        let all = ["a.json", "b.json", "c.json"].iter().all(|name| told.contains(name));
        assert!(all, "{format}: {told}");
    }
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

#[test]
fn a_folder_that_stands_above_is_named_by_every_command() {
    let stage = Stage::new();
    stage.write("project/cassettes/x.json", "{}");
    std::fs::create_dir_all(stage.folder().join("project/src/deep")).unwrap();
    let project = stage.folder().join("project").display().to_string();
    let hint = format!(
        "hint: `{project}/cassettes` is there: run the command in `{project}`, or say `--cassettes {project}/cassettes`\n"
    );

    for command in
        ["replay x -- true", "show x", "list", "check", "scan", "diff cassettes cassettes"]
    {
        let arguments: Vec<&str> = command.split(' ').collect();
        let mut command = stage.retape(&arguments);
        let output = command.current_dir(stage.folder().join("project/src/deep")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.ends_with(&hint), "{arguments:?}: {said}");
    }
}
