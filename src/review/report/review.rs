//! What a check of contracts has found, or what has changed, for whoever decides about it.

use super::Colour;
use super::difference::changed_lines;
use super::face::change_text;
use super::line::{visible, width, wrap};
use super::style::Style;
use super::unit::count;
use crate::contract::{Contract, Endpoint, Finding};
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
    let mut page = Page::new(options);
    page.head(review.number, review.total, (style, word), review.finding.endpoint());
    review.changes.iter().for_each(|change| page.change(change));
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
    page.difference(&old.unwrap_or_default(), &new.unwrap_or_default());
    page.text
}

/// Shows a change: what it means, which recording shows it, and how the contract has changed.
pub fn review_change(review: &ReviewChange<'_>, options: ReviewOptions) -> String {
    let change = review.change;
    let what = (style(Some(change.verdict)), change.verdict.as_str());
    let mut page = Page::new(options);
    page.head(review.number, review.total, what, &change.place.endpoint);
    page.change(change);
    if let Some(pair) = review.contract {
        let text = |side: &Option<String>| side.clone().unwrap_or_default();
        page.difference(&text(&pair.old), &text(&pair.new));
    }
    page.text
}

fn style(verdict: Option<Verdict>) -> Style {
    if verdict == Some(Verdict::Breaking) { Style::Red } else { Style::Yellow }
}

struct Page {
    options: ReviewOptions,
    text: String,
}

impl Page {
    fn new(options: ReviewOptions) -> Self {
        let width = options.width.max(NARROWEST);
        Self { options: ReviewOptions { width, ..options }, text: String::new() }
    }

    fn head(&mut self, number: usize, total: usize, what: (Style, &str), endpoint: &Endpoint) {
        let (style, word) = what;
        let place = format!("{number} of {total}");
        let room = self.options.width.saturating_sub(width(&place) + width(word) + 3);
        let place = self.paint(Style::Bold, &place);
        let word = self.paint(style, word);
        let rule = self.paint(Style::Dim, &"─".repeat(room));
        self.line(&format!("{place}  {word} {rule}"));
        self.told(0, Style::Bold, &endpoint.to_string());
        self.line("");
    }

    fn change(&mut self, change: &Change) {
        self.text.push_str(&change_text(change, self.options.colour));
        self.line("");
    }

    fn difference(&mut self, old: &str, new: &str) {
        let (context, most) = match self.options.extent {
            Extent::Changed => (CONTEXT, LINES),
            Extent::Whole => (old.len().max(new.len()), usize::MAX),
        };
        let room = self.options.width.saturating_sub(2);
        let lines = changed_lines(old, new, context, room, self.options.colour);
        lines.iter().take(most).for_each(|line| self.line(line));
        if lines.len() > most {
            let more = format!("  … and {}", count(lines.len() - most, "more line"));
            let more = self.paint(Style::Dim, &more);
            self.line(&more);
        }
    }

    /// Words in as many lines as they take.
    fn told(&mut self, indent: usize, style: Style, text: &str) {
        let room = self.options.width.saturating_sub(indent);
        for line in wrap(&visible(text), room, usize::MAX) {
            let line = self.paint(style, &line);
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        self.options.colour.paint(style, text)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}
