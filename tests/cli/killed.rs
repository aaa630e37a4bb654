//! A recorder that is killed.

use std::process::Output;

use insta::assert_snapshot;
use retape::{Name, store};
use rustix::process::Signal;

use crate::retape::{Running, Stage, said};
use crate::support::client::{self, get};
use crate::support::gate::Gate;
use crate::support::upstream::{EVENTS, Then, Upstream};
use crate::support::wire::{Chunk, Wire};

#[test]
fn what_had_arrived_when_it_was_killed_is_saved_by_the_next_start() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);
    stage.record(&upstream.url(), "tape", "GET /earlier");
    let earlier = stage.read("cassettes/tape.json");
    let arguments = ["record", "--upstream", &upstream.url(), "tape"];

    let mut running = Running::start(stage.retape(&arguments));
    let url = running.line();
    get(&format!("{url}/whole"));
    let mut wire = Wire::connect(client::split(&url).0);
    wire.send(client::request("GET", &format!("{url}/stream"), "", ""));
    wire.head().unwrap();
    assert_eq!([wire.data(), wire.data()], ["data: 1\n\n", "data: 2\n\n"]);
    running.signal(Signal::KILL);
    running.end();
    never.open();

    assert_eq!(stage.read("cassettes/tape.json"), earlier, "the earlier cassette is unharmed");
    assert_eq!(stage.cassettes(), ["tape.json", "tape.json.part"]);

    let journal = stage.read("cassettes/tape.json.part");
    let replayed = stage.around(&["replay", "tape"], "GET /earlier").output().unwrap();
    assert_eq!(replayed.status.code(), Some(0));
    let report = "an earlier recording was killed and left";
    assert!(said(&replayed).contains(report), "{}", said(&replayed));
    assert!(said(&replayed).contains("2 interactions, 1 cut in the middle"));
    assert!(
        said(&replayed).contains("`retape recover cassettes/tape.json`"),
        "{}",
        said(&replayed)
    );
    assert_eq!(stage.read("cassettes/tape.json.part"), journal);

    let again = stage.around(&arguments, "GET /later").output().unwrap();
    let report = "an earlier recording was killed; what had arrived is now in";
    assert!(said(&again).contains(report), "{}", said(&again));
    assert_eq!(stage.cassettes(), ["tape.json", "tape.recovered.json"]);
    let saved = stage.read("cassettes/tape.recovered.json");
    assert!(saved.contains("\"interrupted\""), "{saved}");
    assert!(saved.contains(r#"{"data": "1"}"#) && saved.contains(r#"{"data": "2"}"#), "{saved}");
    assert_eq!(saved.matches("\"path\"").count(), 2, "{saved}");
}

#[test]
fn the_value_of_a_secret_variable_is_in_nothing_that_a_killed_recorder_leaves() {
    let stage = Stage::new();
    let key = ["Zq8v", "T3mK9xW2", "pL7nB4cR"].concat();
    let said = key.clone();
    let upstream = Upstream::start(move |_, wire| {
        let head = format!("HTTP/1.1 200 {said}\r\nX-Note: {said}\r\nX-Note: in {said}\r\n");
        wire.send(format!("{head}Content-Length: {}\r\n\r\n{said}", said.len()));
        Then::KeepAlive
    });
    let mut command = stage.retape(&["record", "--upstream", &upstream.url(), "tape"]);
    command.env("ACME_API_KEY", &key);

    let mut running = Running::start(command);
    let (url, fields) = (running.line(), format!("X-Note: {key}\r\n"));
    client::ask("POST", &format!("{url}/{key}?q={key}"), &fields, &format!("hello {key}"));
    running.signal(Signal::KILL);
    running.end();

    let journal = stage.read("cassettes/tape.json.part");
    assert_eq!(journal.matches("[redacted:").count(), 8, "{journal}");
    assert!(!journal.contains(&key), "{journal}");
}

/// The command in a hint, run as it is.
fn follow(stage: &Stage, hint: &str) -> Output {
    let command = hint.split('`').find(|part| part.starts_with("retape recover")).unwrap();
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    stage.retape(&arguments).output().unwrap()
}

#[test]
fn what_a_killed_recorder_left_can_be_had_without_another_recording() {
    for folder in ["cassettes", "kept/here"] {
        let (stage, upstream) = (Stage::new(), Upstream::json(|_| "{}".to_owned()));
        let url = upstream.url();
        let arguments = ["record", "--upstream", &url, "--cassettes", folder, "tape"];
        let mut running = Running::start(stage.retape(&arguments));
        get(&running.line());
        running.signal(Signal::KILL);
        running.end();

        let show = stage.retape(&["show", "--cassettes", folder, "tape"]).output().unwrap();
        let replay = ["replay", "--cassettes", folder, "tape", "--", "true"];
        let replay = stage.retape(&replay).output().unwrap();
        let recovered = follow(&stage, &said(&show));
        let again = follow(&stage, &said(&show));

        assert_eq!((show.status.code(), replay.status.code()), (Some(2), Some(2)));
        assert_eq!(recovered.status.code(), Some(0), "{}", said(&recovered));
        assert_eq!(again.status.code(), Some(2), "{}", said(&again));
        assert!(stage.folder().join(folder).join("tape.recovered.json").exists());
        assert!(!stage.folder().join(folder).join("tape.json.part").exists());
        if folder == "cassettes" {
            assert_snapshot!(stage.harmless(&said(&replay)), @r"
            error: no cassette `tape` (`cassettes/tape.json`)
            hint: a recorder of it was killed, or a test never called `finish`; `retape recover tape` saves what had arrived as `tape.recovered`
            ");
            assert_snapshot!(stage.harmless(&said(&recovered)), @"retape: an earlier recording was killed; what had arrived is now in cassettes/tape.recovered.json: 1 interaction");
            assert_snapshot!(stage.harmless(&said(&again)), @r"
            error: no recorder of `tape` left anything (`FOLDER/cassettes/tape.json.part`)
            hint: a recorder that was not killed saves what it recorded itself
            ");
        } else {
            assert_snapshot!(stage.harmless(&said(&show)), @r"
            error: no cassette `tape` (`FOLDER/kept/here/tape.json`)
            hint: a recorder of it was killed, or a test never called `finish`; `retape recover --cassettes kept/here tape` saves what had arrived as `tape.recovered`
            ");
        }
    }
}

#[test]
fn all_that_a_killed_recorder_of_a_suite_left_can_be_had_at_once() {
    let (stage, upstream) = (Stage::new(), Upstream::json(|_| "{}".to_owned()));
    let mut running = Running::start(stage.retape(&["record", "--upstream", &upstream.url()]));
    let url = running.line();
    for name in ["suite/one", "suite/two", "other"] {
        get(&format!("{url}/{name}/-/1"));
    }
    running.signal(Signal::KILL);
    running.end();
    let recover = |arguments: &[&str]| {
        let output = stage.retape(&[&["recover"], arguments].concat()).output().unwrap();
        (output.status.code(), stage.harmless(&said(&output)))
    };

    let below = recover(&["suite"]);
    let all = recover(&[]);
    let nothing = recover(&[]);

    assert_eq!([below.0, all.0, nothing.0], [Some(0), Some(0), Some(2)]);
    assert_snapshot!(below.1, @"
    retape: an earlier recording was killed; what had arrived is now in cassettes/suite/one.recovered.json: 1 interaction
    retape: an earlier recording was killed; what had arrived is now in cassettes/suite/two.recovered.json: 1 interaction
    ");
    assert_snapshot!(all.1, @"retape: an earlier recording was killed; what had arrived is now in cassettes/other.recovered.json: 1 interaction");
    assert_snapshot!(nothing.1, @"
    error: no recorder left anything (`FOLDER/cassettes`)
    hint: a recorder that was not killed saves what it recorded itself
    ");
}

/// A recorder that is told to stop while a client reads a stream that does not end. It waits for the
/// end now.
fn waiting(stage: &Stage, upstream: &Upstream) -> (Running, Wire) {
    let arguments = ["record", "--upstream", &upstream.url(), "--grace", "60s", "tape"];
    let mut running = Running::start(stage.retape(&arguments));
    let url = running.line();
    let mut wire = Wire::connect(client::split(&url).0);
    wire.send(client::request("GET", &format!("{url}/stream"), "", ""));
    wire.head().unwrap();
    assert_eq!([wire.data(), wire.data()], ["data: 1\n\n", "data: 2\n\n"]);
    running.signal(Signal::TERM);
    // The listener is closed first: then another signal is the second for sure.
    while std::net::TcpStream::connect(client::split(&url).0).is_ok() {
        std::thread::yield_now();
    }
    (running, wire)
}

#[test]
fn a_second_interruption_does_not_wait_and_what_arrived_is_saved() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);

    let (running, _wire) = waiting(&stage, &upstream);
    running.signal(Signal::TERM);
    let (code, said) = running.end();
    never.open();

    assert_eq!(code, Some(143), "{said}");
    assert_eq!(stage.cassettes(), ["tape.json"]);
    let saved = stage.read("cassettes/tape.json");
    assert!(saved.contains("\"end\": \"interrupted\""), "{saved}");
    assert!(saved.contains(r#"{"data": "1"}"#) && saved.contains(r#"{"data": "2"}"#), "{saved}");
    assert_snapshot!(stage.harmless(&said), @"
    retape: record at http://HOST; interrupt to stop
    retape: waiting for 1 answer to end (GET /stream), then it goes on by itself; interrupt again to stop
    retape: stopped by SIGTERM; saving what had arrived
    retape: recorded 1 interaction in cassettes/tape.json, though it was interrupted
    ");
}

#[test]
fn a_second_interruption_does_not_replace_a_cassette() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);
    stage.record(&upstream.url(), "tape", "GET /earlier");

    let (running, _wire) = waiting(&stage, &upstream);
    running.signal(Signal::TERM);
    let (code, said) = running.end();
    never.open();

    assert_eq!(code, Some(143), "{said}");
    assert_eq!(stage.cassettes(), ["tape.failed.json", "tape.json"]);
    assert!(stage.read("cassettes/tape.json").contains("/earlier"));
}

/// A command that asks something, and waits for ever when it is run again.
const AGAIN: &str = "test -e seen && exec sleep 60; touch seen; exec \"$@\"";

#[test]
fn an_interruption_before_a_recording_is_proved_is_no_proof_against_it() {
    let (stage, upstream) = (Stage::new(), Upstream::echo());
    let arguments =
        ["record", "--upstream", &upstream.url(), "tape", "--", "sh", "-c", AGAIN, "sh"];
    let mut command = stage.retape(&arguments);
    command.args(crate::client::command()).env(crate::client::ASKS, "GET /1");

    let mut running = Running::start(command);
    let recorded = running.error_line();
    let (code, said) = running.stop();

    assert_eq!(recorded, "retape: recorded 1 interaction in cassettes/tape.json");
    assert_eq!(code, Some(143), "{said}");
    assert_snapshot!(said, @"retape: stopped by SIGTERM before the recording was proved to replay; the recording is kept");
    assert_eq!(stage.cassettes(), ["tape.json"]);
}

#[test]
fn an_interruption_waits_for_answers_to_end_and_says_so() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = Upstream::endless(&never);

    let (mut running, _wire) = waiting(&stage, &upstream);
    let waiting = running.error_line();
    never.open();
    let (code, _) = running.end();

    assert_eq!(code, Some(0));
    assert_eq!(
        waiting,
        "retape: waiting for 1 answer to end (GET /stream), then it goes on by itself; interrupt again to stop"
    );
    assert!(stage.read("cassettes/tape.json").contains("\"end\": \"server_closed\""));
}

/// Records `GET /1` from a server of large answers, and then something else with a disk that is full.
fn on_a_full_disk(stage: &Stage, asks: &str) -> Output {
    let large = "x".repeat(64 * 1024);
    let upstream = Upstream::json(move |asked| format!("[\"{}{large}\"]", asked.path()));
    let url = upstream.url();
    stage.record(&url, "tape", "GET /1");
    // A limit of 16 blocks of 512 bytes for each file stands for a full disk.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
    let retape = env!("CARGO_BIN_EXE_retape");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, retape, "record", "--upstream", &url, "tape", "--"]);
    command.args(crate::client::command()).env(crate::client::ASKS, asks);
    command.current_dir(stage.folder()).output().unwrap()
}

/// A recorder that the system kills at the write that would make a file longer than so many blocks of 512
/// bytes. Returns what a client has seen of 50 answers.
fn killed_by_the_system(stage: &Stage, upstream: &Upstream, blocks: usize) -> Vec<Vec<u8>> {
    let script = "ulimit -c 0; ulimit -f \"$2\"; exec \"$0\" record --upstream \"$1\" tape";
    let mut command = std::process::Command::new("sh");
    let retape = env!("CARGO_BIN_EXE_retape");
    command.args(["-c", script, retape, &upstream.url(), &blocks.to_string()]);
    command.current_dir(stage.folder());
    let mut running = Running::start(command);
    let url = running.line();
    let mut seen = Vec::new();
    for n in 0..50 {
        let Ok(stream) = std::net::TcpStream::connect(client::split(&url).0) else { break };
        let mut wire = Wire::new(stream);
        wire.send(client::request("GET", &format!("{url}/stream/{n}"), "", ""));
        if wire.head().is_none() {
            break;
        }
        let chunks = std::iter::from_fn(|| match wire.chunk() {
            Chunk::Data(data) => Some(data),
            _ => None,
        });
        seen.push(chunks.flatten().collect());
    }
    // It may have lived through the recording, and be killed while it saves.
    running.signal(Signal::TERM);
    assert_eq!(running.end().0, None);
    seen
}

#[test]
fn what_a_client_has_seen_is_recovered_wherever_the_system_kills_the_recorder() {
    let upstream = Upstream::start(|asked, wire| {
        wire.send(EVENTS);
        for n in 0..3 {
            wire.send_chunk(format!("data: {n} of {}\n\n", asked.path()));
        }
        wire.send_end();
        Then::KeepAlive
    });
    let mut saving = 0;

    for blocks in [1, 3, 8, 15, 20, 26, 31, 44, 50] {
        let stage = Stage::new();
        stage.record(&upstream.url(), "tape", "GET /earlier");
        let earlier = stage.read("cassettes/tape.json");
        let seen = killed_by_the_system(&stage, &upstream, blocks);
        assert_eq!(stage.read("cassettes/tape.json"), earlier, "{blocks}");
        saving += usize::from(seen.len() == 50);
        let recovered = stage.retape(&["recover", "tape"]).output().unwrap();

        assert_eq!(recovered.status.success(), !seen.is_empty(), "{}", said(&recovered));
        if !seen.is_empty() {
            let name = Name::new("tape.recovered").unwrap();
            let cassette = store::load(&stage.folder().join("cassettes"), &name).unwrap();
            for (n, seen) in seen.iter().enumerate() {
                let answer = cassette.interactions[n].response().unwrap();
                assert!(answer.body.bytes().starts_with(seen), "{blocks}: {n}");
            }
        }
    }
    assert!((1..5).contains(&saving), "{saving} were killed while they saved");
}

#[test]
fn a_disk_that_is_full_is_told_and_nothing_is_half_written() {
    let stage = Stage::new();

    let output = on_a_full_disk(&stage, "GET /2");

    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("error: cannot write file (`"), "{text}");
    assert!(text.contains("because: File too large"), "{text}");
    assert!(text.contains("hint: what was there before is unharmed; free some space"), "{text}");
    assert!(text.contains("`retape recover tape` saves what the journal has"), "{text}");
    assert!(stage.read("cassettes/tape.json").contains("\"/1\""));
    assert_eq!(stage.cassettes(), ["tape.bodies", "tape.json", "tape.json.part"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("200 "), "the client was served");
}

#[test]
fn a_journal_that_could_not_be_written_does_not_spoil_the_cassette() {
    let stage = Stage::new();

    // What is large about the cassette is there already.
    let output = on_a_full_disk(&stage, "GET /1");

    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(stage.cassettes(), ["tape.bodies", "tape.json"]);
    let replayed = stage.around(&["replay", "tape"], "GET /1").output().unwrap();
    assert!(replayed.status.success(), "{}", said(&replayed));
}

/// A recorder that may open hardly any files, asked for many streams at once. Returns how they were answered.
fn out_of_files(stage: &Stage, server: &Upstream, never: &Gate) -> (Option<i32>, String) {
    let url = server.url().replace("127.0.0.1", "localhost");
    let script = "ulimit -n 24; exec \"$0\" record --upstream \"$1\" tape";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_retape"), &url]).current_dir(stage.folder());
    let mut running = Running::start(command);
    let url = running.line();
    get(&format!("{url}/begun"));
    let (tell, told) = std::sync::mpsc::channel();
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let (tell, url) = (tell.clone(), url.clone());
            std::thread::spawn(move || {
                let mut wire = Wire::connect(client::split(&url).0);
                wire.send(client::request("GET", &format!("{url}/stream"), "", ""));
                let _ = tell.send(wire.head().unwrap().line);
            })
        })
        .collect();
    assert!(told.iter().any(|line| line.contains(" 502 ")));
    never.open();
    clients.into_iter().for_each(|client| client.join().unwrap());
    running.stop()
}

#[test]
fn a_recorder_that_may_open_no_more_files_says_so_and_replaces_no_cassette() {
    let stage = Stage::new();
    let upstream = Upstream::endless(&Gate::new());
    stage.record(&upstream.url(), "tape", "GET /earlier");
    let earlier = stage.read("cassettes/tape.json");

    for _ in 0..2 {
        let never = Gate::new();
        let (code, said) = out_of_files(&stage, &Upstream::endless(&never), &never);

        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("error: not everything was recorded"), "{said}");
        assert!(said.contains("hint: allow more (`ulimit -n 4096`)"), "{said}");
    }

    assert_eq!(stage.read("cassettes/tape.json"), earlier);
    assert_eq!(stage.cassettes(), ["tape.failed-2.json", "tape.failed.json", "tape.json"]);
    let saved = stage.read("cassettes/tape.failed.json");
    assert!(!saved.contains("unreachable"), "{saved}");
}

#[test]
fn what_a_killed_save_left_is_removed_by_the_next_one() {
    let stage = Stage::new();
    let large = "x".repeat(64 * 1024);
    let upstream = Upstream::json(move |_| format!("[\"{large}\"]"));
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let (gone, here) = (gone.id(), std::process::id());
    let body = "0123456789abcdef0123456789abcdef";
    let left = [format!(".tape.json.{gone}.tmp"), format!("tape.bodies/.{body}.{gone}.tmp")];
    let others = [
        format!(".tape.json.{here}.tmp"),
        format!(".tape.json.{gone}.tmp~"),
        ".tape.json.1x.tmp".to_owned(),
        format!(".tape.json.0{gone}.tmp"),
        format!(".other.json.{gone}.tmp"),
        format!("tape.json.{gone}.tmp"),
        format!("tape.bodies/.{here}.{gone}.tmp"),
    ];
    for file in left.iter().chain(&others) {
        stage.write(&format!("cassettes/{file}"), "");
    }

    stage.record(&upstream.url(), "tape", "GET /1");

    let exists = |file: &String| stage.folder().join("cassettes").join(file).exists();
    assert!(!left.iter().any(exists), "{:?}", stage.cassettes());
    assert!(others.iter().all(exists), "{:?}", stage.cassettes());
}
