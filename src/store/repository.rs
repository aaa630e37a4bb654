//! Paths as a repository knows them.

use std::path::{Path, PathBuf};

use super::config::plain;
use crate::error::Error;
use crate::review::change::Unreadable;

/// A path from the root of the repository that it is in (the folder with `.git`), which is how code hosts
/// name files; outside of one it stays as it is.
pub(crate) fn in_repository(path: &Path) -> PathBuf {
    let whole = plain(path);
    let root = whole.ancestors().find(|folder| folder.join(".git").exists());
    let inside = root.and_then(|root| whole.strip_prefix(root).ok());
    inside.map_or_else(|| path.to_owned(), Path::to_owned)
}

/// A cassette that could not be read, for a report.
pub(crate) fn unreadable(error: &Error) -> Unreadable {
    let path = error.path().unwrap_or(Path::new(""));
    // One of a revision is named from there already.
    let path = if path.is_absolute() { in_repository(path) } else { path.to_owned() };
    Unreadable { file: path.display().to_string(), line: error.line(), why: error.why() }
}
