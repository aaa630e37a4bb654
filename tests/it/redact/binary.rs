//! Secrets in answers that are no text, and in what is said of a body.

use super::{check_gone, redacted_answer, response, secret, whole};

/// What MessagePack is: `{"x": …}` with a text whose length is one byte.
fn packed(text: &str) -> Vec<u8> {
    let head = [0x81, 0xa1, b'x', 0xd9, u8::try_from(text.len()).unwrap()];
    [head.as_slice(), text.as_bytes()].concat()
}

fn answered(content_type: &str, body: Vec<u8>) -> Vec<u8> {
    let answer = response(&[("content-type", content_type)], whole(body));
    redacted_answer(answer).body.bytes().to_vec()
}

#[test]
fn what_stands_for_a_secret_in_bytes_is_as_long() {
    let [secret, long] = [secret("b2"), secret("c3").repeat(4)];

    let after = answered("application/msgpack", packed(&secret));

    check_gone(&after, &secret);
    let text = String::from_utf8(after[5..].to_vec()).unwrap();
    assert_eq!((text.len(), usize::from(after[4])), (secret.len(), secret.len()));
    assert!(text.starts_with("[redacted:.") && text.ends_with(']'), "{text}");
    assert_eq!(answered("application/msgpack", after.clone()), after, "twice");

    let after = answered("application/msgpack", packed(&long));
    assert_eq!((after.len(), usize::from(after[4])), (5 + long.len(), long.len()));
    assert_eq!(answered("application/msgpack", after.clone()), after, "twice");
}

#[test]
fn a_length_that_looks_like_a_letter_hides_no_secret() {
    let key = format!("{}{}", "sk-", "a1b2c3".repeat(8));
    let after = answered("application/msgpack", packed(&key));
    assert_eq!((after[4], after.len()), (b'3', 5 + key.len()));
    check_gone(&after, &key);

    // CBOR: `{"k": …, "n": 1}`.
    let key = format!("{}{}", "AKIA", "Q2W3E4R5T6Y7U2I3");
    let map = [&[0xa2, 0x61, b'k', b't'], key.as_bytes(), &[0x61, b'n', 1]].concat();
    let after = answered("application/cbor", map.clone());
    assert_eq!(after.len(), map.len());
    check_gone(&after, &key);
}

/// Letters that are numbers in the Base64 of addresses hold the beginning of a key now and then.
#[test]
fn what_is_within_a_long_word_of_a_text_is_no_key() {
    let word = format!("{}X{}{}", "aB3".repeat(40), "sk-", "Zt4".repeat(40));

    assert_eq!(answered("text/plain", word.clone().into_bytes()), word.as_bytes());
    let in_bytes = [&[0xff], word.as_bytes()].concat();
    assert_ne!(answered("application/octet-stream", in_bytes.clone()), in_bytes);
}

#[test]
fn in_a_text_it_has_the_length_of_its_name() {
    let after = answered("text/plain", format!("key {}", secret("b2")).into_bytes());

    let after = String::from_utf8(after).unwrap();
    assert!(after.starts_with("key [redacted:") && !after.contains(".."), "{after}");
}

#[test]
fn what_sums_up_a_body_goes_with_a_secret_in_it() {
    let headers = [("Content-MD5", "x"), ("x-amz-checksum-crc32", "y"), ("etag", "z")];
    let names = |text: &str| -> Vec<String> {
        let after = redacted_answer(response(&headers, whole(text)));
        after.headers.iter().map(|(name, _)| name.to_owned()).collect()
    };

    assert_eq!(names(&secret("b2")), ["etag"]);
    assert_eq!(names("nothing"), ["Content-MD5", "x-amz-checksum-crc32", "etag"]);
}
