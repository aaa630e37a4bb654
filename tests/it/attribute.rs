//! `#[retape::test]`.

use std::path::{Path, PathBuf};
use std::process::Command;

use retape::{Mode, Session, assert_order, assert_shape};

use crate::stage::Stage;
use crate::support::client;
use crate::support::upstream::Upstream;

#[retape::test(cassettes = named_after("a_cassette_is_named_after_its_test"), mode = Mode::Replay)]
async fn a_cassette_is_named_after_its_test(session: &Session) {
    let models = reqwest::get(format!("{}/v1/models", session.url())).await.unwrap();

    assert_eq!(models.status(), 200);
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay)]
fn a_client_may_block(session: &Session) -> Result<(), String> {
    let models = client::get(&format!("{}/v1/models", session.url()));

    assert_eq!(models.status, 200);
    Ok(())
}

#[retape::test(mode = Mode::Record, upstream = agents(), cassettes = folder("recorded"))]
fn a_test_may_record(session: &Session) {
    let agents = client::get(&format!("{}/v1/agents", session.url()));

    assert_eq!(agents.text(), r#"["agent-1"]"#);
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay)]
#[should_panic(expected = "/v1/models?limit=1")]
async fn a_miss_that_the_client_swallows_fails_the_test(session: &Session) {
    let _ = reqwest::get(format!("{}/v1/models?limit=1", session.url())).await;
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay)]
#[should_panic(expected = "no request reached retape")]
async fn a_test_that_asks_nothing_fails(_session: &Session) {}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay, allow_unused)]
async fn a_setting_may_have_no_value(_session: &Session) {}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay)]
#[should_panic(expected = "Error: \"no agent\"")]
async fn an_error_fails_the_test(_session: &Session) -> Result<(), &'static str> {
    Err("no agent")
}

#[retape::test(mode = Mode::Record, upstream = agents(), cassettes = folder("panicked"))]
#[should_panic]
async fn a_test_that_is_to_panic_may_record(session: &Session) {
    let _ = reqwest::get(format!("{}/v1/agents", session.url())).await;
    panic!("as it is to");
}

#[retape::test(cassette = "openai/rest", mode = "replay", allow_unused)]
async fn a_mode_may_be_a_word(session: &Session) {
    assert_eq!(session.mode(), Mode::Replay);
}

#[retape::test(cassette = "openai/rest", mode = "reply", allow_unused)]
#[should_panic(expected = "did you mean `replay`?")]
async fn a_word_that_is_no_mode_fails_the_test(_session: &Session) {}

/// Asks for what was not recorded, if it runs in a process of its own.
fn missed(session: &Session) -> Option<u16> {
    std::env::var_os(ALONE)?;
    Some(client::get(&format!("{}/v1/models?limit=1", session.url())).status)
}

const ALONE: &str = "RETAPE_TEST_ALONE";

#[retape::test(cassette = "openai/rest", mode = Mode::Replay, allow_unused)]
async fn returning(session: &Session) -> Result<(), String> {
    missed(session).map_or(Ok(()), |status| Err(format!("status {status}")))
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay, allow_unused)]
fn panicking(session: &Session) {
    assert_eq!(missed(session).unwrap_or(200), 200);
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay, allow_unused)]
fn ignoring(session: &Session) {
    missed(session);
}

/// A test that runs in a process of its own, where it may find out what it is to do.
fn alone(test: &str, task: &str) -> Command {
    let mut alone = Command::new(std::env::current_exe().unwrap());
    alone.args([&format!("attribute::{test}"), "--exact", "--test-threads=2"]);
    alone.env(ALONE, task).env("RUST_BACKTRACE", "0").env("INSTA_UPDATE", "no");
    alone.env_remove("INSTA_FORCE_PASS");
    alone
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay, allow_unused)]
#[should_panic]
fn to_panic(session: &Session) {
    missed(session);
    panic!("as it is to");
}

#[retape::test(cassette = "openai/rest", mode = Mode::Replay, allow_unused)]
#[should_panic(expected = "models")]
fn to_panic_with_a_text(session: &Session) {
    missed(session);
    panic!("no models");
}

#[test]
fn what_it_missed_fails_a_test_that_is_to_panic() {
    for test in ["to_panic", "to_panic_with_a_text"] {
        let output = alone(test, "fail").output().unwrap();

        let told = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && told.contains("/v1/models?limit=1"), "{told}");
    }
}

/// Records, and panics with what it is told, if it runs in a process of its own.
#[retape::test(mode = Mode::Record, upstream = agents(), cassettes = failing())]
#[should_panic(expected = "2 agents")]
fn recording_to_panic(session: &Session) {
    client::get(&format!("{}/v1/agents", session.url()));
    let panic = std::env::var(ALONE).unwrap_or("not 2 agents".to_owned());
    assert!(panic.is_empty(), "{panic}");
}

#[test]
fn what_a_test_recorded_that_is_to_panic_is_saved_once_it_panics_as_expected() {
    let stage = Stage::new();
    let kept = stage.folder().join("it/attribute");
    std::fs::create_dir_all(&kept).unwrap();
    let run = |panic: &str| {
        let mut test = alone("recording_to_panic", panic);
        test.env("RETAPE_TEST_FOLDER", stage.folder()).output().unwrap().status.success()
    };
    let saved = || kept.join("recording_to_panic.json").exists();

    assert!(!run("another") && !saved(), "another panic");
    assert!(!run("") && !saved(), "no panic");
    assert!(run("not 2 agents") && saved(), "the panic");
}

#[test]
fn a_test_that_fails_says_what_it_missed() {
    let run = |test: &str| {
        let output = alone(test, "fail").output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{test}: {told}");
        told.replace(test, "NAME")
    };

    let ignoring = run("ignoring");
    let missed = &ignoring[ignoring.find("1 request has no recorded answer").unwrap()..];
    let missed = &missed[..missed.find("RETAPE_MODE").unwrap()];
    assert!(missed.contains("\nhint: `openai/rest` (") && missed.contains("/v1/models?limit=1"));
    let returning = run("returning");
    assert!(returning.contains(&format!("\nError: \"status 470\"\n{missed}")), "{returning}");
    let panicking = run("panicking");
    let head =
        "retape: the test `attribute::NAME` failed, and these requests have no recorded answer";
    assert!(panicking.contains("  left: 470\n"), "{panicking}");
    assert!(panicking.contains(&format!("{head}\n  `openai/rest` (")), "{panicking}");
}

/// Fails against what it has recorded, if it runs in a process of its own.
#[retape::test(mode = Mode::Record, upstream = agents(), cassettes = failing())]
async fn failing_again(session: &Session) -> Result<(), &'static str> {
    let _ = reqwest::get(format!("{}/v1/agents", session.url())).await;
    let is_again = session.mode() == Mode::Replay && std::env::var_os(ALONE).is_some();
    if is_again { Err("too old") } else { Ok(()) }
}

#[test]
fn a_test_that_fails_against_its_recording_says_why() {
    let stage = Stage::new();
    let output = alone("failing_again", "fail").env("RETAPE_TEST_FOLDER", stage.folder()).output();

    let told = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(told.contains("the recording does not replay in 3 runs\n"), "{told}");
    assert!(told.contains("\nagainst its recording the test says: Error: \"too old\"\n"), "{told}");
}

/// Records, unless it runs in a process of its own that is to replay.
fn asserted() -> (Mode, PathBuf) {
    match std::env::var(ALONE).as_deref() {
        Ok("replay") => (Mode::Replay, folder("asserted-alone")),
        Ok(_) => (Mode::Record, folder("asserted-alone")),
        Err(_) => (Mode::Record, folder("asserted")),
    }
}

#[retape::test(mode = asserted().0, upstream = agents(), cassettes = asserted().1)]
async fn asserting(session: &Session) {
    let agents = reqwest::get(format!("{}/v1/agents", session.url())).await.unwrap();
    let agents = agents.text().await.unwrap();
    let trace = ["run_started", "text_delta", "text_delta", "run_finished"];

    insta::assert_snapshot!(agents, @r#"["agent-1"]"#);
    assert_order!(trace, @"run_started text_delta+ run_finished");
    assert_shape!([1], @"[integer]");
    assert_order!(trace);
    assert_shape!(["agent-1"]);
    insta::assert_snapshot!("asserting_agents", agents);
}

#[test]
fn what_a_test_asserts_holds_in_its_proof_and_in_replay() {
    for mode in ["record", "replay"] {
        let output = alone("asserting", mode).output().unwrap();

        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{mode}: {told}");
    }
}

#[retape::test(mode = Mode::Record, upstream = agents(), cassettes = failing(), allow_unused)]
fn recording(session: &Session) -> Result<(), String> {
    let Ok(how) = std::env::var(ALONE) else { return Ok(()) };
    client::get(&format!("{}/v1/agents", session.url()));
    assert_eq!(how, "return");
    Err("no agent".to_owned())
}

/// The folder of a test of its own process.
fn failing() -> PathBuf {
    std::env::var_os("RETAPE_TEST_FOLDER").map_or_else(|| folder("failing"), PathBuf::from)
}

#[test]
fn what_a_test_that_fails_recorded_is_kept_beside_the_cassette() {
    let stage = Stage::new();
    let kept = stage.folder().join("it/attribute");
    std::fs::create_dir_all(&kept).unwrap();
    let run = |how: &str| {
        let mut test = alone("recording", how);
        let output = test.env("RETAPE_TEST_FOLDER", stage.folder()).output().unwrap();
        assert!(!output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().replace(&kept.display().to_string(), "FOLDER")
    };

    let returning = run("return");
    let panicking = run("panic");

    let told = |number: &str| {
        format!(
            "what it recorded is kept in `FOLDER/recording.failed{number}.json`\n\
             hint: to take it as the cassette `it/attribute/recording`: \
             `mv FOLDER/recording.failed{number}.json FOLDER/recording.json`\n"
        )
    };
    assert!(returning.contains(&format!("Error: \"no agent\"\n{}", told(""))), "{returning}");
    let head = "retape: the test `attribute::recording` failed\n";
    assert!(panicking.contains(&format!("{head}{}", told("-2"))), "{panicking}");
    let mut files: Vec<_> =
        std::fs::read_dir(&kept).unwrap().map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["recording.failed-2.json", "recording.failed.json"]);
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    let check = |test: &str, expected: &str| {
        let told = compile(test);
        assert!(told.starts_with(expected), "{test}: {told}");
    };

    check(
        "#[retape_macros::test] struct A;",
        "1:24: error: `#[retape::test]` stands before a function",
    );
    check(
        "#[retape_macros::test] fn a() {}",
        "1:28: error: a test takes its session: `session: &retape::Session`",
    );
    check(
        "#[retape_macros::test] fn a(a: A, b: B) {}",
        "1:35: error: a test takes its session and nothing else",
    );
    check(
        "#[retape_macros::test] fn a<T>(a: T) {}",
        "1:28: error: a test has no parameters of types",
    );
    check(
        "#[retape_macros::test] #[tokio::test] async fn a(a: A) {}",
        "1:33: error: `#[retape::test]` makes the test: leave this one out",
    );
    check(
        "#[retape_macros::test] fn a(a: retape::Session) {}",
        "1:32: error: a test borrows its session: take `&retape::Session`",
    );
    check("#[retape_macros::test(cassette)] fn a(a: A) {}", "1:23: error: `cassette` has no value");
    check("#[retape_macros::test(mode =)] fn a(a: A) {}", "1:23: error: `mode` has no value");
    check(
        "#[retape_macros::test(cassette = \"a\", cassette = \"b\")] fn a(a: A) {}",
        "1:39: error: a test has one cassette",
    );
    for misspelt in ["casette", "cassete", "cassetets", "casset"] {
        check(
            &format!("#[retape_macros::test({misspelt} = \"a\")] fn a(a: A) {{}}"),
            &format!(
                "1:23: error: there is no setting `{misspelt}`: `cassette` names another cassette, and"
            ),
        );
    }
    check(
        "#[retape_macros::test(\"a\")] fn a(a: A) {}",
        "1:23: error: a setting is a name and a value, as in `cassette = \"agents/list\"`",
    );
}

/// What the compiler says of a file, from the place on.
fn compile(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("test.rs");
    std::fs::write(&file, format!("{text}\n")).unwrap();
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".to_owned());
    let mut macros = std::ffi::OsString::from("retape_macros=");
    macros.push(built_macros());
    let told = Command::new(compiler)
        .args(["--test", "--edition=2024", "--error-format=short", "--emit=metadata"])
        .arg("--extern")
        .arg(macros)
        .current_dir(folder.path())
        .arg("test.rs")
        .output()
        .unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    told.strip_prefix("test.rs:").unwrap_or(&told).to_owned()
}

/// The library of the macro that this test was built with, or one that was built later.
fn built_macros() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let is_library = file.extension() == Path::new(std::env::consts::DLL_EXTENSION).file_name();
        name.contains("retape_macros-") && is_library
    };
    let built = |file: &PathBuf| file.metadata().unwrap().modified().unwrap();
    files.filter(is_it).max_by_key(built).expect("the macro is built")
}

/// A server that goes on to the end of the process.
fn agents() -> String {
    let upstream = Upstream::json(|_| r#"["agent-1"]"#.to_owned());
    let url = upstream.url();
    std::mem::forget(upstream);
    url
}

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("attribute").join(name)
}

/// A folder with a cassette for a test of this file.
fn named_after(test: &str) -> PathBuf {
    let folder = folder("named");
    let file = folder.join("it/attribute").join(test).with_extension("json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/openai/rest.json");
    std::fs::copy(recorded, file).unwrap();
    folder
}
