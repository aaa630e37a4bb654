//! The table of `docs/letta.md`, made from the recordings and the tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use retape::_macro_support::order_snapshot;
use retape::cassette::Interaction;
use retape::contract::streams::apart;
use retape::message::{Framing, Message, Messages, Protocols};

use super::{Tape, of_type, text};

/// A scenario: its cassettes, and the beginning of the names of its tests. A cassette is below `cassettes/letta`, or
/// below the folder of another server.
struct Row {
    number: &'static str,
    what: &'static str,
    cassettes: &'static [&'static str],
    test: &'static str,
}

const fn row(
    number: &'static str,
    what: &'static str,
    cassettes: &'static [&'static str],
    test: &'static str,
) -> Row {
    Row { number, what, cassettes, test }
}

const ROWS: [Row; 49] = [
    row("A1", "approval with nothing pending", &["errors/nothing_pending"], "a1_"),
    row("A2", "user message while pending", &["errors/user_message_while_pending"], "a2_"),
    row("A3", "wrong tool call id", &["errors/wrong_tool_call_id", "errors/refusals"], "a3_"),
    row("A4", "leads to an approval, plain", &["hitl/approve_plain"], "a4_"),
    row("A5", "the same, streamed", &["hitl/approve_tokens", "hitl/approve_steps"], "a5_"),
    row("A6", "approval switched off", &["hitl/approval_off"], "a6_"),
    row("A7", "approve", &["hitl/approve_tokens", "hitl/approve_steps"], "a7_"),
    row("A8", "cursor fetch after approve", &["hitl/approve_plain"], "a8_"),
    row("A9", "context check, follow-up", &["hitl/approve_tokens"], "a9_"),
    row("A10", "the model fails behind an answer", &["hitl/*_model_fails_*"], "a10_"),
    row("A11", "an answer with a user message", &["hitl/*_with_user_message_*"], "a11_"),
    row(
        "A12",
        "deny with a reason",
        &["hitl/deny_tokens", "hitl/deny_plain", "hitl/deny_steps"],
        "a12_",
    ),
    row(
        "A13",
        "client-side tool return",
        &["hitl/return_tokens", "hitl/return_plain", "hitl/return_steps"],
        "a13_",
    ),
    row("A14", "four calls at once", &["hitl/parallel_tokens", "hitl/parallel_plain"], "a14_"),
    row("A15", "last stop reason over time", &["hitl/approve_plain"], "a15_"),
    row(
        "B1",
        "cancel before start, twice",
        &["cancel/before_start", "cancel/between_steps"],
        "b1_",
    ),
    row("B2", "cancel in the middle of a token stream", &["cancel/mid_tokens"], "b2_"),
    row("B3", "cancel between steps", &["cancel/between_steps"], "b1_b3_"),
    row("B4", "cancel while a tool runs", &["cancel/while_tool_runs"], "b4_"),
    row("B5", "cancel while waiting for approval", &["cancel/while_waiting"], "b5_"),
    row("B6", "cancel with parallel calls pending", &["cancel/while_waiting_for_several"], "b6_"),
    row("B7", "background run, cancelled", &["cancel/mid_tokens_in_background"], "b7_"),
    row("B8", "cancel and max steps", &["cancel/with_max_steps"], "b8_"),
    row(
        "B9",
        "model failures",
        &[
            "cancel/llm_error",
            "cancel/llm_gateway_timeout",
            "cancel/llm_rate_limit",
            "cancel/llm_authentication",
            "cancel/internal_error",
        ],
        "b9_",
    ),
    row("B10", "the client hangs up", &["cancel/client_leaves"], "b10_"),
    row("C1", "agents: create to delete", &["e2e/agents", "e2e/memory"], "c1_"),
    row("C2", "otid, run_id, step_id", &["e2e/ids", "e2e/runs", "e2e/conversations"], "c2_"),
    row("C3", "tokens and pings", &["e2e/pings"], "c3_"),
    row("C4", "all clients see the same", &["e2e/same_messages"], "c4_"),
    row("C5", "chat completions", &["e2e/chat_completions"], "c5_"),
    row("C6", "file upload and polling", &["e2e/files"], "c6_"),
    row("C7", "agent file", &["e2e/agent_file"], "c7_"),
    row(
        "C8",
        "WebSocket",
        &["letta-app/deny", "letta-app/interrupt", "codex/allow", "jupyter/cells"],
        "c8_",
    ),
    row("C9", "services that fail", &["e2e/outage"], "c9_"),
    row("D1", "health", &["integration/health"], "d1_"),
    row("D2", "tool graph", &["integration/tool_graph"], "d2_"),
    row("D3", "several providers", &["integration/provider_*"], "d3_"),
    row("D4", "multi-agent", &["integration/multi_agent", "integration/agents_at_once"], "d4_"),
    row("D5", "MCP server", &["integration/mcp"], "d5_"),
    row("D6", "tool sandbox", &["integration/sandbox"], "d6_"),
    row("D7", "voice", &["integration/voice"], "d7_"),
    row("D8", "no secret is kept", &["integration/secrets"], "d8_"),
    row("D9", "the provider is a cassette", &["letta-provider/approve_tokens"], "d9_"),
    row("E1", "the events of a run", &["letta-app/allow", "engine/one_agent"], "e1_"),
    row(
        "E2",
        "several users at once",
        &["letta-app/two", "codex/two", "engine/users_at_once"],
        "e2_",
    ),
    row(
        "E3",
        "sequential, parallel and dependent workflows",
        &["engine/sequential", "engine/parallel", "engine/dependent"],
        "e3_",
    ),
    row(
        "E4",
        "seven failures, recorded and injected",
        &[
            "engine/fails_immediate",
            "engine/fails_timeout",
            "engine/fails_silent",
            "engine/fails_memory",
            "engine/fails_network",
            "engine/fails_partial",
            "engine/fails_intermittent",
        ],
        "e4_",
    ),
    row("E5", "retry with backoff", &["engine/crowded", "engine/fails_intermittent"], "e5_"),
    row("E6", "ten agents, five users at once", &["engine/ten_agents"], "e6_"),
];

/// Folders of cassettes beside that of the Letta server, and what was recorded there.
const OTHERS: [(&str, &str); 5] = [
    ("letta-provider", "a stand-in for Anthropic's API"),
    ("letta-app", "`letta-code` 0.32.18"),
    ("codex", "`codex` 0.169.0"),
    ("jupyter", "`jupyter_server` 2.21.1"),
    ("engine", "a stand-in for an engine"),
];

/// Folders that the table tells of completely.
const WHOLE: [&str; 8] =
    ["errors", "hitl", "cancel", "e2e", "integration", "letta-provider", "letta-app", "engine"];

const LETTERS: [(&str, char); 11] = [
    ("approval_response_message", 'P'),
    ("approval_request_message", 'Q'),
    ("tool_return_message", 'T'),
    ("reasoning_message", 'R'),
    ("assistant_message", 'A'),
    ("tool_call_message", 'C'),
    ("usage_statistics", 'Z'),
    ("system_message", 'Y'),
    ("error_message", 'E'),
    ("user_message", 'U'),
    ("stop_reason", 'S'),
];

#[test]
fn the_table_of_the_guide_is_made_from_the_recordings() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/letta.md");
    let page = fs::read_to_string(&file).unwrap();

    let expected = [("table", table()), ("providers", providers())].iter().fold(
        page,
        |page, (name, table)| {
            let begin = format!("<!-- {name} -->\n");
            let (before, rest) = page.split_once(&begin).unwrap();
            let (_, after) = rest.split_once("<!-- end -->\n").unwrap();
            format!("{before}{begin}{table}<!-- end -->\n{after}")
        },
    );

    if std::env::var_os("RETAPE_BLESS").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), expected, "RETAPE_BLESS=1 writes it");
}

#[test]
fn every_recording_has_a_row() {
    let is_whole = |name: &String| WHOLE.iter().any(|folder| name.starts_with(folder));
    let told: BTreeSet<String> = ROWS.iter().flat_map(names).filter(is_whole).collect();

    let recorded: BTreeSet<String> = recorded().into_iter().filter(is_whole).collect();
    assert_eq!(told, recorded, "in the table, and in the folder");
}

#[test]
fn every_scenario_has_a_row() {
    let groups = [('A', 15), ('B', 10), ('C', 9), ('D', 9), ('E', 6)];
    let all = groups
        .into_iter()
        .flat_map(|(group, count)| (1..=count).map(move |number| format!("{group}{number}")));

    let told: Vec<&str> = ROWS.iter().map(|row| row.number).collect();
    assert_eq!(told, all.collect::<Vec<_>>());
}

fn table() -> String {
    let version =
        text(&Tape::of("integration/health").answers("GET /v1/health")[0].json["version"]);
    let mut table =
        "| row | scenario | server | cassettes | test | order |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for row in &ROWS {
        let cassettes: Vec<String> = row.cassettes.iter().map(|it| format!("`{it}`")).collect();
        let order = orders(&names(row)[0]).join("; ");
        let order = if order.is_empty() { "–".to_owned() } else { format!("`{order}`") };
        let order = order.replace('|', "\\|");
        let Row { number, what, .. } = row;
        let file = test_of(row);
        let mut servers: Vec<String> = names(row).iter().map(|it| server(it, &version)).collect();
        servers.dedup();
        table.push_str(&format!(
            "| {number} | {what} | {} | {} | {file} | {order} |\n",
            servers.join("; "),
            cassettes.join(" ")
        ));
    }
    table
}

/// What comes directly behind what in the streams of each provider, and of no other one.
fn providers() -> String {
    let edges = |name: &String| -> BTreeSet<String> {
        let traces = traces(name).iter().map(|it| short(it)).collect::<Vec<_>>();
        let words = traces.iter().flat_map(|trace| {
            let trace = format!("begin {}", trace.replace('+', ""));
            let words: Vec<String> = trace.split(' ').map(ToOwned::to_owned).collect();
            words.windows(2).map(|pair| format!("`{} {}`", pair[0], pair[1])).collect::<Vec<_>>()
        });
        words.collect()
    };
    let row = ROWS.iter().find(|row| row.number == "D3").unwrap();
    let all: Vec<(String, BTreeSet<String>)> =
        names(row).into_iter().map(|name| (name.clone(), edges(&name))).collect();
    let mut table = "| cassette | only there |\n|---|---|\n".to_owned();
    for (name, own) in &all {
        let others: BTreeSet<&String> =
            all.iter().filter(|(other, _)| other != name).flat_map(|(_, edges)| edges).collect();
        let only: Vec<&str> =
            own.iter().filter(|edge| !others.contains(edge)).map(String::as_str).collect();
        table.push_str(&format!("| `{name}` | {} |\n", only.join(" ")));
    }
    table
}

fn other(name: &str) -> Option<&'static str> {
    let (folder, _) = name.split_once('/').unwrap();
    OTHERS.iter().find(|(other, _)| *other == folder).map(|(_, server)| *server)
}

fn server(name: &str, version: &str) -> String {
    other(name).map_or_else(|| format!("Letta {version}"), ToOwned::to_owned)
}

/// The orders of the streams of a recording, or of its plain answers; each once.
fn orders(name: &str) -> Vec<String> {
    let traces = if other(name).is_some() { socket_traces(name) } else { traces(name) };
    let mut orders: Vec<String> = Vec::new();
    for trace in traces {
        let order = short(&trace);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

fn traces(name: &str) -> Vec<Vec<Message>> {
    let tape = Tape::of(name);
    let streams = tape.streams();
    let answers = if streams.is_empty() { tape.plain() } else { streams };
    let found = answers.into_iter().filter(|answer| answer.status == 200);
    found.map(|answer| answer.messages).collect()
}

/// What each agent of the engine did; else what the server of models said, or the deltas of an app server.
fn socket_traces(name: &str) -> Vec<Vec<Message>> {
    let tape = Tape::of_any(name);
    let answers = tape.cassette.interactions.iter().filter_map(Interaction::response);
    let mut traces = Vec::new();
    for answer in answers {
        let messages = Messages::of(answer, &Protocols::default()).list;
        if answer.frames.is_empty() {
            let events = Framing::of(answer.headers.get("content-type")) == Framing::EventStream;
            traces.extend(events.then_some(messages));
            continue;
        }
        if name.starts_with("engine/") {
            traces.extend(apart(&messages, "agent_id").iter().map(|(_, places)| {
                places.iter().map(|place| messages[*place].clone()).collect::<Vec<_>>()
            }));
        } else {
            let deltas = of_type(&messages, "stream_delta").into_iter();
            traces.push(deltas.map(|it| Message::from(&it["delta"])).collect());
        }
    }
    traces
}

fn short(messages: &[Message]) -> String {
    let (order, _) = order_snapshot(env!("CARGO_MANIFEST_DIR"), messages);
    let order = LETTERS
        .iter()
        .fold(order, |order, (long, letter)| order.replace(long, &letter.to_string()));
    order.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file of the tests of a row.
fn test_of(row: &Row) -> String {
    let file = match row.number.as_bytes()[0] {
        b'A' => "hitl",
        b'B' => "cancel",
        b'C' => "e2e",
        b'E' => "engine",
        _ => "integration",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/letta/{file}.rs"));
    let text = fs::read_to_string(path).unwrap();
    let test = text.lines().find_map(|line| {
        let name = line.trim_start_matches("async ").strip_prefix("fn ")?.split('(').next()?;
        name.contains(row.test).then_some(name)
    });
    assert!(test.is_some(), "{} has no test", row.number);
    format!("`{file}::{}`", row.test.trim_end_matches('_'))
}

/// The cassettes of a row, those that a `*` stands for too.
fn names(row: &Row) -> Vec<String> {
    let mut names = Vec::new();
    for pattern in row.cassettes {
        let parts: Vec<&str> = pattern.split('*').collect();
        let fits = |name: &&String| {
            let mut left = name.as_str();
            parts.iter().all(|part| match left.find(part) {
                Some(at) => {
                    left = &left[at + part.len()..];
                    true
                }
                None => false,
            }) && name.starts_with(parts[0])
                && (parts.len() > 1 || left.is_empty())
        };
        let recorded = recorded();
        let found: Vec<&String> = recorded.iter().filter(fits).collect();
        assert!(!found.is_empty(), "there is no `{pattern}`");
        names.extend(found.into_iter().cloned());
    }
    names
}

fn recorded() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes");
    let letta = ["errors", "hitl", "cancel", "e2e", "integration"];
    let letta = letta.map(|group| (group, folder.join("letta").join(group)));
    let others = OTHERS.map(|(group, _)| (group, folder.join(group)));
    let files = letta.into_iter().chain(others).flat_map(|(group, folder)| {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(move |entry| (group, entry.unwrap().path()))
    });
    files
        .filter(|(_, path)| path.extension().is_some_and(|it| it == "json"))
        .map(|(group, path): (_, PathBuf)| {
            format!("{group}/{}", path.file_stem().unwrap().to_string_lossy())
        })
        .collect()
}
