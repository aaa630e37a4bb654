//! Folders of cassettes, before they are read.

use std::path::{Path, absolute};

use super::{disk, mention_path};
use crate::error::{Error, Result};

pub(super) const ANOTHER: &str = "choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`; in a \
                                   Rust test `.cassettes(DIR)`";

/// What to do where a folder has no cassettes and no contracts: it may be that of a folder above, as seen from below.
#[cfg(any(feature = "cli", feature = "insta"))]
pub(crate) fn nothing_in(folder: &Path) -> Error {
    let hint = above(folder).unwrap_or_else(|| {
        "name the folder of the cassettes; a first one is recorded by `retape record`".to_owned()
    });
    Error::new(crate::error::Kind::NothingToCheck).at(folder).with_hint(hint)
}

/// Where a folder of that name stands above one that is not there, and how a command line names it.
pub(crate) fn above(folder: &Path) -> Option<String> {
    let folder = absolute(folder).ok().filter(|folder| !folder.exists())?;
    let name = folder.file_name()?;
    let mut above = folder.parent()?.ancestors().skip(1);
    let above = above.find(|above| above.join(name).is_dir())?;
    let [above, found] = [above.to_owned(), above.join(name)].map(|it| mention_path(&it));
    Some(format!("`{found}` is there: run the command in `{above}`, or say `--cassettes {found}`"))
}

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
