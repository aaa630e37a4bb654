//! Finding and reading `retape.toml`.

use std::path::{Component, Path, PathBuf};

use super::regular;
use crate::config::Config;
use crate::error::{Error, Result};

/// What the file is called.
const FILE: &str = "retape.toml";

/// Reads the nearest `retape.toml`: in the folder of the cassettes or above it, up to the root of the
/// repository (the folder with `.git`) or of the file system. The nearest one counts alone. Without
/// one, nothing is configured.
///
/// # Errors
///
/// If it cannot be read, or says something that cannot be.
pub fn find_config(folder: &Path) -> Result<Config> {
    let Some(path) = nearest(&plain(folder)) else { return Ok(Config::default()) };
    read_config(
        &path,
        "make it a file that can be read, or remove it: it is the nearest `retape.toml`",
    )
}

/// Reads a configuration by the path of its file.
///
/// # Errors
///
/// If it cannot be read, or says something that cannot be.
pub fn load_config(path: &Path) -> Result<Config> {
    read_config(
        path,
        "name a file that is there, or leave it out: the nearest `retape.toml` is found",
    )
}

fn read_config(path: &Path, if_unread: &str) -> Result<Config> {
    let text = regular::read_text(path);
    let text = text.map_err(|source| Error::io("read file", path, source).with_hint(if_unread))?;
    let config = Config::parse(&text).map(|config| config.at_file(path));
    config.map_err(|error| match error.hint() {
        Some(_) => error.at_file(path),
        None => error.at_file(path).with_hint(
            "it is written as in `ignore = [\"/client/version\"]`; docs/matching.md lists all keys",
        ),
    })
}

fn nearest(folder: &Path) -> Option<PathBuf> {
    for above in folder.ancestors() {
        let path = above.join(FILE);
        // A link that leads nowhere, or a pipe, is read, and told: what it should have said may be what hides a secret.
        if path.symlink_metadata().is_ok() {
            return Some(path);
        }
        if above.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The absolute path, without `..`: the folder itself may not be there yet.
pub(super) fn plain(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut plain = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}
