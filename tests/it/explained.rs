//! How a miss is explained, case by case.

use std::io::Write as _;

use insta::assert_snapshot;
use retape::Mode;
use retape::config::{Repeats, Rules};

use crate::stage::{Stage, without_test};
use crate::support::client::{ask, get, post, reply, split};
use crate::support::wire::Wire;

/// A server's word and two that it never said.
const ISSUED: &str = "toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0";
const OTHER: &str = "toolu_0b44c1e837a24fd992f1fd5b1ee5aaaa";
const MINTED: &str = "11111111-37a2-4fd9-92f1-fd5b1ee5a5f0";
const AGAIN: &str = "22222222-37a2-4fd9-92f1-fd5b1ee5a5f0";

/// A cassette of these interactions, each `(method, path, content type, body, answer)`.
fn stage(interactions: &[(&str, &str, &str, &str, &str)]) -> Stage {
    let told: Vec<_> = interactions
        .iter()
        .map(|(method, path, media, body, answer)| {
            serde_json::json!({
                "request": {
                    "method": method,
                    "path": path,
                    "headers": {"content-type": media},
                    "text": body,
                },
                "response": {"ms": 1, "status": 200, "text": answer, "end": "complete"},
            })
        })
        .collect();
    Stage::with(&told)
}

const JSON: &str = "application/json";

/// What the last of these requests is answered, each `METHOD path body`.
async fn answers(stage: &Stage, media: &str, asks: &[(&str, &str, &str)]) -> String {
    let session = stage.replay().await;
    let mut answer = String::new();
    for (method, path, body) in asks {
        let fields = format!("Content-Type: {media}\r\n");
        let reply = ask(method, &format!("{}{path}", session.url()), &fields, body);
        answer = reply.text();
    }
    session.stop().await.unwrap();
    assert!(answer.lines().all(|line| line.chars().count() <= 78 || is_command(line)), "{answer}");
    shown(&answer)
}

/// An explanation with a word for the last hint, which `misses.rs` shows in full.
fn shown(explanation: &str) -> String {
    let again = "hint: if the client is meant to ask this now, record it again:\n  \
         RETAPE_MODE=record RETAPE_UPSTREAM=http://127.0.0.1:8283 cargo test NAME\n  \
         (without `.mode(…)` in the test)";
    without_test(explanation).replace(again, "hint: record it again")
}

fn is_command(line: &str) -> bool {
    line.starts_with("  RETAPE_MODE=record ")
}

/// What is answered where one JSON body was recorded and another is asked.
async fn body(recorded: &str, asked: &str) -> String {
    let stage = stage(&[("POST", "/v1/agents", JSON, recorded, "{}")]);
    answers(&stage, JSON, &[("POST", "/v1/agents", asked)]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_at_an_address_of_many_calls_is_named() {
    let rpc = |method: &str, name: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"{name}"}}}}"#)
    };
    let operation = |name: &str, first: usize| {
        let query = format!("query {name} {{ a }}");
        format!(r#"{{"operationName":"{name}","query":"{query}","variables":{{"first":{first}}}}}"#)
    };
    let stage = stage(&[
        ("POST", "/mcp", JSON, &rpc("tools/call", "add"), "{}"),
        ("POST", "/graphql", JSON, &operation("Tasks", 1), "{}"),
    ]);

    let call = answers(&stage, JSON, &[("POST", "/mcp", &rpc("tools/call", "sub"))]).await;
    let asked = answers(&stage, JSON, &[("POST", "/graphql", &operation("Tasks", 2))]).await;
    let other = answers(&stage, JSON, &[("POST", "/graphql", &operation("Users", 1))]).await;

    assert!(call.contains("has no answer to\n  POST /mcp (`tools/call`)\n"), "{call}");
    assert!(asked.contains("has no answer to\n  POST /graphql (`Tasks`)\n"), "{asked}");
    assert!(other.contains("nothing was recorded that calls `Users`; there is"), "{other}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_approval_names_what_the_server_issued() {
    let approval =
        |id: &str| format!(r#"{{"approvals":[{{"tool_call_id":"{id}","approve":true}}]}}"#);
    let stage = stage(&[
        ("POST", "/v1/ask", JSON, "{}", &format!(r#"{{"tool_call_id":"{ISSUED}"}}"#)),
        ("POST", "/v1/ask", JSON, r#"{"more":1}"#, &format!(r#"{{"tool_call_id":"{OTHER}"}}"#)),
        ("POST", "/v1/approve", JSON, &approval(ISSUED), "{}"),
    ]);

    let random =
        answers(&stage, JSON, &[("POST", "/v1/approve", &approval(&format!("call_{AGAIN}")))])
            .await;
    let mixed_up = answers(&stage, JSON, &[("POST", "/v1/approve", &approval(OTHER))]).await;

    assert_snapshot!(random, @r#"
    `tape` (3 interactions) has no answer to
      POST /v1/approve
    the nearest is interaction 3 (not played yet, 83 % alike)
    1 field differs (- recorded, + asked):
      /approvals/0/tool_call_id
        - "toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0"
        + "call_22222222-37a2-4fd9-92f1-fd5b1ee5a5f0"
        the server issued `toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0` in
        interaction 1
    hint: record it again
    "#);
    assert_snapshot!(mixed_up, @r#"
    `tape` (3 interactions) has no answer to
      POST /v1/approve
    the nearest is interaction 3 (not played yet, 83 % alike)
    1 field differs (- recorded, + asked):
      /approvals/0/tool_call_id
        - "toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0"
        + "toolu_0b44c1e837a24fd992f1fd5b1ee5aaaa"
        the server issued `toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0` in
        interaction 1; the asked one is what it issued in interaction 2
    hint: record it again
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_has_issued_nothing() {
    let cancel = |id: &str| format!(r#"{{"event_id":{id}}}"#);
    let issued = format!("\"{ISSUED}\"");
    let answer = format!(r#"{{"key":null,"parent_id":null,"event_id":{issued}}}"#);
    for (recorded, asked) in [(&*issued, "null"), ("null", &*issued)] {
        let stage = stage(&[
            ("POST", "/join", JSON, "{}", &answer),
            ("POST", "/cancel", JSON, &cancel(recorded), "{}"),
        ]);
        let text = answers(&stage, JSON, &[("POST", "/cancel", &cancel(asked))]).await;

        assert!(!text.contains("the asked one is what"), "{text}");
        assert!(!text.contains("issued `null`"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_with_another_id_names_the_segment() {
    let made = format!(r#"{{"id":"agent-{MINTED}"}}"#);
    let path = |id: &str| format!("/v1/agents/agent-{id}/messages?limit=2&order=asc");
    let stage =
        stage(&[("POST", "/v1/agents", JSON, "{}", &made), ("GET", &path(MINTED), JSON, "", "[]")]);

    let text = answers(&stage, JSON, &[("GET", &path(AGAIN).replace("=2", "=3"), "")]).await;

    assert_snapshot!(text, @r#"
    `tape` (2 interactions) has no answer to
      GET /v1/agents/agent-2222…a5f0/messages?limit=3&order=asc
    the nearest is interaction 2 (not played yet, 71 % alike)
      GET /v1/agents/agent-1111…a5f0/messages?limit=2&order=asc
    2 fields differ (- recorded, + asked):
      path.3
        - agent-11111111-37a2-4fd9-92f1-fd5b1ee5a5f0
        + agent-22222222-37a2-4fd9-92f1-fd5b1ee5a5f0
        the server issued `agent-11111111-37a2-4fd9-92f1-fd5b1ee5a5f0` in
        interaction 1
      query.limit
        - 2
        + 3
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["query.limit"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hint_names_what_else_differs_too() {
    let both = body(r#"{"note":"one","kind":"a"}"#, r#"{"note":"two","kind":"a","size":3}"#).await;
    let new = body(r#"{"kind":"a"}"#, r#"{"kind":"a","size":3}"#).await;

    assert!(both.contains(r#"ignore = ["$.note", "$.size"]"#), "{both}");
    // A new field alone is another request.
    assert!(!new.contains("ignore ="), "{new}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_word_is_shown_with_what_stands_around_it() {
    let said = |word: &str| {
        let before = "Please call the get_secret_code_tool, and tell me what it says. ".repeat(3);
        format!(
            r#"{{"messages":[{{"role":"user","content":"{before}The text is 'hello {word}'. {before}"}}]}}"#
        )
    };

    assert_snapshot!(body(&said("world"), &said("moon")).await, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 83 % alike)
    1 field differs (- recorded, + asked):
      /messages/0/content
        - …The text is 'hello world'. Please call the get_secret_code_tool,…
        + …The text is 'hello moon'. Please call the get_secret_code_tool,…
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["$.messages[*].content"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_of_many_lines_is_shown_by_its_lines() {
    let said = |word: &str| {
        let lines: Vec<String> = (1..40).map(|number| format!("line {number}")).collect();
        let text = lines.join("\n").replace("line 20", word);
        serde_json::json!({"system": text}).to_string()
    };

    assert_snapshot!(body(&said("line 20"), &said("another")).await, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 80 % alike)
    1 field differs (- recorded, + asked):
      /system
          line 19
        - line 20
        + another
          line 21
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["$.system"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_too_many_and_fields_too_few_are_told() {
    let recorded = r#"{"name":"ada","limit":1.0,"a/b":{"c":null},"old":[1,2]}"#;
    let asked = r#"{"new":{"x":"y"},"a/b":{"c":0},"limit":1,"name":7}"#;

    assert_snapshot!(body(recorded, asked).await, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 45 % alike)
    4 fields differ (- recorded, + asked):
      /name
        - "ada"
        + 7
        a string was recorded, this is a number
      /a~1b/c
        - null
        + 0
        null was recorded, this is a number
      /old
        - [1,2]
        missing: only the recording has it
      /new
        + {"x":"y"}
        the recording has no such field
    hint: record it again
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_number_is_told_and_its_spelling_is_none() {
    let text = body(r#"{"b":[1e2,{"t":0.70}],"a":1}"#, r#"{"a":1.0,"b":[100,{"t":0.8}]}"#).await;

    assert_snapshot!(text, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 85 % alike)
    1 field differs (- recorded, + asked):
      /b/1/t
        - 0.70
        + 0.8
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["$.b[*].t"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_that_is_put_in_is_one_difference() {
    let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let list = |texts: &[&str]| {
        let messages: Vec<String> = texts.iter().map(|text| message(text)).collect();
        format!(r#"{{"messages":[{}]}}"#, messages.join(","))
    };
    let recorded = list(&["one", "two", "three", "four"]);

    let put_in = body(&recorded, &list(&["one", "new", "two", "three", "four"])).await;
    let mixed = body(&recorded, &list(&["one", "three", "two", "four"])).await;

    assert_snapshot!(put_in, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 80 % alike)
    1 field differs (- recorded, + asked):
      /messages/1
        + {"role":"user","content":"new"}
        the recording has no such field
    hint: record it again
    "#);
    assert_snapshot!(mixed, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 80 % alike)
    1 field differs (- recorded, + asked):
      /messages
        - …"},{"role":"user","content":"two"},{"role":"user","content":"three"},{…
        + …"},{"role":"user","content":"three"},{"role":"user","content":"two"},{…
        the elements are the same, in another order
    hint: record it again
    hint: if its order means nothing, let it not count, in retape.toml:
      [match]
      unordered = ["$.messages"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_very_many_fields_the_first_are_shown() {
    let list = |from: usize| {
        let fields = (0..300).map(|number| format!("\"f{number:03}\":{}", number + from));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    };

    let text = body(&list(0), &list(1000)).await;

    assert_eq!(text.matches("\n    - ").count(), 12, "{text}");
    assert!(text.contains("300 fields differ"), "{text}");
    assert!(text.contains("\n  and 288 more fields\n"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_was_never_recorded_is_answered_with_those_that_were() {
    let stage = stage(&[
        ("GET", "/v1/agents?limit=1", JSON, "", "[]"),
        ("GET", &format!("/v1/agents/agent-{MINTED}"), JSON, "", "{}"),
        ("GET", &format!("/v1/agents/agent-{AGAIN}"), JSON, "", "{}"),
        ("POST", "/v1/agents", JSON, "{}", "{}"),
    ]);

    assert_snapshot!(answers(&stage, JSON, &[("GET", "/v1/models/", "")]).await, @"
    `tape` (4 interactions) has no answer to
      GET /v1/models/
    nothing like it was recorded; with GET there is
      GET /v1/agents (interaction 1)
      GET /v1/agents/agent-11111111-37a2-4fd9-92f1-fd5b1ee5a5f0 (interaction 2)
    hint: record it again
    ");
    assert_snapshot!(answers(&stage, JSON, &[("PATCH", "/other", r#"{"a":1}"#)]).await, @"
    `tape` (4 interactions) has no answer to
      PATCH /other
    nothing was recorded with PATCH; there is
      POST /v1/agents (interaction 4)
      GET /v1/agents (interaction 1)
      GET /v1/agents/agent-11111111-37a2-4fd9-92f1-fd5b1ee5a5f0 (interaction 2)
    hint: record it again
    ");
    assert_snapshot!(answers(&stage, JSON, &[("DELETE", "/v1/agents", "")]).await, @"
    `tape` (4 interactions) has no answer to
      DELETE /v1/agents
    the nearest is interaction 1 (not played yet, 75 % alike)
      GET /v1/agents?limit=1
    1 field differs (- recorded, + asked):
      method
        - GET
        + DELETE
    hint: record it again
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_the_client_called_otherwise_before_is_told() {
    let message = |id: &str, text: &str| format!(r#"{{"otid":"{id}","text":"{text}"}}"#);
    let (one, two) = (message(MINTED, "one"), message(MINTED, "two"));
    let stage = stage(&[("POST", "/m", JSON, &one, "{}"), ("POST", "/m", JSON, &two, "{}")]);
    let live = ["33333333", "44444444"].map(|it| format!("{it}-37a2-4fd9-92f1-fd5b1ee5a5f0"));

    let first = message(&live[0], "one");
    let renamed = message(&live[1], "two");
    let text = answers(&stage, JSON, &[("POST", "/m", &first), ("POST", "/m", &renamed)]).await;
    let again = message(&live[1], "one");
    let repeated = answers(&stage, JSON, &[("POST", "/m", &first), ("POST", "/m", &again)]).await;

    assert_snapshot!(text, @r#"
    `tape` (2 interactions) has no answer to
      POST /m
    the nearest is interaction 2 (not played yet)
    1 field differs (- recorded, + asked):
      /otid
        - "11111111-37a2-4fd9-92f1-fd5b1ee5a5f0"
        + "44444444-37a2-4fd9-92f1-fd5b1ee5a5f0"
        this client called it `33333333-37a2-4fd9-92f1-fd5b1ee5a5f0` before
        (first seen in interaction 1)
    hint: if several tests share this cassette, give each one of its own: the
      base address `URL/NAME/-` names it
    hint: a client that begins anew asks under another name (`~2` behind the
      cassette's) or resets the run (`POST /-/retape/reset`)
    hint: record it again
    "#);
    assert_snapshot!(repeated, @r#"
    `tape` (2 interactions) has no answer to
      POST /m
    the nearest is interaction 1 (played before)
    1 field differs (- recorded, + asked):
      /otid
        - "11111111-37a2-4fd9-92f1-fd5b1ee5a5f0"
        + "44444444-37a2-4fd9-92f1-fd5b1ee5a5f0"
        this client called it `33333333-37a2-4fd9-92f1-fd5b1ee5a5f0` before
        (first seen in interaction 1)
    hint: if several tests share this cassette, give each one of its own: the
      base address `URL/NAME/-` names it
    hint: a client that begins anew asks under another name (`~2` behind the
      cassette's) or resets the run (`POST /-/retape/reset`)
    hint: record it again
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_and_a_time_that_change_places_are_told() {
    let named = |id: &str| format!(r#"{{"run":"{id}"}}"#);
    let list = |one: &str, two: &str| format!(r#"{{"of":["{one}","{two}"]}}"#);
    let (recorded, time) = (list(MINTED, "2026-11-21T09:16:45Z"), "2026-11-22T10:00:00Z");
    let stage = stage(&[
        ("POST", "/runs", JSON, &named(MINTED), "{}"),
        ("POST", "/lists", JSON, &recorded, "{}"),
    ]);
    let turned = list(time, AGAIN);

    let asks = [("POST", "/runs", &*named(AGAIN)), ("POST", "/lists", &turned)];
    let text = answers(&stage, JSON, &asks).await;

    assert_snapshot!(text, @r#"
    `tape` (2 interactions) has no answer to
      POST /lists
    the nearest is interaction 2 (not played yet)
    1 field differs (- recorded, + asked):
      /of/0
        - "11111111-37a2-4fd9-92f1-fd5b1ee5a5f0"
        + "2026-11-22T10:00:00Z"
        this client called it `22222222-37a2-4fd9-92f1-fd5b1ee5a5f0` before
        (first seen in interaction 1)
    hint: if several tests share this cassette, give each one of its own: the
      base address `URL/NAME/-` names it
    hint: a client that begins anew asks under another name (`~2` behind the
      cassette's) or resets the run (`POST /-/retape/reset`)
    hint: record it again
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_names_in_one_text_are_no_conflict() {
    let live = ["33333333", "44444444"].map(|it| format!("{it}-37a2-4fd9-92f1-fd5b1ee5a5f0"));
    let of = |one: &str, two: &str, text: &str| {
        format!(r#"{{"a":"{two}","text":"{text}","url":"http://x/{one}/{two}"}}"#)
    };

    let text = body(&of(MINTED, AGAIN, "hello"), &of(&live[0], &live[1], "hullo")).await;

    assert!(text.contains("1 field differs") && text.contains("/text"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_gave_is_told_though_it_does_not_look_like_an_identifier() {
    let stage = stage(&[
        ("POST", "/orders", JSON, r#"{"qty":1}"#, r#"{"id":1042,"qty":1}"#),
        ("GET", "/orders", JSON, "", "data: {\"next\":{\"cursor\":\"Yzox\"}}\n\ndata: [DONE]\n\n"),
        ("GET", "/orders?after=Yzox&limit=1042&n=1", JSON, "", "{}"),
        ("POST", "/payments", JSON, r#"{"order":1042,"qty":1}"#, "{}"),
    ]);

    let orders = answers(&stage, JSON, &[("GET", "/orders?after=Yzoy&limit=1042&n=2", "")]).await;
    let payment = r#"{"order":1043,"qty":1}"#;
    let payments = answers(&stage, JSON, &[("POST", "/payments", payment)]).await;

    assert_snapshot!(orders, @r#"
    `tape` (4 interactions) has no answer to
      GET /orders?after=Yzoy&limit=1042&n=2
    the nearest is interaction 3 (not played yet, 60 % alike)
      GET /orders?after=Yzox&limit=1042&n=1
    2 fields differ (- recorded, + asked):
      query.after
        - Yzox
        + Yzoy
        the server gave the recorded one in interaction 2 (`/next/cursor`)
      query.n
        - 1
        + 2
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["query.n"]
    "#);
    assert!(
        payments.contains("the server gave the recorded one in interaction 1 (`/id`)"),
        "{payments}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_gave_is_told_also_of_a_word_in_a_text_and_of_one_that_comes_twice() {
    let two = |one: &str, other: &str| format!(r#"{{"text":"{one} and {other}"}}"#);
    let stage = stage(&[
        ("POST", "/jobs", JSON, "{}", r#"{"text":"see /jobs/task-wpx03?full"}"#),
        ("POST", "/runs", JSON, "{}", &format!("your call is {ISSUED}")),
        ("GET", "/jobs/task-wpx03/state", JSON, "", "{}"),
        ("POST", "/stop", JSON, &two(ISSUED, ISSUED), "{}"),
    ]);

    let word = answers(&stage, JSON, &[("GET", "/jobs/task-olen8/state", "")]).await;
    let twice = answers(&stage, JSON, &[("POST", "/stop", &two(ISSUED, OTHER))]).await;

    let given = "the server gave the recorded one in interaction 1 (`/text`)";
    assert!(word.contains(given), "{word}");
    assert!(twice.contains("issued") && twice.contains("in interaction 2"), "{twice}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_otherwise_in_json_in_a_part_is_told() {
    let part = |name: &str, id: &str| {
        let value = if name == "json" { format!(r#"{{"of":"{id}"}}"#) } else { id.to_owned() };
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let form =
        |one: &str, other: &str| format!("{}{}--b--\r\n", part("text", one), part("json", other));
    let media = "multipart/form-data; boundary=b";
    let issued = ("POST", "/a", media, "", r#"{"call":"CALL"}"#.replace("CALL", ISSUED));
    let stage = stage(&[
        (issued.0, issued.1, issued.2, issued.3, &issued.4),
        ("POST", "/m", media, &form(MINTED, MINTED), "{}"),
        ("POST", "/n", media, &form("hi", ISSUED), "{}"),
    ]);
    let live = ["33333333", "44444444"].map(|it| format!("{it}-37a2-4fd9-92f1-fd5b1ee5a5f0"));

    let otherwise = answers(&stage, media, &[("POST", "/m", &form(&live[0], &live[1]))]).await;
    let wrong = answers(&stage, media, &[("POST", "/n", &form("hi", OTHER))]).await;

    assert!(
        otherwise.contains("1 field differs") && otherwise.contains("part.json"),
        "{otherwise}"
    );
    assert!(
        otherwise.contains(&format!("this client called it `{}` before", live[0])),
        "{otherwise}"
    );
    assert!(wrong.contains("part.json") && wrong.contains("issued"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn that_a_body_is_compressed_is_no_difference() {
    let stage = stage(&[("POST", "/m", JSON, r#"{"text":"hello"}"#, "{}")]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(br#"{"text":"hullo"}"#).unwrap();
    let body = encoder.finish().unwrap();
    let session = stage.replay().await;
    let url = format!("{}/m", session.url());

    let (address, path) = split(&url);
    let mut wire = Wire::connect(address);
    wire.send(format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {JSON}\r\nContent-Encoding: gzip\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    ));
    wire.send(body);
    let text = reply(&mut wire, "POST").text();
    session.stop().await.unwrap();

    assert!(text.contains("1 field differs") && text.contains("/text"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_value_for_two_things_is_told() {
    let pair = |one: &str, other: &str| format!(r#"{{"one":"{one}","other":"{other}"}}"#);
    let stage = stage(&[("POST", "/m", JSON, &pair(MINTED, AGAIN), "{}")]);
    let live = "33333333-37a2-4fd9-92f1-fd5b1ee5a5f0";

    let text = answers(&stage, JSON, &[("POST", "/m", &pair(live, live))]).await;

    assert_snapshot!(text, @r#"
    `tape` (1 interaction) has no answer to
      POST /m
    the nearest is interaction 1 (not played yet)
    1 field differs (- recorded, + asked):
      /other
        - "22222222-37a2-4fd9-92f1-fd5b1ee5a5f0"
        + "33333333-37a2-4fd9-92f1-fd5b1ee5a5f0"
        this client uses it already for what was recorded as
        `11111111-37a2-4fd9-92f1-fd5b1ee5a5f0`
    hint: if several tests share this cassette, give each one of its own: the
      base address `URL/NAME/-` names it
    hint: a client that begins anew asks under another name (`~2` behind the
      cassette's) or resets the run (`POST /-/retape/reset`)
    hint: record it again
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_looks_minted_comes_with_the_line_that_lets_it_not_count() {
    let of = |build: &str| format!(r#"{{"messages":[{{"build":"{build}","text":"hello"}}]}}"#);

    let text = body(&of("nightly-20261120"), &of("nightly-20261121")).await;

    assert_snapshot!(text, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 83 % alike)
    1 field differs (- recorded, + asked):
      /messages/0/build
        - "nightly-20261120"
        + "nightly-20261121"
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["$.messages[*].build"]
    "#);
}

/// To let it not count would give the client the recorded one back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_looks_minted_and_comes_back_is_to_be_called_an_identifier() {
    let of = |word: &str| format!(r#"{{"ref":"{word}"}}"#);
    let stage = stage(&[("POST", "/jobs", JSON, &of("7fbMoasvahVm"), &of("7fbMoasvahVm"))]);

    let text = answers(&stage, JSON, &[("POST", "/jobs", &of("mEgo62OltTVR"))]).await;

    assert_snapshot!(text, @r#"
    `tape` (1 interaction) has no answer to
      POST /jobs
    the nearest is interaction 1 (not played yet, 75 % alike)
    1 field differs (- recorded, + asked):
      /ref
        - "7fbMoasvahVm"
        + "mEgo62OltTVR"
    hint: record it again
    hint: if the client makes it up, say so, in retape.toml:
      [match]
      ids = ["$.ref"]
    "#);

    let rules = Rules::default().id("$.ref").unwrap();
    let session = stage.session(Mode::Replay).rules(rules).start().await.unwrap();
    let reply = post(&format!("{}/jobs", session.url()), &of("mEgo62OltTVR"));
    assert_eq!(reply.text(), of("mEgo62OltTVR"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_field_is_told_where_it_counts() {
    let stage = stage(&[("POST", "/v1/run", JSON, r#"{"a":1}"#, "{}")]);
    let session = stage.replay().await;

    let fields = "Content-Type: application/json; charset=utf-8\r\nAccept: text/event-stream\r\n\
                  User-Agent: other/2\r\nLast-Event-ID: 17\r\n";
    let reply = ask("POST", &format!("{}/v1/run", session.url()), fields, r#"{"a":1}"#);
    let miss = session.misses().remove(0);
    session.stop().await.unwrap();

    assert_eq!(reply.status, 470);
    assert_snapshot!(shown(&miss.explanation), @"
    `tape` (1 interaction) has no answer to
      POST /v1/run
    the nearest is interaction 1 (not played yet, 62 % alike)
    2 fields differ (- recorded, + asked):
      header.accept
        + text/event-stream
        the recording has no such field
      header.last-event-id
        + 17
        the recording has no such field
    hint: record it again
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_free_is_not_told_beside_what_counts() {
    let asked = |id: &str, at: &str, text: &str, tools: &str| {
        format!(
            r#"{{"otid":"{id}","request_id":"{id}","sent_at":"{at}","tools":[{tools}],"text":"{text}"}}"#
        )
    };
    let recorded = asked(MINTED, "2026-11-20T10:00:00Z", "hello", r#""a","b""#);

    let text = body(&recorded, &asked(AGAIN, "2026-11-21T10:00:00Z", "hullo", r#""b","a""#)).await;

    assert_snapshot!(text, @r#"
    `tape` (1 interaction) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 90 % alike)
    1 field differs (- recorded, + asked):
      /text
        - "hello"
        + "hullo"
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["$.text"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_free_in_a_query_a_form_or_a_part_is_not_told_either() {
    /// The places that are told.
    fn places(text: &str) -> Vec<&str> {
        let fields = text.lines().skip_while(|line| !line.contains("differ"));
        let fields = fields.take_while(|line| !line.starts_with("hint"));
        fields.skip(1).filter(|line| line.find(|c| c != ' ') == Some(2)).map(str::trim).collect()
    }
    let told = async |media: [&str; 2], recorded: [&str; 2], asked: [&str; 2]| {
        let stage = stage(&[("POST", recorded[0], media[0], recorded[1], "{}")]);
        answers(&stage, media[1], &[("POST", asked[0], asked[1])]).await
    };

    let form = "application/x-www-form-urlencoded";
    let query = told(
        [form, form],
        ["/x?request_id=one-1&n=1", "nonce=ab&text=hello"],
        ["/x?request_id=two-2&n=2", "nonce=cd&text=hullo"],
    )
    .await;
    assert_eq!(places(&query), ["query.n", "form.text"], "{query}");

    let upload = |boundary: &str, id: &str, file: &str, text: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"meta\"\r\n\r\n\
             {{\"request_id\": \"{id}\", \"text\": \"{text}\"}}\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file}\"\r\n\
             Content-Type: text/{boundary}\r\n\r\nhello\r\n--{boundary}--\r\n"
        )
    };
    let media = ["multipart/form-data; boundary=one", "multipart/form-data; boundary=two"];
    let recorded = upload("one", "one-1", "a.txt", "same");
    for (asked, expected) in [
        (upload("two", "two-2", "b.txt", "same"), vec!["part.file.filename"]),
        (upload("two", "two-2", "a.txt", "other"), vec!["part.meta/text"]),
    ] {
        let told = told(media, ["/x", &recorded], ["/x", &asked]).await;
        assert_eq!(places(&told), expected, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_is_one_only_by_its_name_is_told_as_one() {
    let message = |id: &str, text: &str| format!(r#"{{"otid":"{id}","text":"{text}"}}"#);
    let (one, two) = (message("msg-1", "one"), message("msg-1", "two"));
    let stage = stage(&[("POST", "/m", JSON, &one, "{}"), ("POST", "/m", JSON, &two, "{}")]);

    let asks =
        [("POST", "/m", &*message("msg-7", "one")), ("POST", "/m", &message("msg-8", "two"))];
    let text = answers(&stage, JSON, &asks).await;

    assert_snapshot!(text, @r#"
    `tape` (2 interactions) has no answer to
      POST /m
    the nearest is interaction 2 (not played yet)
    1 field differs (- recorded, + asked):
      /otid
        - "msg-1"
        + "msg-8"
        this client called it `msg-7` before (first seen in interaction 1)
    hint: if several tests share this cassette, give each one of its own: the
      base address `URL/NAME/-` names it
    hint: a client that begins anew asks under another name (`~2` behind the
      cassette's) or resets the run (`POST /-/retape/reset`)
    hint: record it again
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_repeated_and_what_comes_too_early_is_told() {
    let stage = stage(&[
        ("POST", "/v1/one", JSON, "{}", "{}"),
        ("GET", "/v1/two", JSON, "", "{}"),
        ("GET", "/v1/three", JSON, "", "{}"),
    ]);
    let missed = async |repeats, asks: &[&str]| {
        let rules = Rules::default().repeats(repeats);
        let session = stage.session(Mode::Replay).rules(rules).start().await.unwrap();
        asks.iter().for_each(|path| drop(get(&format!("{}{path}", session.url()))));
        let miss = session.misses().remove(0);
        session.stop().await.unwrap();
        let told = miss.explanation.lines().take_while(|line| !line.starts_with("hint: if"));
        told.collect::<Vec<_>>().join("\n")
    };

    let again = missed(Repeats::Once, &["/v1/two", "/v1/two"]).await;
    let early = missed(Repeats::Strict, &["/v1/three"]).await;

    assert_snapshot!(again, @"
    `tape` (3 interactions) has no answer to
      GET /v1/two
    the nearest is interaction 2 (played before)
    it asks the very same, but was played already, and `repeats` lets no answer
    be given again
    ");
    assert_snapshot!(early, @"
    `tape` (3 interactions) has no answer to
      GET /v1/three
    the nearest is interaction 3 (not played yet)
    it asks the very same, but `repeats` keeps the recorded order, and
    interaction 1 comes first: POST /v1/one
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_ends_with_a_nul_is_told_as_a_text() {
    let stage = stage(&[("POST", "/x", "text/plain", "SEND\nto:/a\nm1\0", "{}")]);

    let text = answers(&stage, "text/plain", &[("POST", "/x", "SEND\nto:/a\nzz\0")]).await;

    assert_snapshot!(text, @r"
    `tape` (1 interaction) has no answer to
      POST /x
    the nearest is interaction 1 (not played yet, 75 % alike)
    1 field differs (- recorded, + asked):
      body
          to:/a
        - m1\u0000
        + zz\u0000
    hint: record it again
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_forms_and_bytes_are_told_as_what_they_are() {
    let check = async |media: &str, recorded: &str, asked: &str| {
        let stage = stage(&[("POST", "/x", media, recorded, "{}")]);
        answers(&stage, media, &[("POST", "/x", asked)]).await
    };

    assert_snapshot!(check("text/plain", "one\ntwo\nthree", "one\n2\nthree").await, @"
    `tape` (1 interaction) has no answer to
      POST /x
    the nearest is interaction 1 (not played yet, 75 % alike)
    1 field differs (- recorded, + asked):
      body
          one
        - two
        + 2
          three
    hint: record it again
    ");
    let form = "application/x-www-form-urlencoded";
    assert_snapshot!(check(form, "a=1&b=two+words&b=3", "b=2&a=1").await, @r#"
    `tape` (1 interaction) has no answer to
      POST /x
    the nearest is interaction 1 (not played yet, 66 % alike)
    2 fields differ (- recorded, + asked):
      form.b
        - two words
        + 2
      form.b
        - 3
        missing: only the recording has it
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["form.b"]
    "#);
    let bytes = ("\0one \u{1}two", "\0one \u{2}2");
    assert_snapshot!(check("application/octet-stream", bytes.0, bytes.1).await, @r#"
    `tape` (1 interaction) has no answer to
      POST /x
    the nearest is interaction 1 (not played yet, 75 % alike)
    1 field differs (- recorded, + asked):
      body
        - 9 B of binary data
        + 7 B of binary data
        the first different byte is number 6
    hint: if no body of this cassette counts, say so, in retape.toml:
      [[cassette]]
      name = "tape"
      compare = "path"
    hint: record it again
    "#);
    assert_snapshot!(check(JSON, "{}", "").await, @"
    `tape` (1 interaction) has no answer to
      POST /x
    the nearest is interaction 1 (not played yet, 40 % alike)
    2 fields differ (- recorded, + asked):
      header.content-type
        - application/json
        missing: only the recording has it
      body
        - {}
        missing: only the recording has it
    hint: record it again
    ");
    let parts = |boundary: &str, text: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n{text}\r\n--{boundary}--\r\n"
        )
    };
    let stage =
        stage(&[("POST", "/x", "multipart/form-data; boundary=one", &parts("one", "hello"), "{}")]);
    let asked = parts("two", "hullo");
    let media = "multipart/form-data; boundary=two";
    assert_snapshot!(answers(&stage, media, &[("POST", "/x", &asked)]).await, @r#"
    `tape` (1 interaction) has no answer to
      POST /x
    the nearest is interaction 1 (not played yet, 80 % alike)
    1 field differs (- recorded, + asked):
      part.file
        - hello
        + hullo
    hint: record it again
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["part.file"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_most_alike_is_found_among_very_many() {
    let body =
        |number: usize| format!(r#"{{"number":{number},"text":"word{} again"}}"#, number % 7);
    let bodies: Vec<String> = (0..3000).map(body).collect();
    let all: Vec<_> = bodies.iter().map(|body| ("POST", "/m", JSON, &**body, "{}")).collect();
    let stage = stage(&all);
    let session = stage.replay().await;

    for body in &bodies[..1000] {
        post(&format!("{}/m", session.url()), body);
    }
    post(&format!("{}/m", session.url()), &bodies[1000].replace("again", "once more"));
    let misses = session.misses();
    session.stop().await.unwrap();

    assert_eq!(misses[0].nearest, Some(1000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_are_told_the_same_in_json() {
    let stage = stage(&[
        ("POST", "/v1/ask", JSON, "{}", &format!(r#"{{"tool_call_id":"{ISSUED}"}}"#)),
        ("POST", "/v1/approve?a=1", JSON, &format!(r#"{{"id":"{ISSUED}","n":[1e400,2]}}"#), "{}"),
    ]);
    let session = stage.replay().await;

    let fields = "Content-Type: application/json\r\nAccept: application/json\r\n";
    let asked = r#"{"id":"mine","n":[2],"x":{"y":[true]}}"#;
    let reply = ask("POST", &format!("{}/v1/approve?a=2", session.url()), fields, asked);
    let control = get(&format!("{}/-/retape/misses", session.url())).text();
    session.stop().await.unwrap();

    let mut told: serde_json::Value = serde_json::from_str(&reply.text()).unwrap();
    let message = told["error"]["message"].take();
    assert!(message.as_str().unwrap().contains("the nearest is interaction 2"), "{message}");
    assert_snapshot!(format!("{told:#}"), @r#"
    {
      "error": {
        "cassette": "tape",
        "differences": [
          {
            "asked": "2",
            "at": "query.a",
            "recorded": "1",
            "why": "another value was recorded"
          },
          {
            "asked": "mine",
            "at": "/id",
            "recorded": "toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0",
            "why": "the server issued `toolu_6f1c0a2f37a24fd992f1fd5b1ee5a5f0` in interaction 1"
          },
          {
            "at": "/n/0",
            "recorded": "1e400",
            "why": "missing: only the recording has it"
          },
          {
            "asked": {
              "y": [
                true
              ]
            },
            "at": "/x",
            "why": "the recording has no such field"
          }
        ],
        "message": null,
        "method": "POST",
        "nearest": {
          "interaction": 2,
          "method": "POST",
          "path": "/v1/approve?a=1",
          "played": false
        },
        "path": "/v1/approve?a=2",
        "session": "",
        "type": "retape_miss"
      }
    }
    "#);
    let control: serde_json::Value = serde_json::from_str(&control).unwrap();
    assert_eq!(control["misses"][0]["differences"], told["error"]["differences"]);
}
