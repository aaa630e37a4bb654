//! With which recorded interaction a request is compared that nothing answers.

use crate::stage::Stage;
use crate::support::client::ask;

/// A request: method, path, further header fields, body.
type Asking<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

/// A cassette of these requests.
fn stage(requests: &[Asking<'_>]) -> Stage {
    let told: Vec<_> = requests
        .iter()
        .map(|(method, path, fields, body)| {
            let mut headers: serde_json::Map<_, _> =
                fields.iter().map(|(name, value)| (name.to_string(), (*value).into())).collect();
            headers.insert("content-type".to_owned(), "application/json".into());
            serde_json::json!({
                "request": {"method": method, "path": path, "headers": headers, "text": body},
                "response": {"ms": 1, "status": 200, "text": "{}", "end": "complete"},
            })
        })
        .collect();
    Stage::with(&told)
}

/// The number of the interaction that the last of these requests is compared with, and how many fields
/// differ.
async fn nearest(stage: &Stage, asks: &[Asking<'_>]) -> (usize, usize) {
    let session = stage.replay().await;
    let mut text = String::new();
    for (method, path, fields, body) in asks {
        let mut header = "Content-Type: application/json\r\n".to_owned();
        fields.iter().for_each(|(name, value)| header.push_str(&format!("{name}: {value}\r\n")));
        text = ask(method, &format!("{}{path}", session.url()), &header, body).text();
    }
    drop(session.stop().await);
    let number = |pattern: &str| -> usize {
        let found = regex::Regex::new(pattern).unwrap().captures(&text);
        found.unwrap_or_else(|| panic!("{text}"))[1].parse().unwrap()
    };
    (number(r"the nearest is interaction (\d+)"), number(r"(\d+) fields? differ"))
}

fn call(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_played_is_compared_with_where_it_is_clearly_nearer() {
    let tool = |id, name: &str, arguments: &str| {
        call(id, "tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#))
    };
    let add = tool(1, "add", r#"{"a":2,"b":3}"#);
    let (fail, list) = (tool(2, "fail", "{}"), call(3, "tools/list", "{}"));
    let stage = stage(&[
        ("POST", "/mcp", &[], &add),
        ("POST", "/mcp", &[], &fail),
        ("POST", "/mcp", &[], &list),
    ]);

    for (arguments, differing) in [(r#"{"a":"2","b":3}"#, 1), (r#"{"a":7,"b":8}"#, 2)] {
        let wrong = tool(2, "add", arguments);
        let asks = [("POST", "/mcp", &[][..], &*add), ("POST", "/mcp", &[], &wrong)];
        assert_eq!(nearest(&stage, &asks).await, (1, differing), "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_next_is_compared_with_where_the_played_one_is_about_as_near() {
    let stage = stage(&[
        ("POST", "/search", &[], r#"{"q":"x","page":1,"sort":"up"}"#),
        ("POST", "/search", &[], r#"{"q":"x","page":2,"sort":"up"}"#),
    ]);
    let asks = [
        ("POST", "/search", &[][..], r#"{"q":"x","page":1,"sort":"up"}"#),
        ("POST", "/search", &[], r#"{"q":"x","page":3,"sort":"up"}"#),
    ];

    assert_eq!(nearest(&stage, &asks).await, (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_body_does_not_hide_how_many_fields_differ() {
    let body = |model: &str, more: &str| {
        let words: Vec<String> = (0..400).map(|number| format!(r#""word {number}""#)).collect();
        format!(r#"{{"model":"{model}","history":[{}],{more}}}"#, words.join(","))
    };
    let first = body("small", r#""n":1"#);
    let other = body("large", r#""n":2,"top":{"k":1,"p":2,"t":3}"#);
    let stage = stage(&[("POST", "/chat", &[], &first), ("POST", "/chat", &[], &other)]);
    let wrong = body("small", r#""n":3"#);

    let asks = [("POST", "/chat", &[][..], &*first), ("POST", "/chat", &[], &wrong)];
    assert_eq!(nearest(&stage, &asks).await, (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn header_fields_that_count_tell_what_is_nearest() {
    let of: fn(&str) -> [(&str, &str); 2] =
        |id| [("accept", "text/event-stream"), ("last-event-id", id)];
    let (three, two) = (of("3"), of("2"));
    let none = [("accept", "text/event-stream")];
    let stage = stage(&[("GET", "/mcp", &none, ""), ("GET", "/mcp", &three, "")]);

    assert_eq!(nearest(&stage, &[("GET", "/mcp", &two, "")]).await, (2, 1));
    let asks =
        [("GET", "/mcp", &none[..], ""), ("GET", "/mcp", &three, ""), ("GET", "/mcp", &two, "")];
    assert_eq!(nearest(&stage, &asks).await, (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_that_do_not_count_make_nothing_farther() {
    // The number of a JSON-RPC call is the client's own.
    let two_differ = call(5, "x", r#"{"k":1,"m":2,"n":1}"#);
    let one_differs = call(9, "x", r#"{"k":1,"m":1,"n":1}"#);
    let stage = stage(&[("POST", "/mcp", &[], &two_differ), ("POST", "/mcp", &[], &one_differs)]);
    let wrong = call(5, "x", r#"{"k":1,"m":1,"n":2}"#);

    assert_eq!(nearest(&stage, &[("POST", "/mcp", &[], &wrong)]).await, (2, 1));
}
