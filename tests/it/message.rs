//! Bodies cut into typed messages.

use retape::cassette::{Body, Chunk, Response};
use retape::config::Config;
use retape::message::sse::{Content, Decoder, Item};
use retape::message::{self, Framing, Messages, Protocols, Trace, json, ndjson};

mod event_stream {
    use super::*;

    /// One line for each item, `rest` for what is left.
    #[track_caller]
    fn check(input: impl AsRef<[u8]>, expected: &[&str]) {
        let input = input.as_ref();
        let whole = items([input]);
        for cut in 0..=input.len() {
            let (left, right) = input.split_at(cut);
            assert_eq!(items([left, right]), whole, "cut at {cut}");
        }
        assert_eq!(items(input.chunks(1)), whole, "byte by byte");

        assert_eq!(whole, expected);
    }

    fn items<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = Decoder::new();
        let mut lines: Vec<String> =
            pieces.into_iter().flat_map(|piece| decoder.push(piece)).map(line).collect();
        lines.extend(decoder.rest().map(|range| format!("{range:?} rest")));
        lines
    }

    fn line(Item { content, range }: Item) -> String {
        match content {
            Content::Event { name, data, last_id } => {
                let name = name.unwrap_or_default();
                format!("{range:?} event {name}[{last_id}] {data:?}")
            }
            Content::Dropped { name } => format!("{range:?} dropped {name}"),
            Content::Comment(text) => format!("{range:?} comment {text:?}"),
            Content::Retry(ms) => format!("{range:?} retry {ms}"),
        }
    }

    #[test]
    fn an_event_ends_at_an_empty_line() {
        check("data: a\n\ndata: b\n\n", &[r#"0..8 event [] "a""#, r#"9..17 event [] "b""#]);
    }

    #[test]
    fn lines_end_in_lf_cr_or_both() {
        check(
            "data: a\r\n\r\ndata: b\r\n\r\n",
            &[r#"0..9 event [] "a""#, r#"11..20 event [] "b""#],
        );
        check("data: a\r\rdata: b\r\r", &[r#"0..8 event [] "a""#, r#"9..17 event [] "b""#]);
        check("data: a\n\r\ndata: b\r\n\n", &[r#"0..8 event [] "a""#, r#"10..19 event [] "b""#]);
        check("data: a\r\n\ndata: b\n\r", &[r#"0..9 event [] "a""#, r#"10..18 event [] "b""#]);
    }

    #[test]
    fn an_event_is_given_before_the_second_byte_of_its_last_line_end() {
        let mut decoder = Decoder::new();

        let items = decoder.push(b"data: a\r\n\r");

        assert_eq!(items.len(), 1);
        assert_eq!(decoder.rest(), None);
        assert!(decoder.push(b"\n").is_empty());
        assert_eq!(decoder.rest(), None);
    }

    #[test]
    fn data_lines_are_joined() {
        check("data: a\ndata:\ndata:  b\n\n", &[r#"0..23 event [] "a\n\n b""#]);
        check("data:\n\ndata\ndata\n\n", &[r#"0..6 event [] """#, r#"7..17 event [] "\n""#]);
    }

    #[test]
    fn one_space_behind_the_colon_is_taken_away() {
        check("data:a\ndata: a\ndata:  a\ndata:\ta\n\n", &[r#"0..32 event [] "a\na\n a\n\ta""#]);
        check("data: a: b\n\n", &[r#"0..11 event [] "a: b""#]);
    }

    #[test]
    fn a_name_belongs_to_one_event() {
        check(
            "event: x\nevent: y\ndata: a\n\ndata: b\n\nevent:\ndata: c\n\n",
            &[r#"0..26 event y[] "a""#, r#"27..35 event [] "b""#, r#"36..51 event [] "c""#],
        );
    }

    #[test]
    fn a_block_without_data_is_no_event() {
        check(
            "event: x\n\nid: 1\n\n: c\n\ndata: a\n\n",
            &["0..9 dropped x", r#"17..20 comment "c""#, r#"22..30 event [1] "a""#],
        );
    }

    #[test]
    fn an_id_stays_until_the_next_one() {
        check(
            "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: 2\ndata: d\n\n",
            &[
                r#"0..14 event [1] "a""#,
                r#"15..23 event [1] "b""#,
                r#"24..35 event [] "c""#,
                r#"36..50 event [2] "d""#,
            ],
        );
    }

    #[test]
    fn an_id_with_a_nul_is_ignored() {
        check("id: 1\nid: 2\0\ndata: a\n\n", &[r#"0..21 event [1] "a""#]);
    }

    #[test]
    fn a_retry_time_is_digits_only() {
        check(
            "retry: 1000\nretry: 1s\nretry: -1\nretry\nretry: 007\n\n",
            &["0..11 retry 1000", "38..48 retry 7"],
        );
        check("retry: 99999999999999999999\n", &["0..27 retry 18446744073709551615", "0..28 rest"]);
    }

    #[test]
    fn comments_are_items_of_their_own() {
        check(
            ": ping\n\ndata: a\n:in between\ndata: b\n\n:\n",
            &[
                r#"0..6 comment "ping""#,
                r#"16..27 comment "in between""#,
                r#"8..36 event [] "a\nb""#,
                r#"37..38 comment """#,
            ],
        );
    }

    #[test]
    fn unknown_fields_are_ignored() {
        check("foo: 1\nData: x\n data: y\ndata: a\n\n", &[r#"0..32 event [] "a""#]);
    }

    #[test]
    fn one_byte_order_mark_is_taken_away() {
        check("\u{feff}data: a\n\n", &[r#"3..11 event [] "a""#]);
        check("\u{feff}\u{feff}data: a\n\n", &[]);
        check("data: a\n\n\u{feff}data: b\n\n", &[r#"0..8 event [] "a""#]);
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        check(b"data: a\xff\xc3\n\n", &[r#"0..10 event [] "a��""#]);
        check("data: ü€😀\n\n", &[r#"0..16 event [] "ü€😀""#]);
    }

    proptest::proptest! {
        #[test]
        fn how_the_body_is_cut_changes_nothing(
            parts in proptest::collection::vec("[adt:e \r\n\u{feff}ü0]{0,12}|data: |id: |event:|retry:", 0..24),
        ) {
            let whole = parts.concat();

            let pieces = items(parts.iter().map(|part| part.as_bytes()));

            assert_eq!(pieces, items([whole.as_bytes()]));
            assert_eq!(pieces, items(whole.as_bytes().chunks(1)));
        }
    }

    #[test]
    fn lines_of_one_event_may_end_in_crlf() {
        check(
            "event: x\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\n: c\r\n\r\nretry: 5\r\n\r\n",
            &[r#"0..35 event x[1] "a\nb""#, r#"37..40 comment "c""#, "44..52 retry 5"],
        );
        check(
            "data: a\rdata: b\r\rdata: c\r\r",
            &[r#"0..16 event [] "a\nb""#, r#"17..25 event [] "c""#],
        );
    }

    #[test]
    fn a_byte_order_mark_may_stand_before_any_line() {
        check("\u{feff}\r\ndata: a\r\n\r\n", &[r#"5..14 event [] "a""#]);
        check("\u{feff}: c\n\n", &[r#"3..6 comment "c""#]);
        check("\u{feff}", &["0..3 rest"]);
    }

    /// The examples of the standard.
    #[test]
    fn the_examples_of_the_standard_are_read_as_it_says() {
        check("data: YHOO\ndata: +2\ndata: 10\n\n", &[r#"0..29 event [] "YHOO\n+2\n10""#]);
        check(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            &[
                r#"0..13 comment "test stream""#,
                r#"15..39 event [1] "first event""#,
                r#"40..61 event [] "second event""#,
                r#"62..81 event [] " third event""#,
            ],
        );
        check(
            "data\n\ndata\ndata\n\ndata:",
            &[r#"0..5 event [] """#, r#"6..16 event [] "\n""#, "17..22 rest"],
        );
        check(
            "data:test\n\ndata: test\n\n",
            &[r#"0..10 event [] "test""#, r#"11..22 event [] "test""#],
        );
    }

    #[test]
    fn an_event_that_is_cut_short_is_left_over() {
        check("data: a\n\ndata: b\n", &[r#"0..8 event [] "a""#, "9..17 rest"]);
        check("data: a\n\nda", &[r#"0..8 event [] "a""#, "9..11 rest"]);
        check("", &[]);
        check("\n\n\r\n", &[]);
    }
}

mod lines {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &[(&str, std::ops::Range<usize>)]) {
        let expected: Vec<_> =
            expected.iter().map(|(text, range)| ((*text).to_owned(), range.clone())).collect();
        let cuts = (0..=input.len()).map(|cut| input.as_bytes().split_at(cut));
        for (left, right) in cuts {
            assert_eq!(items([left, right]), expected, "cut at {}", left.len());
        }
        assert_eq!(items(input.as_bytes().chunks(1)), expected, "byte by byte");
    }

    fn items<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Vec<(String, std::ops::Range<usize>)> {
        let mut decoder = ndjson::Decoder::new();
        let mut items: Vec<_> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
        items.extend(decoder.finish());
        items.into_iter().map(|item| (item.text, item.range)).collect()
    }

    #[test]
    fn each_line_is_one_item() {
        check("{}\n[1]\n", &[("{}", 0..2), ("[1]", 3..6)]);
    }

    #[test]
    fn a_record_separator_stands_before_an_item_or_behind_it() {
        check("\x1e{}\n\x1e[1]\n", &[("{}", 1..3), ("[1]", 5..8)]);
        check("{}\x1e[1]\x1e\n", &[("{}", 0..2), ("[1]", 3..6)]);
    }

    #[test]
    fn the_last_line_end_may_be_missing() {
        check("{}\n[1]", &[("{}", 0..2), ("[1]", 3..6)]);
    }

    #[test]
    fn lines_may_end_in_crlf_and_hold_more_than_ascii() {
        check("{}\r\n{\"a\":\"ü€😀\"}\r\n", &[("{}", 0..2), ("{\"a\":\"ü€😀\"}", 4..21)]);
    }

    #[test]
    fn a_record_separator_is_no_part_of_the_item() {
        check("\u{1e}{}\n\u{1e}[1]\n", &[("{}", 1..3), ("[1]", 5..8)]);
        check("\u{1e}\n\u{1e} 1", &[("1", 4..5)]);
    }

    #[test]
    fn white_space_is_no_item() {
        check("\r\n {} \r\n\n  \n1", &[("{}", 3..5), ("1", 12..13)]);
    }
}

mod json_answer {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let places = json::cut(body.as_bytes(), &Protocols::default()).expect("JSON");
        let parts: Vec<_> = places.into_iter().map(|place| &body[place]).collect();
        assert_eq!(parts, expected);
    }

    #[test]
    fn an_array_of_objects_is_a_list_of_messages() {
        check(r#" [{"a": 1}, {}] "#, &[r#"{"a": 1}"#, "{}"]);
        check("[]", &[]);
    }

    #[test]
    fn an_envelope_of_typed_objects_is_a_list_of_messages() {
        check(
            r#"{"messages":[{"message_type":"a"},{"type":"b"}],"stop":{"message_type":"c"},"n":{"x":1}}"#,
            &[r#"{"message_type":"a"}"#, r#"{"type":"b"}"#, r#"{"message_type":"c"}"#],
        );
        check(r#"{"messages":[],"stop":{"type":"c"}}"#, &[r#"{"type":"c"}"#]);
        check(r#"{"object":"list","data":[{"object":"model"}]}"#, &[r#"{"object":"model"}"#]);
    }

    #[test]
    fn everything_else_is_one_message() {
        for body in [
            r#"{"id":"agent-1","tool_rules":[{"type":"a"}]}"#,
            r#"{"type":"message","content":[{"type":"text"}]}"#,
            r#"{"a":[{"type":"x"}],"b":[{"type":"y"}]}"#,
            r#"{"detail":[]}"#,
            r#"{"a":[{"x":1}]}"#,
            "[1,{}]",
            "\"text\"",
            "null",
        ] {
            check(body, &[body]);
        }
    }

    #[test]
    fn what_is_no_json_has_no_messages() {
        assert_eq!(json::cut(b"<html>", &Protocols::default()), None);
        assert_eq!(json::cut(b"", &Protocols::default()), None);
    }
}

mod tags {
    use super::*;

    #[track_caller]
    fn check(data: &str, event: Option<&str>, expected: &str) {
        assert_eq!(Protocols::default().tag(data, event).as_str(), expected);
    }

    #[test]
    fn the_first_telling_field_is_the_type() {
        check(r#"{"message_type":"a","type":"b"}"#, None, "a");
        check(r#"{"type":"b","object":"c"}"#, Some("d"), "b");
        check(r#"{"object":"c","message_type":null,"type":""}"#, None, "c");
        check(r#"{"x":{"type":"b"}}"#, Some("d"), "d");
        check("not json", Some("d"), "d");
    }

    #[test]
    fn json_rpc_is_told_by_its_method_or_outcome() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, None, "tools/call");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Some("message"), "result");
        check(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, None, "error");
    }

    #[test]
    fn what_an_agent_tells_its_client_is_told_by_what_it_is() {
        let of = |params: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#)
        };
        check(&of(r#"{"update":{"sessionUpdate":"tool_call"}}"#), None, "tool_call");
        check(&of("{}"), None, "session/update");
    }

    #[test]
    fn chunks_of_a_completion_are_told_by_what_they_bring() {
        let chunk = |rest: &str| format!(r#"{{"object":"chat.completion.chunk",{rest}}}"#);
        let choice = |choice: &str| chunk(&format!(r#""choices":[{choice}]"#));
        check(&choice(r#"{"delta":{"role":"assistant","content":""}}"#), None, "delta.role");
        check(&choice(r#"{"delta":{"role":"assistant","content":"a"}}"#), None, "delta.content");
        check(&choice(r#"{"delta":{"tool_calls":[{"index":0}]}}"#), None, "delta.tool_calls");
        check(
            &choice(r#"{"delta":{"content":"a"},"finish_reason":"stop"}"#),
            None,
            "finish_reason",
        );
        check(&choice(r#"{"delta":{}}"#), None, "chat.completion.chunk");
        check(&chunk(r#""choices":[],"usage":{"total_tokens":1}"#), None, "usage");
        check(r#"{"error":{"message":"a","type":"server_error"}}"#, None, "error");
        check("[DONE]", None, "[DONE]");
    }

    #[test]
    fn an_event_name_that_is_the_default_one_says_nothing() {
        check("{}", Some("message"), "object");
        check("{}", Some("delta"), "delta");
    }

    #[test]
    fn a_ping_keeps_alive_in_every_protocol_and_what_a_person_names_in_theirs() {
        for data in [
            r#"{"type":"ping"}"#,
            r#"{"message_type":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        ] {
            assert!(Protocols::default().tag(data, None).is_keep_alive(), "{data}");
        }
        let config = Config::parse("[[protocol]]\ntag = '/what'\nkeep-alive = 'tick'").unwrap();
        let protocols = Protocols::of(&config);
        for (data, keeps_alive) in [
            (r#"{"what":"tick"}"#, true),
            (r#"{"what":"heartbeat"}"#, true),
            (r#"{"what":"said"}"#, false),
            (r#"{"type":"tick"}"#, false),
        ] {
            assert_eq!(protocols.tag(data, None).is_keep_alive(), keeps_alive, "{data}");
        }
    }

    #[test]
    fn what_a_person_says_of_types_comes_first() {
        let config = Config::parse(
            r#"
            [[protocol]]
            when = { "/v" = ["1", "2.*"] }
            tag = [{ at = "/failure", is = "failure" }, "/a~1b/what"]
            "#,
        );
        let protocols = Protocols::of(&config.unwrap());
        for (data, expected) in [
            (r#"{"v":"1","a/b":{"what":"x"},"message_type":"y"}"#, "x"),
            (r#"{"v":"2.7","a/b":{"what":"x"}}"#, "x"),
            (r#"{"v":"2.7","failure":{},"a/b":{"what":"x"}}"#, "failure"),
            (r#"{"v":"2.7","failure":null,"a/b":{"what":"x"}}"#, "x"),
            (r#"{"v":"3","a/b":{"what":"x"},"message_type":"y"}"#, "y"),
            (r#"{"a/b":{"what":"x"},"type":"z"}"#, "z"),
        ] {
            assert_eq!(protocols.tag(data, None).as_str(), expected, "{data}");
        }
    }

    #[test]
    fn what_says_no_type_has_its_kind() {
        check("{}", None, "object");
        check("[1]", None, "array");
        check("\"a\"", None, "string");
        check("1", None, "scalar");
        check("hello", None, "text");
        assert!(!Protocols::default().tag("{}", None).is_named());
    }
}

mod trace {
    use super::*;

    /// Each piece of the stream is a chunk that comes 10 ms after the one before.
    fn messages(framing: Framing, pieces: &[&str]) -> Vec<message::Message> {
        let chunks = pieces
            .iter()
            .enumerate()
            .map(|(place, piece)| Chunk { ms: place as u64 * 10, bytes: piece.to_string().into() });
        Messages::cut(&Body::Stream(chunks.collect()), framing, 0, &Protocols::default()).list
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &str) {
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(
            Trace::of(&messages(Framing::Lines, &lines), &Protocols::default()).to_string(),
            expected
        );
    }

    #[test]
    fn deltas_of_one_message_are_one_step() {
        check(
            &[
                r#"{"type":"a","id":"1"}"#,
                r#"{"type":"a","id":"1"}"#,
                r#"{"type":"a","id":"2"}"#,
                r#"{"type":"b","id":"2"}"#,
            ],
            "a+ a b",
        );
    }

    #[test]
    fn any_identity_that_differs_parts_two_messages() {
        check(
            &[
                r#"{"type":"a","id":"1","tool_call":{"tool_call_id":"x"}}"#,
                r#"{"type":"a","id":"1","tool_call":{"tool_call_id":null}}"#,
                r#"{"type":"a","id":"1","tool_call":{"tool_call_id":"y"}}"#,
                r#"{"type":"a","id":"1","tool_call":{"tool_call_id":"z"}}"#,
            ],
            "a+ a",
        );
    }

    #[test]
    fn what_counts_pieces_names_none() {
        let piece = |index: usize| format!(r#"{{"type":"text.delta","index":{index}}}"#);
        let check = |indices: &[usize], expected| {
            let pieces: Vec<String> = indices.iter().map(|index| piece(*index)).collect();
            check(&pieces.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        };
        check(&[0, 1, 2, 3], "text.delta+");
        check(&[0, 0, 1, 1], "text.delta+ text.delta+");
        check(&[0, 0, 1], "text.delta+ text.delta");
        // What another message says too is the name of something.
        let item = |kind: &str, id: &str| format!(r#"{{"type":"{kind}","id":"{id}"}}"#);
        let said = [("added", "a"), ("added", "b"), ("text.delta", "a"), ("text.delta", "b")];
        let said: Vec<String> = said.iter().map(|(kind, id)| item(kind, id)).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        super::trace::check(&said, "added added text.delta text.delta");
    }

    #[test]
    fn without_identity_only_pieces_collapse() {
        check(&[r#"{"type":"stop"}"#, r#"{"type":"stop"}"#], "stop stop");
        check(&[r#"{"type":"text.delta"}"#, r#"{"type":"text.delta"}"#], "text.delta+");
        check(&[r#"{"a":1}"#, r#"{"a":2}"#], "object+");
        let ended =
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"n":7}}"#;
        check(&[ended, ended], "message_delta message_delta");
        let said = r#"{"type":"message_delta","delta":{"stop_reason":null,"text":"so"}}"#;
        check(&[said, said], "message_delta+");
    }

    #[test]
    fn keep_alives_are_set_aside_and_counted() {
        let pieces = [
            "data: {\"type\":\"a\",\"id\":1}\n\n",
            ": still here\n\n",
            "event: ping\ndata: {}\n\n",
            "data: {\"type\":\"a\",\"id\":1}\n\nretry: 1\n\n",
            "data: [DONE]\n\n",
        ];

        let trace = Trace::of(&messages(Framing::EventStream, &pieces), &Protocols::default());

        assert_eq!(trace.to_string(), "a+ [DONE]");
        assert_eq!(trace.keep_alives, 2);
        assert_eq!(trace.steps[0].messages, [0, 3]);
        assert_eq!((trace.steps[0].first_ms, trace.steps[0].last_ms), (0, 30));
    }

    #[test]
    fn a_message_has_the_time_of_the_chunk_that_completed_it() {
        let pieces = ["data: a\n", "\ndata: b", "\n\n"];

        let messages = messages(Framing::EventStream, &pieces);

        let places: Vec<_> =
            messages.iter().map(|it| (it.chunk, it.ms, it.range.clone())).collect();
        assert_eq!(places, [(1, 10, 0..8), (2, 20, 9..17)]);
    }

    #[test]
    fn a_json_answer_in_chunks_has_times_too() {
        let messages = messages(Framing::Json, &["[{\"type\":\"a\"},{\"ty", "pe\":\"b\"}]"]);

        let places: Vec<_> = messages.iter().map(|it| (it.chunk, it.ms)).collect();
        assert_eq!(places, [(0, 0), (1, 10)]);
    }

    #[test]
    fn json_that_is_cut_short_is_left_over() {
        let body = Body::Whole("{\"a\":".into());

        let messages = Messages::cut(&body, Framing::Json, 0, &Protocols::default());

        assert!(messages.list.is_empty());
        assert_eq!(messages.rest, Some(0..5));
    }

    #[test]
    fn what_is_called_json_and_is_a_value_on_each_line_is_lines() {
        let framing = |body: &str| {
            let response = Response::whole("application/json", body.to_owned());
            let Messages { framing, list, .. } = Messages::of(&response, &Protocols::default());
            (framing, list.len())
        };

        assert_eq!(framing("{\"type\":\"ADDED\"}\n{\"type\":\"DELETED\"}\n"), (Framing::Lines, 2));
        assert_eq!(framing("{\"type\":\n\"ADDED\"}\n").0, Framing::Json);
        assert_eq!(framing("{\"type\":\"ADDED\"}\nBad Gateway\n"), (Framing::Json, 0));
        assert_eq!(framing("Bad Gateway\n"), (Framing::Json, 0));
    }

    #[test]
    fn the_framing_is_told_by_the_content_type() {
        assert_eq!(Framing::of(Some("Text/Event-Stream; charset=utf-8")), Framing::EventStream);
        assert_eq!(Framing::of(Some("application/problem+json")), Framing::Json);
        assert_eq!(Framing::of(Some("application/x-ndjson")), Framing::Lines);
        assert_eq!(Framing::of(Some("application/json-seq")), Framing::Lines);
        assert_eq!(Framing::of(Some("image/png")), Framing::Opaque);
        assert_eq!(Framing::of(None), Framing::Opaque);
    }
}

mod learning {
    use super::*;

    /// Each body is a list of lines; what is expected is the place that tells the type.
    #[track_caller]
    fn check(bodies: &[&[&str]], expected: Option<&str>) {
        let cut = |lines: &&[&str]| {
            let text = lines.join("\n");
            Messages::cut(&Body::Whole(text.into()), Framing::Lines, 0, &Protocols::default()).list
        };
        let bodies: Vec<_> = bodies.iter().map(cut).collect();

        let told = Protocols::default().learn(bodies.iter().map(Vec::as_slice));

        assert_eq!(told.map(|told| told.to_string()).as_deref(), expected);
    }

    #[test]
    fn the_field_that_tells_the_shape_is_the_type() {
        let once: &[&str] = &[
            r#"{"wat":"begin","run":"r1"}"#,
            r#"{"wat":"piece","text":"a"}"#,
            r#"{"wat":"piece","text":"b"}"#,
            r#"{"wat":"piece","text":"c"}"#,
            r#"{"wat":"end","total":3}"#,
        ];
        check(&[once], Some("/wat"));
        check(&[once, once, once], Some("/wat"));
    }

    #[test]
    fn a_field_that_says_less_than_the_names_of_events_is_no_type() {
        let event = |name: &str, rest: &str| format!("event: {name}\ndata: {{{rest}}}\n\n");
        let account = |locked: bool| {
            let letter = if locked { 'f' } else { 'g' };
            let fields: Vec<String> = (0..24).map(|at| format!(r#""{letter}{at}":{at}"#)).collect();
            format!(r#""account":{{"locked":{locked},{}}}"#, fields.join(","))
        };
        let names = ["update", "mention"];
        // What one of them says of itself is another word.
        let kinds = ["", r#""type":"reply","#];
        let said = (0..40)
            .map(|at| event(names[at % 2], &format!("{}{}", kinds[at % 2], account(at % 3 == 0))));
        let said = said.collect::<String>();
        let cut = |said: &str| {
            message::Decoder::new(Framing::EventStream, Protocols::default())
                .push(said.as_bytes(), 0)
        };
        let learned = |said: &str| {
            let body = cut(said);
            Protocols::default().learn([&body[..], &body]).map(|it| it.to_string())
        };

        assert_eq!(learned(&said), None);
        // Without the names it is.
        let unnamed = said.replace("event: update\n", "").replace("event: mention\n", "");
        assert_eq!(learned(&unnamed).as_deref(), Some("/account/locked"));
    }

    #[test]
    fn what_all_messages_have_does_not_hide_it() {
        let line = |seq: usize, rest: &str| {
            format!(r#"{{"seq":{seq},"at":17{seq},"run":"run-7","lang":"en","ok":true,{rest}}}"#)
        };
        let lines = [
            line(1, r#""kind_of_thing":"begin","model":"m""#),
            line(2, r#""kind_of_thing":"said","text":"a""#),
            line(3, r#""kind_of_thing":"said","text":"b""#),
            line(4, r#""kind_of_thing":"used","tool":"t","arguments":{}"#),
            line(5, r#""kind_of_thing":"end","total":3"#),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&[&lines], Some("/kind_of_thing"));
    }

    #[test]
    fn the_type_may_stand_one_level_down() {
        let body: &[&str] = &[
            r#"{"v":1,"head":{"what":"start"},"body":{"model":"m"}}"#,
            r#"{"v":1,"head":{"what":"text"},"body":{"text":"a"}}"#,
            r#"{"v":1,"head":{"what":"text"},"body":{"text":"b"}}"#,
            r#"{"v":1,"head":{"what":"stop"},"body":{"why":"done"}}"#,
        ];
        check(&[body, body], Some("/head/what"));
    }

    #[test]
    fn the_only_member_is_the_type_where_no_field_says_it() {
        let body: &[&str] = &[
            r#"{"Start":{"model":"m","note":null}}"#,
            r#"{"Delta":"a"}"#,
            r#"{"Delta":"b"}"#,
            r#"{"End":{"why":"done"}}"#,
        ];
        check(&[body, body], Some("member"));
        let within: Vec<String> =
            body.iter().map(|line| format!(r#"{{"v":1,"is":{line}}}"#)).collect();
        let within: Vec<&str> = within.iter().map(String::as_str).collect();
        check(&[&within, &within], Some("member of /is"));
        // A map is no message.
        let maps: &[&str] =
            &[r#"{"Ann":1,"Bob":2}"#, r#"{"Ann":1}"#, r#"{"Bob":2}"#, r#"{"Cy":3}"#];
        check(&[maps, maps], None);

        let protocols = Protocols::default().with(&"member of /is".parse().unwrap());
        assert_eq!(protocols.tag(within[1], None).as_str(), "Delta");
        assert_eq!(protocols.tag(r#"{"is":{"End":{},"note":null}}"#, None).as_str(), "End");
        assert_eq!(protocols.tag(r#"{"is":{"End":{},"Note":{}}}"#, None).as_str(), "object");
    }

    #[test]
    fn results_of_json_rpc_have_types_where_a_call_has_several() {
        let line =
            |id: usize, result: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let members = [r#"{"task":{"id":"t"}}"#, r#"{"update":{"n":1}}"#, r#"{"update":{"n":2}}"#];
        let kinds = [
            r#"{"kind":"task","id":"t"}"#,
            r#"{"kind":"update","n":1}"#,
            r#"{"kind":"update","n":2}"#,
        ];
        for (results, expected) in [(members, "member of /result"), (kinds, "/result/kind")] {
            let streamed: Vec<String> = results.iter().map(|result| line(1, result)).collect();
            let streamed: Vec<&str> = streamed.iter().map(String::as_str).collect();
            check(&[&streamed, &streamed, &streamed], Some(expected));
            let protocols = Protocols::default().with(&expected.parse().unwrap());
            assert_eq!(protocols.tag(streamed[1], None).as_str(), "update");
            let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#;
            assert_eq!(protocols.tag(error, None).as_str(), "error");
            // Several calls, each with its result.
            let apart: Vec<String> =
                (1..).zip(results).map(|(id, result)| line(id, result)).collect();
            let apart: Vec<&str> = apart.iter().map(String::as_str).collect();
            check(&[&apart, &apart, &apart], None);
        }
    }

    #[test]
    fn messages_of_one_shape_need_a_telling_name_and_an_order() {
        let body = |name: &str| {
            let lines = [("start", "en"), ("work", "de"), ("work", "en"), ("end", "de")];
            let line = |(n, (phase, lang)): (usize, &(&str, &str))| {
                format!(r#"{{"{name}":"{phase}","lang":"{lang}","n":{n}}}"#)
            };
            lines.iter().enumerate().map(line).collect::<Vec<_>>()
        };
        let (telling, other) = (body("kind_of_thing"), body("text"));
        let telling: Vec<&str> = telling.iter().map(String::as_str).collect();
        let other: Vec<&str> = other.iter().map(String::as_str).collect();
        check(&[&telling, &telling, &telling], Some("/kind_of_thing"));
        check(&[&other, &other, &other], None);
    }

    #[test]
    fn words_of_an_answer_are_no_types_however_often_it_is_recorded() {
        let body: &[&str] = &[
            r#"{"model":"m","message":{"role":"assistant","content":"Good"},"done":false}"#,
            r#"{"model":"m","message":{"content":"morning"},"done":false}"#,
            r#"{"model":"m","message":{"content":"to"},"done":false}"#,
            r#"{"model":"m","message":{"content":"you"},"done":false}"#,
            r#"{"model":"m","message":{"content":"all"},"done":false}"#,
            r#"{"model":"m","message":{"content":""},"done":true,"total":7,"took":9,"loaded":1}"#,
        ];
        check(&[body, body, body], Some("/done"));
    }

    #[test]
    fn a_known_protocol_and_a_usual_name_need_no_learning() {
        let letta: &[&str] = &[
            r#"{"message_type":"a","lang":"en","x":1}"#,
            r#"{"message_type":"b","lang":"de","y":1}"#,
        ];
        check(&[letta, letta, letta], None);
        let usual: &[&str] = &[
            r#"{"type":"a","role":"user","text":""}"#,
            r#"{"type":"b","role":"user","text":""}"#,
            r#"{"type":"c","role":"server","x":1}"#,
        ];
        check(&[usual, usual, usual], None);
    }

    #[test]
    fn a_usual_name_that_tells_nothing_is_passed_over() {
        let body: &[&str] = &[
            r#"{"type":"event","name":"begin","model":"m"}"#,
            r#"{"type":"event","name":"said","text":"a"}"#,
            r#"{"type":"event","name":"said","text":"b"}"#,
            r#"{"type":"event","name":"end","total":1}"#,
        ];
        check(&[body, body], Some("/name"));
    }

    #[test]
    fn identifiers_and_what_only_varies_are_no_types() {
        let body = |run: &str| {
            let lines = [
                format!(r#"{{"run":"{run}","step":"{run}-a","text":"a {run}"}}"#),
                format!(r#"{{"run":"{run}","step":"{run}-a","text":"b {run}","note":1}}"#),
                format!(r#"{{"run":"{run}","step":"{run}-b","text":"c {run}"}}"#),
                format!(r#"{{"run":"{run}","step":"{run}-b","text":"d {run}","note":1}}"#),
            ];
            lines.join("\n")
        };
        let bodies: Vec<String> = ["x", "y", "z"].map(body).into();
        let bodies: Vec<Vec<&str>> = bodies.iter().map(|body| body.lines().collect()).collect();
        let bodies: Vec<&[&str]> = bodies.iter().map(Vec::as_slice).collect();
        check(&bodies, None);
        check(&[&[r#"{"lang":"en","text":"a"}"#, r#"{"lang":"de","text":"b"}"#]], None);
        check(&[&[]], None);
    }

    #[test]
    fn the_name_of_the_event_is_taken_where_it_tells_more_than_a_usual_field() {
        let body = "event: begin\ndata: {\"type\":\"x\",\"model\":\"m\"}\n\n\
            event: said\ndata: {\"type\":\"x\",\"text\":\"a\"}\n\n\
            event: said\ndata: {\"type\":\"x\",\"text\":\"b\"}\n\n\
            event: end\ndata: {\"type\":\"x\",\"total\":1}\n\n";
        let list = Messages::cut(
            &Body::Whole(body.into()),
            Framing::EventStream,
            0,
            &Protocols::default(),
        )
        .list;

        let told = Protocols::default().learn([&list[..], &list[..]]).unwrap();

        assert_eq!(told.to_string(), "event");
        let protocols = Protocols::default().with(&told);
        assert_eq!(protocols.tag(&list[0].data, Some("begin")).as_str(), "begin");
    }
}

mod bodies {
    use super::*;

    /// Where a body is cut changes when a message comes, and nothing else.
    #[track_caller]
    fn check(framing: Framing, body: &str, expected: &[&str]) {
        for cut in 0..=body.len() {
            let (left, right) = body.as_bytes().split_at(cut);
            let chunks = [(10, left), (20, right)];
            let chunks = chunks.map(|(ms, bytes)| Chunk { ms, bytes: bytes.to_vec().into() });
            let messages =
                Messages::cut(&Body::Stream(chunks.into()), framing, 0, &Protocols::default());

            let tags: Vec<&str> =
                messages.list.iter().map(|message| message.tag.as_str()).collect();
            assert_eq!(tags, expected, "cut at {cut}");
            for message in &messages.list {
                // The line ends behind a message may belong to it.
                assert!(message.range.end <= cut || message.chunk == 1, "cut at {cut}");
                assert!(message.range.end + 4 > cut || message.chunk == 0, "cut at {cut}");
                assert_eq!(message.ms, [10, 20][message.chunk]);
            }
        }
    }

    #[test]
    fn a_stream_may_be_cut_anywhere() {
        check(
            Framing::EventStream,
            "\u{feff}event: ping\r\ndata: {}\r\n\r\n: c\r\rdata: {\"type\":\"ä\"}\n\ndata: [DONE]\n\n",
            &["ping", ":", "ä", "[DONE]"],
        );
    }

    #[test]
    fn lines_may_be_cut_anywhere() {
        check(Framing::Lines, "{\"type\":\"a\"}\r\n\n{\"type\":\"ö\"}", &["a", "ö"]);
    }

    #[test]
    fn a_json_answer_may_be_cut_anywhere() {
        check(Framing::Json, r#" [{"type":"a"}, {"type":"ü"}] "#, &["a", "ü"]);
    }
}
