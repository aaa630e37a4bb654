//! What ties the events of a stream together: learning, text, checking.

use proptest::prelude::*;
use retape::cassette::Body;
use retape::contract::invariant::{Event, Invariant, Learner, Trace, Violation};
use retape::contract::order::Extent;
use retape::message::{Message, Messages, Protocols};
use serde_json::json;

use crate::conversations::of_one_question;

/// A request and its events, as type and JSON.
pub type Owned = (Option<String>, Vec<(String, String)>);

pub fn with<T>((request, events): &Owned, work: impl FnOnce(&Trace<'_>) -> T) -> T {
    let events: Vec<Event<'_>> = events.iter().map(|(tag, json)| Event { tag, json }).collect();
    let (request, extent) = (request.as_deref(), Extent::Whole);
    work(&Trace { request, events: &events, earlier: None, extent })
}

pub fn learned<'t>(traces: impl IntoIterator<Item = &'t Owned>) -> Vec<String> {
    let mut learner = Learner::default();
    for trace in traces {
        with(trace, |trace| learner.learn(trace));
    }
    learner.finish().iter().map(ToString::to_string).collect()
}

/// The streams that were recorded from Letta.
fn letta() -> Vec<Owned> {
    let traces = of_one_question().filter_map(|interaction| {
        let response = interaction.response().filter(|it| matches!(it.body, Body::Stream(_)))?;
        let events = Messages::of(response, &Protocols::default()).list;
        let event = |message: Message| (message.tag.to_string(), message.data);
        let request = String::from_utf8(interaction.request.body.to_vec()).ok();
        Some((request, events.into_iter().map(event).collect()))
    });
    traces.collect()
}

/// Agents that call tools: a run of `calls` calls, all told and then all answered.
fn run(number: usize, calls: usize) -> Owned {
    let id = |what: &str, index: usize| format!("{what}-{number}a{index}");
    let request = format!(r#"{{"thread": {{"id": "{}"}}, "text": "Hello"}}"#, id("thread", 0));
    let mut events = Vec::new();
    for index in 0..calls {
        let call = format!(
            r#"{{"run": "{}", "n": {}, "call": {{"id": "{}", "name": "f"}}}}"#,
            id("run", 0),
            10 + 2 * index,
            id("call", index)
        );
        events.push(("call".to_owned(), call));
    }
    for index in (0..calls).rev() {
        let answer = format!(
            r#"{{"run": "{}", "n": {}, "call_id": "{}", "thread": "{}"}}"#,
            id("run", 0),
            100 + number - index,
            id("call", index),
            id("thread", 0)
        );
        events.push(("answer".to_owned(), answer));
    }
    (Some(request), events)
}

fn runs() -> Vec<Owned> {
    (1..8).map(|number| run(number, number)).collect()
}

const OF_RUNS: [&str; 6] = [
    "run constant",
    "answer.thread constant",
    "n increasing",
    "answer.call_id unique",
    "answer.thread equals request.thread.id",
    "answer.call_id refers to call.call.id, each by the end",
];

#[test]
fn what_holds_in_all_traces_is_found_without_what_follows_from_it() {
    let mut expected = OF_RUNS.to_vec();
    expected.insert(4, "call.call.id unique");
    expected.insert(2, "answer.n increasing by 1");

    assert_eq!(learned(&runs()), expected);
}

#[test]
fn numbers_that_are_counted_leave_none_out() {
    let of = |number: usize| {
        let event = |n: usize| ("part".to_owned(), format!(r#"{{"n": {}}}"#, number + n));
        (None, (0..3).map(event).collect())
    };
    let traces: Vec<Owned> = (1..6).map(of).collect();
    let found = learned(&traces);
    assert_eq!(found, ["part.n increasing by 1"]);

    let mut gap = traces[0].clone();
    gap.1.remove(1);
    let invariants = Invariant::parse(&found.join("\n")).unwrap();
    let broken = with(&gap, |trace| Invariant::check(&invariants, trace));

    assert_eq!(broken.len(), 1);
    assert_eq!(
        broken[0].to_string(),
        "part.n increasing by 1: 3 at /n of event 2, but 1 at /n of event 1"
    );
}

#[test]
fn what_had_few_chances_to_fail_is_not_claimed() {
    assert_eq!(learned(&[run(1, 2), run(2, 1)]), [""; 0]);
}

/// Questions, and answers that say what they were asked.
fn echoes(words: &[&str], answer: impl Fn(&str) -> String) -> Vec<Owned> {
    let of = |(number, word): (usize, &&str)| {
        let sort = if number % 2 == 0 { r#", "sort": "new""# } else { "" };
        let request = format!(r#"{{"q": "{word}", "page": "{number}", "model": "only"{sort}}}"#);
        let answer = answer(word).replace("PAGE", &number.to_string());
        (Some(request), vec![("found".to_owned(), answer)])
    };
    words.iter().enumerate().map(of).collect()
}

const WORDS: [&str; 7] = ["kite", "a heron", "moss", "café", "rain", "kite", "elm"];

#[test]
fn what_goes_along_with_the_request_is_an_echo_whatever_it_is() {
    let answer = |word: &str| {
        let word = word.replace('é', "\\u00e9");
        format!(r#"{{"query": "{word}", "page": PAGE, "model": "only", "by": "you"}}"#)
    };

    let found = learned(&echoes(&WORDS, answer));

    // The model is called the same each time: it may be the only one.
    let echoing = ["found.page equals request.page", "found.query equals request.q"];
    assert_eq!(found, echoing);
}

#[test]
fn a_list_may_be_as_long_as_one_that_was_sent() {
    let embedded = |sent: usize, answered: usize| {
        let inputs: Vec<String> = (0..sent).map(|it| format!("word {it}")).collect();
        let data: Vec<_> =
            (0..answered).map(|it| json!({"index": it, "embedding": [0.5]})).collect();
        let answer = json!({"data": data, "usage": {"total_tokens": 7 * sent}});
        let request = json!({"input": inputs, "model": "m"}).to_string();
        (Some(request), vec![("list".to_owned(), answer.to_string())])
    };
    let traces: Vec<Owned> = [3, 1, 5, 2, 7, 4].map(|count| embedded(count, count)).into();

    let invariants = learned(&traces);

    let said = "list.data[] counts request.input[]";
    assert!(invariants.iter().any(|it| it == said), "{invariants:?}");
    let parsed = Invariant::parse(said).unwrap();
    let broken = |sent, answered| {
        with(&embedded(sent, answered), |trace| Invariant::check(&parsed, trace).len())
    };
    assert_eq!([broken(3, 3), broken(3, 2), broken(1, 2)], [0, 1, 1]);
    // Where all have sent as many, nobody knows whether it is always that.
    let alike: Vec<Owned> = (0..9).map(|_| embedded(2, 2)).collect();
    assert!(!learned(&alike).iter().any(|it| it == said));
}

#[test]
fn a_page_has_at_most_as_many_rows_as_were_asked_for() {
    let page = |name: &str, size: usize, rows: usize| {
        let data: Vec<_> = (0..rows).map(|it| json!({"name": format!("row {it}")})).collect();
        let answer = json!({"data": data, "more": rows == size});
        let request = json!({name: size.to_string(), "page": "1"}).to_string();
        (Some(request), vec![("list".to_owned(), answer.to_string())])
    };
    let pages = |name: &str, rows: [usize; 6]| rows.map(|rows| page(name, 3, rows));
    let said = |name: &str| format!("list.data[] at most request.{name}");

    for name in ["limit", "page_size", "maxResults"] {
        let invariants = learned(&pages(name, [3, 3, 1, 3, 2, 0]));
        let said = said(name);
        assert!(invariants.contains(&said), "{invariants:?}");
        let parsed = Invariant::parse(&said).unwrap();
        let broken =
            |rows| with(&page(name, 3, rows), |trace| Invariant::check(&parsed, trace).len());
        assert_eq!([broken(2), broken(3), broken(4)], [0, 0, 1]);
    }
    let full = learned(&pages("page[size]", [3, 3, 3, 3, 3, 3]));
    assert!(full.contains(&said("\"page[size]\"")), "{full:?}");
    // A limit that nothing ever reached may be none, and a number of another name may mean anything.
    assert!(!learned(&pages("limit", [1, 2, 1, 2, 2, 0])).contains(&said("limit")));
    assert!(!learned(&pages("number", [3, 3, 1, 3, 2, 0])).contains(&said("number")));
}

#[test]
fn numbers_of_a_row_belong_together_as_those_of_a_message_do() {
    let paid = |number: usize, wrong: usize| {
        let rows = (0..1 + number % 3).map(|row| {
            let (amount, fee) = (1_000 + 370 * number + 41 * row, 30 + 7 * (number + row) % 50);
            json!({"amount": amount, "fee": fee, "net": amount - fee + wrong * row})
        });
        let answer = json!({"data": rows.collect::<Vec<_>>(), "total": 1 + number % 3});
        (None, vec![("list".to_owned(), answer.to_string())])
    };
    let traces: Vec<Owned> = (0..8).map(|number| paid(number, 0)).collect();

    let invariants = learned(&traces);

    let said = "list.data[].amount sums list.data[].fee and list.data[].net";
    assert!(invariants.iter().any(|it| it == said), "{invariants:?}");
    let parsed = Invariant::parse(said).unwrap();
    let broken = with(&paid(2, 5), |trace| Invariant::check(&parsed, trace));
    let places: Vec<&str> = broken.iter().map(|it| it.at.pointer.as_str()).collect();
    assert_eq!(places, ["/data/1/amount", "/data/2/amount"]);
}

#[test]
fn what_comes_again_in_other_traces_is_not_apart_within_one_by_more_than_chance() {
    let said = |field: &str, values: [&str; 3]| {
        let event = |value: &&str| ("row".to_owned(), format!(r#"{{"{field}":"{value}"}}"#));
        (None, values.iter().map(event).collect::<Vec<_>>())
    };
    let gas = [
        ["0x5208", "0x1a2b3c", "0x9d4f1e"],
        ["0x1a2b3c", "0x5208", "0x77aa01"],
        ["0x77aa02", "0x5208", "0x1a2b3c"],
    ];
    let learned = |field: &str| {
        let traces: Vec<Owned> = gas.iter().map(|values| said(field, *values)).collect();
        learned(&traces)
    };

    assert_eq!(learned("gas"), [""; 0]);
    // An identifier is one by its name.
    assert_eq!(learned("row_id"), ["row.row_id unique"]);
}

#[test]
fn a_list_is_in_the_order_of_one_of_its_fields() {
    let text = "_.data[] sorted by created falling or \"a b\".n rising";
    let invariants = Invariant::parse(text).unwrap();
    assert_eq!(invariants[0].to_string(), text);
    let broken = |rows: &str| {
        let trace = (None, vec![(String::new(), format!(r#"{{"data":[{rows}]}}"#))]);
        with(&trace, |trace| {
            Invariant::check(&invariants, trace).iter().map(ToString::to_string).collect::<Vec<_>>()
        })
    };

    assert_eq!(broken(r#"{"created":9,"a b":{"n":1}},{"created":7,"a b":{"n":0}}"#), [""; 0]);
    assert_eq!(broken(r#"{"created":7,"a b":{"n":1}},{"created":9,"a b":{"n":2}}"#), [""; 0]);
    // Where one of them is not there, nobody knows.
    assert_eq!(broken(r#"{"created":7},{"created":9}"#), [""; 0]);
    assert_eq!(
        broken(r#"{"created":7,"a b":{"n":1}},{"created":9,"a b":{"n":0}}"#),
        [format!("{text}: 9 at /data/1/created of event 1, but 7 at /data/0/created of event 1")]
    );
    for (wrong, why) in [
        ("_.data sorted by created falling", "a list ends in `[]`"),
        ("_.data[] sorted by created", "expected `rising` or `falling`"),
        ("_.data[] sorted by = rising", "expected a field"),
        ("_.data[] sorted by n rising with n=1", "expected what the request says"),
        ("_.data[] sorted by n rising with request.sort", "expected what the request says"),
        ("_.data[] sorted by n rising with no request.sort=1", "expected what the request says"),
    ] {
        let told = Invariant::parse(wrong).unwrap_err().to_string();
        assert!(told.contains(why), "{wrong}: {told}");
    }
}

#[test]
fn a_list_is_in_the_order_that_the_client_asks_for() {
    let text = "_.data[] sorted by n falling with request.order=\"desc\" and no request.q";
    let invariants = Invariant::parse(text).unwrap();
    assert_eq!(invariants[0].to_string(), text);
    let broken = |request: &str| {
        let said = r#"{"data":[{"n":1},{"n":2}]}"#;
        let trace = (Some(request.to_owned()), vec![(String::new(), said.to_owned())]);
        with(&trace, |trace| Invariant::check(&invariants, trace).len())
    };

    let asked = [r#"{"order":"desc"}"#, r#"{"order":"asc"}"#, "{}", r#"{"order":"desc","q":"x"}"#];
    assert_eq!(asked.map(broken), [1, 0, 0, 0]);
}

#[test]
fn what_is_called_like_an_identifier_breaks_what_ties_these() {
    let invariants = Invariant::parse("run constant\nstop.parent refers to start.run").unwrap();
    let broken = |run: &str, parent: &str| {
        let start = ("start".to_owned(), r#"{"run":"run_7f3a91"}"#.to_owned());
        let stop = ("stop".to_owned(), format!(r#"{{"run":"{run}","parent":"{parent}"}}"#));
        let trace = (None, vec![start, stop]);
        let of = |it: &Violation| it.invariant.to_string();
        with(&trace, |trace| {
            Invariant::check(&invariants, trace).iter().map(of).collect::<Vec<_>>()
        })
    };

    assert_eq!(broken("run_7f3a91", "run_7f3a91"), [""; 0]);
    assert_eq!(broken("run_undefined", "run_7f3a91"), ["run constant"]);
    assert_eq!(broken("run_7f3a91", "run_nothing"), ["stop.parent refers to start.run"]);
    // Another word is none of these.
    assert_eq!(broken("none", "root"), [""; 0]);
}

#[test]
fn what_is_said_otherwise_once_or_asked_of_others_too_is_no_echo() {
    let answer = |word: &str| format!(r#"{{"query": "{}"}}"#, word.replace("elm", "oak"));
    assert_eq!(learned(&echoes(&WORDS, answer)), [""; 0]);

    let two = ["moss", "moss", "moss", "moss", "moss", "moss", "kite"];
    let answer = |word: &str| format!(r#"{{"query": "{word}"}}"#);
    assert_eq!(learned(&echoes(&two, answer)), [""; 0]);
}

#[test]
fn a_default_breaks_no_echo() {
    let (mut all, answer) = (Vec::new(), |word: &str| format!(r#"{{"query": "{word}"}}"#));
    all.extend(echoes(&WORDS, answer));
    all.push((Some("{}".to_owned()), vec![("found".to_owned(), answer("everything"))]));

    assert_eq!(learned(&all), ["found.query equals request.q"]);
}

#[test]
fn what_failed_once_is_out() {
    let mut traces = runs();
    traces[3].1[1].1 = traces[3].1[1].1.replace("run-4a0", "run-5a0");
    traces[5].1.pop();

    let found = learned(&traces);

    assert!(!found.contains(&"run constant".to_owned()), "{found:?}");
    assert!(found.contains(&"answer.call_id refers to call.call.id".to_owned()), "{found:?}");
}

#[test]
fn what_is_said_again_has_to_be_referred_to_once() {
    let mut traces = runs();
    for (_, events) in &mut traces {
        let first = events[0].clone();
        let (tag, json) = (first.0, first.1.replace(r#""n": 10"#, r#""n": 200"#));
        events.push((tag, json));
    }
    let found = learned(&traces);
    assert!(found.iter().any(|it| it.ends_with("call.call.id, each by the end")), "{found:?}");

    let invariants = Invariant::parse(&found.join("\n")).unwrap();

    for trace in &traces {
        assert_eq!(with(trace, |trace| Invariant::check(&invariants, trace)), []);
    }
}

#[test]
fn the_pieces_of_one_message_prove_nothing() {
    let piece = |number: usize| format!(r#"{{"id": "message-{number}", "text": "a"}}"#);
    let of = |number: usize| vec![("delta".to_owned(), piece(number)); 9];
    let traces: Vec<Owned> = (10..20).map(|number| (None, of(number))).collect();

    assert_eq!(learned(&traces), [""; 0]);
}

#[test]
fn elements_of_one_message_are_several_things() {
    let said = |number: usize, many: usize| {
        let name = |at: usize| format!(r#"{{"id":"msg-{number}7f3c{at}d"}}"#);
        let all: Vec<String> = (0..many).map(name).collect();
        ("values".to_owned(), format!(r#"{{"messages":[{}]}}"#, all.join(",")))
    };
    let traces: Vec<Owned> =
        (10..22).map(|number| (None, vec![said(number, 1), said(number, 2)])).collect();

    let found = learned(&traces);
    assert!(!found.iter().any(|it| it.contains("constant")), "{found:?}");
}

#[test]
fn identifiers_of_letters_alone_tie_messages_and_words_do_not() {
    let traces = |names: [&str; 6], field: &str| -> Vec<Owned> {
        let event = |tag: &str, name: &str| (tag.to_owned(), format!(r#"{{"{field}":"{name}"}}"#));
        let trace =
            |name: &&str| (None, ["start", "delta", "done"].map(|it| event(it, name)).to_vec());
        names.iter().map(trace).collect()
    };
    let mixed = [
        "HMVxFoYzhsHx",
        "LqdOQtaHRbKw",
        "RIoaustpQoRJ",
        "pQxZbTsVnMkW",
        "aBcRtYqWzXvN",
        "ZkQwErTyUiOp",
    ];
    let words = ["researcher", "summarizer", "planner", "Translator", "web_search", "calculator"];

    assert_eq!(learned(&traces(mixed, "call_id")), ["call_id constant"]);
    assert_eq!(learned(&traces(mixed, "text")), [""; 0]);
    assert_eq!(learned(&traces(words, "agent_id")), [""; 0]);
}

#[test]
fn a_real_server_keeps_to_one_run_and_answers_what_was_approved() {
    let traces = letta();

    let found = learned(&traces);

    assert_eq!(
        found,
        [
            "run_id constant",
            "date not decreasing",
            "tool_return_message.tool_call_id equals request.messages[].approvals[].tool_call_id",
            "tool_return_message.tool_returns[].tool_call_id equals request.messages[].approvals[].tool_call_id",
            "id one per otid",
            "step_id one per id",
            "usage_statistics.context_tokens sums usage_statistics.completion_tokens and usage_statistics.prompt_tokens",
            "usage_statistics.total_tokens sums usage_statistics.completion_tokens and usage_statistics.prompt_tokens",
        ]
    );
    let invariants = Invariant::parse(&found.join("; ")).unwrap();
    for trace in &traces {
        assert_eq!(with(trace, |trace| Invariant::check(&invariants, trace)), []);
    }
}

#[track_caller]
fn check(change: impl FnOnce(&mut Owned), expected: &[&str]) {
    let mut changed = run(3, 2);
    change(&mut changed);

    let invariants = Invariant::parse(&OF_RUNS.join("\n")).unwrap();
    let found = with(&changed, |trace| Invariant::check(&invariants, trace));

    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_trace_that_breaks_something_is_told_with_both_places() {
    check(|_| {}, &[]);
    check(
        |(_, events)| events[1].1 = events[1].1.replace("run-3a0", "run-4a0"),
        &[
            "run constant: `run-4a0` at /run of event 2, but `run-3a0` at /run of event 1",
            "run constant: `run-3a0` at /run of event 3, but `run-4a0` at /run of event 2",
        ],
    );
    check(
        |(_, events)| events[3].1 = events[3].1.replace(r#""n": 103"#, r#""n": 102"#),
        &["n increasing: 102 at /n of event 4, but 102 at /n of event 3"],
    );
    check(
        |(_, events)| {
            events.remove(0);
        },
        &["answer.call_id refers to call.call.id, each by the end: \
           `call-3a0` at /call_id of event 3 refers to nothing before, or nothing refers to it"],
    );
    check(
        |(request, _)| *request = Some(r#"{"thread": {"id": "thread-4a0"}}"#.to_owned()),
        &[
            "answer.thread equals request.thread.id: `thread-3a0` at /thread of event 3 is not what the request says",
            "answer.thread equals request.thread.id: `thread-3a0` at /thread of event 4 is not what the request says",
        ],
    );
    // Where it says nothing, the server says what it likes.
    check(|(request, _)| *request = Some("{}".to_owned()), &[]);
}

#[test]
fn text_is_read_as_it_is_written() {
    let text = r#"run_id constant; _.a.b[].c unique # a comment
"tools/call 2;"."odd # name".x not decreasing;a.b equals request.c[].d
  response.done."x.y" refers to _.a.b, each by the end
  request.a.call_id refers to earlier call.id ; a.call refers to earlier b.call or "or or".call
  usage.total sums usage.in and usage."out=" ; a.used at most a.limit;end.n counts "a.b"
  count counts _.data[]; a.text joins "a.delta".text; a.text extends a.text
  owner comes with request.expand="own er" ; _."a.b".next comes with more=true;it comes with request.all"#;

    let read = Invariant::parse(text).unwrap();

    let shown: Vec<String> = read.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "run_id constant",
            "_.a.b[].c unique",
            r#""tools/call 2;"."odd # name".x not decreasing"#,
            "a.b equals request.c[].d",
            r#"response.done."x.y" refers to _.a.b, each by the end"#,
            "request.a.call_id refers to earlier call.id",
            r#"a.call refers to earlier b.call or "or or".call"#,
            r#"usage.total sums usage.in and usage."out=""#,
            "a.used at most a.limit",
            r#"end.n counts "a.b""#,
            "count counts _.data[]",
            r#"a.text joins "a.delta".text"#,
            "a.text extends a.text",
            r#"owner comes with request.expand="own er""#,
            r#"_."a.b".next comes with more=true"#,
            "it comes with request.all",
        ]
    );
    assert_eq!(Invariant::parse(&shown.join("\n")), Ok(read));
}

#[test]
fn everything_that_is_wrong_is_told_with_a_hint() {
    let text = "run_id konstant; ?; a.b unique or so; a sums b; a joinsb\nrun_id constant";

    let errors = Invariant::parse(text).unwrap_err();

    let shown: Vec<String> = errors
        .errors()
        .iter()
        .map(|error| format!("{:?}: {}", &text[error.span.clone()], error.hint.as_ref().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            r#""konstant": did you mean `constant`?"#,
            r#""?": a field is e.g. `run_id` or `stop_reason.reason`"#,
            r#"" or so": `;` or a new line begins another one"#,
            r#""": write it as `total sums one and other`"#,
            r#""joinsb": did you mean `joins`?"#,
        ]
    );
}

/// Traces of few types, fields and values, so that much holds by chance.
fn traces() -> impl Strategy<Value = Vec<Owned>> {
    let value = (0..5_u8, 0..3_u8).prop_map(|(kind, number)| match kind {
        0 => format!(r#""key-{number}""#),
        1 => format!(r#"["key-{number}", "run-7{number}"]"#),
        2 => format!(r#"{{"id": {number}}}"#),
        3 => format!(r#""{}""#, &"aab"[..usize::from(number)]),
        _ => number.to_string(),
    });
    let json = prop::collection::btree_map(0..3_u8, value, 0..3).prop_map(|fields| {
        let fields = fields.into_iter().map(|(name, value)| format!(r#""f{name}": {value}"#));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    });
    let tag = prop_oneof![Just("a"), Just("b"), Just("c.d")].prop_map(str::to_owned);
    let events = prop::collection::vec((tag, json.clone()), 0..6);
    prop::collection::vec((prop::option::of(json), events), 0..10)
}

proptest! {
    #[test]
    fn what_is_learned_holds_and_is_read_back(traces in traces()) {
        let found = learned(&traces);

        let read = Invariant::parse(&found.join("\n")).unwrap();

        let shown: Vec<String> = read.iter().map(ToString::to_string).collect();
        prop_assert_eq!(shown, found);
        for trace in &traces {
            prop_assert_eq!(with(trace, |trace| Invariant::check(&read, trace)), []);
        }
    }
}

#[test]
fn two_things_may_happen_at_one_time() {
    let traces = |first: usize| -> Vec<Owned> {
        let event = |number: usize, at: usize| {
            let json = format!(r#"{{"at":{}}}"#, first + 1000 * number + 7 * at);
            ("tick".to_owned(), json)
        };
        (0..6).map(|number| (None, (0..4).map(|at| event(number, at)).collect())).collect()
    };

    assert_eq!(learned(&traces(1_763_712_000_000)), ["tick.at not decreasing"]);
    assert_eq!(learned(&traces(17)), ["tick.at increasing"]);
}

#[test]
fn numbers_of_types_that_come_once_each_are_no_series() {
    let trace = |number: usize, again: usize| -> Owned {
        let said = |tag: &str, ms: usize| (tag.to_owned(), format!(r#"{{"ms": {ms}}}"#));
        let tools = (0..=again).map(|at| said("tool", 5 + number + 3 * at));
        (None, tools.chain([said("meter", 100 + number)]).collect())
    };
    let traces = |again: usize| (0..12).map(|at| trace(at, again)).collect::<Vec<Owned>>();

    assert_eq!(learned(&traces(0)), [""; 0]);
    assert_eq!(learned(&traces(1)), ["ms increasing"]);
}

#[test]
fn how_the_rows_of_a_message_follow_each_other_is_not_how_messages_do() {
    let event = |number: usize| {
        let row = |at: usize| format!(r#"{{"left":{}}}"#, 10 * number + at);
        let rows = [0, 1, 2].map(row).join(",");
        ("limits".to_owned(), format!(r#"{{"limits":[{rows}]}}"#))
    };
    let traces: Vec<Owned> = (0..6).map(|number| (None, vec![event(number)])).collect();

    assert_eq!(learned(&traces), [""; 0]);
    // One row in each message may grow from message to message.
    let grown =
        |number: usize| ("limits".to_owned(), format!(r#"{{"limits":[{{"left":{number}}}]}}"#));
    let traces: Vec<Owned> =
        (0..6).map(|first| (None, (first..first + 4).map(grown).collect())).collect();
    assert_eq!(learned(&traces), ["limits.limits[].left increasing by 1"]);
}
