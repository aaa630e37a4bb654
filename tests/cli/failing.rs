//! What becomes of a recording whose command fails.

use std::process::{Command, Output};

use insta::assert_snapshot;
use rustix::process::Signal;

use crate::client;
use crate::retape::{Running, Stage, said};
use crate::support::client::get;
use crate::support::upstream::Upstream;

/// Records with a command that exits 3.
fn failing(stage: &Stage, upstream: &Upstream, mode: &str, asks: &str) -> Output {
    let url = upstream.url();
    let words = ["run", "--no-prove", "--mode", mode, "--upstream", &url, "tape"];
    let mut command = stage.around(&words, asks);
    let output = command.env(client::EXITS, "3").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    output
}

/// The command in the hint, run as it is.
fn follow(stage: &Stage, output: &Output) {
    let said = said(output);
    let (_, hint) = said.split_once("hint: ").unwrap();
    let command = hint.split('`').nth(1).unwrap();
    let followed = Command::new("sh").args(["-c", command]).current_dir(stage.folder()).status();
    assert!(followed.unwrap().success(), "{command}");
}

#[test]
fn the_first_recording_of_a_command_that_fails_is_saved_all_the_same() {
    let stage = Stage::new();

    let output = failing(&stage, &Upstream::echo(), "record", "GET /1");

    assert_eq!(stage.cassettes(), ["tape.json"]);
    assert_snapshot!(stage.harmless(&said(&output)), @"
    retape: `CLIENT` ended with exit status: 3
    retape: recorded 1 interaction in cassettes/tape.json, though the command failed
    ");
}

/// A command that asks something, and fails when it is run again.
const ONCE: &str = "\"$@\" || exit; test -e seen && exit 5; touch seen";

#[test]
fn a_command_that_ends_in_another_way_without_the_server_says_in_which() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let url = upstream.url();
    let arguments = ["record", "--upstream", &url, "tape", "--", "sh", "-c", ONCE, "sh"];
    let mut command = stage.retape(&arguments);
    command.args(client::command()).env(client::ASKS, "GET /1");

    let output = command.output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stage.harmless(&said(&output)), @"
    retape: recorded 1 interaction in cassettes/tape.json
    retape: it does not replay (3 runs without the server); the recording is kept
    hint: the command ends with exit status 5 without the server: `retape replay` shows what it says then
    ");
}

#[test]
fn a_command_that_fails_is_proved_to_fail_alike_with_no_server() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let record = ["record", "--upstream", &upstream.url(), "tape"];
    let mut command = stage.around(&record, "GET /1");

    let output = command.env(client::EXITS, "3").output().unwrap();

    assert_eq!(output.status.code(), Some(3));
    assert_eq!(upstream.asked().len(), 1);
    assert_snapshot!(stage.harmless(&said(&output)), @"
    retape: `CLIENT` ended with exit status: 3
    retape: recorded 1 interaction in cassettes/tape.json, though the command failed
    retape: it replays without the server (1 run), and the command fails as it did
    ");
}

#[test]
fn what_is_recorded_because_it_is_not_there_is_proved_too() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let run = |more: &[&str]| {
        let upstream = upstream.url();
        let words = [&["run", "--mode", "once", "--upstream", &upstream, "tape"], more].concat();
        let output = stage.around(&words, "GET /1").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        said(&output)
    };

    let replayed = "retape: replayed 1 cassette: 1 of 1 interaction played, 0 misses, nothing went out through retape";
    let proved = "retape: it replays without the server (1 run)";
    assert_eq!(run(&[]).lines().last(), Some(proved));
    assert_eq!(run(&[]).lines().last(), Some(replayed));
    std::fs::remove_file(stage.folder().join("cassettes/tape.json")).unwrap();
    // A fault is met by what was recorded before, and would be met by what is new.
    let spoiled = run(&["--fault", "GET /1: 503 x1"]);
    assert!(spoiled.contains("recorded 1 interaction") && !spoiled.contains(proved), "{spoiled}");
    assert_eq!(upstream.asked().len(), 2);
}

#[test]
fn a_test_whose_recording_is_not_kept_says_nothing_of_the_others() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let record = ["record", "--upstream", &upstream.url()];
    let mut command = stage.around(
        &record,
        r#"POST /-/retape/open {"cassette": "right"}
GET /~opened-1/-/1
POST /-/retape/finish?session=~opened-1
POST /-/retape/open {"cassette": "wrong"}
GET /~opened-2/-/2
POST /-/retape/finish?session=~opened-2&save=no"#,
    );

    let output = command.env(client::EXITS, "3").output().unwrap();

    assert_eq!(output.status.code(), Some(3));
    assert_eq!(stage.cassettes(), ["right.json"]);
    assert_snapshot!(stage.harmless(&said(&output)), @"
    retape: `CLIENT` ended with exit status: 3
    retape: recorded 1 interaction in cassettes/right.json, though the command failed
    retape: not kept, because the test failed: `wrong`
    retape: it replays without the server (1 run), and the command fails as it did
    ");
}

#[test]
fn a_command_that_fails_does_not_replace_a_cassette() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1\nGET /2");
    let before = stage.read("cassettes/tape.json");

    let output = failing(&stage, &upstream, "record", "GET /1");

    assert_eq!(stage.read("cassettes/tape.json"), before);
    assert_eq!(stage.cassettes(), ["tape.failed.json", "tape.json"]);
    assert_snapshot!(stage.harmless(&said(&output)), @"
    retape: `CLIENT` ended with exit status: 3
    retape: the command failed: the cassette `tape` stays as it was; 1 interaction recorded in cassettes/tape.failed.json
    hint: to take what was recorded: `mv cassettes/tape.failed.json cassettes/tape.json`
    ");
    let failed = stage.read("cassettes/tape.failed.json");
    follow(&stage, &output);
    assert_eq!(stage.read("cassettes/tape.json"), failed);
    assert_eq!(stage.cassettes(), ["tape.json"]);
}

#[test]
fn what_a_failed_attempt_has_left_is_told_once_the_cassette_is_whole() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1");
    failing(&stage, &upstream, "record", "GET /1");

    let url = upstream.url();
    let output = stage.around(&["record", "--upstream", &url, "tape"], "GET /1").output().unwrap();

    let told = said(&output);
    let left =
        "hint: `cassettes/tape.failed.json` is left from an earlier attempt; you can delete it";
    assert!(told.contains(left), "{told}");
}

#[test]
fn what_is_kept_beside_can_be_taken_with_its_bodies() {
    let stage = Stage::new();
    let large = |letter: &str| {
        let large = letter.repeat(64 * 1024);
        Upstream::json(move |_| format!("[\"{large}\"]"))
    };
    stage.record(&large("a").url(), "tape", "GET /1");

    let output = failing(&stage, &large("b"), "record", "GET /1");
    follow(&stage, &output);

    assert_eq!(stage.cassettes(), ["tape.bodies", "tape.json"]);
    let replayed = stage.around(&["replay", "tape"], "GET /1").output().unwrap();
    assert!(replayed.status.success(), "{}", said(&replayed));
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("bbbb"));
}

#[test]
fn new_episodes_of_a_command_that_fails_change_no_cassette() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1");
    let before = stage.read("cassettes/tape.json");

    let output = failing(&stage, &upstream, "new_episodes", "GET /1\nGET /2");

    assert_eq!(stage.read("cassettes/tape.json"), before);
    assert_eq!(stage.cassettes(), ["tape.failed.json", "tape.json"]);
    follow(&stage, &output);
    assert_eq!(stage.cassettes(), ["tape.json"]);
    assert_eq!(stage.read("cassettes/tape.json").matches("\"path\"").count(), 2);
}

#[test]
fn new_episodes_of_a_command_that_fails_and_asks_nothing_new_leave_nothing() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1");

    failing(&stage, &upstream, "new_episodes", "GET /1");

    assert_eq!(stage.cassettes(), ["tape.json"]);
}

#[test]
fn a_command_that_an_interruption_ends_does_not_replace_a_cassette() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1\nGET /2");
    let script = "echo $RETAPE_URL; while :; do sleep 0.01; done";
    let url = upstream.url();
    let arguments = ["record", "--upstream", &url, "tape", "--", "sh", "-c", script];

    let mut running = Running::start(stage.retape(&arguments));
    get(&format!("{}/3", running.line()));
    running.signal(Signal::TERM);
    let (code, said) = running.end();

    assert_eq!(code, Some(143), "{said}");
    assert_eq!(stage.cassettes(), ["tape.failed.json", "tape.json"]);
    assert!(!stage.read("cassettes/tape.json").contains("/3"));
}

#[test]
fn a_command_that_fails_with_no_miss_is_told_what_it_did_not_ask_for() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1\nGET /2\nGET /3\nGET /4\nGET /5");
    let said_of = |asks: &str, status: &str| {
        let mut command = stage.around(&["replay", "tape"], asks);
        stage.harmless(&said(&command.env(client::EXITS, status).output().unwrap()))
    };

    assert_snapshot!(said_of("GET /1", "3"), @r"
    retape: `CLIENT` ended with exit status: 3
    not asked for: GET /2 (interaction 2 of `tape`)
    not asked for: GET /3 (interaction 3 of `tape`)
    not asked for: GET /4 (interaction 4 of `tape`)
    hint: `--strict` lists 1 more interaction that nobody asked for
    retape: replayed 1 cassette: 1 of 5 interactions played, 0 misses, nothing went out through retape
    ");
    assert!(!said_of("GET /1\nGET /other", "3").contains("not asked for"));
    assert!(!said_of("GET /1", "0").contains("not asked for"));
}
