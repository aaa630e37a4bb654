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
    let (style, word) = match finding {
        Finding::New(_) => (Style::Green, "new     "),
        Finding::Orphaned(_) => (Style::Yellow, "orphan  "),
        Finding::Broken { .. } => (Style::Red, "broken  "),
    };
    let mut lines =
        vec![format!("{}{}", colour.paint(style, word), visible(&finding.endpoint().to_string()))];
    match finding {
        Finding::New(_) => {}
        Finding::Orphaned(_) => lines.push("          no cassette shows it any more".to_owned()),
        Finding::Broken { breaches, .. } => {
            for breach in breaches.iter().take(TOLD) {
                lines.push(format!("          {}: {}", breach.part, visible(&breach.what)));
                let seen = colour.paint(Style::Dim, &visible(&seen(breach)));
                lines.push(format!("            {seen}"));
            }
            if breaches.len() > TOLD {
                lines.push(format!("          and {} more", breaches.len() - TOLD));
            }
        }
    }
    lines.join("\n") + "\n"
}

/// In how many answers it was seen, and where first.
pub(super) fn seen(breach: &Breach) -> String {
    match breach.count {
        1 => breach.place.clone(),
        times => format!("{}, first {}", count(times, "answer"), breach.place),
    }
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
