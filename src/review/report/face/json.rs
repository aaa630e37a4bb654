//! For programs.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::headline::headline;
use super::told::route;
use crate::review::change::{
    Approval, CaseEdges, CassettePair, Change, ContractPair, Difference, Direction, Edge, Exchange,
    InteractionPair, Report, Side, State, Verdict,
};

/// The version of this form. It grows with changes that a reader of the one before would not understand.
const VERSION: u64 = 1;

/// Shows a report as JSON: all that there is in it.
pub(super) fn json(report: &Report) -> String {
    let counts =
        Verdict::ALL.map(|verdict| (verdict.as_str().to_owned(), report.count(verdict).into()));
    let mut counts: serde_json::Map<String, Value> = counts.into_iter().collect();
    counts.insert("approved".to_owned(), report.approved().into());
    let document = Document {
        cassettes: Each(&report.cassettes, cassette),
        changes: Each(&report.changes, change),
        contracts: Each(&report.contracts, contract),
        counts,
        fails: report.fails(),
        headline: headline(report, &route),
        new: side(&report.new),
        old: side(&report.old),
        retape_report: VERSION,
        stale_approvals: Each(&report.stale, stale),
    };
    let text = serde_json::to_string_pretty(&document).expect("all its names are text");
    format!("{text}\n")
}

/// A report, its members in the order of their names, as they are elsewhere in it.
#[derive(Serialize)]
struct Document<'a> {
    cassettes: Each<'a, CassettePair>,
    changes: Each<'a, Change>,
    contracts: Each<'a, ContractPair>,
    counts: serde_json::Map<String, Value>,
    fails: bool,
    headline: String,
    new: Value,
    old: Value,
    retape_report: u64,
    stale_approvals: Each<'a, Approval>,
}

/// Items that become JSON one after the other: there may be thousands.
struct Each<'a, T>(&'a [T], fn(&T) -> Value);

impl<T> Serialize for Each<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(self.1))
    }
}

fn contract(pair: &ContractPair) -> Value {
    json!({
        "endpoint": pair.endpoint.to_string(),
        "old": pair.old,
        "new": pair.new,
        "orders": pair.orders.iter().map(case).collect::<Vec<_>>(),
    })
}

fn stale(approval: &Approval) -> Value {
    json!({"fingerprint": approval.fingerprint, "reason": approval.reason, "what": approval.what})
}

fn side(side: &Side) -> Value {
    json!({
        "name": side.name,
        "path": side.path,
        "cassettes": side.cassettes,
        "endpoints": side.endpoints,
    })
}

fn change(change: &Change) -> Value {
    let place = &change.place;
    let direction = match change.direction {
        Direction::Answer => "answer",
        Direction::Request => "request",
    };
    // It was made by this library; if it were no JSON, it would be shown as text.
    let schema =
        |text: &String| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
    json!({
        "rule": change.rule.id(),
        "verdict": change.verdict.as_str(),
        "direction": direction,
        "endpoint": place.endpoint.to_string(),
        "part": place.part.as_str(),
        "cases": place.cases,
        "path": place.path,
        "what": change.what,
        "why": change.why,
        "fingerprint": change.fingerprint,
        "approved": change.approved,
        "trace": change.trace.as_ref().map(|trace| {
            json!({"tags": trace.tags, "at": trace.at, "expected": trace.expected})
        }),
        "possible": change.possible.as_ref().map(|possible| {
            json!({"text": possible.text, "schema": schema(&possible.json_schema)})
        }),
        "example": change.example.as_ref().map(schema),
        "witnesses": change.witnesses.as_ref().map(|it| json!({
            "cassette": it.cassette,
            "interaction": it.interaction,
            "event": it.event,
            "answers": it.answers,
        })),
    })
}

fn case(case: &CaseEdges) -> Value {
    let edge = |edge: &Edge| json!({"from": edge.from, "to": edge.to, "state": state(edge.state)});
    json!({"case": case.case, "edges": case.edges.iter().map(edge).collect::<Vec<_>>()})
}

fn state(state: State) -> &'static str {
    match state {
        State::Kept => "kept",
        State::New => "new",
        State::Lost => "lost",
    }
}

fn cassette(pair: &CassettePair) -> Value {
    json!({
        "name": pair.name,
        "state": state(pair.state),
        "same": pair.same,
        "interactions": pair.interactions.iter().map(interaction).collect::<Vec<_>>(),
    })
}

fn interaction(pair: &InteractionPair) -> Value {
    let difference = |it: &Difference| json!({"at": it.at, "old": it.old, "new": it.new});
    json!({
        "old": pair.old.as_ref().map(exchange),
        "new": pair.new.as_ref().map(exchange),
        "differences": pair.differences.iter().map(difference).collect::<Vec<_>>(),
        "more": pair.more,
    })
}

fn exchange(exchange: &Exchange) -> Value {
    let trace = exchange.trace.iter().map(|mark| {
        json!({
            "tag": mark.tag,
            "count": mark.count,
            "first_ms": mark.first_ms,
            "last_ms": mark.last_ms,
        })
    });
    json!({
        "number": exchange.number,
        "method": exchange.method,
        "path": exchange.path,
        "status": exchange.status,
        "end": exchange.end,
        "ms": exchange.ms,
        "trace": trace.collect::<Vec<_>>(),
    })
}
