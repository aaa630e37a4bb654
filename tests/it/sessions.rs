//! Many clients share one address and never meet.

use insta::assert_snapshot;
use retape::Mode;
use serde_json::json;

use crate::stage::Stage;
use crate::support::client::{ask, get, post, reply, split};
use crate::support::upstream::{Asked, Upstream};
use crate::support::wire::Wire;

/// Cassettes `tape` and `team/other`, in which `/count` was answered by 1, 2, 3 and so on.
async fn stage(count: usize) -> Stage {
    let stage = Stage::new();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let upstream = Upstream::json(move |of: &Asked| {
        let number = 1 + asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        format!("[\"{}\",{number}]", of.path())
    });
    let session = stage.record(&upstream).await;
    for _ in 0..count {
        get(&format!("{}/count", session.url()));
    }
    get(&format!("{}/count", session.url_of("team/other")));
    session.finish().await.unwrap();
    stage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prefix_names_the_cassette_and_a_token_the_run() {
    let stage = stage(2).await;
    let session = stage.replay().await;

    let ask = |session_name: &str| get(&format!("{}/count", session.url_of(session_name))).text();
    let answers = ["", "tape", "tape~a", "~b", "tape~a", "", "team/other", "team/other~1"].map(ask);
    let summary = session.finish().await.unwrap();

    let [first, second, other] = ["[\"/count\",1]", "[\"/count\",2]", "[\"/count\",3]"];
    assert_eq!(answers, [first, first, first, first, second, second, other, other]);
    assert_eq!((summary.sessions, summary.played), (6, 8));
    let unplayed: Vec<_> =
        summary.unplayed.iter().map(|left| (left.session.as_str(), left.interaction)).collect();
    assert_eq!(unplayed, [("tape", 1), ("~b", 1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_cassettes_are_recorded_side_by_side() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.record(&upstream).await;

    std::thread::scope(|scope| {
        for number in 0..16 {
            let url = format!("{}/x", session.url_of(&format!("many/{number}")));
            scope.spawn(move || {
                for step in 0..4 {
                    post(&url, &format!("[{number},{step}]"));
                }
            });
        }
    });
    let summary = session.finish().await.unwrap();

    assert_eq!(summary.recordings.len(), 16);
    for number in 0..16 {
        let cassette = stage.cassette_of(&format!("many/{number}"));
        let bodies: Vec<_> =
            cassette.interactions.iter().map(|of| of.request.body.clone()).collect();
        assert_eq!(bodies, [0, 1, 2, 3].map(|step| format!("[{number},{step}]")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_control_api_tells_what_goes_on() {
    let stage = stage(2).await;
    let session = stage.replay().await;
    let control = |what: &str| -> serde_json::Value {
        let answer = get(&format!("{}/-/retape/{what}", session.url()));
        serde_json::from_str(&answer.text()).unwrap()
    };

    get(&format!("{}/count", session.url_of("tape~1")));
    get(&format!("{}/missing", session.url_of("tape~1")));

    assert_eq!(control("health")["mode"], "replay");
    let sessions = control("sessions");
    assert_eq!(
        sessions["sessions"][1],
        serde_json::json!({"session": "tape~1", "cassette": "tape"})
    );
    assert_eq!(control("misses")["misses"][0]["path"], "/missing");
    let unplayed = control("unplayed");
    let of_ours: Vec<_> = unplayed["unplayed"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|left| left["session"] == "tape~1")
        .collect();
    assert_eq!(of_ours.len(), 1);
    assert_eq!(of_ours[0]["interaction"], 2);
    assert_eq!(get(&format!("{}/-/retape/nonsense", session.url())).status, 404);
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_begins_anew_when_it_is_reset() {
    let stage = stage(2).await;
    let session = stage.replay().await;
    let count = |name: &str| get(&format!("{}/count", session.url_of(name))).text();
    let reset = |query: &str| {
        ask("POST", &format!("{}/-/retape/reset{query}", session.url()), "X-Retape: 1\r\n", "")
            .text()
    };

    assert_eq!([count("tape~1"), count("tape~2")], ["[\"/count\",1]", "[\"/count\",1]"]);
    assert_eq!(reset("?session=tape~1"), r#"{"reset":1}"#);
    assert_eq!([count("tape~1"), count("tape~2")], ["[\"/count\",1]", "[\"/count\",2]"]);
    assert_eq!(reset("?session=tape%7E1"), r#"{"reset":1}"#);
    assert_eq!(count("tape~1"), "[\"/count\",1]");
    assert_eq!(reset(""), r#"{"reset":3}"#);
    assert_eq!([count("tape~1"), count("tape~2")], ["[\"/count\",1]", "[\"/count\",1]"]);

    session.reset();
    assert_eq!(count("tape~1"), "[\"/count\",1]");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_one_cassette_that_is_not_there_yet_are_recorded_together() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.session(Mode::Once).upstream(upstream.url()).start().await.unwrap();

    post(&format!("{}/x", session.url_of("tape~1")), "[1]");
    post(&format!("{}/x", session.url_of("tape~2")), "[2]");
    session.finish().await.unwrap();

    assert_eq!(stage.cassette().interactions.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_can_be_looked_into() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let minted = |first: &str| format!("{first}-37a2-4fd9-92f1-fd5b1ee5a5f0");
    let ask_for = |url: &str, id: &str| post(&format!("{url}/x"), &format!("[\"{id}\"]"));
    let session = stage.record(&upstream).await;
    ask_for(&session.url(), &minted("11111111"));
    get(&format!("{}/y?z=1", session.url()));
    session.finish().await.unwrap();

    let session = stage.replay().await;
    ask_for(&session.url_of("tape~1"), &minted("22222222"));
    post(&format!("{}/x", session.url_of("tape~2")), "[]");
    let control = |what: &str| get(&format!("{}/-/retape/{what}", session.url()));
    let json =
        |what: &str| -> serde_json::Value { serde_json::from_str(&control(what).text()).unwrap() };

    let inspected = json("sessions?session=tape%7E1");
    assert_eq!(
        inspected,
        serde_json::json!({
            "session": "tape~1",
            "cassette": "tape",
            "played": [{"interaction": 1, "method": "POST", "path": "/x"}],
            "unplayed": [{"interaction": 2, "method": "GET", "path": "/y?z=1"}],
            "bindings": {minted("11111111"): minted("22222222")},
            "misses": [],
        })
    );
    assert_eq!(json("sessions?session=tape~2")["misses"][0]["path"], "/x");
    assert_eq!(json("misses?session=tape~1")["misses"].as_array().unwrap().len(), 0);
    assert_eq!(json("misses?session=tape~2")["misses"].as_array().unwrap().len(), 1);
    assert_eq!(json("unplayed?session=tape~1")["unplayed"].as_array().unwrap().len(), 1);
    assert_eq!(control("sessions?session=nobody").status, 404);
    assert_eq!(control("unplayed?session=nobody").status, 404);
    assert_eq!(control("health?session").status, 400);
    let misspelt = control("misses?sesion=tape~1");
    assert_eq!(misspelt.status, 400);
    assert!(misspelt.text().contains("did you mean `session`?"), "{}", misspelt.text());
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_began_anew_has_not_drifted() {
    let made_up = "kq3v9x7m2p5w8z1r";
    let interaction = |path: &str| {
        let headers = json!({"content-type": "application/json"});
        json!({"request": {"method": "POST", "path": path, "headers": headers, "json": {"ref": made_up}},
               "response": {"ms": 0, "status": 200, "headers": {}, "text": path, "end": "complete"}})
    };
    let stage = Stage::new();
    let cassette = json!({
        "retape": 1,
        "ids": {"version": 1, "client": [{"id": made_up, "in": 1, "at": "/ref", "by": "runs"}]},
        "interactions": [interaction("/a"), interaction("/b")],
    });
    std::fs::write(stage.folder().join("tape.json"), cassette.to_string()).unwrap();
    let session = stage.session(Mode::Replay).report_lax(stage.folder().join("lax.json"));
    let session = session.start().await.unwrap();

    for made_up in ["aaaaaaaaaaaaaaa1", "bbbbbbbbbbbbbbb2"] {
        for path in ["/a", "/b"] {
            let body = format!("{{\"ref\":\"{made_up}\"}}");
            assert_eq!(post(&format!("{}{path}", session.url()), &body).text(), path);
        }
        session.reset();
    }
    session.stop().await.unwrap();

    assert_eq!(stage.file("lax.json"), "[]\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_played_before_a_reset_counts_as_played() {
    let stage = stage(3).await;
    let session = stage.replay().await;
    let count = || get(&format!("{}/count", session.url()));
    let reset = || ask("POST", &format!("{}/-/retape/reset", session.url()), "X-Retape: 1\r\n", "");

    count();
    count();
    reset();
    let unplayed = get(&format!("{}/-/retape/unplayed", session.url()));
    count();
    reset();
    let summary = session.finish().await.unwrap();

    let unplayed: serde_json::Value = serde_json::from_str(&unplayed.text()).unwrap();
    assert_eq!(unplayed["unplayed"].as_array().unwrap().len(), 3, "the run has begun anew");
    let left: Vec<_> = summary.unplayed.iter().map(|left| left.interaction).collect();
    assert_eq!((summary.played, left), (2, vec![2]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_missed_stays_missed_unless_it_is_said_to_be_forgotten() {
    let stage = stage(1).await;
    let session = stage.replay().await;
    let reset = |query: &str| {
        ask("POST", &format!("{}/-/retape/reset{query}", session.url()), "X-Retape: 1\r\n", "")
    };
    for name in ["tape~1", "tape~2", "tape~2"] {
        get(&format!("{}/missing", session.url_of(name)));
    }

    assert_eq!(reset("?session=tape~2").text(), r#"{"reset":1}"#);
    assert_eq!(session.misses().len(), 3);
    assert_eq!(reset("?session=tape~2&misses=clear").text(), r#"{"misses_cleared":2,"reset":1}"#);
    assert_eq!(session.misses().len(), 1);
    assert_eq!(reset("?misses=forget").status, 400);
    assert_eq!(reset("?sesion=tape~2").status, 400);
    assert_eq!(reset("?misses=clear").text(), r#"{"misses_cleared":1,"reset":3}"#);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_host_cannot_use_a_recorder() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = stage.record(&upstream).await;
    let url = session.url();
    let (address, _) = split(&url);
    let status = |host: &str, fields: &str, path: &str| {
        let mut wire = Wire::connect(address);
        let method = if path == "/v1" { "GET" } else { "POST" };
        wire.send(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"));
        let reply = reply(&mut wire, method);
        // A browser asks for an icon of what it shows, as for a page of ours.
        let policy = reply.field("content-security-policy") == Some("default-src 'none'");
        assert!(policy || reply.status == 200 || host == "localhost" && fields.is_empty());
        reply.status
    };

    let rebound = status("evil.example", "", "/v1");
    let cross_site = status("localhost", "Origin: https://evil.example\r\n", "/v1");
    let reset = status("localhost", "Sec-Fetch-Site: cross-site\r\n", "/-/retape/reset");
    let unmarked = status("localhost", "", "/-/retape/reset");
    let own = status("localhost", "Origin: http://localhost:3000\r\n", "/v1");
    let failed = session.finish().await.unwrap_err();

    assert_eq!([rebound, cross_site, reset, unmarked, own], [403, 403, 403, 403, 200]);
    assert_snapshot!(format!("{failed:?}"), @"
    2 requests refused
    hint: `evil.example` is no host of retape's; `--allow-host evil.example` allows it
    ");
    assert_eq!(upstream.asked().len(), 1);
    assert_eq!(stage.cassette().interactions.len(), 1);
}
