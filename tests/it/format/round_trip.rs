use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};
use retape::cassette::format::{decode, encode};

use super::arbitrary::{cassettes, sockets};
use super::sample::*;

/// Enough to meet every form many times; `PROPTEST_CASES` asks for more.
fn config() -> Config {
    Config { failure_persistence: None, ..Config::default() }
}

#[test]
fn any_cassette_comes_back_as_it_was_and_is_written_the_same_again() {
    let met: RefCell<BTreeMap<&str, usize>> = RefCell::default();

    TestRunner::new_with_rng(config(), TestRng::deterministic_rng(config().rng_algorithm))
        .run(&cassettes(), |cassette| {
            let file = encode(&cassette);

            let again = decoded(&file);

            prop_assert_eq!(again.as_ref().ok(), Some(&cassette), "{:?}\n{}", again, file.text);
            prop_assert_eq!(&encode(&cassette), &file);
            FORMS.iter().filter(|form| file.text.contains(**form)).for_each(|form| {
                *met.borrow_mut().entry(form).or_default() += 1;
            });
            Ok(())
        })
        .unwrap();

    let met = met.into_inner();
    let missed: Vec<_> = FORMS.iter().filter(|form| met.get(**form) < Some(&3)).collect();
    assert!(missed.is_empty(), "hardly ever met: {missed:?} of {met:?}");
}

#[test]
fn any_frames_come_back_as_they_were_and_are_written_the_same_again() {
    TestRunner::new_with_rng(config(), TestRng::deterministic_rng(config().rng_algorithm))
        .run(&sockets(), |cassette| {
            let file = encode(&cassette);

            let again = decoded(&file);

            prop_assert_eq!(again.as_ref().ok(), Some(&cassette), "{:?}\n{}", again, file.text);
            prop_assert_eq!(&encode(&cassette), &file);
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_was_under_way_at_once_is_written_in_ranges() {
    let cassette = |count: usize| {
        let mut cassette = answer(&[], retape::cassette::Body::default());
        let one = cassette.interactions[0].clone();
        cassette.interactions = (0..count)
            .map(|number| retape::cassette::Interaction {
                after: (0..number)
                    .map(|interaction| retape::cassette::Progress { interaction, chunks: 0 })
                    .collect(),
                ..one.clone()
            })
            .collect();
        cassette
    };
    let text = |count| encode(&cassette(count)).text;

    assert!(text(8).contains("\"retape\": 1") && !text(8).contains("1-7"));
    assert!(text(9).contains("\"retape\": 2") && text(9).contains("\"after\": {\"1-8\": 0}"));
    // What ranges may not name any more is named one by one, and is read all the same.
    for count in [9, 1500] {
        assert_eq!(decoded(&encode(&cassette(count))).unwrap(), cassette(count));
    }
    assert!(text(400).len() < 2 * 40 * text(10).len());
}

/// What the generators must meet, or the property says little.
const FORMS: &[&str] = &[
    "\"sse\": {",
    "\"sse\": [",
    "\"ndjson\": {",
    "\"ndjson\": [",
    "\"framing\": \"crlf\"",
    "\"framing\": \"unspaced\"",
    "\"framing\": \"crlf unspaced\"",
    "\"framing\": \"usual\"",
    "\"layout\": \"compact\"",
    "\"layout\": \"spaced\"",
    "\"layout\": \"newline\"",
    "\"layout\": \"indent 2\"",
    "\"layout\": \"indent tab newline\"",
    "\"json\": {",
    "\"json\": [",
    "\"chunks\": [",
    "\"text\": \"",
    "\"text\": [{\"base64\"",
    "\"text\": [\n",
    "\"base64\": \"",
    "\"base64\": [\n",
    "\"file\": \"",
    "\"encoded\": {\"base64\"",
    "\"lengths\": [",
    "\"headers\": {\n",
    "\"headers\": [\n",
    "\"trailers\": ",
    "\"after\": {",
    "\"reason\": ",
    "\"response\": {\"end\"",
    "\"interrupted\": true",
];

#[test]
fn a_file_with_other_white_space_says_the_same() {
    TestRunner::new(Config { cases: 32, ..config() })
        .run(&cassettes(), |cassette| {
            let file = encode(&cassette);
            let windows = file.text.replace('\n', "\r\n");

            prop_assert_eq!(decode_with(&windows, &file.bodies).ok(), Some(cassette));
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_damage_to_a_file_panics() {
    TestRunner::new(Config { cases: 64, ..config() })
        .run(&(cassettes(), any::<usize>(), 0..12_usize), |(cassette, at, what)| {
            let mut text = encode(&cassette).text;
            let at = at % text.len();
            let at = (at..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let tail = text.split_off(at);
            let instead = ["", "\"", "{", "}", "[", "]", ",", ":", "1", "\\", "null", "\n"][what];
            let tail = tail.char_indices().nth(1).map_or("", |(at, _)| &tail[at..]);

            let _ = decode(&format!("{text}{instead}{tail}"), |_| Ok(bytes("other")));
            let _ = decode(&text, |_| Ok(bytes("other")));
            Ok(())
        })
        .unwrap();
}
