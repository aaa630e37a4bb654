//! Loading and saving cassettes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::Method;

use super::folder::{above, make_folder};
use super::foreign::{foreign_of, load_as_it_is};
use super::list::list;
use super::replace::{remove_unfinished, replace_quickly};
use super::saving::Saving;
use super::{Journal, disk, find_config, large, mention, mention_path, regular, taking};
use crate::cassette::{Cassette, Interactions, Large, Larges, Name, Request, Response, format};
use crate::config::Rules;
use crate::error::{Error, Kind, Result};
use crate::identity::decide;
use crate::message::Protocols;
use crate::redact::{Redacted, Redactor};
use crate::review::report;
use crate::text::nearest;

/// The text of a cassette in a folder, or of the only file there is, as an editor shows it.
pub fn text_of(place: &Path, name: &Name) -> Option<String> {
    let file = if place.is_dir() { path_of(place, name) } else { place.to_owned() };
    fs::read_to_string(file).ok()
}

/// The file of a cassette below a folder: `cassettes/letta/hitl.json`.
pub fn path_of(folder: &Path, name: &Name) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// Whether there is a cassette of that name, or a file of vcrpy in its place.
pub fn exists(folder: &Path, name: &Name) -> bool {
    path_of(folder, name).is_file() || foreign_of(folder, name).is_some()
}

/// Reads a cassette: `NAME.json`, or, where there is none, `NAME.yaml` of vcrpy.
///
/// # Errors
///
/// If there is none of that name, it cannot be read, or it is not a cassette of a known version.
pub fn load(folder: &Path, name: &Name) -> Result<Cassette> {
    load_by(folder, name, load_file)
}

/// The same, but a body of more than 16 MiB is not held in memory.
pub(crate) fn open(folder: &Path, name: &Name) -> Result<Cassette> {
    load_by(folder, name, open_file)
}

fn load_by(
    folder: &Path,
    name: &Name,
    load_file: impl FnOnce(&Path) -> Result<Cassette>,
) -> Result<Cassette> {
    let path = path_of(folder, name);
    if !path.is_file() {
        if let Some(foreign) = foreign_of(folder, name) {
            return load_any(&foreign, load_file);
        }
        return Err(Error::new(Kind::NoCassette { name: name.to_string() })
            .at(&path)
            .with_hint(how_to_come_by(folder, name, "retape record --upstream URL")));
    }
    load_any(&path, load_file)
}

/// Reads a cassette, and behind it the files that are played with it. If there is no cassette, the first
/// file takes its place. Also returns how many interactions are the cassette's own. A body of more than
/// 16 MiB is not held in memory.
///
/// # Errors
///
/// If there is nothing of that name, or something cannot be read.
pub(crate) fn load_with(folder: &Path, name: &Name, also: &[PathBuf]) -> Result<(Cassette, usize)> {
    let (mut cassette, is_own, others) = match also {
        [first, others @ ..] if !exists(folder, name) => {
            (load_any(first, open_file)?, false, others)
        }
        all => (open(folder, name)?, true, all),
    };
    let own = if is_own { cassette.interactions.len() } else { 0 };
    for file in others {
        let mut other = load_any(file, open_file)?;
        // Beside a table, what has none gets its own: both would be read by looks.
        if cassette.ids.is_some() != other.ids.is_some() {
            for it in [&mut cassette, &mut other] {
                it.ids = Some(it.ids.take().unwrap_or_else(|| decide(it, &it.rules)));
            }
        }
        cassette.append(other);
    }
    Ok((cassette, own))
}

/// Reads a cassette of retape or of another tool.
fn load_any(path: &Path, load_file: impl FnOnce(&Path) -> Result<Cassette>) -> Result<Cassette> {
    if path.extension().is_none_or(|ending| ending != "json") {
        return load_as_it_is(path);
    }
    load_file(path).or_else(|error| {
        // vcrpy writes JSON as well, and calls the file so.
        let is_foreign = !error.is_newer_version();
        if is_foreign { load_as_it_is(path).map_err(|_| error) } else { Err(error) }
    })
}

/// What to do where there is no cassette; `command` is what records one.
pub(crate) fn how_to_come_by(folder: &Path, name: &Name, command: &str) -> String {
    let named = mention(folder, name);
    match Journal::peek(folder, name) {
        None => {
            let record = format!("record it: `{command} {named} -- COMMAND`");
            match nearest(folder, name) {
                None if folder.is_file() => {
                    format!("`{}` is a file: name the folder that it is in", folder.display())
                }
                None if !folder.is_dir() => above(folder).unwrap_or_else(|| {
                    format!("there is no folder `{}` yet; {record}", folder.display())
                }),
                Some(nearest) if nearest == *name => {
                    "what stands there is no file, or a link that leads nowhere: remove it"
                        .to_owned()
                }
                _ => format!("{}{record}", near(folder, name).unwrap_or_default()),
            }
        }
        Some(_) => format!(
            "a recorder of it was killed, or a test never called `finish`; `retape recover {named}` saves what had \
             arrived as `{}`",
            name.beside("recovered")
        ),
    }
}

/// What stands in the place of a cassette or near it: the first half of what to do where there is none.
pub(crate) fn near(folder: &Path, name: &Name) -> Option<String> {
    let (path, failed) = (path_of(folder, name), path_of(folder, &name.beside("failed")));
    if path.is_dir() {
        return Some(format!("`{}` is a directory: remove it, then ", mention_path(&path)));
    }
    if failed.is_file() {
        let take = taking(&failed, &path);
        return Some(format!(
            "its run failed, so the recording is kept aside: `{take}` takes it; or "
        ));
    }
    nearest(folder, name).map(|nearest| format!("there is `{nearest}`; or "))
}

/// The cassette whose name is most alike. Each part is on its own, since `test_agents/test_agents` and
/// `test_wrong/test_x` are names of different tests however much they have in common.
fn nearest(folder: &Path, name: &Name) -> Option<Name> {
    let parts = |name: &'_ str| name.split('/').map(str::to_owned).collect::<Vec<_>>();
    let meant = parts(name.as_str());
    let is_alike = |other: &&str| {
        let others = parts(other);
        let mut pairs = meant.iter().zip(&others);
        meant.len() != others.len()
            || pairs.all(|(one, other)| nearest::nearest(one, &[other]).is_some())
    };
    let all = list(folder);
    let names: Vec<&str> = all.iter().map(Name::as_str).filter(is_alike).collect();
    let found = nearest::nearest(name.as_str(), &names)?;
    all.iter().find(|other| other.as_str() == found).cloned()
}

/// Reads a cassette by the path of its file.
///
/// # Errors
///
/// If it cannot be read, or is not a cassette of a known version.
pub fn load_file(path: &Path) -> Result<Cassette> {
    read(path, |_, _| None)
}

/// The same, but a body of more than 16 MiB is not held in memory.
fn open_file(path: &Path) -> Result<Cassette> {
    read(path, large::found)
}

fn read(path: &Path, find: impl Fn(&Path, &str) -> Option<(Large, Bytes)>) -> Result<Cassette> {
    let bytes = regular::read(path).map_err(|source| Error::io("read file", path, source))?;
    let bodies = bodies_of(path);
    let is_linked = regular::refuse_link(&bodies);
    is_linked.map_err(|source| Error::io("read folder", &bodies, source))?;
    let mut larges = Larges::new();
    let body = |hash: &str| Some(read_body(&bodies.join(hash), hash));
    let mut cassette = decode(bytes, path, body, |hash| {
        let (large, stand_in) = find(&bodies.join(hash), hash)?;
        larges.insert(hash.to_owned(), large);
        Some(stand_in)
    })?;
    cassette.larges = larges;
    Ok(cassette)
}

/// A cassette from the bytes of its file and those of the bodies beside it.
pub(super) fn decode(
    bytes: Vec<u8>,
    path: &Path,
    body: impl Fn(&str) -> Option<Result<Bytes>>,
    large: impl FnMut(&str) -> Option<Bytes>,
) -> Result<Cassette> {
    let text = String::from_utf8(bytes).map_err(|source| {
        let error = Error::new(Kind::Syntax).at(path).because(source.utf8_error());
        error.with_hint(if is_wide(source.as_bytes()) { WIDE } else { NO_TEXT })
    })?;
    let missing = |hash: &str| Err(Error::new(Kind::MissingBody { hash: hash.to_owned() }));
    let body = |hash: &str| body(hash).unwrap_or_else(|| missing(hash));
    let decoded = format::decode_with(&text, body, large);
    let decoded = decoded.and_then(|cassette| check_requests(&cassette).map(|()| cassette));
    decoded.map_err(|error| match error.hint() {
        Some(_) => error.at_file(path),
        None if is_wide(text.as_bytes()) => error.at_file(path).with_hint(WIDE),
        None => error
            .at_file(path)
            .with_hint("mend it, restore it from version control, or record it again"),
    })
}

/// Whether a file is in UTF-16, as editors and shells of Windows write it.
fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..])
}

/// What to do then, and with what is no text otherwise.
const WIDE: &str =
    "it is in UTF-16: save it as UTF-8, restore it from version control, or record it again";
const NO_TEXT: &str = "save it as UTF-8, restore it from version control, or record it again";

/// Refuses what no client can ask: the format holds it, so somebody has edited the file.
fn check_requests(cassette: &Cassette) -> Result<()> {
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let Request { method, path, .. } = &interaction.request;
        let is_path = path.is_empty() || path.starts_with(['/', '*']) || path.contains("://");
        let what = match Method::from_bytes(method.as_bytes()) {
            Err(_) => "no request has such a method",
            Ok(_) if !is_path => "a path begins with `/`",
            Ok(_) => continue,
        };
        return Err(Error::new(Kind::Invalid(what)).in_interaction(number));
    }
    Ok(())
}

/// Reads what a person says in a cassette about matching, also if the rest of it cannot be read.
/// Nothing if there is no such cassette.
///
/// # Errors
///
/// If the file cannot be read, a newer release wrote it, or the rules say something that cannot be.
pub fn load_rules(folder: &Path, name: &Name) -> Result<Rules> {
    let path = path_of(folder, name);
    if !path.is_file() {
        return Ok(Rules::default());
    }
    let bytes = regular::read(&path).map_err(|source| Error::io("read file", &path, source))?;
    let said = format::decode_said(&String::from_utf8_lossy(&bytes));
    // What a newer release wrote is not to be replaced by an older one.
    let known = said.and_then(|(rules, secrets)| match Redactor::of_rules(&secrets) {
        Err(error) if error.is_newer_version() => Err(error),
        _ => Ok(rules),
    });
    known.map_err(|error| match error.hint() {
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
    save_with(folder, name, cassette, &cassette.interactions)
}

/// The same for one whose interactions need not be held in memory.
#[cfg(feature = "record")]
pub(crate) fn save_long(
    folder: &Path,
    name: &Name,
    cassette: &Redacted<(Cassette, impl Interactions)>,
) -> Result<PathBuf> {
    let (cassette, interactions) = cassette.get();
    save_with(folder, name, cassette, interactions)
}

fn save_with(
    folder: &Path,
    name: &Name,
    cassette: &Cassette,
    interactions: &impl Interactions,
) -> Result<PathBuf> {
    let path = path_of(folder, name);
    make_folder(path.parent().unwrap_or(folder))?;
    regular::refuse_linked(folder, name)?;
    let bodies = bodies_of(&path);
    let is_linked = regular::refuse_link(&bodies);
    is_linked.map_err(|source| Error::io("write below folder", &bodies, source))?;
    remove_unfinished(path.parent().unwrap_or(folder), |file| {
        path.file_name() == Some(file.as_ref())
    });
    remove_unfinished(&bodies, is_body);
    let mut saving = Saving::new(&path, &bodies);
    // A broken `retape.toml` is told by who reads it for its own sake; a recording is not lost for it.
    let protocols = Protocols::of(&find_config(folder).unwrap_or_default());
    let trace = |response: &Response| report::trace(&protocols, response);
    let mut take = |text: &str, bodies| saving.take(text, &bodies);
    let (file, newer) = format::encode_in_pieces(cassette, interactions, &trace, &mut take);
    let named = saving.finish(file, newer, interactions.complete())?;
    remove_leftovers(&bodies, &named);
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
    replace_quickly(path, text.as_bytes())
}

/// Changes a report that others may be changing at the same time.
///
/// # Errors
///
/// If it cannot be read or written.
pub(crate) fn change_report(path: &Path, change: impl FnOnce(&str) -> String) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    make_folder(folder.unwrap_or(Path::new(".")))?;
    let changed = || {
        let mut options = File::options();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        let mut before = String::new();
        file.read_to_string(&mut before)?;
        let after = change(&before);
        file.rewind()?;
        file.write_all(after.as_bytes())?;
        file.set_len(after.len() as u64)
    };
    changed().map_err(|source| Error::io("write file", path, source))
}

/// Removes bodies that the cassette does not name any more. Only files that are named like a body
/// are touched; what cannot be removed does no harm.
fn remove_leftovers(bodies: &Path, named: &BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(bodies) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let Some(file) = file.to_str() else { continue };
        if is_body(file) && !named.contains(file) {
            let _ = disk::remove(&entry.path());
        }
    }
    if named.is_empty() {
        let _ = disk::remove_folder(bodies);
    }
}

/// Whether a file is named like a body.
fn is_body(file: &str) -> bool {
    file.len() == 32 && file.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn bodies_of(path: &Path) -> PathBuf {
    path.with_extension("bodies")
}

fn read_body(path: &Path, hash: &str) -> Result<Bytes> {
    regular::read_own(path).map(Bytes::from).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::new(Kind::MissingBody { hash: hash.to_owned() })
            .at(path)
            .with_hint("restore the folder beside the cassette, or record the cassette again"),
        _ => Error::io("read file", path, source),
    })
}
