//! Writing a file in one step.

use std::fs::{self, File};
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
    let failed = |source| {
        let error = Error::io("write file", path, source);
        let what = error.hint().unwrap_or("choose another folder, then try again");
        let hint = format!("what was there before is unharmed; {what}");
        error.with_hint(hint)
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let unfinished = unfinished(path, std::process::id());
    let written = disk::create(&unfinished)
        .and_then(|mut file| write(&mut file).and_then(|()| disk::sync(&file)))
        .and_then(|()| disk::rename(&unfinished, path));
    if let Err(source) = written {
        let _ = disk::remove(&unfinished);
        return Err(failed(source));
    }
    // The rename itself is durable once the folder is; not every system can sync a folder.
    let _ = File::open(folder).and_then(|folder| disk::sync(&folder));
    Ok(())
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
