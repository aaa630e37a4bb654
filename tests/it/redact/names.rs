//! Names that tell what stands behind them, in JSON and in prose.

use retape::cassette::{Content, Frame, Peer, Response};
use retape::redact::Redactor;

use super::{
    body, cassette, check_json, check_untouched, password, redacted, request, response, secret,
    whole,
};

#[test]
fn fields_with_telling_names_are_replaced_in_place() {
    check_json(r#"{"api_key": "$",  "n": 1.0}"#, r#"{"api_key": "[redacted:api_key]",  "n": 1.0}"#);
    check_json(r#"{"clientSecret":"$"}"#, r#"{"clientSecret":"[redacted:clientSecret]"}"#);
    check_json(r#"{"password":"x","pin":1}"#, r#"{"password":"[redacted:password]","pin":1}"#);
    check_json(r#"{"password":1234}"#, r#"{"password":0}"#);
    check_json(r#"{"token":"$"}"#, r#"{"token":"[redacted:token]"}"#);
    check_json(
        r#"{"api_keys":["$","x"]}"#,
        r#"{"api_keys":["[redacted:api_keys]","[redacted:api_keys~2]"]}"#,
    );
    check_json(
        r#"{"authorization":"Bearer $"}"#,
        r#"{"authorization":"Bearer [redacted:authorization]"}"#,
    );
    check_json(r#"{"API_KEY":"a\"b\\"}"#, r#"{"API_KEY":"[redacted:API_KEY]"}"#);
}

#[test]
fn a_new_token_is_a_secret_and_the_tokens_of_a_model_are_none() {
    for name in ["newToken", "new_token", "new-token", "passcode"] {
        check_json(
            &format!(r#"{{"{name}":"$","n":1}}"#),
            &format!(r#"{{"{name}":"[redacted:{name}]","n":1}}"#),
        );
    }
    check_untouched(
        r#"{"max_new_tokens":512,"max_tokens":4096,"tokens":7,"num_tokens":3,"new_token":" Hello","maxtoken":"9",
        "usertoken":"none","forgotpassword":"Forgot your password?","x-newtokens":"a1b2c3d4e5f6a7b8c9d0"}"#,
    );
}

#[test]
fn strings_below_telling_names_are_replaced() {
    check_json(
        r#"{"secrets":{"API_KEY":"$","MODE":"x1y2"}}"#,
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
    // Docker's way to say the same.
    check_json(
        r#"{"Env":["MODE=fast","REPLICAS=3","LOG_LEVEL=info","THING=$"]}"#,
        r#"{"Env":["MODE=fast","REPLICAS=3","LOG_LEVEL=info","[redacted:Env]"]}"#,
    );
    // Base64 has no name.
    check_json(r#"{"Env":["b3Blbi1zZXNhbWU="]}"#, r#"{"Env":["[redacted:Env]"]}"#);
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
    check_untouched(
        r#"{"type":"oauth2","flows":{"password":{"tokenUrl":"https://h/token","scopes":{"read":"Read it"}},
        "clientCredentials":{"tokenUrl":"https://h/token","refreshUrl":"https://h/again"}}}"#,
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
            "{\"secrets\": {\n  \"A\": \"$\",\n  \"id\": \"7\",\n  \"B\": \"x1y2",
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

#[test]
fn what_elements_of_a_page_hold_by_their_names_is_replaced() {
    for (before, name) in [
        ("<input type=\"password\" class=\"a\" value=\"$\">", "password"),
        ("<input value=$ type=password>", "password"),
        ("<input value=\"$\" name=\"csrf_token\" />", "csrf_token"),
        ("<meta name=\"csrf-token\" content=\"$\">", "csrf-token"),
    ] {
        let placeholder = format!("[redacted:{name}]");
        check_prose(&before.replace('$', &"q7w8".repeat(6)), &before.replace('$', &placeholder));
    }
    for text in [
        "<meta name=\"viewport\" content=\"width=device-width\"><meta name=csrf-param content=a_token>",
        "<input value=\"Reset\" name=\"go\"><input type=submit value=\"Password\">",
        "<input value=\"Reset password\" name=\"password\"><input type=\"password\" value=\"\">",
    ] {
        check_prose(text, text);
    }
}

#[test]
fn what_elements_of_a_document_hold_by_their_names_is_replaced() {
    let secret = "q7w8".repeat(6);
    for name in
        "client_secret access_token refresh_token id_token AuthToken SharedAccessKey transactionKey"
            .split(' ')
    {
        let placeholder = format!("[redacted:{name}]");
        for document in ["<r><NAME>$</NAME></r>", "<NAME xsi:type=\"xsd:string\">$</NAME>"] {
            let document = document.replace("NAME", name);
            check_prose(&document.replace('$', &secret), &document.replace('$', &placeholder));
        }
    }
}

#[test]
fn a_word_under_the_name_of_several_secrets_is_none_of_them() {
    let said = r#"{"permissions":{"secrets":"read","contents":"write"}}"#;
    assert_eq!(body("application/json", said), said);
    for said in [
        r#"{"secrets":["hunter7oak"],"api_keys":{"a":"hunter7oak"}}"#,
        r#"{"credentials":"admin:hunter7oak","cookies":"a=hunter7oak","passwords":"hunter7oak"}"#,
    ] {
        assert!(!body("application/json", said).contains("hunter7oak"));
    }
}

#[test]
fn a_password_that_is_said_again_and_one_of_a_composed_name_are_replaced() {
    for name in ["password_confirmation", "DB_PASS", "smtpPass"] {
        let placeholder = format!("{{\"{name}\":\"[redacted:{name}]\"}}");
        assert_eq!(body("application/json", &format!("{{\"{name}\":\"hunter7\"}}")), placeholder);
    }
    // Its quotes are escaped in a string of JSON.
    let text = r#"{"text":"env:\n- name: DB_PASSWORD\n  value: \"$\"\n"}"#;
    assert!(!body("application/json", &text.replace('$', "hunter7oak")).contains("hunter7oak"));
}

#[test]
fn what_a_server_says_of_a_value_that_it_refuses_is_kept() {
    let refused = |status: u16, body: &str| {
        let mut answer = response(&[("content-type", "application/json")], whole(body));
        answer.status = status;
        let asked = request("/users", &[], r#"{"passphrase": "correct horse battery"}"#);
        let after = redacted(cassette(vec![(asked, answer)]));
        String::from_utf8(super::answer(&after, 0).body.bytes().to_vec()).unwrap()
    };
    for text in [
        r#"{"password":["This password is too short. It must contain at least 8 characters."]}"#,
        r#"{"errors":{"password":"can't be blank","token":["Not a valid token."]}}"#,
        r#"{"api_key":["This field is required."],"password_confirmation":["doesn't match"]}"#,
    ] {
        assert_eq!(refused(422, text), text);
        assert!(refused(200, text).contains("[redacted:"), "{text}");
    }
    let (echo, key) = (r#"{"password":"correct horse battery"}"#, secret("rf"));
    assert!(!refused(400, echo).contains("horse"));
    let text = format!(r#"{{"api_key": "{key}", "password": "{}"}}"#, password("rf"));
    let after = refused(401, &text);
    super::check_gone(after.as_bytes(), &key);
    super::check_gone(after.as_bytes(), &password("rf"));
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
fn the_name_in_a_placeholder_shows_no_secret_either() {
    let key = secret("pl");
    let body = format!(r#"{{"{key} password": "{}", "password": "authorization"}}"#, secret("pw"));
    let mut request = request("/", &[("authorization", &format!("Bearer {key}"))], body);

    Redactor::standard().request(&mut request);

    let body = String::from_utf8_lossy(&request.body).into_owned();
    let (name, shown) = ("[redacted:authorization] password", "[redacted:secret_password]");
    assert!(body.contains(name) && body.contains(shown), "{body}");
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
fn the_events_of_a_stream_end_as_the_standard_says() {
    let secret = secret("c4");
    let (first, second) = secret.split_at(secret.len() / 2);
    let cut = |end: &str| {
        let piece = |text: &str| format!("data: {{\"t\": \"{text}\"}}{end}{end}");
        [piece("API_KEY="), piece(first), piece(second), piece(" and")].concat()
    };
    let whole = |end: &str| format!("data: {{\"api_key\":{end}data: \"{secret}\"}}{end}{end}");

    for end in ["\n", "\r\n", "\r"] {
        for begin in ["", "\u{feff}"] {
            let [after, cut] = [whole(end), cut(end)]
                .map(|stream| body("text/event-stream", &format!("{begin}{stream}")));
            assert!(after.contains("[redacted:api_key]") && !after.contains(&secret), "{after:?}");
            assert!(cut.contains("[redacted:") && !cut.contains(second), "{cut:?}");
        }
    }
}

#[test]
fn why_a_websocket_closes_is_searched_like_a_message() {
    let secret = secret("c3");
    let close = |reason: String| {
        let content = Content::Close { code: Some(1008), reason };
        let frame = Frame { ms: 1, from: Peer::Server, content, fragments: Vec::new() };
        let said = Response { frames: vec![frame], ..Response::of(101) };
        let asked = request("/", &[("x-api-key", &secret)], "");
        let kept = redacted(cassette(vec![(asked, said)]));
        let frames = &kept.interactions[0].response().unwrap().frames;
        let Content::Close { reason, .. } = &frames[0].content else { unreachable!() };
        reason.clone()
    };

    for (before, after) in [
        ("key $ is not valid", "key [redacted:x-api-key] is not valid"),
        (r#"{"access_token":"$"}"#, r#"{"access_token":"[redacted:x-api-key]"}"#),
        ("going away", "going away"),
    ] {
        assert_eq!(close(before.replace('$', &secret)), after);
    }
    let other = format!("{}{}", "ghp_", "a1B2".repeat(9));
    assert!(!close(format!("no access: {other}")).contains(&other));
}
