//! How something is recorded, and what a recording came to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use crate::cassette::Origins;
use crate::cassette::{Body, Cassette, Chunk, Headers, Interaction, Name, Outcome, Request};
use crate::redact::Suspect;

/// How long the recorder waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the head of an answer, and between two pieces of its body.
    pub silence: Duration,
    /// For the rest of an answer after the client has left.
    pub grace: Duration,
    /// For the rest of a request that the server does not wait for.
    pub rest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let (silence, rest) = (Duration::from_secs(300), Duration::from_secs(5));
        // A server is to see soon that its client has left, as it would without us: it stops what was asked for, or lets
        // the client listen again. What is on its way by then is read.
        Self { silence, grace: Duration::from_millis(250), rest }
    }
}

/// In which words a cassette is written that takes the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wording {
    /// In those of the other: identifiers and times stay where nothing else has changed.
    #[default]
    AsBefore,
    /// In those of the server.
    Fresh,
}

/// What a test runner makes of an interaction before it is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is not kept.
    Drop,
    /// What was asked, what was answered, or both is another one.
    To {
        /// What was asked, if that changes.
        request: Option<Request>,
        /// Status, header fields and body of the answer, if that changes.
        response: Option<(u16, Headers, Bytes)>,
    },
}

impl Change {
    /// The interaction as it is to be kept.
    pub fn applied(&self, mut interaction: Interaction) -> Option<Interaction> {
        let Self::To { request, response } = self else { return None };
        if let Some(request) = request {
            interaction.request = request.clone();
        }
        if let (Some((status, headers, bytes)), Outcome::Response(old)) =
            (response, &mut interaction.outcome)
        {
            old.status = *status;
            old.headers = headers.clone();
            if old.body.bytes() != *bytes {
                let ms = old.body.chunks().last().map_or(old.ms, |chunk| chunk.ms);
                if old.headers.contains("content-length") {
                    old.headers.set("content-length", bytes.len().to_string());
                }
                let chunk = Chunk { ms, bytes: bytes.clone() };
                old.body = Body::of_arrival(&old.headers, vec![chunk]);
            }
        }
        Some(interaction)
    }
}

/// What a recording came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The folder of cassettes.
    pub folder: PathBuf,
    /// The name of the cassette.
    pub name: Name,
    /// The file that was written, if anything was recorded.
    pub path: Option<PathBuf>,
    /// As what it was saved.
    pub saved: Saved,
    /// The name under which it was saved: that of the cassette, or another beside it.
    pub saved_name: Name,
    /// How many interactions were recorded now; those that were there before do not count.
    pub interactions: usize,
    /// What is left of the cassette whose place it takes; nothing if it takes no other's place, or
    /// was not told in its words.
    pub kept: Option<Kept>,
    /// The header fields that count from now on, as they carry what the server issued.
    pub carriers: Vec<String>,
    /// It in the words of the server, if it was told in those of another and needs no file beside it for that.
    pub(crate) afresh: Option<Arc<Cassette>>,
    /// How many of them the server answered.
    pub answered: usize,
    /// How many requests never came to an end and are not in it.
    pub dropped: usize,
    /// Why the server did not answer the first request that it did not answer.
    pub fault: Option<String>,
    /// A request that says the path of the server's address once more, and was answered 404.
    pub doubled: Option<String>,
    /// A request whose answer leads to another server, and that server: what its client asks there is not recorded.
    pub leads_past: Option<(String, String)>,
    /// What in it may be a secret, and was not replaced.
    pub suspects: Vec<Suspect>,
    /// What was not replaced though a rule of this release knows it, and who says so.
    pub weakened: Vec<String>,
}

/// What is left of a cassette that was recorded anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// How many interactions are, word for word, as they were.
    pub interactions: usize,
    /// How many are not there any more.
    pub gone: usize,
    /// Whether the whole cassette is, with their order.
    pub is_whole: bool,
}

/// As what a recording was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Saved {
    /// As the cassette, in the place of an earlier one.
    Cassette,
    /// As `NAME.unanswered`, because the server did not answer a single request, or because one that had answered
    /// when the cassette was recorded answers nothing but errors of its own, or is gone in the end. What a client does
    /// then may be worth a test, but is not to be taken for what the server says.
    Unanswered,
    /// As `NAME.failed`, or `NAME.failed-2` and so on, because it was broken off and there is a cassette, which stays,
    /// or because the test that recorded has failed.
    Failed,
}

/// How what is recorded came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// As it was meant to.
    Whole,
    /// The client failed, or was not waited for.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command has a client"))]
    BrokenOff,
    /// The one test that recorded has failed, or did not say how it went. It is kept, but makes no cassette, not even
    /// a first one: the next run would replay what may have ended in the middle.
    Failed,
    /// A test has failed, and nothing of it is to be kept.
    Discarded,
}

impl Recording {
    /// Whether the server that was named never answered, or failed where it had answered before. A client that did not
    /// wait for it does not count.
    pub fn is_unheard(&self) -> bool {
        self.saved == Saved::Unanswered
    }
}
