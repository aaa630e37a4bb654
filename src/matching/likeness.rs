//! How much of two requests is the same.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use crate::cassette::Request;
use crate::diff::Mask;
use crate::json::{Container, Text, Token, canonical_number, unescape};
use crate::percent;

/// The names, values and words of query and body: what is counted to tell how alike two are.
#[derive(Debug)]
pub(super) struct Likeness(Vec<u64>);

/// So many features tell enough; a miss must be told within a moment.
const MOST: usize = 8000;

/// So many words of one string.
const MOST_WORDS: usize = 64;

impl Likeness {
    pub(super) fn of(request: &Request, mask: Mask<'_>) -> Self {
        let mut reader = Reader { mask, features: Vec::new() };
        reader.query(request.query().unwrap_or(""));
        let body = request.readable();
        match (Text::parse_container(&body), std::str::from_utf8(&body)) {
            (Some(json), _) => reader.json(json),
            (None, Ok(text)) => reader.words(BODY, text, MOST),
            (None, Err(_)) => body.chunks(16).take(MOST).for_each(|it| reader.note(BODY, it)),
        }
        reader.features.sort_unstable();
        Self(reader.features)
    }

    /// The share that both have, in thousandths; all of it if there is nothing in either.
    pub(super) fn to(&self, other: &Self) -> u32 {
        let all = self.0.len() + other.0.len();
        if all == 0 {
            return 1000;
        }
        let (mut ours, mut theirs, mut common) = (&self.0[..], &other.0[..], 0);
        while let (Some(one), Some(another)) = (ours.first(), theirs.first()) {
            common += usize::from(one == another);
            (ours, theirs) =
                (&ours[usize::from(one <= another)..], &theirs[usize::from(another <= one)..]);
        }
        (2000 * common / all) as u32
    }
}

struct Reader<'m> {
    mask: Mask<'m>,
    features: Vec<u64>,
}

impl Reader<'_> {
    fn query(&mut self, query: &str) {
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()).take(MOST) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let place = combine(QUERY, name.as_bytes());
            self.features.push(place);
            self.note(place, (self.mask)(&percent::form_decoded(value)).as_bytes());
        }
    }

    /// Each value with the names on the way to it; the number of an element does not count.
    fn json(&mut self, text: Text<'_>) {
        let mut open: Vec<(Container, u64)> = Vec::new();
        let mut place = BODY;
        let mut tokens = text.tokens().peekable();
        while let Some(token) = tokens.next().filter(|_| self.features.len() < MOST) {
            match token {
                Token::Open(container) => open.push((container, place)),
                Token::Close(_) => {
                    open.pop();
                    place = open.last().map_or(BODY, |(_, place)| *place);
                }
                Token::Comma => place = open.last().map_or(BODY, |(_, place)| *place),
                Token::Colon => {}
                Token::String(spelled) if tokens.peek() == Some(&Token::Colon) => {
                    let above = open.last().map_or(BODY, |(_, place)| *place);
                    place = combine(above, unescape(spelled).as_bytes());
                    self.features.push(place);
                }
                Token::String(spelled) => self.string(place, &unescape(spelled)),
                Token::Scalar(spelled) => self.note(place, canonical_number(spelled).as_bytes()),
            }
        }
    }

    fn string(&mut self, place: u64, text: &str) {
        self.note(place, (self.mask)(text).as_bytes());
        if text.contains(char::is_whitespace) {
            self.words(place, text, MOST_WORDS);
        }
    }

    fn words(&mut self, place: u64, text: &str, most: usize) {
        let parts = text.split(|c: char| c.is_whitespace() || matches!(c, '&' | '=' | ',' | ';'));
        for word in parts.filter(|word| !word.is_empty()).take(most) {
            self.note(place, (self.mask)(word).as_bytes());
        }
    }

    fn note(&mut self, place: u64, value: &[u8]) {
        self.features.push(combine(place, value));
    }
}

// Roots of the places.
const QUERY: u64 = 1;
const BODY: u64 = 2;

fn combine(place: u64, value: &[u8]) -> u64 {
    FixedState::with_seed(place).hash_one(value)
}
