//! What the client minted comes back to it, whatever it minted when it was recorded.

use std::io::Write as _;

use retape::cassette::coding::decode_whole;
use retape::{Mode, Session};

use crate::stage::Stage;
use crate::support::client::{Reply, ask, post};
use crate::support::upstream::{EVENTS, Then, Upstream};

const RECORDED: &str = "0c9d1f6e-37a2-4fd9-92f1-fd5b1ee5a5f0";
const LIVE: &str = "7b1e5a90-aaaa-4bbb-8ccc-0123456789ab";
const ISSUED: &str = "11111111-2222-4333-8444-555555555555";

/// Asks with one identifier while recording, and with another in replay.
async fn replayed(upstream: Upstream, ask: impl Fn(&Session, &str) -> Reply) -> (Reply, Reply) {
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let recorded = ask(&session, RECORDED);
    session.finish().await.unwrap();
    drop(upstream);
    let session = stage.replay().await;
    let live = ask(&session, LIVE);
    session.finish().await.unwrap();
    (recorded, live)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_says_is_made_up_comes_back_within_a_text_too() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked| {
        let note = serde_json::from_str::<serde_json::Value>(&asked.text()).unwrap();
        let note = note["note"].as_str().unwrap();
        serde_json::json!({ "whole": note, "prose": format!("Got: {note}.") }).to_string()
    });
    let rules = || retape::config::Rules::default().id("/note").unwrap();
    let note = |session: &Session, note: &str| {
        post(&session.url(), &serde_json::json!({ "note": note }).to_string()).text()
    };
    for (recorded, live) in [(RECORDED, LIVE), ("red kite", "blue tit")] {
        let session = stage.recorder(&upstream).rules(rules()).fresh().start().await.unwrap();
        let first = note(&session, recorded);
        session.finish().await.unwrap();
        let session = stage.session(Mode::Replay).rules(rules()).start().await.unwrap();
        let again = note(&session, live);
        session.finish().await.unwrap();

        assert_eq!(again, first.replace(recorded, live));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_field_that_is_read_again_is_the_clients_own() {
    let upstream = Upstream::start(|asked, wire| {
        let owner = asked.head.field("x-meta-owner").unwrap_or(RECORDED);
        wire.send(format!("HTTP/1.1 200 OK\r\nX-Meta-Owner: {owner}\r\nContent-Length: 0\r\n\r\n"));
        Then::KeepAlive
    });
    let (recorded, live) = replayed(upstream, |session, owner| {
        let key = format!("{}/key", session.url());
        ask("PUT", &key, &format!("X-Meta-Owner: {owner}\r\n"), "");
        ask("GET", &key, "", "")
    })
    .await;

    assert_eq!(recorded.field("x-meta-owner"), Some(RECORDED));
    assert_eq!(live.field("x-meta-owner"), Some(LIVE));
}

fn posted(session: &Session, otid: &str) -> Reply {
    post(&session.url(), &format!(r#"{{"name": "agent-{otid}", "otid": "{otid}"}}"#))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_json_answer_and_its_head() {
    let upstream = Upstream::start(|asked, wire| {
        let body = format!(
            r#"{{"id": "{ISSUED}", "you": {}, "text": "got '{RECORDED}', not '{ISSUED}'"}}"#,
            asked.text()
        );
        wire.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request: {RECORDED}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        Then::KeepAlive
    });

    let (recorded, live) = replayed(upstream, posted).await;

    assert!(recorded.text().contains(RECORDED));
    assert_eq!(live.text(), recorded.text().replace(RECORDED, LIVE));
    assert_eq!(live.field("x-request"), Some(LIVE));
    assert_eq!(live.field("content-length"), recorded.field("content-length"));
}

/// One in three hundred such words is text in Base64, if one reads it so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_hexadecimal_words_whatever_they_would_be_in_base64() {
    let named = |session: &Session, word: &str| {
        post(&session.url(), &format!(r#"{{"name": "report-{word}.txt"}}"#))
    };
    for (recorded, live) in [("8f3a9c2b", "a822d25b"), ("345fd106", "8f3a9c2b")] {
        let upstream = Upstream::json(|asked| asked.text());
        let stage = Stage::new();
        let session = stage.record(&upstream).await;
        named(&session, recorded);
        session.finish().await.unwrap();

        let session = stage.replay().await;
        let reply = named(&session, live);

        assert_eq!(reply.text(), format!(r#"{{"name": "report-{live}.txt"}}"#));
        session.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_stream_of_single_bytes() {
    let upstream = Upstream::start(|asked, wire| {
        wire.send(EVENTS);
        for byte in format!("data: {}\n\ndata: {RECORDED}{RECORDED}\n\n", asked.text()).chars() {
            wire.send_chunk(byte.to_string());
        }
        wire.send_end();
        Then::KeepAlive
    });

    let (recorded, live) = replayed(upstream, posted).await;

    assert_eq!(live.text(), recorded.text().replacen(RECORDED, LIVE, 2));
    assert!(live.chunks.iter().all(|chunk| chunk.len() == 1), "{:?}", live.chunks);
    assert_eq!(live.chunks.len(), recorded.chunks.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_compressed_answer_which_is_compressed_again() {
    let upstream = Upstream::start(|asked, wire| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(asked.text().as_bytes()).unwrap();
        let body = encoder.finish().unwrap();
        wire.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        ));
        wire.send(body);
        Then::KeepAlive
    });
    let gzip = |session: &Session, otid: &str| {
        let fields = "Content-Type: application/json\r\nAccept-Encoding: gzip\r\n";
        ask("POST", &session.url(), fields, &format!(r#"{{"otid": "{otid}"}}"#))
    };

    let (recorded, live) = replayed(upstream, gzip).await;

    assert_eq!(recorded.field("content-encoding"), Some("gzip"));
    assert_eq!(live.field("content-encoding"), Some("gzip"));
    let plain = decode_whole("gzip", &live.body).unwrap();
    assert_eq!(String::from_utf8(plain).unwrap(), format!(r#"{{"otid": "{LIVE}"}}"#));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_sums_up_another_body_is_left_out() {
    let sums =
        "Content-MD5: a\r\nX-Amz-Crc32: 1\r\nX-Amz-Checksum-Sha256: b\r\nX-Checksum-Sha256: c\r\n";
    let others = "X-Amz-Meta-File-MD5: d\r\nETag: \"e\"\r\n";
    let upstream = Upstream::start(move |asked, wire| {
        let body = asked.text();
        let length = body.len();
        wire.send(format!(
            "HTTP/1.1 200 OK\r\n{sums}{others}Content-Length: {length}\r\n\r\n{body}"
        ));
        Then::KeepAlive
    });
    let names = ["content-md5", "x-amz-crc32", "x-amz-checksum-sha256", "x-checksum-sha256"];

    let (recorded, live) = replayed(upstream, posted).await;

    for name in names {
        assert!(recorded.field(name).is_some() && live.field(name).is_none(), "{name}");
    }
    assert_eq!(live.field("x-amz-meta-file-md5"), Some("d"));
    assert_eq!(live.field("etag"), Some("\"e\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_another_spelling_with_the_right_length() {
    let upstream = Upstream::json(|asked| format!("[{}]", asked.text()));
    let short = |session: &Session, otid: &str| {
        let otid = if otid == LIVE { otid.replace('-', "") } else { otid.to_owned() };
        post(&session.url(), &format!(r#""{otid}""#))
    };

    let (_, live) = replayed(upstream, short).await;

    assert_eq!(live.text(), format!(r#"["{}"]"#, LIVE.replace('-', "")));
    assert_eq!(live.field("content-length"), Some("36"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_mark_of_the_header_in_json_and_in_the_head() {
    let mark = |id: &str| if id == LIVE { "req-8" } else { "req-7" };
    let upstream = Upstream::start(|_, wire| {
        wire.send("HTTP/1.1 200 OK\r\nX-Request-Id: req-7\r\nContent-Type: application/json\r\n");
        wire.send("Content-Length: 23\r\n\r\n{\"request_id\": \"req-7\"}");
        Then::KeepAlive
    });
    let marked = |session: &Session, id: &str| {
        ask("GET", &session.url(), &format!("X-Request-Id: {}\r\n", mark(id)), "")
    };

    let (_, live) = replayed(upstream, marked).await;

    assert_eq!(live.text(), r#"{"request_id": "req-8"}"#);
    assert_eq!(live.field("x-request-id"), Some("req-8"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_mark_in_an_event_of_several_lines() {
    let upstream = Upstream::start(|_, wire| {
        wire.send(EVENTS);
        for end in ["\n", "\r\n"] {
            let lines = ["data: {", "data:  \"otid\":", "data:  \"msg-7\"", "data: }", "", ""];
            wire.send_chunk(lines.join(end));
        }
        wire.send_end();
        Then::KeepAlive
    });
    let marked = |session: &Session, id: &str| {
        let mark = if id == LIVE { "msg-1001" } else { "msg-7" };
        post(&session.url(), &format!(r#"{{"otid": "{mark}"}}"#))
    };

    let (recorded, live) = replayed(upstream, marked).await;

    assert_eq!(live.text(), recorded.text().replace("msg-7", "msg-1001"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_progress_token_is_no_secret() {
    let call = |token: &str| {
        format!(
            r#"{{"jsonrpc": "2.0", "id": "{token}", "method": "tools/call", "params": {{"_meta": {{"progressToken": "{token}"}}}}}}"#
        )
    };
    let upstream = Upstream::start(|asked, wire| {
        let text = asked.text();
        let token = text.split('"').nth(7).expect("it has an id").to_owned();
        let said = format!(
            r#"{{"jsonrpc": "2.0", "method": "notifications/progress", "params": {{"progressToken": "{token}"}}}}"#
        );
        wire.send(EVENTS);
        wire.send_chunk(format!("data: {said}\n\n"));
        wire.send_end();
        Then::KeepAlive
    });
    let called = |session: &Session, id: &str| {
        let token = if id == LIVE { "3L0UBP7KazYGoDI2BLVJr" } else { "2Wsrs8Q0EiEon5W6ZQ_s6" };
        post(&session.url(), &call(token))
    };

    let (recorded, live) = replayed(upstream, called).await;

    assert!(recorded.text().contains("2Wsrs8Q0EiEon5W6ZQ_s6"));
    assert!(live.text().contains("3L0UBP7KazYGoDI2BLVJr"), "{}", live.text());
}

/// As the app server of Codex has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_number_of_a_call_comes_back_in_its_answer_alone_also_without_the_member_jsonrpc() {
    let upstream = Upstream::start(|asked, wire| {
        let id = asked.text().split([':', ',']).nth(1).expect("it has an id").to_owned();
        wire.send(EVENTS);
        for said in [
            r#"{"id":1,"method":"approve","params":{}}"#.to_owned(),
            format!(r#"{{"id":{id},"result":{{"all":[{{"id":1}}]}}}}"#),
        ] {
            wire.send_chunk(format!("data: {said}\n\n"));
        }
        wire.send_end();
        Then::KeepAlive
    });
    let called = |session: &Session, id: &str| {
        let number = if id == LIVE { "17" } else { "1" };
        post(&session.url(), &format!(r#"{{"id":{number},"method":"list","params":{{}}}}"#))
    };

    let (recorded, live) = replayed(upstream, called).await;

    let answer = |id: u32| format!(r#"{{"id":{id},"result":"#);
    assert_eq!(live.text(), recorded.text().replace(&answer(1), &answer(17)));
    assert!(live.text().contains(&answer(17)), "{}", live.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_random_id_of_a_call_comes_back_wherever_the_server_repeats_it() {
    let upstream = Upstream::start(|asked, wire| {
        let id = asked.text().split('"').nth(7).expect("it has an id").to_owned();
        wire.send(EVENTS);
        for said in [
            format!(
                r#"{{"jsonrpc": "2.0", "method": "token", "params": {{"req": "{id}", "text": "run {id}"}}}}"#
            ),
            format!(r#"{{"jsonrpc": "2.0", "id": "{id}", "result": {{"run": "{id}"}}}}"#),
        ] {
            wire.send_chunk(format!("data: {said}\n\n"));
        }
        wire.send_end();
        Then::KeepAlive
    });
    let called = |session: &Session, id: &str| {
        post(
            &session.url(),
            &format!(r#"{{"jsonrpc": "2.0", "id": "{id}", "method": "generate"}}"#),
        )
    };

    let (recorded, live) = replayed(upstream, called).await;

    assert_eq!(recorded.text().matches(RECORDED).count(), 4);
    assert_eq!(live.text(), recorded.text().replace(RECORDED, LIVE));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_head_where_two_have_changed_their_names() {
    let names = |id: &str| if id == LIVE { (LIVE, RECORDED) } else { (RECORDED, LIVE) };
    let upstream = Upstream::start(|_, wire| {
        let both = format!("X-Both: {RECORDED},{LIVE}\r\n");
        wire.send(format!("HTTP/1.1 200 OK\r\n{both}Content-Length: 0\r\n\r\n"));
        Then::KeepAlive
    });
    let swapped = |session: &Session, id: &str| {
        let (one, other) = names(id);
        post(&session.url(), &format!(r#"["{one}", "{other}"]"#))
    };

    let (_, live) = replayed(upstream, swapped).await;

    assert_eq!(live.field("x-both"), Some(&*format!("{LIVE},{RECORDED}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_in_the_head_and_in_fields_for_times() {
    let asked = |id: &str| match id {
        LIVE => ("2026-11-22T10:00:00.5Z", "1763800000.25"),
        _ => ("2026-11-21T09:00:00Z", "1763700000"),
    };
    let upstream = Upstream::start(|asked, wire| {
        // Whatever it calls a time, it is that of the client.
        let body = asked.text().replace("ts", "start");
        wire.send("HTTP/1.1 200 OK\r\nX-When: at 2026-11-21T09:00:00Z\r\n");
        wire.send("Content-Type: application/json\r\n");
        wire.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        Then::KeepAlive
    });
    let timed = |session: &Session, id: &str| {
        let (at, created) = asked(id);
        let body =
            format!(r#"{{"at":"{at}","created":{created},"ts":"{created}","n":1763700001}}"#);
        post(&session.url(), &body)
    };

    let (_, live) = replayed(upstream, timed).await;

    let (at, created) = asked(LIVE);
    let told = format!(r#"{{"at":"{at}","created":{created},"start":"{created}","n":1763700001}}"#);
    assert_eq!(live.field("x-when"), Some(&*format!("at {at}")));
    assert_eq!(live.text(), told);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_json_that_stands_in_strings_of_json() {
    let asked = |id: &str| if id == LIVE { (r#"b\"8"#, 18) } else { ("a-7", 17) };
    let spelled = |id: &str| {
        let (otid, number) = asked(id);
        let inner = serde_json::json!({"otid": otid, "n": 17, "request_id": number}).to_string();
        let outer = serde_json::json!({"list": [inner]}).to_string();
        serde_json::json!({"content": [{"type": "text", "text": outer}]}).to_string()
    };
    let told = spelled(RECORDED);
    let upstream = Upstream::json(move |_| told.clone());
    let numbered = |session: &Session, id: &str| {
        let (otid, number) = asked(id);
        let body = serde_json::json!({"otid": otid, "request_id": number});
        post(&session.url(), &body.to_string())
    };

    let (recorded, live) = replayed(upstream, numbered).await;

    assert_eq!(recorded.text(), spelled(RECORDED));
    assert_eq!(live.text(), spelled(LIVE));
}
