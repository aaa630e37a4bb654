//! Exit statuses, and the command that is run.

use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;
use rustix::process::Signal;

use crate::client;
use crate::retape::{Running, Stage, said, told};
use crate::support::client::get;
use crate::support::upstream::{Then, Upstream, json};

#[test]
fn a_command_is_recorded_and_then_replayed_without_the_server() {
    let stage = Stage::new();
    let upstream = Upstream::echo();

    let asks = "GET /1\nPOST /2 {\"a\":1}";
    let recorded = stage
        .around(&["record", "--upstream", &upstream.url(), "team/tape"], asks)
        .output()
        .unwrap();
    drop(upstream);
    let replayed = stage.around(&["replay", "team/tape"], asks).output().unwrap();

    assert_eq!((recorded.status.code(), replayed.status.code()), (Some(0), Some(0)));
    assert!(told(&replayed).contains("200 [\"/1\"]\n200 [\"/2\"]\n"), "{}", told(&replayed));
    assert_snapshot!(stage.harmless(&said(&recorded)), @"
    retape: recorded 2 interactions in cassettes/team/tape.json
    retape: it replays without the server (1 run)
    ");
    assert_snapshot!(stage.harmless(&said(&replayed)), @"retape: replayed 1 cassette: 2 of 2 interactions played, 0 misses, nothing went out through retape");
}

#[test]
fn a_path_that_both_the_address_and_the_client_say_is_told() {
    let stage = Stage::new();
    let upstream = Upstream::start(|asked, wire| {
        let status = if asked.path().starts_with("/v1/v1/") { 404 } else { 200 };
        wire.send(json(status, "{}"));
        Then::KeepAlive
    });
    let url = format!("{}/v1/", upstream.url());

    let once =
        stage.around(&["record", "--upstream", &url, "once"], "GET /things").output().unwrap();
    let twice =
        stage.around(&["record", "--upstream", &url, "twice"], "GET /v1/things").output().unwrap();

    let host = upstream.address().to_string();
    let told = stage.harmless(&said(&twice)).replace(&host, "HOST");
    assert!(!said(&once).contains("hint:"), "{}", said(&once));
    assert_snapshot!(told, @"
    retape: recorded 1 interaction in cassettes/twice.json
    hint: `GET http://HOST/v1/v1/things` was answered 404: the server's address and the client add the same path; leave it out of one of them
    retape: it replays without the server (1 run)
    ");
}

#[test]
fn a_miss_fails_though_the_command_did_not() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");

    let output = stage.around(&["replay", "tape"], "GET /1\nGET /other").output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("470 "));
    assert_snapshot!(stage.harmless(&said(&output)), @"
    miss: GET /other
      `tape` (1 interaction) has no answer to
        GET /other
      nothing like it was recorded; with GET there is
        GET /1 (interaction 1)
      hint: if the client is meant to ask this now, record it again:
        retape record --upstream http://HOST tape -- COMMAND
    retape: replayed 1 cassette: 1 of 1 interaction played, 1 miss, nothing went out through retape
    ");
}

#[test]
fn a_file_tells_the_misses_of_a_command_that_swallowed_them_or_was_killed() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");
    let misses =
        || -> serde_json::Value { serde_json::from_str(&stage.read("out/misses.json")).unwrap() };

    let replay = ["replay", "--misses", "out/misses.json", "tape"];
    let asked = stage.around(&replay, "GET /other").output().unwrap();
    assert_eq!((asked.status.code(), &misses()[0]["path"]), (Some(1), &"/other".into()));

    let asks = "curl -s $RETAPE_URL/other2; kill -9 $$";
    let killed = [&replay[..], &["--", "sh", "-c", asks]].concat();
    assert_eq!(stage.retape(&killed).output().unwrap().status.code(), Some(137));
    assert_eq!(misses()[0]["path"], "/other2");

    let mut well = stage.around(&["replay", "tape"], "GET /1");
    well.env("RETAPE_MISSES", "out/misses.json").output().unwrap();
    assert_eq!(stage.read("out/misses.json"), "[]\n");
}

#[test]
fn a_file_for_the_misses_that_cannot_be_written_is_told_with_its_option() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");

    let misses = ["replay", "--misses", "cassettes/tape.json/misses.json", "tape"];
    let asked = stage.around(&misses, "GET /1").output().unwrap();

    assert_eq!(asked.status.code(), Some(2));
    let said = said(&asked);
    assert!(said.contains("hint: choose a file that can be written: `--misses FILE`"), "{said}");
    assert!(!said.contains("--cassettes"), "{said}");
}

#[test]
fn a_miss_tells_how_it_is_recorded_without_the_command_that_was_run() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");
    std::fs::rename(stage.folder().join("cassettes"), stage.folder().join("my tapes")).unwrap();

    let script = "curl -s {url}/2; echo \"it's done\"";
    let arguments = ["replay", "--cassettes", "my tapes", "--env", "BASE={url}/v1", "tape"];
    let arguments = [&arguments[..], &["--", "sh", "-c", script]].concat();
    let output = stage.retape(&arguments).output().unwrap();

    let said = stage.harmless(&said(&output));
    let line = said.lines().find(|line| line.contains("retape record")).unwrap();
    assert_snapshot!(line.trim(), @"retape record --upstream http://HOST --cassettes 'my tapes' --env 'BASE={url}/v1' tape -- COMMAND");
}

#[test]
fn the_status_of_a_command_that_fails_is_passed_on() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");

    for (asks, status) in [("GET /1", 7), ("GET /other", 9)] {
        let mut command = stage.around(&["replay", "tape"], asks);
        let output = command.env(client::EXITS, status.to_string()).output().unwrap();
        assert_eq!(output.status.code(), Some(status));
    }
    let killed =
        stage.retape(&["replay", "tape", "--", "sh", "-c", "kill -9 $$"]).output().unwrap();
    assert_eq!(killed.status.code(), Some(137));
}

#[test]
fn what_was_not_asked_for_fails_if_that_is_wanted() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1\nGET /2");

    let lax = stage.around(&["replay", "tape"], "GET /1").output().unwrap();
    let strict = stage.around(&["replay", "--strict", "tape"], "GET /1").output().unwrap();

    assert_eq!((lax.status.code(), strict.status.code()), (Some(0), Some(1)));
    assert_snapshot!(stage.harmless(&said(&strict)), @r"
    not asked for: GET /2 (interaction 2 of `tape`)
    retape: replayed 1 cassette: 1 of 2 interactions played, 0 misses, nothing went out through retape
    ");
}

#[test]
fn sessions_of_one_cassette_are_not_taken_for_cassettes() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "one", "GET /1\nGET /2");

    let output = stage.around(&["replay"], "GET /one~1/-/1\nGET /one~2/-/1").output().unwrap();

    assert_snapshot!(stage.harmless(&said(&output)), @"retape: replayed 1 cassette in 2 sessions: 2 of 4 interactions played, 0 misses, nothing went out through retape");
}

#[test]
fn a_cassette_of_the_folder_that_nobody_asked_for_fails_a_strict_suite() {
    let stage = Stage::new();
    for name in ["default", "one", "team/two", "team/three"] {
        stage.record(&Upstream::echo().url(), name, "GET /1\nGET /2");
    }
    stage.write("cassettes/team/notes.txt", "");
    for beside in ["failed", "unanswered", "recovered", "recovered-2"] {
        let cassette = stage.read("cassettes/one.json");
        stage.write(&format!("cassettes/one.{beside}.json"), &cassette);
    }
    stage.write("cassettes/.hidden.json", "");
    let replay = |arguments: &[&str], asks: &str| {
        let output = stage.around(&[&["replay"], arguments].concat(), asks).output().unwrap();
        (output.status.code(), stage.harmless(&said(&output)))
    };

    let asks = "GET /one/-/1\nGET /one/-/2";
    let strict = replay(&["--strict"], asks);
    let lax = replay(&[], asks);
    let named = replay(&["--strict", "default"], asks);
    let in_part = replay(&["--strict"], "GET /one/-/1");
    let default = replay(&["--strict"], "GET /1");
    let all = ["default", "one", "team/two", "team/three"];
    let all = all.map(|name| format!("GET /{name}/-/1\nGET /{name}/-/2")).join("\n");
    let all = replay(&["--strict"], &all);

    assert_eq!(all.0, Some(0), "{}", all.1);
    assert_eq!(strict.0, Some(1));
    assert_snapshot!(strict.1, @r"
    retape: never opened: `default`, `team/three`, `team/two`
    retape: replayed 1 cassette: 2 of 2 interactions played, 0 misses, nothing went out through retape
    ");
    assert_eq!(lax.0, Some(0));
    assert_snapshot!(lax.1, @"retape: replayed 1 cassette: 2 of 2 interactions played, 0 misses, nothing went out through retape");
    for failed in [named, in_part, default] {
        assert_eq!(failed.0, Some(1), "{}", failed.1);
    }
}

#[test]
fn the_command_finds_the_address_wherever_it_is_told() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");

    let script = "echo $RETAPE_URL $LETTA_BASE_URL $OPENAI_BASE_URL $MODE $0 $1";
    let mut arguments =
        vec!["replay", "--allow-unused", "tape", "--env", "LETTA_BASE_URL", "--env"];
    arguments.extend(["OPENAI_BASE_URL={url}/v1", "--env", "MODE=a=b", "--"]);
    arguments.extend(["sh", "-c", script, "{url}", "--base={url}/x"]);
    let output = stage.retape(&arguments).output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = stage.harmless(&told(&output));
    let url = "http://HOST";
    assert_eq!(told, format!("{url} {url} {url}/v1 a=b {url} --base={url}/x\n"));
}

#[test]
fn an_address_without_braces_is_told() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");

    let arguments = ["replay", "--allow-unused", "tape", "--env", "BASE=url/v1", "--", "true"];
    let told = said(&stage.retape(&arguments).output().unwrap());

    assert!(told.contains("retape: `BASE` is the word `url/v1`\n"), "{told}");
    assert!(told.contains("hint: the address is `{url}`: `--env BASE={url}/v1`\n"), "{told}");
}

#[test]
fn signals_reach_the_command_and_the_recording_is_saved() {
    for (signal, name, status) in
        [(Signal::TERM, "TERM", 41), (Signal::INT, "INT", 42), (Signal::HUP, "HUP", 43)]
    {
        let stage = Stage::new();
        let upstream = Upstream::echo();
        // The shell's children keep its output open; the loop waits in `read`, which a signal ends.
        let script =
            format!("trap 'exit {status}' {name}; echo $RETAPE_URL; while :; do sleep 0.01; done");
        let url = upstream.url();
        let arguments = ["record", "--upstream", &url, "tape", "--", "sh", "-c", &script];
        let mut running = Running::start(stage.retape(&arguments));
        let here = running.line();
        get(&format!("{here}/1"));

        running.signal(signal);
        let (code, said) = running.end();

        assert_eq!(code, Some(status), "{said}");
        assert_eq!(stage.cassettes(), ["tape.json"]);
    }
}

#[test]
fn without_a_command_it_serves_until_it_is_told_to_stop() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    let arguments = ["record", "--fresh", "--upstream", &upstream.url(), "tape"];

    for signal in [Signal::TERM, Signal::INT] {
        let mut running = Running::start(stage.retape(&arguments));
        let url = running.line();
        assert_eq!(get(&format!("{url}/1")).text(), "[\"/1\"]");
        running.signal(signal);
        let (code, said) = running.end();

        assert_eq!(code, Some(0), "{said}");
        assert_snapshot!("serves", stage.harmless(&said));
    }
    let mut running = Running::start(stage.retape(&["replay"]));
    let url = running.line();
    assert_eq!(get(&format!("{url}/tape/-/1")).text(), "[\"/1\"]");
    assert_eq!(get(&format!("{url}/tape/-/2")).status, 470);
    running.signal(Signal::TERM);
    assert_eq!(running.end().0, Some(1));
}

#[test]
fn a_cassette_may_be_given_by_its_file() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "elsewhere/tape.json", "GET /1");

    let output = stage.around(&["replay", "elsewhere/tape.json"], "GET /1").output().unwrap();
    let shown = stage.retape(&["show", "elsewhere/tape.json"]).output().unwrap();

    assert_eq!(output.status.code(), Some(0));
    assert!(stage.folder().join("elsewhere/tape.json").exists());
    assert!(told(&shown).contains("GET /1"), "{}", told(&shown));
}

#[test]
fn a_cassette_is_shown_by_its_name() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "team/tape", "GET /1");

    let output = stage.retape(&["show", "team/tape"]).output().unwrap();

    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));
    assert!(told(&output).contains("team/tape") && told(&output).contains("GET /1"));
}

#[test]
fn a_command_that_asks_nothing_fails_and_is_told_where_retape_is() {
    let stage = Stage::new();
    let url = Upstream::echo().url();
    let nothing = ["--upstream", &url, "tape", "--", "true"];
    let run = |arguments: &[&[&str]]| stage.retape(&arguments.concat()).output().unwrap();

    let recorded = run(&[&["record"], &nothing]);
    let passed = run(&[&["run", "--mode", "passthrough"], &nothing]);
    stage.record(&Upstream::echo().url(), "tape", "GET /1");
    let named = run(&[&["replay", "tape", "--", "true"]]);
    let strict = run(&[&["replay", "--strict", "--", "true"]]);
    let proxied = run(&[&["record", "--proxy"], &nothing[..]]);
    let looked = run(&[&["replay", "tape", "--", "curl", "-s", "{url}/-/retape/health"]]);
    let not_run = run(&[&["replay", "tape", "--", "no-such-command"]]);
    let failed = run(&[&["replay", "tape", "--", "sh", "-c", "exit 3"]]);

    for output in [&recorded, &passed, &named, &strict, &looked] {
        assert_eq!(output.status.code(), Some(1), "{}", said(output));
        assert_eq!(said(output), said(&recorded));
    }
    assert_snapshot!(said(&recorded), @r"
    retape: no request reached retape
    hint: give the client retape's address as its base address: it is in RETAPE_URL, `--env NAME` gives it another name, and `{url}` in an argument stands for it; if nothing is to be asked, say `--allow-unused`
    ");
    assert_snapshot!(said(&proxied), @r"
    retape: no request reached retape
    hint: the client does not heed HTTP_PROXY and HTTPS_PROXY, or not for this host: give it that proxy (Node heeds them from 22.21 and 24.0 on, Go and Ruby for no localhost); if nothing is to be asked, say `--allow-unused`
    ");
    assert!(!said(&not_run).contains("no request"), "{}", said(&not_run));
    assert_eq!(failed.status.code(), Some(3));
    assert!(said(&failed).contains("hint: give the client"), "{}", said(&failed));
}

#[test]
fn a_command_may_be_allowed_to_ask_nothing() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    let url = upstream.url();
    stage.record(&url, "tape", "GET /1");
    let run = |arguments: &[&str]| {
        let output = stage.retape(&[arguments, &["tape", "--", "true"]].concat()).output().unwrap();
        (output.status.code(), said(&output))
    };

    let recorded = run(&["record", "--upstream", &url, "--allow-unused"]);
    let replayed = run(&["replay", "--allow-unused"]);
    let strict = run(&["replay", "--allow-unused", "--strict"]);

    assert_eq!(recorded, (Some(0), "retape: no request reached retape\n".to_owned()));
    assert_eq!(replayed, recorded);
    assert_eq!(strict.0, Some(1));
    assert!(strict.1.contains("not asked for: GET /1"), "{}", strict.1);
}

#[test]
fn a_cassette_that_paths_name_as_well_is_asked_for() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let run = |arguments: &[&str]| {
        let output = stage.around(arguments, "GET /tape/-/1").output().unwrap();
        (output.status.code(), said(&output))
    };

    let recorded = run(&["record", "--upstream", &upstream.url(), "tape"]);
    let strict = run(&["replay", "--strict", "tape"]);

    assert_eq!((recorded.0, strict.0), (Some(0), Some(0)), "{recorded:?} {strict:?}");
    assert!(!recorded.1.contains("not asked for"), "{}", recorded.1);
}

#[test]
fn a_server_that_nobody_asked_fails_when_it_is_stopped() {
    let stage = Stage::new();
    stage.record(&Upstream::echo().url(), "tape", "GET /1");

    for (arguments, status) in [(&["replay"][..], 1), (&["replay", "--allow-unused"], 0)] {
        let mut running = Running::start(stage.retape(arguments));
        running.line();
        let (code, said) = running.stop();
        assert_eq!(code, Some(status), "{said}");
    }
}

#[test]
fn what_went_to_the_live_server_is_counted() {
    let stage = Stage::new();
    let upstream = Upstream::echo();
    stage.record(&upstream.url(), "tape", "GET /1");
    let last = |mode: &str, asks: &str| {
        let words = ["run", "--no-prove", "--mode", mode, "--upstream", &upstream.url()];
        let said = said(&stage.around(&words, asks).output().unwrap());
        said.lines().last().unwrap().to_owned()
    };

    let added = last("new_episodes", "GET /tape/-/1\nGET /tape/-/2");
    let known = last("new_episodes", "GET /tape/-/1");
    let passed = last("passthrough", "GET /1\nGET /tape/-/1");
    let recorded = last("record", "GET /1\nGET /a/-/1\nGET /a/-/2");

    assert_snapshot!([added, known, passed, recorded].join("\n"), @"
    retape: replayed 1 cassette: 1 of 1 interaction played, 0 misses, 1 request went to the live server
    retape: replayed 1 cassette: 1 of 2 interactions played, 0 misses, nothing went out through retape
    retape: recorded nothing: 2 requests went to the live server
    retape: recorded 3 interactions in 2 cassettes
    ");
}

#[test]
fn what_is_recorded_again_keeps_its_words_unless_it_is_to_be_fresh() {
    let stage = Stage::new();
    let count = AtomicUsize::new(0x1000);
    let upstream = Upstream::json(move |_| {
        let n = count.fetch_add(1, Ordering::Relaxed);
        format!("{{\"id\":\"6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5{n:04x}\"}}")
    });
    let record = |more: &[&str]| {
        let url = upstream.url();
        let words = [&["record", "--upstream", &url], more, &["tape"]].concat();
        let output = stage.around(&words, "GET /1").output().unwrap();
        (stage.harmless(&said(&output)), stage.read("cassettes/tape.json"))
    };

    let (_, first) = record(&[]);
    let (told, again) = record(&[]);
    let (told_fresh, fresh) = record(&["--fresh"]);

    assert_eq!(again, first);
    assert_ne!(fresh, first);
    assert_snapshot!(told, @"
    retape: recorded 1 interaction in cassettes/tape.json, all as before
    retape: it replays without the server (1 run)
    ");
    assert_snapshot!(told_fresh, @"
    retape: recorded 1 interaction in cassettes/tape.json
    retape: it replays without the server (1 run)
    ");
}

#[test]
fn an_unknown_option_is_not_told_to_be_given_as_a_value() {
    let stage = Stage::new();
    for arguments in [["replay", "--x"], ["list", "--x"], ["show", "-x"]] {
        let output = stage.retape(&arguments).output().unwrap();

        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("unexpected argument"), "{}", said(&output));
        assert!(!said(&output).contains("as a value"), "{}", said(&output));
    }
}

#[test]
fn an_argument_that_is_no_text_is_refused_as_such() {
    use std::os::unix::ffi::OsStrExt as _;
    let stage = Stage::new();
    let word = std::ffi::OsStr::from_bytes(b"a\xff");

    let output = stage.retape(&["replay"]).arg(word).output().unwrap();

    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("invalid UTF-8"), "{}", said(&output));
}
