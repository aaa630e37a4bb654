//! What happens while a session runs.

use std::path::PathBuf;

use serde_json::json;

use crate::store::Recovered;

/// Something that the person who runs a session wants to know at once.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A request that nothing recorded answers.
    Miss(Miss),
    /// A request of a kind that cannot be recorded; it did not reach the server.
    Unrecorded(Miss),
    /// A recorder had been killed; what it had written was saved.
    Rescued {
        /// Where it is now.
        path: PathBuf,
        /// How many interactions it holds.
        interactions: usize,
        /// How many of them were cut in the middle.
        cut: usize,
        /// How many requests had arrived in part only.
        unasked: usize,
    },
    /// A recorder was killed; what it had written is still in its journal.
    Unfinished {
        /// The journal.
        journal: PathBuf,
        /// How many interactions it holds.
        interactions: usize,
        /// How many of them were cut in the middle.
        cut: usize,
    },
}

/// A request that nothing recorded answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The session as its prefix names it; empty for the default one.
    pub session: String,
    /// The cassette.
    pub cassette: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// What was asked for.
    pub path: String,
    /// Why nothing answers it, in several lines.
    pub explanation: String,
}

impl Event {
    /// What a killed recorder had written is in that file now.
    pub(crate) fn rescued(left: &Recovered, path: PathBuf) -> Self {
        Self::Rescued {
            path,
            interactions: left.cassette.interactions.len(),
            cut: left.cut,
            unasked: left.unasked,
        }
    }
}

impl Miss {
    pub(super) fn to_json(&self) -> serde_json::Value {
        json!({
            "session": self.session,
            "cassette": self.cassette,
            "method": self.method,
            "path": self.path,
            "explanation": self.explanation,
        })
    }
}
