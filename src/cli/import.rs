//! `retape import`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use super::arguments::absolute;
use super::{Exit, tell};
use crate::config::{Compare, Rules};
use crate::error::{Error, Kind, Result};
use crate::review::report::count;
use crate::store::mode::is_ci;
use crate::store::{self, Became, Facts, Import as How, Present, Secrets, from_here};

/// Make cassettes of what other tools recorded
///
/// The content of a file says which tool wrote it. What is replayed is, byte for byte, what that tool
/// would have sent. Streams are cut into events; when each came is not known. Secrets are replaced
/// as in a recording, unless --as-is is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape import tests/cassettes                       all below it: test_chat/test_hello.yaml
                                                      becomes cassettes/test_chat/test_hello.json
  retape import --compare path tests/cassettes        compare as vcrpy does, and tighten it later
  retape import --into cassettes/shop shop.har
Exit status: 0, 1 a file below a folder could not be imported, or under CI a value may be a secret, 2 it could not run.")]
pub(super) struct Import {
    /// Files, or folders with files below them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    into: PathBuf,

    /// Write a rule into each cassette: `path` compares method and address alone, as vcrpy does
    #[arg(long, value_name = "WHAT")]
    compare: Option<Compare>,

    /// Keep secrets as they are in the file
    #[arg(long)]
    as_is: bool,

    /// Replace cassettes that are there
    #[arg(long)]
    replace: bool,
}

impl Import {
    pub(super) fn run(self) -> Result<Exit> {
        let mut sources = Vec::new();
        for path in &self.paths {
            sources.extend(store::sources(path)?);
        }
        let compare = self.compare.map(|compare| Rules::default().compare(compare));
        let how = How {
            into: absolute(&self.into),
            secrets: if self.as_is { Secrets::Kept } else { Secrets::Replaced },
            present: if self.replace { Present::Replaced } else { Present::Stays },
            rules: compare.unwrap_or_default(),
        };
        let became = store::import(&sources, &how);
        let tally = Tally::of(became);
        if tally.tools.is_empty() && tally.failed.is_empty() && tally.present.is_empty() {
            return Err(Error::new(Kind::Foreign("no file of another tool is there"))
                .with_hint("name a file to learn why it is none: `retape import FILE`"));
        }
        tally.tell(&self.into.display().to_string());
        let is_refused = is_ci() && tally.suspects > 0;
        Ok(if tally.failed.is_empty() && !is_refused { Exit::Agrees } else { Exit::Findings })
    }
}

/// How many files that were left out are named.
const FEW: usize = 3;

/// What became of all files.
#[derive(Default)]
struct Tally {
    /// Files and interactions by tool.
    tools: BTreeMap<String, (usize, usize)>,
    several: usize,
    redacted: usize,
    suspects: usize,
    codings: usize,
    lengths: usize,
    present: Vec<String>,
    doubled: Vec<String>,
    skipped: Vec<String>,
    failed: Vec<Error>,
}

impl Tally {
    fn of(became: Vec<Result<Became>>) -> Self {
        let mut tally = Self::default();
        for became in became {
            match became {
                Ok(Became::Imported(facts)) => tally.add(facts),
                Ok(Became::Present(name)) => tally.present.push(name.to_string()),
                Ok(Became::Doubled(path)) => tally.doubled.push(shown(&path)),
                Ok(Became::Skipped(path)) => tally.skipped.push(shown(&path)),
                Err(error) => tally.failed.push(error),
            }
        }
        tally
    }

    fn add(&mut self, facts: Facts) {
        let (files, interactions) = self.tools.entry(facts.tool).or_default();
        *files += 1;
        *interactions += facts.interactions;
        self.several += usize::from(facts.origins > 1);
        self.redacted += facts.redacted;
        self.suspects += facts.suspects;
        self.codings += facts.corrected.codings;
        self.lengths += facts.corrected.lengths;
    }

    fn tell(&self, into: &str) {
        for (tool, (files, interactions)) in &self.tools {
            tell::line(&format!(
                "imported {} from {tool} into `{into}`: {}",
                count(*files, "cassette"),
                count(*interactions, "interaction")
            ));
        }
        let (doubled, skipped) = (few(&self.doubled), few(&self.skipped));
        let notes = [
            (self.several, "cassette", "asked several servers"),
            (self.redacted, "answer", "had a secret that was replaced; `--as-is` keeps it"),
            (
                self.suspects,
                "value",
                &format!("may be a secret, and stays: `retape scan --cassettes {into}` names it"),
            ),
            (
                self.codings,
                "answer",
                "said to be compressed and was not: `content-encoding` is left out",
            ),
            (self.lengths, "answer", "announced a body and had none: `content-length` is 0"),
            (
                self.doubled.len(),
                "file",
                &format!(
                    "of a cassette that is there already from another file, left out: {doubled}"
                ),
            ),
            (self.skipped.len(), "file", &format!("of no known format, left out: {skipped}")),
            (self.present.len(), "cassette", "there already, and stays; `--replace` replaces it"),
        ];
        for (number, what, said) in notes.into_iter().filter(|(number, ..)| *number > 0) {
            tell::line(&format!("  {}: {said}", count(number, what)));
        }
        self.failed.iter().for_each(tell::error);
    }
}

fn shown(path: &Path) -> String {
    from_here(path).display().to_string()
}

/// The first of some files.
fn few(files: &[String]) -> String {
    match files.split_at_checked(FEW) {
        Some((few, [_, ..])) => format!("{}, …", few.join(", ")),
        _ => files.join(", "),
    }
}
