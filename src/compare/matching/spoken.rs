//! Which words of the client's the server says because the client said them.

use std::collections::HashSet;

use crate::cassette::Cassette;
use crate::identity::names::Names;
use crate::identity::{Words, plain};

/// The words of which it was proved that the client makes them up, and which no answer held before: a server that
/// says `Birch` by itself speaks of no client.
pub(super) fn of<'n>(cassette: &Cassette, names: &'n Names) -> impl Iterator<Item = &'n str> {
    let words = Words::of(names.proved_words().map(|(word, _)| word));
    let end = names.proved_words().map(|(_, first)| first).max().unwrap_or_default();
    let mut known: HashSet<(usize, String)> = HashSet::new();
    for (number, interaction) in cassette.interactions.iter().enumerate().take(end) {
        let Some(response) = interaction.response() else { continue };
        let body = response.readable().bytes();
        let fields = response.headers.iter().map(|(_, value)| &value[..]);
        for text in fields.chain([&body[..]]).map(plain) {
            known.extend(words.find(&text).map(|range| (number, text[range].to_owned())));
        }
    }
    let is_known = move |word: &str, first| known.iter().any(|(at, it)| *at < first && it == word);
    names.proved_words().filter(move |(word, first)| !is_known(word, *first)).map(|it| it.0)
}
