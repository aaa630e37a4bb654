//! Servers that do not answer, or not to the end: what the client sees is the same when it is
//! recorded and when it is replayed. Only why there is no answer is told while it is known.

use std::net::TcpListener;
use std::time::Duration;

use retape::cassette::End;

use crate::stage::{Stage, only};
use crate::support::client::{Reply, get};
use crate::support::upstream::{Then, Upstream};

/// What a client sees of a server that fails, recorded and then replayed, and how the cassette says
/// that it ended.
async fn check(upstream: &Upstream, silence: Duration, expected: End) -> Reply {
    let stage = Stage::new();
    let session = stage.recorder(upstream).silence(silence).start().await.unwrap();
    let recorded = get(&format!("{}/x", session.url()));
    session.finish().await.unwrap();
    assert_eq!(only(&stage.cassette()).end(), expected);

    let session = stage.replay().await;
    let replayed = get(&format!("{}/x", session.url()));
    session.finish().await.unwrap();

    assert_eq!(seen(&replayed), seen(&recorded));
    recorded
}

fn seen(reply: &Reply) -> (u16, String, bool, Option<&str>) {
    let own = reply.field("retape-error");
    let text = if own.is_none() { reply.text() } else { String::new() };
    (reply.status, text, reply.cut, own)
}

const PATIENT: Duration = Duration::from_secs(60);
const HASTY: Duration = Duration::from_millis(60);

/// A server that answers each request with these bytes and then does that.
fn saying(bytes: &'static str, then: Then) -> Upstream {
    Upstream::start(move |_, wire| {
        wire.send(bytes);
        if then == Then::KeepAlive {
            wire.wait_for_end();
            return Then::Close;
        }
        // What was sent is to arrive before the reset overtakes it.
        wire.wait_for_delivery();
        then
    })
}

fn own(reply: &Reply) -> (u16, &str) {
    (reply.status, reply.field("retape-error").unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_nobody_started() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let stage = Stage::new();
    let url = format!("http://{free}");
    let session = stage.session(retape::Mode::Record).upstream(&url).start().await.unwrap();
    let recorded = get(&session.url());
    session.finish().await.unwrap();
    let session = stage.replay().await;
    let replayed = get(&session.url());
    session.finish().await.unwrap();

    assert_eq!(only(&stage.cassette()).end(), End::Unreachable);
    assert_eq!(seen(&replayed), seen(&recorded));
    assert_eq!(own(&recorded), (502, "unreachable"));
    let now = format!("`{url}` cannot be reached: the connection was refused");
    assert!(recorded.text().contains(&now), "{}", recorded.text());
    let then = format!("`{url}` could not be reached when this was recorded");
    assert!(replayed.text().contains(&then), "{}", replayed.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_or_resets_before_it_answers() {
    for then in [Then::Close, Then::Reset] {
        let reply = check(&saying("", then), PATIENT, End::ServerClosed).await;

        assert_eq!(own(&reply), (502, "no_answer"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_within_the_head() {
    let upstream = saying("HTTP/1.1 200 OK\r\nContent-Le", Then::Close);

    let reply = check(&upstream, PATIENT, End::ServerClosed).await;

    assert_eq!(own(&reply), (502, "no_answer"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_speak_http() {
    let upstream = saying("SSH-2.0-OpenSSH_9.6\r\n\r\n", Then::Close);

    let reply = check(&upstream, PATIENT, End::ServerClosed).await;

    assert_eq!(own(&reply), (502, "no_answer"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_says_nothing() {
    let reply = check(&saying("", Then::KeepAlive), HASTY, End::Timeout).await;

    assert_eq!(own(&reply), (504, "timeout"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_with_a_length_that_is_cut() {
    for media in ["text/plain", "application/json", "text/event-stream"] {
        for then in [Then::Close, Then::Reset] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: 99");
            let bytes: &'static str = format!("{head}\r\n\r\n{{\"a\":").leak();

            let reply = check(&saying(bytes, then), PATIENT, End::ServerClosed).await;

            assert_eq!((reply.text().as_str(), reply.cut), ("{\"a\":", true), "{media} {then:?}");
            assert_eq!(reply.field("content-length"), Some("99"), "{media} {then:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunked_body_that_is_cut() {
    for media in ["text/plain", "application/json", "text/event-stream"] {
        for then in [Then::Close, Then::Reset] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n");
            let head = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
            let bytes: &'static str =
                format!("{head}9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\nda").leak();

            let reply = check(&saying(bytes, then), PATIENT, End::ServerClosed).await;

            let expected = ("data: 1\n\ndata: 2\n\nda", true);
            assert_eq!((reply.text().as_str(), reply.cut), expected, "{media} {then:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunked_body_that_is_not_chunked_as_it_should_be() {
    let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nnonsense\r\n";

    let reply = check(&saying(bytes, Then::Close), PATIENT, End::ServerClosed).await;

    assert_eq!((reply.text().as_str(), reply.cut), ("ok", true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_goes_silent() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
        Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";

    let reply = check(&saying(bytes, Then::KeepAlive), HASTY, End::Timeout).await;

    assert_eq!((reply.text().as_str(), reply.cut), ("data: 1\n\n", true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorder_may_be_patient_without_end() {
    let (stage, upstream) = (Stage::new(), Upstream::json(|_| "[1]".to_owned()));
    let session = stage.recorder(&upstream).silence(Duration::MAX).grace(Duration::MAX);
    let session = session.start().await.unwrap();

    let answer = get(&session.url());
    let summary = session.finish().await.unwrap();

    assert_eq!((answer.text().as_str(), summary.recordings[0].answered), ("[1]", 1));
}
