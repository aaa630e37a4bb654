//! Orders, shapes and contracts asserted in a Rust test.

use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use retape::_macro_support::{check_order, order_snapshot};
use retape::contract::{Finding, Traffic, check};
use retape::message::{Messages, Protocols};
use retape::{Name, assert_contract, assert_order, assert_shape, store};
use serde_json::json;

/// A folder with a recorded conversation of a real server, its contracts accepted.
fn accepted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let recorded =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta/hitl/approve_tokens.json");
    fs::copy(recorded, folder.path().join("tape.json")).unwrap();
    let name = Name::new("tape").unwrap();
    let cassette = store::load(folder.path(), &name).unwrap();
    for finding in check(&Traffic::of(&Protocols::default(), &[], [(&name, &cassette)]), &[]) {
        let Finding::New(contract) = finding else { panic!("nothing was accepted: {finding:?}") };
        store::accept(folder.path(), &contract).unwrap();
    }
    folder
}

/// What a stream of that conversation says.
fn streamed() -> Messages {
    let folder = accepted();
    let cassette = store::load(folder.path(), &Name::new("tape").unwrap()).unwrap();
    let streams = cassette.interactions.iter().filter_map(|interaction| interaction.response());
    let mut streams = streams
        .map(|response| Messages::of(response, &Protocols::default()))
        .filter(|messages| messages.list.len() > 9);
    streams.next().unwrap()
}

/// What an assertion says when it fails.
fn panicked(assertion: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(assertion)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

fn break_it(folder: &Path) {
    let file = folder.join("tape.json");
    let text = fs::read_to_string(&file).unwrap();
    let broken = text.replace(r#""reasoning": "The""#, r#""reasoning": 7"#);
    assert_ne!(broken, text);
    fs::write(&file, broken).unwrap();
}

#[test]
fn a_trace_that_is_in_order_passes() {
    assert_order!(["call", "return", "call", "return"], "(call return)+");
    assert_order!(vec!["call".to_owned()], "call|_ # whatever");
    assert_order!(&streamed(), "reasoning_message+ (_)+ [DONE]");
    assert_order!([json!({"type": "a", "n": {"is": 1}}), json!({"type": "b"})], "a[n.is=1] b");
}

/// An event of an SDK.
#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    RunStarted,
    TextDelta { text: &'static str },
    RunFinished { usage: Option<u32> },
}

#[test]
fn the_events_of_an_sdk_are_a_trace() {
    let delta = |text| Event::TextDelta { text };
    let finished = Event::RunFinished { usage: Some(7) };
    let events = vec![Event::RunStarted, delta("a"), delta("b"), finished];

    assert_order!(&events, r#"run_started text_delta[text="a"] text_delta run_finished[usage=7]"#);
    assert_order!(events.iter().skip(1), @"text_delta+ run_finished");
    let unkeyed = panicked(|| assert_order!([HashMap::from([((1, 2), 3)])], "_"));
    assert!(unkeyed.contains("cannot be told as JSON: key must be a string"), "{unkeyed}");
    assert_order!(events, "run_started text_delta+ run_finished");
}

#[test]
fn a_trace_is_a_snapshot_that_is_an_order() {
    assert_order!(&streamed(), @"
    reasoning_message+ assistant_message+ approval_request_message+ stop_reason
    usage_statistics [DONE]
    ");
    assert_order!(["a b", "ping", "text.delta", "text.delta", "[DONE]"], @r#""a b" text.delta+ [DONE]"#);
    assert_order!(&streamed());
}

#[test]
fn a_trace_that_is_not_in_order_is_explained() {
    let messages = streamed();

    let told = panicked(|| {
        assert_order!(&messages, "reasoning_message+ approval_request_message+ usage_statistics");
    });

    assert_snapshot!(told, @"
    the trace is not in order
    expected `approval_request_message` or `reasoning_message` after `reasoning_message`, got `assistant_message`
    expected `approval_request_message` or `usage_statistics` after `approval_request_message`, got `stop_reason`
    expected the end of the stream after `usage_statistics`, got `[DONE]`

      reasoning_message ×14
    + assistant_message ×6                not expected
      approval_request_message ×4
    + stop_reason                         not expected
      usage_statistics
    + [DONE]                              not expected
    ");
}

#[test]
fn an_order_that_cannot_be_read_is_told_as_such() {
    assert_snapshot!(panicked(|| assert_order!(["a"], "a | (b c")), @"
    the order cannot be read
    this group is not closed
      1 | a | (b c
        |     ^
    ");
}

#[test]
fn a_value_of_the_shape_passes() {
    let agent =
        json!({"id": "agent-9064a366c1f04315", "tools": [{"name": "search"}], "owner": null});

    assert_shape!(
        agent,
        "
        object
          id: Id<agent>
          tools: [object]
            name: string
          owner: string | null
        "
    );
    assert_shape!(agent, @"
    object
      id: Id<agent>
      owner: null
      tools: [object]
        name: string
    ");
}

#[test]
fn a_value_of_another_shape_is_explained() {
    let agent = json!({"id": 7, "tools": [{}]});

    assert_snapshot!(
        panicked(|| assert_shape!(agent, "object\n  id: Id\n  tools: [object]\n    name: string")),
        @r#"
    the value has another shape
      /id: expected Id, found the integer 7
      /tools/0: expected the field `name`: string, found none

    the value
    {
      "id": 7,
      "tools": [
        {}
      ]
    }
    "#
    );
}

#[test]
fn a_contract_that_is_kept_passes() {
    let folder = accepted();

    assert_contract!(folder.path());
    assert_contract!(folder.path().join("tape.json"));
}

#[test]
fn a_contract_that_was_widened_by_hand_is_kept() {
    let folder = accepted();
    let stream = "POST-v1-agents-agent_id-messages-stream-200-event-stream.snap";
    let file = folder.path().join("contracts").join(stream);
    let text = fs::read_to_string(&file).unwrap();
    let widened = text.replace("[DONE]", "[DONE]?");
    assert_ne!(widened, text);
    fs::write(&file, &widened).unwrap();

    assert_contract!(folder.path());

    assert_eq!(fs::read_to_string(&file).unwrap(), widened);
}

#[test]
fn a_protocol_of_ones_own_tells_the_types_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let config = "[[protocol]]\ntag = '/step'\nkeys = '/part'\nkeep-alive = 'tick'\n";
    fs::write(folder.path().join("retape.toml"), config).unwrap();
    let trace = [
        json!({"type": "a", "step": "open"}),
        json!({"type": "a", "step": "word", "part": 1}),
        json!({"type": "a", "step": "tick"}),
        json!({"type": "a", "step": "word", "part": 1}),
        json!({"type": "end"}),
    ];
    let package = folder.path().join("package");

    let (text, _) = order_snapshot(&package, &trace);
    let out_of_order = panicked(|| check_order(&package, &trace, "open end"));
    check_order(&package, &trace, "open word+ end");

    assert_eq!(text, "open word+ end");
    assert!(out_of_order.contains("the trace is not in order"), "{out_of_order}");
    assert_order!(&trace, "a+ end");

    fs::write(folder.path().join("retape.toml"), "[[protocol]\n").unwrap();
    let unread = panicked(|| check_order(&package, &trace, "open word+ end"));
    assert!(unread.contains("retape.toml"), "{unread}");
}

#[test]
fn a_snapshot_of_an_order_is_held_by_meaning() {
    let stream = |pieces: usize| {
        let delta = |index| json!({"type": "text_delta", "index": index});
        let whole = |kind: &str| json!({"type": kind});
        let calls = [whole("tool_call"), whole("tool_call")];
        let said = (0..pieces).map(delta).chain(calls);
        std::iter::once(whole("start")).chain(said).chain([whole("end")]).collect::<Vec<_>>()
    };

    assert_order!(&stream(2), @"start text_delta+ tool_call tool_call end");
    assert_order!(&stream(3), @"start text_delta+ tool_call tool_call end");
    assert_order!(&stream(3), @"start (text_delta | tool_call)* end");
    let (written, _) = order_snapshot(env!("CARGO_MANIFEST_DIR"), stream(3));
    assert_eq!(written, "start text_delta+ tool_call tool_call end");
    let refused =
        panicked(|| assert_order!(&stream(0), @"start text_delta+ tool_call tool_call end"));
    assert!(refused.contains("snapshot assertion"), "{refused}");
    let unread = panicked(|| assert_order!(&stream(0), @"start ("));
    assert!(unread.contains("snapshot assertion"), "{unread}");
}

/// What another test process says to a folder, insta being told what to do, and whether it failed.
fn asserted(cassettes: &Path, update: &str) -> (String, bool) {
    let output = asserting(cassettes, update).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), !output.status.success())
}

fn asserting(cassettes: &Path, update: &str) -> Command {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "assertion::the_cassettes_of_the_environment_keep_their_contracts"])
        .env(CASSETTES, cassettes)
        .env("INSTA_UPDATE", update)
        .env("INSTA_OUTPUT", "none")
        .env("RUST_BACKTRACE", "0")
        .env_remove("INSTA_FORCE_PASS");
    test
}

const CASSETTES: &str = "RETAPE_TEST_ASSERTED";
const STRICT: &str = "RETAPE_TEST_STRICT";

#[test]
fn the_cassettes_of_the_environment_keep_their_contracts() {
    let cassettes = std::env::var_os(CASSETTES).unwrap_or_else(|| "cassettes/mcp".into());

    if std::env::var_os(STRICT).is_some() {
        assert_contract!(cassettes, strict);
    } else {
        assert_contract!(cassettes);
    }
}

#[test]
fn what_is_unproven_is_told_and_fails_where_that_is_asked_for() {
    let folder = accepted();
    let file = folder.path().join("tape.json");
    let text = fs::read_to_string(&file).unwrap();
    let is_question = |line: &&str| line.contains("\"approval_request_message\"");
    let question = text.lines().find(is_question).unwrap();
    fs::write(&file, text.replace(question, &question.replace("\"sender_id\": null, ", "")))
        .unwrap();

    let mut test = asserting(folder.path(), "no");
    let lenient = test.output().unwrap();
    let strict = test.env(STRICT, "1").output().unwrap();

    let unproven = "unproven: POST …/stream: `approval_request_message.sender_id` can be missing";
    let told = String::from_utf8(lenient.stderr).unwrap();
    assert!(lenient.status.success() && told.contains(unproven), "{told}");
    assert!(!strict.status.success());
    assert!(String::from_utf8(strict.stdout).unwrap().contains(unproven));
}

#[test]
fn a_contract_that_is_broken_panics_and_tells_what_is_wrong() {
    let folder = accepted();
    break_it(folder.path());

    let (told, failed) = asserted(folder.path(), "no");

    assert!(failed);
    let told = &told[told.find("contracts are not kept").unwrap()..];
    assert_snapshot!(&told[..told.find("\nhint").unwrap()], @"
    contracts are not kept

    breaking: POST …/messages/stream: `reasoning_message.reasoning` can be `integer`
    1 breaking; 1 cassette

    POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream
      breaking   type-new cb76c3759262
        `reasoning_message.reasoning` can be `integer`
        possible now: integer
        shown by tape.json, interaction 4, event 1, and 2 more answers
    ");
}

#[test]
fn what_is_broken_waits_for_review_or_is_taken_as_insta_is_told() {
    let folder = accepted();
    let stream = "POST-v1-agents-agent_id-messages-stream-200-event-stream.snap";
    let accepted = folder.path().join("contracts").join(stream);
    let waiting = accepted.with_extension("snap.new");
    let before = fs::read_to_string(&accepted).unwrap();
    break_it(folder.path());

    assert!(asserted(folder.path(), "no").1);
    assert!(!waiting.exists());
    assert!(asserted(folder.path(), "new").1);
    assert!(fs::read_to_string(&waiting).unwrap().contains("reasoning: integer | string"));
    assert_eq!(fs::read_to_string(&accepted).unwrap(), before);
    assert!(!asserted(folder.path(), "always").1);
    assert!(fs::read_to_string(&accepted).unwrap().contains("reasoning: integer | string"));
    assert!(!asserted(folder.path(), "no").1);
    assert!(!waiting.exists());
}

#[test]
fn endpoints_that_differ_in_a_slash_are_snapshots_of_their_own() {
    let folder = accepted();
    let tape = fs::read_to_string(folder.path().join("tape.json")).unwrap();
    let other = tape.replace(r#""/v1/tools/""#, r#""/v1/tools""#);
    fs::write(folder.path().join("other.json"), other).unwrap();

    assert!(asserted(folder.path(), "no").1);
    assert!(!asserted(folder.path(), "always").1);
    assert!(!asserted(folder.path(), "no").1);
}

#[test]
fn one_cassette_is_held_against_the_contracts_above_it() {
    let folder = accepted();
    fs::create_dir(folder.path().join("more")).unwrap();
    let other = folder.path().join("more/other.json");
    fs::copy(folder.path().join("tape.json"), &other).unwrap();
    break_it(folder.path());

    assert_contract!(&other);
    let (told, failed) = asserted(&folder.path().join("tape.json"), "no");

    assert!(failed && told.contains("shown by tape.json, interaction 4"), "{told}");
}

#[test]
fn a_contract_that_no_cassette_shows_any_more_is_told() {
    let folder = accepted();
    fs::remove_file(folder.path().join("tape.json")).unwrap();

    let told = panicked(|| assert_contract!(folder.path()));

    assert!(told.contains("PUT /v1/tools/ -> 200 application/json\n  trim"), "{told}");
}

#[test]
fn where_there_is_nothing_to_check_an_assertion_fails() {
    let folder = tempfile::tempdir().unwrap();

    let told = panicked(|| assert_contract!(folder.path()));
    assert!(told.contains("no cassette and no contract to check"), "{told}");
    let told = panicked(|| assert_contract!(folder.path().join("missing.json")));
    assert!(told.contains("no cassette") && told.contains("missing.json"), "{told}");
}

#[test]
fn a_cassette_that_cannot_be_read_panics_with_its_path() {
    let folder = accepted();
    fs::write(folder.path().join("tape.json"), "{").unwrap();

    let told = panicked(|| assert_contract!(folder.path()));

    assert!(told.contains("tape.json") && told.contains("not a cassette"), "{told}");
}
