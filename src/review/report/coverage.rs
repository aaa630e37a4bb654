//! How much of a server the cassettes show: as text, as Markdown and as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Colour;
use super::line::{Style, count, pad, pad_left, visible, wrap};
use super::page::Page;
use crate::review::coverage::{Answer, Coverage, Endpoint, Exercised, Missing, Share};

const WIDTH: usize = 80;

/// How wide the statuses and media types stand.
const KIND: usize = 40;

/// Tells what was recorded and, beside a document, what was not.
pub fn coverage(exercised: &Exercised, against: Option<&Coverage<'_>>, colour: Colour) -> String {
    let mut page = Page::new(WIDTH, colour);
    page.line(&total(exercised));
    exercised.endpoints.iter().for_each(|endpoint| page.exercised(endpoint));
    against.into_iter().for_each(|coverage| page.coverage(coverage));
    page.text
}

/// What there is, in a line.
fn total(exercised: &Exercised) -> String {
    let mut parts = vec![
        count(exercised.cassettes, "cassette"),
        count(exercised.endpoints.len(), "endpoint"),
        count(exercised.answers(), "answer"),
    ];
    if exercised.unanswered > 0 {
        parts.push(format!("{} without an answer", count(exercised.unanswered, "request")));
    }
    parts.join(", ")
}

impl Page {
    fn exercised(&mut self, endpoint: &Endpoint) {
        let Endpoint { method, path, asked, answers } = endpoint;
        self.title(&format!("{method} {}", visible(path)));
        self.tallies("  asked ", asked);
        for Answer { status, media, count: times, cut, messages } in answers {
            let kind = format!("{status} {}", visible(media));
            let cut = if *cut > 0 { format!(", {cut} cut short") } else { String::new() };
            let answers = count(*times, "answer");
            self.line(&format!("  {}{answers}{cut}", pad(kind.trim_end(), KIND)));
            self.tallies("    ", messages);
        }
    }

    /// Names with how often each came, in as many lines as it takes.
    fn tallies(&mut self, lead: &str, tallies: &BTreeMap<String, usize>) {
        let all = tallies.iter().map(|(name, times)| format!("{}\u{a0}{times}", visible(name)));
        let all = all.collect::<Vec<_>>().join(", ");
        let lines =
            if all.is_empty() { vec![] } else { wrap(&all, WIDTH - lead.len(), usize::MAX) };
        for (at, line) in lines.iter().enumerate() {
            let line = self.paint(Style::Dim, line.replace('\u{a0}', " ").trim_end());
            let lead = if at == 0 { lead.to_owned() } else { " ".repeat(lead.len()) };
            self.line(&format!("{lead}{line}"));
        }
    }

    fn coverage(&mut self, coverage: &Coverage<'_>) {
        let document = coverage.document;
        let title = [&document.title, &document.version].map(|it| visible(it));
        self.title(format!("of {}", title.join(" ")).trim_end());
        for (name, Share { exercised, all }) in shares(coverage) {
            let percent = Share { exercised, all }.percent().floor();
            let (exercised, all) = (exercised.to_string(), all.to_string());
            self.line(&format!(
                "  {}{} of {}{}",
                pad(name, 14),
                pad_left(&exercised, 5),
                pad_left(&all, 4),
                pad_left(&format!("{percent:.0} %"), 7)
            ));
        }
        if !document.elsewhere.is_empty() {
            let files = count(document.elsewhere.len(), "reference");
            self.line(&format!("  {files} to other files not followed"));
        }
        self.section("recorded in part", partly(coverage));
        self.section("not recorded", never(coverage));
        self.section("recorded, not in the document", undocumented(coverage));
    }

    fn section(&mut self, name: &str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.title(name);
        }
        lines.iter().for_each(|line| self.line(&format!("  {line}")));
    }

    fn title(&mut self, title: &str) {
        self.line("");
        self.line(&self.paint(Style::Bold, title));
    }
}

/// What is counted, by name.
fn shares(coverage: &Coverage<'_>) -> [(&'static str, Share); 3] {
    [
        ("operations", coverage.operations()),
        ("statuses", coverage.responses()),
        ("media types", coverage.media()),
    ]
}

fn partly(coverage: &Coverage<'_>) -> Vec<String> {
    let rows = coverage.rows().filter(|row| row.count > 0 && !row.missing.is_empty());
    let lines = rows.map(|row| {
        let missing: Vec<String> = row.missing.iter().map(missing_text).collect();
        let operation = operation_text(&row.operation.method, &row.operation.path);
        format!("{operation}\n      no {}", missing.join(", "))
    });
    lines.collect()
}

/// A status, and the media type where only that is missing.
fn missing_text(missing: &Missing<'_>) -> String {
    let media = missing.media.map(|media| format!(" {media}")).unwrap_or_default();
    visible(&format!("{}{media}", missing.status)).into_owned()
}

fn never(coverage: &Coverage<'_>) -> Vec<String> {
    let rows = coverage.rows().filter(|row| row.count == 0);
    rows.map(|row| operation_text(&row.operation.method, &row.operation.path)).collect()
}

fn undocumented(coverage: &Coverage<'_>) -> Vec<String> {
    let lines = coverage.undocumented.iter().map(|unknown| {
        let status = unknown.status.map(|status| format!(" -> {status}")).unwrap_or_default();
        let media = unknown.media.as_ref().map(|media| format!(" {media}")).unwrap_or_default();
        let operation = operation_text(&unknown.method, &unknown.path);
        format!(
            "{operation}{}  ({})",
            visible(&format!("{status}{media}")),
            count(unknown.count, "answer")
        )
    });
    lines.collect()
}

fn operation_text(method: &str, path: &str) -> String {
    format!("{} {}", pad(&visible(method), 6), visible(path))
}

/// Tells what was recorded and, beside a document, what was not, as tables.
pub fn coverage_to_markdown(exercised: &Exercised, against: Option<&Coverage<'_>>) -> String {
    let mut text = format!("{}\n\n", total(exercised));
    text.push_str(
        "| endpoint | status | media type | answers | messages |\n|---|---|---|---|---|\n",
    );
    for endpoint in &exercised.endpoints {
        for answer in &endpoint.answers {
            let messages = answer.messages.iter();
            let messages: Vec<String> =
                messages.map(|(name, times)| format!("{} {times}", code(name))).collect();
            text.push_str(&row(&[
                code(&format!("{} {}", endpoint.method, endpoint.path)),
                answer.status.to_string(),
                cell(&answer.media),
                answer.count.to_string(),
                messages.join(", "),
            ]));
        }
    }
    if let Some(coverage) = against {
        text.push_str(&coverage_tables(coverage));
    }
    text
}

fn coverage_tables(coverage: &Coverage<'_>) -> String {
    let document = coverage.document;
    let title = cell(&format!("{} {}", document.title, document.version));
    let mut text = format!("\n| {title} | recorded | of | |\n|---|---|---|---|\n");
    for (name, share) in shares(coverage) {
        let percent = format!("{:.0} %", share.percent().floor());
        let numbers = [share.exercised.to_string(), share.all.to_string(), percent];
        text.push_str(&row(&[&[name.to_owned()][..], &numbers].concat()));
    }
    text.push_str("\n| operation | answers | never came |\n|---|---|---|\n");
    for it in coverage.rows() {
        let missing: Vec<String> = it.missing.iter().map(missing_text).collect();
        text.push_str(&row(&[
            code(&format!("{} {}", it.operation.method, it.operation.path)),
            it.count.to_string(),
            if it.count == 0 { "not recorded".to_owned() } else { cell(&missing.join(", ")) },
        ]));
    }
    if !coverage.undocumented.is_empty() {
        text.push_str(
            "\n| not in the document | status | media type | answers |\n|---|---|---|---|\n",
        );
    }
    for unknown in &coverage.undocumented {
        text.push_str(&row(&[
            code(&format!("{} {}", unknown.method, unknown.path)),
            unknown.status.map(|status| status.to_string()).unwrap_or_default(),
            cell(unknown.media.as_deref().unwrap_or_default()),
            unknown.count.to_string(),
        ]));
    }
    text
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Text that stays within its cell.
fn cell(text: &str) -> String {
    visible(text).replace('|', "\\|")
}

fn code(text: &str) -> String {
    format!("`{}`", cell(text).replace('`', "'"))
}

/// Tells what was recorded and, beside a document, what was not, as JSON.
pub fn coverage_to_json(exercised: &Exercised, against: Option<&Coverage<'_>>) -> Value {
    let mut told = json!({
        "cassettes": exercised.cassettes,
        "answers": exercised.answers(),
        "unanswered": exercised.unanswered,
        "endpoints": exercised.endpoints,
    });
    if let Some(coverage) = against {
        told["openapi"] = coverage_json(coverage);
    }
    told
}

fn coverage_json(coverage: &Coverage<'_>) -> Value {
    let shares = shares(coverage).map(|(name, share)| {
        let Share { exercised, all } = share;
        let share = json!({"exercised": exercised, "all": all, "percent": share.percent()});
        (name.replace(' ', "_"), share)
    });
    let operations = coverage.rows().map(|row| {
        json!({
            "method": row.operation.method,
            "path": row.operation.path,
            "answers": row.count,
            "missing": row.missing,
        })
    });
    json!({
        "title": coverage.document.title,
        "version": coverage.document.version,
        "coverage": shares.into_iter().collect::<Value>(),
        "operations": operations.collect::<Value>(),
        "undocumented": coverage.undocumented,
        "not_followed": coverage.document.elsewhere,
    })
}
