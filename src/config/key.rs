//! The words that rules are written with.

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
