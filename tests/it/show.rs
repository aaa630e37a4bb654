//! A cassette as a person sees it.

use insta::assert_snapshot;
use retape::Cassette;
use retape::cassette::{Body, Chunk, End, Headers, Interaction, Outcome, Progress};
use retape::cassette::{Recorded, Request, Response};
use retape::config::{Repeats, Rules};
use retape::review::report::{Colour, Detail, ShowOptions, difference, ids, pretty, show};

const AGENT: &str = "/v1/agents/agent-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b";

fn shown(interactions: Vec<Interaction>) -> String {
    show("letta/hitl", &cassette(interactions), ShowOptions::default())
}

fn cassette(interactions: Vec<Interaction>) -> Cassette {
    let recorded = Recorded {
        at: "2026-11-20T10:00:00Z".to_owned(),
        upstream: "http://127.0.0.1:8283".to_owned(),
        origins: Default::default(),
        server: Some("letta 0.16.8".to_owned()),
        ..Recorded::default()
    };
    Cassette { recorded, interactions, ..Cassette::default() }
}

/// An interaction that asks with that body.
fn ask(method: &str, path: &str, body: &str, outcome: Outcome) -> Interaction {
    let request = Request {
        headers: Headers::from_iter([("content-type", "application/json")]),
        body: body.to_owned().into(),
        ..Request::of(method, path)
    };
    Interaction { after: Vec::new(), request, outcome }
}

/// An answer that came after 40 ms.
fn answer(status: u16, media: &'static str, body: Body) -> Response {
    Response {
        ms: 40,
        headers: Headers::from_iter([("content-type", media)]),
        body,
        ..Response::of(status)
    }
}

fn json(status: u16, body: &str) -> Outcome {
    Outcome::Response(answer(status, "application/json", Body::Whole(body.to_owned().into())))
}

/// A stream whose events came at these times.
fn stream(events: &[(u64, &str)]) -> Response {
    let chunk = |(ms, event): &(u64, &str)| Chunk { ms: *ms, bytes: format!("{event}\n\n").into() };
    answer(200, "text/event-stream", Body::Stream(events.iter().map(chunk).collect()))
}

#[test]
fn the_rules_that_a_cassette_carries_are_told() {
    let rules = Rules::default().ignore("$.client.version").unwrap().ignore("query.debug").unwrap();
    let rules = rules.pattern("/prompt", r"\d{4}-\d\d").unwrap().repeats(Repeats::Once);
    let cassette = Cassette { rules, ..cassette(Vec::new()) };

    let shown = show("letta/hitl", &cassette, ShowOptions::default());

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    0 interactions
    repeats = "once"
    ignore = ["$.client.version", "query.debug"]
    patterns = [{ at = "/prompt", regex = "\\d{4}-\\d\\d" }]
    "#);
}

#[test]
fn identifiers_are_told_with_who_issued_them_and_where_they_came_back() {
    let made = r#"{"agent":{"id":"agent-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b"},"otid":"first"}"#;
    let told = r#"{"id":42,"otid":"first","ratio":{"id":1.5}}"#;
    let interactions = vec![
        ask("POST", "/v1/agents", r#"{"otid":"first","ratio":{"id":1.5}}"#, json(200, made)),
        ask("POST", &format!("{AGENT}/messages"), r#"{"id":42}"#, json(200, told)),
    ];

    let told = ids("letta/hitl", &cassette(interactions), Colour::Plain);

    assert_snapshot!(told, @r#"
    letta/hitl
    3 identifiers: 1 issued by the server, 2 made up by the client

    who     #  identifier       first at         then in
    client  1  first            /otid (by name)  answered 1–2
    server  1  agent-6f1c…a00b  /agent/id        asked 2
    client  2  42               /id (by name)    answered 2
    "#);
}

#[test]
fn a_stream_is_told_by_its_messages_and_their_times() {
    let path = format!("{AGENT}/messages/stream");
    let asked = r#"{"messages":[{"role":"user","content":"Get the secret code."}]}"#;
    let events = stream(&[
        (4, r#"data: {"message_type":"ping","id":"ping-1"}"#),
        (212, r#"data: {"message_type":"reasoning_message","id":"m1","reasoning":"The"}"#),
        (402, r#"data: {"message_type":"reasoning_message","id":"m1","reasoning":" user"}"#),
        (
            450,
            r#"data: {"message_type":"approval_request_message","id":"m0","tool_call":{"name":"get_code","arguments":"{\"text\":","tool_call_id":"t1"}}"#,
        ),
        (
            460,
            r#"data: {"message_type":"approval_request_message","id":"m0","tool_call":{"name":"get_code","arguments":" \"x\"}","tool_call_id":"t1"}}"#,
        ),
        (1420, r#"data: {"message_type":"stop_reason","stop_reason":"requires_approval"}"#),
        (1421, "data: [DONE]"),
    ]);

    let shown = shown(vec![ask("POST", &path, asked, Outcome::Response(events))]);

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    1 interaction · 1 stream with 6 messages

    1 POST /v1/agents/agent-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b/messages/stream  200  6 events  1.42 s
      → user "Get the secret code."
      ← 212–402 ms  reasoning_message ×2         "The user"
        450–460 ms  approval_request_message ×2  get_code {"text":"x"}
            1.42 s  stop_reason                  requires_approval
            1.42 s  [DONE]  + 1 keep-alive
    "#);
}

#[test]
fn errors_are_told_in_full() {
    let detail = r#"{"detail":{"code":"PENDING_APPROVAL","message":"CONFLICT: Cannot send a new message: The agent is waiting for approval on a tool call."}}"#;
    let events = stream(&[
        (5, r#"data: {"message_type":"stop_reason","stop_reason":"llm_api_error"}"#),
        (
            6,
            "event: error\ndata: {\"error_type\":\"llm_error\",\"message\":\"An error occurred.\",\"detail\":\"overloaded\"}",
        ),
    ]);

    let shown = shown(vec![
        ask(
            "POST",
            AGENT,
            r#"{"messages":[{"type":"approval","approvals":[{"approve":false,"reason":"no"}]}]}"#,
            json(409, detail),
        ),
        ask("POST", AGENT, "", Outcome::Response(events)),
        ask("GET", "/nope", "", json(404, r#"{"detail":"Not Found"}"#)),
    ]);

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    3 interactions · 1 stream with 2 messages

    1 POST /v1/agents/agent-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b  409  json 137 B  40 ms
      → approval approve false "no"
      ← PENDING_APPROVAL "CONFLICT: Cannot send a new message: The agent is waiting for approval on a
        tool call."

    2 POST /v1/agents/agent-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b  200  2 events     6 ms
      ← 5 ms  stop_reason  llm_api_error
        6 ms  error        llm_error "An error occurred. — overloaded"

    3 GET  /nope                                                  404  json 22 B   40 ms
      ← "Not Found"
    "#);
}

#[test]
fn what_is_unusual_is_noted() {
    let mut cut = stream(&[(5, r#"data: {"type":"a"}"#)]);
    cut.end = End::ServerClosed;
    if let Body::Stream(chunks) = &mut cut.body {
        chunks.push(Chunk { ms: 9, bytes: "data: {\"ty".into() });
    }
    let mut second = ask("POST", "/cancel", "", Outcome::Nothing(End::Unreachable));
    second.after = vec![Progress { interaction: 0, chunks: 1 }];
    let mut cassette = cassette(vec![ask("GET", "/stream", "", Outcome::Response(cut)), second]);
    cassette.interrupted = true;
    cassette.redactions = vec!["headers/1".to_owned()];

    let shown = show("cut", &cassette, ShowOptions::default());

    assert_snapshot!(shown, @"
    cut
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    2 interactions · 1 stream with 1 message · redacted by headers/1
    ! the recorder was stopped before it had finished: the end may be missing

    1 GET  /stream  200  1 event  9 ms
      ← 5 ms  a
      ! ends in 10 B of an unfinished message
      ! server_closed: the server cut the connection before the end

    2 POST /cancel  ---
      ! began while 1 (1 chunk sent) was still being answered
      ! unreachable: the server could not be reached
    ");
}

#[test]
fn what_is_no_list_of_messages_is_told_in_a_line() {
    let big = format!(
        r#"{{"created_at":"now","system":"{}","id":"agent-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b","tools":[1,2],"name":"lab"}}"#,
        "x".repeat(500)
    );
    let redirect = {
        let mut response = answer(307, "text/plain", Body::default());
        response.headers.append("location", "http://h/v1/agents/");
        Outcome::Response(response)
    };

    let shown = shown(vec![
        ask("GET", "/v1/agents", "", redirect),
        ask("POST", "/v1/agents/", r#"{"name":"lab"}"#, json(200, &big)),
        ask("GET", "/v1/agents/", "", json(200, &format!("[{big},{big}]"))),
        ask("GET", "/empty", "", json(200, "[]")),
        ask("GET", "/a", "", Outcome::Response(answer(204, "image/png", Body::default()))),
        ask(
            "GET",
            "/b",
            "",
            Outcome::Response(answer(200, "image/png", Body::Whole(b"\x89PNG\0"[..].into()))),
        ),
    ]);

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    6 interactions

    1 GET  /v1/agents   307  no body      40 ms
      ← to http://h/v1/agents/

    2 POST /v1/agents/  200  json 609 B   40 ms
      → {"name":"lab"}
      ← name: lab, id: agent-6f1c…a00b, tools: [2], …

    3 GET  /v1/agents/  200  json 1.2 kB  40 ms
      ← 2 items: lab, lab

    4 GET  /empty       200  json 2 B     40 ms
      ← []

    5 GET  /a           204  no body      40 ms
    6 GET  /b           200  png 5 B      40 ms
    "#);
}

#[test]
fn a_json_list_of_messages_is_told_like_a_stream() {
    let body = r#"{"messages":[{"message_type":"reasoning_message","id":"1","reasoning":"Hm."},
        {"message_type":"assistant_message","id":"1","content":[{"type":"text","text":"Hi"},{"type":"image"}]}],
        "stop_reason":{"message_type":"stop_reason","stop_reason":"end_turn"},
        "usage":{"message_type":"usage_statistics","total_tokens":7}}"#;

    let shown = shown(vec![ask("POST", "/m", "", json(200, body))]);

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    1 interaction

    1 POST /m  200  json 339 B  40 ms
      ← reasoning_message  "Hm."
        assistant_message  "Hi [image]"
        stop_reason        end_turn
        usage_statistics   total_tokens 7
    "#);
}

#[test]
fn other_servers_are_told_as_well() {
    let completion = |choice: &str| {
        format!(r#"data: {{"object":"chat.completion.chunk","id":"c","choices":[{choice}]}}"#)
    };
    let chat = stream(&[
        (10, &completion(r#"{"index":0,"delta":{"role":"assistant","content":""}}"#)),
        (
            20,
            &completion(
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"add","arguments":"{\"a\""}}]}}"#,
            ),
        ),
        (
            30,
            &completion(
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}"#,
            ),
        ),
        (40, &completion(r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#)),
        (50, "data: [DONE]"),
    ]);
    let anthropic = stream(&[
        (
            10,
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"model\":\"claude\"}}",
        ),
        (20, "event: ping\ndata: {\"type\":\"ping\"}"),
        (
            30,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\"}}",
        ),
        (
            40,
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"lo\"}}",
        ),
        (
            50,
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
        ),
        (60, "event: message_stop\ndata: {\"type\":\"message_stop\"}"),
    ]);
    let mcp = stream(&[
        (
            10,
            r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#,
        ),
        (20, r#"data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}]}}"#),
    ]);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#;

    let shown = shown(vec![
        ask(
            "POST",
            "/v1/chat/completions",
            r#"{"messages":[{"role":"user","content":"hi"}]}"#,
            Outcome::Response(chat),
        ),
        ask(
            "POST",
            "/v1/messages",
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#,
            Outcome::Response(anthropic),
        ),
        ask("POST", "/mcp", call, Outcome::Response(mcp)),
        ask(
            "POST",
            "/v1/responses",
            r#"{"model":"m","input":"hi"}"#,
            json(200, r#"{"object":"response","id":"resp_1","status":"completed"}"#),
        ),
    ]);

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    4 interactions · 3 streams with 12 messages

    1 POST /v1/chat/completions  200  5 events   50 ms
      → user "hi"
      ←    10 ms  delta.role           assistant
        20–30 ms  delta.tool_calls ×2  add {"a":1}
           40 ms  finish_reason        tool_calls
           50 ms  [DONE]

    2 POST /v1/messages          200  5 events   60 ms
      → user "hi"
      ←    10 ms  message_start
        30–40 ms  content_block_delta ×2  "Hello"
           50 ms  message_delta           end_turn
           60 ms  message_stop
        + 1 keep-alive

    3 POST /mcp                  200  2 events   20 ms
      → tools/call add {"a":1}
      ← 10 ms  notifications/progress  progress 1
        20 ms  result                  "3"

    4 POST /v1/responses         200  json 56 B  40 ms
      → {"model":"m","input":"hi"}
      ← {"object":"response","id":"resp_1","status":"completed"}
    "#);
}

#[test]
fn what_tells_the_types_of_an_unknown_protocol_is_learned_from_the_cassette() {
    let turn = |run: &str| {
        let events = [
            format!(r#"data: {{"msg":"estimation","event_id":"{run}","rank":0,"queue_size":1}}"#),
            format!(r#"data: {{"msg":"process_starts","event_id":"{run}","eta":0.1}}"#),
            format!(
                r#"data: {{"msg":"process_generating","event_id":"{run}","output":{{"data":["a"]}}}}"#
            ),
            format!(
                r#"data: {{"msg":"process_generating","event_id":"{run}","output":{{"data":["ab"]}}}}"#
            ),
            format!(
                r#"data: {{"msg":"process_completed","event_id":"{run}","output":{{"data":["ab"]}},"success":true}}"#
            ),
            r#"data: {"msg":"close_stream","event_id":null}"#.to_owned(),
        ];
        let events: Vec<(u64, &str)> = events.iter().map(|event| (1, event.as_str())).collect();
        ask("GET", "/queue/data", "", Outcome::Response(stream(&events)))
    };

    let shown = shown(vec![turn("a1"), turn("b2")]);

    assert_snapshot!(shown, @"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    2 interactions · 2 streams with 12 messages

    1 GET /queue/data  200  6 events  1 ms
      ← 1 ms  estimation          rank 0 queue_size 1
        1 ms  process_starts      eta 0.1
        1 ms  process_generating
        1 ms  process_generating
        1 ms  process_completed   success true
        1 ms  close_stream

    2 GET /queue/data  200  6 events  1 ms
      ← 1 ms  estimation          rank 0 queue_size 1
        1 ms  process_starts      eta 0.1
        1 ms  process_generating
        1 ms  process_generating
        1 ms  process_completed   success true
        1 ms  close_stream
    ");
}

#[test]
fn a_long_trace_is_told_by_its_types_and_errors() {
    let steps = ["plan", "act", "look"].into_iter().cycle().take(30).enumerate();
    let mut events: Vec<String> =
        steps.map(|(it, step)| format!(r#"data: {{"type":"{step}","id":"{it}"}}"#)).collect();
    events.push(r#"data: {"type":"error","error":{"message":"overloaded"}}"#.to_owned());
    let events: Vec<(u64, &str)> = events.iter().map(|event| (1, event.as_str())).collect();

    let shown = shown(vec![ask("GET", "/steps", "", Outcome::Response(stream(&events)))]);

    assert_snapshot!(shown, @r#"
    letta/hitl
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    1 interaction · 1 stream with 31 messages

    1 GET /steps  200  31 events  1 ms
      ← plan · act · look · plan · act · look · plan · act · look · plan · act · look · plan · act
        look · plan · act · look · plan · act · look · plan · act · look · plan · act · look · plan
        act · look · error
      ← 1 ms  error  "overloaded"
    "#);
}

#[test]
fn bodies_are_shown_when_asked_for() {
    let events = stream(&[(5, ": hello"), (6, "event: x\ndata: {\"type\":\"a\",\"n\":1.0}")]);
    let cassette = cassette(vec![
        ask("POST", "/a", r#"{"a":[1,{}]}"#, json(200, r#"{"b":"\u00e9"}"#)),
        ask("POST", "/b", "", Outcome::Response(events)),
    ]);

    let shown =
        show("x", &cassette, ShowOptions { detail: Detail::Bodies, ..ShowOptions::default() });

    assert_snapshot!(shown, @r#"
    x
    recorded 2026-11-20T10:00:00Z from http://127.0.0.1:8283 · letta 0.16.8
    2 interactions · 1 stream with 1 message

    1 POST /a  200  json 14 B  40 ms
      → {"a":[1,{}]}
      ← {"b":"\u00e9"}
        request
        {
          "a": [
            1,
            {}
          ]
        }
        response
        {
          "b": "\u00e9"
        }

    2 POST /b  200  1 event     6 ms
      ← 6 ms  a  n 1.0
        + 1 keep-alive
        response
             5 ms  : hello
             6 ms  x: {"type":"a","n":1.0}
    "#);
}

#[test]
fn no_line_is_wider_than_the_page() {
    let path = format!(
        "{AGENT}/tools/tool-6f1c27a1-27a2-4fd9-92f1-fd5b1ee5a00b/run?{}",
        "q=1&".repeat(30)
    );
    let long = "word ".repeat(200);
    let body = format!(r#"{{"messages":[{{"role":"user","content":"{long}"}}]}}"#);
    let cassette = cassette(vec![
        ask("POST", &path, &body, json(400, &format!(r#"{{"detail":"{long}"}}"#))),
        ask(
            "POST",
            &path,
            &body,
            Outcome::Response(stream(&[(
                1,
                &format!(r#"data: {{"type":"{}","text":"{long}"}}"#, "t".repeat(90)),
            )])),
        ),
    ]);

    for width in [60, 80, 100, 120] {
        let plain = show("x", &cassette, ShowOptions { width, ..ShowOptions::default() });
        let widest = plain.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{widest:?} of {width}:\n{plain}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let cassette = cassette(vec![
        ask("POST", "/a", r#"{"a":1}"#, json(500, r#"{"detail":"x"}"#)),
        ask("GET", "/b", "", Outcome::Response(stream(&[(1, "data: [DONE]"), (2, ": ping")]))),
    ]);
    let options = ShowOptions::default();

    let coloured = show("x", &cassette, ShowOptions { colour: Colour::Ansi, ..options });

    assert!(coloured.contains("\u{1b}[31m500\u{1b}[0m"));
    assert_eq!(stripped(&coloured), show("x", &cassette, options));
}

#[test]
fn recorded_text_does_not_play_with_the_terminal() {
    let body = "{\"messages\":[{\"role\":\"\\u001b[31m\",\"content\":\"\\u001b]0;x\\u0007\"}]}";
    let event = "event: \u{1b}[2J\ndata: \u{1b}[2J\u{9b}x";
    let cassette = cassette(vec![ask(
        "\u{1b}",
        "/\u{1b}[2J",
        body,
        Outcome::Response(stream(&[(1, event), (2, event)])),
    )]);

    for detail in [Detail::Summary, Detail::Bodies] {
        let shown = show("\u{1b}", &cassette, ShowOptions { detail, ..ShowOptions::default() });
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }
}

#[test]
fn whatever_was_cut_off_can_be_shown() {
    let body = r#"[{"message_type":"a","id":"ü","tool_call":{"name":"n","arguments":"{\"a\":\u00e9"}},{"error":{"message":"x"}}]"#;
    let event = format!("event: error\r\ndata: {body}\r\n\r\n: c\r\ndata: [DONE]\r\n\r\n");

    for at in 0..event.len() {
        let bytes = event.as_bytes()[..at].to_vec();
        let stream = Body::Stream(vec![Chunk { ms: 1, bytes: bytes.into() }]);
        let json = Body::Whole(body.as_bytes()[..at.min(body.len())].to_vec().into());
        let mut asked =
            ask("POST", "/", "", Outcome::Response(answer(200, "text/event-stream", stream)));
        asked.request.body = body.as_bytes()[..at.min(body.len())].to_vec().into();
        let cassette = cassette(vec![
            asked,
            ask("GET", "/", "", Outcome::Response(answer(400, "application/json", json))),
        ]);

        let shown =
            show("x", &cassette, ShowOptions { detail: Detail::Bodies, ..ShowOptions::default() });

        assert!(shown.contains("2 interactions"));
    }
}

#[test]
fn a_difference_shows_the_lines_around_it() {
    let recorded = pretty(br#"{"a":1,"b":2,"c":3,"d":4,"e":{"limit":10,"name":"x y z"},"f":6,"g":7,"h":8,"i":9,"j":[1]}"#);
    let asked = pretty(br#"{"a":1,"b":2,"c":3,"d":4,"e":{"limit":10,"name":"x Y z"},"f":6,"g":7,"h":8,"i":9,"j":[2]}"#);

    assert_snapshot!(difference(&recorded, &asked, Colour::Plain), @r#"
    - recorded
    + asked

        "d": 4,
        "e": {
          "limit": 10,
    -     "name": "x y z"
    +     "name": "x Y z"
        },
        "f": 6,
        "g": 7,
        "h": 8,
        "i": 9,
        "j": [
    -     1
    +     2
        ]
      }
    "#);
}

#[test]
fn a_difference_shows_the_first_place_of_a_long_line() {
    let line = |word: &str| format!("\"{}{word} {}\"", "same ".repeat(100), "more ".repeat(100));

    let shown = difference(&line("old"), &line("new"), Colour::Plain);

    assert_snapshot!(shown, @"
    - recorded
    + asked

    - …same same same same same same same same old more more more more more more more more more more more more more more more more more more more more more more more…
    + …same same same same same same same same new more more more more more more more more more more more more more more more more more more more more more more more…
    ");
}

#[test]
fn a_difference_marks_the_words_in_colour() {
    let coloured = difference("a b c\n", "a x c\n", Colour::Ansi);

    assert!(coloured.contains("\u{1b}[31;7mb\u{1b}[0m"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[32;7mx\u{1b}[0m"), "{coloured:?}");
    assert_eq!(stripped(&coloured), difference("a b c\n", "a x c\n", Colour::Plain));
}

#[test]
fn a_difference_is_cut_and_equal_texts_have_none() {
    let numbers = |from: usize| (from..from + 500).map(|it| format!("{it}\n")).collect::<String>();

    let shown = difference(&numbers(0), &numbers(1000), Colour::Plain);

    assert!(shown.lines().count() < 70);
    assert!(shown.ends_with("… and 940 more lines\n"), "{shown}");
    assert_eq!(difference("a\nb", "a\nb", Colour::Plain), "");
}

#[test]
fn bodies_are_laid_out_to_be_read() {
    assert_eq!(pretty(br#"{"a":[1.0,1e400]}"#), "{\n  \"a\": [\n    1.0,\n    1e400\n  ]\n}");
    assert_eq!(pretty(b"plain\n  text"), "plain\n  text");
    assert_eq!(pretty(b"\x89PNG\0\xff"), "[6 B of binary data, beginning 89 50 4e 47 00 ff]");
    assert_eq!(pretty(b"SEND\n\nm1\0"), "SEND\n\nm1\0");
    assert_eq!(pretty(b""), "");
    let deep = "[".repeat(5_000) + &"]".repeat(5_000);
    assert_eq!(pretty(deep.as_bytes()), deep);
}

fn stripped(coloured: &str) -> String {
    let mut parts = coloured.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}
