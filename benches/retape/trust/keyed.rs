//! Protocols whose messages belong to several things at once: to a step and to a part of it, to one of the
//! calls that are made side by side, to the first answer or to what comes later.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::grammar::{Grammar, NO_LAW, TypeSource};
use super::mint::{CITIES, MODELS, TOOLS};
use super::talk::{Event, Talk, Wire, joined};

/// Steps side by side, each in parts that are numbered.
pub const PARTS: Grammar = Grammar {
    types: TypeSource::Member("type"),
    order: "open _? close",
    anywhere: &[],
    slices: Some(("/step", "step.begin (part.begin|part.text|part.end)+ step.end")),
    law: |_, events| {
        let types = ["part.begin", "part.text", "part.end"];
        let part = |event: &Event| {
            let part = format!("{} {}", event.data["step"], event.data["part"]);
            types.contains(&event.data["type"].as_str()?).then_some(part)
        };
        by_key(events, part).all(|types| is_run(&types, "part.begin", "part.text", "part.end"))
    },
};

/// A message in blocks that are numbered from 0, some of them side by side.
pub const BLOCKS: Grammar = Grammar {
    types: TypeSource::Member("type"),
    order: "message_start _ message_delta message_stop",
    anywhere: &[],
    slices: Some(("/index", "block_start block_delta+ block_stop")),
    law: |_, events| {
        let starts = events.iter().filter(|event| event.data["type"] == "block_start");
        let mut numbers = starts.zip(0_u64..);
        numbers.all(|(event, number)| event.data["index"] == number)
    },
};

/// A first answer, what is added to it, and an end that says nothing: as GraphQL defers fields.
pub const DEFERRED: Grammar = Grammar {
    types: TypeSource::Name,
    order: "next+ complete",
    anywhere: &[],
    slices: None,
    law: |_, events| {
        let next = || events.iter().filter(|event| event.name.as_deref() == Some("next"));
        let last = next().count().saturating_sub(1);
        next().enumerate().all(|(number, event)| {
            event.data["data"].is_object() == (number == 0)
                && event.data["hasNext"] == (number < last)
        })
    },
};

/// Operations side by side, each by itself: as GraphQL says them on one connection.
pub const OPERATIONS: Grammar = Grammar {
    types: TypeSource::Name,
    order: "_",
    anywhere: &[],
    slices: Some(("/id", "next* (complete|error)")),
    law: NO_LAW,
};

/// What the events of each key say that they are, in order.
fn by_key(
    events: &[Event],
    key: impl Fn(&Event) -> Option<String>,
) -> impl Iterator<Item = Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        if let Some(key) = key(event) {
            let kind = event.data["type"].as_str().unwrap_or_default();
            found.entry(key).or_default().push(kind.to_owned());
        }
    }
    found.into_values()
}

fn is_run(types: &[String], first: &str, between: &str, last: &str) -> bool {
    types.len() > 2
        && types[0] == first
        && types[types.len() - 1] == last
        && types[1..types.len() - 1].iter().all(|kind| kind == between)
}

/// Mixes several lists, each in its order.
fn mixed(talk: &mut Talk, mut lists: Vec<Vec<Value>>) -> Vec<Value> {
    lists.iter_mut().for_each(|list| list.reverse());
    let mut all = Vec::new();
    while !lists.is_empty() {
        let at = talk.run.below(lists.len());
        all.extend(lists[at].pop());
        lists.retain(|list| !list.is_empty());
    }
    all
}

pub fn parts(talk: &mut Talk) {
    let asked = json!({"model": talk.word(&MODELS), "prompt": talk.prompt()});
    let run = talk.id("16 of 62");
    let mut steps = Vec::new();
    for _ in 0..talk.planned(1, 3) {
        let step = talk.id("`toolu_01` + 22 of 62");
        let tool = talk.word(&TOOLS);
        let mut parts = Vec::new();
        for part in 0..talk.planned(1, 2) {
            let say = |kind: &str, more: Value| {
                joined(json!({"type": kind, "step": step, "part": part}), more)
            };
            let mut said = vec![say("part.begin", json!({"mime": "text/plain"}))];
            said.extend(talk.pieces(1, 4).iter().map(|it| say("part.text", json!({"text": it}))));
            said.push(say("part.end", json!({})));
            parts.push(said);
        }
        let mut said = vec![json!({"type": "step.begin", "step": step, "tool": tool})];
        said.extend(mixed(talk, parts));
        said.push(json!({"type": "step.end", "step": step, "ms": talk.varying(3, 900)}));
        steps.push(said);
    }
    let mut events = vec![json!({"type": "open", "run": run})];
    events.extend(mixed(talk, steps));
    events.push(json!({"type": "close", "run": run, "tokens": talk.varying(9, 900)}));
    talk.stream("/v1/steps", asked, Wire::Sse, events.into_iter().map(Event::data).collect());
}

pub fn blocks(talk: &mut Talk) {
    let model = talk.word(&MODELS);
    let asked = json!({"model": model, "prompt": talk.prompt()});
    let id = talk.id("`resp_` + 48 hex");
    let mut blocks = Vec::new();
    if talk.is_planned(70) {
        blocks.push(("text", json!({"kind": "text", "text": ""})));
    }
    for _ in 0..talk.planned(usize::from(blocks.is_empty()), 3) {
        let call = json!({"kind": "call", "id": talk.id("`call_` + 24 of 62"), "name": talk.word(&TOOLS), "input": talk.word(&CITIES)});
        blocks.push(("call", call));
    }
    let mut said = Vec::new();
    for (index, (kind, block)) in blocks.into_iter().enumerate() {
        let start = json!({"type": "block_start", "index": index, "block": block});
        let mut deltas: Vec<Value> = Vec::new();
        for piece in talk.pieces(1, 4) {
            let delta = match kind {
                "text" => json!({"kind": "text_delta", "text": piece}),
                _ => json!({"kind": "input_delta", "json": piece}),
            };
            deltas.push(json!({"type": "block_delta", "index": index, "delta": delta}));
        }
        deltas.push(json!({"type": "block_stop", "index": index}));
        said.push((start, deltas));
    }
    // The calls are announced in their order, and then filled side by side.
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": id, "model": model, "usage": null}}),
    ];
    let is_parallel = talk.is_planned(50);
    let mut open = Vec::new();
    for (start, rest) in said {
        events.push(start);
        if is_parallel { open.push(rest) } else { events.extend(rest) }
    }
    events.extend(mixed(talk, open));
    let why = talk.outcome(&[(60, "end"), (40, "calls")]);
    events.push(json!({"type": "message_delta", "delta": {"why": why}, "usage": {"out": talk.varying(3, 400)}}));
    events.push(json!({"type": "message_stop"}));
    talk.stream("/v1/blocks", asked, Wire::Sse, events.into_iter().map(Event::data).collect());
}

pub fn deferred(talk: &mut Talk) {
    let asked = json!({"query": "query Trip($city: String!) { trip(city: $city) { id name ... @defer { stays { id } } } }", "variables": {"city": talk.word(&CITIES)}});
    let trip = talk.id("12 of 62");
    let later = talk.planned(0, 3);
    let first = json!({"data": {"trip": {"id": trip, "name": talk.text(), "days": talk.varying(1, 20)}}, "hasNext": later > 0});
    let mut events = vec![Event::named("next", first)];
    for number in 1..=later {
        let stays: Vec<Value> = (0..talk.varying(0, 3))
            .map(|_| json!({"id": talk.id("12 of 62"), "nights": talk.varying(1, 9)}))
            .collect();
        let added = json!({"incremental": [{"path": ["trip"], "data": {"stays": stays}}], "hasNext": number < later});
        events.push(Event::named("next", added));
    }
    events.push(Event::named("complete", Value::Null));
    talk.stream("/graphql/stream", asked, Wire::Sse, events);
}

pub fn operations(talk: &mut Talk) {
    let asked = json!({"query": "subscription Prices($city: String!) { price(city: $city) { amount } }", "variables": {"city": talk.word(&CITIES)}});
    let mut operations = Vec::new();
    for _ in 0..talk.planned(1, 3) {
        let id = talk.uuid();
        let mut said: Vec<Value> = (0..talk.planned(0, 4))
            .map(|_| json!({"id": id, "payload": {"data": {"price": {"amount": talk.varying(1, 900)}}}}))
            .collect();
        said.push(match talk.is_planned(85) {
            true => json!({"id": id}),
            false => json!({"id": id, "errors": [{"message": talk.text()}]}),
        });
        operations.push(said);
    }
    let named = mixed(talk, operations).into_iter().map(|data| {
        let name = match (data["payload"].is_object(), data["errors"].is_array()) {
            (true, _) => "next",
            (_, true) => "error",
            _ => "complete",
        };
        Event::named(name, data)
    });
    let events = named.collect();
    talk.stream("/graphql/operations", asked, Wire::Sse, events);
}
