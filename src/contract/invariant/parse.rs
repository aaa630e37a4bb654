//! Invariants as they are written.

use std::fmt;
use std::ops::Range;

use super::claim::{Invariant, Referred};
use super::field::{Field, Path, is_plain};
use crate::text::nearest;

/// What can hold, as it is written.
const VERBS: [&str; 8] = [
    "constant",
    "increasing by 1",
    "increasing",
    "not decreasing",
    "unique",
    "equals request.",
    "refers to earlier ",
    "refers to ",
];

/// Something that is wrong with the text of an invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What.
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A field should stand here.
    NoField,
    /// What holds of the field should stand here.
    NoClaim,
    /// The text goes on where the invariant has ended.
    TrailingText,
}

impl ParseError {
    /// What to do about it; `text` is what was read.
    pub fn hint(&self, text: &str) -> Option<String> {
        match self.problem {
            Problem::NoField => Some("a field is e.g. `run_id` or `stop_reason.reason`".to_owned()),
            Problem::NoClaim => {
                Some(nearest::hint(text.get(self.span.clone())?, &VERBS.map(str::trim_end)))
            }
            Problem::TrailingText => Some("`;` or a new line begins another one".to_owned()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoField => "expected a field",
            Self::NoClaim => "expected what holds of the field",
            Self::TrailingText => "expected the end",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}..{}", self.problem, self.span.start, self.span.end)
    }
}

impl std::error::Error for ParseError {}

impl Invariant {
    /// Reads invariants with `;` or line feeds between them. `#` begins a comment.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, one error for an invariant at most.
    pub fn parse(text: &str) -> Result<Vec<Self>, Vec<ParseError>> {
        let mut read = Vec::new();
        let mut errors = Vec::new();
        for span in pieces(text) {
            let mut reader = Reader { text: &text[..span.end], at: span.start };
            match reader.invariant() {
                Ok(invariant) => read.push(invariant),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(read) } else { Err(errors) }
    }
}

/// The invariants without what stands around them.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut quoted, mut escaped, mut comment) = (0, false, false, false);
    for (at, byte) in text.bytes().chain([b'\n']).enumerate() {
        let ends = byte == b'\n' || (!quoted && matches!(byte, b';' | b'#'));
        if ends && !comment {
            pieces.push(start..at);
        }
        match byte {
            b'\n' => (quoted, escaped, comment) = (false, false, false),
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'#' if !quoted => comment = true,
            _ => {}
        }
        start = if ends { at + 1 } else { start };
    }
    let trimmed = pieces.into_iter().map(|piece| {
        let inner = &text[piece.clone()];
        let start = piece.start + inner.len() - inner.trim_start().len();
        start..start + inner.trim().len()
    });
    trimmed.filter(|piece| !piece.is_empty()).collect()
}

/// Where the reading is.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn invariant(&mut self) -> Result<Invariant, ParseError> {
        let field = self.field()?;
        self.eat(" ");
        let verb = VERBS.iter().find(|verb| self.eat(verb));
        let invariant = match verb.copied().ok_or_else(|| self.error(Problem::NoClaim))? {
            "constant" => Invariant::Constant(field),
            "increasing by 1" => Invariant::Counting(field),
            "increasing" => Invariant::Increasing(field),
            "not decreasing" => Invariant::NotDecreasing(field),
            "unique" => Invariant::Unique(field),
            "equals request." => {
                let path = self.steps().join(".");
                match path.is_empty() {
                    true => return Err(self.error(Problem::NoField)),
                    false => Invariant::Echoes(field, Path::written(&path)),
                }
            }
            "refers to earlier " => Invariant::RefersEarlier(field, self.field()?),
            _ => {
                let to = self.field()?;
                let each = self.eat(", each by the end");
                Invariant::Refers(field, to, if each { Referred::Each } else { Referred::Some })
            }
        };
        match self.rest().trim().is_empty() {
            true => Ok(invariant),
            false => Err(self.error(Problem::TrailingText)),
        }
    }

    fn field(&mut self) -> Result<Field, ParseError> {
        let steps = self.steps();
        match steps.as_slice() {
            [] => Err(self.error(Problem::NoField)),
            [name] => Ok(Field { tag: None, path: Path::written(name) }),
            ["_", path @ ..] => Ok(Field { tag: None, path: Path::written(&path.join(".")) }),
            [tag, path @ ..] => {
                let tag = serde_json::from_str(tag).unwrap_or_else(|_| (*tag).to_owned());
                Ok(Field { tag: Some(tag), path: Path::written(&path.join(".")) })
            }
        }
    }

    /// Names with dots between them, as they are spelled.
    fn steps(&mut self) -> Vec<&'t str> {
        let mut steps = Vec::new();
        loop {
            let length = step(self.rest());
            if length == 0 {
                return steps;
            }
            steps.push(&self.text[self.at..self.at + length]);
            self.at += length;
            if !self.eat(".") {
                return steps;
            }
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn eat(&mut self, expected: &str) -> bool {
        let eaten = self.rest().starts_with(expected);
        self.at += if eaten { expected.len() } else { 0 };
        eaten
    }

    fn error(&self, problem: Problem) -> ParseError {
        ParseError { span: self.at..self.text.len(), problem }
    }
}

/// The length of a name, quoted or not, with the `[]` behind it.
fn step(text: &str) -> usize {
    let name = match text.starts_with('"') {
        true => {
            let mut names = serde_json::Deserializer::from_str(text).into_iter::<String>();
            if matches!(names.next(), Some(Ok(_))) { names.byte_offset() } else { 0 }
        }
        false => text.find(|char| !is_plain(char)).unwrap_or(text.len()),
    };
    let mut end = name;
    while text[end..].starts_with("[]") {
        end += 2;
    }
    end
}
