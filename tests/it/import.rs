//! What other tools recorded.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use retape::cassette::foreign::{Imported, import};
use retape::cassette::{Body, Interaction, Outcome, Response, format};
use retape::{Mode, Session};

use crate::support::client::{get, post};

fn imported(text: &str) -> Imported {
    import(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn interaction(text: &str) -> Interaction {
    imported(text).cassette.interactions.remove(0)
}

fn answer(text: &str) -> Response {
    interaction(text).response().unwrap().clone()
}

/// A cassette of vcrpy with one interaction.
fn vcr(request: &str, response: &str) -> String {
    format!(
        "interactions:
- request:
    method: POST
    uri: https://api.example.com/v1/chat?a=1
{request}
  response:
    status: {{code: 200, message: OK}}
{response}
version: 1
"
    )
}

const NOTHING: &str = "    headers: {}\n    body: null";

#[test]
fn bodies_of_vcrpy_are_bytes_whatever_they_are_written_as() {
    for (body, expected) in [
        ("body: {string: 'grüß'}", "grüß".as_bytes()),
        ("body: {string: !!binary 'H4sIAP8='}", b"\x1f\x8b\x08\x00\xff"),
        ("body: {string: !!python/unicode 'text'}", b"text"),
        ("body: {string: null}", b""),
        ("body: {base64_string: 'aGk='}", b"hi"),
        ("body: {encoding: UTF-8, string: ''}", b""),
        (
            "parsed_body: {a: [1, 2.50, \"é\\n\"], b: null}",
            br#"{"a": [1, 2.5, "\u00e9\n"], "b": null}"#,
        ),
    ] {
        let answer = answer(&vcr(NOTHING, &format!("    headers: {{}}\n    {body}")));
        assert_eq!(answer.body, Body::Whole(expected.into()), "{body}");
    }
}

#[test]
fn python_objects_in_a_request_are_read_and_never_executed() {
    for (body, expected) in [
        (
            "!!python/object/new:_io.BytesIO {state: !!python/tuple [!!binary 'aGk=', 0, null]}",
            "hi",
        ),
        ("!!python/object/apply:builtins.iter {args: [[!!binary 'aGk=', 'ho']]}", "hiho"),
        ("!!python/object/apply:os.system {args: ['true']}", "true"),
        ("{text: hi, n: 1}", r#"{"text": "hi", "n": 1}"#),
    ] {
        let request = format!("    headers: {{}}\n    body: {body}");
        assert_eq!(interaction(&vcr(&request, NOTHING)).request.body, expected, "{body}");
    }
}

#[test]
fn a_stream_is_cut_into_its_events() {
    let answer = answer(&vcr(
        NOTHING,
        "    headers: {Content-Type: [text/event-stream], Transfer-Encoding: [chunked]}
    body: {string: \"data: 1\\n\\ndata: 2\\n\\n\\n: end\"}",
    ));

    let chunks: Vec<&[u8]> = answer.body.chunks().iter().map(|chunk| &chunk.bytes[..]).collect();
    assert_eq!(chunks, [&b"data: 1\n\n"[..], b"data: 2\n\n\n", b": end"]);
    assert!(!answer.headers.contains("transfer-encoding"));
}

#[test]
fn a_header_that_contradicts_the_body_is_corrected() {
    let imported = imported(&vcr(
        NOTHING,
        "    headers: {Content-Encoding: [gzip], x-a: [one, two]}\n    body: {string: plain}",
    ));

    assert_eq!(imported.corrected.codings, 1);
    let answer = imported.cassette.interactions[0].response().unwrap();
    let fields: Vec<_> = answer.headers.iter().map(|(name, value)| (name, &value[..])).collect();
    assert_eq!(fields, [("x-a", &b"one"[..]), ("x-a", b"two")]);
}

#[test]
fn what_is_compressed_very_well_stays_compressed() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&b"{\"id\": 0}\n".repeat(400_000)).unwrap();
    let body = STANDARD.encode(gzip.finish().unwrap());
    let fields = "    headers: {content-encoding: [gzip]}";

    let imported =
        imported(&vcr(NOTHING, &format!("{fields}\n    body: {{string: !!binary {body}}}")));

    assert_eq!(imported.corrected.codings, 0);
    let answer = imported.cassette.interactions[0].response().unwrap();
    assert_eq!(answer.headers.get("content-encoding"), Some("gzip"));
}

#[test]
fn what_is_imported_is_written_as_the_second_version() {
    let cassette = imported(&vcr(NOTHING, NOTHING)).cassette;

    assert_eq!(cassette.recorded.tool.as_deref(), Some("vcrpy"));
    let file = format::encode(&cassette);
    assert!(file.text.starts_with("{\n  \"retape\": 2,"), "{}", file.text);
    assert_eq!(format::decode(&file.text, |_| unreachable!()).unwrap(), cassette);
}

#[test]
fn other_recorders_of_the_family_are_read_as_well() {
    let json = r#"{"http_interactions": [{"recorded_at": "2013-09-28T01:25:38",
        "request": {"method": "get", "uri": "https://h/x", "headers": {}, "body": {"encoding": "utf-8", "string": ""}},
        "response": {"status": {"code": 404, "message": "Gone Away"}, "headers": {"A": "b"}, "body": {"encoding": "utf-8", "base64_string": "aGk="}}}]}"#;
    let old = "interactions: [{request: {method: GET, uri: 'http://h/', body: '', headers: {}}, \
         response: {status_code: 201, content: hi, headers: {a: b}, http_version: HTTP/1.1}}]";

    let ruby = imported(json);
    assert_eq!(ruby.cassette.recorded.at, "2013-09-28T01:25:38Z");
    assert_eq!(ruby.cassette.recorded.tool.as_deref(), Some("VCR for Ruby"));
    assert_eq!(ruby.cassette.interactions[0].request.method, "GET");
    let answer = ruby.cassette.interactions[0].response().unwrap();
    assert_eq!((answer.status, answer.reason.as_deref()), (404, Some("Gone Away")));
    assert_eq!(answer.body.bytes(), "hi");
    let answer = self::answer(old);
    assert_eq!((answer.status, answer.body.bytes()), (201, "hi".into()));
}

#[test]
fn cassettes_of_go_vcr_are_read() {
    assert_snapshot!(told("version: 2
interactions:
    - id: 0
      request:
        proto: HTTP/1.1
        content_length: 7
        host: api.example.com
        body: '{\"a\":1}'
        form: {}
        headers:
            Content-Type: [application/json]
        url: https://api.example.com/v1/things?x=y
        method: POST
      response:
        proto: HTTP/2.0
        uncompressed: true
        body: '{\"id\":7}'
        headers:
            Content-Type: [application/json]
        status: 201 Created
        code: 201
        duration: 12ms
"), @r#"
    go-vcr https://api.example.com
    POST /v1/things?x=y {"a":1}
      201 Some("application/json") {"id":7}
    "#);
    let first = "version: 1
interactions:
- request:
    body: \"\"
    form: {}
    headers: {}
    url: http://h/gone
    method: GET
  response:
    body: never mind
    headers: {}
    status: 404 Not There
    code: 404
";
    let answer = answer(first);
    assert_eq!((answer.status, answer.reason.as_deref()), (404, Some("Not There")));
    assert_eq!(answer.body.bytes(), "never mind");
}

#[test]
fn what_is_of_no_known_format_is_told_what_was_tried() {
    for text in ["{\"a\": 1}", "name: CI", "[]", "", "interactions: [{}]"] {
        let error = format!("{:?}", import(text).unwrap_err());
        assert!(error.contains("not a recording of a tool that is known"), "{error}");
        assert!(error.contains("vcrpy has `interactions`"), "{error}");
    }
    let error = format!("{:?}", import("a: [").unwrap_err());
    assert!(error.contains("it is not YAML (line 2)"), "{error}");
}

const CHAT: &str =
    "    headers: {Content-Type: [application/json]}\n    body: '{\"text\": \"hi\"}'";
const SAID: &str = "    headers: {Content-Type: [application/json]}\n    body: {string: '{\"text\": \"hello\", \"access_token\": \"t0k\"}'}";

fn folder(rules: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("test_chat")).unwrap();
    std::fs::write(folder.path().join("test_chat/test_hello.yaml"), vcr(CHAT, SAID)).unwrap();
    std::fs::write(folder.path().join("retape.toml"), rules).unwrap();
    folder
}

async fn session(folder: &tempfile::TempDir) -> Session {
    let session = Session::builder("test_chat/test_hello").cassettes(folder.path());
    session.mode(Mode::Replay).start().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_vcrpy_is_replayed_as_it_is() {
    let folder = folder("");
    let session = session(&folder).await;

    let answer = post(&format!("{}/v1/chat?a=1", session.url()), r#"{"text":"hi"}"#);
    assert_eq!(answer.text(), "{\"text\": \"hello\", \"access_token\": \"t0k\"}");

    session.finish().await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("test_chat")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_method_and_address_count_where_that_is_said() {
    let strict = folder("");
    let strict = session(&strict).await;
    let lax = folder("[match]\ncompare = \"path\"\n");
    let lax = session(&lax).await;

    let refused = post(&format!("{}/v1/chat?a=1", strict.url()), r#"{"text": "drifted"}"#);
    assert_eq!(refused.status, 470);
    let answer = post(&format!("{}/v1/chat?a=1", lax.url()), r#"{"text": "drifted"}"#);
    assert_eq!(answer.status, 200);
    assert_eq!(post(&format!("{}/v1/chat?a=2", lax.url()), "{}").status, 470);
    assert_eq!(get(&format!("{}/v1/chat?a=1", lax.url())).status, 470);
}

/// A session that a server began with a cookie is told apart by the order alone.
#[tokio::test(flavor = "multi_thread")]
async fn where_only_addresses_count_a_cookie_does_not_repeat_the_first_answer() {
    let lax = folder("[match]\ncompare = \"path\"\n");
    let with_cookie = CHAT.replace("headers: {", "headers: {Cookie: [a=b], ");
    let second = SAID.replace("hello", "second");
    let [first, second] = [vcr(CHAT, SAID), vcr(&with_cookie, &second)];
    let both = first.replace("version: 1\n", second.trim_start_matches("interactions:\n"));
    std::fs::write(lax.path().join("test_chat/test_hello.yaml"), both).unwrap();
    let session = session(&lax).await;

    let ask = || post(&format!("{}/v1/chat?a=1", session.url()), "{}").text();

    assert!(ask().contains("hello"));
    assert!(ask().contains("second"));
}

/// The server, the line of each request with its body, and the answers.
fn told(text: &str) -> String {
    let cassette = imported(text).cassette;
    let mut told = format!(
        "{} {}\n",
        cassette.recorded.tool.as_deref().unwrap_or_default(),
        cassette.recorded.upstream
    );
    for Interaction { request, outcome, .. } in &cassette.interactions {
        let Outcome::Response(answer) = outcome else { continue };
        let asked = String::from_utf8_lossy(&request.body);
        let body = answer.body.bytes();
        let body = String::from_utf8_lossy(&body);
        told.push_str(&format!("{} {} {asked}\n", request.method, request.path));
        told.push_str(&format!(
            "  {} {:?} {body}\n",
            answer.status,
            answer.headers.get("content-type")
        ));
    }
    told
}

#[test]
fn har_is_read_and_what_was_blocked_is_left_out() {
    assert_snapshot!(told(r#"{"log": {"version": "1.2", "creator": {"name": "Firefox"}, "entries": [
        {"startedDateTime": "2026-01-01T00:00:00Z",
         "request": {"method": "POST", "url": "https://h/form?a=1", "headers": [{"name": ":authority", "value": "h"}],
                     "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "&"}]}},
         "response": {"status": 200, "statusText": "OK", "headers": [{"name": "Content-Type", "value": "text/plain"}, {"name": "content-encoding", "value": "br"}],
                      "content": {"size": 2, "encoding": "base64", "text": "aGk="}}},
        {"request": {"method": "GET", "url": "https://h/"}, "response": {"status": 0}}]}}"#), @r#"
    HAR https://h
    POST /form?a=1 a%20b=%26
      200 Some("text/plain") hi
    "#);
}

#[test]
fn polly_keeps_the_pieces_of_an_answer() {
    assert_snapshot!(told(r#"{"log": {"creator": {"name": "Polly.JS"}, "entries": [
        {"request": {"method": "GET", "url": "http://h/x", "headers": []},
         "response": {"status": 200, "headers": [], "content": {"encoding": "base64", "text": "[\"aGk=\", \"aG8=\"]"}}}]}}"#), @"
    Polly http://h
    GET /x 
      200 None hiho
    ");
}

#[test]
fn mappings_of_wiremock_are_read_if_they_are_no_patterns() {
    assert_snapshot!(told(r#"{"mappings": [
        {"request": {"method": "POST", "url": "/v1?x=1", "bodyPatterns": [{"equalToJson": {"a": [1.0, "é"]}}]},
         "response": {"status": 201, "jsonBody": {"ok": true}, "headers": {"Content-Type": "application/json"}}},
        {"request": {"method": "GET", "urlPath": "/v1", "queryParameters": {"q": {"equalTo": "a b"}}}, "response": {"base64Body": "aGk="}}]}"#), @r#"
    WireMock 
    POST /v1?x=1 {"a":[1.0,"é"]}
      201 Some("application/json") {"ok":true}
    GET /v1?q=a%20b 
      200 None hi
    "#);
    let error = import(r#"{"request": {"urlPattern": "/v1/.*"}, "response": {"status": 200}}"#);
    assert_snapshot!(format!("{:?}", error.unwrap_err()), @"
    not a recording that can be imported: the address of a mapping is a pattern in interaction 1
    hint: a cassette says what was asked, not a pattern of it: import what WireMock recorded, not what was written by hand
    ");
}

#[test]
fn a_field_of_a_mapping_may_have_several_values() {
    let mapping = r#"{"request": {"method": "GET", "url": "/"},
        "response": {"status": 200, "headers": {"Set-Cookie": ["a=1", "b=2"]}}}"#;

    let cassette = import(mapping).unwrap().cassette;

    let response = cassette.interactions[0].response().unwrap();
    let cookies: Vec<_> = response.headers.get_all("set-cookie").collect();
    assert_eq!(cookies, [&b"a=1"[..], b"b=2"]);
}

#[test]
fn whatever_cannot_be_read_is_told_with_the_number_of_its_interaction() {
    let entry = r#"{"request": {"method": "GET", "url": "/"}, "response": {"status": 200}}"#;
    let har = format!(r#"{{"log": {{"entries": [{entry}, {{"response": {{"status": 200}}}}]}}}}"#);

    let error = import(&har).unwrap_err().to_string();

    assert!(error.ends_with("in interaction 2"), "{error}");
}

#[test]
fn documents_of_httpmock_are_read() {
    assert_snapshot!(told("when:
  path: /repos
  method: GET
  query_param:
  - {name: page, value: '2'}
then:
  status: 200
  header: [{name: content-type, value: text/plain}]
  body: hi
---
when: {path: /x, method: POST, body: asked}
then: {status: 404, body: ''}
"), @r#"
    httpmock 
    GET /repos?page=2 
      200 Some("text/plain") hi
    POST /x asked
      404 None
    "#);
}

#[test]
fn definitions_of_nock_are_read() {
    assert_snapshot!(told(r#"[
        {"scope": "https://api.github.com:443", "method": "POST", "path": "/a?b=c", "body": {"x": "é"}, "status": 200,
         "response": {"ok": [1, 2.50]}, "rawHeaders": ["Content-Type", "application/json"]},
        {"scope": "https://api.github.com:443", "method": "GET", "path": "/z", "status": 200, "responseIsBinary": true, "response": "6869", "headers": {}}]"#), @r#"
    nock https://api.github.com
    POST /a?b=c {"x":"é"}
      200 Some("application/json") {"ok":[1,2.50]}
    GET /z 
      200 None hi
    "#);
}

#[test]
fn a_recorder_that_notes_no_fields_of_the_client_leaves_the_media_type_to_the_body() {
    let media = |headers: &str, body: &str| {
        let request = format!("    headers: {headers}\n    body: '{body}'");
        let interaction = interaction(&vcr(&request, "    headers: {}\n    body: {string: ok}"));
        interaction.request.headers.get("content-type").map(str::to_owned)
    };
    let form = Some("application/x-www-form-urlencoded".to_owned());

    assert_eq!(media("{}", r#"{"q": "hi"}"#).as_deref(), Some("application/json"));
    assert_eq!(media("{Authorization: [Basic x]}", "[1]").as_deref(), Some("application/json"));
    assert_eq!(media("{}", "a=1&b=x+y%20z"), form);
    assert_eq!(media("{}", "a = 1"), None);
    assert_eq!(media("{}", ""), None);
    // This one would have noted it.
    assert_eq!(media("{User-Agent: [python-requests/2]}", "[1]"), None);
    assert_eq!(media("{Content-Type: [text/plain]}", "[1]").as_deref(), Some("text/plain"));
}

#[test]
fn replays_of_google_genai_are_read() {
    assert_snapshot!(told(r#"{"replay_id": "x", "interactions": [
        {"request": {"method": "post", "url": "{MLDEV_URL_PREFIX}/models/gemini:streamGenerateContent?alt=sse", "headers": {}, "body_segments": [{"contents": []}]},
         "response": {"status_code": 200, "headers": {"Content-Type": "text/event-stream"}, "body_segments": [{"a": 1}, {"a": 2}]}},
        {"request": {"method": "post", "url": "{MLDEV_URL_PREFIX}/models/gemini:generateContent", "headers": {}, "body_segments": [{}]},
         "response": {"status_code": 200, "headers": {}, "body_segments": [{"a": 1}]}}]}"#), @r#"
    google-genai https://generativelanguage.googleapis.com
    POST /v1beta/models/gemini:streamGenerateContent?alt=sse {"contents":[]}
      200 Some("text/event-stream") data: {"a":1}

    data: {"a":2}


    POST /v1beta/models/gemini:generateContent {}
      200 Some("application/json; charset=UTF-8") {"a":1}
    "#);
}
