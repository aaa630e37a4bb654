//! retape as a forward proxy.

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retape::cassette::{End, Outcome};
use retape::{Mode, Session, SessionBuilder};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::stage::Stage;
use crate::support::client::get;
use crate::support::socket::{Socket, Sockets};
use crate::support::upstream::{Then, Upstream, json};

fn echo(name: &'static str) -> Upstream {
    Upstream::start(move |asked, wire| {
        let fields = ["host", "proxy-authorization", "proxy-connection"];
        let seen: Vec<_> = fields.iter().filter_map(|field| asked.head.field(field)).collect();
        let path = asked.path();
        let told = format!("{{\"by\":\"{name}\",\"path\":\"{path}\",\"seen\":{seen:?}}}");
        wire.send(json(200, &told));
        Then::Close
    })
}

/// All that comes back for a request that is the last one of its connection.
async fn say(mut client: impl AsyncRead + AsyncWrite + Unpin, text: &str) -> String {
    client.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A server that only closes the connection below TLS has said all as well.
    let _ = client.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn request(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: elsewhere\r\n{fields}Connection: close\r\n\r\n")
}

async fn connected(session: &Session) -> TcpStream {
    TcpStream::connect(session.address()).await.unwrap()
}

/// A tunnel, and what was answered if there is none.
async fn tunnel(session: &Session, authority: &str, fields: &str) -> Result<TcpStream, String> {
    let mut stream = connected(session).await;
    let head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{fields}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\n") {
        answer.push(char::from(stream.read_u8().await.unwrap()));
    }
    if answer.starts_with("HTTP/1.1 200") { Ok(stream) } else { Err(answer) }
}

/// What is answered within TLS, in which these protocols are offered.
async fn secure(
    session: &Session,
    stream: TcpStream,
    host: &'static str,
    offered: &[&str],
) -> tokio_rustls::client::TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(session.proxy_certificate().unwrap().to_vec().into()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|it| it.as_bytes().to_vec()).collect();
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(ServerName::try_from(host).unwrap(), stream).await.unwrap()
}

fn user(name: &str) -> String {
    format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(format!("{name}:")))
}

fn proxy(stage: &Stage, mode: Mode) -> SessionBuilder {
    stage.session(mode).proxy()
}

/// A cassette of a provider behind TLS.
fn provider() -> Stage {
    Stage::with(&[serde_json::json!({
        "request": {"method": "GET", "origin": "https://api.example.com", "path": "/v1/models"},
        "response": {
            "ms": 1,
            "status": 200,
            "headers": {"content-type": "application/json", "content-length": "13"},
            "json": {"models": []},
            "end": "complete"
        }
    })])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_host_is_recorded_and_replayed_with_no_base_address() {
    let (stage, agent, model) = (Stage::new(), echo("agent"), echo("model"));
    let talk = async |session: &Session| {
        let mut heard = Vec::new();
        for server in [&agent, &model] {
            let fields = user("tape~1") + "Proxy-Connection: keep-alive\r\n";
            let whole = request(&format!("{}/v1?a=1", server.url()), &fields);
            heard.push(say(connected(session).await, &whole).await);
            let authority = server.address().to_string();
            let through = tunnel(session, &authority, &user("tape~1")).await.unwrap();
            heard.push(say(through, &request("/v2", "")).await);
        }
        heard
    };
    let session = proxy(&stage, Mode::Record).start().await.unwrap();
    let recorded = talk(&session).await;
    session.finish().await.unwrap();

    let session = proxy(&stage, Mode::Replay).start().await.unwrap();
    let replayed = talk(&session).await;
    let summary = session.finish().await.unwrap();

    // The host of a whole address counts (RFC 9112, section 3.2.2), and within a tunnel what the client says.
    let named = [agent.address().to_string(), "elsewhere".to_owned()];
    let named = named.into_iter().chain([model.address().to_string(), "elsewhere".to_owned()]);
    for ((recorded, replayed), host) in recorded.iter().zip(&replayed).zip(named) {
        let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        assert_eq!(body(recorded), body(replayed));
        assert!(recorded.contains(&format!("\"seen\":[\"{host}\"]")), "{recorded}");
    }
    assert_eq!((summary.forwarded, summary.passed, summary.played), (0, 0, 4));
    let cassette = stage.cassette();
    assert_eq!(cassette.recorded.upstream, agent.url());
    let paths: Vec<_> = cassette.interactions.iter().map(|it| it.request.path.clone()).collect();
    let of_model = |path: &str| format!("{}{path}", model.url());
    assert_eq!(paths, ["/v1?a=1", "/v2", &of_model("/v1?a=1"), &of_model("/v2")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_episodes_open_a_websocket_at_another_port_live() {
    let stage = Stage::new();
    let servers = ["recorded", "live"].map(|said| Sockets::answering(move |_| vec![said.into()]));
    let mut heard = Vec::new();

    for (mode, server) in [Mode::Record, Mode::NewEpisodes].into_iter().zip(&servers) {
        let session = proxy(&stage, mode).start().await.unwrap();
        let authority = server.url().replace("http://", "");
        let stream = tunnel(&session, &authority, "").await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        let mut socket = Socket::over(stream, &format!("{}/ws", server.url()), &[]).unwrap();
        heard.push(socket.ask("hello"));
        socket.close(1000, "");
        session.finish().await.unwrap();
    }

    assert_eq!(heard, ["recorded", "live"]);
    assert_eq!(stage.cassette().interactions.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_goes_through_a_tunnel() {
    let stage = Stage::new();
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let authority = server.url().replace("http://", "");
    let talk = async |session: &Session| {
        let stream = tunnel(session, &authority, "").await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        let page = [("origin", "https://app.example.com")];
        let mut socket = Socket::over(stream, &format!("{}/ws", server.url()), &page).unwrap();
        assert_eq!(socket.ask("hello"), "HELLO");
        socket.close(1000, "");
    };
    let session = proxy(&stage, Mode::Record).start().await.unwrap();
    talk(&session).await;
    session.finish().await.unwrap();

    let session = proxy(&stage, Mode::Replay).start().await.unwrap();
    talk(&session).await;
    let summary = session.finish().await.unwrap().all_played().unwrap();

    assert_eq!((summary.forwarded, summary.played), (0, 1));
    let cassette = stage.cassette();
    assert_eq!(cassette.recorded.upstream, server.url());
    assert_eq!(cassette.interactions[0].request.path, "/ws");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_server_of_a_cassette_stays_the_first() {
    let (stage, agent, model) = (Stage::new(), echo("agent"), echo("model"));
    for servers in [[&agent, &model], [&model, &agent]] {
        let session = proxy(&stage, Mode::Record).start().await.unwrap();
        for server in servers {
            say(connected(&session).await, &request(&format!("{}/v1", server.url()), "")).await;
        }
        session.finish().await.unwrap();
    }

    assert_eq!(stage.cassette().recorded.upstream, agent.url());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_behind_tls_is_replayed_by_http_1_and_by_http_2() {
    let stage = provider();
    let session = proxy(&stage, Mode::Replay).start().await.unwrap();
    let host = "api.example.com";

    let stream = tunnel(&session, "API.example.com:443", "").await.unwrap();
    let old = secure(&session, stream, host, &["http/1.1"]).await;
    let answer = say(old, &request("/v1/models", "")).await;
    let stream = tunnel(&session, "api.example.com:443", "").await.unwrap();
    let new = secure(&session, stream, host, &["h2", "http/1.1"]).await;
    assert_eq!(new.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut client, connection) = h2::client::handshake(new).await.unwrap();
    let connection = tokio::spawn(connection);
    let asked = http::Request::get("https://api.example.com/v1/models").body(()).unwrap();
    let (response, _) = client.send_request(asked, true).unwrap();
    let mut response = response.await.unwrap();
    let body = response.body_mut().data().await.unwrap().unwrap();
    drop((client, response));
    connection.await.unwrap().unwrap();

    assert!(
        answer.ends_with("{\"models\": []}") || answer.ends_with("{\"models\":[]}"),
        "{answer}"
    );
    assert!(body.starts_with(b"{\"models\":"), "{body:?}");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_offers_no_newer_protocol_is_answered_by_http_1() {
    let stage = provider();
    let session = proxy(&stage, Mode::Replay).start().await.unwrap();
    let host = "api.example.com";
    for (offered, agreed) in
        [(&["http/1.0"][..], Some(&b"http/1.0"[..])), (&["of-nobody/1"], None), (&[], None)]
    {
        let stream = tunnel(&session, "api.example.com:443", "").await.unwrap();
        let client = secure(&session, stream, host, offered).await;

        assert_eq!(client.get_ref().1.alpn_protocol(), agreed, "{offered:?}");
        let answer = say(client, &request("/v1/models", "").replace("HTTP/1.1", "HTTP/1.0")).await;
        assert!(answer.contains(" 200 ") && answer.contains("\"models\""), "{answer}");
    }
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_was_not_recorded_is_a_miss_that_says_so() {
    let (stage, other) = (provider(), echo("other"));
    let session = proxy(&stage, Mode::Replay).start().await.unwrap();

    let answer = say(connected(&session).await, &request(&format!("{}/x", other.url()), "")).await;

    let misses = session.misses();
    session.stop().await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 470 "), "{answer}");
    let why = format!(
        "because nothing was recorded from {}; there is\n  http://127.0.0.1:8283\n  \
         https://api.example.com\n",
        other.url()
    );
    assert!(misses[0].explanation.contains(&why), "{}", misses[0].explanation);
    assert!(other.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_proxy_what_is_meant_for_one_is_refused_and_noted() {
    let (stage, other) = (provider(), echo("other"));
    let session = stage.replay().await;

    let whole = say(connected(&session).await, &request(&format!("{}/x", other.url()), "")).await;
    let through = tunnel(&session, "api.example.com:443", "").await.unwrap_err();

    let misses = session.misses();
    session.stop().await.unwrap();
    for answer in [&whole, &through] {
        assert!(answer.starts_with("HTTP/1.1 421 "), "{answer}");
    }
    assert!(whole.contains("hint: start it with `--proxy`"), "{whole}");
    let asked: Vec<_> = misses.iter().map(|miss| (&*miss.method, &*miss.path)).collect();
    let host = other.address().to_string();
    assert_eq!(asked, [("GET", &*host), ("CONNECT", "api.example.com:443")]);
}

/// A request for a path of that host.
fn of_host(host: &str, fields: &str) -> String {
    format!("GET /x HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_is_asked_of_the_host_that_the_request_names() {
    let (stage, agent, model) = (Stage::new(), echo("agent"), echo("model"));
    for mode in [Mode::Record, Mode::Replay] {
        let session = proxy(&stage, mode).start().await.unwrap();
        for (server, name) in [(&agent, "agent"), (&model, "model")] {
            let asked = of_host(&server.address().to_string(), &user("tape"));
            let answer = say(connected(&session).await, &asked).await;
            assert!(answer.contains(&format!("\"by\":\"{name}\"")), "{answer}");
            assert!(!answer.contains("Basic"), "{answer}");
        }
        session.finish().await.unwrap();
    }

    assert_eq!((agent.asked().len(), model.asked().len()), (1, 1));
    let cassette = stage.cassette();
    assert_eq!(cassette.recorded.upstream, agent.url());
    let paths: Vec<_> = cassette.interactions.iter().map(|it| &*it.request.path).collect();
    assert_eq!(paths, ["/x", &format!("{}/x", model.url())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_asks_another_host_for_a_path() {
    let stage = Stage::new();
    let session = proxy(&stage, Mode::Record).start().await.unwrap();
    let rebound = format!("evil.example:{}", session.address().port());
    let recorded = provider();
    let unproxied = recorded.replay().await;
    let of_page = |fields: &str| of_host("api.example", fields);

    for asked in [
        of_host(&rebound, ""),
        of_page("Origin: https://evil.example\r\n"),
        of_page("Sec-Fetch-Site: cross-site\r\n"),
    ] {
        let answer = say(connected(&session).await, &asked).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    }
    let answer = say(connected(&unproxied).await, &of_host("api.example:8080", "")).await;

    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    session.stop().await.unwrap();
    unproxied.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_address_that_is_our_own_is_no_other_hosts() {
    let (stage, agent) = (Stage::new(), echo("agent"));
    let session = stage.record(&agent).await;

    let answer =
        say(connected(&session).await, &request(&format!("{}/x", session.url()), "")).await;

    assert!(answer.contains("\"path\":\"/x\""), "{answer}");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_a_person_names_pass_or_are_refused_in_every_mode() {
    let (stage, passed, refused) = (Stage::new(), echo("passed"), echo("refused"));
    let (pass, refuse) = (passed.address(), refused.address());
    let rules = format!("[proxy]\npass = [\"{pass}\"]\nrefuse = [\"{refuse}\"]\n");
    std::fs::write(stage.folder().join("retape.toml"), rules).unwrap();
    for mode in [Mode::Record, Mode::Replay] {
        let session = proxy(&stage, mode).allow_unused().start().await.unwrap();

        let whole = request(&format!("http://{pass}/x"), "");
        let whole = say(connected(&session).await, &whole).await;
        let through = tunnel(&session, &pass.to_string(), "").await.unwrap();
        let through = say(through, &request("/y", "")).await;
        let not = say(connected(&session).await, &request(&format!("http://{refuse}/"), "")).await;
        let no_tunnel = tunnel(&session, &refuse.to_string(), "").await.unwrap_err();

        assert!(whole.contains("\"path\":\"/x\""), "{whole}");
        assert!(through.contains("\"path\":\"/y\""), "{through}");
        assert!(not.starts_with("HTTP/1.1 403 "), "{not}");
        assert!(no_tunnel.starts_with("HTTP/1.1 403 "), "{no_tunnel}");
        let summary = session.finish().await.unwrap();
        assert_eq!(summary.passed, 2);
        assert!(summary.recordings.iter().all(|it| it.path.is_none()), "{summary:?}");
    }
    assert!(refused.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_through_the_proxy_is_replayed_by_a_base_address_too() {
    let (stage, agent, model) = (Stage::new(), echo("agent"), echo("model"));
    let session = proxy(&stage, Mode::Record).start().await.unwrap();
    for server in [&agent, &model] {
        say(connected(&session).await, &request(&format!("{}/v1", server.url()), "")).await;
    }
    session.finish().await.unwrap();

    let session = stage.replay().await;

    assert!(get(&format!("{}/v1", session.url())).text().contains("\"by\":\"agent\""));
    let named = format!("{}/-{}/v1", session.url(), model.address());
    assert!(get(&named).text().contains("\"by\":\"model\""));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_a_client_of_the_proxy_cannot_reach_is_recorded_as_such() {
    let stage = Stage::new();
    let asked = request(&format!("{}/x", crate::support::upstream::nobody()), "");

    let session = proxy(&stage, Mode::Record).start().await.unwrap();
    let recorded = say(connected(&session).await, &asked).await;
    session.finish().await.unwrap();
    let session = proxy(&stage, Mode::Replay).start().await.unwrap();
    let replayed = say(connected(&session).await, &asked).await;
    session.finish().await.unwrap();

    assert_eq!([recorded, replayed], ["", ""]);
    assert_eq!(stage.cassette().interactions[0].outcome, Outcome::Nothing(End::Unreachable));
}

/// A server that speaks HTTP/2 from the first byte, and nothing else.
async fn of_http2() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(mut connection) = h2::server::handshake(stream).await else { return };
                while let Some(Ok((asked, mut answer))) = connection.accept().await {
                    if asked.uri().path() == "/nothing" {
                        answer.send_response(http::Response::new(()), true).unwrap();
                        continue;
                    }
                    let said = format!("to {}", asked.uri());
                    let mut body = answer.send_response(http::Response::new(()), false).unwrap();
                    body.send_data(said.into(), true).unwrap();
                }
            });
        }
    });
    address
}

/// What is answered to a client that knows that the server speaks HTTP/2.
async fn ask_by_http2(stream: TcpStream, address: &str) -> String {
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let (response, _) =
        client.send_request(http::Request::get(address).body(()).unwrap(), true).unwrap();
    let mut response = response.await.unwrap();
    let status = response.status().as_u16();
    let said = if response.body().is_end_stream() {
        "ends with its header".into()
    } else {
        response.body_mut().data().await.unwrap().unwrap()
    };
    drop((client, response));
    connection.await.unwrap().unwrap();
    format!("{status} {}", String::from_utf8_lossy(&said))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_speaks_http_2_without_tls_is_passed_on_by_it() {
    let (stage, server) = (Stage::new(), of_http2().await);
    let talk = async |session: &Session| {
        let [direct, tunnelled] = ["a", "b"].map(|path| format!("http://{server}/{path}"));
        let through = tunnel(session, &server.to_string(), "").await.unwrap();
        [
            ask_by_http2(connected(session).await, &direct).await,
            ask_by_http2(through, &tunnelled).await,
        ]
    };

    let session = proxy(&stage, Mode::Record).start().await.unwrap();
    let recorded = talk(&session).await;
    session.finish().await.unwrap();
    let session = proxy(&stage, Mode::Replay).start().await.unwrap();
    let replayed = talk(&session).await;
    session.finish().await.unwrap();

    let expected = ["a", "b"].map(|path| format!("200 to http://{server}/{path}"));
    assert_eq!(recorded, expected);
    assert_eq!(replayed, expected);
}

// gRPC takes an empty frame behind the header for a broken stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_a_body_ends_with_its_header_over_http_2() {
    let (stage, server) = (Stage::new(), of_http2().await);
    let address = format!("http://{server}/nothing");

    for mode in [Mode::Record, Mode::Replay] {
        let session = proxy(&stage, mode).start().await.unwrap();
        let said = ask_by_http2(connected(&session).await, &address).await;
        session.finish().await.unwrap();

        assert_eq!(said, "200 ends with its header", "{mode:?}");
    }
}
