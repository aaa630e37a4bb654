//! Servers that talk over standard input and output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::retape::{Stage, said, told};

/// A client of the binary.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// How it ended: what else came on standard output, what was said on standard error, and the status.
struct End {
    rest: String,
    said: String,
    status: Option<i32>,
}

impl Talk {
    fn with(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn say(&mut self, text: &str) {
        // A server that has ended reads nothing.
        let _ = self.input.as_mut().unwrap().write_all(text.as_bytes());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Says a line and gives the next one.
    fn ask(&mut self, text: &str) -> String {
        self.say(&format!("{text}\n"));
        self.line()
    }

    /// Stays until the server has left, which would else be the other way round on a busy machine.
    fn stay(mut self) -> End {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        End { rest: String::from_utf8_lossy(&rest).into_owned(), ..self.end() }
    }

    /// Leaves.
    fn end(mut self) -> End {
        drop(self.input.take());
        let (mut rest, mut said) = (Vec::new(), String::new());
        self.output.read_to_end(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap().code();
        End { rest: String::from_utf8_lossy(&rest).into_owned(), said, status }
    }
}

/// A server that says these lines, and hears one where a `<` stands.
fn server(lines: &[&str]) -> String {
    let step = |line: &&str| match *line {
        "<" => "IFS= read -r heard || exit 0".to_owned(),
        line => format!("printf '%s\\n' '{line}'"),
    };
    let steps: Vec<String> = lines.iter().map(step).collect();
    format!("echo ready >&2; {}; cat >/dev/null", steps.join("; "))
}

fn record(stage: &Stage, options: &[&str], script: &str) -> Talk {
    let arguments = [&["mcp", "record"], options, &["tape", "--", "sh", "-c", script]].concat();
    Talk::with(stage.retape(&arguments))
}

fn replay(stage: &Stage, options: &[&str]) -> Talk {
    Talk::with(stage.retape(&[&["mcp", "replay"], options, &["tape"]].concat()))
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const ADDED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"sum":5}}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;

/// Records that a client calls and lists.
fn recorded(stage: &Stage) {
    let mut talk = record(stage, &[], &server(&["<", ADDED, "<", LISTED]));
    talk.ask(CALL);
    talk.ask(LIST);
    let End { said, status, .. } = talk.end();
    assert_eq!(status, Some(0), "{said}");
}

fn frames(stage: &Stage) -> Vec<Value> {
    let cassette: Value = serde_json::from_str(&stage.read("cassettes/tape.json")).unwrap();
    cassette["interactions"][0]["response"]["frames"].as_array().unwrap().clone()
}

#[test]
fn both_sides_pass_through_as_they_are_and_are_recorded() {
    let stage = Stage::new();
    let script = server(&["no json", "<", ADDED, "<", LISTED]) + "; printf end; exit 0";
    let mut talk = record(&stage, &[], &script);

    let lines = [talk.line(), talk.ask(CALL), talk.ask(&format!("\n{LIST}\r"))];
    let End { rest, said, status } = talk.end();

    assert_eq!(lines, ["no json\n", &format!("{ADDED}\n"), &format!("{LISTED}\n")]);
    assert_eq!((rest.as_str(), status), ("end", Some(0)));
    for line in ["ready\n", "recorded 1 interaction in ", "it answers what the client said"] {
        assert!(said.contains(line), "{said}");
    }
    let from: Vec<_> = frames(&stage).iter().map(|frame| frame["from"].clone()).collect();
    assert_eq!(from, ["server", "client", "server", "client", "server", "server"]);
    assert_eq!(frames(&stage)[5]["text"], "end");
}

#[test]
fn a_recording_answers_with_the_ids_of_its_client() {
    let stage = Stage::new();
    recorded(&stage);
    let mut talk = replay(&stage, &["--strict"]);

    let added = talk.ask(&CALL.replace("\"id\":1", "\"id\":\"a\""));
    let listed = talk.ask(&LIST.replace("\"id\":2", "\"id\":\"b\""));
    let End { rest, said, status } = talk.end();

    assert_eq!(added, ADDED.replace("\"id\":1", "\"id\":\"a\"") + "\n");
    assert_eq!(listed, LISTED.replace("\"id\":2", "\"id\":\"b\"") + "\n");
    assert_eq!((rest.as_str(), status), ("", Some(0)), "{said}");
    assert!(said.contains("1 of 1 interaction played, 0 misses, nothing went out through retape"));
}

#[test]
fn a_client_that_says_all_at_once_and_leaves_is_answered() {
    let stage = Stage::new();
    recorded(&stage);
    let mut talk = replay(&stage, &[]);

    talk.say(&format!("{CALL}\n{LIST}"));
    let End { rest, status, .. } = talk.end();

    assert_eq!(rest, format!("{ADDED}\n{LISTED}\n"));
    assert_eq!(status, Some(0));
}

#[test]
fn a_request_that_was_not_recorded_gets_an_error_and_the_client_goes_on() {
    let stage = Stage::new();
    recorded(&stage);
    let mut talk = replay(&stage, &["--misses", "misses.json"]);

    let refused = talk.ask(&CALL.replace("add", "divide"));
    let listed = talk.ask(LIST);
    let End { said, status, .. } = talk.end();

    let refused: Value = serde_json::from_str(&refused).unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(470)));
    let message = "retape: /params/name is not as in frame 1 of interaction 1";
    assert_eq!(refused["error"]["message"], message);
    let explanation = refused["error"]["data"]["explanation"].as_str().unwrap();
    for line in ["- \"add\"", "+ \"divide\"", "retape mcp record tape -- COMMAND"] {
        assert!(explanation.contains(line), "{explanation}");
        assert!(said.contains(line), "{said}");
    }
    assert_eq!((listed, status), (format!("{LISTED}\n"), Some(1)));
    assert!(
        said.contains("not sent: 1 frame of GET / (interaction 1 of `tape`)\n  frame 1: "),
        "{said}"
    );
    assert!(stage.read("misses.json").contains("divide"));
}

#[test]
fn what_the_server_asks_of_the_client_waits_for_its_turn() {
    let stage = Stage::new();
    let asks = r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"text":"short"}}"#;
    let hello = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    let mut talk = record(&stage, &[], &server(&[hello, "<", asks, "<", ADDED]));
    let live = [talk.line(), talk.ask(CALL), talk.ask(answer)];
    assert_eq!(talk.end().status, Some(0));
    let mut talk = replay(&stage, &["--strict"]);

    let played = [talk.line(), talk.ask(CALL), talk.ask(answer)];
    let End { rest, said, status } = talk.end();

    assert_eq!((played, rest.as_str(), status), (live, "", Some(0)), "{said}");
}

#[test]
fn the_end_of_a_server_is_replayed_with_its_status() {
    let stage = Stage::new();
    let script = format!("read -r heard; echo '{ADDED}'; exit 3");
    let mut talk = record(&stage, &[], &script);
    talk.ask(CALL);
    let line = talk.line();
    assert_eq!((line.as_str(), talk.end().status), ("", Some(3)));
    assert!(stage.read("cassettes/tape.json").contains("\"end\": \"server_closed\""));
    let mut talk = replay(&stage, &[]);

    let lines = [talk.ask(CALL), talk.line()];
    let End { said, status, .. } = talk.end();

    assert_eq!((lines, status), ([format!("{ADDED}\n"), String::new()], Some(3)), "{said}");
}

#[test]
fn a_server_that_fails_does_not_replace_a_cassette() {
    let stage = Stage::new();
    recorded(&stage);
    let before = stage.read("cassettes/tape.json");

    let failed = record(&stage, &[], &format!("echo '{ADDED}'; exit 3"));
    let failed = failed.stay();
    let silent = record(&stage, &[], "exit 4").stay();
    let missing = stage.retape(&["mcp", "record", "tape", "--", "no-such-command"]).output();

    assert_eq!(stage.read("cassettes/tape.json"), before);
    assert_eq!(stage.cassettes(), ["tape.failed.json", "tape.json"]);
    assert!(
        failed.said.contains("the server failed: the cassette `tape` stays"),
        "{}",
        failed.said
    );
    assert_eq!((failed.status, silent.status), (Some(3), Some(4)));
    assert!(silent.said.contains("the server said nothing, so nothing was recorded"));
    let missing = missing.unwrap();
    assert_eq!((missing.status.code(), told(&missing)), (Some(2), String::new()));
    assert!(said(&missing).contains("`no-such-command`"), "{}", said(&missing));
}

#[test]
fn a_server_that_stops_to_read_and_fails_was_not_left_by_its_client() {
    let stage = Stage::new();
    recorded(&stage);
    let before = stage.read("cassettes/tape.json");
    let script = format!("read -r heard; exec <&-; echo '{ADDED}'; sleep 1; exit 3");
    let mut talk = record(&stage, &[], &script);
    talk.ask(CALL);

    talk.say(&format!("{LIST}\n"));
    let End { said, status, .. } = talk.stay();

    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("the server failed: the cassette `tape` stays"), "{said}");
    assert_eq!(stage.read("cassettes/tape.json"), before);
    assert!(stage.read("cassettes/tape.failed.json").contains("\"exit-status\": \"3\""));
}

#[test]
fn what_a_server_said_before_its_end_is_passed_on_to_a_slow_client() {
    let stage = Stage::new();
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}", "n".repeat(60));
    let count = 900;
    let script = format!(
        "read -r heard; n=0; while [ $n -lt {count} ]; do echo '{line}'; n=$((n+1)); done; echo '{ADDED}'"
    );
    let mut talk = record(&stage, &["--no-prove"], &script);
    talk.say(&format!("{CALL}\n"));

    std::thread::sleep(std::time::Duration::from_millis(2000));
    let End { rest, said, status } = talk.stay();

    let lines: Vec<&str> = rest.lines().collect();
    assert_eq!((lines.len(), lines.last(), status), (count + 1, Some(&ADDED), Some(0)), "{said}");
    assert_eq!(frames(&stage).len(), count + 2);
}

#[test]
fn a_client_that_ends_the_server_by_a_signal_has_recorded_it() {
    let stage = Stage::new();
    let mut talk = record(&stage, &[], &format!("read -r heard; echo '{ADDED}'; exec sleep 60"));
    talk.ask(CALL);

    kill_process(Pid::from_child(&talk.child), Signal::TERM).unwrap();
    let status = talk.child.wait().unwrap().code();

    assert_eq!(status, Some(143));
    assert!(stage.read("cassettes/tape.json").contains("\"end\": \"complete\""));
}

#[test]
fn what_had_been_said_when_the_recorder_was_killed_is_recovered() {
    let stage = Stage::new();
    let mut talk = record(&stage, &[], &server(&["<", ADDED, "<", LISTED]));
    talk.ask(CALL);

    kill_process(Pid::from_child(&talk.child), Signal::KILL).unwrap();
    talk.child.wait().unwrap();
    let recovered = stage.retape(&["recover", "tape"]).output().unwrap();

    assert!(recovered.status.success(), "{}", said(&recovered));
    let mut talk = Talk::with(stage.retape(&["mcp", "replay", "tape.recovered"]));
    assert_eq!(talk.ask(CALL), format!("{ADDED}\n"));
    assert_eq!(talk.end().status, Some(0));
}

#[test]
fn what_a_client_says_shows_which_of_several_sessions_it_means() {
    let stage = Stage::new();
    recorded(&stage);
    let other = LISTED.replace("[]", "[1]");
    let mut talk = record(&stage, &["--append"], &server(&["<", ADDED, "<", &other]));
    talk.ask(CALL);
    talk.ask(&LIST.replace("list", "list_all"));
    let End { said, status, .. } = talk.end();
    assert_eq!(status, Some(0), "{said}");

    let ask = |method: &str| {
        let mut talk = replay(&stage, &[]);
        let listed = [talk.ask(CALL), talk.ask(&LIST.replace("list", method))];
        (listed, talk.end().status)
    };

    assert_eq!(ask("list"), ([format!("{ADDED}\n"), format!("{LISTED}\n")], Some(0)));
    assert_eq!(ask("list_all"), ([format!("{ADDED}\n"), format!("{other}\n")], Some(0)));
    assert_eq!(ask("none").1, Some(1));
}

#[test]
fn secrets_are_taken_out_and_a_long_line_stands_beside_the_cassette() {
    let stage = Stage::new();
    let secret = format!("sk-proj-{}", "a1B2c3D4e5".repeat(4));
    let long = format!("head -c 3000000 /dev/zero | tr '\\0' x; echo; {}", server(&["<", ADDED]));
    let call = CALL.replace("\"add\"", &format!("\"add\",\"api_key\":\"{secret}\""));
    let mut talk = record(&stage, &[], &long);

    let lines = [talk.line(), talk.ask(&call)];
    let End { said, status, .. } = talk.end();

    assert_eq!((lines[0].len(), status), (3_000_001, Some(0)), "{said}");
    assert!(!stage.read("cassettes/tape.json").contains(&secret));
    assert_eq!(stage.cassettes(), ["tape.bodies", "tape.json"]);
    let mut talk = replay(&stage, &[]);
    assert_eq!([talk.line(), talk.ask(&call)], lines);
    assert_eq!(talk.end().status, Some(0));
}

#[test]
fn what_the_client_did_not_say_is_told() {
    let stage = Stage::new();
    recorded(&stage);
    let left = |options: &[&str]| {
        let mut talk = replay(&stage, options);
        talk.ask(CALL);
        talk.end()
    };

    let (fine, strict) = (left(&[]), left(&["--strict"]));

    assert_eq!((fine.status, strict.status), (Some(0), Some(1)));
    assert!(
        fine.said.contains("not sent: 1 frame of GET / (interaction 1 of `tape`)\n  frame 3: ")
    );
}

#[test]
fn a_session_of_lines_is_shown_checked_and_compared_like_others() {
    let stage = Stage::new();
    recorded(&stage);
    let run = |arguments: &[&str]| stage.retape(arguments).output().unwrap();

    let shown = told(&run(&["show", "tape"]));
    assert!(shown.contains("SEND /") && shown.contains("tools/call"), "{shown}");
    assert!(run(&["accept"]).status.success());
    assert!(stage.read("cassettes/contracts/SEND--101-x-ndjson.snap").contains("sum"));
    assert!(run(&["check"]).status.success());

    let wrong = r#"{"jsonrpc":"2.0","id":1,"result":{"sum":"five"}}"#;
    let mut talk = record(&stage, &[], &server(&["<", wrong, "<", LISTED]));
    talk.ask(CALL);
    talk.ask(LIST);
    talk.end();

    let checked = told(&run(&["check"]));
    assert!(checked.contains("SEND /") && checked.contains("sum"), "{checked}");
}

#[test]
fn where_there_is_no_cassette_the_command_that_records_one_is_told() {
    let stage = Stage::new();

    let output = stage.retape(&["mcp", "replay", "memory"]).output().unwrap();

    let told = said(&output);
    assert!(told.contains("no cassette `memory`"), "{told}");
    assert!(told.contains("record it: `retape mcp record memory -- COMMAND`"), "{told}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_cassette_that_holds_no_session_says_so() {
    let stage = Stage::new();
    stage.write(
        "cassettes/tape.json",
        r#"{"retape": 1, "interactions": [{"request": {"method": "GET", "path": "/"}, "response": {"status": 200}}]}"#,
    );

    let End { said, status, .. } = replay(&stage, &[]).end();

    assert_eq!(status, Some(2));
    assert!(said.contains("error: no session in lines"), "{said}");
}

/// What both sides say in a cassette, in order.
fn said_in(file: &Path) -> Vec<(bool, String)> {
    let cassette: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let frames = cassette["interactions"][0]["response"]["frames"].as_array().unwrap().clone();
    let said = |frame: &Value| Some((frame["from"] == "client", frame.get("json")?.to_string()));
    frames.iter().filter_map(said).collect()
}

#[test]
fn recordings_of_real_servers_answer_what_their_clients_said() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes");
    for folder in ["codex", "codex/stdio", "mcp-stdio"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap();
        let files = files.map(|file| file.unwrap().path());
        for file in files.filter(|file| file.extension().is_some_and(|it| it == "json")) {
            let frames = said_in(&file);
            let stage = Stage::new();
            let path = file.display().to_string();
            let mut talk = Talk::with(stage.retape(&["mcp", "replay", &path]));
            let mut heard = Vec::new();

            for (is_client, text) in &frames {
                match is_client {
                    true => talk.say(&format!("{text}\n")),
                    false => heard.push(talk.line()),
                }
            }
            let End { rest, said, status } = talk.end();

            assert_eq!((rest.as_str(), status), ("", Some(0)), "{path}: {said}");
            let heard = heard.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let expected = frames.iter().filter(|(is_client, _)| !is_client);
            let expected = expected.map(|(_, text)| serde_json::from_str::<Value>(text).unwrap());
            assert!(heard.eq(expected), "{path}: {said}");
        }
    }
}

#[test]
fn what_was_recorded_over_http_is_replayed_in_lines() {
    let stage = Stage::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/mcp/stateful.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let cassette: Value = serde_json::from_str(&text).unwrap();
    let asked = |interaction: &Value| interaction["request"].get("json").cloned();
    let asked = cassette["interactions"].as_array().unwrap().iter().filter_map(asked);
    let asked: Vec<Value> = asked.collect();
    let mut talk =
        Talk::with(stage.retape(&["mcp", "replay", "--strict", &file.display().to_string()]));

    let mut answered = Vec::new();
    for message in &asked {
        talk.say(&format!("{message}\n"));
    }
    let End { rest, said, status } = talk.end();

    assert_eq!(status, Some(0), "{said}");
    for line in rest.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message.get("method").is_none() {
            answered.push(message["id"].clone());
        }
    }
    let waits = |message: &&Value| message.get("method").is_some() && message.get("id").is_some();
    let mut expected: Vec<Value> =
        asked.iter().filter(waits).map(|message| message["id"].clone()).collect();
    // The call of the tool that waits is cancelled.
    expected.retain(|id| answered.contains(id));
    assert_eq!(answered.len(), expected.len());
    assert!(answered.len() > 15, "{}", answered.len());
}
