//! `retape recover`.

use clap::Args;

use super::arguments::{Folder, absolute};
use super::{Exit, tell};
use crate::cassette::Name;
use crate::error::Result;
use crate::serve::recorder::recover;
use crate::session::Event;

/// Save what a recorder had written when it was killed
///
/// A recorder that is killed leaves a journal, NAME.json.part. What had arrived by then is saved as
/// NAME.recovered.json; the next recording of that name would do the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape recover letta/hello
  retape show letta/hello.recovered")]
pub(super) struct Recover {
    /// The cassette that was recorded: a name below the folder of cassettes, or the path of a file
    #[arg(value_name = "CASSETTE")]
    cassette: String,

    #[command(flatten)]
    folder: Folder,
}

impl Recover {
    pub(super) fn run(self) -> Result<Exit> {
        let (folder, name) = self.folder.place(&self.cassette);
        let (left, path) = recover(&absolute(&folder), &Name::new(name)?)?;
        tell::event(Event::rescued(&left, path));
        Ok(Exit::Agrees)
    }
}
