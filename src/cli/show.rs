//! `retape show`.

use std::path::Path;

use clap::Args;
use terminal_size::{Width, terminal_size};

use super::arguments::Folder;
use super::{Exit, tell};
use crate::cassette::{Cassette, Name};
use crate::error::Result;
use crate::message::Protocols;
use crate::review::report::{self, Colour, Detail, ShowOptions};
use crate::store;

/// Print a cassette for a person: what was asked, what came back, in which order and when
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape show letta/hello
  retape show --bodies cassettes/letta/hello.json
  retape show --ids letta/hello")]
pub(super) struct Show {
    /// The cassettes: names below the folder of cassettes, patterns of them (`letta/*`, `**`), or paths
    /// of files
    #[arg(required = true, value_name = "CASSETTE")]
    which: Vec<String>,

    #[command(flatten)]
    folder: Folder,

    /// Print the bodies as well
    #[arg(long)]
    bodies: bool,

    /// Print the identifiers instead: who issued each, and where it came back
    #[arg(long, conflicts_with = "bodies")]
    ids: bool,

    /// The columns of a line; those of the terminal, up to 120, else 100
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
}

impl Show {
    pub(super) fn run(self) -> Result<Exit> {
        let mut unread = Vec::new();
        for cassette in &self.which {
            let chosen = self.folder.chosen(cassette).map_err(|error| unread.push(error));
            for (folder, name) in
                chosen.iter().flat_map(|(folder, names)| names.iter().map(move |it| (folder, it)))
            {
                match store::load(folder, name).and_then(Cassette::searched) {
                    Ok(loaded) => self.show(folder, name, &loaded)?,
                    Err(error) => unread.push(error),
                }
            }
        }
        tell::unread(unread, Exit::Agrees)
    }

    fn show(&self, folder: &Path, name: &Name, loaded: &Cassette) -> Result<()> {
        let protocols = Protocols::of(&store::find_config(folder)?);
        tell::shown(&if self.ids {
            report::ids(name.as_str(), loaded, Colour::Ansi)
        } else {
            report::show_by(&protocols, name.as_str(), loaded, self.options())
        })?;
        Ok(())
    }

    fn options(&self) -> ShowOptions {
        let detail = if self.bodies { Detail::Bodies } else { Detail::Summary };
        let width = self.width.unwrap_or_else(columns);
        ShowOptions { width, colour: Colour::Ansi, detail }
    }
}

/// The columns of the terminal; longer lines than 120 are hard to follow.
fn columns() -> usize {
    terminal_size().map_or(100, |(Width(width), _)| usize::from(width).min(120))
}
