//! `retape demo`: a whole round with a small agent server that comes along.

mod acts;
mod agent;
mod checks;
mod client;
mod terminal;

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::{Exit, conduct};
use crate::cli::arguments::absolute;
use crate::error::{Error, Result};
use crate::review::report::Rerun;
use crate::session::{Session, SessionBuilder};

/// See it work: record a small agent server, stop it, and replay it
///
/// The server is embedded and nothing else is needed, but all the rest is what you would use: a
/// server on a socket, a client that streams tokens, the recorder, a file, and the replayer.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --dir the cassettes are kept in retape-demo, which git is told to ignore. Each run records them
anew. Exit status: 0 the replayed conversation is the recorded one, 1 it is not, 2 it could not run.

Examples:
  retape demo
  retape demo --dir /tmp/look --tokens-per-second 10")]
pub(super) struct Demo {
    /// The folder for the cassettes; retape-demo below the current one if it is not given
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
        let folder = Folder::ready(self.dir)?;
        let pause = Duration::from_secs(1) / self.tokens_per_second;
        conduct::on_runtime(acts::play(&folder, pause))
    }
}

/// The name of the cassette.
const CASSETTE: &str = "refund";

/// The name of the one that is recorded with the second release of the server.
const LATER: &str = "refund-later";

/// Where the demo keeps its file.
///
/// # Rationale
///
/// By default the folder is below the current one, because a file that is meant to be looked at has
/// to be found. A `.gitignore` inside it keeps whatever repository that is clean. A folder that the
/// user names is the user's: nothing but the cassettes are put there.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    /// Makes the folder.
    fn ready(named: Option<PathBuf>) -> Result<Self> {
        let by_default = named.is_none();
        let folder = named.unwrap_or_else(|| PathBuf::from("retape-demo"));
        fs::create_dir_all(&folder).map_err(|error| failed("create folder", &folder, error))?;
        let ignore = folder.join(".gitignore");
        if by_default && !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(|error| failed("write file", &ignore, error))?;
        }
        Ok(Self(folder))
    }

    /// The settings of a session on a cassette.
    fn session(&self, cassette: &str) -> SessionBuilder {
        let options = vec!["--cassettes".to_owned(), self.absolute().display().to_string()];
        Session::builder(cassette).cassettes(self.absolute()).rerun(Rerun::Cassette(options))
    }

    fn absolute(&self) -> PathBuf {
        absolute(&self.0)
    }

    /// A cassette's file as the user would name it.
    fn file(&self, cassette: &str) -> PathBuf {
        self.0.join(format!("{cassette}.json"))
    }
}

fn failed(what: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::io(what, path, source)
        .with_hint("choose a folder that can be written: `retape demo --dir DIR`")
}

/// A random UUID.
fn uuid() -> String {
    // The standard library seeds each state with random numbers of the system: that spares the demo
    // a generator.
    let state = RandomState::new();
    let random = u128::from(state.hash_one(0_u8)) << 64 | u128::from(state.hash_one(1_u8));
    // RFC 9562, section 5.4: version 4, variant 10.
    let bits = random & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let digits = format!("{bits:032x}");
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| &digits[group]).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_uuid_is_another_one() {
        let [first, second] = [uuid(), uuid()];

        assert_ne!(first, second);
        assert_eq!(crate::identity::identifiers(&first).next(), Some(0..36));
        assert_eq!(first.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&first.as_bytes()[19]));
    }
}
