//! One end of a connection: HTTP/1.1 read as it is written.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::LIMIT;

/// One end of a connection.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// The first line and the fields of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    pub line: String,
    pub fields: Vec<(String, String)>,
}

/// How the end of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Length(usize),
    Chunked,
    Close,
}

/// What comes next in a chunked body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunk {
    Data(Vec<u8>),
    End(Vec<(String, String)>),
    /// The connection ended here.
    Cut,
}

impl Wire {
    pub fn connect(address: SocketAddr) -> Self {
        Self::new(TcpStream::connect(address).unwrap())
    }

    pub fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        Self { stream, unread: Vec::new() }
    }

    pub fn address(&self) -> SocketAddr {
        self.stream.local_addr().unwrap()
    }

    /// Sends these bytes at once. A peer that has gone is no failure of the test.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Sends a chunk of a chunked body.
    pub fn send_chunk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.send(chunk);
    }

    /// Sends the last chunk.
    pub fn send_end(&mut self) {
        self.send("0\r\n\r\n");
    }

    /// Ends the sending side.
    pub fn close(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Ends the connection at once, with a reset.
    #[cfg(unix)]
    pub fn reset(self) {
        let zero = Some(std::time::Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&self.stream, zero).unwrap();
    }

    /// Waits until the peer has closed its side.
    pub fn wait_for_end(&mut self) {
        let mut rest = [0; 1024];
        while matches!(self.stream.read(&mut rest), Ok(1..)) {}
    }

    /// Gives what was sent the time to be read: a reset would overtake it. There is no signal for it
    /// that does not need the peer's help.
    pub fn wait_for_delivery(&self) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    /// Whether the peer sends nothing and does not close for that long.
    pub fn is_silent(&mut self, time: std::time::Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let silent = self.unread.is_empty() && self.stream.peek(&mut [0]).is_err();
        self.stream.set_read_timeout(Some(LIMIT)).unwrap();
        silent
    }

    /// Whether something has come, or the end.
    pub fn has_come(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let has_come = !self.unread.is_empty() || self.stream.peek(&mut [0]).is_ok();
        self.stream.set_nonblocking(false).unwrap();
        has_come
    }

    /// The next message's head; `None` if the connection ended before it.
    pub fn head(&mut self) -> Option<Head> {
        let text = self.through(b"\r\n\r\n")?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut lines = text.split("\r\n");
        let line = lines.next().unwrap().to_owned();
        let fields = lines.filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        Some(Head { line, fields: fields.collect() })
    }

    /// The next chunk of a chunked body.
    pub fn chunk(&mut self) -> Chunk {
        let Some(size) = self.through(b"\r\n") else { return Chunk::Cut };
        let size = String::from_utf8(size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            return self.trailers();
        }
        match self.exactly(size + 2) {
            Some(mut bytes) => {
                bytes.truncate(size);
                Chunk::Data(bytes)
            }
            None => Chunk::Cut,
        }
    }

    /// The payload of the next chunk.
    #[track_caller]
    pub fn data(&mut self) -> String {
        match self.chunk() {
            Chunk::Data(bytes) => String::from_utf8(bytes).unwrap(),
            other => panic!("a chunk was expected: {other:?}"),
        }
    }

    /// So many bytes; `None` if the connection ended before.
    pub fn exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        Some(self.up_to(count)).filter(|bytes| bytes.len() == count)
    }

    /// So many bytes, or those that came before the connection ended.
    pub fn up_to(&mut self, count: usize) -> Vec<u8> {
        while self.unread.len() < count && self.fill() {}
        let rest = self.unread.split_off(count.min(self.unread.len()));
        std::mem::replace(&mut self.unread, rest)
    }

    /// Everything up to the end of the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.unread)
    }

    fn trailers(&mut self) -> Chunk {
        let mut fields = Vec::new();
        loop {
            let Some(line) = self.through(b"\r\n") else { return Chunk::Cut };
            let line = String::from_utf8(line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else {
                return Chunk::End(fields);
            };
            fields.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    fn through(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            let found = self.unread.windows(end.len()).position(|window| window == end);
            if let Some(at) = found {
                let rest = self.unread.split_off(at + end.len());
                return Some(std::mem::replace(&mut self.unread, rest));
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn fill(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.unread.extend_from_slice(&buffer[..count]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("nothing came for {LIMIT:?}")
            }
            // A reset.
            Err(_) => false,
        }
    }
}

impl Head {
    /// The first value of that name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields_of(name).first().copied()
    }

    /// All values of that name.
    pub fn fields_of(&self, name: &str) -> Vec<&str> {
        let of = |(other, _): &&(String, String)| other.eq_ignore_ascii_case(name);
        self.fields.iter().filter(of).map(|(_, value)| value.as_str()).collect()
    }

    /// How the body of this message is framed; that of a request has no body without a length.
    pub fn framing(&self) -> Framing {
        if self.field("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            return Framing::Chunked;
        }
        match self.field("content-length") {
            Some(length) => Framing::Length(length.parse().unwrap()),
            None => Framing::Close,
        }
    }
}
