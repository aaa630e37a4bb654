//! A client that shows what it gets.

use std::net::SocketAddr;

use super::wire::{Chunk, Framing, Head, Wire};

/// An answer, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub reason: String,
    pub head: Head,
    /// The payloads of the chunks, where the body was chunked.
    pub chunks: Vec<Vec<u8>>,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    pub cut: bool,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.field(name)
    }
}

/// The address in `http://ADDRESS/…`, and the path behind it.
pub fn split(url: &str) -> (SocketAddr, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    let at = rest.find('/').unwrap_or(rest.len());
    (rest[..at].parse().unwrap(), &rest[at..])
}

/// Asks with `GET`.
pub fn get(url: &str) -> Reply {
    ask("GET", url, "", "")
}

/// Asks with `POST` and a JSON body.
pub fn post(url: &str, json: &str) -> Reply {
    ask("POST", url, "Content-Type: application/json\r\n", json)
}

/// Asks on a connection of its own. `fields` are lines that end in CR LF.
pub fn ask(method: &str, url: &str, fields: &str, body: &str) -> Reply {
    let (address, _) = split(url);
    let mut wire = Wire::connect(address);
    wire.send(request(method, url, fields, body));
    reply(&mut wire, method)
}

/// The bytes of a request.
pub fn request(method: &str, url: &str, fields: &str, body: &str) -> String {
    let (address, path) = split(url);
    let path = if path.is_empty() { "/" } else { path };
    let length = match body.len() {
        0 => String::new(),
        length => format!("Content-Length: {length}\r\n"),
    };
    format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{fields}{length}\r\n{body}")
}

/// Reads an answer to a request of that method.
#[track_caller]
pub fn reply(wire: &mut Wire, method: &str) -> Reply {
    let head = wire.head().expect("the connection ended before an answer came");
    body(wire, method, head)
}

/// Reads the rest of an answer whose head was read.
pub fn body(wire: &mut Wire, method: &str, head: Head) -> Reply {
    let mut words = head.line.splitn(3, ' ').skip(1);
    let status: u16 = words.next().unwrap().parse().unwrap();
    let reason = words.next().unwrap_or_default().to_owned();
    let mut reply = Reply {
        status,
        reason,
        chunks: Vec::new(),
        body: Vec::new(),
        trailers: Vec::new(),
        cut: false,
        head,
    };
    if method == "HEAD" || matches!(status, 100..200 | 204 | 304) {
        return reply;
    }
    match reply.head.framing() {
        Framing::Length(length) => {
            reply.body = wire.up_to(length);
            reply.cut = reply.body.len() < length;
        }
        Framing::Close => reply.body = wire.rest(),
        Framing::Chunked => loop {
            match wire.chunk() {
                Chunk::Data(bytes) => {
                    reply.body.extend_from_slice(&bytes);
                    reply.chunks.push(bytes);
                }
                Chunk::End(trailers) => {
                    reply.trailers = trailers;
                    break;
                }
                Chunk::Cut => {
                    reply.cut = true;
                    break;
                }
            }
        },
    }
    reply
}
