//! Bodies that come at once, and bodies that take their time.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;

use crate::serve::server::Polled;

/// A body of which nothing is missing after this time was sent in one go.
pub(super) const AT_ONCE: Duration = Duration::from_millis(50);

/// How long a request of an announced length is waited for. A server that is busy sees it in two pieces, and so does
/// retape.
pub(super) const IN_TIME: Duration = Duration::from_secs(1);

/// How a body came.
pub(super) enum PromptBody<B: Body> {
    /// All of it, at once.
    Whole(Bytes),
    /// This much, and then it was cut.
    Cut(Bytes),
    /// It is still coming.
    Slowly(Resumed<B>),
}

/// Waits for a body for a while, so that the length of one that comes at once can be announced
/// again after something was replaced in it. One that takes its time is not held up.
pub(super) async fn came<B: Body<Data = Bytes> + Unpin>(body: B, time: Duration) -> PromptBody<B> {
    let mut resumed = Resumed { ready: VecDeque::new(), rest: body };
    let deadline = tokio::time::sleep(time);
    tokio::pin!(deadline);
    loop {
        if resumed.rest.is_end_stream() {
            return PromptBody::Whole(resumed.bytes());
        }
        let frame = tokio::select! {
            biased;
            frame = resumed.rest.frame() => frame,
            () = &mut deadline => return PromptBody::Slowly(resumed),
        };
        match frame {
            None => return PromptBody::Whole(resumed.bytes()),
            Some(Err(_)) => return PromptBody::Cut(resumed.bytes()),
            Some(Ok(frame)) if frame.is_data() => resumed.ready.push_back(frame),
            Some(Ok(trailers)) => {
                resumed.ready.push_back(trailers);
                return PromptBody::Slowly(resumed);
            }
        }
    }
}

/// A body of which the beginning was read already.
#[derive(Debug)]
pub(super) struct Resumed<B: Body> {
    ready: VecDeque<Frame<B::Data>>,
    rest: B,
}

impl<B: Body<Data = Bytes>> Resumed<B> {
    fn bytes(&self) -> Bytes {
        let mut all = BytesMut::new();
        self.ready
            .iter()
            .filter_map(Frame::data_ref)
            .for_each(|bytes| all.extend_from_slice(bytes));
        all.freeze()
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Resumed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled<B::Error> {
        match self.ready.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_empty() && self.rest.is_end_stream()
    }

    /// Not known: what is replaced in it may change it.
    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
