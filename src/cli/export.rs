//! `retape export`.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::arguments::Folder;
use super::{Exit, tell};
use crate::cassette::foreign::{self, Exported};
use crate::contract::{Contract, openapi};
use crate::error::{Error, Result};
use crate::store;
use crate::text::nearest;

/// Print contracts or cassettes for other tools
///
/// The accepted contracts, as one OpenAPI 3.2 document, with `itemSchema` for streams and the order of
/// messages and what ties them together in `x-retape-contract`; or as JSON Schema 2020-12: one contract as
/// the schema of an answer (of a message, where it is a stream), several as $defs.
///
/// Or cassettes, as HAR 1.2, as mappings of WireMock, or as a line for curl for each request. What such a
/// format cannot hold is left out, and reported.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape export > openapi.json
  retape export --to json-schema 'POST /v1/agents/{agent_id}/messages/stream -> 200'
  retape export --to har letta/hello > hello.har
  retape export --to wiremock 'letta/**' > mappings.json
  retape export --to curl letta/hello
Exit status: 0, 1 no contract has WHAT in its first line, 2 it could not run.")]
pub(super) struct Export {
    /// Which contracts, by a text in their first line; or which cassettes, by name, pattern or file. All
    /// if nothing is given
    #[arg(value_name = "WHAT")]
    only: Vec<String>,

    /// What is printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExportFormat::Openapi)]
    to: ExportFormat,

    #[command(flatten)]
    folder: Folder,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExportFormat {
    Openapi,
    JsonSchema,
    Har,
    Wiremock,
    Curl,
}

impl Export {
    pub(super) fn run(self) -> Result<Exit> {
        match self.to {
            ExportFormat::Openapi => self.contracts(openapi::to_open_api),
            ExportFormat::JsonSchema => self.contracts(openapi::to_json_schema),
            ExportFormat::Har => self.recordings(foreign::To::Har),
            ExportFormat::Wiremock => self.recordings(foreign::To::Wiremock),
            ExportFormat::Curl => self.recordings(foreign::To::Curl),
        }
    }

    fn contracts(self, document: impl Fn(&[Contract]) -> Value) -> Result<Exit> {
        let folder = self.folder.absolute();
        let mut contracts = store::contracts(&folder)?;
        if contracts.is_empty() {
            return Err(Error::said("no contract was accepted").at(&folder).with_hint(
                "name the folder of the cassettes; contracts are learned and accepted by `retape accept`",
            ));
        }
        contracts.retain(|contract| {
            let endpoint = contract.endpoint.to_string();
            self.only.is_empty() || self.only.iter().any(|only| endpoint.contains(only))
        });
        if contracts.is_empty() {
            let only: Vec<&str> = self.only.iter().map(String::as_str).collect();
            tell::line(&format!("no contract has {} in its first line", nearest::listed(&only)));
            return Ok(Exit::Findings);
        }
        tell::output(&format!("{:#}\n", document(&contracts)))?;
        Ok(Exit::Agrees)
    }

    fn recordings(self, to: foreign::To) -> Result<Exit> {
        let all = ["**".to_owned()];
        let only = if self.only.is_empty() { &all[..] } else { &self.only };
        let (mut cassettes, mut unread) = (Vec::new(), Vec::new());
        for cassette in only {
            let (folder, names) = self.folder.chosen(cassette)?;
            for name in names {
                match store::load(&folder, &name) {
                    Ok(cassette) => cassettes.push((name, cassette)),
                    Err(error) => unread.push(error),
                }
            }
        }
        let Exported { text, lost } = foreign::export(&cassettes, to);
        tell::output(&text)?;
        if !lost.is_empty() {
            let lost: Vec<String> =
                lost.iter().map(|(what, times)| format!("{times} × {what}")).collect();
            tell::line(&format!("not in this format: {}", lost.join("; ")));
        }
        tell::unread(unread, Exit::Agrees)
    }
}
