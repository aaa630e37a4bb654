//! `retape diff`.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use crate::retape::{Stage, recorded, said, told};

const NAMES: [&str; 4] = ["approve_tokens", "deny_tokens", "approve_steps", "return_tokens"];

/// A folder `old` with cassettes of a real server, and `new` in which its streams end too early
/// (<https://github.com/letta-ai/letta-agent-sdk/issues/300>).
fn stage() -> Stage {
    let stage = Stage::new();
    for name in NAMES {
        let whole = recorded(name);
        stage.write(&format!("old/{name}.json"), &whole);
        stage.write(&format!("new/{name}.json"), &without_usage(&whole));
    }
    stage
}

fn without_usage(cassette: &str) -> String {
    let lines = cassette.lines();
    let kept = lines.filter(|line| !line.contains(r#""message_type": "usage_statistics""#));
    kept.collect::<Vec<_>>().join("\n")
}

/// Runs it: its exit status, what it tells, and what it says beside.
fn diff(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String, String) {
    stage.run(&[&["diff"], arguments].concat())
}

fn git(stage: &Stage, arguments: &[&str]) {
    let who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
    let mut command = Command::new("git");
    command.arg("-C").arg(stage.folder()).args(who).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn issue_300_a_stream_that_ends_with_no_usage_statistics_is_told_in_the_first_line() {
    let stage = stage();

    let (status, text, _) = diff(&stage, &["old", "new"]);

    assert_eq!(status, Some(1));
    let (changes, _) = text.split_once("\napprove_steps:").unwrap();
    assert_snapshot!(changes);
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80));
}

#[test]
fn nothing_changed_where_nothing_did() {
    let stage = stage();

    assert_eq!(
        diff(&stage, &["old", "old"]),
        (Some(0), "nothing changed\n".to_owned(), String::new())
    );
}

/// A cassette as somebody writes it by hand: no rule was applied to it.
fn by_hand(role: &str) -> String {
    format!(
        r#"{{"retape": 1, "interactions": [{{
        "request": {{"method": "POST", "path": "/login?api_key=query-of-tuesday", "headers": {{
            "content-type": "application/json", "authorization": "Bearer header-of-tuesday"}},
            "json": {{"password": "Kq7vLm2xT9w"}}}},
        "response": {{"status": 200, "headers": {{"content-type": "application/json"}},
            "json": {{"access_token": "answer-of-tuesday", "role": {role}, "note": "Kq7vLm2xT9w"}}}}}}]}}"#
    )
}

#[test]
fn what_was_written_by_hand_is_shown_without_its_secrets() {
    let stage = Stage::new();
    for at in 0..4 {
        stage.write(&format!("old/{at}.json"), &by_hand("\"a\""));
        stage.write(&format!("new/{at}.json"), &by_hand("5"));
    }
    let check = |text: &str| {
        assert!(!text.contains("of-tuesday") && !text.contains("Kq7vLm2xT9w"), "{text}");
    };

    for format in ["text", "markdown", "html", "json"] {
        let (status, text, _) = diff(&stage, &["old", "new", "--format", format]);
        assert_eq!(status, Some(1));
        check(&text);
        assert!(text.contains("[redacted:"), "{text}");
    }
    let output = stage.retape(&["show", "--bodies", "--cassettes", "old", "0"]).output().unwrap();
    check(&told(&output));
    assert!(told(&output).contains("[redacted:password]"), "{}", told(&output));
    // Somebody has edited what was recorded.
    let edited =
        by_hand("5").replacen("\"interactions\"", r#""redactions": ["json/1"], "interactions""#, 1);
    stage.write("edited/0.json", &edited);
    let output =
        stage.retape(&["show", "--bodies", "--cassettes", "edited", "0"]).output().unwrap();
    check(&told(&output));
    let accepted = stage.retape(&["accept", "--cassettes", "old"]).output().unwrap();
    assert!(accepted.status.success(), "{}", said(&accepted));
    std::fs::rename(stage.folder().join("old/contracts"), stage.folder().join("new/contracts"))
        .unwrap();
    let output = stage.retape(&["check", "--cassettes", "new"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    check(&told(&output));
}

#[test]
fn two_cassettes_and_two_contracts_are_compared() {
    let stage = stage();
    let (status, text, _) = diff(&stage, &["old/deny_tokens.json", "new/deny_tokens.json"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("shown by deny_tokens.json, interaction "), "{text}");

    let contract =
        |order: &str| format!("POST /x -> 200 text/event-stream\n  order\n    {order}\n");
    stage.write("a.snap", &contract("a b"));
    stage.write("b.snap", &contract("a b?"));
    let (status, text, _) = diff(&stage, &["a.snap", "b.snap"]);
    assert_eq!(status, Some(1));
    assert!(text.starts_with("breaking: POST /x ends after `a` with no `b`\n"), "{text}");
    let (status, text, _) = diff(&stage, &["b.snap", "a.snap"]);
    assert_eq!(status, Some(0), "{text}");
}

#[test]
fn revisions_are_compared_without_a_checkout() {
    let stage = stage();
    git(&stage, &["init", "-q"]);
    stage.write("tests/cassettes/x.json", &stage.read("old/deny_tokens.json"));
    git(&stage, &["add", "tests"]);
    git(&stage, &["commit", "-qm", "one"]);
    stage.write("tests/cassettes/x.json", &stage.read("new/deny_tokens.json"));
    let folder = ["--cassettes", "tests/cassettes"];

    let (status, text, _) = diff(&stage, &[&["--base", "HEAD"], &folder[..]].concat());
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("shown by x.json, interaction "), "{text}");
    let same = diff(&stage, &[&["--base", "HEAD", "--head", "HEAD"], &folder[..]].concat());
    assert_eq!(same, (Some(0), "nothing changed\n".to_owned(), String::new()));

    git(&stage, &["commit", "-qam", "two"]);
    let (status, committed, _) =
        diff(&stage, &[&["--base", "HEAD~1", "--head", "HEAD"], &folder[..]].concat());
    assert_eq!((status, committed), (Some(1), text));
    assert_eq!(stage.read("tests/cassettes/x.json"), stage.read("new/deny_tokens.json"));
}

#[test]
fn bodies_beside_a_cassette_and_websockets_are_read_from_a_revision_too() {
    let stage = Stage::new();
    let codex = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/codex/plain.json");
    stage.write("cassettes/socket.json", &std::fs::read_to_string(codex).unwrap());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/compat/v1");
    stage.write(
        "cassettes/large.json",
        &std::fs::read_to_string(golden.join("large.json")).unwrap(),
    );
    let bodies = stage.folder().join("cassettes/large.bodies");
    std::fs::create_dir_all(&bodies).unwrap();
    for file in std::fs::read_dir(golden.join("large.bodies")).unwrap() {
        let file = file.unwrap().path();
        std::fs::copy(&file, bodies.join(file.file_name().unwrap())).unwrap();
    }
    git(&stage, &["init", "-q"]);
    git(&stage, &["add", "."]);
    git(&stage, &["commit", "-qm", "one"]);

    let same = diff(&stage, &["--base", "HEAD"]);

    assert_eq!(same, (Some(0), "nothing changed\n".to_owned(), String::new()));
}

#[test]
fn a_folder_that_was_not_there_is_new() {
    let stage = stage();
    git(&stage, &["init", "-q"]);
    stage.write("README", "");
    git(&stage, &["add", "README"]);
    git(&stage, &["commit", "-qm", "one"]);

    let (status, text, said) = diff(&stage, &["--base", "HEAD", "--cassettes", "old"]);

    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("compatible endpoint-new"), "{text}");
    assert_eq!(said, "retape: `HEAD` has no cassettes in `old`: all of them are new\n");
}

#[test]
fn a_folder_that_was_moved_is_compared_with_what_it_was() {
    let stage = stage();
    git(&stage, &["init", "-q"]);
    stage.write("cassettes/deep/x.json", &stage.read("old/deny_tokens.json"));
    git(&stage, &["add", "cassettes"]);
    git(&stage, &["commit", "-qm", "one"]);
    // One that still stands was not moved.
    stage.write("other/deep/x.json", &stage.read("new/deny_tokens.json"));
    let (status, text, said) = diff(&stage, &["--base", "HEAD", "--cassettes", "other"]);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(said, "retape: `HEAD` has no cassettes in `other`: all of them are new\n");
    std::fs::remove_dir_all(stage.folder().join("cassettes")).unwrap();
    stage.write("tests/cassettes/deep/x.json", &stage.read("new/deny_tokens.json"));

    let (status, text, said) = diff(&stage, &["--base", "HEAD", "--cassettes", "tests/cassettes"]);

    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("shown by deep/x.json, interaction "), "{text}");
    assert_eq!(said, "retape: `HEAD` has the cassettes of `tests/cassettes` in `cassettes`\n");
}

#[test]
fn of_several_folders_that_were_moved_each_is_compared_with_its_own() {
    let stage = stage();
    git(&stage, &["init", "-q"]);
    stage.write("a.json", &stage.read("old/deny_tokens.json"));
    stage.write("pkg/one/cassettes/x.json", &stage.read("old/deny_tokens.json"));
    stage.write("pkg/two/cassettes/x.json", &stage.read("new/deny_tokens.json"));
    git(&stage, &["add", "a.json", "pkg"]);
    git(&stage, &["commit", "-qm", "one"]);
    git(&stage, &["mv", "pkg", "services"]);
    std::fs::create_dir(stage.folder().join("kept")).unwrap();
    git(&stage, &["mv", "a.json", "kept/a.json"]);
    git(&stage, &["commit", "-qm", "two"]);

    for (folder, before) in [
        ("services/one/cassettes", "pkg/one/cassettes"),
        ("services/two/cassettes", "pkg/two/cassettes"),
        ("kept", "."),
    ] {
        for head in [&[][..], &["--head", "HEAD"]] {
            let (status, text, said) =
                diff(&stage, &[&["--base", "HEAD~1", "--cassettes", folder], head].concat());
            // The root of a repository has all that stands below it.
            let is_same = text == "nothing changed\n" || before == ".";
            assert!(status == Some(0) && is_same, "{folder}: {text}");
            let told = format!("retape: `HEAD~1` has the cassettes of `{folder}` in `{before}`\n");
            assert_eq!(said, told);
        }
    }
}

#[test]
fn what_is_approved_does_not_fail_and_what_is_stale_is_told() {
    let stage = stage();
    let one = stage.read("new/deny_tokens.json");
    let (before, behind) = one.split_once(r#""path": "/v1/agents/","#).unwrap();
    let behind = behind.replacen(r#""status": 200"#, r#""status": 201"#, 1);
    stage.write("new/deny_tokens.json", &format!("{before}\"path\": \"/v1/agents/\",{behind}"));
    let (_, json, _) = diff(&stage, &["old", "new", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let changes = report["changes"].as_array().unwrap().iter();
    let failing =
        changes.filter(|change| ["breaking", "unproven"].iter().any(|it| change["verdict"] == *it));
    let prints: Vec<&str> = failing.map(|change| change["fingerprint"].as_str().unwrap()).collect();
    assert!(prints.len() > 1);

    let approve = ["old", "new", "--reason", "clients time out by themselves", "--approve"];
    let (status, ..) = diff(&stage, &[&approve[..], &prints[..1]].concat());
    assert_eq!(status, Some(1));
    let rest = prints[1..].iter().flat_map(|print| ["--approve", *print]);
    let rest: Vec<&str> = approve[..4].iter().copied().chain(rest).collect();
    let (status, text, _) = diff(&stage, &rest);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("approved: clients time out by themselves"), "{text}");
    assert!(text.starts_with("trim: "), "{text}");

    let (status, text, _) = diff(&stage, &["old", "old"]);
    assert_eq!(status, Some(0));
    assert!(text.contains(&format!("approval {} matches no change any more", prints[0])), "{text}");
}

#[test]
fn one_run_writes_all_that_a_build_server_wants() {
    let stage = stage();
    let mut arguments = vec!["old", "new", "--format", "github"];
    for file in ["out/r.md", "out/r.json", "out/r.xml", "out/r.sarif", "out/r.txt"] {
        arguments.extend(["--output", file]);
    }

    let (status, told, _) = diff(&stage, &arguments);

    assert_eq!(status, Some(1));
    assert!(told.starts_with("::error file=new/"), "{told}");
    assert!(stage.read("out/r.md").contains("<!-- retape-report -->"));
    assert!(stage.read("out/r.json").starts_with('{'));
    assert!(stage.read("out/r.xml").starts_with("<?xml"));
    assert!(stage.read("out/r.sarif").contains("sarif-2.1.0"));
    assert!(stage.read("out/r.txt").starts_with("breaking: "));
}

#[test]
fn a_new_field_breaks_only_clients_that_refuse_what_they_do_not_know() {
    let stage = stage();
    let known = r#""message_type": "assistant_message""#;
    for name in NAMES {
        let whole = stage.read(&format!("old/{name}.json"));
        let more = whole.replace(known, &format!("{known}, \"language\": \"en\""));
        stage.write(&format!("new/{name}.json"), &more);
    }

    let (status, tolerant, _) = diff(&stage, &["old", "new"]);
    assert_eq!(status, Some(0), "{tolerant}");
    assert!(tolerant.starts_with("nothing that breaks a client: "), "{tolerant}");
    assert!(tolerant.contains("compatible field-new"), "{tolerant}");

    let (status, strict, _) = diff(&stage, &["old", "new", "--new-fields", "breaking"]);
    assert_eq!(status, Some(1), "{strict}");
    stage.write("retape.toml", "[diff]\nnew-fields = \"breaking\"\n");
    assert_eq!(diff(&stage, &["old", "new"]), (Some(1), strict, String::new()));
    let back = ["old", "new", "--new-fields", "compatible"];
    assert_eq!(diff(&stage, &back), (Some(0), tolerant, String::new()));
    let (status, _, said) = diff(&stage, &["old", "new", "--new-fields", "breakin"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("did you mean `breaking`?"), "{said}");
}

#[test]
fn an_annotation_names_a_file_of_the_repository() {
    let stage = stage();
    git(&stage, &["init", "-q"]);
    stage.write("part/a.snap", "POST /x -> 200 text/event-stream\n  order\n    a b\n");
    stage.write("part/b.snap", "POST /x -> 200 text/event-stream\n  order\n    a b?\n");
    stage.write("part/old/hitl/deny.json", &stage.read("old/deny_tokens.json"));
    stage.write("part/new/hitl/deny.json", &stage.read("new/deny_tokens.json"));
    for (sides, file) in [
        (["a.snap", "b.snap"], "part/b.snap"),
        (["old", "new"], "part/new/hitl/deny.json"),
        (["old/hitl/deny.json", "../part/new/hitl/deny.json"], "part/new/hitl/deny.json"),
        (["../old", "../new"], "new/approve_steps.json"),
    ] {
        let arguments = [&["diff"], &sides[..], &["--format", "github", "--output", "r.sarif"]];
        let mut command = stage.retape(&arguments.concat());
        let output = command.current_dir(stage.folder().join("part")).output().unwrap();

        let told = told(&output);
        let behind = told.strip_prefix(&format!("::error file={file},line=")).unwrap();
        let line: usize = behind.split_once(',').unwrap().0.parse().unwrap();
        let text = stage.read(file).lines().nth(line - 1).unwrap().to_owned();
        // The event in place of which another one was promised.
        assert!(
            if line == 1 { file.ends_with(".snap") } else { text.contains("[DONE]") },
            "{text}"
        );
        assert!(stage.folder().join(file).is_file());
        let sarif: serde_json::Value = serde_json::from_str(&stage.read("part/r.sarif")).unwrap();
        for result in sarif["runs"][0]["results"].as_array().unwrap() {
            let at = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
            assert!(stage.folder().join(at.as_str().unwrap()).exists(), "{at}");
        }
    }
}

#[test]
fn recordings_that_changed_and_no_promise_are_told_with_how_many() {
    let stage = stage();
    for name in NAMES {
        let whole = stage.read(&format!("old/{name}.json"));
        stage.write(&format!("new/{name}.json"), &whole);
    }
    let whole = stage.read("old/deny_tokens.json");
    let words = whole.replacen(r#""reasoning": "The"#, r#""reasoning": "This"#, 1);
    assert_ne!(words, whole);
    stage.write("new/deny_tokens.json", &words);

    let (status, text, _) = diff(&stage, &["old", "new"]);

    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.starts_with(
            "nothing changed in what is promised\n1 of 4 cassettes changed: 1 interaction differs \
             in the answer\n"
        ),
        "{text}"
    );
}

#[test]
fn a_revision_where_there_is_no_repository_is_told_as_such() {
    let stage = stage();

    let (status, _, said) = diff(&stage, &["--base", "HEAD"]);

    assert_eq!(status, Some(2));
    assert!(
        said.contains("not a git repository") && said.contains("retape diff OLD NEW"),
        "{said}"
    );
}

#[test]
fn a_report_that_cannot_be_written_is_told_with_the_option_that_names_it() {
    let stage = stage();

    let (status, told, said) =
        diff(&stage, &["old", "new", "--output", "old/deny_tokens.json/report.md"]);

    assert_eq!((status, told.as_str()), (Some(2), ""));
    assert!(said.contains("hint: choose a file that can be written: `--output FILE`"), "{said}");
}

#[test]
fn what_cannot_be_compared_is_an_error_that_says_what_to_do() {
    let stage = stage();
    git(&stage, &["init", "-q"]);
    stage.write("retape-approvals.toml", "[[approve]]\nfingerprint = 1\n");
    for (arguments, expected) in [
        (&["old", "nowhere"][..], "no cassette and no contract"),
        (&["--base", "nowhere"], "cannot read the revision"),
        (&["--base", "--all"], "error"),
        (&["old"], "error"),
        (&["old", "new", "--output", "report.doc"], "its ending is none of"),
        (&["old", "new", "--format", "pdf"], "error"),
        (&["old", "old"], "what an approval says is no string"),
        (
            &["old", "new", "--approvals", "none.toml", "--approve", "12", "--reason", "x"],
            "no change has `12`",
        ),
    ] {
        let (status, told, said) = diff(&stage, arguments);

        assert_eq!((status, told.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// A cassette of one stream, whose messages tell their types in a place of their own.
fn stream_of(types: &[&str]) -> String {
    let chunks = types.iter().enumerate().map(|(at, it)| {
        format!(r#"{{"ms": {at}, "sse": {{"data": {{"type": "event", "what": "{it}"}}}}}}"#)
    });
    let chunks = chunks.collect::<Vec<_>>().join(",\n        ");
    format!(
        r#"{{
  "retape": 1,
  "interactions": [
    {{
      "request": {{"method": "POST", "path": "/chat", "headers": {{}}}},
      "response": {{
        "ms": 0,
        "status": 200,
        "headers": {{"content-type": "text/event-stream"}},
        "stream": [{chunks}],
        "end": "complete"
      }}
    }}
  ]
}}
"#
    )
}

#[test]
fn a_protocol_that_a_person_names_tells_the_types_of_messages() {
    let stage = Stage::new();
    stage.write("old/talk.json", &stream_of(&["begin", "middle", "end"]));
    stage.write("new/talk.json", &stream_of(&["begin", "middle"]));
    let first_line = || {
        let (_, text, _) = diff(&stage, &["old", "new"]);
        text.lines().next().unwrap_or_default().to_owned()
    };
    let show = || told(&stage.retape(&["show", "new/talk.json"]).output().unwrap());

    assert!(!first_line().contains("`end`"), "{}", first_line());
    assert!(show().contains("1 ms  event  what middle\n"), "{}", show());

    stage.write("new/retape.toml", "[[protocol]]\ntag = \"/what\"\n");

    assert_eq!(first_line(), "breaking: POST /chat ends after `middle` with no `end`");
    assert!(show().contains("1 ms  middle\n"), "{}", show());
    let (_, text, _) = diff(&stage, &["old/talk.json", "new/talk.json"]);
    assert!(text.contains("- end\n"), "{text}");
}

#[test]
fn what_is_kept_beside_a_cassette_is_not_compared() {
    let stage = stage();
    for name in NAMES {
        let whole = stage.read(&format!("old/{name}.json"));
        stage.write(&format!("beside/{name}.json"), &whole);
        for beside in ["failed", "failed-2", "unanswered", "recovered", "recovered-2"] {
            stage.write(&format!("beside/{name}.{beside}.json"), &without_usage(&whole));
        }
    }

    let (status, told, said) = diff(&stage, &["old", "beside"]);

    assert_eq!(status, Some(0), "{told}{said}");
    assert!(!told.contains("failed") && !told.contains("recovered"), "{told}");
    stage.write("beside/other.failed-x.json", &stage.read("old/approve_tokens.json"));
    let (_, told, _) = diff(&stage, &["old", "beside"]);
    assert!(told.contains("other.failed-x"), "{told}");
}

#[test]
fn one_change_in_several_places_is_approved_in_one_step() {
    let stage = stage();
    for name in NAMES {
        let old = stage.read(&format!("old/{name}.json"));
        stage.write(&format!("new/{name}.json"), &old.replace(r#""sender_id": "#, r#""sender": "#));
    }
    let (_, text, _) = diff(&stage, &["old", "new", "--strict"]);
    let print = text.lines().find_map(|line| line.split_once("field-missing ")).unwrap().1;

    let approve = ["old", "new", "--reason", "nobody reads it", "--approve", print];
    let (_, text, _) = diff(&stage, &approve);

    let approved = stage.read("retape-approvals.toml").matches("[[approve]]").count();
    assert!(approved > 2, "{text}");
    assert!(!text.contains("breaking"), "{text}");
}

#[test]
fn what_the_proofs_of_both_recordings_found_to_be_made_up_is_no_change() {
    let cassette = |made_up: &str, said: &str| {
        format!(
            r#"{{"retape": 2, "ids": {{"version": 1, "client": [
                {{"id": "{made_up}", "in": 1, "at": "/name", "by": "runs"}}]}},
              "interactions": [{{
                "request": {{"method": "POST", "path": "/agents", "json": {{"name": "run 0 {made_up}"}}}},
                "response": {{"status": 200, "json": {{"name": "run 0 {made_up}", "said": "{said}"}}}}}}]}}"#
        )
    };
    let stage = Stage::new();
    stage.write("old/a.json", &cassette("644bd2", "so"));
    for (said, expected) in [("so", "nothing changed"), ("thus", "1 of 1 cassette changed")] {
        stage.write("new/a.json", &cassette("c2a34e", said));

        let (_, told, _) = diff(&stage, &["old", "new"]);

        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("c2a34e"), "{told}");
    }
}
