//! `retape coverage`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::arguments::Folder;
use super::{Exit, tell};
use crate::contract::openapi::Document;
use crate::error::{Error, Result};
use crate::message::Protocols;
use crate::review::coverage::{Coverage as Against, Exercised};
use crate::review::report::{self, Colour};
use crate::{assert, store};

/// Tell which endpoints, statuses and messages the cassettes exercise
///
/// With an OpenAPI document also which of its operations, statuses and media types they do not, and what
/// they show that the document does not say.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape coverage
  curl -s http://127.0.0.1:8283/openapi.json > openapi.json
  retape coverage --openapi openapi.json
  retape coverage --openapi openapi.json --format markdown --min 50
Exit status: 0, 1 less is exercised than --min says, 2 it could not run.")]
pub(super) struct Coverage {
    /// An OpenAPI document, 3.0 to 3.2, as JSON or YAML
    #[arg(long, value_name = "FILE")]
    openapi: Option<PathBuf>,

    /// Fail if a smaller share of the document's operations is exercised
    #[arg(long, value_name = "PERCENT", requires = "openapi", value_parser = percent)]
    min: Option<f64>,

    /// How it is told
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    folder: Folder,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

impl Coverage {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = self.folder.absolute();
        let document = self.openapi.as_deref().map(document).transpose()?;
        let (loaded, unread) = assert::load(&folder);
        if loaded.is_empty() && unread.is_empty() {
            return Err(store::nothing_in(&folder));
        }
        let protocols = Protocols::of(&store::find_config(&folder)?);
        let accepted = store::contracts(&folder)?;
        let cassettes = loaded.iter().map(|(name, cassette)| (name, cassette));
        let exercised = Exercised::by(&protocols, &accepted, cassettes);
        let against = document.as_ref().map(|document| Against::of(document, &exercised));
        match self.format {
            Format::Text => {
                tell::shown(&report::coverage(&exercised, against.as_ref(), Colour::Ansi))?;
            }
            Format::Markdown => {
                tell::output(&report::coverage_to_markdown(&exercised, against.as_ref()))?;
            }
            Format::Json => {
                let told = report::coverage_to_json(&exercised, against.as_ref());
                tell::output(&format!("{told:#}\n"))?;
            }
        }
        let percent = against.map(|against| against.operations().percent());
        let exit = match self.min.zip(percent) {
            Some((min, percent)) if percent < min => {
                tell::line(&format!("{percent:.1} % of the operations, less than {min} %"));
                Exit::Findings
            }
            _ => Exit::Agrees,
        };
        tell::unread(unread, exit)
    }
}

fn document(file: &Path) -> Result<Document> {
    let text = store::read_text(file).map_err(|source| {
        Error::io("read file", file, source).with_hint(
            "name the file of an OpenAPI document; many servers give theirs at `/openapi.json`",
        )
    })?;
    Document::parse(&text).map_err(|error| error.at_file(file))
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end();
    match number.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a share is a number from 0 to 100".to_owned()),
    }
}
