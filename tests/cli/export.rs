//! `retape export`.

use std::collections::BTreeSet;
use std::{fs, io};

use serde_json::Value;

use crate::retape::Stage;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cassettes/letta");

/// A contract as it stands in its file.
struct Written {
    path: String,
    title: String,
    has_shape: bool,
}

fn contracts() -> Vec<Written> {
    let files = fs::read_dir(format!("{RECORDED}/contracts")).unwrap();
    let read = |file: io::Result<fs::DirEntry>| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let (title, shape) = text.splitn(3, "---\n").nth(2).unwrap().split_once('\n').unwrap();
        let path = title.split(' ').nth(1).unwrap().to_owned();
        Written { path, title: title.to_owned(), has_shape: !shape.is_empty() }
    };
    files.map(read).collect()
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let arguments = [&["export", "--cassettes"], arguments].concat();
    Stage::new().run(&arguments)
}

#[test]
fn contracts_are_printed_as_one_document() {
    let (status, document, said) = run(&[RECORDED]);

    assert_eq!((status, said.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["openapi"], "3.2.0");
    let paths = document["paths"].as_object().unwrap();
    let expected: BTreeSet<String> = contracts().into_iter().map(|it| it.path).collect();
    assert_eq!(paths.keys().cloned().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn some_contracts_are_printed_as_schemas() {
    let (_, several, _) = run(&[RECORDED, "--to", "json-schema"]);
    let (_, one, _) = run(&[RECORDED, "--to", "json-schema", "messages/stream"]);

    let several: Value = serde_json::from_str(&several).unwrap();
    let titles = several["$defs"].as_object().unwrap().values().map(|it| it["title"].to_string());
    let mut found: Vec<String> = titles.map(|it| it.trim_matches('"').to_owned()).collect();
    found.sort();
    let shaped = contracts().into_iter().filter(|contract| contract.has_shape);
    let mut expected: Vec<String> = shaped.map(|contract| contract.title).collect();
    expected.sort();
    assert_eq!(found, expected);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["title"], "POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream");
}

#[test]
fn where_there_is_nothing_to_print_it_is_said() {
    let (status, printed, said) = run(&[RECORDED, "/v2/"]);
    assert_eq!((status, printed.as_str()), (Some(1), ""));
    assert!(said.contains("no contract has `/v2/` in its first line"), "{said}");

    let (status, _, said) = run(&["nowhere"]);
    assert_eq!(status, Some(2));
    assert!(
        said.contains("no contract was accepted") && said.contains("`retape accept`"),
        "{said}"
    );
}

#[test]
fn cassettes_are_printed_for_other_tools() {
    let (status, har, said) = run(&[RECORDED, "--to", "har", "hitl/approve_s*"]);
    assert_eq!(status, Some(0), "{said}");
    let har: Value = serde_json::from_str(&har).unwrap();
    assert_eq!(har["log"]["pages"][0]["id"], "hitl/approve_steps");
    assert!(
        said.starts_with("retape: not in this format: ") && said.lines().count() == 1,
        "{said}"
    );

    let (status, lines, _) = run(&[RECORDED, "--to", "curl", "hitl/approve_steps"]);
    assert_eq!(status, Some(0));
    assert!(lines.lines().skip(1).all(|line| line.contains("curl -sS ")), "{lines}");

    let (status, _, said) = run(&[RECORDED, "--to", "wiremock", "hitl/nothing"]);
    assert_eq!(status, Some(2), "{said}");
}
