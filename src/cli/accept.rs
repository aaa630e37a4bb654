//! `retape accept`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::absolute;
use super::{Exit, contracts, tell};
use crate::error::Result;

/// Accept what the cassettes show as the contract of the server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape accept                            accept all
  retape accept /v1/agents/{agent_id}      accept those of which the first line contains this")]
pub(super) struct Accept {
    /// Only contracts of which the first line contains this
    #[arg(value_name = "TEXT")]
    only: Option<String>,

    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,
}

impl Accept {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = absolute(&self.cassettes);
        let (mut accepted, mut left) = (0, 0);
        for finding in contracts::findings(&folder)? {
            let line = finding.endpoint().to_string();
            if self.only.as_ref().is_some_and(|only| !line.contains(only.as_str())) {
                left += 1;
                continue;
            }
            contracts::accept(&folder, &finding)?;
            tell::line(&format!("accepted {line}"));
            accepted += 1;
        }
        if left > 0 {
            tell::line(&format!("{left} left"));
        }
        if let (0, Some(only)) = (accepted, &self.only) {
            tell::line(&format!("nothing new, broken or orphaned has `{only}` in its first line"));
            return Ok(Exit::Findings);
        }
        Ok(Exit::Agrees)
    }
}
