//! `retape coverage`.

use std::path::Path;

use crate::retape::{Stage, told};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cassettes/letta/typescript/hitl");

const DOCUMENT: &str = r#"
openapi: 3.0.3
info: {title: Agents, version: "1"}
paths:
  /v1/agents/{id}:
    get: {responses: {"200": {description: "", content: {application/json: {}}}}}
  /v1/blocks/{id}:
    get: {responses: {"200": {description: ""}}}
"#;

#[track_caller]
fn run(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String, String) {
    let arguments = [&["coverage", "--cassettes", RECORDED], arguments].concat();
    stage.run(&arguments)
}

#[test]
fn a_share_that_is_too_small_fails() {
    let stage = Stage::new();
    stage.write("api.yaml", DOCUMENT);

    let (status, told, said) = run(&stage, &["--openapi", "api.yaml", "--min", "50"]);
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert!(told.contains("operations        1 of    2   50 %"), "{told}");
    assert!(told.contains("not recorded\n  GET    /v1/blocks/{id}\n"), "{told}");

    let (status, _, said) = run(&stage, &["--openapi", "api.yaml", "--min", "50.1"]);
    assert_eq!(status, Some(1));
    assert!(said.contains("50.0 % of the operations, less than 50.1 %"), "{said}");
}

#[test]
fn it_is_told_to_programs_and_as_tables() {
    let stage = Stage::new();
    stage.write("api.yaml", DOCUMENT);

    let (_, json, _) = run(&stage, &["--openapi", "api.yaml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["openapi"]["coverage"]["operations"]["exercised"], 1);
    assert_eq!(json["openapi"]["operations"][1]["answers"], 0);
    assert_eq!(json["cassettes"], 9);

    let (_, table, _) = run(&stage, &["--openapi", "api.yaml", "--format", "markdown"]);
    assert!(table.contains("| `GET /v1/blocks/{id}` | 0 | not recorded |\n"), "{table}");
    assert!(table.contains("| `POST /v1/agents/` | 200 | application/json | 9 |  |\n"), "{table}");
}

#[test]
fn a_protocol_of_ones_own_tells_the_types_of_messages() {
    let stage = Stage::new();
    let recorded = format!("{RECORDED}/approve_tokens.json");
    stage.write("cassettes/tape.json", &std::fs::read_to_string(recorded).unwrap());
    let types = || told(&stage.retape(&["coverage"]).output().unwrap());
    assert!(types().contains("tool_return_message"), "{}", types());

    let own = "[[protocol]]\ntag = { at = '/stop_reason', is = 'over' }\n";
    stage.write("retape.toml", own);

    let told = types();
    assert!(told.contains("over") && !told.contains("stop_reason"), "{told}");
}

#[test]
fn what_cannot_be_read_is_told_with_its_file() {
    let stage = Stage::new();
    stage.write("api.json", r#"{"swagger": "2.0"}"#);
    assert!(Path::new(RECORDED).exists());

    let (status, _, said) = run(&stage, &["--openapi", "api.json"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("api.json") && said.contains("hint: OpenAPI 3.0 to 3.2"), "{said}");

    let (status, _, said) = run(&stage, &["--openapi", "missing.json"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("missing.json"), "{said}");

    let output = stage.retape(&["coverage", "--cassettes", "nothing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
