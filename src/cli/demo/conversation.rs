//! The client's side: the same code talks to the live server and to the cassette.

use std::time::Instant;

use http::Method;
use serde_json::{Value, json};

use super::client::Client;
use super::heard::{Broken, Heard};
use super::mint;
use super::transcript::Transcript;
use super::voice::{Speaker, Voice};

/// What the client asks for.
pub(super) const QUESTION: &str = "Please refund order 4711.";

/// A conversation that is going on.
#[derive(Debug)]
pub(super) struct Conversation {
    client: Client,
    name: String,
    agent: String,
    heard: Vec<Heard>,
    voice: Voice,
    begun: Instant,
}

/// The ids of what waits for an approval.
#[derive(Debug, Default)]
struct Pending {
    call: String,
    message: String,
}

/// Has the whole conversation with the server at an address, and prints it as it goes.
pub(super) async fn hold(base: String) -> Result<Transcript, Broken> {
    let mut conversation = Conversation::begin(base);
    let held = conversation.go_through().await;
    conversation.voice.hush();
    held.map(|()| conversation.end())
}

impl Conversation {
    /// A conversation in which nothing was said yet.
    pub(super) fn begin(base: String) -> Self {
        Self {
            client: Client::new(base),
            name: format!("demo-{}", mint::uuid()),
            agent: String::new(),
            heard: Vec::new(),
            voice: Voice::default(),
            begun: Instant::now(),
        }
    }

    /// Creates an agent and asks it something, and leaves it at that.
    pub(super) async fn open(&mut self, question: &str) -> Result<(), Broken> {
        self.create().await?;
        let opened = self.question(question).await;
        self.voice.hush();
        opened.map(drop)
    }

    async fn go_through(&mut self) -> Result<(), Broken> {
        self.create().await?;
        let pending = self.question(QUESTION).await?;
        self.voice.line(Speaker::Client, &format!("Yes to {} (the wrong id)", pending.message));
        self.approve(&pending.message, 400).await?;
        self.voice.line(Speaker::Client, &format!("Yes to {}", pending.call));
        self.approve(&pending.call, 200).await?;
        self.look_back().await
    }

    async fn create(&mut self) -> Result<(), Broken> {
        let body = json!({"name": self.name});
        let created = self.plain(Method::POST, "/v1/agents", Some(body), 200).await?;
        self.agent = text_in(&created, "id").ok_or_else(|| self.missing("`id`"))?;
        self.voice.line(Speaker::Server, &format!("{} is made for {}", self.agent, self.name));
        Ok(())
    }

    async fn question(&mut self, question: &str) -> Result<Pending, Broken> {
        self.voice.line(Speaker::Client, question);
        let message = json!({"role": "user", "content": question});
        let pending = self.talk(message, 200).await?;
        match pending.call.is_empty() {
            true => Err(self.missing("approval request")),
            false => Ok(pending),
        }
    }

    async fn approve(&mut self, call: &str, expected: u16) -> Result<(), Broken> {
        let message = json!({"type": "approval", "tool_call_id": call, "approve": true});
        self.talk(message, expected).await.map(drop)
    }

    /// The list of messages, and that there is none once the agent is gone.
    async fn look_back(&mut self) -> Result<(), Broken> {
        let agent = format!("/v1/agents/{}", self.agent);
        let messages = format!("{agent}/messages");
        let listed = self.plain(Method::GET, &messages, None, 200).await?;
        let count = listed.as_array().map_or(0, Vec::len);
        self.voice.line(Speaker::Server, &format!("{count} messages are in the history"));
        let deleted = self.plain(Method::DELETE, &agent, None, 200).await?;
        self.voice.line(Speaker::Server, deleted["message"].as_str().unwrap_or_default());
        let gone = self.plain(Method::GET, &messages, None, 404).await?;
        self.voice.line(Speaker::Server, &refusal(404, &gone));
        Ok(())
    }

    /// Says something to the agent and prints what comes, when it comes.
    async fn talk(&mut self, message: Value, expected: u16) -> Result<Pending, Broken> {
        let path = format!("/v1/agents/{}/messages/stream", self.agent);
        let body = json!({"messages": [message], "stream_tokens": true});
        let mut pending = Pending::default();
        let voice = &mut self.voice;
        let print = |data: &str| voice.event(&read(data, &mut pending));
        let heard = self.client.ask(Method::POST, &path, Some(body), print).await?;
        if heard.status >= 400 && heard.status == expected {
            let said = serde_json::from_slice(&heard.body).unwrap_or_default();
            self.voice.line(Speaker::Server, &refusal(heard.status, &said));
        }
        self.voice.hush();
        self.note(heard, expected)?;
        Ok(pending)
    }

    /// Asks for something that is not streamed.
    async fn plain(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Value>,
        expected: u16,
    ) -> Result<Value, Broken> {
        let heard = self.client.ask(method, path, body, |_| {}).await?;
        let value = serde_json::from_slice(&heard.body).unwrap_or_default();
        self.note(heard, expected)?;
        Ok(value)
    }

    fn note(&mut self, heard: Heard, expected: u16) -> Result<(), Broken> {
        if heard.status != expected {
            return Err(Broken::Status(heard));
        }
        self.heard.push(heard);
        Ok(())
    }

    fn missing(&self, what: &'static str) -> Broken {
        let asked = self.heard.last().map(|heard| heard.asked.clone()).unwrap_or_default();
        Broken::Missing { asked, what }
    }

    fn end(self) -> Transcript {
        Transcript {
            name: self.name,
            key: self.client.key().to_owned(),
            agent: self.agent,
            printed: self.voice.printed(),
            heard: self.heard,
            took: self.begun.elapsed(),
        }
    }
}

/// The event, having noted what it asks to approve.
fn read(data: &str, pending: &mut Pending) -> Value {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    if let Some(call) = text_in(&event["tool_call"], "tool_call_id") {
        *pending = Pending { call, message: text_in(&event, "id").unwrap_or_default() };
    }
    event
}

fn text_in(value: &Value, member: &str) -> Option<String> {
    value[member].as_str().map(str::to_owned)
}

fn refusal(status: u16, said: &Value) -> String {
    format!("{status}: {}", said["error"]["message"].as_str().unwrap_or("no reason is given"))
}
