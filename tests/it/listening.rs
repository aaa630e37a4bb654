//! A client that listens to a stream is told of what it does elsewhere when it does it, and listens until
//! the end, as it did when it was recorded.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use retape::Session;

use crate::stage::Stage;
use crate::support::client::{ask, post, request, split};
use crate::support::gate::Gate;
use crate::support::upstream::{EVENTS, Then, Upstream, json};
use crate::support::wire::{Chunk, Wire};

/// For so long nothing is sent that is held back.
const MOMENT: Duration = Duration::from_millis(40);

/// A server that tells whoever listens of what is posted, until a `DELETE` ends it.
fn telling() -> Upstream {
    let (posted, ended) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    Upstream::start(move |asked, wire| {
        match asked.head.line.split(' ').next() {
            Some("GET") => {
                wire.send(EVENTS);
                posted.pass();
                wire.send_chunk("id: 7\ndata: posted\n\n");
                ended.pass();
                wire.send_end();
            }
            Some("POST") => {
                posted.open();
                wire.send(json(200, "{}"));
            }
            _ => {
                ended.open();
                wire.send(json(200, "{}"));
            }
        }
        Then::KeepAlive
    })
}

fn listen(session: &Session) -> Wire {
    let url = format!("{}/mcp", session.url());
    let mut wire = Wire::connect(split(&url).0);
    wire.send(request("GET", &url, "Accept: text/event-stream\r\n", ""));
    wire.head().unwrap();
    wire
}

/// Listens, posts, posts something else, and ends it.
fn converse(session: &Session) {
    let url = format!("{}/mcp", session.url());
    let mut listening = listen(session);
    assert!(listening.is_silent(MOMENT), "told before it was posted");

    post(&url, r#"{"say": "hello"}"#);
    assert_eq!(listening.data(), "id: 7\ndata: posted\n\n");
    assert!(listening.is_silent(MOMENT), "ended before its time");

    ask("DELETE", &url, "", "");
    assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_goes_on_and_ends_when_what_was_asked_meanwhile_is_asked_again() {
    let stage = Stage::new();
    let upstream = telling();
    let session = stage.record(&upstream).await;
    converse(&session);
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    converse(&session);
    // The same run once more, from the beginning.
    converse(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_a_client_watches_come_when_it_has_done_what_they_tell() {
    // Kubernetes calls its lines JSON.
    for media in ["application/json", "application/x-ndjson"] {
        check_watched(media).await;
    }
}

async fn check_watched(media: &'static str) {
    let stage = Stage::new();
    let posted = Arc::new(Gate::new());
    let upstream = Upstream::start(move |asked, wire| {
        if asked.head.line.starts_with("GET") {
            wire.send(EVENTS.replace("text/event-stream", media));
            wire.send_chunk("{\"type\":\"ADDED\"}\n");
            posted.pass();
            wire.send_chunk("{\"type\":\"DELETED\"}\n");
            wire.send_end();
        } else {
            posted.open();
            wire.send(json(200, "{}"));
        }
        Then::KeepAlive
    });
    let watch = |session: &Session| {
        let mut watching = listen(session);
        assert_eq!(watching.data(), "{\"type\":\"ADDED\"}\n");
        assert!(watching.is_silent(MOMENT), "told before it was done");
        post(&format!("{}/pods", session.url()), "{}");
        assert_eq!(watching.data(), "{\"type\":\"DELETED\"}\n");
        assert_eq!(watching.chunk(), Chunk::End(Vec::new()));
    };
    let session = stage.record(&upstream).await;
    watch(&session);
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    watch(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_stream_says_of_a_later_request_is_the_clients() {
    let stage = Stage::new();
    let posted = Arc::new(Gate::new());
    let said = Arc::new(Mutex::new(String::new()));
    let upstream = Upstream::start(move |asked, wire| {
        if asked.head.line.starts_with("GET") {
            wire.send(EVENTS);
            posted.pass();
            wire.send_chunk(format!("data: {}\n\n", said.lock().unwrap()));
            wire.send_end();
        } else {
            *said.lock().unwrap() = asked.text();
            posted.open();
            wire.send(json(202, "{}"));
        }
        Then::KeepAlive
    });
    let told = |session: &Session, guest: &str| {
        let mut listening = listen(session);
        assert!(listening.is_silent(MOMENT), "told before it was posted");
        let asked = format!(r#"{{"guest":"{guest}"}}"#);
        post(&format!("{}/mcp", session.url()), &asked);
        assert_eq!(listening.data(), format!("data: {asked}\n\n"));
        assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
    };
    let session = stage.record(&upstream).await;
    told(&session, "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0");
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    told(&session, "0c9df04e-5c1b-4a7e-8f4b-2b0a3f5f7d11");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_answered_behind_the_reply_to_what_the_server_asked_in_a_stream() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    let asks = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create"}"#;
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let stage = Stage::new();
    let (called, replied, ended) = (Gate::new(), Gate::new(), Gate::new());
    let upstream = Upstream::start(move |asked, wire| {
        if asked.head.line.starts_with("GET") {
            wire.send(EVENTS);
            called.pass();
            wire.send_chunk(format!("data: {asks}\n\n"));
            ended.pass();
            wire.send_end();
        } else if asked.text() == call {
            called.open();
            replied.pass();
            wire.send(json(200, answer));
        } else {
            replied.open();
            ended.open();
            wire.send(json(202, "{}"));
        }
        Then::KeepAlive
    });
    let talk = |session: &Session| {
        let url = format!("{}/mcp", session.url());
        let mut listening = listen(session);
        std::thread::scope(|scope| {
            let calling = scope.spawn(|| post(&url, call));
            assert_eq!(listening.data(), format!("data: {asks}\n\n"));
            std::thread::sleep(MOMENT);
            assert!(!calling.is_finished(), "answered before the reply");
            post(&url, reply);
            calling.join().unwrap();
        });
        assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
    };
    let session = stage.record(&upstream).await;
    talk(&session);
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    talk(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_stream_says_of_a_thing_comes_behind_what_another_one_has_told_of_it() {
    let [asks, done] = ["asks", "done"].map(|it| format!(r#"{{"id":"elicit-0001","is":"{it}"}}"#));
    let stage = Stage::new();
    let (noted, told, ended) = (Gate::new(), Gate::new(), Gate::new());
    let said = [asks.clone(), done.clone()];
    let upstream = Upstream::start(move |asked, wire| {
        if asked.head.line.starts_with("GET") {
            wire.send(EVENTS);
            noted.pass();
            wire.send_chunk(format!("data: {}\n\n", said[0]));
            told.open();
            ended.pass();
            wire.send_end();
        } else if asked.text().contains("call") {
            wire.send(EVENTS);
            wire.send_chunk("data: {}\n\n");
            told.pass();
            std::thread::sleep(MOMENT);
            wire.send_chunk(format!("data: {}\n\n", said[1]));
            wire.send_end();
            ended.open();
        } else {
            noted.open();
            wire.send(json(202, "{}"));
        }
        Then::KeepAlive
    });
    let talk = |session: &Session| {
        let url = format!("{}/mcp", session.url());
        let mut listening = listen(session);
        let mut calling = Wire::connect(split(&url).0);
        calling.send(request("POST", &url, "", r#"{"say":"call"}"#));
        calling.head().unwrap();
        assert_eq!(calling.data(), "data: {}\n\n");
        assert!(calling.is_silent(MOMENT), "done before it was told of");
        post(&url, r#"{"say":"note"}"#);
        assert_eq!(listening.data(), format!("data: {asks}\n\n"));
        assert_eq!(calling.data(), format!("data: {done}\n\n"));
        assert_eq!(calling.chunk(), Chunk::End(Vec::new()));
        assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
    };
    let session = stage.record(&upstream).await;
    talk(&session);
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    talk(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_ends_with_its_session_ends_before_that_is_answered() {
    let stage = Stage::new();
    let ended = Arc::new(Gate::new());
    let upstream = Upstream::start(move |asked, wire| {
        if asked.head.line.starts_with("GET") {
            wire.send(EVENTS);
            wire.send_chunk("data: 1\n\n");
            ended.pass();
            wire.send_end();
        } else {
            ended.open();
            wire.send(json(200, "{}"));
        }
        Then::KeepAlive
    });
    let talk = |session: &Session| {
        let url = format!("{}/mcp", session.url());
        let mut listening = listen(session);
        assert_eq!(listening.data(), "data: 1\n\n");
        assert_eq!(ask("DELETE", &url, "", "").status, 200);
        listening
    };
    let session = stage.record(&upstream).await;
    assert_eq!(talk(&session).chunk(), Chunk::End(Vec::new()));
    session.finish().await.unwrap();
    drop(upstream);

    for _ in 0..20 {
        let session = stage.replay().await;
        // It is there when the answer is, without a wait.
        let mut listening = talk(&session);
        assert!(listening.has_come(), "the answer overtook the end");
        assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
        session.finish().await.unwrap();
    }
    // Who does not listen is answered all the same.
    let session = stage.replay().await;
    let begun = Instant::now();
    assert_eq!(ask("DELETE", &format!("{}/mcp", session.url()), "", "").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(2));
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_before_without_a_reply_does_not_wait_for_one() {
    let message = |id: usize, rest: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#);
    let (call, list) = (message(1, r#""method":"call""#), r#""method":"list""#);
    let asks = message(0, r#""method":"elicitation/create""#);
    let reply = message(0, r#""result":{}"#);
    let stage = Stage::new();
    let (called, replied, ended) = (Gate::new(), Gate::new(), Gate::new());
    let (called_as, said) = (call.clone(), asks.clone());
    let upstream = Upstream::start(move |asked, wire| {
        let text = asked.text();
        if asked.head.line.starts_with("GET") {
            wire.send(EVENTS);
            called.pass();
            wire.send_chunk(format!("data: {said}\n\n"));
            ended.pass();
            wire.send_end();
        } else if text.contains("\"id\":0") {
            // Two are under way.
            replied.open();
            replied.open();
            ended.open();
            wire.send(json(202, "{}"));
        } else {
            let id = text.split(',').nth(1).unwrap().to_owned();
            let is_call = text == called_as;
            if is_call {
                called.open();
            }
            if is_call || id == r#""id":3"# {
                replied.pass();
            }
            wire.send(json(200, &format!(r#"{{"jsonrpc":"2.0",{id},"result":{{}}}}"#)));
        }
        Then::KeepAlive
    });
    let talk = |session: &Session, is_patient: bool| {
        let url = format!("{}/mcp", session.url());
        post(&url, &message(2, list));
        let mut listening = listen(session);
        std::thread::scope(|scope| {
            let calling = scope.spawn(|| post(&url, &call));
            assert_eq!(listening.data(), format!("data: {asks}\n\n"));
            let listing = scope.spawn(|| post(&url, &message(3, list)));
            std::thread::sleep(MOMENT);
            if is_patient {
                assert_eq!(listing.join().unwrap().status, 200);
            }
            assert!(!calling.is_finished(), "answered before the reply");
            post(&url, &reply);
            calling.join().unwrap();
        });
        assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
    };
    let session = stage.record(&upstream).await;
    talk(&session, false);
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    talk(&session, true);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_for_nothing_meanwhile_is_not_kept_waiting_for_ever() {
    let stage = Stage::new();
    let upstream = telling();
    let session = stage.record(&upstream).await;
    converse(&session);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let asked = Instant::now();
    let mut listening = listen(&session);

    assert_eq!(listening.data(), "id: 7\ndata: posted\n\n");
    assert_eq!(listening.chunk(), Chunk::End(Vec::new()));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_held_back_does_not_hold_up_the_end() {
    let stage = Stage::new();
    let upstream = telling();
    let session = stage.record(&upstream).await;
    converse(&session);
    session.finish().await.unwrap();

    let mut fastest = [Duration::MAX; 2];
    // A busy machine may take its time with one of them.
    for told in [false, true].repeat(3) {
        let session = stage.replay().await;
        let mut listening = listen(&session);
        if told {
            post(&format!("{}/mcp", session.url()), r#"{"say": "hello"}"#);
            assert_eq!(listening.data(), "id: 7\ndata: posted\n\n");
        }
        assert!(listening.is_silent(MOMENT), "told before its time");

        let stopped = Instant::now();
        session.stop().await.unwrap();

        let fastest = &mut fastest[usize::from(told)];
        *fastest = stopped.elapsed().min(*fastest);
        // It ends as that of a server that goes away: nothing is said that was not due.
        assert_eq!(String::from_utf8(listening.rest()).unwrap(), "");
    }
    // What is under way when a session ends is given half a second.
    assert!(fastest.iter().all(|took| *took < Duration::from_millis(400)), "{fastest:?}");
}

/// Asks for what is new, twice, each time before it posts there what comes of it; what it was told.
fn poll(session: &Session, kind: &str) -> Vec<String> {
    let url = format!("{}/poll/{kind}?session=7", session.url());
    poll_beside(&url, &url)
}

/// The same where something is posted elsewhere.
fn poll_beside(url: &str, posted: &str) -> Vec<String> {
    let turn = |_| {
        let mut polling = Wire::connect(split(url).0);
        polling.send(request("GET", url, "", ""));
        assert!(polling.is_silent(MOMENT), "told before it was posted");
        post(posted, r#"{"say": "hello"}"#);
        polling.head().unwrap().line
    };
    (0..2).map(turn).collect()
}

/// A server that answers questions when something was posted.
fn feed() -> Upstream {
    let posted = Gate::new();
    Upstream::start(move |asked, wire| {
        match asked.head.line.starts_with("GET") {
            true => posted.pass(),
            false => posted.open(),
        }
        wire.send(json(200, "{}"));
        Then::KeepAlive
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_waits_for_what_was_posted_elsewhere() {
    let (stage, upstream) = (Stage::new(), feed());
    let say = |session: &Session| {
        let [feed, room] =
            ["sync?since=7", "rooms/lobby/send"].map(|path| format!("{}/{path}", session.url()));
        poll_beside(&feed, &room)
    };
    let session = stage.record(&upstream).await;
    let recorded = say(&session);
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;

    assert_eq!(say(&session), recorded);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_waited_for_what_was_posted_waits_for_it_again() {
    let posted = Gate::new();
    let upstream = Upstream::start(move |asked, wire| {
        match (asked.head.line.split(' ').next(), asked.path()) {
            (Some("GET"), path) => {
                posted.pass();
                match path {
                    path if path.starts_with("/poll/known") => wire.send(json(200, "{}")),
                    path if path.starts_with("/poll/none") => wire.send("HTTP/1.1 204 No Content\r\n\r\n"),
                    _ => wire.send(
                        "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n",
                    ),
                }
            }
            _ => {
                posted.open();
                wire.send(json(200, "{}"));
            }
        }
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let kinds = ["known", "none", "chunked"];
    let recorded = kinds.map(|kind| poll(&session, kind));
    session.finish().await.unwrap();
    drop(upstream);

    let session = stage.replay().await;
    let replayed = kinds.map(|kind| poll(&session, kind));

    assert_eq!(replayed, recorded);
    for (told, status) in recorded.iter().zip(["200", "204", "400"]) {
        assert!(told.iter().all(|line| line.contains(status)), "{told:?}");
    }
    session.finish().await.unwrap();
}
