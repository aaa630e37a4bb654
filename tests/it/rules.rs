//! What a person says about matching.

use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::sample::select;
use retape::rules::{At, Config, Repeats, Rules, Step, Treatment};

/// What is said about a configuration that cannot be.
#[track_caller]
fn refused(text: &str) -> String {
    format!("{:?}", Config::parse(text).unwrap_err())
}

/// What is said about a place that is none.
#[track_caller]
fn nowhere(text: &str) -> String {
    format!("{:?}", text.parse::<At>().unwrap_err())
}

/// The ways to what a place names in a body, as JSON Pointers.
fn ways(at: &str, body: &str) -> Vec<String> {
    let rules = Rules::default().ignore(at).unwrap();
    let spelled = |step: &Step| match step {
        Step::Member(name) => format!("/{name}"),
        Step::Item(index) => format!("/{index}"),
    };
    let places = rules.places(body).into_iter();
    places.map(|(_, way)| way.iter().map(spelled).collect()).collect()
}

#[test]
fn rules_for_all_cassettes_and_for_some_add_up() {
    let config = Config::parse(
        r#"
        [match]
        repeats = "strict"
        headers = ["x-tenant"]
        ignore = ["$.client.version", "query.debug"]
        unordered = ["$.tools"]
        ids = ["$.ref"]
        not-ids = ["$.model_id"]
        patterns = [{ at = "$.prompt", regex = "Today is \\d{4}-\\d\\d-\\d\\d" }]

        [[cassette]]
        name = "letta/**"
        repeats = "once"
        ignore = ["path"]

        [[cassette]]
        name = "letta/hitl/*"
        repeats = "allowed"
        "#,
    )
    .unwrap();

    let all = Rules::default()
        .repeats(Repeats::Strict)
        .header("x-tenant")
        .and_then(|rules| rules.ignore("$.client.version")?.ignore("query.debug"))
        .and_then(|rules| rules.unordered("$.tools")?.id("$.ref")?.not_id("$.model_id"))
        .and_then(|rules| rules.pattern("$.prompt", r"Today is \d{4}-\d\d-\d\d"))
        .unwrap();
    let letta = all.clone().ignore("path").unwrap();
    assert_eq!(config.rules("chat"), all);
    assert_eq!(config.rules("letta/hello"), letta.clone().repeats(Repeats::Once));
    assert_eq!(config.rules("letta/hitl/deny"), letta.repeats(Repeats::Allowed));
    assert!(Config::parse("").unwrap().rules("chat").is_empty());
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_that_is_known() {
    assert_snapshot!(refused("[match]\nignroe = []"), @"
    unknown key `ignroe` (line 2)
    hint: did you mean `ignore`?
    ");
    assert_snapshot!(refused("[match]\nnot_ids = []"), @"
    unknown key `not_ids` (line 2)
    hint: did you mean `not-ids`?
    ");
    assert_snapshot!(refused("[match]\nzzz = []"), @"
    unknown key `zzz` (line 2)
    hint: known here: `repeats`, `headers`, `ignore`, `unordered`, `ids`, `not-ids`, `patterns`
    ");
    assert_snapshot!(refused("[matches]"), @"
    unknown key `matches` (line 1)
    hint: did you mean `match`?
    ");
    assert_snapshot!(refused("[[cassettes]]\nname = \"a\""), @"
    unknown key `cassettes` (line 1)
    hint: did you mean `cassette`?
    ");
    assert_snapshot!(refused("[[cassette]]\nnames = \"a\""), @"
    unknown key `names` (line 2)
    hint: did you mean `name`?
    ");
    assert_snapshot!(refused("[match]\npatterns = [{ at = \"$.a\", regexp = \"a\" }]"), @"
    unknown key `regexp` (line 2)
    hint: did you mean `regex`?
    ");
    assert_snapshot!(refused("\n[match.ignore]\nx = 1"), @"expected an array, found a table (line 2)");
}

#[test]
fn a_value_that_cannot_be_is_refused_with_its_line() {
    assert_snapshot!(refused("[match]\nignore = \"$.a\""), @"expected an array, found a string (line 2)");
    assert_snapshot!(refused("[match]\nignore = [\n  \"$.a\",\n  7,\n]"), @"expected a string, found a number (line 4)");
    assert_snapshot!(refused("match = 1"), @"expected a table, found a number (line 1)");
    assert_snapshot!(refused("[cassette]\nname = \"a\""), @"
    expected one or more `[[cassette]]`, found a table (line 1)
    hint: write `[[cassette]]` with two brackets: there may be several
    ");
    assert_snapshot!(refused("[match]\nrepeats = \"onec\""), @"
    `repeats` is `onec`, which is not one of allowed, once, strict (line 2)
    hint: did you mean `once`?
    ");
    assert_snapshot!(refused("[match]\nrepeats = true"), @"expected a string, found a truth value (line 2)");
    assert_snapshot!(refused("[match]\nheaders = [\"x tenant\"]"), @"
    `x tenant` is not the name of a header field (line 2)
    hint: it has letters, digits and dashes: `x-tenant`
    ");
    assert_snapshot!(refused("[match]\nignore = [\n  \"$.a\",\n  \"$.b[\"\n]"), @"
    `$.b[` is not a JSONPath (line 4): it is understood up to `$.b`
    hint: a JSONPath is written like `$.messages[0].otid`, `$..id`, `$['content-type']`
    ");
    assert_snapshot!(refused("[match]\nunordered = [\"query.tag\"]"), @"
    `query.tag` cannot be `unordered`: only JSON has arrays (line 2)
    hint: the order of parameters in a query and in a form never counts
    ");
    assert_snapshot!(refused("[match]\nids = [\"path\"]"), @r#"
    `path` cannot be one of `ids`: it is more than one value (line 2)
    hint: say which part of it may differ: `patterns = [{ at = "path", regex = "…" }]`
    "#);
    assert_snapshot!(refused("[match]\npatterns = [{ at = \"$.a\" }]"), @r#"
    not a valid configuration: a pattern needs both `at` and `regex` (line 2)
    hint: `{ at = "$.prompt", regex = "Today is .*" }`
    "#);
    assert_snapshot!(refused("[match]\npatterns = [{ at = \"$.a\", regex = \"a(b\" }]"), @r#"
    `a(b` is not a regular expression (line 2): unclosed group
    hint: look-around and back-references are not known; `\` is `\\` in a string in double quotes
    "#);
    assert_snapshot!(refused("[match]\npatterns = [{ at = \"$.a\", regex = \"\" }]"), @"`regex` is empty: it would match nothing (line 2)");
    assert_snapshot!(refused("[match]\npatterns = [\"$.a\"]"), @"expected a table, found a string (line 2)");
    assert_snapshot!(refused("[match]\nignore = []\nignore = []"), @"not a valid configuration: it is not TOML (line 3): duplicate key");
    assert_snapshot!(refused("[match]\nignore = [\"$.a\"\n"), @"not a valid configuration: it is not TOML (line 2): unclosed array, expected `]`");
}

#[test]
fn a_cassette_is_meant_by_name() {
    assert_snapshot!(refused("[[cassette]]\nrepeats = \"once\""), @r#"
    not a valid configuration: a `[[cassette]]` has no `name` (line 1)
    hint: `name = "letta/*"` says which cassettes are meant; rules for all stand in `[match]`
    "#);
    assert_snapshot!(refused("[[cassette]]\nname = \"\""), @"
    `name` is empty (line 2)
    hint: a name is a path below the folder of cassettes: `letta/hello`, `letta/*`, `**`
    ");
    assert_snapshot!(refused("[[cassette]]\nname = \"/letta\""), @"
    `/letta` is not the name of a cassette: a part of it is empty (line 2)
    hint: a name is a path below the folder of cassettes: `letta/hello`, `letta/*`, `**`
    ");
    assert_snapshot!(refused("[[cassette]]\nname = \"letta/*.json\""), @"
    `letta/*.json` is not the name of a cassette: it has an ending (line 2)
    hint: a name is a path below the folder of cassettes: `letta/hello`, `letta/*`, `**`
    ");
    assert_snapshot!(refused("[[cassette]]\nname = [\"letta/*\"]"), @"expected a string, found an array (line 2)");
}

#[test]
fn what_is_no_place_is_refused() {
    assert_snapshot!(nowhere(""), @"
    `` is not a place in a request
    hint: a place is `$.a[*].b`, `/a/0/b`, `query.NAME`, `header.NAME`, `form.NAME`, `part.NAME` or `path`
    ");
    assert_snapshot!(nowhere("client.version"), @"
    `client.version` is not a place in a request
    hint: a place is `$.a[*].b`, `/a/0/b`, `query.NAME`, `header.NAME`, `form.NAME`, `part.NAME` or `path`
    ");
    assert_snapshot!(nowhere("headers.x-tenant"), @"
    `headers.x-tenant` is not a place in a request
    hint: did you mean `header.x-tenant`?
    ");
    assert_snapshot!(nowhere("query"), @"
    `query` does not say which
    hint: `query.NAME`
    ");
    assert_snapshot!(nowhere("query."), @"
    `query.` does not say which
    hint: `query.NAME`
    ");
    assert_snapshot!(nowhere("header.x tenant"), @"
    `x tenant` is not the name of a header field
    hint: it has letters, digits and dashes: `x-tenant`
    ");
    assert_snapshot!(nowhere("$.not-id"), @"
    `$.not-id` is not a JSONPath: it is understood up to `$.not`
    hint: a JSONPath is written like `$.messages[0].otid`, `$..id`, `$['content-type']`
    ");
    assert_snapshot!(nowhere("$.a[?@.x == 'é' && ]"), @"
    `$.a[?@.x == 'é' && ]` is not a JSONPath: it is understood up to `$.a[?@.x == 'é' && `
    hint: a JSONPath is written like `$.messages[0].otid`, `$..id`, `$['content-type']`
    ");
    assert_snapshot!(nowhere("$ "), @"
    `$ ` is not a JSONPath: it is understood up to `$`
    hint: a JSONPath is written like `$.messages[0].otid`, `$..id`, `$['content-type']`
    ");
    assert_snapshot!(nowhere("/a/~2"), @"
    `/a/~2` is not a JSON Pointer
    hint: `~` is written `~0` in one, and `/` within a name is written `~1`
    ");
    let deep = format!("$[?{}@.a]", "(".repeat(100_000));
    assert!(nowhere(&deep).ends_with("(@.a]` has more than 64 brackets"));
}

#[test]
fn places_are_found_in_a_body() {
    let body = r#"{"a": [{"b": 1, "c": "x"}, {"b": 2}], "b": {"b": 3}, "a/b": {"~": [0]}}"#;

    assert_eq!(ways("$.a[*].b", body), ["/a/0/b", "/a/1/b"]);
    assert_eq!(ways("$.a[?@.c == 'x'].b", body), ["/a/0/b"]);
    assert_eq!(ways("$['a'][-1:]", body), ["/a/1"]);
    assert_eq!(ways("$.b..b", body), ["/b/b"]);
    assert_eq!(ways("$", body), [""]);
    assert_eq!(ways("/a/1/b", body), ["/a/1/b"]);
    assert_eq!(ways("/a~1b/~0/0", body), ["/a/b/~/0"]);
    for nothing in ["$.x", "$.a.b", "/a/2", "/a/01", "/a/-", "/a/+1", "/b/b/b", "query.a", "path"] {
        assert_eq!(ways(nothing, body), [""; 0], "{nothing}");
    }
    assert_eq!(ways("$.a", "no JSON"), [""; 0]);
}

#[test]
fn odd_json_keeps_no_rule_from_its_place() {
    let deep = format!("{{\"deep\": {}{}, \"a\": 1}}", "[".repeat(100_000), "]".repeat(100_000));

    for body in [
        r#"{"lone": "\ud800", "a": 1}"#,
        r#"{"huge": 1e400, "a": 12345678901234567890123}"#,
        r#"{"a": 1, "a": 2}"#,
        " {\t\"\\u0061\": null}\n",
        &deep,
    ] {
        assert_eq!(ways("$.a", body), ["/a"]);
        assert_eq!(ways("/a", body), ["/a"]);
    }
}

#[test]
fn names_tell_what_is_done_with_a_field() {
    let rules = Rules::default()
        .ignore("query.debug")
        .and_then(|rules| rules.ignore("header.X-Trace")?.id("query.debug")?.id("form.ref"))
        .and_then(|rules| rules.not_id("part.file.name")?.pattern("path", "/v[0-9]+"))
        .unwrap();

    assert_eq!(rules.of_query("debug"), Some(Treatment::Ignore));
    assert_eq!(rules.of_query("Debug"), None);
    assert_eq!(rules.of_header("x-trace"), Some(Treatment::Ignore));
    assert_eq!(rules.of_form("ref"), Some(Treatment::Id));
    assert_eq!(rules.of_form("debug"), None);
    assert_eq!(rules.of_part("file.name"), Some(Treatment::NotId));
    let Some(Treatment::Pattern(pattern)) = rules.of_path() else { panic!("{rules:?}") };
    assert_eq!(pattern.left("/v1/agents"), "/agents");
}

#[test]
fn many_brackets_are_read() {
    let nested = format!("$[?{}@.a{}]", "(".repeat(63), ")".repeat(63));

    assert_eq!(nested.parse::<At>().unwrap().to_string(), nested);
}

proptest! {
    #[test]
    fn a_place_is_read_as_it_is_shown(at in places()) {
        let at: At = at.parse().unwrap();

        prop_assert_eq!(at.to_string().parse::<At>().unwrap(), at);
    }

    #[test]
    fn whatever_is_written_is_a_place_or_an_error(text in any_text()) {
        if let Ok(at) = text.parse::<At>() {
            prop_assert_eq!(at.as_str(), text);
        }
    }

    #[test]
    fn whatever_is_configured_is_read_or_an_error(text in any_text()) {
        let _ = Config::parse(&format!("[match]\n{text}"));
        let _ = Config::parse(&text);
    }
}

fn places() -> impl Strategy<Value = String> {
    let segments = [".a", "['b c']", "[0]", "[*]", "..d", "[1:2]", "['a','b']", "[?@.x == 'é']"];
    let json = prop::collection::vec(select(segments.to_vec()), 0..5);
    let parts = prop::collection::vec("[a-z0-9é .]{0,3}(~0|~1)?", 1..4);
    prop_oneof![
        json.prop_map(|segments| format!("${}", segments.concat())),
        parts.prop_map(|parts| format!("/{}", parts.join("/"))),
        "(query|form|part)\\.[^\\x00]{1,8}",
        "header\\.[a-zA-Z-]{1,8}",
        Just("path".to_owned()),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "$", ".", "[", "]", "*", "a", "'", "?", "@", "==", "(", ")", "/", "~", "query", "header",
        "path", "é", " ", "=", "\"", "ignore", "repeats", "\n", "{", "}", ",", ":", "-", "1",
    ];
    prop::collection::vec(select(pieces.to_vec()), 0..12).prop_map(|pieces| pieces.concat())
}
