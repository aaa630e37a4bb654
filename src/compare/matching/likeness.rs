//! How much of two requests is the same.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::header;
use crate::cassette::Request;
use crate::compare::diff::Mask;
use crate::config::Rules;
use crate::text::json::{Container, Text, Token, canonical_number, unescape};
use crate::text::percent;

/// The names, values and words of two requests: what is counted to tell how alike they are.
#[derive(Debug)]
pub(super) struct Likeness {
    /// Those of query and body.
    content: Vec<u64>,
    /// Those of the header fields that count.
    header: Vec<u64>,
}

/// So many features tell enough; a miss must be told within a moment.
const MOST: usize = 8000;

/// So many words of one string.
const MOST_WORDS: usize = 64;

impl Likeness {
    pub(super) fn of(request: &Request, rules: &Rules, mask: Mask<'_>) -> Self {
        let mut reader = Reader { mask, features: Vec::new() };
        reader.query(request.query().unwrap_or(""));
        let body = request.readable();
        match (Text::parse_container(&body), std::str::from_utf8(&body)) {
            (Some(json), _) => reader.json(json),
            (None, Ok(text)) => reader.words(BODY, text, MOST),
            (None, Err(_)) => body.chunks(16).take(MOST).for_each(|it| reader.note(BODY, it)),
        }
        let content = reader.sorted();
        reader.header(request, rules);
        Self { content, header: reader.sorted() }
    }

    /// The share of query and body that both have, in thousandths; all of it if there is nothing in
    /// either.
    pub(super) fn to(&self, other: &Self) -> u32 {
        let all = self.content.len() + other.content.len();
        let share = (2000 * common(&self.content, &other.content)).checked_div(all);
        share.map_or(1000, |share| share as u32)
    }

    /// How much only one of them has.
    pub(super) fn apart(&self, other: &Self) -> usize {
        let apart =
            |ours: &[u64], theirs: &[u64]| ours.len() + theirs.len() - 2 * common(ours, theirs);
        apart(&self.content, &other.content) + apart(&self.header, &other.header)
    }
}

fn common(mut ours: &[u64], mut theirs: &[u64]) -> usize {
    let mut common = 0;
    while let (Some(one), Some(another)) = (ours.first(), theirs.first()) {
        common += usize::from(one == another);
        (ours, theirs) =
            (&ours[usize::from(one <= another)..], &theirs[usize::from(another <= one)..]);
    }
    common
}

struct Reader<'m> {
    mask: Mask<'m>,
    features: Vec<u64>,
}

impl Reader<'_> {
    fn sorted(&mut self) -> Vec<u64> {
        let mut features = std::mem::take(&mut self.features);
        features.sort_unstable();
        features
    }

    fn header(&mut self, request: &Request, rules: &Rules) {
        let fields = header::fields(&request.headers);
        for field in header::counted(fields, rules, !request.body.is_empty()) {
            let place = combine(HEADER, field.name.to_ascii_lowercase().as_bytes());
            self.features.push(place);
            self.note(place, (self.mask)(&field.text).as_bytes());
        }
    }

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
const HEADER: u64 = 3;

fn combine(place: u64, value: &[u8]) -> u64 {
    FixedState::with_seed(place).hash_one(value)
}
