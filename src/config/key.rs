//! The words that rules are written with.

use crate::error::{Error, Result};
use crate::text::nearest;
use crate::text::words::words;

/// Gives each variant of what somebody chooses its word.
macro_rules! choice {
    ($name:ident: $($variant:ident $word:literal),+) => {
        words!($name: $($variant $word),+);

        impl $name {
            /// What a word means below that key.
            pub(super) fn said(key: &'static str, word: &str) -> Result<Self> {
                Self::from_word(word).ok_or_else(|| {
                    Error::setting(key, word, &Self::WORDS.join(", "))
                        .with_hint(nearest::hint(word, Self::WORDS))
                })
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> std::result::Result<Self, String> {
                Self::from_word(word).ok_or_else(|| nearest::hint(word, Self::WORDS))
            }
        }
    };
}

/// A key of rules, in `retape.toml` and in a cassette. Of several that name the same place, the first
/// counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Compare,
    Repeats,
    Early,
    Pace,
    Headers,
    Ignore,
    Patterns,
    Unordered,
    Ids,
    NotIds,
    Optional,
}

words!(Key: Compare "compare", Repeats "repeats", Early "early", Pace "pace", Headers "headers",
    Ignore "ignore", Patterns "patterns", Unordered "unordered", Ids "ids", NotIds "not-ids",
    Optional "optional");

impl Key {
    /// Whether a word stands below it, and no list.
    pub(crate) const fn is_of_a_word(self) -> bool {
        matches!(self, Self::Compare | Self::Repeats | Self::Early | Self::Pace)
    }

    /// Whether it says what is an identifier and what is not.
    pub(super) const fn is_of_ids(self) -> bool {
        matches!(self, Self::Ids | Self::NotIds)
    }
}

/// Which parts of a request count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compare {
    /// All that means something: also the body, and some fields of the header.
    #[default]
    All,
    /// The method, the server, the path and the query alone: as vcrpy compares if nothing is said.
    Path,
}

choice!(Compare: All "all", Path "path");

/// How often an answer may be given in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Repeats {
    /// Requests that look the same are answered in recorded order; when all of them were, the last
    /// answer stays.
    #[default]
    Allowed,
    /// Each recorded answer is given once.
    Once,
    /// Each recorded answer is given once, and in the order of the whole cassette.
    Strict,
}

choice!(Repeats: Allowed "allowed", Once "once", Strict "strict");

/// What becomes of a question (`GET`, `HEAD`, `OPTIONS`) about one thing, of which only an answer was
/// recorded that shows what a write has changed, before that write was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Early {
    /// It is a miss: what was recorded is not true yet.
    #[default]
    Missed,
    /// It is given that answer: for clients that leave out what they did when they were recorded.
    Given,
}

choice!(Early: Missed "missed", Given "given");

/// When the parts of a recorded answer come, where no [`Pace`](crate::Pace) is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Timing {
    /// Without waiting.
    #[default]
    Instant,
    /// When they came: for clients that do something else if what they hear comes at once.
    Recorded,
}

choice!(Timing: Instant "instant", Recorded "recorded");

/// What it means to clients that an object which a server sends has a field that it did not have.
///
/// # Rationale
///
/// Most clients read the fields that they know, so servers add some with every release, and a report
/// that fails each time is soon ignored. A client that refuses what it does not know (pydantic's
/// `extra = "forbid"`, serde's `deny_unknown_fields`) is rare, and its authors know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NewFields {
    /// Clients read what they know.
    #[default]
    Compatible,
    /// There is a client that refuses what it does not know.
    Breaking,
}

choice!(NewFields: Compatible "compatible", Breaking "breaking");
