//! Contracts of protocols that nobody has heard of.

use bytes::Bytes;
use insta::assert_snapshot;
use retape::cassette::{Body, Interaction, Outcome, Request, Response};
use retape::config::Config;
use retape::contract::{Contract, Finding, Kinds, Traffic, check};
use retape::message::Protocols;
use retape::review::change::{Known, Verdict, compare};
use retape::{Cassette, Name};
use serde_json::{Value, json};

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
    let data = events.iter().map(|data| format!("data: {data}\n\n"));
    let response = Response::whole("text/event-stream", data.collect::<String>());
    let request = Request { body: Bytes::from_static(b"{}"), ..Request::of("POST", "/runs") };
    Interaction::of(request, response)
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
    let is_of_shapes =
        |line: &&str| line.starts_with("  invariants") || line.starts_with("  events");
    let lines = text.lines().take_while(|line| !is_of_shapes(line));
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
fn what_answers_a_message_by_its_id_is_of_the_kind_that_was_asked() {
    let ask = |id: usize, what: &str, said: &[Value]| sent(&json!({"id": id, "type": what}), said);
    let session = |number: usize, lost: &str| {
        let result = |id: usize, mut result: Value| {
            result.as_object_mut().unwrap().remove(lost);
            json!({"id": id, "type": "result", "success": true, "result": result})
        };
        let event = json!({"id": 2, "type": "event", "event": {"at": number}});
        let interactions = vec![
            ask(1, "get_config", &[result(1, json!({"unit": "C", "version": number}))]),
            ask(2, "subscribe", &[result(2, json!({})), event.clone()]),
            ask(3, "get_states", &[result(3, json!({"count": number})), event]),
        ];
        Cassette { interactions, ..Cassette::default() }
    };
    let recorded = |lost: &'static str| {
        let one = |number| (Name::new(format!("s{number}")).unwrap(), session(number, lost));
        (0..3).map(one).collect::<Vec<_>>()
    };

    let contract = Traffic::of(
        &Protocols::default(),
        &[],
        recorded("").iter().map(|(name, cassette)| (name, cassette)),
    );
    let accepted = check(&contract, &[]);
    let [Finding::New(contract)] = &accepted[..] else { panic!("{accepted:?}") };
    let Some(Kinds::Each(kinds)) = &contract.events else { panic!("{contract}") };
    let kinds: Vec<&str> = kinds.keys().map(String::as_str).collect();
    let results =
        ["result of get_config", "result of get_states", "result of subscribe"].as_slice();
    assert_eq!(kinds, [&["event of subscribe"], results].concat());

    let (old, new) = (recorded(""), recorded("version"));
    let known = |name, cassettes| Known { name, path: "c", cassettes, accepted: &[] };
    let changes = compare(known("old", &old), known("new", &new)).changes;
    let told: Vec<(Verdict, &str)> = changes.iter().map(|it| (it.verdict, &*it.what)).collect();
    let [(Verdict::Breaking, what)] = told[..] else { panic!("{told:?}") };
    assert!(what.contains("`result.version` is gone"), "{what}");
    assert!(what.contains("`result of get_config`"), "{what}");
}

/// The events of one answer as arrays, as channels of Phoenix say them: who, what number, which event, with what.
fn channel(number: usize) -> Vec<String> {
    let mut events = vec![format!(r#"["1","{number}","phx_reply",{{"status":"ok"}}]"#)];
    for word in 0..=number {
        events.push(format!(r#"["1",null,"token",{{"text":"word {word}"}}]"#));
    }
    events.push(format!(r#"["1",null,"done",{{"cost":{number}}}]"#));
    events
}

#[test]
fn the_element_that_tells_the_types_of_arrays_is_found() {
    let interactions = (0..6).map(|number| interaction(&channel(number % 3))).collect();
    let cassette = Cassette { interactions, ..Cassette::default() };

    let contract = learned(&Protocols::default(), &cassette);

    assert_snapshot!(order(&contract), @r"
    POST /runs -> 200 text/event-stream
      tag
        /2
      order
        phx_reply token+ done
    ");
    let cut = interaction(&channel(2)[..4]);
    let broken = contract.broken_by(&Protocols::default(), &cut, None);
    let parts: Vec<&str> = broken.iter().map(|breach| breach.part).collect();
    assert_eq!(parts, ["order"], "{broken:?}");
}

#[test]
fn the_number_that_tells_the_types_of_arrays_is_found() {
    // As WAMP has it: 50 is the result of a call, 36 an event.
    let said = |number: usize| {
        let event = |it| format!(r#"[36,7{it}{number},{{}},["x",{it}]]"#);
        let result = format!(r#"[50,{number},{{}}]"#);
        (0..=number).map(event).chain([result]).collect::<Vec<_>>()
    };
    let interactions = (0..6).map(|number| interaction(&said(number % 3))).collect();
    let cassette = Cassette { interactions, ..Cassette::default() };

    let contract = learned(&Protocols::default(), &cassette);

    assert_snapshot!(order(&contract), @r"
    POST /runs -> 200 text/event-stream
      tag
        /0
      order
        36+ 50
    ");
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), contract);
}

#[test]
fn elements_of_lists_tell_no_types() {
    let rows = |number: usize| {
        let row = |at: usize| format!(r#"["{}","b","c"]"#, ["red", "green"][at % 2]);
        (0..4 + number).map(row).collect::<Vec<_>>()
    };
    let interactions = (0..6).map(|number| interaction(&rows(number % 3))).collect();
    let cassette = Cassette { interactions, ..Cassette::default() };

    assert_eq!(learned(&Protocols::default(), &cassette).tag, None);
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
fn what_was_accepted_stays_also_where_no_message_says_its_type() {
    let accepted =
        "POST /runs -> 200 text/event-stream\n  tag\n    with /grounding\n  order\n    object+\n";
    let accepted = [accepted.parse::<Contract>().unwrap()];

    let findings = findings(&Protocols::default(), &recorded(), &accepted);

    let proposed: Vec<&Contract> = findings.iter().filter_map(Finding::proposed).collect();
    assert!(proposed.iter().all(|it| it.tag == accepted[0].tag), "{proposed:?}");
    assert!(proposed.iter().all(|it| it.order == accepted[0].order), "{proposed:?}");
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

/// A message of a client over a WebSocket, and what the server says until the next one.
fn sent(message: &Value, said: &[Value]) -> Interaction {
    let lines = said.iter().map(|line| format!("{line}\n"));
    let response = Response::whole("application/x-ndjson", lines.collect::<String>());
    let body = message.to_string().into();
    let request = Request { body, ..Request::of("SEND", "/v1/realtime") };
    Interaction::of(request, Response { status: 101, ..response })
}

/// A session in which a client speaks a few times. The second time it interrupts the answer.
fn session(number: usize, lost: &str) -> Cassette {
    let of =
        |kind: &str, id: usize| json!({"type": kind, "response_id": format!("resp_{number}x{id}")});
    let said = |kinds: &[&str], id: usize| -> Vec<Value> {
        let kinds = kinds.iter().filter(|kind| **kind != lost);
        kinds.map(|kind| of(kind, id)).collect()
    };
    let text = format!("be brief, {number}");
    let mut interactions = vec![sent(
        &json!({"type": "session.update", "session": {"instructions": text}}),
        &said(&["session.updated"], 0),
    )];
    for turn in 0..3 {
        let delta = "response.output_text.delta";
        let begun = ["response.created", "response.output_item.added", delta, delta];
        let rest = ["response.output_text.done", "response.output_item.done", "response.done"];
        let item = json!({"type": "conversation.item.create", "item": {"text": format!("{turn} {number}")}});
        interactions.push(sent(&item, &said(&["conversation.item.added"], turn)));
        let create =
            json!({"type": "response.create", "event_id": format!("event_{turn}{number}")});
        if turn == 1 {
            let cancel = json!({"type": "response.cancel", "event_id": format!("event_x{number}")});
            interactions.push(sent(&create, &said(&begun, turn)));
            interactions.push(sent(&cancel, &said(&rest, turn)));
        } else {
            interactions.push(sent(&create, &said(&[&begun[..], &rest].concat(), turn)));
        }
    }
    Cassette { interactions, ..Cassette::default() }
}

fn sessions(count: usize, lost: &str) -> Vec<(Name, Cassette)> {
    let name = |number: usize| Name::new(format!("session-{number}")).unwrap();
    (0..count).map(|number| (name(number), session(number, lost))).collect()
}

#[test]
fn what_follows_each_type_of_message_of_a_client_has_an_order_of_its_own() {
    let recorded = sessions(2, "");
    let traffic = Traffic::of(&Protocols::default(), &[], recorded.iter().map(|(n, it)| (n, it)));
    let findings = check(&traffic, &[]);
    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };

    assert_snapshot!(order(contract), @r#"
    SEND /v1/realtime -> 101 application/x-ndjson
      orders
        when type="conversation.item.create"
          conversation.item.added
        when type="response.create"
          response.created response.output_item.added response.output_text.delta+
          (response.output_text.done response.output_item.done response.done)?
        when type="response.cancel"
          response.output_text.done response.output_item.done response.done
        when type="session.update"
          session.updated
    "#);
}

#[test]
fn an_end_that_the_server_never_says_any_more_breaks_clients_of_a_web_socket() {
    for count in [1, 2, 4, 12] {
        for lost in ["response.done", "session.updated", "conversation.item.added"] {
            let (old, new) = (sessions(count, ""), sessions(count, lost));
            let known =
                |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &[] };

            let report = compare(known("old", &old), known("new", &new));

            let worst = report.changes.first().map(|change| (change.verdict, change.what.as_str()));
            let (verdict, what) = worst.unwrap_or_else(|| panic!("{lost} is hidden in {count}"));
            assert_eq!(verdict, Verdict::Breaking, "{count}: {what}");
            assert!(what.contains(lost), "{count}: {what}");
        }
    }
}

#[test]
fn types_of_messages_that_are_answered_alike_make_one_case() {
    let call = |method: &str, number: usize| {
        let call = json!({"jsonrpc": "2.0", "id": number, "method": method});
        let result = json!({"jsonrpc": "2.0", "id": number, "result": {}});
        let progress = json!({"jsonrpc": "2.0", "method": "progress", "params": {"n": number}});
        match method {
            "run" => sent(&call, &[progress.clone(), progress, result]),
            "cancelled" => sent(&call, &[]),
            _ => sent(&call, &[result]),
        }
    };
    let methods = ["open", "run", "list", "run", "cancelled", "list", "open", "read"];
    let interactions = methods.iter().enumerate().map(|(number, method)| call(method, number));
    let recorded = Cassette { interactions: interactions.collect(), ..Cassette::default() };
    let contract = learned(&Protocols::default(), &recorded);

    assert_snapshot!(order(&contract), @r#"
    SEND /v1/realtime -> 101 application/x-ndjson
      orders
        when method="run"
          progress+ result
        when method="cancelled"
          ()
        when method="list" | "open" | "read"
          result
    "#);
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), contract);
    assert_eq!(findings(&Protocols::default(), &recorded, &[contract]), []);
}

/// A session with an agent that speaks JSON-RPC without saying so, as Codex does.
fn thread(number: usize) -> Cassette {
    let told = |method: &str, item: usize| {
        let thread = format!("thread-{number}");
        json!({"method": method, "params": {"threadId": thread, "item": item}})
    };
    let result = |id: usize| json!({"id": id, "result": {"at": number * 10 + id}});
    let mut turn = vec![result(2), told("turn/started", 0)];
    for item in 0..number % 3 {
        turn.extend(["item/started", "item/delta", "item/completed"].map(|it| told(it, item)));
    }
    turn.push(told("turn/completed", 0));
    let call = |id: usize, method: &str| json!({"id": id, "method": method, "params": {"n": id}});
    let interactions = vec![
        sent(&call(0, "initialize"), &[result(0)]),
        sent(&json!({"method": "initialized"}), &[]),
        sent(
            &call(1, "thread/start"),
            &[result(1), json!({"method": "thread/started", "params": {}})],
        ),
        sent(&call(2, "turn/start"), &turn),
        sent(&call(3, "thread/read"), &[result(3)]),
    ];
    Cassette { interactions, ..Cassette::default() }
}

#[test]
fn what_answers_a_call_of_json_rpc_has_its_type_by_that_alone() {
    let name = |number: usize| Name::new(format!("thread-{number}")).unwrap();
    let recorded: Vec<(Name, Cassette)> = (0..12).map(|it| (name(it), thread(it))).collect();
    let traffic = Traffic::of(&Protocols::default(), &[], recorded.iter().map(|(n, it)| (n, it)));
    let findings = check(&traffic, &[]);
    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };

    assert_snapshot!(order(contract), @r#"
    SEND /v1/realtime -> 101 application/x-ndjson
      tag
        /method
      orders
        when method="initialized"
          ()
        when method="thread/start"
          result thread/started
        when method="turn/start"
          result turn/started (item/started item/delta item/completed)* turn/completed
        when method="initialize" | "thread/read"
          result
    "#);
    assert!(contract.to_string().contains("result of thread/read"), "{contract}");
}

/// What a server says while it fetches something, to the end.
fn fetched(number: usize, last: Option<&str>) -> Interaction {
    let mut said = vec![r#"{"status":"pulling manifest"}"#.to_owned()];
    for part in 0..=number % 3 {
        let digest = format!("{:012x}", 0x9e37_79b9_7f4a_u64 >> (number + part));
        said.push(format!(
            r#"{{"status":"pulling {digest}","digest":"{digest}","completed":{part}}}"#
        ));
    }
    said.push(r#"{"status":"verifying sha256 digest"}"#.to_owned());
    said.extend(last.map(|last| format!(r#"{{"status":"{last}"}}"#)));
    let mut fetched = interaction(&said);
    fetched.request.body = format!(r#"{{"model":{number}}}"#).into();
    fetched
}

#[test]
fn what_came_of_a_stream_is_told_where_its_messages_have_no_type() {
    let pulled = |last: Option<&str>| -> Cassette {
        let interactions = (0..12).map(|number| fetched(number, last)).collect();
        Cassette { interactions, ..Cassette::default() }
    };
    let contract = learned(&Protocols::default(), &pulled(Some("success")));

    assert_snapshot!(order(&contract), @r#"
    POST /runs -> 200 text/event-stream
      tag
        with /completed
      order
        object[status="pulling manifest"] completed+ object[status="verifying sha256 digest"]
        object[status="success"]
    "#);
    for (last, parts) in
        [(Some("success"), &[][..]), (None, &["order"]), (Some("failed"), &["order", "events"])]
    {
        let broken = contract.broken_by(&Protocols::default(), &fetched(1, last), None);
        let found: Vec<&str> = broken.iter().map(|breach| breach.part).collect();
        assert_eq!(found, parts, "{last:?}: {broken:?}");
    }
}

/// Streams of events with names; what is no JSON is text.
fn streams(events: impl Fn(usize) -> Vec<(&'static str, String)>) -> Vec<(Name, Cassette)> {
    let stream = |number: usize| {
        let said: Vec<(&str, String)> = events(number);
        let body = said.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
        let mut interaction = interaction(&[]);
        if let Outcome::Response(response) = &mut interaction.outcome {
            response.body = Body::Whole(body.collect::<String>().into());
        }
        let cassette = Cassette { interactions: vec![interaction], ..Cassette::default() };
        (Name::new(format!("run-{number}")).unwrap(), cassette)
    };
    (0..12).map(stream).collect()
}

/// What is told of streams where others were accepted.
fn told(accepted: &[(Name, Cassette)], recorded: &[(Name, Cassette)]) -> Vec<String> {
    let traffic = |contracts: &[Contract], all: &[(Name, Cassette)]| {
        let all = all.iter().map(|(name, cassette)| (name, cassette));
        check(&Traffic::of(&Protocols::default(), contracts, all), contracts)
    };
    let contracts = traffic(&[], accepted).into_iter().map(|finding| match finding {
        Finding::New(contract) => contract,
        finding => panic!("{finding:?}"),
    });
    let contracts: Vec<Contract> = contracts.collect();
    assert_eq!(traffic(&contracts, accepted), []);
    traffic(&contracts, recorded).iter().map(|finding| format!("{finding:?}")).collect()
}

#[test]
fn an_event_of_another_name_is_another_message_whatever_it_says_itself() {
    let runs = |last: &'static str| {
        streams(move |number| {
            let run = |status: &str| {
                json!({"object": "run", "id": format!("run_{number}a7Qx92"), "status": status})
                    .to_string()
            };
            let part = json!({"object": "part", "text": "x"}).to_string();
            vec![
                ("run.created", run("queued")),
                ("run.in_progress", run("in_progress")),
                ("part", part),
                (last, run("completed")),
            ]
        })
    };
    let outcomes = |name: &'static str| {
        streams(move |number| {
            let data = json!({"data": {"n": number}}).to_string();
            let errors = json!({"errors": [{"message": "no"}]}).to_string();
            let last = if number % 2 == 0 { data.clone() } else { errors };
            vec![(name, data), (name, last)]
        })
    };

    assert_eq!(told(&runs("run.completed"), &runs("run.completed")).len(), 0);
    assert!(!told(&runs("run.completed"), &runs("run.done")).is_empty());
    assert!(!told(&outcomes("next"), &outcomes("data")).is_empty());
}

#[test]
fn a_message_that_ends_another_one_names_it_in_a_field_called_id_too() {
    let part = |is_other: bool| {
        streams(move |number| {
            let id = |at: usize| format!("part_7f3c{}d{at}", 17 * number + at);
            let said = |id: String| json!({ "id": id }).to_string();
            let end = if is_other { id(9) } else { id(2) };
            vec![
                ("start", said(id(1))),
                ("end", said(id(1))),
                ("start", said(id(2))),
                ("end", said(end)),
                ("finish", "{}".to_owned()),
            ]
        })
    };

    let (old, new) = (part(false), part(true));
    let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &[] };

    let changes = compare(known("old", &old), known("new", &new)).changes;

    let tie = changes.iter().find(|it| it.what.contains("end.id")).expect("it is told");
    assert_eq!(tie.verdict, Verdict::Breaking, "{tie:?}");
}

#[test]
fn of_a_tie_that_breaks_it_counts_who_could_break_it() {
    // Two of twelve streams have two numbers, and each of them counts back.
    let counts = |last: usize| {
        streams(move |number| {
            let one = |seq: usize| ("step", json!({ "seq": seq, "text": "a b" }).to_string());
            let second = (number % 6 == 0 || last > 1).then(|| one(last));
            [one(1)].into_iter().chain(second).chain([("end", "{}".to_owned())]).collect()
        })
    };
    let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &[] };
    let (old, new) = (counts(2), counts(0));

    let changes = compare(known("old", &old), known("new", &new)).changes;

    let tie = changes.iter().find(|it| it.what.contains("step.seq")).expect("it is told");
    assert!(tie.why.contains("2 of 2") || tie.verdict == Verdict::Breaking, "{tie:?}");
}

#[test]
fn a_text_that_becomes_json_is_told_beside_other_json() {
    let streams = |is_json: bool| {
        streams(move |number| {
            let word = ["sun", "rain", "wind"][number % 3];
            let said = if is_json { json!({"text": word}).to_string() } else { word.to_owned() };
            vec![("output", said.clone()), ("output", said), ("done", "{}".to_owned())]
        })
    };

    let told = |old: &[_], new: &[_]| {
        let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &[] };
        let changes = compare(known("old", old), known("new", new)).changes;
        changes.into_iter().map(|it| (it.verdict, it.what)).collect::<Vec<_>>()
    };
    let (text, object) = (streams(false), streams(true));
    let is = |what: &str| vec![(Verdict::Breaking, what.to_owned())];

    assert_eq!(
        told(&text, &object),
        is("a message can be `{text: string}` (in `output` messages)")
    );
    assert_eq!(told(&object, &text), is("a message can be `string` (in `output` messages)"));
}
