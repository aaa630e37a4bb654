//! A connection that can be reset instead of closed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What an answer says to its connection: whether it is reset when it is dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct Link(Arc<AtomicBool>);

impl Link {
    /// Resets the connection when it is dropped.
    pub(super) fn reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn resets(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
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
