//! D: the server works with tools, providers, other agents and MCP servers.

use std::fs;
use std::path::Path;

use retape::assert_order;
use retape::contract::streams::{happens_before, shared};
use serde_json::Value;

use super::{Tape, of_type, order, text};

/// The fields of Letta's messages that name something of one agent alone.
const OWN: [&str; 4] = ["id", "run_id", "step_id", "otid"];

#[test]
fn d1_a_server_says_that_it_is_well() {
    let tape = Tape::of("integration/health");

    let health = &tape.answers("GET /v1/health")[0].json;
    assert_eq!((&health["status"], &health["version"]), (&"ok".into(), &"0.16.8".into()));
}

#[test]
fn d2_tools_are_called_from_the_first_to_the_last_with_what_the_one_before_said() {
    let tape = Tape::of("integration/tool_graph");

    let stream = &tape.streams()[0];
    assert_order!(&stream.messages, order("(R? A? C T)+ S Z [DONE]"));
    let calls = stream.all("tool_call_message");
    let names: Vec<String> = calls.iter().map(|it| text(&it["tool_call"]["name"])).collect();
    assert_order!(names, "first_secret_word second_secret_word last_secret_word");
    let returns = stream.all("tool_return_message");
    for (said, called) in returns.iter().zip(&calls[1..]) {
        assert!(text(&called["tool_call"]["arguments"]).contains(&text(&said["tool_return"])));
    }
    for (call, returned) in calls.iter().zip(&returns) {
        assert_eq!(call["tool_call"]["tool_call_id"], returned["tool_call_id"]);
    }
}

#[test]
fn d3_the_providers_differ_in_what_they_say_before_a_call() {
    let of = |provider: &str| Tape::of(&format!("integration/provider_{provider}")).streams();
    let (anthropic, openai) = (of("anthropic"), of("openai"));

    // One order for all: what is optional is what not every provider does.
    for asked in [&anthropic, &openai] {
        assert_order!(&asked[0].messages, order("R* A* Q+ S Z [DONE]"));
        assert_order!(&asked[1].messages, order("T R* A+ S Z [DONE]"));
        assert_order!(&asked[2].messages, order("R? A S Z [DONE]"));
    }
    // Anthropic's models reason and say what they do first; OpenAI's call at once.
    assert_order!(&anthropic[0].messages, order("R+ A+ Q+ S Z [DONE]"));
    assert_order!(&openai[0].messages, order("Q+ S Z [DONE]"));
}

#[test]
fn d4_a_message_reaches_who_has_the_tag_and_nobody_else() {
    let tape = Tape::of("integration/multi_agent");

    let [direct, broadcast] = tape.streams().try_into().ok().unwrap();
    let lists = tape.answers("GET /v1/agents/*/messages");
    let [both, one, outsider] = &lists[..] else { panic!("three agents were asked") };
    assert!(happens_before(&tape.cassette, direct.number, broadcast.number));
    assert!(lists.iter().all(|it| happens_before(&tape.cassette, broadcast.number, it.number)));
    assert_order!(&both.messages, order("Y (Y R A) (Y R A)"));
    assert_order!(&one.messages, order("Y (Y R A)"));
    assert_order!(&outsider.messages, order("Y"));
    let owned = lists.iter().map(|it| (it.number, &it.messages));
    assert_eq!(shared(owned, &OWN), []);
    let replied = of_type(&direct.messages, "tool_return_message");
    assert_eq!(replied[0]["status"], "success");
}

#[test]
fn d4_agents_that_are_asked_at_once_hear_nothing_of_each_other() {
    let tape = Tape::of("integration/agents_at_once");

    let streams = tape.streams();
    assert_eq!(streams.len(), 4);
    assert!(!happens_before(&tape.cassette, streams[0].number, streams[3].number), "at once");
    let owned = streams.iter().map(|it| (it.number, &it.messages));
    assert_eq!(shared(owned, &OWN), []);
    for stream in &streams {
        assert_order!(&stream.messages, order("R+ A+ S Z [DONE]"));
        let user = text(&tape.asked(stream)["messages"][0]["content"]);
        let pieces = stream.all("assistant_message");
        let said: String = pieces.iter().map(|it| text(&it["content"])).collect();
        assert!(said.contains(&user), "{said}");
    }
}

#[test]
fn d5_the_tools_of_an_mcp_server_are_listed_run_and_called() {
    let tape = Tape::of("integration/mcp");

    let listed = &tape.answers("GET /v1/mcp-servers/*/tools")[0].json;
    let mut names: Vec<String> =
        listed.as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
    names.sort();
    assert_eq!(names, ["add", "create_person", "echo", "multiply", "reverse_string"]);
    let person = &tape.answers("GET /v1/mcp-servers/*/tools/*")[0].json["json_schema"];
    assert!(person.to_string().contains("street"), "the schema is nested: {person}");
    let runs = tape.answers("POST /v1/mcp-servers/*/tools/*/run");
    let said: Vec<String> = runs.iter().map(|it| text(&it.json["func_return"])).collect();
    assert_eq!(said, ["Echo: hello", "5", "6", "olleh", "Bob, 7 High Street"]);
    assert_order!(&tape.streams()[0].messages, order("R+ A+ C+ T R+ A+ S Z [DONE]"));
}

#[test]
fn d6_what_a_tool_writes_is_told_and_why_it_failed() {
    let tape = Tape::of("integration/sandbox");

    let runs = tape.answers("POST /v1/tools/run");
    let [talkative, failing, endless] = &runs[..] else { panic!("three tools were run") };
    let lines = |value: &Value| text(&value[0]);
    assert_eq!(
        (&talkative.json["status"], &talkative.json["tool_return"]),
        (&"success".into(), &"HELLO".into())
    );
    assert_eq!(lines(&talkative.json["stdout"]).trim(), "out: hello");
    assert_eq!(lines(&talkative.json["stderr"]).trim(), "err: hello");
    for (run, cause) in
        [(failing, "ValueError: it cannot be done: hello"), (endless, "TimeoutError")]
    {
        assert_eq!(run.json["status"], "error");
        assert!(text(&run.json["tool_return"]).contains(cause), "{}", run.json);
        assert!(lines(&run.json["stderr"]).contains("Traceback"), "{}", run.json);
    }
    assert_eq!(lines(&failing.json["stdout"]).trim(), "out: hello", "what it wrote before");
    // An agent is told the same.
    for (stream, run) in tape.streams().iter().zip([talkative, failing]) {
        assert_order!(&stream.messages, order("R A C T R A S Z [DONE]"));
        let returned = stream.one("tool_return_message");
        for field in ["status", "tool_return", "stdout"] {
            assert_eq!(returned[field], run.json[field], "{field}");
        }
    }
}

#[test]
fn d7_long_answers_are_streamed_in_the_way_of_openai() {
    let tape = Tape::of("integration/voice");

    let streamed = &tape.answers("POST /v1/chat/completions")[0];
    assert!(streamed.messages.len() > 200);
    assert_eq!(streamed.messages.last().unwrap().data, "[DONE]");
    let gone = &tape.answers("POST /v1/voice-beta/*/chat/completions")[0];
    assert_eq!(gone.status, 410);
}

#[test]
fn d8_no_credential_is_kept() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta/integration");
    let text = fs::read_to_string(folder.join("secrets.json")).unwrap();

    // The scenario sends `sk-` and 64 hexadecimal digits, and the server says them again.
    assert!(text.contains("SERVICE_API_KEY"));
    let kept = text.match_indices("sk-").filter(|(at, _)| {
        let tail = text[at + 3..].bytes().take_while(u8::is_ascii_hexdigit);
        tail.count() >= 16
    });
    assert_eq!(kept.count(), 0);
}

#[test]
fn d9_a_server_whose_provider_is_a_recording_says_what_was_recorded() {
    let provider = Tape::of_any("letta-provider/approve_tokens");
    let agent = Tape::of("hitl/approve_tokens");

    let answers = provider.answers("POST /v1/messages");
    for answer in &answers {
        assert_order!(
            &answer.messages,
            "message_start (content_block_start content_block_delta* content_block_stop)+
             message_delta message_stop"
        );
    }
    // What the server said when the recording was its provider is in `tests/clients/on-cassette`: the same.
    let told = |text: &str, of: Vec<Value>| -> String {
        let pieces = of.iter().filter_map(|it| it.pointer(text)?.as_str());
        pieces.collect()
    };
    let provided = answers.iter().map(|it| told("/delta/text", it.all("content_block_delta")));
    let streams = agent.streams();
    let said = streams.iter().map(|it| told("/content", it.all("assistant_message")));
    assert_eq!(said.collect::<Vec<_>>(), provided.collect::<Vec<_>>());
}
