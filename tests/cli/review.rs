//! `retape review`, by lines from a pipe.

use std::io::Write as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::retape::{Stage, said, told};

const STREAM: &str = "POST-v1-agents-agent_id-messages-stream-200-event-stream.snap";

/// Two conversations of a real server, and how many contracts they teach.
const RECORDED: [&str; 2] = ["approve_tokens", "deny_tokens"];
const CONTRACTS: usize = 7;

fn stage() -> Stage {
    Stage::with_recorded(&RECORDED)
}

/// One in which the stream of an approval lacks its statistics.
fn broken() -> Stage {
    let stage = stage();
    assert!(stage.retape(&["accept"]).output().unwrap().status.success());
    without(&stage, "approve_tokens", r#""message_type": "usage_statistics""#);
    stage
}

/// Takes the lines of a recording away that say this.
fn without(stage: &Stage, name: &str, said: &str) {
    let file = format!("cassettes/{name}.json");
    let whole = stage.read(&file);
    let kept: Vec<&str> = whole.lines().filter(|line| !line.contains(said)).collect();
    assert!(kept.len() < whole.lines().count());
    stage.write(&file, &kept.join("\n"));
}

/// Reviews by these lines: the exit status, what is shown, and what is said beside.
fn review(stage: &Stage, arguments: &[&str], lines: &str) -> (Option<i32>, String, String) {
    let mut command = stage.retape(&[&["review"], arguments].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that has seen enough does not read on.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), told(&output), said(&output))
}

/// How many contracts are accepted, and how many wait.
fn files(stage: &Stage) -> (usize, usize) {
    let entries = std::fs::read_dir(stage.folder().join("cassettes/contracts")).unwrap();
    let names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let end = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
    (end(".snap"), end(".snap.new"))
}

#[test]
fn a_broken_contract_is_shown_with_its_recording_and_its_difference() {
    let stage = broken();

    let (status, shown, said) = review(&stage, &[], "s\n");

    assert_eq!((status, said.as_str()), (Some(1), "retape: 1 skipped\n"));
    assert_snapshot!(shown, @"

    1 of 1  unproven ───────────────────────────────────────────────────────────────
    POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream

      unproven   order-end-new 3eead4d4aae7
        the stream ends after `stop_reason` with no `usage_statistics`
        trace: reasoning_message+ assistant_message+ stop_reason (no
        usage_statistics) [DONE]
        3 of 6 recordings show it, and none of about 6 before: that may be chance
        shown by approve_tokens.json, interaction 4, event 26, and 2 more answers


      POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream
        order
          tool_return_message? reasoning_message+ assistant_message+
      ↳ approval_request_message*
    -     stop_reason usage_statistics [DONE]
    +     stop_reason usage_statistics? [DONE]
        invariants
          run_id constant
    -     usage_statistics.context_tokens sums usage_statistics.completion_tokens
    - ↳ and usage_statistics.prompt_tokens
    -     usage_statistics.total_tokens sums usage_statistics.completion_tokens and
    - ↳ usage_statistics.prompt_tokens
        events
          by message_type
            approval_request_message

    a accept  r reject  s skip  m more  p previous  A R S all  q quit  ? help >
    ");
}

#[test]
fn what_is_accepted_is_the_contract_and_nothing_is_left_to_review() {
    let stage = broken();
    let accepted = stage.read(&format!("cassettes/contracts/{STREAM}"));

    let (status, _, said) = review(&stage, &[], "accept\n");
    assert_eq!((status, said.as_str()), (Some(0), "retape: 1 accepted\n"));
    assert_ne!(stage.read(&format!("cassettes/contracts/{STREAM}")), accepted);

    let (status, shown, said) = review(&stage, &[], "");
    assert_eq!((status, shown.as_str()), (Some(0), ""));
    assert!(said.contains("there is nothing to review"), "{said}");
}

#[test]
fn what_is_rejected_waits_no_longer_and_the_accepted_contract_stays() {
    let stage = broken();
    let accepted = stage.read(&format!("cassettes/contracts/{STREAM}"));

    let (status, _, said) = review(&stage, &[], "r\n");

    assert_eq!(status, Some(1));
    assert!(said.starts_with("retape: 1 rejected\nhint: "), "{said}");
    assert_eq!(stage.read(&format!("cassettes/contracts/{STREAM}")), accepted);
    assert_eq!(files(&stage), (CONTRACTS, 0));
}

#[test]
fn each_of_several_contracts_is_decided_about_alone() {
    let stage = stage();

    let (status, shown, said) = review(&stage, &[], "a\nr\nn\nS\n");

    assert_eq!(status, Some(1));
    assert!(said.starts_with("retape: 1 accepted, 1 rejected, 5 skipped\n"), "{said}");
    assert!(shown.contains("1 of 7  new") && shown.contains("4 of 7  new"), "{shown}");
    assert!(!shown.contains("5 of 7"), "{shown}");
    assert_eq!(files(&stage), (1, 5));
}

#[test]
fn who_goes_back_may_decide_otherwise() {
    let stage = stage();

    let (status, shown, said) = review(&stage, &[], "a\np\nr\nA\n");

    assert_eq!(status, Some(1));
    assert!(shown.contains("(accepted before) > "), "{shown}");
    assert!(said.starts_with("retape: 6 accepted, 1 rejected\n"), "{said}");
    assert_eq!(files(&stage), (6, 0));
}

#[test]
fn whoever_quits_leaves_the_rest_waiting() {
    for lines in ["a\nq\n", "a\n", "a\nq\na\n"] {
        let stage = stage();

        let (status, _, said) = review(&stage, &[], lines);

        assert_eq!((status, said.as_str()), (Some(1), "retape: 1 accepted, 6 left\n"));
        assert_eq!(files(&stage), (1, 6));
    }
}

#[test]
fn more_shows_the_whole_contract_and_help_the_keys() {
    let stage = stage();

    let (_, brief, _) = review(&stage, &[], "n\nq\n");
    let (_, whole, _) = review(&stage, &[], "n\nm\nx\n?\n");

    let last = "per_file_view_window_char_limit: integer";
    assert!(brief.contains(" more lines") && !brief.contains(last), "{brief}");
    assert!(whole.contains(last), "{whole}");
    assert!(whole.contains("r  reject: it waits no longer"), "{whole}");
}

#[test]
fn an_orphan_is_removed_or_kept() {
    let stage = stage();
    stage.retape(&["accept"]).output().unwrap();
    for name in RECORDED {
        std::fs::remove_file(stage.folder().join(format!("cassettes/{name}.json"))).unwrap();
    }

    let (status, shown, said) = review(&stage, &[], "a\nr\ns\nA\n");

    assert_eq!(status, Some(1));
    assert!(shown.contains("1 of 7  orphan"), "{shown}");
    assert!(shown.contains("- DELETE /v1/agents/{agent_id} -> 200"), "{shown}");
    assert!(said.starts_with("retape: 5 accepted, 1 rejected, 1 skipped\n"), "{said}");
    assert_eq!(files(&stage), (2, 0));
}

#[test]
fn a_change_since_a_revision_is_approved_with_a_reason_or_not_at_all() {
    let stage = stage();
    assert!(stage.retape(&["accept"]).output().unwrap().status.success());
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "one"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=test", "-c", "user.email=test@localhost"]).args(arguments);
        assert!(git.current_dir(stage.folder()).status().unwrap().success());
    }
    without(&stage, "approve_tokens", r#""message_type": "usage_statistics""#);
    let other = stage.read("cassettes/deny_tokens.json");
    let created = other.find(r#""path": "/v1/agents/","#).unwrap();
    let (before, behind) = other.split_at(created);
    let created = behind.replacen(r#""status": 200"#, r#""status": 201"#, 1);
    stage.write("cassettes/deny_tokens.json", &format!("{before}{created}"));
    let base = ["--base", "HEAD"];

    let (status, shown, said) = review(&stage, &base, "a\n\nr\nq\n");
    assert_eq!((status, said.as_str()), (Some(1), "retape: 1 rejected, 1 left\n"));
    assert!(shown.contains("without a reason nothing is approved"), "{shown}");
    assert!(shown.contains("1 of 2  breaking") && shown.contains("2 of 2  breaking"), "{shown}");
    assert!(!stage.folder().join("retape-approvals.toml").exists());

    let (status, shown, said) = review(&stage, &base, "a\nno client waits for it\nA\nnor here\n");
    let asked = shown.find("why is it all right? ").unwrap();
    assert!(!shown[..asked].contains("approved\n") && shown[asked..].contains("approved\n"));
    assert_eq!((status, said.as_str()), (Some(0), "retape: 2 approved\n"));
    let approvals = stage.read("retape-approvals.toml");
    assert!(approvals.contains(r#"reason = "no client waits for it""#), "{approvals}");
    assert!(approvals.contains(r#"reason = "nor here""#), "{approvals}");

    let (status, _, said) = review(&stage, &base, "");
    assert_eq!(status, Some(0));
    assert!(said.contains("there is nothing to review"), "{said}");
    assert!(stage.retape(&["diff", "--base", "HEAD"]).output().unwrap().status.success());
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let stage = broken();

    let (_, shown, _) = review(&stage, &[], "m\nq\n");

    let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(shown.contains("↳ ") && wide.is_empty(), "{wide:#?}");
}

#[test]
fn where_there_is_nothing_at_all_it_cannot_run() {
    let (status, _, said) = review(&Stage::new(), &[], "a\n");

    assert_eq!(status, Some(2));
    assert!(said.contains("no cassette and no contract to check"), "{said}");
}
