//! WebSockets, recorded and replayed.

use retape::cassette::{Content, End, Frame, Peer};
use retape::{Mode, Session};

use crate::stage::{Stage, answer};
use crate::support::socket::{Ended, Socket, Sockets};

/// Records what a client says to a server.
async fn recorded(server: &Sockets, client: impl FnOnce(&str)) -> Stage {
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    client(&session.url());
    session.finish().await.unwrap();
    stage
}

fn said(frames: &[Frame]) -> Vec<String> {
    let said = |frame: &Frame| match &frame.content {
        Content::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Content::Binary(bytes) => format!("{bytes:?}"),
        Content::Close { code, reason } => format!("close {code:?} {reason}"),
    };
    frames.iter().map(|it| format!("{}: {}", it.from.as_str(), said(it))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_in_both_directions_is_recorded_and_replayed() {
    let server = Sockets::answering(|text| vec![text.replace("ask", "answer"), "more".to_owned()]);
    let client = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        assert_eq!(socket.ask(r#"{"ask":1}"#), r#"{"answer":1}"#);
        assert_eq!(socket.read().unwrap(), "more");
        assert_eq!(socket.ask(r#"{"ask": 2}"#), r#"{"answer": 2}"#);
        assert_eq!(socket.read().unwrap(), "more");
        socket.close(1000, "bye");
    };

    let stage = recorded(&server, client).await;

    let cassette = stage.cassette();
    let response = answer(&cassette);
    assert_eq!((response.status, response.end), (101, End::Complete));
    assert_eq!(
        said(&response.frames),
        [
            r#"client: {"ask":1}"#,
            r#"server: {"answer":1}"#,
            "server: more",
            r#"client: {"ask": 2}"#,
            r#"server: {"answer": 2}"#,
            "server: more",
            "client: close Some(1000) bye",
        ]
    );
    assert!(stage.file("tape.json").starts_with("{\n  \"retape\": 2,"));

    let session = stage.replay().await;
    client(&session.url());
    let summary = session.finish().await.unwrap().all_played().unwrap();
    assert_eq!(summary.played, 1);
}
