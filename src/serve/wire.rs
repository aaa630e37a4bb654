//! What carries frames: a WebSocket, or lines.

use bytes::Bytes;

use super::lines::{Lines, is_answer, refusal};
use super::websocket::{Reader, SocketEvent, Violation, Writer};
use crate::cassette::{Content, Frame};

/// Reads the frames that one side sends.
#[derive(Debug)]
pub enum FrameReader {
    /// Those of a WebSocket.
    Socket(Reader),
    /// Lines.
    Lines(Lines),
}

/// Writes the frames that a server sends.
#[derive(Debug)]
pub enum FrameWriter {
    /// To a WebSocket.
    Socket(Writer),
    /// As lines.
    Lines(Vec<u8>),
}

impl FrameReader {
    /// A reader of lines.
    pub fn lines() -> Self {
        Self::Lines(Lines::default())
    }

    /// Takes what has come, up to the end of the next frame that says something.
    ///
    /// # Errors
    ///
    /// If the protocol of a WebSocket is broken.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<SocketEvent>, Violation> {
        match self {
            Self::Socket(reader) => reader.next(bytes),
            Self::Lines(lines) => Ok(lines.next(bytes).map(said)),
        }
    }

    /// Whether a message is on its way, which may take long.
    pub fn is_within(&self) -> bool {
        matches!(self, Self::Socket(reader) if reader.is_within())
    }

    /// Whether what comes may become a text, and how much of it has come.
    #[cfg(feature = "record")]
    pub fn awaits_text(&self) -> Option<usize> {
        match self {
            Self::Socket(reader) => reader.awaits_text(),
            Self::Lines(_) => None,
        }
    }

    /// What the side has said at its end: a line may have no end of its own.
    pub fn last(&mut self) -> Option<SocketEvent> {
        match self {
            Self::Socket(_) => None,
            Self::Lines(lines) => lines.last().map(said),
        }
    }
}

fn said(line: Bytes) -> SocketEvent {
    SocketEvent::Frame(Content::Text(line), Vec::new())
}

impl FrameWriter {
    /// Writes a frame as it was recorded, with that content.
    pub fn frame(&mut self, frame: &Frame, content: &Content) {
        match (self, content) {
            (Self::Socket(writer), _) => writer.frame(frame, content),
            (Self::Lines(out), Content::Text(line) | Content::Binary(line)) => {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
            (Self::Lines(_), Content::Close { .. }) => {}
        }
    }

    /// Whether a message is to stand in another piece than what was written and not taken yet.
    pub fn parts(&self, content: &Content) -> bool {
        let (Self::Lines(out), Some(message)) = (self, content.message()) else { return false };
        !out.is_empty() && is_answer(message)
    }

    /// Answers a ping.
    pub fn pong(&mut self, payload: &[u8]) {
        if let Self::Socket(writer) = self {
            writer.pong(payload);
        }
    }

    /// Says that no more is sent.
    pub fn close(&mut self, code: Option<u16>, reason: &str) {
        if let Self::Socket(writer) = self {
            writer.close(code, reason);
        }
    }

    /// Refuses a message, and tells whether the client may go on. On a WebSocket it may not.
    pub fn refuse(&mut self, message: &[u8], reason: &str, explanation: &str) -> bool {
        let Self::Lines(out) = self else { return false };
        if let Some(line) = refusal(message, reason, explanation) {
            out.extend_from_slice(&line);
            out.push(b'\n');
        }
        true
    }

    /// What was written and not taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        match self {
            Self::Socket(writer) => writer.take(),
            Self::Lines(out) => std::mem::take(out),
        }
    }
}
