//! Servers behind TLS, and servers that speak HTTP/2: recorded by the binary, and replayed by it with
//! neither the server nor a certificate.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use h2::Reason;
use http::Version;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Barrier;
use tokio::task::block_in_place;

use crate::retape::{Running, Stage};
use crate::secure::{Authority, Heard, Reply, Secure, Then, fields, head, json};
use crate::support::client::{ask, get, post, request, split};
use crate::support::gate::Gate;
use crate::support::wire::{Chunk, Wire};

/// A folder, somebody who is trusted there, and what a client sees.
struct Scene {
    stage: Stage,
    authority: Authority,
}

impl Scene {
    fn new() -> Self {
        let (stage, authority) = (Stage::new(), Authority::new("friend"));
        authority.write(&stage.folder().join("trust/ca.pem"));
        Self { stage, authority }
    }

    fn trusted(&self) -> PathBuf {
        self.stage.folder().join("trust/ca.pem")
    }

    fn h2<F>(&self, script: impl Fn(Heard, Reply) -> F + Send + Sync + 'static) -> Secure
    where
        F: Future<Output = Then> + Send + 'static,
    {
        Secure::start(self.authority.acceptor(&["localhost"], &["h2", "http/1.1"]), script)
    }

    /// What a client sees while it is recorded. It must see the same when it is replayed.
    #[track_caller]
    fn check<T: PartialEq + Debug>(&self, upstream: &str, client: impl Fn(&str) -> T) -> T {
        let recorded = self.run(&["record", "--upstream", upstream, "tape"], &client);
        let replayed = self.run(&["replay", "--strict", "tape"], &client);
        assert_eq!(replayed, recorded);
        recorded
    }

    #[track_caller]
    fn run<T>(&self, arguments: &[&str], client: impl Fn(&str) -> T) -> T {
        let mut command = self.stage.retape(arguments);
        if arguments[0] == "record" {
            command.env("SSL_CERT_FILE", self.trusted());
        }
        let mut running = Running::start(command);
        let seen = client(&running.line());
        let (code, said) = running.stop();
        assert_eq!(code, Some(0), "{said}");
        seen
    }

    fn cassette(&self) -> String {
        self.stage.read("cassettes/tape.json")
    }
}

#[test]
fn http_2_is_spoken_with_a_server_that_offers_it() {
    let scene = Scene::new();
    let server = scene.h2(|_, reply| async {
        json(reply, 201, "{\"id\":7}");
        Then::KeepAlive
    });
    let upstream = format!("https://user:pass-0123456789@{}/base/", server.authority());

    let hops = "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n\
        Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\nTE: deflate, trailers\r\n";
    let lines =
        format!("Content-Type: application/json\r\nX-Sdk-Name: a\r\nx-sdk-name: b\r\n{hops}");
    let seen = scene
        .check(&upstream, |url| ask("POST", &format!("{url}/v1?q=a%20b"), &lines, "{\"a\":1}"));

    assert_eq!((seen.status, seen.reason.as_str(), &*seen.text()), (201, "Created", "{\"id\":7}"));
    assert_eq!(seen.field("content-length"), Some("8"));
    let [heard] = &server.heard()[..] else { panic!("{:?}", server.heard()) };
    assert_eq!(heard.head.version(), Version::HTTP_2);
    assert_eq!(heard.head.method(), "POST");
    assert_eq!(*heard.head.uri(), *format!("https://{}/base/v1?q=a%20b", server.authority()));
    assert_eq!(heard.body, "{\"a\":1}");
    let mut fields: Vec<String> =
        heard.head.headers().iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
    fields.sort();
    insta::assert_snapshot!(fields.join("\n"), @r#"
    authorization: "Basic dXNlcjpwYXNzLTAxMjM0NTY3ODk="
    content-length: "7"
    content-type: "application/json"
    te: "trailers"
    x-sdk-name: "a"
    x-sdk-name: "b"
    "#);
}

#[test]
fn an_event_reaches_the_client_before_the_next_is_sent() {
    let scene = Scene::new();
    let gate = Gate::new();
    let passed = gate.clone();
    let server = scene.h2(move |_, mut reply| {
        let gate = passed.clone();
        async move {
            let stream = [("content-type", "text/event-stream"), ("trailer", "x-sum")];
            let mut stream = reply.send_response(head(200, &stream), false).unwrap();
            stream.send_data(Bytes::from_static(b"data: 1\n\n"), false).unwrap();
            block_in_place(|| gate.pass());
            stream.send_data(Bytes::from_static(b"data: 2\n\n"), false).unwrap();
            block_in_place(|| gate.pass());
            stream.send_trailers(fields(&[("x-sum", "2")])).unwrap();
            Then::KeepAlive
        }
    });

    let upstream = format!("https://{}", server.authority());
    let seen = scene.check(&upstream, |url| {
        let mut wire = Wire::connect(split(url).0);
        wire.send(request("POST", &format!("{url}/stream"), "TE: trailers\r\n", ""));
        let head = wire.head().unwrap();
        let mut events = Vec::new();
        for _ in 0..2 {
            events.push(wire.data());
            gate.open();
        }
        (head.line, events, wire.chunk())
    });

    let sum = Chunk::End(vec![("x-sum".to_owned(), "2".to_owned())]);
    let events = ["data: 1\n\n", "data: 2\n\n"].map(str::to_owned).to_vec();
    assert_eq!(seen, ("HTTP/1.1 200 OK".to_owned(), events, sum));
}

#[test]
fn requests_share_a_connection_where_they_may_be_repeated() {
    let scene = Scene::new();
    let both = Arc::new(Barrier::new(2));
    let server = scene.h2(move |heard, reply| {
        let both = Arc::clone(&both);
        async move {
            if heard.head.uri().path().starts_with("/both") {
                both.wait().await;
            }
            json(reply, 200, "[]");
            Then::KeepAlive
        }
    });

    let upstream = format!("https://{}", server.authority());
    let parallel = |url: &str, method: &str, path: &str| {
        let ask = || ask(method, &format!("{url}{path}"), "", "").status;
        std::thread::scope(|scope| {
            let one = scope.spawn(ask);
            assert_eq!((ask(), one.join().unwrap()), (200, 200));
        });
    };
    scene.run(&["record", "--upstream", &upstream, "tape"], |url| {
        // An idle connection is not kept for long: a slow machine may need another try.
        for attempt in 0..10 {
            let path = format!("/both/{attempt}");
            get(url);
            parallel(url, "GET", &path);
            if let [one, other] = server.connections_of(&path)[..]
                && one == other
            {
                break;
            }
            assert!(attempt < 9, "{:?}", server.connections_of(&path));
        }
        parallel(url, "POST", "/both/posted");
    });

    let [one, other] = server.connections_of("/both/posted")[..] else { panic!() };
    assert_ne!(one, other);
}

#[test]
fn a_stream_that_is_reset_was_cut_by_the_server() {
    for reason in [Reason::NO_ERROR, Reason::CANCEL, Reason::INTERNAL_ERROR] {
        let scene = Scene::new();
        let gate = Gate::new();
        let passed = gate.clone();
        let server = scene.h2(move |_, mut reply| {
            let gate = passed.clone();
            async move {
                let stream = [("content-type", "text/event-stream")];
                let mut stream = reply.send_response(head(200, &stream), false).unwrap();
                stream.send_data(Bytes::from_static(b"data: 1\n\ndata"), false).unwrap();
                block_in_place(|| gate.pass());
                stream.send_reset(reason);
                Then::KeepAlive
            }
        });

        let upstream = format!("https://{}", server.authority());
        let seen = scene.check(&upstream, |url| {
            let mut wire = Wire::connect(split(url).0);
            wire.send(request("POST", url, "", ""));
            wire.head().unwrap();
            let data = wire.data();
            gate.open();
            (data, wire.chunk())
        });

        assert_eq!(seen, ("data: 1\n\ndata".to_owned(), Chunk::Cut), "{reason:?}");
        assert!(scene.cassette().contains("\"end\": \"server_closed\""), "{reason:?}");
    }
}

#[test]
fn no_request_is_lost_when_a_connection_is_given_up() {
    for then in [Then::GoAway, Then::Close] {
        let scene = Scene::new();
        let server = scene.h2(move |heard, reply| async move {
            let is_second = heard.head.headers().contains_key("x-second");
            if then == Then::Close && is_second && heard.connection == 0 {
                return Then::Close;
            }
            json(reply, 200, "[]");
            if then == Then::GoAway { Then::GoAway } else { Then::KeepAlive }
        });

        let upstream = format!("https://{}", server.authority());
        let seen = scene.check(&upstream, |url| {
            let first = ask("GET", &format!("{url}/0"), "", "").status;
            let rest = ["GET", "POST", "DELETE", "POST", "GET"].into_iter().zip(1..);
            let rest = rest.map(|(method, n)| {
                ask(method, &format!("{url}/{n}"), "X-Second: 1\r\n", "").status
            });
            [vec![first], rest.collect()].concat()
        });

        assert_eq!(seen, [200; 6], "{then:?}");
        let posted = server.heard().iter().filter(|heard| heard.head.method() == "POST").count();
        assert_eq!(posted, 2, "{then:?}");
    }
}

#[test]
fn http_1_is_spoken_in_tls_where_the_server_wants_it() {
    for protocols in [&["http/1.1"][..], &[]] {
        let scene = Scene::new();
        let heard = Gate::new();
        let tell = heard.clone();
        let tls = scene.authority.acceptor(&["localhost"], protocols);
        let server = Secure::raw(tls, move |mut stream| {
            let tell = tell.clone();
            async move {
                let mut asked = [0; 4096];
                let count = stream.read(&mut asked).await.unwrap();
                let asked = String::from_utf8_lossy(&asked[..count]);
                if asked.contains("\r\nHost: localhost:") && asked.contains("\r\nX-Sdk-Name: a\r\n")
                {
                    tell.open();
                }
                let answer = "HTTP/1.1 200 Fine\r\nx-own: b\r\ncontent-length: 2\r\n\r\n[]";
                stream.write_all(answer.as_bytes()).await.unwrap();
                let _ = stream.shutdown().await;
            }
        });

        let upstream = format!("https://{}", server.authority());
        let seen = scene.check(&upstream, |url| ask("GET", url, "X-Sdk-Name: a\r\n", ""));

        heard.pass();
        assert_eq!((seen.status, seen.reason.as_str(), &*seen.text()), (200, "Fine", "[]"));
    }
}

#[test]
fn http_2_is_spoken_without_tls_where_the_address_says_so() {
    let scene = Scene::new();
    let server = Secure::plain(|_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });

    let upstream = format!("h2c://{}/v1", server.authority());
    let seen = scene.check(&upstream, |url| {
        (get(&format!("{url}/a")).text(), post(&format!("{url}/b"), "{}").text())
    });

    assert_eq!(seen, ("[]".to_owned(), "[]".to_owned()));
    let uris: Vec<String> =
        server.heard().iter().map(|heard| heard.head.uri().to_string()).collect();
    let at = format!("http://{}/v1", server.authority());
    assert_eq!(uris, [format!("{at}/a"), format!("{at}/b")]);
    let told = format!("\"upstream\": \"{upstream}\"");
    assert!(scene.cassette().contains(&told), "{}", scene.cassette());
    // A miss names the server as it was given.
    let mut running = Running::start(scene.stage.retape(&["replay", "tape"]));
    let missed = get(&format!("{}/c", running.line())).text();
    assert!(missed.contains(&format!("--upstream {upstream} ")), "{missed}");
}

#[test]
fn certificates_to_trust_may_stand_in_a_folder() {
    let scene = Scene::new();
    let server = scene.h2(|_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let upstream = format!("https://{}", server.authority());
    let mut command = scene.stage.retape(&["record", "--upstream", &upstream, "tape"]);
    command.env("SSL_CERT_DIR", scene.trusted().parent().unwrap());

    let mut running = Running::start(command);
    let status = get(&running.line()).status;
    let (code, said) = running.stop();

    assert_eq!((status, code), (200, Some(0)), "{said}");
}

#[test]
fn certificates_are_trusted_that_variables_of_clients_name() {
    let scene = Scene::new();
    let server = scene.h2(|_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let upstream = format!("https://{}", server.authority());
    for variable in ["REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"] {
        let mut command = scene.stage.retape(&["record", "--upstream", &upstream, "tape"]);
        command.env(variable, scene.trusted());

        let mut running = Running::start(command);
        let status = get(&running.line()).status;
        let (code, said) = running.stop();

        assert_eq!((status, code), (200, Some(0)), "{variable}: {said}");
    }
}

#[test]
fn a_server_may_show_the_very_certificate_that_is_trusted() {
    let scene = Scene::new();
    let (itself, tls) = Authority::itself("localhost");
    itself.write(&scene.trusted());
    let server = Secure::start(tls, |_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let port = server.authority().replace("localhost", "");
    let ask = |host: &str| {
        let upstream = format!("https://{host}{port}");
        let mut command = scene.stage.retape(&["record", "--upstream", &upstream, "tape"]);
        command.env("SSL_CERT_FILE", scene.trusted());
        let mut running = Running::start(command);
        let status = get(&running.line()).status;
        running.stop();
        status
    };

    assert_eq!(ask("localhost"), 200);
    assert_eq!(ask("127.0.0.1"), 502);
}

#[test]
fn each_client_trusts_whom_its_transport_says() {
    let scene = Scene::new();
    let server = scene.h2(|_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let (itself, tls) = Authority::itself("localhost");
    let other = Secure::start(tls, |_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let origin = |server: &Secure| format!("https://{}", server.authority());
    let (friend, stranger) = (scene.authority.told(), Authority::new("stranger").told());
    let (first, second) = (origin(&server), origin(&other));
    let mut running = Running::start(scene.stage.retape(&["run", "--allow-unused"]));
    let url = running.line();
    let settings = "{\"cassette\": \"tape\", \"mode\": \"record\"}";
    let opened = ask("POST", &format!("{url}/-/retape/open"), "x-retape: 1\r\n", settings);
    assert_eq!(opened.status, 200, "{}", opened.text());
    let status = |origin: &str, trust: &str| {
        let fields = format!("retape-for: ~opened-1 {origin}\r\nretape-trust: {trust}\r\n");
        ask("GET", &format!("{url}/1"), &fields, "").status
    };

    assert_eq!(status(&first, &format!("{stranger},{friend}")), 200);
    // It does not go on the connection of a client that trusts the server.
    assert_eq!(status(&first, &stranger), 502);
    assert_eq!(status(&first, ",no Base64,AAAA"), 502);
    assert_eq!(status(&first, "anyone"), 200);
    assert_eq!(status(&second, &itself.told()), 200);
    assert_eq!(status(&second, &friend), 502);
    ask("POST", &format!("{url}/-/retape/finish?session=~opened-1"), "x-retape: 1\r\n", "");
    running.stop();
    assert_eq!(server.heard().len() + other.heard().len(), 3);
    assert!(!server.heard()[0].head.headers().contains_key("retape-trust"));
    assert_eq!(scene.stage.cassettes(), ["tape.json"]);
    assert!(!scene.cassette().contains("retape-trust"), "{}", scene.cassette());
}
