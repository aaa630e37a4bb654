//! For programs: on one line, because indentation is nearly half of a large report.

use std::collections::HashMap;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::told::{headline, route};
use crate::review::change::{
    Approval, CassettePair, Change, ContractPair, MovedCassette, Report, Unreadable, Verdict,
};

/// The version of this form. It grows with changes that a reader of the one before would not understand.
const VERSION: u64 = 1;

/// Shows a report as JSON: all that there is in it.
pub(super) fn json(report: &Report) -> String {
    let counts =
        Verdict::ALL.map(|verdict| (verdict.as_str().to_owned(), report.count(verdict).into()));
    let mut counts: serde_json::Map<String, Value> = counts.into_iter().collect();
    counts.insert("approved".to_owned(), report.approved().into());
    let groups = report.groups();
    let firsts = groups.iter().flat_map(|group| {
        group.all().map(|change| (std::ptr::from_ref(change), &*group.change.fingerprint))
    });
    let firsts: HashMap<*const Change, &str> = firsts.collect();
    let changes = report.changes.iter().map(|change| (change, firsts[&std::ptr::from_ref(change)]));
    let changes: Vec<(&Change, &str)> = changes.collect();
    let document = Document {
        cassettes: Each(&report.cassettes, value),
        changes: Each(&changes, |(of, group)| change(of, group)),
        contracts: Each(&report.contracts, value),
        counts,
        fails: report.fails(),
        headline: headline(report, &route),
        moved: Each(&report.moved, value),
        new: value(&report.new),
        old: value(&report.old),
        retape_report: VERSION,
        stale_approvals: Each(&report.stale, value),
        unreadable: Each(&report.unreadable, value),
    };
    let text = serde_json::to_string(&document).expect("all its names are text");
    format!("{text}\n")
}

/// A report, its members in the order of their names, as they are elsewhere in it.
#[derive(Serialize)]
struct Document<'a> {
    cassettes: Each<'a, CassettePair>,
    changes: Each<'a, (&'a Change, &'a str)>,
    contracts: Each<'a, ContractPair>,
    counts: serde_json::Map<String, Value>,
    fails: bool,
    headline: String,
    moved: Each<'a, MovedCassette>,
    new: Value,
    old: Value,
    retape_report: u64,
    stale_approvals: Each<'a, Approval>,
    unreadable: Each<'a, Unreadable>,
}

/// Items that become JSON one after the other: there may be thousands.
struct Each<'a, T>(&'a [T], fn(&T) -> Value);

impl<T> Serialize for Each<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(self.1))
    }
}

/// A value with its members in the order of their names.
fn value(it: &impl Serialize) -> Value {
    serde_json::to_value(it).expect("all its names are text")
}

/// A change, and the fingerprint of the first one that is the same in another place.
fn change(change: &Change, group: &str) -> Value {
    let place = &change.place;
    // It was made by this library; if it were no JSON, it would be shown as text.
    let parsed = |text: &String| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    json!({
        "rule": change.rule.id(),
        "verdict": change.verdict,
        "direction": change.direction,
        "endpoint": place.endpoint.to_string(),
        "part": place.part,
        "cases": place.cases,
        "path": place.path,
        "what": change.what,
        "why": change.why,
        "brings": change.brings,
        "fingerprint": change.fingerprint,
        "group": group,
        "approved": change.approved,
        "trace": change.trace,
        "possible": change.possible.as_ref().map(|possible| {
            json!({"text": possible.text, "schema": parsed(&possible.json_schema)})
        }),
        "example": change.example.as_ref().map(parsed),
        "witnesses": change.witnesses,
    })
}
