//! Protocols to find causes with: what breaks them is printed by `--findings`.

use serde_json::{Value, json};

use super::grammar::{Grammar, NO_LAW, Protocol, TypeSource, counts};
use super::mint::{AGENTS, CITIES, MODELS, TOOLS, WORKERS};
use super::talk::{Event, Talk, Wire, joined, with};
use super::{keyed, later, tied};

/// The protocols.
pub static ALL: [Protocol; 15] = [
    Protocol {
        name: "graph (tuples, SSE names)",
        say: graph,
        grammar: Some(Grammar {
            types: TypeSource::Name,
            order: "metadata (messages+ updates)+ (values|error) end",
            anywhere: &[],
            slices: None,
            law: NO_LAW,
        }),
        optional: &[],
    },
    Protocol {
        name: "interleaved by `cid`",
        say: |talk| weave(talk, Numbered::No),
        grammar: Some(Grammar { law: NO_LAW, ..WEAVE }),
        optional: &[],
    },
    Protocol {
        name: "interleaved by `cid`, with `seq`",
        say: |talk| weave(talk, Numbered::BySeq),
        grammar: Some(Grammar { law: |_, events| counts(events, "seq"), ..WEAVE }),
        optional: &[],
    },
    Protocol {
        name: "lines told by `done`",
        say: lines,
        grammar: Some(Grammar {
            types: TypeSource::Member("done"),
            order: "false+ true",
            anywhere: &[],
            slices: None,
            law: NO_LAW,
        }),
        optional: &[],
    },
    Protocol {
        name: "JSON-RPC with progress",
        say: rpc,
        grammar: Some(Grammar {
            types: TypeSource::Method,
            order: "window/logMessage? $/progress* (result|error)",
            anywhere: &[],
            slices: None,
            law: rpc_law,
        }),
        optional: &[],
    },
    Protocol {
        name: "feed with `tick`",
        say: |talk| feed(talk, 70),
        grammar: Some(Grammar { anywhere: &["tick"], ..FEED }),
        optional: &[],
    },
    Protocol {
        name: "feed without",
        say: |talk| feed(talk, 0),
        grammar: Some(FEED),
        optional: &[],
    },
    Protocol {
        name: "polled jobs",
        say: jobs,
        grammar: None,
        optional: &["note", "result", "error", "checksum", "next"],
    },
    Protocol {
        name: "pieces and usage",
        say: tied::usage,
        grammar: Some(tied::USAGE),
        optional: &[],
    },
    Protocol {
        name: "parts of steps",
        say: keyed::parts,
        grammar: Some(keyed::PARTS),
        optional: &[],
    },
    Protocol {
        name: "blocks side by side",
        say: keyed::blocks,
        grammar: Some(keyed::BLOCKS),
        optional: &[],
    },
    Protocol {
        name: "deferred fields",
        say: keyed::deferred,
        grammar: Some(keyed::DEFERRED),
        optional: &[],
    },
    Protocol {
        name: "operations side by side",
        say: keyed::operations,
        grammar: Some(keyed::OPERATIONS),
        optional: &[],
    },
    Protocol {
        name: "speech and translation",
        say: later::speech,
        grammar: Some(later::SPEECH),
        optional: &[],
    },
    Protocol {
        name: "steps told by their parts",
        say: later::deployment,
        grammar: Some(later::DEPLOYMENT),
        optional: &[],
    },
];

fn graph(talk: &mut Talk) {
    let (thread, run) = (talk.uuid(), talk.uuid());
    let (model, agent) = (talk.word(&MODELS), talk.word(&AGENTS));
    let created = talk.time();
    let made = json!({"thread_id": thread, "created_at": created, "status": "idle", "metadata": {}, "values": null});
    talk.json("POST", "/threads", json!({"metadata": {}}), 200, &made);
    let mut events = vec![Event::named("metadata", json!({"run_id": run, "attempt": 1}))];
    let mut said = vec![json!({"type": "human", "content": talk.prompt(), "id": talk.uuid()})];
    let asked = json!({"assistant_id": agent, "input": {"messages": [{"role": "user", "content": said[0]["content"]}]}, "stream_mode": ["messages-tuple", "updates"]});
    let rounds = talk.outcome(&[(50, 0), (30, 1), (20, 2)]);
    let fails = talk.is_planned(8);
    for step in 1..=rounds * 2 + 1 {
        let is_tool = step % 2 == 0;
        let node = if is_tool { "tools" } else { "agent" };
        let id = format!("run--{}", talk.uuid());
        let calls = match step < rounds * 2 && !is_tool {
            true => {
                json!([{"name": talk.word(&TOOLS), "args": {"q": talk.word(&CITIES)}, "id": talk.id("`call_` + 24 of 62"), "type": "tool_call"}])
            }
            false => json!([]),
        };
        let around = json!({"langgraph_step": step, "langgraph_node": node, "thread_id": thread, "run_id": run, "ls_model_name": model});
        let pieces = if is_tool { vec![talk.text()] } else { talk.pieces(1, 6) };
        for piece in &pieces {
            let kind = if is_tool { "tool" } else { "AIMessageChunk" };
            let chunk = json!({"type": kind, "content": piece, "id": id, "additional_kwargs": {}, "tool_calls": calls});
            events.push(Event::named("messages", json!([chunk, around])));
            if talk.run.chance(5) {
                events.push(Event::comment("heartbeat"));
            }
        }
        let kind = if is_tool { "tool" } else { "ai" };
        let message = json!({"type": kind, "content": pieces.join(" "), "id": id});
        let usage =
            json!({"input_tokens": talk.varying(20, 900), "output_tokens": talk.varying(5, 400)});
        let message = if is_tool { message } else { with(message, "usage_metadata", usage) };
        said.push(message.clone());
        events.push(Event::named("updates", json!({node: {"messages": [message]}})));
    }
    events.push(match fails {
        true => {
            Event::named("error", json!({"error": "GraphRecursionError", "message": talk.text()}))
        }
        false => Event::named("values", json!({"messages": said})),
    });
    events.push(Event::named("end", Value::Null));
    talk.stream(&format!("/threads/{thread}/runs/stream"), asked, Wire::Sse, events);
}

const WEAVE: Grammar = Grammar {
    types: TypeSource::Member("type"),
    order: "run.begin _? (run.end|run.fail)",
    anywhere: &[],
    slices: Some((
        "/cid",
        "call.open call.delta+ call.close call.result|note.open note.delta+ note.close",
    )),
    law: NO_LAW,
};

enum Numbered {
    No,
    BySeq,
}

fn weave(talk: &mut Talk, numbered: Numbered) {
    let model = talk.word(&MODELS);
    let asked = json!({"model": model, "prompt": talk.prompt(), "effort": talk.outcome(&[(60, "low"), (40, "high")])});
    let run = talk.id("16 of 62");
    let mut threads: Vec<Vec<Event>> = Vec::new();
    for _ in 0..talk.planned(1, 3) {
        let cid = talk.id("12 of 62");
        let say =
            |kind: &str, more: Value| Event::data(joined(json!({"type": kind, "cid": cid}), more));
        let mut thread = Vec::new();
        if talk.is_planned(60) {
            thread.push(say("call.open", json!({"tool": talk.word(&TOOLS)})));
            thread
                .extend(talk.pieces(1, 3).iter().map(|it| say("call.delta", json!({"text": it}))));
            thread.push(say("call.close", json!({"args": {"place": talk.word(&CITIES)}})));
            thread.push(match talk.is_planned(85) {
                true => {
                    say("call.result", json!({"ok": true, "output": talk.text(), "error": null}))
                }
                false => {
                    say("call.result", json!({"ok": false, "output": null, "error": talk.text()}))
                }
            });
        } else {
            thread.push(say("note.open", json!({"title": talk.text()})));
            thread
                .extend(talk.pieces(1, 4).iter().map(|it| say("note.delta", json!({"text": it}))));
            thread.push(say("note.close", json!({})));
        }
        thread.reverse();
        threads.push(thread);
    }
    let mut events = vec![Event::data(
        json!({"type": "run.begin", "run": run, "model": model, "at": talk.time()}),
    )];
    while !threads.is_empty() {
        let at = talk.run.below(threads.len());
        events.extend(threads[at].pop());
        threads.retain(|thread| !thread.is_empty());
    }
    let usage = json!({"in": talk.varying(10, 800), "out": talk.varying(5, 300)});
    events.push(Event::data(match talk.is_planned(90) {
        true => json!({"type": "run.end", "run": run, "usage": usage}),
        false => json!({"type": "run.fail", "run": run, "reason": talk.outcome(&[(60, "overloaded"), (30, "timeout"), (10, "cancelled")])}),
    }));
    if matches!(numbered, Numbered::BySeq) {
        for (seq, event) in events.iter_mut().enumerate() {
            event.data["seq"] = json!(seq);
        }
    }
    talk.stream("/v1/weave", asked, Wire::Sse, events);
}

fn lines(talk: &mut Talk) {
    let model = talk.word(&MODELS);
    if talk.is_planned(40) {
        let known = (0..talk.planned(1, 4)).map(|_| {
            json!({"name": talk.word(&MODELS), "size": talk.planned(1 << 30, 1 << 34), "digest": talk.id("`resp_` + 48 hex")[5..], "modified_at": talk.time()})
        });
        let known: Vec<Value> = known.collect();
        talk.json("GET", "/api/tags", Value::Null, 200, &json!({"models": known}));
    }
    let mut asked =
        json!({"model": model, "messages": [{"role": "user", "content": talk.prompt()}]});
    if talk.is_planned(30) {
        asked["options"] = json!({"temperature": 0.2});
    }
    let mut events = Vec::new();
    let mut say = |talk: &mut Talk, message: Value, more: Value| {
        let line = json!({"model": model, "created_at": talk.time(), "message": message});
        events.push(Event::data(joined(line, more)));
    };
    if talk.is_planned(35) {
        for piece in talk.pieces(1, 5) {
            let message = json!({"role": "assistant", "content": "", "thinking": piece});
            say(talk, message, json!({"done": false}));
        }
    }
    if talk.is_planned(40) {
        let call = json!({"function": {"name": talk.word(&TOOLS), "arguments": {"city": talk.word(&CITIES)}}});
        let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
        say(talk, message, json!({"done": false}));
    } else {
        for piece in talk.pieces(1, 9) {
            say(talk, json!({"role": "assistant", "content": piece}), json!({"done": false}));
        }
    }
    let reason = talk.outcome(&[(88, "stop"), (12, "length")]);
    let counts = json!({"done": true, "done_reason": reason, "total_duration": talk.varying(1 << 20, 1 << 32), "eval_count": talk.varying(3, 700), "prompt_eval_count": talk.varying(10, 900)});
    say(talk, json!({"role": "assistant", "content": ""}), counts);
    talk.stream("/api/chat", asked, Wire::Lines, events);
}

fn rpc(talk: &mut Talk) {
    let version = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"client": "bench", "version": "2"}});
    let known = json!({"jsonrpc": "2.0", "id": 0, "result": {"version": "2", "server": {"name": "rpcd", "build": "1.8.2"}, "capabilities": {"progress": true}}});
    talk.json("POST", "/rpc", version, 200, &known);
    for id in 1..=talk.planned(1, 3) {
        let is_told = talk.is_planned(60);
        let token = talk.id("8 hex");
        let mut params = json!({"name": talk.word(&TOOLS), "arguments": {"q": talk.prompt()}});
        if is_told {
            params["progressToken"] = json!(token);
        }
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "tools/run", "params": params});
        let mut events = Vec::new();
        let notify = |method: &str, params: Value| {
            Event::data(json!({"jsonrpc": "2.0", "method": method, "params": params}))
        };
        if talk.is_planned(25) {
            let level = talk.outcome(&[(70, "info"), (25, "warning"), (5, "error")]);
            events.push(notify("window/logMessage", json!({"level": level, "text": talk.text()})));
        }
        let steps = if is_told { talk.varying(0, 5) } else { 0 };
        for step in 1..=steps {
            events.push(notify(
                "$/progress",
                json!({"progressToken": token, "progress": step, "total": steps}),
            ));
        }
        events.push(Event::data(match talk.is_planned(85) {
            true => json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": talk.text()}], "isError": false, "took": talk.varying(3, 900)}}),
            false => json!({"jsonrpc": "2.0", "id": id, "error": {"code": talk.outcome(&[(70, -32602), (30, -32000)]), "message": talk.text()}}),
        }));
        talk.stream("/rpc", asked, Wire::Sse, events);
    }
}

fn rpc_law(asked: &Value, events: &[Event]) -> bool {
    let progress = events.iter().filter(|event| event.data["method"] == "$/progress");
    let token = &asked["params"]["progressToken"];
    let steps: Vec<(&Value, u64)> = progress
        .map(|event| {
            let params = &event.data["params"];
            (&params["progressToken"], params["progress"].as_u64().unwrap_or_default())
        })
        .collect();
    let is_asked = token.is_string() || steps.is_empty();
    let grows = steps.windows(2).all(|two| two[0].1 < two[1].1);
    let last = events.last().is_some_and(|event| event.data["id"] == asked["id"]);
    is_asked && grows && last && steps.iter().all(|(of, _)| *of == token)
}

const FEED: Grammar = Grammar {
    types: TypeSource::Member("type"),
    order: "hello think* token+ cite* stop usage? bye",
    anywhere: &[],
    slices: None,
    law: |asked, events| {
        let told = events.iter().any(|event| event.data["type"] == "usage");
        told == (asked["usage"] == true)
    },
};

fn feed(talk: &mut Talk, ticks: usize) {
    let wants_usage = talk.is_planned(40);
    let asked = json!({"topic": talk.word(&CITIES), "q": talk.prompt(), "usage": wants_usage});
    let run = talk.id("`ex_` + 8 hex");
    let mut events = vec![json!({"type": "hello", "run": run, "v": 3})];
    if talk.is_planned(45) {
        events.extend(talk.pieces(1, 4).iter().map(|it| json!({"type": "think", "text": it})));
    }
    events.extend(talk.pieces(2, 9).iter().map(|it| json!({"type": "token", "text": it})));
    for n in 1..=talk.outcome(&[(60, 0), (25, 1), (15, 3)]) {
        let source = format!("https://docs.example/{}", talk.id("base64url, 22"));
        events.push(json!({"type": "cite", "n": n, "url": source, "page": talk.varying(1, 300)}));
    }
    let why = talk.outcome(&[(80, "end"), (14, "length"), (6, "filter")]);
    events.push(json!({"type": "stop", "why": why}));
    if wants_usage {
        events.push(
            json!({"type": "usage", "in": talk.varying(9, 800), "out": talk.varying(2, 300)}),
        );
    }
    events.push(json!({"type": "bye", "run": run}));
    let mut sent = Vec::new();
    for (at, event) in events.into_iter().enumerate() {
        while at > 0 && ticks > 0 && talk.run.chance(ticks / 4) {
            sent.push(Event::data(json!({"type": "tick", "t": talk.epoch()})));
        }
        sent.push(Event::data(event));
    }
    talk.stream("/feed", asked, Wire::Sse, sent);
}

fn jobs(talk: &mut Talk) {
    let id = talk.id("nano id (21 of 64)");
    let kind = talk.outcome(&[(50, "render"), (35, "encode"), (15, "index")]);
    let asked =
        json!({"kind": kind, "input": {"title": talk.prompt(), "size": talk.planned(1, 4000)}});
    let (created, worker) = (talk.time(), talk.word(&WORKERS));
    let state = |status: &str, progress: f64, eta: Value, worker: Value| json!({"job_id": id, "kind": kind, "status": status, "progress": progress, "eta": eta, "worker": worker, "created_at": created});
    let queued = state("queued", 0.0, Value::Null, Value::Null);
    talk.json("POST", "/jobs", asked, 202, &queued);
    let path = format!("/jobs/{id}");
    for _ in 0..talk.varying(0, 1) {
        talk.json("GET", &path, Value::Null, 200, &queued);
    }
    let polls = talk.varying(1, 4);
    for poll in 1..=polls {
        let eta = if talk.run.chance(25) { json!(talk.varying(1, 90)) } else { Value::Null };
        let mut running = state("running", poll as f64 / 8.0, eta, json!(worker));
        if talk.run.chance(15) {
            running["note"] = json!(talk.text());
        }
        talk.json("GET", &path, Value::Null, 200, &running);
    }
    let ended = talk.outcome(&[(80, "done"), (14, "failed"), (6, "cancelled")]);
    let end = state(ended, if ended == "done" { 1.0 } else { 0.5 }, Value::Null, json!(worker));
    let end = match ended {
        "done" => {
            let mut result = json!({"url": format!("https://cdn.example/{}", talk.uuid()), "bytes": talk.varying(100, 90_000)});
            if talk.is_planned(30) {
                result["checksum"] = json!(talk.id("`resp_` + 48 hex")[5..]);
            }
            with(end, "result", result)
        }
        "failed" => {
            let code =
                talk.outcome(&[(60, "bad_input"), (30, "out_of_memory"), (10, "lost_worker")]);
            with(end, "error", json!({"code": code, "message": talk.text()}))
        }
        _ => end,
    };
    talk.json("GET", &path, Value::Null, 200, &end);
    if talk.is_planned(30) {
        talk.json("DELETE", &path, Value::Null, 204, &Value::Null);
    }
}
