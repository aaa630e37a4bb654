//! What goes over a WebSocket, or in lines over standard input and output.

use bytes::Bytes;

use crate::text::words::words;

/// A message on a WebSocket, or its close; or a line.
///
/// Pings and pongs are not kept: whoever holds a connection open answers them by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Milliseconds since the request arrived, when all of it had come.
    pub ms: u64,
    /// Who sent it.
    pub from: Peer,
    /// What it says, decompressed.
    pub content: Content,
    /// The lengths of the fragments in which the server sent it; nothing if it came in one piece.
    pub fragments: Vec<usize>,
}

/// A side of a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// What a frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text, as it was sent.
    Text(Bytes),
    /// Bytes.
    Binary(Bytes),
    /// This side sends no more; the first such frame of a connection.
    Close {
        /// Why, as a number.
        code: Option<u16>,
        /// Why, in words.
        reason: String,
    },
}

impl Frame {
    /// The bytes of a message; nothing for a close.
    pub fn message(&self) -> Option<&Bytes> {
        self.content.message()
    }

    /// The same frame with another message.
    pub(crate) fn saying(mut self, ms: u64, bytes: Bytes) -> Self {
        self.ms = ms;
        let all: usize = self.fragments.iter().sum();
        if let Some(last) = self.fragments.last_mut() {
            // What is longer or shorter now is so at its end.
            match (*last + bytes.len()).checked_sub(all) {
                Some(length) => *last = length,
                None => self.fragments.clear(),
            }
        }
        if let Some(message) = self.message_mut() {
            *message = bytes;
        }
        self
    }

    /// A message of a server.
    pub(crate) fn of_server() -> Self {
        let content = Content::Text(Bytes::new());
        Self { ms: 0, from: Peer::Server, content, fragments: Vec::new() }
    }

    /// What a client says.
    pub(crate) fn of_client(content: Content) -> Self {
        Self { ms: 0, from: Peer::Client, content, fragments: Vec::new() }
    }

    pub(crate) fn message_mut(&mut self) -> Option<&mut Bytes> {
        match &mut self.content {
            Content::Text(bytes) | Content::Binary(bytes) => Some(bytes),
            Content::Close { .. } => None,
        }
    }

    /// Whether it is a message of the client.
    pub fn asks(&self) -> bool {
        self.from == Peer::Client && self.message().is_some()
    }
}

impl Content {
    /// The bytes of a message; nothing for a close.
    pub fn message(&self) -> Option<&Bytes> {
        match self {
            Self::Text(bytes) | Self::Binary(bytes) => Some(bytes),
            Self::Close { .. } => None,
        }
    }
}

words!(Peer: Client "client", Server "server");

#[cfg(feature = "record")]
impl Peer {
    /// The other side.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}
