//! The JSON Schemas with which editors check and complete what people write.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use retape::cassette::format::{decode, encode};
use retape::config::Config;
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use crate::stage::files_below;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema(of: &str) -> (Value, Validator) {
    let text = fs::read_to_string(root().join(format!("schemas/{of}.schema.json"))).unwrap();
    let schema = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    (schema, validator)
}

#[track_caller]
fn accepted(validator: &Validator, value: &Value, what: &Path) {
    if let Err(error) = validator.validate(value) {
        panic!("{}: {error} at {}", what.display(), error.instance_path());
    }
}

#[test]
fn every_cassette_of_the_repository_is_accepted() {
    let (_, validator) = schema("cassette");
    let mut cassettes = 0;

    for file in files_below("cassettes", "json") {
        // Some hold numbers that no value can.
        let Ok(value) = serde_json::from_str::<Value>(&fs::read_to_string(&file).unwrap()) else {
            continue;
        };
        if value.get("interactions").is_some() {
            accepted(&validator, &value, &file);
            cassettes += 1;
        }
    }

    assert!(cassettes > 20, "{cassettes}");
}

#[test]
fn names_may_count_in_each_way_in_which_they_are_read() {
    let (_, validator) = schema("cassette");

    for way in ["field", "here", "once"] {
        let id = json!({"id": "red", "in": 1, "at": "/colour", "only": way, "by": "runs"});
        let request = json!({"method": "POST", "path": "/things", "text": "{\"colour\": \"red\"}"});
        let response = json!({"ms": 0, "status": 201, "headers": {}, "end": "complete"});
        let cassette = json!({
            "retape": 1,
            "ids": {"version": 1, "client": [id]},
            "interactions": [{"request": request, "response": response}],
        });
        accepted(&validator, &cassette, Path::new("a table"));
        let read = decode(&cassette.to_string(), |_| unreachable!()).unwrap();
        let written = serde_json::from_str::<Value>(&encode(&read).text).unwrap();
        assert_eq!(written["ids"], cassette["ids"]);
    }
}

#[test]
fn every_toml_of_the_repository_is_accepted() {
    let (_, validator) = schema("retape.toml");

    for file in files_below("src/message/presets", "toml") {
        accepted(&validator, &of_toml(&fs::read_to_string(&file).unwrap()), &file);
    }
    let said = "[match]\ncompare = \"path\"\nignore = [\"$.a\", \"query.b\", \"path\"]\nearly = \"given\"\n\
                patterns = [{ at = \"/a\", regex = \"x\" }]\n[[cassette]]\nname = \"a/*\"\nnot-ids = [\"/a\"]\n[diff]\nnew-fields = \"breaking\"\n\
                [redact]\nheaders = [\"x-a\"]\nquery = [\"b\"]\njson = [\"c\"]\nnot-secrets = [\"d\"]\n\
                regexes = [\"e+\", { name = \"f\", regex = \"g\" }]\nreplacement = { h = \"i\" }\n";
    Config::parse(said).unwrap();
    accepted(&validator, &of_toml(said), Path::new("said"));
}

/// The least cassette that people write: times and ends go without saying.
fn least() -> Value {
    json!({"retape": 1, "interactions": [{
        "request": {"method": "GET", "path": "/v1/agents"},
        "response": {"status": 200, "headers": {"content-type": "text/event-stream"},
            "stream": [{"ms": 5, "sse": {"data": "1"}}, {"sse": [{"data": {"a": 2}}]}]}
    }]})
}

#[test]
fn what_goes_without_saying_may_be_left_out() {
    let cassette = decode(&least().to_string(), |_| unreachable!()).unwrap();

    let answer = cassette.interactions[0].response().unwrap();
    assert_eq!((answer.ms, answer.end.as_str()), (0, "complete"));
    let times: Vec<u64> = answer.body.chunks().iter().map(|chunk| chunk.ms).collect();
    assert_eq!(times, [5, 5]);
}

#[test]
fn what_is_misspelt_is_refused_as_it_is_by_the_reader() {
    let (_, validator) = schema("cassette");
    accepted(&validator, &least(), Path::new("least"));

    for (pointer, member) in [
        ("", "interaction"),
        ("/interactions/0", "request_"),
        ("/interactions/0/request", "headerz"),
        ("/interactions/0/response", "satus"),
        ("/interactions/0/response/stream/0", "mss"),
        ("/interactions/0/response/stream/0/sse", "daten"),
    ] {
        let mut misspelt = least();
        misspelt.pointer_mut(pointer).unwrap()[member] = json!(1);
        assert!(!validator.is_valid(&misspelt), "{pointer}/{member}");
        assert!(decode(&misspelt.to_string(), |_| unreachable!()).is_err(), "{pointer}/{member}");
    }
    let mut misspelt = least();
    misspelt["interactions"][0]["response"]["end"] = json!("completed");
    assert!(!validator.is_valid(&misspelt));
}

#[test]
fn misspelt_keys_of_the_toml_are_refused_as_they_are_by_the_reader() {
    let (_, validator) = schema("retape.toml");

    for text in [
        "[matches]",
        "[match]\nignored = []",
        "[match]\nrepeats = \"never\"",
        "[match]\nignore = [\"a.b\"]",
        "[[cassette]]\nignore = []",
        "[[protocol]]\ntags = \"/a\"",
        "[diff]\nnew-field = \"breaking\"",
        "[redact]\nheader = []",
        "[redact]\nregexes = [{ name = \"a\" }]",
        "[redact]\nreplacement = { a = \"\\\"\" }",
    ] {
        assert!(!validator.is_valid(&of_toml(text)), "{text}");
        assert!(Config::parse(text).is_err(), "{text}");
    }
}

fn of_toml(text: &str) -> Value {
    table(DeTable::parse(text).unwrap().get_ref())
}

fn table(table: &DeTable<'_>) -> Value {
    let entries = table.iter().map(|(name, it)| (name.get_ref().to_string(), value(it.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value(of: &DeValue<'_>) -> Value {
    match of {
        DeValue::String(text) => json!(text),
        DeValue::Array(items) => items.iter().map(|item| value(item.get_ref())).collect(),
        DeValue::Table(inner) => table(inner),
        DeValue::Boolean(value) => json!(value),
        _ => json!(0),
    }
}
