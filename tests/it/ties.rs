//! What goes together by what is said: numbers of one message, how many there are, texts in pieces.

use retape::cassette::{Body, Interaction, Outcome, Request, Response};
use retape::contract::invariant::Invariant;
use retape::contract::{Finding, Traffic, check};
use retape::message::Protocols;
use retape::{Cassette, Name};
use serde_json::{Value, json};

use crate::invariant::{Owned, learned, with};

/// Numbers that differ from recording to recording and repeat.
fn number(recording: usize, of: usize, below: usize) -> usize {
    let seed = (recording * 31 + of * 17 + 7) as u64;
    let mixed = (seed ^ (seed << 13)).wrapping_mul(0x2545_f491_4f6c_dd1d);
    usize::try_from(mixed >> 33).unwrap() % below
}

fn words(recording: usize, of: usize) -> Vec<String> {
    let count = 2 + number(recording, of, 4);
    (0..count).map(|at| format!("word{} ", number(recording, of * 9 + at, 50))).collect()
}

/// Items whose pieces come in turn, and a report of what was used.
fn stream(recording: usize) -> Vec<(&'static str, Value)> {
    let mut events = Vec::new();
    let items = (0..1 + number(recording, 7, 3))
        .map(|of| (format!("item-{recording}{of}"), words(recording, of)));
    let items: Vec<(String, Vec<String>)> = items.collect();
    for at in 0..6 {
        for (id, words) in &items {
            if let Some(word) = words.get(at) {
                events.push(("delta", json!({"item": id, "more": word})));
            }
        }
    }
    for (id, words) in &items {
        events.push(("done", json!({"item": id, "text": words.concat()})));
    }
    let [asked, said] = [1, 2].map(|of| 20 + number(recording, of, 900));
    let used = number(recording, 3, 5);
    let tools: Vec<usize> = (0..used).collect();
    let pieces: usize = items.iter().map(|(_, words)| words.len()).sum();
    let usage = json!({
        "in": asked, "out": said, "all": asked + said, "cached": if used == 0 { asked } else { asked / 2 },
        "bytes": 90_000 + number(recording, 6, 9_000), "tools": tools, "used": used, "items": items.len(),
        "pieces": pieces,
    });
    events.push(("usage", usage));
    events
}

fn owned(events: Vec<(&'static str, Value)>) -> Owned {
    (None, events.into_iter().map(|(tag, json)| (tag.to_owned(), json.to_string())).collect())
}

fn streams(count: usize) -> Vec<Owned> {
    (0..count).map(|recording| owned(stream(recording))).collect()
}

/// Of what is learned, what goes together by what is said.
fn ties(traces: &[Owned]) -> Vec<String> {
    let verbs = [" at most ", " sums ", " counts ", " joins ", " extends "];
    let mut found = learned(traces);
    found.retain(|it| verbs.iter().any(|verb| it.contains(verb)));
    found
}

const OF_STREAMS: [&str; 5] = [
    "usage.cached at most usage.in",
    "usage.items counts done",
    "usage.used counts usage.tools[]",
    "done.text joins delta.more",
    "usage.all sums usage.in and usage.out",
];

#[test]
fn numbers_and_texts_that_go_together_are_tied() {
    assert_eq!(ties(&streams(30)), OF_STREAMS);
}

#[test]
fn a_number_tells_what_a_piece_belongs_to_whatever_it_is_called() {
    let numbered = |recording: usize| {
        let items = [1, 2].map(|of| words(recording, of));
        let longest = items.iter().map(Vec::len).max().unwrap();
        let mut events = Vec::new();
        let mut say = |tag, item: usize, name: &str, text: String| {
            events.push((tag, json!({"of": item, "seq": events.len(), "load": 3, name: text})));
        };
        for at in 0..longest {
            for (item, words) in items.iter().enumerate().filter(|(_, words)| at < words.len()) {
                say("delta", item, "more", words[at].clone());
            }
        }
        items.iter().enumerate().for_each(|(item, it)| say("done", item, "text", it.concat()));
        owned(events)
    };
    let traces: Vec<Owned> = (0..12).map(numbered).collect();

    assert_eq!(ties(&traces), ["done.text joins delta.more"]);
}

#[test]
fn four_recordings_tie_nothing() {
    assert_eq!(ties(&streams(4)), [""; 0]);
    // Nor does one recording with as many answers.
    let again: Vec<Owned> = (0..30).map(|_| owned(stream(1))).collect();
    assert_eq!(ties(&again).iter().filter(|it| !it.contains(" joins ")).count(), 0);
}

#[test]
fn a_number_that_never_changes_adds_up_to_nothing() {
    let answer = |recording: usize| {
        let began = 1_000 + number(recording, 1, 9_000);
        owned(vec![("answer", json!({"began": began, "ended": began + 1, "temperature": 1.0}))])
    };

    assert_eq!(ties(&(0..30).map(answer).collect::<Vec<_>>()), [""; 0]);
}

#[track_caller]
fn breaks(change: impl FnOnce(&mut Vec<(&'static str, Value)>), expected: &[&str]) {
    let mut changed = stream(77);
    change(&mut changed);

    let invariants = Invariant::parse(&OF_STREAMS.join("\n")).unwrap();
    let found = with(&owned(changed), |trace| Invariant::check(&invariants, trace));

    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_does_not_go_together_any_more_is_told() {
    let last = |events: &mut Vec<(&'static str, Value)>, name: &str, value: Value| {
        events.last_mut().unwrap().1[name] = value;
    };
    breaks(|_| {}, &[]);
    breaks(
        |events| last(events, "all", json!(1)),
        &[
            "usage.all sums usage.in and usage.out: 1 at /all of event 11, but 843 at /in of event 11",
        ],
    );
    breaks(
        |events| last(events, "cached", json!(5_000)),
        &["usage.cached at most usage.in: 5000 at /cached of event 11, but 843 at /in of event 11"],
    );
    breaks(
        |events| last(events, "tools", json!(["one", {"of": ["a", "b"]}, "three", 4, 5, 6])),
        &["usage.used counts usage.tools[]: 4 at /used of event 11 is not how many there are"],
    );
    breaks(
        |events| drop(events.remove(0)),
        &[
            "done.text joins delta.more: `word17 word23 word30 ` at /text of event 8 is not what the pieces say",
        ],
    );
    breaks(
        |events| drop(events.remove(9)),
        &["usage.items counts done: 2 at /items of event 10 is not how many there are"],
    );
}

#[test]
fn a_text_that_grows_extends_what_was_said_before() {
    let growing = |recording: usize| {
        let words = words(recording, 5);
        let so_far = (1..=words.len()).map(|to| ("part", json!({"text": words[..to].concat()})));
        owned(so_far.collect())
    };
    let found = ties(&(0..9).map(growing).collect::<Vec<Owned>>());
    assert_eq!(found, ["part.text extends part.text"]);

    let invariants = Invariant::parse(&found[0]).unwrap();
    let turned = owned(vec![("part", json!({"text": "Good"})), ("part", json!({"text": "ly"}))]);
    let broken = with(&turned, |trace| Invariant::check(&invariants, trace));

    let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
    assert_eq!(broken, ["part.text extends part.text: `ly` at /text of event 2 begins otherwise"]);
}

/// Streams of several texts, each in pieces that say what the text belongs to, as `key` makes it of the recording, the
/// text and the piece.
fn several_texts(key: fn(usize, usize, usize) -> Value, is_growing: bool) -> Vec<Owned> {
    let one = |recording: usize| {
        let mut events = Vec::new();
        for text in 0..2 + recording % 2 {
            let words = words(recording * 3 + text, 3);
            for piece in 0..words.len() {
                let from = if is_growing { 0 } else { piece };
                let said = words[from..=piece].concat();
                events.push(("part", json!({"of": key(recording, text, piece), "text": said})));
            }
        }
        owned(events)
    };
    (0..9).map(one).collect()
}

#[test]
fn each_of_several_texts_that_grow_begins_anew() {
    let id: fn(usize, usize, usize) -> Value =
        |recording, text, _| json!(format!("msg_{recording}a{text}"));
    let index: fn(usize, usize, usize) -> Value = |_, text, _| json!(text);
    for key in [id, index] {
        let found = ties(&several_texts(key, true));
        assert_eq!(found, ["part.text extends part.text"]);

        let invariants = Invariant::parse(&found[0]).unwrap();
        let turned = several_texts(key, false).remove(1);
        // Each piece but the first one of its text.
        let broken = with(&turned, |trace| Invariant::check(&invariants, trace).len());
        assert_eq!(broken, turned.1.len() - 3);
        assert_eq!(ties(&several_texts(key, false)), [""; 0]);
    }
}

#[test]
fn an_identifier_that_each_piece_has_for_itself_begins_no_text() {
    let id = |recording, text, piece| json!(format!("evt_{recording}a{text}b{piece}"));
    assert_eq!(ties(&several_texts(id, true)), [""; 0]);
}

#[test]
fn numbers_that_only_happen_to_be_in_order_are_hardly_ever_tied() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut tied = Vec::new();
    for server in 0..300 {
        // Some are small, some large, some about the same.
        let below = |of: usize| [2, 4, 9, 100, 1_000, 1_000][(of + server) % 6];
        let said = |recording: usize| {
            let values = names.iter().enumerate().map(|(of, name)| {
                ((*name).to_owned(), number(recording + server * 1_000, of, below(of)).into())
            });
            let values: serde_json::Map<String, Value> = values.collect();
            owned(vec![("numbers", Value::from(values))])
        };
        tied.extend(ties(&(0..12).map(said).collect::<Vec<Owned>>()));
    }
    // Of 27,000 that could have been claimed.
    assert!(tied.len() <= 6, "{tied:?}");
}

#[test]
fn a_body_that_is_no_stream_counts_its_elements() {
    let asked = |number: usize| {
        let data: Vec<Value> =
            (0..number % 4).map(|at| json!({"name": format!("n {at}")})).collect();
        let body = json!({"count": data.len(), "data": data}).to_string();
        let response = Response::whole("application/json", body);
        Interaction::of(Request::of("GET", format!("/things?page={number}")), response)
    };
    let interactions: Vec<Interaction> = (0..9).map(asked).collect();
    let cassette = Cassette { interactions, ..Cassette::default() };
    let name = Name::new("things").unwrap();

    let found = check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]);

    let [Finding::New(contract)] = found.as_slice() else { panic!("{found:?}") };
    let ties: Vec<String> = contract.invariants.iter().map(ToString::to_string).collect();
    assert_eq!(ties, ["count counts _.data[]"]);
    let mut broken = asked(3);
    if let Outcome::Response(response) = &mut broken.outcome {
        response.body = Body::Whole(json!({"count": 3, "data": []}).to_string().into());
    }
    let breaches = contract.broken_by(&Protocols::default(), &broken, None);
    assert_eq!(breaches[0].part, "invariants");
}

/// Pods with a name, a number, a time, a kind and the machine they stand on, whose messages come in turn.
fn pods(recording: usize) -> Vec<(&'static str, Value)> {
    const KINDS: [&str; 3] = ["Job", "Deployment", "DaemonSet"];
    let all = 2 + number(recording, 1, 3);
    let pod = |of: usize| {
        json!({
            "uid": format!("uid-{recording}-{of}"), "name": format!("pod {recording} the {of}th"),
            "slot": of, "made": 1_700_000_000 + recording * 1_000 + of,
            "kind": KINDS[number(recording, of + 20, 3)],
            "node": format!("node-{}", 10 * recording + of / 2),
            "turns": number(recording, of + 40, 2),
        })
    };
    let turns = (0..12).map(|at| pod(if at < all { at } else { number(recording, at, all) }));
    turns.map(|pod| ("pod", pod)).collect()
}

fn per(traces: &[Owned]) -> Vec<String> {
    let mut found = learned(traces);
    found.retain(|it| it.contains(" one per "));
    found
}

#[test]
fn what_says_one_thing_for_each_identifier_is_tied_to_it() {
    let traces: Vec<Owned> = (0..12).map(|recording| owned(pods(recording))).collect();

    let told = per(&traces);

    // Two pods may be of one kind, on one machine, or made at the same time.
    let expected = [
        "made one per uid",
        "name one per uid",
        "node one per uid",
        "slot one per uid",
        "uid one per slot",
    ];
    assert_eq!(told, expected);
}

#[test]
fn four_recordings_tie_nothing_to_an_identifier() {
    let traces: Vec<Owned> = (0..4).map(|recording| owned(pods(recording))).collect();

    assert_eq!(per(&traces), [""; 0]);
}

#[test]
fn another_thing_of_the_same_identifier_breaks_what_is_one_per_it() {
    let mut events = pods(3);
    let [uid, of] =
        [&events[0].1["uid"], &events[0].1["name"]].map(|it| it.as_str().unwrap().to_owned());
    let again =
        (1..events.len()).find(|at| events[*at].1["uid"] == uid.as_str()).expect("it comes again");
    events[again].1["name"] = json!("another");
    let claim = Invariant::parse("name one per uid; node one per uid").expect("it is written so");

    let broken = with(&owned(events), |trace| Invariant::check(&claim, trace));

    let told: Vec<String> = broken.iter().map(ToString::to_string).collect();
    let expected = format!(
        "name one per uid: `another` at /name of event {}, but `{of}` at /name of event 1",
        again + 1
    );
    assert_eq!(told, [expected]);
}

#[test]
fn a_field_that_changes_now_and_then_is_one_per_nothing() {
    // Four items one after the other, and a number that grows between some of them.
    let stream = |recording: usize| -> Owned {
        let mut events = Vec::new();
        for item in 0..4 {
            for _ in 0..2 {
                let step = 5 + usize::from(events.len() > 1 + number(recording, 9, 6));
                let id = format!("item-{recording}{item}");
                events.push(("delta", json!({"item": id, "step": format!("step-{step}")})));
            }
        }
        owned(events)
    };
    let traces: Vec<Owned> = (0..30).map(stream).collect();

    assert_eq!(per(&traces), [""; 0]);
}

#[test]
fn a_summand_that_the_sum_does_not_show_is_none() {
    let sums = |of: fn(u64, u64) -> (u64, f64)| {
        let trace = |recording: usize| {
            let created = 1_780_000_000 + number(recording, 1, 90_000) as u64;
            let (all, part) = of(created, number(recording, 2, 900) as u64);
            owned(vec![("end", json!({"created_at": created, "spent": part, "at": all}))])
        };
        let traces: Vec<Owned> = (0..20).map(trace).collect();
        let found = ties(&traces);
        found.into_iter().filter(|it| it.contains(" sums ")).count()
    };

    // A time in seconds, and how many thousandths of one were spent.
    assert_eq!(sums(|created, spent| (created, spent as f64 / 1_000.0)), 0);
    assert_eq!(sums(|created, spent| (created + 10 + spent, (10 + spent) as f64)), 1);
}

#[test]
fn pieces_refer_to_the_message_that_opens_them() {
    let talk = |recording: usize, pieces: usize| {
        let opened =
            |kind: &str, id: &str| (format!("{kind}-start"), json!({"id": id}).to_string());
        let piece = |kind: &str, id: &str| (format!("{kind}-piece"), json!({"id": id}).to_string());
        let (text, thought) = (format!("msg-{recording}4f1"), format!("reason-{recording}4f1"));
        let mut events =
            vec![("start".to_owned(), json!({"run": format!("run-{recording}4f1")}).to_string())];
        if recording.is_multiple_of(4) {
            events.extend([opened("thought", &thought), piece("thought", &thought)]);
        }
        events.push(opened("text", &text));
        events.extend((0..pieces).map(|_| piece("text", &text)));
        (None, events)
    };
    let learn = |count: usize, pieces: usize| -> Vec<String> {
        let talks: Vec<Owned> = (0..count).map(|recording| talk(recording, pieces)).collect();
        learned(&talks)
    };
    let refers = "text-piece.id refers to text-start.id, each by the end".to_owned();

    assert!(learn(8, 3).contains(&refers), "{:?}", learn(8, 3));
    // Two things are two chances, in however many pieces they come.
    assert!(!learn(2, 9).contains(&refers), "{:?}", learn(2, 9));
}
