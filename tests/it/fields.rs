//! What the client makes up is open in its field, wherever the field stands, and comes back to it.

use retape::Session;

use crate::stage::Stage;
use crate::support::client::{Reply, get, post};
use crate::support::upstream::Upstream;

/// Asks with one name while recording, and with another in replay.
async fn replayed(
    upstream: Upstream,
    [recorded, live]: [&str; 2],
    ask: impl Fn(&Session, &str) -> Reply,
) -> Reply {
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    ask(&session, recorded);
    session.finish().await.unwrap();
    drop(upstream);
    let session = stage.replay().await;
    let reply = ask(&session, live);
    session.stop().await.unwrap();
    reply
}

/// A server that gives back what it hears.
fn mirror() -> Upstream {
    Upstream::json(|asked| asked.text())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_with_a_slash_in_its_name_is_open() {
    for [recorded, live] in [[r#""r-1""#, r#""r-2""#], ["71", "72"], ["71", "71"]] {
        let named = |value: &str| format!(r#"{{"ext/request_id": {value}}}"#);

        let reply =
            replayed(mirror(), [recorded, live], |session, it| post(&session.url(), &named(it)))
                .await;

        assert_eq!((reply.status, reply.text()), (200, named(live)));
    }
    let asked = |session: &Session, name: &str| {
        get(&format!("{}/items?ext/request_id={name}", session.url()))
    };

    let reply = replayed(mirror(), ["r-1", "r-2"], asked).await;

    assert_eq!(reply.status, 200, "{}", reply.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_of_an_array_comes_back_as_the_client_said_it() {
    for [recorded, live] in [[r#"["m-1"]"#, r#"["m-2"]"#], [r#"[[71], "m-1"]"#, r#"[[72], "m-2"]"#]]
    {
        let named = |items: &str| format!(r#"{{"message_ids": {items}}}"#);

        let reply =
            replayed(mirror(), [recorded, live], |session, it| post(&session.url(), &named(it)))
                .await;

        assert_eq!((reply.status, reply.text()), (200, named(live)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_comes_back_beside_an_escaped_emoji_in_a_string() {
    let told = |name: &str| {
        format!(r#"{{"arguments": "{{\"message_id\": \"{name}\", \"t\": \"\ud83d\ude00\"}}"}}"#)
    };
    let upstream = Upstream::json(move |_| told("m-1"));
    let ask = |session: &Session, name: &str| {
        post(&session.url(), &format!(r#"{{"message_id": "{name}"}}"#))
    };

    let reply = replayed(upstream, ["m-1", "m-2"], ask).await;

    assert_eq!((reply.status, reply.text()), (200, told("m-2")));
}
