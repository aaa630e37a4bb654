//! What is tried with bytes that nobody has chosen: each function panics if retape breaks a promise.
//!
//! `tests/fuzz.rs` runs them with mutations of the corpora, and `cargo fuzz` with what finds new ways through the code.

pub mod sessions;

use std::fmt::Debug;
use std::str::FromStr;

use bytes::Bytes;
use retape::cassette::coding::{Live as Coded, decode_readable, decode_whole};
use retape::cassette::foreign::{To, export, import};
use retape::cassette::{
    Body, Chunk, Content, End, Frame, Headers, Interaction, Outcome, Peer, Request, Response,
    format,
};
use retape::compare::matching::{Index, Mismatch, Playlist};
use retape::config::{At, Config, Fault, Rules};
use retape::contract::openapi::Document;
use retape::contract::order::{Extent, Learned, Order, Token, Witness, Word};
use retape::contract::shape::{Schema, Shape};
use retape::contract::{Contract, Endpoint};
use retape::message::{Decoder, Framing, Left, Message, Protocols};
use retape::redact::{Live, Redactor, Secrets};
use retape::{Cassette, Name};

/// The name of what is tried, which is that of its corpus, and what tries it.
type Target = (&'static str, fn(&[u8]));

/// What is tried.
pub const TARGETS: [Target; 17] = [
    ("cassette", cassette),
    ("bodies", bodies),
    ("foreign", foreign),
    ("coding", coding),
    ("sse", sse),
    ("ndjson", ndjson),
    ("amazon", amazon),
    ("order", order),
    ("learned", learned),
    ("contract", contract),
    ("shape", shape),
    ("openapi", openapi),
    ("config", config),
    ("redact", redact),
    ("live", live),
    ("matching", matching),
    ("multipart", multipart),
];

/// What is tried with sessions.
pub const OF_SESSIONS: [Target; 3] =
    [("http", sessions::http), ("websocket", sessions::websocket), ("journal", sessions::journal)];

/// What is read is written so that it reads the same.
pub fn cassette(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let missing = |_: &str| Err(Name::new("").expect_err("it is empty"));
    if let Ok(cassette) = format::decode(text, missing) {
        comes_back(&cassette);
    }
}

fn comes_back(cassette: &Cassette) {
    let file = format::encode(cassette);
    let body = |hash: &str| Ok(file.bodies[hash].clone());
    let again = format::decode(&file.text, body);
    let again = again.unwrap_or_else(|error| panic!("{error:?}\n{}", file.text));
    assert_eq!(again, *cassette, "{}", file.text);
}

/// Any bytes come back as they were, whatever they are said to be and however they were cut.
///
/// The first bytes say what they are said to be; the others are cut at each 0xFE.
pub fn bodies(data: &[u8]) {
    let Some((&[media, coding, more], said)) = data.split_first_chunk() else { return };
    let media = [
        "text/event-stream",
        "application/x-ndjson",
        "application/json",
        "text/plain",
        "application/vnd.amazon.eventstream",
        "application/json-seq",
        "multipart/form-data; boundary=b",
        "",
    ][usize::from(media % 8)];
    let codings = ["", "gzip", "deflate", "br", "zstd", "identity", "gzip, br", "x"];
    let fields = [("content-type", media), ("content-encoding", codings[usize::from(coding % 8)])];
    let headers = Headers::from_iter(fields.into_iter().filter(|field| !field.1.is_empty()));
    let pieces = || said.split(|byte| *byte == 0xfe).zip(0..);
    let chunk = |(piece, ms)| Chunk { ms, bytes: Bytes::copy_from_slice(piece) };
    let chunks: Vec<Chunk> = pieces().map(chunk).collect();
    let request =
        Request { headers: headers.clone(), body: chunks[0].bytes.clone(), ..request(b"") };
    let mut response = Response::of(200 + u16::from(more));
    response.headers = headers;
    response.end = End::ALL[usize::from(more) % End::ALL.len()];
    if more & 0x80 == 0 {
        response.body = if more & 0x40 == 0 {
            Body::Stream(chunks)
        } else {
            Body::Whole(chunks[0].bytes.clone())
        };
    } else {
        response.status = 101;
        response.frames = pieces().map(|(piece, ms)| frame(piece, ms)).collect();
    }
    let interactions = vec![Interaction::of(request, response)];
    comes_back(&Cassette { interactions, ..Cassette::default() });
}

fn frame(piece: &[u8], ms: u64) -> Frame {
    let from = if ms.is_multiple_of(2) { Peer::Client } else { Peer::Server };
    let bytes = Bytes::copy_from_slice(piece);
    let content = match piece.first().map(|first| first % 4) {
        Some(0) => Content::Binary(bytes),
        Some(1) => {
            Content::Close { code: Some(1000), reason: String::from_utf8_lossy(piece).into() }
        }
        _ => Content::Text(bytes),
    };
    Frame { ms, from, content, fragments: Vec::new() }
}

/// What another tool recorded is a cassette like any other, and can be exported.
pub fn foreign(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(imported) = import(text) {
        comes_back(&imported.cassette);
        let cassettes = [(Name::new("a").expect("it is a name"), imported.cassette)];
        for to in [To::Har, To::Wiremock, To::Curl] {
            drop(export(&cassettes, to));
        }
    }
}

/// What a compressed body reads as is the same in whatever pieces it comes.
pub fn coding(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let coding = ["gzip", "deflate", "br", "zstd"][usize::from(first % 4)];
    let read = |size: usize| {
        let mut live = Coded::new(coding).expect("it is known");
        let mut read: Vec<u8> = body.chunks(size).flat_map(|piece| live.push(piece)).collect();
        let rest = live.finish();
        read.extend(rest.iter().flatten());
        (read, rest.is_some())
    };
    let whole = read(body.len().max(1));
    assert_eq!(decode_readable(coding, body).as_ref(), Some(&whole.0));
    assert_eq!(decode_whole(coding, body), whole.1.then(|| whole.0.clone()));
    for size in [1, 1 + usize::from(first >> 2)] {
        let (read, is_whole) = read(size);
        assert_eq!(is_whole, whole.1, "{size}");
        assert!(!is_whole || read == whole.0, "{size}");
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

/// An order that is read is written so that it reads the same. It covers itself, and explains each trace that it
/// refuses.
///
/// Behind the first 0xFE stands a trace.
pub fn order(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0xfe);
    let Some(order) = same_again::<Order>(parts.next().unwrap_or_default()) else { return };
    assert!(order.covers(&order));
    for width in [1, 20, 100] {
        let lines = order.expression().lines(width);
        let again = lines.parse::<Order>().unwrap_or_else(|error| panic!("{lines}\n{error:?}"));
        assert_eq!(again.expression(), order.expression(), "{lines}");
    }
    let word = word(parts.next().unwrap_or_default(), 0);
    let events = word.events();
    let mut run = order.run();
    for event in &events {
        let _ = run.push(event);
    }
    drop(run.expected());
    assert_eq!(run.is_complete(), order.accepts(&events));
    let explained = order.explain(&events);
    assert_eq!(explained.is_match(), order.accepts(&events), "{order}: {:?}", word.tokens);
    explained.sentences().for_each(drop);
}

/// What is learned of traces accepts each of them, and is written so that it reads the same.
pub fn learned(data: &[u8]) {
    let words: Vec<Word> =
        data.split(|byte| *byte == b'\n').zip(0..).map(|(line, at)| word(line, at)).collect();
    let learned = Learned::from_words(&words);
    let order = Order::new(learned.expression()).expect("it is of few tags");
    for word in &words {
        assert!(order.accepts(&word.events()), "{order}: {:?}", word.tokens);
    }
    let again = order.to_string().parse::<Order>();
    let again = again.unwrap_or_else(|error| panic!("{order}\n{error:?}"));
    assert_eq!(again.expression(), order.expression(), "{order}");
}

/// Events that stand apart: `a+` is a run, `a7` has the key 7.
fn word(text: &[u8], witness: u32) -> Word {
    let text = String::from_utf8_lossy(text);
    let token = |text: &str| {
        let (tag, run) = text.strip_suffix('+').map_or((text, false), |tag| (tag, true));
        let name = tag.trim_end_matches(|c: char| c.is_ascii_digit());
        let keys = ["id", "run"].into_iter().zip(tag[name.len()..].chars());
        let keys = keys.map(|(key, c)| (key.to_owned(), c.to_string())).collect();
        Token { run, keys, ..Token::plain(name) }
    };
    let tokens = text.split_ascii_whitespace().map(token).collect();
    Word { tokens, witness: Witness(witness), extent: Extent::Whole }
}

/// So is a contract, the name of an endpoint, and a type.
pub fn contract(data: &[u8]) {
    if let Some(contract) = same_again::<Contract>(data) {
        let again = contract.to_string().parse::<Contract>();
        assert_eq!(again.ok().as_ref(), Some(&contract), "{contract}");
    }
    let _ = same_again::<Endpoint>(data);
    if let Some(schema) = same_again::<Schema>(data) {
        promises(&schema);
    }
}

/// A type covers itself, loses nothing to itself, and accepts its own examples.
fn promises(schema: &Schema) {
    assert!(schema.covers(schema), "{schema}");
    assert_eq!(schema.losses(schema), [], "{schema}");
    for example in schema.examples() {
        assert_eq!(schema.accepts(&example), [], "{schema}\n{example}");
    }
    drop(schema.to_json_schema());
}

/// What is learned of JSON texts accepts each of them, and is written so that it reads the same.
pub fn shape(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut shape = Shape::default();
    let lines = text.lines().zip(0..);
    let learned: Vec<&str> =
        lines.filter_map(|(line, at)| shape.learn(line, at).is_ok().then_some(line)).collect();
    let schema = shape.finish();
    for text in &learned {
        assert_eq!(schema.accepts(text), [], "{schema}\n{text}");
    }
    if !learned.is_empty() {
        let text = schema.to_string();
        assert_eq!(Schema::parse(&text).as_ref(), Ok(&schema), "{text}");
        promises(&schema);
    }
    drop(shape.evidence());
}

/// An OpenAPI document is read or refused.
pub fn openapi(data: &[u8]) {
    if let Ok(document) = Document::parse(&String::from_utf8_lossy(data)) {
        for operation in &document.operations {
            let _ = document.operation(&operation.method, &operation.path);
            let _ = operation.response(200).map(|at| operation.responses[at].media("text/plain"));
        }
    }
}

/// A `retape.toml` is read or refused, and so are a fault and a pattern.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(config) = Config::parse(&text) {
        drop(Protocols::of(&config));
    }
    let _ = Fault::from_str(&text);
    if let Ok(at) = At::from_str(&text) {
        assert_eq!(at.to_string(), text);
    }
}

fn same_again<T: FromStr<Err: Debug> + ToString>(data: &[u8]) -> Option<T> {
    let one = match String::from_utf8_lossy(data).parse::<T>() {
        Ok(one) => one,
        Err(error) => {
            drop(format!("{error:?}"));
            return None;
        }
    };
    let written = one.to_string();
    let again = written.parse::<T>();
    let again = again.unwrap_or_else(|error| panic!("{written}\n{error:?}"));
    assert_eq!(again.to_string(), written);
    Some(one)
}

/// What is known to be a secret is taken out of a request, whatever its body is. Redacting twice changes nothing.
pub fn redact(data: &[u8]) {
    let mut asked = request(&around(data));
    let media = asked.headers.get("content-type").unwrap_or_default().to_owned();
    asked.headers = Headers::from_iter([("content-type", media), authorization()]);
    stays(&asked);
    Redactor::standard().request(&mut asked);
    assert!(!holds(&asked.body), "{asked:?}");
}

/// Redacting a cassette twice changes nothing, where a client does not say itself what stands for secrets.
fn stays(asked: &Request) {
    let outcome = Outcome::Nothing(End::Unreachable);
    let interactions = vec![Interaction { after: Vec::new(), request: asked.clone(), outcome }];
    let redactor = Redactor::standard();
    let once = redactor.cassette(Cassette { interactions, ..Cassette::default() });
    let again = redactor.cassette(once.get().clone());
    // Bytes that are no text may be one once a secret is taken out of them.
    let is_meant = !says_placeholder(&asked.body) && std::str::from_utf8(&asked.body).is_ok();
    assert!(!is_meant || again == once, "{once:?}\n{again:?}");
}

/// Whether there is something like the placeholder of a secret in it, in any spelling.
fn says_placeholder(data: &[u8]) -> bool {
    data.windows(4).any(|part| part.eq_ignore_ascii_case(b"reda"))
}

/// What is known to be a secret is not in the journal of a body, which is the same in whatever pieces it
/// comes.
pub fn live(data: &[u8]) {
    let redactor = Redactor::standard();
    let mut secrets = Secrets::default();
    let mut asked = request(b"");
    asked.headers = Headers::from_iter([authorization()]);
    redactor.request_noting(&mut asked, &mut secrets);
    let body = around(data);
    let [whole, others @ ..] = [body.len(), 7, 1].map(|size| {
        let mut live = Live::new(&redactor, secrets.clone());
        let mut shown: Vec<u8> =
            body.chunks(size).flat_map(|piece| live.push(piece).into_owned()).collect();
        shown.extend(live.finish().0);
        assert!(!holds(&shown), "{size}");
        shown
    });
    for other in others {
        assert!(says_placeholder(data) || other == whole, "{}", String::from_utf8_lossy(&other));
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

/// A request that is asked as it was recorded is answered. One that is not answered differs somewhere.
pub fn matching(data: &[u8]) {
    let (recorded, other) = data.split_at(data.len() / 2);
    answers(&request(recorded), &request(other));
}

/// The same of bodies in parts.
pub fn multipart(data: &[u8]) {
    let (recorded, other) = data.split_at(data.len() / 2);
    let [recorded, other] = [recorded, other].map(|body| request_of(MULTIPART, body));
    answers(&recorded, &other);
    stays(&recorded);
}

fn answers(recorded: &Request, other: &Request) {
    let interaction = Interaction {
        after: Vec::new(),
        request: recorded.clone(),
        outcome: Outcome::Nothing(End::Unreachable),
    };
    let cassette = Cassette { interactions: vec![interaction], ..Cassette::default() };
    let index = Index::of(&cassette, Rules::default());
    for asked in [other, recorded] {
        let answer = Playlist::new(&index).take(&index, &index.read(asked, &asked.readable()));
        assert!(answer == Some(0) || asked != recorded);
        let playlist = Playlist::new(&index);
        let said = (asked.clone(), Default::default());
        let miss = Mismatch::explain(said, (&cassette, &index, &playlist), &Redactor::standard());
        let nearest = miss.nearest.expect("there is one of that path");
        assert_eq!(answer.is_some(), nearest.differences.is_empty(), "{:?}", nearest.differences);
    }
}

/// A request whose media type the first byte chooses.
fn request(data: &[u8]) -> Request {
    let (first, body) = data.split_first().unwrap_or((&b'j', b""));
    let media = match first % 5 {
        0 => "text/plain",
        1 => "application/json",
        2 => "application/x-www-form-urlencoded",
        3 => MULTIPART,
        _ => "application/xml",
    };
    request_of(media, body)
}

const MULTIPART: &str = "multipart/form-data; boundary=b";

fn request_of(media: &str, body: &[u8]) -> Request {
    Request {
        headers: Headers::from_iter([("content-type", media.to_owned())]),
        body: Bytes::copy_from_slice(body),
        ..Request::of("POST", "/v1/things?api_key=1")
    }
}
