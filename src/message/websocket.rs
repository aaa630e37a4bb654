//! Messages of a WebSocket session.
//!
//! # Rationale
//!
//! A session has two senders, and what one may say depends on what the other has said. So its messages
//! are one list, and the type of a client's message begins with `client/`: an order over both can be
//! learned and written as over the messages of a stream.

use super::{Message, Protocols, Tag};

/// One whole WebSocket message, its fragments put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Who sent it.
    pub from: Sender,
    /// What it is.
    pub payload: Payload,
    /// Milliseconds since the session began at which it was complete.
    pub ms: u64,
}

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// The one who opened the session.
    Client,
    /// The one who answered.
    Server,
}

/// What a frame brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Text, in practice JSON.
    Text(String),
    /// So many bytes that are no text.
    Binary(usize),
    /// A question whether the other one is still there.
    Ping,
    /// The answer to it.
    Pong,
    /// The end, with its code if one was given.
    Close(Option<u16>),
}

/// The messages of a session, in order. The chunk of a message is the number of its frame, and its
/// range that of its text in the text of all.
pub fn messages(frames: &[Frame], protocols: &Protocols) -> Vec<Message> {
    let mut at = 0;
    let message = |(chunk, frame): (usize, &Frame)| {
        let data = match &frame.payload {
            Payload::Text(text) => text.clone(),
            _ => String::new(),
        };
        let range = at..at + data.len();
        at = range.end;
        Message { tag: frame.tag(protocols), event: None, data, range, chunk, ms: frame.ms }
    };
    frames.iter().enumerate().map(message).collect()
}

impl Frame {
    fn tag(&self, protocols: &Protocols) -> Tag {
        let tag = match &self.payload {
            Payload::Text(text) => protocols.tag(text, None),
            Payload::Binary(_) => Tag::Untyped("binary"),
            Payload::Ping => Tag::KeepAlive("ping".to_owned()),
            Payload::Pong => Tag::KeepAlive("pong".to_owned()),
            Payload::Close(None) => Tag::Named("close".to_owned()),
            Payload::Close(Some(code)) => Tag::Named(format!("close/{code}")),
        };
        match (self.from, tag) {
            (Sender::Server, tag) => tag,
            (Sender::Client, Tag::KeepAlive(name)) => Tag::KeepAlive(format!("{CLIENT}{name}")),
            (Sender::Client, tag) => Tag::Named(format!("{CLIENT}{tag}")),
        }
    }
}

/// What the type of a client's message begins with.
const CLIENT: &str = "client/";
