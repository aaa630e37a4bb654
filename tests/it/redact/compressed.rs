//! Bodies that are compressed, or say so.

use std::io::Write;

use super::{
    answer, cassette, check_gone, redacted, redacted_answer, request, response, secret, stream,
    whole,
};

pub(super) fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn a_compressed_stream_is_laid_out_as_it_could_be_read() {
    let secret = secret("laid");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let lines =
        [format!("{{\"api_key\":\"{secret}\"}}\n"), "{\"a\":1}\n".into(), "{\"b\":2}\n".into()];
    let chunks = lines.each_ref().map(|line| {
        encoder.write_all(line.as_bytes()).expect("memory");
        encoder.flush().expect("memory");
        std::mem::take(encoder.get_mut())
    });
    let headers = [("content-type", "application/x-ndjson"), ("content-encoding", "gzip")];
    let answer = response(&headers, stream(&chunks.each_ref().map(Vec::as_slice)));

    let redacted = redacted_answer(answer);

    let shown: Vec<_> = redacted.body.chunks().iter().map(|chunk| &chunk.bytes[..]).collect();
    assert_eq!(
        shown,
        [&b"{\"api_key\":\"[redacted:api_key]\"}\n"[..], lines[1].as_bytes(), lines[2].as_bytes()]
    );
}

#[test]
fn a_body_that_only_says_that_it_is_compressed_hides_no_secret() {
    let text = format!(r#"{{"api_key":"{}"}}"#, secret("mislabelled"));

    let redacted = redacted_answer(response(&[("content-encoding", "gzip")], whole(text)));

    assert_eq!(redacted.body.bytes(), r#"{"api_key":"[redacted:api_key]"}"#);
}

#[test]
fn a_body_that_only_says_that_it_is_utf_16_hides_no_secret() {
    let secret = secret("wide");
    for mark in [b"\xfe\xff", b"\xff\xfe"] {
        let bearer = format!("Bearer {secret}");
        let body = [&mark[..], secret.as_bytes(), b"  "].concat();
        let asked = request("/", &[("authorization", &*bearer)], body[..body.len() & !1].to_vec());

        let after = redacted(cassette(vec![(asked, response(&[], whole("")))]));

        check_gone(&after.interactions[0].request.body, &secret);
    }
}

#[test]
fn a_compressed_body_that_was_cut_short_hides_no_secret() {
    let secret = secret("cut");
    let plain = format!("{{\"api_key\": \"{secret}\", \"more\": \"{}\"}}", "abc ".repeat(500));
    let mut wire = gzipped(plain.as_bytes());
    wire.truncate(wire.len() - 12);

    let after = redacted(cassette(vec![(
        request("/", &[], ""),
        response(&[("content-encoding", "gzip")], whole(wire)),
    )]));

    let answer = after.interactions[0].response().unwrap();
    assert_eq!(answer.headers.get("content-encoding"), None);
    assert!(answer.body.bytes().starts_with(b"{\"api_key\": \"[redacted:api_key]\""));
}

#[test]
fn compressed_bodies_are_opened_only_for_a_secret() {
    let check = |text: &str, expected: Option<&str>| {
        let packed = gzipped(text.as_bytes());
        let length = packed.len().to_string();
        let headers = [("content-encoding", "gzip"), ("content-length", &*length)];
        let answered = response(&headers, whole(packed.clone()));
        let after = redacted(cassette(vec![(request("/", &[], ""), answered.clone())]));
        match expected {
            None => assert_eq!(answer(&after, 0), &answered),
            Some(expected) => {
                assert_eq!(answer(&after, 0).body, whole(expected));
                assert!(!answer(&after, 0).headers.contains("content-encoding"));
                let length = expected.len().to_string();
                assert_eq!(answer(&after, 0).headers.get("content-length"), Some(&*length));
            }
        }
    };

    check(r#"{"a":1}"#, None);
    let secret = secret("c9");
    check(&format!(r#"{{"api_key":"{secret}"}}"#), Some(r#"{"api_key":"[redacted:api_key]"}"#));
}
