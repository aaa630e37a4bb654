//! What `retape.toml` says of cassettes that are not there: most likely a name is misspelt.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::settings::Settings;
use crate::config::Config;
use crate::store;

/// The folders whose `retape.toml` names cassettes, and the cassettes that were opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Idle {
    folders: BTreeMap<PathBuf, Config>,
    opened: BTreeSet<String>,
}

impl Idle {
    /// Notes where a session has its cassette.
    pub(super) fn note(&mut self, settings: &Settings) {
        if settings.config.file_with_names().is_none() {
            return;
        }
        self.opened.insert(settings.cassette.to_string());
        if !self.folders.contains_key(&settings.folder) {
            self.folders.insert(settings.folder.clone(), settings.config.clone());
        }
    }

    /// What is said of no cassette that is there. Several folders may have the same `retape.toml`.
    pub(crate) fn told(&self) -> BTreeSet<String> {
        let mut told = BTreeSet::new();
        for (folder, config) in &self.folders {
            let file = config.file_with_names();
            let same = self.folders.iter().filter(|(_, other)| other.file_with_names() == file);
            let mut names: BTreeSet<String> =
                same.flat_map(|(folder, _)| store::stems(folder)).collect();
            if names.is_empty() {
                // Nothing is recorded yet.
                continue;
            }
            names.extend(self.opened.iter().cloned());
            if config.idle(&names).is_empty() {
                continue;
            }
            let above = file.and_then(Path::parent);
            if let Some((name, above)) = folder.file_name().zip(above) {
                let more = store::folders_called(name, above);
                names.extend(more.iter().flat_map(|folder| store::stems(folder)));
            }
            told.extend(config.idle(&names));
        }
        told
    }
}
