//! What a server promises: learned, written, and held against one answer.

use bytes::Bytes;
use retape::cassette::{Body, End, Headers, Interaction, Outcome, Request, Response};
use retape::contract::{Contract, Finding, Traffic, check};
use retape::{Cassette, Name};

/// What a chat says to a question, and to an approval: the lines of a stream.
const ASKED: [&str; 3] = [r#"{"type":"thought"}"#, r#"{"type":"question","id":7}"#, "[DONE]"];
const APPROVED: [&str; 3] = [r#"{"type":"result","ok":true}"#, r#"{"type":"thought"}"#, "[DONE]"];

fn interaction(asked: &str, run: usize, events: &[&str]) -> Interaction {
    let mut headers = Headers::default();
    headers.append("content-type", "text/event-stream");
    let run = format!(r#""run_id":"run-00{run}","type""#);
    let data = events.iter().map(|data| format!("data: {}\n\n", data.replace(r#""type""#, &run)));
    let body = Body::Whole(data.collect::<String>().into());
    let response = Response {
        ms: 0,
        status: 200,
        reason: None,
        headers,
        body,
        trailers: Headers::default(),
        end: End::Complete,
    };
    let request = Request {
        method: "POST".to_owned(),
        path: "/chat".to_owned(),
        headers: Headers::default(),
        body: Bytes::from(format!(r#"{{"type":"{asked}"}}"#)),
    };
    Interaction { after: Vec::new(), request, outcome: Outcome::Response(response) }
}

fn learned() -> Contract {
    let asked = (0..6).map(|run| interaction("message", run, &ASKED));
    let approved = (0..6).map(|run| interaction("approval", run, &APPROVED));
    let cassette =
        Cassette { interactions: asked.chain(approved).collect(), ..Cassette::default() };
    let name = Name::new("chat").unwrap();
    let findings = check(&Traffic::of([(&name, &cassette)]), &[]);
    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    contract.clone()
}

fn parts(interaction: &Interaction) -> Vec<&'static str> {
    let breaches = learned().broken_by(interaction);
    let mut parts: Vec<&str> = breaches.iter().map(|breach| breach.part).collect();
    parts.dedup();
    parts
}

#[test]
fn a_contract_that_is_written_and_read_is_the_same() {
    let learned = learned();

    let read: Contract = learned.to_string().parse().unwrap();

    assert_eq!(read, learned);
}

#[test]
fn what_was_recorded_breaks_nothing() {
    assert_eq!(parts(&interaction("message", 9, &ASKED)), [""; 0]);
    assert_eq!(parts(&interaction("approval", 9, &APPROVED)), [""; 0]);
}

#[test]
fn a_message_that_is_missing_breaks_the_order() {
    assert_eq!(parts(&interaction("message", 9, &ASKED[..2])), ["order"]);
}

#[test]
fn an_order_depends_on_what_was_asked() {
    assert!(learned().to_string().contains("order by request.type"));
    assert_eq!(parts(&interaction("approval", 9, &ASKED)), ["order"]);
}

#[test]
fn a_field_of_another_type_breaks_the_events() {
    let broken = [ASKED[0], r#"{"type":"question","id":"seven"}"#, ASKED[2]];

    assert_eq!(parts(&interaction("message", 9, &broken)), ["events"]);
}

#[test]
fn another_run_in_the_middle_breaks_an_invariant() {
    let mut broken = interaction("message", 9, &ASKED);
    let Outcome::Response(response) = &mut broken.outcome else { panic!("it is an answer") };
    let text = String::from_utf8(response.body.bytes().to_vec()).unwrap();
    let (before, after) = text.rsplit_once("run-009").unwrap();
    response.body = Body::Whole(format!("{before}run-999{after}").into());

    assert_eq!(parts(&broken), ["invariants"]);
}
