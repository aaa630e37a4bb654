//! What a check of contracts has found: as text and as JSON.

use serde_json::{Value, json};

use super::Colour;
use super::line::visible;
use super::style::Style;
use super::unit::count;
use crate::contract::{Breach, Finding};

/// So many breaches of one endpoint are told one by one.
const TOLD: usize = 8;

/// Tells what a check has found.
pub fn findings(findings: &[Finding], colour: Colour) -> String {
    findings.iter().map(|finding| finding_text(finding, colour)).collect::<Vec<_>>().join("\n")
}

fn finding_text(finding: &Finding, colour: Colour) -> String {
    match finding {
        Finding::New(contract) => {
            let head = colour.paint(Style::Green, "new");
            format!("{head}     {}\n", visible(&contract.endpoint.to_string()))
        }
        Finding::Orphaned(endpoint) => {
            let head = colour.paint(Style::Yellow, "orphan");
            format!(
                "{head}  {}\n          no cassette shows it any more\n",
                visible(&endpoint.to_string())
            )
        }
        Finding::Broken { proposed, breaches } => {
            let head = colour.paint(Style::Red, "broken");
            let mut text = format!("{head}  {}\n", visible(&proposed.endpoint.to_string()));
            for breach in breaches.iter().take(TOLD) {
                text.push_str(&breach_text(breach, colour));
            }
            if breaches.len() > TOLD {
                text.push_str(&format!("          and {} more\n", breaches.len() - TOLD));
            }
            text
        }
    }
}

fn breach_text(breach: &Breach, colour: Colour) -> String {
    let Breach { part, what, count: times, place } = breach;
    let where_ = match times {
        1 => visible(place).into_owned(),
        _ => format!("{}, first {}", count(*times, "answer"), visible(place)),
    };
    let where_ = colour.paint(Style::Dim, &where_);
    format!("          {part}: {}\n            {where_}\n", visible(what))
}

/// Tells what a check has found.
pub fn findings_to_json(findings: &[Finding]) -> Value {
    let told = findings.iter().map(|finding| {
        let endpoint = finding.endpoint().to_string();
        match finding {
            Finding::New(_) => json!({"kind": "new", "endpoint": endpoint}),
            Finding::Orphaned(_) => json!({"kind": "orphan", "endpoint": endpoint}),
            Finding::Broken { breaches, .. } => {
                let breaches = breaches.iter().map(|breach| {
                    json!({
                        "part": breach.part,
                        "what": breach.what,
                        "answers": breach.count,
                        "first": breach.place,
                    })
                });
                let breaches: Value = breaches.collect();
                json!({"kind": "broken", "endpoint": endpoint, "breaches": breaches})
            }
        }
    });
    told.collect()
}
