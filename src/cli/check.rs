//! `retape check`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::absolute;
use super::{Exit, contracts, tell};
use crate::error::Result;
use crate::mode::Update;
use crate::report::{self, Colour};

/// Check that the cassettes keep the contracts that were accepted
///
/// Learns from all cassettes what the server promises at each endpoint: the order of its messages, what
/// they look like, what other answers look like. What is not as accepted is told, with the cassette that
/// shows it, and waits beside the accepted contract (contracts/NAME.snap.new) to be accepted; nothing is
/// written where CI is set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape check
  retape check && retape accept
Exit status: 0 all contracts are kept, 1 something is new or broken, 2 it could not run.")]
pub(super) struct Check {
    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,
}

impl Check {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = absolute(&self.cassettes);
        let update = Update::unless_ci();
        let findings = contracts::settle(&folder, update)?;
        tell::data(&report::findings(&findings, Colour::Ansi));
        if findings.is_empty() {
            tell::line("all contracts are kept");
            return Ok(Exit::Agrees);
        }
        if update == Update::Propose {
            tell::line("look at contracts/*.snap.new; `retape accept` accepts what is there");
        }
        Ok(Exit::Findings)
    }
}
