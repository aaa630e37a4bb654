//! What is said of a server that does not answer: to the client, and to the person who records.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use insta::assert_snapshot;

use crate::retape::{Running, Stage, said, told};
use crate::secure::{Authority, Secure, Then, json};
use crate::support::client::{Reply, get, request, split};
use crate::support::upstream::{self, Upstream, nobody};
use crate::support::wire::Wire;

/// What the client and the person who records are told of a server at that address, of which the
/// cassette says that it ended so.
#[track_caller]
fn check(stage: &Stage, upstream: &str, end: &str) -> String {
    let mut command = stage.retape(&["record", "--upstream", upstream, "tape"]);
    command.env("SSL_CERT_FILE", stage.folder().join("ca.pem"));
    let mut running = Running::start(command);
    let answer = get(&running.line());
    let (code, said) = running.stop();

    assert_eq!(code, Some(1), "{said}");
    assert_eq!(stage.cassettes(), ["tape.unanswered.json"]);
    let cassette = stage.read("cassettes/tape.unanswered.json");
    assert!(cassette.contains(&format!("\"end\": \"{end}\"")), "{cassette}");
    let told = message(&answer);
    assert!(said.contains(&told), "{said}");
    assert!(!cassette.contains(&told), "{cassette}");
    let kind = answer.field("retape-error").unwrap();
    let (_, host) = upstream.split_once("://").unwrap();
    format!("{} {kind}: {told}", answer.status).replace(host, "HOST")
}

/// What the person who records is told of a server that closes the connection. The client is told nothing.
#[track_caller]
fn check_closed(upstream: &Upstream) -> String {
    let stage = Stage::new();
    let mut running =
        Running::start(stage.retape(&["record", "--upstream", &upstream.url(), "tape"]));
    let url = running.line();
    let mut wire = Wire::connect(split(&url).0);
    wire.send(request("GET", &url, "", ""));
    let heard = wire.rest();
    let (code, said) = running.stop();

    assert_eq!((code, heard), (Some(1), Vec::new()), "{said}");
    assert!(stage.read("cassettes/tape.unanswered.json").contains("\"end\": \"server_closed\""));
    let told = said.lines().find(|line| line.contains("did not answer:")).unwrap();
    let told = told.trim_start_matches("retape: ");
    told.replace(&upstream.address().to_string(), "HOST")
}

fn message(answer: &Reply) -> String {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    body["error"]["message"].as_str().unwrap().to_owned()
}

/// A server with a certificate of this authority for these names.
fn server(authority: &Authority, names: &[&str]) -> Secure {
    Secure::start(authority.acceptor(names, &["h2"]), |_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    })
}

fn trusting(authority: &Authority) -> Stage {
    let stage = Stage::new();
    authority.write(&stage.folder().join("ca.pem"));
    stage
}

#[test]
fn a_certificate_that_is_not_trusted() {
    let server = server(&Authority::new("stranger"), &["localhost"]);
    let url = format!("https://{}", server.authority());

    let stranger = check(&trusting(&Authority::new("friend")), &url, "unreachable");
    let namesake = check(&trusting(&Authority::new("stranger")), &url, "unreachable");
    let nobody = check(&Stage::new(), &url, "unreachable");

    assert_snapshot!(stranger, @"502 unreachable: `https://HOST` cannot be reached: its TLS certificate is not trusted, as no known authority signed it; `SSL_CERT_FILE=FILE.pem` names certificates to trust");
    assert_eq!(namesake, stranger);
    assert_snapshot!(nobody, @"502 unreachable: `https://HOST` cannot be reached: no TLS certificates to trust can be read on this machine; `SSL_CERT_FILE=FILE.pem` names certificates to trust");
}

#[test]
fn a_certificate_that_is_not_trusted_is_no_outage_for_a_client_of_the_proxy_either() {
    let server = server(&Authority::new("stranger"), &["localhost"]);
    let stage = trusting(&Authority::new("friend"));
    let mut command = stage.retape(&["record", "--proxy", "tape"]);
    command.env("SSL_CERT_FILE", stage.folder().join("ca.pem"));
    let mut running = Running::start(command);
    let mut wire = Wire::connect(split(&running.line()).0);
    let authority = server.authority();
    wire.send(format!("GET https://{authority}/ HTTP/1.1\r\nHost: {authority}\r\n\r\n"));
    wire.wait_for_end();
    let (code, said) = running.stop();

    assert_eq!(code, Some(1), "{said}");
    assert_eq!(stage.cassettes(), ["tape.unanswered.json"]);
    let why =
        format!("`https://{authority}` cannot be reached: its TLS certificate is not trusted");
    assert!(said.contains(&why) && said.contains("SSL_CERT_FILE"), "{said}");
}

#[test]
fn a_certificate_for_another_name() {
    let authority = Authority::new("friend");
    let server = server(&authority, &["api.example"]);
    let url = format!("https://{}", server.authority());

    let told = check(&trusting(&authority), &url, "unreachable");

    assert_snapshot!(told, @r#"502 unreachable: `https://HOST` cannot be reached: its TLS certificate was refused: certificate not valid for name "localhost"; certificate is only valid for DnsName("api.example")"#);
}

#[test]
fn a_certificate_of_an_authority_that_nobody_named() {
    let (_, tls) = Authority::itself("localhost");
    let server = Secure::start(tls, |_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let url = format!("https://{}", server.authority());

    let told = check(&trusting(&Authority::new("friend")), &url, "unreachable");

    assert_snapshot!(told, @"502 unreachable: `https://HOST` cannot be reached: its TLS certificate is not trusted, as no known authority signed it; `SSL_CERT_FILE=FILE.pem` names certificates to trust");
}

#[test]
fn plain_http_where_tls_is_asked_for() {
    let server = Upstream::raw(|mut wire| {
        wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        wire.wait_for_end();
    });
    let silent = Upstream::raw(drop);
    let url = |server: &Upstream| server.url().replace("http", "https");

    let answers = check(&trusting(&Authority::new("friend")), &url(&server), "unreachable");
    let closes = check(&trusting(&Authority::new("friend")), &url(&silent), "unreachable");

    assert_snapshot!(answers, @"502 unreachable: `https://HOST` cannot be reached: it does not speak TLS there; is it `http://`?");
    assert_snapshot!(closes, @"502 unreachable: `https://HOST` cannot be reached: it closed the connection at once; does it speak TLS there?");
}

#[test]
fn tls_where_plain_http_is_asked_for() {
    let server = server(&Authority::new("stranger"), &["localhost"]);

    let told = check(&Stage::new(), &format!("http://{}", server.authority()), "unreachable");

    assert_snapshot!(told, @"502 unreachable: `http://HOST` cannot be reached: what it says is not HTTP/1.1; is it `https://` or `h2c://`?");
}

#[test]
fn http_2_where_http_1_is_asked_for_and_the_other_way_round() {
    let new = Secure::plain(|_, reply| async {
        json(reply, 200, "[]");
        Then::KeepAlive
    });
    let old = Upstream::raw(|mut wire| {
        wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        wire.wait_for_end();
    });

    let asked_1 = check(&Stage::new(), &format!("http://{}", new.authority()), "unreachable");
    let asked_2 = check(&Stage::new(), &old.url().replace("http", "h2c"), "unreachable");

    assert_snapshot!(asked_1, @"502 unreachable: `http://HOST` cannot be reached: what it says is not HTTP/1.1; is it `https://` or `h2c://`?");
    assert_snapshot!(asked_2, @"502 unreachable: `http://HOST` cannot be reached: it does not speak HTTP/2 without TLS there; is it `http://`?");
}

#[test]
fn nobody_there() {
    // No name server is asked for a name that is longer than a name can be.
    let name = "a".repeat(64);

    let refused = check(&Stage::new(), &nobody(), "unreachable");
    let unknown = check(&Stage::new(), &format!("http://{name}"), "unreachable");

    assert_snapshot!(refused, @"502 unreachable: `http://HOST` cannot be reached: the connection was refused; is the server running there?");
    assert_snapshot!(unknown, @"502 unreachable: `http://HOST` cannot be reached: the name of its host cannot be resolved; is it spelled right?");
}

#[test]
fn somebody_else_there() {
    let server = Upstream::start(|_, wire| {
        wire.send("SSH-2.0-OpenSSH_9.6\r\n\r\n");
        wire.wait_for_delivery();
        upstream::Then::Close
    });
    let closes = Upstream::start(|_, _| upstream::Then::Close);
    let resets = Upstream::start(|_, _| upstream::Then::Reset);

    let garbage = check(&Stage::new(), &server.url(), "unreachable");
    let closed = check_closed(&closes);
    let reset = check_closed(&resets);

    assert_snapshot!(garbage, @"502 unreachable: `http://HOST` cannot be reached: what it says is not HTTP/1.1; is it `https://` or `h2c://`?");
    assert_snapshot!(closed, @"`http://HOST` did not answer: it closed the connection");
    assert_snapshot!(reset, @"`http://HOST` did not answer: it closed the connection");
}

#[test]
fn two_lengths_of_one_answer() {
    let fields = "Content-Length: 2\r\nContent-Length: 3\r\n";
    let server = Upstream::saying(format!("HTTP/1.1 200 OK\r\n{fields}\r\n{{}}"));

    let told = check(&Stage::new(), &server.url(), "unreachable");

    assert_snapshot!(told, @"502 unreachable: what `http://HOST` says cannot be read: invalid content-length parsed");
}

#[test]
fn more_header_fields_than_retape_reads() {
    let many = |fields: usize| {
        let fields: String = (0..fields).map(|it| format!("x-{it}: v\r\n")).collect();
        Upstream::saying(format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n"))
    };

    let told = check(&Stage::new(), &many(256).url(), "unreachable");

    assert_snapshot!(told, @"502 unreachable: what `http://HOST` says cannot be read: the head of its answer is larger than 256 fields or 408 KiB; no setting allows more");
}

#[test]
fn an_outage_of_many_cassettes_is_told_once() {
    let stage = Stage::new();
    let script = "GET /a/-/1\nGET /b/-/1\nGET /c/-/1";

    let outcome = stage.around(&["record", "--upstream", &nobody()], script).output().unwrap();

    assert_eq!(outcome.status.code(), Some(1));
    assert_snapshot!(stage.harmless(&said(&outcome)), @"
    retape: the server did not answer a single request
    retape: `http://HOST` cannot be reached: the connection was refused; is the server running there?
    retape: no cassette `a` was made; what was asked is in cassettes/a.unanswered.json
    retape: no cassette `b` was made; what was asked is in cassettes/b.unanswered.json
    retape: no cassette `c` was made; what was asked is in cassettes/c.unanswered.json
    hint: to test an outage with it: `retape replay a.unanswered -- COMMAND`
    retape: recorded 0 interactions in 0 cassettes
    ");
}

#[test]
fn a_recording_without_a_single_answer_is_kept_beside_and_told() {
    let stage = Stage::new();
    let nobody = nobody();
    let there = Upstream::json(|_| "[]".to_owned());
    let record = |upstream: &str| {
        stage.around(&["record", "--upstream", upstream, "tape"], "GET /1").output().unwrap()
    };

    let first = record(&nobody);
    stage.record(&there.url(), "tape", "GET /1");
    let later = record(&nobody);
    let tested = stage.around(&["replay", "tape.unanswered"], "GET /1").output().unwrap();

    assert_eq!((first.status.code(), later.status.code()), (Some(1), Some(1)));
    assert_eq!(stage.cassettes(), ["tape.json", "tape.unanswered.json"]);
    assert_eq!(tested.status.code(), Some(0), "{}", said(&tested));
    assert!(told(&tested).contains("502 "), "{}", told(&tested));
    assert_snapshot!(stage.harmless(&said(&first)), @"
    retape: the server did not answer a single request
    retape: `http://HOST` cannot be reached: the connection was refused; is the server running there?
    retape: no cassette `tape` was made; what was asked is in cassettes/tape.unanswered.json
    hint: to test an outage with it: `retape replay tape.unanswered -- COMMAND`
    ");
    assert_snapshot!(stage.harmless(&said(&later)), @"
    retape: the server did not answer a single request
    retape: `http://HOST` cannot be reached: the connection was refused; is the server running there?
    retape: the cassette `tape` stays as it was; what was asked is in cassettes/tape.unanswered.json
    hint: to test an outage with it: `retape replay tape.unanswered -- COMMAND`
    ");
}

/// What a client hears that asks so while somebody records, and what that person is told.
#[track_caller]
fn check_unserved(target: &str, fields: &str) -> (String, String) {
    let (stage, server) = (Stage::new(), Upstream::json(|_| "[]".to_owned()));
    let mut running =
        Running::start(stage.retape(&["record", "--upstream", &server.url(), "tape"]));
    let url = running.line();
    assert_eq!(get(&url).status, 200);
    let mut wire = Wire::connect(split(&url).0);
    wire.send(request("GET", &format!("{url}{target}"), fields, ""));
    let heard = wire.head().unwrap().line;
    wire.close();
    let (code, said) = running.stop();

    assert_eq!(code, Some(2), "{target} {fields}: {heard}: {said}");
    assert_eq!(server.asked().len(), 1);
    assert_eq!(stage.cassettes(), ["tape.json"]);
    let told = said.find("not recorded:").unwrap_or_else(|| panic!("{said}"));
    (heard, said[told..].replace(&stage.folder().display().to_string(), "FOLDER"))
}

#[test]
fn a_target_that_cannot_be_read() {
    let (heard, told) = check_unserved("/q?f=\"x\"", "");

    assert_eq!(heard, "HTTP/1.1 400 Bad Request");
    assert_snapshot!(told, @r#"
    not recorded: GET /q?f="x"
      a target has a `"` that is not encoded
      hint: let your client encode it, as `%22`: what builds a URL from parts does (`params=` in Python, `URLSearchParams`, `curl --data-urlencode`)
    error: a target has a `"` that is not encoded
    hint: let your client encode it, as `%22`: what builds a URL from parts does (`params=` in Python, `URLSearchParams`, `curl --data-urlencode`)
    "#);
}

#[test]
fn an_answer_that_leads_to_a_server_that_is_not_recorded() {
    let server = Upstream::json(|asked| match asked.path() {
        "/.well-known/resource" => r#"{"servers": ["http://localhost:1/x"]}"#.to_owned(),
        _ => format!(r#"{{"at": "http://{}"}}"#, asked.head.field("host").unwrap()),
    });
    let record = |path: &str, named: &[&str]| {
        let stage = Stage::new();
        let mut running = Running::start(
            stage.retape(&[&["record", "--upstream", &server.url(), "tape"], named].concat()),
        );
        let url = running.line();
        assert_eq!(get(&format!("{url}{path}")).status, 200);
        running.stop().1
    };
    let told = record("/.well-known/resource", &[]);

    let hint = "hint: the answer to `GET /.well-known/resource` leads to http://localhost:1, which goes past retape";
    assert!(told.contains(hint) && told.contains("--upstream NAME=http://localhost:1"), "{told}");
    let named = ["--upstream", "other=http://localhost:1"];
    assert!(!record("/.well-known/resource", &named).contains("past retape"));
    assert!(!record("/.well-known/own", &[]).contains("past retape"));
    assert!(!record("/plain", &[]).contains("past retape"));
}

#[test]
fn a_head_that_cannot_be_read() {
    for (target, fields) in [
        ("/", "baz[]: 1\r\n"),
        ("/", "X-A : 1\r\n"),
        ("/", "X-A: 1\x01\r\n"),
        ("/", "X-A: 1\r\n  2\r\n"),
        ("/q?f={\"a\":1}", ""),
        ("/q?f=\"a long one that comes in several pieces\"", ""),
    ] {
        let (heard, told) = check_unserved(target, fields);

        assert_eq!(heard, "HTTP/1.1 400 Bad Request", "{target} {fields}");
        let is_told = told.contains("cannot be read") || told.contains("not encoded");
        assert!(is_told && told.contains("hint:"), "{target} {fields}: {told}");
    }
}

/// What is said of a client that speaks TLS to retape.
fn check_tls(options: &[&str]) -> String {
    let (stage, server) = (Stage::new(), Upstream::json(|_| "[]".to_owned()));
    let upstream = server.url();
    let arguments = [&["record", "--upstream", &upstream, "tape"], options].concat();
    let mut running = Running::start(stage.retape(&arguments));
    let url = running.line();
    let mut wire = Wire::connect(split(&url).0);
    wire.send(b"\x16\x03\x01\x00\x05hello\r\n\r\n");
    let _ = wire.head();
    wire.close();
    let (code, said) = running.stop();

    assert_eq!((code, server.asked().len()), (Some(2), 0), "{said}");
    stage.harmless(&said[said.find("not recorded:").unwrap_or_else(|| panic!("{said}"))..])
}

#[test]
fn a_client_that_speaks_tls_to_the_proxy() {
    assert_snapshot!(check_tls(&["--proxy"]), @"
    not recorded: TLS /
      a client speaks TLS to retape, which listens without
      hint: give the client the proxy as HTTPS_PROXY says it, with `http://`: it asks there for `CONNECT HOST:PORT`, and speaks TLS behind that; one that cannot needs retape's address as its base address, with `http://`
    error: a client speaks TLS to retape, which listens without
    hint: give the client the proxy as HTTPS_PROXY says it, with `http://`: it asks there for `CONNECT HOST:PORT`, and speaks TLS behind that; one that cannot needs retape's address as its base address, with `http://`
    ");
}

#[test]
fn a_client_that_speaks_tls() {
    assert_snapshot!(check_tls(&[]), @"
    not recorded: TLS /
      a client speaks TLS to retape, which listens without
      hint: give the client the address as RETAPE_URL says it, with `http://` or `ws://`; one that makes `https://` or `wss://` of any address needs `--proxy`, and a server that speaks TLS
    error: a client speaks TLS to retape, which listens without
    hint: give the client the address as RETAPE_URL says it, with `http://` or `ws://`; one that makes `https://` or `wss://` of any address needs `--proxy`, and a server that speaks TLS
    ");
}

#[test]
fn a_connection_that_becomes_something_else() {
    let (heard, told) = check_unserved("/exec/1/start", "Connection: Upgrade\r\nUpgrade: tcp\r\n");

    assert_eq!(heard, "HTTP/1.1 470 Not Recorded");
    assert_snapshot!(told, @"
    not recorded: GET /exec/1/start
      an upgrade to `tcp` is not supported
      hint: let your client ask the server itself for that, past retape, or without `Upgrade`
    error: an upgrade to `tcp` is not supported
    hint: let your client ask the server itself for that, past retape, or without `Upgrade`
    ");
}

#[test]
fn a_server_that_fails_now_does_not_replace_what_it_had_answered() {
    let stage = Stage::new();
    let there = || Upstream::json(|_| "[]".to_owned());
    let failing = Upstream::saying(upstream::json(503, "[]"));
    let (first, second) = (there(), there());
    let record = |first: &str, second: &str| {
        let (first, second) = (first.to_owned(), format!("two={second}"));
        let arguments = ["record", "--upstream", &first, "--upstream", &second, "tape"];
        stage.around(&arguments, "GET /1\nGET /-two/2").output().unwrap()
    };
    assert!(record(&first.url(), &second.url()).status.success());
    let before = stage.read("cassettes/tape.json");

    let expired = Upstream::saying(upstream::json(401, "[]"));
    let refused = record(&expired.url(), &second.url());
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("answers nothing but errors (401), and had answered before"));
    let errors = record(&failing.url(), &second.url());
    let gone = record(&first.url(), &nobody());

    assert_eq!((errors.status.code(), gone.status.code()), (Some(1), Some(1)));
    assert_eq!(stage.read("cassettes/tape.json"), before);
    assert_eq!(stage.cassettes(), ["tape.json", "tape.unanswered.json"]);
    assert_snapshot!(stage.harmless(&said(&errors)), @"
    retape: a server failed that had answered before
    retape: `http://HOST` answers nothing but errors (503), and had answered before
    retape: the cassette `tape` stays as it was; what was asked is in cassettes/tape.unanswered.json
    hint: to test an outage with it: `retape replay tape.unanswered -- COMMAND`
    hint: to take what was recorded: `mv cassettes/tape.unanswered.json cassettes/tape.json`
    ");
    assert_snapshot!(stage.harmless(&said(&gone)), @"
    retape: a server failed that had answered before
    retape: `http://HOST` cannot be reached: the connection was refused; is the server running there?
    retape: the cassette `tape` stays as it was; what was asked is in cassettes/tape.unanswered.json
    hint: to test an outage with it: `retape replay tape.unanswered -- COMMAND`
    hint: to take what was recorded: `mv cassettes/tape.unanswered.json cassettes/tape.json`
    ");
}

#[test]
fn a_server_that_goes_down_on_the_way_does_not_replace_what_it_had_answered() {
    let stage = Stage::new();
    let [first, second] = [(); 2].map(|()| Upstream::json(|_| "[]".to_owned()));
    let record = |second: &str| {
        let (first, second) = (first.url(), format!("two={second}"));
        let arguments = ["record", "--upstream", &first, "--upstream", &second, "tape"];
        stage.around(&arguments, "GET /-two/1\nGET /1\nGET /-two/2").output().unwrap()
    };
    assert!(record(&second.url()).status.success());
    let before = stage.read("cassettes/tape.json");
    let leaving = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", leaving.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut wire, _) = leaving.accept().unwrap();
        drop(leaving);
        let mut head = [0; 4096];
        assert!(wire.read(&mut head).unwrap() > 0);
        wire.write_all(upstream::json(200, "[]").as_bytes()).unwrap();
    });

    let gone = record(&url);
    answering.join().unwrap();

    assert_eq!(gone.status.code(), Some(1));
    assert_eq!(stage.read("cassettes/tape.json"), before);
    assert_snapshot!(stage.harmless(&said(&gone)), @"
    retape: a server failed that had answered before
    retape: `http://HOST` cannot be reached: the connection was refused; is the server running there?
    retape: the cassette `tape` stays as it was; what was asked is in cassettes/tape.unanswered.json
    hint: to test an outage with it: `retape replay tape.unanswered -- COMMAND`
    hint: to take what was recorded: `mv cassettes/tape.unanswered.json cassettes/tape.json`
    ");
}
