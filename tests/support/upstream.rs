//! A scripted server.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::gate::Gate;
use super::wire::{Chunk, Framing, Head, Wire};

/// A scripted server on a free port. Each connection has a thread of its own.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    stopped: Arc<AtomicBool>,
}

/// A request as it was received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    pub head: Head,
    pub body: Vec<u8>,
}

/// What a script does with the connection next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    KeepAlive,
    Close,
    Reset,
}

/// The base address of a server that is not there, and that no other test starts: its port is taken, and
/// nobody listens at it.
pub fn nobody() -> String {
    #[cfg(unix)]
    let address = {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
        let taken = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&taken, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = getsockname(&taken).unwrap();
        std::mem::forget(taken);
        SocketAddr::try_from(address).unwrap()
    };
    #[cfg(not(unix))]
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    format!("http://{address}")
}

impl Upstream {
    /// Answers each request by the script.
    pub fn start(script: impl Fn(&Asked, &mut Wire) -> Then + Send + Sync + 'static) -> Self {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let note = Arc::clone(&asked);
        let mut upstream = Self::raw(move |mut wire| {
            while let Some(request) = Asked::read(&mut wire) {
                note.lock().unwrap().push(request.clone());
                match script(&request, &mut wire) {
                    Then::KeepAlive => {}
                    Then::Close => return,
                    Then::Reset => return wire.reset(),
                }
            }
        });
        upstream.asked = asked;
        upstream
    }

    /// Leaves connections to the script.
    pub fn raw(script: impl Fn(Wire) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stopped);
        let script = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_stopped.load(Ordering::SeqCst) {
                    return;
                }
                let script = Arc::clone(&script);
                std::thread::spawn(move || script(Wire::new(stream)));
            }
        });
        Self { address, asked: Arc::default(), stopped }
    }

    /// Answers every request with the same bytes.
    pub fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_, wire| {
            wire.send(&answer);
            Then::KeepAlive
        })
    }

    /// Answers every request with JSON that is made from it.
    pub fn json(answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        Self::start(move |asked, wire| {
            wire.send(json(200, &answer(asked)));
            Then::KeepAlive
        })
    }

    /// Answers every request with what it asks for: `["/v1/agents"]`.
    pub fn echo() -> Self {
        Self::json(|asked| format!("[\"{}\"]", asked.path()))
    }

    /// Answers with `{"a":1}`, and at `/stream` with two events and no end until the gate is open.
    pub fn endless(never: &Gate) -> Self {
        let never = never.clone();
        Self::start(move |asked, wire| {
            if asked.path() != "/stream" {
                wire.send(json(200, "{\"a\":1}"));
                return Then::KeepAlive;
            }
            wire.send(EVENTS);
            wire.send_chunk("data: 1\n\n");
            wire.send_chunk("data: 2\n\n");
            never.pass();
            Then::Close
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was asked so far, where each request is answered by a script.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = std::net::TcpStream::connect(self.address);
    }
}

impl Asked {
    /// Reads the next request; `None` if there is none.
    pub fn read(wire: &mut Wire) -> Option<Self> {
        let head = wire.head()?;
        let mut body = Vec::new();
        match head.framing() {
            Framing::Length(length) => body = wire.exactly(length)?,
            Framing::Chunked => {
                while let Chunk::Data(bytes) = wire.chunk() {
                    body.extend(bytes);
                }
            }
            Framing::Close => {}
        }
        Some(Self { head, body })
    }

    /// `/v1/agents?limit=1`
    pub fn path(&self) -> &str {
        self.head.line.split(' ').nth(1).unwrap()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The bytes of a JSON answer with its length.
pub fn json(status: u16, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// The head of a stream of events.
pub const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
