//! `retape list`, `retape new`, and `retape show` with patterns.

use crate::retape::{Stage, said};

fn run(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String) {
    let (status, told, said) = stage.run(arguments);
    (status, told + &said)
}

#[test]
fn a_new_cassette_is_listed_and_shown_by_a_pattern() {
    let stage = Stage::new();

    assert_eq!(run(&stage, &["new", "shop/empty"]).0, Some(0));
    assert_eq!(run(&stage, &["new", "shop/full"]).0, Some(0));

    let (status, listed) = run(&stage, &["list"]);
    assert_eq!(status, Some(0), "{listed}");
    assert_eq!(listed, "shop/empty     1 interaction\nshop/full      1 interaction\n");
    assert_eq!(run(&stage, &["list", "shop/f*"]).1.lines().count(), 1);
    let (status, shown) = run(&stage, &["show", "shop/*"]);
    assert_eq!((status, shown.matches("POST /v1/path").count()), (Some(0), 2), "{shown}");
    assert!(stage.read("cassettes/shop/empty.json").contains("\"json\": {\"asked\": true}"));
}

#[test]
fn what_is_played_in_the_place_of_a_cassette_is_listed_and_other_yaml_is_not() {
    let stage = Stage::new();
    let chat = "interactions:
- request: {method: GET, uri: 'https://api.example.com/v1', headers: {}, body: null}
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: ok}}
";
    stage.write("cassettes/chat.yaml", chat);
    stage.write("cassettes/openapi.yaml", "openapi: 3.1.0\n");

    let listed = run(&stage, &["list"]);
    let strict = stage.around(&["replay", "--strict"], "GET /tape/-/1").output().unwrap();

    let expected = "chat     1 interaction  https://api.example.com\n";
    assert_eq!(listed, (Some(0), expected.to_owned()));
    assert!(said(&strict).contains("never opened: `chat`\n"), "{}", said(&strict));
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_printed_is_told() {
    let stage = Stage::new();
    run(&stage, &["new", "shop/empty"]);

    for arguments in [&["list"][..], &["show", "shop/*"], &["export", "--to", "har"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = stage.retape(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(said(&output).contains("hint: what was written is not whole"), "{arguments:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_link_that_leads_nowhere_is_told_as_such() {
    let stage = Stage::new();
    run(&stage, &["new", "empty"]);
    std::os::unix::fs::symlink("nowhere", stage.folder().join("cassettes/gone.json")).unwrap();

    let (status, said) = run(&stage, &["show", "gone"]);

    assert_eq!(status, Some(2));
    assert!(said.contains("hint: what stands there is no file, or a link that leads"), "{said}");
}

#[test]
fn what_is_not_there_is_said() {
    let stage = Stage::new();
    run(&stage, &["new", "shop/empty"]);

    let (status, said) = run(&stage, &["new", "shop/empty"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("there is a cassette `shop/empty`"), "{said}");
    assert_eq!(run(&stage, &["list", "letta/*"]).0, Some(1));
    let (status, said) = run(&stage, &["show", "letta/*"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("no cassette `letta/*`") && said.contains("`retape list`"), "{said}");
}
