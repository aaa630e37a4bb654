//! Bodies cut into typed messages, as they arrive.
//!
//! A [`Decoder`] takes a body chunk by chunk and gives [`Message`]s: SSE events, lines of NDJSON,
//! messages of Amazon's event streams, or the elements of a JSON answer. The type of a message is its [`Tag`], told as its protocol does
//! ([`Protocols`]); the tags of one body in
//! order, with token deltas collapsed and keep-alives set aside, are its [`Trace`].
//!
//! # Example: what a stream says
//!
//! ```
//! use retape::message::{Decoder, Framing, Protocols, Trace};
//!
//! let mut decoder = Decoder::new(Framing::EventStream, Protocols::default());
//! let mut messages = decoder.push(b"data: {\"type\":\"delta\",\"index\":0}\n\n", 12);
//! messages.extend(decoder.push(b"data: {\"type\":\"delta\",\"index\":0}\n\ndata: [DO", 24));
//! messages.extend(decoder.push(b"NE]\n\n", 30));
//!
//! assert_eq!(Trace::of(&messages, &Protocols::default()).to_string(), "delta+ [DONE]");
//! assert_eq!(messages[2].ms, 30);
//! ```

pub mod amazon;
mod body;
pub mod json;
mod learn;
pub(crate) mod lines;
pub mod ndjson;
pub(crate) mod posts;
mod protocols;
pub mod sse;
mod tag;
pub(crate) mod telling;
mod trace;

#[cfg(feature = "review")]
use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

pub(crate) use body::CLOSE;
pub use body::{Decoder, Framing, Left, Messages};
pub use protocols::Protocols;
pub(crate) use protocols::{DONE, NO_EVENT, UNNAMED, keeps_alive};
#[cfg(feature = "review")]
pub(crate) use tag::TEXT;
pub use tag::{Tag, TagSource};
pub use trace::{Step, Trace};

use crate::text::json::Text;

/// One typed thing cut from a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its type.
    pub tag: Tag,
    /// The name of the SSE event, or the type of a message of Amazon's, if it was given one.
    pub event: Option<String>,
    /// Whether the SSE stream has given an `id` by then, from which a client can resume it.
    pub has_id: bool,
    /// What it says: the data of an SSE event, a line, an element's JSON text. Bytes that are not
    /// UTF-8 are replaced by U+FFFD.
    pub data: String,
    /// Whether that is JSON.
    pub is_json: bool,
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

    /// Whether it is a piece of something: it is called so, and does not only say what came of something, as
    /// `message_delta` of Anthropic's does.
    pub(crate) fn is_piece(&self) -> bool {
        self.tag.names_piece() && !self.json().is_some_and(is_only_outcome)
    }

    /// What it says, if that is JSON.
    pub(crate) fn json(&self) -> Option<Text<'_>> {
        // It was read when the message was cut.
        self.is_json.then(|| Text::known(&self.data))
    }

    /// What it says, as JSON: the text of an event that has a name is a string. Text without one has no type, so that
    /// nothing can be said of it but that.
    #[cfg(feature = "review")]
    pub(crate) fn said(&self) -> Option<Cow<'_, str>> {
        let is_text = || self.event.is_some() && !self.is_keep_alive() && self.data.trim() != DONE;
        match self.is_json {
            true => Some(self.data.as_str().into()),
            false => is_text().then(|| Value::from(self.data.as_str()).to_string().into()),
        }
    }

    fn new(tag: Tag, data: String, is_json: bool) -> Self {
        Self { tag, event: None, has_id: false, data, is_json, range: 0..0, chunk: 0, ms: 0 }
    }
}

/// Whether it says what came of something, and has no text beside it that could go on.
fn is_only_outcome(json: Text<'_>) -> bool {
    let (mut outcomes, mut texts) = (0, 0);
    json.each_leaf(|_, name, _, spelled| {
        if telling::is_outcome(&name) {
            outcomes += 1;
        } else if spelled.starts_with('"') && !telling::is_kind(&name) {
            texts += 1;
        }
    });
    outcomes > 0 && texts == 0
}

/// One of which only the type is known.
impl From<&str> for Message {
    fn from(tag: &str) -> Self {
        Self::new(Tag::named(tag), String::new(), false)
    }
}

impl From<&&str> for Message {
    fn from(tag: &&str) -> Self {
        Self::from(*tag)
    }
}

impl From<String> for Message {
    fn from(tag: String) -> Self {
        Self::from(tag.as_str())
    }
}

impl From<&String> for Message {
    fn from(tag: &String) -> Self {
        Self::from(tag.as_str())
    }
}

/// One that says what a JSON value says.
impl From<&Value> for Message {
    fn from(value: &Value) -> Self {
        let data = value.to_string();
        Self::new(Protocols::default().tag(&data, None), data, true)
    }
}

impl From<Value> for Message {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Self> for Message {
    fn from(message: &Self) -> Self {
        message.clone()
    }
}
