//! The file of approvals.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::regular;
use super::replace::replace;
use crate::error::{Error, Result};
use crate::review::change::Approval;

/// What the file is called.
const FILE: &str = "retape-approvals.toml";

/// Where the approvals stand: the nearest file in a folder or above it, up to the root of the
/// repository; where there is none, it would be at that root.
pub fn find_approvals(folder: &Path) -> PathBuf {
    let above = || folder.ancestors();
    let inside = above().position(|it| it.join(".git").exists());
    let within = || above().take(inside.map_or(usize::MAX, |root| root.saturating_add(1)));
    let found = within().map(|it| it.join(FILE)).find(|file| file.is_file());
    let root = inside.and_then(|number| above().nth(number)).unwrap_or(folder);
    found.unwrap_or_else(|| root.join(FILE))
}

/// Reads approvals; none if there is no such file.
///
/// # Errors
///
/// If it cannot be read, or says something that cannot be.
pub fn load_approvals(file: &Path) -> Result<Vec<Approval>> {
    let text = text(file)?;
    Approval::parse_all(&text).map_err(|error| error.at_file(file))
}

/// Adds approvals behind those that are there.
///
/// # Errors
///
/// If the file cannot be read or written.
pub fn add_approvals(file: &Path, approvals: &[Approval]) -> Result<()> {
    if approvals.is_empty() {
        return Ok(());
    }
    let mut text = text(file)?;
    for approval in approvals {
        if !text.is_empty() {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        text.push_str(&approval.to_toml());
    }
    replace(file, text.as_bytes())
}

fn text(file: &Path) -> Result<String> {
    match regular::read_text(file) {
        Ok(text) => Ok(text),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(source) => Err(Error::io("read file", file, source)),
    }
}
