//! Compressed answers that change while they pass.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderValue;
use http_body::{Body, Frame};

use crate::cassette::coding::{Encoder, Live, Passed};
use crate::serve::server::{Cut, Polled, Rewriter};

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
    /// What may be sent now.
    ready: VecDeque<Bytes>,
    /// What comes behind the last piece of data.
    behind: Option<Result<Frame<Bytes>, Cut>>,
}

/// How a body was sent so far.
enum Sent {
    /// As it came, but for pieces that are held because an address may begin at their end.
    AsItCame {
        passed: Passed,
        held: Vec<Bytes>,
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
        let sent = Sent::AsItCame { passed, held: Vec::new(), says: Vec::new() };
        let (live, ready) = (Some(live), VecDeque::new());
        Ok(Self { inner, rewriter, live, sent, ready, behind: None })
    }

    /// Takes the next piece.
    fn push(&mut self, piece: Bytes) -> Result<(), Cut> {
        let Some(live) = self.live.as_mut().filter(|_| !matches!(self.sent, Sent::Unread)) else {
            self.ready.push_back(piece);
            return Ok(());
        };
        let plain = live.push(&piece);
        let is_damaged = live.is_damaged();
        match std::mem::replace(&mut self.sent, Sent::Unread) {
            Sent::AsItCame { passed, mut held, mut says } => {
                held.push(piece);
                says.extend_from_slice(&plain);
                if is_damaged {
                    self.ready.extend(held);
                } else {
                    self.pass(passed, held, says);
                }
            }
            Sent::Anew(_) if is_damaged => return Err(Cut),
            Sent::Anew(mut encoder) => {
                self.encode(&mut encoder, plain);
                self.sent = Sent::Anew(encoder);
            }
            other => self.sent = other,
        }
        Ok(())
    }

    /// Sends what was held, if no address is in what it says; else that anew.
    fn pass(&mut self, mut passed: Passed, held: Vec<Bytes>, says: Vec<u8>) {
        let mut rewriter = self.rewriter.clone();
        let replaced = rewriter.push(Bytes::copy_from_slice(&says));
        if !says.starts_with(&replaced) {
            let Some(mut encoder) = passed.rest() else { return self.ready.extend(held) };
            self.ready.push_back(encoder.push(&replaced).into());
            (self.rewriter, self.sent) = (rewriter, Sent::Anew(encoder));
        } else if rewriter.is_holding() {
            self.sent = Sent::AsItCame { passed, held, says };
        } else {
            passed.says(&says);
            held.iter().for_each(|piece| passed.ends(piece));
            self.ready.extend(held);
            self.sent = Sent::AsItCame { passed, held: Vec::new(), says: Vec::new() };
        }
    }

    fn encode(&mut self, encoder: &mut Encoder, plain: Vec<u8>) {
        let plain = self.rewriter.push(plain.into());
        if !plain.is_empty() {
            self.ready.push_back(encoder.push(&plain).into());
        }
    }

    /// Sends the last data, now that nothing more comes.
    fn finish(&mut self) {
        match std::mem::replace(&mut self.sent, Sent::Whole) {
            Sent::AsItCame { held, .. } => self.ready.extend(held),
            Sent::Anew(mut encoder) => {
                let rest = self.live.take().and_then(Live::finish);
                let is_whole = rest.is_some();
                self.encode(&mut encoder, rest.unwrap_or_default());
                let last = self.rewriter.finish();
                if !last.is_empty() {
                    self.ready.push_back(encoder.push(&last).into());
                }
                if is_whole {
                    self.ready.push_back(encoder.finish().into());
                }
            }
            Sent::Unread | Sent::Whole => {}
        }
    }
}

impl<B: Body<Data = Bytes, Error = Cut> + Unpin> Body for Recoded<B> {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let this = &mut *self;
        loop {
            if let Some(piece) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if matches!(this.sent, Sent::Whole) {
                return Poll::Ready(this.behind.take());
            }
            match std::task::ready!(Pin::new(&mut this.inner).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => {
                    if let Err(cut) = this.push(frame.into_data().unwrap_or_default()) {
                        return Poll::Ready(Some(Err(cut)));
                    }
                }
                behind => {
                    this.behind = behind;
                    this.finish();
                }
            }
        }
    }
}
