//! What was compressed is compressed again.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use retape::Cassette;
use retape::cassette::coding::decode_whole;
use retape::cassette::{Body, Chunk, Outcome, Response};
use retape::compare::renew::renew;

use super::cases::{check, talk};

const ONE: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
const OTHER: &str = "b3d4c5a6-1111-4222-8333-c4d5e6f70819";

/// A server's pieces, each flushed.
fn gzip(pieces: &[String]) -> Vec<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let mut come = Vec::new();
    for piece in pieces {
        encoder.write_all(piece.as_bytes()).unwrap();
        encoder.flush().unwrap();
        come.push(std::mem::take(encoder.get_mut()));
    }
    let end = encoder.finish().unwrap();
    come.last_mut().unwrap().extend(end);
    come
}

fn answer(cassette: &Cassette) -> &Response {
    cassette.interactions[0].response().unwrap()
}

fn answered(change: impl FnOnce(&mut Response)) -> Cassette {
    let mut cassette = talk(&[("GET /session", "{}")]);
    let Outcome::Response(response) = &mut cassette.interactions[0].outcome else { unreachable!() };
    change(response);
    cassette
}

fn json(id: &str, free: u64) -> String {
    let text = "lorem ipsum ".repeat(30);
    format!(r#"{{"session-id":"{id}","free-space":{free},"text":"{text}"}}"#)
}

fn whole(id: &str, free: u64) -> Cassette {
    let body = gzip(&[json(id, free)]).concat();
    answered(|response| {
        response.headers.set("content-encoding", "gzip");
        response.headers.set("content-length", body.len().to_string());
        response.body = Body::Whole(body.into());
    })
}

fn plain(id: &str, free: u64) -> Cassette {
    let body = json(id, free);
    answered(|response| {
        response.headers.set("content-length", body.len().to_string());
        response.body = Body::Whole(body.into());
    })
}

#[test]
fn an_answer_in_which_a_value_is_kept_and_another_changes_stays_compressed() {
    let renewed = renew(&whole(ONE, 1), whole(OTHER, 2)).cassette;

    let answer = answer(&renewed);
    let body = answer.body.bytes();
    assert_eq!(answer.headers.get("content-encoding"), Some("gzip"));
    assert_eq!(answer.headers.get("content-length"), Some(&*body.len().to_string()));
    assert_eq!(decode_whole("gzip", &body).unwrap(), json(ONE, 2).into_bytes());
    check(&whole(ONE, 1), whole(OTHER, 1), &whole(ONE, 1));
}

#[test]
fn a_stream_in_which_a_value_is_kept_and_another_changes_stays_compressed() {
    let events = |id: &str, count: u64| {
        [format!("data: {{\"id\":\"{id}\"}}\n\n"), format!("data: {{\"count\":{count}}}\n\n")]
    };
    let stream = |id: &str, count: u64| {
        let pieces = gzip(&events(id, count)).into_iter().zip([1, 20]);
        answered(|response| {
            response.headers =
                [("content-type", "text/event-stream"), ("content-encoding", "gzip")]
                    .into_iter()
                    .collect();
            let chunks = pieces.map(|(piece, ms)| Chunk { ms, bytes: piece.into() });
            response.body = Body::Stream(chunks.collect());
        })
    };

    let renewed = renew(&stream(ONE, 1), stream(OTHER, 2)).cassette;

    let answer = answer(&renewed);
    assert_eq!(answer.headers.get("content-encoding"), Some("gzip"));
    let plain = decode_whole("gzip", &answer.body.bytes()).unwrap();
    assert_eq!(plain, events(ONE, 2).concat().into_bytes());
    assert_eq!(answer.decoded().chunks().iter().map(|it| it.ms).collect::<Vec<_>>(), [1, 20]);
}

#[test]
fn an_answer_is_compressed_as_the_server_compresses_it_now() {
    let of_new = |old: &Cassette, new: Cassette| {
        let renewed = renew(old, new.clone()).cassette;
        let [renewed, new] = [&renewed, &new].map(answer);
        assert_eq!(renewed.headers.get("content-encoding"), new.headers.get("content-encoding"),);
        assert_eq!(renewed.decoded().bytes(), json(ONE, 1));
    };

    of_new(&plain(ONE, 1), whole(OTHER, 1));
    of_new(&whole(ONE, 1), plain(OTHER, 1));
}
