//! A client and a server that say lines to each other through pipes.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Tape;
use super::relay::{Tap, pump};
use super::take::Take;
use crate::cassette::{Content, End, Frame, Headers, Interaction, Larges, Peer, Request};
use crate::serve::replayer::EXIT_STATUS;
use crate::serve::wire::FrameReader;

/// A session of lines while it is recorded.
#[derive(Debug)]
pub struct Pipes {
    take: Arc<Take>,
}

impl Pipes {
    /// Begins to record one.
    pub fn begin(tape: &Arc<Tape>) -> Self {
        let take = tape.take(Request::of_lines());
        take.asked();
        take.head(101, None, Headers::new());
        take.write();
        Self { take }
    }

    /// Passes on what one side says, byte by byte, with a copy for the recording, until it ends or the other takes no
    /// more. Tells which of them has left.
    pub async fn pass(
        &self,
        peer: Peer,
        from: impl AsyncRead + Unpin,
        to: impl AsyncWrite + Unpin,
    ) -> Peer {
        let take = Some(Arc::clone(&self.take));
        let reader = FrameReader::lines();
        pump(from, to, Tap { reader, peer, take, inward: None, reframed: None }).await
    }

    /// What one side has said so far.
    pub fn said_by(&self, peer: Peer) -> Vec<Content> {
        let interaction = self.take.interaction(&mut Larges::new());
        let frames = interaction.iter().flat_map(Interaction::frames);
        let frames = frames.filter(|frame| frame.from == peer);
        frames.map(|Frame { content, .. }| content.clone()).collect()
    }

    /// The session is over: the client has left, or the server has ended with that status.
    pub fn end(&self, by: Peer, status: Option<u8>) {
        if by == Peer::Client {
            return self.take.end(End::Complete);
        }
        if let Some(status) = status.filter(|status| *status != 0) {
            let mut trailers = HeaderMap::new();
            trailers.insert(EXIT_STATUS, HeaderValue::from(u16::from(status)));
            self.take.trailers(&trailers);
        }
        self.take.end(End::ServerClosed);
    }
}
