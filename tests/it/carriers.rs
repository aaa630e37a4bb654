//! A header field counts if it carries what the server issued.

use std::sync::atomic::{AtomicUsize, Ordering};

use retape::config::Rules;
use retape::{Error, Mode, Session, Summary};

use crate::stage::Stage;
use crate::support::client::{Reply, ask, post};
use crate::support::upstream::{Asked, Upstream};

const LEASES: [&str; 2] =
    ["5d41402a-bc4b-4a76-b971-9d911017c592", "7d793037-a076-4186-974b-0282f2f435e7"];

/// A server that issues leases by turns, and says how long what was written with one is.
fn leasing() -> Upstream {
    let issued = AtomicUsize::new(0);
    Upstream::json(move |asked: &Asked| match asked.path() {
        "/lease" => {
            let turn = issued.fetch_add(1, Ordering::Relaxed);
            format!(r#"{{"lease":"{}"}}"#, LEASES[turn % 2])
        }
        _ => format!(r#"{{"length":{}}}"#, asked.text().len()),
    })
}

/// Takes both leases, and writes with the first one.
fn writes(url: &str, lease: &str, tenant: &str) -> Reply {
    for turn in 0..2 {
        post(&format!("{url}/lease"), &format!(r#"{{"turn":{turn}}}"#));
    }
    let fields =
        format!("Content-Type: application/json\r\nX-Lease: {lease}\r\nX-Tenant: {tenant}\r\n");
    ask("PUT", &format!("{url}/blob"), &fields, r#"{"text":"new"}"#)
}

async fn recorded(rules: Rules) -> Stage {
    let stage = Stage::new();
    record(&stage, rules).await;
    stage
}

async fn record(stage: &Stage, rules: Rules) -> Summary {
    let upstream = leasing();
    let settings = stage.session(Mode::Record).rules(rules).upstream(upstream.url());
    let session = settings.start().await.unwrap();
    assert_eq!(writes(&session.url(), LEASES[0], "north").status, 200);
    session.finish().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_issued_comes_back_right_in_a_header_field_too() {
    let stage = recorded(Rules::default()).await;
    assert_eq!(stage.cassette().rules.headers(), ["x-lease"]);

    for (lease, tenant, status) in [
        (LEASES[0], "north", 200),
        (LEASES[0], "south", 200),
        (LEASES[1], "north", 470),
        ("0cc175b9-c0f1-46b6-a31c-399e26977266", "north", 470),
    ] {
        let session = stage.replay().await;
        let reply = writes(&session.url(), lease, tenant);
        assert_eq!(reply.status, status, "{lease} {}", reply.text());
        for told in ["header.x-lease", "ignore = [\"header.x-lease\"]"] {
            assert_eq!(reply.text().contains(told), status == 470, "{}", reply.text());
        }
        session.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_and_a_part_of_a_longer_value_are_carried_too() {
    let asked = |url: &str, project: &str, scope: &str| {
        for turn in 0..2 {
            post(&format!("{url}/projects"), &format!(r#"{{"turn":{turn}}}"#));
        }
        let fields = format!(
            "X-Project-ID: {project}\r\nX-Scope: {scope}\r\nX-Request-Id: {scope}\r\nX-Limit: 17\r\n"
        );
        ask("GET", &format!("{url}/issues"), &fields, "").status
    };
    let upstream = Upstream::json(|asked: &Asked| match asked.text().as_str() {
        r#"{"turn":0}"# => r#"{"id":17,"account":"acct_1NtB4kRz8mQp2x"}"#.to_owned(),
        r#"{"turn":1}"# => r#"{"id":18,"account":"acct_9Pq3LmZw7cVb5y"}"#.to_owned(),
        _ => "[]".to_owned(),
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    asked(&session.url(), "17", "account=acct_1NtB4kRz8mQp2x; role=admin");
    session.finish().await.unwrap();

    assert_eq!(stage.cassette().rules.headers(), ["x-project-id", "x-scope"]);
    for (project, account, status) in [
        ("17", "acct_1NtB4kRz8mQp2x", 200),
        ("18", "acct_1NtB4kRz8mQp2x", 470),
        ("17", "acct_9Pq3LmZw7cVb5y", 470),
    ] {
        let session = stage.replay().await;
        let scope = format!("account={account}; role=admin");
        assert_eq!(asked(&session.url(), project, &scope), status, "{project} {account}");
        session.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_a_person_leaves_out_does_not_count() {
    let rules = Rules::default().ignore("header.x-lease").unwrap();

    let stage = recorded(rules).await;

    assert!(stage.cassette().rules.headers().is_empty());

    // That it counts when it is recorded again is no change of what was said.
    let before = stage.cassette().interactions;
    let again = record(&stage, Rules::default()).await;
    let recording = &again.recordings[0];
    assert_eq!(recording.carriers, ["x-lease"]);
    assert!(recording.kept.unwrap().is_whole);
    assert_eq!(stage.cassette().rules.headers(), ["x-lease"]);
    assert_eq!(stage.cassette().interactions, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_another_run_fills_otherwise_does_not_count() {
    let (stage, upstream) = (Stage::new(), leasing());
    let runs = AtomicUsize::new(0);
    let settings = stage.session(Mode::Record).upstream(upstream.url());

    let run = settings.run(async |session: &Session| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        writes(&session.url(), LEASES[run.min(1)], "north");
        Ok::<_, Error>(())
    });

    run.await.unwrap();
    assert!(stage.cassette().rules.headers().is_empty());
    let session = stage.replay().await;
    assert_eq!(writes(&session.url(), LEASES[1], "north").status, 200);
    session.finish().await.unwrap();
}
