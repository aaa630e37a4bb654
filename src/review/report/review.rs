//! What a check of contracts has found, or what has changed, for whoever decides about it.

use super::Colour;
use super::difference::changed_lines;
use super::line::{Style, count, width};
use super::page::Page;
use crate::contract::{Contract, Endpoint, Finding};
use crate::review::change::{Change, ContractPair, Group, Verdict};

/// A finding that somebody decides about.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ReviewChange<'a> {
    /// Which of them it is, counted from 1.
    pub number: usize,
    /// How many there are.
    pub total: usize,
    /// What changed, in all its places.
    pub group: &'a Group<'a>,
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

/// So many lines of a text are shown before more is asked for.
const LINES: usize = 40;

/// So many equal lines stand around a change.
const CONTEXT: usize = 3;

/// No line is shorter, however narrow the terminal is.
const NARROWEST: usize = 40;

/// Shows a finding: what it means, which recording shows it, and how the contract would change.
pub fn review(review: &Review<'_>, options: ReviewOptions) -> String {
    let worst = review.changes.iter().map(|change| change.verdict).min();
    let (style, word) = match review.finding {
        Finding::New(_) => (Style::Green, "new"),
        Finding::Changed(_) => (style(worst), worst.map_or("changed", Verdict::as_str)),
        Finding::Orphaned(_) => (Style::Yellow, "orphan"),
    };
    let endpoint = review.finding.endpoint();
    let mut page = begun(options, review.number, review.total, (style, word), endpoint);
    review.changes.iter().for_each(|change| page.separate(&Group::alone(change)));
    match review.finding {
        Finding::New(_) => page.line("  nothing is accepted here yet"),
        Finding::Orphaned(_) => {
            page.line("  no cassette shows it any more; to accept that is to remove the contract");
        }
        Finding::Changed(_) => {}
    }
    page.line("");
    let text = |contract: Option<&Contract>| contract.map(Contract::to_string);
    let (old, new) = (text(review.accepted), text(review.finding.proposed()));
    page.difference(&old, &new, options.extent);
    page.text
}

/// Shows a change: what it means, which recording shows it, and how the contract has changed.
pub fn review_change(review: &ReviewChange<'_>, options: ReviewOptions) -> String {
    let change = review.group.change;
    let what = (style(Some(change.verdict)), change.verdict.as_str());
    let mut page = begun(options, review.number, review.total, what, &change.place.endpoint);
    page.separate(review.group);
    if let Some(pair) = review.contract {
        page.difference(&pair.old, &pair.new, options.extent);
    }
    page.text
}

fn style(verdict: Option<Verdict>) -> Style {
    if verdict == Some(Verdict::Breaking) { Style::Red } else { Style::Yellow }
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
    fn separate(&mut self, group: &Group<'_>) {
        self.change(group);
        self.line("");
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
