//! Files of other tools, read as they are.

use std::path::{Path, PathBuf};

use super::{find_config, path_of, regular};
use crate::cassette::foreign::{self, Imported};
use crate::cassette::{Cassette, Name};
use crate::error::{Error, Result};
use crate::redact::Redactor;

/// Reads a file of another tool.
///
/// # Errors
///
/// If it cannot be read, or is of no format that is known.
pub(crate) fn load_foreign(path: &Path) -> Result<Imported> {
    let bytes = regular::read(path).map_err(|source| Error::io("read file", path, source))?;
    foreign::import(&String::from_utf8_lossy(&bytes))
        .map_err(|error| error.at_file(path).or_hint("correct it in the file, or record it again"))
}

/// The file of another tool that stands in the place of a cassette: `NAME.yaml`.
pub(super) fn foreign_of(folder: &Path, name: &Name) -> Option<PathBuf> {
    let path = path_of(folder, name);
    let path = path.as_os_str().to_string_lossy();
    let stem = path.strip_suffix("json")?;
    let mut files = ["yaml", "yml"].iter().map(|ending| PathBuf::from(format!("{stem}{ending}")));
    files.find(|file| file.is_file())
}

/// Reads a file of another tool to play it.
///
/// Nothing is written, so the answers stay as they are. The secrets of requests are replaced, as they are
/// in what comes in: a live key matches the one that was recorded.
pub(super) fn load_as_it_is(path: &Path) -> Result<Cassette> {
    let mut cassette = load_foreign(path)?.cassette;
    let config = find_config(path.parent().unwrap_or(path))?;
    let redactor = Redactor::standard().with_own(config.redaction());
    cassette.interactions.iter_mut().for_each(|it| redactor.request(&mut it.request));
    cassette.redactions = redactor.rules().map(str::to_owned).collect();
    Ok(cassette)
}
