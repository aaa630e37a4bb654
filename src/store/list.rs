//! Which cassettes there are.

use std::fs;
use std::path::Path;

use crate::cassette::Name;

/// The names of the cassettes below a folder, sorted. What cannot be read is not listed, nor is what is
/// kept beside a cassette.
pub fn list(folder: &Path) -> Vec<Name> {
    let mut names = Vec::new();
    walk(folder, "", &mut names);
    names.sort();
    names
}

fn walk(folder: &Path, above: &str, names: &mut Vec<Name>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, file) = (entry.path(), entry.file_name());
        let Some(file) = file.to_str().filter(|file| !file.starts_with('.')) else { continue };
        // Links are not followed: they may lead back.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, &format!("{above}{file}/"), names);
        } else if let Some(stem) = file.strip_suffix(".json") {
            names.extend(cassette(format!("{above}{stem}")));
        }
    }
}

/// The cassette whose file is called so, without the ending.
pub(super) fn cassette(stem: String) -> Option<Name> {
    Name::new(stem).ok().filter(|name| !name.is_beside())
}
