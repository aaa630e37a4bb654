//! The recorder passes on what it gets, as it comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use retape::cassette::End;

use crate::stage::{Stage, answer, chunks, only};
use crate::support::client::{self, ask, body, get, post, reply, split};
use crate::support::gate::Gate;
use crate::support::upstream::{Asked, EVENTS, Then, Upstream, json};
use crate::support::wire::{Chunk, Wire};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_event_arrives_before_the_second_is_sent() {
    let (stage, seen) = (Stage::new(), Gate::new());
    let go_on = seen.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        go_on.pass();
        wire.send_chunk("data: 2\n\n");
        go_on.pass();
        wire.send_end();
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &format!("{}/stream", session.url()), "", ""));
    wire.head().unwrap();
    assert_eq!(wire.data(), "data: 1\n\n");
    seen.open();
    assert_eq!(wire.data(), "data: 2\n\n");
    seen.open();
    assert_eq!(wire.chunk(), Chunk::End(vec![]));
    session.finish().await.unwrap();

    let cassette = stage.cassette();
    assert_eq!(chunks(answer(&cassette)), ["data: 1\n\n", "data: 2\n\n"]);
    assert_eq!(answer(&cassette).end, End::Complete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_in_the_journal_before_the_client_sees_it() {
    let (stage, seen) = (Stage::new(), Gate::new());
    let go_on = seen.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: one\n\n");
        go_on.pass();
        wire.send_end();
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &format!("{}/stream", session.url()), "", ""));
    wire.head().unwrap();
    wire.data();
    let journal = stage.file("tape.json.part");
    seen.open();
    wire.chunk();
    session.finish().await.unwrap();

    assert!(journal.contains("data: one\n\n"), "{journal}");
    assert_eq!(stage.files(), ["tape.json"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_sees_the_first_piece_of_an_upload_before_the_second_is_sent() {
    let (stage, seen) = (Stage::new(), Gate::new());
    let tell = seen.clone();
    let upstream = Upstream::raw(move |mut wire| {
        let Some(_) = wire.head() else { return };
        assert_eq!(wire.data(), "piece 1");
        tell.open();
        assert_eq!(wire.data(), "piece 2");
        assert_eq!(wire.chunk(), Chunk::End(vec![]));
        wire.send(json(200, "{}"));
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request(
        "POST",
        &format!("{}/upload", session.url()),
        "Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n",
        "",
    ));
    wire.send_chunk("piece 1");
    seen.pass();
    wire.send_chunk("piece 2");
    wire.send_end();
    assert_eq!(reply(&mut wire, "POST").text(), "{}");
    session.finish().await.unwrap();

    assert_eq!(only(&stage.cassette()).request.body, "piece 1piece 2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_unknown_length_reaches_the_server_with_any_method() {
    for method in ["GET", "DELETE", "POST"] {
        let stage = Stage::new();
        let upstream = Upstream::json(|asked| asked.text());
        let session = stage.record(&upstream).await;

        let fields = "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n";
        let mut wire = Wire::connect(session.address());
        wire.send(client::request(method, &format!("{}/_search", session.url()), fields, ""));
        wire.send_chunk("{\"query\":1}");
        wire.send_end();

        assert_eq!(reply(&mut wire, method).text(), "{\"query\":1}", "{method}");
        session.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_reaches_the_server_as_the_client_wrote_it() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = stage.record(&upstream).await;

    let path = "/a/../b/./%7Ec//d%2fe?x='1'&y=%20+&&z";
    let fields = "X-Twice: 1\r\nx-Other: o\r\nX-Twice: 2\r\nConnection: close, X-Hop\r\n\
        X-Hop: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Connection: close\r\n";
    let answer = ask("PATCH", &format!("{}{path}", session.url()), fields, "{ \"a\":1.0 }");
    session.finish().await.unwrap();

    assert_eq!(answer.status, 200);
    let asked = &upstream.asked()[0];
    assert_eq!(asked.head.line, format!("PATCH {path} HTTP/1.1"));
    let mut fields: Vec<String> =
        asked.head.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    fields.sort();
    let host = format!("Host: {}", upstream.address());
    let expected =
        ["Content-Length: 11", &host, "TE: trailers", "X-Twice: 1", "X-Twice: 2", "x-Other: o"];
    assert_eq!(fields, expected);
    assert_eq!(asked.text(), "{ \"a\":1.0 }");
    assert_eq!(only(&stage.cassette()).request.path, path);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirection_is_passed_on_and_not_followed() {
    let stage = Stage::new();
    let upstream = Upstream::saying(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
    );
    let session = stage.record(&upstream).await;

    let answer = post(&format!("{}/here", session.url()), "{}");
    session.finish().await.unwrap();

    assert_eq!((answer.status, answer.field("location")), (307, Some("/elsewhere")));
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_pass_in_both_directions() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        wire.send("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n");
        wire.send(format!("Content-Length: {}\r\n\r\n", asked.body.len()));
        wire.send(&asked.body);
        Then::KeepAlive
    });
    let large: String = (0..10_000_000_u32).map(|at| char::from(b'a' + (at % 23) as u8)).collect();
    let session = stage.record(&upstream).await;

    let recorded = ask("PUT", &format!("{}/large", session.url()), "", &large);
    session.finish().await.unwrap();
    let session = stage.replay().await;
    let replayed = ask("PUT", &format!("{}/large", session.url()), "", &large);
    session.finish().await.unwrap();

    assert!(recorded.body == large.as_bytes() && replayed.body == large.as_bytes());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_slow_client_does_not_take_is_not_piled_up() {
    const SIZE: usize = 256 * 1024;
    const COUNT: usize = 400;
    let (stage, stuck) = (Stage::new(), Gate::new());
    let tell = stuck.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let piece = vec![b'x'; SIZE];
        for number in 0..COUNT {
            // Sockets and buffers take a few megabytes; all of it is a hundred.
            if number == COUNT / 2 {
                tell.open();
            }
            wire.send_chunk(&piece);
        }
        wire.send_end();
        Then::KeepAlive
    });
    let session =
        stage.session(retape::Mode::Passthrough).upstream(upstream.url()).start().await.unwrap();

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &session.url(), "", ""));
    let head = wire.head().unwrap();
    let is_stuck = stuck.is_closed_for(std::time::Duration::from_millis(150));
    let answer = body(&mut wire, "GET", head);
    session.finish().await.unwrap();

    assert!(is_stuck, "half of the answer was taken from the server though nobody reads it");
    assert_eq!(answer.body.len(), SIZE * COUNT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_going_on_when_a_request_came_is_written_down() {
    let (stage, cancelled) = (Stage::new(), Gate::new());
    let (wait, tell) = (cancelled.clone(), cancelled);
    let upstream = Upstream::start(move |asked, wire| {
        if asked.path() == "/cancel" {
            wire.send(json(200, "{}"));
            tell.open();
            return Then::KeepAlive;
        }
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        wire.send_chunk("data: 2\n\n");
        wait.pass();
        wire.send_chunk("data: cancelled\n\n");
        wire.send_end();
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &format!("{}/stream", session.url()), "", ""));
    wire.head().unwrap();
    wire.data();
    wire.data();
    post(&format!("{}/cancel", session.url()), "{}");
    assert_eq!(wire.data(), "data: cancelled\n\n");
    wire.chunk();
    session.finish().await.unwrap();

    let cassette = stage.cassette();
    let after = &cassette.interactions[1].after;
    let after: Vec<_> = after.iter().map(|at| (at.interaction, at.chunks)).collect();
    assert_eq!(after, [(0, 2)]);
    assert!(cassette.interactions[0].after.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_kept_alive_and_used_again() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(split(&session.url()).0);
    for path in ["/1", "/2", "/3"] {
        wire.send(client::request("GET", &format!("{}{path}", session.url()), "", ""));
        assert_eq!(reply(&mut wire, "GET").text(), format!("[\"{path}\"]"));
    }
    session.finish().await.unwrap();

    assert_eq!(stage.cassette().interactions.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offer_to_upgrade_to_http_2_is_not_taken_up() {
    let stage = Stage::new();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = stage.record(&upstream).await;

    let fields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n";
    let answer = ask("GET", &session.url(), fields, "");
    session.finish().await.unwrap();

    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(upstream.asked()[0].head.field("upgrade"), None);
    assert_eq!(upstream.asked()[0].head.field("http2-settings"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_idle_connections_unasked_answers_all_requests() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        wire.send(json(200, "{}"));
        // Some close at once, some while the next request is on its way.
        let number: u32 = asked.path()[1..].parse().unwrap();
        (0..number % 40 * 1000).for_each(|_| std::hint::spin_loop());
        Then::Close
    });
    let session = stage.record(&upstream).await;

    let answers = (0..400).map(|number| get(&format!("{}/{number}", session.url())));
    let failed: Vec<String> =
        answers.filter(|answer| answer.status != 200).map(|answer| answer.text()).collect();
    session.finish().await.unwrap();

    assert_eq!(failed, [""; 0]);
}

/// A server that answers on as many connections as it is asked on, and how many these were.
fn counting(
    closes: impl Fn(&Asked) -> bool + Send + Sync + 'static,
) -> (Upstream, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&count);
    let upstream = Upstream::raw(move |mut wire| {
        counted.fetch_add(1, Ordering::SeqCst);
        while let Some(asked) = Asked::read(&mut wire) {
            match asked.head.line.starts_with("HEAD") {
                true => wire.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
                false => wire.send(json(200, "{}")),
            }
            if closes(&asked) {
                return;
            }
        }
    });
    (upstream, count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn posts_share_connections_with_a_server_that_was_seen_to_keep_them() {
    let (stage, (upstream, connections)) = (Stage::new(), counting(|_| false));
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1", session.url());

    post(&url, "{}");
    tokio::time::sleep(Duration::from_millis(150)).await;
    let statuses: Vec<u16> = (0..20).map(|_| post(&url, "{}").status).collect();
    session.finish().await.unwrap();

    assert_eq!(statuses, [200; 20]);
    // One may have been idle for too long, or not be idle yet, where the machine is slow.
    assert!(connections.load(Ordering::SeqCst) <= 5, "{connections:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_connections_are_open_to_a_server_of_which_nobody_knows_whether_it_keeps_them() {
    let (open, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (opened, peak) = (Arc::clone(&open), Arc::clone(&most));
    let upstream = Upstream::raw(move |mut wire| {
        peak.fetch_max(opened.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        while Asked::read(&mut wire).is_some() {
            wire.send(json(200, "{}"));
        }
        opened.fetch_sub(1, Ordering::SeqCst);
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1", session.url());

    let statuses: Vec<u16> = (0..40).map(|_| post(&url, "{}").status).collect();
    session.finish().await.unwrap();

    assert_eq!(statuses, [200; 40]);
    // One that was given up may be open a moment longer.
    assert!(most.load(Ordering::SeqCst) <= 8, "{most:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn posts_do_not_share_connections_with_a_server_that_closes_idle_ones() {
    let (stage, (upstream, connections)) = (Stage::new(), counting(|_| true));
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1", session.url());

    let statuses: Vec<u16> = (0..200).map(|_| post(&url, "{}").status).collect();
    session.finish().await.unwrap();

    assert_eq!(statuses, [200; 200]);
    assert_eq!(connections.load(Ordering::SeqCst), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_follows_an_answer_that_does_not_say_where_it_ends() {
    let is_head = |asked: &Asked| asked.head.line.starts_with("HEAD");
    let (stage, (upstream, _)) = (Stage::new(), counting(is_head));
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1", session.url());
    post(&url, "{}");
    tokio::time::sleep(Duration::from_millis(150)).await;

    let statuses =
        (0..50).flat_map(|_| [ask("HEAD", &url, "", "").status, post(&url, "{}").status]);
    let statuses: Vec<u16> = statuses.collect();
    session.finish().await.unwrap();

    assert_eq!(statuses, [200; 100]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_for_no_path_is_passed_on() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("[\"{}\"]", asked.head.line));
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send("OPTIONS * HTTP/1.1\r\nHost: here\r\n\r\n");
    let answer = reply(&mut wire, "OPTIONS");
    let begun = std::time::Instant::now();
    session.finish().await.unwrap();

    assert_eq!(answer.text(), "[\"OPTIONS * HTTP/1.1\"]");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "it waited for what never came");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_json_answer_that_takes_its_time_is_passed_on_as_it_comes() {
    let (stage, seen) = (Stage::new(), Gate::new());
    let go_on = seen.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n",
        );
        wire.send("[1, 2,");
        go_on.pass();
        wire.send(" 3]\n");
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &session.url(), "", ""));
    wire.head().unwrap();
    assert_eq!(wire.data(), "[1, 2,");
    seen.open();
    assert_eq!(wire.data(), " 3]\n");
    session.finish().await.unwrap();

    let cassette = stage.cassette();
    assert_eq!(answer(&cassette).body.bytes(), "[1, 2, 3]\n");
    assert_eq!(answer(&cassette).headers.get("content-length"), Some("10"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_json_request_that_takes_its_time_is_passed_on_as_it_comes() {
    let (stage, seen) = (Stage::new(), Gate::new());
    let tell = seen.clone();
    let upstream = Upstream::raw(move |mut wire| {
        if let Some(head) = wire.head() {
            assert_eq!(head.field("content-length"), Some("8"));
            let mut body = wire.up_to(5);
            tell.open();
            body.extend(wire.up_to(3));
            wire.send(json(200, &String::from_utf8(body).unwrap()));
        }
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    let fields = "Content-Type: application/json\r\nContent-Length: 8\r\n";
    wire.send(client::request("POST", &session.url(), fields, ""));
    wire.send("[1, 2");
    seen.pass();
    wire.send(",3]");
    let reply = reply(&mut wire, "POST");
    session.finish().await.unwrap();

    assert_eq!(reply.text(), "[1, 2,3]");
    assert_eq!(only(&stage.cassette()).request.body, "[1, 2,3]");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_text_and_announced_to_be_large_goes_through_the_journal_and_is_saved_as_ever() {
    let stage = Stage::new();
    // Only a name tells it, which stands in the large body alone.
    let secret = ["Zq8v", "T3mK9xW2", "pL7nB4cR"].concat();
    let noise = |seed: u32| -> Vec<u8> {
        (0..1_500_000_u32).map(|at| (at.wrapping_mul(seed) >> 21) as u8 | 0x80).collect()
    };
    let named = format!(r#"{{"password": "{secret}"}}"#);
    let keyed = [noise(77), named.into_bytes(), noise(5)].concat();
    let said = [noise(2_654_435_761), keyed.clone()];
    let (answers, whispered) = (said.clone(), secret.clone());
    let upstream = Upstream::start(move |asked, wire| {
        let body = match asked.path() {
            "/plain" => &answers[0],
            "/keyed" => &answers[1],
            "/echo" => &asked.body,
            _ => whispered.as_bytes(),
        };
        wire.send("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nDigest: x\r\n");
        wire.send(format!("Content-Length: {}\r\n\r\n", body.len()));
        wire.send(body);
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let url = session.url();
    let paths = ["/plain", "/keyed", "/said"];
    let recorded = paths.map(|path| get(&format!("{url}{path}")).body);
    let upload = |url: &str| {
        let mut wire = Wire::connect(split(url).0);
        let length = said[0].len();
        wire.send(format!(
            "PUT {}/echo HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n",
            split(url).1
        ));
        wire.send(&said[0]);
        reply(&mut wire, "PUT").body
    };
    let echoed = upload(&url);
    let unsaved = session.finish().await.unwrap();
    drop(unsaved);

    assert!(recorded == [said[0].clone(), keyed.clone(), secret.clone().into_bytes()]);
    assert!(echoed == said[0]);
    let cassette = stage.cassette();
    let bodies: Vec<_> =
        cassette.interactions.iter().map(|it| it.response().unwrap().body.bytes()).collect();
    assert!(bodies[0] == said[0] && bodies[3] == said[0]);
    assert!(cassette.interactions[3].request.body == said[0]);
    assert_eq!(bodies[1].len(), keyed.len());
    for body in &bodies {
        assert!(memchr::memmem::find(body, secret.as_bytes()).is_none());
    }
    let digests =
        cassette.interactions.iter().map(|it| it.response().unwrap().headers.get("digest"));
    assert_eq!(digests.collect::<Vec<_>>(), [Some("x"), None, None, Some("x")]);
    let session = stage.replay().await;
    assert!(get(&format!("{}/plain", session.url())).body == said[0]);
    assert!(upload(&session.url()) == said[0]);
    get(&format!("{}/keyed", session.url()));
    get(&format!("{}/said", session.url()));
    session.finish().await.unwrap();
}
