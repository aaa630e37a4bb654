//! Frames of a WebSocket in which one address is replaced by another while they pass.

use crate::cassette::{Content, Peer};
use crate::serve::server::{READ_WHOLE, Rewriter};
use crate::serve::websocket::{SocketEvent, Writer};

/// What one side sends, as the other side is to get it: as it came, but for texts with an address in them.
///
/// A text goes on when all of it is there, or when it takes its time.
#[derive(Debug)]
pub(super) struct Reframed {
    rewriter: Rewriter,
    writer: Writer,
    passing: Passing,
    /// Whether messages may be compressed, and refer to those before them.
    is_compressed: bool,
    /// What came and did not go on yet.
    held: Vec<u8>,
    out: Vec<u8>,
}

/// How messages go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// As they came.
    Whole,
    /// The same, and the next one without being looked at: the beginning of it has gone on.
    Begun,
    /// Written anew and not compressed, since one was changed that the others may refer to.
    Anew,
    /// No more: what is to be written anew cannot be read.
    Lost,
}

impl Reframed {
    pub(super) fn new(side: Peer, rewriter: Rewriter, is_compressed: bool) -> Self {
        let writer = Writer::plain(side);
        let (passing, held, out) = (Passing::Whole, Vec::new(), Vec::new());
        Self { rewriter, writer, passing, is_compressed, held, out }
    }

    /// Takes what came up to the end of an event.
    pub(super) fn event(&mut self, raw: &[u8], event: &SocketEvent, is_within: bool) {
        self.held.extend_from_slice(raw);
        let changed = match event {
            SocketEvent::Frame(Content::Text(text), fragments)
                if self.passing != Passing::Begun =>
            {
                let replaced = self.rewriter.clone().whole(text);
                replaced.map(|text| SocketEvent::Frame(Content::Text(text), fragments.clone()))
            }
            _ => None,
        };
        if changed.is_some() && self.is_compressed {
            self.passing = Passing::Anew;
        }
        if changed.is_some() || self.passing == Passing::Anew {
            self.writer.event(changed.as_ref().unwrap_or(event));
            self.out.append(&mut self.writer.take());
            self.held.clear();
            return;
        }
        self.release();
        let is_message = matches!(event, SocketEvent::Frame(..));
        self.passing = match self.passing {
            Passing::Begun if is_message => Passing::Whole,
            // It came within a message, of which a part has gone on with it.
            Passing::Whole if is_within => Passing::Begun,
            passing => passing,
        };
    }

    /// Takes what came of the next event. `text` is how much has come of it, if it may be a text.
    pub(super) fn rest(&mut self, raw: &[u8], text: Option<usize>) {
        self.held.extend_from_slice(raw);
        if self.passing == Passing::Begun || text.is_none_or(|came| came as u64 > READ_WHOLE) {
            self.give_up();
        }
    }

    /// Whether something waits for what is to come, and not for long.
    pub(super) fn is_waiting(&self) -> bool {
        self.passing == Passing::Whole && !self.held.is_empty()
    }

    /// Waits no more.
    pub(super) fn give_up(&mut self) {
        if !matches!(self.passing, Passing::Anew | Passing::Lost) && !self.held.is_empty() {
            self.passing = Passing::Begun;
            self.release();
        }
    }

    /// Nothing more can be read of what comes. Tells whether nothing of it can go on either.
    pub(super) fn lose(&mut self) -> bool {
        if self.passing == Passing::Anew {
            self.passing = Passing::Lost;
        }
        self.is_lost()
    }

    /// Whether nothing goes on any more.
    pub(super) fn is_lost(&self) -> bool {
        self.passing == Passing::Lost
    }

    /// What goes on.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn release(&mut self) {
        self.out.append(&mut self.held);
    }
}
