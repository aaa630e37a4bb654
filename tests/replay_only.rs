//! Replaying takes no feature: `cargo test --no-default-features --test replay_only`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use retape::{Mode, Name, Session, SessionBuilder, store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn replay(cassette: &str) -> SessionBuilder {
    Session::builder(cassette).cassettes("cassettes").mode(Mode::Replay)
}

/// All that a server answers to a `GET`, until it closes the connection.
async fn get(session: &Session, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(session.address()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_cassette_is_replayed() {
    let session = replay("openai/rest").start().await.unwrap();

    let answer = get(&session, "/v1/models").await;

    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains(r#"{"object": "list", "data": [{"id": "gpt-4o""#), "{answer}");
    let summary = session.finish().await.unwrap();
    assert_eq!((summary.requests, summary.played, summary.forwarded), (1, 1, 0));
}

#[tokio::test]
async fn a_compressed_answer_comes_as_it_was_recorded() {
    let name = Name::new("compat/v1/compressed").unwrap();
    let cassette = store::load(Path::new("cassettes"), &name).unwrap();
    let recorded = cassette.interactions[0].response().unwrap().body.bytes();
    assert!(recorded.starts_with(b"\x1f\x8b"), "{recorded:?}");
    let session = replay(name.as_str()).start().await.unwrap();

    let answer = get(&session, "/").await;

    let found = answer.windows(recorded.len()).any(|part| part == recorded);
    assert!(found, "{}", String::from_utf8_lossy(&answer));
    session.finish().await.unwrap();
}

#[tokio::test]
async fn a_miss_is_explained() {
    let session = replay("openai/rest").start().await.unwrap();

    let answer = get(&session, "/v1/models?limit=1").await;

    assert!(answer.starts_with(b"HTTP/1.1 470 "), "{}", String::from_utf8_lossy(&answer));
    let error = session.finish().await.unwrap_err();
    assert!(error.is_miss(), "{error:?}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("the nearest is interaction 1"), "{hint}");
    assert!(hint.contains("query.limit"), "{hint}");
}

#[cfg(not(feature = "record"))]
mod without_the_recorder {
    use super::*;

    #[tokio::test]
    async fn whoever_asks_to_record_is_told_the_feature() {
        for mode in [Mode::Record, Mode::NewEpisodes, Mode::Passthrough] {
            let settings = replay("openai/rest").mode(mode).upstream("http://127.0.0.1:1");

            let error = settings.start().await.unwrap_err();

            assert_eq!(error.to_string(), "retape was built without the feature `record`");
            assert_eq!(
                error.hint(),
                Some(
                    "add it in Cargo.toml: `retape = { …, features = [\"record\"] }`, \
                     or replay what is recorded: `RETAPE_MODE=replay`"
                )
            );
        }
    }

    #[tokio::test]
    async fn what_has_a_cassette_is_replayed_once_and_the_rest_is_told_the_feature() {
        let once = |name: &str| replay(name).mode(Mode::Once).upstream("http://127.0.0.1:1");

        let session = once("openai/rest").start().await.unwrap();
        get(&session, "/v1/models").await;
        session.finish().await.unwrap();

        let session = once("not/recorded").start().await.unwrap();
        let answer = get(&session, "/v1/models").await;
        assert!(answer.starts_with(b"HTTP/1.1 470 "), "{}", String::from_utf8_lossy(&answer));
        let error = session.finish().await.unwrap_err();
        assert_eq!(error.to_string(), "retape was built without the feature `record`");
    }
}

#[cfg(all(feature = "record", not(feature = "tls")))]
#[tokio::test]
async fn whoever_asks_to_record_over_tls_is_told_the_feature() {
    let settings = replay("openai/rest").upstream("https://127.0.0.1:1");

    let error = settings.clone().mode(Mode::Record).start().await.unwrap_err();
    assert_eq!(error.to_string(), "retape was built without the feature `tls`");

    let session = settings.mode(Mode::Once).start().await.unwrap();
    get(&session, "/v1/models").await;
    session.finish().await.unwrap();
}
