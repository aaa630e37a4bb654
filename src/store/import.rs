//! Files of other tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::foreign::load_foreign;
use super::{find_config, list, path_of, save};
use crate::cassette::foreign::{Corrected, Imported};
use crate::cassette::{Cassette, Name, Outcome};
use crate::config::Rules;
use crate::error::{Error, Result};
use crate::redact::{Redacted, Redactor};
use crate::review::change::parallel::each_waiting;

/// How files are imported.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// The folder of the cassettes.
    pub(crate) into: PathBuf,
    pub(crate) secrets: Secrets,
    pub(crate) present: Present,
    /// What each cassette says about matching.
    pub(crate) rules: Rules,
}

/// What becomes of secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    Replaced,
    /// All stays as it is in the file.
    Kept,
}

/// What becomes of a cassette that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Present {
    Stays,
    Replaced,
}

/// What became of a file.
#[derive(Debug)]
pub(crate) enum Became {
    Imported(Facts),
    /// There is a cassette of that name.
    Present(Name),
    /// Another file has become the cassette of that name.
    Doubled(PathBuf),
    /// It is a recording of no tool that is known.
    Skipped(PathBuf),
}

/// What is in a file that was imported.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) tool: String,
    pub(crate) interactions: usize,
    /// The servers that were asked.
    pub(crate) origins: usize,
    pub(crate) corrected: Corrected,
    /// How many answers had a secret in them.
    pub(crate) redacted: usize,
    /// How many values may be secrets, and stay.
    pub(crate) suspects: usize,
}

/// A file, and the name of the cassette that it becomes.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) name: Name,
    /// Whether a person has named it, and not the folder in which it is.
    is_named: bool,
}

/// The endings of files that may be recordings.
const ENDINGS: [&str; 4] = ["yaml", "yml", "json", "har"];

/// The files that a path names: itself, or all below it that may be recordings.
///
/// # Errors
///
/// If there is none.
pub(crate) fn sources(path: &Path) -> Result<Vec<Source>> {
    let metadata = fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
    if !metadata.is_dir() {
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = named(&file)?;
        return Ok(vec![Source { path: path.to_owned(), name, is_named: true }]);
    }
    let files = list::files(path, &ENDINGS).into_iter();
    let source =
        |(stem, path): (String, PathBuf)| Ok(Source { name: named(&stem)?, path, is_named: false });
    files.map(source).collect()
}

/// Imports files, several at once. What became of each stands in their order.
pub(crate) fn import(sources: &[Source], how: &Import) -> Vec<Result<Became>> {
    let taken = Mutex::default();
    // Files that are called alike come one after the other, so that always the first one is taken.
    let alike: Vec<&[Source]> = sources.chunk_by(|one, other| one.name == other.name).collect();
    let import_each = |sources: &&[Source]| -> Vec<Result<Became>> {
        sources.iter().map(|source| import_one(source, how, &taken)).collect()
    };
    each_waiting(&alike, import_each).into_iter().flatten().collect()
}

/// Imports a file, unless its cassette is `taken` by another one.
fn import_one(source: &Source, how: &Import, taken: &Mutex<BTreeSet<Name>>) -> Result<Became> {
    let imported = match load_foreign(&source.path) {
        Err(error) if error.is_unknown_format() && !source.is_named => {
            return Ok(Became::Skipped(source.path.clone()));
        }
        imported => imported?,
    };
    let Imported { mut cassette, corrected, name } = imported;
    let name = source.called(name.as_deref())?;
    if !taken.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
        return Ok(Became::Doubled(source.path.clone()));
    }
    if how.present == Present::Stays && path_of(&how.into, &name).is_file() {
        return Ok(Became::Present(name));
    }
    cassette.rules = how.rules.clone();
    let before = cassette.clone();
    let redactor = match how.secrets {
        Secrets::Replaced => Redactor::standard().with_own(find_config(&how.into)?.redaction()),
        Secrets::Kept => Redactor::of_rules(&[])?,
    };
    let redacted = redactor.cassette(cassette);
    let suspects = match how.secrets {
        Secrets::Replaced => redactor.audit(&redacted).len(),
        Secrets::Kept => 0,
    };
    let facts = Facts { suspects, ..Facts::of(&before, &redacted, corrected) };
    save(&how.into, &name, &redacted)?;
    Ok(Became::Imported(facts))
}

impl Source {
    /// The name of its cassette. Polly keeps `describe/test` in `describe_1234/test_5678/recording.har`.
    fn called(&self, called: Option<&str>) -> Result<Name> {
        let Some(called) = called.filter(|_| !self.is_named) else { return Ok(self.name.clone()) };
        let parts: Vec<String> = called.split('/').map(Name::part_of_test).collect();
        let folders: Vec<&str> = self.name.as_str().split('/').collect();
        let above = folders.len().saturating_sub(parts.len() + 1);
        let folders = folders[..above].iter().map(|&folder| folder.to_owned());
        Name::new(folders.chain(parts).collect::<Vec<_>>().join("/"))
    }
}

impl Facts {
    fn of(before: &Cassette, after: &Redacted<Cassette>, corrected: Corrected) -> Self {
        let answers = before.interactions.iter().zip(&after.interactions);
        let body = |outcome: &Outcome| match outcome {
            Outcome::Response(response) => response.body.bytes(),
            Outcome::Nothing(_) => bytes::Bytes::new(),
        };
        let differs = answers.filter(|(one, other)| body(&one.outcome) != body(&other.outcome));
        Self {
            tool: before.recorded.tool.clone().unwrap_or_default(),
            interactions: before.interactions.len(),
            origins: before.origins().len(),
            corrected,
            redacted: differs.count(),
            suspects: 0,
        }
    }
}

/// A name for what is called so, with what no name can have left out.
fn named(stem: &str) -> Result<Name> {
    if let Ok(name) = Name::new(stem) {
        return Ok(name);
    }
    let plain = |c: char| if c.is_control() || r#"\:*?"<>|~%#"#.contains(c) { '-' } else { c };
    let segments = stem.split('/').map(|segment| {
        let segment: String = segment.chars().map(plain).collect();
        segment.trim_start_matches('.').trim_end_matches(['.', ' ']).to_owned()
    });
    Name::new(segments.collect::<Vec<_>>().join("/"))
}
