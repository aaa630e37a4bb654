//! Finding the answer, with who issued which identifier, beside the same in a small cassette.

use std::hint::black_box;

use retape::Cassette;
use retape::cassette::Request;
use retape::matching::{Index, Playlist};
use retape::rules::Rules;

use crate::cpu::Thread;
use crate::measure::{Bench, Contender, Effort, Goal, Table, compare};
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
/// When all were had, another session begins.
fn matching(name: &str, recorded: Cassette, live: Cassette, stride: usize) -> Contender {
    let index = Index::of(&recorded, Rules::default());
    let requests = requests(live);
    let conversations = requests.len() / sample::TURNS;
    let (mut playlist, mut conversation, mut turn, mut left) =
        (Playlist::new(&index), 0, 0, requests.len());
    Contender::new(name, Thread::current(), move || {
        let request = &requests[conversation * sample::TURNS + turn];
        let found = playlist.take(&index, &index.skeleton(request));
        assert!(black_box(found).is_some(), "{} {}", request.method, request.path);
        turn += 1;
        if turn == sample::TURNS {
            (conversation, turn) = ((conversation + stride) % conversations, 0);
        }
        left -= 1;
        if left == 0 {
            (playlist, left) = (Playlist::new(&index), requests.len());
        }
    })
}

/// What is asked in recorded order finds the interaction in the same place.
fn expect_answers(recorded: &Cassette, live: &Cassette) {
    let index = Index::of(recorded, Rules::default());
    let mut playlist = Playlist::new(&index);
    for (number, interaction) in live.interactions.iter().take(100).enumerate() {
        let found = playlist.take(&index, &index.skeleton(&interaction.request));
        assert_eq!(found, Some(number));
    }
}

fn requests(cassette: Cassette) -> Vec<Request> {
    cassette.interactions.into_iter().map(|interaction| interaction.request).collect()
}
