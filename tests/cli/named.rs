//! Several servers, each with a name.

use insta::assert_snapshot;

use crate::retape::{Running, Stage, said, told};
use crate::support::client::{reply, split};
use crate::support::upstream::{Asked, Upstream};
use crate::support::wire::Wire;

fn server(name: &'static str) -> Upstream {
    Upstream::json(move |asked: &Asked| format!("[\"{name}\",\"{}\"]", asked.path()))
}

/// A stage on which two servers were recorded, which are gone.
fn recorded() -> Stage {
    let (stage, first, second) = (Stage::new(), server("first"), server("second"));
    let (first, second) = (first.url(), format!("two={}", second.url()));
    let record = ["record", "--upstream", &first, "--upstream", &second, "tape"];
    let output = stage.around(&record, "GET /1\nGET /-two/2").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    stage
}

#[test]
fn the_command_that_records_again_names_all_servers() {
    let stage = recorded();
    let replay = ["replay", "--env", "TWO={url}/-two", "--env", "KEY=secret", "tape"];

    let output = stage.around(&replay, "GET /-two/3").output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    let (_, hint) = said.split_once("record it again:\n").unwrap();
    let hint = hint.lines().next().unwrap().trim();
    assert_snapshot!(stage.harmless(hint), @"retape record --upstream http://HOST --upstream two=http://HOST --env 'TWO={url}/-two' tape -- COMMAND");
}

#[test]
fn a_cassette_that_is_given_by_its_file_is_recorded_again_in_its_place() {
    let stage = recorded();
    stage.write("other/tape.json", &stage.read("cassettes/tape.json"));

    let output = stage.around(&["replay", "other/tape.json"], "GET /3").output().unwrap();

    assert!(said(&output).contains(" --cassettes other tape -- COMMAND"), "{}", said(&output));
}

#[test]
fn a_client_that_asks_nothing_is_told_where_the_named_servers_are() {
    let stage = Stage::new();
    let record =
        ["record", "--upstream", "http://127.0.0.1:9", "--upstream", "two=http://127.0.0.1:8"];

    let output = stage.around(&[&record[..], &["tape"]].concat(), "").output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("`{url}/-NAME`"), "{}", said(&output));
}

#[test]
fn a_name_of_the_first_server_is_known_when_it_is_replayed() {
    let (stage, server) = (Stage::new(), server("first"));
    for address in [server.url(), format!("{}/below", server.url())] {
        let (first, second) = (server.url(), format!("two={address}"));
        let record = ["record", "--upstream", &first, "--upstream", &second, "tape"];
        let asks = "GET /1\nGET /-two/2";
        let live = stage.around(&record, asks).output().unwrap();

        let output = stage.around(&["replay", "--strict", "tape"], asks).output().unwrap();

        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(told(&output), told(&live));
    }
}

#[test]
fn which_server_is_meant_is_asked_where_two_have_no_name_or_the_same() {
    let stage = Stage::new();
    let check = |upstreams: &str| {
        let mut command = stage.around(&["record", "tape"], "GET /1");
        let output = command.env("RETAPE_UPSTREAM", upstreams).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stage.cassettes().is_empty());
        said(&output)
    };

    assert_snapshot!(check("http://127.0.0.1:8 http://127.0.0.1:9"), @"
    error: `http://127.0.0.1:9` is a second server without a name
    hint: name all but the first: `--upstream NAME=URL`; a client asks for it at `/-NAME/`
    ");
    assert_snapshot!(check("two=http://127.0.0.1:8 two=http://127.0.0.1:9"), @"
    error: `two` is the name of two servers
    hint: give each server a name of its own: `--upstream NAME=URL`
    ");
}

#[test]
fn a_client_whose_hosts_all_pass_is_told_so() {
    let (stage, server) = (Stage::new(), server("first"));
    stage.write("retape.toml", &format!("[proxy]\npass = [\"{}\"]\n", server.address()));
    let mut running = Running::start(stage.retape(&["record", "--proxy", "tape"]));
    let mut wire = Wire::connect(split(&running.line()).0);
    let host = server.address();
    wire.send(format!("GET http://{host}/1 HTTP/1.1\r\nHost: {host}\r\n\r\n"));

    assert!(reply(&mut wire, "GET").text().contains("first"));
    let (code, said) = running.stop();

    assert_eq!(code, Some(1));
    let (_, said) = said.split_once("interrupt to stop\n").unwrap();
    assert_snapshot!(said, @"
    retape: no request reached retape but what passes (1 time)
    hint: the client asked only hosts that `pass` in `[proxy]` of retape.toml names: take out those that are to be recorded, or, if nothing is, say `--allow-unused`
    ");
}

#[test]
fn a_request_behind_one_that_named_its_server_goes_there_too() {
    let (stage, server) = (Stage::new(), server("first"));
    let mut running = Running::start(stage.retape(&["record", "--proxy", "tape"]));
    let url = running.line();
    let mut wire = Wire::connect(split(&url).0);
    let host = server.address();
    // As Java does for a WebSocket.
    for target in [format!("http://{host}/1"), "/2".to_owned()] {
        let page = "Origin: http://app.test";
        wire.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{page}\r\n\r\n"));
        let reply = reply(&mut wire, "GET");
        assert!(reply.text().contains("first"), "{target}: {}", reply.text());
    }
    let mut alone = Wire::connect(split(&url).0);
    alone.send(format!("GET /3 HTTP/1.1\r\nHost: {host}\r\nOrigin: http://app.test\r\n\r\n"));
    assert_eq!(reply(&mut alone, "GET").status, 403);
    wire.close();
    alone.close();
    running.stop();

    let recorded = stage.read("cassettes/tape.json");
    assert!(recorded.contains("/1\"") && recorded.contains("/2\""), "{recorded}");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_client_of_servers_that_all_have_names_has_to_say_which_one_it_means() {
    let (stage, server) = (Stage::new(), server("api"));
    let record = ["record", "--upstream", &format!("api={}", server.url()), "tape"];

    let output = stage.around(&record, "GET /1").output().unwrap();

    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(stage.cassettes().is_empty() && server.asked().is_empty());
    assert_snapshot!(stage.harmless(&said(&output)), @"
    error: recording needs the address of a live server
    hint: the client asked for the server without a name, and all have one: let it ask for `/-api/…`, or name the first server without one (`--upstream URL`)
    ");
}

#[test]
fn a_request_for_a_host_that_is_none_of_retapes_is_told_once() {
    let (stage, server) = (Stage::new(), server("api"));
    let mut running =
        Running::start(stage.retape(&["record", "--upstream", &server.url(), "tape"]));
    let mut wire = Wire::connect(split(&running.line()).0);
    let mut ask = |host: &str| {
        wire.send(format!("GET /1 HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        reply(&mut wire, "GET").status
    };

    let statuses = ["api.example", "localhost", "api.example"].map(&mut ask);
    let (code, said) = running.stop();

    assert_eq!((statuses, code), ([403, 200, 403], Some(1)), "{said}");
    let (_, said) = said.split_once("interrupt to stop\n").unwrap();
    assert_snapshot!(stage.harmless(said), @"
    retape: refused with 403: `api.example` is no host of retape's; `--allow-host api.example` allows it
    retape: recorded 1 interaction in cassettes/tape.json
    retape: 2 requests refused
    ");
}

#[test]
fn a_page_of_another_host_makes_a_run_fail_that_misses_nothing() {
    let stage = recorded();
    let mut running = Running::start(stage.retape(&["replay", "tape"]));
    let mut wire = Wire::connect(split(&running.line()).0);
    let mut ask = |fields: &str| {
        wire.send(format!("GET /1 HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"));
        reply(&mut wire, "GET").status
    };

    let statuses = ["", "Origin: http://app.test\r\n"].map(&mut ask);
    let (code, said) = running.stop();

    assert_eq!((statuses, code), ([200, 403], Some(1)), "{said}");
    let (_, said) = said.split_once("interrupt to stop\n").unwrap();
    assert_snapshot!(stage.harmless(said), @"
    retape: refused with 403: a page of `http://app.test` may not use retape; `--allow-host app.test` allows it
    retape: replayed 1 cassette: 1 of 2 interactions played, 0 misses, nothing went out through retape
    retape: 1 request refused
    ");
}
