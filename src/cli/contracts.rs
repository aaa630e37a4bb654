//! Contracts beside their cassettes: checked, proposed, accepted.

use std::path::Path;

use crate::assert::{self, Checked};
use crate::contract::Finding;
use crate::error::Result;
use crate::store;
use crate::store::mode::Update;

/// Checks the cassettes of a folder, and writes what waits to be accepted.
pub(super) fn settle(cassettes: &Path, update: Update) -> Result<Checked> {
    let checked = assert::checked(cassettes, None)?;
    // What a cassette shows that cannot be read is missing in what would wait.
    if update == Update::Propose && checked.unread.is_empty() {
        let open = checked.findings.iter().filter(|finding| checked.is_open(finding));
        store::propose(cassettes, open.filter_map(Finding::proposed))?;
    }
    Ok(checked)
}

/// Makes what was found the accepted contract; an orphan is taken back.
pub(super) fn accept(cassettes: &Path, finding: &Finding) -> Result<()> {
    match (finding, finding.proposed()) {
        (_, Some(contract)) => store::accept(cassettes, contract),
        (Finding::Orphaned(endpoint), None) => store::forget(cassettes, endpoint),
        (_, None) => Ok(()),
    }
}
