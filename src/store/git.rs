//! Sides that are revisions: their files are read through the `git` program, and nothing is checked out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use bytes::Bytes;

use super::side::Side;
use super::{file, list};
use crate::cassette::{Cassette, Name};
use crate::contract::Contract;
use crate::error::{Error, Kind, Result};
use crate::review::change::parallel::each;

/// Reads the cassettes and contracts that a folder has at a revision; nothing if it is not there then.
///
/// # Errors
///
/// If there is no `git`, no repository or no such revision, or a file cannot be read.
pub fn load_revision(folder: &Path, revision: &str) -> Result<Side> {
    let repository = Repository::of(folder)?;
    let commit = repository.commit(revision)?;
    let blobs = repository.blobs(&commit)?;
    let mut accepted = Vec::new();
    let mut cassettes = Vec::new();
    for (path, text) in &blobs {
        if is_contract(path) {
            let text = String::from_utf8_lossy(text);
            let contract = text.parse::<Contract>();
            accepted.push(contract.map_err(|error: Error| error.at_file(&at(revision, path)))?);
        } else if let Some(name) = cassette(path) {
            cassettes.push((name, path, text));
        }
    }
    cassettes.sort_by(|one, other| one.0.cmp(&other.0));
    let all = each(&cassettes, |(name, path, text)| {
        let bodies = path.strip_suffix(".json").unwrap_or(path);
        let body = |hash: &str| blobs.get(&format!("{bodies}.bodies/{hash}")).cloned().map(Ok);
        let cassette = file::decode((*text).clone().into(), &at(revision, path), body, |_| None);
        let shown = cassette.and_then(Cassette::shown);
        (name.clone(), shown.map(Cassette::by_message))
    });
    Ok(Side::of(all, accepted))
}

/// Where a folder that was moved since a revision came from: of the folders that had cassettes of these names there, which
/// are gone, the one that had most, and of as many the one whose path ends most like it.
///
/// # Errors
///
/// As for [`load_revision`].
pub fn moved_from<'n>(
    folder: &Path,
    (revision, now): (&str, Option<&str>),
    names: impl Iterator<Item = &'n Name>,
) -> Result<Option<PathBuf>> {
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in names.map(|name| format!("{name}.json")) {
        let file = path.rsplit('/').next().unwrap_or(&path).to_owned();
        named.entry(file).or_default().push(path);
    }
    let repository = Repository::of(folder)?;
    let hint = "is it a git repository?";
    let root = repository.run(&["rev-parse", "--show-toplevel"], hint)?;
    let root = PathBuf::from(String::from_utf8_lossy(&root).trim());
    let before = repository.files(revision)?;
    let now = now.map(|now| repository.files(now)).transpose()?;
    let is_there = |path: &str| match &now {
        Some(now) => now.contains(path),
        None => root.join(path).exists(),
    };
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in &before {
        let file = path.rsplit('/').next().unwrap_or(path);
        for own in named.get(file).into_iter().flatten() {
            let above = path.strip_suffix(own.as_str());
            let above = above.filter(|above| above.is_empty() || above.ends_with('/'));
            if let Some(above) = above.filter(|_| !is_there(path)) {
                *folders.entry(above.trim_end_matches('/')).or_default() += 1;
            }
        }
    }
    let all = named.values().map(Vec::len).sum::<usize>();
    let alike = |other: &str| {
        let steps = Path::new(other).iter().rev().zip(folder.iter().rev());
        steps.take_while(|(one, other)| one == other).count()
    };
    let most = folders.into_iter().filter(|(_, count)| count * 2 >= all);
    let most = most.max_by_key(|(folder, count)| (*count, alike(folder), Reverse(folder.len())));
    Ok(most.map(|(folder, _)| root.join(folder)))
}

/// How a file at a revision is called.
fn at(revision: &str, path: &str) -> PathBuf {
    PathBuf::from(format!("{revision}:{path}"))
}

/// Only the contracts of the folder itself, as in the working tree.
fn is_contract(path: &str) -> bool {
    let file = path.strip_prefix("contracts/");
    file.is_some_and(|file| !file.contains('/') && file.ends_with(".snap"))
}

fn cassette(path: &str) -> Option<Name> {
    let hidden = path.split('/').any(|segment| segment.starts_with('.'));
    path.strip_suffix(".json").filter(|_| !hidden).and_then(|stem| list::cassette(stem.to_owned()))
}

/// A folder in a repository.
struct Repository {
    /// A folder that is there.
    existing: PathBuf,
    /// The way to the folder from there.
    rest: PathBuf,
}

impl Repository {
    fn of(folder: &Path) -> Result<Self> {
        let existing = folder.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
        let rest = folder.strip_prefix(existing).unwrap_or(Path::new(""));
        Ok(Self { existing: existing.to_owned(), rest: rest.to_owned() })
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.existing).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str], hint: &str) -> Result<Vec<u8>> {
        let output = self.git(arguments).output().map_err(no_git)?;
        answered(output).map_err(|error| error.with_hint(hint))
    }

    fn commit(&self, revision: &str) -> Result<String> {
        let hint = format!(
            "is `{revision}` fetched? `git fetch origin` brings branches, and a build \
             server's checkout may have the last commit only (`fetch-depth: 0` brings all)"
        );
        if revision.starts_with('-') {
            return Err(Error::new(Kind::Revision).with_hint("a revision begins with no `-`"));
        }
        self.run(
            &["rev-parse", "--git-dir"],
            "a revision is one of a git repository; without one, name two folders: `retape diff OLD NEW`",
        )?;
        let found =
            self.run(&["rev-parse", "--verify", &format!("{revision}^{{commit}}")], &hint)?;
        Ok(String::from_utf8_lossy(&found).trim().to_owned())
    }

    /// The paths of all files that the repository has at a revision, from its root.
    fn files(&self, revision: &str) -> Result<BTreeSet<String>> {
        let commit = self.commit(revision)?;
        let all = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", &commit];
        let listed = self.run(&all, "is it a git repository?")?;
        Ok(String::from_utf8_lossy(&listed).split('\0').map(str::to_owned).collect())
    }

    /// The files that the folder has, by their paths in it.
    fn blobs(&self, commit: &str) -> Result<BTreeMap<String, Bytes>> {
        let folder = format!("{}/", self.rest.display());
        let folder = if folder == "/" { "./".to_owned() } else { folder };
        let hint = "is it a git repository?";
        let listed = self.run(&["ls-tree", "-r", "-z", commit, "--", &folder], hint)?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let prefix = if folder == "./" { "" } else { &folder };
        let wanted: Vec<(&str, &str)> = listed
            .split('\0')
            .filter_map(|entry| {
                let (head, path) = entry.split_once('\t')?;
                let path = path.strip_prefix(prefix)?;
                let hash = head.rsplit(' ').next()?;
                is_wanted(path).then_some((path, hash))
            })
            .collect();
        let contents = self.contents(wanted.iter().map(|(_, hash)| *hash))?;
        let paths = wanted.iter().map(|(path, _)| (*path).to_owned());
        Ok(paths.zip(contents).collect())
    }

    /// What objects hold, in order: one process for all of them.
    fn contents<'a>(&self, hashes: impl Iterator<Item = &'a str>) -> Result<Vec<Bytes>> {
        let hashes: Vec<&str> = hashes.collect();
        let mut command = self.git(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(no_git)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let read = thread::scope(|scope| {
            // Git answers while it is asked: who only asks would wait for ever.
            scope.spawn(|| {
                let asked: String = hashes.iter().map(|hash| format!("{hash}\n")).collect();
                stdin.map(|mut stdin| stdin.write_all(asked.as_bytes()))
            });
            let mut answers = stdout.map(BufReader::new);
            let objects = std::iter::from_fn(|| object(answers.as_mut()?));
            objects.take(hashes.len()).collect::<Vec<Bytes>>()
        });
        let _ = child.wait();
        if read.len() == hashes.len() {
            Ok(read)
        } else {
            Err(Error::new(Kind::Revision)
                .because("git gave fewer files than were asked for")
                .with_hint("`git fsck` tells whether the repository is whole"))
        }
    }
}

fn is_wanted(path: &str) -> bool {
    let is_body = path.rsplit_once('/').is_some_and(|(above, _)| above.ends_with(".bodies"));
    is_body || is_contract(path) || cassette(path).is_some()
}

/// One answer of `git cat-file --batch`: `HASH TYPE LENGTH`, the content, a line feed.
fn object(answers: &mut impl BufRead) -> Option<Bytes> {
    let mut head = String::new();
    answers.read_line(&mut head).ok()?;
    let length: usize = head.trim_end().rsplit(' ').next()?.parse().ok()?;
    let mut content = vec![0; length + 1];
    answers.read_exact(&mut content).ok()?;
    content.truncate(length);
    Some(content.into())
}

fn answered(output: Output) -> Result<Vec<u8>> {
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::new(Kind::Revision).because(said))
    }
}

fn no_git(source: std::io::Error) -> Error {
    Error::new(Kind::Revision)
        .because(source)
        .with_hint("revisions are read by the program `git`, which must be installed")
}
