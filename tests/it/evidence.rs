//! Who has seen what contracts say.

use insta::assert_snapshot;
use retape::cassette::{Interaction, Request, Response};
use retape::contract::{Evidence, Traffic};
use retape::message::Protocols;
use retape::review::report::{Colour, evidence, evidence_to_json};
use retape::{Cassette, Name};

/// A request and a stream of JSON lines that answers it.
fn streamed(path: &str, lines: &[&str]) -> Interaction {
    let response = Response::whole("application/x-ndjson", format!("{}\n", lines.join("\n")));
    Interaction::of(Request::of("POST", path), response)
}

fn shown(interactions: Vec<Interaction>) -> Vec<Evidence> {
    let cassette = Cassette { interactions, ..Cassette::default() };
    Traffic::of(&Protocols::default(), &[], [(&Name::new("tape").unwrap(), &cassette)]).evidence()
}

const CALL: [&str; 3] = [
    r#"{"type":"call","tool":"a","note":null}"#,
    r#"{"type":"return","ok":true}"#,
    r#"{"type":"end","why":"done"}"#,
];
const ASKED: [&str; 2] = [r#"{"type":"call","tool":"b"}"#, r#"{"type":"end","why":"asked"}"#];

#[test]
fn each_thing_is_told_with_who_has_seen_it_and_what_to_record_next() {
    let calls = (0..4).map(|_| streamed("/chat", &CALL));
    let asked = [streamed("/chat", &ASKED), streamed("/once", &ASKED)];

    let shown = shown(calls.chain(asked).collect());

    assert_snapshot!(evidence(&shown, Colour::Plain), @r#"
    POST /chat -> 200 application/x-ndjson
      5 answers, first tape #1
      order
        5 answers, order coverage 80 %, about 5 more recordings
              5  ⊢ → call                             tape #1 step 1
              1  call → end                           tape #5 step 2
              4  call → return                        tape #1 step 2
              4  return → end                         tape #1 step 3
              5  end → ⊣                              tape #1 step 3
      events
           5/14  type "call"                          tape #1 event 1
            4/5  call.note?                           tape #1 event 1
                   not in tape #5 event 1
           5/14  type "end"                           tape #1 event 3
           4/14  type "return"                        tape #1 event 2

    POST /once -> 200 application/x-ndjson
      1 answer, first tape #6
      order
        1 answer, order coverage 0 %, about 9 more recordings
              1  ⊢ → call                             tape #6 step 1
              1  call → end                           tape #6 step 2
              1  end → ⊣                              tape #6 step 2

    to record next
      POST /chat -> 200 application/x-ndjson
        order coverage 80 %, about 5 more recordings
        only one answer shows call → end: tape #5 step 2
      POST /once -> 200 application/x-ndjson
        only one answer: tape #6
    "#);
}

#[test]
fn what_all_have_seen_alike_needs_no_evidence() {
    let shown = shown((0..5).map(|_| streamed("/chat", &CALL)).collect());

    let told = evidence_to_json(&shown);

    assert_eq!(told["endpoints"][0]["orders"][0]["coverage"], 1.0);
    assert_eq!(told["endpoints"][0]["orders"][0]["edges"][1]["first"]["step"], 2);
    let claims = told["endpoints"][0]["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["of"] == "branch"), "{claims:?}");
    assert_eq!(told["next"], serde_json::json!([]));
}

#[test]
fn an_order_that_each_recording_changes_is_not_covered() {
    let lines = ["a", "b", "c", "d"].map(|tag| format!(r#"{{"type":"{tag}"}}"#));
    let streams = (0..4).map(|skipped| {
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.remove(skipped);
        streamed("/chat", &lines)
    });

    let shown = shown(streams.collect());

    let order = &shown[0].orders[0];
    assert_eq!((order.coverage.accepted, order.coverage.words), (0, 4));
    let told = evidence(&shown, Colour::Plain);
    assert!(told.contains("order coverage 0 %, about 35 more recordings"), "{told}");
}
