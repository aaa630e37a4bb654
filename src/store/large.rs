//! Bodies that are too large to be held in memory.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use bytes::Bytes;

use super::replace::replace_by;
use super::{disk, regular};
use crate::cassette::Large;
use crate::cassette::large::{LARGE, Naming};
use crate::error::Result;

/// So many bytes are read at a time.
const PIECE: u64 = 128 * 1024;

/// The bytes of a body, piece by piece.
#[derive(Debug)]
pub(crate) struct Pieces {
    file: File,
    large: Large,
    /// The next piece, and how much of it was read.
    next: usize,
    read: u64,
}

impl Pieces {
    /// Begins to read it.
    ///
    /// # Errors
    ///
    /// If its file cannot be opened.
    pub(crate) fn of(large: &Large) -> io::Result<Self> {
        regular::refuse_link(&large.file)?;
        Ok(Self { file: File::open(&large.file)?, large: large.clone(), next: 0, read: 0 })
    }

    fn read(&mut self) -> io::Result<Option<Bytes>> {
        let left = |piece: &std::ops::Range<u64>, read| piece.end - piece.start - read;
        while self.large.pieces.get(self.next).is_some_and(|piece| left(piece, self.read) == 0) {
            (self.next, self.read) = (self.next + 1, 0);
        }
        let Some(piece) = self.large.pieces.get(self.next) else { return Ok(None) };
        let length = left(piece, self.read).min(PIECE);
        if self.read == 0 {
            self.file.seek(SeekFrom::Start(piece.start))?;
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.file.read_exact(&mut bytes)?;
        self.read += length;
        Ok(Some(bytes.into()))
    }
}

impl Iterator for Pieces {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The body of that name in a file and what stands in its place, if it is large and is what its name says.
pub(super) fn found(file: &Path, name: &str) -> Option<(Large, Bytes)> {
    let length = fs::symlink_metadata(file).ok().filter(|it| it.is_file())?.len();
    if length <= LARGE {
        return None;
    }
    let large =
        Large { length, file: file.to_owned(), pieces: std::iter::once(0..length).collect() };
    let mut naming = Naming::default();
    for piece in Pieces::of(&large).ok()? {
        naming.push(&piece.ok()?);
    }
    (naming.name() == name).then(|| (large, naming.stand_in()))
}

/// Writes a body to a file of its own. Tells whether it was not there.
///
/// # Errors
///
/// If it cannot be read or written.
pub(super) fn write(large: &Large, path: &Path) -> Result<bool> {
    let there = fs::symlink_metadata(path);
    if there.is_ok_and(|it| it.is_file() && it.len() == large.length) {
        return Ok(false);
    }
    replace_by(path, |file| Pieces::of(large)?.try_for_each(|piece| disk::write(file, &piece?)))?;
    Ok(true)
}
