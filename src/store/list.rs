//! Which cassettes there are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cassette::Name;

/// The names of the cassettes below a folder, sorted. What cannot be read is not listed, nor is what is
/// kept beside a cassette.
pub fn list(folder: &Path) -> Vec<Name> {
    files(folder, &["json"]).into_iter().filter_map(|(stem, _)| cassette(stem)).collect()
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
