//! What is wrong with the text of an order, and where.

use std::fmt;
use std::ops::Range;

/// Everything that is wrong with the text of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseErrors {
    text: String,
    errors: Vec<ParseError>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What it is.
    pub problem: Problem,
    /// Where it stands in the text, in bytes.
    pub span: Range<usize>,
}

/// What can be wrong with the text of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Nothing stands where a tag or a group was expected.
    TagMissing,
    /// Characters that mean nothing here.
    Unexpected,
    /// A parenthesis that is opened and not closed.
    GroupOpen,
    /// A parenthesis that is closed and was not opened.
    GroupNotOpen,
    /// A guard without its closing bracket.
    GuardOpen,
    /// Something else than a path, `=` or `!=`, and a value.
    GuardMalformed,
    /// A quote that is opened and not closed, or an escape that JSON does not know.
    QuoteMalformed,
    /// Something else than `{m}`, `{m,}` or `{m,n}`.
    TimesMalformed,
    /// At least more often than at most, or never.
    TimesEmpty,
    /// More often than can be counted.
    TimesTooMany,
    /// A repetition with nothing before it.
    TimesOfNothing,
    /// A slice without its key.
    KeyMissing,
    /// A slice whose key no group follows.
    SliceWithoutGroup,
    /// A repetition right behind a slice: of the slice, or of what is in it?
    SliceRepeated,
    /// Groups in groups beyond measure.
    TooDeep,
    /// More states than are kept.
    TooLarge,
}

/// The largest number in a repetition.
pub(super) const MOST_TIMES: u32 = 1000;

/// How many groups may stand in one another.
pub(super) const DEEPEST: usize = 64;

impl ParseErrors {
    pub(super) fn new(text: &str, mut errors: Vec<ParseError>) -> Self {
        errors.sort_by_key(|error| (error.span.start, error.span.end));
        Self { text: text.to_owned(), errors }
    }

    pub(in crate::contract::order) fn too_large(text: &str) -> Self {
        Self::new(text, vec![ParseError { problem: Problem::TooLarge, span: 0..text.len() }])
    }

    /// What is wrong, in the order of the text; at least one.
    pub fn errors(&self) -> &[ParseError] {
        &self.errors
    }

    fn show(&self, error: &ParseError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = &self.text[..error.span.start];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        let number = before.matches('\n').count() + 1;
        let column = before[start..].chars().count();
        let marked = self.text[error.span.clone()].lines().next().unwrap_or_default();
        let (margin, carets) = (number.to_string(), "^".repeat(marked.chars().count().max(1)));
        writeln!(f, "{}", error.problem)?;
        writeln!(f, "  {margin} | {}", line.replace('\t', " "))?;
        write!(f, "  {:1$} | {2:3$}{carets}", "", margin.len(), "", column)?;
        match error.problem.hint() {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ParseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.errors.iter().enumerate() {
            f.write_str(if place > 0 { "\n" } else { "" })?;
            self.show(error, f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseErrors {}

impl Problem {
    /// What to do about it.
    pub fn hint(self) -> Option<&'static str> {
        Some(match self {
            Self::TagMissing => "`()` is no event at all, `_` is any event",
            Self::Unexpected => {
                "a tag with other signs than letters, digits and `. - _ /` is quoted"
            }
            Self::GuardMalformed => {
                "write `[path=\"text\"|\"other\"]` or `[path!=1, other=true]`, with a space before `[DONE]`"
            }
            Self::QuoteMalformed => "quotes and escapes are those of JSON",
            Self::TimesMalformed => "write `{2}`, `{2,}` or `{2,5}`",
            Self::TimesOfNothing => "a repetition stands behind a tag or a group",
            Self::KeyMissing | Self::SliceWithoutGroup => {
                "write `per step_id (…)`; the tag `per` itself is quoted"
            }
            Self::SliceRepeated => "write `(per key (…))*` or `per key ((…)*)`",
            Self::GroupOpen
            | Self::GroupNotOpen
            | Self::GuardOpen
            | Self::TimesEmpty
            | Self::TimesTooMany
            | Self::TooDeep
            | Self::TooLarge => return None,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TagMissing => f.write_str("a tag or a group is missing here"),
            Self::Unexpected => f.write_str("this means nothing in an order"),
            Self::GroupOpen => f.write_str("this group is not closed"),
            Self::GroupNotOpen => f.write_str("no group is open here"),
            Self::GuardOpen => f.write_str("this guard is not closed"),
            Self::GuardMalformed => f.write_str("this is no guard"),
            Self::QuoteMalformed => f.write_str("this is no quoted text"),
            Self::TimesMalformed => f.write_str("this is no repetition"),
            Self::TimesEmpty => f.write_str("nothing can be repeated so often"),
            Self::TimesTooMany => write!(f, "more than {MOST_TIMES} times cannot be counted"),
            Self::TimesOfNothing => f.write_str("there is nothing to repeat"),
            Self::KeyMissing => f.write_str("a slice needs a key"),
            Self::SliceWithoutGroup => f.write_str("a slice needs a group behind its key"),
            Self::SliceRepeated => f.write_str("this repeats the slice or what is in it"),
            Self::TooDeep => write!(f, "more than {DEEPEST} groups stand in one another"),
            Self::TooLarge => super::super::automaton::TooLarge.fmt(f),
        }
    }
}
