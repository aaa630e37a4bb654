//! `retape recover`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::arguments::{Folder, absolute};
use super::{Exit, tell};
use crate::cassette::Name;
use crate::error::{Error, Result};
use crate::serve::recorder::recover;
use crate::session::Event;
use crate::store::{self, Journal};

/// Save what a recorder had written when it was killed
///
/// A recorder that is killed leaves a journal, NAME.json.part. What had arrived by then is saved as
/// NAME.recovered.json; the next recording of that name would do the same. Without a
/// name, it saves all journals below the folder of cassettes, as after a test suite that was killed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape recover
  retape recover letta/hello
  retape show letta/hello.recovered")]
pub(super) struct Recover {
    /// The cassette that was recorded: a name below the folder of cassettes, or the path of a file. A folder
    /// means all below it
    #[arg(value_name = "CASSETTE")]
    cassette: Option<String>,

    #[command(flatten)]
    folder: Folder,
}

impl Recover {
    pub(super) fn run(self) -> Result<Exit> {
        let (folder, names) = self.left()?;
        let mut failed = Vec::new();
        for name in names {
            match recover(&folder, &name) {
                Ok((left, path)) => tell::event(Event::rescued(&left, path)),
                Err(error) => failed.push(error),
            }
        }
        tell::unread(failed, Exit::Agrees)
    }

    /// What is to be saved, and its folder.
    fn left(&self) -> Result<(PathBuf, Vec<Name>)> {
        let Some(cassette) = &self.cassette else { return all_below(self.folder.absolute()) };
        let (folder, name) = self.folder.place(cassette);
        let folder = absolute(&folder);
        let below = [folder.join(&name), absolute(Path::new(cassette))];
        let below = below.into_iter().find(|below| below.is_dir());
        let name = Name::new(name);
        match (name, below) {
            (Ok(name), Some(_)) if Journal::path_of(&folder, &name).is_file() => {
                Ok((folder, vec![name]))
            }
            (_, Some(below)) => all_below(below),
            (name, None) => Ok((folder, vec![name?])),
        }
    }
}

fn all_below(folder: PathBuf) -> Result<(PathBuf, Vec<Name>)> {
    let names = store::journals(&folder);
    if names.is_empty() {
        return Err(Error::said("no recorder left anything")
            .at(&folder)
            .with_hint("a recorder that was not killed saves what it recorded itself"));
    }
    Ok((folder, names))
}
