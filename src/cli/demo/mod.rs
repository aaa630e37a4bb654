//! `retape demo`: a whole round with a small agent server that comes along.

mod acts;
mod agent;
mod checks;
mod client;
mod conversation;
mod epilogue;
mod folder;
mod heard;
mod mint;
mod stage;
mod transcript;
mod voice;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Exit, conduct};
use crate::error::Result;
use acts::Plan;
use folder::Folder;

/// See it work: record a small agent server, stop it, and replay it
///
/// The server is embedded and nothing else is needed, but all the rest is what you would use: a
/// server on a socket, a client that streams tokens, the recorder, a file, and the replayer.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --dir the cassette is kept in retape-demo, which git is told to ignore. Each run records it
anew. Exit status: 0 the replayed conversation is the recorded one, 1 it is not, 2 it could not run.

Examples:
  retape demo
  retape demo --dir /tmp/look --tokens-per-second 10")]
pub(super) struct Demo {
    /// The folder for the cassette; retape-demo below the current one if it is not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// How fast the agent server talks
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    tokens_per_second: u32,
}

impl Demo {
    pub(super) fn run(self) -> Result<Exit> {
        let plan = Plan {
            folder: Folder::ready(self.dir)?,
            per_token: Duration::from_secs(1) / self.tokens_per_second,
        };
        conduct::on_runtime(acts::play(&plan))
    }
}
