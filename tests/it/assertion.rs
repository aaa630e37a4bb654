//! Contracts asserted in a Rust test.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use insta::assert_snapshot;
use retape::contract::{Finding, Traffic, check};
use retape::{Name, assert_contracts, store};

/// A folder with a recorded conversation of a real server, its contracts accepted.
fn accepted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let recorded =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta/hitl/approve_tokens.json");
    fs::copy(recorded, folder.path().join("tape.json")).unwrap();
    let name = Name::new("tape").unwrap();
    let cassette = store::load(folder.path(), &name).unwrap();
    for finding in check(&Traffic::of([(&name, &cassette)]), &[]) {
        let Finding::New(contract) = finding else { panic!("nothing was accepted: {finding:?}") };
        store::accept(folder.path(), &contract).unwrap();
    }
    folder
}

/// What the assertion says when it fails.
fn panicked(folder: &Path) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| assert_contracts(folder))).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn a_contract_that_is_kept_passes() {
    let folder = accepted();

    assert_contracts(folder.path());
}

#[test]
fn a_contract_that_is_broken_panics_and_tells_what_is_wrong() {
    let folder = accepted();
    let file = folder.path().join("tape.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(r#""reasoning": "The""#, r#""reasoning": 7"#)).unwrap();

    assert_snapshot!(panicked(folder.path()), @r"
    contracts are not kept

    broken  POST /v1/agents/{agent_id}/messages/stream -> 200 text/event-stream
              events: `reasoning_message` /reasoning: expected string, found the integer 7
                3 answers, first tape #4

    hint: if that is right, accept it: `cargo insta review` or `retape accept`
    ");
}

#[test]
fn a_cassette_that_cannot_be_read_panics_with_its_path() {
    let folder = accepted();
    fs::write(folder.path().join("tape.json"), "{").unwrap();

    let told = panicked(folder.path());

    assert!(told.contains("tape.json") && told.contains("not a cassette"), "{told}");
}
