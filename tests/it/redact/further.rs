//! What the second version of a rule replaces, and what it leaves.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use retape::cassette::Request;
use retape::redact::{Live, Redactor, Secrets};

use super::{body, check_gone, check_untouched, request, secret};

/// A random value of 28 letters and digits that exists at run time only.
fn random(seed: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let first = seed.bytes().fold(7_u64, |sum, byte| sum * 31 + u64::from(byte));
    let next = |number: &u64| {
        Some(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    let numbers = std::iter::successors(Some(first), next).skip(2);
    numbers.map(|it| char::from(LETTERS[(it >> 33) as usize % LETTERS.len()])).take(28).collect()
}

const FORM: [(&str, &str); 1] = [("content-type", "application/x-www-form-urlencoded")];

/// What is kept of a request, twice redacted as once.
#[track_caller]
fn kept(mut asked: Request) -> Request {
    Redactor::standard().request(&mut asked);
    let once = asked.clone();
    Redactor::standard().request(&mut asked);
    assert_eq!(asked, once, "twice");
    once
}

#[track_caller]
fn path(path: &str) -> String {
    kept(request(path, &[], "")).path
}

/// What an older recording keeps of a request, by the rules that were known then.
fn older(mut asked: Request, without: &str) -> Request {
    let rules = Redactor::standard().rules().map(str::to_owned).collect::<Vec<_>>();
    let rules: Vec<String> = rules.into_iter().filter(|rule| rule != without).collect();
    Redactor::of_rules(&rules).expect("known").request(&mut asked);
    asked
}

/// What a journal has of a text, however it is cut.
#[track_caller]
fn live(text: &str) -> String {
    let live = |pieces: &[&[u8]]| {
        let mut live = Live::new(&Redactor::standard(), Secrets::default());
        let mut out: Vec<u8> = pieces.iter().flat_map(|it| live.push(it).into_owned()).collect();
        out.extend(live.finish().0);
        String::from_utf8(out).expect("text")
    };
    let bytes = text.as_bytes();
    let at_once = live(&[bytes]);
    for cut in (0..bytes.len()).step_by(7.max(bytes.len() / 30)) {
        assert_eq!(live(&[&bytes[..cut], &bytes[cut..]]), at_once, "cut at {cut}");
    }
    let size = if bytes.len() < 500 { 1 } else { 61 };
    assert_eq!(live(&bytes.chunks(size).collect::<Vec<_>>()), at_once);
    at_once
}

#[test]
fn a_segment_of_a_path_behind_a_telling_word_is_replaced_if_it_looks_random() {
    let key = random("path");
    for word in "token access_token api_key api-key apikey secret auth-token password".split(' ') {
        let asked = format!("/v1/{word}/{key}/info?x=1");
        assert_eq!(path(&asked), asked.replace(&key, "[redacted:path-secret]"));
        assert_eq!(older(request(&asked, &[], ""), "looks/2").path, asked);
    }
    let said = format!("see https://a.example/token/{key}, and /secret/{key}");
    assert_eq!(body("text/plain", &said), said.replace(&key, "[redacted:path-secret]"));
    assert!(!live(&said).contains(&key[..12]));
    let hex = "9f86".repeat(10);
    for plain in [
        "/token/introspect-what-was-issued/v2".to_owned(),
        "/secret/my-app-of-2024-in-production".to_owned(),
        "/token/6f1c2d3e-0b1a-4c2d-8e3f-a1b2c3d4e5f6".to_owned(),
        format!("/token/{}", &hex[..24]),
        format!("/token/0x{hex}"),
        format!("/tokens/{key}"),
        format!("/agents/{key}"),
    ] {
        assert_eq!(path(&plain), plain);
    }
}

#[test]
fn parameters_of_an_address_are_read_however_often_it_is_encoded() {
    let key = random("twice");
    let encoded = |text: &str| {
        let spell = |byte: u8| match byte {
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(spell).collect::<String>()
    };
    for address in ["https://b.example/cb?x=1&access_token=KEY&z=1", "/cb?client_secret=KEY"] {
        let address = address.replace("KEY", &key);
        let (twice, thrice) = (encoded(&encoded(&address)), encoded(&encoded(&encoded(&address))));
        for asked in [format!("/login?next={twice}&y=1"), format!("/login?next={thrice}")] {
            let redacted = path(&asked);
            assert!(!redacted.contains(&key[..8]) && redacted.contains("[redacted:"), "{redacted}");
            assert_eq!(older(request(&asked, &[], ""), "nested/2").path, asked);
        }
        let said = format!("{{\"url\":\"https://a.example/login?next={twice}\"}}");
        check_gone(body("application/json", &said).as_bytes(), &key);
        check_gone(live(&said).as_bytes(), &key);
    }
    let plain = format!("/login?next={}", encoded(&encoded("https://b.example/?page=2&sort=a")));
    assert_eq!(path(&plain), plain);
}

#[test]
fn parameters_behind_an_ampersand_of_html_are_read() {
    let key = random("html");
    for name in ["access_token", "key", "code", "token", "sig"] {
        let page = format!("<a href=\"https://h/x?a=1&amp;{name}={key}&amp;b=2\">x</a>");
        assert_eq!(body("text/html", &page), page.replace(&key, &format!("[redacted:{name}]")));
    }
    for name in ["access_token", "key", "code", "token"] {
        for mark in ["&amp;", "&#38;", "\\u0026"] {
            let page = format!("{{\"a\":\"go to /x?a=1{mark}{name}={key}{mark}b=2\"}}");
            let expected = page.replace(&key, &format!("[redacted:{name}]"));
            assert_eq!(body("application/json", &page), expected);
            check_gone(live(&page).as_bytes(), &key);
        }
    }
    check_untouched("<a href='/x?a=1&amp;key=name&amp;code=200'>x</a>");
}

#[test]
fn what_pages_and_dumps_show_of_the_environment_is_read() {
    let secret = random("shown");
    let shown = |before: &str, after: &str| {
        let kept = live(&format!("{before}{secret}{after}"));
        assert_eq!(kept, format!("{before}[redacted:DB_PASSWORD]{after}"));
    };
    shown("Array\n(\n    [DB_PASSWORD] => ", "\n    [PATH] => /bin\n)\n");
    shown("<tr><td>DB_PASSWORD</td><td>", "</td></tr>");
    shown("<tr><td class=\"e\">DB_PASSWORD </td>\n  <td class=\"v\">", " </td></tr>");
    shown("<dl><dt>DB_PASSWORD</dt><dd><code>", "</code></dd></dl>");
    shown("<th>\n DB_PASSWORD</th><td><pre>", "</pre></td>");
    shown("<td>&#x27;DB_PASSWORD&#x27;: &#x27;", "&#x27;</td>");
    shown("DB_PASSWORD = \"\"\"\n", "\n\"\"\"\n");
    shown("DB_PASSWORD = '''\r\n", "'''\n");
    shown("db:\n  DB_PASSWORD: &main ", "\nother: *main\n");
    shown("DB_PASSWORD: !!str ", "\n");
    shown("DB_PASSWORD: &main !!str ", "");
    shown("DB_PASSWORD: &main \"", "\"\n");
    let odd = format!("!{secret}");
    assert_eq!(live(&format!("DB_PASSWORD: {odd}")), "DB_PASSWORD: [redacted:DB_PASSWORD]");
    for command in [
        "curl -b visit=",
        "curl -s -b 'visit=",
        "curl --cookie \"visit=",
        "curl -v --cookie=visit=",
    ] {
        let closing = command.trim_start_matches(|c| c != '\'' && c != '"').get(..1).unwrap_or("");
        let kept = live(&format!("{command}{secret}{closing} https://a.example"));
        assert_eq!(kept, format!("{command}[redacted:curl-cookie]{closing} https://a.example"));
    }
    for (command, name) in [
        ("curl -s -ume:", "curl-user"),
        ("mysql -h db -u me -p", "mysql-password"),
        ("redis-cli -h db -a ", "redis-password"),
        ("docker login -u me -p ", "docker-password"),
    ] {
        let kept = live(&format!("{command}{secret} "));
        assert_eq!(kept, format!("{command}[redacted:{name}] "));
    }

    for text in [
        format!("<p>Enter your password</p><p>{secret}</p>"),
        format!("<td>DB_PASSWORD</td></tr><tr id=\"x\"><p>{secret}</p>"),
        format!("<td>forgot your password</td><td>{secret}</td>"),
        format!("[DB_PASSWORD] = {secret}"),
        format!("<td>NAME</td><td>{secret}</td>"),
    ] {
        assert_eq!(live(&text), text);
    }
    check_untouched("<table><tr><td>password</td><td>string</td><td>required</td></tr></table>");
    let body = format!("<td>DB_PASSWORD</td><td>{secret}</td>");
    let asked = older(request("/", &[("content-type", "text/html")], &*body), "assignments/2");
    assert_eq!(asked.body, body, "an older cassette keeps its rules");
}

#[test]
fn names_and_values_that_take_turns_in_a_list_are_read() {
    let (key, other, cookie) = (random("one"), random("two"), random("three"));
    let list = format!(
        r#"{{"rawHeaders":["Host","a.example","X-Api-Key","{key}","Private-Token","{other}","Cookie","shop={cookie}; theme=dark","ETag","abc"]}}"#
    );
    let expected = list
        .replace(&key, "[redacted:X-Api-Key]")
        .replace(&other, "[redacted:Private-Token]")
        .replace(&format!("shop={cookie}; theme=dark"), "[redacted:cookie-list]");
    let quoted = |text: &str| serde_json::json!({ "said": text }).to_string();
    assert_eq!(body("application/json", &list), expected);
    assert_eq!(body("application/json", &quoted(&list)), quoted(&expected));
    assert_eq!(live(&list), expected);
    let asked = kept(request("/", &[], list.as_str()));
    assert_eq!(asked.body, expected.as_bytes());
    assert_eq!(older(request("/", &[], list.as_str()), "looks/2").body, list.as_bytes());
    for plain in [
        r#"["X-Api-Key","X-Amz-Security-Token","X-Amz-User-Agent","X-Requested-With"]"#,
        r#"{"required":["api-key","service-account-2024","x"],"enum":["x-token","page-two-of-the-list"]}"#,
        r#"["Cookie","Set-Cookie","max=1"]"#,
        r#"{"rawHeaders":["X-Page-Token","none","X-Request-Id","6f1c2d3e-0b1a-4c2d-8e3f-a1b2c3d4e5f6"]}"#,
    ] {
        check_untouched(plain);
    }
}

#[test]
fn a_key_in_a_header_field_is_one_also_where_it_is_a_uuid() {
    let key = format!("6f1c2d3e-{}-4c2d-8e3f-a1b2c3d4e5f6", "0b1a");
    let shown = |name: &str| {
        let asked = kept(request("/", &[(name, &key)], ""));
        asked.headers.get(name).map(str::to_owned)
    };
    for name in ["Key", "X-Query-Key", "X-Insert-Key", "X-Acme-Key"] {
        assert_eq!(shown(name), Some(format!("[redacted:{}]", name.to_ascii_lowercase())));
        let asked = older(request("/", &[(name, &key)], ""), "keys/1");
        assert_eq!(asked.headers.get(name), Some(&*key));
    }
    for name in [
        "Idempotency-Key",
        "X-Idempotency-Key",
        "X-Correlation-Key",
        "Surrogate-Key",
        "X-Request-Id",
        "X-Session-Id",
        "Mcp-Session-Id",
        "X-Tenant-Key",
    ] {
        assert_eq!(shown(name), Some(key.clone()), "{name}");
    }
    let plain = kept(request("/", &[("Key", "value")], ""));
    assert_eq!(plain.headers.get("key"), Some("value"));
}

#[test]
fn an_id_of_a_session_is_a_secret_if_it_is_one_as_a_cookie() {
    let id = random("session");
    let said = format!("{{\"session\":\"{id}\",\"sessionid\":\"{id}\"}}");
    let fields = [("x-session-id", &*id), ("mcp-session-id", &*id)];
    let kept = |fields: &[(&str, &str)]| {
        let asked = request(&format!("/s?sessionid={id}"), fields, "");
        let answered = super::response(&[], super::whole(said.as_str()));
        let kept = super::redacted(super::cassette(vec![(asked, answered)]));
        let shown = super::answer(&kept, 0).body.bytes().to_vec();
        (kept.interactions[0].request.clone(), String::from_utf8(shown).expect("text"))
    };

    let (asked, answered) = kept(&fields);
    let cookie = format!("sessionid={id}");
    let (veiled, hidden) = kept(&[fields[0], fields[1], ("cookie", &cookie)]);

    assert_eq!((asked.headers.get("x-session-id"), &answered), (Some(&*id), &said));
    assert_eq!(hidden, said.replace(&id, "[redacted:sessionid]"));
    assert_eq!(veiled.path, "/s?sessionid=[redacted:sessionid]");
    assert_eq!(veiled.headers.get("x-session-id"), Some("[redacted:sessionid]"));
}

#[test]
fn base64_of_a_text_with_a_secret_is_one_as_a_whole() {
    let key = random("packed");
    let pem = format!(
        "-----BEGIN {0}-----\n{1}-----END {0}-----\n",
        "PRIVATE KEY",
        format!("{}\n", key.repeat(2)).repeat(26)
    );
    let data = STANDARD.encode(&pem);
    let yaml = format!(
        "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    client-key-data: {data}\n"
    );
    let json = serde_json::json!({"user": "ann", "password": format!("{key}!")}).to_string();
    let token = serde_json::json!([{"text": format!("use {}", secret("b4"))}]).to_string();
    let config = format!("\napiVersion: v1\nusers:\n- name: admin\n  user:\n    token: {key}\n");
    for text in [&pem, &yaml, &config, &json, &token] {
        for packed in [STANDARD.encode(text), URL_SAFE_NO_PAD.encode(text)] {
            let said = serde_json::json!({"id": "x", "kubeconfig": packed, "b": 1}).to_string();
            let expected = said.replace(&packed, "[redacted:base64-text]");
            assert_eq!(body("application/json", &said), expected);
            assert_eq!(live(&said), expected);
            let asked = request("/", &[], said.as_str());
            assert_eq!(kept(asked.clone()).body, expected.as_bytes());
            assert_eq!(older(asked, "looks/2").body, said.as_bytes());
        }
    }
    // As GitHub has it in lines, and PHP its slashes.
    let lines = |end: &str| {
        let packed = STANDARD.encode(&yaml).replace('/', "\\/");
        let lines = packed.as_bytes().chunks(60).map(String::from_utf8_lossy);
        lines.map(|line| format!("{line}{end}")).collect::<String>()
    };
    for said in [
        format!(r#"{{"content":"{}"}}"#, lines(r"\n")),
        format!(r#"{{"content":"{}"}}"#, lines("")),
    ] {
        assert_eq!(body("application/json", &said), r#"{"content":"[redacted:base64-text]"}"#);
        assert_eq!(live(&said), r#"{"content":"[redacted:base64-text]"}"#);
    }
    let nested = serde_json::json!({ "said": format!(r#"{{"content":"{data}"}}"#) }).to_string();
    let expected = nested.replace(&data, "[redacted:base64-text]");
    assert_eq!(body("application/json", &nested), expected);
    // All of it goes, however long it is.
    let long = STANDARD.encode(format!("{yaml}{}", "# a comment\n".repeat(3000)));
    let said = format!("{{\"file\":\"{long}\"}}");
    assert_eq!(body("application/json", &said), r#"{"file":"[redacted:base64-text]"}"#);
    let certificate = pem.replace("PRIVATE KEY", "CERTIFICATE");
    for plain in [
        certificate,
        serde_json::json!({"key": key, "token": key, "n": 1}).to_string(),
        serde_json::json!({"alg": "RS256", "kid": key, "typ": "JWT"}).to_string(),
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  uid: {key}\n"),
    ] {
        check_untouched(&format!("{{\"cursor\":\"{}\"}}", STANDARD.encode(plain)));
    }
}

#[test]
fn a_text_with_a_secret_that_stands_elsewhere_goes_as_a_whole_in_both() {
    let key = random("both");
    let packed = STANDARD.encode(format!("{{\"user\":\"ann\",\"password\":\"{key}\"}}"));
    let asked = request("/", &[("x-api-key", &key)], format!("{{\"data\":\"{packed}\"}}"));
    let mut alone = request("/", &[], format!("{{\"data\":\"{packed}\"}}"));

    let recorded =
        super::redacted(super::cassette(vec![(asked, super::response(&[], super::whole("{}")))]));
    Redactor::standard().request(&mut alone);

    assert_eq!(recorded.interactions[0].request.body, alone.body);
    assert_eq!(alone.body, r#"{"data":"[redacted:base64-text]"}"#);
}

#[test]
fn what_a_look_tells_is_found_in_forms_and_queries_as_in_texts() {
    let key = random("form");
    let spelled = |text: &str| {
        let spell = |byte: u8| match byte {
            b' ' => "+".to_owned(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(spell).collect::<String>()
    };
    for (text, name) in [
        ("ALTER USER bob PASSWORD '@'", "sql-password"),
        ("CREATE USER bob IDENTIFIED BY '@'", "sql-password"),
        ("curl -u me:@ https://x", "cli-user"),
    ] {
        let form = format!("n=1&sql={}&m=2", spelled(&text.replace('@', &key)));
        let expected = form.replace(&key, &format!("[redacted:{name}]"));
        assert_eq!(kept(request("/", &FORM, form.as_str())).body, expected.as_bytes());
        assert_eq!(path(&format!("/q?{form}")), format!("/q?{expected}"));
        assert_eq!(Redactor::standard().url(&format!("/q?{form}")), format!("/q?{expected}"));
        let asked = request("/", &FORM, form.as_str());
        assert_eq!(older(asked, "texts/2").body, form.as_bytes());
    }
    let plain = format!("/q?sql={}", spelled("SELECT name, id FROM users WHERE id = 'a1b2c3d4'"));
    assert_eq!(path(&plain), plain);
}

#[test]
fn a_private_key_in_json_is_in_no_journal() {
    let key = random("pem");
    let lines = format!("{}\n", key.repeat(2)).repeat(50);
    let pem = format!("-----BEGIN {0}-----\n{lines}-----END {0}-----\n", "RSA PRIVATE KEY");
    for json in [
        serde_json::json!({"id": "x", "material": pem, "b": 1}),
        serde_json::json!({"said": serde_json::json!({"material": pem}).to_string()}),
    ] {
        check_gone(live(&json.to_string()).as_bytes(), &key);
    }
}
