//! Invariants as they are written.

use std::ops::Range;

use super::claim::{Invariant, Referred};
use super::field::{Field, Path, is_plain};
use crate::contract::syntax::{Cursor, ParseError, ParseErrors, lines, trimmed, unquoted};
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

type Parsed<T> = Result<T, ParseError>;

impl Invariant {
    /// Reads invariants with `;` or line feeds between them. `#` begins a comment.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, one error for an invariant at most.
    pub fn parse(text: &str) -> Result<Vec<Self>, ParseErrors> {
        Self::within(text, 0..text.len()).map_err(|errors| ParseErrors::new(text, errors))
    }

    /// The invariants that a part of a text says.
    pub(in crate::contract) fn within(
        text: &str,
        part: Range<usize>,
    ) -> Result<Vec<Self>, Vec<ParseError>> {
        let (mut read, mut errors) = (Vec::new(), Vec::new());
        for piece in lines(text, part).flat_map(|line| pieces(text, line)) {
            match (Parser { cursor: Cursor::new(text, piece) }).invariant() {
                Ok(invariant) => read.push(invariant),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(read) } else { Err(errors) }
    }
}

/// The invariants on a line.
fn pieces(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut start = line.start;
    let ends = unquoted(&text[line.clone()], b';').map(|at| line.start + at).chain([line.end]);
    let pieces = ends.map(|end| trimmed(text, std::mem::replace(&mut start, end + 1)..end));
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Where the reading is.
struct Parser<'t> {
    cursor: Cursor<'t>,
}

impl<'t> Parser<'t> {
    fn invariant(&mut self) -> Parsed<Invariant> {
        let field = self.field()?;
        self.cursor.eat(" ");
        let Some(verb) = VERBS.iter().find(|verb| self.cursor.eat(verb)) else {
            let hint = nearest::hint(self.cursor.rest(), &VERBS.map(str::trim_end));
            return Err(self.error("expected what holds of the field", &hint));
        };
        let invariant = match *verb {
            "constant" => Invariant::Constant(field),
            "increasing by 1" => Invariant::Counting(field),
            "increasing" => Invariant::Increasing(field),
            "not decreasing" => Invariant::NotDecreasing(field),
            "unique" => Invariant::Unique(field),
            "equals request." => {
                let path = self.steps().join(".");
                if path.is_empty() {
                    return Err(self.no_field());
                }
                Invariant::Echoes(field, Path::written(&path))
            }
            "refers to earlier " => Invariant::RefersEarlier(field, self.field()?),
            _ => {
                let to = self.field()?;
                let each = self.cursor.eat(", each by the end");
                Invariant::Refers(field, to, if each { Referred::Each } else { Referred::Some })
            }
        };
        if self.cursor.rest().trim().is_empty() {
            return Ok(invariant);
        }
        Err(self.error("expected the end", "`;` or a new line begins another one"))
    }

    fn field(&mut self) -> Parsed<Field> {
        let steps = self.steps();
        match steps.as_slice() {
            [] => Err(self.no_field()),
            [name] => Ok(Field { tag: None, path: Path::written(name) }),
            ["_", path @ ..] => Ok(Field { tag: None, path: Path::written(&path.join(".")) }),
            [tag, path @ ..] => {
                let tag = serde_json::from_str(tag).unwrap_or_else(|_| (*tag).to_owned());
                Ok(Field { tag: Some(tag), path: Path::written(&path.join(".")) })
            }
        }
    }

    /// Names with dots between them, as they are spelled, with the `[]` behind them.
    fn steps(&mut self) -> Vec<&'t str> {
        let mut steps = Vec::new();
        loop {
            let start = self.cursor.at;
            if self.cursor.eat_string().is_none() {
                self.cursor.eat_while(is_plain);
            }
            while self.cursor.eat("[]") {}
            if self.cursor.at == start {
                return steps;
            }
            steps.push(&self.cursor.text[start..self.cursor.at]);
            if !self.cursor.eat(".") {
                return steps;
            }
        }
    }

    fn no_field(&self) -> ParseError {
        self.error("expected a field", "a field is e.g. `run_id` or `stop_reason.reason`")
    }

    fn error(&self, what: &str, hint: &str) -> ParseError {
        ParseError::new(self.cursor.to_end(), what).with_hint(hint)
    }
}
