//! E: an execution engine tells several users what their agents do.
//!
//! Letta's App Server shows what a run and two users at once are like. The rest is recorded from a stand-in
//! (`tests/support/engine.rs`): `RETAPE_MODE=record cargo test --test letta engine`.

use std::thread;
use std::time::Duration;

use retape::cassette::Interaction;
use retape::contract::streams::{apart, happens_before, shared};
use retape::message::{Message, Messages, Protocols};
use retape::{Mode, Session, Summary, assert_contract, assert_order};
use serde_json::{Value, json};

use super::{Tape, of_type, text};
use crate::support::engine::{Engine, uuid};
use crate::support::socket::{Ended, Socket};

const RUN: &str = "agent_started agent_thinking+ (tool_executing tool_completed)* agent_completed";

/// What of an event is one user's alone.
const OWN: [&str; 4] = ["user_id", "run_id", "agent_id", "tool_call_id"];

/// What one user heard, and how it ended if the engine ended it.
struct Heard {
    user: &'static str,
    events: Vec<Value>,
    ended: Option<Ended>,
}

/// A user who is connected.
struct User {
    name: &'static str,
    socket: Socket,
    /// After so many events nothing more is to come, which a moment shows.
    silent_after: Option<usize>,
}

impl User {
    fn new(url: &str, name: &'static str) -> Self {
        let socket = Socket::open(&format!("{url}/events"));
        Self { name, socket, silent_after: None }
    }

    fn ask(&mut self, kind: &str, more: Value) {
        let mut asked = json!({"type": kind, "request_id": uuid(), "user_id": self.name});
        asked.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        self.socket.send(&asked.to_string());
    }

    /// What comes up to an event of that type.
    fn hear(mut self, last: &str) -> (Self, Heard) {
        let mut heard = Heard { user: self.name, events: Vec::new(), ended: None };
        while heard.events.last().is_none_or(|event: &Value| event["type"] != last) {
            if self.silent_after == Some(heard.events.len()) {
                self.socket.patience(Duration::from_millis(300));
            }
            match self.socket.read() {
                Ok(text) => heard.events.push(serde_json::from_str(&text).unwrap_or_default()),
                Err(ended) => {
                    heard.ended = Some(ended);
                    break;
                }
            }
        }
        (self, heard)
    }

    /// Runs a workflow to its end, and leaves.
    fn run(mut self, agents: &[Value]) -> Heard {
        self.ask("run_workflow", json!({"agents": agents}));
        let (mut user, heard) = self.hear("workflow_completed");
        if heard.ended.is_none() {
            user.socket.close(1000, "");
        }
        heard
    }
}

impl Heard {
    fn of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    fn types(&self) -> Vec<String> {
        self.events.iter().map(|event| text(&event["type"])).collect()
    }

    /// The types of the events of one agent.
    fn agent(&self, name: &str) -> Vec<String> {
        let of = self.events.iter().filter(|event| event["agent"] == name);
        of.map(|event| text(&event["type"])).collect()
    }

    /// Where an agent began and where it ended.
    fn span(&self, agent: &str) -> (usize, usize) {
        let is = |event: &&Value| event["agent"] == agent;
        let first = self.events.iter().position(|event| is(&event)).unwrap();
        (first, self.events.iter().rposition(|event| is(&event)).unwrap())
    }

    fn end(&self) -> &Value {
        self.events.last().unwrap()
    }
}

/// An agent with its tools, and whose results it needs.
fn agent(name: &str, tools: &[&str], needs: &[&str]) -> Value {
    json!({"name": name, "tools": tools, "needs": needs})
}

fn failing(how: &str) -> Value {
    json!({"name": "analyst", "tools": ["read_costs"], "fails": how})
}

/// Replays what was recorded; with `RETAPE_MODE=record`, records an engine.
async fn play<T>(
    name: &str,
    engine: impl FnOnce() -> Engine,
    users: impl FnOnce(&str) -> T,
) -> (T, Tape) {
    let name = format!("engine/{name}");
    let mode = Mode::from_env().unwrap();
    let live = (mode == Mode::Record).then(engine);
    let upstream = live.as_ref().map(Engine::url).unwrap_or_default();
    let session = Session::builder(&name).mode(mode).upstream(upstream).start().await.unwrap();
    let heard = users(&session.url());
    session.finish().await.unwrap().all_played().unwrap();
    (heard, Tape::of_any(&name))
}

/// Replays `engine/one_agent` with a fault.
async fn spoiled<T>(fault: &str, user: impl FnOnce(&str) -> T) -> (T, Summary) {
    let session = Session::builder("engine/one_agent").mode(Mode::Replay).upstream("");
    let session = session.fault(fault.parse().unwrap()).start().await.unwrap();
    let heard = user(&session.url());
    (heard, session.stop().await.unwrap().all_faults_met().unwrap())
}

/// What each connection of a recording heard.
fn streams(tape: &Tape) -> Vec<Vec<Message>> {
    let answers = tape.cassette.interactions.iter().filter_map(Interaction::response);
    answers.map(|answer| Messages::of(answer, &Protocols::default()).list).collect()
}

fn one_agent(url: &str) -> Heard {
    User::new(url, "ann").run(&[agent("analyst", &["read_costs", "read_usage"], &[])])
}

/// Users who are all connected before the first one asks; then all ask at once.
fn at_once(url: &str, names: &[&'static str], agents: &[Value]) -> Vec<Heard> {
    let users: Vec<User> = names.iter().map(|name| User::new(url, name)).collect();
    thread::scope(|scope| {
        let running: Vec<_> =
            users.into_iter().map(|user| scope.spawn(|| user.run(agents))).collect();
        running.into_iter().map(|user| user.join().unwrap()).collect()
    })
}

#[test]
fn all_recordings_of_the_engine_keep_the_contracts_that_were_accepted() {
    assert_contract!("cassettes/engine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_a_run_tells_the_five_events_in_their_order() {
    let (heard, _) = play("one_agent", Engine::start, one_agent).await;

    assert_order!(heard.types(), format!("{RUN} workflow_completed"));
    let (calls, returns) = (heard.of("tool_executing"), heard.of("tool_completed"));
    assert_eq!((calls.len(), returns.len()), (2, 2));
    for (call, returned) in calls.iter().zip(&returns) {
        assert_eq!(call["tool_call_id"], returned["tool_call_id"]);
    }
    assert_eq!(returns[1]["result"], "read_usage of ann");
    assert_eq!(heard.end()["results"]["analyst"], heard.of("agent_completed")[0]["result"]);
}

#[test]
fn e1_the_app_server_tells_of_a_turn_from_its_start_to_its_end() {
    let tape = Tape::of_any("letta-app/allow");

    let messages = &streams(&tape)[0];
    let deltas = of_type(messages, "stream_delta").into_iter();
    let kinds = deltas.map(|it| text(&it["delta"]["message_type"]));
    // An answer; a call that is asked about; the tool runs, and another answer.
    assert_order!(
        kinds.collect::<Vec<_>>(),
        "assistant_message+ usage_statistics stop_reason
         approval_request_message+ usage_statistics stop_reason
         approval_classification_end
         client_tool_start tool_return_message client_tool_end tool_return_message
         assistant_message+ usage_statistics stop_reason"
    );
    let ends = of_type(messages, "turn_finished").into_iter();
    let ends: Vec<String> = ends.map(|it| text(&it["stop_reason"])).collect();
    assert_eq!(ends, ["end_turn", "end_turn"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e2_no_user_hears_of_another() {
    let names = ["ann", "bob", "cem"];
    let agents = [agent("triage", &[], &[]), agent("analyst", &["read_costs"], &["triage"])];
    let (heard, tape) =
        play("users_at_once", Engine::start, |url| at_once(url, &names, &agents)).await;

    for Heard { user, events, .. } in &heard {
        assert!(events.iter().all(|event| event["user_id"] == *user), "{user}");
    }
    for heard in &heard {
        assert_order!(heard.agent("triage"), "agent_started agent_thinking+ agent_completed");
        assert_order!(heard.agent("analyst"), RUN);
    }
    let mut streams = streams(&tape);
    assert_eq!(shared(streams.iter().enumerate(), &OWN), []);
    // One event on another's connection is found.
    let stray = streams[0][0].clone();
    streams[2].push(stray);
    assert_eq!(shared(streams.iter().enumerate(), &OWN).len(), 3, "its user, run and agent");
}

#[test]
fn e2_no_user_of_a_real_server_hears_of_the_run_of_another() {
    let own = [
        ("letta-app/two", ["runtime.agent_id", "runtime.conversation_id", "delta.run_id"]),
        ("codex/two", ["params.turnId", "params.turn.id", "params.itemId"]),
    ];
    for (name, own) in own {
        let tape = Tape::of_any(name);

        let streams = streams(&tape);
        assert_eq!(streams.len(), 2, "{name}");
        assert!(!happens_before(&tape.cassette, 0, 1), "at once");
        for field in own {
            assert!(streams.iter().all(|it| !apart(it, field).is_empty()), "{name}: {field}");
        }
        assert_eq!(shared(streams.iter().enumerate(), &own), [], "{name}");
    }
    // Codex tells everyone that a thread has begun.
    let threads = streams(&Tape::of_any("codex/two"));
    assert_eq!(shared(threads.iter().enumerate(), &["params.thread.id"]).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_an_agent_begins_when_those_that_it_needs_have_ended() {
    let chain = [
        agent("triage", &[], &[]),
        agent("data_helper", &["read_costs"], &["triage"]),
        agent("optimizer", &["compare"], &["data_helper"]),
    ];
    let (heard, _) =
        play("sequential", Engine::start, |url| User::new(url, "ann").run(&chain)).await;

    assert!(heard.span("triage").1 < heard.span("data_helper").0);
    assert!(heard.span("data_helper").1 < heard.span("optimizer").0);
    let result = &heard.of("agent_completed")[1]["result"];
    assert_eq!(heard.of("tool_executing")[1]["arguments"]["inputs"], json!([result]));
    assert_eq!(heard.end()["status"], "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_agents_that_need_nothing_of_each_other_take_turns() {
    let three = ["costs", "usage", "risks"].map(|name| agent(name, &["read"], &[]));
    let (heard, tape) =
        play("parallel", Engine::start, |url| User::new(url, "ann").run(&three)).await;

    let spans = ["costs", "usage", "risks"].map(|name| heard.span(name));
    for (first, last) in spans {
        assert!(spans.iter().all(|(other, _)| *other < last), "{first}: all began before it ended");
    }
    let messages = &streams(&tape)[0];
    let agents = apart(messages, "agent_id");
    assert_eq!(agents.len(), 3);
    for (_, places) in agents {
        assert_order!(places.iter().map(|place| messages[*place].tag.as_str()), RUN);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_an_agent_that_needs_two_waits_for_both() {
    let diamond = [
        agent("report", &["write"], &["costs", "usage"]),
        agent("costs", &["read"], &["triage"]),
        agent("usage", &["read"], &["triage"]),
        agent("triage", &[], &[]),
    ];
    let (heard, _) =
        play("dependent", Engine::start, |url| User::new(url, "ann").run(&diamond)).await;

    let report = heard.span("report").0;
    for middle in ["costs", "usage"] {
        let (first, last) = heard.span(middle);
        assert!(heard.span("triage").1 < first && last < report, "{middle}");
    }
    let started = heard.of("agent_started");
    let inputs = |agent: &str| &started.iter().find(|it| it["agent"] == agent).unwrap()["inputs"];
    assert_eq!(inputs("report").as_array().unwrap().len(), 2);
    assert_eq!(inputs("triage"), &json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_what_fails_is_told_and_the_others_go_on() {
    let failures = [
        ("immediate", "exception", "agent_started agent_failed"),
        ("timeout", "timeout", "agent_started agent_thinking agent_failed"),
        ("memory", "memory", "agent_started tool_executing tool_completed agent_failed"),
    ];
    for (how, kind, order) in failures {
        let agents = [failing(how), agent("triage", &[], &[]), agent("late", &[], &["analyst"])];
        let name = format!("fails_{how}");
        let (heard, _) = play(&name, Engine::start, |url| User::new(url, "ann").run(&agents)).await;

        assert_order!(heard.agent("analyst"), order);
        assert_eq!(heard.of("agent_failed")[0]["error"]["kind"], kind);
        assert_order!(heard.agent("triage"), "agent_started agent_thinking+ agent_completed");
        assert_eq!(heard.agent("late"), [""; 0], "what it needs is not there");
        assert_eq!(heard.end()["status"], "partial");
        if how == "memory" {
            let result = text(&heard.of("tool_completed")[0]["result"]);
            assert_eq!(heard.of("agent_failed")[0]["error"]["bytes"], result.len());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_an_agent_that_is_silent_is_running_and_says_nothing() {
    let (status, _) = play("fails_silent", Engine::start, |url| {
        let mut user = User::new(url, "ann");
        user.ask("run_workflow", json!({"agents": [failing("silent")]}));
        let (mut user, _) = user.hear("agent_started");
        user.ask("get_status", json!({}));
        let (mut user, heard) = user.hear("status");
        user.socket.close(1000, "");
        heard
    })
    .await;

    assert_order!(status.types(), "status");
    assert_eq!(status.end()["agents"], json!({"analyst": "running"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_a_connection_that_is_lost_ends_the_events() {
    let lost = [("network", "agent_started"), ("partial", "agent_started tool_executing")];
    for (how, order) in lost {
        let name = format!("fails_{how}");
        let run = |url: &str| User::new(url, "ann").run(&[failing(how)]);
        let (heard, _) = play(&name, Engine::start, run).await;

        assert_order!(heard.types(), order);
        assert_eq!(heard.ended, Some(Ended::Cut), "{how}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_each_failure_can_be_injected_by_name() {
    let failures = [
        ("timeout", "hang after=2", "agent_started agent_thinking", Some(Ended::Cut)),
        ("silent", "hang after=0", "()", Some(Ended::Cut)),
        ("memory", "oversized after=1 size=64KiB", RUN, None),
        ("network", "reset after=1", "agent_started", Some(Ended::Cut)),
        ("partial", "cut after=3", "agent_started agent_thinking+", Some(Ended::Cut)),
        ("immediate", "close=1011 after=0", "()", Some(Ended::Closed(1011, injected()))),
    ];
    for (name, fault, order, ended) in failures {
        let run = |url: &str| {
            let mut user = User::new(url, "ann");
            user.silent_after = fault.strip_prefix("hang after=").map(|it| it.parse().unwrap());
            user.run(&[agent("analyst", &["read_costs", "read_usage"], &[])])
        };
        // The same each time.
        for _ in 0..2 {
            let (heard, summary) = spoiled(fault, run).await;
            assert_order!(heard.agent("analyst"), order);
            assert_eq!(heard.ended, ended, "{name}");
            assert_eq!(summary.spoiled.len(), 1, "{name}");
        }
    }
}

fn injected() -> String {
    "retape injected this".to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e5_an_agent_is_tried_again_after_twice_the_time() {
    let run = |url: &str| User::new(url, "ann").run(&[failing("intermittent")]);
    let (heard, _) = play("fails_intermittent", Engine::start, run).await;

    assert_order!(
        heard.types(),
        "agent_started agent_failed{2} agent_thinking+ tool_executing tool_completed
         agent_completed workflow_completed"
    );
    let waits: Vec<i64> = heard
        .of("agent_failed")
        .iter()
        .map(|failed| failed["error"]["retry_in_ms"].as_i64().unwrap())
        .collect();
    assert_eq!(waits, [10, 20]);
    assert_eq!(heard.end()["status"], "completed");
}

/// Tries until the engine has room; how often, and what it said first.
fn patiently(url: &str) -> (Vec<u16>, Heard) {
    let mut refused = Vec::new();
    loop {
        match Socket::try_open(&format!("{url}/events"), &[]) {
            Ok(socket) => {
                let user = User { name: "ann", socket, silent_after: None };
                return (
                    refused,
                    user.run(&[agent("analyst", &["read_costs", "read_usage"], &[])]),
                );
            }
            Err(status) => refused.push(status),
        }
        assert!(refused.len() < 9, "it never has room");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e5_a_user_who_is_refused_tries_again() {
    let ((refused, heard), tape) = play("crowded", || Engine::crowded(2), patiently).await;

    assert_eq!(refused, [503, 503]);
    assert_eq!(heard.end()["status"], "completed");
    let answers = tape.cassette.interactions.iter().filter_map(Interaction::response);
    let waits: Vec<Option<&str>> = answers.map(|it| it.headers.get("retry-after")).collect();
    assert_eq!(waits, [Some("0"), Some("0"), None]);
    // The same, injected: what was recorded without it comes with the third attempt.
    let ((refused, heard), summary) = spoiled("429 retry-after=0 x2", patiently).await;
    assert_eq!(refused, [429, 429]);
    assert_eq!(heard.end()["status"], "completed");
    assert_eq!(summary.spoiled[0].call.attempts.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e6_ten_agents_of_five_users_run_at_once() {
    let names = ["ann", "bob", "cem", "dee", "eve"];
    let agents = [agent("costs", &["read", "sum"], &[]), agent("usage", &["read"], &[])];
    let (heard, tape) =
        play("ten_agents", Engine::start, |url| at_once(url, &names, &agents)).await;

    let streams = streams(&tape);
    let running: Vec<_> = streams.iter().flat_map(|it| apart(it, "agent_id")).collect();
    assert_eq!((streams.len(), running.len()), (5, 10));
    assert_eq!(shared(streams.iter().enumerate(), &OWN), []);
    for (first, then) in (0..5).flat_map(|first| (0..5).map(move |then| (first, then))) {
        assert!(!happens_before(&tape.cassette, first, then), "all at once");
    }
    for heard in &heard {
        assert_order!(heard.agent("costs"), RUN);
        assert_order!(heard.agent("usage"), RUN);
        assert_eq!(heard.end()["status"], "completed", "{}", heard.user);
    }
    assert_eq!(heard.iter().map(|it| it.events.len()).sum::<usize>(), 75);
}
