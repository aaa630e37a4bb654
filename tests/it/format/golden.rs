//! Files of all versions, which every release reads. `RETAPE_BLESS=1` writes them anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use retape::Cassette;
use retape::cassette::format::{File, encode};
use retape::cassette::{
    Body, Content, End, Frame, Interaction, Interim, Outcome, Peer, Progress, Recorded, Response,
};

use retape::config::{Repeats, Rules};

use super::sample::*;

#[test]
fn streams() {
    check("streams", &cassette(vec![events(), framings(), lines(), pieces()]));
}

#[test]
fn bodies() {
    let json = |body: &str| whole("application/json", body.as_bytes());
    check(
        "bodies",
        &cassette(vec![
            json(r#"{"id":"agent-1","numbers":[1.0,-0.0,1e400,12345678901234567890],"a":1,"a":2}"#),
            json("{\"detail\": \"Not found\", \"surrogate\": \"\\ud800\", \"slash\": \"\\/\"}"),
            json("{\n  \"pretty\": [\n    true,\n    {}\n  ]\n}\n"),
            json("[\n\t\"tabs\"\n]"),
            json("\"a string\""),
            whole("text/plain", b"one line"),
            whole("text/html", "<p>\r\n  caf\u{e9}\n</p>".as_bytes()),
            whole("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            whole("application/octet-stream", &[0xff; 100]),
            whole("text/plain", b""),
            interaction(request(), chunked(&["{\"parts\":[1,", "2]}"])),
        ]),
    );
}

#[test]
fn large() {
    let json = format!("{{\"long\":\"{}\"}}", "long ".repeat(14_000));
    let mut asked = request();
    asked.body = bytes(&json);
    let binary = [0xfe; 4_000];
    check(
        "large",
        &cassette(vec![
            interaction(asked, chunked(&[&json[..40_000], &json[40_000..]])),
            whole("application/octet-stream", &binary),
            interaction(request(), Response { body: stream(&[binary]), ..response() }),
        ]),
    );
}

/// Of version 2.
#[test]
fn frames() {
    let frame = |ms, from, content| Frame { ms, from, content, fragments: Vec::new() };
    let (client, server) = (Peer::Client, Peer::Server);
    let text = |text: &str| Content::Text(bytes(text));
    let mut spoken = response();
    spoken.status = 101;
    spoken.headers = headers(&[("upgrade", "websocket")]);
    spoken.frames = vec![
        frame(3, client, text("{\"id\": 1, \"method\": \"initialize\"}")),
        frame(4, server, text("{\"id\":1,\"result\":{}}")),
        Frame { fragments: vec![2, 6], ..frame(5, server, text("in parts")) },
        frame(6, server, text("{\n  \"pretty\": true\n}\n")),
        frame(7, server, text("")),
        frame(8, server, Content::Text(bytes(b"\xff is no text"))),
        frame(9, client, Content::Binary(bytes(b"\x00\x9f\x92\x96"))),
        frame(9, client, Content::Binary(bytes("{\"binary\":[]}"))),
        frame(10, server, Content::Close { code: Some(4001), reason: "enough".to_owned() }),
    ];
    let mut silent = response();
    silent.status = 101;
    silent.frames = vec![frame(1, client, Content::Close { code: None, reason: String::new() })];
    check_in(
        "v2",
        "frames",
        &cassette(vec![interaction(request(), spoken), interaction(request(), silent)]),
    );
}

#[test]
fn interim() {
    let said = |ms, status, fields: &[(&str, &str)]| {
        let headers = headers(fields);
        Interim { ms, status, headers }
    };
    let hints = [("link", "</a.css>; rel=preload"), ("link", "</b.css>; rel=preload")];
    let mut hinted = response();
    hinted.interim = vec![said(1, 102, &[]), said(2, 103, &hints)];
    let mut refused = request();
    refused.headers = headers(&[("expect", "100-continue"), ("content-length", "5")]);
    let refusal = Response { status: 417, ..response() };
    let said = vec![interaction(request(), hinted), interaction(refused, refusal)];
    check_in("v2", "interim", &cassette(said));
}

#[test]
fn left() {
    let body = stream(&["data: 1\n\n", "data: 2\n\n"]);
    let left = Response { body, left: Some(0), ..response() };
    check_in("v2", "left", &cassette(vec![interaction(request(), left)]));
}

#[test]
fn compressed() {
    let encoded = |coding: &str, body: Body| {
        let fields = [("content-type", "text/event-stream"), ("content-encoding", coding)];
        interaction(request(), Response { headers: headers(&fields), body, ..response() })
    };
    let sent = |pieces: &[&str]| {
        stream(&pieces.iter().map(|piece| STANDARD.decode(piece).unwrap()).collect::<Vec<_>>())
    };
    let mut cut = response();
    cut.headers = headers(&[("content-encoding", "gzip")]);
    cut.body = sent(&GZIP[..1]);
    cut.end = End::ServerClosed;
    check(
        "compressed",
        &cassette(vec![
            encoded("gzip", Body::Whole(sent(GZIP).bytes())),
            encoded("gzip", sent(GZIP)),
            encoded("br", sent(BROTLI)),
            encoded("zstd", sent(ZSTD)),
            interaction(request(), cut),
            encoded("gzip", Body::Whole(bytes("not gzip"))),
            encoded("unknown", Body::Whole(bytes([0xff]))),
        ]),
    );
}

#[test]
fn headers_and_endings() {
    let mut odd = request();
    odd.method = "PURGE".into();
    odd.path = "/%7Eodd?a=1&a=2&\u{e9}".into();
    odd.headers = headers(&[("Accept", "*/*"), ("cookie", "a=1"), ("Cookie", "b=2")]);
    let mut full = response();
    full.ms = u64::MAX;
    full.status = 299;
    full.reason = Some("Odd".into());
    full.headers = headers(&[("set-cookie", "a"), ("set-cookie", "b"), ("vary", "")]);
    full.headers.append("x-latin", vec![0xe9]);
    full.trailers = headers(&[("grpc-status", "0")]);
    let mut interactions = vec![interaction(odd, full)];
    for end in End::ALL {
        interactions.push(Interaction {
            after: vec![Progress { interaction: 0, chunks: 3 }],
            request: request(),
            outcome: Outcome::Nothing(end),
        });
        interactions.push(interaction(request(), Response { end, ..response() }));
    }
    let recorded = Recorded { server: None, ..Recorded::default() };
    check(
        "headers_and_endings",
        &Cassette { recorded, interrupted: true, interactions, ..Cassette::default() },
    );
}

#[test]
fn origins() {
    let mut other = request();
    other.path = "https://api.example.com/v1/models?limit=1".into();
    let mut unnamed = request();
    unnamed.path = "http://[::1]:8283".into();
    let mut cassette = cassette(vec![
        whole("text/plain", b""),
        interaction(other, response()),
        interaction(unnamed, response()),
    ]);
    cassette.recorded.origins.insert("models".into(), "https://api.example.com".into());
    check_in("v2", "origins", &cassette);
}

#[test]
fn rules() {
    let rules = Rules::default()
        .repeats(Repeats::Once)
        .header("X-Tenant")
        .and_then(|rules| rules.ignore("$.client['version',\"a\"]")?.ignore("query.debug"))
        .and_then(|rules| rules.ignore("header.accept")?.ignore("path")?.ignore("/a~1b/0"))
        .and_then(|rules| rules.unordered("$.tools[?@.name == 'caf\u{e9}']..ids"))
        .and_then(|rules| rules.id("form.ref")?.not_id("part.model id"))
        .and_then(|rules| rules.pattern("$.prompt", "Today is \\d{4}-\\d\\d-\\d\\d"))
        .and_then(|rules| rules.pattern("path", "(?i)/v[0-9]+"))
        .unwrap();
    check("rules", &Cassette { rules, ..cassette(vec![whole("text/plain", b"")]) });
}

fn events() -> Interaction {
    let mut answered = response();
    answered.ms = 168;
    answered.headers = headers(&[("content-type", "text/event-stream; charset=utf-8")]);
    answered.body = stream(&[
        "data: {\"id\":\"ping-1\",\"message_type\":\"ping\",\"step_id\":null}\n\n",
        "event: error\ndata: {\"error\": {\"type\": \"llm_timeout\"}}\n\ndata: [DONE]\n\n",
        "id: 7\nretry: 3000\ndata: one\ndata: two\n\n: keep-alive\n\n",
        "data: [1,\"a\"]\n\ndata: \"quoted\"\n\n",
        "data: {\"message_ty",
        "pe\":\"stop_reason\"}\n\n",
    ]);
    interaction(request(), answered)
}

fn framings() -> Interaction {
    let body = stream(&["data: {\"a\": 1}\r\n\r\n", "data:{\"a\": 1}\n\n", "data: {\"a\":1}\n\n"]);
    interaction(request(), Response { body, ..response() })
}

fn lines() -> Interaction {
    let body =
        stream(&["{\"a\":1}\n", "{\"a\":1}\n[2]\n", "[3]\n", "{\"a\": 1}\n", "{\"a\":1}\r\n"]);
    interaction(request(), Response { body, ..response() })
}

fn pieces() -> Interaction {
    let body = stream(&[&b"caf\xc3"[..], b"\xa9", b"\xa9!", b"", b"\xff\xfe", b"\xef\xbb\xbf\0\n"]);
    interaction(request(), Response { body, ..response() })
}

fn whole(media_type: &str, body: &[u8]) -> Interaction {
    let mut answered = response();
    answered.headers = headers(&[("content-type", media_type)]);
    answered.body = Body::Whole(bytes(body));
    interaction(request(), answered)
}

fn chunked(chunks: &[&str]) -> Response {
    let headers = headers(&[("content-type", "application/json")]);
    Response { headers, body: stream(chunks), ..response() }
}

/// `data: {"n":1}`, `data: {"n":2}` and `data: [DONE]`, each sent as soon as it was there.
const GZIP: &[&str] = &[
    "H4sIAAAAAAAAA0pJLEm0UqhWylOyMqzl4gIAAAD//w==",
    "SkksSbRSqFbKU7IyquXiAgAAAP//",
    "S0ksSbRSiHbx93ON5eICABJ5/wUsAAAA",
];
const BROTLI: &[&str] =
    &["CweAZGF0YTogeyJuIjoxfQoK", "cACAX1JBpq9EASYEWGMA", "0QCAX1JhqysJUESTUEk5+AE="];
const ZSTD: &[&str] =
    &["KLUv/QRoeAAAZGF0YTogeyJuIjoxfQoK", "VAAAIDJ9CgoBAGJMIA==", "cQAAZGF0YTogW0RPTkVdCgqYlJkU"];

/// It stands in the folder of the version that it takes.
fn check(name: &str, cassette: &Cassette) {
    check_in("v1", name, cassette);
}

fn check_in(version: &str, name: &str, cassette: &Cassette) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cassettes/compat").join(version);
    let path = folder.join(format!("{name}.json"));
    let beside = folder.join(format!("{name}.bodies"));
    let file = encode(cassette);
    if std::env::var_os("RETAPE_BLESS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, &file.text).unwrap();
        for (name, body) in &file.bodies {
            std::fs::create_dir_all(&beside).unwrap();
            std::fs::write(beside.join(name), body).unwrap();
        }
    }

    let text = std::fs::read_to_string(&path).unwrap();
    let bodies: BTreeMap<String, Bytes> = std::fs::read_dir(&beside)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let body = std::fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), body.into())
        })
        .collect();

    assert_eq!(decode_with(&text, &bodies).unwrap(), *cassette);
    assert_eq!(file, File { text, bodies, ..File::default() });
}
