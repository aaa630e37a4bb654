//! Contracts for other tools.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use retape::cassette::{End, Response};
use retape::contract::openapi::{Document, to_json_schema, to_open_api};
use retape::contract::{Contract, Endpoint};
use retape::message::{Framing, Messages, Protocols};
use retape::{Name, store};
use serde_json::{Value, json};

fn recorded(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes").join(folder)
}

/// All whole answers of a cassette that are JSON, with what they answer: the body, or each message.
fn answers(folder: &str, cassette: &str) -> Vec<(Endpoint, Vec<Value>)> {
    let cassette = store::load(&recorded(folder), &Name::new(cassette).unwrap()).unwrap();
    let mut answers = Vec::new();
    for interaction in &cassette.interactions {
        let Some(response) = interaction.response().filter(|it| it.end == End::Complete) else {
            continue;
        };
        let endpoint = Endpoint::of(&interaction.request, response, &HashSet::new());
        answers.push((endpoint, values(response)));
    }
    answers
}

fn values(response: &Response) -> Vec<Value> {
    let messages = Messages::of(response, &Protocols::default());
    if messages.framing == Framing::Json {
        return serde_json::from_slice(&response.readable().bytes()).into_iter().collect();
    }
    let data = messages.list.iter().filter(|message| !message.is_keep_alive());
    data.filter_map(|message| serde_json::from_str(&message.data).ok()).collect()
}

/// What an exported document says of an answer, or of one message of it.
fn schema<'d>(document: &'d Value, endpoint: &Endpoint) -> Option<&'d Value> {
    let Endpoint { method, path, status, media } = endpoint;
    let operation = &document["paths"][path][method.to_ascii_lowercase()];
    let content = &operation["responses"][status.to_string()]["content"][media];
    let item = content.pointer("/itemSchema/properties/data");
    let item = item.map(|data| data.pointer("/anyOf/1").unwrap_or(data));
    item.map(|data| &data["contentSchema"]).or_else(|| content.get("schema"))
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

/// Holds recordings against the exported document; gives back how many values were held.
fn check(folder: &str, cassettes: &[&str]) -> usize {
    let document = to_open_api(&store::contracts(&recorded(folder)).unwrap());
    let mut held = 0;
    for (endpoint, values) in cassettes.iter().flat_map(|cassette| answers(folder, cassette)) {
        let Some(schema) = schema(&document, &endpoint) else {
            assert!(values.is_empty(), "nothing is said of {endpoint}");
            continue;
        };
        let validator = validator(schema);
        for value in values {
            assert!(validator.is_valid(&value), "{endpoint}: {value}");
            let other = changed(value);
            assert!(!validator.is_valid(&other), "{endpoint}: {other}");
            held += 1;
        }
    }
    held
}

/// A value that no contract here allows.
fn changed(value: Value) -> Value {
    match value {
        Value::Object(mut members) => {
            members.insert("message_type".to_owned(), json!(7));
            members.into()
        }
        Value::Array(elements) => elements.into_iter().map(changed).chain([json!(7)]).collect(),
        _ => json!({"message_type": 7}),
    }
}

#[test]
fn what_was_recorded_is_as_the_exported_document_says() {
    let held =
        check("letta", &["errors/refusals", "hitl/return_plain", "typescript/hitl/deny_steps"]);

    assert!(held > 50, "only {held} values");
}

#[test]
fn what_another_server_said_is_as_the_exported_document_says() {
    let held = check("mcp", &["stateful", "plain", "modern"]);

    assert!(held > 50, "only {held} values");
}

#[test]
fn a_document_that_is_exported_can_be_read() {
    let contracts = store::contracts(&recorded("letta")).unwrap();
    let exported = to_open_api(&contracts);

    let document = Document::parse(&exported.to_string()).unwrap();

    let said = |it: &Contract| (it.endpoint.method.clone(), it.endpoint.path.clone());
    let operations: HashSet<_> = contracts.iter().map(said).collect();
    assert_eq!(document.operations.len(), operations.len());
    let messages = document.operation("POST", "/v1/agents/agent-7/messages").unwrap();
    let statuses = document.operations[messages].responses.iter().map(|it| it.status.as_str());
    assert_eq!(statuses.collect::<Vec<_>>(), ["200", "400", "401", "409", "429", "500", "503"]);
}

fn contracts(texts: &[&str]) -> Vec<Contract> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn paths_that_differ_in_names_only_are_one_path() {
    let exported = to_open_api(&contracts(&[
        "GET /a/{id}/b/{id} -> 200 text/plain",
        "PURGE /a/{a_id}/b/{b_id} -> 299",
    ]));

    let item = &exported["paths"]["/a/{id}/b/{id_2}"];
    let names = item["parameters"].as_array().unwrap().iter().map(|it| &it["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["id", "id_2"]);
    assert_eq!(item["get"]["responses"]["200"]["content"], json!({"text/plain": {}}));
    let purge = &item["additionalOperations"]["PURGE"]["responses"]["299"];
    assert_eq!(*purge, json!({"description": "Status 299"}));
}

#[test]
fn an_order_is_kept_where_open_api_has_no_words_for_it() {
    let exported = to_open_api(&contracts(&["\
POST /chat -> 200 text/event-stream
  order
    a+ [DONE]
  invariants
    run_id constant
  events
    object
      type: \"a\"
"]));

    let kind =
        &exported["paths"]["/chat"]["post"]["responses"]["200"]["content"]["text/event-stream"];
    assert_eq!(kind["x-retape-contract"], "order\n  a+ [DONE]\ninvariants\n  run_id constant\n");
    let data = validator(&kind["itemSchema"]);
    assert!(data.is_valid(&json!({"data": "[DONE]"})));
    assert!(!data.is_valid(&json!({"event": "a"})));
}

#[test]
fn the_items_of_a_stream_of_events_are_events() {
    let exported = to_open_api(&contracts(&[
        "GET /a -> 200 text/event-stream\n  events\n    [integer]\n",
        "GET /a -> 200 application/x-ndjson\n  events\n    [integer]\n",
    ]));

    let kinds = &exported["paths"]["/a"]["get"]["responses"]["200"]["content"];
    let item = json!({"type": "array", "items": {"type": "integer"}});
    let data = &kinds["text/event-stream"]["itemSchema"]["properties"]["data"];
    assert_eq!(data["contentSchema"], item);
    assert_eq!(kinds["application/x-ndjson"]["itemSchema"], item);
}

#[test]
fn one_contract_is_one_schema_and_several_are_definitions() {
    let texts =
        ["GET /a -> 200 application/json\n  body\n    object\n      n: integer\n", "GET /b -> 204"];
    let one = to_json_schema(&contracts(&texts));
    assert_eq!(one["title"], "GET /a -> 200 application/json");
    assert!(validator(&one).is_valid(&json!({"n": 1})));
    assert!(!validator(&one).is_valid(&json!({"n": "1"})));

    let twice = to_json_schema(&contracts(&[
        texts[0],
        "GET /a/ -> 200 application/json\n  body\n    null\n",
    ]));
    assert_eq!(twice["$defs"]["GET-a-200"]["title"], one["title"]);
    assert_eq!(twice["$defs"]["GET-a-200-2"]["type"], "null");
}
