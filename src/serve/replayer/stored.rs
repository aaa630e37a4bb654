//! Bodies that are not held in memory: an answer is read from its file, a request by its hash.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

use super::body::Ending;
use super::{Recorded, Replayer};
use crate::cassette::Large;
use crate::cassette::large::{Naming, may_be_passed};
use crate::redact::{Live, Secrets};
use crate::serve::server::{Arrival, Cut, Rewriter, may_name_us};
use crate::store::Pieces;

/// An answer that is read from its file while it is sent, on a thread of its own.
#[derive(Debug)]
pub(super) struct Stored {
    pieces: mpsc::Receiver<Result<Bytes, Cut>>,
    ending: Ending,
    trailers: Option<HeaderMap>,
    length: Option<u64>,
}

/// So many pieces are read before they are sent.
const AHEAD: usize = 2;

impl Stored {
    /// `length` is the announced one, if there is one.
    pub(super) fn of(
        large: &Large,
        ending: Ending,
        trailers: Option<HeaderMap>,
        length: Option<u64>,
    ) -> Self {
        let (send, pieces) = mpsc::channel(AHEAD);
        let large = large.clone();
        tokio::task::spawn_blocking(move || {
            let Ok(pieces) = Pieces::of(&large) else { return drop(send.blocking_send(Err(Cut))) };
            for piece in pieces {
                // If nobody waits any more, nothing more is read.
                if send.blocking_send(piece.map_err(|_| Cut)).is_err() {
                    return;
                }
            }
        });
        Self { pieces, ending, trailers, length }
    }
}

impl Body for Stored {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        Poll::Ready(match ready!(self.pieces.poll_recv(context)) {
            Some(piece) => Some(piece.map(Frame::data)),
            None if self.ending == Ending::Cut => Some(Err(Cut)),
            None => self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))),
        })
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The body of a request that is compared by its hash, while it arrives.
#[derive(Debug)]
pub struct Hashed {
    live: Live,
    naming: Naming,
    inward: Option<Rewriter>,
}

impl Replayer {
    /// Begins to read the body of a request that is not held in memory, as a recorder does; nothing if it
    /// is one that is read as a whole.
    pub fn hashed(&self, arrival: Arrival<'_>) -> Option<Hashed> {
        let Arrival { head, target, place } = arrival;
        let mut asked = arrival.request(Bytes::new());
        if !may_be_passed(&asked.headers) {
            return None;
        }
        let Recorded { redactor, .. } = &**self.recorded();
        let mut secrets = Secrets::default();
        redactor.request_noting(&mut asked, &mut secrets);
        let (_, place) = self.led(target, place);
        let server = self.server(place);
        let inward = place.inward(server, &self.recorded().beside);
        let inward = inward.filter(|_| may_name_us(&head.headers));
        Some(Hashed { live: Live::new(redactor, secrets), naming: Naming::default(), inward })
    }
}

impl Hashed {
    /// Takes the next piece.
    pub fn push(&mut self, piece: Bytes) {
        let piece = match &mut self.inward {
            Some(inward) => inward.push(piece),
            None => piece,
        };
        self.naming.push(&self.live.push(&piece));
    }

    /// What stands in the place of the body.
    pub fn finish(mut self) -> Bytes {
        let rest = self.inward.as_mut().map(Rewriter::finish).unwrap_or_default();
        self.naming.push(&self.live.push(&rest));
        self.naming.push(&self.live.finish().0);
        self.naming.stand_in()
    }
}
