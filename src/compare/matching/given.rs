//! What the server gave before it came back.

use memchr::memmem::Finder;

use crate::cassette::{self, Cassette, Interaction, Response};
use crate::identity::{Words, each_document, each_text, plain, refers, word_around};

/// A shorter value is the same by chance as often as not.
const SHORTEST: usize = 3;

/// A value that is as long, with a digit in it, is hardly the same by chance, however it is called.
const LONG: usize = 8;

/// Longer ones are contents.
const LONGEST: usize = 512;

/// The first of these interactions whose answer held a value as a whole, and where; `None` if the same
/// may stand there by chance.
pub(super) fn given(interactions: &[Interaction], value: &str) -> Option<(usize, String)> {
    let is_word = matches!(value, "null" | "true" | "false");
    if is_word || !(SHORTEST..=LONGEST).contains(&value.len()) {
        return None;
    }
    let finder = Finder::new(value);
    let answers = interactions.iter().enumerate();
    answers.filter_map(|(number, it)| Some((number, it.response()?))).find_map(
        |(number, response)| {
            let at = in_header(response, value).or_else(|| in_body(response, value, &finder));
            Some((number, at?))
        },
    )
}

/// The first interaction whose answer held an identifier, if no request had it before.
pub fn issued_in(cassette: &Cassette, identifier: &str) -> Option<usize> {
    let words = Words::of([identifier].into_iter());
    let has = |text: &[u8]| words.find(&plain(text)).next().is_some();
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let mut asks = false;
        each_text(&interaction.request, |text| asks |= words.find(text).next().is_some());
        if asks {
            return None;
        }
        let holds = |response: &Response| {
            has(&response.readable().bytes()) || response.headers.iter().any(|(_, it)| has(it))
        };
        if interaction.response().is_some_and(holds) {
            return Some(number);
        }
    }
    None
}

fn in_header(response: &Response, value: &str) -> Option<String> {
    let mut fields = response.headers.iter();
    fields
        .find(|(name, field)| is_given(name, &cassette::text(field), value))
        .map(|(name, _)| format!("header.{}", name.to_ascii_lowercase()))
}

fn in_body(response: &Response, value: &str, finder: &Finder<'_>) -> Option<String> {
    let body = response.readable().bytes();
    finder.find(&body)?;
    let mut at = None;
    let text = cassette::text(&body);
    each_document(&text, |_, document| {
        document.each_leaf(|pointer, name, leaf, _| {
            if at.is_none() && is_given(&name, &leaf, value) {
                at = Some(pointer.to_owned());
            }
        });
    });
    at.or_else(|| is_given("", &text, value).then(|| "body".to_owned()))
}

/// Whether a text is the value, or, where that can hardly be chance, holds it as a word of its own: the
/// path of a `location`, prose.
fn is_given(name: &str, text: &str, value: &str) -> bool {
    let is_long = value.len() >= LONG && value.bytes().any(|byte| byte.is_ascii_digit());
    if text == value { is_long || refers(name) } else { is_long && has_word(text, value) }
}

fn has_word(text: &str, value: &str) -> bool {
    let places = text.match_indices(value).map(|(at, _)| at..at + value.len());
    places.into_iter().any(|place| word_around(text, place.clone()) == place)
}
