//! What is tried with a session: what a server answers, what goes over a WebSocket, and what a recorder left behind.

use std::fs;
use std::future::pending;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use retape::cassette::End;
use retape::{Cassette, Mode, Session};
use sha1_smol::Sha1;
use tokio::runtime::{Builder, Handle};

const GET: &[u8] = b"GET /plain HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

const UPGRADE: &[u8] =
    b"GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

/// What a server answers is recorded, and a cassette like any other. What came whole is answered again.
pub fn http(data: &[u8]) {
    let folder = Folder::new();
    let heard = message(&recorded(&folder.0, data, GET));
    let cassette = loaded(&folder.0, "tape");
    let replayed = session(&folder.0, Mode::Replay, "http://127.0.0.1:9");
    let again = message(&ask(replayed.address(), GET));
    let _ = runtime().block_on(replayed.stop());
    let interaction = cassette.as_ref().and_then(|cassette| cassette.interactions.first());
    let answer = interaction.and_then(|it| it.response()).filter(|it| it.end == End::Complete);
    if let Some(answer) = answer {
        let (status, body) = (format!("HTTP/1.1 {}", answer.status), answer.body.bytes());
        assert_eq!(again, (status.into_bytes(), body.to_vec()));
        // What is a secret is not kept.
        assert!(again == heard || body.windows(9).any(|part| part == b"redacted:"), "{heard:?}");
    }
}

/// So is what goes over a WebSocket. Both sides send the same.
pub fn websocket(data: &[u8]) {
    let folder = Folder::new();
    let asked = [UPGRADE, data].concat();
    recorded(&folder.0, data, &asked);
    loaded(&folder.0, "tape");
    let replayed = session(&folder.0, Mode::Replay, "http://127.0.0.1:9");
    ask(replayed.address(), &asked);
    let _ = runtime().block_on(replayed.stop());
}

/// What a recorder left behind is saved, and a foreign file is not touched.
pub fn journal(data: &[u8]) {
    let folder = Folder::new();
    let journal = folder.0.join("tape.json.part");
    fs::write(&journal, data).expect("it can be written");
    let session = session(&folder.0, Mode::Record, "http://127.0.0.1:9");
    ask(session.address(), GET);
    let _ = runtime().block_on(session.stop());
    let is_ours = b"{\"retape_journal\":".iter().zip(data).all(|(one, other)| one == other);
    let now = fs::read(&journal).unwrap_or_default();
    assert!(is_ours || now == data, "a foreign file was changed");
    let name = retape::Name::new("tape.recovered").expect("it is a name");
    if retape::store::exists(&folder.0, &name)
        && let Err(error) = retape::store::load(&folder.0, &name)
    {
        // A damaged journal may say what no client can ask. A person can mend that in the cassette.
        let why = error.to_string();
        assert!(why.contains("a path begins") || why.contains("such a method"), "{why}");
    }
}

/// What comes back while a server that answers this is recorded.
fn recorded(folder: &Path, answer: &[u8], asked: &[u8]) -> Vec<u8> {
    let session = session(folder, Mode::Record, &server(answer.to_vec()));
    let heard = ask(session.address(), asked);
    let _ = runtime().block_on(session.stop());
    heard
}

/// A folder of its own, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("retape-fuzz-{process}-{count}"));
        fs::create_dir(&path).expect("there is room");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What runs the sessions, in a thread of its own.
fn runtime() -> &'static Handle {
    static RUNTIME: OnceLock<Handle> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("it is possible");
        let handle = runtime.handle().clone();
        let thread = std::thread::Builder::new().name("tokio".to_owned());
        thread.spawn(move || runtime.block_on(pending::<()>())).expect("there is a thread");
        handle
    })
}

fn session(folder: &Path, mode: Mode, upstream: &str) -> Session {
    let builder = Session::builder("tape").cassettes(folder).mode(mode).upstream(upstream);
    let builder = builder.grace(Duration::ZERO).silence(Duration::from_secs(5));
    runtime().block_on(builder.start()).expect("it can listen")
}

/// A cassette that was saved, if one was.
fn loaded(folder: &Path, name: &str) -> Option<Cassette> {
    let name = retape::Name::new(name).expect("it is a name");
    if !retape::store::exists(folder, &name) {
        return None;
    }
    Some(retape::store::load(folder, &name).unwrap_or_else(|error| panic!("{error:?}")))
}

/// What comes back for these bytes.
fn ask(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("it is one");
    let _ = stream.write_all(bytes);
    if bytes.starts_with(UPGRADE) {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

/// The status and the body of an answer. What was said before it is left out.
fn message(answer: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let end =
        answer.windows(4).position(|end| end == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let (head, mut body) = answer.split_at(end);
    let status = head.get(..12).unwrap_or_default().to_vec();
    if status.get(9) == Some(&b'1') && status != b"HTTP/1.1 101" && !body.is_empty() {
        return message(body);
    }
    let head = String::from_utf8_lossy(head).to_lowercase();
    if !head.contains("\r\ntransfer-encoding: chunked\r\n") {
        return (status, body.to_vec());
    }
    let mut said = Vec::new();
    while let Some(line) = body.windows(2).position(|end| end == b"\r\n") {
        let size = String::from_utf8_lossy(&body[..line]).into_owned();
        let size = usize::from_str_radix(&size, 16).unwrap_or_default();
        let rest = &body[line + 2..];
        said.extend_from_slice(&rest[..size.min(rest.len())]);
        body = rest.get(size + 2..).unwrap_or_default();
        if size == 0 {
            break;
        }
    }
    (status, said)
}

/// A server that answers one connection, once it has been asked.
fn server(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = listener.local_addr().expect("it has one");
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let mut asked = Vec::new();
        let mut piece = [0; 4096];
        while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(read) => asked.extend_from_slice(&piece[..read]),
            }
        }
        let _ = stream.write_all(&accepted(&asked, &answer));
        // What was not read would reset the connection, and the answer with it.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        while let Ok(1..) = stream.read(&mut piece) {}
    });
    format!("http://{address}")
}

/// An answer behind what opens the WebSocket, where one was asked for.
fn accepted(asked: &[u8], answer: &[u8]) -> Vec<u8> {
    let asked = String::from_utf8_lossy(asked).to_lowercase();
    if !asked.contains("sec-websocket-key: ") {
        return answer.to_vec();
    }
    let proof = Sha1::from("AAAAAAAAAAAAAAAAAAAAAA==258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let proof = base64::engine::general_purpose::STANDARD.encode(proof.digest().bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {proof}\r\n\r\n"
    );
    [head.as_bytes(), answer].concat()
}
