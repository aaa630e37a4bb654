//! What a server promises: learned, written, and held against one answer.

use retape::cassette::{Body, End, Evidence, Id, Interaction, Outcome, Reach, Request, Response};
use retape::config::Config;
use retape::contract::{Contract, Finding, History, Traffic, check};
use retape::message::Protocols;
use retape::{Cassette, Name};

/// What a chat says to a question, and to an approval: the lines of a stream.
const ASKED: [&str; 3] = [r#"{"type":"thought"}"#, r#"{"type":"question","id":7}"#, "[DONE]"];
const APPROVED: [&str; 3] = [r#"{"type":"result","ok":true}"#, r#"{"type":"thought"}"#, "[DONE]"];

fn interaction(asked: &str, run: usize, events: &[&str]) -> Interaction {
    let id = format!(r#""run_id":"run-00{run}","type""#);
    let data = events.iter().map(|data| format!("data: {}\n\n", data.replace(r#""type""#, &id)));
    let response = Response::whole("text/event-stream", data.collect::<String>());
    let body = format!(r#"{{"type":"{asked}","text":"say {run}"}}"#).into();
    Interaction::of(Request { body, ..Request::of("POST", "/chat") }, response)
}

fn learned() -> Contract {
    learned_from(12)
}

/// What so many questions and as many approvals teach.
fn learned_from(times: usize) -> Contract {
    let asked = (0..times).map(|run| interaction("message", run, &ASKED));
    let approved = (0..times).map(|run| interaction("approval", run, &APPROVED));
    taught_by(asked.chain(approved).collect())
}

fn taught_by(interactions: Vec<Interaction>) -> Contract {
    let cassette = Cassette { interactions, ..Cassette::default() };
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
fn what_is_made_up_in_a_body_alone_opens_no_path() {
    let endpoint = |id: &str, at: &str| {
        let mut interaction = interaction("message", 9, &ASKED);
        interaction.request.path = "/api/2.0/chat".to_owned();
        let mut cassette = Cassette { interactions: vec![interaction], ..Cassette::default() };
        let (value, at) = (id.to_owned(), at.to_owned());
        let (reach, evidence) = (Reach::Field, Evidence::Runs);
        let id = Id { value, interaction: 0, at, reach, evidence };
        cassette.ids.get_or_insert_default().client = vec![id];
        let name = Name::new("chat").unwrap();
        let findings = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);
        let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
        contract.endpoint.path.clone()
    };

    assert_eq!(endpoint("2.0", "/value"), "/api/2.0/chat");
    assert_eq!(endpoint("2.0", "path.2"), "/api/{api_id}/chat");
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
fn four_recordings_of_a_case_make_no_case() {
    let contract = learned_from(4);

    assert!(!contract.to_string().contains("when"), "{contract}");
    let other = interaction("approval", 9, &ASKED);
    assert_eq!(contract.broken_by(&Protocols::default(), &other, None), []);
}

#[test]
fn what_no_case_knows_may_be_as_in_any() {
    let contract = learned();
    let parts = |asked: &str, said: &[&str]| -> Vec<&'static str> {
        let breaches =
            contract.broken_by(&Protocols::default(), &interaction(asked, 9, said), None);
        breaches.iter().map(|breach| breach.part).collect()
    };

    assert_eq!(parts("reminder", &ASKED), [""; 0]);
    assert_eq!(parts("reminder", &APPROVED), [""; 0]);
    assert_eq!(parts("reminder", &ASKED[..2]), ["order"]);
}

#[test]
fn what_comes_between_any_two_messages_is_no_part_of_the_order() {
    let said = [
        r#"{"type":"hello"}"#,
        r#"{"type":"think","text":"t#"}"#,
        r#"{"type":"token","text":"a#"}"#,
        r#"{"type":"cite","url":"u#"}"#,
        r#"{"type":"stop"}"#,
        r#"{"type":"bye"}"#,
    ];
    let stream = |run: usize, ticks: usize| {
        let mut events: Vec<String> = Vec::new();
        let missing = [1, 3].map(|at| run / at % 2 == 1);
        for (at, event) in said.iter().enumerate() {
            if at > 0 && (run * 7 + at * 5) % 3 < ticks {
                events.push(format!(r#"{{"type":"tick","t":{}}}"#, 1_790_000_000 + run * 60 + at));
            }
            let is_missing = (at == 1 && missing[0]) || (at == 3 && missing[1]);
            if !is_missing {
                events.push(event.replace('#', &run.to_string()));
            }
        }
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        interaction("message", run, &events)
    };

    let contract = taught_by((0..12).map(|run| stream(run, 2)).collect());

    let text = contract.to_string();
    assert!(text.contains("\n  anywhere\n    tick\n"), "{text}");
    assert_eq!(text.parse::<Contract>().unwrap(), contract);
    let broken = |interaction: &Interaction| {
        let breaches = contract.broken_by(&Protocols::default(), interaction, None);
        breaches.into_iter().filter(|it| it.part == "order").map(|it| it.what).collect::<Vec<_>>()
    };
    assert_eq!(broken(&stream(30, 3)), [""; 0]);
    let mut cut = stream(31, 3);
    let Outcome::Response(response) = &mut cut.outcome else { panic!("it is an answer") };
    let body = String::from_utf8(response.body.bytes().to_vec()).unwrap();
    let bye = body.rfind("data: ").unwrap();
    response.body = Body::Whole(body[..bye].to_owned().into());
    assert_eq!(broken(&cut), ["expected `bye` after `stop`, got the end of the stream"]);
}

#[test]
fn yes_or_no_may_tell_the_type() {
    let stream = |run: usize| {
        let part = format!(r#"{{"model":"m","message":{{"content":"c{run}"}},"done":false}}"#);
        let last = format!(
            r#"{{"model":"m","message":{{"content":""}},"done":true,"done_reason":"stop","eval_count":{run},"total_duration":{}}}"#,
            run * 1_000
        );
        let mut events = vec![part.as_str(); 2 + run % 3];
        events.push(&last);
        interaction("message", run, &events)
    };

    let contract = taught_by((0..6).map(stream).collect());

    assert!(order_of(&contract).contains("tag\n    /done\n  order\n    false+ true"), "{contract}");
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), contract);
}

#[test]
fn fields_that_come_together_tell_the_type() {
    let stream = |run: usize| {
        let part = format!(r#"{{"text":"c{run}"}}"#);
        let last = format!(r#"{{"text":"","why":"stop","tokens":{run},"took":{}}}"#, run * 10);
        let mut events = vec![part.as_str(); 2 + run % 3];
        events.push(&last);
        interaction("message", run, &events)
    };

    let contract = taught_by((0..8).map(stream).collect());

    assert!(order_of(&contract).contains("tag\n    with /to"), "{contract}");
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), contract);
    let unended = interaction("message", 9, &[r#"{"text":"c9"}"#; 2]);
    let breaches = contract.broken_by(&Protocols::default(), &unended, None);
    assert!(breaches.iter().any(|breach| breach.part == "order"), "{breaches:?}");
}

#[test]
fn the_name_of_an_event_and_its_type_are_both_promised() {
    let said = ["message_start", "content_block_delta", "message_stop"];
    let stream = |run: usize, name: &dyn Fn(&str) -> String| {
        let mut interaction = interaction("message", run, &[]);
        let Outcome::Response(response) = &mut interaction.outcome else { panic!("an answer") };
        let events = said.map(|it| format!("{}data: {{\"type\":\"{it}\"}}\n\n", name(it)));
        response.body = Body::Whole(events.concat().into());
        interaction
    };
    let named = |it: &str| format!("event: {it}\n");
    let contract = taught_by((0..4).map(|run| stream(run, &named)).collect());
    let broken = |name: &dyn Fn(&str) -> String| {
        let breaches = contract.broken_by(&Protocols::default(), &stream(9, name), None);
        breaches.into_iter().map(|breach| breach.what).collect::<Vec<_>>().join("; ")
    };

    assert!(contract.to_string().contains("  tag\n    event and type\n"), "{contract}");
    assert_eq!(broken(&named), "");
    let unnamed = broken(&|_| String::new());
    assert!(unnamed.contains("got `message_start as no event`"), "{unnamed}");
    let renamed = broken(&|it| format!("event: a_{it}\n"));
    assert!(renamed.contains("got `message_start as event a_message_start`"), "{renamed}");
}

#[test]
fn a_field_that_others_come_back_to_is_a_key_whatever_its_name() {
    let stream = |run: usize| {
        let say = |kind: &str, cid: usize| format!(r#"{{"type":"{kind}","cid":"c{run}x{cid}"}}"#);
        let mut left: Vec<Vec<String>> = (0..1 + run % 3)
            .map(|cid| match (run + cid) % 2 {
                0 => ["call.open", "call.delta", "call.close"].map(|it| say(it, cid)).to_vec(),
                _ => ["note.open", "note.delta", "note.delta", "note.close"]
                    .map(|it| say(it, cid))
                    .to_vec(),
            })
            .collect();
        let mut events = vec![r#"{"type":"begin"}"#.to_owned()];
        for turn in 0.. {
            let Some(at) = (turn * 7 + run).checked_rem(left.len()) else { break };
            events.push(left[at].remove(0));
            left.retain(|it| !it.is_empty());
        }
        events.push(r#"{"type":"end"}"#.to_owned());
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        interaction("message", run, &events)
    };

    let contract = taught_by((0..20).map(stream).collect());

    assert!(order_of(&contract).contains("per cid"), "{contract}");
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
fn taught(times: usize, conversations: &[&Turns]) -> Contract {
    let numbered = (10..).zip(conversations.iter().cycle().take(times * conversations.len()));
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
    let contract = taught(
        12,
        &[
            &[(ASK, CALLS), (APPROVE, ANSWERS)],
            &[(ASK, CALLS), (ASK, REFUSES)],
            &[(APPROVE, REFUSES), (ASK, CALLS)],
        ],
    );

    insta::assert_snapshot!(order_of(&contract), @r#"
    orders
      when call_id known
        return thought end[why="done"] usage
      when role="tool"
        end[why="failed"] error
      when role="user", after end[why="waiting"]
        end[why="failed"] error
      when role="user"
        thought call end[why="waiting"] usage
    "#);
}

#[test]
fn what_was_answered_before_decides() {
    let contract =
        taught(12, &[&[(ASK, CALLS), (APPROVE, ANSWERS)], &[(ASK, CALLS), (ASK, REFUSES)]]);
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
    let contract =
        taught(12, &[&[(ASK, CALLS), (APPROVE, ANSWERS), (ASK, &ANSWERS_NOTHING_CALLED)]]);

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
    when kind=\"plan, then act\" | \"this and \\\"that\\\" | or\", q=\"one, two\"
      e
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
    let by_hand = text.replace("\", q=", "\",q=").replace(", stream missing", ",   stream missing");
    assert_eq!(by_hand.parse::<Contract>().unwrap(), contract);
    for wrong in ["stream=true,,q=\"one\"", "stream=true,é", "stream=true,", ","] {
        let text = format!("POST /chat -> 200\n  orders\n    when {wrong}\n      a\n");
        let error = text.parse::<Contract>().unwrap_err();
        let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("this is no condition"), "{wrong}: {why}");
    }
}

fn cut_short(run: usize, events: &[&str]) -> Interaction {
    let mut cut = interaction("message", run, events);
    let Outcome::Response(response) = &mut cut.outcome else { panic!("it is an answer") };
    response.end = End::ServerClosed;
    cut
}

#[test]
fn a_stream_that_was_cut_is_judged_as_far_as_it_came() {
    let parts = |events: &[&str]| parts(&cut_short(77, events));

    assert_eq!(parts(&[]), [""; 0]);
    assert_eq!(parts(&ASKED[..1]), [""; 0]);
    assert_eq!(parts(&ASKED[1..2]), ["order"]);
    assert_eq!(parts(&[ASKED[0], r#"{"type":"unheard_of"}"#]), ["order", "events"]);
    assert_eq!(parts(&[r#"{"type":"thought","more":1}"#]), ["events"]);
}

#[test]
fn a_stream_that_was_cut_teaches_how_messages_begin_and_not_how_they_end() {
    let whole = (0..12).map(|run| interaction("message", run, &ASKED));
    let cut = cut_short(12, &[r#"{"type":"hint"}"#, ASKED[0]]);

    let contract = taught_by(whole.chain([cut.clone()]).collect());

    assert_eq!(order_of(&contract), "  order\n    hint? thought question [DONE]");
    let breaches = |it: &Interaction| contract.broken_by(&Protocols::default(), it, None).len();
    assert_eq!(breaches(&cut), 0);
    assert_eq!(breaches(&interaction("message", 77, &ASKED[..2])), 1);
}

#[test]
fn what_a_keep_alive_says_has_a_shape_and_its_coming_is_no_change() {
    let with = |ping, run| interaction("message", run, &[ping, ASKED[0], ASKED[1], ASKED[2]]);
    let ping = r#"{"type":"ping","alive":true}"#;
    let contract = taught_by((0..12).map(|run| with(ping, run)).collect());
    assert_eq!(contract.to_string().parse::<Contract>().unwrap(), contract);
    let parts = |contract: &Contract, interaction: &Interaction| -> Vec<&'static str> {
        let breaches = contract.broken_by(&Protocols::default(), interaction, None);
        breaches.iter().map(|breach| breach.part).collect()
    };

    assert_eq!(parts(&contract, &with(ping, 77)), [""; 0]);
    assert_eq!(parts(&contract, &interaction("message", 77, &ASKED)), [""; 0]);
    assert_eq!(parts(&learned(), &with(ping, 77)), [""; 0]);
    assert_eq!(parts(&contract, &with(&ping.replace("true", "1"), 77)), ["keep-alives"]);
}

#[test]
fn what_comes_back_refers_to_an_earlier_answer() {
    let contract =
        taught(3, &[&[(ASK, CALLS), (APPROVE, ANSWERS)], &[(ASK, CALLS), (ASK, REFUSES)]]);
    let text = contract.to_string();
    assert!(!text.contains("refers to"), "three times are too few: {text}");

    let contract = taught(3, &[&APPROVED_CALL as &Turns; 2]);

    let text = contract.to_string();
    assert!(text.contains("    return.call_id refers to earlier call.call_id\n"), "{text}");
    assert!(
        !text.contains("    request."),
        "what a client says is no promise of the server: {text}"
    );
    assert_eq!(text.parse::<Contract>().unwrap(), contract);
}

const CALLS_ITSELF: &[&str] = &[
    r#"{"type":"tool_call","call_id":"call-9f8e7d6c5b4a#"}"#,
    r#"{"type":"return","call_id":"call-9f8e7d6c5b4a#"}"#,
    r#"{"type":"tool_call","call_id":"call-1a2b3c4d5e6f#"}"#,
    r#"{"type":"return","call_id":"call-1a2b3c4d5e6f#"}"#,
    r#"{"type":"end","why":"done"}"#,
    r#"{"type":"usage"}"#,
];

const UNHEARD: &[&str] = &[
    r#"{"type":"tool_call","call_id":"call-9f8e7d6c5b4a#"}"#,
    r#"{"type":"return","call_id":"call-000000000000#"}"#,
    r#"{"type":"end","why":"done"}"#,
    r#"{"type":"usage"}"#,
];

#[test]
fn what_one_of_several_says_before_is_referred_to() {
    let contract = taught(6, &[&APPROVED_CALL, &[(ASK, CALLS_ITSELF)]]);
    let text = contract.to_string();
    let said = "return.call_id refers to earlier call.call_id or tool_call.call_id";
    assert!(text.contains(&format!("    {said}\n")), "{text}");
    assert_eq!(text.parse::<Contract>().unwrap(), contract);

    let turns = &[(ASK, CALLS), (APPROVE, ANSWERS), (ASK, CALLS_ITSELF), (ASK, UNHEARD)];
    let turns = conversation(turns, 77);
    let broken = |turn: usize, earlier: usize| -> usize {
        let history = History::of(&turns[..earlier], &Protocols::default());
        let breaches = contract.broken_by(&Protocols::default(), &turns[turn], Some(&history));
        breaches.iter().filter(|breach| breach.what.starts_with(said)).count()
    };

    assert_eq!([broken(1, 1), broken(2, 0)], [0, 0]);
    assert_eq!([broken(1, 0), broken(3, 3)], [1, 1]);
}

/// What is thought says most of it before, but not where a tool is called at once.
const THINKS: &[&str] = &[
    r#"{"type":"thought","step_id":"step-9f8e7d6c5b4a#"}"#,
    r#"{"type":"call","step_id":"step-9f8e7d6c5b4a#"}"#,
];
const RETURNS: &[&str] = &[r#"{"type":"return","step_id":"step-9f8e7d6c5b4a#"}"#];
const ACTS: &[&str] = &[
    r#"{"type":"thought","step_id":"step-9f8e7d6c5b4a#"}"#,
    r#"{"type":"tool_call","step_id":"step-9f8e7d6c5b4a#"}"#,
    r#"{"type":"return","step_id":"step-9f8e7d6c5b4a#"}"#,
    r#"{"type":"tool_call","step_id":"step-1a2b3c4d5e6f#"}"#,
    r#"{"type":"return","step_id":"step-1a2b3c4d5e6f#"}"#,
];
const CALLS_AT_ONCE: &[&str] = &[r#"{"type":"call","step_id":"step-9f8e7d6c5b4a#"}"#];
const ACTS_AT_ONCE: &[&str] = &[
    r#"{"type":"tool_call","step_id":"step-9f8e7d6c5b4a#"}"#,
    r#"{"type":"return","step_id":"step-9f8e7d6c5b4a#"}"#,
];

#[test]
fn the_fewest_that_say_all_before_are_referred_to() {
    let asked_first: &Turns = &[(ASK, THINKS), (APPROVE, RETURNS)];
    let asked_at_once: &Turns = &[(ASK, CALLS_AT_ONCE), (APPROVE, RETURNS)];
    let (acts, acts_at_once): (&Turns, &Turns) = (&[(ASK, ACTS)], &[(ASK, ACTS_AT_ONCE)]);

    let talks = [asked_first, asked_first, asked_first, asked_at_once, acts, acts, acts_at_once];
    let text = taught(3, &talks).to_string();

    let said = "return.step_id refers to earlier call.step_id or tool_call.step_id";
    assert!(text.contains(&format!("    {said}\n")), "{text}");
}

#[test]
fn what_refers_to_nothing_is_told_with_its_place() {
    let contract = taught(3, &[&APPROVED_CALL as &Turns; 2]);
    let turns = conversation(&[(ASK, CALLS), (APPROVE, ANSWERS)], 77);
    let broken = |earlier: Option<&History>| -> Vec<String> {
        let breaches = contract.broken_by(&Protocols::default(), &turns[1], earlier).into_iter();
        breaches.filter(|breach| breach.part == "invariants").map(|breach| breach.what).collect()
    };

    assert_eq!(broken(Some(&History::of(&turns[..1], &Protocols::default()))), [""; 0]);
    assert_eq!(broken(None), [""; 0], "what is not known breaks nothing");
    assert_eq!(
        broken(Some(&History::of(&[], &Protocols::default()))),
        ["return.call_id refers to earlier call.call_id: \
             `call-9f8e7d6c5b4a77` at /call_id of event 1 refers to nothing before",]
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
    let turns = (0..24).map(|number| if number % 2 == 0 { list(number) } else { call(number) });
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
      orders
        when method="tools/call"
          notifications/progress result
        when method="tools/list"
          result
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
              text: "ok"
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
fn what_answers_a_call_has_a_shape_by_what_was_called_also_without_the_member_jsonrpc() {
    let tags = "tag = ['/method', { at = '/result', is = 'result' }]";
    let protocols = Protocols::of(&Config::parse(&format!("[[protocol]]\n{tags}")).unwrap());
    let turns = (0..24).map(|number| {
        let method = if number % 2 == 0 { "thread/list" } else { "model/list" };
        let said = format!(r#"{{"id":{number},"result":{{"{}":[]}}}}"#, method.replace('/', "_"));
        let mut interaction = interaction("", 0, &[&said]);
        interaction.request.body =
            format!(r#"{{"id":{number},"method":"{method}","params":{{}}}}"#).into();
        interaction
    });
    let cassette = Cassette { interactions: turns.collect(), ..Cassette::default() };
    let name = Name::new("rpc").unwrap();

    let findings = check(&Traffic::of(&protocols, &[], [(&name, &cassette)]), &[]);

    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    let text = contract.to_string();
    for kind in ["result of thread/list", "result of model/list"] {
        assert!(text.contains(&format!("    {kind}\n")), "{text}");
    }
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
fn a_field_that_is_named_like_a_type_tells_though_a_client_said_its_words_first() {
    let of = |number: usize, rules: &str| {
        let mut of =
            interaction("", number, &[&format!(r#"{{"type":"agent","rules":[{rules}]}}"#)]);
        of.request.body =
            format!(r#"{{"kind":"run_first","or":"max_count","number":{number}}}"#).into();
        of
    };
    let (first, most) =
        (r#"{"kind":"run_first","tool":"a"}"#, r#"{"kind":"max_count","limit":3,"of":"b"}"#);
    let contract = taught_by((0..8).map(|n| of(n, &format!("{first},{most}"))).collect());
    let broken = |rules: &str| {
        let breaches = contract.broken_by(&Protocols::default(), &of(9, rules), None);
        breaches.iter().map(|breach| breach.what.clone()).collect::<Vec<_>>()
    };

    assert_eq!(broken(&format!("{first},{most}")), [""; 0]);
    let without = broken(&format!(r#"{{"kind":"run_first"}},{most}"#));
    assert!(without.iter().any(|what| what.contains("tool")), "{without:?}\n{contract}");
}

#[test]
fn a_field_that_repeats_what_the_client_chose_tells_nothing() {
    let of = |number: usize| {
        let (kind, status) = (["render", "encode"][number % 2], ["queued", "done"][number / 2 % 2]);
        let result = if status == "done" { r#","url":"a","bytes":3"# } else { "" };
        let said = format!(r#"{{"kind":"{kind}","status":"{status}"{result}}}"#);
        let mut of = interaction("", number, &[&format!(r#"{{"type":"job","job":{said}}}"#)]);
        of.request.body = format!(r#"{{"kind":"{kind}","number":{number}}}"#).into();
        of
    };

    let text = taught_by((0..8).map(of).collect()).to_string();

    assert!(text.contains("kind: string"), "{text}");
    assert!(text.contains(r#"status: "done" | "queued""#), "{text}");
}

#[test]
fn a_field_that_is_there_or_not_decides() {
    let turn = |number: usize| {
        let (asked, said): (_, &[&str]) = match number % 2 {
            0 => (
                format!(r#"{{"call":{{"token":{number}}},"id":{number}}}"#),
                &[r#"{"type":"part"}"#, r#"{"type":"end"}"#],
            ),
            _ => (format!(r#"{{"call":{{}},"id":{number}}}"#), &[r#"{"type":"end"}"#]),
        };
        let mut interaction = interaction("", number, said);
        interaction.request.body = asked.into();
        interaction
    };
    let cassette = Cassette { interactions: (0..24).map(turn).collect(), ..Cassette::default() };
    let name = Name::new("calls").unwrap();

    let findings = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);

    let [Finding::New(contract)] = findings.as_slice() else { panic!("{findings:?}") };
    insta::assert_snapshot!(order_of(contract), @"
    orders
      when call.token present
        part end
      otherwise
        end
    ");
}

#[test]
fn arguments_that_the_request_declares_are_data() {
    let arguments =
        r#"{"type":"call","arguments":{"city":"Oslo","unit":"c"},"note":{"city":"Oslo"}}"#;
    let called = |schema: &str| {
        let recording = |number: usize| {
            let mut call = interaction("", number, &[arguments]);
            call.request.body = format!(r#"{{"schema":{schema},"number":{number}}}"#).into();
            call
        };
        taught_by((0..3).map(recording).collect()).to_string()
    };

    let declared = called(r#"{"properties":{"city":{},"unit":{}}}"#);
    let unknown = called("{}");

    assert!(declared.contains("arguments: map<string, any>"), "{declared}");
    assert!(unknown.contains("unit: "), "{unknown}");
}

#[test]
fn ten_recordings_show_each_word_of_an_enum_and_an_echo_shows_none() {
    let taught = |times: usize, asks: bool| {
        let recording = |number: usize| {
            let word = ["low", "high"][number % 2];
            let event = format!(r#"{{"type":"set","level":"{word}"}}"#);
            let mut set = interaction("", number, &[&event]);
            let asked = if asks { word } else { "?" };
            set.request.body = format!(r#"{{"level":"{asked}","number":{number}}}"#).into();
            set
        };
        taught_by((0..times).map(recording).collect()).to_string()
    };

    assert!(taught(18, false).contains("level: string"), "{}", taught(18, false));
    assert!(taught(20, false).contains(r#"level: "high" | "low""#), "{}", taught(20, false));
    assert!(taught(20, true).contains("level: string"), "{}", taught(20, true));
}

#[test]
fn what_a_query_or_a_form_says_is_an_echo_where_it_comes_back() {
    let asked = |number: usize, word: &str, by_form: bool| {
        let asks = format!("q={word}+bird&page={number}");
        let says = format!(r#"{{"query":"{word} bird","page":{number},"hits":[]}}"#);
        let mut asked = found(&format!("/find?{asks}"), &says);
        if by_form {
            asked.request.headers.append("content-type", "application/x-www-form-urlencoded");
            (asked.request.path, asked.request.body) = ("/find".to_owned(), asks.into());
        }
        asked
    };

    for by_form in [true, false] {
        let words = ["kite", "heron", "moss", "rain", "elm"].into_iter().zip(1..);
        let contract = taught_by(words.map(|(word, it)| asked(it, word, by_form)).collect());

        let text = contract.to_string();
        assert!(text.contains("page equals request.page\n"), "{text}");
        assert!(text.contains("query equals request.q\n"), "{text}");

        let mut other = asked(9, "gull", by_form);
        assert_eq!(contract.broken_by(&Protocols::default(), &other, None), []);
        let Outcome::Response(response) = &mut other.outcome else { panic!("it was answered") };
        response.body = Body::Whole(r#"{"query":"a gull","page":9,"hits":[]}"#.into());
        let broken = contract.broken_by(&Protocols::default(), &other, None);
        assert_eq!(broken.iter().map(|it| it.part).collect::<Vec<_>>(), ["invariants"]);
    }
}

/// An answer in JSON to a question by GET.
fn found(path: &str, says: &str) -> Interaction {
    let response = Response::whole("application/json", says.to_owned());
    Interaction::of(Request::of("GET", path), response)
}

#[test]
fn what_comes_just_where_it_is_asked_for_has_to_come_there() {
    let page = |number: usize, expand: &str, more: bool, owner: &str| {
        let next = if more { r#","next":"page""# } else { "" };
        let owner = if owner.is_empty() { String::new() } else { format!(r#","owner":"{owner}""#) };
        let says = format!(r#"{{"items":[{{"n":1{owner}}}],"more":{more}{next}}}"#);
        found(&format!("/items?page={number}{expand}"), &says)
    };
    let pages = (0..24).map(|number| {
        let expand = ["", "&expand=owner,tags"][number % 2];
        page(number, expand, number % 3 == 0, ["", "you"][number % 2])
    });
    let contract = taught_by(pages.collect());

    let text = contract.to_string();
    assert!(text.contains("_.items[].owner comes with request.expand=\"owner\"\n"), "{text}");
    assert!(text.contains("next comes with more=true\n"), "{text}");
    let broken = |page: Interaction| contract.broken_by(&Protocols::default(), &page, None).len();
    assert_eq!(broken(page(90, "&expand=owner", true, "you")), 0);
    assert_eq!(broken(page(91, "", false, "")), 0);
    // More than was asked for breaks nobody.
    assert_eq!(broken(page(92, "", false, "you")), 0);
    assert_eq!(broken(page(93, "&expand=tags,owner", false, "")), 1);
    assert_eq!(broken(found("/items?page=94", r#"{"items":[],"more":true}"#)), 1);
    // Clients stop where there is no more, and never ask for the next page.
    assert_eq!(broken(found("/items?page=96", r#"{"items":[],"more":false,"next":"page"}"#)), 1);
    // Of an item that is not there nothing is missing.
    assert_eq!(broken(found("/items?page=95&expand=owner", r#"{"items":[],"more":false}"#)), 0);
}

#[test]
fn what_comes_now_and_then_comes_with_nothing() {
    let contract = taught_by(
        (0..24)
            .map(|number| {
                let phone = if number % 5 < 2 { r#","phone":"1""# } else { "" };
                let says = format!(r#"{{"name":"it","paid":{}{phone}}}"#, number % 2 == 0);
                found(&format!("/it?sort={}&n={number}", ["new", "old"][number % 2]), &says)
            })
            .collect(),
    );

    assert!(!contract.to_string().contains("comes with"), "{contract}");
}

#[test]
fn what_every_recording_shows_of_the_same_two_things_comes_with_nothing() {
    let tool = |number: usize| {
        let says =
            [r#"{"name":"ask","safe":true,"input":"text"}"#, r#"{"name":"run","safe":false}"#];
        found(&format!("/agents/agent-{number:08x}/tool"), says[number % 2])
    };
    let contract = taught_by((0x1f3a_5c70..0x1f3a_5c88).map(tool).collect());

    assert!(!contract.to_string().contains("comes with"), "{contract}");
}

#[test]
fn operations_that_a_header_field_names_are_endpoints_of_their_own() {
    let asked = |name: &str| {
        let mut asked = found("/", "{}");
        asked.request.headers.append("x-amz-target", format!("DynamoDB_20120810.{name}"));
        asked
    };
    let interactions = ["GetItem", "PutItem", "Query", "Scan"].map(asked).to_vec();
    let cassette = Cassette { interactions, ..Cassette::default() };
    let name = Name::new("items").unwrap();

    let traffic = Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]);

    let paths: Vec<&str> = traffic.endpoints().map(|endpoint| endpoint.path.as_str()).collect();
    let target = |name: &str| format!("/#X-Amz-Target=DynamoDB_20120810.{name}");
    assert_eq!(paths, ["GetItem", "PutItem", "Query", "Scan"].map(target));
}

#[test]
fn a_file_that_is_called_after_what_the_server_issued_is_no_endpoint_of_its_own() {
    let paths = |id: &str, file: &str| {
        let mut made = found("/orders", &format!(r#"{{"id":"{id}"}}"#));
        made.request.method = "POST".to_owned();
        let order = found(&format!("/orders/{id}"), "{}");
        let interactions = vec![made, order, found(&format!("/files/{file}"), "{}")];
        let cassette = Cassette { interactions, ..Cassette::default() };
        let name = Name::new("files").unwrap();
        let traffic = Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]);
        traffic
            .endpoints()
            .map(|it| it.path.clone())
            .filter(|it| it.starts_with("/files"))
            .collect::<String>()
    };

    assert_eq!(paths("ord_jthLrnqyrxbpCN", "ord_jthLrnqyrxbpCN.xml"), "/files/{file_id}");
    assert_eq!(paths("ord_jthLrnqyrxbpCN", "help.xml"), "/files/help.xml");
    assert_eq!(paths("ord_jthLrnqyrxbpCN", "ord_jthLrnqyrxbpCN.2"), "/files/ord_jthLrnqyrxbpCN.2");
}

/// An order with these notes, which come back with what the server adds.
fn ordered(number: usize, puts: &[(&str, &str)], adds: &str) -> Interaction {
    let puts: Vec<String> = puts.iter().map(|(name, it)| format!(r#""{name}":"{it}""#)).collect();
    let puts = puts.join(",");
    let paid =
        [r#""status":"new","until":"soon","why":{}"#, r#""status":"paid","by":"card","sum":3"#];
    let says = format!(r#"{{{},"notes":{{{puts}{adds}}}}}"#, paid[number % 2]);
    let mut ordered = found("/orders", &says);
    ordered.request.method = "POST".to_owned();
    ordered.request.body = format!(r#"{{"number":{number},"notes":{{{puts}}}}}"#).into();
    ordered
}

#[test]
fn names_that_clients_choose_are_data_however_few_a_kind_shows() {
    const NAMES: [&str; 8] = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple"];
    let taught =
        |of: &dyn Fn(usize) -> Interaction| taught_by((0..16).map(of).collect()).to_string();
    // Orders that are paid show three of them.
    let name = |number: usize| NAMES[number / 2 % [8, 3][number % 2]];
    let puts = |number: usize| [(name(number), "oak"), (name(number + 2), "yew")];

    let free = taught(&|number| ordered(number, &puts(number)[..1 + number / 2 % 2], ""));
    let added = taught(&|number| ordered(number, &puts(number), r#","kept":"here""#));
    let fixed = taught(&|number| ordered(number, &[("ash", "a"), puts(number)[1]], ""));
    let alike = taught(&|number| ordered(number, &[("ash", "a"), ("elm", "b")], ""));

    assert_eq!(free.matches("notes: map<string, string>").count(), 2, "{free}");
    for (text, name) in [(&added, "kept: string"), (&fixed, "ash: string"), (&alike, "elm: string")]
    {
        assert!(text.contains(name) && !text.contains("map<"), "{text}");
    }
}
