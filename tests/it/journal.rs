//! The journal: what was seen is not lost, and what was there is not harmed.

use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use retape::cassette::End;
use retape::{Event, Mode, Session, SessionBuilder};

use crate::stage::{Stage, chunks};
use crate::support::LIMIT;
use crate::support::client::{self, ask, get};
use crate::support::gate::Gate;
use crate::support::upstream::{Asked, Then, Upstream};
use crate::support::wire::Wire;

/// Records an answer and a part of another, and stops as if it was killed.
async fn killed(stage: &Stage, upstream: &Upstream) {
    let session = stage.record(upstream).await;
    get(&format!("{}/whole", session.url()));
    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &format!("{}/stream", session.url()), "", ""));
    wire.head().unwrap();
    assert_eq!((wire.data(), wire.data()), ("data: 1\n\n".to_owned(), "data: 2\n\n".to_owned()));
    let journal = stage.file("tape.json.part");
    drop(session);
    drop(wire);
    // A recorder that was killed writes nothing more.
    let left = stage.folder().join("tape.json.part");
    std::fs::remove_file(&left).unwrap();
    std::fs::write(left, journal).unwrap();
}

/// What the session tells while it runs.
fn overheard(builder: SessionBuilder) -> (SessionBuilder, Arc<Mutex<Vec<Event>>>) {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let note = Arc::clone(&events);
    (builder.on_event(move |event| note.lock().unwrap().push(event)), events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_recorder_had_seen_is_saved_by_the_next_one() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);
    killed(&stage, &upstream).await;

    let (builder, events) = overheard(stage.recorder(&upstream));
    let session = builder.start().await.unwrap();
    get(&format!("{}/other", session.url()));
    session.finish().await.unwrap();
    never.open();

    let left = stage.cassette_of("tape.recovered");
    assert!(left.interrupted);
    assert_eq!(left.interactions.len(), 2);
    assert_eq!(left.interactions[0].end(), End::Complete);
    let cut = left.interactions[1].response().unwrap();
    assert_eq!(
        (cut.end, chunks(cut)),
        (End::Interrupted, vec!["data: 1\n\n".into(), "data: 2\n\n".into()])
    );
    let events = events.lock().unwrap();
    let Event::Rescued { interactions: 2, cut: 1, unasked: 0, path } = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(path, &stage.folder().join("tape.recovered.json"));
    assert_eq!(stage.files(), ["tape.json", "tape.recovered.json"]);
    assert_eq!(stage.cassette().interactions[0].request.path, "/other");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_recorded_before_is_unharmed_by_a_recorder_that_is_killed() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);
    let session = stage.record(&upstream).await;
    get(&format!("{}/first", session.url()));
    session.finish().await.unwrap();
    let before = stage.file("tape.json");

    killed(&stage, &upstream).await;
    never.open();

    assert_eq!(stage.file("tape.json"), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_killed_recorder_has_a_file_of_its_own() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);

    for _ in 0..3 {
        killed(&stage, &upstream).await;
        never.open();
    }
    stage.record(&upstream).await.stop().await.unwrap();

    let expected = ["tape.json.part", "tape.recovered-2.json", "tape.recovered.json"];
    assert_eq!(stage.files(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replay_tells_of_a_journal_and_does_not_touch_it() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);
    killed(&stage, &upstream).await;
    never.open();
    let before = stage.file("tape.json.part");

    for (name, default) in [("", "tape"), ("tape~1", "other")] {
        let builder = Session::builder(default).cassettes(stage.folder()).mode(Mode::Replay);
        let (builder, events) = overheard(builder.upstream(""));
        let session = builder.start().await.unwrap();
        get(&session.url_of(name));
        get(&session.url_of(name));
        drop(session.stop().await);

        let events = events.lock().unwrap();
        let told = events
            .iter()
            .filter(|event| matches!(event, Event::Unfinished { interactions: 2, cut: 1, .. }));
        assert_eq!(told.count(), 1, "{events:?}");
    }
    assert_eq!(stage.file("tape.json.part"), before);
    assert_eq!(stage.files(), ["tape.json.part"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_line_at_the_end_does_not_count() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);
    killed(&stage, &upstream).await;
    never.open();
    let path = stage.folder().join("tape.json.part");
    let text = stage.file("tape.json.part");
    std::fs::write(&path, &text[..text.len() - 3]).unwrap();

    let session = stage.record(&upstream).await;
    get(&session.url());
    session.finish().await.unwrap();

    let left = stage.cassette_of("tape.recovered");
    assert_eq!(chunks(left.interactions[1].response().unwrap()), ["data: 1\n\n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_of_a_newer_release_is_not_emptied() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let newer = "{\"retape_journal\":99,\"what\":\"ever\"}\n{\"n\":0}\n";
    std::fs::write(stage.folder().join("tape.json.part"), newer).unwrap();

    let session = stage.record(&upstream).await;
    let answer = get(&session.url());
    let error = session.finish().await.unwrap_err();

    assert_eq!(answer.status, 470);
    assert_eq!(stage.file("tape.json.part"), newer);
    let text = format!("{error:?}").replace(&stage.folder().display().to_string(), "FOLDER");
    assert_snapshot!(text, @r"
    a killed recorder of another release left this journal (`FOLDER/tape.json.part`)
    hint: let the release that wrote it save it, or remove the file
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_that_lacks_what_was_asked_replaces_no_cassette() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let first = stage.record(&upstream).await;
    get(&format!("{}/first", first.url()));
    let second = stage.record(&upstream).await;
    let refused = get(&format!("{}/lost", second.url()));
    first.finish().await.unwrap();
    let whole = stage.file("tape.json");

    let recorded = get(&format!("{}/late", second.url()));

    let error = second.stop().await.unwrap_err();
    let kept = "each test has its own; what could be recorded is kept as `tape.failed`";
    assert!(error.hint().unwrap().ends_with(kept), "{error:?}");
    assert_eq!((refused.status, recorded.status), (470, 200));
    assert_eq!(stage.files(), ["tape.failed.json", "tape.json"]);
    assert_eq!(stage.file("tape.json"), whole);
    assert!(stage.file("tape.failed.json").contains("/late"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_is_recorded_by_one_recorder_at_a_time() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let first = stage.record(&upstream).await;
    get(&first.url());

    let second = stage.record(&upstream).await;
    let refused = get(&second.url());
    let error = second.stop().await.unwrap_err();
    first.finish().await.unwrap();
    let third = stage.record(&upstream).await;
    let allowed = get(&third.url());
    third.finish().await.unwrap();

    assert_eq!((refused.status, allowed.status), (470, 200));
    let text = format!("{error:?}").replace(&stage.folder().display().to_string(), "FOLDER");
    assert_snapshot!(text, @r"
    this cassette is being recorded already (`FOLDER/tape.json.part`)
    hint: wait for it, or record under another name: each test has its own
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_dropped_lets_the_cassette_go() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let dropped = stage.record(&upstream).await;
    get(&dropped.url());
    let address = dropped.address();
    drop(dropped);
    // The connection is told at once; the listener is gone when nobody accepts any more.
    while std::net::TcpStream::connect(address).is_ok() {
        tokio::task::yield_now().await;
    }

    // What the connection held goes a little later.
    let recorded = async {
        loop {
            let session = stage.record(&upstream).await;
            let answer = get(&session.url());
            if session.finish().await.is_ok() {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::time::timeout(LIMIT, recorded).await.expect("it is never let go");

    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(stage.cassette_of("tape.recovered").interactions.len(), 1);
}

/// What is said if the cassettes cannot be written, and that nothing is.
async fn check_unwritable(stage: &Stage, folder: std::path::PathBuf) -> String {
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = Session::builder("sub/tape")
        .cassettes(&folder)
        .mode(Mode::Record)
        .upstream(upstream.url())
        .start()
        .await
        .unwrap();
    let answer = get(&session.url());
    let error = session.finish().await.unwrap_err();

    assert_eq!(answer.status, 470);
    assert!(upstream.asked().is_empty(), "the server was asked though it cannot be recorded");
    format!("{error:?}").replace(&stage.folder().display().to_string(), "FOLDER")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_made_is_told() {
    let stage = Stage::new();
    std::fs::write(stage.folder().join("file"), "mine").unwrap();

    let text = check_unwritable(&stage, stage.folder().join("file")).await;

    assert_eq!(stage.file("file"), "mine");
    assert_snapshot!(text, @r"
    cannot create folder (`FOLDER/file/sub`): Not a directory (os error 20)
    hint: `FOLDER/file` is a file, not a folder; choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`; in a Rust test `.cassettes(DIR)`
    ");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_refuses_files_is_told() {
    let stage = Stage::new();

    let text = check_unwritable(&stage, "/proc/self".into()).await;

    assert_snapshot!(text, @r"
    cannot create folder (`/proc/self/sub`): No such file or directory (os error 2)
    hint: choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`; in a Rust test `.cassettes(DIR)`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_written_while_it_arrives_or_later() {
    let (stage, seen) = (Stage::new(), Gate::new());
    let go_on = seen.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
            Set-Cookie: sid=cookie-0123456789abcdef; Path=/\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        wire.send_chunk("data: {\"api_key\":\"key-0123456");
        wire.send_chunk("789abcdef\",\"echo\":\"bearer-0123");
        wire.send_chunk("456789abcdef\"}\n\n");
        wire.send_chunk("data: end\n\n");
        go_on.pass();
        wire.send_end();
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    let fields = "Authorization: Bearer bearer-0123456789abcdef\r\nCookie: a=crumb-0123456789abcdef\r\n\
        Content-Type: application/json\r\n";
    let url = format!("{}/x?token=query-0123456789abcdef", session.url());
    let body = r#"{"password":"word-0123456789abcdef"}"#;
    wire.send(client::request("POST", &url, fields, body));
    wire.head().unwrap();
    let sent: String = (0..4).map(|_| wire.data()).collect();
    let journal = stage.file("tape.json.part");
    seen.open();
    wire.chunk();
    session.finish().await.unwrap();

    assert!(sent.contains("key-0123456789abcdef") && sent.contains("bearer-0123456789abcdef"));
    for text in [&journal, &stage.file("tape.json")] {
        for part in ["0123", "456789abcdef", "key-", "word-", "bearer-"] {
            assert!(!text.contains(part), "`{part}` in\n{text}");
        }
    }
    assert!(journal.contains("data: end"), "{journal}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_has_issued_is_not_written_in_a_plain_place_of_a_later_request() {
    let token = ["aB3dE5fG7hJ9", "kL1mN2pQ4rS6tU8v"].concat();
    let said = format!(r#"{{"access_token":"{token}"}}"#);
    let upstream = Upstream::json(move |_: &Asked| said.clone());
    let stage = Stage::new();
    let session = stage.record(&upstream).await;

    let url = session.url();
    client::get(&format!("{url}/login"));
    client::get(&format!("{url}/x/{token}?run={token}"));
    client::post(&format!("{url}/x"), &format!(r#"{{"note":"{token}"}}"#));
    let journal = stage.file("tape.json.part");
    session.finish().await.unwrap();

    for text in [&journal, &stage.file("tape.json")] {
        assert!(!text.contains(&token), "{text}");
        assert_eq!(text.matches("/x/[redacted:access_token]?run=").count(), 1, "{text}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_is_nobody_elses_business() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = stage.record(&upstream).await;
    ask("GET", &session.url(), "", "");

    let mode = std::fs::metadata(stage.folder().join("tape.json.part")).unwrap().permissions();
    session.finish().await.unwrap();

    assert_eq!(mode.mode() & 0o777, 0o600);
}
