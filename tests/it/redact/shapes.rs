//! The shapes in which people and programs write secrets.

use std::time::{Duration, Instant};

use retape::redact::Redactor;

use super::{body, cassette, check_gone, password, redacted, request, response, whole};

/// Each `$` is a secret of its own, and none of them is left.
#[track_caller]
fn check_found(content_type: &str, text: &str) {
    let mut secrets = Vec::new();
    let mut spelled = String::new();
    for (at, part) in text.split('$').enumerate() {
        if at > 0 {
            let secret = password(["aB3", "kX9", "m4T", "r7W", "d2Q", "h8Y", "n5L"][at % 7]);
            spelled.push_str(&secret);
            secrets.push(secret);
        }
        spelled.push_str(part);
    }

    let after = body(content_type, &spelled);

    secrets.iter().for_each(|secret| check_gone(after.as_bytes(), secret));
    assert_eq!(body(content_type, &after), after, "twice");
}

#[test]
fn private_keys_and_pairs_of_clouds_are_read() {
    for json in [
        r#"{"keys":[{"kty":"EC","crv":"P-256","x":"abc","d":"$"},{"d":"$","p":"$","qi":"$","kty":"RSA","e":"AQAB"}]}"#,
        r#"{"kty":"oct","k":"$","alg":"HS256"}"#,
        r#"[{"Key":"password","Value":"$"},{"OutputKey":"ApiKey","OutputValue":"$"}]"#,
        r#"[{"op":"replace","path":"/users/1/password","value":"$"},{"field":"api_key","old":"$"}]"#,
        r#"{"primaryKey":"$","SecretCode":"$","seed_phrase":"$"}"#,
    ] {
        check_found("application/json", json);
    }
    check_found("application/xml", "<Tag><Key>password</Key><Value>$</Value></Tag>");
    let azure = ["TbQz3nV8cL5pR1yJ6sK9mW2xD4fG7hA0", "bE3dU6iO9kZ1vN5=="].concat();
    let keys =
        format!(r#"{{"keys":[{{"keyName":"key1","value":"{azure}","permissions":"FULL"}}]}}"#);
    check_gone(body("application/json", &keys).as_bytes(), &azure);
    // The same letters elsewhere are a day or a point, and rows have keys too.
    for json in [
        r#"{"d":"Wednesday-the-first","k":"a-2024-long-name"}"#,
        r#"{"Key":"colour","Value":"dark-blue-4"}"#,
    ] {
        assert_eq!(body("application/json", json), json);
    }
}

#[test]
fn what_stands_behind_a_url_in_a_connection_string_is_read() {
    for text in [
        "AccountEndpoint=https://x.example:443/;AccountKey=$==;",
        "BlobEndpoint=http://127.0.0.1:10000/acc;AccountName=acc;AccountKey=/$$$==;x=http://h/;Password=$",
        "jdbc:sqlserver://db.example:1433;databaseName=x;user=sa;password=$;encrypt=true\n",
        "url=https://x.example,password=$\n",
        "BlobEndpoint=https://x.example;SharedAccessSignature=sv=2024-11-04&sp=r&sig=$$%3D",
    ] {
        check_found("text/plain", text);
        check_found("application/json", &serde_json::json!({ "text": text }).to_string());
    }
    let plain = "https://h.example/a;v=1,2?ids=1,2;3 and https://b.example/x;y=2;https://c.example";
    assert_eq!(body("text/plain", plain), plain);
}

#[test]
fn values_in_quotes_backticks_and_blocks_are_whole() {
    for text in [
        "DB_PASSWORD=\"P@,w;$\"\n",
        "DB_PASSWORD='(M)$'\n",
        "DB_PASSWORD=\"[x]$\"\n",
        "DB_PASSWORD=\"Ab1&$,$\"\n",
        "Here it is:\n- api_key: `$`\n",
        "const c = { apiKey: `$` }\n",
        "password: |\n  $\n",
        "password: >-\r\n    $\n",
        "password = \"\"\"$\"\"\"\n",
        "a: 1\n  password: P@,w;$!\nb: 2\n",
    ] {
        check_found("text/plain", text);
        check_found("application/json", &serde_json::json!({ "text": text }).to_string());
    }
    for plain in [
        "password: |\nnext: 1a2b3c4d5e",
        "Password: hash1(word), one;two",
        "password: `a word`",
        "password = \"\"\nx1y2z3w4v5 = 2",
    ] {
        assert_eq!(body("text/plain", plain), plain);
    }
}

#[test]
fn escapes_hide_neither_names_nor_addresses() {
    for name in ["contrase\\u00f1a", "\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c", "\\u0070assword"]
    {
        check_found("application/json", &format!(r#"{{"user":"ada","{name}":"$"}}"#));
    }
    for text in [
        r#"{"dsn":"postgres:\/\/app:$@db.example\/x"}"#,
        r#"{"url":"https:\/\/hooks.slack.com\/services\/T0AB12CD3\/B0AB12CD3\/$"}"#,
        r#"{"url":"https:\/\/discord.com\/api\/webhooks\/123456789012345678\/$$"}"#,
        r#"{"u":"https://a.example/?next=https%3A%2F%2Fb.example%2F%3Faccess_token%3D$%26x%3D1"}"#,
        r#"{"log":"GET /cb?code=$&state=1 HTTP/1.1"}"#,
    ] {
        check_found("application/json", text);
    }
    let text = r#"{"url":"https:\/\/a.example\/b?c=d","n\u00e9":"e"}"#;
    assert_eq!(body("application/json", text), text);
}

#[test]
fn members_between_a_name_and_its_value_do_not_part_them() {
    for text in [
        r#"{"headers":[{"name":"X-Api-Key","description":"d","value":"$"}]}"#,
        r#"[{"key": "API_KEY", "type": "encrypted", "n": 7, "value": "$"}]"#,
        r#"[{"value": "$", "id": 7, "key": "API_KEY"}]"#,
        r#"[{"ParameterKey": "DBPassword", "ParameterValue": "$"}]"#,
        r#"{"token": ["$"], "csrfmiddlewaretoken": ["$"]}"#,
        r#"{"token": {"value": "$"}, "b": 1}"#,
    ] {
        check_found("application/json", text);
    }
    let text = r#"{"key":["some.long.key_of_something"],"token":{"id":"a1b2c3d4e5f6a7b8c9d0"}}"#;
    assert_eq!(body("application/json", text), text);
}

#[test]
fn files_and_pages_are_read_over_lines() {
    for text in [
        "machine api.example.com\n  login ada\n  password $\n",
        "<form>\n<input\n  type=\"hidden\"\n  name=\"csrf_token\"\n  value=\"$\"\n/></form>",
        "<input type=hidden name=csrf_token value=$>",
        "<a><password><![CDATA[$]]></password></a>",
    ] {
        check_found("text/html", text);
    }
    let (begin, end) =
        (["-----BEGIN", "PRIVATE KEY-----"].join(" "), ["-----END", "KEY-----"].join(" "));
    let lines = "$$$\n".repeat(5);
    check_found("text/plain", &format!("{begin}\n{lines}$ and more\n"));
    check_found(
        "application/json",
        &serde_json::json!({ "out": format!("{begin}\n{lines}") }).to_string(),
    );
    check_found("text/plain", &format!("{begin}\n{lines}{begin}\n{lines}{end}\nthe end\n"));
}

#[test]
fn the_path_of_a_webhook_that_a_client_asks_is_replaced() {
    let key = password("w5E").repeat(3);
    for path in [
        format!("/services/T0AB12CD3/B0AB12CD3/{}", &key[..24]),
        format!("/api/webhooks/123456789012345678/{key}"),
    ] {
        let after = redacted(cassette(vec![(request(&path, &[], ""), response(&[], whole("")))]));

        check_gone(after.interactions[0].request.path.as_bytes(), &key[..24]);
    }
}

#[test]
fn variables_that_end_in_a_telling_word_are_searched_for() {
    for name in ["PGPASSWORD", "DB_PASS", "SMTP_PASS", "MYSQL_PASSWORD"] {
        let value = &password("e6N")[..12];
        let variables = [(name.to_owned(), value.to_owned())].into_iter();

        let text = Redactor::standard().with_environment(variables).text(&format!("with {value}!"));

        assert_eq!(text, format!("with [redacted:{name}]!"));
    }
    let variables = [("BYPASS", "a1b2c3d4e5"), ("SSH_ASKPASS", "/usr/bin/ask1")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let text = "with a1b2c3d4e5 and /usr/bin/ask1";
    assert_eq!(Redactor::standard().with_environment(variables.into_iter()).text(text), text);
}

#[test]
fn a_marker_that_repeats_takes_time_in_proportion() {
    let begin = ["-----BEGIN", "PRIVATE KEY-----\n"].join(" ");
    let putty = "PuTTY-User-Key-File Private-Lines: 1 ";
    let url = "https://a;b,";
    for marker in ["password:", "api_key=", &begin, putty, "sk-", url, "password:\"", "eyJ-"] {
        let text = marker.repeat(100_000 / marker.len());
        let since = Instant::now();

        body("text/plain", &text);

        assert!(since.elapsed() < Duration::from_secs(20), "{marker} {:?}", since.elapsed());
    }
}
