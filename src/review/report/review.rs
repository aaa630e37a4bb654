//! What a check of contracts has found, or what has changed, for whoever decides about it.

use serde_json::{Value, json};

use super::Colour;
use super::difference::changed_lines;
use super::line::{Style, count, visible, width};
use super::page::Page;
use crate::contract::{Breach, Contract, Endpoint, Finding};
use crate::review::change::{Change, ContractPair, Verdict};

/// A finding that somebody decides about.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// Which of them it is, counted from 1.
    pub number: usize,
    /// How many there are.
    pub total: usize,
    /// What was found.
    pub finding: &'a Finding,
    /// What is accepted, if anything is.
    pub accepted: Option<&'a Contract>,
    /// What it means, change by change.
    pub changes: &'a [&'a Change],
}

/// A change that somebody decides about.
#[derive(Debug, Clone, Copy)]
pub struct ReviewChange<'a> {
    /// Which of them it is, counted from 1.
    pub number: usize,
    /// How many there are.
    pub total: usize,
    /// What changed.
    pub change: &'a Change,
    /// The contract in which it did, before and after, if its text is not the same.
    pub contract: Option<&'a ContractPair>,
}

/// How much of a finding is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// What is not as accepted, with a few lines around it.
    #[default]
    Changed,
    /// All of it, the whole contract too.
    Whole,
}

/// How a finding is shown.
#[derive(Debug, Clone, Copy)]
pub struct ReviewOptions {
    /// How much of it.
    pub extent: Extent,
    /// The columns of a line.
    pub width: usize,
    /// Whether it is coloured.
    pub colour: Colour,
}

/// So many breaches are told one by one, and so many lines of a text shown, before more is asked for.
const BREACHES: usize = 8;
const LINES: usize = 40;

/// So many equal lines stand around a change.
const CONTEXT: usize = 3;

/// No line is shorter, however narrow the terminal is.
const NARROWEST: usize = 40;

/// Shows a finding: what it means, which recording shows it, and how the contract would change.
pub fn review(review: &Review<'_>, options: ReviewOptions) -> String {
    let (style, word) = match review.finding {
        Finding::New(_) => (Style::Green, "new"),
        Finding::Broken { .. } => (Style::Red, "broken"),
        Finding::Orphaned(_) => (Style::Yellow, "orphan"),
    };
    let endpoint = review.finding.endpoint();
    let mut page = begun(options, review.number, review.total, (style, word), endpoint);
    review.changes.iter().for_each(|change| page.separate(change));
    match review.finding {
        Finding::New(_) => page.line("  nothing is accepted here yet"),
        Finding::Orphaned(_) => {
            page.line("  no cassette shows it any more; to accept that is to remove the contract");
        }
        Finding::Broken { breaches, .. } => page.breaches(breaches, options.extent),
    }
    page.line("");
    let text = |contract: Option<&Contract>| contract.map(Contract::to_string);
    let (old, new) = (text(review.accepted), text(review.finding.proposed()));
    page.difference(&old, &new, options.extent);
    page.text
}

/// Shows a change: what it means, which recording shows it, and how the contract has changed.
pub fn review_change(review: &ReviewChange<'_>, options: ReviewOptions) -> String {
    let change = review.change;
    let style = if change.verdict == Verdict::Breaking { Style::Red } else { Style::Yellow };
    let what = (style, change.verdict.as_str());
    let mut page = begun(options, review.number, review.total, what, &change.place.endpoint);
    page.separate(change);
    if let Some(pair) = review.contract {
        page.difference(&pair.old, &pair.new, options.extent);
    }
    page.text
}

/// A page with its head.
fn begun(
    options: ReviewOptions,
    number: usize,
    total: usize,
    (style, word): (Style, &str),
    endpoint: &Endpoint,
) -> Page {
    let mut page = Page::new(options.width.max(NARROWEST), options.colour);
    let place = format!("{number} of {total}");
    let room = page.width.saturating_sub(width(&place) + width(word) + 3);
    let place = page.paint(Style::Bold, &place);
    let word = page.paint(style, word);
    let rule = page.paint(Style::Dim, &"─".repeat(room));
    page.line(&format!("{place}  {word} {rule}"));
    page.told(0, Style::Bold, &endpoint.to_string(), usize::MAX);
    page.line("");
    page
}

impl Page {
    fn separate(&mut self, change: &Change) {
        self.change(change);
        self.line("");
    }

    fn breaches(&mut self, breaches: &[Breach], extent: Extent) {
        let told = match extent {
            Extent::Changed => BREACHES,
            Extent::Whole => usize::MAX,
        };
        for breach in breaches.iter().take(told) {
            self.told(2, Style::Plain, &format!("{}: {}", breach.part, breach.what), usize::MAX);
            self.told(4, Style::Dim, &seen(breach), usize::MAX);
        }
        if breaches.len() > told {
            self.line(&format!("  … and {} more", breaches.len() - told));
        }
    }

    fn difference(&mut self, old: &Option<String>, new: &Option<String>, extent: Extent) {
        let [old, new] = [old, new].map(|text| text.as_deref().unwrap_or_default());
        let (context, most) = match extent {
            Extent::Changed => (CONTEXT, LINES),
            Extent::Whole => (old.len().max(new.len()), usize::MAX),
        };
        let room = self.width.saturating_sub(2);
        let lines = changed_lines(old, new, context, room, self.colour);
        lines.iter().take(most).for_each(|line| self.line(line));
        if lines.len() > most {
            let more = format!("  … and {}", count(lines.len() - most, "more line"));
            self.line(&self.paint(Style::Dim, &more));
        }
    }
}

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
