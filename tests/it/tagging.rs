//! Contracts of protocols that nobody has heard of.

use bytes::Bytes;
use insta::assert_snapshot;
use retape::cassette::{Body, End, Headers, Interaction, Outcome, Request, Response};
use retape::config::Config;
use retape::contract::{Contract, Finding, Traffic, check};
use retape::message::Protocols;
use retape::{Cassette, Name};

/// The events of one answer: a run thinks, uses a tool or not, speaks, ends.
fn run(number: usize, tools: usize) -> Vec<String> {
    let mut events =
        vec![format!(r#"{{"kind_of_thing":"run_opened","run":"r-{number}00{tools}"}}"#)];
    for tool in 0..tools {
        events.push(format!(r#"{{"kind_of_thing":"tool_wanted","call":{tool},"args":{{"x":1}}}}"#));
        events.push(format!(r#"{{"kind_of_thing":"tool_done","call":{tool},"output":"y"}}"#));
    }
    for word in 0..=number {
        events.push(format!(r#"{{"kind_of_thing":"said","text":"word {word}"}}"#));
    }
    events.push(format!(r#"{{"kind_of_thing":"run_closed","cost":{number}}}"#));
    events
}

fn interaction(events: &[String]) -> Interaction {
    let mut headers = Headers::default();
    headers.append("content-type", "text/event-stream");
    let data = events.iter().map(|data| format!("data: {data}\n\n"));
    let response = Response {
        frames: Vec::new(),
        left: None,
        ms: 0,
        status: 200,
        reason: None,
        headers,
        body: Body::Whole(data.collect::<String>().into()),
        interim: Vec::new(),
        trailers: Headers::default(),
        end: End::Complete,
    };
    let request = Request {
        method: "POST".to_owned(),
        path: "/runs".to_owned(),
        headers: Headers::default(),
        body: Bytes::from_static(b"{}"),
    };
    Interaction { after: Vec::new(), request, outcome: Outcome::Response(response) }
}

fn recorded() -> Cassette {
    let runs = (0..3).flat_map(|number| (0..3).map(move |tools| run(number, tools)));
    let interactions = runs.map(|events| interaction(&events)).collect();
    Cassette { interactions, ..Cassette::default() }
}

fn findings(protocols: &Protocols, cassette: &Cassette, accepted: &[Contract]) -> Vec<Finding> {
    let name = Name::new("runs").unwrap();
    check(&Traffic::of(protocols, accepted, [(&name, cassette)]), accepted)
}

fn learned(protocols: &Protocols, cassette: &Cassette) -> Contract {
    match findings(protocols, cassette, &[]).as_slice() {
        [Finding::New(contract)] => contract.clone(),
        findings => panic!("{findings:?}"),
    }
}

/// What is written before the shapes.
fn order(contract: &Contract) -> String {
    let text = contract.to_string();
    let lines = text.lines().take_while(|line| !matches!(line.trim(), "invariants" | "events"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_field_that_tells_the_types_is_found_and_written_down() {
    let contract = learned(&Protocols::default(), &recorded());

    assert_snapshot!(order(&contract), @r"
    POST /runs -> 200 text/event-stream
      tag
        /kind_of_thing
      order
        run_opened (tool_wanted tool_done)* said+ run_closed
    ");
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), contract);
}

#[test]
fn a_contract_of_learned_types_is_held_against_one_answer() {
    let contract = learned(&Protocols::default(), &recorded());
    let mut cut = run(1, 1);
    cut.remove(2);

    let kept = contract.broken_by(&Protocols::default(), &interaction(&run(2, 2)), None);
    let broken = contract.broken_by(&Protocols::default(), &interaction(&cut), None);

    assert_eq!(kept, []);
    let parts: Vec<&str> = broken.iter().map(|breach| breach.part).collect();
    assert_eq!(parts, ["order"], "{broken:?}");
}

#[test]
fn what_is_accepted_tells_the_types_of_later_recordings() {
    let accepted = [learned(&Protocols::default(), &recorded())];
    let few = Cassette { interactions: vec![interaction(&run(0, 0))], ..Cassette::default() };

    assert_eq!(findings(&Protocols::default(), &recorded(), &accepted), []);
    assert_eq!(findings(&Protocols::default(), &few, &accepted), []);
}

#[test]
fn what_was_accepted_of_few_recordings_stays_also_where_more_show_the_types() {
    let few = Cassette { interactions: vec![interaction(&run(0, 0)[..2])], ..Cassette::default() };
    let accepted = [learned(&Protocols::default(), &few)];
    assert_eq!(accepted[0].tag, None);

    let findings = findings(&Protocols::default(), &recorded(), &accepted);

    let proposed = findings.iter().filter_map(Finding::proposed);
    assert!(proposed.into_iter().all(|contract| contract.tag.is_none()), "{findings:?}");
}

#[test]
fn a_person_may_say_what_tells_the_types() {
    let config = Config::parse(
        r#"
        [[protocol]]
        tag = [{ at = "/text", is = "text" }, "/kind_of_thing"]
        keys = "/call"
        "#,
    );
    let protocols = Protocols::of(&config.unwrap());
    let contract = learned(&protocols, &recorded());

    assert_eq!(contract.tag, None);
    assert!(order(&contract).contains("text"), "{contract}");
    let one = interaction(&run(2, 2));
    assert_eq!(contract.broken_by(&protocols, &one, None), []);
    assert_ne!(contract.broken_by(&Protocols::default(), &one, None), []);
}
