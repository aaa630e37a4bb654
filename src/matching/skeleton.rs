//! What a request is once the values that the client made up are taken out.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::{FixedState, FoldHasher};

use crate::cassette::Request;
use crate::correlate::{Origins, identifiers};
use crate::json::{Container, Text, Token, canonical_number, unescape};
use crate::percent;

/// A request reduced to what must be equal, and the holes that may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// Equal for requests that are equal up to the holes. JSON counts as values: the order of
    /// members, white space and the spelling of numbers and strings do not matter; identifiers that
    /// the server issued are a part of it, so a wrong one is another skeleton.
    pub hash: u64,
    /// The client-minted identifiers, in an order that depends on their places only.
    pub holes: Vec<Hole>,
}

/// A place in a request and the client-minted identifier in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hole {
    place: u64,
    /// The identifier that stands there.
    pub identifier: String,
}

impl Hole {
    /// Whether both stand in the same place of their requests.
    pub fn is_where(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Skeleton {
    /// Reduces a request, given what the server issued in the cassette that it may match.
    pub fn of(request: &Request, origins: &Origins) -> Self {
        let mut reader = Reader { origins, holes: Vec::new() };
        let hash = combine(&[
            hash_of(&request.method),
            reader.path(request.path_only()),
            reader.query(request.query().unwrap_or("")),
            reader.body(request),
        ]);
        let mut holes = reader.holes;
        holes.sort_by_key(|hole| hole.place);
        Self { hash, holes }
    }
}

struct Reader<'a> {
    origins: &'a Origins,
    holes: Vec<Hole>,
}

/// An object or array that is being read.
struct Open {
    container: Container,
    place: u64,
    /// Members of an object are summed, so their order does not count.
    sum: u64,
    items: u64,
    /// The member whose value comes next.
    key: Option<u64>,
}

impl Reader<'_> {
    fn path(&mut self, path: &str) -> u64 {
        let mut hashes = Vec::new();
        for (index, segment) in path.split('/').enumerate() {
            hashes.push(self.text(combine(&[PATH, index as u64]), &percent::decoded(segment)));
        }
        combine(&hashes)
    }

    /// A query as a multiset of parameters.
    fn query(&mut self, query: &str) -> u64 {
        let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
        parameters.fold(QUERY, |sum, parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let name = hash_of(&percent::form_decoded(name));
            let value = self.text(combine(&[QUERY, name]), &percent::form_decoded(value));
            sum.wrapping_add(combine(&[name, value]))
        })
    }

    fn body(&mut self, request: &Request) -> u64 {
        let body = request.readable();
        let body = body.as_ref();
        if let Some(text) = Text::parse_container(body) {
            return self.json(text);
        }
        match std::str::from_utf8(body) {
            Ok(text) => self.text(BODY, text),
            Err(_) => hash_of(body),
        }
    }

    fn json(&mut self, text: Text<'_>) -> u64 {
        let mut open: Vec<Open> = Vec::new();
        for token in text.tokens() {
            let value = match token {
                Token::Open(container) => {
                    let place = open.last().map_or(BODY, Open::place_of_next);
                    open.push(Open { container, place, sum: 0, items: 0, key: None });
                    continue;
                }
                Token::Close(_) => match open.pop() {
                    Some(closed) => closed.hash(),
                    None => continue,
                },
                Token::Comma | Token::Colon => continue,
                Token::String(spelled) => {
                    let place = open.last().map_or(BODY, Open::place_of_next);
                    self.text(place, &unescape(spelled))
                }
                Token::Scalar(spelled) => scalar(spelled),
            };
            match open.last_mut() {
                Some(parent) => parent.add(value),
                None => return value,
            }
        }
        0
    }

    /// A text with its client-minted identifiers taken out and noted.
    fn text(&mut self, place: u64, text: &str) -> u64 {
        let mut hasher = STATE.build_hasher();
        let mut rest = 0;
        for range in identifiers(text) {
            let identifier = &text[range.clone()];
            if self.origins.is_issued(identifier) {
                continue;
            }
            hasher.write(&text.as_bytes()[rest..range.start]);
            hasher.write_u64(HOLE);
            rest = range.end;
            self.holes.push(Hole { place, identifier: identifier.to_owned() });
        }
        hasher.write(&text.as_bytes()[rest..]);
        hasher.finish()
    }
}

impl Open {
    /// The place of the value that comes next: it depends on the way there, not on the order of
    /// members.
    fn place_of_next(&self) -> u64 {
        match self.container {
            Container::Object => combine(&[self.place, self.key.unwrap_or(KEY)]),
            Container::Array => combine(&[self.place, self.items]),
        }
    }

    fn add(&mut self, value: u64) {
        match (self.container, self.key.take()) {
            (Container::Object, None) => self.key = Some(value),
            (Container::Object, Some(key)) => {
                self.sum = self.sum.wrapping_add(combine(&[key, value]));
                self.items += 1;
            }
            (Container::Array, _) => {
                self.sum = combine(&[self.sum, value]);
                self.items += 1;
            }
        }
    }

    fn hash(&self) -> u64 {
        combine(&[self.container as u64, self.sum, self.items])
    }
}

// Roots of the places, and what stands for a hole.
const PATH: u64 = 1;
const QUERY: u64 = 2;
const BODY: u64 = 3;
const KEY: u64 = 4;
const HOLE: u64 = 5;

const STATE: FixedState = FixedState::with_seed(0x7e7a_9e00);

fn combine(parts: &[u64]) -> u64 {
    let mut hasher: FoldHasher<'_> = STATE.build_hasher();
    parts.iter().for_each(|part| hasher.write_u64(*part));
    hasher.finish()
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    STATE.hash_one(value)
}

/// `true` and `1` differ, `1` and `1.0` do not.
fn scalar(spelled: &str) -> u64 {
    let number = spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let meaning = if number { canonical_number(spelled) } else { Cow::Borrowed(spelled) };
    combine(&[hash_of("scalar"), hash_of(meaning.as_ref())])
}
