//! Types of events that may come anywhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::choice::{Code, factorial};
use super::edges::{Edges, Place};
use super::word::{Token, Word};

/// What may come anywhere comes behind so many others at least.
const FEWEST_BEFORE: usize = 3;

/// So many types are tried at once, and so many are found: a server says in one or two ways that it is still there, and
/// each try learns the order anew.
const MOST: usize = 8;

/// Bits for saying that a type may come anywhere.
const PRICE: f64 = 8.0;

/// The types of events that say nothing of the order: they may come anywhere.
///
/// # Rationale
///
/// A server that says every second that it is still there does so between any two events. No order that
/// knows such a type says much of any other. So a type is left out if the order and the words without it,
/// with the places at which it came, take fewer bits than with it, if several others came before it,
/// and if all that it says is the same each time or grows, as times do.
pub(in crate::contract) fn anywhere(words: &[Word]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = words.to_vec();
    while found.len() < MOST {
        let bits = bits(&left);
        let cheaper = candidates(&left).into_iter().filter_map(|tag| {
            let without: Vec<Word> = left.iter().map(|word| word.without(|it| it == tag)).collect();
            let saved = bits - self::bits(&without) - places(&left, &tag) - PRICE;
            (saved > 0.0).then_some((saved, tag, without))
        });
        match cheaper.max_by(|one, other| one.0.total_cmp(&other.0)) {
            Some((_, tag, without)) => {
                found.insert(tag);
                left = without;
            }
            None => break,
        }
    }
    found
}

/// What it takes to say words and their order.
fn bits(words: &[Word]) -> f64 {
    let mut edges = Edges::default();
    words.iter().for_each(|word| edges.add(word.letters()));
    edges.shortest(Code::Learned, edges.tags().len()).1
}

/// What it takes to say where a type came.
fn places(words: &[Word], tag: &str) -> f64 {
    let all = words.iter().map(|word| word.tokens.len() as u64).sum::<u64>();
    let tokens = words.iter().flat_map(|word| &word.tokens);
    let some = tokens.filter(|token| token.tag == tag).count() as u64;
    factorial(all) - factorial(some) - factorial(all - some) + (all as f64 + 1.0).log2()
}

/// The types that came behind most others and said nothing new.
fn candidates(words: &[Word]) -> Vec<String> {
    let mut before: BTreeMap<&str, BTreeSet<Place<'_>>> = BTreeMap::new();
    let mut talking = BTreeSet::new();
    for word in words {
        let mut last: BTreeMap<&str, &Token> = BTreeMap::new();
        for (token, (from, to)) in word.tokens.iter().zip(word.pairs()) {
            if from != to {
                before.entry(&token.tag).or_default().insert(from);
            }
            if last.insert(&token.tag, token).is_some_and(|last| !token.says_no_more_than(last)) {
                talking.insert(token.tag.as_str());
            }
        }
    }
    let is_it = |(tag, before): &(&str, BTreeSet<Place<'_>>)| {
        before.len() >= FEWEST_BEFORE && !talking.contains(tag)
    };
    let mut most: Vec<_> = before.into_iter().filter(is_it).collect();
    most.sort_by_key(|(_, before)| Reverse(before.len()));
    most.into_iter().take(MOST).map(|(tag, _)| tag.to_owned()).collect()
}

impl Token {
    /// Whether it says the same as an earlier one, or only what may be later.
    fn says_no_more_than(&self, last: &Self) -> bool {
        let is_no_more =
            |((path, now), (other, before)): (&(String, String), &(String, String))| {
                let grows = || Some(now.parse::<f64>().ok()? >= before.parse::<f64>().ok()?);
                path == other && (now == before || grows().unwrap_or_else(|| is_later(now, before)))
            };
        self.fields.len() == last.fields.len()
            && self.fields.iter().zip(&last.fields).all(is_no_more)
    }
}

/// Whether a text is a time that is not before another one: it begins like a date.
fn is_later(now: &str, before: &str) -> bool {
    let is_date = |text: &str| {
        let date = text.as_bytes().get(1..11);
        date.is_some_and(|date| {
            date.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
        })
    };
    is_date(now) && is_date(before) && now >= before
}
