//! `retape accept`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::arguments::absolute;
use super::{Exit, contracts, tell};
use crate::assert::{self, Checked};
use crate::contract::{Endpoint, Finding};
use crate::error::Result;

/// Accept what the cassettes show as the contract of the server
///
/// A contract that is kept stays as it is, with what was edited by hand. `--fresh` learns it anew, so that
/// it promises no more and no less than the cassettes show now.
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

    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,
}

impl Accept {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = absolute(&self.cassettes);
        let Checked { mut kept, findings } = self.checked(&folder)?;
        kept.retain(|contract| self.is_meant(&contract.endpoint));
        let (meant, left): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(|finding| self.is_meant(finding.endpoint()));
        for finding in &meant {
            contracts::accept(&folder, finding)?;
            tell::line(&format!("accepted {}", finding.endpoint()));
        }
        if !kept.is_empty() {
            tell::line(&self.kept(kept.len()));
        }
        if !left.is_empty() {
            tell::line(&format!("{} left", left.len()));
        }
        match &self.only {
            Some(only) if meant.is_empty() && kept.is_empty() => {
                tell::line(&format!("no contract has `{only}` in its first line"));
                Ok(Exit::Findings)
            }
            _ => Ok(Exit::Agrees),
        }
    }

    fn checked(&self, folder: &Path) -> Result<Checked> {
        match self.fresh {
            true => assert::learned(folder, |endpoint| self.is_meant(endpoint)),
            false => assert::checked(folder, None),
        }
    }

    fn is_meant(&self, endpoint: &Endpoint) -> bool {
        self.only.as_ref().is_none_or(|only| endpoint.to_string().contains(only.as_str()))
    }

    /// What is told of contracts that stay as they are.
    fn kept(&self, count: usize) -> String {
        match self.fresh {
            true => format!("{count} learned anew just as accepted"),
            false => format!("{count} kept, and left as accepted; `--fresh` learns them anew"),
        }
    }
}
