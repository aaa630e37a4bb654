//! Going through one line.

use std::ops::Range;

use super::error::{ParseError, Problem};
use crate::contract::shape::show::is_name;

/// What comes next on a line. White space is passed.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    rest: &'t str,
    /// Where the rest stands in the whole text.
    at: usize,
}

type Parsed<T> = Result<T, ParseError>;

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        let mut cursor = Self { rest: text, at };
        cursor.pass(0);
        cursor
    }

    /// Where it is.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Passes this if it is next.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let eaten = self.rest.starts_with(expected);
        if eaten {
            self.pass(expected.len());
        }
        eaten
    }

    /// Passes this, which must be next.
    pub(super) fn expect(&mut self, expected: &'static str) -> Parsed<()> {
        match self.eat(expected) {
            true => Ok(()),
            false => Err(self.error(Problem::Expected(match expected {
                ":" => "`:`",
                "]" => "`]`",
                ">" => "`>`",
                "<" => "`<`",
                "," => "`,`",
                "{" => "`{`",
                _ => "`}`",
            }))),
        }
    }

    /// A word that is not quoted, and where it stands.
    pub(super) fn word(&mut self) -> Option<(&'t str, Range<usize>)> {
        let end = self.rest.find(|char| !is_name(char)).unwrap_or(self.rest.len());
        let word = (&self.rest[..end], self.at..self.at + end);
        self.pass(end);
        (end > 0).then_some(word)
    }

    /// A name, quoted or not, and where it stands.
    pub(super) fn name(&mut self) -> Parsed<(String, Range<usize>)> {
        let start = self.at;
        if self.peek() == Some('"') {
            let name = self.string()?;
            return Ok((name, start..self.at));
        }
        let word = self.word().map(|(word, span)| (word.to_owned(), span));
        word.ok_or_else(|| self.error(Problem::Expected("a name")))
    }

    /// A JSON string.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                self.pass(length);
                Ok(value)
            }
            _ => Err(ParseError::new(self.at..self.at + self.rest.len(), Problem::BadString)),
        }
    }

    /// The end of the line, which must be next.
    pub(super) fn end(&self) -> Parsed<()> {
        let span = self.at..self.at + self.rest.len();
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(ParseError::new(span, Problem::TrailingText))
        }
    }

    /// A problem with what is next.
    pub(super) fn error(&self, problem: Problem) -> ParseError {
        let length = self.peek().map_or(0, char::len_utf8);
        ParseError::new(self.at..self.at + length, problem)
    }

    fn pass(&mut self, length: usize) {
        let rest = &self.rest[length..];
        let trimmed = rest.trim_start();
        self.at += length + rest.len() - trimmed.len();
        self.rest = trimmed;
    }
}
