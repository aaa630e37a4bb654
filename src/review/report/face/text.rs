//! For a terminal.

use super::told::{cases, extent, headline, short, shown, trace};
use crate::contract::Endpoint;
use crate::review::change::{CassettePair, Change, InteractionPair, Report, State, Verdict};
use crate::review::report::Colour;
use crate::review::report::difference::hunk;
use crate::review::report::line::{cut, shorten_ids, visible, width, wrap};
use crate::review::report::style::Style;
use crate::review::report::unit::count;

/// The columns of a terminal.
const WIDTH: usize = 80;

/// So many changes, cassettes, and interactions of a cassette are told one by one.
const CHANGES: usize = 50;
const CASSETTES: usize = 50;
const INTERACTIONS: usize = 8;
const DIFFERENCES: usize = 8;

/// Shows a report on a terminal of 80 columns.
pub(super) fn text(report: &Report, colour: Colour) -> String {
    let mut page = Page { colour, text: String::new() };
    page.head(report);
    page.changes(report);
    page.stale(report);
    page.cassettes(report);
    page.text
}

/// One change alone.
pub(in crate::review::report) fn change_text(change: &Change, colour: Colour) -> String {
    let mut page = Page { colour, text: String::new() };
    page.change(change);
    page.text
}

struct Page {
    colour: Colour,
    text: String,
}

impl Page {
    fn head(&mut self, report: &Report) {
        let style = if report.fails() { Style::Red } else { Style::Green };
        let full = headline(report, &|endpoint| short(endpoint, usize::MAX));
        let beside = width(&full).saturating_sub(WIDTH);
        let line = headline(report, &|endpoint| {
            let whole = short(endpoint, usize::MAX);
            short(endpoint, width(&whole).saturating_sub(beside))
        });
        let line = cut(&visible(&line), WIDTH).into_owned();
        self.line(&self.colour.paint(style, &line));
        let is_told = [report.changes.len(), report.contracts.len(), report.cassettes.len()];
        if is_told != [0; 3] {
            for line in wrap(&extent(report, "; "), WIDTH, 3) {
                self.line(&line);
            }
        }
    }

    fn changes(&mut self, report: &Report) {
        let mut at: Option<&Endpoint> = None;
        for change in report.changes.iter().take(CHANGES) {
            if at != Some(&change.place.endpoint) {
                let head = visible(&change.place.endpoint.to_string()).into_owned();
                self.line("");
                self.line(&self.colour.paint(Style::Bold, &cut(&head, WIDTH)));
                at = Some(&change.place.endpoint);
            }
            self.change(change);
        }
        if report.changes.len() > CHANGES {
            self.line(&format!("\n… and {}", count(report.changes.len() - CHANGES, "more change")));
        }
    }

    fn change(&mut self, change: &Change) {
        let (style, word) = match (&change.approved, change.verdict) {
            (Some(_), _) => (Style::Dim, "approved"),
            (None, Verdict::Breaking) => (Style::Red, "breaking"),
            (None, Verdict::Unproven) => (Style::Yellow, "unproven"),
            (None, Verdict::Compatible) => (Style::Green, "compatible"),
            (None, Verdict::Trim) => (Style::Blue, "trim"),
        };
        let rule =
            self.colour.paint(Style::Dim, &format!("{} {}", change.rule, change.fingerprint));
        self.line(&format!("  {} {rule}", self.colour.paint(style, &format!("{word:<10}"))));
        self.told(&change.what);
        if let Some(cases) = cases(change, &|case| case.to_owned()) {
            self.told(&cases);
        }
        if let Some(trace) = trace(change) {
            self.told(&format!("trace: {trace}"));
        }
        if let Some(possible) = &change.possible {
            self.told(&format!("possible now: {}", possible.text));
        }
        if let Some(example) = &change.example {
            self.told(&format!("for example: {example}"));
        }
        if !change.why.is_empty() && change.verdict == Verdict::Unproven {
            self.told(&change.why);
        }
        if let Some(shown) = shown(change) {
            self.told(&shown);
        }
        if let Some(reason) = &change.approved {
            self.told(&format!("approved: {reason}"));
        }
    }

    fn stale(&mut self, report: &Report) {
        for approval in &report.stale {
            let said = format!("approval {} matches no change any more", approval.fingerprint);
            self.line("");
            self.line(&self.colour.paint(Style::Yellow, &visible(&said)));
            self.told(&format!("remove it; its reason was: {}", approval.reason));
        }
    }

    fn cassettes(&mut self, report: &Report) {
        for cassette in report.cassettes.iter().take(CASSETTES) {
            self.line("");
            self.cassette(cassette);
        }
        if report.cassettes.len() > CASSETTES {
            let more = count(report.cassettes.len() - CASSETTES, "more cassette");
            self.line(&format!("\n… and {more}"));
        }
    }

    fn cassette(&mut self, cassette: &CassettePair) {
        let total = cassette.same + cassette.interactions.len();
        let said = match cassette.state {
            State::New => format!("new, {}", count(total, "interaction")),
            State::Lost => format!("not there any more, {}", count(total, "interaction")),
            State::Kept => format!(
                "{} of {} changed",
                cassette.interactions.len(),
                count(total, "interaction")
            ),
        };
        let line = cut(&visible(&format!("{}: {said}", cassette.name)), WIDTH).into_owned();
        self.line(&self.colour.paint(Style::Bold, &line));
        if cassette.state != State::Kept {
            return;
        }
        cassette.interactions.iter().take(INTERACTIONS).for_each(|pair| self.interaction(pair));
        if cassette.interactions.len() > INTERACTIONS {
            self.told(&format!("… and {} more", cassette.interactions.len() - INTERACTIONS));
        }
    }

    fn interaction(&mut self, pair: &InteractionPair) {
        let Some(one) = pair.new.as_ref().or(pair.old.as_ref()) else { return };
        let state = match (&pair.old, &pair.new) {
            (None, _) => " (new)",
            (_, None) => " (not there any more)",
            _ => "",
        };
        let line = format!("#{} {} {}{state}", one.number, one.method, shorten_ids(&one.path));
        self.line(&format!("  {}", cut(&visible(&line), WIDTH - 2)));
        for difference in pair.differences.iter().take(DIFFERENCES) {
            self.told(&difference.at);
            let side = |value: &Option<String>| value.clone().unwrap_or_default();
            for line in hunk(&side(&difference.old), &side(&difference.new)) {
                let style = match line.as_bytes().first() {
                    Some(b'-') => Style::Red,
                    Some(b'+') => Style::Green,
                    _ => Style::Plain,
                };
                self.line(&format!("      {}", self.colour.paint(style, &line)));
            }
        }
        let left = pair.differences.len().saturating_sub(DIFFERENCES) + pair.more;
        if left > 0 {
            self.told(&format!("… and {}", count(left, "more difference")));
        }
    }

    /// Words below a change, in as many lines as they take, up to six.
    fn told(&mut self, text: &str) {
        let shown = visible(text).into_owned();
        for line in wrap(&shown, WIDTH - 4, 6) {
            self.line(&format!("    {line}"));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}
