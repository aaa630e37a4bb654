//! Where the demo keeps its file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cassette::Name;
use crate::cli::arguments::absolute;
use crate::error::{Error, Result};
use crate::review::report::Rerun;
use crate::session::{Session, SessionBuilder};

/// The name of the cassette.
pub(super) const CASSETTE: &str = "refund";

const DEFAULT: &str = "retape-demo";

/// Where the demo keeps its file.
///
/// # Rationale
///
/// By default the folder is below the current one, because a file that is meant to be looked at has
/// to be found. A `.gitignore` inside it keeps whatever repository that is clean. A folder that the
/// user names is the user's: nothing but the cassette is put there.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder.
    pub(super) fn ready(named: Option<PathBuf>) -> Result<Self> {
        let by_default = named.is_none();
        let folder = named.unwrap_or_else(|| PathBuf::from(DEFAULT));
        let failed = |what: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| {
                let hint = "choose a folder that can be written: `retape demo --dir DIR`";
                Error::io(what, &path, source).with_hint(hint)
            }
        };
        fs::create_dir_all(&folder).map_err(failed("create folder", &folder))?;
        let ignore = folder.join(".gitignore");
        if by_default && !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(failed("write file", &ignore))?;
        }
        Ok(Self(folder))
    }

    /// The settings of a session on the cassette.
    pub(super) fn session(&self) -> SessionBuilder {
        let options = vec!["--cassettes".to_owned(), self.absolute().display().to_string()];
        Session::builder(CASSETTE).cassettes(self.absolute()).rerun(Rerun::Cassette(options))
    }

    pub(super) fn absolute(&self) -> PathBuf {
        absolute(&self.0)
    }

    /// The cassette's file as the user would name it.
    pub(super) fn file(&self) -> PathBuf {
        self.0.join(format!("{CASSETTE}.json"))
    }

    pub(super) fn name() -> Result<Name> {
        Name::new(CASSETTE)
    }
}
