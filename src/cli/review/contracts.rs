//! Contracts that are new, broken or orphaned.

use std::path::Path;

use super::walk::{Decision, Keys};
use super::{Talk, decide, sum_up};
use crate::assert;
use crate::cli::{Exit, contracts, tell};
use crate::contract::Finding;
use crate::error::Result;
use crate::review::change::{Change, Verdict};
use crate::review::report;
use crate::store;
use crate::store::mode::Update;

const TALK: Talk = Talk {
    accept: "accept",
    accepted: "accepted",
    accepting: "what was recorded becomes the contract",
    rejecting: "it waits no longer, and the accepted contract stays as it is",
};

/// Lets somebody decide about what the cassettes of a folder show that is not as accepted.
pub(super) fn review(folder: &Path, keys: &mut Keys) -> Result<Exit> {
    let mut checked = assert::checked(folder, None)?;
    tell::unread(std::mem::take(&mut checked.unread), Exit::Agrees)?;
    contracts::propose(folder, &checked, Update::unless_ci())?;
    // The worst comes first, as in the report.
    let mut findings: Vec<&Finding> = checked.findings.iter().collect();
    findings.sort_by_key(|finding| {
        let open = checked.changes(finding).filter(|change| change.approved.is_none());
        open.map(|change| change.verdict).min().unwrap_or(Verdict::Trim)
    });
    if findings.is_empty() {
        tell::line("all contracts are kept; there is nothing to review");
        return Ok(Exit::Agrees);
    }
    let accepted = store::contracts(folder)?;
    let show = |at: usize, options| {
        let finding = findings[at];
        let changes: Vec<&Change> = checked.changes(finding).collect();
        let page = report::Review {
            number: at + 1,
            total: findings.len(),
            finding,
            accepted: accepted.iter().find(|contract| contract.endpoint == *finding.endpoint()),
            changes: &changes,
        };
        report::review(&page, options)
    };
    let decisions = decide(findings.len(), keys, &TALK, show, |_, _, keys| {
        keys.echo(TALK.accepted);
        true
    });
    for (finding, decision) in findings.iter().zip(&decisions) {
        match decision {
            Some(Decision::Accepted) => contracts::accept(folder, finding)?,
            Some(Decision::Rejected) => store::reject(folder, finding.endpoint())?,
            Some(Decision::Skipped) | None => {}
        }
    }
    let exit = sum_up(&TALK, &decisions);
    if decisions.contains(&Some(Decision::Rejected)) {
        tell::hint(
            "what was rejected fails `retape check` until the server is mended and recorded again",
        );
    }
    Ok(exit)
}
