//! The client's side: the same code talks to the live server and to the cassette, of which it knows
//! nothing but a base address.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::terminal::{Loudness, Speaker, Voice};
use super::uuid;
use crate::message::sse::{Content, Decoder};

const QUESTION: &str = "Please refund order 4711.";
const OTHER_QUESTION: &str = "Please refund order 4712.";

/// What a client saw of a conversation, and what it had made up for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Transcript {
    /// The random name of its agent.
    pub(super) name: String,
    /// The secret that it sent.
    pub(super) key: String,
    /// The agent's id; the server made it up.
    pub(super) agent: String,
    /// All that was printed, with whole ids.
    pub(super) printed: String,
    pub(super) answers: Vec<Reply>,
    pub(super) took: Duration,
}

/// An answer: all of what came.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// What had been asked: method and path.
    pub(super) asked: String,
    pub(super) status: u16,
    pub(super) body: Bytes,
    /// How many events there were in it.
    pub(super) events: usize,
}

/// Why a client could not go on.
pub(super) type Broken = Box<dyn std::error::Error + Send + Sync>;

impl Transcript {
    pub(super) fn events(&self) -> usize {
        self.answers.iter().map(|answer| answer.events).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.answers.iter().map(|answer| answer.body.len()).sum()
    }
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Why the server refused.
    fn refusal(&self) -> String {
        let answer = self.json();
        let reason = answer["error"]["message"].as_str().unwrap_or("no reason is given");
        format!("{}: {reason}", self.status)
    }
}

/// Has the whole conversation with the server at an address, and prints it as it goes.
pub(super) async fn hold(base: String, loudness: Loudness) -> Result<Transcript, Broken> {
    let mut conversation = Conversation::new(base, Voice::new(loudness));
    let begun = Instant::now();
    let held = conversation.go_through().await;
    conversation.voice.hush();
    held?;
    let Conversation { voice, transcript, .. } = conversation;
    Ok(Transcript { printed: voice.printed, took: begun.elapsed(), ..transcript })
}

/// Creates an agent and asks it something else; gives the answer, whatever it is.
pub(super) async fn ask_otherwise(base: String) -> Result<Reply, Broken> {
    let mut conversation = Conversation::new(base, Voice::default());
    conversation.create().await?;
    let (answer, _) = conversation.ask(OTHER_QUESTION).await?;
    Ok(answer)
}

/// A conversation that is going on.
struct Conversation {
    base: String,
    http: Http<HttpConnector, Full<Bytes>>,
    voice: Voice,
    transcript: Transcript,
}

/// The ids of what waits for an approval.
#[derive(Default)]
struct Pending {
    call: String,
    message: String,
}

impl Conversation {
    fn new(base: String, voice: Voice) -> Self {
        let http = Http::builder(TokioExecutor::new()).build(HttpConnector::new());
        let (name, key) = (format!("demo-{}", uuid()), format!("sk-demo-{}", uuid()));
        let transcript = Transcript { name, key, ..Transcript::default() };
        Self { base, http, voice, transcript }
    }

    async fn go_through(&mut self) -> Result<(), Broken> {
        self.create().await?;
        let (answer, pending) = self.ask(QUESTION).await?;
        if pending.call.is_empty() {
            return Err(format!("the answer to `{}` has no approval request", answer.asked).into());
        }
        self.keep(answer, 200)?;
        self.voice.line(Speaker::Client, &format!("Yes to {} (the wrong id)", pending.message));
        self.approve(&pending.message, 400).await?;
        self.voice.line(Speaker::Client, &format!("Yes to {}", pending.call));
        self.approve(&pending.call, 200).await?;
        self.look_back().await
    }

    async fn create(&mut self) -> Result<(), Broken> {
        let body = json!({"name": self.transcript.name});
        let answer = self.send(Method::POST, "/v1/agents", Some(body), |_, _| {}).await?;
        let created = self.keep(answer, 200)?;
        self.transcript.agent = created["id"].as_str().ok_or("the agent has no `id`")?.to_owned();
        let Transcript { name, agent, .. } = &self.transcript;
        self.voice.line(Speaker::Server, &format!("{agent} is made for {name}"));
        Ok(())
    }

    async fn ask(&mut self, question: &str) -> Result<(Reply, Pending), Broken> {
        self.voice.line(Speaker::Client, question);
        self.talk(json!({"role": "user", "content": question})).await
    }

    async fn approve(&mut self, call: &str, expected: u16) -> Result<(), Broken> {
        let message = json!({"type": "approval", "tool_call_id": call, "approve": true});
        let (answer, _) = self.talk(message).await?;
        if answer.status >= 400 {
            self.voice.line(Speaker::Server, &answer.refusal());
        }
        self.keep(answer, expected).map(drop)
    }

    /// The list of messages, and that there is none once the agent is gone.
    async fn look_back(&mut self) -> Result<(), Broken> {
        let agent = format!("/v1/agents/{}", self.transcript.agent);
        let messages = format!("{agent}/messages");
        let answer = self.send(Method::GET, &messages, None, |_, _| {}).await?;
        let count = self.keep(answer, 200)?.as_array().map_or(0, Vec::len);
        self.voice.line(Speaker::Server, &format!("{count} messages are in the history"));
        let answer = self.send(Method::DELETE, &agent, None, |_, _| {}).await?;
        let deleted = self.keep(answer, 200)?;
        self.voice.line(Speaker::Server, deleted["message"].as_str().unwrap_or_default());
        let answer = self.send(Method::GET, &messages, None, |_, _| {}).await?;
        self.voice.line(Speaker::Server, &answer.refusal());
        self.keep(answer, 404).map(drop)
    }

    /// Says something to the agent and prints what comes, when it comes.
    async fn talk(&mut self, message: Value) -> Result<(Reply, Pending), Broken> {
        let path = format!("/v1/agents/{}/messages/stream", self.transcript.agent);
        let body = json!({"messages": [message], "stream_tokens": true});
        let mut pending = Pending::default();
        let print = |voice: &mut Voice, data: &str| {
            let event: Value = serde_json::from_str(data).unwrap_or_default();
            if let Some(call) = event["tool_call"]["tool_call_id"].as_str() {
                let message = event["id"].as_str().unwrap_or_default().to_owned();
                pending = Pending { call: call.to_owned(), message };
            }
            voice.event(&event);
        };
        let answer = self.send(Method::POST, &path, Some(body), print).await;
        self.voice.hush();
        Ok((answer?, pending))
    }

    /// Sends a request, and gives the data of each event as soon as it has come.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Value>,
        mut each: impl FnMut(&mut Voice, &str),
    ) -> Result<Reply, Broken> {
        let asked = format!("{method} {path}");
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, format!("Bearer {}", self.transcript.key));
        let request = match body {
            Some(body) => request
                .header(CONTENT_TYPE, "application/json")
                .body(Full::new(body.to_string().into()))?,
            None => request.body(Full::default())?,
        };
        let answer = self.http.request(request).await;
        let (head, mut body) = answer.map_err(|error| format!("`{asked}`: {error}"))?.into_parts();
        let (mut whole, mut decoder, mut events) = (BytesMut::new(), Decoder::new(), 0);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("`{asked}`: {error}"))?;
            let Some(bytes) = frame.data_ref() else { continue };
            whole.extend_from_slice(bytes);
            for item in decoder.push(bytes) {
                if let Content::Event { data, .. } = item.content {
                    events += 1;
                    each(&mut self.voice, &data);
                }
            }
        }
        Ok(Reply { asked, status: head.status.as_u16(), body: whole.freeze(), events })
    }

    /// Keeps an answer of the status that was to come, and gives what it says.
    fn keep(&mut self, answer: Reply, expected: u16) -> Result<Value, Broken> {
        let Reply { asked, status, body, .. } = &answer;
        if *status != expected {
            let text = String::from_utf8_lossy(body);
            return Err(format!("`{asked}` was answered with {status}: {text}").into());
        }
        let value = answer.json();
        self.transcript.answers.push(answer);
        Ok(value)
    }
}
