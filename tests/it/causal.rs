//! What came only behind something else comes behind it in a replay, and silence stays silence.

use std::sync::Arc;
use std::time::{Duration, Instant};

use retape::cassette::End;
use retape::{Mode, Pace, Session};

use crate::stage::{Stage, chunks};
use crate::support::client::{ask, post, request, split};
use crate::support::gate::Gate;
use crate::support::upstream::{EVENTS, Then, Upstream, json};
use crate::support::wire::{Chunk, Wire};

/// For so long nothing is sent that is held back.
const MOMENT: Duration = Duration::from_millis(40);

const AGENT: &str = "agent-4753d61db206";

/// A run that goes on until it is ended; what else is posted changes nothing.
fn agent() -> Upstream {
    let ended = Arc::new(Gate::new());
    Upstream::start(move |asked, wire| {
        if asked.path().ends_with("/stream") {
            wire.send(EVENTS);
            wire.send_chunk("data: {\"type\":\"token\"}\n\n");
            ended.pass();
            wire.send_chunk("data: {\"type\":\"ended\"}\n\n");
            wire.send_end();
        } else {
            if asked.path().ends_with("/enough") {
                ended.open();
            }
            wire.send(json(200, &format!("{{\"id\":\"{AGENT}\"}}")));
        }
        Then::KeepAlive
    })
}

fn open(session: &Session, path: &str) -> Wire {
    let url = format!("{}{path}", session.url());
    let mut wire = Wire::connect(split(&url).0);
    wire.send(request("POST", &url, "Content-Type: application/json\r\n", "{\"text\":\"hi\"}"));
    wire.head().unwrap();
    wire
}

/// Streams, asks for something else in the middle, ends the stream, and reads the rest.
fn converse(session: &Session, is_waited_for: bool) {
    post(&format!("{}/v1/agents", session.url()), "{}");
    let mut stream = open(session, &format!("/v1/agents/{AGENT}/stream"));
    assert_eq!(stream.data(), "data: {\"type\":\"token\"}\n\n");
    if is_waited_for {
        post(&format!("{}/v1/agents/another/cancel", session.url()), "{\"note\":1}");
        assert!(stream.is_silent(MOMENT), "ended before it was");
    }
    post(&format!("{}/v1/agents/{AGENT}/enough", session.url()), "{}");
    let begun = Instant::now();
    assert_eq!(stream.data(), "data: {\"type\":\"ended\"}\n\n");
    assert_eq!(stream.chunk(), Chunk::End(Vec::new()));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tail_of_a_stream_waits_for_what_has_brought_it_about() {
    let stage = Stage::new();
    let upstream = agent();
    let session = stage.record(&upstream).await;
    converse(&session, true);
    session.finish().await.unwrap();
    drop(upstream);

    for pace in ["instant", "recorded", "1000x"] {
        let pace: Pace = pace.parse().unwrap();
        let session = stage.session(Mode::Replay).pace(pace).start().await.unwrap();
        converse(&session, true);
        session.finish().await.unwrap();
    }
    // A client that ends it at once, over and over, and does not ask what is about another one: nothing
    // depends on who is faster.
    for _ in 0..20 {
        let session = stage.session(Mode::Replay).start().await.unwrap();
        converse(&session, false);
        session.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_meanwhile_and_names_nothing_holds_nothing_back() {
    let asked = Arc::new(Gate::new());
    let go_on = Arc::clone(&asked);
    let upstream = Upstream::start(move |asked, wire| {
        if asked.path().ends_with("/stream") {
            wire.send(EVENTS);
            wire.send_chunk("data: 1\n\n");
            go_on.pass();
            wire.send_chunk("data: 2\n\n");
            wire.send_end();
        } else {
            wire.send(json(200, "{}"));
        }
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let mut stream = open(&session, "/v1/stream");
    stream.data();
    post(&format!("{}/v1/stopwords", session.url()), "{}").text();
    asked.open();
    stream.data();
    stream.chunk();
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let mut stream = open(&session, "/v1/stream");

    assert_eq!(stream.data(), "data: 1\n\n");
    assert_eq!(stream.data(), "data: 2\n\n");
    assert_eq!(stream.chunk(), Chunk::End(Vec::new()));
    session.stop().await.unwrap();
}

/// Calls what a server answers on a stream that is open already, each under its id, and gives the answers.
fn called(session: &Session, calls: &[(u32, char)]) -> Vec<(u32, char)> {
    let url = format!("{}/sse", session.url());
    let mut stream = Wire::connect(split(&url).0);
    stream.send(request("GET", &url, "Accept: text/event-stream\r\n", ""));
    stream.head().unwrap();
    let endpoint = stream.data();
    let endpoint = endpoint.lines().nth(1).unwrap().trim_start_matches("data: ");
    for (id, name) in calls {
        let said =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"say","params":{{"n":"{name}"}}}}"#);
        post(&format!("{}{endpoint}", session.url()), &said);
    }
    let answer = |said: String| {
        let id = said.split("\"id\":").nth(1).unwrap().split(',').next().unwrap();
        (id.parse().unwrap(), said.split('"').nth_back(1).unwrap().chars().next().unwrap())
    };
    calls.iter().map(|_| answer(stream.data())).collect()
}

/// A watch that is asked for with a `POST`, goes on for ever, and tells what is put, which no identifier names.
fn watched() -> Upstream {
    let put = Arc::new(Gate::new());
    Upstream::start(move |asked, wire| {
        if asked.path().ends_with("/watch") {
            wire.send(EVENTS);
            wire.send_chunk("data: created\n\n");
            for _ in 0..2 {
                put.pass();
                wire.send_chunk("data: put\n\n");
            }
            wire.wait_for_end();
        } else {
            put.open();
            wire.send(json(200, "{}"));
        }
        Then::KeepAlive
    })
}

fn watch(session: &Session) {
    let mut stream = open(session, "/watch");
    assert_eq!(stream.data(), "data: created\n\n");
    for _ in 0..2 {
        assert!(stream.is_silent(MOMENT), "nothing is put yet");
        post(&format!("{}/put", session.url()), "{\"key\":\"a\"}");
        assert_eq!(stream.data(), "data: put\n\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_its_client_left_goes_on_in_step_with_what_else_it_did() {
    let (stage, upstream) = (Stage::new(), watched());
    let session = stage.session(Mode::Record).upstream(upstream.url()).grace(Duration::ZERO);
    let session = session.start().await.unwrap();
    watch(&session);
    session.finish().await.unwrap();
    assert_eq!(stage.cassette().interactions[0].end(), End::ClientClosed);

    let session = stage.replay().await;
    watch(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_was_held_back_has_the_id_of_its_own_call() {
    let (sender, receiver) = std::sync::mpsc::channel::<String>();
    let receiver = std::sync::Mutex::new(receiver);
    let upstream = Upstream::start(move |asked, wire| {
        if asked.path() == "/sse" {
            wire.send(EVENTS);
            let id = "5f0c2a7d9e8b4c61a2d3e4f5a6b7c8d9";
            wire.send_chunk(format!("event: endpoint\ndata: /messages?session_id={id}\n\n"));
            let calls: Vec<String> = receiver.lock().unwrap().iter().take(3).collect();
            for at in [0, 2, 1] {
                let id = calls[at].split("\"id\":").nth(1).unwrap().split(',').next().unwrap();
                let name = calls[at].split('"').nth_back(1).unwrap();
                let said = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":"{name}"}}}}"#);
                wire.send_chunk(format!("data: {said}\n\n"));
            }
            wire.send_end();
        } else {
            sender.send(asked.text().to_string()).unwrap();
            wire.send(json(202, ""));
        }
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    assert_eq!(called(&session, &[(1, 'a'), (2, 'b'), (3, 'c')]), [(1, 'a'), (3, 'c'), (2, 'b')]);
    session.finish().await.unwrap();

    // Its ids are those of other calls in the recording.
    let session = stage.replay().await;
    assert_eq!(called(&session, &[(2, 'a'), (3, 'b'), (4, 'c')]), [(2, 'a'), (4, 'c'), (3, 'b')]);
    session.finish().await.unwrap();
    let session = stage.replay().await;
    assert_eq!(called(&session, &[(1, 'c'), (2, 'b'), (3, 'a')]), [(3, 'a'), (1, 'c'), (2, 'b')]);
    session.finish().await.unwrap();
    // What was meant by a call that is a miss is not waited for.
    let session = stage.replay().await;
    let begun = Instant::now();
    assert_eq!(called(&session, &[(1, 'a'), (2, 'x'), (3, 'c')]), [(1, 'a'), (3, 'c'), (2, 'b')]);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(session.stop().await.unwrap().misses.len(), 1);
}

/// A server that ends the stream of a call without an answer once the session is over.
fn forgetful() -> Upstream {
    let over = Arc::new(Gate::new());
    Upstream::start(move |asked, wire| {
        if asked.head.line.starts_with("DELETE") {
            over.open();
            wire.send(json(200, "{}"));
        } else if asked.text().contains("tools/call") {
            wire.send(EVENTS);
            wire.send_chunk(
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n",
            );
            over.pass();
            wire.send_end();
        } else {
            wire.send(json(202, ""));
        }
        Then::KeepAlive
    })
}

/// Calls, cancels the call and ends the session. Somebody patient sees that the call goes on until then.
fn cancel(session: &Session, is_patient: bool) {
    let url = format!("{}/mcp", session.url());
    let say = |said: &str| format!(r#"{{"jsonrpc":"2.0",{said}}}"#);
    let mut wire = Wire::connect(split(&url).0);
    let json = "Content-Type: application/json\r\n";
    wire.send(request("POST", &url, json, &say(r#""id":7,"method":"tools/call","params":{}"#)));
    wire.head().unwrap();
    wire.data();
    assert!(!is_patient || wire.is_silent(MOMENT), "ended before it was cancelled");
    post(&url, &say(r#""method":"notifications/cancelled","params":{"requestId":7}"#));
    assert!(!is_patient || wire.is_silent(MOMENT), "ended before the session");
    ask("DELETE", &url, "", "");
    assert_eq!(wire.chunk(), Chunk::End(Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_never_answered_ends_with_its_session() {
    let stage = Stage::new();
    let upstream = forgetful();
    let session = stage.record(&upstream).await;
    // So fast that the end has no time of its own.
    cancel(&session, false);
    session.finish().await.unwrap();
    drop(upstream);
    assert_eq!(chunks(stage.cassette().interactions[0].response().unwrap()).len(), 1);

    let session = stage.replay().await;
    cancel(&session, true);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_its_client_gave_up_is_silent_until_it_leaves() {
    let never = Arc::new(Gate::new());
    let upstream = Upstream::start(move |_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        wire.wait_for_end();
        never.open();
        Then::Close
    });
    let stage = Stage::new();
    let recorder = stage.recorder(&upstream).grace(Duration::from_millis(10));
    let session = recorder.start().await.unwrap();
    let mut stream = open(&session, "/v1/stream");
    stream.data();
    drop(stream);
    session.finish().await.unwrap();
    assert_eq!(stage.cassette().interactions[0].end(), End::ClientClosed);

    let session = stage.replay().await;
    let mut stream = open(&session, "/v1/stream");

    assert_eq!(stream.data(), "data: 1\n\n");
    assert!(stream.is_silent(Duration::from_millis(200)), "it is cut");
    drop(stream);
    let begun = Instant::now();
    session.finish().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_begins_after_its_client_gave_up_is_silence_in_replay() {
    let late = Gate::new();
    let begin = late.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n");
        begin.pass();
        wire.send("late");
        Then::KeepAlive
    });
    let (stage, patience) = (Stage::new(), Duration::from_millis(500));
    let session = stage.record(&upstream).await;
    drop(open(&session, "/v1"));
    tokio::time::sleep(patience).await;
    late.open();
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let mut waiting = open(&session, "/v1");

    assert!(waiting.is_silent(Duration::from_millis(200)));
    drop(waiting);
    session.finish().await.unwrap();
    let cassette = stage.cassette();
    assert_eq!(cassette.interactions[0].end(), End::ClientClosed);
    assert!(cassette.interactions[0].response().unwrap().body.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_body_has_a_time_of_its_own() {
    for media in ["text/event-stream", "text/plain"] {
        check_late_end(media).await;
    }
}

async fn check_late_end(media: &'static str) {
    let seen = Arc::new(Gate::new());
    let was_seen = Arc::clone(&seen);
    let upstream = Upstream::start(move |_, wire| {
        wire.send(EVENTS.replace("text/event-stream", media));
        wire.send_chunk("data: 1\n\n");
        was_seen.pass();
        std::thread::sleep(Duration::from_millis(300));
        wire.send_end();
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let read = |session: &Session| {
        let begun = Instant::now();
        let mut stream = open(session, "/v1/stream");
        assert_eq!(stream.data(), "data: 1\n\n");
        seen.open();
        assert_eq!(stream.chunk(), Chunk::End(Vec::new()));
        begun.elapsed()
    };
    read(&session);
    let killed = Stage::new();
    std::fs::write(killed.folder().join("tape.json.part"), stage.file("tape.json.part")).unwrap();
    session.finish().await.unwrap();
    let next = killed.record(&upstream).await;
    read(&next);
    next.finish().await.unwrap();

    for cassette in [stage.cassette(), killed.cassette_of("tape.recovered")] {
        assert_eq!(chunks(cassette.interactions[0].response().unwrap()), ["data: 1\n\n", ""]);
    }
    let session = stage.session(Mode::Replay).pace("recorded".parse().unwrap());
    let session = session.start().await.unwrap();
    assert!(read(&session) >= Duration::from_millis(250));
    session.finish().await.unwrap();
}
