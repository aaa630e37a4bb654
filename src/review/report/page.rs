//! Where things stand on a page.

use super::gist::Gist;
use super::line::{cut, cut_middle, pad, pad_left, shorten_ids, visible, width, wrap};
use super::style::Style;
use super::summary::{Answer, Row, Summary};
use super::{ShowOptions, rules, unit};
use crate::cassette::{Cassette, Recorded};

/// The columns of a cassette's text.
pub(super) struct Page {
    pub(super) options: ShowOptions,
    number: usize,
    method: usize,
    path: usize,
    /// The most that a path can take.
    room: usize,
    body: usize,
    time: usize,
    paths: Paths,
}

/// Whether paths are shown with all of their ids.
#[derive(Clone, Copy)]
enum Paths {
    Full,
    Short,
}

/// How many lines a text may take.
#[derive(Clone, Copy)]
pub(super) struct Lines(pub(super) usize);

impl Page {
    pub(super) fn new(summary: &Summary, options: ShowOptions) -> Self {
        let rows = &summary.rows;
        let longest = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let answered = |of: fn(&Answer) -> usize| longest(&|row| row.answer.as_ref().map_or(0, of));
        let mut page = Self {
            options: ShowOptions { width: options.width.max(60), ..options },
            number: rows.len().to_string().len(),
            method: longest(&|row| width(&visible(&row.method))).min(7),
            path: 0,
            room: 0,
            body: answered(|it| width(&it.body)).min(24),
            time: answered(|it| width(&unit::time(it.ms))),
            paths: Paths::Full,
        };
        let fixed = page.number + page.method + page.body + page.time + "    000    ".len();
        page.room = page.options.width.saturating_sub(fixed);
        if longest(&|row| width(&visible(&row.path))) > page.room {
            page.paths = Paths::Short;
        }
        page.path = longest(&|row| width(&page.path_of(row).0)).min(page.room);
        page
    }

    /// Where the cassette comes from and what is in it.
    pub(super) fn head(&self, name: &str, cassette: &Cassette, summary: &Summary) -> Vec<String> {
        let mut counts = vec![unit::count(summary.rows.len(), "interaction")];
        if summary.streams > 0 {
            let messages = unit::count(summary.messages, "message");
            counts.push(format!("{} with {messages}", unit::count(summary.streams, "stream")));
        }
        if !cassette.redactions.is_empty() {
            counts.push(format!("redacted by {}", cassette.redactions.join(", ")));
        }
        let mut lines = vec![self.paint(Style::Bold, &visible(name))];
        let told = [origin(&cassette.recorded), counts.join(" · ")];
        for told in told.iter().filter(|told| !told.is_empty()) {
            lines.push(self.paint(Style::Dim, &cut(&visible(told), self.options.width)));
        }
        let said = rules::lines(&cassette.rules);
        for line in said.iter().flat_map(|line| wrap(line, self.options.width, usize::MAX)) {
            lines.push(self.paint(Style::Cyan, &line));
        }
        if cassette.interrupted {
            let told = "! the recorder was stopped before it had finished: the end may be missing";
            lines.push(self.paint(Style::Yellow, &cut(told, self.options.width)));
        }
        lines
    }

    /// An interaction without its bodies.
    pub(super) fn row(&self, number: usize, row: &Row) -> Vec<String> {
        let (path, query) = self.path_of(row);
        let mut lines = vec![self.first_line(number, row, &path)];
        if let Some(query) = query {
            lines.extend(self.hang(&self.lead(Style::Dim, "?"), Style::Dim, &query, Lines(2)));
        }
        if let Some(gist) = &row.asked {
            let arrow = self.lead(Style::Blue, "→");
            lines.extend(self.said(&arrow, Style::Plain, gist, Lines(2)));
        }
        if let Some(answer) = &row.answer {
            lines.extend(self.answer(answer));
        }
        for note in &row.notes {
            let mark = self.lead(Style::Yellow, "!");
            lines.extend(self.hang(&mark, Style::Yellow, note, Lines(3)));
        }
        lines
    }

    fn first_line(&self, number: usize, row: &Row, path: &str) -> String {
        let (status, style, body, time) = match &row.answer {
            Some(answer) => {
                let status = answer.status.to_string();
                (status, status_style(answer.status), answer.body.as_str(), unit::time(answer.ms))
            }
            None => ("---".to_owned(), Style::Red, "", String::new()),
        };
        let method = visible(&row.method);
        let line = format!(
            "{} {} {}  {}  {}  {}",
            self.paint(Style::Bold, &pad_left(&number.to_string(), self.number)),
            self.paint(Style::Bold, &pad(&cut(&method, self.method), self.method)),
            pad(&cut_middle(path, self.path), self.path),
            self.paint(style, &status),
            pad(&cut(&visible(body), self.body), self.body),
            self.paint(Style::Dim, &pad_left(&time, self.time)),
        );
        line.trim_end().to_owned()
    }

    /// A gist behind what leads the line; in short if it is JSON that does not fit.
    pub(super) fn said(&self, lead: &Lead, style: Style, gist: &Gist, most: Lines) -> Vec<String> {
        let full = gist.to_string();
        let room = self.options.width.saturating_sub(lead.width);
        match &gist.outline {
            Some(outline) if width(&full) > room => {
                self.hang(lead, style, &visible(outline), Lines(1))
            }
            _ => self.hang(lead, style, &full, most),
        }
    }

    /// A text behind what leads its first line; further lines hang below its beginning.
    pub(super) fn hang(&self, lead: &Lead, style: Style, text: &str, most: Lines) -> Vec<String> {
        let room = self.options.width.saturating_sub(lead.width);
        let parts = wrap(text, room, most.0);
        let line = |(place, part): (usize, &std::borrow::Cow<'_, str>)| {
            let before = if place == 0 { lead.text.clone() } else { " ".repeat(lead.width) };
            format!("{before}{}", self.paint(style, part)).trim_end().to_owned()
        };
        parts.iter().enumerate().map(line).collect()
    }

    /// The indent of all but the first line of an interaction, and a mark.
    pub(super) fn lead(&self, style: Style, mark: &str) -> Lead {
        let indent = " ".repeat(self.number + 1);
        let width = indent.len() + width(mark) + 1;
        Lead { text: format!("{indent}{} ", self.paint(style, mark)), width }
    }

    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        self.options.colour.paint(style, text)
    }

    /// The path, and its query if that has to stand on a line of its own.
    fn path_of(&self, row: &Row) -> (String, Option<String>) {
        let path = match self.paths {
            Paths::Full => visible(&row.path).into_owned(),
            Paths::Short => shorten_ids(&visible(&row.path)),
        };
        match path.split_once('?') {
            Some((before, query)) if width(&path) > self.room => {
                (format!("{before}?…"), Some(query.to_owned()))
            }
            _ => (path, None),
        }
    }
}

/// When it was recorded and where from, as far as that is known.
fn origin(recorded: &Recorded) -> String {
    let server = recorded.server.as_deref().unwrap_or_default();
    let parts =
        [("recorded ", recorded.at.as_str()), ("from ", &recorded.upstream), ("· ", server)];
    let known = parts.iter().filter(|(_, what)| !what.is_empty());
    let told: Vec<String> = known.map(|(before, what)| format!("{before}{what}")).collect();
    told.join(" ")
}

/// What stands at the beginning of a line, coloured or not.
pub(super) struct Lead {
    pub(super) text: String,
    /// How many columns it takes.
    pub(super) width: usize,
}

impl Lead {
    /// Adds to it.
    pub(super) fn and(mut self, painted: &str, columns: usize) -> Self {
        self.text.push_str(painted);
        self.width += columns;
        self
    }
}

pub(super) const fn status_style(status: u16) -> Style {
    match status {
        0..300 => Style::Green,
        300..400 => Style::Cyan,
        400..500 => Style::Yellow,
        _ => Style::Red,
    }
}
