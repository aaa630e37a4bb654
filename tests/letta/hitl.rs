//! A: a person approves, denies or answers a tool call.

use retape::assert_order;
use serde_json::Value;

use super::{Tape, of_type, order, text};

const SECRET_CODE: &str = "740845635798344975";
const REASON: &str = "You don't need to call the tool, the secret code is 740845635798344975";
/// The three answers, and what the tool's return says of them.
const ANSWERS: [(&str, &str); 3] =
    [("approve", "success"), ("deny", "error"), ("return", "success")];

fn awaited_call(asked: &Value) -> String {
    text(&asked["tool_call"]["tool_call_id"])
}

#[test]
fn a1_an_approval_with_nothing_pending_is_refused() {
    let tape = Tape::of("errors/nothing_pending");

    let plain = &tape.plain()[0];
    assert_eq!(plain.status, 400);
    assert!(text(&plain.json["detail"]).contains("No tool call is currently awaiting approval"));
    let streamed = &tape.streams()[0];
    assert_order!(&streamed.messages, order("S E [DONE]"));
    assert!(text(&streamed.one("error_message")).contains("No tool call is currently awaiting"));
}

#[test]
fn a2_a_user_message_while_an_approval_is_pending_is_refused() {
    let tape = Tape::of("errors/user_message_while_pending");

    let refused = &tape.plain()[1];
    assert_eq!(refused.status, 409);
    let said = text(&refused.json["detail"]["message"]);
    assert!(said.contains("Please approve or deny the pending request before continuing"));
    assert_order!(&tape.streams()[0].messages, order("S E [DONE]"));
    assert_eq!(tape.plain()[2].stop_reason(), "end_turn", "the approval still works");
}

#[test]
fn a3_a_wrong_tool_call_id_is_refused_and_the_right_one_succeeds() {
    let tape = Tape::of("errors/wrong_tool_call_id");

    let [asked, wrong, right] = tape.plain().try_into().ok().unwrap();
    let pending = awaited_call(&asked.one("approval_request_message"));
    assert_eq!(wrong.status, 400);
    assert!(text(&wrong.json["detail"]).contains("Invalid tool call IDs"));
    assert_ne!(tape.asked(&wrong)["messages"][0]["approvals"][0]["tool_call_id"], pending);
    assert_eq!(tape.asked(&right)["messages"][0]["approvals"][0]["tool_call_id"], pending);
    assert_eq!(right.one("tool_return_message")["status"], "success");
}

#[test]
fn a4_a_request_that_leads_to_an_approval_ends_with_it() {
    let tape = Tape::of("hitl/approve_plain");

    let asked = &tape.plain()[0];
    assert_order!(&asked.messages, order("R A Q S Z"));
    assert_eq!(asked.stop_reason(), "requires_approval");
    let request = asked.one("approval_request_message");
    assert_eq!(request["tool_calls"].as_array().unwrap().len(), 1);
    assert!(!text(&request["tool_call"]["arguments"]).contains("request_heartbeat"));
}

#[test]
fn a5_the_same_streamed_and_the_context_can_be_read() {
    for (mode, expected) in [("tokens", "R+ A+ Q+ S Z [DONE]"), ("steps", "R A Q S Z [DONE]")] {
        let tape = Tape::of(&format!("hitl/approve_{mode}"));

        assert_order!(&tape.streams()[0].messages, order(expected));
        assert_eq!(tape.streams()[0].stop_reason(), "requires_approval");
        assert_eq!(tape.answers("GET /v1/agents/*/context")[0].status, 200);
    }
}

#[test]
fn a6_a_tool_that_needs_no_approval_any_more_is_called() {
    let tape = Tape::of("hitl/approval_off");

    let [_, called] = tape.streams().try_into().ok().unwrap();
    assert_order!(&called.messages, order("R+ A* C+ T R+ (A+ | C+ T) S Z [DONE]"));
    assert_eq!(called.stop_reason(), "end_turn");
}

#[test]
fn a7_an_approved_tool_returns() {
    for (mode, expected) in [("tokens", "T R+ A+ S Z [DONE]"), ("steps", "T R A S Z [DONE]")] {
        let tape = Tape::of(&format!("hitl/approve_{mode}"));

        let [asked, approved, _] = tape.streams().try_into().ok().unwrap();
        assert_order!(&approved.messages, order(expected));
        let returned = approved.one("tool_return_message");
        let pending = awaited_call(&asked.one("approval_request_message"));
        assert_eq!(
            (&returned["tool_call_id"], &returned["status"]),
            (&pending.into(), &"success".into())
        );
    }
}

#[test]
fn a8_what_came_after_the_last_message_is_the_response_and_the_return() {
    let tape = Tape::of("hitl/approve_plain");

    let [before, after, ..] = &tape.answers("GET /v1/agents/*/messages")[..] else { panic!() };
    assert_order!(&before.messages, order("Y U R A Q"));
    assert_order!(&after.messages, order("P T R A"));
    let response = after.one("approval_response_message");
    assert_eq!(response["approve"], true);
    assert_eq!(response["approvals"][0]["approve"], true);
    let pending = awaited_call(&before.one("approval_request_message"));
    assert_eq!(text(&response["approvals"][0]["tool_call_id"]), pending);
}

#[test]
fn a9_the_conversation_goes_on_after_an_approval() {
    let tape = Tape::of("hitl/approve_tokens");

    let follow_up = tape.streams().pop().unwrap();
    assert_order!(&follow_up.messages, order("(R | A | C)+ S Z [DONE]"));
    assert_eq!(follow_up.stop_reason(), "end_turn");
}

#[test]
fn a10_a_model_that_fails_behind_an_answer_bricks_nothing() {
    for (answer, _) in ANSWERS {
        let tape = Tape::of(&format!("hitl/{answer}_model_fails_tokens"));

        let [failed, follow_up] = tape.streams().try_into().ok().unwrap();
        assert_order!(&failed.messages, order("T? S+ E [DONE]?"));
        assert!(text(&failed.one("error_message")["detail"]).contains("TEST: scripted failure"));
        assert_order!(&follow_up.messages, order("R (A | C T) S Z [DONE]"));
        assert_eq!(follow_up.stop_reason(), "end_turn");

        let tape = Tape::of(&format!("hitl/{answer}_model_fails_plain"));
        assert_eq!(tape.plain()[1].status, 500);
        assert_order!(&tape.streams()[0].messages, order("R (A | C T) S Z [DONE]"));
    }
}

#[test]
fn a11_an_answer_may_come_with_a_user_message() {
    for (answer, status) in ANSWERS {
        let tape = Tape::of(&format!("hitl/{answer}_with_user_message_plain"));

        let [_, answered] = tape.plain().try_into().ok().unwrap();
        assert_order!(&answered.messages, order("T R A S Z"));
        assert_eq!(answered.one("tool_return_message")["status"], status);
        assert_order!(&tape.streams()[0].messages, order("(R | A | C)+ S Z [DONE]"));
        assert_order!(tape.history(), order("Y U R A Q P T U R A U R A"));

        let tape = Tape::of(&format!("hitl/{answer}_with_user_message_tokens"));
        assert_order!(&tape.streams()[0].messages, order("T? R+ A+ S Z [DONE]"));
    }
}

#[test]
fn a12_a_denial_is_told_with_its_reason() {
    for mode in ["plain", "steps", "tokens"] {
        let tape = Tape::of(&format!("hitl/deny_{mode}"));

        let after = &tape.answers("GET /v1/agents/*/messages")[1];
        assert_order!(&after.messages, order("P T R A"));
        let response = after.one("approval_response_message");
        assert_eq!(response["approve"], false);
        assert_eq!(response["approvals"][0]["reason"], REASON);
        let returned = after.one("tool_return_message");
        assert_eq!(returned["status"], "error");
        assert!(text(&returned["tool_return"]).contains(REASON), "{returned}");
        assert!(text(&after.one("assistant_message")["content"]).contains(SECRET_CODE));
    }
    // Streamed, the return of a tool that was not run is not told.
    let streamed = &Tape::of("hitl/deny_tokens").streams()[1];
    assert_order!(&streamed.messages, order("R+ A+ S Z [DONE]"));
}

#[test]
fn a13_what_the_client_returns_is_what_the_tool_returned() {
    for mode in ["plain", "steps", "tokens"] {
        let tape = Tape::of(&format!("hitl/return_{mode}"));

        let after = &tape.answers("GET /v1/agents/*/messages")[1];
        assert_order!(&after.messages, order("P T R A"));
        let approval = &after.one("approval_response_message")["approvals"][0];
        assert_eq!(
            (&approval["type"], &approval["tool_return"]),
            (&"tool".into(), &SECRET_CODE.into())
        );
        let returned = after.one("tool_return_message");
        assert_eq!(
            (&returned["status"], &returned["tool_return"]),
            (&"success".into(), &SECRET_CODE.into())
        );
        assert!(text(&after.one("assistant_message")["content"]).contains(SECRET_CODE));
    }
}

#[test]
fn a14_four_calls_at_once_have_four_returns() {
    let tape = Tape::of("hitl/parallel_plain");

    let [asked, answered] = tape.plain().try_into().ok().unwrap();
    assert_order!(&asked.messages, order("R A C Q S Z"));
    let dice = asked.one("tool_call_message")["tool_calls"].as_array().unwrap().clone();
    let pending = asked.one("approval_request_message")["tool_calls"].as_array().unwrap().clone();
    let arguments: Vec<String> = pending.iter().map(|call| text(&call["arguments"])).collect();
    for (arguments, said) in arguments.iter().zip(["hello world", "hello letta", "hello test"]) {
        assert!(arguments.contains(said), "{arguments}");
    }
    assert_order!(&answered.messages, order("T R A S Z"));
    let returns = answered.one("tool_return_message")["tool_returns"].as_array().unwrap().clone();
    let of = |call: &Value| {
        let one = returns.iter().find(|one| one["tool_call_id"] == call["tool_call_id"]).unwrap();
        (text(&one["status"]), text(&one["tool_return"]))
    };
    let said: Vec<_> = pending.iter().chain(&dice).map(of).collect();
    assert_eq!(returns.len(), 4);
    assert_eq!(said[0], ("success".to_owned(), "1116".to_owned()), "approved");
    assert_eq!(said[1].0, "error", "denied");
    assert_eq!(said[2], ("success".to_owned(), SECRET_CODE.to_owned()), "by the client");
    assert_eq!(said[3], ("success".to_owned(), "8".to_owned()), "needs no approval");
    let history = &tape.answers("GET /v1/agents/*/messages")[1];
    assert_order!(&history.messages, order("U R A C Q P T R A"));
    assert_order!(&tape.streams()[0].messages, order("R+ A+ S Z [DONE]"));

    let tape = Tape::of("hitl/parallel_tokens");
    let [asked, answered, _] = tape.streams().try_into().ok().unwrap();
    assert_order!(&asked.messages, order("R+ A+ Q+ C+ S Z [DONE]"));
    assert_order!(&answered.messages, order("T R+ A+ S Z [DONE]"));
    assert_eq!(answered.one("tool_return_message")["tool_returns"].as_array().unwrap().len(), 4);
}

#[test]
fn a15_the_last_stop_reason_changes_over_time() {
    for (answer, _) in ANSWERS {
        let tape = Tape::of(&format!("hitl/{answer}_plain"));

        assert_eq!(tape.stop_reasons(), ["null", "requires_approval", "end_turn"]);
    }
    assert_eq!(of_type(&Tape::of("hitl/approve_plain").history(), "user_message").len(), 3);
}
