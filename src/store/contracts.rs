//! Accepted contracts, and those that wait to be.
//!
//! Each stands in a file of its own in the folder `contracts` beside the cassettes, in the form of
//! [insta](https://insta.rs)'s snapshots, so that `cargo insta review` shows and accepts them as well:
//! `NAME.snap` is accepted, `NAME.snap.new` waits.
//!
//! # Rationale
//!
//! A name is short, for it is read in every review, and so two endpoints may have the same. The one that
//! came first keeps it, the other has a longer one. Which one a file is of says the file, not its name:
//! names that were given stay, whatever comes later.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::make_folder;
use super::replace::replace;
use super::{disk, regular};
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
    let name = contract_name(cassettes, &contract.endpoint);
    write(&named(cassettes, &name, ACCEPTED), contract)?;
    remove(&named(cassettes, &name, PENDING))
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

/// The name of the files of an endpoint's contract, without what stands behind the dot.
pub fn contract_name(cassettes: &Path, endpoint: &Endpoint) -> String {
    let short = endpoint.slug();
    let there = [ACCEPTED, PENDING].map(|kind| read(&named(cassettes, &short, kind)).ok());
    match there.into_iter().flatten().next() {
        Some(contract) if contract.endpoint != *endpoint => endpoint.unique_slug(),
        _ if is_there(cassettes, &endpoint.unique_slug()) => endpoint.unique_slug(),
        _ => short,
    }
}

fn is_there(cassettes: &Path, name: &str) -> bool {
    [ACCEPTED, PENDING].iter().any(|kind| named(cassettes, name, kind).exists())
}

fn folder(cassettes: &Path) -> PathBuf {
    cassettes.join("contracts")
}

fn named(cassettes: &Path, name: &str, kind: &str) -> PathBuf {
    folder(cassettes).join(format!("{name}.{kind}"))
}

fn file(cassettes: &Path, endpoint: &Endpoint, kind: &str) -> PathBuf {
    named(cassettes, &contract_name(cassettes, endpoint), kind)
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
    let text = regular::read_text(file).map_err(|source| Error::io("read file", file, source))?;
    text.parse().map_err(|error: Error| error.at_file(file))
}

fn write(file: &Path, contract: &Contract) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    regular::refuse_link(folder).map_err(|source| {
        Error::io("write below folder", folder, source).with_hint("replace the link by a folder")
    })?;
    make_folder(folder)?;
    let endpoint = serde_json::Value::from(contract.endpoint.to_string());
    let said = contract.origin.head().into_iter();
    let info: String = said.map(|(name, says)| format!("\n  {name}: {says}")).collect();
    let text =
        format!("---\nsource: cassettes\nexpression: {endpoint}\ninfo:{info}\n---\n{contract}");
    replace(file, text.as_bytes())
}

fn remove(file: &Path) -> Result<()> {
    disk::remove(file).map_err(|source| Error::io("remove file", file, source))
}
