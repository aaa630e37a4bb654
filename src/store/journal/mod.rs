//! The journal of a recording that is under way: `NAME.json.part`.
//!
//! Each thing that happens is one line, which is written before it is passed on to the client, so
//! whatever a client has seen is in the journal, also if the recorder is killed. What is written is
//! redacted already. The file is locked while it is written.
//!
//! # Rationale
//!
//! A queue and a writer task would keep the disk out of the client's way, but lose what is in the
//! queue when the process is killed. An append to the page cache costs about as much as waking a
//! task, so the lines are written before they are passed on. What is passed on together is written
//! together.

mod format;
mod recover;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use format::Entry;
pub use recover::Recovered;

use super::file::path_of;
use super::folder::make_folder;
use super::regular;
use crate::cassette::{Name, Recorded};
use crate::error::{Error, Kind, Result};

/// An open, locked journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    file: File,
    /// Lines that are not written yet.
    lines: Vec<u8>,
    failure: Option<std::io::Error>,
}

impl Journal {
    /// Opens and locks the journal of a cassette. If a recorder was killed while it wrote one, what
    /// it holds is returned as well, and stays there until [`begin`](Self::begin).
    ///
    /// # Errors
    ///
    /// If another process is recording this cassette, the file cannot be written, or it holds what
    /// this release cannot read.
    pub fn open(folder: &Path, name: &Name) -> Result<(Self, Option<Recovered>)> {
        let path = Self::path_of(folder, name);
        regular::refuse_linked(folder, name)?;
        let mut file = locked(&path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|source| Error::io("read file", &path, source))?;
        let recovered = recover::recover(&text);
        if recovered.is_none() && !recover::is_begun(&text) {
            return Err(Error::new(Kind::ForeignJournal)
                .at(&path)
                .with_hint("let the release that wrote it save it, or remove the file"));
        }
        let writer = Writer { file, lines: Vec::new(), failure: None };
        Ok((Self { path, file: Mutex::new(writer) }, recovered))
    }

    /// Reads the journal that a killed recorder left, without touching it.
    pub fn peek(folder: &Path, name: &Name) -> Option<Recovered> {
        let path = Self::path_of(folder, name);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        // A journal that is locked belongs to a recorder that is at work.
        file.try_lock_shared().ok()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        recover::recover(&text)
    }

    /// The file that the journal of a cassette is.
    pub fn path_of(folder: &Path, name: &Name) -> PathBuf {
        let mut path = path_of(folder, name).into_os_string();
        path.push(".part");
        path.into()
    }

    /// Empties the journal and begins a new one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn begin(&self, recorded: &Recorded) -> Result<()> {
        {
            let mut writer = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let emptied = writer.file.set_len(0).and_then(|()| writer.file.rewind());
            emptied.map_err(|source| Error::io("write file", &self.path, source))?;
        }
        self.note(&Entry::Begin { recorded: recorded.clone() });
        self.flush();
        self.check()
    }

    /// Adds a line to those that the next [`flush`](Self::flush) writes.
    pub fn note(&self, entry: &Entry<'_>) {
        let mut writer = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.failure.is_none() {
            entry.write(&mut writer.lines);
        }
    }

    /// Writes the lines that were noted. After a failure nothing more is written: a recording does
    /// not stop serving its client because a disk is full, and what it holds may still be saved.
    pub fn flush(&self) {
        let mut writer = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Writer { file, lines, failure } = &mut *writer;
        if lines.is_empty() {
            return;
        }
        if let Err(source) = file.write_all(lines) {
            *failure = Some(source);
        }
        lines.clear();
    }

    /// Whether everything was written so far.
    fn check(&self) -> Result<()> {
        let mut writer = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match writer.failure.take() {
            None => Ok(()),
            Some(source) => Err(Error::io("write file", &self.path, source)
                .with_hint("free some space, then record again")),
        }
    }

    /// Removes the journal: its cassette has been saved, or nothing was recorded.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove file", &self.path, source))
            }
            _ => Ok(()),
        }
    }
}

/// Opens a journal that nobody else writes, and makes the folder for it.
fn locked(path: &Path) -> Result<File> {
    let hint = "choose a folder that can be written: `--cassettes DIR` or `RETAPE_CASSETTES`";
    make_folder(path.parent().unwrap_or(path))?;
    loop {
        // What is no file is nobody's journal, and what a link leads to is somebody else's file.
        if fs::symlink_metadata(path).is_ok_and(|data| !data.is_file()) {
            return Err(Error::new(Kind::ForeignJournal).at(path).with_hint("remove it"));
        }
        let file = private()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|source| Error::io("write file", path, source).with_hint(hint))?;
        match file.try_lock() {
            // Another recorder may have removed it between the two steps.
            Ok(()) if is_at(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(Kind::Busy)
                    .at(path)
                    .with_hint("wait for it, or record under another name"));
            }
            Err(TryLockError::Error(source)) => return Err(Error::io("lock file", path, source)),
        }
    }
}

/// Whether the open file is the one of that path still.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => identity(open) == identity(there),
        _ => false,
    }
}

/// Whether the open file is the one of that path still: one that is open cannot be removed here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// What a conversation holds is nobody else's business while it is not reviewed.
#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}
