//! One JSON text, read once and looked at by many shapes.

use std::borrow::Cow;

use super::format::{ID, LONGEST, URI, UUID, formats, is_hash};
use crate::identity::Meaning;
use crate::text::json::{Container, Text, Token, Tokens, unescape};

/// Values below so many containers are anything.
pub(crate) const DEEPEST: usize = 64;

/// The longest string that can be one of a few known words.
const LONGEST_WORD: usize = 48;

/// What has more words than these is a sentence.
const MOST_WORDS: usize = 3;

/// A value.
#[derive(Debug)]
pub(super) enum Sample<'a> {
    /// It is too deep to be looked at.
    Deep,
    Null,
    Boolean,
    /// A number with its spelling.
    Number(&'a str),
    String(StringSample<'a>),
    Array(Vec<Element<'a>>),
    /// The members by name; the last one where a name is repeated, as most parsers have it.
    Object(Vec<Member<'a>>),
}

/// A string and what can be seen from it alone.
#[derive(Debug)]
pub(super) struct StringSample<'a> {
    pub(super) text: Cow<'a, str>,
    /// Its formats as bits.
    pub(super) formats: u16,
    /// The length of the prefix before what was minted.
    pub(super) prefix: usize,
}

/// An element of an array.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) value: Sample<'a>,
    /// What it says, if it is a [row](Sample::is_row).
    pub(super) row: Option<&'a str>,
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    /// How many members stand before it.
    pub(super) position: u32,
    pub(super) value: Sample<'a>,
}

impl<'a> Sample<'a> {
    /// Reads a JSON text.
    pub(super) fn of(json: Text<'a>) -> Self {
        // A text is one value, so it begins with one.
        Self::take(&mut json.tokens(), 0).unwrap_or(Self::Deep)
    }

    fn take(tokens: &mut Tokens<'a>, depth: usize) -> Option<Self> {
        let token = tokens.find(|token| !matches!(token, Token::Comma | Token::Colon))?;
        Some(match token {
            Token::Close(_) | Token::Comma | Token::Colon => return None,
            Token::Open(_) if depth == DEEPEST => {
                pass(tokens);
                Self::Deep
            }
            Token::Open(Container::Array) => {
                Self::Array(std::iter::from_fn(|| Element::take(tokens, depth + 1)).collect())
            }
            Token::Open(Container::Object) => Self::Object(members(tokens, depth + 1)),
            Token::String(spelled) => Self::String(StringSample::of(unescape(spelled))),
            Token::Scalar("null") => Self::Null,
            Token::Scalar("true" | "false") => Self::Boolean,
            Token::Scalar(spelled) => Self::Number(spelled),
        })
    }
}

impl Sample<'_> {
    /// Whether it is an object that has an identity: another one that says the same is the same thing.
    pub(super) fn is_row(&self) -> bool {
        matches!(self, Self::Object(_)) && self.identity().is_some()
    }

    /// What it is called: its own identifier, or the first one in it.
    pub(super) fn identity(&self) -> Option<&str> {
        match self {
            Self::Deep | Self::Null | Self::Boolean | Self::Number(_) => None,
            Self::String(said) => (said.formats & (ID | UUID) != 0).then_some(&said.text),
            Self::Array(elements) => elements.iter().find_map(|it| it.value.identity()),
            Self::Object(members) => {
                let mut own = members.iter().filter_map(Member::identity);
                own.next().or_else(|| members.iter().find_map(|it| it.value.identity()))
            }
        }
    }
}

impl Member<'_> {
    /// What it says, if its name says that it is an identifier.
    fn identity(&self) -> Option<&str> {
        match &self.value {
            Sample::Number(said) if Meaning::of(&self.name) == Meaning::Identity => Some(said),
            Sample::String(said) if Meaning::of(&self.name) == Meaning::Identity => {
                Some(&said.text)
            }
            _ => None,
        }
    }
}

impl<'a> Element<'a> {
    fn take(tokens: &mut Tokens<'a>, depth: usize) -> Option<Self> {
        let start = tokens.end();
        let value = Sample::take(tokens, depth)?;
        let is_between = |letter: char| letter == ',' || letter.is_ascii_whitespace();
        let text = tokens.before()[start..].trim_start_matches(is_between);
        let row = value.is_row().then_some(text);
        Some(Self { value, row })
    }
}

impl<'a> StringSample<'a> {
    pub(super) fn of(text: Cow<'a, str>) -> Self {
        let (formats, prefix) = formats(&text);
        Self { text, formats, prefix }
    }

    /// Whether it may be a word of a fixed vocabulary, such as the type of a message.
    pub(super) fn is_word(&self) -> bool {
        let bytes = self.text.as_bytes();
        let begins =
            bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_#".contains(byte));
        begins
            && bytes.len() <= LONGEST_WORD
            && self.formats & (ID | UUID | URI) == 0
            && !is_hash(bytes)
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:#".contains(byte))
    }
}

impl StringSample<'_> {
    /// Whether it may name something in a fixed vocabulary by an address: `https://example.com/errors/not-found`, as
    /// problems of HTTP do (RFC 9457).
    pub(super) fn is_address(&self) -> bool {
        let bytes = self.text.as_bytes();
        let is_begun =
            self.formats & URI != 0 || bytes.first().is_some_and(|it| b"/_".contains(it));
        let is_name = || self.text.split(['/', '.', '#']).all(|part| !is_hash(part.as_bytes()));
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:#~".contains(byte);
        bytes.len() <= LONGEST
            && (is_begun || self.text.contains('#'))
            && bytes.iter().all(is_plain)
            && is_name()
    }

    /// Whether it may be several words of a fixed vocabulary: `IN PROGRESS`. No sentence has so few.
    pub(super) fn is_phrase(&self) -> bool {
        let words = || self.text.split(' ');
        let is_word = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_alphabetic())
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
        };
        self.text.len() <= LONGEST_WORD
            && (2..=MOST_WORDS).contains(&words().count())
            && words().all(is_word)
    }
}

fn members<'a>(tokens: &mut Tokens<'a>, depth: usize) -> Vec<Member<'a>> {
    let mut members: Vec<Member<'a>> = Vec::new();
    while let Some(Token::String(name)) = tokens.find(|token| *token != Token::Comma) {
        let Some(value) = Sample::take(tokens, depth) else { break };
        let position = u32::try_from(members.len()).unwrap_or(u32::MAX);
        members.push(Member { name: unescape(name), position, value });
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    members.dedup_by(|later, kept| {
        let repeated = later.name == kept.name;
        if repeated {
            std::mem::swap(later, kept);
        }
        repeated
    });
    members
}

/// Passes the rest of a container.
fn pass(tokens: &mut Tokens<'_>) {
    let mut depth = 1_usize;
    while depth > 0 {
        match tokens.next() {
            Some(Token::Open(_)) => depth += 1,
            Some(Token::Close(_)) => depth -= 1,
            Some(_) => {}
            None => return,
        }
    }
}
