//! What clients may say to retape on the wire.

use std::net::SocketAddr;

use http::Version;
use retape::{Mode, Session};
use serde_json::json;
use tokio::net::TcpStream;

use crate::stage::{Stage, answer};
use crate::support::client::{ask, get, reply, request};
use crate::support::upstream::{self, Then, Upstream};
use crate::support::wire::Wire;

/// So many streams share a connection.
const AT_ONCE: usize = 32;

fn echo() -> Upstream {
    Upstream::json(|asked| {
        let host = asked.head.field("host").unwrap_or_default();
        format!("{{\"path\":\"{}\",\"host\":\"{host}\"}}", asked.path())
    })
}

/// What a client of HTTP/2 without TLS is answered.
async fn by_http_2(session: &Session, path: &str) -> (http::StatusCode, Vec<u8>) {
    let stream = TcpStream::connect(session.address()).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = http::Request::get(format!("{}{path}", session.url()));
    let request = request.version(Version::HTTP_2).body(()).unwrap();
    let (response, _) = client.send_request(request, true).unwrap();
    let mut response = response.await.unwrap();
    let mut body = Vec::new();
    while let Some(piece) = response.body_mut().data().await {
        body.extend_from_slice(&piece.unwrap());
    }
    let status = response.status();
    drop((client, response));
    connection.await.unwrap().unwrap();
    (status, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_may_speak_http_2_without_tls() {
    let (stage, upstream) = (Stage::new(), echo());
    let session = stage.record(&upstream).await;
    let recorded = by_http_2(&session, "/tape/-/v1?a=1").await;
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let replayed = by_http_2(&session, "/tape/-/v1?a=1").await;
    let old = get(&format!("{}/v1?a=1", session.url()));
    session.finish().await.unwrap();

    assert_eq!(recorded.0, 200);
    assert_eq!(replayed, recorded);
    assert_eq!(old.body, recorded.1);
    assert_eq!(stage.cassette().interactions[0].request.path, "/v1?a=1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_http_2_gets_all_that_comes_before_a_cut() {
    let event = "x".repeat(2000);
    let cut = json!({
        "request": {"method": "GET", "path": "/x"},
        "response": {
            "status": 200,
            "headers": {"content-type": "text/event-stream"},
            "stream": [{"sse": {"data": &event}}, {"sse": {"data": &event}}, {"sse": {"data": &event}}],
            "end": "server_closed"
        }
    });
    let stage = Stage::with(&vec![cut; AT_ONCE]);
    let session = stage.replay().await;
    let stream = TcpStream::connect(session.address()).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);

    let asking = (0..AT_ONCE).map(|_| {
        let request = http::Request::get(format!("{}/x", session.url()));
        let request = request.version(Version::HTTP_2).body(()).unwrap();
        let mut client = client.clone();
        tokio::spawn(async move {
            let mut body = client.send_request(request, true).unwrap().0.await.unwrap().into_body();
            let mut came = 0;
            loop {
                match body.data().await {
                    Some(Ok(piece)) => {
                        came += piece.len();
                        let _ = body.flow_control().release_capacity(piece.len());
                    }
                    ended => return (came, ended.is_some()),
                }
            }
        })
    });
    let asking: Vec<_> = asking.collect();
    let mut heard = Vec::new();
    for asked in asking {
        heard.push(asked.await.unwrap());
    }
    drop(client);
    connection.await.unwrap().unwrap();
    session.finish().await.unwrap();

    let whole = 3 * (event.len() + "data: \n\n".len());
    assert_eq!(heard, [(whole, true); AT_ONCE]);
}

/// Requests that RFC 9112 has something to say about, `HERE` for where they are sent: the status that each is
/// answered with. What follows a request on its connection is never answered.
const REQUESTS: [(u16, &str); 24] = [
    // Section 3.2: one valid host.
    (200, "GET /a HTTP/1.1\r\nHost: HERE\r\nConnection: close\r\n\r\n"),
    (200, "GET /a HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"),
    (200, "GET /a HTTP/1.0\r\n\r\n"),
    (200, "GET http://HERE/a HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\n\r\n"),
    (400, "GET http://HERE/a HTTP/1.1\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\nHost: HERE\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\nHost: a.example\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: localhost localhost\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: me@localhost\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: localhost/a\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: localhost:http\r\n\r\n"),
    // Section 6: chunks count, and not the length beside them; the connection ends there.
    (
        200,
        "POST /a HTTP/1.1\r\nHost: HERE\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ),
    (400, "POST /a HTTP/1.1\r\nHost: HERE\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    (400, "POST /a HTTP/1.1\r\nHost: HERE\r\nContent-Length: +3\r\n\r\nabc"),
    (400, "POST /a HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
    (400, "POST /a HTTP/1.0\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    // Sections 2.2 and 5: lines end with LF at least, and hold no other end and no zero byte.
    (200, "GET /a HTTP/1.1\nHost: HERE\nConnection: close\n\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\nX-A: a\r\n b\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\n X-A: a\r\nHost: HERE\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\nX-A : a\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\nX-A: a\rb\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\nX-A: a\0b\r\n\r\n"),
    (400, "GET /a HTTP/1.1\r\nHost: HERE\r\n: a\r\n\r\n"),
];

/// The status of each of them, with the one of a request behind it if that is answered.
fn statuses(address: SocketAddr) -> Vec<(u16, &'static str)> {
    let status = |request: &str| {
        let here = address.to_string();
        let behind = format!("GET /smuggled HTTP/1.1\r\nHost: {here}\r\n\r\n");
        let mut wire = Wire::connect(address);
        wire.send(request.replace("HERE", &here) + &behind);
        let answers = String::from_utf8(wire.rest()).unwrap();
        assert_eq!(answers.matches("HTTP/1.").count(), 1, "{request}: {answers}");
        answers["HTTP/1.1 ".len()..][..3].parse().unwrap()
    };
    REQUESTS.iter().map(|(_, request)| (status(request), *request)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_rfc_9112_refuses_is_refused_and_never_passed_on() {
    let (stage, upstream) = (Stage::new(), Upstream::json(|asked| format!("[{:?}]", asked.text())));
    let session = stage.record(&upstream).await;
    let recorded = statuses(session.address());
    assert!(session.stop().await.is_err(), "nobody told of what was not recorded");

    let session = stage.session(Mode::Replay).proxy().start().await.unwrap();
    let replayed = statuses(session.address());
    let told = session.stop().await.unwrap().misses.len();
    assert_eq!(told, REQUESTS.iter().filter(|(status, _)| *status == 400).count());

    assert_eq!(recorded, REQUESTS);
    assert_eq!(replayed, REQUESTS);
    let asked = upstream.asked();
    assert_eq!(asked.len(), REQUESTS.iter().filter(|(status, _)| *status == 200).count());
    assert!(asked.iter().all(|asked| asked.path() == "/a"), "{asked:?}");
    let here = upstream.address().to_string();
    assert!(asked.iter().all(|asked| asked.head.field("host") == Some(&*here)), "{asked:?}");
    let posted = asked.iter().find(|asked| !asked.body.is_empty()).unwrap();
    assert_eq!((posted.text(), posted.head.field("content-length")), ("a".into(), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_below_localhost_names_the_cassette_and_the_path_stays() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        let origin = format!("http://{}", wire.address());
        wire.send(upstream::json(200, &format!("[\"{}\", \"{origin}/next\"]", asked.path())));
        Then::KeepAlive
    });
    let talk = |session: &Session| {
        let host = format!("hello.letta.localhost:{}", session.address().port());
        let mut wire = Wire::connect(session.address());
        wire.send(format!("GET /v1 HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply(&mut wire, "GET").text(), format!("[\"/v1\", \"http://{host}/next\"]"));
    };
    let session = stage.record(&upstream).await;
    talk(&session);
    session.finish().await.unwrap();

    let session = stage.session(Mode::Replay).start().await.unwrap();
    talk(&session);
    session.finish().await.unwrap();

    assert_eq!(stage.cassette_of("letta/hello").interactions.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_header_fields_are_spelled_as_the_server_spelled_them() {
    for fields in [
        "Content-Type: a/b\r\nETag: \"1\"\r\nX-mIXed: 1\r\nX-mixed: 2\r\nlower: 1\r\nContent-Length: 1",
        "content-type: a/b\r\nserver: uvicorn\r\ncontent-length: 1",
        "content-type: a/b\r\nTransfer-Encoding: chunked",
    ] {
        let body = if fields.ends_with("chunked") { "1\r\n1\r\n0\r\n\r\n" } else { "1" };
        let upstream = Upstream::saying(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{body}"));
        let stage = Stage::new();
        let names = |url: &str| get(url).head.fields.into_iter().map(|(name, _)| name);
        let session = stage.record(&upstream).await;
        let recorded: Vec<String> = names(&session.url()).collect();
        session.finish().await.unwrap();
        let session = stage.replay().await;
        let replayed: Vec<String> = names(&session.url()).collect();
        session.finish().await.unwrap();

        let sent: Vec<&str> = fields.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(recorded, sent);
        assert_eq!(replayed, sent);
        let kept: Vec<String> =
            answer(&stage.cassette()).headers.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(
            kept,
            sent.into_iter().filter(|name| *name != "Transfer-Encoding").collect::<Vec<_>>()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_upgrades_to_nothing_we_know_is_answered_as_any_other() {
    let (stage, upstream) = (Stage::new(), echo());
    let session = stage.record(&upstream).await;

    let fields =
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
    let reply = ask("GET", &session.url(), fields, "");

    assert_eq!(reply.status, 200);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_neither_be_recorded_nor_replayed_is_a_miss_in_replay() {
    let (stage, upstream) = (Stage::new(), echo());
    let session = stage.record(&upstream).await;
    assert_eq!(get(&format!("{}/a", session.url())).status, 200);
    session.finish().await.unwrap();
    let session = stage.replay().await;

    let raw =
        ask("POST", &format!("{}/a", session.url()), "Connection: upgrade\r\nUpgrade: tcp\r\n", "");
    let read = ask("GET", &format!("{}/a?f=\"x\"", session.url()), "", "");
    let asked = ask("GET", &format!("{}/a", session.url()), "Upgrade: tcp\r\n", "");
    let error = session.finish().await.unwrap_err();

    assert_eq!((raw.status, read.status, asked.status), (470, 400, 200));
    assert!(raw.text().contains("an upgrade to `tcp`"), "{raw:?}");
    assert!(error.is_miss(), "{error:?}");
    assert!(format!("{error}").contains("2 requests"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_of_many_fields_passes_in_both_directions() {
    let many: String = (0..250).map(|it| format!("x-{it}: v\r\n")).collect();
    let answered = format!("HTTP/1.1 200 OK\r\n{many}Content-Length: 2\r\n\r\n[]");
    let (stage, upstream) = (Stage::new(), Upstream::saying(answered));
    let told = |url: &str| {
        let reply = ask("GET", url, &many, "");
        let fields = reply.head.fields.iter().filter(|(name, _)| name.starts_with("x-"));
        (reply.status, fields.count())
    };

    let session = stage.record(&upstream).await;
    assert_eq!(told(&session.url()), (200, 250));
    session.finish().await.unwrap();
    let session = stage.replay().await;
    assert_eq!(told(&session.url()), (200, 250));
    session.finish().await.unwrap();

    let asked = &upstream.asked()[0].head.fields;
    assert_eq!(asked.iter().filter(|(name, _)| name.starts_with("x-")).count(), 250);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_the_server_folds_is_one_line() {
    let folded = "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\n\tthree\r\nContent-Length: 0\r\n\r\n";
    let (stage, upstream) = (Stage::new(), Upstream::saying(folded));
    let session = stage.record(&upstream).await;
    let recorded = get(&session.url());
    session.finish().await.unwrap();
    let session = stage.replay().await;
    let replayed = get(&session.url());
    session.finish().await.unwrap();

    assert_eq!(recorded.field("x-long"), Some("one two three"));
    assert_eq!(replayed.head, recorded.head);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trailers_reach_a_client_that_does_not_ask_for_them() {
    for named in ["Trailer: X-Sum\r\n", ""] {
        let upstream = Upstream::start(move |_, wire| {
            wire.send(format!("HTTP/1.1 200 OK\r\n{named}Transfer-Encoding: chunked\r\n\r\n"));
            wire.send_chunk("abc");
            wire.send("0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n");
            Then::KeepAlive
        });
        let stage = Stage::new();
        // Both requests come at once, and the second is answered behind the trailers of the first.
        let talk = |session: &Session| {
            let mut wire = Wire::connect(session.address());
            let request = request("GET", &session.url(), "", "");
            wire.send(format!("{request}{request}"));
            [0, 1].map(|_| {
                let told = reply(&mut wire, "GET");
                (told.text(), told.trailers)
            })
        };

        let session = stage.record(&upstream).await;
        let recorded = talk(&session);
        session.finish().await.unwrap();
        let session = stage.replay().await;
        let replayed = talk(&session);
        session.finish().await.unwrap();

        let sum = |value: &str| ("x-sum".to_owned(), value.to_owned());
        let expected = ("abc".to_owned(), vec![sum("1"), sum("2")]);
        assert_eq!(recorded, [expected.clone(), expected]);
        assert_eq!(replayed, recorded);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_has_no_place_for_trailers_gets_none() {
    let upstream = Upstream::saying(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n",
    );
    let (stage, here) = (Stage::new(), |session: &Session| Wire::connect(session.address()));
    let session = stage.record(&upstream).await;

    let mut old = here(&session);
    old.send("GET / HTTP/1.0\r\n\r\n");
    let told = String::from_utf8(old.rest()).unwrap();
    session.finish().await.unwrap();

    assert!(told.ends_with("\r\n\r\nabc"), "{told}");
}
