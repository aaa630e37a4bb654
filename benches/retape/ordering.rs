//! Learning the order of events, and how well it is learned.

#[path = "../../tests/it/order/agent.rs"]
mod agent;

use std::hint::black_box;
use std::rc::Rc;

use retape::contract::order::{Edges, Learned, Slicing, Word};

use crate::cpu::Thread;
use crate::dice::Random;
use crate::measure::{Bench, Contender, Effort, Table, compare};

/// All of it by name.
pub const ALL: &[Bench] = &[("learning the order of 100,000 events", learning)];

/// What [`accuracy`] is called.
pub const ACCURACY: &str =
    "order learned from few traces: further ones accepted / mutants rejected";

type Learner = Box<dyn Fn(&[Word]) -> Learned>;

fn learning(effort: Effort) -> Table {
    let words = Rc::new(words(effort.at_most(100_000)));
    let slicing = Slicing::find(&words);
    let with = |name: &str, learn: Learner| {
        let words = Rc::clone(&words);
        Contender::new(name, Thread::current(), move || {
            black_box(learn(&words));
        })
    };
    let contenders = vec![
        edges(Rc::clone(&words)),
        with("in known slices", Box::new(move |words| learned(slicing.clone(), words))),
        with("in slices that are found", Box::new(Learned::from_words)),
        with(
            "the same, with the expression",
            Box::new(|words| {
                let learned = Learned::from_words(words);
                black_box(learned.expression());
                learned
            }),
        ),
    ];
    compare(effort, contenders)
}

/// The table of what is accepted and rejected.
pub fn accuracy(effort: Effort) -> String {
    let rows = agent::table(effort.at_most(10), effort.at_most(200));
    format!("## {ACCURACY}\n\n{}\n", agent::printed(&rows))
}

fn edges(words: Rc<Vec<Word>>) -> Contender {
    Contender::new("neighbours alone", Thread::current(), move || {
        let mut edges = Edges::default();
        for word in words.iter() {
            let tags = word.tokens.iter().map(|token| token.tag.as_str().into());
            edges.add(tags);
        }
        black_box(edges);
    })
}

fn learned(slicing: Option<Slicing>, words: &[Word]) -> Learned {
    let mut learned = Learned::with(slicing);
    words.iter().for_each(|word| learned.add(word));
    learned
}

/// Traces with so many events.
fn words(events: usize) -> Vec<Word> {
    let mut random = Random(1);
    let mut left = events;
    std::iter::from_fn(|| {
        let word = agent::trace(&mut random);
        let goes_on = left > 0;
        left = left.saturating_sub(word.tokens.len());
        goes_on.then_some(word)
    })
    .collect()
}
