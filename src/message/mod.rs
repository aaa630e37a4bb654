//! Bodies cut into typed messages, as they arrive.
//!
//! A [`Decoder`] takes a body chunk by chunk and gives [`Message`]s: SSE events, lines of NDJSON, or
//! the elements of a JSON answer. The type of a message is its [`Tag`], told as its protocol does
//! ([`Protocols`]); the tags of one body in
//! order, with token deltas collapsed and keep-alives set aside, are its [`Trace`].
//!
//! # Example: what a stream says
//!
//! ```
//! use retape::message::{Decoder, Framing, Trace};
//!
//! let mut decoder = Decoder::new(Framing::EventStream);
//! let mut messages = decoder.push(b"data: {\"type\":\"delta\",\"index\":0}\n\n", 12);
//! messages.extend(decoder.push(b"data: {\"type\":\"delta\",\"index\":0}\n\ndata: [DO", 24));
//! messages.extend(decoder.push(b"NE]\n\n", 30));
//!
//! assert_eq!(Trace::of(&messages).to_string(), "delta+ [DONE]");
//! assert_eq!(messages[2].ms, 30);
//! ```

mod cut;
mod decoder;
mod framing;
mod from;
mod identity;
pub mod json;
mod learn;
pub mod ndjson;
mod protocols;
pub mod sse;
mod tag;
mod told;
mod trace;
pub mod websocket;

use std::ops::Range;

pub use cut::Messages;
pub use decoder::{Decoder, Left};
pub use framing::Framing;

pub use protocols::Protocols;
pub(crate) use protocols::keeps_alive;
pub use tag::Tag;
pub use told::Told;
pub use trace::{Step, Trace};

/// One typed thing cut from a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its type.
    pub tag: Tag,
    /// The name of the SSE event, if it was given one.
    pub event: Option<String>,
    /// What it says: the data of an SSE event, a line, an element's JSON text. Bytes that are not
    /// UTF-8 are replaced by U+FFFD.
    pub data: String,
    /// Where it stands in the body, in bytes.
    pub range: Range<usize>,
    /// The number of the chunk in which it was complete, counted from 0.
    pub chunk: usize,
    /// Milliseconds since the request arrived at which that chunk came.
    pub ms: u64,
}

impl Message {
    /// Whether it only says that the server is still there: a comment, a ping.
    pub fn is_keep_alive(&self) -> bool {
        self.tag.is_keep_alive()
    }
}
