//! What a cassette itself says about matching, for a person.

use super::line::visible;
use crate::config::{Key, Rules};

/// A line for each key, in the words of `retape.toml`.
pub(super) fn lines(rules: &Rules) -> Vec<String> {
    let words = rules.words().map(|(key, word)| (key, format!("{word:?}")));
    let lists = rules.lists().map(|(key, list)| (key, format!("{list:?}")));
    let patterns = rules.patterns().iter().flat_map(|pattern| {
        let at = pattern.at().as_str();
        pattern.expressions().map(move |regex| format!("{{ at = {at:?}, regex = {regex:?} }}"))
    });
    let patterns: Vec<String> = patterns.collect();
    let patterns =
        (!patterns.is_empty()).then(|| (Key::Patterns, format!("[{}]", patterns.join(", "))));
    let told = words.chain(lists).chain(patterns);
    told.map(|(key, value)| visible(&format!("{} = {value}", key.as_str())).into_owned()).collect()
}
