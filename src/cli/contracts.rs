//! Contracts beside their cassettes: checked, proposed, accepted.

use std::path::Path;

use crate::contract::Finding;
use crate::error::Result;
use crate::store::mode::Update;
use crate::{assert, store};

/// Checks the cassettes of a folder, and writes what waits to be accepted.
pub(super) fn settle(cassettes: &Path, update: Update) -> Result<Vec<Finding>> {
    let findings = assert::checked(cassettes, None)?.findings;
    if update == Update::Propose {
        store::propose(cassettes, findings.iter().filter_map(Finding::proposed))?;
    }
    Ok(findings)
}

/// Makes what was found the accepted contract; an orphan is taken back.
pub(super) fn accept(cassettes: &Path, finding: &Finding) -> Result<()> {
    match (finding, finding.proposed()) {
        (_, Some(contract)) => store::accept(cassettes, contract),
        (Finding::Orphaned(endpoint), None) => store::forget(cassettes, endpoint),
        (_, None) => Ok(()),
    }
}
