//! `retape diff`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::absolute;
use super::{Exit, tell};
use crate::change::{self, Known};
use crate::error::Result;
use crate::report::{self, Colour, Face};
use crate::store;

/// What changed in what the server promises, and does it break a client?
///
/// Compares two folders of cassettes, two cassettes, or two contracts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape diff before/cassettes cassettes
Exit status: 0 nothing that breaks a client, 1 something is breaking or unproven, 2 it could not run.")]
pub(super) struct Diff {
    /// What was before: a folder of cassettes, a cassette, or a contract
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// What is now
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// How it is shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Face,
}

impl Diff {
    pub(super) fn run(self) -> Result<Exit> {
        let (old, new) =
            (store::load_side(&absolute(&self.old))?, store::load_side(&absolute(&self.new))?);
        let names = [&self.old, &self.new].map(|path| path.display().to_string());
        let report = change::compare(known(&names[0], &old), known(&names[1], &new));
        tell::data(&report::changes(&report, self.format, Colour::Ansi));
        Ok(if report.fails() { Exit::Findings } else { Exit::Agrees })
    }
}

fn known<'a>(name: &'a str, side: &'a store::Side) -> Known<'a> {
    Known { name, cassettes: &side.cassettes, accepted: &side.accepted }
}
