//! Which recorded interaction answers a request.

use proptest::prelude::*;
use retape::Cassette;
use retape::cassette::{Body, Headers, Interaction, Outcome, Request, Response};
use retape::compare::matching::{Index, Mismatch, Playlist};
use retape::config::{Repeats, Rules};

/// A request and what it was answered with.
fn turn(request: Request, answer: &str) -> Interaction {
    let response = Response {
        headers: Headers::from_iter([("content-type", "application/json")]),
        body: Body::Whole(answer.to_owned().into()),
        end: retape::cassette::End::Complete,
        ..Response::of(200)
    };
    Interaction::of(request, response)
}

fn request(line: &str, headers: &[(&str, &str)], body: impl Into<bytes::Bytes>) -> Request {
    let (method, path) = line.split_once(' ').expect("a method and a path");
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Request { headers: Headers::from_iter(headers), body: body.into(), ..Request::of(method, path) }
}

fn post(body: &str) -> Request {
    request("POST /v1/x", &[("Content-Type", "application/json")], body.to_owned())
}

struct Run {
    index: Index,
    playlist: Playlist,
}

impl Run {
    fn of(interactions: Vec<Interaction>, rules: Rules) -> Self {
        let cassette = Cassette { interactions, ..Cassette::default() };
        let index = Index::of(&cassette, rules);
        let playlist = Playlist::new(&index);
        Self { index, playlist }
    }

    fn of_requests(requests: &[Request]) -> Self {
        Self::of(requests.iter().map(|asked| turn(asked.clone(), "{}")).collect(), Rules::default())
    }

    fn ask(&mut self, request: &Request) -> Option<usize> {
        self.playlist.take(&self.index, &self.index.read(request, &request.readable()))
    }
}

/// Whether a request is answered where only the other one was recorded.
fn same(recorded: &Request, asked: &Request) -> bool {
    same_with(Rules::default(), recorded, asked)
}

fn same_with(rules: Rules, recorded: &Request, asked: &Request) -> bool {
    Run::of(vec![turn(recorded.clone(), "{}")], rules).ask(asked).is_some()
}

fn check(recorded: &Request, asked: &Request, expected: bool) {
    assert_eq!(same(recorded, asked), expected, "{recorded:?} and {asked:?}");
    assert_eq!(same(asked, recorded), expected, "{asked:?} and {recorded:?}");
}

#[test]
fn the_ids_of_json_rpc_are_the_client_s_whatever_they_look_like() {
    let call = |id: &str| post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    for id in ["7", "0", r#""a""#, r#""6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0""#] {
        check(&call("1"), &call(id), true);
    }
    let batch = |one: &str, other: &str| {
        post(&format!(
            r#"[{{"id":{one},"jsonrpc":"2.0","method":"a"}},{{"id":{other},"jsonrpc":"2.0","method":"b"}}]"#
        ))
    };
    check(&batch("1", "2"), &batch(r#""x""#, r#""y""#), true);
    check(&batch("1", "2").clone(), &call("1"), false);
}

#[test]
fn the_ids_of_calls_are_the_client_s_also_without_the_member_jsonrpc() {
    let call = |id: &str, method: &str| {
        post(&format!(r#"{{"id":{id},"method":"{method}","params":{{}}}}"#))
    };
    for id in ["7", "0", r#""a""#] {
        check(&call("1", "initialize"), &call(id, "initialize"), true);
    }
    // Each of two clients counted from 1; one counts on where the other one is.
    let mut run = Run::of_requests(&[call("1", "initialize"), call("1", "model/list")]);

    let asked = [call("1", "initialize"), call("2", "model/list")];

    assert_eq!(asked.map(|asked| run.ask(&asked)), [Some(0), Some(1)]);
}

#[test]
fn an_answer_of_the_client_names_the_request_of_the_server() {
    let answer = |id: &str| post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));

    check(&answer("0"), &answer("0"), true);
    check(&answer("0"), &answer("1"), false);
}

#[test]
fn a_call_is_cancelled_by_the_id_it_was_made_with() {
    let call = |id: &str| post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#));
    let cancel = |id: &str| {
        post(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ))
    };
    let recorded = [call("3"), cancel("3")];

    let mut run = Run::of_requests(&recorded);
    assert_eq!([run.ask(&call("17")), run.ask(&cancel("17"))], [Some(0), Some(1)]);

    let mut run = Run::of_requests(&recorded);
    assert_eq!([run.ask(&call("17")), run.ask(&cancel("3"))], [Some(0), None]);
}

#[test]
fn times_may_differ_and_words_may_not() {
    let said = |time: &str, word: &str| {
        post(&format!(
            r#"{{"sent_at": "{time}", "text": "at {time} I said {word}", "created": 1732180000}}"#
        ))
    };
    let later = |word: &str| {
        let body = format!(
            r#"{{"sent_at": "2027-01-02", "text": "at 2027-01-02T10:00:00.5Z I said {word}", "created": 1798880000.5}}"#
        );
        post(&body)
    };

    check(&said("2026-11-21T09:00:00Z", "hello"), &later("hello"), true);
    check(&said("2026-11-21T09:00:00Z", "hello"), &later("goodbye"), false);
    check(&post(r#"{"timeout": 1732180000}"#), &post(r#"{"timeout": 1798880000}"#), false);
    for (time, other) in [
        ("Sat Nov 21 09:00:00 2026", "Sun Nov 22 10:00:00 2026"),
        ("11/21/2026 09:00", "11/22/2026 10:30"),
        ("2026/11/21 09:00:00", "2026/11/22 10:00:00"),
        ("2026-11-21 02:58:50 AM UTC+0000", "2026-11-21 08:30:29 PM UTC+0000"),
    ] {
        let said = |time: &str| post(&format!(r#"{{"text": "It is {time}."}}"#));
        check(&said(time), &said(other), true);
    }
    let since = |time: u64| request(&format!("GET /v1/x?since={time}"), &[], "");
    check(&since(1_732_180_000), &since(1_798_880_000), true);
    check(&since(17), &since(18), false);
}

#[test]
fn a_date_far_from_the_recording_is_no_time() {
    let of = |date: &str| post(&format!(r#"{{"version": "{date}"}}"#));
    for (recorded, is_open) in [("2026-11-20", true), ("2026-12-24", true), ("2025-06-18", false)] {
        let mut cassette =
            Cassette { interactions: vec![turn(of(recorded), "{}")], ..Cassette::default() };
        cassette.recorded.at = "2026-11-21T09:00:00Z".to_owned();
        let index = Index::of(&cassette, Rules::default());
        let asked = of("2027-01-01");
        let found = Playlist::new(&index).take(&index, &index.read(&asked, &asked.body));
        assert_eq!(found.is_some(), is_open, "{recorded}");
    }
}

#[test]
fn a_number_that_counts_till_the_recording_is_a_time_whatever_it_is_called() {
    // It was recorded at 1795251600.
    for (recorded, is_open) in [
        ("1795251600", true),
        ("1795165200123", true),
        ("1732180000", false),
        ("1895251600", false),
        ("5", false),
    ] {
        let of = |start: &str| post(&format!(r#"{{"start": {start}, "step": 60}}"#));
        let mut cassette =
            Cassette { interactions: vec![turn(of(recorded), "{}")], ..Cassette::default() };
        cassette.recorded.at = "2026-11-21T09:00:00Z".to_owned();
        let index = Index::of(&cassette, Rules::default());
        let asked = of("1798880000");
        let found = Playlist::new(&index).take(&index, &index.read(&asked, &asked.body));
        assert_eq!(found.is_some(), is_open, "{recorded}");
    }
}

#[test]
fn times_that_fell_into_one_second_may_be_a_few_apart_in_another_run() {
    let todo = |done: &str, sent: &str| {
        post(&format!(r#"{{"text": "COMPLETED:{done}\r\nDTSTAMP:{sent}\r\nUID:todo-1"}}"#))
    };
    let [one, next] = ["20261121T090026Z", "20261121T090027Z"];

    for (recorded, asked) in [([one, one], [next, one]), ([one, next], [one, one])] {
        let [recorded, asked] = [recorded, asked].map(|[done, sent]| todo(done, sent));
        check(&recorded, &asked, true);
    }
}

#[test]
fn a_date_near_the_day_of_any_answer_is_a_time() {
    let first = |date: &str| post(&format!(r#"{{"from": "{date}"}}"#));
    let second = |date: &str| post(&format!(r#"{{"to": "{date}"}}"#));
    // The second one was recorded again later, and the first one was kept.
    for (said, is_open) in [("Mon, 22 Feb 2027 09:00:00 GMT", true), ("yesterday", false)] {
        let mut later = turn(second("2027-02-22"), "{}");
        let Outcome::Response(response) = &mut later.outcome else { unreachable!("it answers") };
        response.headers.append("Date", said);
        let interactions = vec![turn(first("2026-11-21"), "{}"), later];
        let mut cassette = Cassette { interactions, ..Cassette::default() };
        cassette.recorded.at = "2026-11-21T09:00:00Z".to_owned();

        let index = Index::of(&cassette, Rules::default());

        let mut playlist = Playlist::new(&index);
        let mut ask = |asked: Request| playlist.take(&index, &index.read(&asked, &asked.body));
        assert_eq!(ask(first("2027-02-23")), Some(0), "{said}");
        assert_eq!(ask(second("2027-02-23")), is_open.then_some(1), "{said}");
    }
}

#[test]
fn a_time_that_the_server_gave_must_come_back() {
    let page = |after: &str| request(&format!("GET /v1/x?after={after}"), &[], "");
    let first = request("GET /v1/x", &[], "");
    let answer = r#"[{"created_at": "2026-11-21T09:00:00Z"}]"#;
    let recorded = || vec![turn(first.clone(), answer), turn(page("2026-11-21T09:00:00Z"), "[]")];

    let mut run = Run::of(recorded(), Rules::default());

    run.ask(&first);
    assert_eq!(run.ask(&page("2026-11-21T09:00:01Z")), None);
    assert_eq!(run.ask(&page("2026-11-21T09:00:00Z")), Some(1));
}

#[test]
fn a_counted_time_that_the_server_gave_must_come_back_with_its_fraction() {
    let reply = |to: &str| post(&format!(r#"{{"thread_ts": "{to}", "text": "yes"}}"#));
    let first = post(r#"{"text": "hello"}"#);
    let answer = r#"{"ts": "1763712000.000100"}"#;
    let recorded = vec![turn(first.clone(), answer), turn(reply("1763712000.000100"), "{}")];

    let mut run = Run::of(recorded, Rules::default());

    run.ask(&first);
    assert_eq!(run.ask(&reply("1763712000.000200")), None);
    assert_eq!(run.ask(&reply("1763712000.000100")), Some(1));
}

#[test]
fn a_number_that_the_server_gave_must_come_back() {
    let create = request("POST /v1/items", &[], r#"{"name": "a"}"#);
    let update = |id: &str| request("POST /v1/update", &[], format!(r#"{{"id": {id}}}"#));
    let mut run = Run::of(
        vec![turn(create.clone(), r#"{"id": 17}"#), turn(update("17"), "{}")],
        Rules::default(),
    );

    run.ask(&create);
    assert_eq!(run.ask(&update("18")), None);
    assert_eq!(run.ask(&update("17")), Some(1));

    let told = r#"{"content": [{"type": "text", "text": "{\"made\": {\"id\": 17}}"}]}"#;
    let mut run =
        Run::of(vec![turn(create.clone(), told), turn(update("17"), "{}")], Rules::default());

    run.ask(&create);
    assert_eq!(run.ask(&update("18")), None, "what was given in JSON in a string counts too");
    assert_eq!(run.ask(&update("17")), Some(1));
}

/// What a server answers with these header fields and this body.
fn told(first: &Request, fields: &[(&str, &str)], body: &str) -> Interaction {
    let mut told = turn(first.clone(), body);
    if let Outcome::Response(response) = &mut told.outcome {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        response.headers = Headers::from_iter(fields);
    }
    told
}

#[test]
fn what_the_server_gave_must_come_back_wherever_it_stood() {
    let first = request("POST /v1/orders", &[], r#"{"name": "a"}"#);
    let events = [("content-type", "text/event-stream")];
    let plain = [("content-type", "text/plain")];
    for (fields, body) in [
        (&[("x-order", "4711")][..], ""),
        (&[("location", "/v1/orders/4711?full=1")], ""),
        (&events, "id: 4711\ndata: {}\n\n"),
        (&plain, "Order 4711 was made."),
        (&plain, r#"{"text": "order #4711"}"#),
        (&plain, r#"{"order": "4711"}"#),
    ] {
        let pay = |id: &str| post(&format!(r#"{{"id": {id}, "amount": 5}}"#));
        let recorded = vec![told(&first, fields, body), turn(pay("4711"), "{}")];
        let mut run = Run::of(recorded, Rules::default());

        run.ask(&first);
        assert_eq!(run.ask(&pay("4712")), None, "{fields:?} {body}");
        assert_eq!(run.ask(&pay("4711")), Some(1), "{fields:?} {body}");
    }
}

#[test]
fn what_a_server_counts_is_nobody_s_identifier() {
    let first = request("GET /v1/orders", &[], "");
    let pay = |id: &str| post(&format!(r#"{{"id": {id}, "amount": 5}}"#));
    for body in [r#"{"total": 4711}"#, "[1, 4711]", r#"{"rate": 0.4711, "of": 4711.5}"#] {
        let recorded =
            vec![told(&first, &[("content-length", "4711")], body), turn(pay("4711"), "{}")];
        let mut run = Run::of(recorded, Rules::default());

        run.ask(&first);
        assert_eq!(run.ask(&pay("4712")), Some(1), "{body}");
    }
}

#[test]
fn what_the_server_gave_in_pieces_must_come_back() {
    let first = request("POST /v1/chat", &[], r#"{"text": "hi"}"#);
    let piece = |text: &str| format!("data: {{\"delta\": {{\"text\": \"{text}\"}}}}\n\n");
    let pieces = ["Your run is run_4cnOje", "mOqItbPZBel", "3xgEzos now."].map(piece);
    let body = format!("{}data: {{\"done\": \"yes\"}}\n\n", pieces.concat());
    let get = |id: &str| request(&format!("GET /v1/runs/{id}"), &[], "");
    let (given, other) = ("run_4cnOjemOqItbPZBel3xgEzos", "run_9pKqLm2XvT8nRw4YbZc6DfGh");
    let stream = told(&first, &[("content-type", "text/event-stream")], &body);
    let mut run = Run::of(vec![stream, turn(get(given), "{}")], Rules::default());

    run.ask(&first);
    assert_eq!(run.ask(&get(other)), None);
    assert_eq!(run.ask(&get(given)), Some(1));
}

#[test]
fn a_prefix_makes_no_nano_id_of_what_is_shorter() {
    // Some of them look like a token of 21 letters as a whole, others do not.
    let of = |id: &str| post(&format!(r#"{{"name": "{id}"}}"#));
    check(&of("task_UG3YlZZWhx1YVxJ2"), &of("task_T8h5QvHeNdSBm5lh"), true);
    check(&of("task_UG3YlZZWhx1YVxJ2"), &of("item_T8h5QvHeNdSBm5lh"), false);
    check(&of("6nDEQvxzyZq72i-t_DMdP"), &of("Xhch-QRRekrGwbD5LmqLo"), true);
}

#[test]
fn hexadecimal_digits_are_no_text_in_base64() {
    // Decoded, the second of each would be six letters.
    let of = |id: &str| post(&format!(r#"{{"name": "{id}"}}"#));
    check(&of("5e1b83c6"), &of("d312a868"), true);
    check(&of("thing-3a09e05d"), &of("thing-ae474c57"), true);
}

#[test]
fn what_clients_number_themselves_is_theirs() {
    let said = |id: &str| post(&format!(r#"{{"id": {id}, "user_id": 5, "text": "hi"}}"#));
    check(&said("1"), &said("2"), true);
    check(&said("1"), &said(r#""msg-2""#), true);
    check(&said("1"), &post(r#"{"id": 1, "user_id": 6, "text": "hi"}"#), false);
    check(&said("1"), &post(r#"{"id": {}, "user_id": 5, "text": "hi"}"#), false);

    let other = |id: &str| post(&format!(r#"{{"ref": {id}, "id": {id}}}"#));
    check(&other("1"), &other("2"), false);
}

#[test]
fn fields_that_mean_something_count_and_others_do_not() {
    let with = |name: &str, value: &str| {
        request("POST /v1/x", &[(name, value), ("Content-Type", "application/json")], "[]")
    };
    let plain = with("X-Y", "");
    for (name, value, counts) in [
        ("Accept", "text/event-stream", true),
        ("Accept", "application/json", false),
        ("Accept", "*/*", false),
        ("Mcp-Session-Id", "s", true),
        ("Last-Event-ID", "7", true),
        ("If-None-Match", "\"x\"", true),
        ("User-Agent", "curl/8", false),
        ("X-Stainless-Os", "Linux", false),
        ("X-Stainless-Retry-Count", "1", false),
        ("Idempotency-Key", "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", false),
        ("Host", "example.org", false),
        ("Content-Length", "2", false),
    ] {
        check(&plain, &with(name, value), !counts);
    }
    let typed = |media: &str| request("POST /v1/x", &[("content-type", media)], "[]");
    check(&typed("application/json"), &typed("application/json; charset=utf-8"), true);
    check(&typed("application/json"), &typed("text/plain"), false);
    check(&typed("application/json"), &typed("application/vnd.api+json"), true);
    check(&typed("application/merge-patch+json"), &typed("application/json-patch+json"), false);
    let empty = |media: &str| request("DELETE /v1/x", &[("content-type", media)], "");
    check(&empty("application/json"), &empty("text/plain"), true);
}

#[test]
fn a_form_is_its_fields() {
    let form = |body: &str| {
        let media = [("content-type", "application/x-www-form-urlencoded")];
        request("POST /v1/x", &media, body.to_owned())
    };

    check(&form("a=1&b=x+y"), &form("b=x%20y&a=1"), true);
    check(&form("a=1&a=2"), &form("a=2&a=1"), true);
    check(&form("a=1&b=2"), &form("a=2&b=1"), false);
    check(&form("a=1"), &form("a=1&a=1"), false);
    check(
        &form("request_id=6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"),
        &form("request_id=0b1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f1"),
        true,
    );
}

/// A form with a file in it.
fn upload(boundary: &str, parts: &[(&str, &str)]) -> Request {
    let media = format!("multipart/form-data; boundary={boundary}");
    let parts = parts.iter().map(|(head, content)| {
        format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    });
    let body = format!("{}--{boundary}--\r\n", parts.collect::<String>());
    request("POST /v1/files", &[("content-type", &media)], body)
}

#[test]
fn a_multipart_body_is_its_parts() {
    let note = (r#"name="note""#, r#"{"a": 1, "b": [2]}"#);
    let spelled = (r#"name="note""#, r#"{"b":[2.0],"a":1.0}"#);
    let file = (r#"name="file"; filename="a.txt""#, "hello");
    let recorded = upload("one", &[note, file]);

    check(&recorded, &upload("another", &[file, spelled]), true);
    check(&recorded, &upload("one", &[note]), false);
    check(&recorded, &upload("one", &[note, (file.0, "goodbye")]), false);
    check(&recorded, &upload("one", &[note, (r#"name="file"; filename="b.txt""#, "hello")]), false);
    check(&recorded, &upload("one", &[note, (r#"name="data"; filename="a.txt""#, "hello")]), false);
    let named = |id: &str| {
        upload("one", &[(&format!(r#"name="file"; filename="report-{id}.txt""#), "hello")])
    };
    check(&named("8f3a9c2b"), &named("0c1d2e3f"), true);
    let free = Rules::default().ignore("part.file.filename").unwrap();
    let words = Rules::default().pattern("part.file.filename", "-[a-z]+").unwrap();
    assert!(same_with(free, &named("one"), &named("two")));
    assert!(same_with(words, &named("one"), &named("two")));
}

#[test]
fn a_name_of_members_may_be_made_up() {
    let [one, other] =
        ["3f2504e0-4f89-41d3-9a0c-0305e82c3301", "6ba7b810-9dad-41d1-80b4-00c04fd430c8"];
    for body in [
        r#"{"items": {"ID": [{"pk": "WORD"}]}}"#,
        r#"{"items": {"t-ID": {"of": "ID", "n": [1, {"a": {"ID": "WORD"}}]}, "other": {"of": "x"}}}"#,
        r#"{"items": [{"ID": {"n": 1}}, {"ID": {"n": "WORD"}}]}"#,
    ] {
        let with = |id: &str| post(&body.replace("ID", id));

        check(&with(one), &with(other), true);
        check(&with(one), &post(&body.replace("ID", other).replace("WORD", "other")), false);
    }
}

#[test]
fn a_text_with_many_names_is_laid_over_another_one_in_one_pass() {
    let list = |from: usize, count: usize, tail: &str| {
        let ids: Vec<String> = (from..from + count)
            .map(|id| format!("{id:08x}-37a2-4fd9-92f1-0305e82c3301"))
            .collect();
        post(&format!(r#"{{"of": "{} {tail}"}}"#, ids.join(",")))
    };

    check(&list(1, 12, "now"), &list(100, 12, "now"), true);
    // With each way to lay it over, this would take years.
    check(&list(1, 12, "now"), &list(100, 60, "then"), false);
}

#[test]
fn tools_are_a_set_and_messages_a_list() {
    let tools = |order: [&str; 2]| {
        let tools = order.map(|name| format!(r#"{{"name": "{name}", "id": "{name}-1"}}"#));
        post(&format!(r#"{{"tools": [{}]}}"#, tools.join(",")))
    };
    let messages =
        |order: [&str; 2]| post(&format!(r#"{{"messages": ["{}", "{}"]}}"#, order[0], order[1]));

    check(&tools(["a", "b"]), &tools(["b", "a"]), true);
    check(&tools(["a", "b"]), &tools(["a", "a"]), false);
    check(&messages(["a", "b"]), &messages(["b", "a"]), false);
}

#[test]
fn what_the_client_made_up_stays_bound_in_a_set() {
    let tools = |ids: [(&str, &str); 2]| {
        let tools = ids.map(|(name, id)| format!(r#"{{"name": "{name}", "ref": "tool-{id}"}}"#));
        post(&format!(r#"{{"tools": [{}]}}"#, tools.join(",")))
    };
    let call = |id: &str| post(&format!(r#"{{"use": "tool-{id}"}}"#));
    let recorded = [tools([("x", "aa11bb22"), ("y", "cc33dd44")]), call("aa11bb22")];
    let swapped = tools([("y", "ab77cd88"), ("x", "ee55ff66")]);

    let mut run = Run::of_requests(&recorded);
    assert_eq!([run.ask(&swapped), run.ask(&call("ab77cd88"))], [Some(0), None]);
    assert_eq!(run.ask(&call("ee55ff66")), Some(1));
}

#[test]
fn requests_that_differ_only_in_what_the_client_made_up_find_their_own_again() {
    let say =
        |id: u32, of: u32| post(&format!(r#"{{"otid": "{id:08x}-37a2-4fd9-92f1-{of:012x}"}}"#));
    let recorded: Vec<Request> = (0..200).map(|number| say(number, 1)).collect();

    let mut run = Run::of_requests(&recorded);
    for number in (0..200).rev() {
        assert_eq!(run.ask(&recorded[number]), Some(number), "the very same, in another order");
    }

    let mut run = Run::of_requests(&recorded);
    for number in 0..200 {
        assert_eq!(run.ask(&say(number, 2)), Some(number as usize), "others, in the same order");
    }
    for number in (0..200).rev() {
        assert_eq!(run.ask(&say(number, 2)), Some(number as usize), "the same again");
    }
}

#[test]
fn each_answer_is_given_once_if_that_is_said() {
    let [a, b] = [post("[1]"), post("[2]")];
    let recorded = || [&a, &b, &a].map(|asked| turn(asked.clone(), "{}")).to_vec();

    let mut run = Run::of(recorded(), Rules::default().repeats(Repeats::Once));
    let once = [&a, &b, &a, &a, &b].map(|asked| run.ask(asked));
    let mut run = Run::of(recorded(), Rules::default().repeats(Repeats::Strict));
    let strict = [&b, &a, &a, &b, &a, &a].map(|asked| run.ask(asked));

    assert_eq!(once, [Some(0), Some(1), Some(2), None, None]);
    assert_eq!(strict, [None, Some(0), None, Some(1), Some(2), None]);
}

#[test]
fn rules_change_what_counts() {
    let rules = || Rules::default();
    let version =
        |version: &str| post(&format!(r#"{{"client": {{"version": {version}}}, "a": [1, 2]}}"#));
    for other in ["2", r#"{"major": 2}"#, r#""6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0""#] {
        let ignoring = rules().ignore("$.client.version").unwrap();
        assert!(same_with(ignoring, &version("1"), &version(other)), "{other}");
    }
    let swapped = post(r#"{"client": {"version": 1}, "a": [2, 1]}"#);
    assert!(!same(&version("1"), &swapped));
    assert!(same_with(rules().unordered("$.a").unwrap(), &version("1"), &swapped));
    assert!(same_with(rules().id("$.client.version").unwrap(), &version("1"), &version("2")));

    let prompt =
        |day: &str, word: &str| post(&format!(r#"{{"prompt": "Today is {day}. {word}"}}"#));
    let day = || rules().pattern("$.prompt", "Today is [a-z]+").unwrap();
    assert!(same_with(day(), &prompt("monday", "Go."), &prompt("friday", "Go.")));
    assert!(!same_with(day(), &prompt("monday", "Go."), &prompt("friday", "Stop.")));

    let uuid = |first: &str| {
        post(&format!(r#"{{"model": "{first}f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"}}"#))
    };
    assert!(same(&uuid("6"), &uuid("7")));
    assert!(!same_with(rules().not_id("$.model").unwrap(), &uuid("6"), &uuid("7")));

    let tenant = |name: &str| request("GET /v1/x?debug=1", &[("X-Tenant", name)], "");
    assert!(same(&tenant("a"), &tenant("b")));
    assert!(!same_with(rules().header("x-tenant").unwrap(), &tenant("a"), &tenant("b")));
    let quiet = request("GET /v1/x", &[], "");
    assert!(!same(&tenant("a"), &quiet));
    assert!(same_with(rules().ignore("query.debug").unwrap(), &tenant("a"), &quiet));
}

#[test]
fn what_a_form_numbers_stays_the_client_s_though_the_server_gives_it_back() {
    let form = "application/x-www-form-urlencoded";
    let asked = |id: &str| {
        [
            request("POST /v1/x", &[("content-type", form)], format!("request_id={id}")),
            request(&format!("GET /v1/x?request_id={id}"), &[], ""),
            upload("b", &[("name=\"request_id\"", id)]),
        ]
    };

    for (recorded, live) in asked("req-7").into_iter().zip(asked("req-8")) {
        let answered = vec![turn(recorded, r#"{"request_id": "req-7"}"#)];
        assert_eq!(Run::of(answered, Rules::default()).ask(&live), Some(0), "{live:?}");
    }
}

#[test]
fn what_the_server_numbered_comes_back_in_a_form_as_it_is() {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let asked = |id: &str| request("POST /v1/x", &form, format!("request_id={id}"));
    let begun = request("GET /v1/begin", &[], "");
    let conversation = vec![turn(begun, r#"{"request_id": "req-7"}"#), turn(asked("req-7"), "{}")];

    assert_eq!(Run::of(conversation.clone(), Rules::default()).ask(&asked("req-8")), None);
    assert_eq!(Run::of(conversation, Rules::default()).ask(&asked("req-7")), Some(1));
}

#[test]
fn an_identifier_in_padded_base64_is_one_word() {
    let said = |id: &str| post(&format!(r#"{{"id": "{id}"}}"#));

    check(&said("uUaSnn0zyFoe8E4NV/ezlw=="), &said("+Cldxr0Qhf9MZFZgYstufA=="), true);
}

#[test]
fn text_in_base64_is_compared_as_what_it_says() {
    // "hello world, this is it", "hello there, this is it", "Task:" with a UUID each
    let publish = |data: &str| post(&format!(r#"{{"messages":[{{"data":"{data}"}}]}}"#));
    let hello = "aGVsbG8gd29ybGQsIHRoaXMgaXMgaXQ=";

    check(&publish(hello), &publish("aGVsbG8gdGhlcmUsIHRoaXMgaXMgaXQ="), false);
    check(&publish(hello), &publish(hello), true);
    check(
        &publish("VGFzazo2ZjFjMGEyZi0zN2EyLTRmZDktOTJmMS1mZDViMWVlNWE1ZjA="),
        &publish("VGFzazo3YjFlNWE5MC1hYWFhLTRiYmItOGNjYy0wMTIzNDU2Nzg5YWI="),
        true,
    );
}

#[test]
fn the_date_of_an_answer_is_no_time_that_must_come_back() {
    let said = |time: &str| post(&format!(r#"{{"text": "it is Sat, 21 Nov 2026 {time} GMT"}}"#));
    let mut begun = turn(request("GET /v1/begin", &[], ""), "{}");
    if let Outcome::Response(response) = &mut begun.outcome {
        response.headers = Headers::from_iter([("date", "Sat, 21 Nov 2026 09:00:00 GMT")]);
    }
    let mut run = Run::of(vec![begun, turn(said("09:00:00"), "{}")], Rules::default());

    assert_eq!(run.ask(&said("10:30:00")), Some(1));
}

#[test]
fn a_random_word_that_spells_something_is_an_identifier_where_one_was_recorded() {
    for (recorded, live) in [
        ("V1StGXR8_Z5jdHi6B-myT", "6WfX3a0hIThRqr50AL6_R"),
        ("x-k3j2h1g5f6d", "x-qzkwxjvpfhb"),
        ("8f3a9c2b", "31415926"),
    ] {
        for place in [r#"{"ref": "ID"}"#, r#"{"text": "Please look at ID, and tell."}"#] {
            let [recorded, live] = [recorded, live].map(|id| post(&place.replace("ID", id)));
            assert!(same(&recorded, &live), "{live:?}");
        }
        let [recorded, live] =
            [recorded, live].map(|id| request(&format!("GET /v1/things/{id}/x"), &[], ""));
        assert!(same(&recorded, &live), "{live:?}");
    }
}

#[test]
fn what_is_open_takes_any_word_and_no_text() {
    for (recorded, live) in [
        ("V1StGXR8_Z5jdHi6B-myT", "getSecretCodeToolName"),
        ("V1StGXR8_Z5jdHi6B-myT", "Meta-Llama-3-Instruct"),
        ("x-k3j2h1g5f6d", "x-informative"),
        ("8f3a9c2b", "20251121"),
        ("8f3a9c2b", "acceding"),
    ] {
        let [recorded, live] = [recorded, live].map(|id| post(&format!(r#"{{"ref": "{id}"}}"#)));
        assert!(same(&recorded, &live), "{live:?}");
    }
    let note = |id: &str| post(&format!(r#"{{"note": "Remember {id} for me"}}"#));
    assert!(same(&note("8f3a9c2b"), &note("milk")));
    assert!(!same(&note("8f3a9c2b"), &note("to buy milk")), "a name goes over no white space");
}

#[test]
fn a_number_is_an_identifier_only_where_one_was_recorded() {
    let recorded = post(r#"{"ref": "8f3a9c2b", "code": "31415926"}"#);

    assert!(same(&recorded, &post(r#"{"ref": "27182818", "code": "31415926"}"#)));
    assert!(!same(&recorded, &post(r#"{"ref": "8f3a9c2b", "code": "27182818"}"#)));
}

#[test]
fn what_the_server_issued_stays_where_the_client_put_its_own_before() {
    let mut run = Run::of(
        vec![
            turn(post(r#"{"ref": "8f3a9c2b"}"#), r#"{"a": "31415926", "b": "27182818"}"#),
            turn(post(r#"{"ref": "31415926"}"#), "{}"),
        ],
        Rules::default(),
    );

    assert_eq!(run.ask(&post(r#"{"ref": "57721566"}"#)), Some(0));
    assert_eq!(run.ask(&post(r#"{"ref": "31415926"}"#)), Some(1));
}

#[test]
fn what_an_answer_that_is_no_text_issued_must_come_back() {
    let asked = |id: &str| post(&format!(r#"{{"ref": "{id}"}}"#));
    let mut begun = turn(request("GET /v1/begin", &[], ""), "");
    let Outcome::Response(response) = &mut begun.outcome else { panic!("it is answered") };
    response.body = Body::Whole(bytes::Bytes::from_static(b"\0\xff\\u1\x088f3a9c2b\x12\xfe"));
    let conversation = vec![begun, turn(asked("8f3a9c2b"), "{}")];

    let mut run = Run::of(conversation, Rules::default());

    assert_eq!(run.ask(&asked("1b2c3d4e")), None);
    assert_eq!(run.ask(&asked("8f3a9c2b")), Some(1));
}

#[test]
fn what_is_said_to_be_no_id_must_be_equal() {
    let rules = Rules::default().not_id("$.name").unwrap().not_id("query.id").unwrap();
    let of = |query: &str, name: &str| {
        request(&format!("POST /v1/x?id={query}"), &[JSON], format!(r#"{{"name": "{name}"}}"#))
    };
    let recorded = of("8f3a9c2b", "agent-8f3a9c2b");

    for (asked, place) in [
        (of("8f3a9c2b", "agent-1b2c3d4e"), "/name"),
        (of("1b2c3d4e", "agent-8f3a9c2b"), "query.id"),
    ] {
        assert!(!same_with(rules.clone(), &recorded, &asked));
        assert_eq!(differing(rules.clone(), &recorded, &asked), [place]);
    }
}

#[test]
fn a_media_type_is_the_same_in_any_case() {
    let form = |media: &str, body: &str| {
        request("POST /v1/x", &[("Content-Type", media)], body.to_owned())
    };
    let recorded = form("Application/X-WWW-Form-Urlencoded", "a=1&b=2");
    check(&recorded, &form("application/x-www-form-urlencoded", "b=2&a=1"), true);
    check(&recorded, &form("application/x-www-form-urlencoded", "b=2&a=3"), false);
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// The places that a miss names.
fn differing(rules: Rules, recorded: &Request, asked: &Request) -> Vec<String> {
    let interactions = vec![turn(recorded.clone(), "{}")];
    let cassette = Cassette { interactions, ..Cassette::default() };
    let index = Index::of(&cassette, rules);
    let playlist = Playlist::new(&index);
    let asked = (asked.clone(), Default::default());
    let mismatch = Mismatch::explain(
        asked,
        (&cassette, &index, &playlist),
        &retape::redact::Redactor::standard(),
    );
    let nearest = mismatch.nearest.expect("it is about the same thing");
    nearest.differences.iter().map(|it| it.difference.at.to_string()).collect()
}

#[test]
fn a_miss_shows_no_secret_that_somebody_has_put_into_a_recording() {
    let token = format!("ghp_{}", "q7W8".repeat(9));
    let said = |note: &str| request("POST /v1/x", &[JSON], format!(r#"{{"n":1,"note":"{note}"}}"#));
    let cassette = Cassette { interactions: vec![turn(said(&token), "{}")], ..Cassette::default() };
    let index = Index::of(&cassette, Rules::default());
    let playlist = Playlist::new(&index);
    let asked = (said("x"), Default::default());

    let veil = retape::redact::Redactor::standard();
    let mismatch = Mismatch::explain(asked, (&cassette, &index, &playlist), &veil);

    let told = format!("{mismatch:?}");
    assert!(told.contains("note") && !told.contains(&token[4..]), "{told}");
}

#[test]
fn the_only_field_of_a_form_is_told_by_its_name() {
    let media = [("content-type", "application/x-www-form-urlencoded")];
    let form = |body: &str| request("POST /v1/x", &media, body.to_owned());
    let part = |name: &str| upload("b", &[(name, "the same")]);
    for (recorded, asked, expected) in [
        (form("a=1"), form("b=1"), ["form.a", "form.b"]),
        (form("a"), form("b"), ["form.a", "form.b"]),
        (part("name=\"a\""), part("name=\"b\""), ["part.a", "part.b"]),
    ] {
        check(&recorded, &asked, false);
        assert_eq!(differing(Rules::default(), &recorded, &asked), expected);
    }
}

/// JSON as clients send it, with names that may be made up.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (0..4).prop_map(Into::into),
        "(agent-)?[0-9a-f]{8}".prop_map(Into::into),
        "2026-11-2[0-9]T09:00:00Z".prop_map(Into::into),
        "[a-c ]{0,3}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let name = prop_oneof![Just("id"), Just("name"), Just("tools"), Just("text"), Just("at")];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(name.prop_map(str::to_owned), inner, 0..4)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_rules() -> impl Strategy<Value = Rules> {
    proptest::collection::vec(0..6_u8, 0..3).prop_map(|chosen| {
        chosen.into_iter().fold(Rules::default(), |rules, rule| {
            match rule {
                0 => rules.ignore("$..text"),
                1 => rules.not_id("$..id"),
                2 => rules.id("$..name"),
                3 => rules.unordered("$..tools"),
                4 => rules.pattern("$..name", "[0-9a-f]{4}"),
                _ => rules.ignore("$[0]"),
            }
            .unwrap()
        })
    })
}

proptest! {
    #[test]
    fn a_miss_names_a_difference_and_a_hit_has_none(
        rules in any_rules(),
        recorded in any_json(),
        asked in any_json(),
    ) {
        let [recorded, asked] = [recorded, asked].map(|json| post(&format!("[{json}]")));
        let is_same = same_with(rules.clone(), &recorded, &asked);
        let differing = differing(rules.clone(), &recorded, &asked);

        prop_assert_eq!(is_same, differing.is_empty(), "{:?} {:?} {:?}", recorded, asked, differing);
        prop_assert!(same_with(rules, &recorded, &recorded), "it answers itself");
    }
}

#[test]
fn nobody_makes_up_true_false_or_null() {
    for recorded in ["\"6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0\"", "4711", "\"msg-1\""] {
        let [recorded, text, number] = [recorded, "\"msg-2\"", "4712"]
            .map(|id| post(&format!(r#"{{"messages": [{{"id": {id}}}]}}"#)));
        assert!(same(&recorded, &text) && same(&recorded, &number), "{recorded:?}");
        for word in ["null", "true", "false", "[]", "{}"] {
            let asked = post(&format!(r#"{{"messages": [{{"id": {word}}}]}}"#));
            assert!(!same(&recorded, &asked), "{recorded:?} and {asked:?}");
        }
    }
    let took = |ms: &str| post(&format!(r#"{{"elapsed_ms": {ms}}}"#));
    assert!(same(&took("12"), &took("13")));
    assert!(!same(&took("12"), &took("null")) && !same(&took("12"), &took("\"long\"")));
    let rules = Rules::default().id("$.parent").unwrap();
    let of = |parent: &str| post(&format!(r#"{{"parent": {parent}}}"#));
    assert!(same_with(rules.clone(), &of("null"), &of("\"a\"")), "a person says that it is open");
    assert!(same_with(rules, &of("\"a\""), &of("null")));
}

/// Records requests with a value, each of which is answered with the value, and asks with another one.
fn check_own(requests: &[&dyn Fn(&str) -> Request], recorded: &str, live: &str) {
    let answer = format!(r#"{{"id": "{recorded}", "text": "This is {recorded}"}}"#);
    let turns = requests.iter().map(|request| turn(request(recorded), &answer)).collect();
    let mut run = Run::of(turns, Rules::default());
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(run.ask(&request(live)), Some(number), "{:?}", request(live));
    }
}

#[test]
fn what_the_client_said_first_is_its_own_though_the_server_gives_it_back() {
    let body = |name: &'static str| {
        move |id: &str| post(&format!(r#"{{"n": "{name}", "{name}": "{id}"}}"#))
    };
    let history = |at: &str| post(&format!(r#"{{"messages": [{{"created_at": "{at}"}}, 1]}}"#));
    let since = |at: &str| request(&format!("GET /v1/x?since={at}"), &[], "");
    let (early, late) = ("2026-11-21T09:00:00Z", "2026-11-22T10:00:00Z");
    check_own(&[&body("created_at"), &history, &since], early, late);
    check_own(&[&body("id"), &body("message_id"), &body("parent_message_id")], "msg-17", "msg-18");

    let get = |id: &str| request(&format!("GET /v1/x/{id}"), &[], "");
    let (one, other) =
        ("6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", "0a2f6f1c-37a2-4fd9-92f1-fd5b1ee5a5f0");
    for field in ["X-Request-Id", "X-Session-Id"] {
        let marked = |id: &str| request("POST /v1/x", &[(field, id)], "");
        check_own(&[&marked, &get, &body("ref")], one, other);
    }
    let call = |id: &str| post(&format!(r#"{{"jsonrpc": "2.0", "id": "{id}", "method": "a"}}"#));
    check_own(&[&call, &body("ref")], one, other);
}

#[test]
fn a_value_is_the_server_s_if_it_gave_it_before_the_client_said_it() {
    let first = request("GET /v1/x", &[], "");
    let id = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
    let marked = |id: &str| request("POST /v1/x", &[("X-Session-Id", id)], "");
    let get = |id: &str| request(&format!("GET /v1/x/{id}"), &[], "");
    let answer = format!(r#"{{"id": "{id}"}}"#);
    let turns = vec![turn(first.clone(), &answer), turn(marked(id), &answer), turn(get(id), "{}")];
    let mut run = Run::of(turns, Rules::default());

    run.ask(&first);
    run.ask(&marked(id));
    assert_eq!(run.ask(&get("0a2f6f1c-37a2-4fd9-92f1-fd5b1ee5a5f0")), None);
    assert_eq!(run.ask(&get(id)), Some(2));
}

/// Recorded with these header fields, in order, and asked with others: which answers.
#[track_caller]
fn check_agreement(recorded: &[&[(&str, &str)]], asked: &[(&[(&str, &str)], usize)]) {
    let recorded: Vec<Request> =
        recorded.iter().map(|fields| request("GET /v1/x", fields, "")).collect();
    let mut run = Run::of_requests(&recorded);
    for (at, (fields, expected)) in asked.iter().enumerate() {
        let found = run.ask(&request("GET /v1/x", fields, ""));
        assert_eq!(found, Some(*expected), "request {at} with {fields:?}");
    }
}

#[test]
fn of_several_that_match_the_one_is_meant_whose_other_fields_agree() {
    const KEY: &[(&str, &str)] = &[("authorization", "[redacted:authorization]")];
    const PLAIN: &[(&str, &str)] = &[("accept", "application/json")];
    const ANY: &[(&str, &str)] = &[("Accept", "*/*")];

    // Whoever comes first, with a key and without one; and again, where nothing else was recorded.
    check_agreement(&[&[], KEY], &[(KEY, 1), (&[], 0), (&[], 0), (KEY, 1)]);
    check_agreement(&[KEY, &[], KEY, &[]], &[(&[], 1), (&[], 3), (KEY, 0), (KEY, 2), (&[], 3)]);
    check_agreement(&[PLAIN, ANY], &[(ANY, 1), (PLAIN, 0)]);
    check_agreement(
        &[&[("x-tenant", "a")], &[("x-tenant", "b")]],
        &[(&[("x-tenant", "b")], 1), (&[("x-tenant", "a")], 0)],
    );
}

#[test]
fn of_several_that_match_the_one_is_meant_whose_fields_come_in_the_same_order() {
    let query = |it: &str| request(&format!("GET /v1/x?{it}"), &[], "");
    let form = |it: &str| {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        request("POST /v1/x", &[kind], it.to_owned())
    };
    let parts = |it: &str| {
        let parts: Vec<(&str, &str)> =
            it.split('&').map(|part| part.split_once('=').unwrap()).collect();
        let parts: Vec<(String, &str)> =
            parts.iter().map(|(name, it)| (format!("name=\"{name}\""), *it)).collect();
        let parts: Vec<(&str, &str)> = parts.iter().map(|(name, it)| (&**name, *it)).collect();
        upload("b", &parts)
    };
    for asking in [&query as &dyn Fn(&str) -> Request, &form, &parts] {
        let recorded = ["s=a&s=b&n=1", "s=b&s=a&n=1"].map(asking);
        let mut run = Run::of_requests(&recorded);
        // The order of fields with other names is nobody's.
        assert_eq!(run.ask(&asking("n=1&s=b&s=a")), Some(1));
        assert_eq!(run.ask(&asking("s=a&n=1&s=b")), Some(0));
        assert_eq!(run.ask(&asking("s=b&s=a&n=1")), Some(1));

        // Where nothing else was recorded, any order is answered.
        let mut run = Run::of_requests(&recorded[..1]);
        assert_eq!(run.ask(&asking("s=b&s=a&n=1")), Some(0));
    }
}

#[test]
fn fields_in_the_same_order_are_told_apart_by_what_else_agrees() {
    let asking =
        |it: &str, key: &str| request(&format!("GET /v1/x?{it}"), &[("x-tenant", key)], "");
    let recorded = [("s=a&s=b", "1"), ("s=b&s=a", "1"), ("s=b&s=a", "2"), ("s=a&s=b", "2")];
    let recorded = recorded.map(|(it, key)| asking(it, key));
    let mut run = Run::of_requests(&recorded);

    for number in [2, 0, 3, 1, 3, 2] {
        assert_eq!(run.ask(&recorded[number]), Some(number));
    }
}

#[test]
fn a_field_that_agrees_with_nobody_changes_nothing() {
    let trace = |id: &'static str| [("x-trace", id)];

    check_agreement(
        &[&trace("1"), &trace("2"), &trace("3")],
        &[(&trace("7"), 0), (&trace("8"), 1), (&[], 2), (&trace("9"), 2)],
    );
}

#[test]
fn fields_that_speak_of_the_transfer_or_the_attempt_tell_nothing() {
    for name in ["date", "host", "content-length", "x-request-id", "idempotency-key"] {
        let [one, other] = ["1", "2"].map(|value| [(name, value)]);
        check_agreement(&[&one, &other], &[(&[], 0), (&[], 1)]);
    }
}

proptest! {
    /// What is answered with some fields is answered with any others.
    #[test]
    fn fields_that_do_not_count_never_turn_a_hit_into_a_miss(
        recorded in proptest::collection::vec((0..3_u8, 0..3_u8), 1..6),
        asked in proptest::collection::vec((0..4_u8, 0..4_u8), 1..12),
    ) {
        let with = |(key, tenant): &(u8, u8)| {
            let (key, tenant) = (format!("k{key}"), format!("t{tenant}"));
            let mut fields = vec![("authorization", key.as_str()), ("x-tenant", tenant.as_str())];
            fields.retain(|(_, value)| !value.ends_with('0'));
            request("GET /v1/x", &fields, "")
        };
        let recorded: Vec<Request> = recorded.iter().map(with).collect();
        let mut run = Run::of_requests(&recorded);
        for fields in &asked {
            prop_assert!(run.ask(&with(fields)).is_some());
        }
    }
}

#[test]
fn fields_that_name_the_operation_count() {
    let of = |name: &str, value: &str| request("POST /a", &[(name, value)], "");
    for (name, recorded, asked) in [
        ("X-Amz-Target", "Tables.GetItem", "Tables.DeleteItem"),
        ("X-HTTP-Method-Override", "PATCH", "DELETE"),
        ("SOAPAction", "Read", "Delete"),
        ("Content-Range", "bytes 0-4/10", "bytes 5-9/10"),
        ("Upload-Offset", "0", "5"),
        ("Depth", "0", "infinity"),
        ("Destination", "/b", "/c"),
    ] {
        check(&of(name, recorded), &of(name, recorded), true);
        check(&of(name, recorded), &of(name, asked), false);
        check(&of(name, recorded), &request("POST /a", &[], ""), false);
    }
}

/// Which answer each `GET` gets where these are asked; the recording has the writes in this order, a `GET` behind each.
fn read_behind(method: &str, recorded: &str, asked: &str) -> Vec<usize> {
    let json = [("Content-Type", "application/json")];
    let write = |what: char| {
        request(&format!("{method} /files/v1"), &json, format!(r#"{{"layer":"{what}"}}"#))
    };
    let read = request("GET /files/v1", &[], "");
    let all = recorded.chars().flat_map(|it| [write(it), read.clone()]);
    let mut run = Run::of_requests(&all.collect::<Vec<_>>());
    let answers = asked.chars().map(|it| {
        assert!(run.ask(&write(it)).is_some(), "{it} of {recorded}");
        run.ask(&read).unwrap_or_else(|| panic!("a read behind {it} of {asked} is answered"))
    });
    answers.collect()
}

#[test]
fn what_was_put_last_is_what_is_read() {
    assert_eq!(read_behind("PUT", "abc", "abc"), [1, 3, 5]);
    assert_eq!(read_behind("PUT", "abc", "cab"), [5, 1, 3]);
    assert_eq!(read_behind("PUT", "ab", "abab"), [1, 3, 1, 3]);
    assert_eq!(read_behind("PUT", "abac", "caab"), [7, 1, 5, 3]);
    // What is deleted is gone until it is put again.
    let [put, delete] = ["PUT", "DELETE"].map(|method| {
        move |what: char| {
            let body =
                if method == "PUT" { format!(r#"{{"layer":"{what}"}}"#) } else { String::new() };
            request(&format!("{method} /files/v1"), &[("Content-Type", "application/json")], body)
        }
    });
    let read = request("GET /files/v1", &[], "");
    let test = |it: char| [put(it), read.clone(), delete(it), read.clone()];
    let mut run = Run::of_requests(&"abc".chars().flat_map(test).collect::<Vec<_>>());
    for (it, begin) in [('b', 4), ('c', 8), ('a', 0), ('b', 4)] {
        let [put, read, deleted, gone] = test(it).map(|asked| run.ask(&asked).unwrap());
        assert_eq!([put, read, deleted], [0, 1, 2].map(|turn| begin + turn), "{it}");
        assert_eq!(gone % 4, 3, "{it}: what is gone is gone, whatever it was");
    }
    // What is put again begins anew: what had changed it since is undone.
    let cancel = request("POST /files/v1/cancel", &[], "");
    let all = [put('a'), read.clone(), put('a'), read.clone(), cancel.clone(), read.clone()];
    let mut run = Run::of_requests(&all);
    let asked = [&put('a'), &read, &cancel, &read, &put('a'), &read];
    assert_eq!(asked.map(|it| run.ask(it)), [0, 1, 4, 5, 2, 3].map(Some));
    // Equal ones put it in the same state, whichever is played.
    let all = [put('a'), read.clone(), put('a'), put('b'), read.clone()];
    let mut run = Run::of_requests(&all);
    let asked = [&put('a'), &read, &put('a'), &put('b'), &read, &put('a'), &read];
    assert_eq!(asked.map(|it| run.ask(it)), [0, 1, 2, 3, 4, 2, 1].map(Some));
    // What comes of one is not shown before it, however often is asked.
    let mut run = Run::of_requests(&[put('a'), read.clone(), put('a'), read.clone()]);
    let asked = [&put('a'), &read, &read, &put('a'), &read, &read];
    assert_eq!(asked.map(|it| run.ask(it)), [0, 1, 1, 2, 3, 3].map(Some));
    // What changes a part adds to what is there.
    assert_eq!(read_behind("PATCH", "abc", "abc"), [1, 3, 5]);
    assert_eq!(read_behind("PATCH", "abc", "cab"), [5, 5, 5]);
}

/// What a test does with a thing, of which there are two: it puts one of three values or deletes it, and reads it.
type Steps = Vec<(bool, u8, u8)>;

/// Requests of a test, and what a server answers that holds what was put last.
fn served(thing: u8, steps: &Steps, held: &mut [Option<u8>; 2]) -> Vec<(Request, String)> {
    let path = format!("/things/{thing}");
    let mut asked = Vec::new();
    for (at, (is_put, value, reads)) in steps.iter().enumerate() {
        // Nobody reads what another test has left there.
        let put = (*is_put || at == 0).then_some(*value);
        held[thing as usize] = put;
        let body = put.map_or(String::new(), |value| format!(r#"{{"value":{value}}}"#));
        let method = if put.is_some() { "PUT" } else { "DELETE" };
        let json = [("Content-Type", "application/json")];
        asked.push((request(&format!("{method} {path}"), &json, body), "{}".to_owned()));
        let said = format!(r#"{{"held":{}}}"#, put.map_or(-1, i16::from));
        let read = || (request(&format!("GET {path}"), &[], ""), said.clone());
        asked.extend((0..*reads).map(|_| read()));
    }
    asked
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_put_last_in_any_order_of_tests(
        (tests, order) in prop::collection::vec(
            (0u8..2, prop::collection::vec((any::<bool>(), 0u8..3, 1u8..3), 1..4)),
            1..5,
        )
        .prop_flat_map(|tests| {
            let order: Vec<usize> = (0..tests.len()).chain(0..tests.len()).collect();
            (Just(tests), Just(order).prop_shuffle())
        })
    ) {
        let mut held = [None; 2];
        let all = tests.iter().flat_map(|(thing, steps)| served(*thing, steps, &mut held));
        let all: Vec<Interaction> = all.map(|(asked, said)| turn(asked, &said)).collect();
        let said: Vec<String> = all.iter().map(|it| {
            let body = it.response().expect("an answer").body.bytes();
            String::from_utf8(body.to_vec()).expect("text")
        }).collect();

        for order in [(0..tests.len()).collect(), order] {
            let mut run = Run::of(all.clone(), Rules::default());
            for test in order {
                let (thing, steps) = &tests[test];
                for (asked, expected) in served(*thing, steps, &mut held) {
                    let given = run.ask(&asked);
                    prop_assert_eq!(given.map(|number| &said[number]), Some(&expected));
                }
            }
        }
    }
}

#[test]
fn a_question_with_a_fresh_value_each_time_keeps_its_last_answer() {
    let [one, two, three, four] = ["13d7bebd", "05148afe", "a0beb9be", "710f5654"];
    let poll = |fresh: &str| request(&format!("GET /poll?t={fresh}&of=a"), &[], "");
    let recorded = || vec![turn(poll(one), "[]"), turn(poll(two), "[]")];
    let asked = |interactions: Vec<Interaction>, ask: fn(&str) -> Request| {
        let mut run = Run::of(interactions, Rules::default());
        [three, four, "e7b92b35", four].map(|fresh| run.ask(&ask(fresh)))
    };
    let ask: fn(&str) -> Request = |fresh| request(&format!("GET /poll?t={fresh}&of=a"), &[], "");
    let [first, last, none] = [Some(0), Some(1), None];

    assert_eq!(asked(recorded(), ask), [first, last, last, last]);
    // The state that a write brings about is not shown before it.
    let write = turn(request("POST /poll", &[], "x"), "{}");
    let later = turn(poll("9a02fb77"), "[1]");
    let behind = [recorded(), vec![write, later]].concat();
    assert_eq!(asked(behind, ask), [first, last, last, last]);

    // It was said once, names what another request or an answer names, or is part of a write.
    assert_eq!(asked(vec![turn(poll(one), "[]")], ask), [first, none, none, none]);
    let made = turn(request("PUT /things", &[], two), "{}");
    let named = [recorded(), vec![made]].concat();
    assert_eq!(asked(named, ask), [first, last, none, last]);
    let told = vec![turn(poll(one), "[]"), turn(poll(two), &format!("[\"{two}\"]"))];
    assert_eq!(asked(told, ask), [first, last, none, last]);
    let post: fn(&str) -> Request = |fresh| request(&format!("POST /poll?t={fresh}"), &[], "");
    let written = vec![turn(post(one), "{}"), turn(post(two), "{}")];
    assert_eq!(asked(written, post), [first, last, none, last]);
}

#[test]
fn a_short_name_is_meant_only_where_a_value_refers_to_something() {
    let post = |line: &str, body: &str, answer: &str| {
        turn(request(line, &[("Content-Type", "application/json")], body.to_owned()), answer)
    };
    let waits = |line: &str| {
        let question = request(line, &[], "");
        let recorded = vec![
            post("POST /add?batch=1", r#"{"title": "one"}"#, r#"{"id": 1}"#),
            post("POST /edit", r#"{"id": 1}"#, "{}"),
            post("POST /add?batch=1", r#"{"title": "two"}"#, r#"{"id": 2}"#),
            turn(question.clone(), "[]"),
        ];
        Run::of(recorded, Rules::default()).ask(&question).is_none()
    };

    for meant in [
        "GET /show?id=1",
        "GET /show?noteId=1&batch=1",
        "GET /notes/1/lines",
        "GET /all?input=%7B%22id%22%3A1%7D",
        "GET /graphql?query=%7Bnote(id%3A%201)%7Btitle%7D%7D",
    ] {
        assert!(waits(meant), "{meant}");
    }
    for other in ["GET /all?batch=1", "GET /all?input=%7B%221%22%3A1%7D", "GET /show?id=3"] {
        assert!(!waits(other), "{other}");
    }
}
