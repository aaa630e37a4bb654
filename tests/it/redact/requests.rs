//! Header fields, queries and forms.

use retape::cassette::{Headers, Request};
use retape::redact::Redactor;

use super::{
    answer, cassette, check_gone, check_untouched, redacted, redacted_answer, request, response,
    secret, whole,
};

#[test]
fn headers_keep_what_is_readable() {
    let secret = secret("d4");
    let cookie = format!("session={secret}; theme=dark");
    let mut request = request(
        &format!("/v1/x?limit=1&api_key={secret}&key=short&page_token=abc#f"),
        &[
            ("Authorization", &format!("Bearer {secret}")),
            ("X-BARE-PASSWORD", &format!("password {secret}")),
            ("X-Registry-Auth", &self::secret("e5")),
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
    assert_eq!(shown("x-registry-auth"), "[redacted:x-registry-auth]");
    assert_eq!(shown("cookie"), "session=[redacted:session]; theme=[redacted:theme]");
    assert_eq!(shown("mcp-session-id"), "0123456789abcdef0123");
    assert_eq!(shown("referer"), "http://redacted@h/p?token=[redacted:token]");
}

#[test]
fn what_goes_with_a_user_is_a_password_whatever_it_looks_like() {
    for (asked, expected) in [
        ("/a?user=ann&pass=hunter2", "/a?user=ann&pass=[redacted:pass]"),
        ("/a?PASS=wonder%20land&Login=ann", "/a?PASS=[redacted:PASS]&Login=ann"),
        ("/a?pass=2&of=3", "/a?pass=2&of=3"),
        ("/a?user=ann&pass=", "/a?user=ann&pass="),
    ] {
        let mut request = request(asked, &[], "");
        Redactor::standard().request(&mut request);
        assert_eq!(request.path, expected);
        let again = request.path.clone();
        Redactor::standard().request(&mut request);
        assert_eq!(request.path, again);
    }
    let mut form = request("/", &[("content-type", "application/x-www-form-urlencoded")], "");
    form.body = "username=ann&pass=hunter2".into();
    Redactor::standard().request(&mut form);
    assert_eq!(form.body, "username=ann&pass=[redacted:pass]");
}

#[test]
fn texts_in_parameters_fields_of_forms_and_header_fields_are_read_as_in_json() {
    let key = "Zk39fjQmmWq02LspE8vnTTy5aaB1";
    let spelled = |text: &str| {
        let spell = |byte: u8| match byte {
            b' ' => "+".to_owned(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        format!("text={}", text.bytes().map(spell).collect::<String>())
    };
    let media = [("content-type", "application/x-www-form-urlencoded")];
    for (text, name) in [
        ("my password: @", "password"),
        ("export API_KEY=@", "API_KEY"),
        ("X-Api-Key: @", "X-Api-Key"),
        ("https://h/x;password=@", "password"),
    ] {
        let said = text.replace('@', key);
        let without = |text: &str| text.replace(key, &format!("[redacted:{name}]"));
        let form = spelled(&said);
        // Each alone: what one shows is known in the others.
        let alone = |asked: Request| {
            let all = redacted(cassette(vec![(asked, response(&[], whole("{}")))]));
            all.interactions[0].request.clone()
        };
        assert_eq!(
            alone(request(&format!("/q?{form}"), &[], "")).path,
            format!("/q?{}", without(&form))
        );
        assert_eq!(alone(request("/", &media, form.as_str())).body, without(&form).into_bytes());
        let noted = alone(request("/", &[("x-note", &said)], ""));
        assert_eq!(noted.headers.get("x-note"), Some(&*without(&said)));
    }
    // An older recording keeps its rules.
    let older: Vec<String> = Redactor::standard().rules().map(str::to_owned).collect();
    let older: Vec<String> = older.into_iter().filter(|rule| rule != "texts/1").collect();
    let asked = format!("/q?{}", spelled(&format!("export API_KEY={key}")));
    let mut plain = request(&asked, &[], "");
    Redactor::of_rules(&older).unwrap().request(&mut plain);
    assert_eq!(plain.path, asked);
    // What only looks like it stays.
    for text in
        ["author: ann, key: value", "a=1; token=2", "Bearer realm=\"x\"", "private, max-age=0"]
    {
        let asked = format!("/q?{}", spelled(text));
        let mut plain = request(&asked, &[("x-note", text)], "");
        Redactor::standard().request(&mut plain);
        assert_eq!(plain.path, asked);
        assert_eq!(plain.headers.get("x-note"), Some(text));
    }
}

#[test]
fn json_in_a_parameter_or_a_field_is_read() {
    let key = "Zk39fjQmmWq02LspE8vnTTy5aaB1";
    let as_value = |json: &str| json.replace('{', "%7B").replace('"', "%22").replace('}', "%7d");
    let nested = |text: &str| serde_json::Value::from(text).to_string();
    let login = |secret: &str| format!(r#"{{"user":"ann é","password":"{secret}"}}"#);
    let deep = |secret: &str| format!(r#"[{{"0":{}}}]"#, nested(&nested(&login(secret))));
    for json in [&login as &dyn Fn(&str) -> String, &deep] {
        let expected = json("[redacted:password]");
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let payload = |secret: &str| format!("n=1&payload=+{}", as_value(&json(secret)));
        let target = format!("/graphql?variables={}&x=1", as_value(&json(key)));
        let mut asked = request(&target, &form, payload(key));
        asked.headers.append("x-config", json(key));

        Redactor::standard().request(&mut asked);

        let path = format!("/graphql?variables={}&x=1", as_value(&expected));
        assert_eq!(asked.path, path);
        assert_eq!(asked.body, payload("[redacted:password]"));
        assert_eq!(asked.headers.get("x-config"), Some(&*expected));
        let again = asked.clone();
        Redactor::standard().request(&mut asked);
        assert_eq!(asked, again);
    }
}

#[test]
fn json_in_a_parameter_is_found_in_what_older_rules_wrote() {
    let target = "/t?input=%7B%22apiKey%22%3A%22Zk39fjQmmWq02LspE8vnTTy5aaB1%22%7D&n=%7B%7D";
    let mut older = cassette(vec![(request(target, &[], ""), response(&[], whole("")))]);
    older.redactions = vec!["query/1".to_owned(), "json/1".to_owned()];

    let suspects = Redactor::standard().audit(&older);

    let places: Vec<String> = suspects.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["interaction 1, path, line 1: apiKey"]);
}

/// What a client that sends these fields shows of them.
fn shown(fields: &[(&str, &str)]) -> Vec<String> {
    let mut request = request("/", fields, "");
    Redactor::standard().request(&mut request);
    request.headers.iter().map(|(_, it)| String::from_utf8_lossy(it).into_owned()).collect()
}

#[test]
fn names_of_fields_tell_without_their_capitals() {
    let key = "a1b2c3d4e5f6a7b8c9d0";
    for name in "\
        X-userToken X-newToken X-new-token X-deviceToken X-inviteToken X-oneTimeToken X-tokenValue X-token-1 \
        X-newSecret X-secret1 X-rootPassword X-password1 X-password-2 X-newApiKey X-apikey1 X-passcode"
        .split_whitespace()
    {
        let name = name.to_ascii_lowercase();
        assert_eq!(shown(&[(&name, key)]), [format!("[redacted:{name}]")], "{name}");
    }
    for (name, value) in [
        ("x-pagetoken", key),
        ("x-continuationtoken", key),
        ("x-maxtoken", "4096"),
        ("x-usertoken", "none"),
        ("x-ratelimit-tokens", "40960000000000000000"),
        ("x-monkey", key),
        ("sec-websocket-protocol", "graphql-transport-ws, v12.stomp, openai-beta.realtime-v1"),
        ("sec-websocket-protocol", "base64.binary.k8s.io, v5.channel.k8s.io, aws-appsync-event-ws"),
    ] {
        assert_eq!(shown(&[(name, value)]), [value], "{name}");
    }
}

#[test]
fn what_a_server_says_back_of_cookies_is_found_cookie_by_cookie() {
    let redactor = Redactor::standard();
    let said = r#"{"headers":{"Cookie":"foo=bar; theme=dark","Host":"h"}}"#;
    let expected =
        r#"{"headers":{"Cookie":"foo=[redacted:foo]; theme=[redacted:theme]","Host":"h"}}"#;
    assert_eq!(redactor.text(said), expected);
    let alone = r#"{"cookie":"hunter7oak"}"#;
    assert_eq!(redactor.text(alone), r#"{"cookie":"[redacted:cookie]"}"#);
}

#[test]
fn set_cookie_keeps_its_attributes() {
    let mut headers = Headers::new();
    headers.append("Set-Cookie", "session=abc; Path=/; HttpOnly");
    headers.append("x-ratelimit-remaining-tokens", "100");

    Redactor::standard().headers(&mut headers);

    assert_eq!(headers.get("set-cookie"), Some("session=[redacted:session]; Path=/; HttpOnly"));
    assert_eq!(headers.get("x-ratelimit-remaining-tokens"), Some("100"));

    headers.set("Set-Cookie", r#"session="a\"b\""; Path=/"#);
    Redactor::standard().headers(&mut headers);
    assert_eq!(headers.get("set-cookie"), Some(r#"session="[redacted:session]"; Path=/"#));
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

pub(super) const MULTIPART: [(&str, &str); 1] =
    [("content-type", "multipart/form-data; boundary=\"b 1\"")];

/// A form of fields and files, each as what stands behind `form-data` and its content.
pub(super) fn multipart(parts: &[(&str, &str)]) -> String {
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
fn a_secret_in_the_name_of_a_field_is_in_no_placeholder_of_its_value() {
    let (key, other) = (secret("q7"), secret("r8"));
    let headers = [("authorization", &*format!("Bearer {key}")), ("x-echo", &*other)];
    let body = format!("{{\"{key} password\": \"{other}\", \"text\": \"it is {other}\"}}");
    let mut asked = request("/", &headers, body);

    Redactor::standard().request(&mut asked);

    check_gone(&asked.body, &key);
    check_gone(asked.headers.get("x-echo").unwrap().as_bytes(), &key);
}

#[test]
fn what_is_redacted_is_not_redacted_again() {
    let short = "bTpw";
    let key = secret("q7");
    for text in [
        format!("Authorization: Basic {short}\n"),
        format!("curl -H 'Authorization: Basic {short}' -u me:{key}\n"),
        format!("{{\"header\": \"Authorization: Basic {short}\", \"api_key\": \"{key}\"}}"),
        format!("token = {key}; api_key = [redacted:token]"),
        format!("api_key=a1&api_key={key}&password=b2"),
        // A secret in the name of a field tells nothing once it is replaced, and its placeholder shows no more.
        format!("{{\"api_key\": \"{key}\", \"names\": {{\"{key}\": \"the first of my keys\"}}}}"),
        format!("{{\"api_key\": \"{key}\", \"{key} password\": \"b2b2b2b2\"}}"),
        format!("api_key={key}&{key}=the+first+key&{key}-password=b2"),
    ] {
        for media in ["text/plain", "application/json", "application/x-www-form-urlencoded"] {
            let asked = request("/", &[("content-type", media)], text.as_str());
            let answered = response(&[("content-type", media)], whole(text.as_str()));

            let once = Redactor::standard().cassette(cassette(vec![(asked, answered)]));

            let again = Redactor::standard().cassette(once.get().clone());
            assert_eq!(again, once, "{text} as {media}");
        }
    }
}

/// What becomes of the body of a request.
fn sent(body: &str) -> String {
    let mut asked = request("/graphql", &[("content-type", "application/json")], body);
    Redactor::standard().request(&mut asked);
    String::from_utf8(asked.body.to_vec()).unwrap()
}

#[test]
fn a_variable_is_called_by_what_a_query_passes_it_on_as() {
    let query =
        |argument: &str| format!(r#"mutation($p:String!){{login(user:\"u\",{argument}:$p)}}"#);
    let check = |argument: &str, value: &str, expected: &str| {
        let text = |value: &str| {
            let query = query(argument);
            [
                format!(r#"{{"query":"{query}","variables":{{"u":"me","p":{value}}}}}"#),
                format!(r#"[{{"variables":{{"p":{value}}},"query":"{query}"}}]"#),
                format!(
                    r#"{{"type":"subscribe","payload":{{"query":"{query}","variables":{{"p":{value}}}}}}}"#
                ),
            ]
        };
        for (before, after) in text(value).iter().zip(text(expected)) {
            assert_eq!(sent(before), after);
            assert_eq!(sent(&after), after);
        }
    };

    check("password", "\"open sesame\"", "\"[redacted:password]\"");
    check("apiKey", "\"of tuesday\"", "\"[redacted:apiKey]\"");
    check("password", "1234", "0");
    check(
        "credentials",
        "[\"one\",\"two\"]",
        "[\"[redacted:credentials]\",\"[redacted:credentials~2]\"]",
    );
    check("token", "\"none\"", "\"none\"");
    check("name", "\"open sesame\"", "\"open sesame\"");
    check("passwordHint", "\"open sesame\"", "\"open sesame\"");
}

#[test]
fn variables_beside_their_query_in_an_address_are_called_so_too() {
    let mut asked = request(
        "/graphql?query=%7Blogin(password%3A%24p)%7D&variables=%7B%22p%22%3A%22open+sesame%22%7D",
        &[],
        "",
    );

    Redactor::standard().request(&mut asked);

    assert_eq!(
        asked.path,
        "/graphql?query=%7Blogin(password%3A%24p)%7D&variables=%7B%22p%22%3A%22[redacted:password]%22%7D"
    );
}

#[test]
fn an_identifier_with_which_a_secret_begins_is_none() {
    let id = format!("pi_{}", secret("intent"));
    let own = format!("{id}_secret_{}", secret("own"));
    let json = serde_json::json!({"id": id, "client_secret": own}).to_string();
    let made = response(&[("content-type", "application/json")], whole(json));
    let form = format!("reason=none&payment_intent={id}");
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let refunded = (request("/refunds", &kind, form.clone()), response(&[], whole("")));

    let told = redacted(cassette(vec![(request("/intents", &[], ""), made), refunded]));

    assert_eq!(told.interactions[1].request.body, form);
    let made = answer(&told, 0).body.bytes();
    assert!(!String::from_utf8_lossy(&made).contains(&own), "{made:?}");
}

#[test]
fn parameters_of_an_address_in_a_parameter_are_read_however_much_of_it_is_encoded() {
    let key = "Zk39fjQmmWq02LspE8vnTTy5aaB1";
    for address in [
        "https://b.example/cb?access_token=KEY",
        "https://b.example/cb?access_token%3DKEY%26z%3D1",
        "https%3A%2F%2Fb.example%2Fcb%3Faccess_token%3DKEY%26z%3D1",
    ] {
        let mut asked = request(&format!("/login?next={}", address.replace("KEY", key)), &[], "");

        Redactor::standard().request(&mut asked);

        let path = percent_decoded(&asked.path);
        assert!(path.contains("access_token=[redacted:access_token]"), "{path}");
        assert!(!path.contains(key), "{path}");
    }
}

fn percent_decoded(text: &str) -> String {
    ["%3D", "%5B", "%3A", "%5D"]
        .iter()
        .zip(["=", "[", ":", "]"])
        .fold(text.to_owned(), |text, (encoded, plain)| text.replace(encoded, plain))
}

#[test]
fn a_key_behind_a_scheme_that_is_not_known_is_known_alone() {
    for scheme in ["Key $", "auth token=$", "App=root!t=$", "Own user:$", "Own key=a, secret=\"$\""]
    {
        let key = secret("k3");
        let asks = request("/", &[("authorization", &scheme.replace('$', &key))], "");
        let says = response(&[], whole(format!("no account for {key}")));

        let after = redacted(cassette(vec![(asks, says)]));

        let said = String::from_utf8(answer(&after, 0).body.bytes().to_vec()).expect("text");
        assert!(said.starts_with("no account for [redacted:authorization"), "{scheme}: {said}");
    }
}

#[test]
fn cookies_that_were_joined_by_commas_are_all_replaced() {
    let key = secret("c4");
    let said = format!("a=bcdefghi; Expires=Wed, 09 Jun 2027 10:18:14 GMT, sid={key}; Path=/");

    let after = redacted_answer(response(&[("set-cookie", &*said)], whole("")));

    assert_eq!(
        after.headers.get("set-cookie"),
        Some("a=[redacted:a]; Expires=Wed, 09 Jun 2027 10:18:14 GMT, sid=[redacted:sid]; Path=/")
    );
}

#[test]
fn what_an_answer_has_in_the_place_of_a_secret_stays() {
    for value in [
        "sk-...1234",
        "${OPENAI_API_KEY}",
        "$OPENAI_API_KEY",
        "{{ secrets.KEY }}",
        "<your-api-key>",
        "YOUR_API_KEY",
        "os.environ/OPENAI_API_KEY",
        "[REDACTED]",
        "none",
        "string",
    ] {
        check_untouched(&format!(r#"{{"api_key":"{value}","a":1}}"#));
    }
}
