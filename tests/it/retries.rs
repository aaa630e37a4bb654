//! SDKs repeat a refused request by themselves and count in a header how often they did.

use std::sync::Mutex;

use retape::Session;

use crate::stage::Stage;
use crate::support::client::ask;
use crate::support::engine::uuid;
use crate::support::upstream::{Then, Upstream, json};

/// No retries.
const ONCE: u32 = 0;

/// The SDK with its settings.
struct Sdk<'a> {
    session: &'a Session,
    /// How often it repeats a request at most.
    max_retries: u32,
    /// Begins each call's idempotency key; without one, none is sent.
    keys: Option<&'a str>,
}

impl<'a> Sdk<'a> {
    fn new(session: &'a Session, max_retries: u32) -> Self {
        Self { session, max_retries, keys: None }
    }

    /// Asks the same until there is an answer, or until it gives up: the statuses and the last text.
    fn call(&self, body: &str) -> (Vec<u16>, String) {
        let key = self.keys.map(|keys| format!("Idempotency-Key: {keys}{}\r\n", uuid()));
        let mut statuses = Vec::new();
        loop {
            let count = statuses.len();
            let fields = format!(
                "Content-Type: application/json\r\nX-Stainless-Retry-Count: {count}\r\n{}",
                key.as_deref().unwrap_or("")
            );
            let answer = ask("POST", &format!("{}/v1/x", self.session.url()), &fields, body);
            statuses.push(answer.status);
            if answer.status == 200 || count as u32 == self.max_retries {
                return (statuses, answer.text());
            }
        }
    }
}

/// A server that gives these answers, one after the other: a status and a word.
fn answering(answers: &[(u16, &str)]) -> Upstream {
    let answers: Vec<String> =
        answers.iter().map(|(status, word)| json(*status, &format!(r#"["{word}"]"#))).collect();
    let left = Mutex::new(answers.into_iter());
    Upstream::start(move |_, wire| {
        wire.send(left.lock().unwrap().next().expect("so many answers were scripted"));
        Then::KeepAlive
    })
}

/// A recording of one call after the other, with the same body, by an SDK that retries twice.
async fn recorded(calls: &[&[(u16, &str)]]) -> Stage {
    recorded_with_keys(calls, None).await
}

async fn recorded_with_keys(calls: &[&[(u16, &str)]], keys: Option<&str>) -> Stage {
    let stage = Stage::new();
    let upstream = answering(&calls.concat());
    let session = stage.record(&upstream).await;
    for answers in calls {
        let max_retries = answers.len() as u32 - 1;
        Sdk { session: &session, max_retries, keys }.call("[]");
    }
    session.finish().await.unwrap();
    stage
}

const REFUSED_TWICE: &[(u16, &str)] = &[(409, "a1"), (409, "a2"), (200, "a")];
const FAILED_ONCE: &[(u16, &str)] = &[(500, "b1"), (200, "b")];

/// Replays calls with the same body, and compares each one's statuses and last word.
async fn check(stage: &Stage, max_retries: u32, expected: &[(&[u16], &str)]) {
    let session = stage.replay().await;
    let sdk = Sdk::new(&session, max_retries);

    let answered: Vec<(Vec<u16>, String)> = expected.iter().map(|_| sdk.call("[]")).collect();
    session.finish().await.unwrap();

    let expected: Vec<(Vec<u16>, String)> =
        expected.iter().map(|(all, word)| (all.to_vec(), format!(r#"["{word}"]"#))).collect();
    assert_eq!(answered, expected, "retries: {max_retries}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_retries_as_often_is_answered_as_it_was() {
    let stage = recorded(&[REFUSED_TWICE, FAILED_ONCE]).await;

    check(&stage, 2, &[(&[409, 409, 200], "a"), (&[500, 200], "b")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_gives_up_gets_the_next_call_s_answers_next() {
    let stage = recorded(&[REFUSED_TWICE, FAILED_ONCE]).await;

    check(&stage, ONCE, &[(&[409], "a1"), (&[500], "b1")]).await;
    check(&stage, 1, &[(&[409, 409], "a2"), (&[500, 200], "b")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_retries_more_often_keeps_the_last_answer_of_its_call() {
    let stage = recorded(&[&[(409, "a1"), (409, "a2")], FAILED_ONCE]).await;

    check(&stage, 4, &[(&[409, 409, 409, 409, 409], "a2"), (&[500, 200], "b")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_no_other_call_the_rest_of_the_retries_is_given() {
    let stage = recorded(&[REFUSED_TWICE]).await;

    check(&stage, ONCE, &[(&[409], "a1"), (&[409], "a2"), (&[200], "a"), (&[200], "a")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_after_the_last_recorded_one_repeats_it() {
    let stage = recorded(&[REFUSED_TWICE, FAILED_ONCE]).await;

    check(&stage, 2, &[(&[409, 409, 200], "a"), (&[500, 200], "b"), (&[200], "b")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_succeed_at_once_are_answered_in_order() {
    let stage = recorded(&[&[(200, "a")], REFUSED_TWICE, &[(200, "c")]]).await;

    check(&stage, 2, &[(&[200], "a"), (&[409, 409, 200], "a"), (&[200], "c"), (&[200], "c")]).await;
    check(&stage, ONCE, &[(&[200], "a"), (&[409], "a1"), (&[200], "c")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_of_one_call_repeat_its_own_key() {
    let stage =
        recorded_with_keys(&[REFUSED_TWICE, FAILED_ONCE], Some("stainless-python-retry-")).await;
    for (max_retries, expected) in [(2, ["a", "b"]), (1, ["a2", "b"]), (ONCE, ["a1", "b1"])] {
        let session = stage.replay().await;
        let sdk = Sdk { session: &session, max_retries, keys: Some("stainless-python-retry-") };

        let words = [sdk.call("[]").1, sdk.call("[]").1];
        session.finish().await.unwrap();

        assert_eq!(words, expected.map(|word| format!(r#"["{word}"]"#)), "{max_retries}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_without_a_counter_gets_the_answers_in_recorded_order() {
    let stage = recorded(&[REFUSED_TWICE, FAILED_ONCE]).await;
    let session = stage.replay().await;

    let url = format!("{}/v1/x", session.url());
    let json = "Content-Type: application/json\r\n";
    let statuses = [(); 6].map(|()| ask("POST", &url, json, "[]").status);
    session.finish().await.unwrap();

    assert_eq!(statuses, [409, 409, 200, 500, 200, 200]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_that_were_recorded_without_a_counter_are_answered_in_their_order() {
    let stage = Stage::new();
    let upstream = answering(REFUSED_TWICE);
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1/x", session.url());
    let json = "Content-Type: application/json\r\n";
    REFUSED_TWICE.iter().for_each(|_| drop(ask("POST", &url, json, "[]")));
    session.finish().await.unwrap();

    check(&stage, 2, &[(&[409, 409, 200], "a")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_of_a_client_that_does_not_count_is_no_further_attempt_of_another_one() {
    let stage = Stage::new();
    let upstream = answering(&[(409, "a1"), (200, "b")]);
    let session = stage.record(&upstream).await;
    Sdk::new(&session, ONCE).call("[]");
    let url = format!("{}/v1/x", session.url());
    ask("POST", &url, "Content-Type: application/json\r\n", "[]");
    session.finish().await.unwrap();

    check(&stage, 1, &[(&[409, 409], "a1"), (&[200], "b")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_called_in_between_does_not_end_a_call() {
    let stage = Stage::new();
    let upstream = answering(&[(409, "a1"), (409, "x1"), (200, "a"), (200, "x"), (200, "again")]);
    let talk = |session: &Session| {
        let ask = |body: &str, count: u32| {
            let fields =
                format!("Content-Type: application/json\r\nX-Stainless-Retry-Count: {count}\r\n");
            ask("POST", &format!("{}/v1/x", session.url()), &fields, body).text()
        };
        [ask("[]", 0), ask("{}", 0), ask("[]", 1), ask("{}", 1), ask("[]", 0)]
    };
    let session = stage.record(&upstream).await;
    let recorded = talk(&session);
    session.finish().await.unwrap();
    let session = stage.replay().await;

    let replayed = talk(&session);
    session.finish().await.unwrap();

    assert_eq!(replayed, recorded);
}

/// A server that pays once for each key, and says so when it is asked with the same key again.
fn paying() -> Upstream {
    let paid: Mutex<Vec<String>> = Mutex::default();
    Upstream::json(move |asked| {
        let key = asked.head.field("idempotency-key").unwrap().to_owned();
        let mut paid = paid.lock().unwrap();
        let before = paid.iter().position(|other| *other == key);
        let number = before.unwrap_or(paid.len());
        if before.is_none() {
            paid.push(key.clone());
        }
        format!(r#"{{"payment": {number}, "again": {}, "key": "{key}"}}"#, before.is_some())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fresh_idempotency_key_is_not_given_the_answer_to_one_that_was_used_again() {
    let pay = |session: &Session, key: &str| {
        let fields = format!("Content-Type: application/json\r\nIdempotency-Key: {key}\r\n");
        ask("POST", &format!("{}/payments", session.url()), &fields, r#"{"amount": 10}"#).text()
    };
    let answer = |number: usize, again: bool, key: &str| {
        format!(r#"{{"payment": {number}, "again": {again}, "key": "{key}"}}"#)
    };
    let stage = Stage::new();
    let upstream = paying();
    let session = stage.record(&upstream).await;
    let [one, two] = [uuid(), uuid()];
    for key in [&one, &one, &two] {
        pay(&session, key);
    }
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let [one, two] = [uuid(), uuid()];
    let told = [&one, &two, &one, &two, &one].map(|key| pay(&session, key));

    assert_eq!(
        told,
        [
            answer(0, false, &one),
            answer(1, false, &two),
            answer(0, true, &one),
            answer(1, false, &two),
            answer(0, true, &one),
        ]
    );
}
