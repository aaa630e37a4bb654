//! C: through the whole server.

use std::collections::BTreeSet;

use retape::cassette::Peer;
use retape::{Mode, Session, assert_order, assert_shape};
use serde_json::Value;

use super::{Tape, order, text};
use crate::support::socket::{Ended, Socket};

#[test]
fn c1_agents_are_created_found_paged_changed_and_deleted() {
    let tape = Tape::of("e2e/agents");

    let lists = tape.answers("GET /v1/agents");
    let found: Vec<usize> = lists.iter().map(|it| it.json.as_array().unwrap().len()).collect();
    assert_eq!(found, [1, 1, 2, 1, 0, 1, 0], "by name, by tags, three pages, renamed, deleted");
    let states = tape.answers("GET /v1/agents/*");
    assert_shape!(states[0].json["blocks"], "[object]\n  label: string\n  value: string\n  …");
    assert_eq!(states.last().unwrap().status, 404);
    let deleted = tape.answers("DELETE /v1/agents/*");
    assert!(deleted.iter().all(|it| text(&it.json["message"]).contains("successfully deleted")));
}

#[test]
fn c2_what_belongs_together_says_so() {
    let tape = Tape::of("e2e/ids");

    let stream = &tape.streams()[0];
    assert_order!(&stream.messages, order("R+ A+ C+ T R+ A+ S Z [DONE]"));
    let messages: Vec<Value> =
        stream.values().into_iter().filter(|it| it["id"].is_string()).collect();
    let runs: BTreeSet<String> = messages.iter().map(|it| text(&it["run_id"])).collect();
    assert_eq!(runs.len(), 1, "one run");
    let mut steps: Vec<String> = messages.iter().map(|it| text(&it["step_id"])).collect();
    steps.dedup();
    assert_eq!(steps.len(), 2, "two steps, one after the other");
    let listed = &tape.answers("GET /v1/runs/*/steps")[0];
    let listed: Vec<String> =
        listed.json.as_array().unwrap().iter().map(|step| text(&step["id"])).collect();
    assert_eq!(listed, steps);
    let otid = text(&tape.asked(stream)["messages"][0]["otid"]);
    let echoed = super::of_type(&tape.history(), "user_message");
    assert_eq!(text(&echoed[0]["otid"]), otid, "the client's own");
}

#[test]
fn c3_tokens_come_one_by_one_and_pings_anywhere() {
    let tape = Tape::of("e2e/pings");

    let pings = |interaction: usize| {
        let response = tape.cassette.interactions[interaction].response().unwrap();
        let body = response.body.bytes();
        String::from_utf8_lossy(&body).matches("\"message_type\":\"ping\"").count()
    };
    let [slow, pinged, silent] = tape.streams().try_into().ok().unwrap();
    for stream in [&slow, &pinged, &silent] {
        assert_order!(&stream.messages, order("R+ A+ S Z [DONE]"));
        assert!(stream.all("assistant_message").len() > 1, "several pieces");
    }
    assert!(pings(slow.number) >= 2, "one at the beginning, one while the model takes its time");
    assert_eq!((pings(pinged.number), pings(silent.number)), (1, 0));
}

#[test]
fn c4_plain_stepwise_and_by_tokens_the_same_is_said() {
    let tape = Tape::of("e2e/same_messages");

    let [steps, tokens] = tape.streams().try_into().ok().unwrap();
    assert_order!(&tape.plain()[0].messages, order("R A S Z"));
    assert_order!(&steps.messages, order("R A S Z [DONE]"));
    assert_order!(&tokens.messages, order("R+ A+ S Z [DONE]"));
    assert_order!(tape.history(), order("Y (U R A) (U R A) (U R A)"));
}

#[test]
fn c5_chat_completions_are_streamed_to_their_end() {
    let tape = Tape::of("e2e/chat_completions");

    let [streamed, plain] = tape.answers("POST /v1/chat/completions").try_into().ok().unwrap();
    let chunks = streamed.values();
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"));
    let ends: Vec<&Value> =
        chunks.iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).collect();
    let (last, before) = ends.split_last().unwrap();
    assert_eq!(**last, "stop");
    assert!(before.iter().all(|end| end.is_null()));
    assert_eq!(streamed.messages.last().unwrap().data, "[DONE]");
    assert_eq!(plain.status, 400, "this server only streams them");
}

#[test]
fn c6_a_file_is_uploaded_waited_for_and_read() {
    let tape = Tape::of("e2e/files");

    let upload = &tape.answers("POST /v1/folders/*/upload")[0];
    let sent = &tape.cassette.interactions[upload.number].request;
    assert!(
        sent.headers.get("content-type").unwrap().starts_with("multipart/form-data; boundary=")
    );
    let polls = tape.answers("GET /v1/folders/*/files/*");
    let mut states: Vec<String> =
        polls.iter().map(|it| text(&it.json["processing_status"])).collect();
    states.dedup();
    assert_order!(&states, "pending? parsing? embedding? completed");
    let listed = &tape.answers("GET /v1/folders/*/files")[0].json;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let opened = &tape.answers("GET /v1/agents/*/files")[0].json["files"];
    assert_eq!(opened.as_array().unwrap().len(), 1);
}

#[test]
fn c7_an_agent_file_is_imported_as_it_was_exported() {
    let tape = Tape::of("e2e/agent_file");

    let exported = &tape.answers("GET /v1/agents/*/export")[0];
    let import = &tape.answers("POST /v1/agents/import")[0];
    let sent = &tape.cassette.interactions[import.number].request;
    let sent = String::from_utf8_lossy(&sent.body).into_owned();
    let part = sent.split_once("\r\n\r\n").unwrap().1.rsplit_once("\r\n--").unwrap().0;
    let part: Value = serde_json::from_str(part).unwrap();
    assert_eq!(part["agents"].as_array().unwrap().len(), 1);
    assert_eq!(part["blocks"], exported.json["blocks"]);
    assert_eq!(import.json["agent_ids"].as_array().unwrap().len(), 1);
    assert_order!(tape.history(), order("Y U R A"));
}

#[test]
fn c9_outages_of_the_model_provider_are_told_as_they_were() {
    let tape = Tape::of("e2e/outage");

    let answers = tape.plain();
    let statuses: Vec<u16> = answers.iter().map(|it| it.status).collect();
    assert_eq!(statuses.last(), Some(&200), "it goes on working");
    assert!(statuses[..statuses.len() - 1].iter().all(|status| *status >= 400), "{statuses:?}");
    assert_eq!(answers[0].status, 429);
    assert_eq!(text(&answers[0].json["error"]["type"]), "llm_rate_limit");
}

#[test]
fn conversations_with_one_agent_stay_apart() {
    let tape = Tape::of("e2e/conversations");

    let said = tape.answers("POST /v1/conversations/*/messages");
    let streams = said.iter().map(|answer| (answer.number, &answer.messages));
    assert!(retape::contract::streams::shared(streams, &["id", "run_id", "otid"]).is_empty());
    for answer in &said {
        assert_order!(&answer.messages, order("R A S Z [DONE]"));
    }
    let [one, _, other, _] =
        tape.answers("GET /v1/conversations/*/messages").try_into().ok().unwrap();
    assert_order!(&one.messages, order("Y U R A"));
    assert_order!(&other.messages, order("Y U R A"));
}

#[test]
fn memory_is_attached_changed_searched_and_detached() {
    let tape = Tape::of("e2e/memory");

    let found = &tape.answers("GET /v1/agents/*/archival-memory/search")[0].json;
    assert!(text(&found["results"]).contains("The sky is blue."), "{found}");
    assert!(tape.cassette.interactions.iter().all(|it| it.response().unwrap().status < 300));
}

#[test]
fn a_run_is_polled_to_its_end_and_its_stream_goes_on_where_it_was() {
    let tape = Tape::of("e2e/runs");

    assert_eq!(tape.runs().last().unwrap(), "completed");
    let [whole, rest] = tape.answers("POST /v1/runs/*/stream").try_into().ok().unwrap();
    assert_eq!(whole.values(), tape.streams()[0].values());
    let numbers = |answer: &super::Answer| -> Vec<u64> {
        answer.values().iter().filter_map(|it| it["seq_id"].as_u64()).collect()
    };
    let after = tape.asked(&rest)["starting_after"].as_u64().unwrap();
    assert_eq!(
        numbers(&rest),
        numbers(&whole).split_off(numbers(&whole).partition_point(|it| *it <= after))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c8_each_message_over_a_websocket_is_checked_and_answered_as_recorded() {
    let tape = Tape::of_any("letta-app/deny");
    let session = Session::builder("letta-app/deny").mode(Mode::Replay).start().await.unwrap();

    let mut socket = Socket::open(&session.url());
    for frame in &tape.cassette.interactions[0].response().unwrap().frames {
        let Some(message) = frame.message() else { continue };
        let message = std::str::from_utf8(message).unwrap();
        match frame.from {
            Peer::Client => socket.send(message),
            Peer::Server => assert_eq!(socket.read().unwrap(), message),
        }
    }
    socket.close(1000, "");
    session.finish().await.unwrap().all_played().unwrap();

    // What was not recorded is refused.
    let session = Session::builder("letta-app/deny").mode(Mode::Replay).start().await.unwrap();
    let mut socket = Socket::open(&session.url());
    socket.send(r#"{"type":"runtime_start","mode":"another"}"#);
    assert!(matches!(socket.read(), Err(Ended::Closed(4470, _))));
    assert_eq!(session.stop().await.unwrap().misses.len(), 1);
}
