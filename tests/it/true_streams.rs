//! Whatever a server sends: a client that asks it directly, one whose request is recorded, and one
//! that is answered from the recording receive the same.

use std::cell::Cell;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use crate::stage::Stage;
use crate::support::client::{Reply, ask};
use crate::support::upstream::{Then, Upstream};

/// Streams per case times cases: at least a thousand.
const STREAMS: usize = 40;
const CASES: u32 = 30;

/// An answer as the server is to send it.
#[derive(Debug, Clone)]
struct Scripted {
    method: &'static str,
    status: &'static str,
    fields: Vec<String>,
    framing: Framing,
    /// In the pieces in which it is written.
    body: Vec<Vec<u8>>,
    trailers: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Chunked,
    Length,
    Close,
    /// No body and nothing about one.
    Nothing,
}

/// A body and what it is.
#[derive(Debug, Clone)]
struct Content {
    fields: Vec<String>,
    body: Vec<Vec<u8>>,
}

/// Stands for the server's own address.
const HERE: &str = "http://HERE";

impl Scripted {
    /// The bytes on the wire, in the pieces in which they are sent.
    fn wire(&self, origin: &str) -> Vec<Vec<u8>> {
        let body: Vec<Vec<u8>> = self.body.iter().map(|piece| here(piece, origin)).collect();
        let length: usize = body.iter().map(Vec::len).sum();
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        self.fields.iter().for_each(|field| head.push_str(&format!("{field}\r\n")));
        match self.framing {
            Framing::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
            Framing::Length => head.push_str(&format!("Content-Length: {length}\r\n")),
            Framing::Close | Framing::Nothing => {}
        }
        if !self.trailers.is_empty() {
            head.push_str("Trailer: x-sum, x-more\r\n");
        }
        let mut wire = vec![here(format!("{head}\r\n").as_bytes(), origin)];
        if !self.has_body() {
            return wire;
        }
        match self.framing {
            Framing::Chunked => {
                wire.extend(body.iter().map(|piece| {
                    let size = format!("{:x}\r\n", piece.len());
                    [size.as_bytes(), piece, b"\r\n"].concat()
                }));
                let trailers: String =
                    self.trailers.iter().map(|field| format!("{field}\r\n")).collect();
                wire.push(format!("0\r\n{trailers}\r\n").into_bytes());
            }
            _ => wire.extend(body),
        }
        wire
    }

    fn has_body(&self) -> bool {
        self.method != "HEAD" && !self.status.starts_with("204") && !self.status.starts_with("304")
    }

    /// Whether the chunks that a client sees are those of the server: not if they are so large that
    /// one may be read in two goes, or end in what may be the beginning of an address.
    fn keeps_chunks(&self) -> bool {
        let size: usize = self.body.iter().map(Vec::len).sum();
        let undecided = |piece: &Vec<u8>| {
            (1..HERE.len()).any(|length| piece.ends_with(&HERE.as_bytes()[..length]))
        };
        size < 4096 && !self.body.iter().any(undecided)
    }
}

fn here(text: &[u8], origin: &str) -> Vec<u8> {
    replaced(text, HERE, origin)
}

fn replaced(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from.as_bytes()) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to.as_bytes());
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn scripted() -> impl Strategy<Value = Scripted> {
    let framing = prop_oneof![
        5 => Just(Framing::Chunked),
        3 => Just(Framing::Length),
        2 => Just(Framing::Close),
        1 => Just(Framing::Nothing),
    ];
    let method = prop_oneof![6 => Just("GET"), 3 => Just("POST"), 1 => Just("HEAD")];
    let status = prop_oneof![
        10 => Just("200 OK"),
        1 => Just("204 No Content"),
        1 => Just("304 Not Modified"),
        1 => Just("404 Not Found"),
        1 => Just("200 Fine By Me"),
        1 => Just("299 Odd"),
        1 => Just("529 Site is overloaded"),
        1 => Just("599 "),
        1 => Just("307 Temporary Redirect"),
    ];
    let trailers = prop_oneof![
        5 => Just(vec![]),
        1 => Just(vec!["x-sum: 1"]),
        1 => Just(vec!["x-sum: 1", "x-more: a", "x-more: b"]),
    ];
    (method, status, content(), extra(), framing, trailers).prop_map(
        |(method, status, content, extra, framing, trailers)| {
            let mut scripted = Scripted {
                method,
                status,
                fields: [content.fields, extra].concat(),
                framing,
                body: content.body,
                trailers,
            };
            if framing == Framing::Nothing && scripted.has_body() {
                scripted.framing = Framing::Length;
            }
            // RFC 9110, section 8.6: there must be no length.
            if scripted.status.starts_with("204") {
                scripted.framing = Framing::Nothing;
            }
            if scripted.framing != Framing::Chunked || !scripted.has_body() {
                scripted.trailers = vec![];
            }
            if scripted.framing == Framing::Chunked {
                scripted.body.retain(|piece| !piece.is_empty());
            }
            scripted
        },
    )
}

fn extra() -> impl Strategy<Value = Vec<String>> {
    let field = prop_oneof![
        Just("Date: Fri, 20 Nov 2026 10:00:00 GMT".to_owned()),
        Just("server: uvicorn".to_owned()),
        Just("Set-Cookie: a=; Path=/".to_owned()),
        Just("Set-Cookie: b=; HttpOnly".to_owned()),
        Just("Vary: accept".to_owned()),
        Just("vary: origin".to_owned()),
        Just("X-Empty:".to_owned()),
        Just("X-Latin: caf\u{e9}".to_owned()),
        Just("Link: <http://HERE/next>; rel=\"next\"".to_owned()),
        Just("Location: http://HERE/v1/x/".to_owned()),
        Just("Location: /v1/x/".to_owned()),
        Just("Content-Location: https://example.com/http://HERE".to_owned()),
        Just("Retry-After: 1".to_owned()),
    ];
    prop::collection::vec(field, 0..5)
}

fn content() -> impl Strategy<Value = Content> {
    let text = prop_oneof![
        4 => "[a-z \"\\\\{}:,0-9]{0,12}",
        1 => Just("h\u{e9}llo \u{1f600}\u{2028}".to_owned()),
        1 => Just("http".to_owned()),
        1 => Just("see http://HERE/v1 there".to_owned()),
        1 => Just("\u{0}\r".to_owned()),
    ];
    let texts = prop::collection::vec(text, 0..8);
    let kind = prop_oneof![
        4 => Just("text/event-stream"),
        1 => Just("text/event-stream; charset=utf-8"),
        2 => Just("application/x-ndjson"),
        3 => Just("application/json"),
        1 => Just("text/plain"),
        1 => Just(""),
    ];
    let written =
        (kind, texts, prop::collection::vec(any::<prop::sample::Index>(), 0..4), any::<bool>())
            .prop_map(|(kind, texts, cuts, compressed)| {
                let pieces: Vec<Vec<u8>> = texts.iter().map(|text| message(kind, text)).collect();
                let mut fields: Vec<String> = Some(format!("Content-Type: {kind}"))
                    .filter(|_| !kind.is_empty())
                    .into_iter()
                    .collect();
                let body = match (compressed, cuts.len()) {
                    (true, 3) => {
                        fields.push("Content-Encoding: gzip".to_owned());
                        // What is compressed cannot be filled in later.
                        let text = String::from_utf8(pieces.concat()).unwrap();
                        cut(&gzipped(text.replace("HERE", "there").as_bytes()), &cuts)
                    }
                    (false, 1..) => cut(&pieces.concat(), &cuts),
                    _ => pieces,
                };
                Content { fields, body }
            });
    let binary =
        prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..30).prop_map(|body| {
            Content { fields: vec!["Content-Type: application/octet-stream".to_owned()], body }
        });
    prop_oneof![6 => written, 1 => binary]
}

fn message(kind: &str, text: &str) -> Vec<u8> {
    let json = format!("{{\"text\":{}}}", serde_json::Value::from(text));
    let message = match kind {
        "application/x-ndjson" => format!("{json}\n"),
        "application/json" => format!(" {json},"),
        "" | "text/plain" => text.to_owned(),
        _ => format!("event: message\ndata: {json}\n\n"),
    };
    message.into_bytes()
}

fn cut(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|range| bytes[range[0]..range[1]].to_vec()).collect()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What a client sees, in a form that can be compared: without what a proxy must not pass on, and
/// with the server's address for the one that was asked.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    status: u16,
    reason: String,
    fields: Vec<(String, String)>,
    body: String,
    chunks: Option<Vec<String>>,
    trailers: Vec<(String, String)>,
    cut: bool,
}

impl Seen {
    /// Whether this has lost the length that it has when it comes directly; then it is put back. A busy machine
    /// may hold the end of a body up so long that the recorder passes it on with no length.
    fn came_slowly(&mut self, direct: &Self) -> bool {
        let is_length = |(name, _): &&(String, String)| name == "content-length";
        let lost = direct.fields.iter().find(is_length);
        let lost = lost.filter(|_| !self.fields.iter().any(|field| is_length(&field)));
        self.fields.extend(lost.cloned());
        self.fields.sort_by(|(ours, _), (theirs, _)| ours.cmp(theirs));
        lost.is_some()
    }
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn seen(reply: Reply, asked: &str, origin: &str, scripted: &Scripted) -> Seen {
    let restored = |text: &[u8]| replaced(text, asked, origin);
    let hop = ["connection", "keep-alive", "transfer-encoding"];
    let mut fields: Vec<(String, String)> = reply
        .head
        .fields
        .iter()
        .map(|(name, value)| (name.to_lowercase(), restored(value.as_bytes())))
        .map(|(name, value)| (name, String::from_utf8(value).unwrap()))
        .filter(|(name, _)| !hop.contains(&name.as_str()))
        .collect();
    let body = restored(&reply.body);
    for (_, length) in fields.iter_mut().filter(|(name, _)| name == "content-length") {
        // The address that stands in the body may be longer or shorter.
        if scripted.has_body() && reply.body.len().to_string() == *length {
            *length = body.len().to_string();
        }
    }
    // hyper leaves the length out of a 304.
    fields.retain(|(name, _)| reply.status != 304 || name != "content-length");
    // Values of one name keep their order, names do not.
    fields.sort_by(|(ours, _), (theirs, _)| ours.cmp(theirs));
    let chunked = scripted.framing == Framing::Chunked && scripted.keeps_chunks();
    let chunks =
        chunked.then(|| reply.chunks.iter().map(|chunk| shown(&restored(chunk))).collect());
    Seen {
        status: reply.status,
        reason: reply.reason.trim().to_owned(),
        fields,
        body: shown(&body),
        chunks,
        trailers: reply.trailers,
        cut: reply.cut,
    }
}

type Script = Arc<Mutex<Vec<Scripted>>>;

fn server(script: &Script) -> Upstream {
    let script = Arc::clone(script);
    Upstream::start(move |asked, wire| {
        let number: usize = asked.path()[1..].parse().unwrap();
        let answer = script.lock().unwrap()[number].clone();
        let origin = format!("http://{}", wire.address());
        answer.wire(&origin).iter().for_each(|piece| wire.send(piece));
        match answer.framing {
            Framing::Close => Then::Close,
            _ => Then::KeepAlive,
        }
    })
}

fn ask_all(url: &str, origin: &str, script: &[Scripted]) -> Vec<Seen> {
    let ask_one = |(number, scripted): (usize, &Scripted)| {
        let reply = ask(scripted.method, &format!("{url}/{number}"), "TE: trailers\r\n", "");
        seen(reply, url, origin, scripted)
    };
    script.iter().enumerate().map(ask_one).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_receives_the_same_from_the_server_the_recorder_and_the_recording() {
    let script = Script::default();
    let upstream = server(&script);
    let runtime = tokio::runtime::Handle::current();
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 100,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);

    let slow = Cell::new(0);
    let outcome = tokio::task::block_in_place(|| {
        runner.run(&prop::collection::vec(scripted(), STREAMS), |answers| {
            *script.lock().unwrap() = answers.clone();
            let stage = Stage::new();
            let origin = upstream.url();

            let direct = ask_all(&origin, &origin, &answers);
            let session = runtime.block_on(stage.record(&upstream));
            let mut recorded = ask_all(&session.url(), &origin, &answers);
            runtime.block_on(session.finish()).unwrap();
            let session = runtime.block_on(stage.replay());
            let replayed = ask_all(&session.url(), &origin, &answers);
            runtime.block_on(session.finish()).unwrap();

            for (recorded, direct) in recorded.iter_mut().zip(&direct) {
                slow.set(slow.get() + usize::from(recorded.came_slowly(direct)));
            }
            for number in 0..answers.len() {
                let script = &answers[number];
                let sent: Vec<String> =
                    script.wire(&origin).iter().map(|piece| shown(piece)).collect();
                prop_assert_eq!(&recorded[number], &direct[number], "recorded {:#?}", sent);
                prop_assert_eq!(&replayed[number], &direct[number], "replayed {:#?}", sent);
            }
            Ok(())
        })
    });

    match outcome {
        Ok(()) => assert!(slow.get() < 10, "{} answers lost their length", slow.get()),
        // The bodies of the other streams would hide what differs.
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}
