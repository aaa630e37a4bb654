//! An answer that comes event by event.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body::{Body, Frame};
use tokio::time::{Interval, interval};

use crate::serve::server::{Answer, AnswerBody, Cut};

/// Streams events as `text/event-stream`, one after the other.
pub(super) fn answer(events: Vec<String>, pause: Duration) -> Answer {
    let body = Events { waiting: events.into_iter(), clock: interval(pause) };
    let mut answer = Response::new(AnswerBody::streamed(body));
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

struct Events {
    waiting: std::vec::IntoIter<String>,
    clock: Interval,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if self.waiting.as_slice().is_empty() {
            return Poll::Ready(None);
        }
        ready!(self.clock.poll_tick(context));
        let event = self.waiting.next().map(|data| Frame::data(format!("data: {data}\n\n").into()));
        Poll::Ready(event.map(Ok))
    }
}
