//! B: runs that are cancelled, that fail, and that the client leaves.

use std::collections::BTreeSet;

use retape::assert_order;
use retape::cassette::End;
use retape::message::Message;

use super::{Tape, of_type, order, text};

const CANCEL: &str = "POST /v1/agents/*/messages/cancel";

#[test]
fn b1_a_run_is_cancelled_before_it_starts_and_once_more() {
    let tape = Tape::of("cancel/before_start");

    let [first, again, too_late] = tape.answers(CANCEL).try_into().ok().unwrap();
    assert_eq!((first.status, again.status, too_late.status), (200, 200, 409));
    assert_eq!(first.json, again.json, "it is no error the second time");
    assert_eq!(tape.runs(), ["cancelled"]);
    assert_eq!(tape.stop_reasons(), ["cancelled"]);
}

#[test]
fn b1_b3_the_first_step_is_told_of_as_a_whole_and_no_half_step() {
    let tape = Tape::of("cancel/between_steps");

    assert_order!(&tape.streams()[0].messages, order("C T S"));
    assert_eq!(tape.streams()[0].stop_reason(), "cancelled");
    assert_eq!(tape.runs(), ["cancelled"]);
    assert_eq!(tape.stop_reasons(), ["cancelled"]);
    assert_eq!(tape.plain()[0].stop_reason(), "end_turn", "a new run works");
}

#[test]
fn b2_a_stream_that_is_cancelled_ends_behind_some_tokens() {
    let tape = Tape::of("cancel/mid_tokens");

    let cancelled = &tape.streams()[0];
    assert_order!(&cancelled.messages, order("R+ A+ S"));
    assert_eq!(cancelled.stop_reason(), "cancelled");
    let cancel = &tape.cassette.interactions[tape.answers(CANCEL)[0].number];
    assert_eq!(cancel.after[0].interaction, cancelled.number, "it was cancelled while it was sent");
    assert_eq!(tape.runs(), ["cancelled"]);

    // Of a run that was not cancelled it keeps what the client saw, and nothing else.
    let tape = Tape::of("cancel/client_leaves");
    let streams = tape.streams().into_iter().chain(tape.answers("POST /v1/runs/*/stream"));
    let seen: BTreeSet<_> = streams.flat_map(|stream| said(&stream.messages)).collect();
    assert_eq!(seen.len(), 2);
    assert_eq!(said(&tape.history()), seen);
}

const A: &str = "assistant_message";
const R: &str = "reasoning_message";

/// What the agent itself said, by the types and identifiers of its messages.
fn said(messages: &[Message]) -> BTreeSet<(String, String)> {
    let by_agent = [A, R].into_iter().flat_map(|tag| {
        of_type(messages, tag).into_iter().map(move |it| (tag.to_owned(), text(&it["id"])))
    });
    by_agent.collect()
}

#[test]
fn b4_a_tool_that_runs_comes_to_its_end() {
    let tape = Tape::of("cancel/while_tool_runs");

    assert_order!(&tape.streams()[0].messages, order("R+ A+ C+ S"));
    assert_eq!(tape.streams()[0].stop_reason(), "cancelled");
    assert_order!(tape.history(), order("Y U R A C T"));
    assert_eq!(of_type(&tape.history(), "tool_return_message")[0]["status"], "success");
    assert_eq!(tape.runs(), ["cancelled"]);
}

#[test]
fn b5_an_approval_that_was_taken_back_is_awaited_no_more() {
    let tape = Tape::of("cancel/while_waiting");

    assert_eq!(tape.stop_reasons(), ["requires_approval", "cancelled", "end_turn"]);
    assert_eq!(tape.runs(), ["cancelled"]);
    let [before, after, last] =
        tape.answers("GET /v1/agents/*").try_into().ok().unwrap_or_else(|| panic!());
    assert!(before.json["pending_approval"].is_object());
    assert!(after.json["pending_approval"].is_null() && last.json["pending_approval"].is_null());
    assert_order!(tape.history(), order("Y U R A Q P T"));
    assert_order!(&tape.plain().pop().unwrap().messages, order("R A C T R A S Z"));
}

#[test]
fn b6_each_call_that_was_pending_is_denied() {
    let tape = Tape::of("cancel/while_waiting_for_several");

    assert_eq!(tape.plain()[1].status, 409, "a message while it waits");
    let history = tape.history();
    assert_order!(&history, order("Y U R A C Q P T"));
    let returned = &of_type(&history, "tool_return_message")[0]["tool_returns"];
    let returned = returned.as_array().unwrap();
    let calls = of_type(&history, "approval_request_message")[0]["tool_calls"].clone();
    for call in calls.as_array().unwrap() {
        let one = returned.iter().find(|it| it["tool_call_id"] == call["tool_call_id"]).unwrap();
        assert_eq!(one["status"], "error");
        assert!(text(&one["tool_return"]).contains("denied"), "{one}");
    }
    assert_eq!(tape.plain()[2].stop_reason(), "end_turn", "a new run works");
}

#[test]
fn b7_what_the_client_saw_of_a_background_run_is_what_is_kept() {
    let tape = Tape::of("cancel/mid_tokens_in_background");

    let seen = &tape.streams()[0];
    assert_order!(&seen.messages, order("R+ A+ S [DONE]"));
    let again = &tape.answers("POST /v1/runs/*/stream")[0];
    assert_eq!(seen.values(), again.values(), "the stream of the run says the same again");
    // The server keeps nothing of a step that was cancelled, though the client saw some of it.
    let saw = said(&seen.messages);
    assert_eq!(saw.iter().map(|(tag, _)| tag.as_str()).collect::<Vec<_>>(), [A, R]);
    assert_eq!(tape.answers("GET /v1/runs/*/messages").remove(0).json, serde_json::json!([]));
    assert_order!(tape.history(), order("Y"));
    assert_eq!(tape.runs(), ["cancelled"]);
}

#[test]
fn b8_a_run_ends_by_the_cancellation_or_by_its_last_step() {
    let tape = Tape::of("cancel/with_max_steps");

    let [cancelled, last_step] = tape.streams().try_into().ok().unwrap();
    assert!(["cancelled", "max_steps"].contains(&cancelled.stop_reason().as_str()));
    assert_order!(&cancelled.messages, order("R+ A+ C+ T? S (Z [DONE])?"));
    assert_order!(&last_step.messages, order("R A C T S Z [DONE]"));
    assert_eq!(last_step.stop_reason(), "max_steps");
}

#[test]
fn b9_a_failure_of_the_model_is_told_and_kept_with_its_type() {
    let failures = [
        ("llm_error", "llm_error", "Error code: 500", "S E [DONE]?"),
        ("llm_gateway_timeout", "llm_error", "Error code: 504", "S E [DONE]?"),
        ("llm_rate_limit", "llm_rate_limit", "Error code: 429", "S E [DONE]?"),
        ("llm_authentication", "llm_authentication", "Error code: 401", "S E [DONE]?"),
        ("internal_error", "internal_error", "peer closed connection", "R+ S S E"),
    ];
    for (name, kind, cause, expected) in failures {
        let tape = Tape::of(&format!("cancel/{name}"));

        let failed = &tape.streams()[0];
        assert_order!(&failed.messages, order(expected));
        let [mut error] = failed.all("error_message").try_into().unwrap();
        assert_eq!(error["error_type"], kind, "{name}");
        assert!(text(&error["detail"]).contains(cause), "{name}: {error}");
        let run = &tape.answers("GET /v1/runs/*")[0].json;
        assert_eq!(
            (text(&run["status"]), text(&run["stop_reason"])),
            ("failed".into(), "llm_api_error".into())
        );
        // Its place in the stream is not kept.
        error["seq_id"] = serde_json::Value::Null;
        assert_eq!(run["metadata"]["error"], error, "{name}: what is kept is what was told");
        assert_eq!(
            (&run["id"], failed.stop_reason().as_str()),
            (&error["run_id"], "llm_api_error")
        );
        assert_eq!(tape.stop_reasons(), ["llm_api_error"], "{name}");
        assert_eq!(tape.plain()[0].stop_reason(), "end_turn", "{name}: it goes on working");
    }
}

#[test]
fn b10_a_client_that_leaves_is_recorded_as_such_and_may_come_back() {
    let tape = Tape::of("cancel/client_leaves");

    assert_eq!(tape.streams()[0].end, End::ClientClosed);
    let rest = &tape.answers("POST /v1/runs/*/stream")[0];
    assert_order!(&rest.messages, order("A+ S Z [DONE]"));
    assert_eq!(tape.runs().last().unwrap(), "completed");
    assert_order!(tape.history(), order("Y U R A"));
}
