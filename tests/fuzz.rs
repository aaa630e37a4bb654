//! Bytes that nobody has chosen: mutations of the corpora in `fuzz/corpus`, the same ones in each run.
//!
//! `RETAPE_FUZZ=3600 cargo test --test fuzz` takes so many seconds for each target, and other mutations each time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use retape::{Mode, Session};
use sha1_smol::Sha1;

/// So many mutations are tried if no time is named.
const ROUNDS: usize = 300;

/// What stands in the way of readers.
const WORDS: [&[u8]; 16] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\r\n",
    b"\n\n",
    b"\"",
    b"\\u",
    b"{",
    b"]",
    b"9999999999999999999",
    b"-1",
    b"1e999",
    b"data: ",
    b"--b",
    b"%",
    b"<",
];

/// Bytes as they come of others by chance.
struct Mutations {
    seeds: Vec<Vec<u8>>,
    state: u64,
    until: Option<Instant>,
    round: usize,
}

impl Mutations {
    fn of(target: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        walk(&root.join("fuzz/corpus").join(target), &mut files);
        let more = match target {
            "cassette" => "cassettes/compat",
            "contract" => "cassettes/anthropic/contracts",
            _ => "fuzz/corpus/none",
        };
        walk(&root.join(more), &mut files);
        files.sort();
        let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        assert!(!seeds.is_empty(), "`{target}` has no corpus");
        let seconds = std::env::var("RETAPE_FUZZ").ok().map(|seconds| seconds.parse().unwrap());
        let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let state = until.map_or(0x9e37_79b9_7f4a_7c15, |_| now.as_nanos() as u64 | 1);
        Self { seeds, state, until, round: 0 }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % limit.max(1)
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        let size = self.below(32);
        from..(from + size).min(length)
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let range = self.range(bytes.len());
        match self.below(7) {
            0 => drop(bytes.drain(range)),
            1 => {
                let again = bytes[range.clone()].repeat(1 + self.below(4));
                bytes.splice(range.start..range.start, again);
            }
            2 => bytes.truncate(range.start),
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(range, word.iter().copied());
            }
            4 => {
                let other = self.below(self.seeds.len());
                let part = self.range(self.seeds[other].len());
                bytes.splice(range, self.seeds[other][part].to_vec());
            }
            _ if range.start < bytes.len() => bytes[range.start] ^= 1 << self.below(8),
            _ => {}
        }
    }
}

impl Iterator for Mutations {
    type Item = Vec<u8>;

    /// The corpus first, as it is.
    fn next(&mut self) -> Option<Vec<u8>> {
        let is_over = self.until.map_or(self.round >= ROUNDS, |until| Instant::now() > until);
        let round = self.round;
        self.round += 1;
        if round < self.seeds.len() {
            return Some(self.seeds[round].clone());
        }
        let one = self.below(self.seeds.len());
        let mut bytes = self.seeds[one].clone();
        (0..=self.below(6)).for_each(|_| self.mutate(&mut bytes));
        (!is_over).then_some(bytes)
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

/// Tries one input after another. One that fails is left in a file.
fn try_all(target: &str, mut one: impl FnMut(&[u8])) {
    for bytes in Mutations::of(target) {
        let begun = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| one(&bytes)));
        if done.is_err() || begun.elapsed() > Duration::from_secs(60) {
            let file = std::env::temp_dir().join(format!("retape-fuzz-{target}"));
            fs::write(&file, &bytes).unwrap();
            panic!("`{target}` fails with what is in {}", file.display());
        }
    }
}

#[test]
fn no_bytes_break_what_reads_them() {
    std::thread::scope(|scope| {
        for (target, one) in targets::TARGETS {
            scope.spawn(move || try_all(target, one));
        }
    });
}

/// A session that records what a server says, or fails to.
struct Recorder {
    runtime: tokio::runtime::Runtime,
    session: Option<Session>,
    folder: tempfile::TempDir,
}

impl Recorder {
    fn new(upstream: &str) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Self { runtime, session: None, folder };
        recorder.start(upstream);
        recorder
    }

    fn start(&mut self, upstream: &str) {
        let builder = Session::builder("tape").cassettes(self.folder.path()).mode(Mode::Record);
        let builder = builder.upstream(upstream).grace(Duration::ZERO);
        self.session = Some(self.runtime.block_on(builder.start()).unwrap());
    }

    /// What comes back for these bytes.
    fn ask(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.session.as_ref().unwrap().address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn is_well(&self) -> bool {
        let asked =
            b"GET /-/retape/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        self.ask(asked).starts_with(b"HTTP/1.1 200 ")
    }

    fn stop(&mut self) {
        drop(self.runtime.block_on(self.session.take().unwrap().stop()));
    }
}

/// A server that answers each connection with the next bytes, once it has been asked.
fn server(answers: Receiver<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (stream, answer) in listener.incoming().zip(answers) {
            let mut stream = stream.unwrap();
            let mut asked = Vec::new();
            let mut piece = [0; 4096];
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => asked.extend_from_slice(&piece[..read]),
                }
            }
            let _ = stream.write_all(&accepted(&asked, &answer));
        }
    });
    format!("http://{address}")
}

/// An answer with what opens the WebSocket that was asked for, where it stands for that.
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

#[test]
fn no_answer_of_a_server_and_no_frame_breaks_a_recorder() {
    let panics = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&panics);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // What is tried beside it may panic, and is told by its own test.
        let thread = std::thread::current();
        if thread.name().is_some_and(|name| name.starts_with("tokio")) {
            noted.lock().unwrap().push(info.to_string());
        }
        hook(info);
    }));
    let upgrade =
        b"GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    let get = b"GET /plain HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    for (target, head) in [("http", &get[..]), ("websocket", &upgrade[..])] {
        let (tell, told) = channel();
        let mut recorder = Recorder::new(&server(told));
        try_all(target, |bytes| {
            tell.send(bytes.to_vec()).unwrap();
            let frames = if target == "websocket" { bytes } else { b"" };
            recorder.ask(&[head, frames].concat());
        });
        assert!(recorder.is_well(), "{target}");
        recorder.stop();
    }
    let panics = std::mem::take(&mut *panics.lock().unwrap());
    assert_eq!(panics, Vec::<String>::new());
}

#[test]
fn no_journal_breaks_a_recorder_and_no_foreign_file_is_touched() {
    let mut recorder = Recorder::new("http://127.0.0.1:9");
    recorder.stop();
    try_all("journal", |bytes| {
        let journal = recorder.folder.path().join("tape.json.part");
        fs::write(&journal, bytes).unwrap();
        recorder.start("http://127.0.0.1:9");
        recorder.ask(b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert!(recorder.is_well());
        recorder.stop();
        let is_ours = b"{\"retape_journal\":".iter().zip(bytes).all(|(one, other)| one == other);
        assert!(is_ours || fs::read(&journal).unwrap() == bytes, "a foreign file was changed");
        recorder.folder = tempfile::tempdir().unwrap();
    });
}
