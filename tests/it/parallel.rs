//! Sixty-four clients at once, each with identifiers of its own, on one server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use retape::Session;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::client::{Reply, post, reply, request, split};
use crate::support::upstream::{Asked, EVENTS, Then, Upstream, json as answer};
use crate::support::wire::Wire;

const SESSIONS: usize = 64;
/// Each client asks once and then four times a round.
const ROUNDS: usize = 39;
const CASSETTES: [&str; 4] = ["one", "two", "three/a", "three/b"];

/// A server of agents, with identifiers that it counts up.
fn agents() -> Upstream {
    let issued = AtomicUsize::new(0);
    Upstream::start(move |asked, wire| {
        let number = issued.fetch_add(1, Ordering::SeqCst);
        let id = format!("{number:08x}-c0de-4fd9-92f1-fd5b1ee5a5f0");
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let otid = &body["otid"];
        match asked.path().rsplit('/').next().unwrap().split('?').next().unwrap() {
            "agents" => wire
                .send(answer(201, &json!({"id": format!("agent-{id}"), "otid": otid}).to_string())),
            "stream" => stream(asked, wire, &id),
            "messages" if asked.head.line.starts_with("POST") => {
                let text = format!("approved {} as {otid}", body["tool_call_id"]);
                wire.send(answer(200, &json!({"id": id, "otid": otid, "text": text}).to_string()));
            }
            _ => wire.send(answer(200, &json!([number, asked.path()]).to_string())),
        }
        Then::KeepAlive
    })
}

/// What was asked comes back in pieces that end within the client's identifier.
fn stream(asked: &Asked, wire: &mut Wire, id: &str) {
    let call = format!("call_{}", &id.replace('-', "")[..24]);
    let text = format!(
        "data: {}\n\ndata: {{\"id\":\"message-{id}\",\"call\":\"{call}\"}}\n\n",
        asked.text()
    );
    wire.send(EVENTS);
    for piece in text.as_bytes().chunks(37) {
        wire.send_chunk(piece);
    }
    wire.send_end();
}

/// A client that mints identifiers which tell whose they are.
struct Client {
    wire: Wire,
    url: String,
    number: usize,
    minted: usize,
    /// What it was answered, with `{n}` for the n-th of its identifiers.
    said: Vec<String>,
}

impl Client {
    fn new(session: &Session, name: &str, number: usize) -> Self {
        let (url, said) = (session.url_of(name), Vec::new());
        Self { wire: Wire::connect(split(&url).0), url, number, minted: 0, said }
    }

    fn talk(mut self, about: &str) -> Vec<String> {
        let otid = self.mint();
        let created = self.ask("POST", "/v1/agents", &json!({"otid": otid, "name": about}));
        let agent = created["id"].as_str().unwrap().to_owned();
        for round in 0..ROUNDS {
            let content = format!("{about}, round {round}");
            let ask = json!({"otid": self.mint(), "content": content});
            let events =
                self.reply("POST", &format!("/v1/agents/{agent}/stream"), &ask.to_string());
            let last = events.text().trim_end().rsplit("data: ").next().unwrap().to_owned();
            let last: Value = serde_json::from_str(&last).unwrap();
            let approval = json!({"otid": self.mint(), "tool_call_id": last["call"]});
            self.ask("POST", &format!("/v1/agents/{agent}/messages"), &approval);
            let after = last["id"].as_str().unwrap();
            let mine = self.mint();
            self.ask(
                "GET",
                &format!("/v1/agents/{agent}/messages?after={after}&mine={mine}"),
                &Value::Null,
            );
            self.ask("GET", &format!("/v1/agents/{agent}"), &Value::Null);
        }
        self.said
    }

    fn ask(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        serde_json::from_slice(&self.reply(method, path, &body).body).unwrap()
    }

    fn reply(&mut self, method: &str, path: &str, body: &str) -> Reply {
        let fields = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        self.wire.send(request(method, &format!("{}{path}", self.url), fields, body));
        let reply = reply(&mut self.wire, method);
        let text = reply.text();
        assert!(reply.status < 300, "{text}");
        self.said.push(self.with_tokens(&text));
        reply
    }

    fn mint(&mut self) -> String {
        self.minted += 1;
        format!("{}{:08x}", self.own(), self.minted)
    }

    /// What all its identifiers begin with.
    fn own(&self) -> String {
        format!(
            "{:08x}-aaaa-4bbb-8ccc-{:04x}",
            self.number * 0x0101_0101 + 0x0a0b_0c0d,
            self.number
        )
    }

    fn with_tokens(&self, text: &str) -> String {
        text.replace(&self.own(), "mine-")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_clients_and_ten_thousand_requests_do_not_meet() {
    let stage = Stage::new();
    let upstream = agents();
    let session = stage.record(&upstream).await;
    for (number, name) in CASSETTES.iter().enumerate() {
        Client::new(&session, name, 100 + number).talk(name);
    }
    session.finish().await.unwrap();
    drop(upstream);
    let session = stage.replay().await;
    let alone = CASSETTES.map(|name| Client::new(&session, name, 200).talk(name));
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let start = Arc::new(Barrier::new(SESSIONS));
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            let (name, expected) = (CASSETTES[number % 4], &alone[number % 4]);
            let client = Client::new(&session, &format!("{name}~{number}"), number);
            let start = Arc::clone(&start);
            scope.spawn(move || {
                start.wait();
                assert_eq!(client.talk(name), *expected, "{name}~{number}");
            });
        }
    });
    let summary = session.finish().await.unwrap();

    assert_eq!((summary.sessions, summary.played), (SESSIONS, SESSIONS * (1 + 4 * ROUNDS)));
    assert!(summary.played >= 10_000, "{}", summary.played);
    assert_eq!(summary.unplayed, []);
}

const THREADS: [&str; 3] = [
    "01a20930-7a9c-7038-9790-59b1cb357f59",
    "01a20930-7a9d-7096-be0f-ca662c5966c7",
    "01a20930-7a9d-7096-be0f-ca678f26b81f",
];

/// Three threads that were made at once, or one after the other, in each of which something was said then.
fn threads(are_made_at_once: bool, notes: [&str; 3]) -> Stage {
    Stage::with(&made_and_told(are_made_at_once, notes))
}

fn made_and_told(are_made_at_once: bool, notes: [&str; 3]) -> Vec<Value> {
    let json = json!({"content-type": "application/json"});
    let said = |number: usize| format!("say {number}");
    let made = THREADS.iter().zip(notes).enumerate().map(|(number, (thread, note))| {
        let earlier = (1..=number).map(|it| (it.to_string(), json!(0)));
        let after: serde_json::Map<_, _> = earlier.filter(|_| are_made_at_once).collect();
        let answer =
            json!({"thread_id": thread, "created_at": "2026-11-21T09:00:00Z", "note": note});
        json!({
            "after": after,
            "request": {"method": "POST", "path": "/threads", "headers": json, "json": {}},
            "response": {"status": 200, "headers": json, "json": answer},
        })
    });
    let told = THREADS.iter().enumerate().map(|(number, thread)| {
        let answer = json!({"thread": thread, "text": format!("heard {}", said(number))});
        json!({
            "request": {"method": "POST", "path": format!("/threads/{thread}/runs"), "headers": json,
                "json": {"thread": thread, "text": said(number)}},
            "response": {"status": 200, "headers": json, "json": answer},
        })
    });
    made.chain(told).collect()
}

/// Three threads that were made at once, each of which was greeted before something was said in it.
fn greeted(greetings: [&str; 3]) -> Stage {
    let json = json!({"content-type": "application/json"});
    let mut interactions = made_and_told(true, ["a"; 3]);
    let greeted = THREADS.iter().zip(greetings).map(|(thread, greeting)| {
        json!({
            "request": {"method": "POST", "path": format!("/threads/{thread}/greet"), "headers": json,
                "json": {"with": greeting}},
            "response": {"status": 200, "headers": json, "json": {"greeted": thread}},
        })
    });
    interactions.splice(3..3, greeted);
    Stage::with(&interactions)
}

/// What is said in a thread, and the answer.
fn say(url: &str, thread: &str, number: usize) -> Reply {
    let body = json!({"thread": thread, "text": format!("say {number}")});
    post(&format!("{url}/threads/{thread}/runs"), &body.to_string())
}

fn make_threads(url: &str) {
    for thread in THREADS {
        assert!(post(&format!("{url}/threads"), "{}").text().contains(thread));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_made_at_once_may_come_in_another_order() {
    let stage = threads(true, ["a"; 3]);
    let session = stage.replay().await;
    let url = session.url();
    make_threads(&url);

    for (thread, number) in [(0, 1), (1, 2), (2, 0)] {
        let answer: Value =
            serde_json::from_str(&say(&url, THREADS[thread], number).text()).unwrap();
        assert_eq!(
            answer,
            json!({"thread": THREADS[thread], "text": format!("heard say {number}")})
        );
    }

    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_has_used_is_not_another_any_more() {
    for (are_made_at_once, notes, first) in
        [(true, ["a"; 3], 0), (false, ["a"; 3], 1), (true, ["a", "b", "c"], 1)]
    {
        let stage = threads(are_made_at_once, notes);
        let session = stage.replay().await;
        let url = session.url();
        make_threads(&url);

        if first == 0 {
            assert_eq!(say(&url, THREADS[0], 0).status, 200);
        }
        assert_eq!(say(&url, THREADS[0], 1).status, 470);

        assert!(session.finish().await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_used_like_the_others_may_still_be_another() {
    for (greetings, expected) in [(["hi"; 3], 200), (["hi", "ho", "hi"], 470)] {
        let stage = greeted(greetings);
        let session = stage.replay().await;
        let url = session.url();
        make_threads(&url);
        let greet = |thread: usize| {
            let body = json!({"with": greetings[thread]}).to_string();
            let reply = post(&format!("{url}/threads/{}/greet", THREADS[thread]), &body);
            assert_eq!(reply.text(), json!({"greeted": THREADS[thread]}).to_string());
        };

        greet(0);
        greet(1);
        assert_eq!(say(&url, THREADS[0], 1).status, expected);
        // What was greeted as another one before it was told apart is not greeted again.
        greet(2);

        if expected == 200 {
            assert_eq!(say(&url, THREADS[1], 2).status, 200);
            assert_eq!(say(&url, THREADS[2], 1).status, 470);
            assert_eq!(say(&url, THREADS[2], 0).status, 200);
        }
        let summary = session.stop().await.unwrap();
        assert_eq!(summary.unplayed.is_empty(), expected == 200, "{:?}", summary.unplayed);
    }
}
