//! Cassettes and requests to measure with.

use bytes::Bytes;
use retape::cassette::{Body, Cassette, Chunk, Headers, Interaction, Recorded, Request, Response};

/// The body of a request for a stream.
pub const ASKED: &str =
    r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Tell me more"}]}"#;

/// How much text stands in a body.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub usize);

impl Words {
    /// An interaction of about half a kilobyte.
    pub const FEW: Self = Self(20);
    /// An interaction of about two kilobytes.
    pub const MANY: Self = Self(220);

    fn text(self, seed: usize) -> String {
        const KNOWN: [&str; 8] =
            ["alpha", "beta", "order", "token", "agent", "stream", "model", "latency"];
        let word = |at| KNOWN[(seed * 31 + at * 7 + at * at / 3) % KNOWN.len()];
        (0..self.0).map(word).collect::<Vec<_>>().join(" ")
    }
}

/// A cassette of small JSON: every other interaction a `GET` on a path of its own, the rest `POST`s
/// on one path with bodies of their own.
pub fn cassette(interactions: usize, words: Words) -> Cassette {
    let interactions = (0..interactions).map(|number| interaction(number, words)).collect();
    with(interactions)
}

/// A cassette of one stream.
pub fn streamed() -> Cassette {
    let chunks = events().into_iter().map(|bytes| Chunk { ms: 1, bytes }).collect();
    let headers = [("content-type", "text/event-stream")].into_iter().collect();
    let response = response(headers, Body::Stream(chunks));
    let request = request("POST", "/v1/chat/completions".to_owned(), ASKED.to_owned());
    with(vec![Interaction::of(request, response)])
}

/// How many interactions a conversation has.
pub const TURNS: usize = 10;

/// A cassette of conversations with agents, in which identifiers go to and fro: the client's, which
/// begin with a digit of their own, and the server's. All agents are created alike.
pub fn conversations(interactions: usize, digit: &str) -> Cassette {
    let agents = (0..interactions.div_ceil(TURNS)).flat_map(|agent| conversation(agent, digit));
    with(agents.take(interactions).collect())
}

/// An agent is created, is told something three times, and is read after each time.
fn conversation(agent: usize, digit: &str) -> Vec<Interaction> {
    let minted = |turn: usize| {
        let mixed = (agent * TURNS + turn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{digit}{:07x}-{:04x}-4fd9-92f1-{turn:04x}{agent:08x}", mixed >> 36, mixed & 0xffff)
    };
    let id = format!("agent-{agent:08x}-c0de-4bbb-8ccc-0123456789ab");
    let message = |turn: usize| format!("message-{agent:08x}-{turn:04x}-4bbb-8ccc-0123456789ab");
    let told = |turn: usize, json: String| answered(message(turn), &json);
    let create = format!(r#"{{"name":"approval-{}","otid":"{}"}}"#, minted(0), minted(0));
    let mut turns = vec![(
        request("POST", "/v1/agents".to_owned(), create),
        told(0, format!(r#"{{"id":"{id}","name":"approval-{}"}}"#, minted(0))),
    )];
    for turn in (1..TURNS).step_by(3) {
        let otid = minted(turn);
        let say = format!(
            r#"{{"messages":[{{"role":"user","content":"What is next?","otid":"{otid}"}}],"max_steps":10}}"#
        );
        let answer = format!(r#"{{"messages":[{{"id":"{}","otid":"{otid}"}}]}}"#, message(turn));
        let list = format!("/v1/agents/{id}/messages?after={}&limit=10", message(turn));
        let state = format!(r#"{{"id":"{id}","messages":{turn}}}"#);
        turns.push((request("POST", format!("/v1/agents/{id}/messages"), say), told(turn, answer)));
        turns.push((request("GET", list, String::new()), told(turn, "[]".to_owned())));
        turns.push((request("GET", format!("/v1/agents/{id}"), String::new()), told(turn, state)));
    }
    let interaction = |(request, response)| Interaction::of(request, response);
    turns.into_iter().map(interaction).collect()
}

fn answered(request_id: String, json: &str) -> Response {
    let headers = Headers::from_iter([
        ("content-type", "application/json".to_owned()),
        ("content-length", json.len().to_string()),
        ("x-request-id", request_id),
    ]);
    response(headers, Body::Whole(json.to_owned().into()))
}

/// The chunks of a stream: 200 events of 150 bytes, and the last word.
pub fn events() -> Vec<Bytes> {
    let event = |number: usize| {
        let head = format!("data: {{\"id\":\"c-1\",\"object\":\"chunk\",\"delta\":\"t{number:04} ");
        let tail = "\"}\n\n";
        let filling = "x".repeat(150 - head.len() - tail.len());
        Bytes::from(format!("{head}{filling}{tail}"))
    };
    let last = Bytes::from_static(b"data: [DONE]\n\n");
    (0..200).map(event).chain([last]).collect()
}

/// A request as it goes over the wire.
pub fn wire(request: &Request) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\nhost: 127.0.0.1\r\n", request.method, request.path);
    if !request.body.is_empty() {
        let length = request.body.len();
        head += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
    }
    [head.as_bytes(), b"\r\n", &request.body].concat()
}

fn with(interactions: Vec<Interaction>) -> Cassette {
    let recorded = Recorded {
        at: "2026-01-01T00:00:00Z".to_owned(),
        upstream: "http://127.0.0.1:8283".to_owned(),
        ..Recorded::default()
    };
    Cassette { recorded, interactions, ..Cassette::default() }
}

fn interaction(number: usize, words: Words) -> Interaction {
    let text = words.text(number);
    let body = format!(
        r#"{{"rid":"r{number:07}x","id":{number},"tags":["beta","order"],"price":12.50,"note":"{text}"}}"#
    );
    let request = if number.is_multiple_of(2) {
        request("GET", format!("/v1/items/{number}"), String::new())
    } else {
        let asked = Words(words.0 / 4).text(number + 1);
        let body = format!(
            r#"{{"model":"m","temperature":0,"messages":[{{"role":"user","content":"Question r{number:07}x {asked}"}}]}}"#
        );
        request("POST", "/v1/chat/completions".to_owned(), body)
    };
    let headers = Headers::from_iter([
        ("content-type", "application/json".to_owned()),
        ("content-length", body.len().to_string()),
        ("x-request-id", format!("r{number:07}x")),
    ]);
    let response = response(headers, Body::Whole(body.into()));
    Interaction::of(request, response)
}

fn request(method: &str, path: String, body: String) -> Request {
    let headers = if body.is_empty() {
        Headers::new()
    } else {
        [("content-type", "application/json")].into_iter().collect()
    };
    Request { headers, body: body.into(), ..Request::of(method, path) }
}

fn response(headers: Headers, body: Body) -> Response {
    let (reason, trailers) = (None, Headers::new());
    Response { ms: 1, reason, headers, body, trailers, ..Response::of(200) }
}
