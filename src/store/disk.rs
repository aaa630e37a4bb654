//! The steps in which files change.
//!
//! # Rationale
//!
//! A process may be killed at each of them, and a disk may be full. They stand in one place, so that tests
//! can stop at each.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, IoSlice, Result, Write as _};
use std::path::Path;

/// Opens a file, and makes it where there is none.
pub(super) fn open(options: &OpenOptions, path: &Path) -> Result<File> {
    step(Needs::Space, || {})?;
    options.open(path)
}

/// Makes a file that is not there. What stands in its place, if only as a link, is removed first and not
/// followed.
pub(super) fn create(path: &Path) -> Result<File> {
    remove(path)?;
    open(File::options().write(true).create_new(true), path)
}

/// Makes a folder and those above it, where they are not there.
pub(super) fn make_folder(path: &Path) -> Result<()> {
    step(Needs::Space, || {})?;
    fs::create_dir_all(path)
}

/// Writes all of it, or fails and may have written a part.
pub(super) fn write(file: &mut File, bytes: &[u8]) -> Result<()> {
    write_in_parts(file, [bytes])
}

/// The same for what stands in several places.
pub(super) fn write_in_parts<const N: usize>(file: &mut File, parts: [&[u8]; N]) -> Result<()> {
    step(Needs::Space, || {
        let all = parts.concat();
        let _ = file.write_all(&all[..all.len() / 2]);
    })?;
    let mut parts = parts.map(IoSlice::new);
    let mut rest = &mut parts[..];
    // What is empty goes away with nothing written.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(source) if source.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(source),
        }
    }
    Ok(())
}

/// Brings what was written to the disk.
pub(super) fn sync(file: &File) -> Result<()> {
    step(Needs::Space, || {})?;
    // What a test stops is a process, whose files stay.
    if cfg!(test) { Ok(()) } else { file.sync_all() }
}

/// Cuts what is behind so many bytes.
pub(super) fn cut(file: &File, length: u64) -> Result<()> {
    step(Needs::Nothing, || {})?;
    file.set_len(length)
}

/// Puts a file in the place of another one.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    step(Needs::Nothing, || {})?;
    fs::rename(from, to)
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    step(Needs::Nothing, || {})?;
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(source),
        _ => Ok(()),
    }
}

/// Removes a folder that is empty.
pub(super) fn remove_folder(path: &Path) -> Result<()> {
    step(Needs::Nothing, || {})?;
    fs::remove_dir(path)
}

/// What a step needs of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Space,
    Nothing,
}

/// Where a test may stop; `half` is what happens of a step that is not completed.
#[cfg(not(test))]
fn step(_: Needs, _: impl FnOnce()) -> Result<()> {
    Ok(())
}

#[cfg(test)]
use trial::step;
#[cfg(test)]
pub(crate) use trial::{Trial, under};

#[cfg(test)]
mod trial {
    use std::cell::Cell;
    use std::io::{ErrorKind, Result};

    use super::Needs;

    /// What happens at a step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Trial {
        /// The process is killed: no later step is made.
        Killed,
        /// The disk is full from there on.
        Full,
        /// The disk is full for that one step.
        FullOnce,
    }

    thread_local! {
        /// The trial, the step at which it comes, and how many there were.
        static STATE: Cell<(Trial, usize, usize)> = const { Cell::new((Trial::Full, usize::MAX, 0)) };
    }

    /// Does something on this thread that comes to a trial at a step, counted from 0. The steps that there
    /// were are counted too.
    pub(crate) fn under<T>(trial: Trial, at: usize, work: impl FnOnce() -> T) -> (T, usize) {
        STATE.set((trial, at, 0));
        let done = work();
        let (_, _, steps) = STATE.replace((Trial::Full, usize::MAX, 0));
        (done, steps)
    }

    impl Trial {
        /// Whether the process has been killed.
        pub(crate) fn is_dead() -> bool {
            let (trial, at, steps) = STATE.get();
            trial == Self::Killed && steps > at
        }
    }

    pub(super) fn step(needs: Needs, half: impl FnOnce()) -> Result<()> {
        let (trial, at, number) = STATE.get();
        STATE.set((trial, at, number + 1));
        let fails = match trial {
            _ if number < at => false,
            Trial::Killed => true,
            Trial::Full => needs == Needs::Space,
            Trial::FullOnce => number == at && needs == Needs::Space,
        };
        if !fails {
            return Ok(());
        }
        if number == at || trial == Trial::Full {
            half();
        }
        Err(ErrorKind::StorageFull.into())
    }
}
