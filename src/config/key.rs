//! The words that rules are written with.

use std::fmt;
use std::str::FromStr;

use crate::text::nearest;

/// A key of rules, in `retape.toml` and in a cassette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Repeats,
    Early,
    Headers,
    Ignore,
    Unordered,
    Ids,
    NotIds,
    Patterns,
}

impl Key {
    /// The words of all keys, in the order in which they are written.
    pub(crate) const WORDS: &'static [&'static str] =
        &["repeats", "early", "headers", "ignore", "unordered", "ids", "not-ids", "patterns"];

    const ALL: [Self; 8] = [
        Self::Repeats,
        Self::Early,
        Self::Headers,
        Self::Ignore,
        Self::Unordered,
        Self::Ids,
        Self::NotIds,
        Self::Patterns,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Whether a word stands below it, and no list.
    pub(crate) const fn is_of_a_word(self) -> bool {
        matches!(self, Self::Repeats | Self::Early)
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.as_str() == word)
    }
}

/// What it means to clients that an object which a server sends has a field that it did not have.
///
/// # Rationale
///
/// Most clients read the fields that they know, so servers add some with every release, and a report
/// that fails each time is soon ignored. A client that refuses what it does not know (pydantic's
/// `extra = "forbid"`, serde's `deny_unknown_fields`) is rare, and its authors know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NewFields {
    /// Clients read what they know.
    #[default]
    Compatible,
    /// There is a client that refuses what it does not know.
    Breaking,
}

impl NewFields {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Compatible, Self::Breaking];

    /// The word for it: `compatible` or `breaking`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compatible => "compatible",
            Self::Breaking => "breaking",
        }
    }
}

impl FromStr for NewFields {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str);
        let found = Self::ALL.into_iter().find(|it| it.as_str() == word);
        found.ok_or_else(|| nearest::hint(word, &known))
    }
}

impl fmt::Display for NewFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
