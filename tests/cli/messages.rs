//! Why it could not run.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::retape::{Stage, said};

#[track_caller]
fn refused(stage: &Stage, arguments: &[&str]) -> String {
    let (status, _, said) = stage.run(arguments);
    assert_eq!(status, Some(2), "{said}");
    stage.harmless(&said)
}

#[test]
fn a_server_to_record_from_is_needed() {
    assert_snapshot!(refused(&Stage::new(), &["record", "tape", "--", "true"]), @r"
    error: recording needs the address of a live server
    hint: name the live server (`--upstream URL`, `RETAPE_UPSTREAM`), or replay what is recorded instead of `record`
    ");
}

#[test]
fn a_suite_whose_requests_name_no_server_is_told_that_one_is_needed() {
    let stage = Stage::new();

    assert_snapshot!(refused(&stage, &["record", "--", "curl", "-s", "-o", "out", "{url}/tape/-/x"]), @"
    error: recording needs the address of a live server
    hint: name the live server (`--upstream URL`, `RETAPE_UPSTREAM`): the client did not say which one it means
    ");
}

#[test]
fn a_test_runner_that_starts_it_names_the_servers_later() {
    let stage = Stage::new();

    for mode in ["record", "new_episodes", "passthrough"] {
        let mut command = stage.retape(&["run", "--attached", "--allow-unused"]);
        let output = command.env("RETAPE_MODE", mode).stdin(Stdio::null()).output().unwrap();

        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

#[test]
fn an_address_of_a_server_has_a_scheme() {
    let arguments = ["record", "--upstream", "localhost:8283", "tape", "--", "true"];

    assert_snapshot!(refused(&Stage::new(), &arguments), @"
    error: `upstream` is `localhost:8283`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]
    hint: did you mean `http://localhost:8283`?
    ");
}

#[test]
fn an_address_that_is_refused_is_shown_without_its_secrets() {
    let upstream = "http://me:hunter22@127.0.0.1:8283/?api_key=0123456789abcdef";
    let arguments = ["record", "--upstream", upstream, "tape", "--", "true"];

    assert_snapshot!(refused(&Stage::new(), &arguments), @"error: `upstream` is `http://…@HOST/?api_key=[redacted:api_key]`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]");
}

#[test]
fn a_misspelt_cassette_is_told_from_one_that_was_not_recorded() {
    let stage = Stage::new();
    stage.write("cassettes/letta/hello.json", "{}");

    assert_snapshot!(refused(&stage, &["show", "letta/helo"]), @r"
    error: no cassette `letta/helo` (`FOLDER/cassettes/letta/helo.json`)
    hint: there is `letta/hello`; or record it: `retape record --upstream URL letta/helo -- COMMAND`
    ");
}

#[test]
fn what_stands_in_the_place_of_a_cassette_is_told() {
    let stage = Stage::new();
    stage.write("cassettes/folder.json/x", "");
    stage.write("cassettes/chat.failed.json", "{}");

    assert_snapshot!(refused(&stage, &["show", "folder"]), @r"
    error: no cassette `folder` (`FOLDER/cassettes/folder.json`)
    hint: `cassettes/folder.json` is a directory: remove it, then record it: `retape record --upstream URL folder -- COMMAND`
    ");
    assert_snapshot!(refused(&stage, &["replay", "chat", "--", "true"]), @r"
    error: no cassette `chat` (`cassettes/chat.json`)
    hint: its run failed, so the recording is kept aside: `mv cassettes/chat.failed.json cassettes/chat.json` takes it; or record it: `retape record --upstream URL chat -- COMMAND`
    ");
}

#[test]
fn a_folder_that_is_not_there_is_named_where_nothing_was_asked() {
    let (status, _, said) = Stage::new().run(&["replay", "--cassettes", "tapes", "--", "true"]);

    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.ends_with("hint: there is no folder `tapes`: `--cassettes DIR` names another\n"),
        "{said}"
    );
}

#[test]
fn a_cassette_of_another_test_is_not_taken_for_the_one_that_was_meant() {
    let stage = Stage::new();
    stage.write("cassettes/test_agents/test_agents.json", "{}");

    assert_snapshot!(refused(&stage, &["show", "test_wrong/test_x"]), @r"
    error: no cassette `test_wrong/test_x` (`FOLDER/cassettes/test_wrong/test_x.json`)
    hint: record it: `retape record --upstream URL test_wrong/test_x -- COMMAND`
    ");
}

#[test]
fn a_cassette_that_is_named_must_be_there_to_be_replayed() {
    assert_snapshot!(refused(&Stage::new(), &["replay", "letta/hello", "--", "true"]), @"
    error: no cassette `letta/hello` (`cassettes/letta/hello.json`)
    hint: there is no folder `cassettes` yet; record it: `retape record --upstream URL letta/hello -- COMMAND`
    ");
}

#[test]
fn a_cassette_that_is_named_must_be_there_to_be_shown() {
    assert_snapshot!(refused(&Stage::new(), &["show", "here/hello.json"]), @"
    error: no cassette `hello` (`FOLDER/here/hello.json`)
    hint: there is no folder `FOLDER/here` yet; record it: `retape record --upstream URL --cassettes here hello -- COMMAND`
    ");
}

#[test]
fn a_name_stays_in_its_folder() {
    assert_snapshot!(refused(&Stage::new(), &["replay", "../x", "--", "true"]), @r"
    error: `../x` is not a cassette name: a part of it begins with a dot
    hint: a name is a path below the folder of cassettes: `letta/hello`
    ");
}

#[test]
fn a_character_that_no_name_can_have_is_named() {
    assert_snapshot!(refused(&Stage::new(), &["replay", "test_odd[a:b]", "--", "true"]), @"
    error: `test_odd[a:b]` is not a cassette name: it has a character that file systems or addresses refuse
    hint: put another one in the place of `:`
    ");
}

#[test]
fn a_folder_is_no_cassette() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.folder().join("cassettes/letta")).unwrap();

    assert_snapshot!(refused(&stage, &["show", "letta"]), @"
    error: no cassette `letta`
    hint: it is a folder: `'**'` means all cassettes, `'letta/**'` those below `letta`
    ");
}

#[test]
fn a_command_without_dashes_gets_a_tip_for_the_same_subcommand() {
    assert_snapshot!(refused(&Stage::new(), &["record", "tape", "true"]), @"
    error: unexpected argument 'true' found

      tip: the command to run stands behind `--`: `retape record NAME -- COMMAND`

    Usage: retape record [OPTIONS] [CASSETTE] [-- <COMMAND>...]

    For more information, try '--help'.
    ");
}

#[test]
fn one_side_of_a_diff_gets_a_tip_about_revisions() {
    assert_snapshot!(refused(&Stage::new(), &["diff", "cassettes"]), @"
    error: the following required arguments were not provided:
      <NEW>

      tip: to compare with a revision of git, say `retape diff --base origin/main`

    Usage: retape diff <OLD> <NEW>

    For more information, try '--help'.
    ");
}

#[test]
fn a_mode_has_one_of_five_names() {
    let stage = Stage::new();
    let mut command = stage.retape(&["run", "tape", "--", "true"]);

    let output = command.env("RETAPE_MODE", "recrod").output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(said(&output), @"
    error: `RETAPE_MODE` is `recrod`, which is not one of replay, once, new_episodes, record, passthrough
    hint: did you mean `record`?
    ");
}

#[test]
fn a_command_that_is_not_there_cannot_be_run() {
    let stage = Stage::new();
    let arguments = ["run", "tape", "--", "no-such-command", "--now"];

    assert_snapshot!(refused(&stage, &arguments), @r"
    error: cannot start `no-such-command`
      because: No such file or directory (os error 2)
    hint: is it installed, and spelled as the shell would find it?
    ");
}

#[test]
fn a_port_that_is_taken_cannot_be_listened_on() {
    let stage = Stage::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let text = refused(&stage, &["run", "--listen", &address, "tape", "--", "true"]);

    assert_snapshot!(text, @r"
    error: cannot listen on `HOST`
      because: Address already in use (os error 98)
    hint: take another port, or port 0 for a free one: `--listen HOST`
    ");
}

#[test]
#[cfg(unix)]
fn what_is_no_file_and_no_text_is_told_with_what_to_do() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.folder().join("pipe")).unwrap();
    let pipe = stage.folder().join("pipe/tape.json");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    std::fs::create_dir_all(stage.folder().join("loop")).unwrap();
    std::os::unix::fs::symlink("tape.json", stage.folder().join("loop/tape.json")).unwrap();
    stage.write("cassettes/tape.json", r#"{"retape": 1, "interactions": []}"#);
    stage.write("cassettes/contracts/x.snap", "");
    std::fs::write(stage.folder().join("cassettes/contracts/x.snap"), b"\xff").unwrap();

    assert_snapshot!(refused(&stage, &["diff", "pipe", "pipe"]), @"
    error: cannot read file (`FOLDER/pipe/tape.json`)
      because: it is a pipe or a device, not a file
    hint: put a plain file in its place, or remove it
    ");
    assert_snapshot!(refused(&stage, &["diff", "loop", "loop"]), @"
    error: cannot read file (`FOLDER/loop/tape.json`)
      because: Too many levels of symbolic links (os error 40)
    hint: put a plain file in its place, or remove it
    ");
    assert_snapshot!(refused(&stage, &["check"]), @"
    error: cannot read file (`FOLDER/cassettes/contracts/x.snap`)
      because: invalid utf-8 sequence of 1 bytes from index 0
    hint: it is damaged: restore it, or remove it and have it made anew
    ");
}

#[test]
fn a_configuration_that_cannot_be_is_told_with_its_line() {
    let stage = Stage::new();
    stage.write("retape.toml", "[match]\nignore = [\"client.version\"]\n");
    stage.write("other.toml", "[match]\nreapeats = \"once\"\n");

    assert_snapshot!(refused(&stage, &["replay", "--", "true"]), @"
    error: `client.version` is not a place in a request (`FOLDER/retape.toml`, line 2)
    hint: a place is `$.a[*].b`, `/a/0/b`, `query.NAME`, `header.NAME`, `form.NAME`, `part.NAME` or `path`
    ");
    let other = ["replay", "--config", "other.toml", "--", "true"];
    assert_snapshot!(refused(&stage, &other), @"
    error: unknown key `reapeats` (`FOLDER/other.toml`, line 2)
    hint: did you mean `repeats`?
    ");
    let missing = ["run", "--config", "missing.toml", "--", "true"];
    assert_snapshot!(refused(&stage, &missing), @"
    error: cannot read file (`FOLDER/missing.toml`)
      because: No such file or directory (os error 2)
    hint: name a file that is there, or leave it out: the nearest `retape.toml` is found
    ");
}

#[test]
#[cfg(unix)]
fn a_configuration_that_leads_nowhere_is_no_missing_one() {
    let stage = Stage::new();
    std::os::unix::fs::symlink("nowhere.toml", stage.folder().join("retape.toml")).unwrap();

    assert_snapshot!(refused(&stage, &["run", "--", "true"]), @"
    error: cannot read file (`FOLDER/retape.toml`)
      because: No such file or directory (os error 2)
    hint: make it a file that can be read, or remove it: it is the nearest `retape.toml`
    ");
}

#[test]
fn rules_for_cassettes_that_are_not_there_are_told_with_the_nearest() {
    let stage = Stage::new();
    stage.write("cassettes/letta/hello.json", "{}");
    stage.write("tests/cassettes/chat.json", "{}");
    stage.write("node_modules/cassettes/foreign.json", "{}");
    let names = ["letta/helo", "lette/*", "chat", "letta/**", "foreign"];
    let rules = names.map(|name| format!("[[cassette]]\nname = \"{name}\"\n"));
    stage.write("retape.toml", &(rules.concat() + "[faults]\n\"*/hallo\" = [\"503\"]\n"));

    let output = stage.retape(&["run", "--allow-unused", "--", "true"]).output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_snapshot!(stage.harmless(&said(&output)), @"
    retape: no cassette fits `*/hallo` (`FOLDER/retape.toml`, line 12)
    retape: no cassette fits `foreign` (`FOLDER/retape.toml`, line 10)
    retape: no cassette fits `letta/helo` (`FOLDER/retape.toml`, line 2); did you mean `letta/hello`?
    retape: no cassette fits `lette/*` (`FOLDER/retape.toml`, line 4); did you mean `letta/*`?
    retape: no request reached retape
    ");
    stage.write("cassettes/lette/helo.json", "{}");
    stage.write("retape.toml", "[[cassette]]\nname = \"lette/*\"\n");
    let output = stage.retape(&["run", "--allow-unused", "--", "true"]).output().unwrap();
    assert!(!said(&output).contains("fits"), "{}", said(&output));
}

#[test]
fn a_file_that_is_no_cassette_is_not_shown() {
    let stage = Stage::new();
    stage.write("cassettes/broken.json", "{\n  \"retape\": 1,\n  \"interactions\": [");
    stage.write("cassettes/newer.json", "{\"retape\": 99, \"interactions\": []}");

    assert_snapshot!(refused(&stage, &["show", "broken"]), @r"
    error: not a cassette (`FOLDER/cassettes/broken.json`, line 3)
      because: EOF while parsing a list at line 3 column 19
    hint: mend it, restore it from version control, or record it again
    ");
    assert_snapshot!(refused(&stage, &["show", "newer"]), @r"
    error: cassette format 99 is newer than this release, which reads up to 2 (`FOLDER/cassettes/newer.json`)
    hint: install the release of retape that wrote it (`cargo install retape --locked` for the latest)
    ");
    assert_snapshot!(refused(&stage, &["replay", "broken", "--", "true"]), @r"
    error: not a cassette (`FOLDER/cassettes/broken.json`, line 3)
      because: EOF while parsing a list at line 3 column 19
    hint: mend it, restore it from version control, or record it again
    ");
}

#[test]
fn a_file_that_no_release_has_written_so_says_what_to_do() {
    let stage = Stage::new();
    let edited = |from: &str, to: &str| {
        let text = r#"{"retape": 1, "recorded": {"upstream": "http://127.0.0.1:8283"}, "redactions": [],
            "interactions": [{"request": {"method": "GET", "path": "/v1", "headers": {}},
            "response": {"status": 200, "headers": {}}}]}"#;
        stage.write("cassettes/edited.json", &text.replace(from, to));
        refused(&stage, &["show", "edited"])
    };

    assert_snapshot!(edited("GET", "G ET"), @"
    error: not a valid cassette: no request has such a method (`FOLDER/cassettes/edited.json`) in interaction 1
    hint: mend it, restore it from version control, or record it again
    ");
    assert_snapshot!(edited("GET", ""), @"
    error: not a valid cassette: no request has such a method (`FOLDER/cassettes/edited.json`) in interaction 1
    hint: mend it, restore it from version control, or record it again
    ");
    assert_snapshot!(edited("/v1", "v1"), @"
    error: not a valid cassette: a path begins with `/` (`FOLDER/cassettes/edited.json`) in interaction 1
    hint: mend it, restore it from version control, or record it again
    ");
    assert_snapshot!(edited("{", "\0{"), @"
    error: not a cassette (`FOLDER/cassettes/edited.json`, line 1)
      because: expected value at line 1 column 1
    hint: it is in UTF-16: save it as UTF-8, restore it from version control, or record it again
    ");
    let file = stage.folder().join("cassettes/edited.json");
    let wide: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, wide).unwrap();
    assert_snapshot!(refused(&stage, &["show", "edited"]), @"
    error: not a cassette (`FOLDER/cassettes/edited.json`)
      because: invalid utf-8 sequence of 1 bytes from index 0
    hint: it is in UTF-16: save it as UTF-8, restore it from version control, or record it again
    ");
    std::fs::write(&file, b"{\"retape\": 1, \"note\": \"\xe9\"}").unwrap();
    assert_snapshot!(refused(&stage, &["show", "edited"]), @"
    error: not a cassette (`FOLDER/cassettes/edited.json`)
      because: invalid utf-8 sequence of 1 bytes from index 23
    hint: save it as UTF-8, restore it from version control, or record it again
    ");
}

#[test]
fn a_folder_that_cannot_be_written_is_told_before_the_server_is_asked() {
    let stage = Stage::new();
    stage.write("cassettes", "a file");
    let upstream = crate::support::upstream::Upstream::json(|_| "{}".to_owned());

    let url = upstream.url();
    let output = stage.around(&["record", "--upstream", &url, "tape"], "GET /1").output().unwrap();

    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(upstream.asked().is_empty());
    assert_snapshot!(stage.harmless(&said(&output)), @r"
    not recorded: GET /1
      cannot create folder (`FOLDER/cassettes`): File exists (os error 17)
      hint: `FOLDER/cassettes` is a file, not a folder; choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`; in a Rust test `.cassettes(DIR)`
    error: cannot create folder (`FOLDER/cassettes`)
      because: File exists (os error 17)
    hint: `FOLDER/cassettes` is a file, not a folder; choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`; in a Rust test `.cassettes(DIR)`
    ");
}

#[test]
fn nothing_that_a_client_asks_plays_with_the_terminal() {
    let stage = Stage::new();

    let asks = "GET /a%1b]0;title%07/-/x\nGET /\u{202e}gpj.exe";
    let replay = &mut stage.around(&["replay"], asks);
    let text = said(&replay.env("CLICOLOR_FORCE", "1").output().unwrap());

    assert!(text.contains("\u{1b}["), "colour is on: {text}");
    assert!(text.contains(r"`a\u001b]0;title\u0007` is not a cassette name"), "{text}");
    assert!(!text.contains("\u{1b}]") && !text.contains('\u{202e}'), "{text:?}");
}
