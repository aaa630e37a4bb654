//! Text of which a part may differ.

use std::borrow::Cow;

use regex::Regex;

use super::At;
use crate::error::{Error, Kind, Result};

/// A place and a regular expression: the parts of its text that match do not count, the rest does.
///
/// # Example: a date in a prompt
///
/// ```
/// use retape::rules::Pattern;
///
/// let pattern = Pattern::new("$.prompt".parse()?, r"\d{4}-\d\d-\d\d")?;
/// assert_eq!(pattern.left("Today is 2026-11-20, a Friday."), "Today is , a Friday.");
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    at: At,
    regex: Regex,
}

impl Pattern {
    /// A pattern for the text in a place.
    ///
    /// # Errors
    ///
    /// If `regex` is not a regular expression, or is empty.
    pub fn new(at: At, regex: &str) -> Result<Self> {
        let refused = |text: &str, why| Error::new(Kind::Rule { text: text.to_owned(), why });
        if regex.is_empty() {
            return Err(refused("regex", "is empty: it would match nothing"));
        }
        match Regex::new(regex) {
            Ok(regex) => Ok(Self { at, regex }),
            Err(error) => {
                Err(refused(regex, "is not a regular expression").because(last_line(&error)).with_hint(
                    "look-around and back-references are not known; `\\` is `\\\\` in a string in double quotes",
                ))
            }
        }
    }

    /// Where the text stands.
    pub fn at(&self) -> &At {
        &self.at
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// What counts of a text.
    pub fn left<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.regex.replace_all(text, "")
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

/// What is wrong, without the drawing above it.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
