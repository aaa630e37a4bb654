//! The server's address and retape's are exchanged in both directions.

use std::io::Write as _;

use retape::Session;
use retape::cassette::coding::{decode_readable, decode_whole};

use crate::stage::{Stage, answer, only};
use crate::support::client::{Reply, ask, get};
use crate::support::upstream::{Asked, EVENTS, Then, Upstream, json};
use crate::support::wire::{Chunk, Wire};

/// Asks for `/x` through the recorder and then the recording, by both names of the cassette, and
/// compares with what is expected. `{here}` stands for the address at which the client sees the
/// server.
async fn check(answer: impl Fn(&str) -> String + Send + Sync + 'static, expected: Told<'_>) {
    let upstream = Upstream::start(move |_, wire: &mut Wire| {
        let origin = format!("http://{}", wire.address());
        wire.send(answer(&origin));
        Then::KeepAlive
    });
    for session_name in ["", "tape", "tape~1"] {
        let stage = Stage::new();
        let session = stage.record(&upstream).await;
        let recorded = get(&format!("{}/x", session.url_of(session_name)));
        expected.hold(&recorded, &session.url_of(session_name));
        session.finish().await.unwrap();

        let session: Session = stage.replay().await;
        let replayed = get(&format!("{}/x", session.url_of(session_name)));
        expected.hold(&replayed, &session.url_of(session_name));
        session.finish().await.unwrap();
    }
}

/// What a client is told.
struct Told<'a> {
    field: Option<(&'a str, &'a str)>,
    body: &'a str,
}

impl Told<'_> {
    #[track_caller]
    fn hold(&self, reply: &Reply, here: &str) {
        let path = here.find("/tape").map_or("", |at| &here[at..]);
        let meant = |text: &str| text.replace("{here}", here).replace("{path}", path);
        if let Some((name, value)) = self.field {
            assert_eq!(reply.field(name), Some(meant(value).as_str()));
        }
        assert_eq!(reply.text(), meant(self.body));
        assert!(!reply.cut);
    }
}

fn redirection(location: &str) -> String {
    format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirection_leads_back_to_retape() {
    let told = Told { field: Some(("location", "{here}/v1/agents/?a=1")), body: "" };
    check(|origin| redirection(&format!("{origin}/v1/agents/?a=1")), told).await;

    let told = Told { field: Some(("location", "{here}")), body: "" };
    check(redirection, told).await;

    // `//host/path` is an address of the same scheme.
    let told = Told { field: Some(("location", "{here}/v1")), body: "" };
    check(|origin| redirection(&format!("{}/v1", origin.trim_start_matches("http:"))), told).await;
    // So are the other names of this machine, at the same port.
    let local = |origin: &str| origin.replace("127.0.0.1", "localhost");
    let told = Told { field: Some(("location", "{here}/v1")), body: "" };
    check(move |origin| redirection(&format!("{}/v1", local(origin))), told).await;
    for host in ["0.0.0.0", "[::ffff:127.0.0.1]", "api.localhost", "user:word@localhost"] {
        let told = Told { field: Some(("location", "{here}/v1")), body: "" };
        let local = move |origin: &str| origin.replace("127.0.0.1", host).replace("http", "HTTP");
        check(move |origin| redirection(&format!("{}/v1", local(origin))), told).await;
    }
    let told = Told { field: Some(("location", "http://localhost:1/v1")), body: "" };
    check(|_| redirection("http://localhost:1/v1"), told).await;
    let told = Told { field: Some(("location", "//elsewhere.example/v1")), body: "" };
    check(|_| redirection("//elsewhere.example/v1"), told).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirection_to_a_path_stays_in_its_session() {
    let told = Told { field: Some(("location", "{path}/v1/agents/")), body: "" };
    check(|_| redirection("/v1/agents/"), told).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_in_other_fields_stay_in_their_session() {
    for (name, field, told) in [
        ("content-location", "/v1/1", "{path}/v1/1"),
        ("operation-location", "/jobs/1?a=b", "{path}/jobs/1?a=b"),
        (
            "link",
            "</v1?page=2>; rel=\"next\", <//a/b>",
            "<{path}/v1?page=2>; rel=\"next\", <//a/b>",
        ),
        ("set-cookie", "id=; path=/v1; HttpOnly", "id=; path={path}/v1; HttpOnly"),
        ("set-cookie", "id=; HttpOnly", "id=; HttpOnly"),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{name}: {field}\r\nContent-Length: 0\r\n\r\n");
        check(move |_| head.clone(), Told { field: Some((name, told)), body: "" }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_comes_back_from_a_client_that_minds_its_path() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        wire.send(match asked.head.field("cookie") {
            Some(cookie) => json(200, &format!("{{\"sent\":{}}}", cookie.starts_with("id="))),
            None => "HTTP/1.1 200 OK\r\nSet-Cookie: id=1234; Path=/v1\r\n\
                Set-Cookie: __Host-x=; Path=/; Secure\r\nContent-Length: 0\r\n\r\n"
                .to_owned(),
        });
        Then::KeepAlive
    });
    let talk = async |session: &Session| {
        let here = session.url_of("tape~1");
        let path = &here[here.find("/tape").unwrap()..];
        let reply = get(&format!("{here}/login"));
        let cookies: Vec<_> = reply.head.fields_of("set-cookie");
        assert!(cookies[0].ends_with(&format!("; Path={path}/v1")), "{cookies:?}");
        assert_eq!(cookies[1], "__Host-x=; Path=/; Secure");
        let cookie = cookies[0].split(';').next().unwrap();
        ask("GET", &format!("{here}/v1/me"), &format!("Cookie: {cookie}\r\n"), "").text()
    };
    let session = stage.record(&upstream).await;
    assert_eq!(talk(&session).await, "{\"sent\":true}");
    session.finish().await.unwrap();
    let stored = stage.cassette();
    let stored = stored.interactions[0].response().unwrap();
    assert_eq!(stored.headers.get("set-cookie"), Some("id=[redacted:id]; Path=/v1"));

    let session = stage.replay().await;

    assert_eq!(talk(&session).await, "{\"sent\":true}");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirection_elsewhere_is_left_alone() {
    for location in ["https://example.com/a", "//example.com/a", "next", "?page=2"] {
        let told = Told { field: Some(("location", location)), body: "" };
        check(move |_| redirection(location), told).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_lead_back_to_retape() {
    let told = Told {
        field: Some(("link", "<{here}/v1?page=2>; rel=\"next\", <{here}/v1?page=9>; rel=\"last\"")),
        body: "",
    };
    let link = |origin: &str| {
        format!("<{origin}/v1?page=2>; rel=\"next\", <{origin}/v1?page=9>; rel=\"last\"")
    };
    let head = move |origin: &str| {
        format!("HTTP/1.1 200 OK\r\nLink: {}\r\nContent-Length: 0\r\n\r\n", link(origin))
    };

    check(head, told).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_to_be_asked_next_is_asked_of_retape() {
    for (name, value) in [
        ("operation-location", "{here}/jobs/1?api-version=1"),
        ("azure-asyncoperation", "{here}/jobs/1"),
        ("refresh", "5; url={here}/jobs/1"),
        ("x-goog-upload-url", "{here}/upload/1?key=2"),
        ("x-next-page", "{here}/v1?page=2"),
        ("www-authenticate", "Bearer resource_metadata=\"{here}/.well-known/resource\""),
    ] {
        let field =
            format!("HTTP/1.1 202 Accepted\r\n{name}: {value}\r\nContent-Length: 0\r\n\r\n");
        let told = Told { field: Some((name, value)), body: "" };
        check(move |origin| field.replace("{here}", origin), told).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_in_json_lead_back_to_retape() {
    let body = r#"{"url":"{here}/v1/files/1","list":["{here}"],"other":"http://127.0.0.1/"}"#;
    let answer = |origin: &str| {
        let other = "http://127.0.0.1/";
        let url = format!("{origin}/v1/files/1");
        json(200, &format!(r#"{{"url":"{url}","list":["{origin}"],"other":"{other}"}}"#))
    };

    check(answer, Told { field: None, body }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_lead_back_to_retape_however_their_slashes_are_spelled() {
    let body = |origin: &str| {
        let spelled = [r"\/", r"\\/", r"\u002f", r"\\u002F"]
            .map(|slash| format!(r#"{{"next":"{}{slash}x"}}"#, origin.replace('/', slash)));
        format!("[{}]", spelled.join(","))
    };
    let upstream = Upstream::start(move |_, wire: &mut Wire| {
        wire.send(json(200, &body(&format!("http://{}", wire.address()))));
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let recorded = get(&session.url());
    assert_eq!(recorded.text(), body(&session.url()));
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let replayed = get(&session.url());
    assert_eq!(replayed.text(), body(&session.url()));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_in_a_compressed_answer_lead_back_to_retape() {
    let upstream = Upstream::start(|_, wire: &mut Wire| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        write!(gzip, r#"{{"next": "http://{}/x"}}"#, wire.address()).unwrap();
        let body = gzip.finish().unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip";
        wire.send(format!("{head}\r\nContent-Length: {}\r\n\r\n", body.len()));
        wire.send(body);
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let check = |session: &Session| {
        let answer = ask("GET", &session.url(), "Accept-Encoding: gzip\r\n", "");
        assert_eq!(answer.field("content-encoding"), Some("gzip"));
        let plain = decode_whole("gzip", &answer.body).unwrap();
        assert_eq!(plain, format!(r#"{{"next": "{}/x"}}"#, session.url()).as_bytes());
        assert_eq!(answer.field("content-length"), Some(&*answer.body.len().to_string()));
    };
    check(&session);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    check(&session);
    let plain = get(&session.url());
    assert_eq!(plain.field("content-encoding"), Some("gzip"), "nobody said that it is not taken");
    let fields = "Accept-Encoding: identity\r\n";
    let plain = ask("GET", &session.url(), fields, "");
    assert_eq!(plain.field("content-encoding"), None);
    assert_eq!(plain.text(), format!(r#"{{"next": "{}/x"}}"#, session.url()));
    session.finish().await.unwrap();
}

/// Records and replays a compressed stream of these events, in which `{here}` is the server's address. Gives
/// how much of it came as the server has sent it.
async fn compressed_stream(events: &'static [&'static str]) -> usize {
    let (sent, is_sent) = std::sync::mpsc::channel();
    let (heard, is_heard) = std::sync::mpsc::channel();
    let is_heard = std::sync::Mutex::new(is_heard);
    let upstream = Upstream::raw(move |mut wire: Wire| {
        wire.head();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        wire.send(EVENTS.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"));
        let origin = format!("http://{}", wire.address());
        for event in events {
            gzip.write_all(event.replace("{here}", &origin).as_bytes()).unwrap();
            gzip.flush().unwrap();
            let piece = std::mem::take(gzip.get_mut());
            sent.send(piece.clone()).unwrap();
            wire.send_chunk(piece);
            is_heard.lock().unwrap().recv().unwrap();
        }
        wire.send_chunk(gzip.finish().unwrap());
        wire.send("0\r\n\r\n");
    });
    let (stage, fields) = (Stage::new(), "Accept-Encoding: gzip\r\n");
    let session = stage.record(&upstream).await;
    let here = session.url();
    let mut wire = Wire::connect(session.address());
    wire.send(crate::support::client::request("GET", &here, fields, ""));
    assert_eq!(wire.head().unwrap().field("content-encoding"), Some("gzip"));
    let (mut came, mut told) = (Vec::new(), String::new());
    for event in events {
        told += &event.replace("{here}", &here);
        while decode_readable("gzip", &came).unwrap() != told.as_bytes() {
            let Chunk::Data(bytes) = wire.chunk() else { panic!("it ended: {told}") };
            came.extend(bytes);
        }
        heard.send(()).unwrap();
    }
    while let Chunk::Data(bytes) = wire.chunk() {
        came.extend(bytes);
    }
    assert_eq!(decode_whole("gzip", &came).unwrap(), told.as_bytes());
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let answer = ask("GET", &session.url(), fields, "");
    let told = told.replace(&here, &session.url());
    assert_eq!(decode_whole("gzip", &answer.body).unwrap(), told.as_bytes());
    session.finish().await.unwrap();
    let sent: Vec<u8> = is_sent.try_iter().flatten().collect();
    sent.iter().zip(&came).take_while(|(sent, came)| sent == came).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_in_a_compressed_stream_lead_back_to_retape_while_it_flows() {
    compressed_stream(&["data: {here}/0\n\n", "data: {here}/1\n\n"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_stream_comes_as_it_was_sent_up_to_its_first_address() {
    const FIRST: &str = "data: \"nothing that leads anywhere\"\n\n";
    let alike = compressed_stream(&[FIRST, "data: {here}/1\n\n", "data: 2\n\n"]).await;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(FIRST.as_bytes()).unwrap();
    gzip.flush().unwrap();
    let first = gzip.get_ref().len();
    assert!(alike >= first, "{alike} of {first} bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_answer_without_addresses_stays_as_it_is() {
    let head = |coding: &str, body: &[u8]| {
        let length = body.len();
        let fields = format!("Content-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n");
        let line = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        [line.as_bytes(), fields.as_bytes(), body].concat()
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(br#"{"next": "http://127.0.0.1:1/x"}"#).unwrap();
    let gzip = gzip.finish().unwrap();

    let brotli = b"\x0b\x02\x80{}\n\x03";
    for (coding, body) in
        [("gzip", &gzip[..]), ("gzip", b"not gzip".as_slice()), ("br", brotli.as_slice())]
    {
        let (stage, upstream) = (Stage::new(), Upstream::saying(head(coding, body)));
        let session = stage.record(&upstream).await;
        let answer = get(&session.url());
        session.finish().await.unwrap();
        assert_eq!((answer.field("content-encoding"), &*answer.body), (Some(coding), body));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_in_any_spelling_lead_back_to_retape() {
    let encoded = |origin: &str| origin.replace(':', "%253A").replace('/', "%252F");
    let body = move |origin: &str| {
        let capital = origin.replacen("http", "HTTP", 1);
        format!(r#"{{"a":"{capital}/x","b":"/login?next=%252Fx%3Fy={}"}}"#, encoded(origin))
    };
    let upstream = Upstream::start(move |_, wire: &mut Wire| {
        wire.send(json(200, &body(&format!("http://{}", wire.address()))));
        Then::KeepAlive
    });
    let stage = Stage::new();
    let check = |session: &Session| {
        let here = session.url();
        let expected = body(&here).replacen("HTTP", "http", 1);
        assert_eq!(get(&here).text(), expected);
    };
    let session = stage.record(&upstream).await;
    check(&session);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    check(&session);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_in_events_lead_back_to_retape_though_they_are_cut() {
    let told = Told { field: None, body: "data: {\"url\":\"{here}/v1\"}\n\ndata: {here}" };
    let answer = |origin: &str| {
        let text = format!("data: {{\"url\":\"{origin}/v1\"}}\n\ndata: {origin}");
        let (one, rest) = text.split_at(20);
        let (two, three) = rest.split_at(3);
        let chunks = [one, two, three].map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()));
        format!("{EVENTS}{}0\r\n\r\n", chunks.concat())
    };

    check(answer, told).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_in_documents_lead_back_to_retape() {
    for media in ["text/html; charset=utf-8", "application/xml", "image/svg+XML"] {
        let answer = move |origin: &str| {
            let body = format!(r#"<form action="{origin}/login">"#);
            let length = body.len();
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\r\n{body}"
            )
        };

        check(answer, Told { field: None, body: r#"<form action="{here}/login">"# }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_is_no_document_is_left_alone() {
    check_left_alone("text/plain", |said| said.into_bytes()).await;
}

/// Connect and gRPC have messages behind their lengths.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_behind_their_lengths_are_left_alone() {
    for media in ["application/connect+json", "application/grpc-web+json; charset=utf-8"] {
        check_left_alone(media, |said| {
            let message = serde_json::json!({ "url": said }).to_string();
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            [&[0][..], &length, message.as_bytes()].concat()
        })
        .await;
    }
}

async fn check_left_alone(media: &'static str, body: fn(String) -> Vec<u8>) {
    let stage = Stage::new();
    let said = move |address: &str| body(format!("{address}/"));
    let upstream = Upstream::start(move |_, wire| {
        let body = said(&format!("http://{}", wire.address()));
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n");
        wire.send(format!("{head}Content-Length: {}\r\n\r\n", body.len()));
        wire.send(body);
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;
    let recorded = get(&session.url());
    session.finish().await.unwrap();
    let session = stage.replay().await;
    let replayed = get(&session.url());
    session.finish().await.unwrap();

    assert_eq!(recorded.body, said(&upstream.url()), "{media}");
    assert_eq!(replayed.body, recorded.body, "{media}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cassette_holds_what_the_server_said_and_was_asked() {
    let stage = Stage::new();
    let upstream = Upstream::start(|_, wire| {
        let origin = format!("http://{}", wire.address());
        let body = format!(r#"{{"url":"{origin}/v1"}}"#);
        let length = body.len();
        wire.send(format!(
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n\
            Location: {origin}/v1/1\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let here = session.url_of("tape~7");
    let fields =
        format!("Content-Type: application/json\r\nOrigin: {here}\r\nReferer: {here}/before\r\n");
    let target = format!("{here}/v1?next={}/after", here);
    ask("POST", &target, &fields, &format!(r#"{{"callback":"{here}/done"}}"#));
    session.finish().await.unwrap();

    let there = upstream.url();
    let cassette = stage.cassette();
    let Asked { head, body } = &upstream.asked()[0];
    assert_eq!(head.line, format!("POST /v1?next={there}/after HTTP/1.1"));
    assert_eq!(head.field("origin"), Some(there.as_str()));
    assert_eq!(head.field("referer"), Some(format!("{there}/before").as_str()));
    let callback = format!(r#"{{"callback":"{there}/done"}}"#);
    assert_eq!(String::from_utf8_lossy(body), callback);
    assert_eq!(only(&cassette).request.body, callback);
    assert_eq!(only(&cassette).request.path, format!("/v1?next={there}/after"));
    assert_eq!(answer(&cassette).headers.get("location"), Some(format!("{there}/v1/1").as_str()));
    assert_eq!(answer(&cassette).body.bytes(), format!(r#"{{"url":"{there}/v1"}}"#));
    let length = answer(&cassette).headers.get("content-length").map(str::to_owned);
    assert_eq!(length, Some(answer(&cassette).body.len().to_string()));
    assert!(!stage.file("tape.json").contains(&here), "our own address is in the cassette");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_only_its_own_pages_takes_ours_however_the_cassette_is_named() {
    for (session_name, path) in [("", ""), ("tape", ""), ("suite/one", ""), ("tape", "/base")] {
        let (stage, upstream) = (Stage::new(), Upstream::json(|_| "{}".to_owned()));
        let base = format!("{}{path}", upstream.url());
        let session = stage.recorder(&upstream).upstream(&base).start().await.unwrap();
        let (page, here) = (session.url(), session.url_of(session_name));

        for referer in [format!("{here}/form"), format!("{page}/")] {
            let fields = format!("Origin: {page}\r\nReferer: {referer}\r\n");
            ask("POST", &format!("{here}/save"), &fields, "");
        }
        session.finish().await.unwrap();

        let there = upstream.url();
        let asked = upstream.asked();
        assert!(asked.iter().all(|it| it.head.field("host") == there.strip_prefix("http://")));
        assert!(asked.iter().all(|it| it.head.field("origin") == Some(&*there)), "{asked:?}");
        let referer = |at: usize| asked[at].head.field("referer").map(str::to_owned);
        assert_eq!(referer(0), Some(format!("{base}/form")));
        // Without the session, it is that of the page alone.
        let bare = if session_name.is_empty() { &base } else { &there };
        assert_eq!(referer(1), Some(format!("{bare}/")));
    }
}

/// A request in which the client names our address is found again at another one.
async fn check_asked(fields: &str, body: impl Fn(&str) -> String) {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let session = stage.record(&upstream).await;
    let here = session.url();
    ask("POST", &format!("{here}/x"), fields, &body(&here));
    session.finish().await.unwrap();
    assert_eq!(upstream.asked()[0].text(), body(&upstream.url()));

    let session = stage.replay().await;
    let here = session.url();
    let reply = ask("POST", &format!("{here}/x"), fields, &body(&here));

    assert_eq!((reply.status, reply.text()), (200, body(&here)));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_names_our_address_is_found_again_at_another_one() {
    let json = "Content-Type: application/json\r\n";
    check_asked(json, |here| format!(r#"{{"callback":"{here}/done"}}"#)).await;
    for text in ["Content-Type: text/plain\r\n", "Content-Type: application/soap+xml\r\n", ""] {
        check_asked(text, |here| format!("<call to='{here}/done'/>")).await;
    }
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    check_asked(form, |here| format!("a=b&to={}", here.replace(':', "%3A").replace('/', "%2F")))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_in_pieces_that_names_our_address_is_found_again_at_another_one() {
    let stage = Stage::new();
    let upstream = Upstream::json(Asked::text);
    let upload = |session: &Session| {
        let here = session.url();
        let mut wire = Wire::connect(session.address());
        let fields = "Transfer-Encoding: chunked\r\nContent-Type: application/x-ndjson\r\n";
        wire.send(crate::support::client::request("POST", &here, fields, ""));
        let text = format!("{{\"callback\":\"{here}/done\"}}\n");
        wire.send_chunk(&text[..20]);
        wire.send_chunk(&text[20..]);
        wire.send_end();
        (crate::support::client::reply(&mut wire, "POST").text(), text)
    };
    let session = stage.record(&upstream).await;
    let (recorded, asked) = upload(&session);
    assert_eq!(recorded, asked);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let (replayed, asked) = upload(&session);

    assert_eq!(replayed, asked);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_moved_is_moved_to_the_server() {
    let upstream = Upstream::json(|_| "{}".to_owned());
    let moved = |url: &str, to: &str| {
        ask("MOVE", &format!("{url}/a"), &format!("Destination: {url}/{to}\r\n"), "").status
    };
    let copied = |url: &str, from: &str| {
        ask("PUT", &format!("{url}/a"), &format!("X-Ms-Copy-Source: {url}/{from}\r\n"), "").status
    };
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    assert_eq!([moved(&session.url(), "b"), copied(&session.url(), "d")], [200, 200]);
    session.finish().await.unwrap();
    let sent =
        |number: usize, name: &str| upstream.asked()[number].head.field(name).map(str::to_owned);
    assert_eq!(sent(0, "destination"), Some(format!("{}/b", upstream.url())));
    assert_eq!(sent(1, "x-ms-copy-source"), Some(format!("{}/d", upstream.url())));

    let session = stage.replay().await;
    assert_eq!([moved(&session.url(), "b"), moved(&session.url(), "c")], [200, 470]);
    assert_eq!([copied(&session.url(), "d"), copied(&session.url(), "e")], [200, 470]);
    drop(session.stop().await);
}
