//! Requests that look the same and differ in who asks.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use retape::Mode;

use crate::stage::Stage;
use crate::support::client::{ask, get};
use crate::support::socket::{Socket, Sockets};
use crate::support::upstream::{Asked, Then, Upstream, json};

const FIELDS: &str = "Content-Type: application/json\r\n";

/// A key of a client, made at run time.
fn key(seed: &str) -> String {
    format!("{}{}", "sk-", seed.repeat(10))
}

/// A server that knows one key, and says who asked.
fn guarded(known: String) -> Upstream {
    Upstream::start(move |asked, wire| {
        let said = asked.head.field("x-api-key").unwrap_or("nobody");
        let (status, text) = if said == known { (200, "welcome") } else { (401, "refused") };
        wire.send(json(status, &format!(r#"{{"text":"{text}","you":"{said}"}}"#)));
        Then::KeepAlive
    })
}

fn me(url: &str, key: Option<&str>) -> (u16, String) {
    let field = key.map(|key| format!("X-Api-Key: {key}\r\n")).unwrap_or_default();
    let reply = ask("GET", &format!("{url}/me"), &format!("{FIELDS}{field}"), "");
    (reply.status, reply.text())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_gets_the_recorded_refusal_whatever_the_keys_are() {
    let stage = Stage::new();
    let (right, wrong) = (key("a1"), key("b2"));
    let upstream = guarded(right.clone());
    let session = stage.record(&upstream).await;
    me(&session.url(), Some(&right));
    me(&session.url(), Some(&wrong));
    me(&session.url(), None);
    session.finish().await.unwrap();
    let file = stage.file("tape.json");
    assert!(!file.contains(&right) && !file.contains(&wrong), "{file}");
    assert!(
        file.contains("[redacted:x-api-key]") && file.contains("[redacted:x-api-key~2]"),
        "{file}"
    );

    let session = stage.replay().await;
    let (other, mistaken) = (key("c3"), key("d4"));
    let asked = [Some(&*other), None, Some(&*mistaken), Some(&*other), None, Some(&*mistaken)];
    let told = asked.map(|key| me(&session.url(), key));

    assert_eq!(told.each_ref().map(|(status, _)| *status), [200, 401, 401, 200, 401, 401]);
    assert!(told[0].1.contains(&other), "it comes back as it was sent: {}", told[0].1);
    assert!(told[2].1.contains(&mistaken), "{}", told[2].1);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_secret_in_two_fields_of_one_path_is_found_in_each() {
    let upstream = Upstream::json(|_| "{}".to_owned());
    for (first, then) in
        [("new_password", "password"), ("client_secret", "clientSecret"), ("api_key", "token")]
    {
        let stage = Stage::new();
        let ask = |url: &str, secret: &str| {
            [first, then].map(|name| {
                let body = format!(r#"{{"op":"{name}","with":{{"{name}":"{secret}"}}}}"#);
                ask("POST", &format!("{url}/a"), FIELDS, &body).status
            })
        };
        let session = stage.record(&upstream).await;
        ask(&session.url(), &key("e5"));
        session.finish().await.unwrap();

        let session = stage.replay().await;

        assert_eq!(ask(&session.url(), &key("e5")), [200, 200], "{first} {then}");
        assert_eq!(ask(&session.url(), "dummy"), [200, 200], "{first} {then}");
        session.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_placeholder_that_a_client_was_given_stands_for_its_own_secret_alone() {
    let stage = Stage::new();
    let issued = AtomicUsize::new(0);
    let upstream = Upstream::json(move |asked: &Asked| match asked.path() {
        "/messages" => {
            let number = issued.fetch_add(1, Ordering::Relaxed);
            format!(r#"{{"sid":"{}"}}"#, format!("SM{number}f").repeat(10))
        }
        path => format!(r#"{{"path":"{path}"}}"#),
    });
    let sent = |url: &str| -> [String; 3] {
        ["1", "2", "3"].map(|text| {
            let told = ask("POST", &format!("{url}/messages"), FIELDS, text).text();
            told.split('"').nth(3).unwrap().to_owned()
        })
    };
    let read = |url: &str, sid: &str| get(&format!("{url}/messages/{sid}"));
    let session = stage.record(&upstream).await;
    let names = sent(&session.url());
    assert_eq!(read(&session.url(), &names[1]).status, 200);
    session.finish().await.unwrap();
    assert!(!stage.file("tape.json").contains(&names[1]));

    for (number, expected) in [(0, 470), (1, 200), (2, 470)] {
        let session = stage.replay().await;
        let names = sent(&session.url());
        let reply = read(&session.url(), &names[number]);
        assert_eq!(reply.status, expected, "{names:?}");
        if expected == 470 {
            let told = reply.text();
            assert!(told.contains(" path.2\n"), "{told}");
            assert!(told.contains(&format!("+ {}\n", names[number])), "{told}");
        }
        let finished = session.finish().await;
        assert_eq!(finished.is_ok(), expected == 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_names_the_field_in_which_a_client_says_another_secret_that_it_was_given() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        let name = asked.path().trim_start_matches('/').to_owned();
        let cookie = format!("Set-Cookie: sid={}; Path=/\r\n", format!("{name}7Qx").repeat(8));
        let fields = if name == "me" { "" } else { &*cookie };
        let length = format!("{fields}Content-Length");
        wire.send(json(200, "{}").replacen("Content-Length", &length, 1));
        Then::KeepAlive
    });
    let given = |url: &str| {
        ["a1", "b2"].map(|name| {
            let reply = get(&format!("{url}/{name}"));
            reply.field("set-cookie").unwrap().split(';').next().unwrap().to_owned()
        })
    };
    let me =
        |url: &str, sid: &str| ask("GET", &format!("{url}/me"), &format!("Cookie: {sid}\r\n"), "");
    let session = stage.record(&upstream).await;
    let [_, second] = given(&session.url());
    assert_eq!(me(&session.url(), &second).status, 200);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let [first, _] = given(&session.url());
    let told = me(&session.url(), &first).text();
    session.finish().await.unwrap_err();

    assert!(told.contains(" header.cookie\n"), "{told}");
    assert!(told.contains("[redacted:sid~2]"), "{told}");
}

/// A client that decodes a cookie sends one that no answer has given it: it makes it of the placeholder in replay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_the_client_makes_of_another_one_is_made_of_its_placeholder() {
    let stage = Stage::new();
    let value = format!("s%3A{}.{}", "k3J9xQw8Lm2P".repeat(2), "Yv1bN4tR");
    let upstream = Upstream::start(move |asked, wire| {
        let cookie = format!("HTTP/1.1 200 OK\r\nset-cookie: sid={value}; Path=/\r\n");
        let said = format!(r#"{{"path":"{}"}}"#, asked.path());
        wire.send(match asked.path() {
            "/login" => json(200, &said).replacen("HTTP/1.1 200 OK\r\n", &cookie, 1),
            _ => json(200, &said),
        });
        Then::KeepAlive
    });
    let log_in = |url: &str| {
        let reply = get(&format!("{url}/login"));
        let set = reply.head.field("set-cookie").unwrap().to_owned();
        let sid = set.split(';').next().unwrap().replace("%3A", ":");
        ask("GET", &format!("{url}/get"), &format!("Cookie: {sid}\r\n"), "").status
    };
    let session = stage.record(&upstream).await;
    assert_eq!(log_in(&session.url()), 200);
    session.finish().await.unwrap();
    assert!(stage.file("tape.json").contains("[redacted:sid~2]"));

    let session = stage.replay().await;
    assert_eq!(log_in(&session.url()), 200);
    session.finish().await.unwrap().all_played().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_of_several_keys_replays_with_one_and_with_none() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked| format!(r#"{{"path":"{}"}}"#, asked.path()));
    let talk = |url: &str, keys: [Option<&str>; 3]| {
        let paths = ["/a", "/b", "/a"];
        let told = paths.iter().zip(keys).map(|(path, key)| {
            let field = key.map(|key| format!("X-Api-Key: {key}\r\n")).unwrap_or_default();
            ask("GET", &format!("{url}{path}"), &field, "").status
        });
        told.collect::<Vec<u16>>()
    };
    let session = stage.record(&upstream).await;
    let keys = ["a1", "b2", "c3"].map(key);
    talk(&session.url(), [Some(&keys[0]), Some(&keys[1]), Some(&keys[2])]);
    session.finish().await.unwrap();

    for keys in [[Some("sk-dummy-dummy-1"); 3], [None; 3]] {
        let session = stage.replay().await;
        assert_eq!(talk(&session.url(), keys), [200; 3]);
        session.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_never_holds_a_secret_of_the_environment_or_of_a_stream() {
    let stage = Stage::new();
    let secret = key("e5");
    let streamed = secret.clone();
    let upstream = Upstream::start(move |_, wire| {
        let events = streamed
            .as_bytes()
            .chunks(3)
            .map(|piece| format!("data: {{\"d\":\"{}\"}}\n\n", String::from_utf8_lossy(piece)));
        let body: String = events.collect();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        wire.send(head + &body);
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;
    ask("GET", &format!("{}/x", session.url()), &format!("X-Api-Key: {secret}\r\n"), "");
    session.finish().await.unwrap();

    let file = stage.file("tape.json");
    let joined: String = file.split(r#"{\"d\":\""#).collect();

    assert!(!file.contains(&secret[3..]) && !joined.contains(&secret[3..]), "{file}");
    assert!(!file.contains(&secret[3..6]), "no piece is left: {file}");
}

/// Opens two sessions, whose keys the server issues, and asks in both by turns; what it was told.
fn in_two_sessions(url: &str) -> Vec<String> {
    let open = || {
        let told = ask("POST", &format!("{url}/sessions"), FIELDS, "{}").text();
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["access_token"].as_str().unwrap().to_owned()
    };
    let [first, second] = [open(), open()];
    let mut told = Vec::new();
    for key in [&first, &second, &first] {
        told.push(ask("GET", &format!("{url}/poll?access_token={key}"), "", "").text());
        let encoded = key.replace('[', "%5B").replace(']', "%5D");
        told.push(ask("GET", &format!("{url}/more?access_token={encoded}"), "", "").text());
        told.push(ask("GET", &format!("{url}/me"), &format!("X-Api-Key: {key}\r\n"), "").text());
        let body = format!(r#"{{"access_token":"{key}"}}"#);
        told.push(ask("POST", &format!("{url}/close"), FIELDS, &body).text());
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_the_server_issued_are_told_apart_when_they_come_back() {
    let stage = Stage::new();
    let keys = ["a1", "b2"].map(key);
    let opened = std::sync::atomic::AtomicUsize::new(0);
    let upstream = Upstream::start(move |asked, wire| {
        let said = format!("{} {}", asked.head.line, String::from_utf8_lossy(&asked.body));
        let said = format!("{said} {}", asked.head.field("x-api-key").unwrap_or_default());
        let text = match asked.path() {
            "/sessions" => {
                let next = opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                format!(r#"{{"access_token":"{}"}}"#, keys[next])
            }
            _ => {
                let whose = keys.iter().position(|key| said.contains(key.as_str()));
                format!(
                    r#"{{"whose":{}}}"#,
                    whose.map_or("nobody's".to_owned(), |it| it.to_string())
                )
            }
        };
        wire.send(json(200, &text));
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;
    let recorded = in_two_sessions(&session.url());
    let summary = session.finish().await.unwrap();
    assert!(summary.recordings[0].suspects.is_empty(), "{:?}", summary.recordings[0].suspects);
    assert!(stage.file("tape.json").contains("[redacted:access_token~2]"));

    let session = stage.replay().await;
    let replayed = in_two_sessions(&session.url());

    assert_eq!(replayed, recorded);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_secret_that_is_echoed_under_the_name_of_its_field_is_the_one_of_this_run() {
    let upstream = Upstream::json(|asked| {
        let sent = asked.head.field("proxy-authorization").unwrap_or_default();
        format!("{{\"headers\": {{\"Proxy-Authorization\": \"{sent}\"}}}}")
    });
    let echoed = |url: &str, word: &str| {
        let field = format!("Proxy-Authorization: Bearer {word}\r\n");
        ask("GET", url, &field, "").text().contains(&format!("\"Bearer {word}\""))
    };
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    assert!(echoed(&session.url(), "XXX"));
    session.finish().await.unwrap();
    assert!(!stage.file("tape.json").contains("XXX"));

    let session = stage.replay().await;

    assert!(echoed(&session.url(), "YYY"));
    session.finish().await.unwrap();
}

fn put(url: &str, key: &str, value: usize) -> (u16, String) {
    let body = format!(r#"{{"key":"{key}","value":{value}}}"#);
    let reply = ask("POST", &format!("{url}/put"), FIELDS, &body);
    (reply.status, reply.text())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_recording_says_whether_a_name_tells() {
    let upstream = Upstream::json(Asked::text);
    // A `key` is a secret if it looks like one, and a client makes up another each time.
    let (looks, plain) = (["a1".repeat(8), "b2".repeat(8)], ["cab/1", "dab/2"]);
    let recordings = [[&*looks[0], plain[0]], [plain[0], &looks[0]], [&looks[0], &looks[1]]];
    for recorded in recordings {
        let stage = Stage::new();
        let session = stage.record(&upstream).await;
        (0..2).for_each(|value| drop(put(&session.url(), recorded[value], value)));
        session.finish().await.unwrap();
        assert!(!stage.file("tape.json").contains(&looks[0]));

        for keys in [[&*looks[1], plain[1]], [plain[1], &looks[1]], [plain[0], plain[1]]] {
            let session = stage.replay().await;
            let told = [0, 1].map(|value| put(&session.url(), keys[value], value).0);
            assert_eq!(told, [200; 2], "{recorded:?} {keys:?}");
            session.finish().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_tells_in_requests_of_one_path_tells_nothing_in_those_of_another() {
    let upstream = Upstream::json(Asked::text);
    let remove = |url: &str, key: &str| {
        ask("POST", &format!("{url}/remove"), FIELDS, &format!(r#"{{"key":"{key}"}}"#)).status
    };
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    put(&session.url(), &"a1".repeat(8), 0);
    remove(&session.url(), "cab/1");
    session.finish().await.unwrap();

    for (key, expected) in [("cab/1", 200), ("dab/2", 470)] {
        let session = stage.replay().await;
        assert_eq!(put(&session.url(), &"b2".repeat(8), 0).0, 200);
        assert_eq!(remove(&session.url(), key), expected);
        assert_eq!(session.finish().await.is_ok(), expected == 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_of_basic_authentication_tells_who_asks() {
    let basic = |password: &str| {
        let encoded = STANDARD.encode(format!("ann:{password}"));
        format!("Authorization: Basic {encoded}\r\n")
    };
    let [right, wrong] = ["a1", "b2"].map(|seed| basic(&seed.repeat(8)));
    let known = right.trim_end().to_owned();
    let upstream = Upstream::start(move |asked, wire| {
        let is_right = asked.head.field("authorization").is_some_and(|it| known.ends_with(it));
        wire.send(json(if is_right { 200 } else { 401 }, "{}"));
        Then::KeepAlive
    });
    let me = |url: &str, field: &str| ask("GET", &format!("{url}/me"), field, "").status;
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    for field in [&right, &wrong] {
        me(&session.url(), field);
    }
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let told = [&right, &right, &wrong, &right].map(|field| me(&session.url(), field));

    assert_eq!(told, [200, 200, 401, 200]);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_recording_says_whether_a_name_tells_wherever_it_stands() {
    let upstream = Upstream::json(|_| "{}".to_owned());
    let query = |url: &str, key: &str| get(&format!("{url}/put?key={key}")).status;
    let form = |url: &str, key: &str| {
        let fields = "Content-Type: application/x-www-form-urlencoded\r\n";
        ask("POST", &format!("{url}/put"), fields, &format!("key={key}&n=1")).status
    };
    let prose = |url: &str, key: &str| {
        let fields = "Content-Type: text/plain\r\n";
        ask("POST", &format!("{url}/put"), fields, &format!("use ROOM_KEY={key} for it")).status
    };
    let nested = |url: &str, key: &str| {
        let body = format!(r#"{{"said": "{{\"key\": \"{key}\"}}"}}"#);
        ask("POST", &format!("{url}/put"), FIELDS, &body).status
    };
    for send in [&query as &dyn Fn(&str, &str) -> u16, &form, &prose, &nested] {
        let stage = Stage::new();
        let session = stage.record(&upstream).await;
        send(&session.url(), &"a1".repeat(8));
        session.finish().await.unwrap();
        let file = stage.file("tape.json");
        assert!(file.to_lowercase().contains("key]"), "{file}");

        let session = stage.replay().await;
        assert_eq!(send(&session.url(), "dab/2"), 200, "{file}");
        session.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_only_the_recording_calls_a_secret_is_told_from_the_others() {
    let known = "a1".repeat(8);
    let text = known.clone();
    let upstream = Upstream::start(move |asked, wire| {
        wire.send(json(if asked.text().contains(&text) { 200 } else { 401 }, "{}"));
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let recorded = [&*known, "cab/1"].map(|key| put(&session.url(), key, 0).0);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let asked = ["dab/2", "ebb/3", "dab/2", "ebb/3"];
    let replayed = asked.map(|key| put(&session.url(), key, 0).0);
    session.finish().await.unwrap();

    assert_eq!((recorded, replayed), ([200, 401], [200, 401, 200, 401]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_that_the_server_gave_tell_whose_answer_it_is_in_any_order() {
    let cookie = |number: usize| format!("a{number}").repeat(10);
    let given = AtomicUsize::new(0);
    let upstream = Upstream::start(move |asked, wire| {
        let body = asked.head.field("cookie").map(|it| (0..3).find(|n| it.contains(&cookie(*n))));
        let set = match body {
            Some(_) => String::new(),
            None => {
                let number = given.fetch_add(1, Ordering::Relaxed);
                format!("Set-Cookie: session={}; Path=/\r\n", cookie(number))
            }
        };
        let body = format!("{{\"you\":{:?}}}", body.flatten().unwrap_or(9));
        let length = body.len();
        wire.send(format!(
            "HTTP/1.1 200 OK\r\n{set}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        Then::KeepAlive
    });
    let in_order = |url: &str, order: [usize; 3]| {
        let cookies = [(); 3].map(|()| {
            let reply = get(&format!("{url}/login"));
            reply.head.field("set-cookie").unwrap().split(';').next().unwrap().to_owned()
        });
        order.map(|user| {
            let cookie = format!("Cookie: {}\r\n", cookies[user]);
            ask("GET", &format!("{url}/me"), &cookie, "").text()
        })
    };
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let recorded = in_order(&session.url(), [0, 1, 2]);
    session.finish().await.unwrap();

    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let session = stage.replay().await;
        let replayed = in_order(&session.url(), order);
        session.finish().await.unwrap();
        assert_eq!(replayed, order.map(|user| recorded[user].clone()), "{order:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_the_server_gave_may_come_back_under_any_name() {
    let given = AtomicUsize::new(0);
    let upstream = Upstream::json(move |asked: &Asked| match asked.path() {
        "/negotiate" => {
            let number = given.fetch_add(1, Ordering::Relaxed);
            format!(r#"{{"connectionToken":"{}"}}"#, format!("a{number}").repeat(8))
        }
        path => format!(r#"{{"asked":"{path}","of":{}}}"#, asked.text().len()),
    });
    let by_query = |url: &str, token: &str| get(&format!("{url}/hub?id={token}")).status;
    let by_path = |url: &str, token: &str| get(&format!("{url}/hub/{token}")).status;
    let encoded = |url: &str, token: &str| {
        let token = token.replace('[', "%5B").replace(']', "%5d").replace(':', "%3A");
        get(&format!("{url}/hub?id={token}&n=1")).status
    };
    let in_json = |url: &str, token: &str| {
        ask("POST", &format!("{url}/hub"), FIELDS, &format!(r#"{{"id":"{token}"}}"#)).status
    };
    for send in [&by_query as &dyn Fn(&str, &str) -> u16, &by_path, &encoded, &in_json] {
        let stage = Stage::new();
        let twice = |url: &str| {
            [(); 2].map(|()| {
                let told = ask("POST", &format!("{url}/negotiate"), FIELDS, "{}").text();
                let told: serde_json::Value = serde_json::from_str(&told).unwrap();
                send(url, told["connectionToken"].as_str().unwrap())
            })
        };
        let session = stage.record(&upstream).await;
        let recorded = twice(&session.url());
        session.finish().await.unwrap();
        let session = stage.replay().await;
        let replayed = twice(&session.url());
        session.finish().await.unwrap();
        assert_eq!((recorded, replayed), ([200; 2], [200; 2]), "{}", stage.file("tape.json"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_keys_of_a_server_all_are_secrets_though_some_look_like_words() {
    // As long, and by chance without digits; a word of the same length is none.
    let keys = ["aXk29vQpLm81ZtRw", "KeyOfTheSeventhX", "session_refreshed", "bYl30wRqMn92AuSx"];
    let keys = keys.map(|key| key[..16].to_owned());
    let given = keys.clone();
    let upstream =
        Upstream::json(move |asked: &Asked| match asked.path().strip_prefix("/login/") {
            Some(number) => format!(r#"{{"sid":"{}"}}"#, given[number.parse::<usize>().unwrap()]),
            None => r#"{"code":"session_refreshe"}"#.to_owned(),
        });
    let client = |url: &str| {
        (0..4)
            .map(|number| {
                let told = get(&format!("{url}/login/{number}")).text();
                let told: serde_json::Value = serde_json::from_str(&told).unwrap();
                get(&format!("{url}/me?sid={}", told["sid"].as_str().unwrap())).status
            })
            .collect::<Vec<_>>()
    };
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let recorded = client(&session.url());
    session.finish().await.unwrap();
    let file = stage.file("tape.json");
    let stay = [false, false, true, false];
    assert_eq!(keys.each_ref().map(|key| file.contains(key.as_str())).to_vec(), stay, "{file}");

    let session = stage.replay().await;
    assert_eq!((recorded, client(&session.url())), (vec![200; 4], vec![200; 4]), "{file}");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_placeholder_may_have_any_number() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.record(&upstream).await;
    put(&session.url(), &"a1".repeat(8), 0);
    session.finish().await.unwrap();
    let file = stage.file("tape.json");
    let hostile = file.replace("[redacted:key]", &format!("[redacted:key~{}]", usize::MAX));
    assert_ne!(hostile, file);
    std::fs::write(stage.folder().join("tape.json"), hostile).unwrap();

    let session = stage.replay().await;
    assert_eq!(put(&session.url(), &"b2".repeat(8), 0).0, 200);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_of_what_drifted_never_holds_a_secret() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.record(&upstream).await;
    put(&session.url(), "cab/1", 0);
    session.finish().await.unwrap();

    let secret = "b2".repeat(8);
    for report in ["lax.md", "lax.json"] {
        let file = stage.folder().join(report);
        let session = stage.session(Mode::Replay).report_lax(file).start().await.unwrap();
        assert_eq!(put(&session.url(), &secret, 0).0, 200);
        session.finish().await.unwrap();
        let told = stage.file(report);
        assert!(told.contains("/key") && !told.contains(&secret), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_plain_in_the_recording_counts_as_it_is() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.record(&upstream).await;
    put(&session.url(), "cab/1", 0);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let secret = "b2".repeat(8);
    let (status, miss) = put(&session.url(), &secret, 0);
    assert_eq!((status, put(&session.url(), "cab/1", 0).0), (470, 200));
    assert!(miss.contains("/key") && !miss.contains(&secret), "{miss}");
    let failed = session.finish().await.unwrap_err().to_string();
    assert!(!failed.contains(&secret), "{failed}");
}

/// What a client sends in `Sec-WebSocket-Protocol` with a key, as services want it. The server takes the first
/// protocol.
fn protocols(key: &str) -> [String; 5] {
    let fields = format!(r#"{{"host":"api.example","x-api-key":"{key}"}}"#);
    [
        format!("token, {key}"),
        format!("realtime, openai-insecure-api-key.{key}, beta.realtime-v1"),
        format!("jwt, bearer, {key}"),
        format!("events-ws, header-{}", URL_SAFE_NO_PAD.encode(fields)),
        format!("{key}, chat"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_among_the_protocols_of_a_websocket_is_a_secret_and_any_other_replays() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let key = |seed: u8| blake3::hash(&[seed]).to_hex()[..40].to_owned();
    let talk = |url: &str, protocols: &str, at: usize| {
        let fields = [("sec-websocket-protocol", protocols)];
        let mut socket = Socket::open_with(&format!("{url}/{at}"), &fields);
        let taken = socket.fields.iter().find(|(name, _)| name == "sec-websocket-protocol");
        assert_eq!(taken.map(|(_, value)| &**value), protocols.split(", ").next());
        assert_eq!(socket.ask("hello"), "HELLO");
    };
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    for (at, protocols) in protocols(&key(1)).iter().enumerate() {
        talk(&session.url(), protocols, at);
    }
    session.finish().await.unwrap();

    let file = stage.file("tape.json");
    let encoded = protocols(&key(1))[3].rsplit('-').next().unwrap().to_owned();
    assert!(!file.contains(&key(1)) && !file.contains(&encoded[..40]), "{file}");
    // Where a name tells, or what stands around it, the key may be any.
    for (key, is_known) in [(&*key(2), [true; 5]), ("dummy", [true, true, true, false, false])] {
        let session = stage.replay().await;
        let protocols = protocols(key);
        let known = protocols.iter().enumerate().zip(is_known).filter(|(_, is_known)| *is_known);
        for ((at, protocols), _) in known {
            talk(&session.url(), protocols, at);
        }
        let none = Socket::try_open(&format!("{}/0", session.url()), &[]);
        assert_eq!(none.err(), Some(470));
        drop(session.stop().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_value_stands_for_a_secret_that_only_its_look_had_told() {
    let upstream = Upstream::start(|asked, wire| {
        let said = serde_json::Value::from(String::from_utf8_lossy(&asked.body));
        wire.send(json(200, &format!(r#"{{"said":{said}}}"#)));
        Then::KeepAlive
    });
    let hook = |key: &str| format!("/services/T{}/B{}/{key}", "0A1B2C3D4", "5E6F7A8B9");
    let said = |key: &str, color: &str| {
        [
            ("application/xml", format!("<auth><user>bob</user><password>{key}</password></auth>")),
            ("application/json", format!(r#"{{"file":"HOST=h\nAPI_KEY={key}\nPORT={color}\n"}}"#)),
            (
                "application/json",
                format!(
                    r#"{{"fields":[{{"name":"color","value":"{color}"}},{{"name":"api_key","value":"{key}"}}]}}"#
                ),
            ),
            ("text/plain", format!("user: bob, password: {key}, color: {color}")),
        ]
    };
    let talk = |url: &str, path: &str, key: &str, color: &str| {
        let posted = ask("POST", &format!("{url}{path}"), FIELDS, r#"{"text":"hi"}"#).status;
        let said = said(key, color).into_iter().enumerate().map(|(at, (media, body))| {
            let fields = format!("Content-Type: {media}\r\n");
            ask("POST", &format!("{url}/{at}"), &fields, &body).status
        });
        std::iter::once(posted).chain(said).collect::<Vec<_>>()
    };
    let stage = Stage::new();
    let [secret, posted] = [b"look", b"hook"].map(|it| blake3::hash(it).to_hex()[..24].to_owned());
    let session = stage.record(&upstream).await;
    talk(&session.url(), &hook(&posted), &secret, "red");
    session.finish().await.unwrap();
    assert!(!stage.file("tape.json").contains(&secret), "{}", stage.file("tape.json"));

    for (path, key) in [(hook(&posted), &*secret), ("/services/dummy".to_owned(), "test")] {
        let session = stage.replay().await;
        assert_eq!(talk(&session.url(), &path, key, "red"), [200; 5]);
        let (media, body) = &said(key, "red")[0];
        let fields = format!("Content-Type: {media}\r\n");
        let told = ask("POST", &format!("{}/0", session.url()), &fields, body).text();
        assert!(told.contains(&format!("<password>{key}</password>")), "as it was sent: {told}");
        session.finish().await.unwrap().all_played().unwrap();
    }
    // What stands beside it counts as ever.
    let session = stage.replay().await;
    assert_eq!(talk(&session.url(), "/services/x", "test", "blue"), [200, 200, 470, 470, 470]);
    drop(session.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_secrets_leaves_their_places_empty_and_replays() {
    let upstream = Upstream::json(|_| "{}".to_owned());
    let talk = |url: &str, key: &str, limit: &str| {
        let form = "Content-Type: application/x-www-form-urlencoded\r\n";
        let json = "Content-Type: application/json\r\n";
        let login = format!(r#"{{"user": "bob", "password": "{key}", "limit": {limit}}}"#);
        let targets =
            [format!("/a?api_key={key}&limit={limit}"), format!("/b?limit={limit}&token={key}")];
        let asked = targets.map(|target| ask("GET", &format!("{url}{target}"), "", "").status);
        let said = format!("client_secret={key}&limit={limit}");
        let posted = [
            ask("POST", &format!("{url}/c"), form, &said),
            ask("POST", &format!("{url}/d"), json, &login),
        ];
        [asked, posted.map(|it| it.status)].concat()
    };
    let secret = blake3::hash(b"empty").to_hex()[..24].to_owned();
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    talk(&session.url(), &secret, "3");
    session.finish().await.unwrap();
    assert!(!stage.file("tape.json").contains(&secret), "{}", stage.file("tape.json"));

    let session = stage.replay().await;
    assert_eq!(talk(&session.url(), "", "3"), [200; 4]);
    assert_eq!(talk(&session.url(), "", "4"), [470; 4], "what stands beside it counts as ever");
    drop(session.stop().await);

    // Where an empty one was recorded too, it has its own answer.
    let session = stage.record(&upstream).await;
    talk(&session.url(), &secret, "3");
    talk(&session.url(), "", "3");
    session.finish().await.unwrap();
    let session = stage.replay().await;
    assert_eq!(talk(&session.url(), "", "3"), [200; 4]);
    assert_eq!(talk(&session.url(), &secret, "3"), [200; 4]);
    session.finish().await.unwrap().all_played().unwrap();
}
