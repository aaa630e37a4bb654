//! Text of which a part may differ.

use std::borrow::Cow;

use regex::Regex;

use super::At;
use crate::error::{Error, Result};

/// A place and regular expressions: the parts of its text that match one do not count, the rest does.
///
/// # Example: a date in a prompt
///
/// ```
/// use retape::config::Pattern;
///
/// let pattern = Pattern::new("$.prompt".parse()?, r"\d{4}-\d\d-\d\d")?;
/// assert_eq!(pattern.left("Today is 2026-11-20, a Friday."), "Today is , a Friday.");
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    at: At,
    /// One, or more if rules from several sources name the same place.
    regexes: Vec<Regex>,
}

impl Pattern {
    /// A pattern for the text in a place.
    ///
    /// # Errors
    ///
    /// If `regex` is not a regular expression, or is empty.
    pub fn new(at: At, regex: &str) -> Result<Self> {
        Ok(Self { at, regexes: vec![parsed(regex)?] })
    }

    /// Where the text stands.
    pub fn at(&self) -> &At {
        &self.at
    }

    /// The expressions as they were written.
    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        self.regexes.iter().map(Regex::as_str)
    }

    /// What counts of a text.
    pub fn left<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.regexes.iter().fold(Cow::Borrowed(text), |left, regex| {
            match regex.replace_all(&left, "") {
                Cow::Borrowed(_) => left,
                Cow::Owned(less) => Cow::Owned(less),
            }
        })
    }

    /// Leaves out what the expressions of another pattern for the same place match as well.
    pub(super) fn join(&mut self, other: Self) {
        self.regexes.extend(other.regexes);
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.expressions().eq(other.expressions())
    }
}

impl Eq for Pattern {}

fn parsed(regex: &str) -> Result<Regex> {
    if regex.is_empty() {
        return Err(Error::rule("regex", "is empty: it would match nothing"));
    }
    Regex::new(regex).map_err(|error| {
        Error::rule(regex, "is not a regular expression").because(last_line(&error)).with_hint(
            "look-around and back-references are not known; `\\` is `\\\\` in a string in double quotes",
        )
    })
}

/// What is wrong, without the drawing above it.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
