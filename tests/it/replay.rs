//! Answers come as they were recorded, and from the recording alone.

use std::io::Write as _;
use std::time::Duration;

use retape::cassette::{Body, Cassette, Chunk, Headers, Interaction, Outcome, Request, Response};
use retape::redact::Redactor;
use retape::{Mode, Name, Pace, store};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::stage::Stage;
use crate::support::client::{self, ask, get, post};
use crate::support::upstream::{Asked, Then, Upstream, json};
use crate::support::wire::Wire;

/// Saves the cassette `tape`.
fn save(stage: &Stage, interactions: Vec<Interaction>) {
    let cassette = Cassette { interactions, ..Cassette::default() };
    let name = Name::new("tape").unwrap();
    store::save(stage.folder(), &name, &Redactor::standard().cassette(cassette)).unwrap();
}

fn recorded(path: &str, fields: &[(&str, &str)], body: Body) -> Interaction {
    let headers = |fields: &[(&str, &str)]| -> Headers {
        fields.iter().map(|(name, value)| (*name, value.as_bytes().to_vec())).collect()
    };
    let response = Response { ms: 1000, headers: headers(fields), body, ..Response::of(200) };
    Interaction::of(Request::of("GET", path), response)
}

fn stream(chunks: &[(u64, &'static str)]) -> Body {
    let chunk = |(ms, text): &(u64, &'static str)| Chunk { ms: *ms, bytes: (*text).into() };
    Body::Stream(chunks.iter().map(chunk).collect())
}

/// When each piece of an answer came, in seconds of the paused clock.
async fn times(pace: Pace) -> Vec<(f64, String)> {
    let stage = Stage::new();
    let body = stream(&[(2000, "data: 1\n\n"), (2000, "data: 2\n\n"), (6000, "data: 3\n\n")]);
    save(&stage, vec![recorded("/", &[("content-type", "text/event-stream")], body)]);
    let session = stage.session(Mode::Replay).pace(pace).start().await.unwrap();
    tokio::time::pause();
    let begun = tokio::time::Instant::now();

    let mut wire = tokio::net::TcpStream::connect(session.address()).await.unwrap();
    wire.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    let mut pieces = Vec::new();
    let mut text = String::new();
    while !text.ends_with("0\r\n\r\n") {
        let mut buffer = [0; 4096];
        let count = wire.read(&mut buffer).await.unwrap();
        text = String::from_utf8_lossy(&buffer[..count]).into_owned();
        pieces.push(((begun.elapsed().as_secs_f64() * 10.0).round() / 10.0, text.clone()));
    }
    pieces
}

/// The seconds in which something came.
fn seconds(pieces: &[(f64, String)]) -> Vec<f64> {
    let mut seconds: Vec<f64> = pieces.iter().map(|(time, _)| *time).collect();
    seconds.dedup();
    seconds
}

#[tokio::test]
async fn a_recording_is_played_at_its_own_pace() {
    let pieces = times(Pace::Times(1.0)).await;

    assert_eq!(seconds(&pieces), [1.0, 2.0, 6.0], "{pieces:?}");
    assert!(pieces[0].1.starts_with("HTTP/1.1 200 OK") && !pieces[0].1.contains("data"));
}

#[tokio::test]
async fn a_recording_is_played_twice_as_fast() {
    assert_eq!(seconds(&times(Pace::Times(2.0)).await), [0.5, 1.0, 3.0]);
}

#[tokio::test]
async fn a_recording_is_played_without_waiting() {
    assert_eq!(seconds(&times(Pace::Instant).await), [0.0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identical_requests_are_answered_in_recorded_order_and_the_last_answer_stays() {
    let stage = Stage::new();
    let bodies = ["created", "running", "done"].map(|text| Body::Whole(text.into()));
    save(&stage, bodies.map(|body| recorded("/run", &[("content-length", "4")], body)).into());
    let session = stage.replay().await;

    let url = format!("{}/run", session.url());
    let answers: Vec<String> = (0..5).map(|_| get(&url).text()).collect();
    let summary = session.finish().await.unwrap();

    assert_eq!(answers, ["created", "running", "done", "done", "done"]);
    assert_eq!((summary.played, summary.unplayed.len()), (3, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_network_is_never_touched() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = stage.record(&upstream).await;
    get(&format!("{}/known", session.url()));
    session.finish().await.unwrap();

    let session = stage.session(Mode::Replay).upstream(upstream.url()).start().await.unwrap();
    assert_eq!(get(&format!("{}/known", session.url())).status, 200);
    assert_eq!(get(&format!("{}/unknown", session.url())).status, 470);
    session.stop().await.unwrap();

    assert_eq!(upstream.asked().len(), 1);
}

/// Records these requests, each answered by what the server makes of it.
async fn taped(
    server: impl Fn(&Asked) -> String + Send + Sync + 'static,
    bodies: &[&str],
) -> Stage {
    let stage = Stage::new();
    let upstream = Upstream::start(move |asked, wire| {
        wire.send(server(asked));
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;
    bodies.iter().for_each(|body| drop(post(&format!("{}/x", session.url()), body)));
    session.finish().await.unwrap();
    stage
}

const OURS: &str = "0c9d0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
const OTHER: &str = "7e57ab1e-0000-4fd9-92f1-fd5b1ee5a5f1";
const THIRD: &str = "5eedab1e-0000-4fd9-92f1-fd5b1ee5a5f2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_minted_is_free_but_stands_for_one_thing() {
    let stage = taped(
        |_| json(200, "{}"),
        &[
            &format!(r#"{{"otid":"{OURS}","step":1}}"#),
            &format!(r#"{{"again":"{OURS}","new":"{THIRD}"}}"#),
        ],
    )
    .await;
    let session = stage.replay().await;
    let url = format!("{}/x", session.url());

    let free = post(&url, &format!(r#"{{"otid":"{OTHER}","step":1}}"#));
    let inconsistent = post(&url, &format!(r#"{{"again":"{THIRD}","new":"{OURS}"}}"#));
    let merged = post(&url, &format!(r#"{{"again":"{OTHER}","new":"{OTHER}"}}"#));
    let consistent = post(&url, &format!(r#"{{"again":"{OTHER}","new":"{OURS}"}}"#));
    let summary = session.stop().await.unwrap();

    let statuses = [&free, &inconsistent, &merged, &consistent].map(|answer| answer.status);
    assert_eq!(statuses, [200, 470, 470, 200]);
    assert_eq!(summary.misses.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_issued_must_come_back() {
    let approval = |id: &str| format!(r#"{{"approve":"{id}"}}"#);
    let stage = taped(
        |asked| match asked.text().as_str() {
            "{}" => json(200, &format!(r#"{{"tool_call_id":"toolu_{OURS}"}}"#)),
            text if text.contains(OURS) => json(200, r#"{"ok":true}"#),
            _ => json(400, r#"{"detail":"wrong"}"#),
        },
        &["{}", &approval(OTHER), &approval(OURS)],
    )
    .await;
    let session = stage.replay().await;
    let url = format!("{}/x", session.url());

    post(&url, "{}");
    let right = post(&url, &approval(OURS));
    let wrong = post(&url, &approval(THIRD));
    session.finish().await.unwrap();

    assert_eq!((right.status, right.text().as_str()), (200, r#"{"ok":true}"#));
    assert_eq!((wrong.status, wrong.text().as_str()), (400, r#"{"detail":"wrong"}"#));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_is_compared_as_values_and_a_query_as_a_set() {
    let stage = taped(|_| json(200, "{}"), &[r#"{"a":1.0,"b":["\u0041"]}"#]).await;
    let session = stage.replay().await;

    let same = post(&format!("{}/x", session.url()), "{ \"b\": [\"A\"], \"a\": 1 }");
    let other = post(&format!("{}/x", session.url()), r#"{"a":1.5,"b":["A"]}"#);
    session.stop().await.unwrap();

    assert_eq!((same.status, other.status), (200, 470));
}

/// A stream that was recorded compressed.
async fn compressed() -> Stage {
    let stage = Stage::new();
    let upstream = Upstream::start(|_, wire| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        gzip.write_all(b"{\"text\":\"plain\"}").unwrap();
        let body = gzip.finish().unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip";
        wire.send(format!("{head}\r\nContent-Length: {}\r\n\r\n", body.len()));
        wire.send(body);
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;
    ask("GET", &session.url(), "Accept-Encoding: gzip\r\n", "");
    session.finish().await.unwrap();
    stage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_answer_is_sent_in_a_form_that_the_client_takes() {
    let stage = compressed().await;
    let session = stage.replay().await;

    for (accepted, plain) in [
        ("Accept-Encoding: gzip, br\r\n", false),
        ("Accept-Encoding: *\r\n", false),
        ("", false),
        ("Accept-Encoding: br\r\n", true),
        ("Accept-Encoding: identity\r\n", true),
        ("Accept-Encoding: gzip;q=0, *\r\n", true),
    ] {
        let answer = ask("GET", &session.url(), accepted, "");
        let encoding = (!plain).then_some("gzip");
        assert_eq!(answer.field("content-encoding"), encoding, "{accepted}");
        assert_eq!(answer.text() == "{\"text\":\"plain\"}", plain, "{accepted}");
        let length = answer.body.len().to_string();
        assert_eq!(answer.field("content-length"), Some(length.as_str()), "{accepted}");
    }
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_compresses_for_those_that_do_not_ask_for_it_stays_so() {
    let stage = Stage::new();
    let upstream = Upstream::start(|_, wire| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        gzip.write_all(b"an object that was stored so").unwrap();
        let body = gzip.finish().unwrap();
        wire.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-MD5: a\r\nContent-Length: {}\r\n\r\n",
            body.len()
        ));
        wire.send(body);
        Then::KeepAlive
    });
    let plain = "Accept-Encoding: identity\r\n";
    let session = stage.record(&upstream).await;
    let recorded = ask("GET", &session.url(), plain, "");
    session.finish().await.unwrap();

    let session = stage.replay().await;
    for accepted in [plain, "Accept-Encoding: gzip\r\n"] {
        let answer = ask("GET", &session.url(), accepted, "");
        assert_eq!(answer.body, recorded.body, "{accepted}");
        assert_eq!(answer.field("content-encoding"), Some("gzip"), "{accepted}");
        assert_eq!(answer.field("content-md5"), Some("a"), "{accepted}");
    }
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_repeats_its_own_credential_is_found_again() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let ask_with = |url: &str, key: &str| {
        let fields = format!("Authorization: Bearer {key}\r\nContent-Type: application/json\r\n");
        ask("POST", url, &fields, &format!(r#"{{"note":"my key is {key}, keep it"}}"#))
    };
    let session = stage.record(&upstream).await;
    ask_with(&session.url(), "sk-abcdef0123456789");
    session.finish().await.unwrap();
    assert!(!stage.file("tape.json").contains("sk-abcdef"));

    let session = stage.replay().await;
    let answer = ask_with(&session.url(), "sk-zyxwvu9876543210");

    assert_eq!(answer.status, 200, "{}", answer.text());
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_repeats_an_earlier_secret_is_found_again() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| r#"{"ok":true}"#.to_owned());
    let talk = |url: &str, key: &str| {
        let fields = "Content-Type: application/json\r\n";
        let create = format!(r#"{{"api_key":"{key}"}}"#);
        let say = format!(r#"{{"note":"my key is {key}, keep it"}}"#);
        [create, say].map(|body| ask("POST", &format!("{url}/x"), fields, &body).status)
    };
    let session = stage.record(&upstream).await;
    talk(&session.url(), "sk-abcdef0123456789");
    session.finish().await.unwrap();
    assert!(!stage.file("tape.json").contains("sk-abcdef"));

    let session = stage.replay().await;

    assert_eq!(talk(&session.url(), "sk-zyxwvu9876543210"), [200, 200]);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_the_server_issued_is_taken_back() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| r#"{"access_token":"tok-abcdef0123456789"}"#.to_owned());
    let talk = |url: &str| {
        let login = post(&format!("{url}/login"), "{}");
        let told: serde_json::Value = serde_json::from_str(&login.text()).unwrap();
        let token = told["access_token"].as_str().unwrap();
        let fields = format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n");
        let body = format!(r#"{{"session_token":"{token}","text":"with {token}"}}"#);
        ask("POST", &format!("{url}/x?access_token={token}"), &fields, &body).text()
    };
    let session = stage.record(&upstream).await;
    talk(&session.url());
    session.finish().await.unwrap();

    let session = stage.replay().await;

    assert_eq!(talk(&session.url()), r#"{"access_token":"[redacted:access_token]"}"#);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_client_does_not_hold_up_another() {
    let stage = Stage::new();
    let large: &'static str = "x".repeat(32 * 1024 * 1024).leak();
    let small = Body::Whole("small".into());
    save(
        &stage,
        vec![
            recorded("/large", &[], stream(&[(0, large), (1, "end")])),
            recorded("/small", &[], small),
        ],
    );
    let session = stage.replay().await;

    let mut stuck: Vec<Wire> = (0..4).map(|_| Wire::connect(session.address())).collect();
    for wire in &mut stuck {
        wire.send(client::request("GET", &format!("{}/large", session.url()), "", ""));
        wire.head().unwrap();
    }
    let answer = get(&format!("{}/small", session.url()));

    assert_eq!(answer.text(), "small");
    drop(stuck);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_for_the_recorded_pace_does_not_hold_up_another() {
    let stage = Stage::new();
    let mut slow = recorded("/slow", &[], Body::Whole("slow".into()));
    if let Outcome::Response(response) = &mut slow.outcome {
        response.ms = 3_600_000;
    }
    let mut quick = recorded("/quick", &[], Body::Whole("quick".into()));
    if let Outcome::Response(response) = &mut quick.outcome {
        response.ms = 0;
    }
    save(&stage, vec![slow, quick]);
    let session = stage.session(Mode::Replay).pace(Pace::Times(1.0)).start().await.unwrap();

    let mut waiting = Wire::connect(session.address());
    waiting.send(client::request("GET", &format!("{}/slow", session.url()), "", ""));
    let answer = get(&format!("{}/quick", session.url()));
    let silent = waiting.is_silent(Duration::from_millis(20));
    drop(waiting);

    assert_eq!((answer.text().as_str(), silent), ("quick", true));
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_as_it_was_recorded_hides_no_secret_around_it() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let talk = |url: &str, key: &str| {
        let fields = format!("Content-Type: application/json\r\nX-Api-Key: {key}\r\n");
        let first = ask("POST", &format!("{url}/a?token={key}"), &fields, r#"{"a":1}"#);
        [first.status, post(&format!("{url}/b"), &format!("my key is {key}")).status]
    };
    let session = stage.record(&upstream).await;
    talk(&session.url(), "sk-abcdef0123456789");
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let told = talk(&session.url(), "sk-zyxwvu9876543210");
    let missed = post(&format!("{}/b", session.url()), "and sk-zyxwvu9876543210").text();

    assert_eq!(told, [200, 200]);
    assert!(!missed.contains("zyxwvu") && missed.contains("and [redacted:"), "{missed}");
    assert!(session.finish().await.unwrap_err().is_miss());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_as_it_was_recorded_hides_no_secret_in_its_header() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let talk = |url: &str, keys: &[&str]| {
        let told = keys.iter().map(|key| {
            let fields = format!("X-Api-Key: {key}\r\nX-Sdk: 1\r\n");
            ask("GET", &format!("{url}/a"), &fields, "").status
        });
        told.collect::<Vec<u16>>()
    };
    let session = stage.record(&upstream).await;
    talk(&session.url(), &["sk-abcdef0123456789"]);
    post(&format!("{}/b", session.url()), "hello");
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let told =
        talk(&session.url(), &["sk-zyxwvu9876543210", "sk-zyxwvu9876543210", "sk-other5432109876"]);
    let missed =
        post(&format!("{}/b", session.url()), "sk-zyxwvu9876543210 sk-other5432109876").text();

    assert_eq!(told, [200; 3]);
    assert!(!missed.contains("zyxwvu") && !missed.contains("other5"), "{missed}");
    assert!(missed.contains("[redacted:x-api-key]"), "{missed}");
    assert!(session.finish().await.unwrap_err().is_miss());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_answer_to_head_announces_is_the_length_of_another_answer() {
    let head = |path: &str, asked: Value, (name, value): (&str, &str)| {
        let headers = serde_json::json!({"content-length": "1234", name: value});
        serde_json::json!({
            "request": {"method": "HEAD", "path": path, "headers": asked},
            "response": {"ms": 0, "status": 200, "headers": headers, "end": "complete"},
        })
    };
    let placeholder = "Bearer [redacted:authorization]";
    let asked = serde_json::json!({"authorization": placeholder});
    let stage = Stage::with(&[
        head("/secret", asked, ("x-echo", placeholder)),
        head("/coded", serde_json::json!({}), ("content-encoding", "gzip")),
    ]);
    let session = stage.replay().await;

    let length = |path: &str, fields: &str| {
        let reply = ask("HEAD", &format!("{}{path}", session.url()), fields, "");
        (reply.status, reply.field("content-length").map(str::to_owned))
    };
    let secret = length("/secret", "Authorization: Bearer abcdefgh12345678secret\r\n");
    let coded = length("/coded", "Accept-Encoding: identity\r\n");
    session.finish().await.unwrap();

    assert_eq!([secret, coded], [(); 2].map(|()| (200, Some("1234".to_owned()))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_length_that_nobody_can_read_is_that_of_the_body() {
    let odd = [
        ("/list", vec![("content-length", "2, 2")]),
        ("/word", vec![("content-length", "some")]),
        ("/both", vec![("content-length", "2"), ("transfer-encoding", "chunked")]),
    ];
    let stage = Stage::new();
    let all = odd.iter().map(|(path, fields)| recorded(path, fields, Body::Whole("ok".into())));
    save(&stage, all.collect());
    let session = stage.replay().await;

    for (path, _) in odd {
        let reply = get(&format!("{}{path}", session.url()));
        assert_eq!((reply.status, reply.text().as_str()), (200, "ok"), "{path}");
        assert_eq!(reply.field("content-length"), Some("2"), "{path}");
    }
    session.finish().await.unwrap();
}
