//! What cassettes show, beside the contracts that were accepted.

use std::path::Path;

use crate::cassette::{Cassette, Name};
use crate::contract::{self, Contract, Finding, Traffic};
use crate::error::{Error, Kind, Result};
use crate::message::Protocols;
use crate::store;

/// What cassettes show, beside what was accepted.
pub(crate) struct Checked {
    /// The accepted contracts that are kept.
    pub(crate) kept: Vec<Contract>,
    /// What is new, broken or orphaned.
    pub(crate) findings: Vec<Finding>,
}

/// Cassettes by their names.
type Loaded = Vec<(Name, Cassette)>;

/// What the cassettes of a folder show; of one file in it alone if there is `only` one to look at.
///
/// What would be the contract is learned from the whole folder in any case: one cassette shows less than
/// the server may do.
///
/// # Errors
///
/// If there is neither a cassette nor a contract, or one cannot be read.
pub(crate) fn checked(cassettes: &Path, only: Option<&Path>) -> Result<Checked> {
    let (loaded, accepted) = both(cassettes)?;
    let mut findings = contract::check(&traffic(cassettes, &loaded, &accepted)?, &accepted);
    let mut kept = accepted.clone();
    if let Some(only) = only {
        let is_it = |(name, _): &(Name, Cassette)| store::path_of(cassettes, name) == only;
        let one: Vec<_> = loaded.into_iter().filter(is_it).collect();
        if one.is_empty() {
            return Err(Error::new(Kind::NothingToCheck).at(only));
        }
        let one = traffic(cassettes, &one, &accepted)?;
        let shown = |contract: &Contract| one.endpoints().any(|it| *it == contract.endpoint);
        kept.retain(shown);
        let found = contract::check(&one, &kept);
        findings.retain(|whole| found.iter().any(|one| one.endpoint() == whole.endpoint()));
    }
    kept.retain(|contract| findings.iter().all(|it| *it.endpoint() != contract.endpoint));
    Ok(Checked { kept, findings })
}

/// What the cassettes of a folder show where nothing of it was accepted before: the contracts that are
/// meant are learned anew, and those are kept that come out as they were accepted. What is not meant is
/// checked.
///
/// # Errors
///
/// If there is neither a cassette nor a contract, or one cannot be read.
#[cfg(feature = "cli")]
pub(crate) fn learned(
    cassettes: &Path,
    is_meant: impl Fn(&contract::Endpoint) -> bool,
) -> Result<Checked> {
    let (loaded, accepted) = both(cassettes)?;
    let (meant, others): (Vec<Contract>, Vec<Contract>) =
        accepted.into_iter().partition(|contract| is_meant(&contract.endpoint));
    let traffic = traffic(cassettes, &loaded, &others)?;
    let mut findings = contract::check(&traffic, &others);
    let mut kept = others;
    for contract in meant {
        match findings.iter().position(|finding| *finding.endpoint() == contract.endpoint) {
            None => findings.push(Finding::Orphaned(contract.endpoint)),
            Some(at) if findings[at].proposed() == Some(&contract) => {
                findings.remove(at);
                kept.push(contract);
            }
            Some(_) => {}
        }
    }
    kept.retain(|contract| findings.iter().all(|it| *it.endpoint() != contract.endpoint));
    Ok(Checked { kept, findings })
}

/// The cassettes of a folder and the contracts that were accepted, of which there must be some.
fn both(cassettes: &Path) -> Result<(Loaded, Vec<Contract>)> {
    let (loaded, accepted) = (load(cassettes)?, store::contracts(cassettes)?);
    if loaded.is_empty() && accepted.is_empty() {
        // To keep no promise is easy: a misspelt folder would pass for ever.
        return Err(Error::new(Kind::NothingToCheck).at(cassettes).with_hint(
            "name the folder of the cassettes; a first one is recorded by `retape record`",
        ));
    }
    Ok((loaded, accepted))
}

/// All cassettes of a folder.
pub(crate) fn load(cassettes: &Path) -> Result<Loaded> {
    let names = store::list(cassettes).into_iter();
    names.map(|name| store::load(cassettes, &name).map(|cassette| (name, cassette))).collect()
}

/// What was recorded in cassettes, sorted by endpoint.
///
/// # Errors
///
/// If `retape.toml` cannot be read.
pub(crate) fn traffic(
    cassettes: &Path,
    loaded: &[(Name, Cassette)],
    accepted: &[Contract],
) -> Result<Traffic> {
    let protocols = Protocols::of(&store::find_config(cassettes)?);
    Ok(Traffic::of(&protocols, accepted, loaded.iter().map(|(name, cassette)| (name, cassette))))
}
