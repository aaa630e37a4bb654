//! How much of a server was recorded.

use bytes::Bytes;
use retape::cassette::{Body, Headers, Interaction, Request, Response};
use retape::contract::openapi::Document;
use retape::review::coverage::{Coverage, Exercised};
use retape::review::report::{Colour, coverage};
use retape::{Cassette, Name};
use serde_json::{Value, json};

/// What was asked and what came back: `GET /v1/agents 200 application/json`.
fn interaction(line: &str) -> Interaction {
    let words: Vec<&str> = line.split(' ').collect();
    let [method, path, status, rest @ ..] = words.as_slice() else { panic!("{line}") };
    let mut headers = Headers::default();
    rest.iter().for_each(|media| headers.append("content-type", (*media).to_owned()));
    let response = Response {
        headers,
        body: Body::Whole(Bytes::from_static(br#"{"type":"answer"}"#)),
        ..Response::of(status.parse().unwrap())
    };
    let request = Request::of(*method, *path);
    Interaction::of(request, response)
}

fn exercised(lines: &[&str]) -> Exercised {
    let interactions = lines.iter().map(|line| interaction(line)).collect();
    let cassette = Cassette { interactions, ..Cassette::default() };
    Exercised::of([(&Name::new("tape").unwrap(), &cassette)])
}

fn document(paths: Value) -> Document {
    let root = json!({
        "openapi": "3.1.0",
        "info": {"title": "Agents", "version": "2"},
        "servers": [{"url": "https://api.example.com/{stage}/", "variables": {"stage": {"default": "v1"}}}],
        "paths": paths,
        "components": {
            "responses": {"Wrong": {"content": {"application/problem+json; charset=utf-8": {}}}},
            "pathItems": {"Health": {"get": {"responses": {"default": {}}}}},
        },
    });
    Document::parse(&root.to_string()).unwrap()
}

/// What is told of a document beside what was recorded.
fn told(paths: Value, lines: &[&str]) -> String {
    let (document, exercised) = (document(paths), exercised(lines));
    let told = coverage(&exercised, Some(&Coverage::of(&document, &exercised)), Colour::Plain);
    told[told.find("\nof ").unwrap() + 1..].to_owned()
}

#[test]
fn what_was_recorded_is_told_by_endpoint() {
    let exercised = exercised(&[
        "GET /v1/agents/agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0 200 application/json",
        "GET /v1/agents/agent-0f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f1 404",
        "DELETE /v1/agents/agent-0f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f1 204",
    ]);

    insta::assert_snapshot!(coverage(&exercised, None, Colour::Plain), @"
    1 cassette, 2 endpoints, 3 answers

    DELETE /v1/agents/{agent_id}
      204                                     1 answer

    GET /v1/agents/{agent_id}
      200 application/json                    1 answer
        answer 1
      404                                     1 answer
    ");
}

#[test]
fn what_was_called_is_told_also_without_the_member_jsonrpc() {
    let mut called = interaction("POST /rpc 200 application/json");
    called.request.body = Bytes::from_static(br#"{"id":1,"method":"thread/start","params":{}}"#);
    let mut paid = interaction("POST /payments 200 application/json");
    paid.request.body = Bytes::from_static(br#"{"id":"pay-1","method":"card"}"#);
    let cassette = Cassette { interactions: vec![called, paid], ..Cassette::default() };

    let exercised = Exercised::of([(&Name::new("tape").unwrap(), &cassette)]);

    let asked = exercised.endpoints.iter().flat_map(|endpoint| &endpoint.asked);
    assert_eq!(asked.collect::<Vec<_>>(), [(&"thread/start".to_owned(), &1)]);
}

#[test]
fn operations_statuses_and_media_types_are_held_against_the_document() {
    let json = json!({"content": {"application/json": {}}});
    let paths = json!({
        "/agents": {
            "get": {"responses": {"200": json, "4XX": {"$ref": "#/components/responses/Wrong"}}},
            "post": {"responses": {"200": {"content": {"application/json": {}, "text/*": {}}}, "422": json}},
        },
        "/agents/count": {"get": {"responses": {"200": json}}},
        "/agents/{id}/": {"get": {"responses": {"200": json}}, "x-more": {}},
        "/health": {"$ref": "#/components/pathItems/Health"},
    });

    insta::assert_snapshot!(told(paths, &[
        "GET /v1/agents?limit=3 200 application/json",
        "GET /v1/agents/ 404 application/problem+json",
        "GET /agents/agent-7 200 text/html",
        "POST /v1/agents 200 text/event-stream;charset=utf-8",
        "POST /v1/agents 500",
        "GET /v1/health 503",
        "PUT /v1/agents 200",
        "GET /v1/tools 200",
    ]), @"
    of Agents 2
      operations        4 of    5   80 %
      statuses          5 of    7   71 %
      media types       3 of    7   42 %

    recorded in part
      POST   /agents
          no 200 application/json, 422
      GET    /agents/{id}/
          no 200 application/json

    not recorded
      GET    /agents/count

    recorded, not in the document
      POST   /agents -> 500  (1 answer)
      GET    /agents/{id}/ -> 200 text/html  (1 answer)
      PUT    /v1/agents  (1 answer)
      GET    /v1/tools  (1 answer)
    ");
}

#[test]
fn what_is_said_goes_before_what_is_open() {
    let responses = json!({"responses": {"200": {}}});
    let paths = json!({
        "/agents/{id}": {"get": responses},
        "/agents/count": {"get": responses},
    });
    let document = document(paths);

    let found = |path: &str| {
        let place = document.operation("GET", path).unwrap();
        document.operations[place].path.as_str()
    };

    assert_eq!(found("/v1/agents/count"), "/agents/count");
    assert_eq!(found("/v1/agents/7"), "/agents/{id}");
    assert_eq!(document.operation("GET", "/v2/agents/7"), None);
}

#[test]
fn a_document_in_yaml_says_the_same() {
    let json =
        document(json!({"/a": {"get": {"responses": {"200": {"content": {"text/plain": {}}}}}}}));
    let yaml = "\
# comment
openapi: '3.1.0'
info: {title: Agents, version: '2'}
servers:
  - url: https://api.example.com/v1
paths:
  /a:
    get:
      responses:
        200:
          content: {text/plain: {}}
";

    let yaml = Document::parse(yaml).unwrap();

    assert_eq!(yaml, json);
}

#[test]
fn references_to_other_files_are_told() {
    let paths = json!({"/a": {"$ref": "other.yaml#/a"}, "/b": {"get": {"responses": {"200": {}}}}});

    assert_eq!(document(paths).elsewhere, ["other.yaml#/a"]);
}

#[test]
fn what_is_no_document_is_refused_with_the_reason() {
    let check = |text: &str, expected: &str| {
        let error = Document::parse(text).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{text}: {error}");
    };
    check("{", "it is not JSON");
    check("a: [", "it is neither JSON nor YAML");
    check("swagger: '2.0'", "it does not say `openapi: 3…`");
    check(r#"{"openapi": "3.0.3", "paths": {}}"#, "it has no operations");
    check("", "it does not say `openapi: 3…`");
}
