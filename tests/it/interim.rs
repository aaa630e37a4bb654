//! What is said before an answer: interim answers, and that a body may come or not.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use retape::Session;

use crate::stage::Stage;
use crate::support::client::{self, reply};
use crate::support::upstream::{Upstream, json};
use crate::support::wire::{Head, Wire};

fn request(session: &Session, version: &str) -> String {
    format!("GET /tape/-/x HTTP/{version}\r\nHost: {}\r\n\r\n", session.address())
}

/// An interim answer that leads to another one of the server, and to the server by its own address.
fn hint(at: &str) -> String {
    format!("</a.css>; rel=preload, <{at}/b.css>; rel=preload")
}

#[track_caller]
fn check_hint(head: Head, session: &Session) {
    let below = format!("http://{}/tape/-", session.address());
    let link = hint(&below).replace("</a", "</tape/-/a");
    assert_eq!(head.line, "HTTP/1.1 103 Early Hints");
    assert_eq!(head.fields, [("link".to_owned(), link)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_never_comes_to_its_answer_is_left() {
    for said in ["103 Early Hints\r\nLink: </a.css>; rel=preload", "100 Continue"] {
        let stage = Stage::new();
        let upstream = Upstream::raw(move |mut wire| {
            if wire.head().is_some() {
                let many = format!("HTTP/1.1 {said}\r\n\r\n").repeat(200);
                (0..50).for_each(|_| wire.send(&many));
            }
        });
        let session = stage.record(&upstream).await;
        let mut wire = Wire::connect(session.address());
        wire.send(request(&session, "1.1"));

        let lines = std::iter::from_fn(|| Some(wire.head()?.line));
        let line = lines.take(200).find(|line| !line.starts_with("HTTP/1.1 1"));

        assert_eq!(line.as_deref(), Some("HTTP/1.1 502 Bad Gateway"));
        let failed = session.finish().await.unwrap_err();
        let why = "more than 100 answers with a status of 1xx came before an answer";
        assert!(format!("{failed:?}").contains(why), "{failed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interim_answers_are_passed_on_at_once_and_replayed() {
    let stage = Stage::new();
    let (seen, is_seen) = channel();
    let is_seen = Mutex::new(is_seen);
    let upstream = Upstream::raw(move |mut wire| {
        while wire.head().is_some() {
            let at = format!("http://{}", wire.address());
            let hint = hint(&at);
            wire.send(format!("HTTP/1.1 103 Early Hints\r\nLink: {hint}\r\n\r\n"));
            is_seen.lock().unwrap().recv().unwrap();
            wire.send(json(200, "[1]"));
        }
    });
    let session = stage.record(&upstream).await;
    let mut wire = Wire::connect(session.address());
    wire.send(request(&session, "1.1"));
    check_hint(wire.head().unwrap(), &session);
    seen.send(()).unwrap();
    assert_eq!(reply(&mut wire, "GET").text(), "[1]");
    session.finish().await.unwrap();

    let recorded = stage.cassette();
    let session = stage.replay().await;
    let mut wire = Wire::connect(session.address());
    wire.send(request(&session, "1.1").repeat(2));
    for _ in 0..2 {
        check_hint(wire.head().unwrap(), &session);
        assert_eq!(reply(&mut wire, "GET").text(), "[1]");
    }
    let mut old = Wire::connect(session.address());
    old.send(request(&session, "1.0"));
    assert_eq!(reply(&mut old, "GET").status, 200);
    session.finish().await.unwrap();

    let interim = &recorded.interactions[0].response().unwrap().interim;
    assert_eq!(interim[0].status, 103);
    assert_eq!(interim[0].headers.get("link"), Some(&*hint(&upstream.url())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_the_server_expects_comes() {
    let stage = Stage::new();
    let upstream = Upstream::raw(|mut wire| {
        assert_eq!(wire.head().unwrap().field("expect"), Some("100-continue"));
        wire.send("HTTP/1.1 100 Continue\r\n\r\n");
        let body = wire.exactly(5).unwrap();
        wire.send(json(200, &String::from_utf8(body).unwrap()));
    });
    let talk = |session: &Session| {
        let mut wire = Wire::connect(session.address());
        wire.send(expecting(session));
        assert_eq!(wire.head().unwrap().line, "HTTP/1.1 100 Continue");
        wire.send("hello");
        assert_eq!(reply(&mut wire, "POST").text(), "hello");
    };
    let session = stage.record(&upstream).await;
    talk(&session);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    talk(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_wants_no_body_gets_none_and_refuses_in_replay() {
    let stage = Stage::new();
    let upstream = Upstream::raw(|mut wire| {
        let head = wire.head().unwrap();
        if head.field("expect").is_some() {
            wire.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno");
            assert_eq!(wire.rest(), b"");
        } else {
            let body = wire.exactly(5).unwrap();
            wire.send(json(200, &String::from_utf8(body).unwrap()));
        }
    });
    let talk = |session: &Session| {
        let mut wire = Wire::connect(session.address());
        wire.send(expecting(session));
        let refusal = reply(&mut wire, "POST");
        assert_eq!((refusal.status, refusal.text().as_str()), (417, "no"));
        assert_eq!(refusal.field("connection"), Some("close"));
        let url = format!("{}/x", session.url());
        assert_eq!(client::ask("POST", &url, "", "hello").text(), "hello");
    };
    let session = stage.record(&upstream).await;
    talk(&session);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    talk(&session);
    session.finish().await.unwrap().all_played().unwrap();

    let cassette = stage.cassette();
    let refused = &cassette.interactions[0].request;
    assert_eq!((refused.headers.get("expect"), refused.body.len()), (Some("100-continue"), 0));
}

fn expecting(session: &Session) -> String {
    let fields = "Expect: 100-continue\r\nContent-Length: 5\r\n";
    client::request("POST", &format!("{}/x", session.url()), fields, "")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_given_to_the_request_that_was_refused() {
    let stage = Stage::new();
    let upstream = Upstream::raw(|mut wire| {
        while let Some(head) = wire.head() {
            let length = head.field("content-length").unwrap().parse().unwrap();
            if head.field("x-part") == Some("2") || length > 5 {
                return wire.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
            }
            wire.send("HTTP/1.1 100 Continue\r\n\r\n");
            wire.exactly(length).unwrap();
            wire.send(json(200, "1"));
        }
    });
    let ask = |session: &Session, path: &str, part: &str, length: usize| {
        let fields =
            format!("Expect: 100-continue\r\nX-Part: {part}\r\nContent-Length: {length}\r\n");
        let mut wire = Wire::connect(session.address());
        wire.send(client::request("PUT", &format!("{}{path}", session.url()), &fields, ""));
        let head = wire.head().unwrap();
        if head.line.contains("100") {
            wire.send("x".repeat(length));
            return reply(&mut wire, "PUT").status;
        }
        head.line.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let session = stage.record(&upstream).await;
    // What is no wish to wait goes on to the server.
    let mut wire = Wire::connect(session.address());
    let fields = "Expect: tea\r\nContent-Length: 6\r\n";
    wire.send(client::request("PUT", &format!("{}/c", session.url()), fields, "sugar!"));
    assert_eq!(reply(&mut wire, "PUT").status, 413);
    assert_eq!([ask(&session, "/a", "1", 5), ask(&session, "/a", "2", 5)], [200, 413]);
    assert_eq!([ask(&session, "/b", "1", 5), ask(&session, "/b", "1", 9)], [200, 413]);
    session.finish().await.unwrap();
    let recorded = stage.cassette();
    let first = &recorded.interactions[0].request;
    assert_eq!((first.headers.get("expect"), &first.body[..]), (Some("tea"), &b"sugar!"[..]));

    let session = stage.replay().await;
    assert_eq!([ask(&session, "/a", "1", 5), ask(&session, "/a", "2", 5)], [200, 413]);
    assert_eq!([ask(&session, "/b", "1", 9), ask(&session, "/b", "1", 5)], [413, 200]);
    session.finish().await.unwrap();
}
