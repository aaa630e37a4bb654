//! Answers that are copied to a take while they pass.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Version;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::coming::Coming;
use super::expected::Unwanted;
use super::take::Take;
use crate::cassette::End;
use crate::serve::recording::Patience;
use crate::serve::server::{AnswerBody, Cut, Polled, Rewriter};

/// Writes what was noted so far.
fn write(take: Option<&Arc<Take>>) {
    if let Some(take) = take {
        take.write();
    }
}

/// An answer's body on its way to the client.
///
/// When the client leaves, hyper drops it; it then goes on reading for the grace time on a task of
/// its own, so that the recording is whole.
#[derive(Debug)]
pub(super) struct Answered {
    /// Taken when the rest is read elsewhere.
    source: Option<AnswerSource>,
}

#[derive(Debug)]
struct AnswerSource {
    body: Coming,
    /// What has come, and how much of it was noted.
    come: Option<(Frame<Bytes>, usize)>,
    /// What has come and is written.
    ready: VecDeque<Option<Result<Frame<Bytes>, Cut>>>,
    spoken: Version,
    take: Option<Arc<Take>>,
    patience: Patience,
    /// The deadline of the silence, moved lazily: looked at when the timer fires.
    timer: Pin<Box<Sleep>>,
    /// Whether anything of the body came.
    begun: bool,
    /// When the client left.
    left: Option<Instant>,
    over: bool,
    /// What ends a body of which the server wanted nothing.
    _unwanted: Option<Unwanted>,
}

/// A client that leaves so long before anything of the body comes has given up.
const GIVEN_UP: Duration = Duration::from_millis(50);

impl Answered {
    pub(super) fn new(
        body: Coming,
        spoken: Version,
        take: Option<Arc<Take>>,
        patience: Patience,
        unwanted: Option<Unwanted>,
    ) -> Self {
        let ready = VecDeque::new();
        let timer = Box::pin(tokio::time::sleep(patience.silence));
        let (come, begun, left, over) = (None, false, None, false);
        let mut source = AnswerSource {
            body,
            come,
            ready,
            spoken,
            take,
            patience,
            timer,
            begun,
            left,
            over,
            _unwanted: unwanted,
        };
        if source.body.is_end_stream() {
            source.end(End::Complete);
        }
        Self { source: Some(source) }
    }

    /// No body: what follows is no HTTP.
    pub(super) fn nothing() -> Self {
        Self { source: None }
    }

    /// A body that is passed on as it comes, behind its head.
    pub(super) fn streamed(self) -> AnswerBody {
        self.write();
        AnswerBody::streamed(self)
    }

    /// Writes what was noted so far.
    pub(super) fn write(&self) {
        write(self.source.as_ref().and_then(|source| source.take.as_ref()));
    }
}

/// So many pieces, or bytes, are written at once at most.
const PIECES: usize = 32;
const BYTES: usize = 64 * 1024;

impl AnswerSource {
    /// What comes next. All that is there is written before the first of it is passed on.
    fn poll(&mut self, context: &mut Context<'_>) -> Polled {
        let mut bytes = 0;
        while self.ready.is_empty() || (bytes < BYTES && self.ready.len() < PIECES && !self.over) {
            let Poll::Ready(next) = self.next(context) else { break };
            if let Some(Ok(frame)) = &next {
                bytes += frame.data_ref().map_or(0, Bytes::len);
            }
            self.ready.push_back(next);
        }
        write(self.take.as_ref());
        self.ready.pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    fn next(&mut self, context: &mut Context<'_>) -> Polled {
        if self.come.is_some() {
            return self.note(context).map(|frame| Some(Ok(frame)));
        }
        match self.body.poll(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.come = Some((frame, 0));
                self.note(context).map(|frame| Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(_))) => {
                self.end(End::ServerClosed);
                Poll::Ready(Some(Err(Cut)))
            }
            Poll::Ready(None) if self.was_reset() => {
                self.end(End::ServerClosed);
                Poll::Ready(Some(Err(Cut)))
            }
            Poll::Ready(None) => {
                self.end(End::Complete);
                Poll::Ready(None)
            }
            Poll::Pending => {
                ready!(self.poll_silence(context));
                if let Some(held) = self.body.take() {
                    self.come = Some((Frame::data(held), 0));
                    return self.note(context).map(|frame| Some(Ok(frame)));
                }
                self.end(End::Timeout);
                Poll::Ready(Some(Err(Cut)))
            }
        }
    }

    /// hyper takes a stream of HTTP/2 that the server resets with `NO_ERROR` for a whole one. Only
    /// one that was ended is.
    fn was_reset(&self) -> bool {
        self.spoken == Version::HTTP_2 && !self.body.is_end_stream()
    }

    /// Waits until the server has been silent for too long.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.timer.as_mut().poll(context).is_ready() {
            let deadline = self.body.heard + self.patience.silence;
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    /// Notes what has come, part by part: to look for secrets takes a while, and others have their turn
    /// in between.
    fn note(&mut self, context: &mut Context<'_>) -> Poll<Frame<Bytes>> {
        if !self.begun && self.left.is_some_and(|left| left.elapsed() > GIVEN_UP) {
            self.end(End::ClientClosed);
            return self.come.take().map_or(Poll::Pending, |(frame, _)| Poll::Ready(frame));
        }
        self.begun = true;
        if let (Some(take), Some((frame, noted))) = (&self.take, &mut self.come) {
            if let Some(bytes) = frame.data_ref().filter(|bytes| !bytes.is_empty()) {
                let part = bytes.slice(*noted..bytes.len().min(*noted + BYTES));
                take.part(&part);
                *noted += part.len();
                if *noted < bytes.len() {
                    // A task that wakes itself comes again before the network is looked at.
                    let _ = pin!(tokio::task::yield_now()).poll(context);
                    return Poll::Pending;
                }
                take.end_chunk();
            }
            if let Some(trailers) = frame.trailers_ref() {
                take.trailers(trailers);
            }
        }
        let Some((frame, _)) = self.come.take() else { return Poll::Pending };
        if self.body.is_end_stream() {
            self.end(End::Complete);
        }
        Poll::Ready(frame)
    }

    fn end(&mut self, end: End) {
        self.over = true;
        if let Some(take) = &self.take {
            take.end(end);
        }
    }
}

impl Body for Answered {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        match &mut self.source {
            Some(source) => source.poll(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        let is_over = |source: &AnswerSource| {
            source.ready.is_empty() && source.come.is_none() && source.body.is_end_stream()
        };
        self.source.as_ref().is_none_or(is_over)
    }

    fn size_hint(&self) -> SizeHint {
        let whole = self.source.as_ref();
        let whole = whole.filter(|source| source.ready.is_empty() && source.come.is_none());
        whole.map_or_else(SizeHint::default, |source| source.body.size_hint())
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        let Some(mut source) = self.source.take().filter(|source| !source.over) else { return };
        if source.take.is_none() {
            return;
        }
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(read_on(source))),
            Err(_) => source.end(End::ClientClosed),
        }
    }
}

/// Reads the rest of an answer whose client has left.
async fn read_on(mut source: AnswerSource) {
    let grace: Duration = source.patience.grace;
    source.left = Some(Instant::now());
    source.take.iter().for_each(|take| take.leave());
    let rest = async {
        while let Some(Ok(_)) = std::future::poll_fn(|context| source.poll(context)).await {
            if source.over {
                break;
            }
        }
    };
    if tokio::time::timeout(grace, rest).await.is_err() {
        source.end(End::ClientClosed);
    }
}

/// A body in which one address is replaced by another.
pub(super) struct Rewritten<B: Body> {
    inner: B,
    rewriter: Rewriter,
    /// What comes behind the last piece of data: trailers, or that the body was cut.
    behind: Option<Result<Frame<Bytes>, B::Error>>,
    over: bool,
}

impl<B: Body<Data = Bytes> + Unpin> Rewritten<B> {
    pub(super) fn new(inner: B, rewriter: Rewriter) -> Self {
        Self { inner, rewriter, behind: None, over: false }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Rewritten<B>
where
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled<B::Error> {
        while !self.over {
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => {
                    let piece = frame.into_data().unwrap_or_default();
                    let piece = self.rewriter.push(piece);
                    if !piece.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                }
                behind => {
                    self.over = true;
                    self.behind = behind;
                    let held = self.rewriter.finish();
                    if !held.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(held))));
                    }
                }
            }
        }
        Poll::Ready(self.behind.take())
    }
}
