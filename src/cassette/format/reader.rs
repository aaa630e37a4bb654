//! Reading the values of the file one by one.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::error::{Error, Kind, Result};
use crate::text::json::{Text, Token, Tokens};
use crate::text::{nearest, plain};

/// Walks a file once. What is not as it must be is an [`Error`] with its line.
///
/// # Rationale
///
/// The walk takes nothing but JSON, so the text is looked at once. It does not go through `serde_json`,
/// because a body must come out as it is spelled, however deep it is, and because an error must be able
/// to name the line and the member that was meant. Where a walk fails, [`not_json`] tells whether that is
/// because the text is no JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Reader<'a> {
    tokens: Tokens<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { tokens: Tokens::of(text) }
    }

    /// Expects that nothing more comes.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.tokens.peek() {
            None => Ok(()),
            Some(_) => Err(self.invalid("something stands behind the end")),
        }
    }

    /// Reads an object whose members are known by name. Each may be there once.
    pub(super) fn object(
        &mut self,
        known: &[&[&str]],
        mut member: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        let mut seen = 0_u64;
        self.entries(|reader, name| {
            let place = known.iter().copied().flatten().position(|known| *known == name);
            let Some(place) = place else { return Err(reader.unknown_member(&name, known)) };
            if seen & (1 << place) != 0 {
                return Err(reader.invalid("a member stands there twice"));
            }
            seen |= 1 << place;
            member(reader, &name)
        })
    }

    /// Reads an object whose members have names of their own.
    pub(super) fn entries(
        &mut self,
        mut entry: impl FnMut(&mut Self, Cow<'a, str>) -> Result<()>,
    ) -> Result<()> {
        self.items([b'{', b'}'], "an object", |reader| {
            let name = reader.string()?;
            reader.expect(b':', "a colon")?;
            entry(reader, name)
        })
    }

    /// Reads an array.
    pub(super) fn array(&mut self, item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.items([b'[', b']'], "an array", item)
    }

    fn items(
        &mut self,
        [open, close]: [u8; 2],
        expected: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.expect(open, expected)?;
        if self.tokens.pass(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.tokens.pass(close) {
                return Ok(());
            }
            self.expect(b',', "a comma")?;
        }
    }

    /// Reads an array into a list.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = Vec::new();
        self.array(|reader| {
            list.push(item(reader)?);
            Ok(())
        })?;
        Ok(list)
    }

    /// Reads an array of two items.
    pub(super) fn pair<A, B>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Result<A>,
        second: impl FnOnce(&mut Self) -> Result<B>,
    ) -> Result<(A, B)> {
        let here = self.clone();
        let fewer = || here.invalid("a pair has fewer than two items");
        self.expect(b'[', "an array")?;
        let one = if self.peek() == b']' { return Err(fewer()) } else { first(self)? };
        if !self.tokens.pass(b',') {
            return Err(fewer());
        }
        let other = second(self)?;
        if !self.tokens.pass(b']') {
            return Err(here.invalid("a pair has more than two items"));
        }
        Ok((one, other))
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        if self.peek() != b'"' {
            return Err(self.wrong_type("a string"));
        }
        let before = self.clone();
        let spelled = self.any()?.as_str();
        let plain = spelled.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match plain.filter(|plain| is_plain(plain.as_bytes())) {
            Some(plain) => Ok(Cow::Borrowed(plain)),
            None => serde_json::from_str(spelled)
                .map(Cow::Owned)
                .map_err(|error| before.invalid("a string is not Unicode").because(error)),
        }
    }

    /// Reads a whole number.
    pub(super) fn number(&mut self) -> Result<u64> {
        let before = self.clone();
        match self.tokens.next() {
            Some(Token::Scalar(spelled))
                if spelled.starts_with(|c: char| "-0123456789".contains(c))
                    && (spelled == "0" || !spelled.starts_with('0')) =>
            {
                let (expected, found) = ("a whole number", "another number");
                spelled.parse().map_err(|_| before.error(Kind::WrongType { expected, found }))
            }
            _ => Err(before.wrong_type("a whole number")),
        }
    }

    /// Reads a number that counts something.
    pub(super) fn count(&mut self) -> Result<usize> {
        let before = self.clone();
        usize::try_from(self.number()?).map_err(|_| before.wrong_type("a smaller number"))
    }

    /// Reads `true`.
    pub(super) fn truth(&mut self) -> Result<bool> {
        let before = self.clone();
        match self.tokens.next() {
            Some(Token::Scalar("true")) => Ok(true),
            Some(Token::Scalar("false")) => Ok(false),
            _ => Err(before.wrong_type("`true` or `false`")),
        }
    }

    /// Reads `null`.
    pub(super) fn null(&mut self) -> Result<()> {
        let before = self.clone();
        match self.tokens.next() {
            Some(Token::Scalar("null")) => Ok(()),
            _ => Err(before.wrong_type("`null`")),
        }
    }

    /// Takes an object or an array as it is spelled, if it is JSON.
    pub(super) fn container(&mut self) -> Result<Text<'a>> {
        if !matches!(self.peek(), b'{' | b'[') {
            return Err(self.wrong_type("an object or an array"));
        }
        self.tokens.checked().ok_or_else(|| self.invalid("a value is missing"))
    }

    /// Takes whatever comes as it is spelled. What is in a container may not be JSON.
    pub(super) fn any(&mut self) -> Result<Text<'a>> {
        let before = self.clone();
        self.tokens.value().ok_or_else(|| before.invalid("a value is missing"))
    }

    /// The first byte of what comes next; 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        self.tokens.peek().unwrap_or(0)
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<()> {
        if self.tokens.pass(byte) { Ok(()) } else { Err(self.wrong_type(expected)) }
    }
}

/// Whether a string says what stands between its quotes.
fn is_plain(spelled: &[u8]) -> bool {
    let is_escaped = |found, byte: &u8| found | (*byte < b' ') | (*byte == b'\\');
    !spelled.iter().fold(false, is_escaped)
}

/// Errors.
impl Reader<'_> {
    /// An error at what comes next.
    pub(super) fn error(&self, kind: Kind) -> Error {
        self.place(Error::new(kind))
    }

    /// Gives an error the line of what comes next.
    pub(super) fn place(&self, error: Error) -> Error {
        let mut here = self.tokens.clone();
        here.peek();
        error.on_line(memchr::memchr_iter(b'\n', here.before().as_bytes()).count() + 1)
    }

    pub(super) fn invalid(&self, what: &'static str) -> Error {
        self.error(Kind::Invalid(what))
    }

    pub(super) fn missing(&self, name: &'static str) -> Error {
        self.place(Error::said(format!("member `{name}` is missing")))
    }

    pub(super) fn wrong_type(&self, expected: &'static str) -> Error {
        let found = match self.clone().peek() {
            b'{' => "an object",
            b'[' => "an array",
            b'"' => "a string",
            b't' | b'f' => "a truth value",
            b'n' => "`null`",
            _ => "a number",
        };
        self.error(Kind::WrongType { expected, found })
    }

    /// The word that stands there is none of those that may.
    pub(super) fn unknown_word(&self, what: &'static str, known: &[&str]) -> Error {
        self.invalid(what).with_hint(format!("it may be {}", nearest::listed(known)))
    }

    fn unknown_member(&self, name: &str, known: &[&[&str]]) -> Error {
        let known = known.concat();
        self.error(Kind::UnknownMember { name: name.to_owned() })
            .with_hint(nearest::hint(name, &known))
    }
}

/// What is wrong with a text that is no JSON.
pub(super) fn not_json(text: &str) -> Option<Error> {
    let error = serde_json::from_str::<&RawValue>(text).err()?;
    let line = error.line();
    let found = Error::new(Kind::Syntax).on_line(line).because(error);
    if plain::conflict(text).is_some() {
        return Some(found.with_hint("resolve the merge conflict in it, or record it again"));
    }
    Some(found)
}
