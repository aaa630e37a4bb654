//! The recording proxy beside a bare one.

use std::net::SocketAddr;
use std::rc::Rc;

use retape::{Mode, Session};

use crate::bare;
use crate::client::Client;
use crate::measure::{Bench, Contender, Effort, Table, compare};
use crate::sample;
use crate::served::Served;

/// All of it by name.
pub const ALL: &[Bench] = &[
    ("recording small JSON that is fetched, one connection", fetched),
    ("recording small JSON that is posted, one connection", posted),
    ("recording small JSON that is posted, 16 connections", posted_at_once),
    ("recording a stream of 200 events at once, a chunk each", streamed),
    ("recording a body of 10 MB that is no text", large),
    ("recording a frame of a WebSocket and its answer", framed),
];

const ANSWER: &[u8] = br#"{"id":"m-1","object":"message","role":"assistant","content":"A short answer","usage":{"in":20,"out":40}}"#;

fn fetched(effort: Effort) -> Table {
    beside_a_bare_proxy(effort, bare::fixed(ANSWER), |number| {
        format!("GET /v1/items/{number} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
    })
}

fn posted(effort: Effort) -> Table {
    beside_a_bare_proxy(effort, bare::fixed(ANSWER), post)
}

fn posted_at_once(effort: Effort) -> Table {
    beside_a_bare_proxy_at_once(effort, bare::fixed(ANSWER), 16, post)
}

fn streamed(effort: Effort) -> Table {
    beside_a_bare_proxy(effort, bare::stream(sample::events()), post)
}

/// What is recorded is held until the end, so each turn is short.
fn large(effort: Effort) -> Table {
    let body: Vec<u8> =
        (0..10_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    beside_a_bare_proxy(effort.brief(), bare::binary(body.into()), |number| {
        format!("GET /v1/files/{number} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
    })
}

/// The same frame of some 100 bytes forth and back.
fn framed(effort: Effort) -> Table {
    const ANSWER: &[u8] = b"\x81\x6a{\"type\":\"delta\",\"text\":\"a short answer, and so much again that the frame has a hundred bytes or so\",\"n\":1}";
    // Its mask is zero.
    let asked = [b"\x81\xea\0\0\0\0", &ANSWER[2..]].concat();
    let origin = Rc::new(bare::sockets(ANSWER));
    let upstream = origin.address();
    let contenders = [
        ("bare TCP proxy", Rc::new(bare::tunnel(upstream))),
        ("retape", Rc::new(recorder(upstream))),
        ("no proxy", Rc::clone(&origin)),
    ];
    let contenders = contenders.map(|(name, served)| {
        let mut client = Client::open(served.address());
        let (thread, alive) = (served.thread(), (served, Rc::clone(&origin)));
        let asked = asked.clone();
        Contender::new(name, thread, move || {
            let _alive = &alive;
            client.exchange(&asked, ANSWER.len());
        })
    });
    compare(effort, contenders.into())
}

fn post(number: usize) -> Vec<u8> {
    let body = sample::ASKED.replace("more", &format!("more {number:08}"));
    let length = body.len();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Asks for something else each time, as in a recording: what `asked` makes of a number.
fn beside_a_bare_proxy(effort: Effort, origin: Served, asked: fn(usize) -> Vec<u8>) -> Table {
    beside_a_bare_proxy_at_once(effort, origin, 1, asked)
}

/// The same on so many connections at once; a step is a request on each.
fn beside_a_bare_proxy_at_once(
    effort: Effort,
    origin: Served,
    connections: usize,
    asked: fn(usize) -> Vec<u8>,
) -> Table {
    let origin = Rc::new(origin);
    let upstream = origin.address();
    let answer = Client::connect(upstream).fetch(&asked(0)).body;
    let contenders = [
        ("bare hyper proxy", Rc::new(bare::proxy(upstream))),
        ("the same with a tee to a file", Rc::new(bare::proxy_with_tee(upstream))),
        ("retape", Rc::new(recorder(upstream))),
        ("no proxy", Rc::clone(&origin)),
    ];
    let contenders = contenders.map(|(name, served)| {
        // A chunk that arrives in two reads may be passed on as two: only the bytes are the same.
        let same = Client::connect(served.address()).fetch(&asked(0)).body == answer;
        assert!(same, "{name} gives another answer than the server");
        let connect = |_| Client::connect(served.address());
        let mut clients: Vec<Client> = (0..connections).map(connect).collect();
        let mut number = 0;
        let (thread, alive) = (served.thread(), (served, Rc::clone(&origin)));
        Contender::new(name, thread, move || {
            let _alive = &alive;
            for client in &mut clients {
                number += 1;
                client.send(&asked(number));
            }
            clients.iter_mut().for_each(Client::receive);
        })
    });
    compare(effort, contenders.into())
}

fn recorder(upstream: SocketAddr) -> Served {
    Served::start("retape", async move || {
        let folder = tempfile::tempdir().expect("there is room");
        let session = Session::builder("sample")
            .cassettes(folder.path())
            .upstream(format!("http://{upstream}"))
            .mode(Mode::Record);
        let session = session.start().await.expect("the settings are valid");
        (session.address(), (session, folder))
    })
}
