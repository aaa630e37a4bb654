//! The table of `docs/letta.md`, made from the recordings and the tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use retape::_macro_support::order_text;

use super::{Answer, Tape, text};

/// A scenario: its cassettes below `cassettes/letta`, and the beginning of the names of its tests.
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

const ROWS: [Row; 36] = [
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
    row("C9", "services that fail", &["e2e/outage"], "c9_"),
    row(
        "D1–D3",
        "health, tool graph, providers",
        &["integration/tool_graph", "integration/health", "integration/provider_*"],
        "d1_",
    ),
    row("D4", "multi-agent", &["integration/multi_agent", "integration/agents_at_once"], "d4_"),
    row(
        "D5, D7, D8",
        "MCP server, voice, secrets",
        &["integration/mcp", "integration/voice", "integration/secrets"],
        "d5_",
    ),
];

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
    let (before, rest) = page.split_once("<!-- table -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->\n").unwrap();

    let expected = format!("{before}<!-- table -->\n{}<!-- end -->\n{after}", table());

    if std::env::var_os("RETAPE_BLESS").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), expected, "RETAPE_BLESS=1 writes it");
}

#[test]
fn every_recording_has_a_row() {
    let told: BTreeSet<String> = ROWS.iter().flat_map(names).collect();

    assert_eq!(told, recorded(), "in the table, and in the folder");
}

fn table() -> String {
    let version =
        text(&Tape::of("integration/health").answers("GET /v1/health")[0].json["version"]);
    let mut table = format!("Server: Letta {version}.\n\n");
    table.push_str("| row | scenario | cassettes | test | order |\n|---|---|---|---|---|\n");
    for row in &ROWS {
        let cassettes: Vec<String> = row.cassettes.iter().map(|it| format!("`{it}`")).collect();
        let order = orders(&names(row)[0]).join("; ");
        let order = if order.is_empty() { "–".to_owned() } else { format!("`{order}`") };
        let order = order.replace('|', "\\|");
        let Row { number, what, .. } = row;
        let file = test_of(row);
        table.push_str(&format!(
            "| {number} | {what} | {} | {file} | {order} |\n",
            cassettes.join(" ")
        ));
    }
    table
}

/// The orders of the streams of a recording, or of its plain answers; each once.
fn orders(name: &str) -> Vec<String> {
    let tape = Tape::of(name);
    let streams = tape.streams();
    let answers = if streams.is_empty() { tape.plain() } else { streams };
    let mut orders: Vec<String> = Vec::new();
    for answer in answers.iter().filter(|answer| answer.status == 200) {
        let order = short(answer);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}

fn short(answer: &Answer) -> String {
    let order = order_text(env!("CARGO_MANIFEST_DIR"), &answer.messages);
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
        _ => "integration",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/letta/{file}.rs"));
    let text = fs::read_to_string(path).unwrap();
    let test = text.lines().find_map(|line| {
        let name = line.strip_prefix("fn ")?.split('(').next()?;
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta");
    let groups = ["errors", "hitl", "cancel", "e2e", "integration"];
    let files = groups.iter().flat_map(|group| {
        let entries = fs::read_dir(folder.join(group)).unwrap();
        entries.map(move |entry| (*group, entry.unwrap().path()))
    });
    files
        .filter(|(_, path)| path.extension().is_some_and(|it| it == "json"))
        .map(|(group, path): (_, PathBuf)| {
            format!("{group}/{}", path.file_stem().unwrap().to_string_lossy())
        })
        .collect()
}
