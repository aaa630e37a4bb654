//! What is claimed about the algorithms.

use retape::contract::order::{Edges, Event, Order};

use super::random::{self, Random};
use super::{agent, cases};

#[test]
fn nothing_that_was_seen_is_refused() {
    let mut random = Random(12);
    for case in 0..cases(3_000) {
        let tags = random::tags(1 + case as usize % 7);
        let words: Vec<Vec<&str>> =
            (0..1 + random.below(7)).map(|_| random::word(&mut random, &tags, 9)).collect();
        let edges = learned(&words);

        let order = Order::new(edges.expression()).unwrap();
        for word in &words {
            let events: Vec<Event<'_>> = word.iter().map(|tag| Event::plain(tag)).collect();
            assert!(order.accepts(&events), "{order} for {words:?}");
        }
        let said = random::pairs(order.expression());
        assert!(edges.iter().all(|(from, to, _)| said.contains(&(from, to))), "{order}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is told to whoever asks with --nocapture")]
fn few_recordings_teach_most_of_an_agents_order() {
    let rows = agent::table(4, 60);

    println!("{}", agent::printed(&rows));
    let row = |recordings, learner| {
        let found = rows.iter().find(|row| row.recordings == recordings && row.learner == learner);
        found.map(|row| (row.accepted, row.rejected)).unwrap()
    };
    let (accepted, rejected) = row(40, "per step");
    assert!(accepted > 0.93 && rejected > 0.97, "{accepted} / {rejected}");
    assert!(row(20, "per step").0 > row(20, "literal list").0);
}

fn learned(words: &[Vec<&str>]) -> Edges {
    let mut edges = Edges::default();
    for word in words {
        edges.add(word.iter().map(|tag| (*tag).into()));
    }
    edges
}
