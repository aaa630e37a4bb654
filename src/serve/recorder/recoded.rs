//! Compressed answers that change while they pass.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderValue;
use http_body::{Body, Frame};

use super::tee::Answered;
use crate::cassette::coding::{Encoder, Live};
use crate::serve::server::{AnswerBody, Cut, Rewriter};

/// A compressed body in which one address is replaced by another: each piece is decoded, and compressed again
/// so that it can be read when it comes.
pub(super) struct Recoded<B> {
    inner: B,
    rewriter: Rewriter,
    /// Nothing when the end was reached.
    coders: Option<(Live, Encoder)>,
    /// What comes behind the last piece of data.
    behind: Option<Result<Frame<Bytes>, Cut>>,
}

impl<B> Recoded<B> {
    /// Gives the body back if nothing here compresses so.
    pub(super) fn new(inner: B, coding: &HeaderValue, rewriter: Rewriter) -> Result<Self, B> {
        let coders = coding.to_str().ok().and_then(|it| Live::endless(it).zip(Encoder::new(it)));
        match coders {
            Some(coders) => Ok(Self { inner, rewriter, coders: Some(coders), behind: None }),
            None => Err(inner),
        }
    }

    /// The last data, now that nothing more comes.
    fn finish(&mut self) -> Vec<u8> {
        let Some((live, mut encoder)) = self.coders.take() else { return Vec::new() };
        let rest = live.finish();
        let is_whole = rest.is_some();
        let mut plain = self.rewriter.push(rest.unwrap_or_default().into()).to_vec();
        plain.extend_from_slice(&self.rewriter.finish());
        let mut last = if plain.is_empty() { Vec::new() } else { encoder.push(&plain) };
        if is_whole {
            last.extend(encoder.finish());
        }
        last
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
        while let Some((live, encoder)) = &mut this.coders {
            match std::task::ready!(Pin::new(&mut this.inner).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => {
                    let plain = live.push(&frame.into_data().unwrap_or_default());
                    if live.is_damaged() {
                        return Poll::Ready(Some(Err(Cut)));
                    }
                    let plain = this.rewriter.push(plain.into());
                    if !plain.is_empty() {
                        let piece = encoder.push(&plain);
                        return Poll::Ready(Some(Ok(Frame::data(piece.into()))));
                    }
                }
                behind => {
                    this.behind = behind;
                    let last = this.finish();
                    if !last.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(last.into()))));
                    }
                }
            }
        }
        Poll::Ready(this.behind.take())
    }
}
