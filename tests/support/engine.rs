//! A stand-in for an execution engine: it runs workflows of agents that think and use tools, and tells each user
//! over a WebSocket what they do. It has no model and no tools, only the order of what happens. Agents take turns,
//! so a workflow comes in the same order each time.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::socket::{Socket, Sockets};

/// What an agent may take. What takes longer is given up.
const LIMIT: Duration = Duration::from_millis(30);

/// How long the engine waits before it tries once more; twice as long the next time.
const BACKOFF: Duration = Duration::from_millis(10);

/// What a tool gives that fills the memory.
const TOO_MUCH: usize = 16 * 1024;

/// An engine on a free port.
#[derive(Debug)]
pub struct Engine(Sockets);

/// An agent within a workflow.
struct Agent {
    name: String,
    id: String,
    tools: Vec<String>,
    /// Whose results it needs.
    needs: Vec<String>,
    /// How it fails.
    fails: Option<String>,
    /// What it does next, once it has begun.
    acts: Option<VecDeque<Act>>,
    result: Option<String>,
}

/// What an agent does, or what becomes of it.
enum Act {
    Tell(Value),
    Wait(Duration),
    Finish(String),
    Cut,
    Reset,
}

/// A workflow of one user.
struct Workflow {
    asked: Value,
    run: String,
    agents: Vec<Agent>,
}

impl Engine {
    pub fn start() -> Self {
        Self(Sockets::start(serve))
    }

    /// Has no room at first: it refuses so many connections with 503.
    pub fn crowded(refusals: usize) -> Self {
        let left = AtomicUsize::new(refusals);
        let is_crowded = move || {
            let one_less = |left: usize| left.checked_sub(1);
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
        };
        Self(Sockets::admitting(move || is_crowded().then_some((503, "0")), serve))
    }

    pub fn url(&self) -> String {
        self.0.url()
    }
}

fn serve(socket: &mut Socket) {
    let mut last: Option<Workflow> = None;
    while let Ok(text) = socket.read() {
        let asked: Value = serde_json::from_str(&text).unwrap();
        if asked["type"] == "get_status" {
            let status = last.as_ref().map(Workflow::status);
            let answer = json!({"request_id": asked["request_id"], "agents": status});
            socket.send(&event("status", &answer).to_string());
            continue;
        }
        let mut workflow = Workflow::of(asked);
        if workflow.run(socket).is_none() {
            return;
        }
        last = Some(workflow);
    }
}

impl Workflow {
    fn of(asked: Value) -> Self {
        let agents = asked["agents"].as_array().unwrap().iter().map(Agent::of).collect();
        Self { run: uuid(), agents, asked }
    }

    /// Each agent that can takes its turn, until none can; nothing if the connection is gone.
    fn run(&mut self, socket: &mut Socket) -> Option<()> {
        loop {
            let mut is_over = true;
            for at in 0..self.agents.len() {
                if let Some(act) = self.next(at) {
                    is_over = false;
                    self.act(at, act, socket)?;
                }
            }
            if is_over {
                break;
            }
        }
        // Whoever is silent never ends, and neither does what waits for it.
        if self.agents.iter().all(|agent| agent.fails.as_deref() != Some("silent")) {
            let results: serde_json::Map<String, Value> = self
                .agents
                .iter()
                .filter_map(|agent| Some((agent.name.clone(), json!(agent.result.as_ref()?))))
                .collect();
            let status = match results.len() {
                0 => "failed",
                all if all == self.agents.len() => "completed",
                _ => "partial",
            };
            let request = &self.asked["request_id"];
            let end = json!({"request_id": request, "status": status, "results": results});
            self.tell(socket, "workflow_completed", &end);
        }
        Some(())
    }

    fn next(&mut self, at: usize) -> Option<Act> {
        if self.agents[at].acts.is_none() {
            let needs = self.agents[at].needs.iter();
            let found = needs.map(|name| self.agents.iter().find(|it| it.name == *name).unwrap());
            let inputs: Option<Vec<String>> = found.map(|agent| agent.result.clone()).collect();
            let user = self.asked["user_id"].as_str().unwrap().to_owned();
            self.agents[at].acts = Some(self.agents[at].acts(&user, &inputs?));
        }
        self.agents[at].acts.as_mut()?.pop_front()
    }

    fn act(&mut self, at: usize, act: Act, socket: &mut Socket) -> Option<()> {
        match act {
            Act::Tell(mut told) => {
                let kind = told["type"].take();
                told["agent"] = json!(self.agents[at].name);
                told["agent_id"] = json!(self.agents[at].id);
                self.tell(socket, kind.as_str().unwrap(), &told);
            }
            Act::Finish(result) => self.agents[at].result = Some(result),
            Act::Wait(time) => std::thread::sleep(time),
            Act::Cut => {
                socket.leave();
                return None;
            }
            Act::Reset => {
                socket.reset();
                return None;
            }
        }
        Some(())
    }

    fn tell(&self, socket: &mut Socket, kind: &str, told: &Value) {
        let mut event = event(kind, told);
        event["run_id"] = json!(self.run);
        event["user_id"] = self.asked["user_id"].clone();
        socket.send(&event.to_string());
    }

    fn status(&self) -> Value {
        let state = |agent: &Agent| match (&agent.result, &agent.acts) {
            (Some(_), _) => "completed",
            (None, Some(_)) => "running",
            (None, None) => "waiting",
        };
        self.agents.iter().map(|agent| (agent.name.clone(), state(agent))).collect()
    }
}

impl Agent {
    fn of(asked: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = |field: &str| asked[field].as_array().into_iter().flatten().map(text).collect();
        Self {
            name: text(&asked["name"]),
            id: uuid(),
            tools: list("tools"),
            needs: list("needs"),
            fails: asked["fails"].as_str().map(ToOwned::to_owned),
            acts: None,
            result: None,
        }
    }

    /// What it will do with what the others found out.
    fn acts(&self, user: &str, inputs: &[String]) -> VecDeque<Act> {
        let started = json!({"type": "agent_started", "inputs": inputs});
        let thinks =
            |thought: &str| Act::Tell(json!({"type": "agent_thinking", "thought": thought}));
        let fails = |cause: Value| Act::Tell(json!({"type": "agent_failed", "error": cause}));
        let mut acts = vec![Act::Tell(started)];
        match self.fails.as_deref() {
            Some("immediate") => acts.push(fails(json!({"kind": "exception"}))),
            Some("timeout") => {
                let limit = LIMIT.as_millis() as u64;
                acts.extend([thinks("This takes a while."), Act::Wait(LIMIT)]);
                acts.push(fails(json!({"kind": "timeout", "limit_ms": limit})));
            }
            Some("silent") => {}
            Some("memory") => {
                acts.extend(self.tool(&self.tools[0], inputs, &"x".repeat(TOO_MUCH)));
                acts.push(fails(json!({"kind": "memory", "bytes": TOO_MUCH})));
            }
            Some("network") => acts.push(Act::Reset),
            Some("partial") => {
                acts.extend(self.tool(&self.tools[0], inputs, "").into_iter().take(1));
                acts.push(Act::Cut);
            }
            intermittent => {
                for attempt in 1..=2 * u32::from(intermittent.is_some()) {
                    let wait = BACKOFF * attempt;
                    let retry = wait.as_millis() as u64;
                    acts.push(fails(
                        json!({"kind": "intermittent", "attempt": attempt, "retry_in_ms": retry}),
                    ));
                    acts.push(Act::Wait(wait));
                }
                acts.extend([thinks("What do I know?"), thinks("What do I need?")]);
                let results = self.tools.iter().map(|tool| format!("{tool} of {user}"));
                for (tool, result) in self.tools.iter().zip(results.clone()) {
                    acts.extend(self.tool(tool, inputs, &result));
                }
                let all: Vec<String> = inputs.iter().cloned().chain(results).collect();
                let result = format!("{} [{}]", self.name, all.join(", "));
                acts.push(Act::Tell(json!({"type": "agent_completed", "result": result})));
                acts.push(Act::Finish(result));
            }
        }
        acts.into()
    }

    fn tool(&self, tool: &str, inputs: &[String], result: &str) -> [Act; 2] {
        let call = format!("call_{}", uuid());
        let told = |kind: &str| json!({"type": kind, "tool": tool, "tool_call_id": call});
        let (mut executing, mut completed) = (told("tool_executing"), told("tool_completed"));
        executing["arguments"] = json!({"inputs": inputs});
        completed["result"] = json!(result);
        [Act::Tell(executing), Act::Tell(completed)]
    }
}

/// What is told, with the time.
fn event(kind: &str, told: &Value) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut event = json!({"type": kind, "at": now.as_secs_f64()});
    for (field, value) in told.as_object().unwrap() {
        if field != "type" {
            event[field] = value.clone();
        }
    }
    event
}

/// One that was not there before.
pub fn uuid() -> String {
    let random = || RandomState::new().build_hasher().finish();
    let (high, low) = (random(), random());
    let (a, b, c) = (high >> 32, high as u16, (high >> 16) as u16 & 0xfff);
    format!("{a:08x}-{b:04x}-4{c:03x}-8{:03x}-{:012x}", low & 0xfff, low >> 16)
}
