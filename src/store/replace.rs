//! Writing a file in one step.

use std::fs::{self, File};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use super::disk;
use crate::error::{Error, Result};

/// Writes a file beside, brings it to the disk, and puts it in the place of the old one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_by(path, |file| disk::write(file, bytes))
}

/// The same with what `write` writes.
pub(super) fn replace_by(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<()> {
    let failed = |source| unharmed(path, source);
    let mut replacement = Replacement::begin(path).map_err(failed)?;
    write(&mut replacement.file).and_then(|()| replacement.put()).map_err(failed)
}

/// The same of what can be made again: nothing waits until it is on the disk.
pub(super) fn replace_quickly(path: &Path, bytes: &[u8]) -> Result<()> {
    let put = || {
        let mut replacement = Replacement::begin(path)?;
        disk::write(&mut replacement.file, bytes)?;
        replacement.swap()
    };
    put().map_err(|source| unharmed(path, source))
}

/// A file was not written, and what was there before stays.
pub(super) fn unharmed(path: &Path, source: std::io::Error) -> Error {
    let error = Error::io("write file", path, source);
    let what = error.hint().unwrap_or("choose another folder, then try again");
    let hint = format!("what was there before is unharmed; {what}");
    error.with_hint(hint)
}

/// A file beside another one whose place it is to take. It is gone if it does not.
#[derive(Debug)]
pub(super) struct Replacement {
    path: PathBuf,
    unfinished: PathBuf,
    pub(super) file: File,
    is_put: bool,
}

impl Replacement {
    /// Begins it.
    pub(super) fn begin(path: &Path) -> std::io::Result<Self> {
        let unfinished = unfinished(path, std::process::id());
        let file = disk::create(&unfinished).inspect_err(|_| drop(disk::remove(&unfinished)))?;
        Ok(Self { path: path.to_owned(), unfinished, file, is_put: false })
    }

    /// Brings what was written to the disk, and puts it in the place of the old file.
    pub(super) fn put(self) -> std::io::Result<()> {
        disk::sync(&self.file)?;
        let folder = self.path.parent().unwrap_or(Path::new(".")).to_owned();
        self.swap()?;
        // The rename itself is durable once the folder is; not every system can sync a folder.
        let _ = File::open(folder).and_then(|folder| disk::sync(&folder));
        Ok(())
    }

    /// Puts it in the place of the old file.
    fn swap(mut self) -> std::io::Result<()> {
        disk::rename(&self.unfinished, &self.path)?;
        self.is_put = true;
        Ok(())
    }

    /// Whether the old file holds the same.
    pub(super) fn is_same(&self) -> std::io::Result<bool> {
        let there = fs::symlink_metadata(&self.path);
        let length = fs::metadata(&self.unfinished)?.len();
        if !there.is_ok_and(|there| there.is_file() && there.len() == length) {
            return Ok(false);
        }
        let [mut old, mut new] =
            [File::open(&self.path)?, File::open(&self.unfinished)?].map(std::io::BufReader::new);
        loop {
            let (one, other) = (old.fill_buf()?, new.fill_buf()?);
            let count = one.len().min(other.len());
            if count == 0 || one[..count] != other[..count] {
                return Ok(one.len() == other.len() && count == 0);
            }
            old.consume(count);
            new.consume(count);
        }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_put {
            let _ = disk::remove(&self.unfinished);
        }
    }
}

/// Removes what processes that are gone had written beside files of that folder when they were
/// killed, if `ours` says so of the file that was to be written. What cannot be removed does no harm.
pub(super) fn remove_unfinished(folder: &Path, ours: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some((file, process)) = name.to_str().and_then(taken_apart) else { continue };
        if ours(file) && is_gone(process) {
            let _ = disk::remove(&entry.path());
        }
    }
}

/// `.tape.json.4711.tmp`
fn unfinished(path: &Path, process: u32) -> PathBuf {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{file}.{process}.tmp"))
}

/// The file that was to be written, and who was to write it.
fn taken_apart(unfinished: &str) -> Option<(&str, u32)> {
    let inner = unfinished.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (file, number) = inner.rsplit_once('.')?;
    let process: u32 = number.parse().ok()?;
    (process.to_string() == number).then_some((file, process))
}

#[cfg(all(unix, feature = "record"))]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

/// Nobody tells here.
#[cfg(not(all(unix, feature = "record")))]
fn is_gone(_: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_says_what_it_was_to_be_and_whose_it_is() {
        let path = unfinished(Path::new("kept/tape.json"), 4711);
        assert_eq!(path, Path::new("kept/.tape.json.4711.tmp"));
        assert_eq!(taken_apart(".tape.json.4711.tmp"), Some(("tape.json", 4711)));
        for other in ["tape.json.4711.tmp", ".tape.json.4711", ".tape.json.x.tmp", ".4711.tmp"] {
            assert_eq!(taken_apart(other), None, "{other}");
        }
        for number in ["04711", "+4711", "-1", "4294967296", ""] {
            assert_eq!(taken_apart(&format!(".tape.json.{number}.tmp")), None, "{number}");
        }
    }
}
