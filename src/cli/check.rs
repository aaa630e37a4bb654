//! `retape check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::arguments::absolute;
use super::{Exit, contracts, tell};
use crate::assert;
use crate::contract::{Evidence, Finding};
use crate::error::Result;
use crate::review::report::{self, Colour};
use crate::store;
use crate::store::mode::Update;

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
  retape check --evidence                  who has seen what, and what to record next
Exit status: 0 all contracts are kept, 1 something is new or broken, 2 it could not run.")]
pub(super) struct Check {
    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,

    /// Print also which cassette shows each optional field, branch, known value and step of an order,
    /// how likely another recording says nothing new, and what to record next
    #[arg(long)]
    evidence: bool,

    /// How it is told
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Check {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = absolute(&self.cassettes);
        let update = Update::unless_ci();
        let findings = contracts::settle(&folder, update)?;
        let evidence = match self.evidence {
            true => {
                let (loaded, accepted) = (assert::load(&folder)?, store::contracts(&folder)?);
                Some(assert::traffic(&folder, &loaded, &accepted)?.evidence())
            }
            false => None,
        };
        tell::data(&self.format.told(&findings, evidence.as_deref()));
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

impl Format {
    fn told(self, findings: &[Finding], evidence: Option<&[Evidence]>) -> String {
        match self {
            Self::Text => {
                let findings = report::findings(findings, Colour::Ansi);
                let evidence = evidence.map(|evidence| report::evidence(evidence, Colour::Ansi));
                let told = [findings, evidence.unwrap_or_default()];
                told.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
            }
            Self::Json => {
                let mut told = json!({"findings": report::findings_to_json(findings)});
                if let Some(evidence) = evidence {
                    told["evidence"] = report::evidence_to_json(evidence);
                }
                format!("{told:#}\n")
            }
        }
    }
}
