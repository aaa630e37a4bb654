//! Annotations of GitHub's workflows.

use super::told::{counts, file, headline, line, lines, route};
use crate::review::change::{Group, Report, Unreadable, Verdict};
use crate::review::report::line::visible;

/// GitHub shows so many annotations of a level in a step; the last one says how many there are.
const MOST: usize = 9;

/// Shows a report as workflow commands: an error for what could not be read or fails, a notice for what is unproven
/// and does not, and a notice about the rest.
pub(super) fn github(report: &Report) -> String {
    let mut text: String = report.unreadable.iter().take(MOST).map(unread).collect();
    for verdict in [Verdict::Breaking, Verdict::Unproven] {
        let mut all = report.groups();
        all.retain(|group| group.change.is_open() && group.change.verdict == verdict);
        let fails = all.iter().any(|group| report.fails_by(group.change));
        let level = if fails { "error" } else { "notice" };
        text.extend(all.iter().take(MOST).map(|group| annotation(report, group, level)));
        if all.len() > MOST {
            let more = format!("{} more changes are {}", all.len() - MOST, verdict.as_str());
            text.push_str(&format!("::{level} title=retape::{}\n", data(&more)));
        }
    }
    for approval in &report.stale {
        let said = format!("approval {} matches no change any more", approval.fingerprint);
        text.push_str(&format!("::notice title=retape::{}\n", data(&said)));
    }
    let said = format!("{} ({})", headline(report, &route), counts(report));
    text.push_str(&format!("::notice title=retape::{}\n", data(&said)));
    text
}

fn unread(cassette: &Unreadable) -> String {
    format!(
        "::error file={},line={},title=retape::this cassette could not be read: {}\n",
        property(&cassette.file),
        cassette.line.unwrap_or(1),
        data(&cassette.why)
    )
}

fn annotation(report: &Report, group: &Group<'_>, level: &str) -> String {
    let change = group.change;
    let title = format!("{}: {}", change.verdict.as_str(), change.rule);
    let file = file(report, change);
    let file = file.map(|file| format!("file={},line={},", property(&file), line(change)));
    format!(
        "::{level} {}title={}::{}\n",
        file.unwrap_or_default(),
        property(&title),
        data(&lines(group).join("\n"))
    )
}

/// What stands behind the second `::`.
fn data(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| visible(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
