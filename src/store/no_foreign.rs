//! Stands in the place of `foreign` where nothing is imported.

use std::path::{Path, PathBuf};

use crate::cassette::{Cassette, Name};
use crate::error::{Error, Result};

pub(super) fn foreign_of(_: &Path, _: &Name) -> Option<PathBuf> {
    None
}

pub(super) fn load_as_it_is(_: &Path) -> Result<Cassette> {
    Err(Error::not_built("import"))
}
