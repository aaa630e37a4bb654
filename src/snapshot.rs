//! Contracts in a test: checked like snapshots, accepted like snapshots.

use std::path::Path;

use crate::contract::{self, Contract, Finding, Traffic};
use crate::error::{Error, Kind, Result};
use crate::mode::Update;
use crate::report::{self, Colour};
use crate::store;

/// Checks that the cassettes of a folder keep the contracts that were accepted there.
///
/// What is new or broken waits beside the accepted contracts, in `contracts/NAME.snap.new`, for
/// `cargo insta review` or `retape accept`. `INSTA_UPDATE` says otherwise, as it does for insta's own
/// snapshots: `no` writes nothing, `always` accepts at once. Nothing is written where `CI` is set.
///
/// # Panics
///
/// If something is new or broken and was not accepted at once, if there is neither a cassette nor a
/// contract, or if one cannot be read or written.
///
/// # Example: what a server promised is still kept
///
/// ```
/// retape::assert_contracts("cassettes/letta"); // relative to the package
/// ```
#[track_caller]
pub fn assert_contracts(cassettes: impl AsRef<Path>) {
    let findings = match settle(cassettes.as_ref(), Update::from_env()) {
        Ok(findings) => findings,
        Err(error) => panic!("{error:?}"),
    };
    if !findings.is_empty() {
        let told = report::findings(&findings, Colour::Plain);
        panic!(
            "contracts are not kept\n\n{told}\nhint: if that is right, accept it: `cargo insta review` or `retape accept`"
        );
    }
}

/// Checks the cassettes of a folder, and writes what waits to be accepted, or accepts it.
pub(crate) fn settle(cassettes: &Path, update: Update) -> Result<Vec<Finding>> {
    let findings = findings(cassettes)?;
    match update {
        Update::Nothing => Ok(findings),
        Update::Propose => {
            store::propose(cassettes, findings.iter().filter_map(proposed))?;
            Ok(findings)
        }
        Update::Accept => {
            findings.iter().try_for_each(|finding| accept(cassettes, finding))?;
            Ok(Vec::new())
        }
    }
}

/// What the cassettes of a folder show, beside what was accepted.
///
/// # Errors
///
/// If there is neither a cassette nor a contract, or one cannot be read.
pub(crate) fn findings(cassettes: &Path) -> Result<Vec<Finding>> {
    let names = store::list(cassettes);
    let loaded = names.iter().map(|name| Ok((name, store::load(cassettes, name)?)));
    let loaded = loaded.collect::<Result<Vec<_>>>()?;
    let accepted = store::contracts(cassettes)?;
    if loaded.is_empty() && accepted.is_empty() {
        // To keep no promise is easy: a misspelt folder would pass for ever.
        return Err(Error::new(Kind::NothingToCheck).at(cassettes).with_hint(
            "name the folder of the cassettes; a first one is recorded by `retape record`",
        ));
    }
    let traffic = Traffic::of(loaded.iter().map(|(name, cassette)| (*name, cassette)));
    Ok(contract::check(&traffic, &accepted))
}

/// Makes what was found the accepted contract; an orphan is taken back.
pub(crate) fn accept(cassettes: &Path, finding: &Finding) -> Result<()> {
    match (finding, proposed(finding)) {
        (_, Some(contract)) => store::accept(cassettes, contract),
        (Finding::Orphaned(endpoint), None) => store::forget(cassettes, endpoint),
        (_, None) => Ok(()),
    }
}

fn proposed(finding: &Finding) -> Option<&Contract> {
    match finding {
        Finding::New(proposed) | Finding::Broken { proposed, .. } => Some(proposed),
        Finding::Orphaned(_) => None,
    }
}
