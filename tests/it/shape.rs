//! What JSON values look like: learning, text, checking, comparing.

use proptest::prelude::*;
use retape::contract::shape::{Lost, Schema, Shape};
use retape::message::{Messages, Protocols};
use serde_json::{Value, json};

use crate::conversations::of_one_question;

fn learned<J: AsRef<str>>(samples: impl IntoIterator<Item = J>) -> Shape {
    let mut shape = Shape::default();
    for (witness, json) in samples.into_iter().enumerate() {
        shape.learn(json.as_ref(), u32::try_from(witness).unwrap()).unwrap();
    }
    shape
}

/// The events of the streams that were recorded from Letta.
fn letta_events() -> Vec<String> {
    let events = of_one_question().flat_map(|interaction| {
        let streamed = interaction.response().filter(|response| {
            let media = response.headers.get("content-type");
            media.is_some_and(|it| it.contains("event-stream"))
        });
        streamed.map_or_else(Vec::new, |it| Messages::of(it, &Protocols::default()).list)
    });
    events.map(|message| message.data).filter(|data| data != "[DONE]").collect()
}

mod learning {
    use super::*;

    #[track_caller]
    fn check(samples: &[&str], expected: &str) {
        assert_eq!(learned(samples.iter().cycle().take(60)).finish().to_string(), expected);
    }

    #[test]
    fn optional_and_null_are_kept_apart() {
        check(
            &[r#"{"a": 1, "b": null}"#, r#"{"b": 1.5}"#, r#"{"b": 1, "a": 3}"#],
            "object\n  a?: integer\n  b: number | null\n",
        );
    }

    #[test]
    fn codes_of_errors_and_outcomes_are_known_by_their_numbers() {
        check(
            &[
                r#"{"error": {"code": -32601}, "status": 404, "took": 3}"#,
                r#"{"error": {"code": -32001}, "status": 422, "took": 7}"#,
            ],
            "\
object
  error: object
    code: -32601 | -32001
  status: 404 | 422
  took: integer
",
        );
        // One that a single recording shows may be one of many.
        let once = learned([1, 1, 2].map(|code| format!(r#"{{"status": {code}}}"#))).finish();
        assert_eq!(once.to_string(), "object\n  status: integer\n");

        let known = Schema::parse("object\n  status: 404 | 422\n").unwrap();
        let found = known.accepts(r#"{"status": 400}"#);
        assert_eq!(found[0].to_string(), "/status: expected 404 | 422, found the integer 400");
        assert_eq!(known.accepts(r#"{"status": 422}"#), []);
        assert_eq!(known.to_json_schema()["properties"]["status"], json!({"enum": [404, 422]}));
        let integer = Schema::parse("object\n  status: integer\n").unwrap();
        assert!(integer.covers(&known) && !known.covers(&integer));
    }

    #[test]
    fn elements_that_are_always_others_by_their_places_are_a_tuple() {
        let chunk = |n: u32| json!([{"id": n, "text": "Hello"}, {"step": n, "node": "agent"}]);
        let shape = learned((0..6).map(|n| json!({"data": chunk(n)}).to_string()));

        let schema = shape.finish();

        assert_eq!(
            schema.to_string(),
            "\
object
  data: tuple
    [0]: object
      id: integer
      text: string
    [1]: object
      node: string
      step: integer
"
        );
        let found = |data: Value| -> Vec<String> {
            let found = schema.accepts(&json!({"data": data}).to_string());
            found.iter().map(|it| format!("{} at {}", it, it.at())).collect()
        };
        assert_eq!(
            found(json!([{"id": 7}, {"step": 1, "node": "agent"}])),
            ["/data/0: expected the field `text`: string, found none at data[0].text"]
        );
        assert_eq!(
            found(json!([{"id": 7, "text": ""}])),
            ["/data: expected the element [1]: an object, found none at data[1]"]
        );
        assert_eq!(
            found(json!([{"id": 7, "text": ""}, {"step": 1, "node": "agent"}, null])),
            ["/data/2: expected 2 elements, found null at data[2]"]
        );
        let exported = schema.to_json_schema();
        let data = &exported["properties"]["data"];
        assert_eq!(data["prefixItems"][1]["required"], json!(["node", "step"]));
        assert_eq!([&data["minItems"], &data["items"]], [&json!(2), &json!(false)]);
    }

    #[test]
    fn few_arrays_of_two_or_elements_that_are_alike_are_lists() {
        let pairs = |count: usize| vec![r#"["a", 1]"#; count];
        // By chance 2 ^ -(2 * 3) = 1/64 of what is drawn by lot is alike in four recordings.
        assert_eq!(learned(pairs(4)).finish().to_string(), "[integer | string]\n");
        assert_eq!(
            learned(pairs(5)).finish().to_string(),
            "tuple\n  [0]: string\n  [1]: integer\n"
        );
        let others = [
            "[1, 2]",
            r#"["a", "b"]"#,
            r#"[{"a": 1}, {"a": 2, "b": 3}]"#,
            "[1, null]",
            r#"[{"a": 1}, {"b": 2}]"#,
        ];
        for other in others {
            assert!(learned(vec![other; 9]).finish().to_string().starts_with('['), "{other}");
        }
        let longer = [pairs(9), vec![r#"["a", 1, 2]"#]].concat();
        assert!(learned(longer).finish().to_string().starts_with('['));
    }

    #[test]
    fn what_a_tuple_loses_is_told_of_and_that_it_is_read_as_a_list_is_none() {
        let parse = |text: &str| Schema::parse(text).unwrap();
        let tuple = parse("tuple {[0]: string, [1]: {a: integer, b: string}}");
        let gained = |new: &str| -> Vec<String> {
            let gains = tuple.gains(&parse(new));
            gains.iter().map(|gain| format!("{:?} {}", gain.what, gain.at())).collect()
        };

        assert_eq!(gained("tuple {[0]: string, [1]: {a: integer}}"), ["Missing [1].b"]);
        assert_eq!(gained("tuple {[0]: string}"), ["Missing [1]"]);
        assert_eq!(gained("[string]"), ["Wider "]);
        assert_eq!(parse("[string | {a?: integer, b?: string}]").gains(&tuple), []);
        assert_eq!(Schema::parse(&tuple.to_text()).unwrap(), tuple);
        assert_eq!(Schema::parse(&tuple.to_string()).unwrap(), tuple);
        for wrong in ["tuple {}", "tuple {[1]: string}", "tuple {a: string}", "tuple"] {
            assert!(Schema::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_field_that_tells_objects_apart_is_found_whatever_its_name() {
        check(
            &[
                r#"{"stage": "begin", "id": 1, "input": "What is it?", "limit": 3, "deep": true}"#,
                r#"{"stage": "go.on", "id": 1, "delta": {"text": "It is"}, "part": 2, "more": null}"#,
                r#"{"stage": "end", "id": 1, "usage": {"tokens": 2}, "cost": 1.5, "why": "long ago"}"#,
            ],
            "\
by stage
  begin
    id: integer
    input: string
    limit: integer
    deep: boolean
  end
    id: integer
    usage: object
      tokens: integer
    cost: number
    why: string
  go.on
    id: integer
    delta: object
      text: string
    part: integer
    more: null
",
        );
    }

    #[test]
    fn a_union_may_be_within_a_branch_of_another_one() {
        check(
            &[
                r#"{"type": "text", "text": "a b"}"#,
                r#"{"type": "item", "item": {"type": "call", "call_id": "call_8f3a9c2b1d", "name": "f g"}}"#,
                r#"{"type": "item", "item": {"type": "words", "content": ["a b"]}}"#,
                r#"{"type": "said", "role": "user", "to": null}"#,
                r#"{"type": "said", "role": "tool", "call_id": "call_8f3a9c2b1d"}"#,
            ],
            "\
by type
  item
    item: by type
      call
        call_id: Id<call>
        name: string
      words
        content: [string]
  said by role
    tool
      call_id: Id<call>
    user
      to: null
  text
    text: string
",
        );
    }

    #[test]
    fn what_tells_the_members_of_a_field_apart_makes_a_union() {
        check(
            &[
                r#"{"kind": "paid", "at": 1, "data": {"amount": 1, "note": "a b"}}"#,
                r#"{"kind": "sent", "at": 2, "data": {"address": "b c", "parcels": {"count": 2}}}"#,
                r#"{"kind": "sent", "at": 3, "data": {"address": "c d", "parcels": {"count": 2}}}"#,
            ],
            "\
by kind
  paid
    at: integer
    data: object
      amount: integer
      note: string
  sent
    at: integer
    data: object
      address: string
      parcels: object
        count: integer
",
        );
    }

    #[test]
    fn members_that_fall_into_groups_by_chance_make_no_union() {
        let words = ["ember", "river", "stone", "cloud", "maple", "tundra", "orbit", "quill"];
        let labels = |number: usize| {
            let some = words.iter().enumerate().filter(|(at, _)| ((number * 7919) >> at) & 3 == 1);
            some.map(|(at, word)| format!(r#""{word}": {at}"#)).collect::<Vec<_>>().join(", ")
        };
        let samples: Vec<String> = (0..60)
            .map(|number| {
                let kind = ["free", "paid", "team"][number % 3];
                format!(r#"{{"kind": "{kind}", "labels": {{{}}}}}"#, labels(number))
            })
            .collect();

        let shape = learned(samples).finish().to_string();
        assert!(shape.starts_with("object\n  kind: "), "{shape}");
    }

    #[test]
    fn words_that_change_nothing_are_an_enum_and_no_union() {
        check(
            &[r#"{"role": "user", "n": 1}"#, r#"{"role": "assistant", "n": 2}"#],
            "object\n  role: \"assistant\" | \"user\"\n  n: integer\n",
        );
    }

    #[test]
    fn few_strings_are_no_enum() {
        let shape = learned([r#""a""#, r#""b""#, r#""a""#, r#""a""#, r#""a""#, r#""a""#]);

        assert_eq!(shape.finish().to_string(), "string\n");
    }

    #[test]
    fn words_with_signs_or_a_few_of_them_are_an_enum_and_sentences_are_none() {
        let of = |values: [&str; 2]| {
            let said = |at: usize| format!(r#"{{"status":"{}","n":{at}}}"#, values[at % 2]);
            let samples: Vec<String> = (0..30).map(said).collect();
            learned(samples.iter().map(String::as_str)).finish().to_string()
        };
        for values in [["calendar#entry", "calendar#event"], ["DONE", "IN PROGRESS"]] {
            let [one, other] = values;
            assert_eq!(
                of(values),
                format!("object\n  status: \"{one}\" | \"{other}\"\n  n: integer\n")
            );
        }
        let sentences = ["Please try it again later", "It has not been found here"];
        assert_eq!(of(sentences), "object\n  status: string\n  n: integer\n");
    }

    #[test]
    fn a_list_whose_words_each_recording_says_needs_no_more_recordings_than_one_word() {
        let links = |at: usize| {
            let link = |rel: &str| format!(r#"{{"rel":"{rel}","href":"/orders/{at}/{rel}"}}"#);
            format!("[{}]", ["self", "approve", "capture"].map(link).join(","))
        };
        let of = |count: usize| {
            let samples: Vec<String> = (0..count).map(links).collect();
            learned(samples.iter().map(String::as_str)).finish().to_string()
        };

        assert!(of(10).contains(r#"rel: "approve" | "capture" | "self""#), "{}", of(10));
        assert!(of(9).contains("rel: string"), "{}", of(9));
    }

    #[test]
    fn a_hash_is_no_word_of_an_enum() {
        let samples = [r#"{"tool_hash": "ba13adbeeaaf", "type": "custom"}"#; 5];

        check(&samples, "object\n  tool_hash: string\n  type: \"custom\"\n");
    }

    #[test]
    fn what_is_known_by_minted_names_is_a_map() {
        check(
            &[
                r#"{"agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0": {"n": 1}}"#,
                r#"{"agent-7f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0": {"n": 2}}"#,
            ],
            "map<Id<agent>, object>\n  n: integer\n",
        );
    }

    #[test]
    fn what_has_ever_other_names_and_like_values_is_a_map() {
        let samples: Vec<String> = (0..40)
            .map(|n| json!({(format!("{}{}", ["x", "why", "z"][n % 3], n % 7)): n}).to_string())
            .collect();

        assert_eq!(learned(samples).finish().to_string(), "map<string, integer>\n");
    }

    #[test]
    fn too_many_names_are_data() {
        let all: serde_json::Map<String, Value> =
            (0..300).map(|n| (format!("name {n}"), json!(n))).collect();

        let shape = learned([Value::from(all).to_string()]);

        assert_eq!(shape.finish().to_string(), "map<string, integer>\n");
    }

    #[test]
    fn empty_arrays_hold_nothing_and_roots_may_be_anything() {
        check(&["[]"], "[]\n");
        check(&["[]", "[1]", "\"a b\"", "null", "true"], "boolean | string | [integer] | null\n");
        check(&[&format!("{}1{}", "[".repeat(200), "]".repeat(200))], &{
            format!("{}any{}\n", "[".repeat(64), "]".repeat(64))
        });
    }

    #[test]
    fn the_last_of_repeated_names_counts() {
        check(&[r#"{"a": 1, "a": "x y"}"#], "object\n  a: string\n");
    }

    #[test]
    fn text_that_is_not_json_teaches_nothing() {
        let mut shape = Shape::default();

        assert!(shape.learn("[DONE]", 1).is_err());

        assert_eq!(shape, Shape::default());
    }

    #[test]
    fn the_events_of_a_real_server_are_told_apart() {
        let shown = learned(letta_events()).finish().to_string();

        assert!(
            shown.starts_with("by message_type\n  approval_request_message\n    id: Id<message>\n")
        );
        assert!(shown.contains(
            "
  stop_reason
    stop_reason: \"end_turn\" | \"requires_approval\"
"
        ));
        assert!(shown.contains("\n    signature: string | null\n"), "{shown}");
    }
}

mod evidence {
    use super::*;

    #[test]
    fn who_has_seen_an_optional_field_a_branch_or_a_value_is_told() {
        let call = r#"{"type": "call", "id": 1, "why": null, "kind": "f"}"#;
        let more = r#"{"type": "call", "id": 1, "why": "so", "kind": "f", "note": 7}"#;
        let text = r#"{"type": "text", "text": "Hello, world", "at": 1, "to": 2}"#;
        let samples: Vec<&str> = [call; 5].into_iter().chain([text; 6]).chain([more]).collect();

        let found = learned(samples).evidence();

        let shown: Vec<String> = found
            .iter()
            .map(|it| {
                let (place, seen) = (it.place.join("."), &it.seen.witnesses);
                let (count, all) = (it.seen.count, it.all);
                format!(
                    "{place} {:?} {count}/{all} {:?} {:?}",
                    it.of,
                    seen.as_slice(),
                    it.missed.as_slice()
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#" Branch("type", "call") 6/12 [0, 1, 4, 11] []"#,
                r#"call.kind Value("f") 6/6 [0, 1, 4, 11] []"#,
                "call.note Field 1/6 [11] [0, 1, 3, 4]",
                "call.why Null 5/6 [0, 1, 3, 4] []",
                r#" Branch("type", "text") 6/12 [5, 6, 9, 10] []"#,
            ]
        );
    }
}

mod text {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let errors =
            Schema::parse(text).err().map(|errors| errors.errors().to_vec()).unwrap_or_default();
        let shown: Vec<String> = errors
            .iter()
            .map(|error| {
                let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
                format!("{:?} {}{hint}", &text[error.span.clone()], error.what)
            })
            .collect();

        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn what_a_person_writes_may_be_laid_out_in_other_ways() {
        let written = Schema::parse(
            "
# What comes.
by type
    a  # with a comment
        x : null|string
        \"odd # name\"?: { n: integer, [uuid]: any, … }
        list: [ (object | null) ]
          n: number
    …
",
        )
        .unwrap();

        assert_eq!(
            written.to_string(),
            "\
by type
  a
    x: string | null
    \"odd # name\"?: {n: integer, [uuid]: any, …}
    list: [{n: number} | null]
  …
"
            .replace(
                "{n: integer, [uuid]: any, …}",
                "object\n      n: integer\n      [uuid]: any\n      …"
            )
            .replace("[{n: number} | null]", "[object | null]\n      n: number")
        );
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_a_hint() {
        check(
            "",
            &[r#""" no type (a type is e.g. `string | null`, or `object` above its fields)"#],
        );
        check(
            "object\n  a: strng\n  b integer\n  a: null\n  c: [integer\n",
            &[
                r#""strng" no type is called `strng` (did you mean `string`?)"#,
                r#""i" expected `:`"#,
                r#""" expected `]`"#,
            ],
        );
        check("object\n  a: null\n  a: null", &[r#""a" `a` a second time"#]);
        check(
            "string\n  a: null",
            &[
                r#""a: null" fields without an object (end the line above in `object` or `by` and a field)"#,
            ],
        );
        check(
            "[object] | object\n  a: null",
            &[
                r#""" a second object with its fields on the lines below (write the fields between braces: `{name: string} | [{name: string}]`)"#,
            ],
        );
        check(
            "by type\n  a\n    type: string\n  b",
            &[
                r#""type" `type` within a branch that it tells (leave the line out: the branch's name says it)"#,
            ],
        );
        check(
            "object\n    a: null\n  b: null",
            &[r#""b: null" a line between two levels (fields of one object begin in one column)"#],
        );
        check(
            "map<integer, any>",
            &[
                r#""integer" names that are no strings (e.g. `map<string, integer>` or `map<uuid, integer>`)"#,
            ],
        );
        check("string integer", &[r#""integer" expected the end of the line"#]);
        check(
            "[integer] | []",
            &[r#""[]" an array twice among alternatives (say it once, with all that it may hold)"#],
        );
        check(
            &"[".repeat(100_000),
            &[r#""[" types nested too deep (say `any` where it is as deep as that)"#],
        );
        check(
            &"by a {x ".repeat(100_000),
            &[r#""a" types nested too deep (say `any` where it is as deep as that)"#],
        );
        let lines = (1..400).map(|depth| format!("{:depth$}x by t{depth}\n", ""));
        check(
            &format!("by t0\n{}", lines.collect::<String>()),
            &[r#""" types nested too deep (say `any` where it is as deep as that)"#],
        );
        check(r#""a"#, &[r#""\"a" not a JSON string (strings are written as in JSON: `"a\nb"`)"#]);
    }
}

mod checking {
    use super::*;

    const PROMISED: &str = "\
by type
  call
    id: Id<call>
    arguments: {} | null
    status?: \"done\" | \"open\"
  text
    text: string
    at: date-time
    score: integer
    tags: map<uuid, boolean>
";

    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        let found: Vec<String> = Schema::parse(PROMISED)
            .unwrap()
            .accepts(json)
            .iter()
            .map(ToString::to_string)
            .collect();

        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn a_value_as_promised_breaks_nothing() {
        check(r#"{"type": "call", "id": "call_8f3a9c2b1d", "arguments": {}}"#, &[]);
        check(
            r#"{"type": "text", "text": "", "at": "2026-11-21T04:27:40Z", "score": 2, "tags": {}}"#,
            &[],
        );
    }

    #[test]
    fn a_number_is_an_integer_as_it_is_spelled() {
        for spelled in ["2.0", "2e3", "2E0", "-2.00"] {
            let found = format!("/score: expected integer, found the number {spelled}");
            let json = format!(
                r#"{{"type": "text", "text": "", "at": "2026-11-21T04:27:40Z", "score": {spelled}, "tags": {{}}}}"#
            );
            check(&json, &[&found]);
        }
    }

    #[test]
    fn everything_that_is_broken_is_told() {
        check(
            r#"{"type": "text", "txt": "a", "at": "noon", "score": 1.5, "tags": {"a": true}}"#,
            &[
                "the whole: expected the field `text`: string, found none",
                "/at: expected date-time, found \"noon\"",
                "/score: expected integer, found the number 1.5",
                "/tags/a: expected a name that is uuid, found a boolean",
                "/txt: expected no field of this name, found \"a\"",
            ],
        );
        check(
            r#"{"type": "call", "id": 7, "arguments": [], "status": "opened"}"#,
            &[
                "/arguments: expected null | an object, found an empty array",
                "/id: expected Id<call>, found the integer 7",
                "/status: expected \"done\" | \"open\", found \"opened\"",
            ],
        );
        check(r#"{"type": "cal"}"#, &["/type: expected \"call\" | \"text\", found \"cal\""]);
        check("{}", &["the whole: expected the field `type`: \"call\" | \"text\", found none"]);
        check("[1", &["the whole: expected an object by `type`, found text that is not JSON"]);
    }

    #[test]
    fn a_wrong_name_is_told_with_the_one_that_was_meant() {
        let promised = Schema::parse(PROMISED).unwrap();

        let hint = |json| promised.accepts(json).remove(0).hint;

        assert_eq!(hint(r#"{"type": "cal"}"#).as_deref(), Some("did you mean `call`?"));
    }
}

mod comparing {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: &[(&str, Lost)]) {
        let [before, after] = [before, after].map(|text| Schema::parse(text).unwrap());

        let losses: Vec<_> =
            before.losses(&after).into_iter().map(|it| (it.at(), it.what)).collect();

        let expected = expected.iter().map(|(at, what)| ((*at).to_owned(), what.clone()));
        assert_eq!(losses, expected.collect::<Vec<_>>());
    }

    fn schema(text: &str) -> Schema {
        Schema::parse(text).unwrap()
    }

    #[test]
    fn fields_go() {
        check(
            "object\n  a: string\n  b?: null\n  c: integer\n  d: [null | string]",
            "object\n  c?: number\n  d: [string]\n  e: object\n    f: uuid",
            &[
                ("a", Lost::Always),
                ("b", Lost::Optional("null".to_owned())),
                ("d[]", Lost::Types(schema("null"))),
            ],
        );
    }

    #[test]
    fn branches_and_values_go() {
        check(
            "by type\n  a\n    x: \"one\" | \"two\"\n  b",
            "by type\n  a\n    x: \"one\" | \"three\"\n  c\n  …",
            &[
                ("a.x", Lost::Value("two".to_owned())),
                ("", Lost::Kind("type".to_owned(), "b".to_owned())),
            ],
        );
    }

    #[test]
    fn strings_are_confined() {
        check("[uuid]", "[string]", &[]);
        check("[string]", "[date]", &[("[]", Lost::Others(schema("date")))]);
        check("[uuid]", "[date]", &[]);
        check("any", "null", &[]);
    }

    #[test]
    fn the_layout_is_no_loss() {
        check("object\n  a: null\n  b: any", "{b: any, a: null}", &[]);
        check("string | null", "null | string | \"a\"", &[]);
        check("by t\n  a\n    n: null", "object\n  t: \"a\"\n  n: null", &[]);
    }

    #[test]
    fn more_covers_less() {
        for (more, less) in [
            ("string | null", "\"a\" | null"),
            ("Id", "uuid | Id<a>"),
            ("number", "integer"),
            ("any", "by t\n  a"),
            ("[string]", "[]"),
            ("object\n  a?: null\n  …", "object\n  b: null"),
            ("map<string, integer | null>", "object\n  a: integer\n  b?: null"),
            ("object\n  t: string\n  x?: null", "by t\n  a\n  b\n    x: null"),
            ("by t\n  a\n  b\n    x?: null", "{t: \"b\", x: null}"),
            ("by t\n  a\n  …", "by t\n  a\n  b\n    x: null"),
        ] {
            let [more, less] = [more, less].map(|text| Schema::parse(text).unwrap());

            assert!(more.covers(&less), "{more}{less}");
            assert!(!less.covers(&more), "{more}{less}");
        }
    }
}

mod exporting {
    use std::cell::RefCell;
    use std::collections::HashMap;

    use regex::Regex;

    use super::*;

    #[test]
    fn a_union_is_told_apart_by_const() {
        let schema =
            Schema::parse("by type\n  a\n    id: uuid | null\n    n?: [integer]\n  …").unwrap();

        let uuid = "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$";
        assert_eq!(
            schema.to_json_schema(),
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "oneOf": [
                    {
                        "type": "object",
                        "required": ["type", "id"],
                        "properties": {
                            "type": {"const": "a"},
                            "id": {"anyOf": [
                                {"type": "null"},
                                {"type": "string", "format": "uuid", "pattern": uuid},
                            ]},
                            "n": {"type": "array", "items": {"type": "integer"}},
                        },
                        "additionalProperties": false,
                    },
                    {
                        "type": "object",
                        "required": ["type"],
                        "properties": {"type": {"type": "string", "not": {"enum": ["a"]}}},
                    },
                ],
            })
        );
    }

    /// The words of JSON Schema that are written, as the specification has them.
    pub fn holds(schema: &Value, value: &Value) -> bool {
        let Some(words) = schema.as_object() else { return schema == &json!(true) };
        words.iter().all(|(word, said)| match word.as_str() {
            "type" => said
                .as_array()
                .map_or_else(|| is(said, value), |all| all.iter().any(|it| is(it, value))),
            "const" => said == value,
            "enum" => said.as_array().unwrap().contains(value),
            "not" => !holds(said, value),
            "anyOf" => said.as_array().unwrap().iter().any(|it| holds(it, value)),
            "oneOf" => said.as_array().unwrap().iter().filter(|it| holds(it, value)).count() == 1,
            "pattern" => value.as_str().is_none_or(|text| fits(said.as_str().unwrap(), text)),
            "minLength" => {
                value.as_str().is_none_or(|text| text.len() as u64 >= said.as_u64().unwrap())
            }
            "items" => value.as_array().is_none_or(|all| {
                let places = words.get("prefixItems").and_then(Value::as_array);
                all.iter().skip(places.map_or(0, Vec::len)).all(|it| holds(said, it))
            }),
            "prefixItems" => value.as_array().is_none_or(|all| {
                all.iter().zip(said.as_array().unwrap()).all(|(it, said)| holds(said, it))
            }),
            "minItems" => {
                value.as_array().is_none_or(|all| all.len() as u64 >= said.as_u64().unwrap())
            }
            "maxItems" => {
                value.as_array().is_none_or(|all| all.len() as u64 <= said.as_u64().unwrap())
            }
            "required" => value.as_object().is_none_or(|object| {
                said.as_array()
                    .unwrap()
                    .iter()
                    .all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|object| {
                said.as_object().unwrap().iter().all(|(name, schema)| {
                    object.get(name).is_none_or(|member| holds(schema, member))
                })
            }),
            "additionalProperties" => value.as_object().is_none_or(|object| {
                let known = |name: &String| {
                    words.get("properties").is_some_and(|it| it.get(name).is_some())
                };
                object.iter().all(|(name, member)| known(name) || holds(said, member))
            }),
            "propertyNames" => value
                .as_object()
                .is_none_or(|object| object.keys().all(|name| holds(said, &json!(name)))),
            "$schema" | "format" | "examples" => true,
            other => panic!("`{other}` is not written"),
        })
    }

    fn fits(pattern: &str, text: &str) -> bool {
        thread_local!(static READ: RefCell<HashMap<String, Regex>> = RefCell::default());
        READ.with_borrow_mut(|read| {
            let read =
                read.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap());
            read.is_match(text)
        })
    }

    fn is(name: &Value, value: &Value) -> bool {
        match name.as_str().unwrap() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.as_f64().is_some_and(|it| it.fract() == 0.0),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("`{other}` is no type"),
        }
    }
}

static WORDS: [&str; 9] =
    ["a", "b", "user", "tool", "end_turn", "Hello, world", "", "7", "2026-11-21"];
static TAGS: [&str; 3] = ["type", "role", "status"];
static NAMES: [&str; 6] = ["x", "y", "id", "call_8f3a9c2b1d", "type", "odd name"];

/// JSON as servers write it: few names, few words, some values that were minted.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(&WORDS[..]).prop_map(Value::from),
        1 => any::<u32>().prop_map(|n| json!(format!("run-{n:08x}-37a2-4fd9-92f1-fd5b1ee5a5f0"))),
        1 => any::<u32>().prop_map(|n| json!(format!("{n:08x}-37a2-4fd9-92f1-fd5b1ee5a5f0"))),
        1 => any::<i8>().prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let words = prop::sample::select(&WORDS[..5]);
        let tagged = prop::collection::btree_map(prop::sample::select(&TAGS[..]), words, 0..3);
        let others = prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner.clone(), 0..4);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
            4 => (tagged, others).prop_map(|(tagged, others)| {
                let mut object: serde_json::Map<String, Value> =
                    others.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                object.extend(tagged.into_iter().map(|(name, word)| (name.to_owned(), json!(word))));
                object.into()
            }),
        ]
    })
}

/// Samples, many of them several times.
fn samples() -> impl Strategy<Value = Vec<String>> {
    (prop::collection::vec(values(), 1..12), 1..6_usize).prop_map(|(values, times)| {
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        texts.iter().cycle().take(texts.len() * times).cloned().collect()
    })
}

/// Samples, and the same with their numbers in another order.
fn shuffled() -> impl Strategy<Value = (Vec<String>, Vec<(u32, String)>)> {
    samples().prop_flat_map(|samples| {
        let numbered: Vec<(u32, String)> = (0..).zip(samples.iter().cloned()).collect();
        (Just(samples), Just(numbered).prop_shuffle())
    })
}

proptest! {
    #[test]
    fn what_is_learned_depends_on_the_samples_alone((samples, shuffled) in shuffled()) {
        let whole = learned(&samples);

        let mut shape = Shape::default();
        shuffled.iter().for_each(|(witness, json)| shape.learn(json, *witness).unwrap());

        prop_assert_eq!(shape.finish(), whole.finish());
        prop_assert_eq!(shape.evidence(), whole.evidence());
    }

    #[test]
    fn what_was_learned_accepts_every_sample(samples in samples()) {
        let schema = learned(&samples).finish();

        for sample in &samples {
            prop_assert_eq!(schema.accepts(sample), [], "{}\n{}", sample, schema);
        }
    }

    #[test]
    fn text_is_read_back(samples in samples()) {
        let schema = learned(&samples).finish();

        let text = schema.to_string();
        let read = Schema::parse(&text);

        prop_assert_eq!(read.as_ref(), Ok(&schema), "{}", text);
        prop_assert_eq!(read.unwrap().to_string(), text);
    }

    #[test]
    fn nothing_is_lost_to_the_same(samples in samples()) {
        let schema = learned(&samples).finish();

        prop_assert_eq!(schema.losses(&schema), []);
    }

    #[test]
    fn what_is_covered_is_accepted((one, two) in (samples(), samples())) {
        let (before, after) = (learned(&one).finish(), learned(&two).finish());

        prop_assert!(before.covers(&before), "{}", before);
        if before.covers(&after) {
            for sample in &two {
                prop_assert_eq!(before.accepts(sample), [], "{}\n{}{}", sample, before, after);
            }
        }
    }

    #[test]
    fn the_exported_schema_says_the_same((one, two) in (samples(), samples())) {
        let schema = learned(&one).finish();
        let exported = schema.to_json_schema();
        // Of minted values only the letters are exported, not how random they look.
        let is_exact = !schema.to_string().contains("Id");

        for sample in one.iter().chain(&two) {
            let held = exporting::holds(&exported, &sample.parse().unwrap());
            let is_accepted = schema.accepts(sample).is_empty();
            prop_assert!(held || !is_accepted, "{}\n{}", sample, schema);
            prop_assert!(!is_exact || held == is_accepted, "{}\n{}", sample, schema);
        }
    }
}
