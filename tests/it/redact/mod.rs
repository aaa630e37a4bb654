//! No secret is left, nothing else is touched, and a recorded request still matches.

mod binary;
mod compressed;
mod corpus;
mod further;
mod live;
mod names;
mod own;
mod planted;
mod requests;
mod shapes;
mod spelled;
mod streams;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use retape::Cassette;
use retape::cassette::{Body, Chunk, Interaction, Request, Response};
use retape::redact::Redactor;

/// A secret that exists at run time only.
fn secret(seed: &str) -> String {
    format!("{}{}", "sk-", seed.repeat(16))
}

/// A password of twenty letters and digits that exists at run time only.
fn password(seed: &str) -> String {
    format!("{}{}", "Zq7", seed.repeat(17)).chars().take(20).collect()
}

fn request(path: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Request {
    Request {
        headers: headers.iter().map(|(name, value)| (*name, value.to_string())).collect(),
        body: body.into().into(),
        ..Request::of("POST", path)
    }
}

fn response(headers: &[(&str, &str)], body: Body) -> Response {
    Response {
        ms: 1,
        headers: headers.iter().map(|(name, value)| (*name, value.to_string())).collect(),
        body,
        ..Response::of(200)
    }
}

fn whole(bytes: impl Into<Vec<u8>>) -> Body {
    Body::Whole(bytes.into().into())
}

fn stream(pieces: &[&[u8]]) -> Body {
    let chunk =
        |(ms, bytes): (usize, &&[u8])| Chunk { ms: ms as u64, bytes: bytes.to_vec().into() };
    Body::Stream(pieces.iter().enumerate().map(chunk).collect())
}

fn cassette(exchanges: Vec<(Request, Response)>) -> Cassette {
    let interaction = |(request, response)| Interaction::of(request, response);
    Cassette {
        interactions: exchanges.into_iter().map(interaction).collect(),
        ..Cassette::default()
    }
}

fn redacted(cassette: Cassette) -> Cassette {
    Redactor::standard().cassette(cassette).into_inner()
}

fn answer(cassette: &Cassette, number: usize) -> &Response {
    cassette.interactions[number].response().expect("an answer")
}

/// What becomes of an answer.
fn redacted_answer(answered: Response) -> Response {
    answer(&redacted(cassette(vec![(request("/", &[], ""), answered)])), 0).clone()
}

/// What becomes of the body of an answer.
fn body(content_type: &str, text: &str) -> String {
    let after = redacted_answer(response(&[("content-type", content_type)], whole(text)));
    String::from_utf8(after.body.bytes().to_vec()).expect("text")
}

#[track_caller]
fn check_json(before: &str, after: &str) {
    let secret = secret("a1");
    let whole = body("application/json", &before.replace('$', &secret));
    assert_eq!(whole, after, "as JSON");
    let event = format!("data: {}\n\n", before.replace('$', &secret));
    assert_eq!(body("text/event-stream", &event), format!("data: {after}\n\n"), "as an event");
}

#[track_caller]
fn check_untouched(text: &str) {
    assert_eq!(body("application/json", text), text);
}

/// No run of 8 characters of the secret is in the text.
#[track_caller]
fn check_gone(text: &[u8], secret: &str) {
    let secret = secret.as_bytes();
    for part in secret.windows(8) {
        assert!(!text.windows(8).any(|run| run == part), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_request_with_another_key_becomes_the_same() {
    let send = |key: &str| {
        let body = format!(r#"{{"api_key":"{key}","text":"my key is {key}"}}"#);
        let length = body.len().to_string();
        let headers = [("authorization", &*format!("Bearer {key}")), ("content-length", &*length)];
        let mut request = request(&format!("/v1/keys/{key}?token={key}"), &headers, body);
        Redactor::standard().request(&mut request);
        request
    };

    let recorded = send(&secret("f6"));
    let live = send(&"dummy-key-1".repeat(2));

    assert_eq!(recorded, live);
    assert_eq!(recorded.headers.get("content-length"), Some(&*recorded.body.len().to_string()));
}

#[test]
fn a_token_that_a_replayed_server_issued_matches() {
    let secret = secret("a7");
    let login = response(&[], whole(format!(r#"{{"access_token":"{secret}"}}"#)));
    let use_it = |token: &str| {
        let header = format!("Bearer {token}");
        request("/me", &[("authorization", &*header)], format!("I am {token}"))
    };
    let exchanges =
        vec![(request("/login", &[], ""), login), (use_it(&secret), response(&[], whole("")))];

    let cassette = redacted(cassette(exchanges));

    let issued: &[u8] = &answer(&cassette, 0).body.bytes();
    assert_eq!(issued, br#"{"access_token":"[redacted:access_token]"}"#);
    let mut live = use_it("[redacted:access_token]");
    Redactor::standard().request(&mut live);
    assert_eq!(live, cassette.interactions[1].request);
}

#[test]
fn a_found_secret_is_replaced_wherever_it_stands() {
    let secret = secret("b8");
    let asks = request("/", &[("x-api-key", &secret)], "");
    let encoded = STANDARD.encode(format!("user:{secret}"));
    let text = format!("key {secret} and {encoded}");
    let (one, two) = text.as_bytes().split_at(10);
    let says = response(&[("x-echo", &secret)], stream(&[b"a", one, two, b"z"]));

    let after = redacted(cassette(vec![(asks, says)]));

    let says = answer(&after, 0);
    assert_eq!(says.headers.get("x-echo"), Some("[redacted:x-api-key]"));
    let joined = String::from_utf8(says.body.bytes().to_vec()).expect("text");
    assert!(joined.starts_with("akey [redacted:x-api-key] and "), "{joined}");
    assert!(!joined.contains(&STANDARD.encode(&secret)[..20]));
    assert_eq!(says.body.chunks().len(), 4);
}

#[test]
fn rules_of_a_newer_release_are_refused() {
    let error =
        Redactor::of_rules(&["headers/1".to_owned(), "headers/9".to_owned()]).expect_err("unknown");

    assert!(error.is_newer_version());
    assert_eq!(error.to_string(), "redaction rule `headers/9` is not known to this release");
    assert!(error.hint().is_some());
}

#[test]
fn only_the_rules_that_are_named_apply() {
    let redactor = Redactor::of_rules(&["query/1".to_owned()]).expect("known");
    let mut request = request("/?token=a", &[("authorization", "b")], r#"{"api_key":"c"}"#);

    redactor.request(&mut request);

    assert_eq!(request.path, "/?token=[redacted:token]");
    assert_eq!(request.headers.get("authorization"), Some("b"));
    assert_eq!(request.body, r#"{"api_key":"c"}"#);
}

#[test]
fn the_upstream_loses_its_user() {
    let secret = secret("d1");
    let mut before = Cassette::default();
    before.recorded.upstream = format!("http://me:{secret}@127.0.0.1:8283");

    assert_eq!(redacted(before).recorded.upstream, "http://127.0.0.1:8283");
    let url = Redactor::standard().url(&format!("http://me:{secret}@h/?api_key={secret}"));
    assert_eq!(url, "http://h/?api_key=[redacted:api_key]");
}
