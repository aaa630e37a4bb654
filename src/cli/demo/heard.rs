//! An answer as the client heard it.

use bytes::Bytes;

/// An answer as the client heard it: all of what came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heard {
    /// What had been asked: method and path.
    pub(super) asked: String,
    pub(super) status: u16,
    pub(super) body: Bytes,
    /// How many events there were in it.
    pub(super) events: usize,
}

/// Why a client could not go on.
#[derive(Debug)]
pub(super) enum Broken {
    /// No answer, or not all of one.
    Transport { asked: String, source: Box<dyn std::error::Error + Send + Sync> },
    /// An answer of another status than the one that was to come.
    Status(Heard),
    /// Something is not in the answer: what.
    Missing { asked: String, what: &'static str },
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Transport { asked, source } => write!(f, "`{asked}`: {source}"),
            Self::Status(heard) => {
                let said = String::from_utf8_lossy(&heard.body);
                write!(f, "`{}` was answered with {}: {said}", heard.asked, heard.status)
            }
            Self::Missing { asked, what } => write!(f, "the answer to `{asked}` has no {what}"),
        }
    }
}
