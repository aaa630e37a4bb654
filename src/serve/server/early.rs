//! What is said to a client before its answer.
//!
//! # Rationale
//!
//! hyper has no way to send an interim answer. It writes nothing of an answer before it has one, so what is
//! to stand before that can be written to the connection whenever hyper has nothing left to write.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf as _, BytesMut};
use http::{HeaderMap, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Where interim answers to the request of a connection of HTTP/1.1 are said. It stands among the extensions
/// of the request.
#[derive(Debug, Clone, Default)]
pub struct Early(Arc<Mutex<Unsent>>);

#[derive(Debug, Default)]
struct Unsent {
    heads: BytesMut,
    /// The task of the connection.
    connection: Option<Waker>,
}

impl Early {
    /// Says an interim answer.
    pub fn say(&self, status: StatusCode, headers: &HeaderMap) {
        let mut unsent = self.unsent();
        let line = format!("HTTP/1.1 {status}\r\n");
        unsent.heads.extend_from_slice(line.as_bytes());
        for (name, value) in headers {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                unsent.heads.extend_from_slice(part);
            }
        }
        unsent.heads.extend_from_slice(b"\r\n");
        unsent.connection.iter().for_each(Waker::wake_by_ref);
    }

    /// Waits until all that was said is sent. It is for the task of the connection to wait.
    pub(super) async fn sent(&self) {
        poll_fn(|context| {
            let mut unsent = self.unsent();
            if unsent.heads.is_empty() {
                return Poll::Ready(());
            }
            unsent.connection = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn unsent(&self) -> MutexGuard<'_, Unsent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection on which something may be said before an answer.
#[derive(Debug)]
pub(super) struct Interleaved<I> {
    stream: I,
    early: Early,
}

impl<I> Interleaved<I> {
    pub(super) fn new(stream: I, early: Early) -> Self {
        Self { stream, early }
    }
}

impl<I: AsyncWrite + Unpin> Interleaved<I> {
    fn send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut unsent = self.early.unsent();
        if !unsent.connection.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            unsent.connection = Some(context.waker().clone());
        }
        while !unsent.heads.is_empty() {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, &unsent.heads))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            unsent.heads.advance(sent);
            // The answer may wait for it.
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Interleaved<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Interleaved<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.send(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
