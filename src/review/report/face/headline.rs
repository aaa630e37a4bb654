//! The first words of a report: what a reviewer has to know if nothing else is read.

use crate::contract::Endpoint;
use crate::review::change::{Change, Report, Verdict};
use crate::review::report::unit::count;

/// The worst that changed, with its place, in a sentence without a full stop; what there is to say if
/// nothing did.
pub(super) fn headline(report: &Report, place: &dyn Fn(&Endpoint) -> String) -> String {
    let failing = report.changes.iter().find(|change| change.fails());
    match failing {
        Some(change) => format!("{}: {}", change.verdict.as_str(), sentence(change, place)),
        None if !report.changes.is_empty() => {
            format!("nothing that breaks a client: {}", counts(report))
        }
        None if report.cassettes.is_empty() && report.contracts.is_empty() => {
            "nothing changed".to_owned()
        }
        None => "nothing changed in what is promised".to_owned(),
    }
}

/// What changed, with its place: `POST /v1/chat ends after …`.
pub(super) fn sentence(change: &Change, place: &dyn Fn(&Endpoint) -> String) -> String {
    let at = place(&change.place.endpoint);
    match change.what.strip_prefix("the stream ").or_else(|| change.what.strip_prefix("it ")) {
        Some(rest) => format!("{at} {rest}"),
        None => format!("{at}: {}", change.what),
    }
}

/// What changed in the recordings, and how: `2 of 4 cassettes changed: 6 interactions differ in the answer`.
fn recorded(report: &Report) -> String {
    let changed = report.cassettes.len();
    if changed == 0 {
        return "no cassette changed".to_owned();
    }
    let (mut asked, mut answered, mut new, mut gone) = (0, 0, 0, 0);
    for pair in report.cassettes.iter().flat_map(|cassette| &cassette.interactions) {
        let in_request = pair.differences.iter().any(|it| it.at.starts_with("request "));
        *match (&pair.old, &pair.new) {
            (None, _) => &mut new,
            (_, None) => &mut gone,
            _ if in_request => &mut asked,
            _ => &mut answered,
        } += 1;
    }
    let how = [
        (answered, "in the answer", "differs", "differ"),
        (asked, "in the request", "differs", "differ"),
        (new, "new", "is", "are"),
        (gone, "not there any more", "is", "are"),
    ];
    let how = how.iter().filter(|(number, ..)| *number > 0);
    let how = how.map(|(number, what, one, more)| {
        format!(
            "{} {} {what}",
            count(*number, "interaction"),
            if *number == 1 { one } else { more }
        )
    });
    let how: Vec<String> = how.collect();
    let all = count(report.new.cassettes.max(changed), "cassette");
    format!("{changed} of {all} changed: {}", how.join(", "))
}

/// How much changed in promises and in recordings, for the line below the first.
pub(super) fn extent(report: &Report, separator: &str) -> String {
    let promised = match (report.changes.is_empty(), report.contracts.len()) {
        (true, 0) => None,
        (true, number) => Some(format!("{} in other words", count(number, "contract"))),
        _ => Some(counts(report)),
    };
    let parts: Vec<String> = promised.into_iter().chain([recorded(report)]).collect();
    parts.join(separator)
}

/// `2 breaking, 1 unproven, 3 compatible, 1 trim, 1 approved`: those there are.
pub(super) fn counts(report: &Report) -> String {
    let counted = Verdict::ALL.map(|verdict| (report.count(verdict), verdict.as_str()));
    let all = counted.into_iter().chain([(report.approved(), "approved")]);
    let said: Vec<String> = all
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    match said.is_empty() {
        true => "no change in any promise".to_owned(),
        false => said.join(", "),
    }
}
