//! Servers that a test starts: each run at other ports, and known by what they are asked.

use retape::{Mode, Session};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stage::Stage;
use crate::support::upstream::{Asked, Upstream};

/// So many servers that say which one they are.
fn started(count: usize) -> Vec<Upstream> {
    let start = |number| Upstream::json(move |asked: &Asked| said(number, asked.path()));
    (0..count).map(start).collect()
}

fn said(by: usize, path: &str) -> String {
    format!("\"{by} says {path}\"")
}

/// What comes back through the proxy for each method, address and body.
async fn ask(session: &Session, asked: &[(&str, String)]) -> Vec<String> {
    let mut heard = Vec::new();
    for (line, body) in asked {
        let (line, field) = line.split_once(" as ").unwrap_or((line, "a client"));
        let (method, url) = line.split_once(' ').unwrap();
        let length = body.len();
        let fields =
            format!("Host: elsewhere\r\nContent-Length: {length}\r\nUser-Agent: {field}\r\n");
        let text = format!("{method} {url} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n{body}");
        let mut client = TcpStream::connect(session.address()).await.unwrap();
        client.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        let (head, said) = answer.split_once("\r\n\r\n").unwrap();
        heard.push(if head.starts_with("HTTP/1.1 470") { "missed" } else { said }.to_owned());
    }
    heard
}

/// What is heard in replay where other addresses are asked than when it was recorded.
async fn check(recorded: &[(String, &str)], replayed: &[(String, &str)], expected: &[String]) {
    let stage = Stage::new();
    let session = stage.session(Mode::Record).proxy().start().await.unwrap();
    ask(&session, &lines(recorded)).await;
    session.finish().await.unwrap();

    let session = stage.session(Mode::Replay).proxy().start().await.unwrap();
    let heard = ask(&session, &lines(replayed)).await;
    session.stop().await.unwrap();

    assert_eq!(heard, expected);
}

/// Requests whose paths may be followed by a body.
fn lines<'a>(asked: &'a [(String, &str)]) -> Vec<(&'a str, String)> {
    let line = |(url, body): &'a (String, &str)| (url.as_str(), (*body).to_owned());
    asked.iter().map(line).collect()
}

fn get<'a>(origin: &str, path: &str) -> (String, &'a str) {
    (format!("GET {origin}{path}"), "")
}

fn urls(servers: &[Upstream]) -> Vec<String> {
    servers.iter().map(Upstream::url).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_have_swapped_their_ports_are_known_by_what_they_are_asked() {
    let servers = started(2);
    let [one, other] = [0, 1].map(|at| servers[at].url());

    let recorded = [get(&one, "/a"), get(&other, "/b"), get(&one, "/c"), get(&other, "/c")];
    let replayed = [get(&other, "/a"), get(&one, "/b"), get(&one, "/c"), get(&other, "/c")];

    let expected = [said(0, "/a"), said(1, "/b"), said(1, "/c"), said(0, "/c")];
    check(&recorded, &replayed, &expected).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_at_another_port_is_known_by_the_body_that_it_is_sent() {
    let servers = started(2);
    let post = |origin: &str, body| (format!("POST {origin}/x"), body);
    let recorded = [post(&servers[0].url(), "{\"a\":1}"), post(&servers[1].url(), "{\"a\":2}")];
    let replayed = [
        post("http://127.0.0.1:50123", "{ \"a\": 2 }"),
        post("http://127.0.0.1:50124", "{ \"a\": 1 }"),
    ];

    check(&recorded, &replayed, &[said(1, "/x"), said(0, "/x")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_shifted_ports_that_are_asked_the_same_come_in_order() {
    let servers = started(6);
    let recorded = urls(&servers);
    // Each server listens where another one listened, but for the first.
    let mut shifted = vec!["http://127.0.0.1:50123".to_owned()];
    shifted.extend(recorded[..5].iter().cloned());

    let asked = |urls: &[String]| urls.iter().map(|url| get(url, "/")).collect::<Vec<_>>();
    let expected: Vec<String> = (0..6).map(|number| said(number, "/")).collect();
    check(&asked(&recorded), &asked(&shifted), &expected).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_servers_that_are_asked_the_same_at_once_other_fields_tell_which_is_meant() {
    let servers = started(3);
    let asked = |origin: &str, agent: &str| (format!("GET {origin}/ as {agent}"), "");
    let recorded: Vec<_> =
        urls(&servers).iter().zip(["a", "b", "c"]).map(|(url, agent)| asked(url, agent)).collect();
    let replayed = [
        asked("http://127.0.0.1:50123", "c"),
        asked("http://127.0.0.1:50124", "unknown"),
        asked("http://127.0.0.1:50125", "b"),
    ];

    check(&recorded, &replayed, &[said(2, "/"), said(0, "/"), said(1, "/")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_not_recorded_takes_no_other_ones_place() {
    let servers = started(3);
    let recorded: Vec<_> = urls(&servers).iter().map(|url| get(url, "/x")).collect();
    let live = |number: usize| format!("http://127.0.0.1:{}", 50123 + number);

    let replayed = [
        get(&live(0), "/x"),
        get(&live(7), "/unknown"),
        get(&live(1), "/x"),
        get(&live(7), "/unknown"),
        get(&live(2), "/x"),
        get(&live(0), "/x"),
        get(&live(0), "/unknown"),
    ];

    let missed = || "missed".to_owned();
    let [a, b, c] = [0, 1, 2].map(|number| said(number, "/x"));
    let expected = [a.clone(), missed(), b, missed(), c, a, missed()];
    check(&recorded, &replayed, &expected).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_that_two_servers_had_one_after_the_other_is_both() {
    let servers = started(2);
    let [one, other] = [0, 1].map(|at| servers[at].url());
    let live = |number: usize| format!("http://127.0.0.1:{}", 50123 + number);

    // Twice when it was recorded, and twice when it is replayed.
    let recorded = [get(&one, "/a"), get(&one, "/b"), get(&other, "/c")];
    let replayed = [get(&live(0), "/a"), get(&live(1), "/b"), get(&live(0), "/c")];

    let expected = [said(0, "/a"), said(0, "/b"), said(1, "/c")];
    check(&recorded, &replayed, &expected).await;
}

#[tokio::test]
async fn a_secret_that_comes_back_from_a_server_at_a_free_port_is_that_of_the_client() {
    let upstream = Upstream::json(|asked: &Asked| {
        format!("\"{}\"", asked.head.field("x-api-key").unwrap_or_default())
    });
    let (stage, key) = (Stage::new(), ["kQ7ZpW2m", "X9tR4vB1nL6s"].concat());
    let asked =
        [(format!("GET {}/who as a client\r\nX-Api-Key: {key}", upstream.url()), String::new())];
    let asked: Vec<(&str, String)> =
        asked.iter().map(|(line, body)| (&**line, body.clone())).collect();
    let session = stage.session(Mode::Record).proxy().start().await.unwrap();
    ask(&session, &asked).await;
    session.finish().await.unwrap();

    let session = stage.session(Mode::Replay).proxy().start().await.unwrap();
    let heard = ask(&session, &asked).await;
    session.stop().await.unwrap();

    assert_eq!(heard, [format!("\"{key}\"")]);
}
