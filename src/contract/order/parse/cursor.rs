//! A place in the text of an order, and what can be read there.

use std::ops::Range;

use super::error::{ParseError, Problem};
use crate::contract::order::text::is_bare;

/// Reads the text from left to right and gathers what is wrong with it.
pub(super) struct Cursor<'t> {
    pub text: &'t str,
    pub at: usize,
    pub errors: Vec<ParseError>,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, errors: Vec::new() }
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The character at hand.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes on behind a sign if it stands here.
    pub fn take(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(sign);
        if found {
            self.at += sign.len_utf8();
        }
        found
    }

    /// Goes on to what is neither white space nor a comment.
    pub fn skip_space(&mut self) {
        loop {
            self.skip_while(char::is_whitespace);
            if self.peek() != Some('#') {
                return;
            }
            self.skip_while(|character| character != '\n');
        }
    }

    /// Goes on over characters and gives where they stand.
    pub fn skip_while(&mut self, belongs: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        start..self.at
    }

    /// A word without quotes, empty if none stands here.
    pub fn bare(&mut self) -> &'t str {
        let span = self.skip_while(is_bare);
        &self.text[span]
    }

    /// A name, bare or in quotes. What is wrong with the quotes is gathered, and what stands between
    /// them is the name then.
    pub fn name(&mut self) -> Option<String> {
        if self.peek() == Some('"') {
            return Some(self.quoted());
        }
        Some(self.bare()).filter(|word| !word.is_empty()).map(str::to_owned)
    }

    /// The text of a JSON string that begins here.
    pub fn quoted(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        let closed = self.rest().char_indices().find(|(_, character)| {
            let closes = *character == '"' && !escaped;
            escaped = *character == '\\' && !escaped;
            closes || *character == '\n'
        });
        let (end, closes) = match closed {
            Some((at, '"')) => (self.at + at + 1, true),
            Some((at, _)) => (self.at + at, false),
            None => (self.text.len(), false),
        };
        self.at = end;
        let raw = &self.text[start..end];
        match serde_json::from_str(raw) {
            Ok(text) if closes => text,
            _ => {
                self.wrong(Problem::QuoteMalformed, start..end);
                raw.trim_matches('"').to_owned()
            }
        }
    }

    pub fn wrong(&mut self, problem: Problem, span: Range<usize>) {
        self.errors.push(ParseError { problem, span });
    }

    /// Something is wrong with the character at hand, or with the end.
    pub fn wrong_here(&mut self, problem: Problem) {
        let length = self.peek().map_or(0, char::len_utf8);
        self.wrong(problem, self.at..self.at + length);
    }
}
