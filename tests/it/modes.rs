//! What is replayed, what is recorded, and what is left alone.

use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use retape::session::Event;
use retape::{Mode, Session};

use crate::stage::Stage;
use crate::support::client::get;
use crate::support::upstream::Upstream;

/// Asks for these paths in a session of that mode.
async fn ask(stage: &Stage, upstream: &Upstream, mode: Mode, paths: &[&str]) -> Vec<u16> {
    let session: Session = stage.session(mode).upstream(upstream.url()).start().await.unwrap();
    let statuses = paths.iter().map(|path| get(&format!("{}{path}", session.url())).status);
    let statuses = statuses.collect();
    session.stop().await.unwrap();
    statuses
}

fn paths(stage: &Stage) -> Vec<String> {
    stage.cassette().interactions.iter().map(|of| of.request.path.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_records_what_is_not_there_and_replays_what_is() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());

    assert_eq!(ask(&stage, &upstream, Mode::Once, &["/1", "/2"]).await, [200, 200]);
    assert_eq!(ask(&stage, &upstream, Mode::Once, &["/1", "/3"]).await, [200, 470]);

    assert_eq!(paths(&stage), ["/1", "/2"]);
    assert_eq!(upstream.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_episodes_are_added_behind_what_was_there() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());

    assert_eq!(ask(&stage, &upstream, Mode::NewEpisodes, &["/1"]).await, [200]);
    let before = stage.cassette();
    assert_eq!(ask(&stage, &upstream, Mode::NewEpisodes, &["/1"]).await, [200]);
    let untouched = stage.cassette();
    assert_eq!(ask(&stage, &upstream, Mode::NewEpisodes, &["/2", "/1"]).await, [200, 200]);

    assert_eq!(untouched, before);
    assert_eq!(paths(&stage), ["/1", "/2"]);
    assert_eq!(stage.cassette().interactions[0], before.interactions[0]);
    assert_eq!(upstream.asked().len(), 2);
    assert_eq!(stage.files(), ["tape.json"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn record_replaces_what_was_there() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());

    ask(&stage, &upstream, Mode::Record, &["/1", "/2"]).await;
    ask(&stage, &upstream, Mode::Record, &["/3"]).await;

    assert_eq!(paths(&stage), ["/3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_without_a_request_leaves_what_was_there() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    ask(&stage, &upstream, Mode::Record, &["/1"]).await;

    ask(&stage, &upstream, Mode::Record, &[]).await;

    assert_eq!(paths(&stage), ["/1"]);
    assert_eq!(stage.files(), ["tape.json"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passthrough_writes_nothing() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());

    assert_eq!(ask(&stage, &upstream, Mode::Passthrough, &["/1"]).await, [200]);

    assert_eq!(stage.files(), [""; 0]);
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn a_mode_that_needs_a_server_says_so() {
    let stage = Stage::new();

    for mode in [Mode::Record, Mode::NewEpisodes, Mode::Passthrough] {
        let error = stage.session(mode).start().await.unwrap_err();
        assert_eq!(
            format!("{error:?}"),
            format!(
                "recording needs the address of a live server\nhint: name the live server \
                (`--upstream URL`, `RETAPE_UPSTREAM`), or replay what is recorded instead of `{mode}`"
            )
        );
    }
    stage.session(Mode::Once).start().await.unwrap().stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_no_request_reached_fails() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    ask(&stage, &upstream, Mode::Record, &["/1"]).await;

    for mode in [Mode::Replay, Mode::Once, Mode::Record, Mode::NewEpisodes, Mode::Passthrough] {
        let settings = stage.session(mode).upstream(upstream.url());
        let session = settings.clone().start().await.unwrap();
        get(&format!("{}/-/retape/health", session.url()));
        let error = session.finish().await.unwrap_err();
        let allowed = settings.allow_unused().start().await.unwrap();

        assert!(error.is_unused(), "{mode}: {error}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("`session.url()`") && hint.contains("`.allow_unused()`"), "{hint}");
        assert_eq!(allowed.finish().await.unwrap().requests, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_to_the_live_server_is_counted() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    for (mode, forwarded) in
        [(Mode::Record, 2), (Mode::Replay, 0), (Mode::NewEpisodes, 0), (Mode::Passthrough, 2)]
    {
        let session = stage.session(mode).upstream(upstream.url()).start().await.unwrap();
        get(&format!("{}/1", session.url()));
        get(&format!("{}/1", session.url()));

        let summary = session.finish().await.unwrap();

        assert_eq!((summary.requests, summary.forwarded), (2, forwarded), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_cannot_be_recorded_is_no_miss_and_fails() {
    for refused in ["odd:name", "tape/below"] {
        let (stage, upstream) = (Stage::new(), Upstream::echo());
        std::fs::write(stage.folder().join("tape"), "no folder").unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let settings = stage.session(Mode::Record).upstream(upstream.url());
        let settings = settings.on_event(move |event| heard.lock().unwrap().push(event));
        let session = settings.start().await.unwrap();

        let answer = get(&session.url_of(refused));

        assert_eq!(answer.status, 470, "{refused}");
        assert!(session.misses().is_empty(), "{refused}");
        assert!(matches!(events.lock().unwrap()[..], [Event::Unrecorded(_)]), "{refused}");
        let error = session.stop().await.unwrap_err();
        assert!(!error.is_miss(), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_address_of_a_server_is_refused() {
    let stage = Stage::new();
    let mut errors = String::new();

    for address in ["localhost:8283", "ftp://x", "http://", "/v1", "http://x/?a=1", "http://a b"] {
        let error = stage.session(Mode::Record).upstream(address).start().await.unwrap_err();
        errors.push_str(&format!("{error}\n"));
    }

    assert_snapshot!(errors, @r"
    `upstream` is `localhost:8283`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    `upstream` is `ftp://x`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    `upstream` is `http://`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    `upstream` is `/v1`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    `upstream` is `http://x/?a=1`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    `upstream` is `http://a b`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_may_have_a_path() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let session = stage
        .session(Mode::Record)
        .upstream(format!("{}/base/", upstream.url()))
        .start()
        .await
        .unwrap();

    get(&format!("{}/v1?x=1", session.url()));
    session.finish().await.unwrap();

    assert_eq!(upstream.asked()[0].path(), "/base/v1?x=1");
    assert_eq!(paths(&stage), ["/v1?x=1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_of_a_newer_release_is_never_replaced() {
    let newer_format = r#"{"retape": 99, "tapes": []}"#;
    let newer_rule = r#"{"retape": 1, "redactions": ["headers/99"], "interactions": []}"#;
    for newer in [newer_format, newer_rule] {
        let (stage, upstream) = (Stage::new(), Upstream::echo());
        std::fs::write(stage.folder().join("tape.json"), newer).unwrap();
        let session = stage.session(Mode::Record).upstream(upstream.url()).start().await.unwrap();

        let status = get(&format!("{}/1", session.url())).status;
        let error = session.stop().await.unwrap_err();

        assert!(error.is_newer_version() && error.hint().is_some(), "{error:?}");
        assert_eq!((status, upstream.asked().len()), (470, 0));
        assert_eq!(stage.file("tape.json"), newer);
        assert_eq!(stage.files(), ["tape.json"]);
    }
}
