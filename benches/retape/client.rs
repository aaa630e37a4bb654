//! A client that costs next to nothing.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;

/// A connection that asks for one thing after the other and reads the answers to their end.
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// What of the buffer was read from the connection and not looked at.
    unread: Range<usize>,
}

/// What was read of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The beginning of its status line.
    pub status: String,
    /// Its body, chunks joined.
    pub body: Vec<u8>,
    /// The number of chunks, none if the length was announced.
    pub chunks: usize,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("it is a socket");
        Self { stream, buffer: vec![0; 256 * 1024], unread: 0..0 }
    }

    /// Sends a request and reads what comes back.
    ///
    /// # Panics
    ///
    /// If that is not an answer with status 200.
    pub fn ask(&mut self, request: &[u8]) {
        self.send(request);
        self.receive();
    }

    /// Reads the answer to a request that was sent.
    ///
    /// # Panics
    ///
    /// If it does not have the status 200.
    pub fn receive(&mut self) {
        let head = self.find(b"\r\n\r\n") + 4;
        let text = self.peek(head);
        assert!(text.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(text));
        match content_length(text) {
            Some(length) => self.pass(head + length),
            None => {
                self.pass(head);
                while self.chunk(|_| {}) {}
            }
        }
    }

    /// Sends a request and gives all of what comes back.
    pub fn fetch(&mut self, request: &[u8]) -> Answer {
        self.send(request);
        let head = self.find(b"\r\n\r\n") + 4;
        let text = self.peek(head);
        let status = String::from_utf8_lossy(&text[..text.len().min(12)]).into_owned();
        let length = content_length(text);
        self.pass(head);
        let (mut body, mut chunks) = (Vec::new(), 0);
        match length {
            Some(length) => {
                body.extend_from_slice(self.peek(length));
                self.pass(length);
            }
            None => {
                while self.chunk(|bytes| body.extend_from_slice(bytes)) {
                    chunks += 1;
                }
            }
        }
        Answer { status, body, chunks }
    }

    /// Opens a WebSocket. Gives the connection that it is now.
    ///
    /// # Panics
    ///
    /// If it is not opened.
    pub fn open(address: SocketAddr) -> Self {
        let mut client = Self::connect(address);
        client.send(b"GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
        let head = client.find(b"\r\n\r\n") + 4;
        let text = client.peek(head);
        assert!(text.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(text));
        client.pass(head);
        client
    }

    /// Sends a frame and reads so many bytes that come back.
    pub fn exchange(&mut self, frame: &[u8], length: usize) {
        self.send(frame);
        self.pass(length);
    }

    /// Sends a request.
    pub fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).expect("the server takes the request");
    }

    /// Reads a chunk; whether it was not the last one.
    fn chunk(&mut self, mut take: impl FnMut(&[u8])) -> bool {
        let line = self.find(b"\r\n");
        let length = std::str::from_utf8(self.peek(line)).expect("a length is text");
        let length = usize::from_str_radix(length, 16).expect("a length is hexadecimal");
        let end = line + 2 + length;
        take(&self.peek(end + 2)[line + 2..end]);
        self.pass(end + 2);
        length > 0
    }

    fn find(&mut self, what: &[u8]) -> usize {
        loop {
            if let Some(found) = memchr::memmem::find(&self.buffer[self.unread.clone()], what) {
                return found;
            }
            self.read();
        }
    }

    /// The next bytes, as soon as they are there.
    fn peek(&mut self, count: usize) -> &[u8] {
        while self.unread.len() < count {
            self.read();
        }
        &self.buffer[self.unread.start..self.unread.start + count]
    }

    fn pass(&mut self, count: usize) {
        self.peek(count);
        self.unread.start += count;
    }

    fn read(&mut self) {
        if self.unread.is_empty() {
            self.unread = 0..0;
        } else if self.unread.end == self.buffer.len() {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.buffer.len() {
            self.buffer.resize(2 * self.unread.end, 0);
        }
        let free = &mut self.buffer[self.unread.end..];
        let count = self.stream.read(free).expect("the server answers");
        assert!(count > 0, "the server closed the connection");
        self.unread.end += count;
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let at = memchr::memmem::find(head, b"content-length: ")? + 16;
    let digits = head[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&head[at..at + digits]).ok()?.parse().ok()
}
