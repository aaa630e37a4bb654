//! No secret is left, nothing else is touched, and a recorded request still matches.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use retape::Cassette;
use retape::cassette::{Body, Chunk, End, Headers, Interaction, Outcome, Request, Response};
use retape::redact::{Live, Redactor, Secrets};

/// A secret that exists at run time only.
fn secret(seed: &str) -> String {
    format!("{}{}", "sk-", seed.repeat(16))
}

fn request(path: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Request {
    Request {
        method: "POST".to_owned(),
        path: path.to_owned(),
        headers: headers.iter().map(|(name, value)| (*name, value.to_string())).collect(),
        body: body.into().into(),
    }
}

fn response(headers: &[(&str, &str)], body: Body) -> Response {
    Response {
        ms: 1,
        status: 200,
        reason: None,
        headers: headers.iter().map(|(name, value)| (*name, value.to_string())).collect(),
        body,
        trailers: Headers::new(),
        end: End::Complete,
    }
}

fn whole(bytes: impl Into<Vec<u8>>) -> Body {
    Body::Whole(bytes.into().into())
}

fn stream(pieces: &[&[u8]]) -> Body {
    let chunk =
        |(ms, bytes): (usize, &&[u8])| Chunk { ms: ms as u64, bytes: bytes.to_vec().into() };
    Body::Stream(pieces.iter().enumerate().map(chunk).collect())
}

fn cassette(exchanges: Vec<(Request, Response)>) -> Cassette {
    let interaction = |(request, response)| Interaction {
        after: Vec::new(),
        request,
        outcome: Outcome::Response(response),
    };
    Cassette {
        interactions: exchanges.into_iter().map(interaction).collect(),
        ..Cassette::default()
    }
}

fn redacted(cassette: Cassette) -> Cassette {
    Redactor::standard().cassette(cassette).into_inner()
}

fn answer(cassette: &Cassette, number: usize) -> &Response {
    cassette.interactions[number].response().expect("an answer")
}

/// What becomes of an answer.
fn redacted_answer(answered: Response) -> Response {
    answer(&redacted(cassette(vec![(request("/", &[], ""), answered)])), 0).clone()
}

/// What becomes of the body of an answer.
fn body(content_type: &str, text: &str) -> String {
    let after = redacted_answer(response(&[("content-type", content_type)], whole(text)));
    String::from_utf8(after.body.bytes().to_vec()).expect("text")
}

#[track_caller]
fn check_json(before: &str, after: &str) {
    let secret = secret("a1");
    let whole = body("application/json", &before.replace('$', &secret));
    assert_eq!(whole, after, "as JSON");
    let event = format!("data: {}\n\n", before.replace('$', &secret));
    assert_eq!(body("text/event-stream", &event), format!("data: {after}\n\n"), "as an event");
}

#[track_caller]
fn check_untouched(text: &str) {
    assert_eq!(body("application/json", text), text);
}

#[test]
fn fields_with_telling_names_are_replaced_in_place() {
    check_json(r#"{"api_key": "$",  "n": 1.0}"#, r#"{"api_key": "[redacted:api_key]",  "n": 1.0}"#);
    check_json(r#"{"clientSecret":"$"}"#, r#"{"clientSecret":"[redacted:clientSecret]"}"#);
    check_json(r#"{"password":"x","pin":1}"#, r#"{"password":"[redacted:password]","pin":1}"#);
    check_json(r#"{"password":1234}"#, r#"{"password":0}"#);
    check_json(r#"{"token":"$"}"#, r#"{"token":"[redacted:token]"}"#);
    check_json(
        r#"{"api_keys":["$","x"]}"#,
        r#"{"api_keys":["[redacted:api_keys]","[redacted:api_keys]"]}"#,
    );
    check_json(
        r#"{"authorization":"Bearer $"}"#,
        r#"{"authorization":"Bearer [redacted:authorization]"}"#,
    );
    check_json(r#"{"API_KEY":"a\"b\\"}"#, r#"{"API_KEY":"[redacted:API_KEY]"}"#);
}

#[test]
fn strings_below_telling_names_are_replaced() {
    check_json(
        r#"{"secrets":{"API_KEY":"$","MODE":"x"}}"#,
        r#"{"secrets":{"API_KEY":"[redacted:API_KEY]","MODE":"[redacted:MODE]"}}"#,
    );
    check_json(
        r#"{"tool_exec_environment_variables":[{"key":"A","value":"$","id":"agent-env-1","created_at":"2026-11-20","description":null}]}"#,
        r#"{"tool_exec_environment_variables":[{"key":"A","value":"[redacted:tool_exec_environment_variables]","id":"agent-env-1","created_at":"2026-11-20","description":null}]}"#,
    );
    check_json(
        r#"{"custom_headers":{"X-Key":"$"},"args":["a"],"env":{"A":"b"}}"#,
        r#"{"custom_headers":{"X-Key":"[redacted:X-Key]"},"args":["a"],"env":{"A":"[redacted:A]"}}"#,
    );
}

#[test]
fn json_within_strings_is_read_at_any_depth() {
    check_json(
        r#"{"arguments":"{\"api_key\": \"$\", \"n\": 1}"}"#,
        r#"{"arguments":"{\"api_key\": \"[redacted:api_key]\", \"n\": 1}"}"#,
    );
    check_json(
        r#"{"a":"{\"b\":\"{\\\"password\\\":\\\"$\\\"}\"}"}"#,
        r#"{"a":"{\"b\":\"{\\\"password\\\":\\\"[redacted:password]\\\"}\"}"}"#,
    );
    check_json(
        r#"{"text":"he wrote {'api_key': '$'} there"}"#,
        r#"{"text":"he wrote {'api_key': '[redacted:api_key]'} there"}"#,
    );
}

#[test]
fn names_that_only_look_alike_are_left_alone() {
    check_untouched(
        r#"{"max_tokens":5,"prompt_tokens":1,"stream_tokens":true,"token_count":2,"token_type":"bearer",
        "next_page_token":"abcdefgh1234567890abcd12","tokens":["a"],"token":" Hello","tool_call_id":"toolu_01",
        "public_key":"abc123","name":"get_secret_code_tool","code":"PENDING_APPROVAL","key":"some.long.key_of_something",
        "password":"","secret":null,"api_key":true,"secrets":[],"env":"production","signature":"EqQBCgIYAhIM1234567890"}"#,
    );
    check_untouched(
        r#"{"parameters":{"type":"object","properties":{"password":{"type":"string","description":"the password"},
        "api_key":{"anyOf":[{"type":"string"}],"title":"Api Key"}},"required":["password"]}}"#,
    );
}

#[test]
fn text_that_is_no_json_is_searched_for_names() {
    let secret = secret("b2");
    for (before, after) in [
        (r#"{"a": 1, "api_key": "$"#, r#"{"a": 1, "api_key": "[redacted:api_key]"#),
        (r#"said {\"api_key\": \"$\"} then"#, r#"said {\"api_key\": \"[redacted:api_key]\"} then"#),
        (r#"x {\"password\": 12} y"#, r#"x {\"password\": 0} y"#),
        (
            "{\"secrets\": {\n  \"A\": \"$\",\n  \"id\": \"7\",\n  \"B\": \"x",
            "{\"secrets\": {\n  \"A\": \"[redacted:A]\",\n  \"id\": \"7\",\n  \"B\": \"[redacted:B]",
        ),
        (
            "see https://u:$@host/x?a=1&api_key=$ ok",
            "see https://redacted@host/x?a=1&api_key=[redacted:userinfo] ok",
        ),
    ] {
        assert_eq!(body("text/plain", &before.replace('$', &secret)), after);
    }
}

/// The text by itself and within JSON.
#[track_caller]
fn check_prose(before: &str, after: &str) {
    assert_eq!(body("text/plain", before), after);
    let quoted = |text: &str| serde_json::json!({ "content": text }).to_string();
    assert_eq!(body("application/json", &quoted(before)), quoted(after));
}

#[test]
fn assignments_to_telling_names_are_replaced_in_prose() {
    let key = secret("as");
    for (before, after) in [
        ("export OPENAI_API_KEY=$\nrun", "export OPENAI_API_KEY=[redacted:OPENAI_API_KEY]\nrun"),
        ("DB_PASSWORD='hunter22x'; go", "DB_PASSWORD='[redacted:DB_PASSWORD]'; go"),
        ("Client(api_key=\"$\", n=1)", "Client(api_key=\"[redacted:api_key]\", n=1)"),
        ("db.password = $, see", "db.password = [redacted:db.password], see"),
        ("  clientSecret: $.", "  clientSecret: [redacted:clientSecret]."),
        ("[password=hunter22x]", "[password=[redacted:password]]"),
        (
            "curl -H 'Authorization: Bearer $' -H 'x-api-key:$'",
            "curl -H 'Authorization: Bearer [redacted:Authorization]' -H 'x-api-key:[redacted:Authorization]'",
        ),
        ("GITHUB_TOKEN=$", "GITHUB_TOKEN=[redacted:GITHUB_TOKEN]"),
        ("password=http://u:$@h/", "password=http://redacted@h/"),
    ] {
        check_prose(&before.replace('$', &key), after);
    }
}

#[test]
fn prose_and_code_about_secrets_is_left_alone() {
    for text in [
        "token: the unit of text a model reads, password: required, Secret: Santa",
        "The password: Required. The api key: an administrator has it. secret: 12345678",
        "API_KEY=<your key> API_KEY=$OTHER_KEY_2 API_KEY=${KEY_2} API_KEY= \nx1y2z3w4",
        "api_key=os.environ[\"KEY_2\"], api_key = settings.api_key2, password=get_it(user2)",
        "max_tokens=40960000 next_page_token=a1b2c3d4e5f6a7b8c9 monkey=a1b2c3d4e5",
        "if password == stored2password: api_key: Optional[str2] = None; token=short1",
        "api_key: str, password=changeme, PASSWORD=********, key=a1b2c3d4e5f6a7b8c9d0",
        "password:\n1. do this2or3 that",
    ] {
        check_prose(text, text);
    }
}

#[test]
fn a_placeholder_that_a_client_puts_into_prose_is_called_as_the_secret_was() {
    let ask = |key: &str| {
        let mut request =
            request("/", &[], format!("use API_KEY={key} and `Authorization: Bearer {key}`"));
        Redactor::standard().request(&mut request);
        String::from_utf8_lossy(&request.body).into_owned()
    };

    assert_eq!(ask("[redacted:access_token]"), ask(&secret("pl")));
}

#[test]
fn data_spread_over_several_lines_is_read_as_one() {
    let secret = secret("c3");
    let before =
        format!("event: x\ndata: {{\ndata:   \"api_key\":\ndata:   \"{secret}\"\ndata: }}\n\n");

    let after = body("text/event-stream", &before);

    assert_eq!(after, before.replace(&secret, "[redacted:api_key]"));
}

#[test]
fn headers_keep_what_is_readable() {
    let secret = secret("d4");
    let cookie = format!("session={secret}; theme=dark");
    let mut request = request(
        &format!("/v1/x?limit=1&api_key={secret}&key=short&page_token=abc#f"),
        &[
            ("Authorization", &format!("Bearer {secret}")),
            ("X-BARE-PASSWORD", &format!("password {secret}")),
            ("cookie", &cookie),
            ("mcp-session-id", "0123456789abcdef0123"),
            ("referer", &format!("http://u:{secret}@h/p?token={secret}")),
        ],
        "",
    );

    Redactor::standard().request(&mut request);

    assert_eq!(request.path, "/v1/x?limit=1&api_key=[redacted:api_key]&key=short&page_token=abc#f");
    let shown = |name| request.headers.get(name).expect("there");
    assert_eq!(shown("authorization"), "Bearer [redacted:authorization]");
    assert_eq!(shown("x-bare-password"), "password [redacted:x-bare-password]");
    assert_eq!(shown("cookie"), "session=[redacted:session]; theme=[redacted:theme]");
    assert_eq!(shown("mcp-session-id"), "0123456789abcdef0123");
    assert_eq!(shown("referer"), "http://redacted@h/p?token=[redacted:token]");
}

#[test]
fn set_cookie_keeps_its_attributes() {
    let mut headers = Headers::new();
    headers.append("Set-Cookie", "session=abc; Path=/; HttpOnly");
    headers.append("x-ratelimit-remaining-tokens", "100");

    Redactor::standard().headers(&mut headers);

    assert_eq!(headers.get("set-cookie"), Some("session=[redacted:session]; Path=/; HttpOnly"));
    assert_eq!(headers.get("x-ratelimit-remaining-tokens"), Some("100"));
}

#[test]
fn forms_are_replaced_by_field() {
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let secret = secret("e5");
    let mut request =
        request("/token", &kind, format!("grant_type=x&client_secret={secret}&scope=a+b"));

    Redactor::standard().request(&mut request);

    assert_eq!(request.body, "grant_type=x&client_secret=[redacted:client_secret]&scope=a+b");
}

const MULTIPART: [(&str, &str); 1] = [("content-type", "multipart/form-data; boundary=\"b 1\"")];

/// A form of fields and files, each as what stands behind `form-data` and its content.
fn multipart(parts: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (head, content) in parts {
        let field = format!("Content-Disposition: form-data; {head}");
        text.push_str(&format!("--b 1\r\n{field}\r\n\r\n{content}\r\n"));
    }
    text + "--b 1--\r\n"
}

#[test]
fn multipart_forms_are_replaced_by_field() {
    let key = secret("mp");
    let pem = format!("-----BEGIN X-----\n{key}\n-----END X-----\n");
    let nested = format!("{{\n  \"api_key\":\n    \"{key}\"\n}}");
    let form = "Content-Type: application/x-www-form-urlencoded";
    let form = format!("name=\"form\"\r\n{form}");
    let before = multipart(&[
        ("name=\"api_key\"", &key),
        ("name=token", "short"),
        ("name=\"key\"", "readable"),
        ("name=\"authorization\"", &format!("Bearer {key}")),
        ("name=\"private_key\"; filename=\"a.pem\"", &pem),
        ("name=\"config\"; filename=\"a.json\"\r\nContent-Type: application/json", &nested),
        (&form, "a=b&password=x"),
        ("name=\"text\"", &format!("my key is {key}, at https://u:{key}@host/")),
        ("name=\"password\"", ""),
    ]);
    let mut request = request("/", &MULTIPART, before);

    Redactor::standard().request(&mut request);

    let expected = multipart(&[
        ("name=\"api_key\"", "[redacted:api_key]"),
        ("name=token", "[redacted:token]"),
        ("name=\"key\"", "readable"),
        ("name=\"authorization\"", "Bearer [redacted:authorization]"),
        ("name=\"private_key\"; filename=\"a.pem\"", "[redacted:private_key]\n"),
        (
            "name=\"config\"; filename=\"a.json\"\r\nContent-Type: application/json",
            &nested.replace(&key, "[redacted:api_key]"),
        ),
        (&form, "a=b&password=[redacted:password]"),
        ("name=\"text\"", "my key is [redacted:api_key], at https://redacted@host/"),
        ("name=\"password\"", ""),
    ]);
    assert_eq!(String::from_utf8_lossy(&request.body), expected);
    let once = request.clone();
    Redactor::standard().request(&mut request);
    assert_eq!(request, once);
}

#[test]
fn a_multipart_form_that_is_cut_short_or_not_text_hides_no_secret() {
    let key = secret("cut");
    let whole = multipart(&[("name=\"password\"", &key)]);
    let cut = whole.split_inclusive(key.as_str()).next().unwrap();
    let mut binary = multipart(&[("name=\"file\"", "$"), ("name=\"password\"", &key)]).into_bytes();
    let at = binary.iter().position(|byte| *byte == b'$').unwrap();
    binary[at] = 0xff;
    for body in [cut.into(), binary] {
        let mut request = request("/", &MULTIPART, body);

        Redactor::standard().request(&mut request);

        check_gone(&request.body, &key);
    }
}

#[test]
fn a_cassette_that_does_not_name_the_rule_keeps_its_multipart_forms() {
    let rules = ["headers/1", "query/1", "form/1", "json/1", "values/1"].map(str::to_owned);
    let before =
        multipart(&[("name=\"password\"", "something"), ("name=\"a\"", "{\"api_key\":\"b\"}")]);
    let mut request = request("/", &MULTIPART, before.clone());

    Redactor::of_rules(&rules).expect("known").request(&mut request);

    let expected = before.replace("\"b\"}", "\"[redacted:api_key]\"}");
    assert_eq!(String::from_utf8_lossy(&request.body), expected);
}

#[test]
fn a_request_with_another_key_becomes_the_same() {
    let send = |key: &str| {
        let body = format!(r#"{{"api_key":"{key}","text":"my key is {key}"}}"#);
        let length = body.len().to_string();
        let headers = [("authorization", &*format!("Bearer {key}")), ("content-length", &*length)];
        let mut request = request(&format!("/v1/keys/{key}?token={key}"), &headers, body);
        Redactor::standard().request(&mut request);
        request
    };

    let recorded = send(&secret("f6"));
    let live = send(&"dummy-key-1".repeat(2));

    assert_eq!(recorded, live);
    assert_eq!(recorded.headers.get("content-length"), Some(&*recorded.body.len().to_string()));
}

#[test]
fn a_token_that_a_replayed_server_issued_matches() {
    let secret = secret("a7");
    let login = response(&[], whole(format!(r#"{{"access_token":"{secret}"}}"#)));
    let use_it = |token: &str| {
        let header = format!("Bearer {token}");
        request("/me", &[("authorization", &*header)], format!("I am {token}"))
    };
    let exchanges =
        vec![(request("/login", &[], ""), login), (use_it(&secret), response(&[], whole("")))];

    let cassette = redacted(cassette(exchanges));

    let issued: &[u8] = &answer(&cassette, 0).body.bytes();
    assert_eq!(issued, br#"{"access_token":"[redacted:access_token]"}"#);
    let mut live = use_it("[redacted:access_token]");
    Redactor::standard().request(&mut live);
    assert_eq!(live, cassette.interactions[1].request);
}

#[test]
fn a_found_secret_is_replaced_wherever_it_stands() {
    let secret = secret("b8");
    let asks = request("/", &[("x-api-key", &secret)], "");
    let encoded = STANDARD.encode(format!("user:{secret}"));
    let text = format!("key {secret} and {encoded}");
    let (one, two) = text.as_bytes().split_at(10);
    let says = response(&[("x-echo", &secret)], stream(&[b"a", one, two, b"z"]));

    let after = redacted(cassette(vec![(asks, says)]));

    let says = answer(&after, 0);
    assert_eq!(says.headers.get("x-echo"), Some("[redacted:x-api-key]"));
    let joined = String::from_utf8(says.body.bytes().to_vec()).expect("text");
    assert!(joined.starts_with("akey [redacted:x-api-key] and "), "{joined}");
    assert!(!joined.contains(&STANDARD.encode(&secret)[..20]));
    assert_eq!(says.body.chunks().len(), 4);
}

fn gzipped(text: &[u8]) -> Vec<u8> {
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

#[test]
fn rules_of_a_newer_release_are_refused() {
    let error =
        Redactor::of_rules(&["headers/1".to_owned(), "headers/9".to_owned()]).expect_err("unknown");

    assert!(error.is_newer_version());
    assert_eq!(error.to_string(), "redaction rule `headers/9` is not known to this release");
    assert!(error.hint().is_some());
}

#[test]
fn only_the_rules_that_are_named_apply() {
    let redactor = Redactor::of_rules(&["query/1".to_owned()]).expect("known");
    let mut request = request("/?token=a", &[("authorization", "b")], r#"{"api_key":"c"}"#);

    redactor.request(&mut request);

    assert_eq!(request.path, "/?token=[redacted:token]");
    assert_eq!(request.headers.get("authorization"), Some("b"));
    assert_eq!(request.body, r#"{"api_key":"c"}"#);
}

#[test]
fn the_upstream_loses_its_user() {
    let secret = secret("d1");
    let mut before = Cassette::default();
    before.recorded.upstream = format!("http://me:{secret}@127.0.0.1:8283");

    assert_eq!(redacted(before).recorded.upstream, "http://127.0.0.1:8283");
    let url = Redactor::standard().url(&format!("http://me:{secret}@h/?api_key={secret}"));
    assert_eq!(url, "http://h/?api_key=[redacted:api_key]");
}

/// No run of 8 characters of the secret is in the text.
#[track_caller]
fn check_gone(text: &[u8], secret: &str) {
    let secret = secret.as_bytes();
    for part in secret.windows(8) {
        assert!(!text.windows(8).any(|run| run == part), "{}", String::from_utf8_lossy(text));
    }
}

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
    ] {
        let redactor = Redactor::standard();
        let mut secrets = Secrets::default();
        redactor.request_noting(&mut request("/", &[("x-api-key", known)], ""), &mut secrets);
        let live = |pieces: &[&[u8]]| {
            let mut live = Live::new(&redactor, secrets.clone());
            let mut out = Vec::new();
            for piece in pieces {
                out.extend(live.push(piece));
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

/// Where a secret is put.
#[derive(Debug, Clone, Copy)]
enum Place {
    Header,
    Cookie,
    Query,
    Json,
    Nested,
    Event,
    Cut,
    Gzip,
    Env,
    Form,
    Multipart,
    Prose,
}

const PLACES: [Place; 12] = [
    Place::Header,
    Place::Cookie,
    Place::Query,
    Place::Json,
    Place::Nested,
    Place::Event,
    Place::Cut,
    Place::Gzip,
    Place::Env,
    Place::Form,
    Place::Multipart,
    Place::Prose,
];

fn plant(place: Place, secret: &str, echo: &str, cut: usize) -> (Request, Response) {
    let text =
        serde_json::json!({"note": "so", "api_key": secret, "echo": format!("it is {echo}")})
            .to_string();
    let nested = serde_json::json!({"arguments": text}).to_string();
    let empty = || request("/v1/x", &[], "");
    let plain = || response(&[], whole(""));
    match place {
        Place::Header => (request("/", &[("x-api-key", secret)], ""), plain()),
        Place::Cookie => (request("/", &[("cookie", &format!("a=b; s={secret}"))], ""), plain()),
        Place::Query => (request(&format!("/x?a=1&token={secret}"), &[], ""), plain()),
        Place::Json => (request("/", &[], text), plain()),
        Place::Nested => (empty(), response(&[], whole(nested))),
        Place::Event | Place::Cut => {
            let events = format!("data: {nested}\n\ndata: {{\"text\":\"{echo}\"}}\n\n");
            let end = if matches!(place, Place::Cut) { events.len() * 2 / 3 } else { events.len() };
            let cut = cut % end;
            let (one, two) = events.as_bytes()[..end].split_at(cut);
            (empty(), response(&[], stream(&[one, two])))
        }
        Place::Gzip => {
            let packed = gzipped(text.as_bytes());
            let (one, two) = packed.split_at(cut % packed.len());
            (empty(), response(&[("content-encoding", "gzip")], stream(&[one, two])))
        }
        Place::Env => {
            let env = serde_json::json!({"secrets": [{"key": "K", "value": secret}], "env": {"X": secret}});
            (empty(), response(&[], whole(env.to_string())))
        }
        Place::Prose => {
            let text = serde_json::json!({"text": format!("export API_KEY={secret} {echo}")});
            (empty(), response(&[], whole(text.to_string())))
        }
        Place::Multipart => {
            let form = multipart(&[("name=\"a\"", echo), ("name=\"api_key\"", secret)]);
            (request("/", &MULTIPART, form), plain())
        }
        Place::Form => {
            let kind = [("content-type", "application/x-www-form-urlencoded")];
            (request("/", &kind, format!("a=b&password={secret}")), plain())
        }
    }
}

/// All bytes of a cassette, those of compressed bodies as they are and decoded.
fn all_bytes(cassette: &Cassette) -> Vec<u8> {
    let mut all = Vec::new();
    let mut take = |headers: &Headers, body: &[u8]| {
        for (name, value) in headers.iter() {
            all.extend_from_slice(name.as_bytes());
            all.extend_from_slice(value);
            all.push(b'\n');
        }
        all.extend_from_slice(body);
        all.push(b'\n');
        let coding = headers.get("content-encoding").unwrap_or_default();
        all.extend(retape::cassette::coding::decode_whole(coding, body).unwrap_or_default());
    };
    for interaction in &cassette.interactions {
        take(&interaction.request.headers, interaction.request.path.as_bytes());
        take(&interaction.request.headers, &interaction.request.body);
        let response = interaction.response().expect("an answer");
        take(&response.headers, &response.body.bytes());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_planted_secret_survives(
        planted in prop::collection::vec((0..PLACES.len(), "[a-z]{3}[0-9][A-Za-z0-9_-]{6,30}", any::<prop::sample::Index>(), 0..4096usize), 1..8),
    ) {
        let secrets = planted.iter().map(|(_, secret, _, _)| secret.clone()).collect::<Vec<_>>();
        let exchanges = planted.iter().map(|(place, secret, echo, cut)| {
            plant(PLACES[*place], secret, &secrets[echo.index(secrets.len())], *cut)
        });
        let before = cassette(exchanges.collect());

        let after = redacted(before.clone());

        let text = String::from_utf8_lossy(&all_bytes(&after)).into_owned();
        for secret in &secrets {
            prop_assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
        prop_assert_eq!(&redacted(after.clone()), &after);
        for (before, after) in before.interactions.iter().zip(&after.interactions) {
            let mut live = before.request.clone();
            Redactor::standard().request(&mut live);
            let chunks = |i: &Interaction| i.response().map(|r| r.body.chunks().len());
            prop_assert_eq!(chunks(before), chunks(after));
        }
    }

    #[test]
    fn a_cassette_with_nothing_telling_is_unchanged(
        bytes in prop::collection::vec(any::<u8>(), 0..300), text in "[ -~\n]{0,200}", cut in 0..200usize,
    ) {
        prop_assume!(!text.contains(':'));
        let (one, two) = text.as_bytes().split_at(cut.min(text.len()));
        let before = cassette(vec![
            (request("/v1/agents?limit=1", &[("accept", "*/*")], text.clone()), response(&[("content-length", "7")], stream(&[one, two]))),
            (request("/", &[], bytes.clone()), response(&[], whole(bytes))),
        ]);

        let after = redacted(before.clone());

        prop_assert_eq!(after.interactions, before.interactions);
    }
}
