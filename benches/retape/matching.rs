//! Finding the answer, with who issued which identifier, beside the same in a small cassette.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hint::black_box;
use std::rc::Rc;

use bytes::Bytes;

use retape::Cassette;
use retape::cassette::Request;
use retape::compare::matching::{Index, Playlist};
use retape::config::Rules;

use crate::cpu::Thread;
use crate::measure::{BATCH, Bench, Contender, Effort, Goal, Table, compare};
use crate::sample;

/// All of it by name.
pub const ALL: &[Bench] = &[
    (
        "matching from 100 to 100,000 interactions, correlation included, in recorded order",
        |effort| growing(effort, 1),
    ),
    (
        "matching from 100 to 100,000 interactions, correlation included, in another order",
        |effort| growing(effort, 7919),
    ),
];

fn growing(effort: Effort, stride: usize) -> Table {
    let sizes = [100, 1000, 10_000, 100_000];
    let contenders = sizes.map(|interactions| {
        let interactions = effort.at_most(interactions);
        let recorded = sample::conversations(interactions, "0");
        let live = sample::conversations(interactions, "1");
        expect_answers(&recorded, &live);
        matching(&format!("{interactions} interactions"), recorded, live, stride)
    });
    compare(effort, contenders.into()).with_goal(Goal::Growth(2.0))
}

/// Asks what is asked in a cassette, so many conversations after the other, each in its own order.
/// When all were had, another session begins. A request is in the cache when it is matched, as one is
/// that was just read from its connection.
fn matching(name: &str, recorded: Cassette, live: Cassette, stride: usize) -> Contender {
    let index = Index::of(&recorded, Rules::default());
    let requests = requests(live);
    let conversations = requests.len() / sample::TURNS;
    let all = requests.len();
    let (mut playlist, mut conversation, mut turn, mut left) = (Playlist::new(&index), 0, 0, all);
    let arrived = Rc::new(RefCell::new(VecDeque::new()));
    let waiting = Rc::clone(&arrived);
    let step = move || {
        let request = waiting.borrow_mut().pop_front().expect("a batch was prepared");
        let found = playlist.take(&index, &index.read(&request, &request.readable()));
        assert!(black_box(found).is_some(), "{} {}", request.method, request.path);
        left -= 1;
        if left == 0 {
            (playlist, left) = (Playlist::new(&index), all);
        }
    };
    Contender::new(name, Thread::current(), step).prepared(move || {
        let mut arrived = arrived.borrow_mut();
        while arrived.len() < BATCH as usize {
            arrived.push_back(copy(&requests[conversation * sample::TURNS + turn]));
            turn += 1;
            if turn == sample::TURNS {
                (conversation, turn) = ((conversation + stride) % conversations, 0);
            }
        }
    })
}

/// The request with memory of its own.
fn copy(request: &Request) -> Request {
    let headers = request.headers.iter().map(|(name, value)| (name, value.to_vec()));
    Request {
        method: request.method.clone(),
        path: request.path.clone(),
        headers: headers.collect(),
        body: Bytes::copy_from_slice(&request.body),
    }
}

/// What is asked in recorded order finds the interaction in the same place.
fn expect_answers(recorded: &Cassette, live: &Cassette) {
    let index = Index::of(recorded, Rules::default());
    let mut playlist = Playlist::new(&index);
    for (number, interaction) in live.interactions.iter().take(100).enumerate() {
        let found = playlist
            .take(&index, &index.read(&interaction.request, &interaction.request.readable()));
        assert_eq!(found, Some(number));
    }
}

fn requests(cassette: Cassette) -> Vec<Request> {
    cassette.interactions.into_iter().map(|interaction| interaction.request).collect()
}
