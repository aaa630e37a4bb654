//! What a check of contracts has found, for whoever decides about it.

use super::Colour;
use super::difference::changed_lines;
use super::line::{visible, width, wrap};
use super::style::Style;
use super::unit::count;
use crate::contract::{Breach, Contract, Finding};

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

/// Shows a finding: what it is, which recording shows it, and how the contract would change.
pub fn review(review: &Review<'_>, options: ReviewOptions) -> String {
    let width = options.width.max(NARROWEST);
    let mut page = Page { options: ReviewOptions { width, ..options }, text: String::new() };
    page.head(review);
    match review.finding {
        Finding::New(_) => page.line("  nothing is accepted here yet"),
        Finding::Orphaned(_) => {
            page.line("  no cassette shows it any more; to accept that is to remove the contract");
        }
        Finding::Broken { breaches, .. } => page.breaches(breaches),
    }
    page.difference(review);
    page.text
}

struct Page {
    options: ReviewOptions,
    text: String,
}

impl Page {
    fn head(&mut self, review: &Review<'_>) {
        let (style, word) = match review.finding {
            Finding::New(_) => (Style::Green, "new"),
            Finding::Broken { .. } => (Style::Red, "broken"),
            Finding::Orphaned(_) => (Style::Yellow, "orphan"),
        };
        let place = format!("{} of {}", review.number, review.total);
        let room = self.options.width.saturating_sub(width(&place) + width(word) + 3);
        let place = self.paint(Style::Bold, &place);
        let word = self.paint(style, word);
        let rule = self.paint(Style::Dim, &"─".repeat(room));
        self.line(&format!("{place}  {word} {rule}"));
        let endpoint = review.finding.endpoint().to_string();
        for line in wrap(&visible(&endpoint), self.options.width, usize::MAX) {
            let line = self.paint(Style::Bold, &line);
            self.line(&line);
        }
        self.line("");
    }

    fn breaches(&mut self, breaches: &[Breach]) {
        let told = match self.options.extent {
            Extent::Changed => BREACHES,
            Extent::Whole => usize::MAX,
        };
        for Breach { part, what, count: times, place } in breaches.iter().take(told) {
            self.told(2, Style::Plain, &format!("{part}: {what}"));
            let shown = match times {
                1 => place.clone(),
                _ => format!("{}, first {place}", count(*times, "answer")),
            };
            self.told(4, Style::Dim, &shown);
        }
        if breaches.len() > told {
            self.line(&format!("  … and {} more", breaches.len() - told));
        }
    }

    fn difference(&mut self, review: &Review<'_>) {
        let text = |contract: Option<&Contract>| contract.map(Contract::to_string);
        let (old, new) = (text(review.accepted), text(review.finding.proposed()));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let (context, most) = match self.options.extent {
            Extent::Changed => (CONTEXT, LINES),
            Extent::Whole => (old.len().max(new.len()), usize::MAX),
        };
        let lines = changed_lines(
            &old,
            &new,
            context,
            self.options.width.saturating_sub(2),
            self.options.colour,
        );
        self.line("");
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
