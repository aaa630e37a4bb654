//! Accepted contracts, and those that wait to be.
//!
//! Each stands in a file of its own in the folder `contracts` beside the cassettes, in the form of
//! [insta](https://insta.rs)'s snapshots, so that `cargo insta review` shows and accepts them as well:
//! `NAME.snap` is accepted, `NAME.snap.new` waits.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::folder::make_folder;
use super::replace::replace;
use crate::contract::{Contract, Endpoint};
use crate::error::{Error, Result};

const ACCEPTED: &str = "snap";
const PENDING: &str = "snap.new";

/// The accepted contracts of a folder of cassettes, sorted by their files.
///
/// # Errors
///
/// If one cannot be read.
pub fn contracts(cassettes: &Path) -> Result<Vec<Contract>> {
    files(cassettes, ACCEPTED).iter().map(|file| read(file)).collect()
}

/// Those that wait to be accepted.
///
/// # Errors
///
/// If one cannot be read.
pub fn pending_contracts(cassettes: &Path) -> Result<Vec<Contract>> {
    files(cassettes, PENDING).iter().map(|file| read(file)).collect()
}

/// Lets these contracts wait, and no others.
///
/// # Errors
///
/// If a file cannot be written.
pub fn propose<'a>(cassettes: &Path, proposed: impl Iterator<Item = &'a Contract>) -> Result<()> {
    withdraw(cassettes)?;
    for contract in proposed {
        write(&file(cassettes, &contract.endpoint, PENDING), contract)?;
    }
    Ok(())
}

/// Lets none wait.
///
/// # Errors
///
/// If a file cannot be removed.
pub fn withdraw(cassettes: &Path) -> Result<()> {
    files(cassettes, PENDING).iter().try_for_each(|file| remove(file))
}

/// Accepts a contract.
///
/// # Errors
///
/// If its file cannot be written.
pub fn accept(cassettes: &Path, contract: &Contract) -> Result<()> {
    write(&file(cassettes, &contract.endpoint, ACCEPTED), contract)?;
    remove(&file(cassettes, &contract.endpoint, PENDING))
}

/// Lets the contract of one endpoint wait no longer; what is accepted stays.
///
/// # Errors
///
/// If its file cannot be removed.
pub fn reject(cassettes: &Path, endpoint: &Endpoint) -> Result<()> {
    remove(&file(cassettes, endpoint, PENDING))
}

/// Takes an accepted contract back.
///
/// # Errors
///
/// If its file cannot be removed.
pub fn forget(cassettes: &Path, endpoint: &Endpoint) -> Result<()> {
    remove(&file(cassettes, endpoint, ACCEPTED))
}

fn folder(cassettes: &Path) -> PathBuf {
    cassettes.join("contracts")
}

fn file(cassettes: &Path, endpoint: &Endpoint, kind: &str) -> PathBuf {
    folder(cassettes).join(format!("{}.{kind}", endpoint.slug()))
}

fn files(cassettes: &Path, kind: &str) -> Vec<PathBuf> {
    let end = format!(".{kind}");
    let entries = fs::read_dir(folder(cassettes)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.to_str().is_some_and(|file| file.ends_with(&end)));
    files.sort();
    files
}

pub(super) fn read(file: &Path) -> Result<Contract> {
    let text = fs::read_to_string(file).map_err(|source| Error::io("read file", file, source))?;
    text.parse().map_err(|error: Error| error.at_file(file))
}

fn write(file: &Path, contract: &Contract) -> Result<()> {
    make_folder(file.parent().unwrap_or(Path::new(".")))?;
    let endpoint = serde_json::Value::from(contract.endpoint.to_string());
    let text = format!("---\nsource: cassettes\nexpression: {endpoint}\n---\n{contract}");
    replace(file, text.as_bytes())
}

fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove file", file, source))
        }
        _ => Ok(()),
    }
}
