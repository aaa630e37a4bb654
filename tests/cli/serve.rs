//! The live server that the binary starts.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use rustix::process::Signal;

use crate::retape::{Running, Stage, said};
use crate::secure::{Secure, Then, json};
use crate::support::client::get;
use crate::support::upstream::Upstream;

/// A server that can be started by a shell: it is ready when the file `ready` is there, which holds its status.
struct Late {
    stage: Stage,
    upstream: Upstream,
}

impl Late {
    fn new() -> Self {
        let stage = Stage::new();
        let ready = stage.folder().join("ready");
        let upstream = Upstream::start(move |_, wire| {
            let status = std::fs::read_to_string(&ready);
            let status = status.map_or("503 Not Yet".to_owned(), |it| it.trim().to_owned());
            wire.send(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}"));
            crate::support::upstream::Then::KeepAlive
        });
        Self { stage, upstream }
    }

    /// Waits for a file that the server writes.
    fn wait_for(&self, file: &str) {
        let until = Instant::now() + Duration::from_secs(20);
        while !self.stage.folder().join(file).exists() {
            assert!(Instant::now() < until, "no file `{file}`");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn arguments<'a>(&self, url: &'a str, serve: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
        [&["record", "--upstream", url, "--serve", serve, "--ready", url, "tape"], rest].concat()
    }
}

#[test]
fn a_server_is_started_waited_for_and_stopped() {
    // One that takes no `GET` is up as well.
    for status in ["200 OK", "404 Not Found", "501 Not Implemented"] {
        let late = Late::new();
        let url = late.upstream.url();
        let serve = format!(
            "trap 'echo stopped > stopped; exit' TERM; sleep 0.2; echo {status} > new; mv new ready; \
             while :; do sleep 0.01; done"
        );

        let arguments = late.arguments(&url, &serve, &[]);
        let output = late.stage.around(&arguments, "GET /1").output().unwrap();

        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(late.stage.read("stopped"), "stopped\n");
        assert_eq!(late.stage.cassettes(), ["tape.json"]);
    }
}

#[test]
fn a_server_that_speaks_http_2_alone_is_waited_for_at_its_own_address() {
    let stage = Stage::new();
    let ready = stage.folder().join("ready");
    let server = Secure::plain(move |_, reply| {
        let status = if ready.exists() { 200 } else { 503 };
        async move {
            json(reply, status, "{}");
            Then::KeepAlive
        }
    });
    let upstream = format!("h2c://{}", server.authority());
    let serve = "sleep 0.2; touch ready; while :; do sleep 0.01; done";

    let arguments = ["record", "--upstream", &upstream, "--serve", serve, "tape"];
    let output = stage.around(&arguments, "GET /1").output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let asked: Vec<String> =
        server.heard().iter().map(|it| it.head.uri().path().to_owned()).collect();
    assert_eq!(asked.first().unwrap(), "/grpc.health.v1.Health/Check");
    assert_eq!(asked.last().unwrap(), "/1");
}

#[test]
fn where_the_server_is_behind_tls_it_has_to_be_said_when_it_is_up() {
    let upstream = "https://me:open-sesame-1@127.0.0.1:9";
    let arguments = ["record", "--upstream", upstream, "--serve", "true", "tape", "--", "true"];

    let output = Stage::new().retape(&arguments).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(said(&output), @"
    error: `https://127.0.0.1:9` did not become ready: over TLS it is not asked whether it is
    hint: say when the server is up: `--ready http://127.0.0.1:PORT`
    ");
}

/// What is said of a server that does not start, and the logs that it leaves.
fn failing(serve: &str) -> (String, Vec<String>) {
    let late = Late::new();
    let logs = late.stage.folder().join("tmp");
    std::fs::create_dir(&logs).unwrap();
    let url = late.upstream.url();
    let mut command = late.stage.retape(&late.arguments(&url, serve, &["--", "true"]));
    let output = command.env("TMPDIR", &logs).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let left = std::fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path());
    let left = left.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let log = regex::Regex::new(r"`[^`]*retape-serve-[^`]*`").unwrap();
    (log.replace(&late.stage.harmless(&said(&output)), "LOG").into_owned(), left)
}

#[test]
fn a_server_that_ends_before_it_is_ready_is_told_with_what_it_said() {
    let (said, left) = failing("echo no database; exit 3");

    assert_snapshot!(said, @r"
    retape: server: no database
    error: `http://HOST` did not become ready: the server has ended
    hint: does it start by itself? `echo no database; exit 3`
    ");
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_server_that_says_more_than_is_told_leaves_its_log() {
    let (said, left) = failing("seq 100");

    assert_eq!(said.matches("server: ").count(), 20, "{said}");
    assert!(said.contains("server: 81\n") && said.contains("server: 100\n"), "{said}");
    assert!(said.ends_with("hint: all that it said is in LOG\n"), "{said}");
    assert_eq!(left[0].lines().count(), 100);
}

#[test]
fn a_server_that_does_not_get_ready_in_time_is_stopped() {
    let late = Late::new();
    let url = late.upstream.url();
    let serve = "trap 'echo stopped > stopped; exit' TERM; while :; do sleep 0.01; done";

    let arguments = late.arguments(&url, serve, &["--ready-timeout", "300ms", "--", "true"]);
    let output = late.stage.retape(&arguments).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    let why = "did not become ready: it answers 503 Service Unavailable";
    assert!(said(&output).contains(why), "{}", said(&output));
    assert_eq!(late.stage.read("stopped"), "stopped\n");
}

#[test]
fn a_server_is_not_started_where_another_answers() {
    let late = Late::new();
    late.stage.write("ready", "200 OK");
    let url = late.upstream.url();

    let arguments = late.arguments(&url, "echo > started", &["--", "true"]);
    let output = late.stage.retape(&arguments).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert!(!late.stage.folder().join("started").exists());
    assert_snapshot!(late.stage.harmless(&said(&output)), @r"
    error: `http://HOST` did not become ready: something answers there already
    hint: stop what runs on that port, or leave `--serve` out to record from it
    ");
}

#[test]
fn a_server_that_nobody_starts_is_waited_for_in_vain() {
    let stage = Stage::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");

    let arguments = ["record", "--upstream", &url, "--ready", &url, "--ready-timeout", "200ms"];
    let output = stage.retape(&[&arguments[..], &["--", "true"]].concat()).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(stage.harmless(&said(&output)), @r"
    error: `http://HOST` did not become ready: the time is up
    hint: start the server, or let retape start it: `--serve COMMAND`
    ");
}

#[test]
fn an_interruption_while_the_server_starts_stops_it() {
    let late = Late::new();
    let url = late.upstream.url();
    let serve =
        "trap 'echo stopped > stopped; exit' TERM; echo > begun; while :; do sleep 0.01; done";

    let running = Running::start(late.stage.retape(&late.arguments(&url, serve, &["--", "true"])));
    late.wait_for("begun");
    running.signal(Signal::TERM);
    let (code, said) = running.end();

    assert_eq!(code, Some(143), "{said}");
    assert_eq!(late.stage.read("stopped"), "stopped\n");
}

#[test]
fn a_second_interruption_stops_the_server_too() {
    let late = Late::new();
    let stage = &late.stage;
    let hanging = Upstream::start(|_, wire| {
        wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        wire.send_chunk("1");
        wire.wait_for_end();
        crate::support::upstream::Then::Close
    });
    let (ready, url) = (late.upstream.url(), hanging.url());
    let serve = "trap 'echo stopped > stopped; exit' TERM; echo 200 OK > new; mv new ready; while :; do sleep 0.01; done";
    let arguments = [
        "record",
        "--upstream",
        &url,
        "--serve",
        serve,
        "--ready",
        &ready,
        "--grace",
        "60s",
        "tape",
    ];
    let mut running = Running::start(stage.retape(&arguments));
    let here = running.line();
    let address = crate::support::client::split(&here).0;
    let mut wire = crate::support::wire::Wire::connect(address);
    wire.send(crate::support::client::request("GET", &here, "", ""));
    wire.head().unwrap();
    wire.data();

    running.signal(Signal::TERM);
    while std::net::TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    running.signal(Signal::TERM);
    let (code, said) = running.end();

    assert_eq!(code, Some(143), "{said}");
    assert_eq!(stage.read("stopped"), "stopped\n");
    assert_eq!(get(&ready).status, 200);
}

#[test]
fn an_address_that_cannot_be_asked_is_refused_at_once() {
    let stage = Stage::new();
    for ready in ["/health", "127.0.0.1:1", "https://127.0.0.1:1/"] {
        let output =
            stage.retape(&["run", "--ready", ready, "tape", "--", "true"]).output().unwrap();

        assert_eq!(output.status.code(), Some(2), "{ready}");
        let expected = format!("error: `ready` is `{ready}`, which is not one of http://HOST");
        assert!(said(&output).contains(&expected), "{}", said(&output));
    }
}

#[test]
fn what_a_server_left_behind_is_stopped_when_it_has_ended() {
    let late = Late::new();
    let url = late.upstream.url();
    let left = "(trap 'echo stopped > stopped; exit' TERM; echo > left; while :; do sleep 0.01; done) & \
        while [ ! -e left ]; do sleep 0.01; done";

    let arguments = late.arguments(&url, left, &["--", "true"]);
    let output = late.stage.retape(&arguments).output().unwrap();

    assert!(said(&output).contains("the server has ended"), "{}", said(&output));
    let stopped = late.stage.folder().join("stopped");
    for _ in 0..500 {
        if stopped.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it goes on");
}
