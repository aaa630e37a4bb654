//! New episodes: what is sent to the live server, and what only the recording knows.

use insta::assert_snapshot;
use retape::review::report::{Colour, ids};
use retape::{Mode, Session};

use crate::stage::{Stage, without_test};
use crate::support::client::{Reply, ask, get, post};
use crate::support::upstream::{Asked, Upstream};

const AGENT: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";

/// A server that issues a token and an agent, and lists its agents.
fn server() -> Upstream {
    Upstream::json(|asked: &Asked| match asked.path() {
        "/login" => r#"{"access_token":"Zx81kQ0pTr55mWq2LsV9"}"#.to_owned(),
        "/agents" | "/agents?all=1" => format!(r#"{{"id":"agent-{AGENT}"}}"#),
        _ => r#"{"text":"hello"}"#.to_owned(),
    })
}

/// A cassette in which a client logged in and made an agent, and a session that extends it.
async fn extended() -> (Stage, Upstream, Session) {
    let (stage, upstream) = (Stage::new(), server());
    let session = stage.record(&upstream).await;
    post(&format!("{}/login", session.url()), "{}");
    post(&format!("{}/agents", session.url()), "{}");
    session.finish().await.unwrap();
    let session = stage.session(Mode::NewEpisodes).upstream(upstream.url()).start().await.unwrap();
    (stage, upstream, session)
}

/// What is answered to a request that must not reach the server, without what differs from run to run.
fn withheld(upstream: &Upstream, answer: &Reply) -> String {
    assert_eq!(answer.status, 470, "{}", answer.text());
    assert_eq!(upstream.asked().len(), 2, "it was only asked when it was recorded");
    without_test(&answer.text().replace(&upstream.url(), "UPSTREAM"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_placeholder_of_a_secret_is_not_sent_to_the_server() {
    for place in ["header", "query", "body"] {
        let (stage, upstream, session) = extended().await;
        let before = stage.file("tape.json");
        let login = post(&format!("{}/login", session.url()), "{}").text();
        let token = login.split('"').nth(3).unwrap().to_owned();
        assert_eq!(token, "[redacted:access_token]");

        let url = format!("{}/items", session.url());
        let answer = match place {
            "header" => ask("GET", &url, &format!("Authorization: Bearer {token}\r\n"), ""),
            "query" => get(&format!("{url}?t=%5Bredacted%3Aaccess_token%5D")),
            _ => post(&url, &format!(r#"{{"t":"{token}"}}"#)),
        };

        let said = withheld(&upstream, &answer);
        assert!(said.contains("stands for a secret in the recording"), "{place}: {said}");
        let error = session.finish().await.unwrap_err();
        assert!(error.is_miss(), "{error}");
        assert_eq!(stage.file("tape.json"), before, "{place}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_placeholder_is_not_sent_to_the_server_for_a_cassette_that_is_new_either() {
    for mode in [Mode::Once, Mode::Record, Mode::Passthrough] {
        let (stage, upstream, session) = extended().await;
        session.stop().await.unwrap();
        let session = stage.session(mode).upstream(upstream.url()).start().await.unwrap();
        let url = session.url_of("other");

        let login = "Authorization: Bearer [redacted:access_token]\r\n";
        let answer = ask("GET", &format!("{url}/items"), login, "");
        let named = get(&format!("{url}/items?t=%5Bredacted%3Aaccess_token%5D"));

        let said = withheld(&upstream, &answer);
        assert!(said.contains("record this again together with what says it"), "{said}");
        assert_eq!(named.status, 470, "{}", named.text());
        assert!(session.finish().await.unwrap_err().is_miss());
        assert_eq!(stage.files(), ["tape.json"], "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_that_only_the_recording_issued_is_not_sent_to_the_server() {
    let (_stage, upstream, session) = extended().await;
    post(&format!("{}/agents", session.url()), "{}");

    let answer = get(&format!("{}/agents/agent-{AGENT}/messages", session.url()));

    assert_snapshot!(withheld(&upstream, &answer), @r"
    `tape` (2 interactions) has no answer to
      GET /agents/agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0/messages
    and it was not sent to the live server, which does not know
      6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0
    since only interaction 2 of the recording issued it
    hint: record the whole cassette again:
      RETAPE_MODE=record RETAPE_UPSTREAM=UPSTREAM cargo test NAME
      (without `.mode(…)` in the test)
    ");
    let error = session.finish().await.unwrap_err();
    assert!(error.is_miss(), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_that_the_server_issued_too_is_sent_to_it() {
    let (_stage, upstream, session) = extended().await;
    post(&format!("{}/agents", session.url()), "{}");
    get(&format!("{}/agents?all=1", session.url()));

    let answer = get(&format!("{}/agents/agent-{AGENT}/messages", session.url()));

    assert_eq!((answer.status, upstream.asked().len()), (200, 4));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_that_the_client_has_from_elsewhere_is_sent_to_the_server() {
    let (_stage, upstream, session) = extended().await;

    let answer = get(&format!("{}/agents/agent-{AGENT}/messages", session.url()));

    assert_eq!((answer.status, upstream.asked().len()), (200, 3));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_that_the_client_said_first_in_a_header_is_sent_to_the_server() {
    let (stage, upstream) =
        (Stage::new(), Upstream::json(|asked| format!("[\"{AGENT}\", \"{}\"]", asked.path())));
    let tag = format!("X-Trace-Tag: {AGENT}\r\n");
    let session = stage.record(&upstream).await;
    ask("POST", &format!("{}/session", session.url()), &tag, "{}");
    session.finish().await.unwrap();
    let told = ids("tape", &stage.cassette(), Colour::Plain);
    let session = stage.session(Mode::NewEpisodes).upstream(upstream.url()).start().await.unwrap();

    let answer = ask("GET", &format!("{}/items", session.url()), &tag, "");

    assert_eq!((answer.status, upstream.asked().len()), (200, 2), "{}", answer.text());
    session.finish().await.unwrap();
    assert!(told.contains("0 issued by the server"), "{told}");
}
