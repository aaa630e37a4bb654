//! Cassettes in the formats of other tools.

use std::path::Path;

use insta::assert_snapshot;
use retape::cassette::foreign::{To, export, import};
use retape::cassette::{Content, Interaction, Outcome, Peer, Request, Response};
use retape::{Cassette, Name, store};
use serde_json::{Value, json};

use crate::stage::Stage;

fn cassette(name: &str) -> (Name, Cassette) {
    let name = Name::new(name).unwrap();
    let cassette = store::load(Path::new("cassettes"), &name).unwrap();
    (name, cassette)
}

/// The names of all cassettes below a folder, but for what is kept beside them.
fn names(folder: &Path, above: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let file = entry.file_name().into_string().unwrap();
        // The golden files hold what no address or field may have.
        if file == "compat" {
            continue;
        }
        if entry.path().is_dir() {
            found.extend(names(&entry.path(), &format!("{above}{file}/")));
        } else if let Some(stem) = file.strip_suffix(".json") {
            found.push(format!("{above}{stem}"));
        }
    }
    found
}

/// A cassette of these interactions.
fn made(interactions: &[Value]) -> (Name, Cassette) {
    let stage = Stage::with(interactions);
    (Name::new("tape").unwrap(), stage.cassette())
}

/// A request as it reads.
fn asked(cassette: &Cassette, request: &Request) -> String {
    let at = match cassette.recorded.upstream.as_str() {
        _ if request.path.contains("://") => "",
        // A program that is talked to over its standard input has no address.
        "" => "http://localhost",
        upstream => upstream,
    };
    let body = std::str::from_utf8(&request.body).unwrap_or_default();
    let fields = fields(request.headers.iter(), &["host", "expect"]);
    format!("{} {at}{}\n{fields}\n{body}", request.method, request.path)
}

/// An answer as it reads.
fn answered(response: &Response) -> String {
    let body = response.decoded().bytes();
    let fields = fields(response.headers.iter(), &["content-encoding", "content-length"]);
    let messages: Vec<(Peer, &Content)> = response
        .frames
        .iter()
        .filter(|frame| frame.message().is_some())
        .map(|frame| (frame.from, &frame.content))
        .collect();
    let reason = response.reason.as_deref().unwrap_or_default();
    format!("{} {reason}\n{fields}\n{body:?}\n{messages:?}", response.status)
}

fn fields<'a>(fields: impl Iterator<Item = (&'a str, &'a bytes::Bytes)>, but: &[&str]) -> String {
    let fields = fields.filter(|(name, _)| !but.contains(name));
    fields.map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value))).collect()
}

#[test]
fn what_is_exported_as_har_and_imported_again_reads_the_same() {
    let mut compared = 0;
    for name in names(Path::new("cassettes"), "") {
        let (name, before) = cassette(&name);
        let har = export(&[(name.clone(), before.clone())], To::Har).text;
        // What has no address, such as a session over standard input, has no place in HAR.
        let answers = |it: &&Interaction| {
            matches!(it.outcome, Outcome::Response(_))
                && it.request.headers.get("upgrade") != Some("stdio")
        };
        if before.interactions.iter().filter(answers).count() == 0 {
            continue;
        }

        let after = import(&har).unwrap_or_else(|error| panic!("{name}: {error:?}")).cassette;

        let answers: Vec<_> = before.interactions.iter().filter(answers).collect();
        assert_eq!(answers.len(), after.interactions.len(), "{name}");
        for (one, other) in answers.iter().zip(&after.interactions) {
            assert_eq!(asked(&before, &one.request), asked(&after, &other.request), "{name}");
            let [one, other] = [one, &other].map(|it| answered(it.response().unwrap()));
            assert_eq!(one, other, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn a_har_has_a_page_for_each_cassette_and_times_that_add_up() {
    let har = export(&[cassette("openai/rest"), cassette("codex/plain")], To::Har);

    let log: Value = serde_json::from_str::<Value>(&har.text).unwrap()["log"].clone();
    assert_eq!(log["pages"][1]["id"], "codex/plain");
    for entry in log["entries"].as_array().unwrap() {
        let timings = &entry["timings"];
        let sum = ["send", "wait", "receive"].map(|part| timings[part].as_u64().unwrap());
        assert_eq!(entry["time"], sum.iter().sum::<u64>());
    }
    let socket = &log["entries"].as_array().unwrap().last().unwrap()["_webSocketMessages"][0];
    assert_eq!((&socket["type"], &socket["opcode"]), (&json!("send"), &json!(1)));
}

#[test]
fn what_a_format_cannot_hold_is_counted() {
    let made = made(&[json!({
        "request": {"method": "POST", "path": "/v1", "base64": "gIE="},
        "response": {"ms": 1, "status": 200, "headers": {"content-type": "text/event-stream"},
            "stream": [{"ms": 2, "sse": {"data": "a"}}], "end": "server_closed"},
    })]);

    let lost = export(&[made], To::Har).lost;

    let lost: Vec<String> = lost.iter().map(|(what, times)| format!("{times} {what}")).collect();
    assert_snapshot!(lost.join("\n"), @"
    1 bodies that are no text (requests)
    1 that it was cut short (answers)
    1 the times of pieces (streams)
    ");
}

#[test]
fn curl_lines_are_quoted_for_a_shell() {
    let made = made(&[
        json!({
            "request": {"method": "POST", "path": "/v1/a?x[]=it's", "json": {"text": "it's @ $HOME"}},
            "response": {"status": 200, "json": []},
        }),
        json!({
            "request": {"method": "PUT", "path": "/v1/b", "base64": "gAA="},
            "response": {"status": 204},
        }),
        json!({"request": {"method": "HEAD", "path": "/v1/c"}, "response": {"status": 200}}),
    ]);

    assert_snapshot!(export(&[made], To::Curl).text, @r#"
    # tape
    curl -sS --globoff --path-as-is -X POST 'http://127.0.0.1:8283/v1/a?x[]=it'\''s' -H content-type: --data-raw '{"text":"it'\''s @ $HOME"}'
    echo gAA= | base64 -d | curl -sS --globoff --path-as-is -X PUT http://127.0.0.1:8283/v1/b -H content-type: --data-binary @-
    curl -sS --globoff --path-as-is --head http://127.0.0.1:8283/v1/c
    "#);
}

#[test]
fn the_same_request_gets_its_answers_in_turn_from_wiremock() {
    let poll = |status: &str| {
        json!({
            "request": {"method": "GET", "path": "/v1/run"},
            "response": {"status": 200, "json": {"status": status}},
        })
    };
    let made = made(&[
        poll("running"),
        poll("done"),
        json!({
            "request": {"method": "POST", "path": "https://b.test:9/v1?x=1",
                "json": {"key": "[redacted:key]", "n": 1}},
            "response": {"status": 200, "headers": {"set-cookie": ["a=1", "b=2"]}},
        }),
    ]);

    assert_snapshot!(export(&[made], To::Wiremock).text, @r#"
    {
      "mappings": [
        {
          "newScenarioState": "answer 2",
          "request": {
            "method": "GET",
            "url": "/v1/run"
          },
          "requiredScenarioState": "Started",
          "response": {
            "body": "{\"status\":\"running\"}",
            "headers": {},
            "status": 200
          },
          "scenarioName": "tape, request 1"
        },
        {
          "request": {
            "method": "GET",
            "url": "/v1/run"
          },
          "requiredScenarioState": "answer 2",
          "response": {
            "body": "{\"status\":\"done\"}",
            "headers": {},
            "status": 200
          },
          "scenarioName": "tape, request 1"
        },
        {
          "request": {
            "bodyPatterns": [
              {
                "equalToJson": {
                  "key": "${json-unit.any-string}",
                  "n": 1
                }
              }
            ],
            "host": {
              "equalTo": "b.test"
            },
            "method": "POST",
            "url": "/v1?x=1"
          },
          "response": {
            "headers": {
              "set-cookie": [
                "a=1",
                "b=2"
              ]
            },
            "status": 200
          }
        }
      ]
    }
    "#);
}

#[test]
fn a_mapping_names_its_host_and_pieces_that_go_back_in_time_take_none() {
    let made = made(&[json!({
        "request": {"method": "GET", "path": "http://[::1]:8/v1"},
        "response": {"status": 200, "headers": {"content-type": "text/event-stream"},
            "stream": [{"ms": 9, "text": "data: 1\n\n"}, {"ms": 6, "text": "data: 2\n\n"}]},
    })]);

    let mapping: Value = serde_json::from_str(&export(&[made], To::Wiremock).text).unwrap();

    let mapping = &mapping["mappings"][0];
    assert_eq!(mapping["request"]["host"]["equalTo"], "[::1]");
    assert_eq!(mapping["response"].get("chunkedDribbleDelay"), None);
}
