//! Faults that are injected in replay.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use retape::{Mode, Session, Summary};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::client::{ask, get, post, request, split};
use crate::support::socket::{Ended, Socket, Sockets};
use crate::support::upstream::Upstream;
use crate::support::wire::Wire;

const STREAM: [&str; 3] = ["data: {\"a\":1}\n\n", "data: {\"b\":2}\n\n", "data: [DONE]\n\n"];

/// An agent that is made, asked in a stream, and looked at twice while it changes.
fn stage() -> Stage {
    let whole = |method: &str, path: &str, body: Value| {
        json!({"request": {"method": method, "path": path}, "response": {
            "ms": 0, "status": 200, "headers": {"content-type": "application/json"}, "json": body, "end": "complete",
        }})
    };
    let pieces: Vec<Value> = STREAM.iter().map(|text| json!({"ms": 0, "text": text})).collect();
    let stream = json!({"request": {"method": "GET", "path": "/v1/stream"}, "response": {
        "ms": 0, "status": 200, "headers": {"content-type": "text/event-stream"},
        "stream": pieces, "end": "complete",
    }});
    Stage::with(&[
        whole("POST", "/v1/agents", json!({"name": "ada", "tools": ["dice"]})),
        stream,
        whole("GET", "/v1/runs/1", json!({"is": "running"})),
        whole("GET", "/v1/runs/1", json!({"is": "done"})),
    ])
}

async fn replay(stage: &Stage, faults: &[&str]) -> Session {
    let session = stage.session(Mode::Replay);
    let faults = faults.iter().map(|fault| fault.parse().unwrap());
    faults.fold(session, |session, fault| session.fault(fault)).start().await.unwrap()
}

/// What a client gets until the connection ends, and how it ends.
fn raw(url: &str) -> (String, Option<ErrorKind>) {
    let mut stream = TcpStream::connect(split(url).0).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(request("GET", url, "Connection: close\r\n", "").as_bytes()).unwrap();
    let mut heard = Vec::new();
    let ended = stream.read_to_end(&mut heard).err().map(|error| error.kind());
    (String::from_utf8_lossy(&heard).into_owned(), ended)
}

/// What came of the attempts at the only call that went wrong.
#[track_caller]
fn came(summary: &Summary) -> Vec<Option<&str>> {
    let [spoiled] = summary.spoiled.as_slice() else { panic!("{:?}", summary.spoiled) };
    spoiled.call.attempts.iter().map(|attempt| attempt.fault.as_deref()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_is_given_so_often_and_then_the_recorded_answer() {
    let stage = stage();

    let session = replay(&stage, &["POST /v1/*: 503 retry-after=1 retry-after-ms=20 x2"]).await;
    let url = format!("{}/v1/agents", session.url());
    let replies = [(); 3].map(|()| post(&url, ""));
    get(&format!("{}/v1/stream", session.url()));
    let summary = session.finish().await.unwrap().all_faults_met().unwrap();

    assert_eq!(replies.each_ref().map(|reply| reply.status), [503, 503, 200]);
    let first = &replies[0];
    assert_eq!(
        (first.field("retry-after"), first.field("retry-after-ms")),
        (Some("1"), Some("20"))
    );
    assert_eq!(first.field("retape-fault"), Some("503"));
    assert!(first.text().contains(r#""message":"retape injected this 503""#), "{}", first.text());
    assert!(replies[2].text().contains("ada"));
    let fault = Some("503 retry-after=1 retry-after-ms=20 x2");
    assert_eq!(came(&summary), [fault, fault, None]);
    let call = &summary.spoiled[0].call;
    assert_eq!((call.method.as_str(), call.path.as_str()), ("POST", "/v1/agents"));
    assert_eq!(call.attempts[0].gap, Duration::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_takes_nothing_from_the_recording() {
    let stage = stage();

    let session = replay(&stage, &["/v1/runs/*: refuse x1", "#4: 500 x1"]).await;
    let url = format!("{}/v1/runs/1", session.url());
    let heard: Vec<String> = (0..4).map(|_| raw(&url).0).collect();
    let summary = session.finish().await.unwrap();

    assert_eq!(heard[0], "");
    assert!(heard[1].contains(r#"{"is":"running"}"#), "{heard:?}");
    assert!(heard[2].contains("injected this 500"), "{heard:?}");
    assert!(heard[3].contains(r#"{"is":"done"}"#), "{heard:?}");
    assert_eq!((summary.played, summary.met.len(), summary.unmet.len()), (2, 2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_counts_its_attempts_gets_the_answer_that_was_kept_from_it() {
    let stage = stage();
    let session = replay(&stage, &["/v1/runs/*: 503 x1"]).await;
    let url = format!("{}/v1/runs/1", session.url());
    let attempt = |number: usize| {
        ask("GET", &url, &format!("x-stainless-retry-count: {number}\r\n"), "").text()
    };

    let heard = [attempt(0), attempt(1), attempt(0)];
    session.finish().await.unwrap();

    assert!(heard[0].contains("503"), "{heard:?}");
    assert_eq!(&heard[1..], [r#"{"is":"running"}"#, r#"{"is":"done"}"#]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_is_closed_or_reset() {
    let stage = stage();
    let heard = async |fault: &str| {
        let session = replay(&stage, &[fault]).await;
        let heard = raw(&format!("{}/v1/stream", session.url()));
        session.finish().await.unwrap().all_faults_met().unwrap();
        heard
    };

    assert_eq!(heard("refuse").await, (String::new(), None));
    assert_eq!(heard("reset").await, (String::new(), Some(ErrorKind::ConnectionReset)));
    let (text, ended) = heard("reset after=2").await;
    assert!(text.contains("{\"b\":2}") && !text.contains("DONE"), "{text}");
    assert_eq!(ended, Some(ErrorKind::ConnectionReset));
    let (text, ended) = heard("cut after=2").await;
    assert!(text.contains("{\"b\":2}") && !text.contains("DONE"), "{text}");
    assert_eq!((text.ends_with("0\r\n\r\n"), ended), (false, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_hangs_until_its_client_leaves() {
    let stage = stage();
    for (fault, is_begun) in [("hang", false), ("hang after=1", true)] {
        let session = replay(&stage, &[fault]).await;
        let url = format!("{}/v1/stream", session.url());
        let mut wire = Wire::connect(session.address());
        wire.send(request("GET", &url, "", ""));

        if is_begun {
            wire.head().unwrap();
            wire.chunk();
        }
        assert!(wire.is_silent(Duration::from_millis(150)), "{fault}");
        drop(wire);
        session.finish().await.unwrap().all_faults_met().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_malformed_or_oversized_and_the_others_are_not() {
    let stage = stage();
    let heard = async |fault: &str, path: &str| {
        let session = replay(&stage, &[fault]).await;
        let heard = match path {
            "/v1/agents" => post(&format!("{}{path}", session.url()), "").text(),
            _ => get(&format!("{}{path}", session.url())).text(),
        };
        session.finish().await.unwrap().all_faults_met().unwrap();
        heard
    };

    let malformed = heard("malformed after=1", "/v1/stream").await;
    assert_eq!(malformed, [STREAM[0], "data: {\"b\n\n", STREAM[2]].concat());
    let oversized = heard("oversized after=1 size=2KiB", "/v1/stream").await;
    let events: Vec<&str> = oversized.split_inclusive("\n\n").collect();
    assert_eq!(events[1].len(), 2048);
    assert_eq!(serde_json::from_str::<Value>(&events[1][5..]).unwrap(), json!({"b": 2}));
    assert_eq!((events[0], events[2]), (STREAM[0], STREAM[2]));
    // What is no stream is one event.
    let malformed = heard("malformed", "/v1/agents").await;
    assert!(serde_json::from_str::<Value>(&malformed).is_err(), "{malformed}");
    let oversized = heard("oversized size=64KiB", "/v1/agents").await;
    assert_eq!((oversized.len(), oversized.trim_end().len() < 100), (65536, true));
    assert!(serde_json::from_str::<Value>(&oversized).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_drips() {
    let stage = stage();
    let session = replay(&stage, &["drip size=10 every=10ms"]).await;

    let begun = Instant::now();
    let reply = get(&format!("{}/v1/stream", session.url()));
    session.finish().await.unwrap();

    assert_eq!(reply.text(), STREAM.concat());
    assert!(reply.chunks.iter().all(|chunk| chunk.len() <= 10), "{:?}", reply.chunks);
    assert!(begun.elapsed() >= Duration::from_millis(40));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_decides_the_same_each_time() {
    let stage = stage();
    let given = async |fault: &str| {
        let session = replay(&stage, &[fault]).await;
        let url = format!("{}/v1/stream", session.url());
        let statuses: Vec<u16> = (0..24).map(|_| get(&url).status).collect();
        session.stop().await.unwrap();
        statuses
    };

    let some = given("503 chance=40% seed=3").await;
    assert!(some.contains(&503) && some.contains(&200), "{some:?}");
    assert_eq!(given("503 chance=40% seed=3").await, some);
    assert_ne!(given("503 chance=40% seed=4").await, some);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_that_met_no_request_is_told() {
    let stage = stage();
    let session =
        replay(&stage, &["/v1/other: 503", "/v1/stream: cut after=9", "GET *: close=1011"]).await;

    let status = get(&format!("{}/v1/other", session.url())).status;
    get(&format!("{}/v1/stream", session.url()));
    let summary = session.stop().await.unwrap();

    // What the recording does not answer is a miss, whatever is to go wrong.
    assert_eq!((status, summary.misses.len(), summary.spoiled.len()), (470, 1, 0));
    assert_eq!(summary.unmet.len(), 3);
    let error = summary.all_faults_met().unwrap_err();
    assert_eq!(error.to_string(), "`/v1/other: 503` met no request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strict_session_fails_by_a_fault_that_met_no_request_and_by_what_was_not_asked_for() {
    let stage = stage();
    let strict = async |fault: &str| {
        let session = stage.session(Mode::Replay).fault(fault.parse().unwrap()).strict();
        session.start().await.unwrap()
    };
    let session = strict("/v1/other: 503").await;
    get(&format!("{}/v1/stream", session.url()));
    let error = session.finish().await.unwrap_err().to_string();
    assert!(error.contains("not played") || error.contains("met no request"), "{error}");

    // What a session that records leaves out is no fault of its test.
    let upstream = Upstream::json(|_| "{}".to_owned());
    let other = Stage::new();
    let settings = other.session(Mode::Record).upstream(upstream.url());
    let session = settings.fault("/v1/other: 503".parse().unwrap()).strict().start().await.unwrap();
    get(&format!("{}/v1/other", session.url()));
    session.finish().await.unwrap();
    let session = other.session(Mode::Replay).fault("/v1/x: 503".parse().unwrap()).strict();
    let session = session.start().await.unwrap();
    get(&format!("{}/v1/other", session.url()));
    let error = session.finish().await.unwrap_err().to_string();
    assert_eq!(error, "`/v1/x: 503` met no request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_is_closed_cut_or_told_nonsense() {
    let server = Sockets::answering(|text| vec![format!("{{\"heard\":{text:?}}}")]);
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    socket.ask("one");
    socket.ask("two");
    socket.close(1000, "");
    session.finish().await.unwrap();

    let second = async |fault: &str| {
        let session = replay(&stage, &[fault]).await;
        let mut socket = Socket::open(&format!("{}/ws", session.url()));
        assert_eq!(socket.ask("one"), r#"{"heard":"one"}"#);
        socket.send("two");
        let second = socket.read();
        session.stop().await.unwrap().all_faults_met().unwrap();
        second
    };

    let injected = "retape injected this".to_owned();
    assert_eq!(second("close=1011").await, Err(Ended::Closed(1011, injected)));
    assert_eq!(second("cut").await, Err(Ended::Cut));
    assert_eq!(second("reset after=1").await, Err(Ended::Cut));
    assert_eq!(second("malformed").await, Ok(r#"{"heard""#[..7].to_owned()));
    assert_eq!(second("oversized size=1KiB").await.unwrap().len(), 1024);
    let session = replay(&stage, &["503 x1"]).await;
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    assert_eq!(ask("GET", &format!("{}/ws", session.url()), upgrade, "").status, 503);
    Socket::open(&format!("{}/ws", session.url())).ask("one");
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_and_a_test_runner_ask_for_faults() {
    let stage = stage();
    let config = "[faults]\n\"tape\" = [\"POST *: 429 x1\"]\n\"other/*\" = [\"refuse\"]\n";
    std::fs::write(stage.folder().join("retape.toml"), config).unwrap();
    let session = stage.replay().await;
    let url = session.url();

    assert_eq!(post(&format!("{url}/v1/agents"), "").status, 429);
    let faults = json!({"cassette": "tape", "faults": ["GET *: 529 x1", "/v1/none: cut"]});
    let opened =
        ask("POST", &format!("{url}/-/retape/open"), "x-retape: 1\r\n", &faults.to_string());
    let opened: Value = serde_json::from_str(&opened.text()).unwrap();
    let there = format!("{}/v1/stream", opened["url"].as_str().unwrap());
    assert_eq!([(); 2].map(|()| get(&there).status), [529, 200]);
    let finish = format!("{url}/-/retape/finish?session=~opened-1");
    let finished = ask("POST", &finish, "x-retape: 1\r\n", "").text();
    let finished: Value = serde_json::from_str(&finished).unwrap();
    let summary = session.stop().await.unwrap();

    assert_eq!(finished["faults"][0]["attempts"][0]["fault"], "529 x1");
    assert_eq!(finished["faults"][0]["attempts"][1]["fault"], Value::Null);
    assert_eq!(finished["unmet_faults"], json!(["/v1/none: cut", "POST *: 429 x1"]));
    // The session beside it has met one of them.
    assert_eq!(summary.unmet.into_iter().collect::<Vec<_>>(), ["/v1/none: cut"]);
    assert_eq!(summary.spoiled.len(), 2);
}
