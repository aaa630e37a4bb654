//! For a terminal.

use super::told::{self, Detail, details, extent, headline, short};
use crate::contract::Endpoint;
use crate::review::change::{CassettePair, Group, InteractionPair, Report, State, Verdict};
use crate::review::report::Colour;
use crate::review::report::difference::hunk;
use crate::review::report::line::{Style, count, cut, shorten_ids, visible, width, wrap};
use crate::review::report::page::Page;

/// The columns of a terminal.
const WIDTH: usize = 80;

/// So many changes, cassettes, and interactions of a cassette are told one by one.
const CHANGES: usize = 50;
const CASSETTES: usize = 50;
const INTERACTIONS: usize = 8;
const DIFFERENCES: usize = 8;

/// Words below a change take so many lines at most.
const LINES: usize = 6;

/// Shows a report on a terminal of 80 columns.
pub(super) fn text(report: &Report, colour: Colour) -> String {
    let mut page = Page::new(WIDTH, colour);
    page.report(report);
    page.text
}

impl Page {
    fn report(&mut self, report: &Report) {
        self.verdict(report);
        let mut at: Option<&Endpoint> = None;
        let groups = report.groups();
        for group in groups.iter().take(CHANGES) {
            let endpoint = &group.change.place.endpoint;
            if at != Some(endpoint) {
                self.line("");
                self.told(0, Style::Bold, &endpoint.to_string(), 3);
                at = Some(endpoint);
            }
            self.change(group);
        }
        self.more("\n", groups.len().saturating_sub(CHANGES), "more change");
        for approval in &report.stale {
            let said = format!("approval {} matches no change any more", approval.fingerprint);
            self.line("");
            self.line(&self.paint(Style::Yellow, &visible(&said)));
            self.below(&format!("remove it; its reason was: {}", approval.reason));
        }
        for cassette in report.cassettes.iter().take(CASSETTES) {
            self.line("");
            self.cassette(cassette);
        }
        self.more("\n", report.cassettes.len().saturating_sub(CASSETTES), "more cassette");
    }

    fn verdict(&mut self, report: &Report) {
        let style = if report.fails() { Style::Red } else { Style::Green };
        let full = headline(report, &|endpoint| short(endpoint, usize::MAX));
        let beside = width(&full).saturating_sub(WIDTH);
        let line = headline(report, &|endpoint| {
            let whole = short(endpoint, usize::MAX);
            short(endpoint, width(&whole).saturating_sub(beside))
        });
        // What does not fit on a line is told in several: what is missing stands at the end.
        let line = if width(&line) > WIDTH { full } else { line };
        self.told(0, style, &line, 3);
        let cassettes = report.cassettes.len() + report.moved.len();
        if [report.changes.len(), report.contracts.len(), cassettes] != [0; 3] {
            wrap(&extent(report, "; "), WIDTH, 3).iter().for_each(|line| self.line(line));
        }
        for cassette in report.unreadable.iter().skip(1).take(CASSETTES) {
            self.told(0, Style::Red, &format!("not read: {}", told::unreadable(cassette)), 3);
        }
    }

    /// One change alone.
    pub(in crate::review::report) fn change(&mut self, group: &Group<'_>) {
        let change = group.change;
        let (style, word) = match (&change.approved, change.verdict) {
            (Some(_), _) => (Style::Dim, "approved"),
            (None, Verdict::Breaking) => (Style::Red, "breaking"),
            (None, Verdict::Unproven) => (Style::Yellow, "unproven"),
            (None, Verdict::Compatible) => (Style::Green, "compatible"),
            (None, Verdict::Trim) => (Style::Blue, "trim"),
        };
        let rule = self.paint(Style::Dim, &format!("{} {}", change.rule, change.fingerprint));
        self.line(&format!("  {} {rule}", self.paint(style, &format!("{word:<10}"))));
        self.below(&change.what);
        for (detail, text) in details(group) {
            match detail {
                Detail::Why if change.verdict != Verdict::Unproven => {}
                Detail::Rule => {}
                _ => self.below(&detail.line(&text)),
            }
        }
    }

    fn cassette(&mut self, cassette: &CassettePair) {
        self.head(Style::Bold, &format!("{}: {}", cassette.name, told::cassette(cassette)));
        if cassette.state != State::Kept {
            return;
        }
        cassette.interactions.iter().take(INTERACTIONS).for_each(|pair| self.interaction(pair));
        if cassette.interactions.len() > INTERACTIONS {
            self.below(&format!("… and {} more", cassette.interactions.len() - INTERACTIONS));
        }
    }

    fn interaction(&mut self, pair: &InteractionPair) {
        let Some((one, state)) = told::one_of(pair) else { return };
        let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
        let line = format!("#{} {} {}{state}", one.number, one.method, shorten_ids(&one.path));
        self.line(&format!("  {}", cut(&visible(&line), WIDTH - 2)));
        for difference in pair.differences.iter().take(DIFFERENCES) {
            self.below(&difference.at);
            let side = |value: &Option<String>| value.clone().unwrap_or_default();
            for line in hunk(&side(&difference.old), &side(&difference.new)) {
                let style = match line.as_bytes().first() {
                    Some(b'-') => Style::Red,
                    Some(b'+') => Style::Green,
                    _ => Style::Plain,
                };
                self.line(&format!("      {}", self.paint(style, &line)));
            }
        }
        let left = pair.differences.len().saturating_sub(DIFFERENCES) + pair.more;
        self.more("    ", left, "more difference");
    }

    /// Words below what they are about.
    fn below(&mut self, text: &str) {
        self.told(4, Style::Plain, text, LINES);
    }

    fn more(&mut self, before: &str, left: usize, what: &str) {
        if left > 0 {
            self.line(&format!("{before}… and {}", count(left, what)));
        }
    }
}
