//! Protocols to measure with. **Nobody tunes by looking at what fails here**: by default only the totals
//! of this half are printed. Look for causes in the other half.

mod providers;

use serde_json::{Value, json};

use super::grammar::{Grammar, NO_LAW, Protocol, TypeSource, counts};
use super::mint::{AGENTS, CITIES, MODELS, TOOLS, WORKERS};
use super::talk::{Event, Talk, Wire, joined, with};
use super::tied;

/// The protocols.
pub static ALL: [Protocol; 9] = [
    Protocol {
        name: "assistants (`object` and SSE names)",
        say: providers::assistants,
        grammar: Some(Grammar {
            types: TypeSource::Name,
            order: "thread.run.created thread.run.queued thread.run.in_progress \
                    (thread.run.step.created thread.run.step.in_progress \
                     (thread.run.step.delta+ | thread.message.created thread.message.in_progress \
                      thread.message.delta+ thread.message.completed) thread.run.step.completed)+ \
                    (thread.run.completed|thread.run.failed|thread.run.requires_action) [DONE]",
            anywhere: &[],
            slices: None,
            law: NO_LAW,
        }),
        optional: &[],
    },
    Protocol {
        name: "interleaved by `toolCallId`",
        say: by_call,
        grammar: Some(Grammar {
            types: TypeSource::Member("kind"),
            order: "turn.start _? text* (turn.end|turn.error)",
            anywhere: &[],
            slices: Some((
                "/toolCallId",
                "tool.start tool.args+ tool.ready (tool.ok|tool.failed|tool.denied)",
            )),
            law: NO_LAW,
        }),
        optional: &[],
    },
    Protocol {
        name: "GraphQL over SSE",
        say: graphql,
        grammar: Some(Grammar {
            types: TypeSource::Name,
            order: "next+ complete",
            anywhere: &[],
            slices: None,
            law: graphql_law,
        }),
        optional: &[],
    },
    Protocol {
        name: "parallel tools",
        say: parallel,
        grammar: Some(Grammar {
            types: TypeSource::Member("event"),
            order: "run_started (plan_ready? _ agent_message+ handoff?)+ run_finished",
            anywhere: &[],
            slices: Some((
                "/payload/call_id",
                "tool_queued tool_executing+ (tool_finished|tool_crashed)",
            )),
            law: |_, events| {
                let times = events.iter().filter_map(|event| event.data["timestamp"].as_u64());
                times.collect::<Vec<u64>>().is_sorted()
            },
        }),
        optional: &[],
    },
    Protocol {
        name: "shop (REST)",
        say: shop,
        grammar: None,
        optional: &["nickname", "coupon", "param", "tracking"],
    },
    Protocol {
        name: "messages in blocks",
        say: providers::blocks,
        grammar: Some(Grammar {
            types: TypeSource::Member("type"),
            order: "message_start (content_block_start content_block_delta+ content_block_stop)+ \
                    message_delta message_stop",
            anywhere: &["ping"],
            slices: None,
            law: |_, events| {
                let index = |event: &Event| event.data["index"].as_u64();
                let starts = events.iter().filter(|it| it.data["type"] == "content_block_start");
                let starts: Vec<Option<u64>> = starts.map(index).collect();
                let all: Vec<u64> = events.iter().filter_map(index).collect();
                starts.into_iter().eq((0..=all.last().copied().unwrap_or_default()).map(Some))
                    && all.is_sorted()
            },
        }),
        optional: &[],
    },
    Protocol {
        name: "responses in items",
        say: providers::items,
        grammar: Some(Grammar {
            types: TypeSource::Member("type"),
            order: "response.created response.in_progress (response.output_item.added \
                    (response.content_part.added response.output_text.delta+ \
                     response.output_text.done response.content_part.done \
                     |response.function_call_arguments.delta+ \
                      response.function_call_arguments.done)? response.output_item.done)+ \
                    (response.completed|response.incomplete|response.failed)",
            anywhere: &[],
            slices: None,
            law: |_, events| counts(events, "sequence_number"),
        }),
        optional: &[],
    },
    Protocol {
        name: "build log with `still_here`",
        say: build,
        grammar: Some(Grammar {
            types: TypeSource::Member("ev"),
            order: "started (step line* (passed|failed))+ summary artifact*",
            anywhere: &["still_here"],
            slices: None,
            law: NO_LAW,
        }),
        optional: &[],
    },
    Protocol {
        name: "progress and totals",
        say: tied::progress,
        grammar: Some(tied::PROGRESS),
        optional: &[],
    },
];

fn by_call(talk: &mut Talk) {
    let tools: Vec<String> = (0..talk.planned(1, 4)).map(|_| talk.word(&TOOLS)).collect();
    let asked = json!({"prompt": talk.prompt(), "tools": tools, "agent": talk.word(&AGENTS)});
    let turn = talk.id("ULID");
    let mut threads: Vec<Vec<Event>> = Vec::new();
    for _ in 0..talk.planned(0, 3) {
        let id = talk.id("`toolu_01` + 22 of 62");
        let say = |kind: &str, more: Value| {
            Event::data(joined(json!({"kind": kind, "toolCallId": id}), more))
        };
        let name = &tools[talk.plan.below(tools.len())];
        let mut thread = vec![say("tool.start", json!({"name": name}))];
        thread.extend(talk.pieces(1, 3).iter().map(|it| say("tool.args", json!({"delta": it}))));
        thread.push(say("tool.ready", json!({"args": {"city": talk.word(&CITIES)}})));
        thread.push(match talk.outcome(&[(80, 0), (13, 1), (7, 2)]) {
            0 => say("tool.ok", json!({"output": talk.text(), "ms": talk.varying(2, 900)})),
            1 => say("tool.failed", json!({"error": {"code": talk.outcome(&[(70, "timeout"), (30, "crash")]), "message": talk.text()}})),
            _ => say("tool.denied", json!({"by": "policy"})),
        });
        thread.reverse();
        threads.push(thread);
    }
    let mut events =
        vec![Event::data(json!({"kind": "turn.start", "turn": turn, "at": talk.time()}))];
    while !threads.is_empty() {
        let at = talk.run.below(threads.len());
        events.extend(threads[at].pop());
        threads.retain(|thread| !thread.is_empty());
    }
    if talk.is_planned(85) {
        events.extend(
            talk.pieces(1, 6)
                .into_iter()
                .map(|it| Event::data(json!({"kind": "text", "text": it}))),
        );
    }
    events.push(Event::data(match talk.is_planned(93) {
        true => json!({"kind": "turn.end", "turn": turn, "usage": {"in": talk.varying(8, 900), "out": talk.varying(1, 300)}}),
        false => json!({"kind": "turn.error", "turn": turn, "message": talk.text()}),
    }));
    talk.stream("/v2/turns", asked, Wire::Sse, events);
}

fn graphql(talk: &mut Talk) {
    let operation = talk.outcome(&[(60, "Trips"), (40, "Search")]);
    let asked = json!({"operationName": operation, "query": format!("query {operation}($city: String!) {{ trips(city: $city) {{ id }} }}"), "variables": {"city": talk.word(&CITIES)}});
    let mut events = Vec::new();
    let fails = talk.is_planned(8);
    let parts = if fails { 0 } else { talk.planned(0, 3) };
    let data = match fails {
        true => {
            json!({"data": null, "errors": [{"message": talk.text(), "path": ["trips"], "extensions": {"code": talk.outcome(&[(70, "UPSTREAM"), (30, "FORBIDDEN")])}}], "hasNext": false})
        }
        false => {
            let trips = (0..talk.planned(1, 3)).map(|_| {
                let eta = if talk.is_planned(12) { json!(talk.varying(1, 90)) } else { Value::Null };
                json!({"id": talk.id("snowflake"), "__typename": talk.outcome(&[(60, "Train"), (30, "Bus"), (10, "Ferry")]), "city": talk.word(&CITIES), "eta": eta, "price": talk.varying(100, 9999) as f64 / 100.0})
            });
            let trips: Vec<Value> = trips.collect();
            json!({"data": {"trips": trips}, "hasNext": parts > 0})
        }
    };
    events.push(Event::named("next", data));
    for part in 1..=parts {
        let item = json!({"path": ["trips", part - 1], "data": {"seats": talk.varying(0, 80), "delayed": talk.is_planned(30)}});
        events.push(Event::named("next", json!({"incremental": [item], "hasNext": part < parts})));
    }
    events.push(Event::named("complete", Value::Null));
    talk.stream("/graphql", asked, Wire::Sse, events);
}

fn graphql_law(_: &Value, events: &[Event]) -> bool {
    let parts: Vec<&Value> =
        events.iter().filter(|event| !event.data.is_null()).map(|event| &event.data).collect();
    let is_first = |part: &&Value| part["incremental"].is_null();
    let Some((last, before)) = parts.split_last() else { return false };
    let ends = last["hasNext"] == false && before.iter().all(|part| part["hasNext"] == true);
    ends && is_first(&parts[0]) && !parts[1..].iter().any(is_first)
}

fn parallel(talk: &mut Talk) {
    let agent = talk.word(&AGENTS);
    let run = talk.uuid();
    let asked =
        json!({"task": talk.prompt(), "priority": talk.outcome(&[(70, "normal"), (30, "high")])});
    let mut events = Vec::new();
    let mut say = |event: &'static str, payload: Value| events.push((event, payload));
    say("run_started", json!({"run_id": run, "agent_name": agent, "model": talk.word(&MODELS)}));
    let mut agent = agent;
    for round in 0..talk.planned(1, 2) {
        if talk.is_planned(50) {
            let tools = talk.planned(1, 5);
            say("plan_ready", json!({"steps": tools}));
        }
        let mut threads = Vec::new();
        for _ in 0..talk.planned(1, 3) {
            let call = talk.id("8 hex");
            let tool = talk.word(&TOOLS);
            let of = |more: Value| {
                joined(json!({"call_id": call, "tool": tool, "agent_name": agent}), more)
            };
            let mut thread = vec![("tool_queued", of(json!({})))];
            let steps = talk.varying(1, 3);
            thread.extend((1..=steps).map(|step| ("tool_executing", of(json!({"step": step})))));
            thread.push(match talk.is_planned(90) {
                true => (
                    "tool_finished",
                    of(json!({"output": talk.text(), "cost": talk.varying(1, 99) as f64 / 1000.0})),
                ),
                false => (
                    "tool_crashed",
                    of(json!({"error": talk.text(), "retryable": talk.is_planned(50)})),
                ),
            });
            thread.reverse();
            threads.push(thread);
        }
        while !threads.is_empty() {
            let at = talk.run.below(threads.len());
            if let Some((event, payload)) = threads[at].pop() {
                say(event, payload);
            }
            threads.retain(|thread| !thread.is_empty());
        }
        for piece in talk.pieces(1, 4) {
            say("agent_message", json!({"agent_name": agent, "text": piece}));
        }
        if round == 0 && talk.is_planned(30) {
            let next = talk.word(&AGENTS);
            say("handoff", json!({"from": agent, "to": next}));
            agent = next;
        }
    }
    let ends = talk.outcome(&[(85, "success"), (10, "budget"), (5, "error")]);
    say("run_finished", json!({"run_id": run, "status": ends}));
    let events = events.into_iter().map(|(event, payload)| {
        let at = talk.millis();
        Event::data(json!({"event": event, "timestamp": at, "payload": payload}))
    });
    let events = events.collect();
    talk.stream("/runs", asked, Wire::Sse, events);
}

fn shop(talk: &mut Talk) {
    let customer = talk.id("`cus_` + 14 of 62");
    let mut person = json!({"id": customer, "object": "customer", "email": format!("{}@mail.example", talk.id("8 hex")), "city": talk.word(&CITIES), "created": talk.epoch(), "balance": 0, "default_source": null});
    if talk.is_planned(30) {
        person["nickname"] = json!(talk.prompt());
    }
    let etag = format!("\"{}\"", talk.id("8 hex"));
    let at = format!("/v1/customers/{customer}");
    let request = talk.id("12 of 62");
    let fields =
        [("location", at.as_str()), ("etag", etag.as_str()), ("x-request-id", request.as_str())];
    talk.json_with(
        "POST",
        "/v1/customers",
        json!({"email": person["email"], "city": person["city"]}),
        (201, &fields),
        &person,
    );
    let mut orders = Vec::new();
    for _ in 0..talk.planned(0, 4) {
        let order = talk.id("`INV-` + 6 digits");
        let items = (0..talk.planned(1, 3)).map(|_| json!({"sku": talk.id("`ex_` + 8 hex"), "quantity": talk.planned(1, 5), "price": talk.planned(99, 99_999)}));
        let items: Vec<Value> = items.collect();
        let status = talk.outcome(&[(70, "paid"), (20, "open"), (8, "refunded"), (2, "disputed")]);
        let mut made = json!({"id": order, "object": "order", "customer": customer, "items": items, "status": status, "currency": talk.outcome(&[(70, "eur"), (25, "usd"), (5, "gbp")]), "created": talk.epoch(), "shipped_at": null, "warehouse": talk.word(&WORKERS)});
        if talk.is_planned(20) {
            made["coupon"] =
                json!({"code": talk.word(&AGENTS).to_uppercase(), "percent": talk.planned(5, 30)});
        }
        if talk.is_planned(35) {
            made["shipped_at"] = json!(talk.time());
            made["tracking"] = json!(talk.id("ULID"));
        }
        talk.json("POST", "/v1/orders", json!({"customer": customer, "items": items}), 201, &made);
        orders.push(made);
    }
    let mut cursor = None;
    for page in orders.chunks(2) {
        let next = if orders.len() > 2 && cursor.is_none() {
            Some(talk.id("base64url, 22"))
        } else {
            None
        };
        let path = format!(
            "/v1/orders?customer={customer}&limit=2{}",
            cursor.map_or_else(String::new, |at: String| format!("&cursor={at}"))
        );
        talk.json("GET", &path, Value::Null, 200, &json!({"object": "list", "data": page, "has_more": next.is_some(), "next_cursor": next}));
        cursor = next;
    }
    let error = |kind: &str, code: &str, message: String| json!({"error": {"type": kind, "code": code, "message": message}});
    if talk.is_planned(35) {
        let missing = format!("/v1/customers/{}", talk.planned(9000, 9999));
        let body =
            error("invalid_request", "not_found", format!("No such customer: {}", talk.text()));
        talk.json("GET", &missing, Value::Null, 404, &body);
    }
    if talk.is_planned(25) {
        let code = talk.outcome(&[(60, "email_invalid"), (30, "city_unknown"), (10, "blocked")]);
        let body = with(
            error("invalid_request", code, talk.text()),
            "request_id",
            json!(talk.id("12 of 62")),
        );
        talk.json("POST", "/v1/customers", json!({"email": "nobody"}), 422, &body);
    }
    talk.json("GET", &at, Value::Null, 200, &person);
    if talk.is_planned(30) {
        talk.json("DELETE", &at, Value::Null, 204, &Value::Null);
    }
}

fn build(talk: &mut Talk) {
    let asked = json!({"repo": format!("{}/{}", talk.word(&AGENTS), talk.word(&TOOLS)), "ref": talk.id("8 hex"), "clean": talk.is_planned(30)});
    let (build, worker) = (talk.planned(1, 90_000), talk.word(&WORKERS));
    let mut events = vec![
        json!({"ev": "started", "build": build, "worker": worker, "commit": format!("{}{}", talk.id("`resp_` + 48 hex").split_off(21), talk.id("8 hex"))}),
    ];
    let steps = talk.planned(1, 4);
    let fails = talk.is_planned(20);
    for step in 1..=steps {
        let name = ["checkout", "compile", "test", "package"][step - 1];
        events.push(json!({"ev": "step", "n": step, "name": name}));
        events.extend(
            talk.pieces(0, 6).iter().map(|it| json!({"ev": "line", "out": out(it), "text": it})),
        );
        events.push(match fails && step == steps {
            true => json!({"ev": "failed", "n": step, "code": talk.outcome(&[(70, 1), (20, 101), (10, 137)])}),
            false => json!({"ev": "passed", "n": step, "ms": talk.varying(3, 90_000)}),
        });
    }
    events.push(json!({"ev": "summary", "build": build, "ok": !fails, "steps": steps}));
    if !fails {
        for _ in 0..talk.planned(0, 2) {
            let name = format!("{}.tar.gz", talk.word(&TOOLS));
            events.push(json!({"ev": "artifact", "name": name, "sha256": talk.id("`resp_` + 48 hex")[5..], "bytes": talk.varying(10, 1 << 30)}));
        }
    }
    let (mut sent, last) = (Vec::new(), events.len() - 1);
    for (at, event) in events.into_iter().enumerate() {
        while at > 0 && at <= last && talk.run.chance(14) {
            sent.push(Event::data(json!({"ev": "still_here", "up": talk.millis()})));
        }
        sent.push(Event::data(event));
    }
    talk.stream("/builds", asked, Wire::Lines, sent);
}

/// Where a build tool writes what it says.
fn out(text: &str) -> &'static str {
    if text.len().is_multiple_of(5) { "stderr" } else { "stdout" }
}
