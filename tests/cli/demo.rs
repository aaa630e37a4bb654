//! `retape demo`, as a stranger runs it.

use std::path::Path;
use std::process::{Command, Output};

use retape::{Cassette, Name, store};

const VERDICT: &str = "✓ the same conversation with no server: 7 answers, 68 stream events";

fn retape(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retape"));
    // What the environment says of sessions is not meant for the demo.
    command.env("RETAPE_MODE", "replay").env("RETAPE_UPSTREAM", "http://127.0.0.1:9");
    command.current_dir(folder).args(arguments).output().expect("the binary starts")
}

fn demo(folder: &Path, more: &[&str]) -> String {
    let fast = ["demo", "--tokens-per-second", "100000"];
    let output = retape(folder, &[&fast, more].concat());
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", text(&output.stderr));
    said
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the demo prints UTF-8")
}

fn recorded(folder: &Path) -> Cassette {
    store::load(folder, &Name::new("refund").expect("a name")).expect("the cassette is whole")
}

fn agent_id(cassette: &Cassette) -> String {
    let created = cassette.interactions[0].response().expect("the agent was created");
    let created = serde_json::from_slice::<serde_json::Value>(&created.body.bytes());
    created.expect("JSON")["id"].as_str().expect("an id").to_owned()
}

#[test]
fn the_demo_records_replays_and_agrees() {
    let folder = tempfile::tempdir().expect("a folder");

    let said = demo(folder.path(), &[]);

    assert!(said.lines().last().is_some_and(|last| last.starts_with(VERDICT)), "{said}");
    assert!(said.contains("any more: "), "the server was not stopped: {said}");
    assert!(said.contains("status 470"), "{said}");
    assert_eq!(said.matches("│     + ").count(), 1, "the miss is not explained: {said}");
    assert!(!said.contains('\u{1b}'), "colour where there is no terminal: {said}");
    assert!(said.contains("│ breaking: POST …/stream ends after `stop_reason`"), "{said}");
    assert!(said.contains("shown by refund-later.json"), "the new side is called so: {said}");
    let wide: Vec<_> = said.lines().filter(|line| line.chars().count() > 80).collect();
    // What is to be typed is not broken.
    assert!(
        wide.iter()
            .all(|line| line.contains("curl") || line.contains(env!("CARGO_BIN_EXE_retape"))),
        "{wide:?}"
    );
}

#[test]
fn the_cassette_holds_the_conversation_with_its_ids() {
    let folder = tempfile::tempdir().expect("a folder");

    let said = demo(folder.path(), &["--dir", "kept"]);
    let cassette = recorded(&folder.path().join("kept"));

    let id = agent_id(&cassette);
    let [created, asked, mistaken, approved, listed, deleted, gone] = &cassette.interactions[..]
    else {
        panic!("{} interactions", cassette.interactions.len());
    };
    let answers = [created, asked, mistaken, approved, listed, deleted, gone];
    let statuses = answers.map(|answer| answer.response().map_or(0, |answer| answer.status));
    assert_eq!(statuses, [200, 200, 400, 200, 200, 200, 404]);
    assert!(answers[1..].iter().all(|one| one.request.path.contains(&id)));
    assert_eq!(listed.request.path, gone.request.path);
    let made = format!("{}… is made for demo-", &id[..14]);
    assert_eq!(said.matches(&made).count(), 3, "the server issued it once: {said}");
    let key = created.request.headers.get("authorization").expect("the client sent one");
    assert!(key.contains("[redacted:"), "{key}");
    assert!(!folder.path().join("kept/.gitignore").exists(), "a named folder is the user's");
}

#[test]
fn the_demo_can_be_run_again_and_makes_new_ids() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("retape-demo");

    demo(folder.path(), &[]);
    let first = agent_id(&recorded(&kept));
    demo(folder.path(), &[]);

    assert_ne!(first, agent_id(&recorded(&kept)));
    assert_eq!(std::fs::read_to_string(kept.join(".gitignore")).expect("it is there"), "*\n");
}

#[test]
fn the_commands_to_go_on_with_work() {
    let folder = tempfile::tempdir().expect("a folder");

    let said = demo(folder.path(), &[]);
    let show = said.lines().find_map(|line| line.split_once(" show --bodies ")).expect("a command");
    let shown = retape(folder.path(), &["show", "--bodies", show.1]);

    assert!(text(&shown.stdout).contains("7 interactions"));
    let replay = said.lines().find_map(|line| line.split_once(" replay ")).expect("a command");
    let file = replay.1.split(' ').next().expect("a file");
    let ran = retape(
        folder.path(),
        &["replay", "--allow-unused", file, "--", env!("CARGO_BIN_EXE_retape"), "help"],
    );
    assert!(ran.status.success(), "{}", text(&ran.stderr));
}

#[test]
fn the_command_that_asks_the_file_works_as_it_is_pasted() {
    let folder = tempfile::tempdir().expect("a folder");
    let has_curl = Command::new("curl").arg("--version").output().is_ok();

    let said = demo(folder.path(), &[]);
    let (_, behind) = said.split_once("for any client\n").expect("a command");
    let (pasted, _) = behind.split_once("\n   # ").expect("another one");

    let ran = Command::new("sh").args(["-c", pasted]).current_dir(folder.path()).output();
    let ran = ran.expect("there is a shell");
    assert!(ran.status.success() || !has_curl, "{pasted}\n{}", text(&ran.stderr));
}

#[test]
fn a_folder_that_cannot_be_made_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("taken"), "").expect("a file");

    let output = retape(folder.path(), &["demo", "--dir", "taken"]);

    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("hint: choose a folder"), "{}", text(&output.stderr));
}
