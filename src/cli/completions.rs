//! `retape completions` and `retape man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, Exit, tell};
use crate::error::{Error, Result};

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape completions bash > /etc/bash_completion.d/retape
  retape completions zsh > ~/.zfunc/_retape")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

/// Write the man pages, one for each subcommand
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape man /usr/local/share/man/man1")]
pub(super) struct Man {
    /// The folder for retape.1, retape-record.1 and the others
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Completions {
    pub(super) fn run(self) -> Result<Exit> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "retape", &mut text);
        tell::output(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Agrees)
    }
}

impl Man {
    pub(super) fn run(self) -> Result<Exit> {
        let failed = |source| Error::io("write man pages to", &self.folder, source);
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        clap_mangen::generate_to(Cli::command(), &self.folder).map_err(failed)?;
        Ok(Exit::Agrees)
    }
}
