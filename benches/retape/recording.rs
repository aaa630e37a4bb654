//! The recording proxy beside a bare one.

use std::cell::Cell;
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
    ("recording small JSON, one connection", json),
    ("recording a stream of 200 events, a chunk each", stream),
];

const ANSWER: &[u8] = br#"{"id":"m-1","object":"message","role":"assistant","content":"A short answer","usage":{"in":20,"out":40}}"#;

fn json(effort: Effort) -> Table {
    beside_a_bare_proxy(effort, bare::fixed(ANSWER))
}

fn stream(effort: Effort) -> Table {
    beside_a_bare_proxy(effort, bare::stream(sample::events()))
}

fn beside_a_bare_proxy(effort: Effort, origin: Served) -> Table {
    let origin = Rc::new(origin);
    let upstream = origin.address();
    let answer = Client::connect(upstream).fetch(&asked(0)).body;
    let contenders = [
        ("bare hyper proxy", Rc::new(bare::proxy(upstream))),
        ("retape", Rc::new(recorder(upstream))),
        ("no proxy", Rc::clone(&origin)),
    ];
    let contenders = contenders.map(|(name, served)| {
        // A chunk that arrives in two reads may be passed on as two: only the bytes are the same.
        let same = Client::connect(served.address()).fetch(&asked(0)).body == answer;
        assert!(same, "{name} gives another answer than the server");
        asking(name, served, Rc::clone(&origin))
    });
    compare(effort, contenders.into())
}

/// Asks for something else each time, as in a recording.
fn asking(name: &str, served: Rc<Served>, origin: Rc<Served>) -> Contender {
    let mut client = Client::connect(served.address());
    let number = Cell::new(0);
    Contender::new(name, served.thread(), move || {
        let _alive = (&served, &origin);
        client.ask(&asked(number.replace(number.get() + 1)));
    })
}

fn asked(number: usize) -> Vec<u8> {
    let body = sample::ASKED.replace("more", &format!("more {number:08}"));
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
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
