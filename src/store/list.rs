//! Which cassettes there are.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

#[cfg(feature = "cli")]
use super::foreign::load_foreign;
use crate::cassette::Name;

/// The names of the cassettes below a folder, sorted. What cannot be read is not listed, nor is what is
/// kept beside a cassette.
pub fn list(folder: &Path) -> Vec<Name> {
    files(folder, &["json"]).into_iter().filter_map(|(stem, _)| cassette(stem)).collect()
}

/// The same with the files of other tools that are played where there is no cassette.
#[cfg(feature = "cli")]
pub(crate) fn playable(folder: &Path) -> Vec<Name> {
    let mut all = files(folder, &["json", "yaml", "yml"]);
    all.dedup_by(|other, first| other.0 == first.0);
    // Not all that is YAML was recorded.
    let is_played =
        |path: &Path| path.extension() == Some(OsStr::new("json")) || load_foreign(path).is_ok();
    let played = all.into_iter().filter(|(_, path)| is_played(path));
    played.filter_map(|(stem, _)| cassette(stem)).collect()
}

/// The names of the cassettes below a folder of which a recorder left a journal, sorted.
#[cfg(feature = "cli")]
pub(crate) fn journals(folder: &Path) -> Vec<Name> {
    let all = files(folder, &["part"]).into_iter();
    all.filter_map(|(stem, _)| Name::new(stem.strip_suffix(".json")?).ok()).collect()
}

/// What the cassettes below a folder are called, in whatever format.
pub(crate) fn stems(folder: &Path) -> impl Iterator<Item = String> {
    files(folder, &["json", "yaml", "yml"]).into_iter().map(|(stem, _)| stem)
}

/// The folders below one that have that name. Those of packages are left out: they are not the user's.
pub(crate) fn folders_called(name: &OsStr, below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let (path, file) = (entry.path(), entry.file_name());
        let is_foreign = file.as_encoded_bytes().starts_with(b".")
            || ["node_modules", "target", "venv"].iter().any(|other| file == *other);
        if is_foreign || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if file == name {
            found.push(path);
        } else {
            found.extend(folders_called(name, &path));
        }
    }
    found
}

/// The files below a folder that have one of these endings, sorted, each with its path from there
/// without the ending.
pub(super) fn files(folder: &Path, endings: &[&str]) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    walk(folder, "", endings, &mut found);
    found.sort();
    found
}

fn walk(folder: &Path, above: &str, endings: &[&str], found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, file) = (entry.path(), entry.file_name());
        let Some(file) = file.to_str().filter(|file| !file.starts_with('.')) else { continue };
        // Links are not followed: they may lead back.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, &format!("{above}{file}/"), endings, found);
        } else if let Some((stem, ending)) = file.rsplit_once('.')
            && endings.contains(&ending)
        {
            found.push((format!("{above}{stem}"), path));
        }
    }
}

/// The cassette whose file is called so, without the ending.
pub(super) fn cassette(stem: String) -> Option<Name> {
    Name::new(stem).ok().filter(|name| !name.is_beside())
}
