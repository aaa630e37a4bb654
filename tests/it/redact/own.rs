//! What a person says about secrets.

use insta::assert_snapshot;
use retape::Cassette;
use retape::cassette::format::{decode, encode};
use retape::config::{Config, Redaction};
use retape::redact::{Live, Redactor, Secrets};

use super::{answer, cassette, request, response, secret, whole};
use crate::stage::Stage;
use crate::support::client::ask;
use crate::support::upstream::{Then, Upstream, json};

fn redactor(said: &str) -> Redactor {
    Redactor::standard().with_own(Config::parse(said).unwrap().redaction())
}

/// What becomes of the body of an answer in JSON.
fn body(said: &str, text: &str) -> String {
    let answered = response(&[("content-type", "application/json")], whole(text));
    let kept = redactor(said).cassette(cassette(vec![(request("/", &[], ""), answered)]));
    String::from_utf8(answer(kept.get(), 0).body.bytes().to_vec()).unwrap()
}

const ALL: &str = r#"
    [redact]
    headers = ["x-tenant"]
    query = ["ref"]
    json = ["iban"]
    regexes = ["ACME-[0-9]{6}", { name = "seat", regex = "seat (?P<s>[0-9]+[A-F])" }]
"#;

#[test]
fn headers_parameters_fields_and_expressions_of_ones_own_are_replaced() {
    let asked =
        request("/pay?ref=of-tuesday&n=1", &[("X-Tenant", "north")], r#"{"iban":"DE 12","n":1}"#);
    let said = r#"{"t":"ACME-123456 in seat 12C","deep":{"iban":["a b","c"]}}"#;
    let said = response(&[("content-type", "application/json")], whole(said));

    let kept = redactor(ALL).cassette(cassette(vec![(asked, said)]));

    let asked = &kept.interactions[0].request;
    assert_eq!(asked.path, "/pay?ref=[redacted:ref]&n=1");
    assert_eq!(asked.headers.get("x-tenant"), Some("[redacted:x-tenant]"));
    assert_eq!(asked.body, r#"{"iban":"[redacted:iban]","n":1}"#.as_bytes());
    assert_eq!(
        String::from_utf8_lossy(&answer(kept.get(), 0).body.bytes()),
        r#"{"t":"[redacted:regex] in seat [redacted:seat]","deep":{"iban":["[redacted:iban~2]","[redacted:iban~3]"]}}"#
    );
}

#[test]
fn a_cassette_names_the_rules_so_that_it_needs_no_file_to_be_played() {
    let kept = redactor(ALL)
        .cassette(cassette(vec![(request("/?ref=one", &[], ""), response(&[], whole("ok")))]));
    let text = encode(kept.get()).text;
    assert!(text.starts_with("{\n  \"retape\": 2"), "{text}");
    let played: Cassette = decode(&text, |_| unreachable!()).unwrap();

    let mut live = request("/?ref=another", &[], "ACME-654321");
    Redactor::of_rules(&played.redactions).unwrap().request(&mut live);

    assert_eq!(live.path, "/?ref=[redacted:ref]");
    assert_eq!(live.body, "[redacted:regex]".as_bytes());
}

#[test]
fn rules_that_a_cassette_names_stay_when_it_is_made_anew() {
    let once = redactor(ALL)
        .cassette(cassette(vec![(request("/?ref=one", &[], ""), response(&[], whole("ok")))]));

    let again = Redactor::standard().cassette(once.get().clone());

    assert_eq!(once, again);
}

#[test]
fn what_is_no_secret_stays_where_it_stands_and_by_its_look() {
    let token = format!("{}.{}.{}", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJtZSJ9", "c2lnbmVkIQ0");
    let said = "[redact]\nnot-secrets = ['sid', 'api_key', 'env']";
    let cookie = format!("sid={token}; other=4711");

    let kept = redactor(said).cassette(cassette(vec![(
        request("/", &[("cookie", &cookie)], ""),
        response(&[("set-cookie", &format!("sid={token}; Path=/"))], whole(&*token)),
    )]));

    let asked = &kept.interactions[0].request;
    let expected = format!("sid={token}; other=[redacted:other]");
    assert_eq!(asked.headers.get("cookie"), Some(&*expected));
    assert_eq!(answer(kept.get(), 0).body.bytes(), token.as_bytes());
    for text in [r#"{"api_key":"open-sesame-1"}"#, r#"{"env":{"THING":"some value"}}"#] {
        assert_eq!(body(said, text), text);
        assert_ne!(body("", text), text, "it is a secret otherwise");
    }
    assert!(kept.redactions.contains(&"not sid".to_owned()), "{:?}", kept.redactions);
}

#[test]
fn a_value_that_is_no_secret_in_one_place_is_one_where_a_telling_name_stands() {
    let key = secret("a1");
    let text = format!(r#"{{"sid":"{key}","api_key":"{key}"}}"#);

    let kept = body("[redact]\nnot-secrets = ['sid']", &text);

    assert_eq!(kept, format!(r#"{{"sid":"{key}","api_key":"[redacted:api_key]"}}"#));
}

#[test]
fn another_text_may_stand_in_the_place_of_a_secret() {
    let said = "[redact]\njson = ['iban']\nreplacement = { iban = 'DE00', api_key = 'sk-none' }";
    let text = format!(r#"{{"iban":"DE12","api_key":"{}"}}"#, secret("b2"));

    let once = body(said, &text);

    assert_eq!(once, r#"{"iban":"DE00","api_key":"sk-none"}"#);
    assert_eq!(body(said, &once), once);
}

#[test]
fn what_stands_in_the_place_of_a_secret_is_none_whatever_it_looks_like() {
    let token = |sign: &str| format!("{}.{}.{sign}", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJtZSJ9");
    let (real, other) = (token("c2lnbmVkIQ0"), token("bm9ib2R5cw0"));
    let said =
        format!("[redact]\nregexes = ['eyJ[a-zA-Z0-9._]+']\nreplacement = {{ token = '{other}' }}");
    let text = format!(r#"{{"token":"{real}","access_token":"{real}","text":"it is {real}"}}"#);

    let once = body(&said, &text);

    assert_eq!(once, text.replace(&real, &other));
    assert_eq!(body(&said, &once), once);
    // Where a client sends it, it is called by its own name, as the secret was.
    let sent = |token: &str| {
        let mut asked = request("/", &[("authorization", token)], format!("I am {token}"));
        redactor(&said).request(&mut asked);
        asked
    };
    let asked = sent(&other);
    assert_eq!(asked.headers.get("authorization"), Some("[redacted:authorization]"));
    let answered = response(&[("content-type", "application/json")], whole(&*text));
    let kept = redactor(&said).cassette(cassette(vec![
        (request("/login", &[], ""), answered),
        (
            request("/", &[("authorization", &*real)], format!("I am {real}")),
            response(&[], whole("")),
        ),
    ]));
    assert_eq!(
        kept.interactions[1].request.headers.get("authorization"),
        Some("[redacted:authorization]")
    );
}

#[test]
fn the_journal_hides_what_expressions_find_however_it_is_cut() {
    let redactor = redactor(ALL);
    let text = "data: {\"t\":\"ACME-123456\"}\n\ndata: {\"iban\":\"DE 12\"}\n\ndata: seat 12C";
    let live = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut live = Live::new(&redactor, Secrets::default());
        let mut out: Vec<u8> = pieces.flat_map(|piece| live.push(piece).into_owned()).collect();
        out.extend(live.finish().0);
        String::from_utf8(out).unwrap()
    };

    let whole = live(&mut std::iter::once(text.as_bytes()));

    assert_eq!(
        whole,
        "data: {\"t\":\"[redacted:regex]\"}\n\ndata: {\"iban\":\"[redacted:iban]\"}\n\n\
         data: seat [redacted:seat]"
    );
    for cut in 0..text.len() {
        let (one, other) = text.as_bytes().split_at(cut);
        assert_eq!(live(&mut [one, other].into_iter()), whole, "cut at {cut}");
    }
    assert_eq!(live(&mut text.as_bytes().chunks(1)), whole);
}

#[test]
fn what_cannot_be_is_refused_with_its_line() {
    let refused = |said: &str| {
        let error = Config::parse(said).unwrap_err();
        format!("{error}\nhint: {}", error.hint().unwrap_or_default())
    };
    assert_snapshot!(refused("[redact]\nheader = []"), @"
    unknown key `header` (line 2)
    hint: did you mean `headers`?
    ");
    assert_snapshot!(refused("[redact]\nheaders = ['content-type']"), @r#"
    `content-type` is a header field without which no message can be read (line 2)
    hint: below `[redact]` it is written so: `headers = ["x-tenant"]`
    "#);
    assert_snapshot!(refused("[redact]\nregexes = ['[0-9]*']"), @"
    `[0-9]*` matches where there is nothing (line 2)
    hint: it would find a secret everywhere: `+` in the place of `*`
    ");
    assert_snapshot!(refused("[redact]\nregexes = [{ regex = 'a' }]"), @r#"
    not a valid configuration: an expression in a table needs both `name` and `regex` (line 2)
    hint: `{ name = "account", regex = "ACME-[0-9]{6}" }`
    "#);
    assert_snapshot!(refused("[redact]\nreplacement = { a = 'x\"y' }"), @r#"
    `x"y` cannot stand in the place of a secret (line 2)
    hint: letters, digits and `-_.~:/@+[]` can stand in URLs, JSON and fields
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_of_a_test_finds_secrets_while_recording_and_in_replay() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        wire.send(json(200, &format!(r#"{{"said":"{}"}}"#, asked.path())));
        Then::KeepAlive
    });
    let said = || {
        let seats = |line: &str| {
            line.match_indices("seat-").map(|(at, _)| at..line.len().min(at + 8)).collect()
        };
        Redaction::default().code("seat", seats).unwrap().not_secret("theme").unwrap()
    };
    let session = stage.recorder(&upstream).redact_with(said()).start().await.unwrap();
    ask("GET", &format!("{}/of/seat-12C", session.url()), "Cookie: theme=dark\r\n", "");
    let summary = session.finish().await.unwrap();
    let file = stage.file("tape.json");
    assert!(!file.contains("12C") && file.contains("[redacted:seat]"), "{file}");
    assert!(file.contains("theme=dark"), "{file}");
    assert_eq!(summary.recordings[0].weakened, ["`theme` (the test)"]);

    let session = stage.session(retape::Mode::Replay).redact_with(said()).start().await.unwrap();
    let reply = ask("GET", &format!("{}/of/seat-31A", session.url()), "", "");

    assert_eq!(reply.status, 200, "{}", reply.text());
    session.finish().await.unwrap();
}
