//! Contracts that are new, broken or orphaned.

use std::path::Path;

use super::keys::Keys;
use super::walk::Decision;
use super::{decide, sum_up};
use crate::cli::{Exit, contracts, tell};
use crate::contract::{Contract, Finding};
use crate::error::Result;
use crate::mode::Update;
use crate::{report, store};

/// Lets somebody decide about what the cassettes of a folder show that is not as accepted.
pub(super) fn review(folder: &Path, keys: &mut Keys) -> Result<Exit> {
    let findings = contracts::settle(folder, Update::unless_ci())?;
    if findings.is_empty() {
        tell::line("all contracts are kept; there is nothing to review");
        return Ok(Exit::Agrees);
    }
    let accepted = store::contracts(folder)?;
    let decisions = decide(findings.len(), keys, |at, options| {
        let page = report::Review {
            number: at + 1,
            total: findings.len(),
            finding: &findings[at],
            accepted: accepted_at(&accepted, &findings[at]),
        };
        report::review(&page, options)
    });
    for (finding, decision) in findings.iter().zip(&decisions) {
        match decision {
            Some(Decision::Accepted) => contracts::accept(folder, finding)?,
            Some(Decision::Rejected) => store::reject(folder, finding.endpoint())?,
            Some(Decision::Skipped) | None => {}
        }
    }
    let exit = sum_up(&decisions);
    if decisions.contains(&Some(Decision::Rejected)) {
        tell::hint(
            "what was rejected fails `retape check` until the server is mended and recorded again",
        );
    }
    Ok(exit)
}

fn accepted_at<'a>(accepted: &'a [Contract], finding: &Finding) -> Option<&'a Contract> {
    accepted.iter().find(|contract| contract.endpoint == *finding.endpoint())
}
