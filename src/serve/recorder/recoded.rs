//! Compressed answers that change while they pass.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::HeaderValue;
use http_body::{Body, Frame};

use super::tee::Answered;
use crate::cassette::coding::{Encoder, Live, Passed};
use crate::serve::server::{AnswerBody, Cut, Rewriter};

/// A compressed body in which one address is replaced by another.
///
/// # Rationale
///
/// It stays as it came up to the piece in which the first address is: only what comes from there on is
/// compressed again. That needs a place where another block may stand, which servers of streams make behind
/// each event.
pub(super) struct Recoded<B> {
    inner: B,
    rewriter: Rewriter,
    /// Nothing once it was read to its end.
    live: Option<Live>,
    sent: Sent,
    /// What comes behind the last piece of data.
    behind: Option<Result<Frame<Bytes>, Cut>>,
}

/// How a body was sent so far.
enum Sent {
    /// As it came, but for what is held because an address may begin at its end.
    AsItCame {
        passed: Passed,
        held: BytesMut,
        says: Vec<u8>,
    },
    Anew(Encoder),
    /// As it came; what else comes is not looked at.
    Unread,
    Whole,
}

impl<B> Recoded<B> {
    /// Gives the body back if nothing here compresses so.
    pub(super) fn new(inner: B, coding: &HeaderValue, rewriter: Rewriter) -> Result<Self, B> {
        let coders = coding.to_str().ok().and_then(|it| Live::endless(it).zip(Passed::new(it)));
        let Some((live, passed)) = coders else { return Err(inner) };
        let sent = Sent::AsItCame { passed, held: BytesMut::new(), says: Vec::new() };
        Ok(Self { inner, rewriter, live: Some(live), sent, behind: None })
    }

    /// What a piece becomes.
    fn push(&mut self, piece: Bytes) -> Result<Bytes, Cut> {
        let Some(live) = self.live.as_mut().filter(|_| !matches!(self.sent, Sent::Unread)) else {
            return Ok(piece);
        };
        let plain = live.push(&piece);
        let is_damaged = live.is_damaged();
        match std::mem::replace(&mut self.sent, Sent::Unread) {
            Sent::AsItCame { passed, mut held, mut says } => {
                held.extend_from_slice(&piece);
                says.extend_from_slice(&plain);
                if is_damaged {
                    return Ok(held.freeze());
                }
                Ok(self.pass(passed, held, says))
            }
            Sent::Anew(_) if is_damaged => Err(Cut),
            Sent::Anew(mut encoder) => {
                let plain = self.rewriter.push(plain.into());
                let piece = if plain.is_empty() { Vec::new() } else { encoder.push(&plain) };
                self.sent = Sent::Anew(encoder);
                Ok(piece.into())
            }
            other => {
                self.sent = other;
                Ok(Bytes::new())
            }
        }
    }

    /// What was held, and what it says, if no address is in it; else that anew.
    fn pass(&mut self, mut passed: Passed, held: BytesMut, says: Vec<u8>) -> Bytes {
        let mut rewriter = self.rewriter.clone();
        let replaced = rewriter.push(Bytes::copy_from_slice(&says));
        if !says.starts_with(&replaced) {
            let Some(mut encoder) = passed.rest() else { return held.freeze() };
            let piece = encoder.push(&replaced);
            (self.rewriter, self.sent) = (rewriter, Sent::Anew(encoder));
            return piece.into();
        }
        if rewriter.is_holding() {
            self.sent = Sent::AsItCame { passed, held, says };
            return Bytes::new();
        }
        passed.note(&held, &says);
        self.sent = Sent::AsItCame { passed, held: BytesMut::new(), says: Vec::new() };
        held.freeze()
    }

    /// The last data, now that nothing more comes.
    fn finish(&mut self) -> Bytes {
        match std::mem::replace(&mut self.sent, Sent::Whole) {
            Sent::AsItCame { held, .. } => held.freeze(),
            Sent::Anew(mut encoder) => {
                let rest = self.live.take().and_then(Live::finish);
                let is_whole = rest.is_some();
                let mut plain = self.rewriter.push(rest.unwrap_or_default().into()).to_vec();
                plain.extend_from_slice(&self.rewriter.finish());
                let mut last = if plain.is_empty() { Vec::new() } else { encoder.push(&plain) };
                if is_whole {
                    last.extend(encoder.finish());
                }
                last.into()
            }
            Sent::Unread | Sent::Whole => Bytes::new(),
        }
    }
}

impl Recoded<Answered> {
    /// A body that is passed on as it comes, behind its head.
    pub(super) fn streamed(self) -> AnswerBody {
        self.inner.write();
        AnswerBody::streamed(self)
    }
}

impl<B: Body<Data = Bytes, Error = Cut> + Unpin> Body for Recoded<B> {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let this = &mut *self;
        while !matches!(this.sent, Sent::Whole) {
            match std::task::ready!(Pin::new(&mut this.inner).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => {
                    match this.push(frame.into_data().unwrap_or_default()) {
                        Ok(piece) if piece.is_empty() => {}
                        piece => return Poll::Ready(Some(piece.map(Frame::data))),
                    }
                }
                behind => {
                    this.behind = behind;
                    let last = this.finish();
                    if !last.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(last))));
                    }
                }
            }
        }
        Poll::Ready(this.behind.take())
    }
}
