//! What a server promises: learned, written, and held against one answer.

use bytes::Bytes;
use retape::cassette::{Body, End, Headers, Interaction, Outcome, Request, Response};
use retape::config::Config;
use retape::contract::{Contract, Finding, History, Traffic, check};
use retape::message::Protocols;
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
    let findings = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);
    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    contract.clone()
}

fn parts(interaction: &Interaction) -> Vec<&'static str> {
    let breaches = learned().broken_by(&Protocols::default(), interaction, None);
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
    assert!(learned().to_string().contains("when type=\"approval\""), "{}", learned());
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

/// A conversation: what is asked, and the lines of the answer, with a number in the place of `#`.
type Turns = [(&'static str, &'static [&'static str])];

const ASK: &str = r#"{"role":"user"}"#;
const APPROVE: &str = r#"{"role":"tool","approve":true,"call_id":"call-9f8e7d6c5b4a#"}"#;
const CALLS: &[&str] = &[
    r#"{"type":"thought"}"#,
    r#"{"type":"call","call_id":"call-9f8e7d6c5b4a#"}"#,
    r#"{"type":"end","why":"waiting"}"#,
    r#"{"type":"usage"}"#,
];
const ANSWERS: &[&str] = &[
    r#"{"type":"return","call_id":"call-9f8e7d6c5b4a#"}"#,
    r#"{"type":"thought"}"#,
    r#"{"type":"end","why":"done"}"#,
    r#"{"type":"usage"}"#,
];
const REFUSES: &[&str] = &[r#"{"type":"end","why":"failed"}"#, r#"{"type":"error"}"#];

const APPROVED_CALL: [(&str, &[&str]); 2] = [(ASK, CALLS), (APPROVE, ANSWERS)];

fn conversation(turns: &Turns, number: usize) -> Vec<Interaction> {
    let numbered = |text: &str| text.replace('#', &number.to_string());
    let turn = |(asked, events): &(&str, &[&str])| {
        let events: Vec<String> = events.iter().map(|event| numbered(event)).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let mut interaction = interaction("", number, &events);
        interaction.request.path =
            format!("/agents/agent-1b4e28ba-2fa1-11d2-883f-0016d3cca4{number:02}/chat");
        interaction.request.body = numbered(asked).into();
        interaction
    };
    turns.iter().map(turn).collect()
}

/// What conversations teach, each of them seen some times.
fn taught(conversations: &[&Turns]) -> Contract {
    let numbered = (10..).zip(conversations.iter().cycle().take(3 * conversations.len()));
    let cassettes: Vec<(Name, Cassette)> = numbered
        .map(|(number, turns)| {
            let interactions = conversation(turns, number);
            (
                Name::new(format!("chat-{number}")).unwrap(),
                Cassette { interactions, ..Cassette::default() },
            )
        })
        .collect();
    let traffic = Traffic::of(
        &Protocols::default(),
        &[],
        cassettes.iter().map(|(name, cassette)| (name, cassette)),
    );
    let findings = check(&traffic, &[]);
    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    let kept = check(&traffic, std::slice::from_ref(contract));
    assert!(kept.is_empty(), "{kept:?}");
    contract.clone()
}

fn order_of(contract: &Contract) -> String {
    let text = contract.to_string();
    let lines = text
        .lines()
        .skip(1)
        .take_while(|line| !line.contains("invariants") && !line.contains("events"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn situations_are_told_apart_by_what_precedes() {
    let contract = taught(&[
        &[(ASK, CALLS), (APPROVE, ANSWERS)],
        &[(ASK, CALLS), (ASK, REFUSES)],
        &[(APPROVE, REFUSES), (ASK, CALLS)],
    ]);

    insta::assert_snapshot!(order_of(&contract), @r#"
    orders
      when role="tool"
        end[why="failed"] error | return thought end[why="done"|"waiting"] usage
      when role="user"
        end[why="failed"] error | thought call end[why="done"|"waiting"] usage
    "#);
}

#[test]
fn what_was_answered_before_decides() {
    let contract = taught(&[&[(ASK, CALLS), (APPROVE, ANSWERS)], &[(ASK, CALLS), (ASK, REFUSES)]]);
    let turns = conversation(&[(ASK, CALLS), (ASK, CALLS)], 77);
    let broken = |earlier: Option<&History>| {
        contract.broken_by(&Protocols::default(), &turns[1], earlier).len()
    };

    assert_eq!(broken(Some(&History::of(&turns[..0], &Protocols::default()))), 0);
    assert_ne!(broken(Some(&History::of(&turns[..1], &Protocols::default()))), 0);
    assert_eq!(broken(None), 0, "what is not known breaks nothing");
}

#[test]
fn what_one_scenario_says_later_in_an_answer_decides_nothing() {
    let contract = taught(&[&[(ASK, CALLS), (APPROVE, ANSWERS), (ASK, &ANSWERS_NOTHING_CALLED)]]);

    assert!(!contract.to_string().contains("after "), "{contract}");
}

const ANSWERS_NOTHING_CALLED: [&str; 3] =
    [r#"{"type":"thought"}"#, r#"{"type":"end","why":"done"}"#, r#"{"type":"usage"}"#];

#[test]
fn a_contract_of_old_is_still_read() {
    let text = "\
POST /chat -> 200 text/event-stream
  order by request.messages[].role, stream
    \"user\" / true
      thought answer [DONE]
    missing / true
      answer
      [DONE]
";

    let contract: Contract = text.parse().unwrap();

    insta::assert_snapshot!(contract, @r#"
    POST /chat -> 200 text/event-stream
      orders
        when messages[].role="user", stream=true
          thought answer [DONE]
        when messages[].role missing, stream=true
          answer [DONE]
    "#);
    assert_eq!(contract, contract.to_string().parse().unwrap());
}

#[test]
fn conditions_are_read_as_they_are_written() {
    let text = "\
POST /chat -> 200 text/event-stream
  orders
    when messages[].role=\"tool\" and \"user\", stream missing, text present, call_id known, parent_id unknown
      a
    when after end[why=\"waiting\"]
      b
    when after no end[why]
      c
    otherwise
      d
";

    let contract: Contract = text.parse().unwrap();

    assert_eq!(contract.to_string(), text);
}

#[test]
fn what_comes_back_refers_to_an_earlier_answer() {
    let contract = taught(&[&[(ASK, CALLS), (APPROVE, ANSWERS)], &[(ASK, CALLS), (ASK, REFUSES)]]);
    let text = contract.to_string();
    assert!(!text.contains("refers to"), "three times are too few: {text}");

    let contract = taught(&[&APPROVED_CALL as &Turns; 2]);

    let text = contract.to_string();
    assert!(text.contains("    request.call_id refers to earlier call.call_id\n"), "{text}");
    assert!(text.contains("    return.call_id refers to earlier call.call_id\n"), "{text}");
    assert_eq!(text.parse::<Contract>().unwrap(), contract);
}

#[test]
fn what_refers_to_nothing_is_told_with_its_place() {
    let contract = taught(&[&APPROVED_CALL as &Turns; 2]);
    let turns = conversation(&[(ASK, CALLS), (APPROVE, ANSWERS)], 77);
    let broken = |earlier: Option<&History>| -> Vec<String> {
        let breaches = contract.broken_by(&Protocols::default(), &turns[1], earlier).into_iter();
        breaches.filter(|breach| breach.part == "invariants").map(|breach| breach.what).collect()
    };

    assert_eq!(broken(Some(&History::of(&turns[..1], &Protocols::default()))), [""; 0]);
    assert_eq!(broken(None), [""; 0], "what is not known breaks nothing");
    assert_eq!(
        broken(Some(&History::of(&[], &Protocols::default()))),
        [
            "request.call_id refers to earlier call.call_id: \
             `call-9f8e7d6c5b4a77` at /call_id of the request refers to nothing before",
            "return.call_id refers to earlier call.call_id: \
             `call-9f8e7d6c5b4a77` at /call_id of event 1 refers to nothing before",
        ]
    );
}

#[test]
fn what_came_before_is_told_in_the_protocol_that_a_person_names() {
    let config = Config::parse("[[protocol]]\ntag = '/what'").unwrap();
    let cassettes: Vec<(Name, Cassette)> = (10..16)
        .map(|number| {
            let mut interactions = conversation(&APPROVED_CALL, number);
            for interaction in &mut interactions {
                let Outcome::Response(response) = &mut interaction.outcome else { continue };
                let said = String::from_utf8(response.body.bytes().to_vec()).unwrap();
                response.body = Body::Whole(said.replace(r#""type""#, r#""what""#).into());
            }
            let name = Name::new(format!("chat-{number}")).unwrap();
            (name, Cassette { interactions, ..Cassette::default() })
        })
        .collect();
    let all = cassettes.iter().map(|(name, cassette)| (name, cassette));

    let findings = check(&Traffic::of(&Protocols::of(&config), &[], all), &[]);

    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    let text = contract.to_string();
    assert!(text.contains("    return.call_id refers to earlier call.call_id\n"), "{text}");
}

#[test]
fn what_json_rpc_answers_has_a_shape_by_what_was_called() {
    let list = |number: usize| {
        let asked = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/list"}}"#);
        let said = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"tools":[]}}}}"#);
        (asked, vec![said])
    };
    let call = |number: usize| {
        let asked = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call"}}"#);
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"done":1}}"#;
        let said = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"text":"ok"}}}}"#);
        (asked, vec![progress.to_owned(), said])
    };
    let turns = (0..8).map(|number| if number % 2 == 0 { list(number) } else { call(number) });
    let interactions = turns.map(|(asked, said)| {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let mut interaction = interaction("", 0, &said);
        interaction.request.body = asked.into();
        interaction
    });
    let cassette = Cassette { interactions: interactions.collect(), ..Cassette::default() };
    let name = Name::new("rpc").unwrap();

    let findings = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);

    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    insta::assert_snapshot!(contract, @r#"
    POST /chat -> 200 text/event-stream
      order
        notifications/progress? result
      invariants
        result.id equals request.id
      events by kind
        notifications/progress
          object
            jsonrpc: string
            method: "notifications/progress"
            params: object
              done: integer
        result of tools/call
          object
            jsonrpc: string
            id: integer
            result: object
              text: string
        result of tools/list
          object
            jsonrpc: string
            id: integer
            result: object
              tools: []
    "#);
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), *contract);
    let mut other = cassette.interactions[0].clone();
    other.request.body = r#"{"jsonrpc":"2.0","id":0,"method":"tools/call"}"#.into();
    let breaches = contract.broken_by(&Protocols::default(), &other, None);
    assert!(
        breaches.iter().any(|breach| breach.what.starts_with("`result of tools/call`")),
        "{breaches:?}"
    );
}

#[test]
fn what_a_client_has_made_up_is_no_constant() {
    let said: Vec<String> = (0..6)
        .map(|number| {
            format!(r#"{{"type":"call","name":"get_code","state":"in_progress","n":{number}}}"#)
        })
        .collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let recording = |number: usize| {
        let mut with_tool = interaction("", number, &said);
        with_tool.request.body =
            format!(r#"{{"tools":["get_code"],"state":"open","number":{number}}}"#).into();
        with_tool
    };
    let interactions = (0..2).map(recording).collect();
    let cassette = Cassette { interactions, ..Cassette::default() };
    let name = Name::new("tools").unwrap();

    let findings = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);

    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    let text = contract.to_string();
    assert!(text.contains("name: string") && text.contains(r#"state: "in_progress""#), "{text}");
}

#[test]
fn a_field_that_is_there_or_not_decides() {
    let turn = |number: usize| {
        let (asked, said): (_, &[&str]) = match number % 2 {
            0 => (
                format!(r#"{{"call":{{"token":{number}}}}}"#),
                &[r#"{"type":"part"}"#, r#"{"type":"end"}"#],
            ),
            _ => (r#"{"call":{}}"#.to_owned(), &[r#"{"type":"end"}"#]),
        };
        let mut interaction = interaction("", number, said);
        interaction.request.body = asked.into();
        interaction
    };
    let cassette = Cassette { interactions: (0..8).map(turn).collect(), ..Cassette::default() };
    let name = Name::new("calls").unwrap();

    let findings = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);

    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    insta::assert_snapshot!(order_of(contract), @"
    order
      part? end
    ");
}
