//! Replay beside a bare server that has the answer at hand.

use retape::redact::Redactor;
use retape::{Cassette, Mode, Name, Session, store};

use crate::bare;
use crate::client::Client;
use crate::measure::{Bench, Contender, Effort, Goal, Table, compare};
use crate::sample::{self, Words};
use crate::served::Served;

/// All of it by name.
pub const ALL: &[Bench] = &[
    ("replay of small JSON, one connection, 2 interactions", |effort| json(effort, 2)),
    ("replay of small JSON, one connection, 100 interactions", |effort| json(effort, 100)),
    ("replay of small JSON, one connection, 10,000 interactions", |effort| json(effort, 10_000)),
    ("replay of small JSON, one connection, 100,000 interactions", |effort| json(effort, 100_000)),
    ("replay of a stream of 200 events, a chunk each", stream),
];

/// Both are asked the same: what it takes to send a hundred thousand different requests is no part of
/// how fast they are answered.
fn json(effort: Effort, interactions: usize) -> Table {
    let cassette = sample::cassette(effort.at_most(interactions), Words::FEW);
    let body = cassette.interactions[0].response().expect("it has one").body.bytes();
    let limit = bare::fixed(Box::leak(body.to_vec().into_boxed_slice()));
    let served = replayed(cassette.clone());
    expect_answers(&served, &cassette);
    let requests = requests(&cassette);
    let contenders = vec![
        asking("bare hyper, a fixed body", limit, requests.clone()),
        asking("retape", served, requests),
    ];
    compare(effort, contenders).with_goal(Goal::Speed(0.8))
}

fn stream(effort: Effort) -> Table {
    let cassette = sample::streamed();
    let served = replayed(cassette.clone());
    expect_answers(&served, &cassette);
    let requests = requests(&cassette);
    compare(
        effort,
        vec![
            asking("bare hyper, the same chunks", bare::stream(sample::events()), requests.clone()),
            asking("retape", served, requests),
        ],
    )
}

/// Asks for one thing after the other, in an order that jumps about.
fn asking(name: &str, served: Served, requests: Vec<Vec<u8>>) -> Contender {
    let mut client = Client::connect(served.address());
    let mut next = 0;
    Contender::new(name, served.thread(), move || {
        let _alive = &served;
        client.ask(&requests[next]);
        next = (next + 7919) % requests.len();
    })
}

fn requests(cassette: &Cassette) -> Vec<Vec<u8>> {
    let requests = cassette.interactions.iter().map(|interaction| &interaction.request);
    requests.map(sample::wire).collect()
}

fn replayed(cassette: Cassette) -> Served {
    Served::start("retape", async move || {
        let folder = tempfile::tempdir().expect("there is room");
        let name = Name::new("sample").expect("it is a name");
        let cassette = Redactor::standard().cassette(cassette);
        store::save(folder.path(), &name, &cassette).expect("there is room");
        let session = Session::builder("sample").cassettes(folder.path()).mode(Mode::Replay);
        let session = session.start().await.expect("what was saved can be replayed");
        (session.address(), (session, folder))
    })
}

/// The first answers are the recorded ones, chunk for chunk.
fn expect_answers(served: &Served, cassette: &Cassette) {
    let mut client = Client::connect(served.address());
    for interaction in cassette.interactions.iter().take(10) {
        let answer = client.fetch(&sample::wire(&interaction.request));
        let recorded = &interaction.response().expect("it has one").body;
        assert_eq!(answer.status, "HTTP/1.1 200");
        assert_eq!(answer.chunks, recorded.chunks().len());
        assert!(answer.body == recorded.bytes(), "the body is not the recorded one");
    }
}
