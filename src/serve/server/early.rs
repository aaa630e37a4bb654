//! What is said to a client before its answer, and behind it.
//!
//! # Rationale
//!
//! hyper has no way to send an interim answer. It writes nothing of an answer before it has one, so what is
//! to stand before that can be written to the connection whenever hyper has nothing left to write.
//!
//! It sends trailers only to a client that asks for them, and only those that the head names. Servers send
//! others too, and clients read them. So an answer ends when hyper has nothing left to write but its last
//! chunk, and the trailers take the place of that one.
//!
//! And it drops what it has not written yet of an answer that is cut. So an answer is cut when a flush finds
//! nothing to write.
//!
//! And it refuses a request by itself that is none by its rules, without saying which. So the line in which a request
//! begins is looked at here as well.

use std::error::Error;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf as _, BytesMut};
use http::{HeaderMap, StatusCode, Uri};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::serve::lock;

/// The last chunk of a body without trailers, as hyper writes it.
const LAST: &[u8] = b"0\r\n\r\n";

/// No first line of a request is longer.
const LONGEST: usize = 64 << 10;

/// How a client begins that speaks TLS (RFC 8446, section 5.1).
const HANDSHAKE: &[u8] = &[0x16, 0x03];

/// Where interim answers to the request of a connection of HTTP/1.1 are said. It stands among the extensions
/// of the request.
#[derive(Debug, Clone, Default)]
pub struct Early(Arc<Mutex<Unsent>>);

#[derive(Debug, Default)]
struct Unsent {
    heads: BytesMut,
    /// The fields that the answer at hand ends with.
    trailers: Option<BytesMut>,
    /// The request that came last, if it cannot be read.
    unread: Option<Unread>,
    /// The method and the target of the request that came last.
    line: Vec<u8>,
    /// The first line of a request of which the end has not come: of a connection hyper reads a few bytes first.
    begun: Vec<u8>,
    /// Whether anything has come.
    is_begun: bool,
    /// The task of the connection.
    connection: Option<Waker>,
    /// Whether anything was written since the last flush.
    has_written: bool,
    /// How many flushes found nothing to write while an answer waited for that.
    idle: usize,
    /// The answers that wait for that. HTTP/2 has several.
    waiting: Vec<Waker>,
}

/// A request that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// Because of what stands in its target.
    Target {
        /// `GET`, `POST`, …
        method: String,
        /// What it asks for, as it came.
        target: String,
        /// What is not encoded there.
        sign: char,
    },
    /// Because of what stands in its head.
    Head {
        /// `GET`, `POST`, …
        method: String,
        /// What it asks for, as it came.
        target: String,
        /// What hyper says of it.
        why: String,
    },
    /// Because the client speaks TLS.
    Tls,
}

/// How many flushes have found nothing to write by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Idle(usize);

impl Early {
    /// Says an interim answer.
    pub fn say(&self, status: StatusCode, headers: &HeaderMap) {
        let mut unsent = self.unsent();
        let line = format!("HTTP/1.1 {status}\r\n");
        unsent.heads.extend_from_slice(line.as_bytes());
        write_fields(&mut unsent.heads, headers);
        unsent.connection.iter().for_each(Waker::wake_by_ref);
    }

    /// Says what an answer in chunks ends with, of which all else is written.
    pub(super) fn end_with(&self, trailers: &HeaderMap) {
        let mut fields = BytesMut::new();
        write_fields(&mut fields, trailers);
        self.unsent().trailers = Some(fields);
    }

    /// From when on an answer may wait until all that it gave is written.
    pub(super) fn idle(&self) -> Idle {
        Idle(self.unsent().idle)
    }

    /// Waits until all is written that hyper was given before `since`.
    pub(super) fn poll_written(&self, since: Idle, context: &Context<'_>) -> Poll<()> {
        let mut unsent = self.unsent();
        // Over HTTP/2 the connection is another task. It may have been about to flush at that moment, and not
        // have seen what hyper was given: the second flush comes after a look at that.
        if unsent.idle >= since.0 + 2 {
            return Poll::Ready(());
        }
        unsent.waiting.push(context.waker().clone());
        unsent.connection.iter().for_each(Waker::wake_by_ref);
        Poll::Pending
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

    /// Nothing of what hyper has written is left here.
    fn flushed(&self, context: &Context<'_>) {
        let mut unsent = self.unsent();
        let has_written = std::mem::take(&mut unsent.has_written);
        if unsent.waiting.is_empty() {
            return;
        }
        if has_written {
            context.waker().wake_by_ref();
            return;
        }
        unsent.idle += 1;
        unsent.waiting.drain(..).for_each(Waker::wake);
    }

    /// The request that came last, if it cannot be read, as the error says with which the connection has ended.
    pub(super) fn unread(&self, error: &(dyn Error + 'static)) -> Option<Unread> {
        let mut unsent = self.unsent();
        let of_head = || {
            let error = error.downcast_ref::<hyper::Error>().filter(|error| error.is_parse())?;
            // What is wrong in its beginning is refused before the end has come.
            let line = if unsent.begun.is_empty() { &unsent.line } else { &unsent.begun };
            let line = String::from_utf8_lossy(line);
            let (method, target) = line.split_once(' ')?;
            let [method, target] = [method, target].map(str::to_owned);
            Some(Unread::Head { method, target, why: error.to_string() })
        };
        let of_head = of_head();
        unsent.unread.take().or(of_head)
    }

    /// Whether anything has come.
    pub(super) fn is_begun(&self) -> bool {
        self.unsent().is_begun
    }

    /// Looks at what has come, which most often begins with a request if it holds the first line of one.
    fn look_at(&self, bytes: &[u8]) {
        let mut unsent = self.unsent();
        let is_first = !std::mem::replace(&mut unsent.is_begun, true);
        let mut line = std::mem::take(&mut unsent.begun);
        let bytes = if !line.is_empty() || begins_a_line(bytes) {
            line.extend_from_slice(bytes);
            if memchr::memchr(b'\n', bytes).is_none() && line.len() < LONGEST {
                unsent.begun = line;
                return;
            }
            &line
        } else {
            bytes
        };
        if let Some((method, target)) = first_line(bytes) {
            unsent.line.clear();
            [method, b" ", target].iter().for_each(|part| unsent.line.extend_from_slice(part));
            unsent.unread = Unread::of(method, target);
        } else if is_first && bytes.starts_with(HANDSHAKE) {
            unsent.unread = Some(Unread::Tls);
        }
    }

    fn unsent(&self) -> MutexGuard<'_, Unsent> {
        lock(&self.0)
    }
}

impl Unread {
    fn of(method: &[u8], target: &[u8]) -> Option<Self> {
        let sign = target.iter().find(|byte| br#""<>`"#.contains(byte))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let is_read = Uri::try_from(target).is_ok();
        (!is_read).then(|| Self::Target {
            method: text(method),
            target: text(target),
            sign: char::from(*sign),
        })
    }
}

/// Whether a request may begin there of whose first line the end has not come.
fn begins_a_line(bytes: &[u8]) -> bool {
    let method = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    method > 0
        && bytes.get(method).is_none_or(|byte| *byte == b' ')
        && memchr::memchr(b'\n', bytes).is_none()
}

/// The method and the target of the request that begins there, if it does.
fn first_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = bytes[..memchr::memchr(b'\n', bytes)?].trim_ascii_end();
    let asked = line.strip_suffix(b" HTTP/1.1").or_else(|| line.strip_suffix(b" HTTP/1.0"))?;
    let space = memchr::memchr(b' ', asked)?;
    Some((&asked[..space], &asked[space + 1..]))
}

fn write_fields(to: &mut BytesMut, fields: &HeaderMap) {
    for (name, value) in fields {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            to.extend_from_slice(part);
        }
    }
    to.extend_from_slice(b"\r\n");
}

/// A connection on which something may be said before an answer, and behind it.
#[derive(Debug)]
pub(super) struct Interleaved<I> {
    stream: I,
    early: Early,
    /// What is left of an end with trailers.
    end: BytesMut,
}

impl<I> Interleaved<I> {
    pub(super) fn new(stream: I, early: Early) -> Self {
        Self { stream, early, end: BytesMut::new() }
    }
}

impl<I: AsyncWrite + Unpin> Interleaved<I> {
    fn send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut unsent = self.early.unsent();
        if !unsent.connection.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            unsent.connection = Some(context.waker().clone());
        }
        if unsent.heads.is_empty() {
            return Poll::Ready(Ok(()));
        }
        ready!(write_all(&mut self.stream, context, &mut unsent.heads))?;
        // The answer may wait for it.
        context.waker().wake_by_ref();
        Poll::Ready(Ok(()))
    }

    /// Sends the end of an answer. Nothing overtakes it.
    fn send_end(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        write_all(&mut self.stream, context, &mut self.end)
    }

    /// Takes the last chunk for one with the trailers, and says how long it was. Where something else is
    /// written, the answer has no place for them.
    fn take_last(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut unsent = self.early.unsent();
        unsent.has_written = true;
        let fields = unsent.trailers.take()?;
        if !bytes.starts_with(LAST) {
            return None;
        }
        self.end.extend_from_slice(b"0\r\n");
        self.end.extend_from_slice(&fields);
        Some(LAST.len())
    }
}

fn write_all(
    stream: &mut (impl AsyncWrite + Unpin),
    context: &mut Context<'_>,
    bytes: &mut BytesMut,
) -> Poll<io::Result<()>> {
    while !bytes.is_empty() {
        let sent = ready!(Pin::new(&mut *stream).poll_write(context, bytes))?;
        if sent == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        bytes.advance(sent);
    }
    Poll::Ready(Ok(()))
}

impl<I: AsyncRead + Unpin> AsyncRead for Interleaved<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.early.look_at(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Interleaved<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.send_end(context))?;
        if let Some(taken) = self.take_last(bytes) {
            return Poll::Ready(Ok(taken));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.send_end(context))?;
        let first = pieces.iter().find(|piece| !piece.is_empty());
        if let Some(taken) = first.and_then(|bytes| self.take_last(bytes)) {
            return Poll::Ready(Ok(taken));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.send_end(context))?;
        ready!(self.send(context))?;
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.early.flushed(context);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.send_end(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
