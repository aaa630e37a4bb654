//! A conversation while it is recorded.

use bytes::Bytes;
use retape::Cassette;
use retape::cassette::{Body, Chunk, Headers, Interaction, Request, Response};
use serde_json::{Map, Value, json};

use super::mint::{self, Vocabulary};
use crate::dice::Random;

/// A conversation while it is recorded.
pub struct Talk {
    /// What the scenario decides: content, tools, outcomes. It is the same in each run of a scenario.
    pub plan: Random,
    /// What each run decides: identifiers, times, how a text is cut.
    pub run: Random,
    clock: u64,
    session: Session,
}

/// A recorded conversation, and the streams in it.
#[derive(Clone, Default)]
pub struct Session {
    pub cassette: Cassette,
    pub streams: Vec<Stream>,
}

/// An answer in events.
#[derive(Clone)]
pub struct Stream {
    /// Which interaction, counted from 0.
    pub interaction: usize,
    pub asked: Value,
    pub events: Vec<Event>,
    wire: Wire,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The name of the SSE event; [`Event::COMMENT`] is a comment.
    pub name: Option<String>,
    /// A string is written as it is, and `null` as nothing.
    pub data: Value,
}

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Sse,
    Lines,
}

impl Event {
    const COMMENT: &str = ":";

    pub fn data(data: Value) -> Self {
        Self { name: None, data }
    }

    pub fn named(name: &str, data: Value) -> Self {
        Self { name: Some(name.to_owned()), data }
    }

    pub fn comment(text: &str) -> Self {
        Self::named(Self::COMMENT, json!(text))
    }

    pub fn is_comment(&self) -> bool {
        self.name.as_deref() == Some(Self::COMMENT)
    }

    fn written(&self, wire: Wire) -> String {
        let data = match &self.data {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        match (wire, &self.name) {
            (Wire::Lines, _) => format!("{data}\n"),
            (_, Some(name)) if name == Self::COMMENT => format!(": {data}\n\n"),
            (_, Some(name)) => format!("event: {name}\ndata: {data}\n\n"),
            (_, None) => format!("data: {data}\n\n"),
        }
    }
}

impl Stream {
    /// The body with these events.
    pub fn body(&self, events: &[Event]) -> Body {
        let chunks = (0..).zip(events).map(|(number, event)| Chunk {
            ms: 40 + 15 * number,
            bytes: Bytes::from(event.written(self.wire)),
        });
        Body::Stream(chunks.collect())
    }
}

impl Talk {
    /// Records a run of a scenario.
    pub fn record(scenario: u64, run: u64, say: fn(&mut Self)) -> Session {
        let mut run = Random(run.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ scenario);
        let clock = 1_790_000_000_000 + run.below(10_000_000_000) as u64;
        let mut talk = Self { plan: Random(scenario), run, clock, session: Session::default() };
        say(&mut talk);
        talk.session
    }

    /// A word of data that the scenario decides.
    pub fn word(&mut self, vocabulary: &Vocabulary) -> String {
        vocabulary.word(&mut self.plan)
    }

    /// One of several that the scenario decides, by their weights.
    pub fn outcome<T: Copy>(&mut self, weighted: &[(usize, T)]) -> T {
        let all: usize = weighted.iter().map(|(weight, _)| weight).sum();
        let mut left = self.plan.below(all);
        let chosen = weighted.iter().find(|(weight, _)| {
            let is_it = left < *weight;
            left = left.saturating_sub(*weight);
            is_it
        });
        chosen.map_or(weighted[0].1, |(_, outcome)| *outcome)
    }

    /// Whether something is so in this scenario.
    pub fn is_planned(&mut self, percent: usize) -> bool {
        self.plan.chance(percent)
    }

    /// A number that the scenario decides.
    pub fn planned(&mut self, from: usize, to: usize) -> usize {
        from + self.plan.below(to + 1 - from)
    }

    /// A number that differs from run to run.
    pub fn varying(&mut self, from: usize, to: usize) -> usize {
        from + self.run.below(to + 1 - from)
    }

    pub fn uuid(&mut self) -> String {
        mint::uuid(&mut self.run)
    }

    /// An identifier by the name of its [generator](mint::GENERATORS).
    pub fn id(&mut self, generator: &str) -> String {
        mint::id(&mut self.run, generator)
    }

    /// What a user says.
    pub fn prompt(&mut self) -> String {
        let words = self.planned(3, 9);
        mint::prose(&mut self.plan, words)
    }

    /// What a model says, piece by piece.
    pub fn pieces(&mut self, from: usize, to: usize) -> Vec<String> {
        (0..self.varying(from, to)).map(|_| self.text()).collect()
    }

    /// What a model says.
    pub fn text(&mut self) -> String {
        let words = self.varying(1, 4);
        mint::prose(&mut self.run, words)
    }

    /// Milliseconds of the epoch; time goes on.
    pub fn millis(&mut self) -> u64 {
        self.clock += self.run.below(1_500) as u64;
        self.clock
    }

    /// Seconds of the epoch.
    pub fn epoch(&mut self) -> u64 {
        self.millis() / 1000
    }

    /// RFC 3339. The days are those of one month.
    pub fn time(&mut self) -> String {
        let ms = self.millis();
        let (second, day) = (ms / 1000 % 86_400, 1 + ms / 86_400_000 % 28);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("2026-11-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
    }

    /// Asks, and is answered in JSON; `null` is no body.
    pub fn json(&mut self, method: &str, path: &str, asked: Value, status: u16, answer: &Value) {
        self.json_with(method, path, asked, (status, &[]), answer);
    }

    /// The same with header fields.
    pub fn json_with(
        &mut self,
        method: &str,
        path: &str,
        asked: Value,
        (status, fields): (u16, &[(&str, &str)]),
        answer: &Value,
    ) {
        let text = if answer.is_null() { String::new() } else { answer.to_string() };
        let media = if answer.is_null() { "" } else { "application/json" };
        self.exchange(method, path, &asked, (status, media, fields), Body::Whole(text.into()));
    }

    /// Posts, and is answered in events.
    pub fn stream(&mut self, path: &str, asked: Value, wire: Wire, events: Vec<Event>) {
        let media = match wire {
            Wire::Sse => "text/event-stream; charset=utf-8",
            Wire::Lines => "application/x-ndjson",
        };
        let interaction = self.session.cassette.interactions.len();
        let stream = Stream { interaction, asked, events, wire };
        let body = stream.body(&stream.events);
        self.exchange("POST", path, &stream.asked, (200, media, &[]), body);
        self.session.streams.push(stream);
    }

    fn exchange(
        &mut self,
        method: &str,
        path: &str,
        asked: &Value,
        (status, media, fields): (u16, &str, &[(&str, &str)]),
        body: Body,
    ) {
        let mut asks = Headers::new();
        asks.append("accept", "*/*");
        asks.append("user-agent", "client/1.4");
        let mut headers = Headers::new();
        headers.append("date", format!("Sun, 22 Nov 2026 10:00:{:02} GMT", self.varying(0, 59)));
        if !media.is_empty() {
            headers.append("content-type", media.to_owned());
        }
        fields.iter().for_each(|(name, value)| headers.append(name, (*value).to_owned()));
        let sent = if asked.is_null() { String::new() } else { asked.to_string() };
        if !sent.is_empty() {
            asks.append("content-type", "application/json");
        }
        let request = Request { headers: asks, body: sent.into(), ..Request::of(method, path) };
        let response = Response { ms: 20, headers, body, ..Response::of(status) };
        self.session.cassette.interactions.push(Interaction::of(request, response));
    }
}

/// A JSON object with another member.
pub fn with(mut value: Value, name: &str, member: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.insert(name.to_owned(), member);
    }
    value
}

/// One object of the members of several.
pub fn joined(one: Value, two: Value) -> Value {
    let mut all = Map::new();
    for value in [one, two] {
        if let Value::Object(members) = value {
            all.extend(members);
        }
    }
    Value::Object(all)
}
