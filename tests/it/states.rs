//! What is read follows from what was written: a state is not shown before the writes that led to it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use retape::config::{Early, Rules};
use retape::{Mode, Session};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::client::{ask, get, post, request};
use crate::support::gate::Gate;
use crate::support::upstream::{self, Asked, Then, Upstream};
use crate::support::wire::Wire;

/// A server of notes: `POST /v1/notes`, `PATCH` and `GET /v1/notes/{id}`, `GET /v1/notes`, and
/// `POST /v1/marks` with a note's id, which changes the note as well. `POST /graphql` does what it is asked by a query
/// or a mutation.
#[derive(Default)]
struct Notes(Mutex<Vec<(String, Vec<String>)>>);

impl Notes {
    fn answer(&self, asked: &Asked) -> String {
        let mut notes = self.0.lock().unwrap();
        let (method, target) = asked.head.line.split_once(' ').unwrap();
        let path = target.split([' ', '?']).next().unwrap();
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let text = body["text"].as_str().unwrap_or_default().to_owned();
        let id = match body["note"].as_str() {
            Some(id) => id.to_owned(),
            None => path.trim_start_matches("/v1/notes").trim_start_matches('/').to_owned(),
        };
        if method == "POST" && id.is_empty() {
            let id = format!("note-{:08x}-37a2-4fd9-92f1-fd5b1ee5a5f0", 0x6f1c_0a2f + notes.len());
            notes.push((id.clone(), vec![text]));
            return json!({"id": id}).to_string();
        }
        if method == "GET" && id.is_empty() {
            return json!(notes.iter().map(|(id, _)| id).collect::<Vec<_>>()).to_string();
        }
        let (_, lines) = notes.iter_mut().find(|(other, _)| *other == id).unwrap();
        let is_query = body["query"].as_str().is_some_and(|query| query.starts_with("query"));
        if method != "GET" && !is_query {
            lines.push(text);
        }
        json!({"id": id, "lines": lines}).to_string()
    }
}

/// A client of it.
struct Client<'a>(&'a Session);

impl Client<'_> {
    fn create(&self, text: &str) -> String {
        let answer = post(&self.url("/v1/notes"), &json!({"text": text}).to_string()).text();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["id"].as_str().unwrap().to_owned()
    }

    fn add(&self, id: &str, text: &str) {
        let json = "Content-Type: application/json\r\n";
        let body = json!({"text": text}).to_string();
        assert_eq!(ask("PATCH", &self.url(&format!("/v1/notes/{id}")), json, &body).status, 200);
    }

    /// Changes a note by a request to another path.
    fn mark(&self, id: &str, text: &str) {
        let body = json!({"note": id, "text": text}).to_string();
        assert_eq!(post(&self.url("/v1/marks"), &body).status, 200);
    }

    /// Says by GraphQL what to do with a note, and gives how many lines it has then.
    fn do_by_graphql(&self, operation: &str, id: &str) -> usize {
        let query = format!("{operation} ($id: ID!) {{ note(id: $id) {{ lines }} }}");
        let body = json!({"query": query, "note": id, "text": operation}).to_string();
        let answer = post(&self.url("/graphql"), &body).text();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["lines"].as_array().unwrap().len()
    }

    /// How many lines the note has.
    fn lines(&self, id: &str) -> usize {
        let answer = get(&self.url(&format!("/v1/notes/{id}"))).text();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["lines"].as_array().unwrap().len()
    }

    fn count(&self) -> usize {
        let answer = get(&self.url("/v1/notes")).text();
        serde_json::from_str::<Vec<Value>>(&answer).unwrap().len()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0.url())
    }
}

/// A recording of a conversation.
async fn recorded(conversation: impl Fn(&Client<'_>)) -> Stage {
    let stage = Stage::new();
    let notes = Notes::default();
    let upstream = Upstream::json(move |asked| notes.answer(asked));
    let session = stage.record(&upstream).await;
    conversation(&Client(&session));
    session.finish().await.unwrap();
    stage
}

/// Has one conversation while recording and another one in replay.
async fn check<T: PartialEq + std::fmt::Debug>(
    recorded: impl Fn(&Client<'_>),
    live: impl Fn(&Client<'_>) -> T,
    expected: T,
) {
    let stage = self::recorded(recorded).await;
    let session = stage.replay().await;

    let answered = live(&Client(&session));
    session.finish().await.unwrap();

    assert_eq!(answered, expected);
}

/// Created, read, changed, read, changed, read.
fn three_states(client: &Client<'_>) {
    let id = client.create("1");
    client.lines(&id);
    client.add(&id, "2");
    client.lines(&id);
    client.add(&id, "3");
    client.lines(&id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_often_it_is_read_a_state_stays_until_it_is_written() {
    let live = |client: &Client<'_>| {
        let id = client.create("1");
        let first = [(); 4].map(|()| client.lines(&id));
        client.add(&id, "2");
        let second = [(); 3].map(|()| client.lines(&id));
        client.add(&id, "3");
        (first, second, [(); 2].map(|()| client.lines(&id)))
    };

    check(three_states, live, ([1; 4], [2; 3], [3; 2])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_less_often_sees_what_its_last_write_led_to() {
    let live = |client: &Client<'_>| {
        let id = client.create("1");
        client.add(&id, "2");
        let second = client.lines(&id);
        client.add(&id, "3");
        (second, client.lines(&id))
    };
    check(three_states, live, (2, 3)).await;

    let live = |client: &Client<'_>| {
        let id = client.create("1");
        client.add(&id, "2");
        client.add(&id, "3");
        client.lines(&id)
    };
    check(three_states, live, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_of_graphql_waits_for_the_mutation_that_it_shows_however_often_it_is_asked() {
    let talk = |client: &Client<'_>, times: usize| {
        let id = client.create("1");
        let read = || (0..times).map(|_| client.do_by_graphql("query", &id)).collect::<Vec<_>>();
        let before = read();
        client.do_by_graphql("mutation", &id);
        (before, read())
    };

    for times in [1, 2, 5] {
        let live = |client: &Client<'_>| talk(client, times);
        check(|client| _ = talk(client, 2), live, (vec![1; times], vec![2; times])).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_skips_a_write_gets_on() {
    let live = |client: &Client<'_>| {
        let id = client.create("1");
        let first = client.lines(&id);
        client.add(&id, "3");
        (first, client.lines(&id))
    };
    check(three_states, live, (1, 3)).await;
}

/// Created, changed, read: no state before the change was seen.
fn changed_unseen(client: &Client<'_>) {
    let id = client.create("1");
    client.add(&id, "2");
    client.lines(&id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_that_nobody_has_brought_about_is_a_miss_that_names_the_write() {
    let stage = recorded(changed_unseen).await;
    let session = stage.replay().await;

    let client = Client(&session);
    let id = client.create("1");
    let early = get(&client.url(&format!("/v1/notes/{id}")));
    client.add(&id, "2");
    let later = client.lines(&id);
    let misses = get(&format!("http://{}/-/retape/misses", session.address())).text();
    session.stop().await.unwrap();

    let said = early.text().split("hint: if the client is meant").next().unwrap().to_owned();
    assert_snapshot!(said, @r#"
    `tape` (3 interactions) has no answer to
      GET /v1/notes/note-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0
    the nearest is interaction 3 (not played yet)
    it asks the very same, but was recorded after interaction 2,
    which was not asked for in this run:
      PATCH /v1/notes/note-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0
    hint: if the client is free to leave that out, say so in retape.toml:
      [match]
      early = "given"
    "#);
    assert_eq!((early.status, later), (470, 2));
    let misses: Value = serde_json::from_str(&misses).unwrap();
    assert_eq!(misses["misses"][0]["nearest"]["awaited"]["interaction"], 2, "{misses}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_is_shown_early_where_a_rule_says_so() {
    let stage = recorded(changed_unseen).await;
    let session = stage.session(Mode::Replay).rules(Rules::default().early(Early::Given));
    let session = session.start().await.unwrap();

    let client = Client(&session);
    let lines = client.lines(&client.create("1"));
    session.finish().await.unwrap();

    assert_eq!(lines, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_read_a_moment_before_it_is_written_waits_for_it() {
    let stage = recorded(changed_unseen).await;
    let session = stage.replay().await;

    let client = Client(&session);
    let id = client.create("1");
    let lines = std::thread::scope(|scope| {
        let reading = scope.spawn(|| client.lines(&id));
        std::thread::sleep(Duration::from_millis(50));
        client.add(&id, "2");
        reading.join().unwrap()
    });
    session.finish().await.unwrap();

    assert_eq!(lines, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_write_does_not_hold_up_the_end() {
    let stage = recorded(changed_unseen).await;
    let mut fastest = Duration::MAX;
    for _ in 0..3 {
        let session = stage.replay().await;
        let url = Client(&session).url(&format!("/v1/notes/{}", Client(&session).create("1")));
        let mut waiting = Wire::connect(session.address());
        waiting.send(request("GET", &url, "", ""));
        assert!(waiting.is_silent(Duration::from_millis(50)), "answered before its time");

        let stopped = Instant::now();
        session.stop().await.unwrap();
        fastest = stopped.elapsed().min(fastest);

        assert_eq!(waiting.head().unwrap().line, "HTTP/1.1 470 Not Recorded");
    }
    // What is under way when a session ends is given half a second.
    assert!(fastest < Duration::from_millis(400), "{fastest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_does_not_wait_for_what_others_have_put_into_it() {
    let recorded = |client: &Client<'_>| {
        client.create("1");
        client.create("2");
        client.count();
    };
    let live = |client: &Client<'_>| {
        client.create("1");
        client.count()
    };
    check(recorded, live, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_while_it_was_written_need_not_wait_for_it() {
    let (stage, seen, answered) = (Stage::new(), Gate::new(), Gate::new());
    let (began, go_on) = (seen.clone(), answered.clone());
    let upstream = Upstream::json(move |asked| {
        if asked.head.line.starts_with("PATCH") {
            began.open();
            go_on.pass();
        }
        "[]".to_owned()
    });
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1/notes/7", session.url());
    std::thread::scope(|scope| {
        scope.spawn(|| ask("PATCH", &url, "", ""));
        seen.pass();
        get(&url);
        answered.open();
    });
    session.finish().await.unwrap();
    let session = stage.replay().await;

    let read = get(&format!("{}/v1/notes/7", session.url()));
    session.finish().await.unwrap();

    assert_eq!(read.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_grows_with_what_is_created_in_it() {
    let recorded = |client: &Client<'_>| {
        client.count();
        client.create("1");
        client.count();
        client.create("2");
        client.count();
    };
    let live = |client: &Client<'_>| {
        let none = [client.count(), client.count()];
        client.create("1");
        let one = [client.count(), client.count()];
        client.create("2");
        (none, one, [client.count(), client.count()])
    };

    check(recorded, live, ([0; 2], [1; 2], [2; 2])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_elsewhere_that_names_the_thing_counts() {
    let recorded = |client: &Client<'_>| {
        let id = client.create("1");
        client.lines(&id);
        client.mark(&id, "2");
        client.lines(&id);
    };
    let live = |client: &Client<'_>| {
        let id = client.create("1");
        let first = [(); 3].map(|()| client.lines(&id));
        client.mark(&id, "2");
        (first, [(); 2].map(|()| client.lines(&id)))
    };

    check(recorded, live, ([1; 3], [2; 2])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_to_one_thing_does_not_hold_up_another() {
    let recorded = |client: &Client<'_>| {
        let [one, other] = ["1", "x"].map(|text| client.create(text));
        client.lines(&one);
        client.lines(&other);
        client.add(&other, "y");
        client.add(&one, "2");
        client.lines(&one);
        client.lines(&other);
    };
    let live = |client: &Client<'_>| {
        let [one, other] = ["1", "x"].map(|text| client.create(text));
        client.add(&one, "2");
        let changed = [client.lines(&one), client.lines(&other), client.lines(&other)];
        client.add(&other, "y");
        (changed, [client.lines(&one), client.lines(&other)])
    };

    check(recorded, live, ([2, 1, 1], [2, 2])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_twice_is_answered_in_recorded_order_though_a_write_between_is_left_out() {
    let stage = Stage::new();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let upstream = Upstream::json(move |_| {
        format!("[{}]", asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
    });
    let say = |session: &Session, text: &str| {
        post(&format!("{}/v1/agents/1/messages", session.url()), text).text()
    };
    let session = stage.record(&upstream).await;
    say(&session, "\"hello\"");
    say(&session, "\"anything else\"");
    say(&session, "\"hello\"");
    session.finish().await.unwrap();
    let session = stage.replay().await;

    let answers = [(); 2].map(|()| say(&session, "\"hello\""));
    session.finish().await.unwrap();

    assert_eq!(answers, ["[0]", "[2]"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_by_itself_is_told_in_recorded_order() {
    let stage = Stage::new();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let upstream = Upstream::json(move |of| {
        let polled = of.head.line.starts_with("GET");
        let number = asked.fetch_add(usize::from(polled), std::sync::atomic::Ordering::SeqCst);
        format!("[{number}]")
    });
    let poll = |session: &Session| get(&format!("{}/v1/runs/1", session.url())).text();
    let session = stage.record(&upstream).await;
    post(&format!("{}/v1/runs", session.url()), "{}");
    for _ in 0..3 {
        poll(&session);
    }
    ask("HEAD", &format!("{}/v1/runs/1", session.url()), "", "");
    poll(&session);
    session.finish().await.unwrap();
    let session = stage.replay().await;

    post(&format!("{}/v1/runs", session.url()), "{}");
    let polled = [(); 5].map(|()| poll(&session));
    session.finish().await.unwrap();

    assert_eq!(polled, ["[0]", "[1]", "[2]", "[3]", "[3]"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_waits_for_a_write_that_names_what_the_path_encodes() {
    let upstream = Upstream::json(|asked| match asked.path() {
        "/runs" => r#"{"id": "run:k7x"}"#.to_owned(),
        _ => r#"{"state": "stopped"}"#.to_owned(),
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    post(&format!("{}/runs", session.url()), "{}");
    let json = "Content-Type: application/json\r\n";
    ask("PATCH", &format!("{}/control", session.url()), json, r#"{"key": "run:k7x"}"#);
    get(&format!("{}/status/run%3Ak7x", session.url()));
    session.finish().await.unwrap();
    let session = stage.replay().await;
    post(&format!("{}/runs", session.url()), "{}");

    let shown = get(&format!("{}/status/run%3Ak7x", session.url()));

    assert_eq!(shown.status, 470, "it shows what nobody has asked for yet: {}", shown.text());
    session.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_put_or_deleted_is_one_thing_whatever_it_is_called_and_a_list_is_none() {
    let says = |url: &str, line: &str| {
        let (method, path) = line.split_once(' ').unwrap();
        ask(method, &format!("{url}{path}"), "", "").status
    };
    // What was recorded, what is asked without the write, and whether that is a miss.
    for (recorded, early, is_missed) in [
        (&["PUT /jobs/nightly", "GET /jobs/nightly"][..], "GET /jobs/nightly", true),
        (&["POST /jobs", "DELETE /jobs/nightly", "GET /jobs/nightly"], "GET /jobs/nightly", true),
        (&["PATCH /settings", "GET /settings/all"], "GET /settings/all", false),
        // Things are posted to a list, and put below it.
        (&["POST /jobs", "GET /jobs"], "GET /jobs", false),
        (&["DELETE /jobs", "POST /jobs", "GET /jobs"], "GET /jobs", false),
        (&["PUT /bucket", "PUT /bucket/key", "GET /bucket"], "GET /bucket", false),
    ] {
        let stage = Stage::new();
        let upstream = Upstream::json(|_| "{}".to_owned());
        let session = stage.record(&upstream).await;
        recorded.iter().for_each(|line| assert_eq!(says(&session.url(), line), 200));
        session.finish().await.unwrap();

        let session = stage.replay().await;
        assert_eq!(says(&session.url(), early) == 470, is_missed, "{recorded:?}");
        session.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_client_has_counted_says_nothing_of_what_another_one_counts() {
    let stage = Stage::new();
    let boxes = Mutex::new(Vec::<String>::new());
    let upstream = Upstream::start(move |asked, wire| {
        let mut boxes = boxes.lock().unwrap();
        let (method, path) = asked.head.line.split_once(' ').unwrap();
        let name = path.split(['/', ' ']).nth(2).unwrap().to_owned();
        let is_there = boxes.contains(&name);
        match method {
            "PUT" => boxes.push(name),
            "DELETE" => boxes.retain(|other| *other != name),
            _ => {}
        }
        let status = if method == "PUT" || is_there { 200 } else { 404 };
        wire.send(upstream::json(status, "{}"));
        Then::KeepAlive
    });
    let [one, other] =
        ["box-3f2504e0-4f89-41d3-9a0c-0305e82c3301", "box-6ba7b810-9dad-41d1-80b4-00c04fd430c8"];
    let [first, second] =
        ["box-9b2e7c11-52d4-4b7a-8f3e-1d2c3b4a5f60", "box-c0ffee12-3456-4789-9abc-def012345678"];
    let says = |url: &str, line: &str, name: &str| {
        let (method, path) = line.split_once(' ').unwrap();
        ask(method, &format!("{url}{}", path.replace('_', name)), "", "").status
    };
    const COUNT: &str = "POST /boxes/_/count";

    let session = stage.record(&upstream).await;
    let url = session.url();
    let both = |line: &str| [one, other].map(|name| says(&url, line, name));
    let live = [both("PUT /boxes/_"), both(COUNT), both("DELETE /boxes/_"), both(COUNT)];
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let url = session.url();
    let both = |line: &str| [second, first].map(|name| says(&url, line, name));
    let made = [first, second].map(|name| says(&url, "PUT /boxes/_", name));
    let again = [made, both(COUNT), both("DELETE /boxes/_"), both(COUNT)];
    session.finish().await.unwrap();

    assert_eq!(live, [[200; 2], [200; 2], [200; 2], [404; 2]]);
    assert_eq!(again, live);
}
