//! What the languages of a contract are read with.

use std::fmt;
use std::ops::Range;

/// Something that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What is wrong with a text, in order: the first things, if they are many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseErrors {
    text: String,
    pub(super) errors: Vec<ParseError>,
}

/// More errors than these nobody reads.
const MOST: usize = 20;

/// A place in a text, and what can be read there.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl ParseError {
    pub(super) fn new(span: Range<usize>, what: impl Into<String>) -> Self {
        Self { span, what: what.into(), hint: None }
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl ParseErrors {
    pub(super) fn new(text: &str, mut errors: Vec<ParseError>) -> Self {
        errors.sort_by_key(|error| (error.span.start, error.span.end));
        errors.truncate(MOST);
        Self { text: text.to_owned(), errors }
    }

    /// What is wrong; at least one.
    pub fn errors(&self) -> &[ParseError] {
        &self.errors
    }
}

/// The line and the column of a place in a text, counted from 1.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

impl fmt::Display for ParseErrors {
    /// Each with its line, a mark below it, and a hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, ParseError { span, what, hint }) in self.errors.iter().enumerate() {
            let (number, column) = line_and_column(&self.text, span.start);
            let line = self.text.lines().nth(number - 1).unwrap_or_default();
            let marked = self.text[span.clone()].lines().next().unwrap_or_default();
            let carets = "^".repeat(marked.chars().count().max(1));
            let margin = number.to_string();
            f.write_str(if place > 0 { "\n" } else { "" })?;
            writeln!(f, "{what}")?;
            writeln!(f, "  {margin} | {}", line.replace('\t', " "))?;
            write!(f, "  {:1$} | {2:3$}{carets}", "", margin.len(), "", column - 1)?;
            if let Some(hint) = hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ParseErrors {}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, within: Range<usize>) -> Self {
        Self { text: &text[..within.end], at: within.start }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The character at hand.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes on behind what is expected, if that stands here.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let eaten = self.rest().starts_with(expected);
        self.at += if eaten { expected.len() } else { 0 };
        eaten
    }

    /// Goes on over characters.
    pub(super) fn eat_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    pub(super) fn eat_space(&mut self) {
        self.eat_while(char::is_whitespace);
    }

    /// Goes on behind a JSON string, if one stands here.
    pub(super) fn eat_string(&mut self) -> Option<String> {
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        let value = values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(value)
    }

    /// The character at hand, or the end.
    pub(super) fn here(&self) -> Range<usize> {
        self.at..self.at + self.peek().map_or(0, char::len_utf8)
    }

    /// Up to the end.
    pub(super) fn to_end(&self) -> Range<usize> {
        self.at..self.text.len()
    }
}

/// Writes a name: as it is where it is plain, else as a JSON string.
pub(super) fn write_name(out: &mut impl fmt::Write, name: &str, is_plain: bool) -> fmt::Result {
    if is_plain { out.write_str(name) } else { write!(out, "{}", serde_json::Value::from(name)) }
}

/// The lines within a part of a text that say something, without their comments and what stands around
/// them.
pub(super) fn lines(text: &str, within: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = within.start;
    text[within].split_inclusive('\n').filter_map(move |line| {
        let content = line.len().min(unquoted(line, b'#').next().unwrap_or(line.len()));
        let content = start..start + content;
        start += line.len();
        let content = trimmed(text, content);
        (!content.is_empty()).then_some(content)
    })
}

/// A part of a text without the white space around it.
pub(super) fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let inner = &text[part.clone()];
    let start = part.start + inner.len() - inner.trim_start().len();
    start..start + inner.trim().len()
}

/// Where a byte stands in a line outside of JSON strings.
pub(super) fn unquoted(line: &str, wanted: u8) -> impl Iterator<Item = usize> {
    let (mut quoted, mut escaped) = (false, false);
    line.bytes().enumerate().filter_map(move |(at, byte)| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => return (byte == wanted && !quoted).then_some(at),
        }
        None
    })
}
