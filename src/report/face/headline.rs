//! The first words of a report: what a reviewer has to know if nothing else is read.

use crate::change::{Change, Report, Verdict};
use crate::contract::Endpoint;
use crate::report::unit::count;

/// The worst that changed, with its place, in a sentence without a full stop; what there is to say if
/// nothing did.
pub(super) fn headline(report: &Report, place: &dyn Fn(&Endpoint) -> String) -> String {
    let failing = report.changes.iter().find(|change| change.fails());
    match failing {
        Some(change) => format!("{}: {}", change.verdict.as_str(), sentence(change, place)),
        None if report.changes.is_empty() => match report.cassettes.len() {
            0 => "nothing changed".to_owned(),
            changed => format!("all promises are kept; {} changed", count(changed, "cassette")),
        },
        None => format!("nothing that breaks a client: {}", counts(report)),
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
