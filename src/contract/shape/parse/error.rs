//! What is wrong with a text, where, and what would be right.

use std::fmt;
use std::ops::Range;

use crate::contract::shape::Format;
use crate::text::nearest;

/// Everything that is wrong with the text of a [`Schema`](crate::contract::shape::Schema), in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseErrors(pub Vec<ParseError>);

/// Something that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What.
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// There is no type.
    Empty,
    /// A type should begin here.
    NoType,
    /// This should stand here: what.
    Expected(&'static str),
    /// No type has this name.
    UnknownType(String),
    /// A string does not end, or has an escape that JSON does not know.
    BadString,
    /// The text goes on where the type has ended.
    TrailingText,
    /// An array, or an object, stands twice among the alternatives: which.
    Twice(&'static str),
    /// Two words on one line want the lines below.
    TwoBlocks,
    /// Nothing on the line before wants these lines.
    LooseBlock,
    /// A line stands between two levels.
    Indentation,
    /// A field or a branch of this name is there already.
    Repeated(String),
    /// A branch speaks of the field that tells the branches apart.
    TagInBranch(String),
    /// The names in a map are no strings.
    NameNotString,
    /// Types within types within types.
    TooDeep,
}

impl ParseError {
    pub(super) fn new(span: Range<usize>, problem: Problem) -> Self {
        Self { span, problem }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match &self.problem {
            Problem::UnknownType(word) => {
                let known: Vec<&str> = words().collect();
                nearest::hint(word, &known)
            }
            Problem::Empty => "a type is e.g. `string | null`, or `object` above its fields".into(),
            Problem::NoType => "a type is e.g. `string | null` or `[integer]`".into(),
            Problem::Twice(_) => "say it once, with all that it may hold".into(),
            Problem::TwoBlocks => {
                "write the fields between braces: `{name: string} | [{name: string}]`".into()
            }
            Problem::LooseBlock => "end the line above in `object` or `by` and a field".into(),
            Problem::Indentation => "fields of one object begin in one column".into(),
            Problem::TagInBranch(_) => "leave the line out: the branch's name says it".into(),
            Problem::BadString => "strings are written as in JSON: `\"a\\nb\"`".into(),
            Problem::NameNotString => "e.g. `map<string, integer>` or `map<uuid, integer>`".into(),
            Problem::TooDeep => "say `any` where it is as deep as that".into(),
            Problem::Repeated(_) | Problem::Expected(_) | Problem::TrailingText => return None,
        })
    }
}

/// The words that are types.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let plain =
        ["any", "never", "null", "boolean", "integer", "number", "string", "object", "map", "by"];
    plain.into_iter().chain(Format::NAMED.into_iter().map(|(_, name)| name))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no type"),
            Self::NoType => f.write_str("expected a type"),
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::UnknownType(word) => write!(f, "no type is called `{word}`"),
            Self::BadString => f.write_str("not a JSON string"),
            Self::TrailingText => f.write_str("expected the end of the line"),
            Self::Twice(what) => write!(f, "{what} twice among alternatives"),
            Self::TwoBlocks => f.write_str("a second object with its fields on the lines below"),
            Self::LooseBlock => f.write_str("fields without an object"),
            Self::Indentation => f.write_str("a line between two levels"),
            Self::Repeated(name) => write!(f, "`{name}` a second time"),
            Self::TagInBranch(tag) => write!(f, "`{tag}` within a branch that it tells"),
            Self::NameNotString => f.write_str("names that are no strings"),
            Self::TooDeep => f.write_str("types nested too deep"),
        }
    }
}

impl fmt::Display for ParseError {
    /// What is wrong, with the bytes where it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}..{}", self.problem, self.span.start, self.span.end)
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseErrors {
    /// A line for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseErrors {}
