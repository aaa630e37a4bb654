//! Loading and saving cassettes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::cassette::{Cassette, Name, format};
use crate::error::{Error, Kind, Result};
use crate::redact::Redacted;
use crate::report;
use crate::rules::Rules;

/// The file of a cassette below a folder: `cassettes/letta/hitl.json`.
pub fn path_of(folder: &Path, name: &Name) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// Whether there is a cassette of that name.
pub fn exists(folder: &Path, name: &Name) -> bool {
    path_of(folder, name).is_file()
}

/// Reads a cassette.
///
/// # Errors
///
/// If there is none of that name, it cannot be read, or it is not a cassette of a known version.
pub fn load(folder: &Path, name: &Name) -> Result<Cassette> {
    let path = path_of(folder, name);
    if !path.is_file() {
        return Err(Error::new(Kind::NoCassette { name: name.to_string() })
            .at(&path)
            .with_hint(format!("record it: `retape record --upstream URL {name} -- COMMAND`")));
    }
    load_file(&path)
}

/// Reads a cassette by the path of its file.
///
/// # Errors
///
/// If it cannot be read, or is not a cassette of a known version.
pub fn load_file(path: &Path) -> Result<Cassette> {
    let bytes = fs::read(path).map_err(|source| Error::io("read file", path, source))?;
    let text = String::from_utf8(bytes)
        .map_err(|source| Error::new(Kind::Syntax).at(path).because(source.utf8_error()))?;
    let bodies = bodies_of(path);
    let body = |hash: &str| read_body(&bodies.join(hash), hash);
    format::decode(&text, body).map_err(|error| match error.hint() {
        Some(_) => error.at_file(path),
        None => error
            .at_file(path)
            .with_hint("mend it, restore it from version control, or record it again"),
    })
}

/// Reads what a person says in a cassette about matching, also if the rest of it cannot be read.
/// Nothing if there is no such cassette.
///
/// # Errors
///
/// If the file cannot be read, or the rules say something that cannot be.
pub fn load_rules(folder: &Path, name: &Name) -> Result<Rules> {
    let path = path_of(folder, name);
    if !path.is_file() {
        return Ok(Rules::default());
    }
    let bytes = fs::read(&path).map_err(|source| Error::io("read file", &path, source))?;
    format::decode_rules(&String::from_utf8_lossy(&bytes)).map_err(|error| match error.hint() {
        Some(_) => error.at_file(&path),
        None => error.at_file(&path).with_hint(
            "mend `match` in it, which is kept when the cassette is recorded again, or remove it",
        ),
    })
}

/// Writes a cassette: the bodies beside it first, then its file in one step, so that at any moment
/// there is either the old cassette or the new one.
///
/// # Errors
///
/// If something cannot be written; an earlier cassette of that name is as it was then.
pub fn save(folder: &Path, name: &Name, cassette: &Redacted<Cassette>) -> Result<PathBuf> {
    let path = path_of(folder, name);
    let file = format::encode_traced(cassette.get(), &report::trace);
    make_folder(path.parent().unwrap_or(folder))?;
    let bodies = bodies_of(&path);
    for (hash, bytes) in &file.bodies {
        make_folder(&bodies)?;
        let body = bodies.join(hash);
        if fs::read(&body).ok().as_deref() != Some(bytes.as_ref()) {
            replace(&body, bytes)?;
        }
    }
    if fs::read(&path).ok().as_deref() != Some(file.text.as_bytes()) {
        replace(&path, file.text.as_bytes())?;
    }
    remove_leftovers(&bodies, &file.bodies.into_keys().collect());
    Ok(path)
}

/// Writes a report in one step. It can be made again, so nothing waits until it is on the disk.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn write_report(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    make_folder(folder.unwrap_or(Path::new(".")))?;
    let unfinished = unfinished(path);
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&unfinished);
        Error::io("write file", path, source)
    })
}

/// Removes bodies that the cassette does not name any more. Only files that are named like a body
/// are touched; what cannot be removed does no harm.
fn remove_leftovers(bodies: &Path, named: &BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(bodies) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let Some(file) = file.to_str() else { continue };
        let hash = file.len() == 32 && file.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hash && !named.contains(file) {
            let _ = fs::remove_file(entry.path());
        }
    }
    if named.is_empty() {
        let _ = fs::remove_dir(bodies);
    }
}

fn bodies_of(path: &Path) -> PathBuf {
    path.with_extension("bodies")
}

fn read_body(path: &Path, hash: &str) -> Result<Bytes> {
    fs::read(path).map(Bytes::from).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::new(Kind::MissingBody { hash: hash.to_owned() })
            .at(path)
            .with_hint("restore the folder beside the cassette, or record the cassette again"),
        _ => Error::io("read file", path, source),
    })
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| Error::io("create folder", folder, source))
}

/// The file beside a file in which it is written.
fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Writes a file beside, brings it to the disk, and puts it in the place of the old one.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| {
        Error::io("write file", path, source)
            .with_hint("what was there before is unharmed; free some space or choose another folder, then try again")
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let unfinished = unfinished(path);
    let written = File::create(&unfinished)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&unfinished, path));
    if let Err(source) = written {
        let _ = fs::remove_file(&unfinished);
        return Err(failed(source));
    }
    // The rename itself is durable once the folder is; not every system can sync a folder.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
