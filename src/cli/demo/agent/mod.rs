//! The embedded agent server: its routes and its state.
//!
//! It refunds orders, and asks a human before it does. Its protocol is that of Letta in small:
//! agents are created, talked to over event streams, listed and deleted; every id is new each time.

mod mind;
mod stream;
mod turn;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, SERVER};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::mint;
use crate::serve::server::{Answer, Handler, full};
use mind::Mind;

/// The server's state: the agents by their ids.
#[derive(Debug)]
pub(super) struct AgentServer {
    agents: Mutex<BTreeMap<String, Mind>>,
    per_token: Duration,
}

/// Why the server does not do what it is asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refusal {
    status: StatusCode,
    detail: String,
}

impl AgentServer {
    /// A server without agents that takes that long for each token.
    pub(super) fn new(per_token: Duration) -> Self {
        Self { agents: Mutex::default(), per_token }
    }

    fn route(&self, method: &Method, path: &str, asked: &Value) -> Result<Answer, Refusal> {
        let path: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method, path.as_slice()) {
            (&Method::POST, ["v1", "agents"]) => self.create(asked),
            (&Method::DELETE, ["v1", "agents", id]) => self.delete(id),
            (&Method::GET, ["v1", "agents", id, "messages"]) => {
                self.with(id, |mind| Ok(told(StatusCode::OK, &json!(mind.history()))))
            }
            (&Method::POST, ["v1", "agents", id, "messages", "stream"]) => self.with(id, |mind| {
                let events = mind.hear(&asked["messages"][0])?;
                Ok(stream::answer(events, self.per_token))
            }),
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path")),
        }
    }

    fn create(&self, asked: &Value) -> Result<Answer, Refusal> {
        let name = asked["name"].as_str().ok_or_else(|| {
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "an agent needs a `name`")
        })?;
        let id = format!("agent-{}", mint::uuid());
        let answer = json!({"id": id, "name": name, "tools": [{"name": mind::TOOL, "requires_approval": true}]});
        self.agents().insert(id, Mind::default());
        Ok(told(StatusCode::OK, &answer))
    }

    fn delete(&self, id: &str) -> Result<Answer, Refusal> {
        self.agents().remove(id).ok_or_else(|| unknown(id))?;
        Ok(told(StatusCode::OK, &json!({"message": format!("{id} is deleted")})))
    }

    fn with(
        &self,
        id: &str,
        act: impl FnOnce(&mut Mind) -> Result<Answer, Refusal>,
    ) -> Result<Answer, Refusal> {
        act(self.agents().get_mut(id).ok_or_else(|| unknown(id))?)
    }

    fn agents(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Mind>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handler for AgentServer {
    async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
        let asked = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let answer = match head.headers.contains_key(AUTHORIZATION) {
            true => self.route(&head.method, head.uri.path(), &asked),
            false => Err(Refusal::new(StatusCode::UNAUTHORIZED, "an API key is missing")),
        };
        let mut answer = answer.unwrap_or_else(|refusal| {
            told(refusal.status, &json!({"error": {"message": refusal.detail}}))
        });
        answer.headers_mut().insert(SERVER, HeaderValue::from_static("retape-demo-agent"));
        answer
    }
}

impl Refusal {
    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("there is no {id}"))
}

fn told(status: StatusCode, value: &Value) -> Answer {
    let mut answer = Response::new(full(value.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
