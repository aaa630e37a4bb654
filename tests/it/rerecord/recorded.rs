//! A live server that is recorded twice.

use std::sync::atomic::{AtomicUsize, Ordering};

use retape::config::Rules;
use retape::{Kept, Session};

use super::changed;
use crate::stage::Stage;
use crate::support::client::{get, post};
use crate::support::upstream::{Asked, EVENTS, Then, Upstream};

/// A server whose identifiers and times are others each time, and which says `word`.
fn server(word: &'static str) -> Upstream {
    static RUNS: AtomicUsize = AtomicUsize::new(1);
    let run = RUNS.fetch_add(1, Ordering::Relaxed) * 997;
    Upstream::start(move |asked: &Asked, wire| {
        let id = format!("agent-{run:08x}-37a2-4fd9-92f1-fd5b1ee5{run:04x}");
        let time = format!("2026-11-21T09:{:02}:00.123456Z", run % 60);
        if asked.path().ends_with("/stream") {
            wire.send(EVENTS);
            for n in 0..3 {
                wire.send_chunk(format!(
                    "data: {{\"id\":\"{id}\",\"n\":{n},\"date\":\"{time}\"}}\n\n"
                ));
            }
            wire.send_chunk(format!("data: {{\"said\":\"{word}\"}}\n\n"));
            wire.send_end();
        } else {
            let body = format!("{{\"id\":\"{id}\",\"created_at\":\"{time}\"}}");
            wire.send(crate::support::upstream::json(200, &body));
        }
        Then::KeepAlive
    })
}

/// Creates an agent and asks it, by the id that the server gave it.
fn converse(session: &Session) {
    let agent = post(&format!("{}/agents", session.url()), r#"{"name":"a"}"#).text();
    let id = agent.split('"').nth(3).unwrap();
    assert_eq!(get(&format!("{}/agents/{id}/stream", session.url())).status, 200);
}

async fn record(stage: &Stage, word: &'static str) -> Option<Kept> {
    let upstream = server(word);
    let session = stage.record(&upstream).await;
    converse(&session);
    session.finish().await.unwrap().recordings[0].kept
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_server_changes_nothing_and_is_replayed_as_before() {
    let stage = Stage::new();
    assert_eq!(record(&stage, "hello").await, None);
    let before = stage.file("tape.json");

    let kept = record(&stage, "hello").await;

    assert_eq!(stage.file("tape.json"), before);
    assert_eq!(kept, Some(Kept { interactions: 2, gone: 0, is_whole: true }));
    let session = stage.replay().await;
    converse(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_says_otherwise_is_the_only_difference() {
    let stage = Stage::new();
    record(&stage, "hello").await;
    let before = stage.file("tape.json");

    let kept = record(&stage, "goodbye").await;

    let lines = changed(&before, &stage.file("tape.json"));
    // Besides, the line that says when it was recorded, if a second has passed.
    let told: Vec<_> = lines.iter().filter(|line| !line.contains("\"recorded\"")).collect();
    assert!(told.iter().all(|line| line.contains("goodbye")), "{lines:?}");
    assert!(!told.is_empty());
    assert_eq!(kept, Some(Kept { interactions: 1, gone: 0, is_whole: false }));
    let session = stage.replay().await;
    converse(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fresh_recording_is_what_the_server_said() {
    let stage = Stage::new();
    record(&stage, "hello").await;
    let before = stage.cassette();

    let upstream = server("hello");
    let session = stage.recorder(&upstream).fresh().start().await.unwrap();
    converse(&session);
    let summary = session.finish().await.unwrap();

    assert_eq!(summary.recordings[0].kept, None);
    let path = |cassette: &retape::Cassette| cassette.interactions[1].request.path.clone();
    assert_ne!(path(&stage.cassette()), path(&before));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_says_about_matching_stays_and_a_broken_cassette_is_replaced() {
    let stage = Stage::new();
    record(&stage, "hello").await;
    let file = stage.folder().join("tape.json");
    let ruled = stage.file("tape.json").replacen(
        "  \"interactions\"",
        "  \"match\": {\"repeats\": \"once\"},\n  \"interactions\"",
        1,
    );
    std::fs::write(&file, &ruled).unwrap();

    record(&stage, "hello").await;
    assert_eq!(stage.file("tape.json"), ruled);

    std::fs::write(&file, ruled.replacen("\"method\"", "\"methid\"", 1)).unwrap();
    assert_eq!(record(&stage, "hello").await, None);
    assert_ne!(stage.cassette().rules, Rules::default());
}
