//! A cassette while it is being saved.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::folder::make_folder;
use super::replace::{Replacement, replace, unharmed};
use super::{disk, large, regular};
use crate::cassette::{FormatVersion, format};
use crate::error::{Error, Result};

/// A cassette while it is being saved: the bodies beside it as they come, and its file in one step at the end.
#[derive(Debug)]
pub(super) struct Saving<'a> {
    path: &'a Path,
    bodies: &'a Path,
    /// What of the file is written, if it is a long one.
    begun: Option<Replacement>,
    /// The bodies beside it, and those of them that were not there.
    named: BTreeSet<String>,
    added: Vec<PathBuf>,
    failed: Option<Error>,
}

impl<'a> Saving<'a> {
    /// Begins to save it as `path`.
    pub(super) fn new(path: &'a Path, bodies: &'a Path) -> Self {
        let (named, added) = Default::default();
        Self { path, bodies, begun: None, named, added, failed: None }
    }

    /// Writes a piece of it. What fails is told at the end, and nothing more is written.
    pub(super) fn take(&mut self, text: &str, bodies: &BTreeMap<String, Bytes>) {
        if self.failed.is_none() {
            let written = self.write_bodies(bodies).and_then(|()| self.append(text));
            self.failed = written.err();
        }
    }

    /// Writes the rest, and puts the file in its place. Gives the names of all bodies. If that fails nothing
    /// is left of it, nor if it is not `complete`. `newer` is where another version is to stand.
    pub(super) fn finish(
        mut self,
        rest: format::File,
        newer: Option<(usize, FormatVersion)>,
        complete: Result<()>,
    ) -> Result<BTreeSet<String>> {
        let written = self.failed.take().map_or(complete, Err);
        if let Err(error) = written.and_then(|()| self.put(rest, newer)) {
            // No cassette names them.
            self.added.iter().for_each(|body| drop(disk::remove(body)));
            let _ = disk::remove_folder(self.bodies);
            return Err(error);
        }
        Ok(self.named)
    }

    fn put(&mut self, rest: format::File, newer: Option<(usize, FormatVersion)>) -> Result<()> {
        self.write_bodies(&rest.bodies)?;
        for (name, body) in &rest.larges {
            make_folder(self.bodies)?;
            let path = self.bodies.join(name);
            if large::write(body, &path)? {
                self.added.push(path);
            }
            self.named.insert(name.clone());
        }
        if self.begun.is_none() {
            let there = regular::read_own(self.path).ok();
            return if there.as_deref() == Some(rest.text.as_bytes()) {
                Ok(())
            } else {
                replace(self.path, rest.text.as_bytes())
            };
        }
        self.append(&rest.text)?;
        let Some(mut begun) = self.begun.take() else { return Ok(()) };
        let correct = |(at, version): (usize, FormatVersion)| {
            begun.file.seek(SeekFrom::Start(at as u64))?;
            disk::write(&mut begun.file, version.0.to_string().as_bytes())
        };
        newer.map_or(Ok(()), correct).map_err(|source| unharmed(self.path, source))?;
        match begun.is_same() {
            Ok(true) => Ok(()),
            _ => begun.put().map_err(|source| unharmed(self.path, source)),
        }
    }

    fn append(&mut self, text: &str) -> Result<()> {
        let failed = |source| unharmed(self.path, source);
        if self.begun.is_none() {
            self.begun = Some(Replacement::begin(self.path).map_err(failed)?);
        }
        let Some(begun) = &mut self.begun else { return Ok(()) };
        disk::write(&mut begun.file, text.as_bytes()).map_err(failed)
    }

    fn write_bodies(&mut self, bodies: &BTreeMap<String, Bytes>) -> Result<()> {
        for (name, bytes) in bodies {
            make_folder(self.bodies)?;
            let body = self.bodies.join(name);
            if regular::read_own(&body).ok().as_deref() != Some(bytes.as_ref()) {
                replace(&body, bytes)?;
                self.added.push(body);
            }
            self.named.insert(name.clone());
        }
        Ok(())
    }
}
