//! Requests in a cassette in which a WebSocket stands before them.

use retape::Mode;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::client::{ask, get};
use crate::support::socket::Socket;

/// A WebSocket on which the client says three messages, and a stream of events.
fn stage() -> Stage {
    let said = (1..=3).flat_map(|number| {
        let frame = |from: &str, name: &str| json!({"ms": 0, "from": from, "json": {name: number}});
        [frame("client", "ask"), frame("server", "answer")]
    });
    let frames: Vec<Value> = said.collect();
    let events: Vec<Value> =
        (1..=3).map(|number| json!({"ms": 0, "text": event(number)})).collect();
    Stage::with(&[
        json!({"request": {"method": "GET", "path": "/ws", "headers": {"upgrade": "websocket"}},
               "response": {"ms": 0, "status": 101, "headers": {}, "frames": frames, "end": "complete"}}),
        json!({"request": {"method": "GET", "path": "/events"}, "response": {
            "ms": 0, "status": 200, "headers": {"content-type": "text/event-stream"},
            "stream": events, "end": "complete",
        }}),
    ])
}

fn event(number: u32) -> String {
    format!("id: {number}\ndata: {number}\n\n")
}

/// What strict matching would have refused.
fn drifted(stage: &Stage) -> Vec<Value> {
    serde_json::from_str(&stage.file("lax.json")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_resumed() {
    let stage = stage();
    let session = stage.replay().await;

    let url = format!("{}/events", session.url());
    let reply = ask("GET", &url, "Last-Event-ID: 1\r\n", "");
    session.stop().await.unwrap();

    assert_eq!((reply.status, reply.text()), (200, event(2) + &event(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_means_the_interaction_of_its_number() {
    let stage = stage();
    let session = stage.session(Mode::Replay).fault("#2: 503 x1".parse().unwrap());
    let session = session.start().await.unwrap();

    let url = format!("{}/events", session.url());
    let statuses = [get(&url), get(&url)].map(|reply| reply.status);
    session.stop().await.unwrap().all_faults_met().unwrap();

    assert_eq!(statuses, [503, 200]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_drifts_is_told_of_requests_and_of_messages() {
    let stage = stage();
    let file = stage.folder().join("lax.json");
    let session = stage.session(Mode::Replay).report_lax(file).start().await.unwrap();

    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    assert_eq!(socket.ask(r#"{"ask":1}"#), r#"{"answer":1}"#);
    assert_eq!(socket.ask(r#"{"ask":7}"#), r#"{"answer":2}"#);
    assert_eq!(socket.ask(r#"{"ask":3}"#), r#"{"answer":3}"#);
    let asked = ask("GET", &format!("{}/events", session.url()), "Range: bytes=1-\r\n", "");
    session.stop().await.unwrap();

    let drifted = drifted(&stage);
    let nearest = |it: &Value| (it["method"].clone(), it["nearest"]["interaction"].clone());
    assert_eq!(asked.status, 200);
    assert_eq!(
        drifted.iter().map(nearest).collect::<Vec<_>>(),
        [(json!("SEND"), json!(1)), (json!("GET"), json!(2))],
        "{drifted:#?}"
    );
}
