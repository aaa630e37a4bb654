//! How much of a server the cassettes show, as Markdown.

use super::coverage::{missing_text, shares, total};
use super::line::visible;
use crate::review::coverage::{Coverage, Exercised};

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
        text.push_str(&coverage_text(coverage));
    }
    text
}

fn coverage_text(coverage: &Coverage<'_>) -> String {
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
