//! What changed in what is promised, and whether it breaks a client.

mod always;
mod approvals;
mod asked;
mod coincidences;
mod faces;
mod foreign;
mod forms;
mod headlines;
mod instead;
mod kept;
mod looks;
mod names;
mod numbers;
mod one_of;
mod orders;
mod recordings;
mod rows;
mod server_changes;
mod shapes;
mod shown;
mod sockets;
mod state;

mod soundness;
mod unseen;
mod values;
mod weights;

use retape::contract::Contract;
use retape::review::change::{Change, Known, Report, compare};

/// Two contracts by their texts.
#[track_caller]
fn compared(old: &str, new: &str) -> Report {
    let parsed = [old, new].map(|text| text.parse::<Contract>().unwrap());
    let side = |name, contract| Known {
        name,
        path: "cassettes",
        cassettes: &[],
        accepted: std::slice::from_ref(contract),
    };
    let mut report = compare(side("old", &parsed[0]), side("new", &parsed[1]));
    report.strict = true;
    report
}

/// An answer's contract with this body.
fn body(schema: &str) -> String {
    let lines = schema.trim_matches('\n').lines().map(|line| format!("    {line}\n"));
    format!("GET /x -> 200 application/json\n  body\n{}", lines.collect::<String>())
}

/// A stream's contract with this order.
fn stream(order: &str) -> String {
    format!("POST /x -> 200 text/event-stream\n  order\n    {order}\n")
}

/// The verdict, the rule and the words of each change.
fn told(report: &Report) -> Vec<String> {
    let told =
        |change: &Change| format!("{} {}: {}", change.verdict.as_str(), change.rule, change.what);
    report.changes.iter().map(told).collect()
}
