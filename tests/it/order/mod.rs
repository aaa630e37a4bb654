//! The order of events: the language, its automata, and what is learned.

mod agent;
mod explaining;
mod language;
mod learning;
mod proof;
mod random;
mod refining;
mod slices;

pub use crate::dice::Random;
use retape::contract::order::{Order, Token, Word};

/// How often a property is tried: so often, or `PROPTEST_CASES` times if that is more.
fn cases(least: u64) -> u64 {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    wanted.unwrap_or(0).max(least)
}

#[track_caller]
fn order(text: &str) -> Order {
    text.parse().unwrap_or_else(|errors| panic!("{errors}"))
}

fn accepts(order: &Order, word: &Word) -> bool {
    order.accepts(&word.events())
}

/// A word from tags with spaces between them; behind a `:` stands the value of the key `id`.
fn word(text: &str) -> Word {
    let token = |part: &str| match part.split_once(':') {
        Some((tag, id)) => {
            let keys = vec![("id".to_owned(), format!("\"{id}\""))];
            Token { keys, ..Token::plain(tag) }
        }
        None => Token::plain(part),
    };
    Word { tokens: text.split_whitespace().map(token).collect(), ..Word::default() }
}

/// Some order over `a`, `b`, `c`, with interleaving and counting.
pub fn any_order(random: &mut Random) -> Order {
    Order::new(random::any(random, 3)).unwrap()
}

/// Some order in which each of a few tags stands once.
pub fn sore_order(random: &mut Random) -> Order {
    Order::new(random::sore(random, &random::tags(3))).unwrap()
}
