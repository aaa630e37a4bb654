//! Requests that the server itself sends through retape while it answers one.

use std::sync::{Arc, OnceLock};

use crate::stage::Stage;
use crate::support::client::{ask, get, post};
use crate::support::upstream::{Asked, Upstream};

const AGENT: &str = "/agents/6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";

/// A server that changes its agent through retape whenever the agent is told something.
fn server(here: &Arc<OnceLock<String>>) -> Upstream {
    let here = Arc::clone(here);
    Upstream::json(move |asked: &Asked| {
        if asked.path().ends_with("/messages") {
            let fields = "User-Agent: server/1\r\nContent-Type: application/json\r\n";
            let url = format!("{}{AGENT}", here.get().unwrap());
            ask("PATCH", &url, fields, r#"{"state":"busy"}"#);
        }
        format!("[\"{}\"]", asked.path())
    })
}

/// Records what a client asks and the server asks meanwhile. In replay only the client asks.
async fn recorded(asks: impl Fn(&str)) -> Stage {
    let (stage, here) = (Stage::new(), Arc::new(OnceLock::new()));
    let upstream = server(&here);
    let session = stage.record(&upstream).await;
    here.set(session.url()).unwrap();
    asks(&session.url());
    session.finish().await.unwrap();
    let methods: Vec<String> =
        stage.cassette().interactions.iter().map(|it| it.request.method.clone()).collect();
    assert!(methods.contains(&"PATCH".to_owned()), "{methods:?}");
    stage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_wrote_itself_holds_nothing_up_once_the_request_around_it_was_played() {
    let stage = recorded(|url| {
        post(&format!("{url}{AGENT}/messages"), r#"{"text":"hello"}"#);
        get(&format!("{url}{AGENT}"));
    })
    .await;
    let session = stage.replay().await;

    let told = post(&format!("{}{AGENT}/messages", session.url()), r#"{"text":"hello"}"#);
    let shown = get(&format!("{}{AGENT}", session.url()));

    assert_eq!((told.status, shown.status), (200, 200), "{}", shown.text());
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_wrote_itself_waits_for_the_request_around_it() {
    let stage = recorded(|url| {
        post(&format!("{url}{AGENT}/messages"), r#"{"text":"hello"}"#);
        get(&format!("{url}{AGENT}"));
    })
    .await;
    let session = stage.replay().await;

    let shown = get(&format!("{}{AGENT}", session.url()));

    assert_eq!(shown.status, 470, "its answer shows what nobody has asked for yet");
    session.stop().await.unwrap();
}
