//! `retape list`.

use clap::Args;

use super::arguments::{Folder, fitting};
use super::{Exit, tell};
use crate::error::Result;
use crate::review::report::count;
use crate::store;

/// List the cassettes of a folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape list
  retape list 'letta/**'
Exit status: 0, 1 there is none, 2 it could not run.")]
pub(super) struct List {
    /// Only those whose name fits: `?` is a character, `*` anything within a part, `**` any parts
    #[arg(value_name = "PATTERN", default_value = "**")]
    pattern: String,

    #[command(flatten)]
    folder: Folder,
}

impl List {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = self.folder.absolute();
        let names = fitting(&folder, &self.pattern)?;
        if names.is_empty() {
            tell::line(&format!("no cassette in `{}` fits `{}`", folder.display(), self.pattern));
            store::above(&folder).iter().for_each(|hint| tell::hint(hint));
            return Ok(Exit::Findings);
        }
        let width = names.iter().map(|name| name.as_str().chars().count()).max().unwrap_or(0);
        let mut unread = Vec::new();
        for name in names {
            let cassette = match store::load(&folder, &name) {
                Ok(cassette) => cassette,
                Err(error) => {
                    unread.push(error);
                    continue;
                }
            };
            let interactions = count(cassette.interactions.len(), "interaction");
            let upstream = &cassette.recorded.upstream;
            let name = name.as_str();
            let line = format!("{name:width$}  {interactions:>16}  {upstream}");
            tell::shown(&format!("{}\n", line.trim_end()))?;
        }
        tell::unread(unread, Exit::Agrees)
    }
}
