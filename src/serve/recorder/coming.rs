//! The body of an answer as it comes from the server, in the chunks in which that cut it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::driver::Driver;
use crate::serve::server::{ChunkSizes, Joining};

/// What comes next, or that it came to its end.
type Next = Option<hyper::Result<Frame<Bytes>>>;

#[derive(Debug)]
pub(super) struct Coming {
    body: Incoming,
    /// What lets more of the body come, if it is not told by itself.
    driver: Option<Driver>,
    joining: Option<Joining>,
    /// What comes behind a chunk of which not all came.
    behind: Option<Next>,
    /// When anything came last.
    pub(super) heard: Instant,
}

impl Coming {
    pub(super) fn new(body: Incoming, driver: Option<Driver>, sizes: Option<ChunkSizes>) -> Self {
        let (joining, behind, heard) = (sizes.map(Joining::new), None, Instant::now());
        Self { body, driver, joining, behind, heard }
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        if let Some(behind) = self.behind.take() {
            return Poll::Ready(behind);
        }
        loop {
            let next = ready!(self.poll_body(context));
            self.heard = Instant::now();
            let Some(joining) = &mut self.joining else { return Poll::Ready(next) };
            match next {
                Some(Ok(frame)) if frame.is_data() => {
                    let piece = frame.into_data().unwrap_or_default();
                    if let Some(chunk) = joining.push(piece) {
                        return Poll::Ready(Some(Ok(Frame::data(chunk))));
                    }
                }
                behind => match joining.take() {
                    Some(held) => {
                        self.behind = Some(behind);
                        return Poll::Ready(Some(Ok(Frame::data(held))));
                    }
                    None => return Poll::Ready(behind),
                },
            }
        }
    }

    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        let come = Pin::new(&mut self.body).poll_frame(context);
        let Some(driver) = self.driver.as_ref().filter(|_| come.is_pending()) else { return come };
        driver.go_on();
        Pin::new(&mut self.body).poll_frame(context)
    }

    /// What has come of a chunk of which the rest does not come.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        self.joining.as_mut()?.take()
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.behind.is_none() && self.body.is_end_stream()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
