//! What clients may say to retape on the wire.

use http::Version;
use retape::{Mode, Session};
use tokio::net::TcpStream;

use crate::stage::Stage;
use crate::support::client::{ask, get, reply};
use crate::support::upstream::{Upstream, json};
use crate::support::wire::Wire;

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
async fn a_request_for_two_hosts_is_refused_and_the_connection_closed() {
    let (stage, upstream) = (Stage::new(), echo());
    let session = stage.record(&upstream).await;
    let mut wire = Wire::connect(session.address());
    wire.send("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
    assert_eq!(reply(&mut wire, "GET").status, 400);
    wire.wait_for_end();

    assert!(upstream.asked().is_empty());
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_below_localhost_names_the_cassette_and_the_path_stays() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        let origin = format!("http://{}", wire.address());
        wire.send(json(200, &format!("[\"{}\", \"{origin}/next\"]", asked.path())));
        crate::support::upstream::Then::KeepAlive
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
async fn a_client_that_upgrades_to_nothing_we_know_is_answered_as_any_other() {
    let (stage, upstream) = (Stage::new(), echo());
    let session = stage.record(&upstream).await;

    let fields =
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
    let reply = ask("GET", &session.url(), fields, "");

    assert_eq!(reply.status, 200);
    session.finish().await.unwrap();
}
