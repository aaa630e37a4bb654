//! What is written of a contract can be read, whatever names a server and its clients use.

use bytes::Bytes;
use proptest::prelude::*;
use retape::cassette::{Interaction, Request, Response};
use retape::contract::{Contract, Finding, Traffic, check};
use retape::message::Protocols;
use retape::{Cassette, Name};
use serde_json::{Map, Value, json};

use crate::dice::Random;

/// Names from the wild, and those that mean something in a contract.
const NAMES: [&str; 40] = [
    "include_return_message_types[]",
    "type",
    "event",
    "$ref",
    "@type",
    "a.b",
    "a b",
    " a",
    "a ",
    "x\"y",
    "x'y",
    "x\\y",
    "ü",
    "日本語",
    "",
    ".",
    "[]",
    "{}",
    "a[0]",
    "when x",
    "when",
    "otherwise",
    "# no",
    "-",
    "→",
    "a|b",
    "a?",
    "a: b",
    "…",
    "a\nb",
    "\t",
    "1",
    "null",
    "by kind",
    "object",
    "map<",
    "_",
    "request",
    "a=b, c",
    "per id (a)",
];

fn name(random: &mut Random) -> &'static str {
    NAMES[random.below(NAMES.len())]
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => json!(name(random)),
        1 => json!(random.below(3)),
        2 => json!(random.chance(50)),
        3 => Value::Null,
        4 => json!(["on", "off"][random.below(2)]),
        5 => (0..random.below(3)).map(|_| value(random, depth - 1)).collect(),
        _ => object(random, depth - 1),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let members = (0..1 + random.below(3)).map(|_| (name(random).to_owned(), value(random, depth)));
    Value::Object(members.collect::<Map<String, Value>>())
}

fn interaction(random: &mut Random, tag: &str, names: &[&str], is_stream: bool) -> Interaction {
    let message = |random: &mut Random, kind: &str| {
        let mut message = object(random, 2);
        message[tag] = json!(kind);
        message
    };
    let (media, body) = if is_stream {
        let kinds: Vec<&str> = names.iter().filter(|_| random.chance(70)).copied().collect();
        let data = kinds.iter().map(|kind| format!("data: {}\n\n", message(random, kind)));
        ("text/event-stream", data.collect::<String>())
    } else {
        ("application/json", value(random, 3).to_string())
    };
    let response = Response::whole(media, body);
    // What is asked may decide about the order: a word in a field, or in a list of them.
    let asked = match random.below(3) {
        0 => json!([{ names[0]: names[random.below(names.len())] }]),
        _ => json!({ names[0]: names[random.below(names.len())], names[1]: random.chance(50) }),
    };
    let request = Request { body: Bytes::from(asked.to_string()), ..Request::of("POST", "/chat") };
    Interaction::of(request, response)
}

proptest! {
    #[test]
    fn what_is_accepted_can_be_read(seed in any::<u64>()) {
        let mut random = Random(seed);
        let names: Vec<&str> = (0..4).map(|_| name(&mut random)).collect();
        let tag = ["type", "object", "a b", name(&mut random)][random.below(4)];
        let is_stream = random.chance(70);
        let interactions = (0..12).map(|_| interaction(&mut random, tag, &names, is_stream));
        let cassette = Cassette { interactions: interactions.collect(), ..Cassette::default() };
        let name = Name::new("wild").unwrap();

        let traffic = Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]);
        for finding in check(&traffic, &[]) {
            let Finding::New(contract) = finding else { panic!("{finding:?}") };
            let written = contract.to_string();
            let read: Result<Contract, _> = written.parse();
            prop_assert!(read.is_ok(), "{:?}\n{}", read, written);
            let read = read.unwrap();
            prop_assert_eq!(read.to_string(), written);
            prop_assert_eq!(check(&traffic, &[read]), []);
        }
    }
}
