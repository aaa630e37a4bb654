//! How much of a server the cassettes show: as text, as Markdown and as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Colour;
use super::line::{Style, count, pad, pad_left, visible, wrap};
use crate::review::coverage::{Answer, Coverage, Endpoint, Exercised, Missing, Share};

const WIDTH: usize = 80;

/// How wide the statuses and media types stand.
const KIND: usize = 40;

/// Tells what was recorded and, beside a document, what was not.
pub fn coverage(exercised: &Exercised, against: Option<&Coverage<'_>>, colour: Colour) -> String {
    let mut text = format!("{}\n", total(exercised));
    for endpoint in &exercised.endpoints {
        text.push_str(&endpoint_text(endpoint, colour));
    }
    if let Some(coverage) = against {
        text.push_str(&coverage_text(coverage, colour));
    }
    text
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

fn endpoint_text(endpoint: &Endpoint, colour: Colour) -> String {
    let Endpoint { method, path, asked, answers } = endpoint;
    let head = colour.paint(Style::Bold, &format!("{method} {}", visible(path)));
    let mut text = format!("\n{head}\n");
    if !asked.is_empty() {
        text.push_str(&tallies("  asked ", asked, colour));
    }
    for answer in answers {
        text.push_str(&answer_text(answer, colour));
    }
    text
}

fn answer_text(answer: &Answer, colour: Colour) -> String {
    let Answer { status, media, count: times, cut, messages } = answer;
    let kind = format!("{status} {}", visible(media));
    let cut = if *cut > 0 { format!(", {cut} cut short") } else { String::new() };
    let mut text = format!("  {}{}{cut}\n", pad(kind.trim_end(), KIND), count(*times, "answer"));
    if !messages.is_empty() {
        text.push_str(&tallies("    ", messages, colour));
    }
    text
}

/// Names with how often each came, in as many lines as it takes.
fn tallies(lead: &str, tallies: &BTreeMap<String, usize>, colour: Colour) -> String {
    let all: Vec<String> =
        tallies.iter().map(|(name, times)| format!("{}\u{a0}{times}", visible(name))).collect();
    let lines = wrap(&all.join(", "), WIDTH - lead.len(), usize::MAX)
        .into_iter()
        .map(|line| line.replace('\u{a0}', " "))
        .map(|line| colour.paint(Style::Dim, line.trim_end()))
        .collect::<Vec<_>>();
    format!("{lead}{}\n", lines.join(&format!("\n{}", " ".repeat(lead.len()))))
}

fn coverage_text(coverage: &Coverage<'_>, colour: Colour) -> String {
    let title = [&coverage.document.title, &coverage.document.version].map(|it| visible(it));
    let title = format!("of {}", title.join(" "));
    let mut text = format!("\n{}\n", colour.paint(Style::Bold, title.trim_end()));
    for (name, share) in shares(coverage) {
        text.push_str(&share_text(name, share));
    }
    if !coverage.document.elsewhere.is_empty() {
        let files = coverage.document.elsewhere.len();
        text.push_str(&format!("  {} to other files not followed\n", count(files, "reference")));
    }
    text.push_str(&section("recorded in part", partly(coverage), colour));
    text.push_str(&section("not recorded", never(coverage), colour));
    text.push_str(&section("recorded, not in the document", undocumented(coverage), colour));
    text
}

/// What is counted, by name.
fn shares(coverage: &Coverage<'_>) -> [(&'static str, Share); 3] {
    [
        ("operations", coverage.operations()),
        ("statuses", coverage.responses()),
        ("media types", coverage.media()),
    ]
}

fn share_text(name: &str, share: Share) -> String {
    let Share { exercised, all } = share;
    let share = pad_left(&format!("{:.0} %", share.percent().floor()), 7);
    format!(
        "  {}{} of {}{share}\n",
        pad(name, 14),
        pad_left(&exercised.to_string(), 5),
        pad_left(&all.to_string(), 4)
    )
}

fn section(name: &str, lines: Vec<String>, colour: Colour) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.into_iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{}\n{lines}", colour.paint(Style::Bold, name))
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
