//! `retape import`.

use insta::assert_snapshot;

use crate::retape::{Stage, said};

const HELLO: &str = "interactions:
- request: {method: POST, uri: 'https://api.example.com/v1/chat', headers: {}, body: 'hi'}
  response:
    status: {code: 200, message: OK}
    headers: {content-type: [application/json], content-encoding: [gzip]}
    body: {string: '{\"access_token\": \"t0k3n\"}'}
- request: {method: GET, uri: 'https://auth.example.com/', headers: {}, body: null}
  response: {status: {code: 204, message: ''}, headers: {}, body: {string: ''}}
";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("tests/cassettes/test_chat/test_hello[a:b].yaml", HELLO);
    stage.write("tests/cassettes/other.json", "{}");
    stage
}

fn import(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String) {
    let (status, _, said) = stage.run(&[&["import"], arguments].concat());
    (status, said)
}

#[test]
fn a_folder_of_vcrpy_becomes_a_folder_of_cassettes() {
    let stage = stage();

    let (status, said) = import(&stage, &["--compare", "path", "tests/cassettes"]);

    assert_eq!(status, Some(0), "{said}");
    assert_snapshot!(said, @"
    retape: imported 1 cassette from vcrpy into `cassettes`: 2 interactions
    retape:   1 cassette: asked several servers
    retape:   1 answer: had a secret that was replaced; `--as-is` keeps it
    retape:   1 answer: said to be compressed and was not: `content-encoding` is left out
    retape:   1 file: of no known format, left out: tests/cassettes/other.json
    ");
    assert_snapshot!(stage.read("cassettes/test_chat/test_hello[a-b].json"), @r#"
    {
      "retape": 2,
      "recorded": {"upstream": "https://api.example.com", "tool": "vcrpy"},
      "redactions": ["headers/1", "cookies/1", "query/1", "userinfo/1", "form/1", "multipart/1", "json/1", "assignments/1", "values/1", "harmless/1", "names/1", "looks/1", "numbers/1", "codings/1", "nested/1", "graphql/1", "texts/1", "looks/2", "nested/2", "texts/2", "keys/1", "assignments/2"],
      "match": {
        "compare": "path"
      },
      "interactions": [
        {
          "request": {
            "method": "POST",
            "path": "/v1/chat",
            "text": "hi"
          },
          "response": {
            "ms": 0,
            "status": 200,
            "headers": {
              "content-type": "application/json"
            },
            "layout": "spaced",
            "json": {"access_token": "[redacted:access_token]"},
            "end": "complete"
          }
        },
        {
          "request": {
            "method": "GET",
            "origin": "https://auth.example.com",
            "path": "/"
          },
          "response": {
            "ms": 0,
            "status": 204,
            "end": "complete"
          }
        }
      ]
    }
    "#);
}

#[test]
fn what_may_be_a_secret_and_stays_is_told_and_fails_where_nobody_looks() {
    let stage = Stage::new();
    let secret = ["Zk39fjQmmWq02Lsp", "E8vnTTy5aaB1xR7d"].concat();
    let path = format!("v1/chat;password={secret}");
    stage.write("old/a.yaml", &HELLO.replace("v1/chat", &path));

    let (status, said) = import(&stage, &["old"]);
    assert_eq!(status, Some(0), "{said}");
    let told = "1 value: may be a secret, and stays: `retape scan --cassettes cassettes` names it";
    assert!(said.contains(told) && !said.contains(&secret), "{said}");
    let ci = |arguments: &[&str]| {
        let arguments = [&["import", "--replace", "old"], arguments].concat();
        let output = stage.retape(&arguments).env("CI", "true").output().unwrap();
        output.status.code()
    };
    assert_eq!([ci(&[]), ci(&["--as-is"])], [Some(1), Some(0)]);
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_replaced() {
    let stage = stage();
    let file = "cassettes/test_chat/test_hello[a-b].json";
    import(&stage, &["tests/cassettes"]);
    let first = stage.read(file);

    let (status, said) = import(&stage, &["--as-is", "tests/cassettes"]);
    assert_eq!((status, stage.read(file)), (Some(0), first), "{said}");
    assert!(said.contains("1 cassette: there already, and stays"), "{said}");
    import(&stage, &["--as-is", "--replace", "tests/cassettes"]);
    assert!(stage.read(file).contains("t0k3n"));
}

#[test]
fn of_two_files_that_become_one_cassette_the_first_is_taken() {
    let stage = stage();
    for path in ["a.yaml", "a.yml", "b.yaml"] {
        stage.write(&format!("twice/{path}"), &HELLO.replace("v1/chat", path));
    }

    let (status, said) = import(&stage, &["--replace", "twice"]);

    assert_eq!(status, Some(0), "{said}");
    let left_out =
        "1 file: of a cassette that is there already from another file, left out: twice/a.yml";
    assert!(said.contains("imported 2 cassettes") && said.contains(left_out), "{said}");
    assert!(stage.read("cassettes/a.json").contains("/a.yaml"));
}

#[test]
fn a_file_that_cannot_be_read_fails_and_the_rest_is_imported() {
    let stage = stage();
    stage.write("tests/cassettes/broken.yaml", "interactions: [");

    let (status, said) = import(&stage, &["tests/cassettes"]);

    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("imported 1 cassette"), "{said}");
    assert!(said.contains("it is not YAML (`tests/cassettes/broken.yaml`, line 2)"), "{said}");
}

#[test]
fn what_polly_recorded_has_the_name_of_its_test() {
    let stage = Stage::new();
    let log = |name: &str| {
        format!(
            r#"{{"log": {{"creator": {{"name": "Polly.JS"}}, "_recordingName": "{name}", "entries": [
                {{"request": {{"method": "GET", "url": "http://h/{name}"}}, "response": {{"status": 200}}}}]}}}}"#
        )
    };
    stage.write("recordings/shop/chat_12/says-hello_34/recording.har", &log("chat/says hello"));
    stage.write("recordings/shop/chat_12/says-hi_56/recording.har", &log("chat/says: hi"));

    let (status, said) = import(&stage, &["recordings"]);

    assert_eq!(status, Some(0), "{said}");
    assert!(stage.read("cassettes/shop/chat/says hello.json").contains("/chat/says%20hello"));
    assert!(stage.read("cassettes/shop/chat/says_ hi-e424dfba.json").contains("/chat/says:%20hi"));
}

#[test]
fn a_file_of_no_known_tool_says_what_was_tried() {
    let stage = stage();

    let (status, said) = import(&stage, &["tests/cassettes/other.json"]);

    assert_eq!(status, Some(1));
    assert!(said.contains("not a recording of a tool that is known"), "{said}");
    assert!(said.contains("vcrpy has `interactions`"), "{said}");
}

#[test]
fn what_strict_matching_would_refuse_is_reported_field_by_field() {
    let stage = Stage::new();
    let recorded = "interactions:
- request: {method: POST, uri: 'https://h/chat', headers: {content-type: [application/json]}, body: '{\"model\": \"old\", \"messages\": [{\"content\": \"hi\"}]}'}
  response: {status: {code: 200}, headers: {}, body: {string: one}}
- request: {method: POST, uri: 'https://h/chat', headers: {content-type: [application/json]}, body: '{\"model\": \"old\", \"messages\": [{\"content\": \"ho\"}]}'}
  response: {status: {code: 200}, headers: {}, body: {string: two}}
";
    stage.write("tapes/test_chat.yaml", recorded);
    let ask = |model: &str, said: &str| {
        format!(
            "curl -s -H 'content-type: application/json' {{url}}/test_chat/-/chat \
             -d '{{\"model\": \"{model}\", \"messages\": [{{\"content\": \"{said}\"}}]}}'"
        )
    };
    let command = format!("{}; {}", ask("new", "hi"), ask("old", "ho"));

    let arguments =
        ["replay", "--cassettes", "tapes", "--report-lax", "lax.md", "--", "sh", "-c", &command];
    let output = stage.retape(&arguments).output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "onetwo");
    assert_snapshot!(stage.read("lax.md"), @r#"
    # What strict matching would refuse

    1 of 2 requests, in 1 of 1 cassettes.

    These requests were answered because method, server, path and query are as recorded. Their
    bodies or header fields are not. Each line has what was recorded, and what is asked now.

    ## What drifted

    What differs in the same requests is one item. The most frequent comes first.

    1. **1 request in 1 cassette**, such as `test_chat`, `POST /chat` (interaction 1):

       - `$.model`: `"old"` → `"new"`

    ## What to do

    This `retape.toml` compares all else strictly, in the place of `compare = "path"`. Go through its
    items. Where a field does not count, its lines stay. Where it does, take them out, and record the
    cassettes of the item again.

    ```toml
    [[cassette]]
    name = "test_chat"
    ignore = [
      # 1: 1 request in 1 cassette
      "$.model",
    ]
    ```

    ## By cassette

    ### `test_chat`

    - `POST /chat` (interaction 1)
      - `/model`: `"old"` → `"new"`
    "#);
}

#[test]
fn a_drift_of_several_cassettes_is_shown_by_the_first_from_where_it_differs() {
    let stage = Stage::new();
    let long = "x".repeat(100);
    let recorded = |said: &str| {
        format!(
            "interactions:
- request: {{method: POST, uri: 'https://h/chat', headers: {{content-type: [application/json]}}, body: '{{\"said\": \"{long} {said}\", \"n\": 1}}'}}
  response: {{status: {{code: 200}}, headers: {{}}, body: {{string: one}}}}
"
        )
    };
    stage.write("tapes/a.yaml", &recorded("anna"));
    stage.write("tapes/b.yaml", &recorded("bert"));
    let ask = |cassette: &str, said: &str, n: u8| {
        format!(
            "curl -s -H 'content-type: application/json' {{url}}/{cassette}/-/chat \
             -d '{{\"said\": \"{long} {said}\", \"n\": {n}}}'"
        )
    };
    let command = format!("{}; {}", ask("b", "berta", 2), ask("a", "anton", 1));

    let arguments =
        ["replay", "--cassettes", "tapes", "--report-lax", "lax.md", "--", "sh", "-c", &command];
    let output = stage.retape(&arguments).output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let report = stage.read("lax.md");
    let (_, items) = report.split_once("comes first.").unwrap();
    assert_snapshot!(items.split("## By cassette").next().unwrap(), @r#"
    1. **2 requests in 2 cassettes**, such as `a`, `POST /chat` (interaction 1):

       - `$.said`: `…xxxxxxxxxxxx anna"` → `…xxxxxxxxxxxx anton"`

       <details><summary>The cassettes</summary>

       `a`<br>
       `b`

       </details>

    2. **1 request in 1 cassette**, such as `b`, `POST /chat` (interaction 1):

       - `$.n`: `1` → `2`

    ## What to do

    This `retape.toml` compares all else strictly, in the place of `compare = "path"`. Go through its
    items. Where a field does not count, its lines stay. Where it does, take them out, and record the
    cassettes of the item again.

    ```toml
    [match]
    ignore = [
      # 1: 2 requests in 2 cassettes
      "$.said",
    ]

    [[cassette]]
    name = "b"
    ignore = [
      # 2: 1 request in 1 cassette
      "$.n",
    ]
    ```
    "#);
}

#[test]
#[cfg(unix)]
fn what_is_no_file_is_not_read() {
    let (status, said) = import(&Stage::new(), &["/dev/null"]);

    assert_eq!(status, Some(1));
    assert!(said.contains("it is a pipe or a device, not a file"), "{said}");
}
