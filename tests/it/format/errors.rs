use insta::assert_snapshot;
use retape::cassette::Body;
use retape::cassette::format::{decode, encode};

use super::compress;
use super::sample::*;

/// What is said about a file that cannot be read.
#[track_caller]
fn refused(text: &str) -> String {
    format!("{:?}", decode(text, |_| Ok(bytes("another body"))).unwrap_err())
}

/// A file with one interaction, changed in one place.
#[track_caller]
fn changed(from: &str, to: &str) -> String {
    let text = encode(&answer(&[("a", "1")], stream(&["data: {}\n\n", "x"]))).text;
    assert!(text.contains(from), "{text}");
    refused(&text.replacen(from, to, 1))
}

#[test]
fn a_newer_file_is_refused_whatever_else_it_is() {
    for text in [
        r#"{"retape": 3, "interactions": 5}"#,
        "{\"retape\": 3}\n{\"request\": {}}\n",
        r#"{"retape": 3, "tapes": <binary>"#,
        r#"{"interactions": [{"new": true}], "retape": 3}"#,
    ] {
        let error = decode(text, |_| unreachable!()).unwrap_err();

        assert!(error.is_newer_version(), "{text}");
    }
    assert_snapshot!(refused(r#"{"retape": 3}"#), @r#"
    cassette format 3 is newer than this release, which reads up to 2
    hint: install the release of retape that wrote it (`cargo install retape --locked` for the latest)
    "#);
}

#[test]
fn what_is_no_cassette_is_refused() {
    assert_snapshot!(refused(""), @r#"not a cassette (line 1): EOF while parsing a value at line 1 column 0"#);
    assert_snapshot!(refused("{\n  \"retape\": 1,\n}"), @r#"not a cassette (line 3): key must be a string at line 3 column 1"#);
    assert_snapshot!(refused("{\n  \"retape\": 1,\n<<<<<<< HEAD\n  \"a\": 1\n=======\n}"), @r#"
    not a cassette (line 3): key must be a string at line 3 column 1
    hint: resolve the merge conflict in it, or record it again
    "#);
    assert_snapshot!(refused("[]"), @r#"expected an object, found an array (line 1)"#);
    assert_snapshot!(refused("{}"), @r#"
    member `retape` is missing (line 1)
    hint: a cassette begins with `{"retape": 1`
    "#);
    assert_snapshot!(refused(r#"{"retape": 0, "interactions": []}"#), @r#"not a valid cassette: there is no such version of the format (line 1)"#);
    assert_snapshot!(refused(r#"{"retape": "1"}"#), @r#"expected a whole number, found a string (line 1)"#);
    assert_snapshot!(refused(r#"{"retape": 1.5}"#), @r#"expected a whole number, found another number (line 1)"#);
}

#[test]
fn an_unknown_member_is_named_with_the_nearest_that_is_known() {
    assert_snapshot!(changed("\"status\"", "\"statsu\""), @r#"
    unknown member `statsu` (line 11) in interaction 1
    hint: did you mean `status`?
    "#);
    assert_snapshot!(changed("\"interactions\"", "\"interaction\""), @r#"
    unknown member `interaction` (line 3)
    hint: did you mean `interactions`?
    "#);
    assert_snapshot!(changed("\"data\"", "\"dada\""), @r#"
    unknown member `dada` (line 16) in interaction 1
    hint: did you mean `data`?
    "#);
    assert_snapshot!(changed("\"request\"", "\"zzz\""), @r#"
    unknown member `zzz` (line 5) in interaction 1
    hint: known here: `after`, `request`, `response`
    "#);
    assert_snapshot!(changed("\"path\": \"/\"", "\"path\": \"/\", \"stream\": []"), @"
    unknown member `stream` (line 7) in interaction 1
    hint: known here: `method`, `origin`, `path`, `headers`, `bytes`, `layout`, `encoded`, `json`, `text`, `base64`, `file`
    ");
}

#[test]
fn a_wrong_type_is_refused_with_its_line() {
    assert_snapshot!(changed("200", "\"200\""), @r#"expected a whole number, found a string (line 11) in interaction 1"#);
    assert_snapshot!(changed("200", "200.0"), @r#"expected a whole number, found another number (line 11) in interaction 1"#);
    assert_snapshot!(changed("200", "70000"), @r#"not a valid cassette: `status` is no status code: 100 to 999 (line 11) in interaction 1"#);
    assert_snapshot!(changed("200", "2010"), @r#"not a valid cassette: `status` is no status code: 100 to 999 (line 11) in interaction 1"#);
    assert_snapshot!(changed("\"GET\"", "null"), @r#"expected a string, found `null` (line 6) in interaction 1"#);
    assert_snapshot!(changed("{\"ms\": 1, \"text\": \"x\"}", "\"x\""), @r#"expected an object, found a string (line 17) in interaction 1"#);
    assert_snapshot!(changed("\"x\"", "[\"x\", 1]"), @r#"expected a string, found a number (line 17) in interaction 1"#);
    assert_snapshot!(changed("\"x\"", "\"\\ud800\""), @r#"not a valid cassette: a string is not Unicode (line 17) in interaction 1: unexpected end of hex escape at line 1 column 8"#);
    assert_snapshot!(changed("\"complete\"", "\"completed\""), @r#"
    not a valid cassette: `end` is none that is known (line 19) in interaction 1
    hint: it may be `complete`, `client_closed`, `server_closed`, `timeout`, `unreachable`, `interrupted`
    "#);
}

#[test]
fn what_is_missing_or_contradicts_itself_is_refused() {
    assert_snapshot!(changed("\"status\": 200,", ""), @r#"member `status` is missing (line 9) in interaction 1"#);
    assert_snapshot!(changed("\"method\": \"GET\",", ""), @r#"member `method` is missing (line 5) in interaction 1"#);
    assert_snapshot!(changed(", \"text\": \"x\"", ""), @r#"member `text` is missing (line 17) in interaction 1"#);
    assert_snapshot!(changed("\"text\": \"x\"", "\"text\": \"x\", \"base64\": \"\""), @r#"not a valid cassette: a chunk is written twice (line 17) in interaction 1"#);
    assert_snapshot!(changed("\"text\": \"x\"", "\"base64\": \"%\""), @r#"not a valid cassette: `base64` is not base64 (line 17) in interaction 1: Invalid symbol 37, offset 0."#);
    assert_snapshot!(changed("\"stream\"", "\"text\": \"x\",\n\"stream\""), @r#"not a valid cassette: a body is written both whole and as a stream (line 15) in interaction 1"#);
    assert_snapshot!(changed("\"status\": 200,", "\"status\": 200, \"status\": 200,"), @r#"not a valid cassette: a member stands there twice (line 11) in interaction 1"#);
    assert_snapshot!(changed("\"request\"", "\"after\": {\"0\": 1},\n\"request\""), @r#"not a valid cassette: `after` names something that is no earlier interaction (line 5) in interaction 1"#);
    assert_snapshot!(changed("\"stream\"", "\"layout\": \"indent 2\",\n\"stream\""), @r#"not a valid cassette: `layout` is none for a stream (line 15) in interaction 1"#);
    assert_snapshot!(changed("\"stream\"", "\"framing\": \"cr\",\n\"stream\""), @r#"
    not a valid cassette: `framing` is none that is known (line 15) in interaction 1
    hint: it may be `usual`, `crlf`, `unspaced`, `crlf unspaced`
    "#);
    assert_snapshot!(changed("{\"data\": {}}", "{\"data\": \"a\\nb\"}"), @r#"not a valid cassette: a line of an event has a line break in it (line 16) in interaction 1"#);
}

#[test]
fn a_header_field_that_cannot_be_sent_is_refused() {
    for value in ["a\\r\\nb", "a\\nb", "\\u0000"] {
        let fields = format!("\"status\": 200, \"headers\": {{\"x-a\": \"{value}\"}},");
        let said = changed("\"status\": 200,", &fields);
        assert!(
            said.contains("a header field has a line break or a NUL in it (line 11)"),
            "{said}"
        );
    }
}

#[test]
fn lengths_of_fragments_that_are_too_large_to_add_are_refused() {
    let text = r#"{"retape": 1, "interactions": [{
        "request": {"method": "GET", "path": "/"},
        "response": {"status": 101, "frames": [
            {"ms": 1, "from": "client", "text": "abc", "fragments": [18446744073709551615, 4]}
        ]}
    }]}"#;
    assert_snapshot!(refused(text), @"
    not a valid cassette: the lengths of the fragments do not add up to that of the frame (line 4) in interaction 1
    hint: correct them, or remove `fragments`
    ");
}

#[test]
fn chunks_that_do_not_add_up_are_refused() {
    let text = encode(&answer(&[], stream(&["{\"a\":", "1}"]))).text;

    assert_snapshot!(refused(&text.replace("[1, 2]", "[1, 3]")), @r#"
    not a valid cassette: the lengths of the chunks do not add up to that of the body (line 12) in interaction 1
    hint: correct them, or remove `chunks` to have the body in one piece
    "#);
    assert_snapshot!(refused(&text.replace("[1, 2]", "[1]")), @r#"not a valid cassette: a pair has fewer than two items (line 13) in interaction 1"#);
}

#[test]
fn a_body_beside_the_file_must_be_the_one_that_was_stored() {
    let text = encode(&answer(&[], Body::Whole(bytes([0xff; 5_000])))).text;

    assert_snapshot!(refused(&text), @r#"
    body `941cf5406b10b2fa122746c95d40d1fe` is missing or has been changed (line 12) in interaction 1
    hint: restore it from version control, or record the cassette again
    "#);
    assert_snapshot!(refused(&text.replace("\"file\": \"", "\"file\": \"../")), @r#"not a valid cassette: `file` is not the name of a body (line 12) in interaction 1"#);
    assert_snapshot!(refused(&text.replace("\"file\": \"", "\"file\": \"00")), @r#"not a valid cassette: `file` is not the name of a body (line 12) in interaction 1"#);
    let lines = "a line\n".repeat(10_000);
    let text = encode(&answer(&[], Body::Whole(bytes(lines.clone())))).text;
    let error = decode(&text, |_| Ok(bytes(lines.replace('\n', "\r\n")))).unwrap_err();
    assert_snapshot!(format!("{error:?}"), @r#"
    body `0b0e1bd836ee0f854c690820dc8725cc` is missing or has been changed (line 12) in interaction 1
    hint: a checkout has changed the ends of its lines: write `*.bodies/* -text` into `.gitattributes`, and check it out anew
    "#);
    let text = encode(&answer(&[], Body::Whole(bytes([0xff; 5_000])))).text;
    let wrong_length = text.replace("5000", "5001");
    let error = decode(&wrong_length, |_| Ok(bytes([0xff; 5_000]))).unwrap_err();
    assert_snapshot!(format!("{error:?}"), @r#"not a valid cassette: `bytes` is not the length of the body (line 12) in interaction 1"#);
}

#[test]
fn a_readable_body_must_be_what_its_compressed_bytes_are() {
    let sent = compress::whole("gzip", br#"{"code":"ALPHA"}"#);
    let gzip = [("content-encoding", "gzip")];
    let text = encode(&answer(&gzip, Body::Whole(sent.into()))).text;

    assert_snapshot!(refused(&text.replace("ALPHA", "BETA")), @r#"
    not a valid cassette: the readable body is not what `encoded` decodes to (line 16) in interaction 1
    hint: if the readable body was edited on purpose, remove `encoded` and the `content-encoding` header
    "#);
    assert_snapshot!(refused(&text.replace("content-encoding", "content-language")), @r#"
    not a valid cassette: `encoded` stands without a `content-encoding` that is known (line 16) in interaction 1
    hint: if the readable body was edited on purpose, remove `encoded` and the `content-encoding` header
    "#);
    let file = format!("\"file\": \"{}\", \"base64\": \"", "0".repeat(32));
    let twice = text.replace("\"base64\": \"", &file);
    assert_snapshot!(refused(&twice), @"not a valid cassette: `encoded` is written twice (line 16) in interaction 1");
    assert_snapshot!(refused(&text.replace("H4sI", "AAAA")), @r#"
    not a valid cassette: the readable body is not what `encoded` decodes to (line 16) in interaction 1
    hint: if the readable body was edited on purpose, remove `encoded` and the `content-encoding` header
    "#);
}

#[test]
fn an_edited_body_without_its_compressed_bytes_is_taken() {
    let sent = compress::whole("gzip", br#"{"code":"ALPHA"}"#);
    let gzip = [("content-encoding", "gzip")];
    let text = encode(&answer(&gzip, Body::Whole(sent.into()))).text;
    let encoded = text.lines().find(|line| line.contains("encoded\":")).unwrap();

    let edited = text.replace(encoded, "").replace("ALPHA", "BETA");
    let edited = edited.replace("content-encoding\": \"gzip\"", "x\": \"y\"");
    let cassette = decode(&edited, |_| unreachable!()).unwrap();

    let body = &cassette.interactions[0].response().unwrap().body;
    assert_eq!(*body, Body::Whole(bytes(r#"{"code":"BETA"}"#)));
}

#[test]
fn what_fetching_a_body_reports_is_passed_on_with_its_place() {
    let text = encode(&answer(&[], Body::Whole(bytes([0xff; 5_000])))).text;

    let error = decode(&text, |_| decode("", |_| unreachable!()).map(|_| bytes(""))).unwrap_err();

    assert_eq!(error.interaction(), Some(0));
}

#[test]
fn members_may_stand_in_any_order() {
    let cassette = answer(&[("a", "1")], stream(&["data: {\"a\": 1}\r\n\r\n", "x"]));
    let text = encode(&cassette).text;
    let (head, rest) = text.split_once("        \"framing\"").unwrap();
    let (style, rest) = rest.split_once("        \"stream\"").unwrap();
    let (stream, rest) = rest.split_once("        \"end\"").unwrap();

    let turned = format!("{head}\"stream\"{stream}\"framing\"{style}\"end\"{rest}");

    assert_eq!(decode(&turned, |_| unreachable!()).unwrap(), cassette);
}

#[test]
fn what_is_no_json_is_refused_wherever_it_is_broken() {
    let stream = stream(&["data: {\"a\":[1,-2.5e3,true]}\n\n", "{\"b\":null}\n", "\"\\\u{e9}"]);
    let whole = Body::Whole(bytes("{\"c\":\"\\u00e9\",\"d\":[]}"));
    let texts = [answer(&[("a", "1"), ("a", "2"), ("\"", "\t")], stream), answer(&[], whole)];
    for text in texts.map(|cassette| encode(&cassette).text) {
        for at in text.char_indices().map(|(at, _)| at).chain([text.len()]) {
            let (before, rest) = text.split_at(at);
            let behind = rest.get(1..).unwrap_or("");
            for put in ["", ",", ":", "\"", "\\", "{", "}", "[", "]", "0", "e", "\n", "\u{c}", "\0"]
            {
                for broken in [format!("{before}{put}{rest}"), format!("{before}{put}{behind}")] {
                    let json = serde_json::from_str::<serde::de::IgnoredAny>(&broken);
                    let read = decode(&broken, |_| Ok(bytes("another body")));

                    assert!(json.is_ok() || read.is_err(), "{broken}");
                }
            }
        }
    }
}

#[test]
fn a_small_file_names_no_more_interactions_than_a_recording_may() {
    let one = |after: String| {
        format!(
            r#"{{{after}"request": {{"method": "GET", "path": "/"}}, "response": {{"end": "timeout"}}}}"#
        )
    };
    let file = |count: usize, after: fn(usize) -> String| {
        let all: Vec<String> = (0..count).map(|number| one(after(number))).collect();
        format!(r#"{{"retape": 2, "interactions": [{}]}}"#, all.join(","))
    };
    let all_before = |number: usize| match number {
        0 => String::new(),
        _ => format!(r#""after": {{"1-{number}": 0}}, "#),
    };
    let again = |number: usize| match number {
        2000 => format!(r#""after": {{{}}}, "#, vec![r#""1-2000": 0"#; 2000].join(", ")),
        _ => String::new(),
    };

    assert!(decode(&file(1400, all_before), |_| unreachable!()).is_ok());
    assert_snapshot!(refused(&file(1500, all_before)), @r"
    not a valid cassette: the ranges in `after` name more than a million interactions (line 1) in interaction 1449
    hint: retape names no more by ranges: somebody else wrote the file
    ");
    assert!(refused(&file(2001, again)).contains("a million interactions"));
    let backwards = |number: usize| match number {
        2 => r#""after": {"2-1": 0}, "#.to_owned(),
        _ => String::new(),
    };
    assert!(refused(&file(3, backwards)).contains("no earlier interaction"));
}
