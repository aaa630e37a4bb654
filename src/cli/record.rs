//! `retape record`.

use clap::Args;

use super::Exit;
use super::arguments::{Common, LiveServer};
use super::conduct::{self, Plan, Proof};
use crate::error::Result;
use crate::store::mode::Mode;

/// Record what a command asks a live server
///
/// retape stands between the command and the server, passes everything on as it comes, and writes
/// it down. The cassette replaces an earlier one of the same name when the command has succeeded; if
/// it fails, the earlier one stays and the new one is kept beside it, as NAME.failed.json. What is the
/// same but for identifiers and times keeps the text of the earlier one (--fresh turns that off). Then the
/// command is run again against the recording, with no server, to prove that it replays. Secrets
/// (credentials in headers, cookies, queries, telling JSON fields) are replaced by placeholders
/// before anything is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape record --upstream http://127.0.0.1:8283 letta/hello -- python hello.py {url}
  retape record --upstream https://api.openai.com --env OPENAI_BASE_URL={url}/v1 chat -- npm test
  retape record --upstream http://127.0.0.1:8283 --serve 'letta server' \\
      --ready http://127.0.0.1:8283/v1/health/ -- pytest
  retape record -- pytest --record-mode=once     whose tests are marked, and name their servers")]
pub(super) struct Record {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    live: LiveServer,

    /// How often to record. A second recording shows what the server says anew each time
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=9))]
    takes: u8,
}

impl Record {
    pub(super) fn run(self) -> Result<Exit> {
        let mut exit = Exit::Agrees;
        for take in 1..=self.takes {
            let is_last = take == self.takes;
            let proof = if is_last { self.live.proof() } else { Proof::Spared };
            exit = conduct::conduct(Plan {
                session: self
                    .live
                    .settle(self.common.session())?
                    .rerun(self.common.rerun())
                    .mode(Mode::Record)
                    .spare_upstream(self.common.is_suite()),
                common: &self.common,
                live: Some(&self.live),
                unplayed: conduct::Unplayed::IsFine,
                proof,
            })?;
            if !matches!(exit, Exit::Agrees) {
                break;
            }
        }
        Ok(exit)
    }
}
