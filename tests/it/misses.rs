//! Requests that nothing recorded answers.

use std::path::Path;
use std::process::{Command, Output};

use insta::assert_snapshot;
use retape::{Mode, Session};

use crate::stage::{Stage, without_test};
use crate::support::client::{Reply, ask, get, post};
use crate::support::upstream::{Asked, Upstream};

/// A cassette with two posts.
async fn stage() -> Stage {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.record(&upstream).await;
    post(&format!("{}/v1/agents", session.url()), r#"{"name":"ada","tools":["a","b"]}"#);
    post(&format!("{}/v1/agents/1/messages?limit=2", session.url()), r#"{"text":"hello"}"#);
    session.finish().await.unwrap();
    stage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_grpc_is_told_in_its_own_words() {
    let fields = "Content-Type: application/grpc+proto\r\nTE: trailers\r\n";
    let (answer, _) = missed("POST", "/pkg.Agents/List", fields, "\0\0\0\0\0").await;

    assert_eq!((answer.status, answer.field("grpc-status")), (200, Some("9")));
    assert_eq!(answer.field("content-type"), Some("application/grpc"));
    let message = answer.field("grpc-message").unwrap();
    assert!(message.starts_with("`tape` (2 interactions) has no answer to%0A"), "{message}");
    assert!(message.contains("POST /pkg.Agents/List"), "{message}");
}

/// The text without what differs from run to run.
fn harmless(text: &str, stage: &Stage) -> String {
    let text = text.replace(&stage.folder().display().to_string(), "FOLDER");
    let port = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    without_test(&port.replace_all(&text, "UPSTREAM"))
}

async fn missed(method: &str, path: &str, fields: &str, body: &str) -> (Reply, String) {
    let stage = stage().await;
    let session = stage.replay().await;
    let answer = ask(method, &format!("{}{path}", session.url()), fields, body);
    let error = session.finish().await.unwrap_err();
    assert!(error.is_miss(), "{error}");
    let text = harmless(&answer.text(), &stage);
    (answer, text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_explains_itself() {
    let json = "Content-Type: application/json\r\n";
    let (answer, text) =
        missed("POST", "/v1/agents", json, r#"{"name":"bob","tools":["a","b"]}"#).await;

    assert_eq!(answer.head.line, "HTTP/1.1 470 Not Recorded");
    assert_eq!(answer.field("retape-error"), Some("miss"));
    assert_eq!(answer.field("x-should-retry"), Some("false"));
    assert_eq!(answer.field("content-type"), Some("text/plain; charset=utf-8"));
    assert_snapshot!(text, @r#"
    `tape` (2 interactions) has no answer to
      POST /v1/agents
    the nearest is interaction 1 (not played yet, 85 % alike)
    1 field differs (- recorded, + asked):
      /name
        - "ada"
        + "bob"
    hint: if the client is meant to ask this now, record it again:
      RETAPE_MODE=record RETAPE_UPSTREAM=http://UPSTREAM cargo test NAME
      (without `.mode(…)` in the test)
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["$.name"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_query_is_shown() {
    let json = "Content-Type: application/json\r\n";
    let path = "/v1/agents/1/messages?limit=3";
    let (_, text) = missed("POST", path, json, r#"{"text":"hello"}"#).await;

    assert_snapshot!(text, @r#"
    `tape` (2 interactions) has no answer to
      POST /v1/agents/1/messages?limit=3
    the nearest is interaction 2 (not played yet, 87 % alike)
      POST /v1/agents/1/messages?limit=2
    1 field differs (- recorded, + asked):
      query.limit
        - 2
        + 3
    hint: if the client is meant to ask this now, record it again:
      RETAPE_MODE=record RETAPE_UPSTREAM=http://UPSTREAM cargo test NAME
      (without `.mode(…)` in the test)
    hint: if it does not count, say so, in retape.toml:
      [match]
      ignore = ["query.limit"]
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_for_json_gets_json() {
    for accept in ["application/json", "text/event-stream", "application/problem+json, */*"] {
        let (answer, text) = missed("GET", "/other", &format!("Accept: {accept}\r\n"), "").await;

        assert_eq!(answer.field("content-type"), Some("application/json"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["error"]["type"], "retape_miss");
        assert!(json["error"]["message"].as_str().unwrap().contains("GET /other"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_request_that_misses_has_no_body() {
    let (answer, text) = missed("HEAD", "/v1/agents", "", "").await;

    assert_eq!((answer.status, text.as_str()), (470, ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_stands_in_a_miss() {
    let json = "Content-Type: application/json\r\nAuthorization: Bearer sk-abcdef0123456789\r\n";
    let body = r#"{"api_key":"sk-0123456789abcdef","text":"sk-abcdef0123456789"}"#;
    let (_, text) = missed("POST", "/v1/agents?token=sk-abcdef0123456789", json, body).await;

    assert!(!text.contains("0123456789"), "{text}");
}

/// What is answered to a request for a cassette that cannot be played.
async fn refused(prefix: &str) -> (u16, String) {
    let stage = stage().await;
    std::fs::write(stage.folder().join("broken.json"), "{\"retape\": 1, \"inter").unwrap();
    std::fs::write(stage.folder().join("newer.json"), "{\"retape\": 99}").unwrap();
    let session = stage.replay().await;
    let answer = get(&format!("{}{prefix}/-/v1", session.url()));
    drop(session.stop().await);
    (answer.status, harmless(&answer.text(), &stage))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_that_is_not_there_is_a_miss() {
    let (status, text) = refused("/no/such").await;

    assert_eq!(status, 470);
    assert_snapshot!(text, @"
    no cassette `no/such` (`FOLDER/no/such.json`)
    so there is no answer to
      GET /v1
    hint: record it:
      RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test NAME
      (without `.mode(…)` in the test)
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_name_of_a_cassette_is_refused() {
    for prefix in ["/../tape", "/%2e%2e/tape", "/a%2F..%2Ftape", "/.git", "/a%00b"] {
        let (status, text) = refused(prefix).await;

        assert_eq!(status, 470, "{prefix}");
        assert!(text.contains("is not a cassette name: "), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_that_cannot_be_read_says_why() {
    let (status, text) = refused("/broken").await;
    assert_eq!(status, 470);
    assert_snapshot!(text, @r"
    not a cassette (`FOLDER/broken.json`, line 1): EOF while parsing a string at line 1 column 20
    so there is no answer to
      GET /v1
    hint: mend it, restore it from version control, or record it again
    ");

    let (status, text) = refused("/newer").await;
    assert_eq!(status, 470);
    assert_snapshot!(text, @r"
    cassette format 99 is newer than this release, which reads up to 2 (`FOLDER/newer.json`)
    so there is no answer to
      GET /v1
    hint: install the release of retape that wrote it (`cargo install retape --locked` for the latest)
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_that_cannot_be_read_is_more_than_a_miss() {
    let stage = stage().await;
    std::fs::write(stage.folder().join("newer.json"), "{\"retape\": 99}").unwrap();
    let session = stage.replay().await;
    get(&session.url_of("newer"));

    let error = session.stop().await.unwrap_err();

    assert!(error.is_newer_version(), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_asked_for_is_told() {
    let stage = stage().await;
    let session = stage.replay().await;
    post(&format!("{}/v1/agents", session.url()), r#"{"name":"ada","tools":["a","b"]}"#);

    let summary = session.finish().await.unwrap();

    assert_eq!((summary.played, summary.unplayed.len()), (1, 1));
    let error = summary.all_played().unwrap_err();
    assert!(error.is_unplayed());
    assert_snapshot!(format!("{error:?}"), @r"
    1 recorded interaction was not played
    hint: `tape` was not asked for `POST /v1/agents/1/messages?limit=2` (interaction 2); record it again if that is meant to be
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_of_a_cassette_without_rules_shows_no_secret() {
    let stage = Stage::new();
    std::fs::write(
        stage.folder().join("tape.json"),
        r#"{"retape": 1, "interactions": [{
            "request": {"method": "POST", "path": "/x", "json": {"api_key": "sk-recorded-0123456789"}},
            "response": {"ms": 1, "status": 204, "end": "complete"}
        }]}"#,
    )
    .unwrap();
    let session = stage.replay().await;
    let url = format!("{}/x?token=sk-asked-0123456789", session.url());
    let answer = post(&url, r#"{"api_key":"sk-asked-0123456789","a":1}"#);
    let misses = get(&format!("{}/-/retape/misses", session.url()));
    let error = session.finish().await.unwrap_err();

    assert_snapshot!(harmless(&answer.text(), &stage), @"
    `tape` (1 interaction) has no answer to
      POST /x?token=[redacted:token]
    the nearest is interaction 1 (not played yet, 28 % alike)
      POST /x
    4 fields differ (- recorded, + asked):
      query.token
        + [redacted:token]
        the recording has no such field
      header.content-type
        + application/json
        the recording has no such field
      /a
        + 1
        the recording has no such field
      /api_key
        - [redacted]
        + [redacted]
        a secret, which is not shown; another one was recorded
    hint: if the client is meant to ask this now, record it again:
      RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test NAME
      (without `.mode(…)` in the test)
    ");
    for text in [answer.text(), misses.text(), format!("{error:?}")] {
        assert!(text.contains("a secret, which is not shown"), "{text}");
        assert!(!text.contains("0123456789"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_without_a_cassette_names_it_and_shows_no_secret() {
    let stage = Stage::new();
    let session = stage.replay().await;
    get(&format!("{}/x?api_key=sk-0123456789abcdef", session.url()));
    get(&format!("{}/x", session.url_of("no%20such~1")));

    let misses = session.misses();

    let told: Vec<_> =
        misses.iter().map(|miss| (miss.cassette.as_str(), miss.path.as_str())).collect();
    assert_eq!(told, [("tape", "/x?api_key=[redacted:api_key]"), ("no such", "/x")]);
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_tells_what_was_missed_from_the_first_moment_on() {
    let stage = stage().await;
    let file = stage.folder().join("out/misses.json");
    let read = || -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()
    };
    let session = stage.session(Mode::Replay).misses(&file).start().await.unwrap();
    assert_eq!(read(), serde_json::json!([]));

    post(&format!("{}/v1/agents", session.url_of("tape~2")), r#"{"name":"bob"}"#);
    post(&format!("{}/v1/agents", session.url_of("tape~1")), r#"{"name":"bob"}"#);

    let told = read();
    let names: Vec<_> = (0..2).map(|number| told[number]["session"].clone()).collect();
    assert_eq!(names, ["tape~1", "tape~2"], "sorted: no session depends on another");
    assert_eq!(told[0]["differences"][0]["at"], "/name");
    assert_eq!(told[0]["nearest"]["interaction"], 1);
    assert!(told[0]["explanation"].as_str().unwrap().contains("has no answer to"));
    session.stop().await.unwrap();
    assert_eq!(read(), told);
    assert_eq!(stage.files(), ["out", "tape.json"]);
    assert_eq!(std::fs::read_dir(stage.folder().join("out")).unwrap().count(), 1);

    stage.session(Mode::Replay).misses(&file).start().await.unwrap().stop().await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[]\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_misses_that_cannot_be_written_is_told_at_once() {
    let stage = stage().await;
    let started =
        stage.session(Mode::Replay).misses(stage.folder().join("tape.json/x")).start().await;

    assert!(format!("{:?}", started.unwrap_err()).contains("cannot create folder"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn very_many_misses_are_all_in_the_file_at_the_end() {
    let stage = stage().await;
    let file = stage.folder().join("misses.json");
    let session = stage.session(Mode::Replay).misses(&file).start().await.unwrap();

    for number in 0..150 {
        get(&format!("{}/{number}", session.url()));
    }
    session.stop().await.unwrap();

    let told: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(told.as_array().unwrap().len(), 150);
}

/// A test that runs in a process of its own: this one, asked to run that test.
fn alone(test: &str, folder: &Path) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "-q", "--test-threads=2"])
        .env("ALONE_IN", folder)
        .env_remove("RETAPE_MODE");
    command.env("RETAPE_UPSTREAM", "").env("CI", "true");
    command.env("RETAPE_MISSES", folder.join("misses.json")).output().unwrap()
}

/// A session of a test that runs alone.
async fn session_alone(name: &str) -> Option<Session> {
    let folder = std::env::var_os("ALONE_IN")?;
    Some(Session::builder(name).cassettes(folder).start().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished() {
    let Some(session) = session_alone("tape").await else { return };
    post(&format!("{}/v1/agents", session.url()), r#"{"name":"bob","tools":["a","b"]}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panicking() {
    let Some(session) = session_alone("tape").await else { return };
    assert_eq!(get(&session.url()).status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn finished() {
    let Some(session) = session_alone("tape").await else { return };
    get(&session.url());
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_miss() {
    let Some(session) = session_alone("tape").await else { return };
    post(&format!("{}/v1/agents", session.url()), r#"{"name":"ada","tools":["a","b"]}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recording() {
    let Some(folder) = std::env::var_os("ALONE_IN") else { return };
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = Session::builder("new").cassettes(folder).mode(Mode::Record);
    let session = session.upstream(upstream.url()).start().await.unwrap();
    get(&session.url());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable() {
    let Some(folder) = std::env::var_os("ALONE_IN") else { return };
    let session = Session::builder("new").cassettes(folder).mode(Mode::Record);
    let session = session.upstream("http://127.0.0.1:1").start().await.unwrap();
    get(&session.url());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_twice() {
    let Some(folder) = std::env::var_os("ALONE_IN") else { return };
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = || Session::builder("new").cassettes(&folder).mode(Mode::Record);
    let [one, other] = [(); 2].map(|()| session().upstream(upstream.url()).start());
    let (one, other) = (one.await.unwrap(), other.await.unwrap());
    get(&one.url());
    get(&other.url());
    one.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_nobody_finished_says_why_nothing_answered() {
    let stage = Stage::new();
    let said = |test: &str| {
        let output = alone(&format!("misses::{test}"), stage.folder());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };

    let unreachable = said("unreachable");
    let recorded_twice = said("recorded_twice");

    let begin = "retape: a session was not finished: `http://127.0.0.1:1` cannot be reached";
    assert!(unreachable.starts_with(begin), "{unreachable}");
    let twice = "retape: a session was not finished: this cassette is being recorded already";
    assert!(recorded_twice.contains(twice), "{recorded_twice}");
    assert!(recorded_twice.contains("hint: "), "{recorded_twice}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_nobody_finished_says_that_nothing_is_saved() {
    let stage = Stage::new();

    let output = alone("misses::recording", stage.folder());

    assert!(output.status.success());
    let told = "retape: a session was not finished: it recorded 1 interaction, and nothing is saved: call `finish`\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_nobody_finished_shows_what_it_missed() {
    let stage = stage().await;
    let run = |test: &str| {
        let output = alone(&format!("misses::{test}"), stage.folder());
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };

    let (passed, unfinished) = run("unfinished");
    let (_, panicking) = run("panicking");
    let (_, finished) = run("finished");
    let (_, without) = run("without_a_miss");

    assert!(passed, "nobody is stopped by what is dropped");
    assert_snapshot!(harmless(&unfinished, &stage), @r#"
    retape: a session was not finished, and these requests have no recorded answer
      `tape` (2 interactions) has no answer to
        POST /v1/agents
      the nearest is interaction 1 (not played yet, 85 % alike)
      1 field differs (- recorded, + asked):
        /name
          - "ada"
          + "bob"
      hint: if the client is meant to ask this now, record it again:
        RETAPE_MODE=record RETAPE_UPSTREAM=http://UPSTREAM cargo test NAME
      hint: if it does not count, say so, in retape.toml:
        [match]
        ignore = ["$.name"]
    "#);
    let alone = ["-- --exact misses::unfinished\n", "-E 'test(=misses::unfinished)'\n"];
    assert!(alone.iter().any(|it| unfinished.contains(it)), "{unfinished}");
    assert!(panicking.contains("`tape` (2 interactions) has no answer to"), "{panicking}");
    assert_eq!((finished.as_str(), without.as_str()), ("", ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions() {
    for name in ["tape", "other", "third"] {
        let Some(session) = session_alone(name).await else { return };
        get(&format!("{}/{name}", session.url()));
        session.stop().await.unwrap();
    }
    let folder = std::env::var("ALONE_IN").unwrap();
    let own =
        Session::builder("own").cassettes(&folder).misses(format!("{folder}/own-misses.json"));
    let own = own.start().await.unwrap();
    get(&own.url());
    own.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_sessions_of_a_process_share_the_file_that_the_environment_names() {
    let stage = stage().await;
    let paths = |file: &str| {
        let told: serde_json::Value = serde_json::from_str(&stage.file(file)).unwrap();
        let misses = told.as_array().unwrap().iter();
        misses.map(|miss| miss["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    alone("misses::unfinished", stage.folder());
    assert_eq!(paths("misses.json"), ["/v1/agents"]);

    let output = alone("misses::sessions", stage.folder());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(paths("misses.json"), ["/other", "/tape", "/third"], "of this process only");
    assert_eq!(paths("own-misses.json"), ["/"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_of_json_rpc_that_was_not_recorded_is_not_told_as_another_one() {
    let (stage, upstream) = (Stage::new(), Upstream::json(|_| "{}".to_owned()));
    let call = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    };
    let session = stage.record(&upstream).await;
    post(&format!("{}/mcp", session.url()), &call("tools/list", "{}"));
    post(
        &format!("{}/mcp", session.url()),
        &call("tools/call", r#"{"name":"a","arguments":{"b":1}}"#),
    );
    session.finish().await.unwrap();

    let session = stage.replay().await;
    post(&format!("{}/mcp", session.url()), &call("prompts/list", "{}"));
    post(&format!("{}/mcp", session.url()), &call("tools/call", "{}"));
    let [other, same] = &session.misses()[..] else { panic!("{:?}", session.misses()) };
    let told = [&other.explanation, &same.explanation].map(String::clone);
    session.stop().await.unwrap();

    assert!(
        told[0].contains("nothing was recorded that calls `prompts/list`; there is"),
        "{}",
        told[0]
    );
    assert!(told[0].contains("  `tools/list` in POST /mcp (interaction 1)"), "{}", told[0]);
    assert!(told[0].contains("  `tools/call` in POST /mcp (interaction 2)"), "{}", told[0]);
    assert!(!told[0].contains("retape.toml"), "{}", told[0]);
    assert!(told[1].contains("the nearest is interaction 2"), "{}", told[1]);
}
