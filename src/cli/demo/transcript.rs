//! What a client saw of a conversation.

use std::time::Duration;

use super::heard::Heard;

/// What a client saw of a conversation, and what it had made up for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transcript {
    /// The random name of its agent.
    pub(super) name: String,
    /// The secret that it sent.
    pub(super) key: String,
    /// The agent's id; the server made it up.
    pub(super) agent: String,
    /// All that was printed, with whole ids.
    pub(super) printed: String,
    /// All that was answered.
    pub(super) heard: Vec<Heard>,
    pub(super) took: Duration,
}

impl Transcript {
    pub(super) fn events(&self) -> usize {
        self.heard.iter().map(|heard| heard.events).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.heard.iter().map(|heard| heard.body.len()).sum()
    }
}
