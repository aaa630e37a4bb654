//! `retape export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::arguments::absolute;
use super::{Exit, tell};
use crate::contract::openapi;
use crate::error::{Error, Kind, Result};
use crate::store;

/// Print the accepted contracts for other tools
///
/// As one OpenAPI 3.2 document, with `itemSchema` for streams and the order of messages and what ties
/// them together in `x-retape-contract`; or as JSON Schema 2020-12: one contract as the schema of an answer
/// (of a message, where it is a stream), several as $defs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape export > openapi.json
  retape export --format json-schema 'POST /v1/agents/{agent_id}/messages/stream -> 200'
Exit status: 0, 1 no contract has TEXT in its first line, 2 it could not run.")]
pub(super) struct Export {
    /// Only contracts of which the first line contains this
    #[arg(value_name = "TEXT")]
    only: Option<String>,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Openapi)]
    format: Format,

    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    cassettes: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Openapi,
    JsonSchema,
}

impl Export {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = absolute(&self.cassettes);
        let mut contracts = store::contracts(&folder)?;
        if contracts.is_empty() {
            return Err(Error::new(Kind::NoContract).at(&folder).with_hint(
                "name the folder of the cassettes; contracts are learned and accepted by `retape accept`",
            ));
        }
        let only = self.only.as_deref().unwrap_or_default();
        contracts.retain(|contract| contract.endpoint.to_string().contains(only));
        if contracts.is_empty() {
            tell::line(&format!("no contract has `{only}` in its first line"));
            return Ok(Exit::Findings);
        }
        let document = match self.format {
            Format::Openapi => openapi::to_open_api(&contracts),
            Format::JsonSchema => openapi::to_json_schema(&contracts),
        };
        tell::data(&format!("{document:#}\n"));
        Ok(Exit::Agrees)
    }
}
