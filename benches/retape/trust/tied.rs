//! Protocols in which numbers and texts go together, among others that only seem to. One is shown, the
//! other held out.

use serde_json::{Value, json};

use super::grammar::{Grammar, TypeSource};
use super::mint::{MODELS, TOOLS};
use super::talk::{Event, Talk, Wire};

/// The pieces of a text and the whole, and what was used.
pub const USAGE: Grammar = Grammar {
    types: TypeSource::Member("type"),
    order: "open (piece+ (call piece+)? whole)+ usage",
    anywhere: &[],
    slices: None,
    law: |_, events| {
        let (mut said, mut wholes) = (String::new(), 0);
        let text =
            |event: &Event, name: &str| event.data[name].as_str().unwrap_or_default().to_owned();
        events.iter().all(|event| match event.data["type"].as_str() {
            Some("piece") => {
                said += &text(event, "more");
                true
            }
            Some("whole") => {
                wholes += 1;
                std::mem::take(&mut said) == text(event, "text")
            }
            Some("usage") => {
                let of = |name: &str| event.data[name].as_u64().unwrap_or_default();
                of("all") == of("in") + of("out")
                    && of("cached") <= of("in")
                    && of("wholes") == wholes
            }
            _ => true,
        })
    },
};

pub fn usage(talk: &mut Talk) {
    let asked = json!({"model": talk.word(&MODELS), "prompt": talk.prompt()});
    let run = talk.uuid();
    let mut events = vec![json!({"type": "open", "run": run, "queued": talk.varying(0, 9)})];
    let wholes = talk.planned(1, 3);
    for _ in 0..wholes {
        let mut said = String::new();
        let mut piece = |talk: &mut Talk, events: &mut Vec<Value>| {
            for text in talk.pieces(1, 5) {
                said += &text;
                events.push(json!({"type": "piece", "more": text}));
            }
        };
        piece(talk, &mut events);
        if talk.is_planned(30) {
            events.push(
                json!({"type": "call", "tool": talk.word(&TOOLS), "tries": talk.varying(1, 3)}),
            );
            piece(talk, &mut events);
        }
        events.push(json!({"type": "whole", "text": said}));
    }
    let (asked_for, said) = (talk.varying(20, 900), talk.varying(5, 400));
    let cached = if talk.is_planned(40) { asked_for } else { talk.varying(0, asked_for) };
    // How long it took and how much that is has nothing to do with the rest.
    events.push(json!({"type": "usage", "in": asked_for, "out": said, "all": asked_for + said, "cached": cached, "wholes": wholes, "first_ms": talk.varying(20, 700), "ms": talk.varying(100, 5_000), "retries": talk.varying(0, 2), "tools": talk.varying(0, 3)}));
    talk.stream("/answers", asked, Wire::Sse, events.into_iter().map(Event::data).collect());
}

/// A text that grows, steps of so many, and a list that is counted.
pub const PROGRESS: Grammar = Grammar {
    types: TypeSource::Member("ev"),
    order: "progress+ result",
    anywhere: &[],
    slices: None,
    law: |_, events| {
        let mut said = String::new();
        events.iter().all(|event| {
            let of = |name: &str| event.data[name].as_u64().unwrap_or_default();
            match event.data["log"].as_str() {
                Some(log) => {
                    let grows = log.starts_with(&said);
                    said = log.to_owned();
                    grows && of("done") <= of("of")
                }
                None => {
                    let items = event.data["items"].as_array().map_or(0, Vec::len);
                    of("count") == items as u64 && of("total") == of("net") + of("tax")
                }
            }
        })
    },
};

pub fn progress(talk: &mut Talk) {
    let asked = json!({"task": talk.prompt(), "limit": talk.planned(1, 50)});
    let steps = talk.planned(2, 7);
    let mut log = String::new();
    let mut events = Vec::new();
    for done in 1..=steps {
        log += &talk.text();
        events.push(json!({"ev": "progress", "done": done, "of": steps, "log": log, "load": talk.varying(0, 9)}));
    }
    let items: Vec<Value> = (0..talk.varying(0, 4))
        .map(|_| json!({"name": talk.text(), "size": talk.varying(1, 90)}))
        .collect();
    let (net, tax) = (talk.varying(1, 900), talk.varying(0, 200));
    events.push(json!({"ev": "result", "count": items.len(), "items": items, "net": net, "tax": tax, "total": net + tax, "width": talk.varying(1, 40), "height": talk.varying(1, 60), "stars": talk.varying(0, 5)}));
    talk.stream("/tasks", asked, Wire::Lines, events.into_iter().map(Event::data).collect());
}
