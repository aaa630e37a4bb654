//! What is shown while it comes.

use std::borrow::Cow;

use retape::redact::{Live, Redactor, Secrets};

use super::{check_gone, request};

#[test]
fn live_output_leaks_nothing_however_the_body_is_cut() {
    let random = "q9w8e7r6t5z4u3i2o1";
    let known = "known-31415926535";
    for sample in [
        format!("data: {{\"a\":1,\"api_key\": \"{random}\",\"b\":\"c\"}}\n\ndata: [DONE]\n\n"),
        format!("data: {{\"token\":\"{random}\"}}\n\ndata: {{\"token\":\" Hello\"}}\n\n"),
        format!("data: {{\"arguments\":\"{{\\\"password\\\":\\\"{random}\\\"}}\"}}\n\n"),
        format!("{{\"secrets\":[{{\"key\":\"A\",\"value\":\"{random}\"}}],\"x\":\"y\"}}"),
        format!("x {known} y kno known {known}{known} https://u:{random}@h/?token={random} z"),
        format!("{{\"authorization\" : \"Bearer {random}\", \"then\": \"{random}\"}}"),
        format!("{{\"api_key\": \"{random}"),
        format!(
            "x; export API_KEY={random}, {random};{random}\tand Authorization: Bearer {random}"
        ),
        format!("data: {{\"text\":\"\\nPASSWORD = '{random}'\\n\"}}\n\n"),
        format!("data: {{\"a\":1,\ndata: \"password\":\ndata: \"{random}\"}}\n\n"),
        format!("{{\"dsn\":\"postgres:\\/\\/u:{random}@h\\/?token={random}\"}}"),
        format!("jdbc:x://h:1433;user=sa;password={random};encrypt=true\n"),
        format!(
            "a: 1\npassword: {random},{random};2\npassword: |\n  {random}\napi_key: `{random}`\n"
        ),
        format!("DB_PASSWORD=\"{random},{random};2\" api_key: `{random}` x\n"),
        format!("password = \"\"\"{random}\"\"\"\napi_key: >-\r\n  {random}\n"),
        format!("{{\"\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c\": \"{random}\", \"a\": \"b\"}}"),
        format!("{{\"of {known} password\": \"{random}\", \"password of {known}\": 1}}"),
    ] {
        let redactor = Redactor::standard();
        let mut secrets = Secrets::default();
        redactor.request_noting(&mut request("/", &[("x-api-key", known)], ""), &mut secrets);
        let live = |pieces: &[&[u8]]| {
            let mut live = Live::new(&redactor, secrets.clone());
            let mut out = Vec::new();
            for piece in pieces {
                out.extend_from_slice(&live.push(piece));
                check_gone(&out, random);
                check_gone(&out, known);
            }
            out.extend(live.finish().0);
            check_gone(&out, random);
            check_gone(&out, known);
            String::from_utf8(out).expect("text")
        };
        let bytes = sample.as_bytes();
        let at_once = live(&[bytes]);
        for cut in 0..bytes.len() {
            assert_eq!(live(&[&bytes[..cut], &bytes[cut..]]), at_once, "cut at {cut}");
        }
        assert_eq!(live(&bytes.chunks(1).collect::<Vec<_>>()), at_once);
        assert!(at_once.contains("[redacted:"), "{at_once}");
    }
}

#[test]
fn live_output_holds_nothing_back_that_is_decided() {
    let mut live = Live::new(&Redactor::standard(), Secrets::default());

    for piece in ["data: {\"token\":\" He\"}\n\n", "data: {\"text\":\"so", " it ", "goes\"}\n\n"] {
        assert_eq!(live.push(piece.as_bytes()), piece.as_bytes());
    }
}

#[test]
fn live_output_leaks_nothing_that_stands_among_bytes_that_are_no_text() {
    let (random, known) = ("q9w8e7r6t5z4u3i2o1", "known-31415926535");
    let noise = |seed: u32, length: u32| -> Vec<u8> {
        let mixed = (0..length).map(|at| (seed + at).wrapping_mul(2_654_435_761) >> 24);
        mixed.map(|byte| byte as u8).collect()
    };
    let texts = [
        format!("api_key={random}"),
        format!("\"password\": \"{random}\""),
        known.to_owned(),
        format!("https://u:{random}@h/x"),
    ];
    let body = |end: &[u8]| -> Vec<u8> {
        let texts = texts.iter().zip([1, 5000, 9000, 20_000]);
        texts.flat_map(|(text, seed)| [&noise(seed, 3000), text.as_bytes(), end].concat()).collect()
    };
    let redactor = Redactor::standard();
    let mut secrets = Secrets::default();
    redactor.request_noting(&mut request("/", &[("x-api-key", known)], ""), &mut secrets);
    let live = |body: &[u8], size: usize| {
        let mut live = Live::new(&redactor, secrets.clone());
        let mut out: Vec<u8> =
            body.chunks(size).flat_map(|piece| live.push(piece).into_owned()).collect();
        out.extend(live.finish().0);
        out
    };

    for end in [&b"\n"[..], b"\0", b"\xff\0"] {
        let body = body(end);
        let at_once = live(&body, body.len());

        assert!(at_once.starts_with(&noise(1, 3000)));
        assert_eq!(memchr::memmem::find_iter(&at_once, "redacted").count(), texts.len());
        for size in [1, 7, 100, 1024, 4096, body.len()] {
            let shown = live(&body, size);

            check_gone(&shown, random);
            check_gone(&shown, known);
            assert!(shown == at_once, "pieces of {size}");
            // User information becomes what a URL may have there.
            let count = |text: &str| memchr::memmem::find_iter(&shown, text).count();
            let placeholders = count("[redacted:") + count("//redacted@");
            assert!(placeholders >= texts.len(), "{placeholders} in pieces of {size}");
        }
    }
}

#[test]
fn live_output_in_which_nothing_was_replaced_is_not_copied() {
    let noise: Vec<u8> = (0..100_000_u32).map(|at| (at.wrapping_mul(at) >> 3) as u8).collect();
    let mut live = Live::new(&Redactor::standard(), Secrets::default());

    assert!(matches!(live.push(&noise), Cow::Borrowed(same) if same == noise));
    let secret = b"\xff authorization: Bearer sk-ant-0123456789abcdefghij \xff".as_slice();
    assert!(matches!(live.push(secret), Cow::Owned(shown) if shown != secret));
}
