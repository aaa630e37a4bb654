//! Any conversation is found again when the client makes up other identifiers, and is not when
//! anything else is another one.

mod changes;
mod conversation;
mod dice;
mod template;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRng, TestRunner};
use retape::Session;

use self::changes::{Changed, changes};
use self::conversation::{Conversation, Step};
use self::dice::Dice;
use self::template::{Request, Said, Text, Values};
use crate::stage::Stage;
use crate::support::client::{self, Reply, reply};
use crate::support::upstream::{EVENTS, Then, Upstream};
use crate::support::wire::Wire;

/// So many of the usual number of cases, which `PROPTEST_CASES` sets, are enough: each is a conversation
/// with two servers.
const SHARE: u32 = 8;
/// So many changes of each request are tried.
const CHANGES: usize = 3;

/// Has `check` judge conversations, the same ones in each run. What fails is made as short as it can
/// be: fewer steps, smaller seeds.
fn each_conversation(
    check: impl Fn(&tokio::runtime::Runtime, &Conversation, &Stage) -> Result<(), TestCaseError>,
) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let usual = Config::default();
    let cases = usual.cases / SHARE;
    let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..usual };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let outcome = TestRunner::new_with_rng(config, rng).run(&vec(any::<u64>(), 1..9), |seeds| {
        let conversation = Conversation::of(&seeds);
        let stage = runtime.block_on(recorded(&conversation));
        check(&runtime, &conversation, &stage)
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn a_client_with_other_identifiers_is_answered_as_it_was_with_its_own() {
    each_conversation(|runtime, conversation, stage| {
        let session = runtime.block_on(stage.replay());
        let values = conversation.values(2);
        let mut client = Client::new(&session);

        for (number, step) in conversation.steps.iter().enumerate() {
            let answer = client.ask(&values, &step.request);

            let asked = values.request(&step.request);
            let what = format!("step {number}: {} {}\n{}", asked.method, asked.target, asked.body);
            prop_assert_eq!(answer.status, 200, "{}\n{}", what, answer.text());
            expect(&answer, step, &values)
                .map_err(|why| TestCaseError::fail(format!("{what}\n{why}")))?;
        }
        runtime.block_on(session.finish()).unwrap();
        Ok(())
    });
}

#[test]
fn a_client_that_asks_for_anything_else_is_told_what_it_is() {
    let tried = std::cell::Cell::new(0);
    each_conversation(|runtime, conversation, stage| {
        let session = runtime.block_on(stage.replay());
        let values = conversation.values(3);
        let mut client = Client::new(&session);
        let dice = &mut Dice::new(4);

        for (number, step) in conversation.steps.iter().enumerate() {
            let mut changes = changes(conversation, step, dice);
            for _ in 0..CHANGES.min(changes.len()) {
                let changed = changes.swap_remove(dice.below(changes.len()));
                let answer = client.ask(&values, &changed.request);
                tried.set(tried.get() + 1);
                is_missed(&answer, number, &changed, &values)
                    .map_err(|why| TestCaseError::fail(format!("step {number}: {why}")))?;
            }
            let answer = client.ask(&values, &step.request);
            prop_assert_eq!(answer.status, 200, "step {} unchanged\n{}", number, answer.text());
        }
        runtime.block_on(session.stop()).unwrap();
        Ok(())
    });
    assert!(tried.get() > 300, "only {} changes were tried", tried.get());
}

/// Random letters have no digit among them now and then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identifier_may_look_like_a_word_where_one_was_recorded() {
    const RECORDED: &str = "req_OFnwnxmCrKE26bPNgyGA3";
    const LIVE: &str = "req_JVIRDDUAPULOiLIsMpLak";
    let stage = Stage::new();
    let upstream = Upstream::json(|asked| {
        let id = asked.head.field("x-request-id").unwrap_or_default().to_owned();
        format!("[\"{id}\",{:?}]", asked.text())
    });
    let talk = |session: &Session, id: &str| {
        let form = "Content-Type: application/x-www-form-urlencoded\r\n";
        let json = "Content-Type: application/json\r\n";
        [
            ("GET", format!("/v1/x?request_id={id}"), "", String::new()),
            ("PUT", format!("/v1/things/{id}"), json, "{}".to_owned()),
            ("POST", "/v1/forms".to_owned(), form, format!("request_id={id}")),
            ("POST", "/v1/x".to_owned(), json, format!("{{\"request_id\":\"{id}\"}}")),
            ("POST", "/v1/y".to_owned(), json, format!("{{\"name\":\"{id}\"}}")),
        ]
        .map(|(method, path, fields, body)| {
            let fields = format!("{fields}X-Request-Id: {id}\r\n");
            client::ask(method, &format!("{}{path}", session.url()), &fields, &body).text()
        })
    };
    let session = stage.record(&upstream).await;
    let recorded = talk(&session, RECORDED);
    session.finish().await.unwrap();
    let session = stage.replay().await;

    let live = talk(&session, LIVE);
    session.finish().await.unwrap();

    assert_eq!(live, recorded.map(|text| text.replace(RECORDED, LIVE)));
}

/// Whether an answer is the recorded one, with what the client makes up now.
fn expect(answer: &Reply, step: &Step, values: &Values) -> Result<(), String> {
    let (body, chunks) = values.said(&step.answer.body);
    if answer.text() != body {
        return Err(format!("answered {}\nexpected {body}", answer.text()));
    }
    if answer.chunks.is_empty() != chunks.is_empty() {
        return Err(format!("{} chunks, {} expected", answer.chunks.len(), chunks.len()));
    }
    for (name, value) in &step.answer.fields {
        let expected = values.text(value);
        if answer.field(name) != Some(&expected) {
            return Err(format!("{name}: {:?}, expected {expected}", answer.field(name)));
        }
    }
    Ok(())
}

/// Whether an answer is a miss that names what was changed.
fn is_missed(
    answer: &Reply,
    number: usize,
    changed: &Changed,
    values: &Values,
) -> Result<(), String> {
    let asked = values.request(&changed.request);
    let what = format!(
        "`{}` at {}\n{} {}\n{}{}",
        changed.what.text(),
        changed.place,
        asked.method,
        asked.target,
        asked.fields,
        asked.body
    );
    if answer.status != 470 {
        return Err(format!("answered in spite of {what}\n{}", answer.text()));
    }
    match changed.is_named_in(&answer.text(), number) {
        true => Ok(()),
        false => Err(format!("not named: {what}\n{}", answer.text())),
    }
}

/// A client with one connection.
struct Client {
    wire: Wire,
    url: String,
}

impl Client {
    fn new(session: &Session) -> Self {
        Self { wire: Wire::connect(session.address()), url: session.url() }
    }

    fn ask(&mut self, values: &Values, request: &Request) -> Reply {
        let asked = values.request(request);
        let url = format!("{}{}", self.url, asked.target);
        self.wire.send(client::request(asked.method, &url, &asked.fields, &asked.body));
        reply(&mut self.wire, asked.method)
    }
}

/// Has the conversation with a live server while it is recorded.
async fn recorded(conversation: &Conversation) -> Stage {
    let values = conversation.values(1);
    let answers: VecDeque<(String, Vec<String>)> =
        conversation.steps.iter().map(|step| answer(step, &values)).collect();
    let left = Arc::new(Mutex::new(answers));
    let upstream = Upstream::start(move |_, wire| {
        let (head, chunks) = left.lock().unwrap().pop_front().unwrap();
        wire.send(head);
        if !chunks.is_empty() {
            chunks.iter().for_each(|chunk| wire.send_chunk(chunk));
            wire.send_end();
        }
        Then::KeepAlive
    });
    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    let mut client = Client::new(&session);
    for step in &conversation.steps {
        assert_eq!(client.ask(&values, &step.request).status, 200);
    }
    drop(client);
    session.finish().await.unwrap();
    stage
}

/// An answer as it is sent, up to its chunks.
fn answer(step: &Step, values: &Values) -> (String, Vec<String>) {
    let (body, chunks) = values.said(&step.answer.body);
    let field = |(name, value): &(String, Text)| format!("{name}: {}\r\n", values.text(value));
    let fields: String = step.answer.fields.iter().map(field).collect();
    match &step.answer.body {
        Said::Events(..) => (EVENTS.replace("\r\n\r\n", &format!("\r\n{fields}\r\n")), chunks),
        Said::Json(_) => {
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
            (format!("{head}{fields}Content-Length: {length}\r\n\r\n{body}"), chunks)
        }
    }
}
