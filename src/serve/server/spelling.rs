//! How the names of header fields are spelled on the wire.
//!
//! # Rationale
//!
//! hyper keeps the spelling of a head beside it, where nobody but hyper can read it. So the head of an answer is
//! overheard as it comes, and hyper reads one from memory for what it is to write.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use bytes::Bytes;
use http::{Extensions, HeaderMap, Request, Response, response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use super::chunks::{ChunkReader, ChunkSizes};
use crate::cassette::Headers;
use crate::serve::lock;

/// The head of an answer over HTTP/1.1, as it came. It stands among the extensions of the answer.
#[derive(Debug, Clone, Default)]
pub struct Head(Vec<u8>);

/// Fields of an answer, with their names as the server spelled them. `fields` are some of its head.
pub fn spelled(head: &response::Parts, fields: &HeaderMap) -> Headers {
    let written = head.extensions.get().map_or(&[][..], |Head(bytes)| bytes);
    let lines = written.split(|byte| *byte == b'\n').skip(1);
    let name = |line| str::from_utf8(split_at(line, b':')?).ok();
    let mut names: Vec<&str> = lines.filter_map(name).collect();
    let fields = fields.iter().map(|(name, value)| {
        // Fields of one name stand together here, in the order in which they came.
        let at = names.iter().position(|it| it.eq_ignore_ascii_case(name.as_str()));
        let spelled = at.map_or(name.as_str(), |at| names.remove(at));
        (spelled, Bytes::copy_from_slice(value.as_bytes()))
    });
    fields.collect()
}

fn split_at(line: &[u8], byte: u8) -> Option<&[u8]> {
    line.get(..memchr::memchr(byte, line)?)
}

/// What is overheard of the answers on a connection, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Ear(Arc<Mutex<Listening>>);

#[derive(Debug, Default)]
struct Listening {
    head: Vec<u8>,
    is_whole: bool,
    /// What reads the sizes of the chunks behind it.
    chunks: Option<ChunkReader>,
}

impl Ear {
    /// Listens to the head of the next answer.
    pub fn listen(&self) {
        *lock(&self.0) = Listening::default();
    }

    /// The head that came last.
    pub fn heard(&self) -> Head {
        let mut listening = lock(&self.0);
        Head(std::mem::take(&mut listening.head))
    }

    /// The sizes of the chunks in which the body comes behind it, if it comes in some.
    pub fn chunks(&self) -> Option<ChunkSizes> {
        lock(&self.0).chunks.as_ref().map(ChunkReader::sizes)
    }

    /// Takes what came from the server.
    pub fn hear(&self, bytes: &[u8]) {
        lock(&self.0).hear(bytes);
    }
}

impl Listening {
    /// hyper takes no head that is longer.
    const LONGEST: usize = 1 << 20;

    fn hear(&mut self, bytes: &[u8]) {
        if self.is_whole {
            self.chunks.iter_mut().for_each(|chunks| chunks.read(bytes));
            return;
        }
        let known = self.head.len().saturating_sub("\n\r".len());
        self.head.extend_from_slice(bytes);
        let mut from = known;
        while let Some(end) = end_of_head(&self.head, from) {
            // An interim answer comes before the answer; but behind 101 comes another protocol.
            let is_interim = self.head.get(b"HTTP/1.1 ".len()) == Some(&b'1')
                && !self.head[9..].starts_with(b"101");
            if !is_interim {
                let behind = self.head.split_off(end);
                self.is_whole = true;
                self.chunks = is_chunked(&self.head).then(ChunkReader::default);
                self.chunks.iter_mut().for_each(|chunks| chunks.read(&behind));
                return;
            }
            self.head.drain(..end);
            from = 0;
        }
        self.is_whole = self.head.len() > Self::LONGEST;
    }
}

/// Whether a head says that the body comes in chunks.
fn is_chunked(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.any(|line| {
        let name = split_at(line, b':').unwrap_or_default();
        let value = line[name.len()..].trim_ascii();
        let coding = &value[value.len().saturating_sub(CHUNKED.len())..];
        name.eq_ignore_ascii_case(b"transfer-encoding") && coding.eq_ignore_ascii_case(CHUNKED)
    })
}

const CHUNKED: &[u8] = b"chunked";

/// Where a head ends that has no end before `from`.
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut ends = memchr::memchr_iter(b'\n', &bytes[from..]).map(|at| from + at + 1);
    ends.find_map(|end| match bytes.get(end..)? {
        [b'\n', ..] => Some(end + 1),
        [b'\r', b'\n', ..] => Some(end + 2),
        _ => None,
    })
}

/// The names of a recorded answer, as a head that hyper can read; nothing if hyper would spell them so
/// itself.
///
/// `transfer-encoding` is in no cassette. Where it is needed, nearly all servers write it with capitals.
pub fn names(headers: &Headers) -> Option<Vec<u8>> {
    let is_chunked = !headers.contains("content-length");
    let has_capitals = |(name, _): (&str, &Bytes)| name.bytes().any(|b| b.is_ascii_uppercase());
    if !is_chunked && !headers.iter().any(has_capitals) {
        return None;
    }
    let mut head = b"GET / HTTP/1.1\r\n".to_vec();
    for (name, _) in headers.iter() {
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": 0\r\n");
    }
    head.extend_from_slice(if is_chunked {
        b"Transfer-Encoding: chunked\r\n\r\n"
    } else {
        b"\r\n"
    });
    Some(head)
}

/// What makes hyper spell the names of an answer so.
pub fn spelling(names: &[u8]) -> Extensions {
    let read = Cell::default();
    let lines = memchr::memchr_iter(b'\n', names).count();
    let wire = TokioIo::new(tokio::io::join(names, tokio::io::sink()));
    let service = service_fn(|request: Request<Incoming>| {
        read.set(request.into_parts().0.extensions);
        ready(Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())))
    });
    let mut builder = http1::Builder::new();
    // Behind the request is the end, at which hyper would answer nothing.
    builder.preserve_header_case(true).auto_date_header(false).max_headers(lines).half_close(true);
    // Memory keeps nobody waiting.
    let _ =
        pin!(builder.serve_connection(wire, service)).poll(&mut Context::from_waker(Waker::noop()));
    read.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&[u8]]) -> Head {
        let ear = Ear::default();
        ear.listen();
        pieces.iter().for_each(|piece| ear.hear(piece));
        ear.heard()
    }

    #[test]
    fn the_head_of_an_answer_is_overheard_however_it_comes() {
        let head: &[u8] = b"HTTP/1.1 200 OK\r\nETag: \"1\"\r\nX-a: 2\r\n\r\n";
        let early: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLINK: </a>\r\n\r\n";
        let all = [early, head, b"body: 1\n\n"].concat();
        let bare = b"HTTP/1.0 200 OK\nA: 1\n\nB: 2\n\n";
        let other: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUPGRADE: x\r\n\r\n";

        assert_eq!(heard(&[&all]).0, head);
        assert_eq!(heard(&all.chunks(1).collect::<Vec<_>>()).0, head);
        assert_eq!(heard(&[bare]).0, b"HTTP/1.0 200 OK\nA: 1\n\n");
        assert_eq!(heard(&[other, head]).0, other);
    }

    #[test]
    fn fields_are_named_as_they_came() {
        let written =
            b"HTTP/1.1 200 OK\r\nset-cookie: 1\r\nETag: 2\r\nGone: 3\r\nSet-Cookie: 4\r\n\r\n";
        let mut answer = Response::new(());
        for (name, value) in [("set-cookie", "1"), ("etag", "2"), ("set-cookie", "4"), ("new", "5")]
        {
            answer.headers_mut().append(name, http::HeaderValue::from_static(value));
        }
        answer.extensions_mut().insert(heard(&[written]));
        let (head, ()) = answer.into_parts();

        let spelled = spelled(&head, &head.headers);

        let names: Vec<_> = spelled.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["set-cookie", "Set-Cookie", "ETag", "new"]);
    }

    #[test]
    fn names_that_hyper_would_spell_so_need_nothing() {
        let plain = Headers::from_iter([("content-length", "1"), ("content-type", "a/b")]);

        assert_eq!(names(&plain), None);
        let damaged = Headers::from_iter([("Content-Length", "1"), ("Not a name", "1")]);
        assert!(spelling(&names(&damaged).unwrap()).is_empty());
    }
}
