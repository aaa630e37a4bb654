//! JUnit XML, which most build servers show.

use super::markup;
use super::told::{lines, unreadable};
use crate::review::change::{Group, Report, Unreadable};
use crate::review::report::line::visible;

/// Shows a report as JUnit XML: one test for each change in all its places, which fails unless it is approved or breaks
/// nothing. A cassette that could not be read is an error. Approvals that are stale are skipped tests.
pub(super) fn junit(report: &Report) -> String {
    let groups = report.groups();
    let failures = groups.iter().filter(|group| report.fails_by(group.change)).count();
    let test = |group| test(group, report);
    let mut tests: Vec<String> = report.unreadable.iter().map(unread).collect();
    tests.extend(groups.iter().map(test));
    tests.extend(report.stale.iter().map(|approval| {
        let name = format!("approval {} matches no change any more", approval.fingerprint);
        let reason = text(&approval.reason);
        format!(
            "    <testcase classname=\"approvals\" name=\"{}\"><skipped message=\"{reason}\"/></testcase>\n",
            text(&name)
        )
    }));
    if tests.is_empty() {
        let passed = "    <testcase classname=\"retape\" name=\"no change in any promise\"/>\n";
        tests.push(passed.to_owned());
    }
    let counted = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{}\" skipped=\"{}\"",
        tests.len(),
        report.unreadable.len(),
        report.stale.len()
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"retape\" {counted}>\n  \
         <testsuite name=\"retape diff\" {counted}>\n{}  </testsuite>\n</testsuites>\n",
        tests.concat()
    )
}

fn unread(cassette: &Unreadable) -> String {
    let (file, message) = (text(&cassette.file), text(&unreadable(cassette)));
    format!(
        "    <testcase classname=\"cassettes\" name=\"{file} can be read\">\
         <error message=\"{message}\" type=\"unreadable\"/></testcase>\n"
    )
}

fn test(group: &Group<'_>, report: &Report) -> String {
    let change = group.change;
    let class = text(&change.place.endpoint.to_string());
    let cases = change.place.cases.join("; ");
    let case = if cases.is_empty() { cases } else { format!(" ({cases})") };
    let name = text(&format!("{}: {}{case} [{}]", change.rule, change.what, change.fingerprint));
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\">");
    let said = text(&lines(group).join("\n"));
    let body = if report.fails_by(change) {
        let message = text(&format!("{}: {}", change.verdict.as_str(), change.what));
        format!("<failure message=\"{message}\" type=\"{}\">{said}</failure>", change.rule)
    } else {
        format!("<system-out>{said}</system-out>")
    };
    format!("{head}{body}</testcase>\n")
}

/// A text in XML, in an element or an attribute. What XML 1.0 cannot hold is spelled out.
fn text(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    lines.join("&#10;")
}

fn escaped(line: &str) -> String {
    markup::escaped(&visible(line), |c| match c {
        '\'' => Some("&apos;"),
        '\u{fffe}' | '\u{ffff}' => Some("\u{fffd}"),
        c => markup::entity(c),
    })
}
