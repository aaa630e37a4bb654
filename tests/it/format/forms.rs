use insta::assert_snapshot;
use retape::cassette::{Body, Chunk, Headers, Interaction, Outcome, Progress};
use retape::message::Framing;

use super::compress;
use super::sample::*;

const SSE: &[(&str, &str)] = &[("content-type", "text/event-stream; charset=utf-8")];
const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

fn events(chunks: &[&str]) -> String {
    body_text(&answer(SSE, stream(chunks)))
}

fn whole(body: impl AsRef<[u8]>) -> String {
    body_text(&answer(&[], Body::Whole(bytes(body))))
}

#[test]
fn an_ordinary_cassette_reads_well() {
    let mut asked = request();
    asked.method = "POST".into();
    asked.path = "/v1/agents/agent-1/messages/stream".into();
    asked.headers = headers(&[
        ("content-type", "application/json"),
        ("authorization", "[redacted:authorization]"),
    ]);
    asked.body = bytes(r#"{"messages":[{"role":"user","content":"hi"}],"stream_tokens":true}"#);
    let mut answered = response();
    answered.ms = 12;
    answered.headers = headers(SSE);
    answered.body = stream(&[
        "data: {\"message_type\":\"reasoning_message\",\"seq_id\":1}\n\n",
        "event: error\ndata: {\"a\":1.0}\n\ndata: [DONE]\n\n",
        "data: {\"message_ty",
        "pe\":\"stop_reason\"}\n\n",
        ": ping\n\n",
    ]);
    let mut talk = interaction(asked, answered);
    talk.after = vec![Progress { interaction: 0, chunks: 17 }];
    let unreachable = Interaction {
        after: vec![],
        request: request(),
        outcome: Outcome::Nothing(retape::cassette::End::Unreachable),
    };
    let mut cassette = cassette(vec![unreachable, talk]);
    cassette.interrupted = true;

    let file = written(&cassette);

    assert_snapshot!(file.text, @r#"
    {
      "retape": 1,
      "recorded": {"at": "2026-11-20T10:00:00Z", "upstream": "http://127.0.0.1:8283", "server": "uvicorn"},
      "interrupted": true,
      "redactions": ["headers/1"],
      "interactions": [
        {
          "request": {
            "method": "GET",
            "path": "/"
          },
          "response": {"end": "unreachable"}
        },
        {
          "after": {"1": 17},
          "request": {
            "method": "POST",
            "path": "/v1/agents/agent-1/messages/stream",
            "headers": {
              "content-type": "application/json",
              "authorization": "[redacted:authorization]"
            },
            "json": {"messages": [{"role": "user", "content": "hi"}], "stream_tokens": true}
          },
          "response": {
            "ms": 12,
            "status": 200,
            "headers": {
              "content-type": "text/event-stream; charset=utf-8"
            },
            "stream": [
              {"ms": 0, "sse": {"data": {"message_type": "reasoning_message", "seq_id": 1}}},
              {"ms": 1, "sse": [{"event": "error", "data": {"a": 1.0}}, {"data": "[DONE]"}]},
              {"ms": 2, "text": "data: {\"message_ty"},
              {"ms": 3, "text": "pe\":\"stop_reason\"}\n\n"},
              {"ms": 4, "sse": {"comment": "ping"}}
            ],
            "end": "complete"
          }
        }
      ]
    }
    "#);
}

#[test]
fn an_empty_cassette_is_short() {
    assert_snapshot!(written(&retape::Cassette::default()).text, @r#"
    {
      "retape": 1,
      "interactions": []
    }
    "#);
}

#[test]
fn events_are_written_as_events() {
    let text = events(&[
        "data: {\"id\":\"ping-1\",\"n\":1e400}\n\n",
        "event: message_start\nid: 7\nretry: 3000\ndata: {\"a\":[]}\n\n",
        "data: one\ndata: two\n\n",
        "data: [DONE]\n\n",
        "data: [1,\"a\"]\n\n",
        "data: [\"a\",\"b\"]\ndata: {}\n\n",
        "data: \"quoted\"\n\n",
        "data: 5\n\n",
        "data: \n\n",
        "id: 1\ndata: a\n\n: ping\n\n: one\n: two\ndata: b\n\n",
        "data: {\"spaced\": 1}\n\n",
        "data: {\"odd\" :1}\n\n",
        "retry: 007\n\n",
        "event: complete\ndata:\n\n",
        ":\n\ndata: a\ndata:\nid:\n\n",
    ]);

    assert_snapshot!(text, @r#"
    "stream": [
      {"ms": 0, "sse": {"data": {"id": "ping-1", "n": 1e400}}},
      {"ms": 1, "sse": {"event": "message_start", "id": "7", "retry": 3000, "data": {"a": []}}},
      {"ms": 2, "sse": {"data": ["one", "two"]}},
      {"ms": 3, "sse": {"data": "[DONE]"}},
      {"ms": 4, "sse": {"data": [[1, "a"]]}},
      {"ms": 5, "sse": {"data": [["a", "b"], {}]}},
      {"ms": 6, "sse": {"data": "\"quoted\""}},
      {"ms": 7, "sse": {"data": "5"}},
      {"ms": 8, "sse": {"data": ""}},
      {"ms": 9, "sse": [{"id": "1", "data": "a"}, {"comment": "ping"}, {"comment": ["one", "two"], "data": "b"}]},
      {"ms": 10, "sse": {"data": {"spaced": 1}, "layout": "spaced"}},
      {"ms": 11, "sse": {"data": "{\"odd\" :1}"}},
      {"ms": 12, "sse": {"retry": "007"}},
      {"ms": 13, "sse": {"event": "complete", "data": null}},
      {"ms": 14, "sse": [{"comment": null}, {"data": ["a", null], "id": null}]}
    ]
    "#);
}

#[test]
fn what_an_event_cannot_say_is_text() {
    for chunk in [
        "data: a",
        "data: a\n",
        "data: a\n\n\n",
        "\n",
        "\n\n",
        ":ping\n\ndata: a\n\n",
        "data:  a\ndata:b\n\n",
        "data\n\n",
        "foo: bar\n\n",
        "data: a\nid: 1\ndata: b\n\n",
        "event: a\nevent: b\ndata: c\n\n",
        "data: a\rb\n\n",
        "data: a\r\n\n",
        "data: a\n\ndata: b\r\n\r\n",
        "\u{feff}data: a\n\n",
        " data: a\n\n",
        "Data: a\n\n",
        "data: {\"a\":1}\n\ndata: {\"b\":",
    ] {
        let text = events(&[chunk]);

        assert!(text.contains("{\"ms\": 0, \"text\": \""), "{chunk:?} is {text}");
    }
}

#[test]
fn what_goes_for_the_whole_stream_is_said_once() {
    assert_snapshot!(events(&["data: {\"a\": 1}\n\n", "data: {\"b\":2}\n\n", "data: {\"c\": 3}\n\n"]), @r#"
    "layout": "spaced",
    "stream": [
      {"ms": 0, "sse": {"data": {"a": 1}}},
      {"ms": 1, "sse": {"data": {"b": 2}, "layout": "compact"}},
      {"ms": 2, "sse": {"data": {"c": 3}}}
    ]
    "#);
    assert_snapshot!(events(&["event: a\r\ndata: {\"a\":1}\r\n\r\n", "data: lf\n\n"]), @r#"
    "framing": "crlf",
    "stream": [
      {"ms": 0, "sse": {"event": "a", "data": {"a": 1}}},
      {"ms": 1, "framing": "usual", "sse": {"data": "lf"}}
    ]
    "#);
    assert_snapshot!(events(&["data:{\"a\":1}\n\n", "data: {\"b\":2}\n\n", "data:{\"c\":1}\r\n\r\n"]), @r#"
    "framing": "unspaced",
    "stream": [
      {"ms": 0, "sse": {"data": {"a": 1}}},
      {"ms": 1, "framing": "usual", "sse": {"data": {"b": 2}}},
      {"ms": 2, "framing": "crlf unspaced", "sse": {"data": {"c": 1}}}
    ]
    "#);
}

#[test]
fn lines_of_json_are_written_as_lines_of_json() {
    let ndjson = [("content-type", "application/x-ndjson")];
    let chunks = [
        "{\"a\":1}\n",
        "{\"a\":1}\n{\"b\":[]}\n",
        "[1,2]\n",
        "{\"a\": 1}\n",
        "{\"a\":1}\r\n",
        "{\"a\":1}",
        "5\n",
        "{\"a\":1}\n\n",
    ];

    assert_snapshot!(body_text(&answer(&ndjson, stream(&chunks))), @r#"
    "stream": [
      {"ms": 0, "ndjson": {"a": 1}},
      {"ms": 1, "ndjson": [{"a": 1}, {"b": []}]},
      {"ms": 2, "ndjson": [[1, 2]]},
      {"ms": 3, "layout": "spaced", "ndjson": {"a": 1}},
      {"ms": 4, "framing": "crlf", "ndjson": {"a": 1}},
      {"ms": 5, "text": "{\"a\":1}"},
      {"ms": 6, "text": "5\n"},
      {"ms": 7, "text": "{\"a\":1}\n\n"}
    ]
    "#);
}

#[test]
fn other_chunks_are_text_or_base64() {
    let chunks: [&[u8]; 9] = [
        b"",
        b"line\nline\r\n\t\"\\\0\x7f",
        "caf\u{e9} \u{202e}".as_bytes(),
        b"caf\xc3",
        b"\xa9!\xe2\x82",
        b"\xac",
        b"\xff\xfe",
        b"binary\xff\xfebinary",
        b"\x9f\x98\x80!",
    ];

    assert_snapshot!(body_text(&answer(&[], stream(&chunks))), @r#"
    "stream": [
      {"ms": 0, "text": ""},
      {"ms": 1, "text": "line\nline\r\n\t\"\\\u0000\u007f"},
      {"ms": 2, "text": "café \u202e"},
      {"ms": 3, "text": ["caf", {"base64": "ww=="}]},
      {"ms": 4, "text": [{"base64": "qQ=="}, "!", {"base64": "4oI="}]},
      {"ms": 5, "base64": "rA=="},
      {"ms": 6, "base64": "//4="},
      {"ms": 7, "base64": "YmluYXJ5//5iaW5hcnk="},
      {"ms": 8, "text": [{"base64": "n5iA"}, "!"]}
    ]
    "#);
}

#[test]
fn json_is_laid_out_to_be_read_and_keeps_its_tokens() {
    let numbers = "[1.0,-0.0,1e400,12345678901234567890,1E+2,0.10]";
    let strings = r#"{"a":"\u00e9\/\ud800\u0000","a":"é/","":null}"#;

    assert_snapshot!(whole(numbers), @r#""json": [1.0, -0.0, 1e400, 12345678901234567890, 1E+2, 0.10]"#);
    assert_snapshot!(whole(strings), @r#""json": {"a": "\u00e9\/\ud800\u0000", "a": "é/", "": null}"#);
    assert_snapshot!(whole("{}"), @r#""json": {}"#);
    assert_snapshot!(whole("{\"a\": [1, 2]}\n"), @r#"
    "layout": "spaced newline",
    "json": {"a": [1, 2]}
    "#);
    assert_snapshot!(whole("{\"a\":1}\n"), @r#"
    "layout": "newline",
    "json": {"a": 1}
    "#);
    assert_snapshot!(whole("{\n  \"a\": [\n    1,\n    {}\n  ]\n}"), @r#"
    "layout": "indent 2",
    "json": {"a": [1, {}]}
    "#);
    assert_snapshot!(whole("[\n\t1\n]\n"), @r#"
    "layout": "indent tab newline",
    "json": [1]
    "#);
}

#[test]
fn json_that_is_long_has_a_line_per_member() {
    let long = "x".repeat(60);
    let numbers: Vec<String> = (0..60).map(|n| format!("0.{n:03}")).collect();
    let numbers = numbers.join(",");
    let json =
        format!(r#"{{"a":"{long}","b":{{"c":"{long}","d":[{{"e":[]}}]}},"f":[{numbers}],"g":[]}}"#);

    assert_snapshot!(whole(json), @r#"
    "json": {
      "a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      "b": {
        "c": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "d": [{"e": []}]
      },
      "f": [
        0.000, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.010, 0.011,
        0.012, 0.013, 0.014, 0.015, 0.016, 0.017, 0.018, 0.019, 0.020, 0.021, 0.022, 0.023,
        0.024, 0.025, 0.026, 0.027, 0.028, 0.029, 0.030, 0.031, 0.032, 0.033, 0.034, 0.035,
        0.036, 0.037, 0.038, 0.039, 0.040, 0.041, 0.042, 0.043, 0.044, 0.045, 0.046, 0.047,
        0.048, 0.049, 0.050, 0.051, 0.052, 0.053, 0.054, 0.055, 0.056, 0.057, 0.058, 0.059
      ],
      "g": []
    }
    "#);
}

#[test]
fn json_that_came_in_chunks_is_written_whole() {
    let body = stream(&["{\"a\":", "1,\"b\":[", "]}"]);

    assert_snapshot!(body_text(&answer(JSON, body.clone())), @r#"
    "json": {"a": 1, "b": []},
    "chunks": [[0, 5], [1, 7], [2, 2]]
    "#);
    assert_snapshot!(body_text(&answer(SSE, body)), @r#"
    "stream": [
      {"ms": 0, "text": "{\"a\":"},
      {"ms": 1, "text": "1,\"b\":["},
      {"ms": 2, "text": "]}"}
    ]
    "#);
}

#[test]
fn other_bodies_are_text_or_base64() {
    assert_snapshot!(whole("OK"), @r#""text": "OK""#);
    assert_snapshot!(whole("one\ntwo\n"), @r#"
    "text": [
      "one\n",
      "two\n"
    ]
    "#);
    assert_snapshot!(whole("{\"a\" :1}"), @r#""text": "{\"a\" :1}""#);
    assert_snapshot!(whole("5"), @r#""text": "5""#);
    assert_snapshot!(whole([0xff; 70]), @r#"
    "base64": [
      "////////////////////////////////////////////////////////////////////////////",
      "/////////////////w=="
    ]
    "#);
    assert_snapshot!(whole(""), @"");
}

#[test]
fn headers_are_written_by_name_where_that_loses_nothing() {
    let shown = |fields: &[(&str, &[u8])]| {
        let mut asked = request();
        asked.headers = fields.iter().map(|(name, value)| (*name, value.to_vec())).collect();
        let cassette = retape::Cassette {
            interactions: vec![interaction(asked, response())],
            ..Default::default()
        };
        let text = written(&cassette).text;
        let (_, text) = text.split_once("\"path\": \"/\",\n").unwrap();
        text.split_once("\n      },\n").unwrap().0.to_owned()
    };

    assert_snapshot!(shown(&[("Accept", b"*/*"), ("x", b""), ("x", b"2"), ("z", b"\xff")]), @r#"
    "headers": {
      "Accept": "*/*",
      "x": [
        "",
        "2"
      ],
      "z": {"base64": "/w=="}
    }
    "#);
    assert_snapshot!(shown(&[("a", b"1"), ("b", b"2"), ("a", b"\xff")]), @r#"
    "headers": [
      ["a", "1"],
      ["b", "2"],
      ["a", {"base64": "/w=="}]
    ]
    "#);
    assert_snapshot!(shown(&[("A", b"1"), ("a", b"2")]), @r#"
    "headers": [
      ["A", "1"],
      ["a", "2"]
    ]
    "#);
    assert!(written(&answer(&[], Body::default())).text.find("headers").is_none());
    assert_eq!(Headers::new().len(), 0);
}

#[test]
fn compressed_bodies_are_readable_and_keep_their_bytes() {
    let gzip = |kind: &'static str| [("content-type", kind), ("content-encoding", "gzip")];
    let json = compress::whole("gzip", br#"{"a":1}"#);
    let pieces: [&[u8]; 2] = [b"data: {\"a\":1}\n\n", b"data: [DONE]\n\n"];
    let sse = stream(&compress::pieces("gzip", &pieces));
    let chunked = stream(&compress::pieces("gzip", &[b"{\"a\":", b"1}"]));

    assert_snapshot!(body_text(&answer(&gzip("application/json"), Body::Whole(json.into()))), @r#"
    "json": {"a": 1},
    "encoded": {"base64": "H4sIAAAAAAAA/6pWSlSyMqwFAAAA//8DAK+sG1YHAAAA"}
    "#);
    assert_snapshot!(body_text(&answer(&gzip("text/event-stream"), sse)), @r#"
    "stream": [
      {"ms": 0, "sse": {"data": {"a": 1}}},
      {"ms": 1, "sse": {"data": "[DONE]"}}
    ],
    "encoded": {
      "base64": [
        "H4sIAAAAAAAA/0pJLEm0UqhWSlSyMqzl4gIAAAD//0oBc6Nd/P1cY7m4AAAAAP//AwCxt180HQAA",
        "AA=="
      ],
      "lengths": [31, 27]
    }
    "#);
    assert_snapshot!(body_text(&answer(&gzip("application/json"), chunked)), @r#"
    "json": {"a": 1},
    "chunks": [[0, 21], [1, 18]],
    "encoded": {"base64": "H4sIAAAAAAAA/6pWSlSyAgAAAP//MqwFAAAA//8DAK+sG1YHAAAA"}
    "#);
}

#[test]
fn compressed_bodies_that_cannot_be_read_are_base64() {
    let gzip = [("content-encoding", "gzip")];
    let cut = compress::whole("gzip", b"hello");
    let cut = bytes(&cut[..cut.len() - 1]);

    assert_snapshot!(body_text(&answer(&gzip, Body::Whole(cut))), @r#""base64": "H4sIAAAAAAAA/8pIzcnJBwAAAP//AwCGphA2BQAA""#);
    assert_snapshot!(body_text(&answer(&gzip, Body::Whole(bytes("not gzip")))), @r#""text": "not gzip""#);
    let twice = [("content-encoding", "gzip"), ("content-encoding", "gzip")];
    let whole = compress::whole("gzip", b"hello");
    assert_snapshot!(body_text(&answer(&twice, Body::Whole(whole.into()))), @r#""base64": "H4sIAAAAAAAA/8pIzcnJBwAAAP//AwCGphA2BQAAAA==""#);
    let mut damaged = compress::pieces("gzip", &[b"hello", b"again"]);
    damaged[1].insert(0, 0xff);
    assert_snapshot!(body_text(&answer(&gzip, stream(&damaged))), @r#"
    "stream": [
      {"ms": 0, "base64": "H4sIAAAAAAAA/8pIzcnJBwAAAP//"},
      {"ms": 1, "base64": "/0pMT8zMAwAAAP//AwASaj1QCgAAAA=="}
    ]
    "#);
    assert_snapshot!(body_text(&answer(&[("content-encoding", "x")], Body::Whole(bytes([0xff])))), @r#""base64": "/w==""#);
}

#[test]
fn a_compressed_stream_that_was_cut_short_shows_what_came() {
    let pieces: [&[u8]; 2] = [b"data: {\"a\":1}\n\n", b"data: [DONE]\n\n"];
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let sent = compress::pieces(coding, &pieces);
        let cut = answer(&[("content-encoding", coding)], stream(&sent[..1]));

        assert!(body_text(&cut).contains(r#"{"ms": 0, "sse": {"data": {"a": 1}}}"#), "{coding}");
    }
}

#[test]
fn a_long_zstd_stream_is_readable_too() {
    let kilobytes = vec![b'a'; 1 << 16];
    let pieces = vec![&kilobytes[..]; 25];
    let sent = compress::pieces("zstd", &pieces);

    let text = body_text(&answer(&[("content-encoding", "zstd")], stream(&sent)));

    assert!(text.matches('a').count() > 25 << 16);
}

#[test]
fn large_bodies_live_beside_the_file_and_equal_ones_once() {
    let json = format!("{{\"a\":\"{}\"}}", "x".repeat(70_000));
    let binary = vec![0xff; 4_000];
    let mut asked = request();
    asked.body = bytes(&json);
    let whole = response_of(Body::Whole(bytes(&json)));
    let parts = response_of(stream(&json.as_bytes().chunks(40_000).collect::<Vec<_>>()));
    let chunks = response_of(stream(&[&b"data: a\n\n"[..], &binary]));
    let cassette = retape::Cassette {
        interactions: vec![
            interaction(asked, whole),
            interaction(request(), parts),
            interaction(request(), chunks),
            interaction(request(), response_of(Body::Whole(binary.into()))),
        ],
        ..Default::default()
    };

    let file = written(&cassette);

    assert_eq!(file.bodies.len(), 2);
    assert_snapshot!(file.text, @r#"
    {
      "retape": 1,
      "interactions": [
        {
          "request": {
            "method": "GET",
            "path": "/",
            "file": "e621186ccbda0090fadd1bb73f87558b",
            "bytes": 70008
          },
          "response": {
            "ms": 0,
            "status": 200,
            "file": "e621186ccbda0090fadd1bb73f87558b",
            "bytes": 70008,
            "end": "complete"
          }
        },
        {
          "request": {
            "method": "GET",
            "path": "/"
          },
          "response": {
            "ms": 0,
            "status": 200,
            "file": "e621186ccbda0090fadd1bb73f87558b",
            "bytes": 70008,
            "chunks": [[0, 40000], [1, 30008]],
            "end": "complete"
          }
        },
        {
          "request": {
            "method": "GET",
            "path": "/"
          },
          "response": {
            "ms": 0,
            "status": 200,
            "stream": [
              {"ms": 0, "sse": {"data": "a"}},
              {"ms": 1, "file": "5241fcaaab0874e17a03d6979085c4d4", "bytes": 4000}
            ],
            "end": "complete"
          }
        },
        {
          "request": {
            "method": "GET",
            "path": "/"
          },
          "response": {
            "ms": 0,
            "status": 200,
            "file": "5241fcaaab0874e17a03d6979085c4d4",
            "bytes": 4000,
            "end": "complete"
          }
        }
      ]
    }
    "#);
}

fn response_of(body: Body) -> retape::cassette::Response {
    retape::cassette::Response { body, ..response() }
}

#[test]
fn bodies_below_the_limit_stay_in_the_file() {
    let text = "x".repeat(65_000);
    let binary = vec![0xff; 3_000];

    assert!(written(&answer(&[], Body::Whole(bytes(text)))).bodies.is_empty());
    assert!(written(&answer(&[], Body::Whole(bytes(binary)))).bodies.is_empty());
}

#[test]
fn depth_is_no_limit() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let within = format!("{{\"a\":{deep}}}");
    let event = format!("data: {deep}\n\n");

    written(&answer(&[], Body::Whole(bytes(&deep))));
    written(&answer(JSON, stream(&[&within])));
    written(&answer(SSE, stream(&[event])));
    let level = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let text = written(&answer(&[], Body::Whole(bytes(level)))).text;
    assert!(text.len() < 50_000);
}

#[test]
fn a_streaming_media_type_is_one_to_the_body_to_the_file_and_to_its_messages() {
    for (media_type, framing) in [
        ("text/event-stream; charset=utf-8", Framing::EventStream),
        ("application/x-ndjson", Framing::Lines),
        ("Application/NDJSON", Framing::Lines),
        ("application/jsonl", Framing::Lines),
        ("application/x-jsonl", Framing::Lines),
        ("application/jsonlines", Framing::Lines),
        ("application/x-jsonlines", Framing::Lines),
        ("application/json-lines", Framing::Lines),
        ("application/stream+json", Framing::Lines),
        ("application/vnd.example.events+ndjson", Framing::Lines),
        ("text/x-ndjson", Framing::Lines),
        ("application/json-seq", Framing::Lines),
        ("application/geo+json-seq", Framing::Lines),
        ("application/vnd.amazon.eventstream", Framing::Amazon),
    ] {
        let headers: Headers = [("content-type", media_type)].into_iter().collect();
        let chunk = Chunk { ms: 1, bytes: "{\"a\":1}\n".into() };

        let body = Body::of_arrival(&headers, vec![chunk.clone()]);

        assert_eq!(body, Body::Stream(vec![chunk]), "{media_type}");
        let text = body_text(&answer(&[("content-type", media_type)], body));
        assert!(text.starts_with("\"stream\""), "{media_type}: {text}");
        assert_eq!(Framing::of(Some(media_type)), framing, "{media_type}");
    }
}
