//! What cassettes show, beside the contracts that were accepted.

use std::path::Path;

use crate::cassette::{Cassette, Name};
#[cfg(feature = "cli")]
use crate::contract;
use crate::contract::{Contract, Finding, Traffic};
use crate::error::{Error, Kind, Result};
use crate::message::Protocols;
use crate::review::change::{self, Change, Known, Report};
use crate::store;

/// What cassettes show, beside what was accepted.
pub(crate) struct Checked {
    /// The accepted contracts that nothing fails.
    pub(crate) kept: Vec<Contract>,
    /// What is new, not as accepted, or not recorded any more.
    pub(crate) findings: Vec<Finding>,
    /// What that means, with what is approved.
    pub(crate) report: Report,
    /// The cassettes that could not be read.
    pub(crate) unread: Vec<Error>,
}

impl Checked {
    /// It, if all cassettes could be read.
    ///
    /// # Errors
    ///
    /// If one could not.
    pub(crate) fn whole(mut self) -> Result<Self> {
        self.unread.pop().map_or(Ok(self), Err)
    }

    /// Whether somebody has to look at a finding: where nothing is accepted, and at what may break a client.
    #[cfg(feature = "cli")]
    pub(crate) fn is_open(&self, finding: &Finding) -> bool {
        self.is_unknown(finding) || self.changes(finding).any(Change::is_open)
    }

    /// Whether nothing was accepted there, and nobody has approved that it is new.
    pub(crate) fn is_unknown(&self, finding: &Finding) -> bool {
        matches!(finding, Finding::New(_)) && self.report.unaccepted.contains(finding.endpoint())
    }

    /// Whether it fails by a finding.
    pub(crate) fn fails_by(&self, finding: &Finding) -> bool {
        match finding {
            Finding::New(_) if self.is_unknown(finding) => true,
            Finding::New(_) | Finding::Changed(_) => {
                self.changes(finding).any(|it| self.report.fails_by(it))
            }
            // Where nothing is recorded at all, nothing is kept.
            Finding::Orphaned(_) => self.report.new.cassettes == 0,
        }
    }

    /// Whether anything does not pass.
    #[cfg(feature = "cli")]
    pub(crate) fn fails(&self) -> bool {
        self.report.fails() || self.findings.iter().any(|finding| self.fails_by(finding))
    }

    /// What a finding means.
    pub(crate) fn changes<'c>(&'c self, finding: &'c Finding) -> impl Iterator<Item = &'c Change> {
        let changes = self.report.changes.iter();
        changes.filter(|change| change.place.endpoint == *finding.endpoint())
    }
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
/// If there is nothing to check, or a contract cannot be read. Cassettes that cannot are
/// [listed](Checked::unread), and the others checked.
pub(crate) fn checked(cassettes: &Path, only: Option<&Path>) -> Result<Checked> {
    let (loaded, accepted, unread) = both(cassettes)?;
    let change::Checked { mut findings, mut report } = compared(cassettes, &loaded, &accepted)?;
    let mut kept = accepted;
    if let Some(only) = only {
        let is_it = |(name, _): &(Name, Cassette)| store::path_of(cassettes, name) == only;
        let one: Loaded = loaded.into_iter().filter(is_it).collect();
        if one.is_empty() {
            return Err(Error::new(Kind::NothingToCheck).at(only));
        }
        let shown = traffic(cassettes, &one, &kept)?;
        kept.retain(|contract| shown.endpoints().any(|it| *it == contract.endpoint));
        let found = compared(cassettes, &one, &kept)?;
        findings
            .retain(|whole| found.findings.iter().any(|one| one.endpoint() == whole.endpoint()));
        report = found.report;
    }
    report.approve(&store::load_approvals(&store::find_approvals(cassettes))?);
    // What is accepted by now may still be a change against the branch that it is merged into.
    report.stale.clear();
    report.unreadable = unread.iter().map(store::unreadable).collect();
    // What is written otherwise, and means the same, is as it was accepted.
    findings.retain(|finding| {
        let mut changes = report.changes.iter();
        !matches!(finding, Finding::Changed(_))
            || changes.any(|change| change.place.endpoint == *finding.endpoint())
    });
    let mut checked = Checked { kept, findings, report, unread };
    let is_kept = |contract: &Contract| {
        let mut findings = checked.findings.iter();
        let finding = findings.find(|finding| *finding.endpoint() == contract.endpoint);
        finding.is_none_or(|finding| finding.proposed().is_some() && !checked.fails_by(finding))
    };
    let kept: Vec<Contract> = checked.kept.iter().filter(|it| is_kept(it)).cloned().collect();
    checked.kept = kept;
    Ok(checked)
}

/// Holds cassettes against contracts, as `retape.toml` says.
fn compared(
    folder: &Path,
    cassettes: &[(Name, Cassette)],
    accepted: &[Contract],
) -> Result<change::Checked> {
    let config = store::find_config(folder)?;
    let path = store::in_repository(folder).display().to_string();
    let recorded = Known { name: &folder.display().to_string(), path: &path, cassettes, accepted };
    let mut checked = change::check(&Protocols::of(&config), recorded);
    checked.report.new_fields(config.new_fields());
    Ok(checked)
}

/// What the contracts would be that are meant, if nothing of them was accepted before; those are left out
/// that come out as they were accepted, from as many recordings. What is not meant is checked. If cassettes cannot be
/// read, nothing is learned from the others, and why comes with it.
///
/// # Errors
///
/// If there is no cassette, or a contract cannot be read.
#[cfg(feature = "cli")]
pub(crate) fn learned(
    cassettes: &Path,
    is_meant: impl Fn(&contract::Endpoint) -> bool,
) -> Result<(Vec<Finding>, Vec<Error>)> {
    let (loaded, accepted, unread) = both(cassettes)?;
    if !unread.is_empty() {
        return Ok((Vec::new(), unread));
    }
    let (meant, others): (Vec<Contract>, Vec<Contract>) =
        accepted.into_iter().partition(|contract| is_meant(&contract.endpoint));
    let traffic = traffic(cassettes, &loaded, &others)?;
    let mut findings = contract::check(&traffic, &others);
    for contract in meant {
        match findings.iter().position(|finding| *finding.endpoint() == contract.endpoint) {
            None => findings.push(Finding::Orphaned(contract.endpoint)),
            Some(at)
                if contract.is_as_learned()
                    && findings[at].proposed().is_some_and(|it| {
                        it.is_accepted(&contract) && it.origin.head() == contract.origin.head()
                    }) =>
            {
                findings.remove(at);
            }
            Some(_) => {}
        }
    }
    Ok((findings, unread))
}

/// The cassettes of a folder and the contracts that were accepted, of which there must be some, and why
/// other cassettes cannot be read.
fn both(cassettes: &Path) -> Result<(Loaded, Vec<Contract>, Vec<Error>)> {
    let (loaded, unread) = load(cassettes);
    let accepted = store::contracts(cassettes)?;
    if loaded.is_empty() && accepted.is_empty() && unread.is_empty() {
        // To keep no promise is easy: a misspelt folder would pass for ever.
        return Err(store::nothing_in(cassettes));
    }
    Ok((loaded, accepted, unread))
}

/// The cassettes of a folder, and why others cannot be read.
pub(crate) fn load(cassettes: &Path) -> (Loaded, Vec<Error>) {
    let names = store::list(cassettes).into_iter();
    let all =
        names.map(|name| Ok((name.clone(), store::load(cassettes, &name)?.shown()?.by_message())));
    let (mut loaded, mut unread) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Ok(cassette) => loaded.push(cassette),
            Err(error) => unread.push(error),
        }
    }
    (loaded, unread)
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
