//! `retape check` and `retape accept`.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::retape::{Stage, said};

/// A folder with cassettes of a real server, streamed.
fn stage() -> Stage {
    Stage::with_recorded(&["approve_tokens", "deny_tokens", "approve_steps", "return_tokens"])
}

const STREAM: &str = "POST-v1-agents-agent_id-messages-stream-200-event-stream.snap";

#[test]
fn a_contract_is_proposed_accepted_and_kept() {
    let stage = stage();

    let (status, found, _) = stage.run(&["check"]);
    assert_eq!(status, Some(1));
    assert!(
        found.contains(
            "POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream\n  compatible \
             endpoint-new"
        ),
        "{found}"
    );
    let proposed = stage.read(&format!("cassettes/contracts/{STREAM}.new"));

    let (status, ..) = stage.run(&["accept"]);
    assert_eq!(status, Some(0));
    assert_eq!(stage.read(&format!("cassettes/contracts/{STREAM}")), proposed);
    assert!(!stage.folder().join(format!("cassettes/contracts/{STREAM}.new")).exists());

    let (status, found, said) = stage.run(&["check"]);
    assert_eq!((status, found.as_str()), (Some(0), ""));
    assert!(said.contains("all contracts are kept"), "{said}");
}

#[test]
fn answers_of_which_nothing_is_promised_are_named() {
    let stage = stage();
    let recorded = stage.read("cassettes/approve_steps.json");
    let interaction = |path: &str, media: &str, text: &str| {
        format!(
            r#"{{"request": {{"method": "GET", "path": "{path}"}}, "response": {{"status": 200, "headers": {{"content-type": "{media}"}}, "text": "{text}"}}}}"#
        )
    };
    let interactions = [
        interaction("/list", "application/xml", "<a/>"),
        interaction("/table", "text/csv", "a,b"),
        interaction("/flag", "application/json", "true"),
    ];
    let (head, _) = recorded.split_once("\"interactions\"").unwrap();
    let text = format!("{head}\"interactions\": [{}]}}", interactions.join(", "));
    stage.write("cassettes/mixed.json", &text);

    let (_, _, accepted) = stage.run(&["accept"]);
    let (status, _, said) = stage.run(&["check"]);
    stage.write("old/mixed.json", &text.replace("a,b", "b,a"));
    let (_, _, compared) = stage.run(&["diff", "old", "cassettes"]);
    let (_, _, same) = stage.run(&["diff", "cassettes", "cassettes"]);

    let told = "2 contracts of answers that are no JSON: what they say is not checked (GET /list, GET /table)";
    assert!(accepted.contains(told), "{accepted}");
    assert!(said.contains(told), "{said}");
    assert!(compared.contains(told), "{compared}");
    assert_eq!(same, "");
    assert_eq!(status, Some(0));
}

#[test]
fn a_contract_that_does_not_say_yet_how_often_something_was_seen_is_written_anew() {
    let stage = stage();
    let recorded = stage.read("cassettes/approve_steps.json");
    let page = |number: usize| {
        let more = if number < 6 { r#", \"more\": 5"# } else { "" };
        format!(
            r#"{{"request": {{"method": "GET", "path": "/pages?page={number}"}}, "response": {{"status": 200, "headers": {{"content-type": "application/json"}}, "text": "{{\"n\": 1{more}}}"}}}}"#
        )
    };
    let pages: Vec<String> = (0..12).map(page).collect();
    let (head, _) = recorded.split_once("\"interactions\"").unwrap();
    let text = format!("{head}\"interactions\": [{}]}}", pages.join(", "));
    stage.write("cassettes/pages.json", &text);
    stage.run(&["accept"]);
    let file = "cassettes/contracts/GET-pages-200.snap";
    let accepted = stage.read(file);
    let seen = "  seen: \"body more? 6/12\"\n";

    stage.write(file, &accepted.replace(seen, ""));
    let (status, ..) = stage.run(&["accept"]);

    assert!(accepted.contains(seen), "{accepted}");
    assert_eq!(status, Some(0));
    assert_eq!(stage.read(file), accepted);
}

#[test]
fn recordings_of_commands_that_failed_are_told_and_not_checked() {
    let stage = stage();
    stage.run(&["accept"]);
    let recorded = stage.read("cassettes/approve_steps.json");
    stage.write("cassettes/approve_steps.failed.json", &recorded);
    stage.write("cassettes/approve_steps.failed-2.json", &recorded);
    stage.write("cassettes/approve_steps.unanswered.json", &recorded);

    let (status, _, said) = stage.run(&["check"]);

    assert_eq!(status, Some(0));
    assert_snapshot!(said, @"
    retape: 2 recordings of commands that failed: not checked (NAME.failed.json)
    retape: 1 recording of servers that did not answer: not checked (NAME.unanswered.json)
    hint: if that is what the server does now, move them to NAME.json, and check again
    retape: all contracts are kept
    ");
}

#[test]
fn contracts_are_read_with_whatever_line_ends_a_checkout_gives_them() {
    let stage = stage();
    stage.run(&["accept"]);
    let file = format!("cassettes/contracts/{STREAM}");
    let accepted = stage.read(&file);

    stage.write(&file, &accepted.replace('\n', "\r\n"));
    let (status, found, said) = stage.run(&["check"]);
    assert_eq!((status, found.as_str()), (Some(0), ""), "{said}");

    stage.write(&file, &accepted.replacen("info:", "<<<<<<< HEAD\ninfo:", 1));
    let (status, _, said) = stage.run(&["check"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("hint: resolve the merge conflict in it"), "{said}");
}

#[test]
fn what_is_found_is_told_also_where_nothing_can_be_written() {
    let stage = stage();
    std::fs::create_dir_all(stage.folder().join(format!("cassettes/contracts/{STREAM}.new")))
        .unwrap();

    let (status, found, said) = stage.run(&["check"]);

    assert_eq!(status, Some(1), "{said}");
    assert!(found.contains("endpoint-new"), "{found}");
    assert!(said.contains("cannot") && !said.contains("look at contracts"), "{said}");
}

#[test]
fn a_stream_that_ends_too_early_breaks_the_contract() {
    let stage = stage();
    stage.run(&["accept"]);
    let end_early = |name: &str| {
        let file = format!("cassettes/{name}.json");
        let whole = stage.read(&file);
        let is_kept = |line: &&str| !line.contains(r#""message_type": "usage_statistics""#);
        let kept: Vec<&str> = whole.lines().filter(is_kept).collect();
        assert!(kept.len() < whole.lines().count());
        stage.write(&file, &kept.join("\n"));
    };

    // One cassette does not show that it was otherwise before.
    end_early("approve_tokens");
    let (status, found, _) = stage.run(&["check"]);
    assert_eq!(status, Some(0));
    assert_snapshot!(found, @"
    unproven: POST …/stream ends after `stop_reason` with no `usage_statistics`
    1 unproven; 4 cassettes

    POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream
      unproven   order-end-new 3eead4d4aae7
        the stream ends after `stop_reason` with no `usage_statistics`
        trace: reasoning_message+ assistant_message+ stop_reason (no
        usage_statistics) [DONE]
        3 of 12 recordings show it, and none of about 12 before: that may be chance
        shown by approve_tokens.json, interaction 4, event 26, and 2 more answers
    ");
    assert_eq!(stage.run(&["check", "--strict"]).0, Some(1));

    ["deny_tokens", "approve_steps", "return_tokens"].into_iter().for_each(end_early);
    let (status, found, _) = stage.run(&["check"]);
    assert_eq!(status, Some(1));
    assert_snapshot!(found, @"
    breaking: POST …/stream ends after `stop_reason` with no `usage_statistics`
    1 breaking, 1 trim; 4 cassettes

    POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream
      breaking   order-end-new 3eead4d4aae7
        the stream ends after `stop_reason` with no `usage_statistics`
        trace: reasoning_message assistant_message stop_reason (no
        usage_statistics) [DONE]
        shown by approve_steps.json, interaction 4, event 5, and 11 more answers
      trim       tag-gone 35adce9d86e2
        `usage_statistics` messages are not seen any more
    ");
}

#[test]
fn what_is_approved_in_a_diff_is_approved_in_a_check() {
    let stage = stage();
    stage.run(&["accept"]);
    let (before, now) = ("before", "cassettes");
    for name in ["approve_tokens", "deny_tokens", "approve_steps", "return_tokens"] {
        let whole = stage.read(&format!("{now}/{name}.json"));
        stage.write(&format!("{before}/{name}.json"), &whole);
        let without =
            whole.replace(r#""message_type": "stop_reason""#, r#""message_type": "stop""#);
        stage.write(&format!("{now}/{name}.json"), &without);
    }
    std::fs::create_dir_all(stage.folder().join(format!("{before}/contracts"))).unwrap();
    for file in std::fs::read_dir(stage.folder().join(format!("{now}/contracts"))).unwrap() {
        let file = file.unwrap();
        let to = stage.folder().join(format!("{before}/contracts")).join(file.file_name());
        std::fs::copy(file.path(), to).unwrap();
    }
    assert_eq!(stage.run(&["check"]).0, Some(1));
    let told = stage.run(&["diff", before, now, "--format", "json"]).1;
    let report: serde_json::Value = serde_json::from_str(&told).unwrap();
    let breaking = report["changes"].as_array().unwrap().iter();
    let breaking = breaking.filter(|change| change["verdict"] == "breaking");

    let mut approve = vec!["diff", before, now, "--reason", "it is meant"];
    for change in breaking {
        approve.extend(["--approve", change["fingerprint"].as_str().unwrap()]);
    }
    assert!(approve.len() > 5);
    assert_eq!(stage.run(&approve).0, Some(0));

    assert_eq!(stage.run(&["check"]).0, Some(0));
}

#[test]
fn another_status_that_is_approved_is_no_endpoint_without_a_contract() {
    let stage = Stage::new();
    let recorded = |status: u16| {
        format!(
            r#"{{"retape": 1, "interactions": [{{
                "request": {{"method": "POST", "path": "/runs", "headers": {{}}}},
                "response": {{"status": {status}, "headers": {{"content-type": "application/json"}},
                    "json": {{"id": 1}}}}
            }}]}}"#
        )
    };
    stage.write("before/run.json", &recorded(201));
    stage.write("cassettes/run.json", &recorded(201));
    stage.run(&["accept"]);
    stage.write("cassettes/run.json", &recorded(200));
    let (status, told, _) = stage.run(&["check"]);
    assert_eq!(status, Some(1), "{told}");
    let told = stage.run(&["diff", "before", "cassettes", "--format", "json"]).1;
    let report: serde_json::Value = serde_json::from_str(&told).unwrap();

    let changes = report["changes"].as_array().unwrap().iter();
    let prints: Vec<&str> = changes.map(|it| it["fingerprint"].as_str().unwrap()).collect();
    let mut approve = vec!["diff", "before", "cassettes", "--reason", "it is meant"];
    prints.iter().for_each(|print| approve.extend(["--approve", print]));
    stage.run(&approve);

    let (status, told, _) = stage.run(&["check"]);
    assert_eq!(status, Some(0), "{told}");
}

#[test]
fn an_edited_contract_is_kept_where_it_is_not_broken() {
    let stage = stage();
    stage.run(&["accept"]);
    let file = format!("cassettes/contracts/{STREAM}");
    let accepted = stage.read(&file);
    let widened =
        accepted.replace("[DONE]", "[DONE]?").replace("name: null", "name?: string | null");
    assert_ne!(widened, accepted);
    stage.write(&file, &widened);

    let (status, ..) = stage.run(&["check"]);

    assert_eq!(status, Some(0));
    assert_eq!(stage.read(&file), widened);
}

#[test]
fn nothing_is_written_on_a_build_server() {
    let stage = stage();

    let output = stage.retape(&["check"]).env("CI", "true").output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert!(!stage.folder().join("cassettes/contracts").exists());
}

#[test]
fn what_no_cassette_shows_any_more_is_an_orphan() {
    let stage = stage();
    stage.run(&["accept"]);
    for name in ["approve_tokens", "deny_tokens", "approve_steps", "return_tokens"] {
        std::fs::remove_file(stage.folder().join(format!("cassettes/{name}.json"))).unwrap();
    }

    let (status, found, _) = stage.run(&["check"]);
    assert_eq!(status, Some(1));
    assert!(
        found.contains("PUT /v1/tools/ -> 200 application/json\n  trim       endpoint-gone"),
        "{found}"
    );

    stage.run(&["accept"]);
    let left = std::fs::read_dir(stage.folder().join("cassettes/contracts")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_contract_that_cannot_be_read_is_told_with_its_file() {
    let stage = stage();
    stage.run(&["accept"]);
    let file = format!("cassettes/contracts/{STREAM}");
    let text = stage.read(&file).replace("  events\n", "  event\n");
    stage.write(&file, &text);

    let (status, _, said) = stage.run(&["check"]);

    assert_eq!(status, Some(2));
    assert!(said.contains(STREAM) && said.contains("did you mean `events`?"), "{said}");
}

#[test]
fn a_cassette_that_cannot_be_read_is_told_and_the_others_are_checked() {
    let stage = stage();
    stage.run(&["accept"]);
    for name in ["deny_tokens", "approve_steps", "return_tokens"] {
        let file = format!("cassettes/{name}.json");
        let text = stage.read(&file).replace(r#""message_type": "stop_reason""#, r#""is": "it""#);
        stage.write(&file, &text);
    }
    stage.write("cassettes/approve_tokens.json", "{");

    let (status, found, said) = stage.run(&["check"]);

    assert_eq!(status, Some(2));
    assert!(
        found.starts_with("1 cassette could not be read") && found.contains("; breaking:"),
        "{found}"
    );
    assert!(said.contains("approve_tokens.json"), "{said}");
    assert_eq!(stage.run(&["accept"]).0, Some(2));
}

#[test]
fn where_there_is_nothing_to_check_nothing_is_said_to_be_kept() {
    let stage = Stage::new();

    for subcommand in ["check", "accept"] {
        let (status, found, said) = stage.run(&[subcommand]);

        assert_eq!((status, found.as_str()), (Some(2), ""), "{subcommand}");
        assert!(said.contains("no cassette and no contract to check"), "{said}");
        assert!(said.contains("hint: name the folder"), "{said}");
    }
}

#[test]
fn a_part_that_cannot_be_read_is_told_with_what_to_do() {
    let stage = stage();
    stage.run(&["accept"]);
    let file = format!("cassettes/contracts/{STREAM}");
    let text = "GET /v1/agents -> 200 application/json\n  order\n    a b )\n  invariants\n    \
                run_id constant\n    a growing\n  body\n    object\n      name: strin\n";
    stage.write(&file, text);

    let (status, _, said) = stage.run(&["check"]);

    assert_eq!(status, Some(2));
    let said = said.replace(&stage.folder().join(&file).display().to_string(), "FILE");
    assert_snapshot!(said, @"
    error: not a valid contract: it cannot be read (`FILE`, line 3)
      because: no group is open here (line 3, column 9)
          3 |     a b )
            |         ^
        expected what holds of the field (line 6, column 7)
          6 |     a growing
            |       ^^^^^^^
          hint: known here: `constant`, `increasing by 1`, `increasing`, `not decreasing`, `unique`, `equals request.`, `refers to earlier`, `refers to`, `sums`, `comes with`, `sorted by`, `lists what was made`, `stays when the same is asked again`, `begins with 0`, `offers`, `at most`, `counts`, `joins`, `extends`, `one per`, `new behind no`, `new behind`, `stays with`, `never falls with`, `never rises with`, `never returns with`
        no type is called `strin` (line 9, column 13)
          9 |       name: strin
            |             ^^^^^
          hint: did you mean `string`?
    hint: mend the file, or remove it and accept the contract anew: `retape accept`
    ");
}

#[test]
fn a_misspelt_place_in_an_invariant_is_told_as_it_never_fails() {
    let stage = stage();
    stage.run(&["accept"]);
    let file = format!("cassettes/contracts/{STREAM}");
    let learned = stage.read(&file);
    let with =
        |line: &str| learned.replacen("  invariants\n", &format!("  invariants\n    {line}\n"), 1);
    assert!(with("") != learned, "{learned}");

    stage.write(&file, &with("run_idd constant"));
    let (status, _, misspelt) = stage.run(&["check"]);
    stage.write(
        &file,
        &learned.replace("run_id constant", "message_type unique").replace("[DONE]", "[DONE]?"),
    );
    let (_, _, edited) = stage.run(&["check"]);

    assert_eq!(status, Some(0));
    assert!(misspelt.contains("no recorded answer has `run_idd`: POST"), "{misspelt}");
    assert!(misspelt.contains("hint: did you mean `run_id`?"), "{misspelt}");
    assert!(!edited.contains("no recorded"), "{edited}");
}

#[test]
fn one_contract_is_accepted_and_a_misspelt_one_is_not_passed_over() {
    let stage = stage();

    let (status, _, said) = stage.run(&["accept", "DELETE /v1/agents/{agent_id}"]);
    assert_eq!(status, Some(0));
    assert!(said.contains("accepted DELETE /v1/agents/{agent_id} -> 200"), "{said}");
    assert!(stage.folder().join("cassettes/contracts/DELETE-v1-agents-agent_id-200.snap").exists());

    let (status, _, said) = stage.run(&["accept", "/v1/agent/"]);
    assert_eq!(status, Some(1));
    assert!(said.contains("no contract has `/v1/agent/` in its first line"), "{said}");
}

#[test]
fn a_kept_contract_is_narrowed_only_on_request() {
    let stage = stage();
    stage.run(&["accept"]);
    let [stream, tools] =
        [STREAM, "PUT-v1-tools-200.snap"].map(|it| format!("cassettes/contracts/{it}"));
    let [learned, other] = [&stream, &tools].map(|file| stage.read(file));
    let widened = learned.replace("[DONE]", "[DONE]?");
    let other_widened = other.replace("name: string", "name?: string");
    assert!(widened != learned && other_widened != other);
    stage.write(&stream, &widened);
    stage.write(&tools, &other_widened);

    for named in [&["accept"][..], &["accept", "/messages/stream"]] {
        let (status, _, said) = stage.run(named);
        assert_eq!(status, Some(0));
        assert!(said.contains("edited by hand and kept, and left as accepted"), "{said}");
        assert_eq!(stage.read(&stream), widened);
    }

    let (status, _, said) = stage.run(&["accept", "--fresh", "/messages/stream"]);
    assert_eq!((status, said.lines().count()), (Some(0), 1), "{said}");
    assert!(said.contains("accepted POST /v1/agents/{agent_id}/messages/stream"), "{said}");
    assert_eq!(stage.read(&stream), learned);
    assert_eq!(stage.read(&tools), other_widened);

    let (status, _, said) = stage.run(&["accept", "--fresh"]);
    assert_eq!(status, Some(0));
    assert!(said.contains("accepted PUT /v1/tools/") && !said.contains("/stream"), "{said}");
    assert!(said.contains("learned anew just as accepted"), "{said}");
    assert_eq!(stage.read(&tools), other);
}

#[test]
fn a_contract_that_comes_out_the_same_says_from_how_many_recordings_it_was_learned_last() {
    let stage = stage();
    let file = |name: &str| stage.folder().join(format!("cassettes/{name}.json"));
    let agents = "cassettes/contracts/DELETE-v1-agents-agent_id-200.snap";
    let others = ["approve_steps", "return_tokens"];
    let aside = |name: &str| file(name).with_extension("aside");
    others.iter().for_each(|name| std::fs::rename(file(name), aside(name)).unwrap());
    stage.run(&["accept"]);
    let of_two = stage.read(agents);
    others.iter().for_each(|name| std::fs::rename(aside(name), file(name)).unwrap());

    let (status, _, said) = stage.run(&["accept"]);

    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("learned anew just as accepted"), "{said}");
    assert!(!said.contains("accepted DELETE"), "{said}");
    let recounted = of_two.replace("  recordings: 2\n", "  recordings: 4\n");
    assert!(of_two != recounted, "{of_two}");
    assert_eq!(stage.read(agents), recounted);
}

#[test]
fn a_contract_names_the_only_cassette_that_it_was_learned_from() {
    let stage = stage();
    let file = |name: &str| stage.folder().join(format!("cassettes/{name}.json"));
    let agents = "cassettes/contracts/DELETE-v1-agents-agent_id-200.snap";
    let others = ["deny_tokens", "approve_steps", "return_tokens"];
    let aside = |name: &str| file(name).with_extension("aside");
    others.iter().for_each(|name| std::fs::rename(file(name), aside(name)).unwrap());
    stage.run(&["accept"]);
    let of_one = stage.read(agents);
    assert!(of_one.contains("  recordings: 1\n  cassette: \"approve_tokens\"\n"), "{of_one}");

    // Another one shows nothing new, and is accepted as well.
    others.iter().for_each(|name| std::fs::rename(aside(name), file(name)).unwrap());
    let (status, _, said) = stage.run(&["accept"]);
    assert_eq!(status, Some(0), "{said}");
    let of_all = stage.read(agents);
    assert!(of_all.contains("  recordings: 4\n  learned: "), "{of_all}");
    let promised = |text: &str| text.split_once("learned:").map(|(_, it)| it.to_owned());
    assert_eq!(promised(&of_one), promised(&of_all));

    // Accepted once more, nothing is written.
    let (_, _, said) = stage.run(&["accept"]);
    assert!(!said.contains("accepted DELETE"), "{said}");
}

#[test]
fn what_no_cassette_shows_is_an_orphan_also_where_contracts_are_learned_anew() {
    let stage = stage();
    stage.run(&["accept"]);
    for name in ["approve_tokens", "deny_tokens", "approve_steps", "return_tokens"] {
        std::fs::remove_file(stage.folder().join(format!("cassettes/{name}.json"))).unwrap();
    }

    let (status, ..) = stage.run(&["accept", "--fresh", "PUT"]);

    assert_eq!(status, Some(0));
    assert!(!stage.folder().join("cassettes/contracts/PUT-v1-tools-200.snap").exists());
    assert!(stage.folder().join(format!("cassettes/contracts/{STREAM}")).exists());
}

#[test]
fn endpoints_that_differ_in_a_slash_have_a_contract_each() {
    let stage = stage();
    stage.run(&["accept"]);
    let contracts = stage.folder().join("cassettes/contracts");
    let of_tools = || -> Vec<String> {
        let files = std::fs::read_dir(&contracts).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with("PUT-")).collect();
        names.sort();
        names
    };
    let first = stage.read("cassettes/contracts/PUT-v1-tools-200.snap");
    let other =
        stage.read("cassettes/deny_tokens.json").replace(r#""/v1/tools/""#, r#""/v1/tools""#);
    stage.write("cassettes/other.json", &other);

    let (status, found, _) = stage.run(&["check"]);
    assert_eq!(status, Some(1));
    assert!(found.contains("\nPUT /v1/tools -> 200 application/json\n  compatible"), "{found}");
    let waiting = ["PUT-v1-tools-200-e6f4fc4032fb.snap.new", "PUT-v1-tools-200.snap"];
    assert_eq!(of_tools(), waiting);

    let (status, ..) = stage.run(&["accept"]);
    assert_eq!(status, Some(0));
    assert_eq!(of_tools(), [waiting[0].trim_end_matches(".new"), waiting[1]]);
    assert_eq!(stage.read("cassettes/contracts/PUT-v1-tools-200.snap"), first);
    assert_eq!(stage.run(&["check"]).0, Some(0));

    std::fs::remove_file(stage.folder().join("cassettes/other.json")).unwrap();
    stage.run(&["accept"]);
    assert_eq!(of_tools(), ["PUT-v1-tools-200.snap"]);
    assert_eq!(stage.read("cassettes/contracts/PUT-v1-tools-200.snap"), first);
}

#[test]
fn evidence_is_told_to_people_and_to_programs() {
    let stage = stage();
    stage.run(&["accept"]);

    let (status, told, _) = stage.run(&["check", "--evidence"]);
    assert_eq!(status, Some(0));
    assert!(told.contains("order coverage"), "{told}");
    let step = "⊢ → reasoning_message                approve_steps #4 step 1";
    assert!(told.lines().any(|line| line.ends_with(step)), "{told}");
    assert!(told.contains("only one answer shows"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 90), "{told}");

    let (status, json, _) = stage.run(&["check", "--evidence", "--format", "json"]);
    assert_eq!(status, Some(0));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["changes"], serde_json::json!([]));
    assert!(json["evidence"]["endpoints"].as_array().unwrap().len() > 3);
}

#[test]
fn findings_are_told_to_programs() {
    let stage = stage();

    let (status, json, _) = stage.run(&["check", "--format", "json"]);

    assert_eq!(status, Some(1));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["changes"][0]["rule"], "endpoint-new");
    assert_eq!(json.get("evidence"), None);
}

#[test]
fn contracts_accepted_in_two_steps_are_those_accepted_at_once() {
    let names = ["approve_tokens", "deny_tokens", "approve_steps", "return_tokens"];
    let (at_once, in_steps) = (stage(), stage());
    let later = names.map(|name| {
        let file = in_steps.folder().join(format!("cassettes/{name}.json"));
        (file.clone(), std::fs::read(file).unwrap())
    });
    later[1..].iter().for_each(|(file, _)| std::fs::remove_file(file).unwrap());

    assert_eq!(at_once.run(&["accept"]).0, Some(0));
    assert_eq!(in_steps.run(&["accept"]).0, Some(0));
    let first = in_steps.read(&format!("cassettes/contracts/{STREAM}"));
    later.iter().for_each(|(file, whole)| std::fs::write(file, whole).unwrap());
    assert_eq!(in_steps.run(&["accept"]).0, Some(0));

    assert_ne!(in_steps.read(&format!("cassettes/contracts/{STREAM}")), first);
    // How many recordings show what stays the same is not written again.
    let promised = |stage: &Stage| {
        let files = std::fs::read_dir(stage.folder().join("cassettes/contracts")).unwrap();
        let promise = |file: std::io::Result<std::fs::DirEntry>| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            text.rsplit_once("---\n").unwrap().1.to_owned()
        };
        files.map(promise).collect::<BTreeSet<String>>()
    };
    assert!(promised(&at_once).len() > 3);
    assert!(promised(&in_steps) == promised(&at_once));
}

#[test]
fn one_cassette_alone_proves_nothing_against_a_contract_of_many() {
    let many = stage();
    many.run(&["accept"]);
    let alone = Stage::new();
    let contract = format!("cassettes/contracts/{STREAM}");
    alone.write(&contract, &many.read(&contract));
    let cassette = "cassettes/approve_tokens.json";
    alone.write(cassette, &many.read(cassette).replace(r#""step_id": "#, r#""step": "#));

    let (_, found, _) = alone.run(&["check"]);

    let lost: Vec<&str> = found.lines().filter(|line| line.contains("field-missing")).collect();
    assert!(!lost.is_empty(), "{found}");
    assert!(lost.iter().all(|line| line.contains("unproven")), "{found}");
}

#[cfg(unix)]
#[test]
fn no_contract_is_written_to_where_a_link_leads() {
    let (stage, outside) = (stage(), tempfile::tempdir().unwrap());
    let contracts = stage.folder().join("cassettes/contracts");
    std::os::unix::fs::symlink(outside.path(), contracts).unwrap();

    let (status, _, said) = stage.run(&["accept"]);

    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("it is a link") && said.contains("hint: "), "{said}");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_check_that_fails_says_what_to_do_next_and_null_is_json() {
    let stage = Stage::new();
    let answer = |body: &str| {
        let answer =
            r#"{"status": 200, "headers": {"content-type": "application/json"}, "text": "BODY"}"#;
        let interaction = r#"{"request": {"method": "GET", "path": "/a"}, "response": ANSWER}"#;
        let interaction = interaction.replace("ANSWER", &answer.replace("BODY", body));
        stage.write(
            "cassettes/a.json",
            &format!("{{\"retape\": 1, \"interactions\": [{interaction}]}}"),
        );
    };
    let run = |arguments: &[&str], ci: &str| {
        let output = stage.retape(arguments).env("CI", ci).output().unwrap();
        (output.status.code(), said(&output))
    };
    answer("null");

    let accepted = run(&["accept"], "");
    let kept = run(&["check"], "");
    answer("3");
    let broken = run(&["check"], "");
    let on_ci = run(&["check"], "1");

    assert_eq!((accepted.0, kept.0, broken.0, on_ci.0), (Some(0), Some(0), Some(1), Some(1)));
    assert!(![accepted.1, kept.1].concat().contains("no JSON"));
    assert!(broken.1.contains("/contracts/*.snap.new; if "), "{}", broken.1);
    assert!(on_ci.1.contains("hint: if the server is meant to do that"), "{}", on_ci.1);
}
