//! What the command says of clients of its proxy.

use std::sync::Arc;

use insta::assert_snapshot;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::retape::{Running, Stage, said};
use crate::support::client::{reply, split};
use crate::support::upstream::Upstream;
use crate::support::wire::Wire;

/// A command that says where the proxy is, and then waits to be told to end.
const WAITING: [&str; 3] = ["sh", "-c", "echo $HTTPS_PROXY; exec sleep 60"];

/// What is said of clients behind the proxy in the end, when their command has failed.
fn check(clients: impl Fn(&str)) -> String {
    let stage = Stage::new();
    let arguments = [&["record", "--proxy", "--no-prove", "tape", "--"], &WAITING[..]].concat();
    let mut running = Running::start(stage.retape(&arguments));
    clients(&running.line());
    let (code, said) = running.stop();
    assert_eq!(code, Some(128 + 15), "{said}");
    stage.harmless(&said)
}

/// A tunnel to that server.
fn tunnel(proxy: &str, authority: &str) -> Wire {
    let mut wire = Wire::connect(split(proxy).0);
    wire.send(format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"));
    let head = wire.head().unwrap();
    assert!(head.line.starts_with("HTTP/1.1 200 "), "{head:?}");
    wire
}

/// Speaks TLS in a tunnel as somebody who trusts nobody.
fn distrust(proxy: &str, authority: &str) {
    let mut wire = tunnel(proxy, authority);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("api.example").unwrap();
    let mut tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let ended = loop {
        let mut bytes = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut bytes).unwrap();
        }
        wire.send(&bytes);
        let came = wire.up_to(1);
        if came.is_empty() {
            break None;
        }
        tls.read_tls(&mut came.as_slice()).unwrap();
        if let Err(error) = tls.process_new_packets() {
            break Some(error);
        }
    };
    assert!(ended.is_some(), "TLS was agreed upon");
    let mut alert = Vec::new();
    while tls.wants_write() {
        tls.write_tls(&mut alert).unwrap();
    }
    wire.send(&alert);
    wire.close();
    wire.wait_for_end();
}

#[test]
fn a_client_that_does_not_trust_the_proxy_is_told_how() {
    let said = check(|proxy| distrust(proxy, "api.example:443"));

    assert_snapshot!(said, @r#"
    retape: `sh` ended with signal: 15 (SIGTERM)
    retape: no request reached retape
    hint: a client asked for `https://api.example` through the proxy, but did not trust the certificate of retape: let it read the authorities to trust from the file that SSL_CERT_FILE names (`curl --cacert "$SSL_CERT_FILE"`); one that brings its own certificates can go through no proxy
    "#);
}

#[test]
fn a_client_that_leaves_before_it_asks_may_not_trust_the_proxy() {
    let said = check(|proxy| tunnel(proxy, "api.example:443").close());

    assert_snapshot!(said, @r#"
    retape: `sh` ended with signal: 15 (SIGTERM)
    retape: no request reached retape
    hint: a client asked for `https://api.example` through the proxy, but left before its first request; if it does not trust the certificate of retape: let it read the authorities to trust from the file that SSL_CERT_FILE names (`curl --cacert "$SSL_CERT_FILE"`); one that brings its own certificates can go through no proxy
    "#);
}

#[test]
fn a_client_that_is_not_trusting_is_told_where_others_got_through() {
    let server = Upstream::echo();
    let said = check(|proxy| {
        let host = server.address();
        let mut wire = Wire::connect(split(proxy).0);
        wire.send(format!("GET http://{host}/1 HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply(&mut wire, "GET").status, 200);
        distrust(proxy, "api.example:8443");
    });

    assert_snapshot!(said, @r#"
    retape: `sh` ended with signal: 15 (SIGTERM)
    retape: recorded 1 interaction in cassettes/tape.json, though the command failed
    hint: a client asked for `https://api.example:8443` through the proxy, but did not trust the certificate of retape: let it read the authorities to trust from the file that SSL_CERT_FILE names (`curl --cacert "$SSL_CERT_FILE"`); one that brings its own certificates can go through no proxy
    "#);
}

#[test]
fn a_cassette_that_is_missing_is_to_be_recorded_through_the_proxy() {
    let stage = Stage::new();

    let output = stage.retape(&["replay", "--proxy", "tape", "--", "true"]).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(said(&output), @"
    error: no cassette `tape` (`cassettes/tape.json`)
    hint: there is no folder `cassettes` yet; record it: `retape record --proxy tape -- COMMAND`
    ");
}
