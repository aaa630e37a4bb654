//! Which words of the client's the server says because the client said them.

use std::collections::HashSet;

use crate::cassette::Cassette;
use crate::cassette::reading::Reading;
use crate::config::{Rules, Treatment};
use crate::identity::names::{self, Names};
use crate::identity::{Words, plain};

/// The words of which it was proved, or a person says, that the client makes them up, and which no answer held before:
/// a server that says `Birch` by itself speaks of no client.
pub(super) fn of(cassette: &Cassette, names: &Names, rules: &Rules) -> Vec<String> {
    let proved = names.proved_words().map(|(word, first)| (word.to_owned(), first));
    let made_up: Vec<(String, usize)> = proved.chain(by_rule(cassette, names, rules)).collect();
    let words = Words::of(made_up.iter().map(|(word, _)| word.as_str()));
    let end = made_up.iter().map(|(_, first)| *first).max().unwrap_or_default();
    let mut known: HashSet<(usize, String)> = HashSet::new();
    for (number, interaction) in cassette.interactions.iter().enumerate().take(end) {
        let Some(response) = interaction.response() else { continue };
        let body = response.readable().bytes();
        let fields = response.headers.iter().map(|(_, value)| &value[..]);
        for text in fields.chain([&body[..]]).map(plain) {
            known.extend(words.find(&text).map(|range| (number, text[range].to_owned())));
        }
    }
    let is_known = |word: &str, first| known.iter().any(|(at, it)| *at < first && it == word);
    let made_up = made_up.into_iter().filter(|(word, first)| !is_known(word, *first));
    made_up.map(|(word, _)| word).collect()
}

/// What stands where a person says that the client makes it up, and the interaction in which it does.
fn by_rule(cassette: &Cassette, names: &Names, rules: &Rules) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    // Most say nothing of it.
    let interactions = cassette.interactions.iter().enumerate().filter(|_| rules.has_ids());
    for (number, interaction) in interactions {
        let body = interaction.request.readable();
        let reading = Reading::of(&interaction.request, &body, rules);
        let openings = names.openings(&reading, number);
        let nodes = openings.iter().map(|opening| &reading.nodes[opening.node]);
        let ruled = nodes.filter(|node| node.rule == Some(Treatment::Id));
        let words = ruled.filter(|node| names::is_word(&node.text));
        found.extend(words.map(|node| (node.text.clone().into_owned(), number)));
    }
    found
}
