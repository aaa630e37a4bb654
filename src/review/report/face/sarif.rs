//! SARIF 2.1.0, which code hosts show among the alerts of a pull request.

use serde_json::{Value, json};

use super::told::{file, line, lines};
use crate::review::change::{Change, Group, Report, Rule, Unreadable, Verdict};
use crate::text::percent;

/// The schema of the format.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Shows a report as SARIF 2.1.0: one result for each change in all its places. What is approved is suppressed.
pub(super) fn sarif(report: &Report) -> String {
    let rules = Rule::ALL
        .iter()
        .map(|(_, id, summary)| json!({"id": id, "shortDescription": {"text": summary}}));
    let groups = report.groups();
    let results = groups.iter().map(|group| result(report, group));
    let driver = json!({
        "name": "retape",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules.collect::<Vec<_>>(),
    });
    let mut log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "results": results.collect::<Vec<_>>(),
        }],
    });
    if !report.unreadable.is_empty() {
        let told = report.unreadable.iter().map(notification);
        log["runs"][0]["invocations"] = json!([{
            "executionSuccessful": false,
            "toolExecutionNotifications": told.collect::<Vec<_>>(),
        }]);
    }
    format!("{log:#}\n")
}

/// What kept it from looking at all there is.
fn notification(cassette: &Unreadable) -> Value {
    json!({
        "level": "error",
        "message": {"text": format!("this cassette could not be read: {}", cassette.why)},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(&cassette.file)},
                "region": {"startLine": cassette.line.unwrap_or(1)},
            },
        }],
    })
}

fn result(report: &Report, group: &Group<'_>) -> Value {
    let change = group.change;
    let level = match change.verdict {
        Verdict::Breaking => "error",
        Verdict::Unproven => "warning",
        Verdict::Compatible | Verdict::Trim => "note",
    };
    let mut result = json!({
        "ruleId": change.rule.id(),
        "ruleIndex": change.rule as usize,
        "level": level,
        "message": {"text": lines(group).join("\n")},
        "locations": [location(report, change)],
        "partialFingerprints": {"retape/v1": change.fingerprint},
    });
    if !group.also.is_empty() {
        let also = group.also.iter().map(|change| location(report, change));
        result["relatedLocations"] = also.collect();
    }
    if let Some(reason) = &change.approved {
        result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    result
}

/// Where a change is seen, and in which promise.
fn location(report: &Report, change: &Change) -> Value {
    // Each result has to be somewhere.
    let folder = if report.new.path.is_empty() { "." } else { report.new.path.as_str() };
    let file = file(report, change).unwrap_or_else(|| folder.to_owned());
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&file)},
            "region": {"startLine": line(change)},
        },
        "logicalLocations": [{"fullyQualifiedName": logical(change)}],
    })
}

/// Where in the promise: endpoint, part and place.
fn logical(change: &Change) -> String {
    let place = &change.place;
    let path = if place.path.is_empty() { String::new() } else { format!(" {}", place.path) };
    format!("{} {}{path}", place.endpoint, place.part.as_str())
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    let segments = path.split('/').map(percent::encoded);
    segments.collect::<Vec<_>>().join("/")
}
