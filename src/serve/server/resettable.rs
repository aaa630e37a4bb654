//! A connection that can be reset instead of closed, and tells when it takes no more.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::serve::lock;

/// What an answer knows of its connection, and says to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Link(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether it is reset when it is dropped.
    resets: AtomicBool,
    /// Whether it takes nothing more until the client has read.
    is_full: AtomicBool,
    /// Who waits until it does.
    waiting: Mutex<Option<Waker>>,
}

impl Link {
    /// Resets the connection when it is dropped.
    pub(super) fn reset(&self) {
        self.0.resets.store(true, Ordering::Relaxed);
    }

    fn resets(&self) -> bool {
        self.0.resets.load(Ordering::Relaxed)
    }

    /// Waits until the connection takes more.
    pub(super) fn poll_room(&self, context: &Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.0.waiting);
        if !self.0.is_full.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        *waiting = Some(context.waker().clone());
        Poll::Pending
    }

    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        if self.0.is_full.swap(written.is_pending(), Ordering::Relaxed) && written.is_ready() {
            let waiting = lock(&self.0.waiting).take();
            waiting.into_iter().for_each(Waker::wake);
        }
        written
    }
}

/// A connection that is reset when it is dropped, if that is demanded.
#[derive(Debug)]
pub(super) struct Resettable {
    stream: TcpStream,
    link: Link,
}

impl Resettable {
    pub(super) fn new(stream: TcpStream, link: Link) -> Self {
        Self { stream, link }
    }
}

impl Drop for Resettable {
    fn drop(&mut self) {
        if self.link.resets() {
            // If that fails, the client finds the connection closed.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Resettable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Resettable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.link.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.link.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A client that was told of the end would see it before the reset.
        if self.link.resets() {
            Poll::Ready(Ok(()))
        } else {
            Pin::new(&mut self.stream).poll_shutdown(context)
        }
    }
}
