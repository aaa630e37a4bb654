//! What happened, and the values in it that invariants speak of.

use std::borrow::Cow;

use super::claim::Path;
use super::earlier::Earlier;
use crate::config::LONGEST_TUPLE;
use crate::contract::order::Extent;
use crate::identity::{is_mixed, is_moment, refers};
use crate::text::date::since_1970;
use crate::text::json::{Container, Text, Token, Tokens, unescape};

/// Values below so many containers are not looked at.
const DEEPEST: usize = 16;

/// What identifies something is of such a length.
const SHORTEST: usize = 6;
const LONGEST: usize = 128;

/// A number of so many digits is exact.
const LONGEST_NUMBER: usize = 15;

/// A request and the events that came of it.
#[derive(Debug, Clone, Copy)]
pub struct Trace<'a> {
    /// The JSON text of the request, if it had one.
    pub request: Option<&'a str>,
    /// The events in order.
    pub events: &'a [Event<'a>],
    /// What was said in earlier answers, if that is known.
    pub earlier: Option<&'a dyn Earlier>,
    /// Whether all events came, or only the first ones.
    pub extent: Extent,
}

/// A message of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Its type.
    pub tag: &'a str,
    /// What it says. One that is not JSON says nothing.
    pub json: &'a str,
}

/// What may be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Comparable<'j> {
    /// It identifies something.
    Key(Cow<'j, str>),
    Number(f64),
    /// Any other string, as it is spelled.
    Text(&'j str),
    /// So many elements stand in the array.
    Length(f64),
}

impl Comparable<'_> {
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            _ => None,
        }
    }

    /// What a string says.
    pub(super) fn said(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Key(key) => Some(Cow::Borrowed(key)),
            Self::Text(spelled) => Some(unescape(spelled)),
            Self::Number(_) | Self::Length(_) => None,
        }
    }

    /// Whether both say the same, whatever their fields are called.
    pub(super) fn says_as(&self, other: &Self) -> bool {
        match (self.said(), other.said()) {
            (None, None) => self == other,
            (one, other) => one == other,
        }
    }

    /// What it counts: a number, also one in a string, as Protocol Buffers write those of 64 bits.
    pub(super) fn counted(&self) -> Option<f64> {
        let digits = match self {
            Self::Number(number) => return Some(*number),
            Self::Key(key) => key,
            Self::Text(spelled) => spelled.trim_matches('"'),
            Self::Length(_) => return None,
        };
        let is_number = (1..=LONGEST_NUMBER).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'));
        digits.parse().ok().filter(|_| is_number)
    }

    /// When a text says that it is, in milliseconds since 1970.
    pub(super) fn moment(&self) -> Option<f64> {
        const LONGEST_TIME: usize = 48;
        let Self::Text(spelled) = self else { return None };
        let said = Some(spelled.trim_matches('"')).filter(|_| spelled.len() <= LONGEST_TIME);
        said.filter(|said| is_moment(said)).and_then(since_1970).map(|ms| ms as f64)
    }

    /// What one may be behind another by: what it counts, or when it is.
    pub(super) fn ordered(&self) -> Option<f64> {
        self.counted().or_else(|| self.moment())
    }

    /// Whether something may hold of it alone.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Key(_)) || self.ordered().is_some()
    }
}

/// Tells what a JSON text says that may identify something, and where. The same word does in a field whose name says
/// so, and refers to one whose name does not.
pub(crate) fn identified<'j>(json: Text<'j>, mut told: impl FnMut(&Path, Cow<'j, str>)) {
    each(json, &mut |path, _, value| match value {
        Comparable::Key(key) => told(path, key),
        Comparable::Text(spelled) => {
            let word = unescape(spelled);
            if is_drawn(&word) {
                told(path, word);
            }
        }
        Comparable::Number(_) | Comparable::Length(_) => {}
    });
}

/// Tells the values in a JSON text in order, each with the number of the [row](RowNumber) that it stands in, and
/// then how long its arrays are.
pub(super) fn each<'j>(json: Text<'j>, told: &mut dyn FnMut(&Path, RowNumber, Comparable<'j>)) {
    let mut way = ValueWay::default();
    if is_tuple(json) {
        for (place, element) in json.elements().enumerate() {
            let above = way.path.enter(&place.to_string());
            way.inside(above, |way| collect(&mut element.tokens(), "", way, told));
        }
    } else {
        collect(&mut json.tokens(), "", &mut way, told);
    }
    way.lengths.into_iter().for_each(|(path, length)| told(&path, 0, Comparable::Length(length)));
}

/// Whether a message is an array whose elements mean something by their place, `["topic", "event", {}]`: the first one
/// is no object and no list.
pub(super) fn is_tuple(json: Text<'_>) -> bool {
    let first = || json.elements().next();
    json.container() == Some(Container::Array)
        && first().is_some_and(|first| first.container().is_none())
        && json.elements().nth(LONGEST_TUPLE).is_none()
}

/// An element of an array that is in no other one, counted from 1 in its message; 0 for what is in none.
pub(super) type RowNumber = u32;

/// Where one of the values stands, by how many come before it, as a JSON Pointer.
pub(super) fn pointer(json: &str, number: usize) -> String {
    let leaves = Text::read(json).map(Text::leaves).unwrap_or_default().into_iter();
    let values = leaves.filter(|leaf| {
        let depth = leaf.pointer.matches('/').count();
        depth <= DEEPEST && value(leaf.spelled, &leaf.name).is_some()
    });
    values.map(|leaf| leaf.pointer).nth(number).unwrap_or_default()
}

/// The way to a value.
#[derive(Default)]
struct ValueWay {
    path: Path,
    depth: usize,
    row: RowNumber,
    rows: RowNumber,
    /// The arrays that are in no other one.
    lengths: Vec<(Path, f64)>,
}

impl ValueWay {
    fn inside(&mut self, above: usize, look: impl FnOnce(&mut Self)) {
        self.depth += 1;
        look(self);
        self.depth -= 1;
        self.path.leave(above);
    }
}

/// Passes the next value, and tells what is in it.
fn collect<'j>(
    tokens: &mut Tokens<'j>,
    name: &str,
    way: &mut ValueWay,
    told: &mut dyn FnMut(&Path, RowNumber, Comparable<'j>),
) {
    if way.depth >= DEEPEST && matches!(tokens.peek(), Some(b'{' | b'[')) {
        tokens.value();
        return;
    }
    match tokens.next() {
        Some(Token::Open(Container::Object)) => {
            while let Some(Token::String(name)) = tokens.find(|token| *token != Token::Comma) {
                let name = unescape(name);
                // The colon.
                tokens.next();
                let above = way.path.enter(&name);
                way.inside(above, |way| collect(tokens, &name, way, told));
            }
        }
        Some(Token::Open(Container::Array)) => {
            let is_outermost = !way.path.is_in_array();
            let mut length = 0.0;
            while tokens.peek().is_some_and(|first| first != b']') {
                if is_outermost {
                    way.rows += 1;
                    way.row = way.rows;
                }
                let above = way.path.enter_elements();
                way.inside(above, |way| collect(tokens, name, way, told));
                length += 1.0;
                if tokens.peek() == Some(b',') {
                    tokens.next();
                }
            }
            tokens.next();
            if is_outermost {
                way.row = 0;
                let above = way.path.enter_elements();
                way.lengths.push((way.path.clone(), length));
                way.path.leave(above);
            }
        }
        // A message that is one value has no field that could be named.
        Some(Token::String(spelled) | Token::Scalar(spelled)) if way.depth > 0 => {
            if let Some(value) = value(spelled, name) {
                told(&way.path, way.row, value);
            }
        }
        _ => {}
    }
}

/// What a string or a scalar says that may be compared.
fn value<'j>(spelled: &'j str, name: &str) -> Option<Comparable<'j>> {
    if spelled.starts_with('"') {
        return Some(key(spelled, name).map_or(Comparable::Text(spelled), Comparable::Key));
    }
    // `id` is that of JSON-RPC; others, such as `seq_id`, count.
    if name == "id" && spelled.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Comparable::Key(Cow::Borrowed(spelled)));
    }
    spelled.parse().ok().map(Comparable::Number)
}

/// What a string identifies, if it does.
fn key<'j>(spelled: &'j str, name: &str) -> Option<Cow<'j, str>> {
    let identifies = |text: &str| is_key(text) || refers(name) && is_drawn(text);
    let inner = &spelled[1..spelled.len().max(2) - 1];
    if identifies(inner) {
        return Some(Cow::Borrowed(inner));
    }
    Some(unescape(spelled)).filter(|said| matches!(said, Cow::Owned(said) if identifies(said)))
}

/// So many letters in a row are no word that somebody chose.
const DRAWN: usize = 16;

/// Whether a word without a digit may have been drawn by lot: one in five of nine letters and digits has none.
fn is_drawn(text: &str) -> bool {
    let mut parts = text.split(|char: char| !char.is_ascii_alphanumeric());
    is_word(text) && parts.any(|part| part.len() >= DRAWN || is_mixed(part))
}

/// Whether a string identifies something: a word with a digit that is no date.
fn is_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-';
    is_word(text) && bytes.iter().any(u8::is_ascii_digit) && !is_date
}

/// Whether a string may identify something by its letters.
fn is_word(text: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte);
    (SHORTEST..=LONGEST).contains(&text.len()) && text.bytes().all(belongs)
}
