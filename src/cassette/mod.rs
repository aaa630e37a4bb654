//! What was recorded.
//!
//! A [`Cassette`] holds the [`Interaction`]s of one scenario exactly as they went over the wire:
//! bytes, chunk boundaries, repeated headers, and how each answer ended. [`mod@format`] writes it as a
//! text that reads well and gives the same bytes back.

mod append;
mod body;
pub(crate) mod calls;
pub mod coding;
pub(crate) mod exchanges;
#[cfg(feature = "import")]
pub mod foreign;
pub mod format;
mod frame;
mod headers;
mod ids;
mod interaction;
mod interactions;
pub(crate) mod large;
mod media;
mod name;
mod number;
mod place;
pub(crate) mod placeholder;
pub(crate) mod reading;
pub(crate) mod splice;
pub(crate) mod target;

pub(crate) use body::text;
pub use body::{Body, Chunk};
pub use format::FormatVersion;
pub use frame::{Content, Frame, Peer};
#[cfg(any(feature = "record", feature = "import"))]
pub(crate) use headers::HOP_BY_HOP;
pub use headers::Headers;
pub use ids::{Evidence, Id, Ids, Reach};
pub use interaction::{End, Interaction, Interim, Outcome, Progress, Request, Response};
pub(crate) use interactions::Interactions;
pub use large::{Large, Larges};
pub(crate) use media::Media;
pub use name::Name;
pub use number::{Number, Spots};
pub use place::Place;
pub use target::Origins;

use std::collections::BTreeMap;

use crate::config::Rules;

/// One scenario's recorded interactions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cassette {
    /// Where and when it was recorded.
    pub recorded: Recorded,
    /// The redaction rules that were applied before it was written, by name and version
    /// (`headers/1`). Replay applies the same ones to what comes in.
    pub redactions: Vec<String>,
    /// Whether the recorder was stopped before it had finished: the last interactions may be cut.
    pub interrupted: bool,
    /// What a person says about matching. It stays when the cassette is recorded again.
    pub rules: Rules,
    /// Which values in it are names; nothing in a cassette that is older than the table, or written by
    /// hand.
    pub ids: Option<Ids>,
    /// What was asked and answered, in the order in which the requests arrived.
    pub interactions: Vec<Interaction>,
    /// The bodies that are not held in memory. Nothing in a cassette that was loaded as a whole.
    pub larges: Larges,
    /// Where the interactions stand in the file, if each message over a WebSocket is one here. Nothing in a cassette
    /// that was loaded.
    pub spots: Spots,
}

/// Where and when a cassette was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recorded {
    /// The start of the recording, RFC 3339 in UTC to the second: `2026-11-20T10:00:00Z`.
    pub at: String,
    /// The server's address as the server itself would name it, with no user information:
    /// `http://127.0.0.1:8283`.
    pub upstream: String,
    /// Whether it was given to the recorder as `h2c://…`, which is HTTP/2 without TLS.
    pub h2c: bool,
    /// The other servers that have a name, with their addresses: `openai` is `https://api.openai.com`.
    pub origins: BTreeMap<String, String>,
    /// What the server says of itself in its `server` header, if it does.
    pub server: Option<String>,
    /// The tool that recorded it, if it was imported: `vcrpy`. Then nobody knows when each piece of an
    /// answer came, and how the network cut it.
    pub tool: Option<String>,
}
