//! Sessions that a test runner opens and finishes at a running address.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::client::{ask, get, post};
use crate::support::upstream::{Asked, Upstream};
use crate::support::wire::Wire;

/// A control request, and what came of it.
fn control(url: &str, method: &str, what: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let reply = ask(method, &format!("{url}/-/retape/{what}"), "x-retape: 1\r\n", &body);
    (reply.status, serde_json::from_str(&reply.text()).unwrap())
}

fn finished(url: &str, what: &str) -> Value {
    let (status, told) = control(url, "POST", what, &Value::Null);
    assert_eq!(status, 200, "{told}");
    told
}

fn open(url: &str, settings: Value) -> Value {
    let (status, told) = control(url, "POST", "open", &settings);
    assert_eq!(status, 200, "{told}");
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_opened_recorded_finished_and_played() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = stage.replay().await;
    let url = session.url();
    let settings = json!({"cassette": "tests/a", "mode": "once", "upstream": upstream.url()});

    let opened = open(&url, settings.clone());
    get(&format!("{}/x", opened["url"].as_str().unwrap()));
    let interactions = finished_get(&url, "interactions?session=~opened-1");
    let recorded = finished(&url, "finish?session=~opened-1");
    let again = open(&url, settings);
    let hit = get(&format!("{}/x", again["url"].as_str().unwrap())).text();
    let miss = get(&format!("{}/y", again["url"].as_str().unwrap())).status;
    let played = finished(&url, "finish?session=~opened-2");
    let summary = session.stop().await.unwrap();

    assert_eq!((&opened["mode"], &again["mode"]), (&json!("record"), &json!("replay")));
    assert_eq!(interactions["interactions"][0]["method"], "GET");
    assert_eq!(recorded["recorded"][0]["interactions"], 1);
    assert_eq!((hit.as_str(), miss), ("\"/x\"", 470));
    assert_eq!((&played["played"], played["misses"].as_array().unwrap().len()), (&json!(1), 1));
    // It all counts for the run.
    assert_eq!((summary.requests, summary.forwarded, summary.misses.len()), (3, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_proves_learns_what_differs_and_fixes_nothing() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = stage.replay().await;
    let url = session.url();
    let run = |settings: Value, [name, request_id]: [&str; 2]| {
        let opened = open(&url, settings);
        let to = opened["url"].as_str().unwrap().to_owned();
        let body = json!({"name": name, "request_id": request_id}).to_string();
        let status = ask("POST", &format!("{to}/agents"), "", &body).status;
        let session = opened["session"].as_str().unwrap().to_owned();
        (status, finished(&url, &format!("finish?session={session}")))
    };
    let record = json!({"cassette": "a", "mode": "record", "upstream": upstream.url()});
    let prove = json!({"cassette": "a", "mode": "once", "prove": true});

    // One process may well call its requests the same in both runs, and another one not.
    run(record, ["quiet-otter", "req_7QpYk2Lz9vTn4RbX"]);
    let (first, told) = run(prove.clone(), ["happy-fox", "req_7QpYk2Lz9vTn4RbX"]);
    let (again, none) = run(prove, ["happy-fox", "req_7QpYk2Lz9vTn4RbX"]);
    let replay = json!({"cassette": "a", "mode": "replay"});
    let (replayed, played) = run(replay, ["calm-badger", "req_fG3xWq81LmZp0Ns5"]);
    let summary = session.stop().await.unwrap();

    assert_eq!((first, again, replayed), (200, 200, 200));
    assert_eq!(told["made_up"], json!([{"id": "quiet-otter", "at": "/name"}]));
    assert_eq!(none["made_up"], json!([]));
    assert_eq!(played.get("made_up"), None);
    assert!(summary.misses.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_fixture_made_up_is_called_the_same_in_the_tests_beside_it() {
    let stage = Stage::new();
    let named = std::sync::Mutex::new(String::new());
    let upstream = Upstream::json(move |asked: &Asked| {
        let mut named = named.lock().unwrap();
        if !asked.body.is_empty() {
            *named = asked.text();
        }
        named.clone()
    });
    let session = stage.replay().await;
    let url = session.url();
    let run = |mode: &str, name: &str| {
        let open = |cassette: &str, beside: Value| {
            let upstream = upstream.url();
            let settings =
                json!({"cassette": cassette, "mode": mode, "upstream": upstream, "beside": beside});
            let opened = open(&url, settings);
            let text = |name: &str| opened[name].as_str().unwrap().to_owned();
            (text("url"), text("session"))
        };
        let (fixture, of_fixture) = open("fixture", json!([]));
        ask("POST", &format!("{fixture}/things"), "", &json!({"name": name}).to_string());
        let (test, of_test) = open("test", json!([of_fixture]));
        let said = get(&format!("{test}/things/1")).text();
        for session in [of_test, of_fixture] {
            finished(&url, &format!("finish?session={session}"));
        }
        said
    };

    let recorded = run("record", "agent-8f3a9c2b71d0");
    let replayed = run("replay", "agent-0b1c2d3e4f5a");
    let (status, refused) =
        control(&url, "POST", "open", &json!({"cassette": "x", "beside": ["~no"]}));
    session.stop().await.unwrap();

    assert_eq!(recorded, r#"{"name":"agent-8f3a9c2b71d0"}"#);
    assert_eq!(replayed, r#"{"name":"agent-0b1c2d3e4f5a"}"#);
    assert_eq!(status, 422);
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("no session `~no`"));
}

fn finished_get(url: &str, what: &str) -> Value {
    control(url, "GET", what, &Value::Null).1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_to_be_saved_leaves_no_file() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.replay().await;
    let url = session.url();

    let opened = open(&url, json!({"cassette": "a", "mode": "record", "upstream": upstream.url()}));
    get(&format!("{}/x", opened["url"].as_str().unwrap()));
    finished(&url, "finish?session=~opened-1&save=no");
    session.stop().await.unwrap();

    assert!(stage.files().is_empty(), "{:?}", stage.files());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_finishes_ends_with_the_main_session() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = stage.replay().await;
    let url = session.url();
    let record = json!({"cassette": "a", "mode": "record", "upstream": upstream.url()});
    let opened = open(&url, record.clone());
    get(&format!("{}/x", opened["url"].as_str().unwrap()));
    finished(&url, "finish?session=~opened-1");
    for (settings, path) in [(record, "/y"), (json!({"cassette": "a", "mode": "replay"}), "/z")] {
        let opened = open(&url, settings);
        get(&format!("{}{path}", opened["url"].as_str().unwrap()));
    }

    let summary = session.stop().await.unwrap();

    assert_eq!(summary.misses.len(), 1);
    // Whoever should have finished it may have been killed in the middle.
    assert!(stage.file("a.json").contains("/x"));
    assert!(stage.file("a.failed.json").contains("/y"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_query_of_a_control_request_is_read_as_any_form() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = stage.replay().await;
    let url = session.url();
    let settings = json!({"cassette": "a", "mode": "record", "upstream": upstream.url()});
    let opened = open(&url, settings);
    get(&format!("{}/x", opened["url"].as_str().unwrap()));

    finished(&url, "finish?%73ession=%7Eopened-1");
    get(&format!("{url}/a~1/-/x"));
    get(&format!("{url}/a~2/-/x"));
    let default = finished(&url, "reset?session");
    let one = finished(&url, "reset?session=a%7E2");
    let all = finished(&url, "reset");
    session.stop().await.unwrap();

    let reset = [default, one, all].map(|it| it["reset"].clone());
    assert_eq!(reset, [json!(0), json!(1), json!(2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transport_leads_to_a_session_and_the_client_sees_the_server_itself() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_: &Asked| "{}".to_owned());
    let origin = upstream.url();
    let link = format!("{{\"next\":\"{origin}/2\"}}");
    let upstream = Upstream::json(move |_: &Asked| link.clone());
    let session = stage.replay().await;
    let url = session.url();
    let origin = upstream.url();
    let settings = json!({"cassette": "a", "mode": "once", "upstream": origin});
    let lead = |session: &str| format!("retape-for: {session} {origin}\r\n");
    let page = |session: &str| ask("GET", &format!("{url}/1"), &lead(session), "").text();

    open(&url, settings.clone());
    let live = page("~opened-1");
    finished(&url, "finish?session=~opened-1");
    open(&url, settings);
    let (status, _) = control(&url, "POST", "route?session=~test&to=~opened-2", &Value::Null);
    let replayed = page("~test");
    session.stop().await.unwrap();

    assert_eq!(status, 200);
    assert_eq!(live, replayed);
    assert!(!stage.file("a.json").contains("retape-for"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_the_client_means_is_told_and_our_own_is_not() {
    let stage = Stage::new();
    let upstream =
        Upstream::json(|asked: &Asked| asked.head.field("host").unwrap_or_default().to_owned());
    let session = stage.replay().await;
    let (url, origin) = (session.url(), upstream.url());
    open(&url, json!({"cassette": "a", "mode": "record", "upstream": origin}));
    let said = |host: &str| {
        let lead = format!("GET /x HTTP/1.1\r\nretape-for: ~opened-1 {origin}\r\n");
        let mut wire = Wire::connect(session.address());
        wire.send(format!("{lead}host: {host}\r\nconnection: close\r\n\r\n"));
        wire.head();
        String::from_utf8(wire.rest()).unwrap()
    };

    let port = upstream.url().rsplit_once(':').unwrap().1.to_owned();
    let tenant = format!("tenant.localhost:{port}");
    assert_eq!(said(&tenant), tenant);
    assert_eq!(said(&session.address().to_string()), upstream.url().replace("http://", ""));
    finished(&url, "finish?session=~opened-1");
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_opened_says_why() {
    let stage = Stage::new();
    let session = stage.replay().await;
    let url = session.url();

    let check = |what: &str, body: Value, why: &str| {
        let (status, told) = control(&url, "POST", what, &body);
        let message = told["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!((status, message.contains(why)), (422, true), "{message}");
    };
    check("open", json!({"casette": "a"}), "did you mean `cassette`?");
    check("open", json!({}), "`cassette`");
    check("open", json!({"cassette": "../a"}), "is not a cassette name");
    check("open", json!({"cassette": "a", "mode": "recrod"}), "one of");
    check("finish?session=~opened-7", Value::Null, "no session `~opened-7` was opened");
    session.stop().await.unwrap();
}

/// A line-by-line listener: each connection gets one answer to its line.
fn hook(answer: impl Fn(Value) -> Value + Send + 'static) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let answer = answer(serde_json::from_str(&line).unwrap());
            stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
    });
    format!("{address}/name")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_cassette_holds_all_servers_that_a_transport_leads_here() {
    let stage = Stage::new();
    let one = Upstream::json(|_: &Asked| "1".to_owned());
    let other = Upstream::json(|_: &Asked| "2".to_owned());
    let session = stage.replay().await;
    let url = session.url();
    let said = |session: &str, origin: &str| {
        ask("GET", &format!("{url}/x"), &format!("retape-for: {session} {origin}\r\n"), "").text()
    };

    let mut answers = Vec::new();
    for name in ["~opened-1", "~opened-2"] {
        open(&url, json!({"cassette": "a", "mode": "once"}));
        answers.push((said(name, &one.url()), said(name, &other.url())));
        finished(&url, &format!("finish?session={name}"));
    }
    session.stop().await.unwrap();

    assert_eq!(answers, vec![("1".to_owned(), "2".to_owned()); 2]);
    assert_eq!(stage.files(), ["a.json"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_that_a_test_runner_names_may_listen_elsewhere_each_time() {
    let stage = Stage::new();
    let session = stage.replay().await;
    let url = session.url();
    let said = |name: &str, origin: &str| {
        open(&url, json!({"cassette": "a", "mode": "once", "upstream": origin}));
        let lead = format!("retape-for: {name} {origin}\r\n");
        let said = ask("GET", &format!("{url}/x"), &lead, "").text();
        finished(&url, &format!("finish?session={name}"));
        said
    };

    let recorded = said("~opened-1", &Upstream::json(|_: &Asked| "1".to_owned()).url());
    let replayed = said("~opened-2", "http://127.0.0.1:9");
    session.stop().await.unwrap();

    assert_eq!((recorded.as_str(), replayed.as_str()), ("1", "1"));
}

/// Servers that say who they are and where the client sees them, as a test starts them.
fn started() -> [Upstream; 2] {
    ["one", "other"].map(|name| {
        Upstream::json(move |asked: &Asked| {
            let host = asked.head.field("host").unwrap_or_default();
            format!("{{\"by\":\"{name}\",\"next\":\"http://{host}/2\"}}")
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_a_test_starts_may_listen_elsewhere_each_time() {
    let stage = Stage::new();
    let session = stage.replay().await;
    let url = session.url();
    let run = |number: usize, settings: Value, origins: &[&str]| {
        open(&url, settings);
        let said = |origin: &&str| {
            let lead = format!("retape-for: ~opened-{number} {origin}\r\n");
            let said = ask("GET", &format!("{url}/x"), &lead, "");
            if said.status == 470 { "missed".to_owned() } else { said.text() }
        };
        let said: Vec<_> = origins.iter().map(said).collect();
        finished(&url, &format!("finish?session=~opened-{number}"));
        said
    };
    let (record, replay) = (json!({"cassette": "a", "mode": "record"}), json!({"cassette": "a"}));
    let prove = json!({"cassette": "a", "mode": "replay", "prove": true});
    let elsewhere = ["http://127.0.0.1:50123", "http://127.0.0.1:50124"];
    let next = |by: &str, origin: &str| format!("{{\"by\":\"{by}\",\"next\":\"{origin}/2\"}}");

    let servers = started();
    let recorded = servers.each_ref().map(Upstream::url);
    run(1, record.clone(), &recorded.each_ref().map(String::as_str));
    let moved = run(2, replay.clone(), &elsewhere);
    let far = ["http://127.0.0.2:50123", "https://127.0.0.1:50123", "http://localhost:50123"];
    let others = run(3, replay.clone(), &[&*recorded[0], far[0], far[1], far[2]]);
    run(4, prove, &elsewhere);
    let proved = stage.file("a.json");
    let again = started();
    run(5, record, &again.each_ref().map(Upstream::url).each_ref().map(String::as_str));
    session.stop().await.unwrap();

    assert_eq!(moved, [next("one", elsewhere[0]), next("other", elsewhere[1])]);
    assert_eq!(others, [&*next("one", &recorded[0]), "missed", "missed", "missed"]);
    let name = recorded[1].replace("http://", "");
    let known =
        format!(r#"{{"id": "{name}", "in": 2, "at": "origin", "only": "here", "by": "runs"}}"#);
    assert!(proved.contains(&known), "{proved}");
    assert_eq!(stage.file("a.json"), proved);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_says_as_what_a_request_is_compared_and_what_passes() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = stage.replay().await;
    let url = session.url();
    let hook = hook(|asked| match asked["url"].as_str() {
        Some(it) if it.ends_with("/out") => Value::Null,
        _ => json!({"url": asked["url"].as_str().unwrap().replace("/eu/", "/us/")}),
    });
    let opened = open(&url, json!({"cassette": "a", "mode": "once", "upstream": upstream.url()}));
    get(&format!("{}/us/x", opened["url"].as_str().unwrap()));
    finished(&url, "finish?session=~opened-1");

    let settings = json!({"cassette": "a", "hook": hook, "upstream": upstream.url()});
    let again = open(&url, settings);
    let of = |path: &str| get(&format!("{}{path}", again["url"].as_str().unwrap())).text();
    let (hit, passed) = (of("/eu/x"), of("/out"));
    let told = finished(&url, "finish?session=~opened-2");
    session.stop().await.unwrap();

    assert_eq!((hit.as_str(), passed.as_str()), ("\"/us/x\"", "\"/out\""));
    assert_eq!((&told["played"], &told["misses"]), (&json!(1), &json!([])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_recorded_is_saved_as_the_test_runner_changes_it() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_: &Asked| "\"long answer\"".to_owned());
    let session = stage.replay().await;
    let url = session.url();
    let opened = open(&url, json!({"cassette": "a", "mode": "record", "upstream": upstream.url()}));
    for path in ["/left-out", "/x?token=secret"] {
        get(&format!("{}{path}", opened["url"].as_str().unwrap()));
    }

    let request = json!({"method": "GET", "url": "/x", "headers": [["a", "b"]], "body": ""});
    let response =
        json!({"status": 201, "headers": [["content-length", "13"]], "body": "InNob3J0Ig=="});
    let changes = json!([
        {"interaction": 0, "drop": true},
        {"interaction": 1, "request": request, "response": response},
    ]);
    let wrong = control(&url, "POST", "finish?session=~opened-1", &json!([{"drop": true}]));
    let beyond = json!([{"interaction": 0, "drop": true}, {"interaction": 2, "drop": true}]);
    let beyond = control(&url, "POST", "finish?session=~opened-1", &beyond);
    let (_, told) = control(&url, "POST", "finish?session=~opened-1", &changes);
    session.stop().await.unwrap();

    assert_eq!((wrong.0, beyond.0), (422, 422), "{} {}", wrong.1, beyond.1);
    assert_eq!(told["recorded"][0]["interactions"], 1);
    let kept = stage.file("a.json");
    assert!(
        kept.contains("\"/x\"") && kept.contains("short") && !kept.contains("long answer"),
        "{kept}"
    );
    assert!(!kept.contains("secret") && !kept.contains("left-out"), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn further_files_are_played_behind_the_cassette_of_a_session() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = stage.replay().await;
    let url = session.url();
    let settings =
        |name: &str, also: Value| json!({"cassette": name, "mode": "once", "also": also});
    for name in ["own", "shared"] {
        let mut settings = settings(name, json!([]));
        settings["upstream"] = upstream.url().into();
        let opened = open(&url, settings);
        get(&format!("{}/{name}", opened["url"].as_str().unwrap()));
        get(&format!("{}/{name}/left", opened["url"].as_str().unwrap()));
        finished(&url, &format!("finish?session={}", opened["session"].as_str().unwrap()));
    }
    let shared = stage.folder().join("shared.json");

    let both = open(&url, settings("own", json!([shared])));
    let answers = ["own", "shared"]
        .map(|name| get(&format!("{}/{name}", both["url"].as_str().unwrap())).text());
    let both = finished(&url, &format!("finish?session={}", both["session"].as_str().unwrap()));
    let alone = open(&url, settings("none", json!([shared])));
    let answer = get(&format!("{}/shared", alone["url"].as_str().unwrap())).text();
    let refused = control(&url, "POST", "open", &settings("own", json!("shared.json")));
    session.stop().await.unwrap();

    assert_eq!(answers, ["\"/own\"", "\"/shared\""]);
    // Nobody has to ask for all that is shared.
    assert_eq!(both["unplayed"].as_array().unwrap().len(), 1, "{both}");
    assert_eq!((&alone["mode"], answer.as_str()), (&json!("replay"), "\"/shared\""));
    assert_eq!(refused.0, 422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_names_holds_beside_a_file_that_has_none() {
    let interaction = |path: &str, nonce: &str| {
        let headers = json!({"content-type": "application/json"});
        json!({"request": {"method": "POST", "path": path, "headers": headers, "json": {"nonce": nonce}},
               "response": {"ms": 0, "status": 200, "headers": {}, "text": path, "end": "complete"}})
    };
    let [one, another, other] = [
        "5b0c6a52-8f1e-4d0b-9a59-0e9c0b6f2a11",
        "0d8f5a7e-6b1c-4f3d-8a2e-7c5b9e1d4f33",
        "c1d7a0de-2f64-4a8e-b1c3-9f6f3f0a7b22",
    ];
    let stage = Stage::new();
    let file = |name: &str| stage.folder().join(name);
    // The table says that the client makes up nothing.
    let own =
        json!({"retape": 1, "ids": {"version": 1}, "interactions": [interaction("/own", one)]});
    let shared = json!({"retape": 1, "interactions": [interaction("/shared", another)]});
    std::fs::write(file("own.json"), own.to_string()).unwrap();
    std::fs::write(file("shared.json"), shared.to_string()).unwrap();
    let session = stage.replay().await;
    let also = json!([file("shared.json")]);
    let opened = open(&session.url(), json!({"cassette": "own", "mode": "replay", "also": also}));
    let ask = |path: &str| {
        let body = json!({"nonce": other}).to_string();
        post(&format!("{}{path}", opened["url"].as_str().unwrap()), &body).status
    };

    let statuses = ["/own", "/shared"].map(ask);

    session.stop().await.unwrap();
    assert_eq!(statuses, [470, 200]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_path_of_an_opened_session_may_name_a_server() {
    let stage = Stage::new();
    let named = |name: &'static str| Upstream::json(move |_| format!("\"{name}\""));
    let [agent, model] = [named("agent"), named("model")];
    let session = stage.recorder(&agent).named_upstream("openai", model.url());
    let session = session.start().await.unwrap();
    let opened = open(&session.url(), json!({"cassette": "a", "mode": "record"}));
    let name = opened["session"].as_str().unwrap();

    let answer = get(&format!("{}/{name}/-openai/v1", session.url())).text();
    let recorded = finished(&session.url(), &format!("finish?session={name}"));

    session.stop().await.unwrap();
    assert_eq!(answer, "\"model\"");
    assert_eq!(recorded["recorded"][0]["interactions"], 1, "{recorded}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_opens_nothing_is_told_with_an_example() {
    let stage = Stage::new();
    let session = stage.replay().await;

    let (status, told) = control(&session.url(), "POST", "open", &json!([]));

    assert_eq!(status, 422, "{told}");
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("hint: such as `{\"cassette\": \"tests/hello\"}`"), "{message}");
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_test_calls_what_a_kept_fixture_made_as_that_does() {
    let stage = Stage::new();
    let made = std::sync::Mutex::new(String::new());
    let upstream = Upstream::json(move |asked: &Asked| {
        let mut made = made.lock().unwrap();
        if !asked.body.is_empty() {
            *made = asked.text();
        }
        made.clone()
    });
    let session = stage.replay().await;
    let url = session.url();
    let run = |mode: &str, name: &str, tests: &[&str]| {
        let open = |cassette: &str, beside: Value| {
            let upstream = upstream.url();
            let settings =
                json!({"cassette": cassette, "mode": mode, "upstream": upstream, "beside": beside});
            let opened = open(&url, settings);
            ["url", "session"].map(|name| opened[name].as_str().unwrap().to_owned())
        };
        let [fixture, of_fixture] = open("fixture", json!([]));
        ask("POST", &format!("{fixture}/rooms"), "", &json!({"name": name}).to_string());
        let read = |test: &&str| {
            let [test, session] = open(test, json!([of_fixture]));
            let said = get(&format!("{test}/rooms/1")).text();
            finished(&url, &format!("finish?session={session}"));
            said.contains(name)
        };
        let read: Vec<bool> = tests.iter().map(read).collect();
        finished(&url, &format!("finish?session={of_fixture}"));
        read
    };

    run("record", "room-8f3a9c2b71d0", &["one"]);
    run("record", "room-4c5d6e7f8091", &["one", "two"]);
    let replayed = run("replay", "room-0b1c2d3e4f5a", &["one", "two"]);
    session.stop().await.unwrap();

    assert_eq!(replayed, [true, true]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_test_recorded_that_never_ended_is_no_cassette() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    let session = stage.replay().await;
    let settings = json!({"cassette": "half", "mode": "record", "upstream": upstream.url()});
    let opened = open(&session.url(), settings);
    get(&format!("{}/things", opened["url"].as_str().unwrap()));
    session.stop().await.unwrap();

    assert_eq!(stage.files(), ["half.failed.json"]);
}
