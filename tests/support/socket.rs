//! Both ends of a WebSocket.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket};

use super::LIMIT;

/// A scripted server of WebSockets on a free port. Each connection has a thread of its own.
#[derive(Debug)]
pub struct Sockets {
    address: std::net::SocketAddr,
}

/// A connection.
#[derive(Debug)]
pub struct Socket {
    pub inner: WebSocket<TcpStream>,
    /// What was asked for, or what the answer to it was.
    pub fields: Vec<(String, String)>,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Closed(u16, String),
    Cut,
}

impl Sockets {
    /// Plays a script to each connection. A subprotocol that is asked for first is taken.
    pub fn start(script: impl Fn(&mut Socket) + Send + Sync + 'static) -> Self {
        Self::admitting(|| None, script)
    }

    /// The same, but refuses those that get a status and a `retry-after`.
    pub fn admitting(
        refuse: impl Fn() -> Option<(u16, &'static str)> + Send + Sync + 'static,
        script: impl Fn(&mut Socket) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new((refuse, script));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let script = Arc::clone(&script);
                std::thread::spawn(move || {
                    let (refuse, script) = &*script;
                    let Some(mut socket) = accept(stream, refuse()) else { return };
                    script(&mut socket);
                    while socket.inner.read().is_ok() {}
                });
            }
        });
        Self { address }
    }

    /// Answers each message, until the client closes. A client that breaks the protocol is left.
    pub fn answering(answer: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self::start(move |socket| {
            loop {
                match socket.read() {
                    Ok(text) => answer(&text).iter().for_each(|text| socket.send(text)),
                    Err(Ended::Cut) => return socket.leave(),
                    Err(Ended::Closed(..)) => return,
                }
            }
        })
    }

    /// Says back what it is told.
    pub fn echo() -> Self {
        Self::start(|socket| {
            while let Ok(message) = socket.inner.read() {
                if (message.is_text() || message.is_binary()) && socket.inner.send(message).is_err()
                {
                    return;
                }
            }
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn accept(stream: TcpStream, refusal: Option<(u16, &str)>) -> Option<Socket> {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut fields = Vec::new();
    #[expect(clippy::result_large_err, reason = "the type is tungstenite's")]
    let answer = |asked: &Request, mut answer: Response| {
        fields = all(asked.headers());
        if let Some((status, wait)) = refusal {
            let refused = tungstenite::http::Response::builder().status(status);
            return Err(refused.header("retry-after", wait).body(None).unwrap());
        }
        if let Some(first) = asked.headers().get("sec-websocket-protocol") {
            let first = first.to_str().unwrap().split(',').next().unwrap().trim().to_owned();
            answer.headers_mut().insert("sec-websocket-protocol", first.parse().unwrap());
        }
        Ok(answer)
    };
    let inner = tungstenite::accept_hdr(stream, answer).ok()?;
    Some(Socket { inner, fields })
}

fn all(headers: &tungstenite::http::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &tungstenite::http::HeaderValue| value.to_str().unwrap().to_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

impl Socket {
    /// Opens one at `http://…`.
    pub fn open(url: &str) -> Self {
        Self::open_with(url, &[])
    }

    pub fn open_with(url: &str, fields: &[(&str, &str)]) -> Self {
        Self::try_open(url, fields).unwrap()
    }

    /// The status, if it is not opened.
    pub fn try_open(url: &str, fields: &[(&str, &str)]) -> Result<Self, u16> {
        let authority = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        Self::over(TcpStream::connect(authority).unwrap(), url, fields)
    }

    /// Over a connection that leads there.
    pub fn over(stream: TcpStream, url: &str, fields: &[(&str, &str)]) -> Result<Self, u16> {
        let rest = url.strip_prefix("http://").unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let mut request =
            tungstenite::client::IntoClientRequest::into_client_request(format!("ws://{rest}"))
                .unwrap();
        for (name, value) in fields {
            let name: tungstenite::http::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((inner, answer)) => Ok(Self { inner, fields: all(answer.headers()) }),
            Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub fn send(&mut self, text: &str) {
        // Whoever is gone does not listen.
        let _ = self.inner.send(Message::text(text));
    }

    /// The next message.
    pub fn read(&mut self) -> Result<String, Ended> {
        loop {
            match self.inner.read() {
                Ok(Message::Text(text)) => return Ok(text.to_string()),
                Ok(Message::Binary(bytes)) => return Ok(format!("{bytes:?}")),
                Ok(Message::Close(frame)) => {
                    let _ = self.inner.flush();
                    let frame = frame.map(|it| (it.code.into(), it.reason.to_string()));
                    let (code, reason) = frame.unwrap_or((1005, String::new()));
                    return Err(Ended::Closed(code, reason));
                }
                Ok(_) => {}
                Err(_) => return Err(Ended::Cut),
            }
        }
    }

    /// So many messages.
    #[track_caller]
    pub fn read_all(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.read().unwrap()).collect()
    }

    /// Sends a message and reads the next one.
    #[track_caller]
    pub fn ask(&mut self, text: &str) -> String {
        self.send(text);
        self.read().unwrap()
    }

    /// Gives up the connection, and reads nothing more.
    pub fn leave(&self) {
        let _ = self.inner.get_ref().shutdown(Shutdown::Both);
    }

    /// Lets the connection end with a reset as soon as nobody reads.
    pub fn reset(&self) {
        #[cfg(unix)]
        rustix::net::sockopt::set_socket_linger(self.inner.get_ref(), Some(Duration::ZERO))
            .unwrap();
        let _ = self.inner.get_ref().shutdown(Shutdown::Read);
    }

    /// Waits no longer than that for a message.
    pub fn patience(&self, time: Duration) {
        self.inner.get_ref().set_read_timeout(Some(time)).unwrap();
    }

    /// Closes the connection, and waits for the other side.
    pub fn close(&mut self, code: u16, reason: &str) {
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.to_owned().into() };
        let _ = self.inner.close(Some(frame));
        while self.inner.read().is_ok() {}
    }
}
