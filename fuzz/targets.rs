//! What is tried with bytes that nobody has chosen: each function panics if retape breaks a promise.
//!
//! `tests/fuzz.rs` runs them with mutations of the corpora.

use std::fmt::Debug;
use std::str::FromStr;

use bytes::Bytes;
use retape::cassette::{End, Headers, Interaction, Outcome, Request, format};
use retape::compare::matching::{Index, Playlist};
use retape::config::{At, Config, Fault, Rules};
use retape::contract::order::Order;
use retape::contract::shape::Schema;
use retape::contract::{Contract, Endpoint};
use retape::message::{Decoder, Framing, Left, Message, Protocols};
use retape::redact::{Live, Redactor, Secrets};
use retape::{Cassette, Name};

/// The name of what is tried, which is that of its corpus, and what tries it.
type Target = (&'static str, fn(&[u8]));

/// What is tried.
pub const TARGETS: [Target; 10] = [
    ("cassette", cassette),
    ("sse", sse),
    ("ndjson", ndjson),
    ("amazon", amazon),
    ("order", order),
    ("contract", contract),
    ("config", config),
    ("redact", redact),
    ("live", live),
    ("matching", matching),
];

/// What is read is written so that it reads the same.
pub fn cassette(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let missing = |_: &str| Err(Name::new("").expect_err("it is empty"));
    if let Ok(cassette) = format::decode(text, missing) {
        let file = format::encode(&cassette);
        let body = |hash: &str| Ok(file.bodies[hash].clone());
        let again = format::decode(&file.text, body).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(again, cassette);
    }
}

/// Server-sent events are the same in whatever pieces they come.
pub fn sse(data: &[u8]) {
    cut_anywhere(Framing::EventStream, data);
}

/// So are lines of JSON.
pub fn ndjson(data: &[u8]) {
    cut_anywhere(Framing::Lines, data);
}

/// And messages of Amazon's event streams.
pub fn amazon(data: &[u8]) {
    cut_anywhere(Framing::Amazon, data);
}

fn cut_anywhere(framing: Framing, data: &[u8]) {
    let whole = messages(framing, [data]);
    let middle = data.first().map_or(0, |byte| usize::from(*byte) * data.len() / 256);
    let (before, behind) = data.split_at(middle);
    assert_eq!(messages(framing, [before, behind]), whole);
    assert_eq!(messages(framing, data.chunks(1)), whole);
}

fn messages<'a>(
    framing: Framing,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Message>, Left) {
    let mut decoder = Decoder::new(framing, Protocols::default());
    let mut list: Vec<Message> =
        pieces.into_iter().flat_map(|piece| decoder.push(piece, 0)).collect();
    let mut left = decoder.finish();
    // Which piece it came in is another matter.
    list.iter_mut().chain(&mut left.messages).for_each(|message| message.chunk = 0);
    (list, left)
}

/// An order that is read is written so that it reads the same.
pub fn order(data: &[u8]) {
    same_again::<Order, _>(data);
}

/// So is a contract, the name of an endpoint, and a type.
pub fn contract(data: &[u8]) {
    same_again::<Contract, _>(data);
    same_again::<Endpoint, _>(data);
    same_again::<Schema, _>(data);
}

/// A `retape.toml` is read or refused, and so are a fault and a pattern.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = Config::parse(&text);
    let _ = Fault::from_str(&text);
    let _ = At::from_str(&text);
}

fn same_again<T: FromStr<Err = E> + ToString, E: Debug>(data: &[u8]) {
    match String::from_utf8_lossy(data).parse::<T>() {
        Err(error) => drop(format!("{error:?}")),
        Ok(one) => {
            let written = one.to_string();
            let again = written.parse::<T>();
            let again = again.unwrap_or_else(|error| panic!("{written}\n{error:?}"));
            assert_eq!(again.to_string(), written);
        }
    }
}

/// What is known to be a secret is taken out of a request, whatever its body is.
pub fn redact(data: &[u8]) {
    let mut asked = request(&around(data));
    let media = asked.headers.get("content-type").unwrap_or_default().to_owned();
    asked.headers = Headers::from_iter([("content-type", media), authorization()]);
    Redactor::standard().request(&mut asked);
    assert!(!holds(&asked.body), "{asked:?}");
}

/// What is known to be a secret is not in the journal of a body, in whatever pieces it comes.
pub fn live(data: &[u8]) {
    let redactor = Redactor::standard();
    let mut secrets = Secrets::default();
    let mut asked = request(b"");
    asked.headers = Headers::from_iter([authorization()]);
    redactor.request_noting(&mut asked, &mut secrets);
    let body = around(data);
    for size in [1, 7, body.len()] {
        let mut live = Live::new(&redactor, secrets.clone());
        let mut shown: Vec<u8> =
            body.chunks(size).flat_map(|piece| live.push(piece).into_owned()).collect();
        shown.extend(live.finish().0);
        assert!(!holds(&shown), "{size}");
    }
}

const KNOWN: &str = "kept-secret-0123456789abcdef";

/// The field that says that it is a secret.
fn authorization() -> (&'static str, String) {
    ("authorization", format!("Bearer {KNOWN}"))
}

/// It, between two halves.
fn around(data: &[u8]) -> Vec<u8> {
    let (before, behind) = data.split_at(data.len() / 2);
    [before, b" ", KNOWN.as_bytes(), b" ", behind].concat()
}

fn holds(text: &[u8]) -> bool {
    text.windows(KNOWN.len()).any(|part| part == KNOWN.as_bytes())
}

/// A request that is asked as it was recorded is answered, and another one is read to its end.
pub fn matching(data: &[u8]) {
    let middle = data.len() / 2;
    let (recorded, other) = (request(&data[..middle]), request(&data[middle..]));
    let interaction = |request: &Request| Interaction {
        after: Vec::new(),
        request: request.clone(),
        outcome: Outcome::Nothing(End::Unreachable),
    };
    let interactions = vec![interaction(&recorded)];
    let index = Index::of(&Cassette { interactions, ..Cassette::default() }, Rules::default());
    let _ = Playlist::new(&index).take(&index, &index.read(&other, &other.readable()));
    let readable = recorded.readable();
    let asked = index.read(&recorded, &readable);
    assert_eq!(Playlist::new(&index).take(&index, &asked), Some(0));
}

/// A request whose media type the first byte chooses.
fn request(data: &[u8]) -> Request {
    let (first, body) = data.split_first().unwrap_or((&b'j', b""));
    let media = match first % 5 {
        0 => "text/plain",
        1 => "application/json",
        2 => "application/x-www-form-urlencoded",
        3 => "multipart/form-data; boundary=b",
        _ => "application/xml",
    };
    Request {
        method: "POST".to_owned(),
        path: "/v1/things?api_key=1".to_owned(),
        headers: Headers::from_iter([("content-type", media)]),
        body: Bytes::copy_from_slice(body),
    }
}
