//! Learning shapes from messages beside `serde_json` reading them.

use std::hint::black_box;
use std::rc::Rc;

use retape::contract::shape::Shape;
use serde_json::{Value, json};

use crate::cpu::Thread;
use crate::measure::{Bench, Contender, Effort, Table, compare};

/// All of it by name.
pub const ALL: &[Bench] =
    &[("learning the shape of 100,000 messages of 300 bytes", |effort| learn(effort, 100_000))];

fn learn(effort: Effort, messages: usize) -> Table {
    let messages: Rc<[String]> = (0..effort.at_most(messages)).map(message).collect();
    let doing = |name: &str, work: fn(&[String])| {
        let messages = Rc::clone(&messages);
        Contender::new(name, Thread::current(), move || work(&messages))
    };
    compare(
        effort,
        vec![
            doing("serde_json, into values", |messages| {
                for message in messages {
                    black_box(serde_json::from_str::<Value>(message).expect("it is JSON"));
                }
            }),
            doing("retape, learned and shown", |messages| {
                let mut shape = Shape::default();
                for (witness, message) in (0..).zip(messages) {
                    shape.learn(message, witness).expect("it is JSON");
                }
                black_box(shape.finish().to_string());
            }),
        ],
    )
}

/// An event as an agent server sends it; one in ten is a call of a tool.
fn message(number: usize) -> String {
    let id = format!("{number:08x}-37a2-4fd9-92f1-fd5b1ee5a5f0");
    let kind = ["reasoning_message", "assistant_message", "tool_call_message"]
        [if number.is_multiple_of(10) { 2 } else { number % 2 }];
    let mut event = json!({
        "id": format!("message-{id}"),
        "date": "2026-11-21T04:27:40+00:00",
        "name": null,
        "message_type": kind,
        "otid": id,
        "sender_id": null,
        "step_id": format!("step-{id}"),
        "seq_id": number,
        "run_id": format!("run-{id}"),
    });
    event[["content", "reasoning"][number % 2]] = json!(format!(" word{}", number % 977));
    if number.is_multiple_of(10) {
        event["tool_call"] =
            json!({"name": "get_weather", "arguments": "{}", "tool_call_id": "call_8f3a9c2b1d"});
    }
    event.to_string()
}
