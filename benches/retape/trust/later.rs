//! Protocols that were written after what they try was learned.

use serde_json::{Value, json};

use super::grammar::{Grammar, TypeSource};
use super::mint::{CITIES, MODELS};
use super::talk::{Event, Talk, Wire};

/// What is said, heard piece by piece, and translated while the next is heard; how loud it is comes anywhere.
pub const SPEECH: Grammar = Grammar {
    types: TypeSource::Member("ev"),
    order: "session _ closing stats",
    anywhere: &["level"],
    slices: Some(("/utt", "partial+ final translation?")),
    law: |asked, events| {
        let of = |kind: &str| events.iter().filter(|event| event.data["ev"] == kind).count();
        let wanted = if asked["translate"] == true { of("final") } else { 0 };
        of("translation") == wanted
    },
};

/// Steps of one name, told by what is in them: a plan, what is logged, and what came of it, if anything did.
pub const DEPLOYMENT: Grammar = Grammar {
    types: TypeSource::Name,
    order: "step+ finished",
    anywhere: &[],
    slices: None,
    law: |_, events| {
        let parts = events.iter().filter(|event| event.name.as_deref() == Some("step"));
        let part = |event: &Event| {
            ["plan", "log", "artifact"].iter().position(|part| event.data[part].is_object())
        };
        let parts: Vec<Option<usize>> = parts.map(part).collect();
        let many = |wanted: usize| parts.iter().filter(|part| **part == Some(wanted)).count();
        parts.is_sorted() && many(0) == 1 && many(1) > 0 && many(2) <= 1
    },
};

pub fn speech(talk: &mut Talk) {
    let translates = talk.is_planned(50);
    let asked = json!({"model": talk.word(&MODELS), "translate": translates, "to": "de"});
    let session = talk.id("ULID");
    let mut events = Vec::new();
    // The translation of what was said before.
    let mut late: Option<Value> = None;
    for _ in 0..talk.planned(1, 4) {
        let utterance = talk.id("nano id (21 of 64)");
        for text in talk.pieces(1, 4) {
            events.push(json!({"ev": "partial", "utt": utterance, "text": text}));
            if talk.run.chance(60) {
                events.extend(late.take());
            }
        }
        events.extend(late.take());
        events.push(json!({"ev": "final", "utt": utterance, "text": talk.text(), "ms": talk.varying(90, 4_000)}));
        late =
            translates.then(|| json!({"ev": "translation", "utt": utterance, "text": talk.text()}));
    }
    events.extend(late);
    let mut sent = vec![Event::data(json!({"ev": "session", "id": session, "rate": 16_000}))];
    let ends = [
        json!({"ev": "closing", "id": session}),
        json!({"ev": "stats", "id": session, "ms": talk.varying(900, 90_000)}),
    ];
    for event in events.into_iter().chain(ends) {
        if talk.run.chance(25) {
            sent.push(Event::data(json!({"ev": "level", "t": talk.epoch()})));
        }
        sent.push(Event::data(event));
    }
    talk.stream("/v1/listen", asked, Wire::Lines, sent);
}

pub fn deployment(talk: &mut Talk) {
    let asked = json!({"app": talk.word(&CITIES), "replicas": talk.planned(1, 9)});
    let id = talk.uuid();
    let step =
        |part: &str, said: Value| Event::named("step", json!({"deployment": id, part: said}));
    let mut events = vec![step("plan", json!({"changes": talk.varying(1, 40)}))];
    for line in talk.pieces(1, 6) {
        events.push(step("log", json!({"line": line, "at": talk.time()})));
    }
    if talk.is_planned(70) {
        let digest = talk.id("`resp_` + 48 hex");
        events
            .push(step("artifact", json!({"digest": digest, "bytes": talk.varying(900, 90_000)})));
    }
    events
        .push(Event::named("finished", json!({"deployment": id, "ms": talk.varying(900, 90_000)})));
    talk.stream("/v1/deployments", asked, Wire::Sse, events);
}
