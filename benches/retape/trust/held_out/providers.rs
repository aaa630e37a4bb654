//! Streams as providers of models send them. Nobody tunes by looking at what fails here.

use serde_json::{Value, json};

use super::super::mint::{MODELS, TOOLS};
use super::super::talk::{Event, Talk, Wire, joined, with};

pub fn assistants(talk: &mut Talk) {
    let [thread, message, run] = ["thread_", "msg_", "run_"]
        .map(|prefix| format!("{prefix}{}", &talk.id("`call_` + 24 of 62")[5..]));
    let (assistant, model) =
        (format!("asst_{}", &talk.id("`call_` + 24 of 62")[5..]), talk.word(&MODELS));
    let made =
        json!({"id": thread, "object": "thread", "created_at": talk.epoch(), "metadata": {}});
    talk.json("POST", "/v1/threads", json!({}), 200, &made);
    let text = |said: &str| json!([{"type": "text", "text": {"value": said, "annotations": []}}]);
    let prompt = talk.prompt();
    let posted = json!({"id": message, "object": "thread.message", "thread_id": thread, "role": "user", "content": text(&prompt), "created_at": talk.epoch(), "run_id": null});
    let path = format!("/v1/threads/{thread}/messages");
    talk.json("POST", &path, json!({"role": "user", "content": prompt}), 200, &posted);
    let created = talk.epoch();
    let state = |status: &str, more: Value| {
        joined(
            json!({"id": run, "object": "thread.run", "thread_id": thread, "assistant_id": assistant, "model": model, "status": status, "created_at": created, "last_error": null, "usage": null}),
            more,
        )
    };
    let mut events = Vec::new();
    for (name, status) in
        [("created", "queued"), ("queued", "queued"), ("in_progress", "in_progress")]
    {
        events.push(Event::named(&format!("thread.run.{name}"), state(status, json!({}))));
    }
    let ends = talk.outcome(&[(80, "completed"), (12, "requires_action"), (8, "failed")]);
    let calls = talk.planned(0, 2);
    for number in 0..=calls {
        let is_call = number < calls || ends == "requires_action";
        let (step, said) = (
            talk.id("`call_` + 24 of 62").replace("call_", "step_"),
            talk.id("`call_` + 24 of 62").replace("call_", "msg_"),
        );
        let kind = if is_call { "tool_calls" } else { "message_creation" };
        let of_step = |status: &str, done: Value| json!({"id": step, "object": "thread.run.step", "run_id": run, "type": kind, "status": status, "completed_at": done});
        events.push(Event::named("thread.run.step.created", of_step("in_progress", Value::Null)));
        events
            .push(Event::named("thread.run.step.in_progress", of_step("in_progress", Value::Null)));
        if is_call {
            let call = talk.id("`call_` + 24 of 62");
            let name = talk.word(&TOOLS);
            for piece in talk.pieces(1, 3) {
                let delta = json!({"type": "tool_calls", "tool_calls": [{"index": 0, "id": call, "type": "function", "function": {"name": name, "arguments": piece}}]});
                events.push(Event::named("thread.run.step.delta", json!({"id": step, "object": "thread.run.step.delta", "delta": {"step_details": delta}})));
            }
        } else {
            let whole = |status: &str, content: Value| json!({"id": said, "object": "thread.message", "thread_id": thread, "run_id": run, "role": "assistant", "status": status, "content": content});
            events.push(Event::named("thread.message.created", whole("in_progress", json!([]))));
            events
                .push(Event::named("thread.message.in_progress", whole("in_progress", json!([]))));
            let pieces = talk.pieces(1, 6);
            for piece in &pieces {
                events.push(Event::named("thread.message.delta", json!({"id": said, "object": "thread.message.delta", "delta": {"content": [{"index": 0, "type": "text", "text": {"value": piece}}]}})));
            }
            events.push(Event::named(
                "thread.message.completed",
                whole("completed", text(&pieces.join(" "))),
            ));
        }
        let done = json!(talk.epoch());
        events.push(Event::named("thread.run.step.completed", of_step("completed", done)));
    }
    let usage =
        json!({"prompt_tokens": talk.varying(9, 900), "completion_tokens": talk.varying(2, 400)});
    let more = match ends {
        "completed" => json!({"usage": usage}),
        "failed" => {
            json!({"last_error": {"code": talk.outcome(&[(60, "server_error"), (40, "rate_limit_exceeded")]), "message": talk.text()}})
        }
        _ => json!({}),
    };
    events.push(Event::named(&format!("thread.run.{ends}"), state(ends, more)));
    events.push(Event::named("done", json!("[DONE]")));
    let asked = json!({"assistant_id": assistant, "stream": true});
    talk.stream(&format!("/v1/threads/{thread}/runs"), asked, Wire::Sse, events);
}

pub fn blocks(talk: &mut Talk) {
    let model = talk.word(&MODELS);
    let tools: Vec<Value> = (0..talk.planned(0, 3))
        .map(|_| json!({"name": talk.word(&TOOLS), "input_schema": {"type": "object"}}))
        .collect();
    let asked = json!({"model": model, "max_tokens": talk.planned(64, 2048), "stream": true, "tools": tools, "messages": [{"role": "user", "content": talk.prompt()}]});
    let id = format!("msg_01{}", &talk.id("`toolu_01` + 22 of 62")[8..]);
    let mut events = Vec::new();
    let mut say = |kind: &str, more: Value| {
        events.push(Event::named(kind, joined(json!({"type": kind}), more)))
    };
    let usage = json!({"input_tokens": talk.varying(9, 2000), "cache_read_input_tokens": 0, "output_tokens": talk.varying(1, 4)});
    say(
        "message_start",
        json!({"message": {"id": id, "type": "message", "role": "assistant", "model": format!("{model}-20260{}", talk.planned(101, 928)), "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage}}),
    );
    let mut kinds = Vec::new();
    kinds.extend(talk.is_planned(25).then_some("thinking"));
    kinds.extend(talk.is_planned(85).then_some("text"));
    let calls = if tools.is_empty() { 0 } else { talk.planned(0, 2) };
    kinds.extend(std::iter::repeat_n("tool_use", calls));
    if kinds.is_empty() {
        kinds.push("text");
    }
    for (index, kind) in kinds.iter().enumerate() {
        let (block, delta, member) = match *kind {
            "thinking" => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                "thinking_delta",
                "thinking",
            ),
            "text" => (json!({"type": "text", "text": ""}), "text_delta", "text"),
            _ => (
                json!({"type": "tool_use", "id": talk.id("`toolu_01` + 22 of 62"), "name": tools[talk.plan.below(tools.len())]["name"], "input": {}}),
                "input_json_delta",
                "partial_json",
            ),
        };
        say("content_block_start", json!({"index": index, "content_block": block}));
        if index == 0 {
            say("ping", json!({}));
        }
        for piece in talk.pieces(1, 6) {
            say(
                "content_block_delta",
                json!({"index": index, "delta": with(json!({"type": delta}), member, json!(piece))}),
            );
        }
        say("content_block_stop", json!({"index": index}));
    }
    let reason = if calls > 0 {
        "tool_use"
    } else {
        talk.outcome(&[(86, "end_turn"), (11, "max_tokens"), (3, "refusal")])
    };
    say(
        "message_delta",
        json!({"delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": talk.varying(3, 900)}}),
    );
    say("message_stop", json!({}));
    talk.stream("/v1/messages", asked, Wire::Sse, events);
}

pub fn items(talk: &mut Talk) {
    let model = talk.word(&MODELS);
    let id = talk.id("`resp_` + 48 hex");
    let created = talk.epoch();
    let asked = json!({"model": model, "input": talk.prompt(), "stream": true, "store": talk.is_planned(50)});
    let state = |status: &str, output: &[Value], more: Value| {
        let response = json!({"id": id, "object": "response", "created_at": created, "status": status, "model": model, "output": output, "error": null, "incomplete_details": null, "usage": null, "temperature": 1.0});
        json!({"response": joined(response, more)})
    };
    let mut events: Vec<Event> = Vec::new();
    let mut say = |kind: &str, more: Value| {
        let number = events.len();
        events.push(Event::named(
            kind,
            joined(json!({"type": kind, "sequence_number": number}), more),
        ));
    };
    say("response.created", state("in_progress", &[], json!({})));
    say("response.in_progress", state("in_progress", &[], json!({})));
    let mut kinds = Vec::new();
    kinds.extend(talk.is_planned(40).then_some("reasoning"));
    kinds.extend(std::iter::repeat_n("function_call", talk.outcome(&[(60, 0), (28, 1), (12, 2)])));
    kinds.extend((kinds.len() < 2 || talk.is_planned(60)).then_some("message"));
    let mut output = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        let prefix = match *kind {
            "reasoning" => "rs_",
            "function_call" => "fc_",
            _ => "msg_",
        };
        let item = format!("{prefix}{}", &talk.id("`resp_` + 48 hex")[5..]);
        let place = json!({"item_id": item, "output_index": index});
        let (begun, done) = match *kind {
            "reasoning" => (json!({"summary": []}), json!({"summary": []})),
            "function_call" => {
                let of = json!({"name": talk.word(&TOOLS), "call_id": talk.id("`call_` + 24 of 62"), "status": "in_progress", "arguments": ""});
                (of.clone(), joined(of, json!({"status": "completed", "arguments": talk.text()})))
            }
            _ => (
                json!({"role": "assistant", "status": "in_progress", "content": []}),
                json!({"role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": talk.text(), "annotations": []}]}),
            ),
        };
        let whole = |more: &Value| json!({"output_index": index, "item": joined(json!({"id": item, "type": kind}), more.clone())});
        say("response.output_item.added", whole(&begun));
        if *kind == "message" {
            let place = with(place.clone(), "content_index", json!(0));
            let part = |text: &Value| {
                with(
                    place.clone(),
                    "part",
                    json!({"type": "output_text", "text": text, "annotations": []}),
                )
            };
            let text = &done["content"][0]["text"];
            say("response.content_part.added", part(&json!("")));
            for piece in talk.pieces(1, 6) {
                say("response.output_text.delta", with(place.clone(), "delta", json!(piece)));
            }
            say("response.output_text.done", with(place.clone(), "text", text.clone()));
            say("response.content_part.done", part(text));
        } else if *kind == "function_call" {
            for piece in talk.pieces(1, 3) {
                say(
                    "response.function_call_arguments.delta",
                    with(place.clone(), "delta", json!(piece)),
                );
            }
            say(
                "response.function_call_arguments.done",
                with(place, "arguments", done["arguments"].clone()),
            );
        }
        say("response.output_item.done", whole(&done));
        output.push(joined(json!({"id": item, "type": kind}), done));
    }
    let ends = talk.outcome(&[(86, "completed"), (9, "incomplete"), (5, "failed")]);
    let usage = json!({"input_tokens": talk.varying(9, 900), "output_tokens": talk.varying(2, 500), "total_tokens": talk.varying(11, 1400)});
    let more = match ends {
        "completed" => json!({"usage": usage}),
        "incomplete" => {
            json!({"usage": usage, "incomplete_details": {"reason": "max_output_tokens"}})
        }
        _ => {
            json!({"error": {"code": talk.outcome(&[(70, "server_error"), (30, "rate_limit_exceeded")]), "message": talk.text()}})
        }
    };
    say(&format!("response.{ends}"), state(ends, &output, more));
    talk.stream("/v1/responses", asked, Wire::Sse, events);
}
