//! The embedded agent server: its routes, its state and what it says.
//!
//! It refunds orders, and asks a human before it does. Its protocol is that of Letta in small:
//! agents are created, talked to over event streams, listed and deleted; every id is new each time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_TYPE, HeaderValue, SERVER};
use http::{Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::interval;

use super::uuid;
use crate::serve::lock;
use crate::serve::server::{Answer, AnswerBody, Handler, full};

/// The tool that a human has to approve.
const TOOL: &str = "refund_order";

/// The server's state: the agents by their ids.
#[derive(Debug)]
pub(super) struct AgentServer {
    agents: Mutex<BTreeMap<String, Agent>>,
    /// How long it takes for each token.
    pause: Duration,
    release: Release,
}

/// What the server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    First,
    /// It says no more what an answer has used.
    Second,
}

/// What an agent remembers.
#[derive(Debug, Default)]
struct Agent {
    history: Vec<Value>,
    /// The call that waits for a human.
    pending: Option<Call>,
}

/// A call of the tool.
#[derive(Debug, Clone)]
struct Call {
    id: String,
    order: u64,
}

/// With which status the server refuses, and why.
type Refusal = (StatusCode, String);

impl AgentServer {
    pub(super) fn new(pause: Duration, release: Release) -> Self {
        Self { agents: Mutex::default(), pause, release }
    }

    fn route(&self, method: &Method, path: &str, asked: &Value) -> Result<Answer, Refusal> {
        let path: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method, path.as_slice()) {
            (&Method::POST, ["v1", "agents"]) => Ok(self.create(asked)),
            (&Method::DELETE, ["v1", "agents", id]) => {
                self.agents().remove(*id).ok_or_else(|| unknown(id))?;
                Ok(plain(StatusCode::OK, &json!({"message": format!("{id} is deleted")})))
            }
            (&Method::GET, ["v1", "agents", id, "messages"]) => {
                let agents = self.agents();
                let agent = agents.get(*id).ok_or_else(|| unknown(id))?;
                Ok(plain(StatusCode::OK, &json!(agent.history)))
            }
            (&Method::POST, ["v1", "agents", id, "messages", "stream"]) => {
                let mut agents = self.agents();
                let agent = agents.get_mut(*id).ok_or_else(|| unknown(id))?;
                Ok(streamed(agent.hear(&asked["messages"][0], self.release)?, self.pause))
            }
            _ => Err((StatusCode::NOT_FOUND, "there is nothing at this path".to_owned())),
        }
    }

    fn create(&self, asked: &Value) -> Answer {
        let id = format!("agent-{}", uuid());
        let tools = json!([{"name": TOOL, "requires_approval": true}]);
        let answer = json!({"id": id, "name": asked["name"], "tools": tools});
        self.agents().insert(id, Agent::default());
        plain(StatusCode::OK, &answer)
    }

    fn agents(&self) -> MutexGuard<'_, BTreeMap<String, Agent>> {
        lock(&self.agents)
    }
}

impl Handler for AgentServer {
    async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
        let asked = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let answer = self.route(&head.method, head.uri.path(), &asked);
        let mut answer = answer.unwrap_or_else(|(status, detail)| {
            plain(status, &json!({"error": {"message": detail}}))
        });
        answer.headers_mut().insert(SERVER, HeaderValue::from_static("retape-demo-agent"));
        answer
    }
}

fn unknown(id: &str) -> Refusal {
    (StatusCode::NOT_FOUND, format!("there is no {id}"))
}

fn plain(status: StatusCode, value: &Value) -> Answer {
    let mut answer = typed(full(value.to_string()), "application/json");
    *answer.status_mut() = status;
    answer
}

/// Events that come one after the other.
fn streamed(events: Vec<String>, pause: Duration) -> Answer {
    let begin = (events.into_iter(), interval(pause));
    let frames = stream::unfold(begin, |(mut events, mut clock)| async move {
        let data = events.next()?;
        clock.tick().await;
        Some((Ok(Frame::data(format!("data: {data}\n\n").into())), (events, clock)))
    });
    let body = AnswerBody::streamed(StreamBody::new(Box::pin(frames)));
    typed(body, "text/event-stream; charset=utf-8")
}

fn typed(body: AnswerBody, content_type: &'static str) -> Answer {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

impl Agent {
    /// Takes a message in and gives the events of the answer.
    fn hear(&mut self, message: &Value, release: Release) -> Result<Vec<String>, Refusal> {
        if message["type"] == "approval" {
            return Ok(self.take_decision(message)?.end(release));
        }
        Ok(self.take_question(message).end(release))
    }

    fn take_question(&mut self, message: &Value) -> Turn<'_> {
        let text = text_in(message, "content");
        self.history.push(json!({"message_type": "user_message", "content": text}));
        let digits = |word: &str| word.parse().ok();
        let order = text.split(|c: char| !c.is_ascii_digit()).find_map(digits).unwrap_or(0);
        let call = Call { id: format!("call-{}", uuid()), order };
        let mut turn = Turn::new(&mut self.history);
        turn.think(&format!(
            "The customer wants order {order} refunded. That moves money, so a human has to agree \
             before I call the tool."
        ));
        turn.say(&format!("I can refund order {order}. Do you approve?"));
        turn.ask_for(&call);
        self.pending = Some(call);
        turn
    }

    fn take_decision(&mut self, message: &Value) -> Result<Turn<'_>, Refusal> {
        let id = text_in(message, "tool_call_id");
        let Some(call) = self.pending.take_if(|call| call.id == id) else {
            let waiting = self.pending.as_ref().map_or("nothing", |call| &call.id);
            let detail = format!("{waiting} waits for an approval, not {id}");
            return Err((StatusCode::BAD_REQUEST, detail));
        };
        self.history.push(json!({
            "message_type": "approval_response_message",
            "tool_call_id": call.id,
            "approve": true,
        }));
        let mut turn = Turn::new(&mut self.history);
        let order = call.order;
        let amount = format!("{}.{:02} EUR", order / 100, order % 100);
        let receipt = format!("receipt-{}", uuid());
        let paid = json!(format!("{amount} paid back, {receipt}"));
        turn.emit("tool_return_message", "tool_return", [paid.clone()], paid);
        turn.think("The tool has done it; now the customer should get to know.");
        turn.say(&format!(
            "Done! {amount} for order {order} is on its way back to you, and your receipt is \
             {receipt}."
        ));
        Ok(turn)
    }
}

/// What an agent says in one answer, token by token. Whole messages go to the history.
#[derive(Debug)]
struct Turn<'a> {
    run: String,
    message: String,
    events: Vec<Value>,
    history: &'a mut Vec<Value>,
    stop: &'static str,
}

impl<'a> Turn<'a> {
    fn new(history: &'a mut Vec<Value>) -> Self {
        let (run, message) = (format!("run-{}", uuid()), format!("message-{}", uuid()));
        Self { run, message, events: Vec::new(), history, stop: "end_turn" }
    }

    fn think(&mut self, text: &str) {
        self.emit("reasoning_message", "reasoning", tokens(text).map(Value::from), text.into());
    }

    fn say(&mut self, text: &str) {
        self.emit("assistant_message", "content", tokens(text).map(Value::from), text.into());
    }

    /// Asks a human to approve a call, and stops there.
    fn ask_for(&mut self, call: &Call) {
        let arguments = json!({"order": call.order}).to_string();
        let part = |name: Option<&str>, arguments: Option<&str>| json!({"name": name, "arguments": arguments, "tool_call_id": call.id});
        let pieces = tokens(&arguments).map(|token| part(None, Some(token)));
        let pieces = std::iter::once(part(Some(TOOL), None)).chain(pieces);
        let whole = part(Some(TOOL), Some(&arguments));
        self.emit("approval_request_message", "tool_call", pieces, whole);
        self.stop = "requires_approval";
    }

    /// Sends a message piece by piece, and keeps it whole.
    fn emit(
        &mut self,
        kind: &str,
        field: &str,
        pieces: impl IntoIterator<Item = Value>,
        whole: Value,
    ) {
        for piece in pieces {
            self.events.push(json!({
                "message_type": kind,
                "id": self.message,
                "run_id": self.run,
                "seq_id": self.events.len() + 1,
                field: piece,
            }));
        }
        self.history.push(json!({"message_type": kind, "id": self.message, field: whole}));
    }

    /// The data of all events.
    fn end(mut self, release: Release) -> Vec<String> {
        let tokens = self.events.len();
        self.events.push(json!({"message_type": "stop_reason", "stop_reason": self.stop}));
        if release == Release::First {
            let usage = json!({"message_type": "usage_statistics", "completion_tokens": tokens});
            self.events.push(usage);
        }
        self.events.iter().map(Value::to_string).chain(["[DONE]".to_owned()]).collect()
    }
}

/// A text in pieces such as a language model makes: words with the space before them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.len_utf8();
        let end = rest[first..].find([' ', ':']).map_or(rest.len(), |at| at + first);
        let (token, behind) = rest.split_at(end);
        rest = behind;
        Some(token)
    })
}

fn text_in<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(agent: &mut Agent, message: Value) -> String {
        agent
            .hear(&message, Release::First)
            .map_or_else(|(_, detail)| detail, |events| events.join("\n"))
    }

    #[test]
    fn only_the_call_that_waits_can_be_approved() {
        let mut agent = Agent::default();
        let approve = |id: &str| json!({"type": "approval", "tool_call_id": id});

        assert!(ask(&mut agent, json!({"content": "order 815"})).contains("requires_approval"));

        let id = agent.pending.clone().expect("a call waits").id;
        let mistaken = ask(&mut agent, approve("call-x"));
        assert_eq!(mistaken, format!("{id} waits for an approval, not call-x"));
        assert!(ask(&mut agent, approve(&id)).contains("8.15 EUR paid back"));
        assert!(ask(&mut agent, approve(&id)).starts_with("nothing waits for an approval"));
        assert_eq!(agent.history.len(), 8);
    }

    #[test]
    fn tokens_make_up_the_text() {
        let text = "Über order {\"order\":1}, please. ";

        let pieces: Vec<&str> = tokens(text).collect();

        assert_eq!(pieces, ["Über", " order", " {\"order\"", ":1},", " please.", " "]);
        assert_eq!(pieces.concat(), text);
    }
}
