//! Bytes out of frames.

#[cfg(feature = "record")]
use super::SocketEvent;
use super::{Deflate, opcode};
#[cfg(feature = "record")]
use crate::cassette::Peer;
use crate::cassette::{Content, Frame};

/// Writes what one side sends.
#[derive(Debug)]
pub struct Writer {
    deflate: Option<Deflate>,
    /// What a client's frames are masked with. It is no secret, and changes nothing.
    mask: &'static [u8],
    out: Vec<u8>,
}

/// A reason may be so long: what a control frame holds beside the code.
const LONGEST_REASON: usize = 123;

impl Writer {
    /// A writer that compresses messages, if that was agreed on.
    pub fn new(deflate: Option<Deflate>) -> Self {
        Self { deflate, mask: &[], out: Vec::new() }
    }

    /// A writer of what that side sends that compresses nothing.
    #[cfg(feature = "record")]
    pub fn plain(side: Peer) -> Self {
        let mask: &[u8] = if side == Peer::Client { &[0; 4] } else { &[] };
        Self { mask, ..Self::new(None) }
    }

    /// Writes what was read.
    #[cfg(feature = "record")]
    pub fn event(&mut self, event: &SocketEvent) {
        match event {
            SocketEvent::Ping(payload) => self.control(opcode::PING, payload),
            SocketEvent::Pong(payload) => self.pong(payload),
            SocketEvent::Frame(Content::Text(bytes), fragments) => {
                self.message(opcode::TEXT, bytes, fragments);
            }
            SocketEvent::Frame(Content::Binary(bytes), fragments) => {
                self.message(opcode::BINARY, bytes, fragments);
            }
            SocketEvent::Frame(Content::Close { code, reason }, _) => self.close(*code, reason),
        }
    }

    /// What was written and not taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Writes a frame, in the fragments in which it was recorded.
    pub fn frame(&mut self, frame: &Frame, content: &Content) {
        match content {
            Content::Text(bytes) => self.message(opcode::TEXT, bytes, &frame.fragments),
            Content::Binary(bytes) => self.message(opcode::BINARY, bytes, &frame.fragments),
            Content::Close { code, reason } => self.close(*code, reason),
        }
    }

    /// Answers a ping.
    pub fn pong(&mut self, payload: &[u8]) {
        self.control(opcode::PONG, payload);
    }

    fn control(&mut self, opcode: u8, payload: &[u8]) {
        self.head(0x80 | opcode, payload.len());
        self.out.extend_from_slice(payload);
    }

    /// Says that no more is sent. A reason that is too long is cut.
    pub fn close(&mut self, code: Option<u16>, reason: &str) {
        let mut end = reason.len().min(LONGEST_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let mut payload = Vec::new();
        if let Some(code) = code {
            payload.extend_from_slice(&code.to_be_bytes());
            payload.extend_from_slice(&reason.as_bytes()[..end]);
        }
        self.control(opcode::CLOSE, &payload);
    }

    fn message(&mut self, opcode: u8, bytes: &[u8], fragments: &[usize]) {
        let compressed = self.deflate.as_mut().filter(|_| !bytes.is_empty());
        let compressed = compressed.map(|deflate| deflate.message(bytes));
        let rsv = if compressed.is_some() { 0x40 } else { 0 };
        let mut rest = compressed.as_deref().unwrap_or(bytes);
        // Names of other lengths may stand in it than when it was cut up, and it may be compressed.
        let mut first = opcode | rsv;
        for length in &fragments[..fragments.len().saturating_sub(1)] {
            let (piece, behind) = rest.split_at((*length).min(rest.len()));
            self.head(first, piece.len());
            self.out.extend_from_slice(piece);
            (rest, first) = (behind, opcode::CONTINUATION);
        }
        self.head(0x80 | first, rest.len());
        self.out.extend_from_slice(rest);
    }

    fn head(&mut self, first: u8, length: usize) {
        self.out.push(first);
        let masked = if self.mask.is_empty() { 0 } else { 0x80 };
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(length @ 0..=125), _) => self.out.push(masked | length),
            (_, Ok(length)) => {
                self.out.push(masked | 126);
                self.out.extend_from_slice(&length.to_be_bytes());
            }
            _ => {
                self.out.push(masked | 127);
                self.out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        self.out.extend_from_slice(self.mask);
    }
}
