//! What a recorder that was killed had written.

use std::path::{Path, PathBuf};

use crate::cassette::{Cassette, Name};
#[cfg(feature = "cli")]
use crate::error::Error;
use crate::error::Result;
use crate::redact::Redactor;
use crate::store::{self, Recovered};
#[cfg(feature = "cli")]
use crate::store::{Alarm, Journal};

/// Saves what a killed recorder of that cassette left, and removes its journal.
///
/// # Errors
///
/// If there is nothing, the recorder is at work, or something cannot be read or written.
#[cfg(feature = "cli")]
pub fn recover(folder: &Path, name: &Name) -> Result<(Recovered, PathBuf)> {
    let path = Journal::path_of(folder, name);
    let nothing = || {
        Error::said(format!("no recorder of `{name}` left anything"))
            .at(&path)
            .with_hint("a recorder that was not killed saves what it recorded itself")
    };
    if !path.is_file() {
        return Err(nothing());
    }
    let (journal, left) = Journal::open(folder, name, Alarm::new(|_, _| {}))?;
    let config = store::find_config(folder)?;
    let redactor = Redactor::standard().with_own(config.redaction());
    let rescued = rescue(folder, name, &redactor, left.ok_or_else(nothing)?)?;
    journal.remove()?;
    Ok(rescued)
}

/// Saves what a killed recorder left as `NAME.recovered`, or `.recovered-2` and so on.
pub(super) fn rescue(
    folder: &Path,
    name: &Name,
    redactor: &Redactor,
    left: Recovered,
) -> Result<(Recovered, PathBuf)> {
    let free = free(folder, name, "recovered");
    // The journal holds no secrets already.
    let redactions = redactor.rules().map(str::to_owned).collect();
    let cassette = Cassette { redactions, ..left.cassette.clone() };
    let path = store::save(folder, &free, &redactor.cassette(cassette))?;
    Ok((left, path))
}

/// The first name beside a cassette that is free: `NAME.recovered`, `NAME.recovered-2` and so on.
pub(super) fn free(folder: &Path, name: &Name, what: &str) -> Name {
    let numbered = (2..).map(|number: u32| name.beside(&format!("{what}-{number}")));
    let mut names = std::iter::once(name.beside(what)).chain(numbered);
    names.find(|name| !store::exists(folder, name)).expect("not every number is taken")
}
