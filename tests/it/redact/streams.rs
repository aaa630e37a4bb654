//! What a stream says in pieces.

use super::{body, password, redacted_answer, response, stream};

/// The strings that stand between these two in a text, one behind the other.
fn joined(text: &str, before: &str, behind: &str) -> String {
    let parts = text.split(before).skip(1);
    parts.filter_map(|part| part.split(behind).next()).collect()
}

#[test]
fn what_a_stream_says_in_pieces_is_read_by_its_names() {
    let (word, key) = (format!("p!{}", password("xY2")), password("b4C"));
    let said = format!(r#"{{"user": "ada", "password": "{word}", "api_key": "{key}"}}"#);
    let (before, behind) = (r#"{"d":{"arguments":""#, r#""},"i":0}"#);
    for length in [1, 3, 8, 40] {
        let pieces: Vec<String> = said
            .as_bytes()
            .chunks(length)
            .map(|it| {
                let spelled = serde_json::to_string(&String::from_utf8_lossy(it)).expect("JSON");
                format!("data: {before}{}{behind}\n\n", &spelled[1..spelled.len() - 1])
            })
            .collect();
        let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
        let kind = [("content-type", "text/event-stream")];

        let after = redacted_answer(response(&kind, stream(&pieces)));

        assert_eq!(after.body.chunks().len(), pieces.len());
        let text = String::from_utf8(after.body.bytes().to_vec()).expect("text");
        assert_eq!(
            joined(&text, before, behind),
            r#"{\"user\": \"ada\", \"password\": \"[redacted:password]\", \"api_key\": \"[redacted:api_key]\"}"#,
            "{length}"
        );
        assert_eq!(redacted_answer(after.clone()), after, "twice");
    }
}

#[test]
fn whole_values_in_one_place_of_a_stream_are_no_pieces() {
    let event = |text: &str| format!("data: {{\"url\":\"{text}\",\"t\":\"a b\"}}\n\n");
    let key = password("u7V");
    let before = event(&format!("https://a.example/?token={key}")) + &event("https://b.example/x");
    let after = event("https://a.example/?token=[redacted:token]") + &event("https://b.example/x");
    assert_eq!(body("text/event-stream", &before), after);
    let event = |text: &str| format!("data: {{\"say\":\"{text}\"}}\n\n");
    let plain = event("The token: ") + &event("a word of many") + &event(". 12 more");
    assert_eq!(body("text/event-stream", &plain), plain);
}

#[test]
fn a_word_behind_a_secret_in_another_message_stays() {
    let key = password("d7E");
    let lines = |last: &str| {
        let said = [format!("login password={key}"), last.to_owned(), "done".to_owned()];
        let lines = said
            .map(|said| format!("{{\"msg\":\"{said}\",\"headers\":[\"Bearer {key}\",\"bar\"]}}\n"));
        body("application/x-ndjson", &lines.concat())
    };

    for last in ["ready", "New user", "thanks"] {
        let after = lines(last);
        assert!(!after.contains(&key), "{after}");
        assert!(after.contains(&format!("\"msg\":\"{last}\"")), "{after}");
        assert_eq!(after.matches("\"bar\"").count(), 3, "{after}");
    }
}

#[test]
fn events_that_are_strings_or_words_are_pieces_too() {
    let key = format!("{}_{}", "ghp", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b");
    let said = format!("The key is {key} as said.");
    let shapes = [
        ("text/event-stream", "data: \"", "\"\n\n"),
        ("text/event-stream", "data: ", "\n\n"),
        ("text/plain; charset=utf-8", "0:\"", "\"\n"),
    ];
    for (kind, before, behind) in shapes {
        let shape = |it: &[u8]| format!("{before}{}{behind}", String::from_utf8_lossy(it));
        let pieces: Vec<String> = said.as_bytes().chunks(3).map(shape).collect();
        let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();

        let after = redacted_answer(response(&[("content-type", kind)], stream(&pieces)));

        let text = String::from_utf8(after.body.bytes().to_vec()).expect("text");
        let said = joined(&text, before, behind);
        assert_eq!(said, "The key is [redacted:github-token] as said.", "{kind}");
    }
}

#[test]
fn a_key_in_pieces_is_found_behind_a_letter_and_in_lines_that_are_called_json() {
    let key = format!("{}_{}", "ghp", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b");
    for (kind, before, behind) in [
        ("text/event-stream", "data: {\"text\":\"", "\",\"id\":7}\n\n"),
        ("application/json; charset=utf-8", "{\"message\":{\"content\":\"", "\"}}\n"),
        ("application/x-ndjson", "{\"content\":\"", "\"}\n"),
    ] {
        let shape = |it: &str| format!("{before}{it}{behind}");
        let pieces = key.as_bytes().chunks(5).map(|it| std::str::from_utf8(it).expect("text"));
        let text: String = std::iter::once("all done").chain(pieces).map(shape).collect();

        let after = body(kind, &text);

        let said = joined(&after, before, behind);
        assert_eq!(said, "all done[redacted:github-token]", "{kind}");
    }
}
