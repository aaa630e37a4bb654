//! From text to a promise.
//!
//! ```text
//! type        = alternative *( "|" alternative )          "…" among them: other strings may come
//! alternative = "any" / "never" / "null" / "boolean" / "integer" / "number" / "string"
//!             / "uuid" / "date-time" / "date" / "uri" / "integer-string" / "Id" / "Id<" name ">"
//!             / JSON string / "[" [ type ] "]" / "map<" type "," type ">" / "(" type ")"
//!             / "object" / "by" name                      with a line below for each field or branch
//!             / "{" fields "}" / "by" name "{" branches "}"
//! field       = name [ "?" ] ":" type / "[" type "]:" type / "…"
//! branch      = name / name "by" name / "…"
//! ```
//!
//! A name is written plainly or as a JSON string; `#` begins a comment.

mod block;
mod cursor;
mod error;
mod expression;
mod lines;

use cursor::Cursor;
pub use error::{ParseError, ParseErrors, Problem};
use expression::Below;

use super::schema::Schema;

/// What is wrong so far, and within how many types the reading is.
#[derive(Debug, Default)]
struct Parser {
    errors: Vec<ParseError>,
    depth: usize,
}

impl Schema {
    /// Reads what [`Display`](std::fmt::Display) writes, or a person.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, line by line.
    pub fn parse(text: &str) -> Result<Self, ParseErrors> {
        let mut parser = Parser::default();
        let lines = lines::lines(text, &mut parser.errors);
        let schema = parser.root(&lines, text.len());
        let mut errors = parser.errors;
        errors.sort_by_key(|error| error.span.start);
        schema.filter(|_| errors.is_empty()).ok_or(ParseErrors(errors))
    }
}

impl std::str::FromStr for Schema {
    type Err = ParseErrors;

    fn from_str(text: &str) -> Result<Self, ParseErrors> {
        Self::parse(text)
    }
}

impl Parser {
    fn root(&mut self, lines: &[lines::Line<'_>], end: usize) -> Option<Schema> {
        let Some((first, others)) = lines.split_first() else {
            self.errors.push(ParseError::new(end..end, Problem::Empty));
            return None;
        };
        let loose = others.first();
        self.errors.extend(loose.map(|line| ParseError::new(line.span(), Problem::LooseBlock)));
        let mut below = Below::of(&first.below);
        let mut cursor = Cursor::new(first.text, first.start);
        let parsed = self.expression(&mut cursor, &mut below);
        let ended = parsed.and_then(|schema| {
            cursor.end()?;
            block::all_taken(&below)?;
            Ok(schema)
        });
        ended.map_err(|error| self.errors.push(error)).ok()
    }
}
