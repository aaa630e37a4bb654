//! Ten changes of a server, as the report tells them: `docs/changes-by-example.md`.
//!
//! The recordings are real, what is changed in them is not. The document is written anew by
//! `RETAPE_BLESS=1 cargo test --test cli samples`.

use std::path::{Path, PathBuf};

use regex::Regex;

use crate::retape::{Stage, recorded, said, told};

const RECORDED: [&str; 4] = ["approve_steps", "deny_steps", "return_steps", "approve_tokens"];

const STREAM: &str = "contracts/POST-v1-agents-agent_id-messages-stream-200-event-stream.snap";

const HEAD: &str = "\
# Changes by example

What a reviewer reads when a server has changed. Each report below is what

    retape diff before after --format markdown

writes, for recordings of a real server (`cassettes/letta/hitl`) in which one thing was changed. In
`before` and in `after` the contracts are accepted (`retape accept`), as they are in a pull request. The
words are explained in [changes.md](changes.md). This file is written by `tests/cli/samples.rs`.
";

/// A change of a server.
struct Sample {
    title: &'static str,
    /// What was changed in the recordings.
    what: &'static str,
    change: Change,
}

/// How the recordings change.
enum Change {
    /// Each of them.
    Recordings(fn(&str) -> String),
    /// One more is there, made of the last.
    Recorded(&'static str, fn(&str) -> String),
    /// They do not; the accepted contract of the streams is written otherwise.
    Contract(fn(&str) -> String),
}

const SAMPLES: [Sample; 10] = [
    Sample {
        title: "A stream ends too early",
        what: "The last event before `[DONE]`, `usage_statistics`, does not come any more.",
        change: Change::Recordings(|recording| {
            let is_kept = |line: &&str| !line.contains(&event("usage_statistics"));
            recording.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
        }),
    },
    Sample {
        title: "A new type of message",
        what: "A `citation_message` comes before `stop_reason`.",
        change: Change::Recordings(|recording| {
            each_line(recording, |line| match line.split_once(r#"{"data""#) {
                Some((begin, _)) if line.contains(&event("stop_reason")) => format!(
                    "{begin}{{\"data\": {{{}, \"url\": \"https://example.com/7\"}}}}}},\n{line}",
                    event("citation_message")
                ),
                _ => line.to_owned(),
            })
        }),
    },
    Sample {
        title: "A field is gone",
        what: "An `assistant_message` has no `otid` any more.",
        change: Change::Recordings(|recording| {
            let otid = Regex::new(r#""otid": "[^"]*", "#).unwrap();
            in_messages(recording, "assistant_message", |line| otid.replace(line, "").into_owned())
        }),
    },
    Sample {
        title: "A field can be null",
        what: "The `step_id` of an `assistant_message` is `null`.",
        change: Change::Recordings(|recording| {
            let step = Regex::new(r#""step_id": "[^"]*""#).unwrap();
            let null = r#""step_id": null"#;
            in_messages(recording, "assistant_message", |line| {
                step.replace(line, null).into_owned()
            })
        }),
    },
    Sample {
        title: "A field says something new",
        what: "The last turn ends with the `stop_reason` `max_tokens`.",
        change: Change::Recordings(|recording| {
            let end = r#""stop_reason": "end_turn""#;
            let last = recording.rfind(end).unwrap();
            let (before, behind) = recording.split_at(last);
            format!("{before}{}", behind.replacen(end, r#""stop_reason": "max_tokens""#, 1))
        }),
    },
    Sample {
        title: "Two messages change places",
        what: "`usage_statistics` comes before `stop_reason`.",
        change: Change::Recordings(|recording| {
            let mut lines: Vec<&str> = recording.lines().collect();
            for place in 1..lines.len() {
                if lines[place].contains(&event("usage_statistics")) {
                    lines.swap(place - 1, place);
                }
            }
            lines.join("\n")
        }),
    },
    Sample {
        title: "Another status",
        what: "An agent is created with status 201 instead of 200.",
        change: Change::Recordings(|recording| {
            let (before, behind) = recording.split_once(r#""path": "/v1/agents/","#).unwrap();
            let behind = behind.replacen(r#""status": 200"#, r#""status": 201"#, 1);
            format!("{before}\"path\": \"/v1/agents/\",{behind}")
        }),
    },
    Sample {
        title: "A new endpoint",
        what: "One more cassette asks for `/v1/agents/{agent_id}/summary`.",
        change: Change::Recorded("summary", |recording| {
            recording.replace(r#"/context","#, r#"/summary","#)
        }),
    },
    Sample {
        title: "A field is added",
        what: "An `assistant_message` says its `language`; all else is as it was.",
        change: Change::Recordings(|recording| {
            let known = event("assistant_message");
            recording.replace(&known, &format!("{known}, \"language\": \"en\""))
        }),
    },
    Sample {
        title: "A contract is written otherwise",
        what: "Nothing was recorded anew. Somebody has written the contract in other words that allow the \
               same: the alternatives of a union in another order, `x x*` for `x+`.",
        change: Change::Contract(|contract| {
            let union = Regex::new(r"(?m)^( *signature: )(.*) \| (.*)$").unwrap();
            let contract = union.replace_all(contract, "$1$3 | $2");
            let contract =
                contract.replace("string | null, tool_call_id", "null | string, tool_call_id");
            contract.replacen("assistant_message+", "assistant_message assistant_message*", 1)
        }),
    },
];

/// How an event of a type is recorded.
fn event(kind: &str) -> String {
    format!("\"message_type\": \"{kind}\"")
}

fn each_line(recording: &str, change: impl Fn(&str) -> String) -> String {
    recording.lines().map(change).collect::<Vec<_>>().join("\n")
}

fn in_messages(recording: &str, kind: &str, change: impl Fn(&str) -> String) -> String {
    let is_one = |line: &str| line.contains(r#""sse""#) && line.contains(&event(kind));
    each_line(recording, |line| if is_one(line) { change(line) } else { line.to_owned() })
}

impl Sample {
    /// What `retape diff` says of it.
    fn report(&self) -> String {
        let stage = Stage::new();
        for name in RECORDED {
            let recording = recorded(name);
            stage.write(&format!("before/{name}.json"), &recording);
            let changed = match &self.change {
                Change::Recordings(change) => change(&recording),
                _ => recording.clone(),
            };
            stage.write(&format!("after/{name}.json"), &changed);
        }
        if let Change::Recorded(name, change) = &self.change {
            let made = change(&stage.read(&format!("before/{}.json", RECORDED[3])));
            stage.write(&format!("after/{name}.json"), &made);
        }
        // As in a pull request: what was accepted before is there, and what is new is accepted.
        accept(&stage, "before");
        for file in std::fs::read_dir(stage.folder().join("before/contracts")).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            let contract = stage.read(&format!("before/contracts/{name}"));
            stage.write(&format!("after/contracts/{name}"), &contract);
        }
        accept(&stage, "after");
        if let Change::Contract(change) = &self.change {
            let contract = stage.read(&format!("after/{STREAM}"));
            let changed = change(&contract);
            assert_ne!(changed, contract);
            stage.write(&format!("after/{STREAM}"), &changed);
        }
        let diff = ["diff", "before", "after", "--format", "markdown"];
        let output = stage.retape(&diff).output().unwrap();
        assert!(output.status.code().is_some_and(|status| status < 2), "{}", said(&output));
        told(&output)
    }
}

fn accept(stage: &Stage, folder: &str) {
    let output = stage.retape(&["accept", "--cassettes", folder]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A report as a part of a document: quoted, so that its headings are its own.
fn quoted(report: &str) -> String {
    let line = |line: &str| format!("> {line}").trim_end().to_owned();
    report.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_samples_of_the_documentation_are_what_the_report_says() {
    let mut document = HEAD.to_owned();
    for (number, sample) in (1..).zip(&SAMPLES) {
        let Sample { title, what, .. } = sample;
        let report = quoted(&sample.report());
        document.push_str(&format!("\n## {number}. {title}\n\n{what}\n\n{report}\n"));
    }

    let file = root().join("docs/changes-by-example.md");
    if std::env::var_os("RETAPE_BLESS").is_some() {
        std::fs::write(&file, &document).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == document,
        "docs/changes-by-example.md is not current; `RETAPE_BLESS=1 cargo test --test cli samples` writes it"
    );
}
