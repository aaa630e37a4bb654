//! `retape accept`.

use std::path::Path;

use clap::Args;

use super::arguments::Folder;
use super::{Exit, contracts, tell};
use crate::contract::{Contract, Endpoint, Finding};
use crate::error::Result;
use crate::{assert, store};

/// Accept what the cassettes show as the contract of the server
///
/// Contracts are learned anew from all cassettes, so that it makes no difference whether you accept them at
/// once or one by one. One that was edited by hand stays as it is as long as it is kept; `--fresh` learns it
/// anew as well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape accept                            accept all that is new, broken or orphaned
  retape accept /v1/agents/{agent_id}      … of which the first line contains this
  retape accept --fresh /v1/agents/        learn also those anew that are kept")]
pub(super) struct Accept {
    /// Only contracts of which the first line contains this
    #[arg(value_name = "TEXT")]
    only: Option<String>,

    /// Learn contracts anew that are kept, too; what was edited by hand in them is lost
    #[arg(long)]
    fresh: bool,

    #[command(flatten)]
    folder: Folder,
}

impl Accept {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = self.folder.absolute();
        let Relearned { findings, recounted, kept } = self.learned(&folder)?;
        for finding in &recounted {
            contracts::accept(&folder, finding)?;
        }
        let (meant, left): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(|finding| self.is_meant(finding.endpoint()));
        for finding in &meant {
            contracts::accept(&folder, finding)?;
            tell::line(&format!("accepted {}", finding.endpoint()));
        }
        kept.lines().for_each(|line| tell::line(&line));
        contracts::tell_unread(&store::contracts(&folder)?);
        if !left.is_empty() {
            tell::line(&format!("{} left", left.len()));
        }
        match &self.only {
            Some(only) if meant.is_empty() && kept == KeptContracts::default() => {
                tell::line(&format!("no contract has `{only}` in its first line"));
                Ok(Exit::Findings)
            }
            _ => Ok(Exit::Agrees),
        }
    }

    /// What would be accepted, and what stays as it is.
    fn learned(&self, folder: &Path) -> Result<Relearned> {
        let accepted = store::contracts(folder)?;
        let is_edited = |endpoint: &Endpoint| {
            let mut accepted = accepted.iter();
            accepted.any(|contract| contract.endpoint == *endpoint && !contract.is_as_learned())
        };
        let is_learned = |endpoint: &Endpoint| self.fresh || !is_edited(endpoint);
        let (findings, unread) =
            assert::learned(folder, |endpoint| self.is_meant(endpoint) && is_learned(endpoint))?;
        tell::unread(unread, Exit::Agrees)?;
        let is_same = |finding: &Finding| {
            let mut accepted = accepted.iter().filter(|it| it.is_as_learned());
            accepted.any(|it| finding.proposed().is_some_and(|proposed| proposed.is_accepted(it)))
        };
        let (recounted, findings): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(is_same);
        let is_found = |contract: &&Contract| {
            findings.iter().any(|finding| *finding.endpoint() == contract.endpoint)
        };
        let meant = accepted.iter().filter(|contract| self.is_meant(&contract.endpoint));
        let kept: Vec<&Contract> = meant.filter(|contract| !is_found(contract)).collect();
        let edited = kept.iter().filter(|it| !is_learned(&it.endpoint)).count();
        let kept = KeptContracts { learned: kept.len() - edited, edited };
        Ok(Relearned { findings, recounted, kept })
    }

    fn is_meant(&self, endpoint: &Endpoint) -> bool {
        self.only.as_ref().is_none_or(|only| endpoint.to_string().contains(only.as_str()))
    }
}

/// What all cassettes teach.
struct Relearned {
    findings: Vec<Finding>,
    /// What promises the same as before, and was seen in more recordings or fewer. `check` weighs by how many.
    recounted: Vec<Finding>,
    kept: KeptContracts,
}

/// How many contracts stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct KeptContracts {
    /// They are learned anew just as accepted.
    learned: usize,
    /// They are kept, and may have been edited by hand.
    edited: usize,
}

impl KeptContracts {
    fn lines(self) -> impl Iterator<Item = String> {
        let learned = format!("{} learned anew just as accepted", self.learned);
        let edited = format!(
            "{} edited by hand and kept, and left as accepted; `--fresh` learns them anew",
            self.edited
        );
        let lines = [(self.learned, learned), (self.edited, edited)].into_iter();
        lines.filter(|(count, _)| *count > 0).map(|(_, line)| line)
    }
}
