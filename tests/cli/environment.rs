//! What the environment says.

use crate::retape::{Stage, said, told};
use crate::support::upstream::Upstream;

/// Asks for `/1`, which is recorded, and `/2`, which is not, and tells what was answered and how
/// many requests the server got.
#[track_caller]
fn check(variables: &[(&str, &str)], arguments: &[&str], expected: (&str, usize)) {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1");
    let before = upstream.asked().len();

    let arguments: Vec<&str> = [&["run"], arguments, &["tape"]].concat();
    let mut command = stage.around(&arguments, "GET /1\nGET /2");
    command.env("RETAPE_UPSTREAM", upstream.url()).envs(variables.iter().copied());
    let output = command.output().unwrap();

    let told = told(&output);
    let answers: Vec<&str> = told
        .lines()
        .filter_map(|line| line.get(..3))
        .filter(|status| status.parse::<u16>().is_ok())
        .collect();
    assert_eq!(
        (answers.join(" ").as_str(), upstream.asked().len() - before),
        expected,
        "{}",
        said(&output)
    );
}

#[test]
fn the_mode_is_that_of_the_environment() {
    check(&[], &[], ("200 470", 0));
    check(&[("CI", "true")], &[], ("200 470", 0));
    check(&[("RETAPE_MODE", "new_episodes")], &[], ("200 200", 1));
    check(&[("RETAPE_MODE", "record"), ("CI", "1")], &[], ("200 200", 2));
    check(&[("RETAPE_MODE", "passthrough")], &[], ("200 200", 2));
    check(&[("RETAPE_MODE", "replay")], &["--mode", "record"], ("200 200", 2));
    check(&[("RETAPE_MODE", "")], &[], ("200 470", 0));
}

#[test]
fn what_is_not_recorded_is_recorded_on_a_developers_machine_and_missed_on_a_build_server() {
    let upstream = Upstream::echo();
    for (ci, status, files) in [("", 0, 1), ("false", 0, 1), ("true", 1, 0)] {
        let stage = Stage::new();
        let mut command = stage.around(&["run", "tape"], "GET /1");
        command.env("RETAPE_UPSTREAM", upstream.url()).env("CI", ci);

        let output = command.output().unwrap();

        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
        assert_eq!(stage.cassettes().len(), files);
    }
}

#[test]
fn the_folder_of_cassettes_is_that_of_the_environment() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    let mut command = stage.around(&["record", "--upstream", &upstream.url(), "tape"], "GET /1");

    command.env("RETAPE_CASSETTES", "kept/here").output().unwrap();

    assert!(stage.folder().join("kept/here/tape.json").exists());
}

#[test]
fn colour_is_for_terminals() {
    let stage = Stage::new();

    let output = stage.retape(&["show", "nothing"]).output().unwrap();

    assert!(!said(&output).contains('\x1b'), "{}", said(&output));
}

#[test]
fn what_a_secret_variable_says_is_known_in_replay_and_shown_nowhere() {
    let key = ["Zq8v", "T3mK9xW2", "pL7nB4cR"].concat();
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let run = |arguments: &[&str], asks: &str| {
        let mut command = stage.around(arguments, asks);
        command.env("ACME_API_KEY", &key).output().unwrap()
    };
    let asks = format!("GET /v2/{key}/balance");
    let recorded = run(&["record", "--no-prove", "--upstream", &upstream.url(), "tape"], &asks);
    assert_eq!(recorded.status.code(), Some(0), "{}", said(&recorded));

    let replayed = run(&["replay", "tape"], &asks);
    let missed = run(&["replay", "tape"], &format!("GET /v3/{key}/else"));

    assert_eq!(replayed.status.code(), Some(0), "{}", said(&replayed));
    assert_eq!(missed.status.code(), Some(1));
    assert!(said(&missed).contains("[redacted:ACME_API_KEY]"), "{}", said(&missed));
    assert!(!said(&missed).contains(&key), "{}", said(&missed));
}
