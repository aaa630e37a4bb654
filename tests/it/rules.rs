//! What a person says about matching.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::sample::select;
use retape::cassette::format;
use retape::config::{At, Config, Early, Repeats, Rules, Step, Timing, Treatment};
use retape::{Cassette, Mode, store};

use crate::stage::Stage;
use crate::support::client::post;
use crate::support::upstream::{Asked, Upstream};

const EXAMPLE: &str = r#"
[match]
repeats = "strict"
early = "given"
pace = "recorded"
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
"#;

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
fn a_protocol_that_cannot_be_is_refused_with_the_line() {
    for (text, line, why) in [
        ("[[protocol]]\nkeys = '/id'", 1, "does not say what its `tag` is"),
        ("[[protocol]]\ntag = 'kind'", 2, "a field is named with a slash before it: `/kind`"),
        ("[[protocol]]\ntag = '$.a.b'", 2, "a field is named with a slash before it: `/a/b`"),
        ("[[protocol]]\ntag = { is = 'x' }", 2, "a `tag` does not say where it is"),
        ("[[protocol]]\ntag = 1", 2, "expected a string, found a number"),
        ("[[protocol]]\ntag = '/a'\nwhen = { '/b' = 1 }", 3, "expected a string, found a number"),
        ("[[protocol]]\ntag = '/a'\nkey = '/b'", 3, "did you mean `keys`?"),
        ("[protocol]\ntag = '/a'", 1, "write `[[protocol]]` with two brackets"),
    ] {
        let refused = refused(text);
        assert!(refused.contains(why), "{text}: {refused}");
        assert!(refused.contains(&format!("line {line}")), "{text}: {refused}");
    }
}

#[test]
fn rules_for_all_cassettes_and_for_some_add_up() {
    let config = Config::parse(EXAMPLE).unwrap();

    let all = Rules::default()
        .repeats(Repeats::Strict)
        .early(Early::Given)
        .timed(Timing::Recorded)
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
    hint: known here: `compare`, `repeats`, `early`, `pace`, `headers`, `ignore`, `patterns`, `unordered`, `ids`, `not-ids`, `optional`
    ");
    assert_snapshot!(refused("ignore = [\"$.x\"]"), @"
    unknown key `ignore` (line 1)
    hint: put it below `[match]`: `[match]`, and `ignore = …` on the next line
    ");
    assert_snapshot!(refused("[matches]"), @"
    unknown key `matches` (line 1)
    hint: did you mean `match`?
    ");
    assert_snapshot!(refused("[[cassettes]]\nname = \"a\""), @"
    unknown key `cassettes` (line 1)
    hint: did you mean `cassette`?
    ");
    assert_snapshot!(refused("[diff]\nnew_fields = \"breaking\""), @"
    unknown key `new_fields` (line 2)
    hint: did you mean `new-fields`?
    ");
    assert_snapshot!(refused("[[cassette]]\nnames = \"a\""), @"
    unknown key `names` (line 2)
    hint: did you mean `name`?
    ");
    assert_snapshot!(refused("[match]\npatterns = [{ at = \"$.a\", regexp = \"a\" }]"), @"
    unknown key `regexp` (line 2)
    hint: did you mean `regex`?
    ");
    assert_snapshot!(refused("\n[match.ignore]\nx = 1"), @r#"
    expected an array, found a table (line 2)
    hint: below `[match]` it is written so: `ignore = ["$.client.version", "query.debug"]`
    "#);
}

#[test]
fn a_value_that_cannot_be_is_refused_with_its_line() {
    assert_snapshot!(refused("[match]\nignore = \"$.a\""), @r#"
    expected an array, found a string (line 2)
    hint: below `[match]` it is written so: `ignore = ["$.client.version", "query.debug"]`
    "#);
    assert_snapshot!(refused("[match]\nignore = [\n  \"$.a\",\n  7,\n]"), @r#"
    expected a string, found a number (line 4)
    hint: below `[match]` it is written so: `ignore = ["$.client.version", "query.debug"]`
    "#);
    assert_snapshot!(refused("match = 1"), @r#"
    expected a table, found a number (line 1)
    hint: write `[match]`, and below it `compare = "path"`
    "#);
    assert_snapshot!(refused("[cassette]\nname = \"a\""), @"
    expected one or more `[[cassette]]`, found a table (line 1)
    hint: write `[[cassette]]` with two brackets: there may be several
    ");
    assert_snapshot!(refused("[match]\nrepeats = \"onec\""), @"
    `repeats` is `onec`, which is not one of allowed, once, strict (line 2)
    hint: did you mean `once`?
    ");
    assert_snapshot!(refused("[match]\npace = \"2x\""), @"
    `pace` is `2x`, which is not one of instant, recorded (line 2)
    hint: known here: `instant`, `recorded`
    ");
    assert_snapshot!(refused("[match]\nearly = \"gvien\""), @"
    `early` is `gvien`, which is not one of missed, given (line 2)
    hint: did you mean `given`?
    ");
    assert_snapshot!(refused("[diff]\nnew-fields = \"braking\""), @"
    `new-fields` is `braking`, which is not one of compatible, breaking (line 2)
    hint: did you mean `breaking`?
    ");
    assert_snapshot!(refused("[match]\nrepeats = true"), @r#"
    expected a string, found a truth value (line 2)
    hint: below `[match]` it is written so: `repeats = "once"`
    "#);
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
    assert_snapshot!(refused("[match]\npatterns = [{ at = \"$.a\", regex = \"\" }]"), @r#"
    `regex` is empty: it would match nothing (line 2)
    hint: below `[match]` it is written so: `patterns = [{ at = "$.prompt", regex = "Today is .*" }]`
    "#);
    assert_snapshot!(refused("[match]\npatterns = [\"$.a\"]"), @r#"
    expected a table, found a string (line 2)
    hint: below `[match]` it is written so: `patterns = [{ at = "$.prompt", regex = "Today is .*" }]`
    "#);
    assert_snapshot!(refused("[match]\nignore = []\nignore = []"), @"not a valid configuration: it is not TOML (line 3): duplicate key");
    assert_snapshot!(refused("[match]\nignore = [\"$.a\"\n"), @"not a valid configuration: it is not TOML (line 2): unclosed array, expected `]`");
}

#[test]
fn a_place_where_a_name_stands_is_refused() {
    assert_snapshot!(refused("[redact]\njson = [\"$.user.pin\"]"), @"
    `$.user.pin` is a place, and a name stands here (line 2)
    hint: `pin` means what is called so, wherever it stands
    ");
    assert_snapshot!(refused("[match]\nheaders = [\"header.x-tenant\"]"), @"
    `header.x-tenant` is a place, and a name stands here (line 2)
    hint: `x-tenant` means what is called so, wherever it stands
    ");
    for (key, place) in [
        ("json", "/user/pin"),
        ("json", "body.pin"),
        ("headers", "header.x-pin"),
        ("query", "query.pin"),
        ("not-secrets", "$['pin']"),
    ] {
        let refused = refused(&format!("[redact]\n{key} = [{place:?}]"));
        assert!(refused.contains("is a place") && refused.contains("pin` means"), "{refused}");
    }
    for name in ["llm.token", "user.pin"] {
        assert!(Config::parse(&format!("[redact]\njson = [{name:?}]")).is_ok(), "{name}");
    }
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
    assert_snapshot!(refused("[[cassette]]\nname = [\"letta/*\"]"), @r#"
    expected a string, found an array (line 2)
    hint: below `[[cassette]]` it is written so: `name = "letta/*"`
    "#);
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

/// A cassette of one interaction whose member `match` is this.
fn with_rules(rules: &str) -> String {
    format!("{{\n  \"retape\": 1,\n  \"match\": {rules},\n  \"interactions\": []\n}}\n")
}

/// What is said about a cassette whose member `match` cannot be.
#[track_caller]
fn refused_within(rules: &str) -> String {
    format!("{:?}", format::decode(&with_rules(rules), |_| unreachable!()).unwrap_err())
}

#[test]
fn rules_in_a_cassette_are_written_as_they_are_in_the_configuration() {
    let rules = Config::parse(EXAMPLE).unwrap().rules("chat");

    let text = format::encode(&Cassette { rules: rules.clone(), ..Cassette::default() }).text;

    assert_eq!(format::decode(&text, |_| unreachable!()).unwrap().rules, rules);
    assert_eq!(format::decode_rules(&text).unwrap(), rules);
    assert_snapshot!(text, @r#"
    {
      "retape": 2,
      "match": {
        "repeats": "strict",
        "early": "given",
        "pace": "recorded",
        "headers": ["x-tenant"],
        "ignore": ["$.client.version", "query.debug"],
        "unordered": ["$.tools"],
        "ids": ["$.ref"],
        "not-ids": ["$.model_id"],
        "patterns": [
          {"at": "$.prompt", "regex": "Today is \\d{4}-\\d\\d-\\d\\d"}
        ]
      },
      "interactions": []
    }
    "#);
}

#[test]
fn rules_in_a_cassette_that_cannot_be_are_refused_with_their_line() {
    assert_snapshot!(refused_within("{\"ignroe\": []}"), @"
    unknown member `ignroe` (line 3)
    hint: did you mean `ignore`?
    ");
    assert_snapshot!(refused_within("{\n\"ids\": [\n\"$.a\",\n\"$.\"]}"), @"
    `$.` is not a JSONPath (line 6): it is understood up to `$.`
    hint: a JSONPath is written like `$.messages[0].otid`, `$..id`, `$['content-type']`
    ");
    assert_snapshot!(refused_within("{\"repeats\": \"never\"}"), @"
    `repeats` is `never`, which is not one of allowed, once, strict (line 3)
    hint: known here: `allowed`, `once`, `strict`
    ");
    assert_snapshot!(refused_within("{\"headers\": \"x\"}"), @"expected an array, found a string (line 3)");
    assert_snapshot!(refused_within("{\"patterns\": [{\"at\": \"$.a\"}]}"), @"not a valid cassette: a pattern needs both `at` and `regex` (line 3)");
    assert_snapshot!(refused_within("{\"patterns\": [{\"at\": \"$.a\", \"regex\": \"[\"}]}"), @r#"
    `[` is not a regular expression (line 3): unclosed character class
    hint: look-around and back-references are not known; `\` is `\\` in a string in double quotes
    "#);
    assert_snapshot!(refused_within("{\"patterns\": [{\"at\": \"$.a\", \"reg\": \"[\"}]}"), @"
    unknown member `reg` (line 3)
    hint: did you mean `regex`?
    ");
    assert_snapshot!(refused_within("[]"), @"expected an object, found an array (line 3)");
}

#[test]
fn rules_are_found_in_a_cassette_that_is_damaged() {
    let whole = with_rules("{\"repeats\": \"once\"}");
    let once = Rules::default().repeats(Repeats::Once);

    for damaged in [
        whole.replace("[]", "[\n<<<<<<< HEAD\n{]"),
        whole.replace("\"interactions\": []", "\"interactions\": {\"file\": \"gone\"}"),
        whole.replace("\"retape\": 1", "\"unknown\": [{\"match\": 7}]"),
    ] {
        assert_eq!(format::decode_rules(&damaged).unwrap(), once, "{damaged}");
    }
    for without in ["", "{", "[]", "{\"retape\": 1, \"interactions\": [{\"match\": 1}]}", "{]"] {
        assert!(format::decode_rules(without).unwrap().is_empty(), "{without}");
    }
    assert!(format::decode_rules("{\"match\": {\"ids\": 1}}").is_err());
}

/// Writes a file below a folder, and the folders above it.
fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn the_nearest_configuration_counts_alone() {
    let stage = Stage::new();
    let root = stage.folder();
    let headers = |folder: &str| {
        let rules = store::find_config(&root.join(folder)).unwrap().rules("any");
        rules.headers().join(" ")
    };
    write(root, "retape.toml", "match.headers = ['x-outer']");
    write(root, "repository/.git/HEAD", "");
    write(root, "repository/crate/retape.toml", "match.headers = ['x-crate']");
    write(root, "repository/crate/tests/tapes/retape.toml", "match.headers = ['x-tapes']");
    write(root, "worktree/.git", "gitdir: elsewhere");

    assert_eq!(headers(""), "x-outer");
    assert_eq!(headers("not/there/yet"), "x-outer");
    assert_eq!(headers("repository/crate/cassettes/letta"), "x-crate");
    assert_eq!(headers("repository/crate/tests/tapes"), "x-tapes");
    assert_eq!(headers("repository/crate/tests/tapes/../cassettes"), "x-crate");
    assert_eq!(headers("repository"), "", "the root of a repository is as far as it goes");
    assert_eq!(headers("worktree/cassettes"), "");
}

#[tokio::test]
async fn a_configuration_that_cannot_be_keeps_a_session_from_starting() {
    let stage = Stage::new();
    let said = |error: retape::Error| {
        format!("{error:?}").replace(&stage.folder().display().to_string(), "FOLDER")
    };

    write(stage.folder(), "retape.toml", "[match]\nignore = ['$.a'\n");
    let error = stage.session(Mode::Replay).start().await.unwrap_err();
    assert_snapshot!(said(error), @r#"
    not a valid configuration: it is not TOML (`FOLDER/retape.toml`, line 2): unclosed array, expected `]`
    hint: it is written as in `ignore = ["/client/version"]`; docs/matching.md lists all keys
    "#);

    write(stage.folder(), "retape.toml", "[match]\nrepeat = 'once'\n");
    let error = stage.session(Mode::Replay).start().await.unwrap_err();
    assert_snapshot!(said(error), @"
    unknown key `repeat` (`FOLDER/retape.toml`, line 2)
    hint: did you mean `repeats`?
    ");

    let other = stage.folder().join("other.toml");
    let error = stage.session(Mode::Replay).config(&other).start().await.unwrap_err();
    assert_snapshot!(said(error), @"
    cannot read file (`FOLDER/other.toml`): No such file or directory (os error 2)
    hint: name a file that is there, or leave it out: the nearest `retape.toml` is found
    ");

    write(stage.folder(), "other.toml", "");
    stage.session(Mode::Replay).config(&other).start().await.unwrap().stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_of_all_sources_hold() {
    let (stage, upstream) = (Stage::new(), Upstream::json(Asked::text));
    let body =
        |it: &str| format!("{{\"a\": \"{it}\", \"b\": \"{it}\", \"c\": \"at {it}\", \"d\": 1}}");
    let session = stage.record(&upstream).await;
    post(&format!("{}/x", session.url()), &body("once"));
    session.finish().await.unwrap();
    let text = stage.file("tape.json");
    let said = "\"match\": {\"ignore\": [\"$.b\"]},\n\"interactions\":";
    write(stage.folder(), "tape.json", &text.replacen("\"interactions\":", said, 1));
    write(stage.folder(), "retape.toml", "cassette = [{ name = 't*', ignore = ['/a'] }]");
    let rules = Rules::default().pattern("$.c", "[a-z]+$").unwrap();

    let session = stage.session(Mode::Replay).rules(rules).start().await.unwrap();
    let ask = |body: &str| post(&format!("{}/x", session.url()), body).status;
    let answers = [ask(&body("twice")), ask(&body("twice").replace("at", "by"))];
    session.stop().await.unwrap();

    assert_eq!(answers, [200, 470]);
}

#[test]
fn the_last_word_counts_where_rules_contradict_each_other() {
    let rules = |toml: &str| Config::parse(&format!("[match]\n{toml}")).unwrap().rules("any");
    let general = rules("repeats = 'strict'\nids = ['$.a', '$.b']\nnot-ids = ['$.c', '$.d']");
    let own = rules("repeats = 'allowed'\nids = ['$.c']\nnot-ids = ['$.a']");

    let both = general.and(&own);

    let expected = "repeats = 'allowed'\nids = ['$.b', '$.c']\nnot-ids = ['$.d', '$.a']";
    assert_eq!(both, rules(expected));
}

#[test]
fn patterns_for_one_place_are_all_left_out() {
    let one = Rules::default().pattern("path", "/v[0-9]+").unwrap();
    let rules = one.and(&Rules::default().pattern("path", "agents").unwrap());

    let Some(Treatment::Pattern(pattern)) = rules.of_path() else { panic!("{rules:?}") };
    assert_eq!(pattern.left("/v1/agents/v2/x"), "//x");
    assert_eq!(pattern.left("/x"), "/x");
}

#[tokio::test]
async fn a_configuration_that_cannot_be_keeps_a_cassette_from_being_mounted() {
    let stage = Stage::new();
    write(stage.folder(), "retape.toml", "[match]\nrepeat = 'once'\n");
    write(stage.folder(), "cassettes/tape.json", &with_rules("{}"));
    let server = wiremock::MockServer::start().await;
    let mount = || retape::mount(&server, stage.folder().join("cassettes/tape.json"));

    let error = mount().await.unwrap_err();
    assert_eq!(error.path(), Some(stage.folder().join("retape.toml").as_path()));

    write(stage.folder(), "retape.toml", "match.repeats = 'once'");
    mount().await.unwrap().finish().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_stay_when_a_cassette_is_recorded_again() {
    let (stage, upstream) = (Stage::new(), Upstream::json(Asked::text));
    let rules = Rules::default().repeats(Repeats::Strict).ignore("$.a").unwrap();
    let change = |from: &str, to: &str| {
        write(stage.folder(), "tape.json", &stage.file("tape.json").replacen(from, to, 1));
    };
    let record = async |mode| {
        let session = stage.session(mode).upstream(upstream.url()).start().await.unwrap();
        post(&format!("{}/{mode}", session.url()), "[1]");
        session.finish().await.unwrap();
    };
    record(Mode::Record).await;
    assert!(stage.cassette().rules.is_empty());
    let said = "\"match\": {\"repeats\": \"strict\", \"ignore\": [\"$.a\"]},\n\"interactions\":";

    change("\"interactions\":", said);
    record(Mode::Record).await;
    assert_eq!(stage.cassette().rules, rules);
    record(Mode::NewEpisodes).await;
    assert_eq!((stage.cassette().rules, stage.cassette().interactions.len()), (rules.clone(), 2));

    change("\"interactions\": [", "\"interactions\": [\n<<<<<<< HEAD");
    record(Mode::Record).await;
    assert_eq!(stage.cassette().rules, rules, "the cassette could not be read any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_that_are_written_while_a_cassette_is_recorded_stay() {
    let (stage, upstream) = (Stage::new(), Upstream::json(Asked::text));
    write(stage.folder(), "tape.json", &with_rules("{}"));
    let session = stage.record(&upstream).await;
    post(&format!("{}/", session.url()), "[1]");

    write(stage.folder(), "tape.json", &with_rules("{\"repeats\": \"once\"}"));
    session.finish().await.unwrap();

    let cassette = stage.cassette();
    assert_eq!(cassette.rules, Rules::default().repeats(Repeats::Once));
    assert_eq!(cassette.interactions.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_that_cannot_be_are_not_recorded_over() {
    let (stage, upstream) = (Stage::new(), Upstream::json(Asked::text));
    let text = with_rules("{\"ignroe\": [\"$.a\"]}");
    write(stage.folder(), "tape.json", &text);
    let session = stage.record(&upstream).await;

    let answer = post(&format!("{}/", session.url()), "[1]");
    let error = session.stop().await.unwrap_err();

    assert_eq!((answer.status, upstream.asked().len()), (470, 0));
    assert_eq!((error.line(), error.hint()), (Some(3), Some("did you mean `ignore`?")));
    assert_eq!(stage.file("tape.json"), text);
    assert_eq!(stage.files(), ["tape.json"]);
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

/// Places of all kinds, as they are written.
pub fn places() -> impl Strategy<Value = String> {
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
