//! `retape scan`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use clap::Args;

use super::arguments::{Folder, absolute};
use super::{Exit, tell};
use crate::error::{Error, Result};
use crate::redact::{Redactor, Suspect};
use crate::review::report::count;
use crate::store;
use crate::text::date;

/// Look for secrets in cassettes, contracts and reports
///
/// Names each place with a value that a rule of this release would replace, or that looks like a secret,
/// and says nothing if there is none. Says as well which files belong to nothing: bodies of no cassette,
/// journals of a recorder that was killed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape scan                                  all of the folder of cassettes
  retape scan cassettes/chat.json report.html  these files; a pre-commit hook gives them
  retape scan --older 365 --larger 1000000     and what is old or large
Exit status: 0 nothing was found, 1 something was, 2 it could not run.")]
pub(super) struct Scan {
    /// Files to look at, instead of all of the folder
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Name cassettes that were recorded more than so many days ago
    #[arg(long, value_name = "DAYS")]
    older: Option<u64>,

    /// Name files of more than so many bytes
    #[arg(long, value_name = "BYTES")]
    larger: Option<u64>,

    #[command(flatten)]
    folder: Folder,
}

/// The largest file that is looked at.
const LARGEST: u64 = 64 << 20;

impl Scan {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = self.folder.absolute();
        let files = match self.files.as_slice() {
            [] if !folder.exists() => return Err(store::nothing_in(&folder)),
            [] => all_files(&folder).map_err(|source| Error::io("read folder", &folder, source))?,
            files => files.iter().map(|file| absolute(file)).collect(),
        };
        let config = store::find_config(&folder)?;
        let redactor = Redactor::standard().with_own(config.redaction());
        let redactor = redactor.with_environment(store::environment());
        let (mut found, mut unread, mut hints) = (0, Vec::new(), BTreeSet::new());
        for file in &files {
            let said = self.look_at(file, &redactor, &mut unread).unwrap_or_else(|error| {
                unread.push(error);
                Vec::new()
            });
            if !said.is_empty() {
                tell::line(&format!("{}", file.display()));
                said.iter().for_each(|(said, _)| tell::line(&format!("  {said}")));
                found += said.len();
            }
            hints.extend(said.iter().map(|(_, next)| *next));
        }
        if found == 0 {
            return tell::unread(unread, Exit::Agrees);
        }
        tell::line(&format!("{} in {}", count(found, "finding"), count(files.len(), "file")));
        hints.iter().for_each(|next| tell::hint(next.told()));
        tell::unread(unread, Exit::Findings)
    }

    /// What is found in a file, and what to do about it.
    fn look_at(
        &self,
        file: &Path,
        redactor: &Redactor,
        unread: &mut Vec<Error>,
    ) -> Result<Vec<(String, Remedy)>> {
        let failed = |source| Error::io("read file", file, source);
        let data = fs::symlink_metadata(file).map_err(failed)?;
        if !data.is_file() {
            return Ok(vec![("is no regular file".to_owned(), Remedy::Look)]);
        }
        if data.len() > LARGEST {
            let what = "was not read: it has more than 64 MiB";
            return Ok(vec![(what.to_owned(), Remedy::Look)]);
        }
        let mut said = Vec::new();
        said.extend(
            self.larger
                .filter(|most| data.len() > *most)
                .map(|_| (format!("has {} bytes", data.len()), Remedy::Shorten)),
        );
        said.extend(orphan(file).map(|(what, next)| (what.to_owned(), next)));
        let bytes = fs::read(file).map_err(failed)?;
        let cassette = cassette_of(file, &bytes).unwrap_or_else(|error| {
            // It is searched as a text then.
            unread.push(error);
            None
        });
        let suspects = match cassette {
            Some(cassette) => {
                said.extend(
                    self.older
                        .filter(|days| age(&cassette.recorded.at).is_some_and(|age| age > *days))
                        .map(|days| {
                            (format!("was recorded more than {days} days ago"), Remedy::Record)
                        }),
                );
                redactor.audit(&cassette)
            }
            None => redactor.audit_text(&String::from_utf8_lossy(&bytes)),
        };
        said.extend(suspects.iter().map(|it: &Suspect| (it.to_string(), Remedy::Revoke)));
        Ok(said)
    }
}

/// What to do about what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Remedy {
    Revoke,
    Recover,
    Remove,
    Record,
    Shorten,
    Look,
}

impl Remedy {
    fn told(self) -> &'static str {
        match self {
            Self::Revoke => {
                "have the secret revoked, and record the cassette again, or mend the file; what is no secret, name \
                 below `not-secrets` in `[redact]` of retape.toml"
            }
            Self::Recover => "`retape recover NAME` saves what a killed recorder left",
            Self::Remove => "remove bodies that belong to no cassette",
            Self::Record => "record what is old again: `retape record … NAME -- COMMAND`",
            Self::Shorten => "record less in one cassette, or give `--larger` another number",
            Self::Look => "look at what was not read yourself, or put it elsewhere",
        }
    }
}

/// All files of the folder, in order.
fn all_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => folders.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Why a file belongs to nothing, if it does not.
fn orphan(file: &Path) -> Option<(&'static str, Remedy)> {
    let name = file.file_name()?.to_str()?;
    if name.ends_with(".json.part") {
        let what = "a recorder was killed and left this: `retape recover` saves it";
        return Some((what, Remedy::Recover));
    }
    let folder = file.parent()?;
    let of = folder.file_name()?.to_str()?.strip_suffix(".bodies")?;
    let cassette = fs::read_to_string(folder.with_file_name(format!("{of}.json"))).ok();
    let is_named = cassette.is_some_and(|cassette| cassette.contains(name));
    (!is_named).then_some(("is a body of no cassette", Remedy::Remove))
}

/// The cassette that a file holds, if it holds one.
fn cassette_of(file: &Path, bytes: &[u8]) -> Result<Option<crate::Cassette>> {
    let is_json = file.extension().is_some_and(|extension| extension == "json");
    if !is_json || memchr::memmem::find(&bytes[..bytes.len().min(200)], b"\"retape\"").is_none() {
        return Ok(None);
    }
    store::load_file(file).map(Some)
}

/// How many days ago a time was.
fn age(at: &str) -> Option<u64> {
    let then = date::since_1970(at)? / 1000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(now.as_secs().checked_sub(then)? / 86_400)
}
