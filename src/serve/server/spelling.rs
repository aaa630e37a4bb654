//! How the names of header fields are spelled on the wire.
//!
//! # Rationale
//!
//! hyper keeps the spelling of a head beside it, where nobody but hyper can read it. So hyper is asked: it
//! writes a head to memory, and reads one from there.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::task::{Context, Waker};

use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderValue, Request, Response, Version, response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use crate::cassette::Headers;

/// Fields of an answer, with their names as the server spelled them. `fields` are some of its head.
pub fn spelled(head: &response::Parts, fields: &HeaderMap) -> Headers {
    let written = match head.version {
        Version::HTTP_2 => Vec::new(),
        _ => in_memory(b"HEAD / HTTP/1.1\r\n\r\n", |_| {
            let mut response = Response::new(Empty::new());
            // What the fields say does not matter, and could make hyper say something else.
            let names =
                fields.iter().map(|(name, _)| (name.clone(), HeaderValue::from_static("0")));
            names.for_each(|(name, value)| _ = response.headers_mut().append(name, value));
            *response.extensions_mut() = head.extensions.clone();
            response
        }),
    };
    let written = String::from_utf8_lossy(&written);
    let names = written.lines().skip(1).map(|line| line.split(':').next().unwrap_or_default());
    let fields = fields.iter().zip(names.chain(std::iter::repeat("")));
    let fields = fields.map(|((name, value), spelled)| {
        let is_same = spelled.eq_ignore_ascii_case(name.as_str());
        (if is_same { spelled } else { name.as_str() }, Bytes::copy_from_slice(value.as_bytes()))
    });
    fields.collect()
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
    in_memory(names, |request| {
        read.set(request.into_parts().0.extensions);
        Response::new(Empty::new())
    });
    read.take()
}

/// Lets hyper read a request, and gives what it writes.
fn in_memory(
    request: &[u8],
    answer: impl Fn(Request<Incoming>) -> Response<Empty<Bytes>>,
) -> Vec<u8> {
    let lines = memchr::memchr_iter(b'\n', request).count();
    let mut written = Vec::new();
    let wire = TokioIo::new(tokio::io::join(request, &mut written));
    let service = service_fn(|request| ready(Ok::<_, Infallible>(answer(request))));
    let mut builder = http1::Builder::new();
    // Behind the request is the end, at which hyper would answer nothing.
    builder.preserve_header_case(true).auto_date_header(false).max_headers(lines).half_close(true);
    // Memory keeps nobody waiting.
    let _ =
        pin!(builder.serve_connection(wire, service)).poll(&mut Context::from_waker(Waker::noop()));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_spelled() {
        for fields in [
            &["Content-Type", "content-length", "ETag", "X-A", "x-a", "X-a"][..],
            &["Set-Cookie", "WWW-Authenticate", "set-cookie"],
            &["content-type", "server"],
            &[],
        ] {
            let recorded: Headers = fields.iter().map(|name| (*name, "0")).collect();
            let mut answer = Response::new(());
            for name in fields {
                let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
                answer.headers_mut().append(name, HeaderValue::from_static("0"));
            }
            let (mut head, ()) = answer.into_parts();
            head.extensions = names(&recorded).map(|names| spelling(&names)).unwrap_or_default();

            let spelled = spelled(&head, &head.headers);

            let sorted = |headers: &Headers| {
                let mut names: Vec<_> = headers.iter().map(|(name, _)| name.to_owned()).collect();
                names.sort_by_key(|name| name.to_ascii_lowercase());
                names
            };
            assert_eq!(sorted(&spelled), sorted(&recorded));
        }
    }

    #[test]
    fn names_that_hyper_would_spell_so_need_nothing() {
        let plain = Headers::from_iter([("content-length", "1"), ("content-type", "a/b")]);

        assert_eq!(names(&plain), None);
        let damaged = Headers::from_iter([("Content-Length", "1"), ("Not a name", "1")]);
        assert!(spelling(&names(&damaged).unwrap()).is_empty());
    }
}
