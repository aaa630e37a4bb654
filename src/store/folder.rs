//! Making folders.

use std::path::Path;

use super::disk;
use crate::error::{Error, Result};

pub(super) const ANOTHER: &str = "choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`; in a \
                                   Rust test `.cassettes(DIR)`";

/// Makes a folder and those above it, where they are not there.
///
/// # Errors
///
/// If that is not possible, with what is in the way.
pub(super) fn make_folder(folder: &Path) -> Result<()> {
    disk::make_folder(folder).map_err(|source| {
        let in_the_way = folder.ancestors().find(|above| above.exists()).filter(|it| !it.is_dir());
        Error::io("create folder", folder, source).or_hint(match in_the_way {
            Some(file) => format!("`{}` is a file, not a folder; {ANOTHER}", file.display()),
            None => ANOTHER.to_owned(),
        })
    })
}
